"""Rough weather: what happens to a run's calls that is nobody's doing, because tools in use fail and change.

Which call meets what follows from the seed, the tool, its arguments and how often that same call was made before in the
run; never from the time, or from the order in which calls of a turn arrive. So it is the same on any machine, at any
load and over any transport. Everything here happens before a tool is reached: a call that meets a fault has done
nothing, and whoever does as the answer says gets there. Fair weather is the absence of this.

    error      a temporary error; the same call succeeds soon after
    limit      too many calls; the answer says how long to wait
    away       a server is gone for the first attempts at each call
    replaced   a tool has a new name from the start of the run on; the old one answers with it
    slow       an answer takes longer, and is what it would have been
"""

import json
import time
import tomllib
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Literal, get_args

import anyio
from pydantic import BaseModel, ConfigDict

import m3bench.tasks
from m3bench.proxy.protocol.messages import dump
from m3bench.proxy.protocol.tool_calls import ToolAnswer

FaultKind = Literal["error", "limit", "away", "replaced"]
"""What a call can come to; one that is only slow comes to what it always does."""

ERROR_META = "m3bench/error"
"""Where a result's `_meta` has the kind of a fault and, of a rate limit, `retry_after` in seconds."""

NEW = "_v2"
"""How the new name of a tool ends."""

MOST_LETTERS = 42
"""Of a tool's name as clients see it: all known ones take as many."""

FAIR = "fair"


class _Form(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class _Calls(_Form):
    error: float
    limit: float
    slow: float
    tries: int


class _Tools(_Form):
    replaced: float


class _Servers(_Form):
    away: float
    attempts: int


class _Seconds(_Form):
    wait: tuple[int, int]
    slow: tuple[float, float]


class Roughness(_Form):
    """How often what happens."""

    calls: _Calls
    tools: _Tools
    servers: _Servers
    seconds: _Seconds


@cache
def roughness() -> Roughness:
    """What the table says."""
    path = Path(m3bench.tasks.__path__[0]) / "data" / "weather.toml"
    return Roughness.model_validate(tomllib.loads(path.read_text("utf-8")))


@dataclass(frozen=True, kw_only=True)
class Meeting:
    """What a call meets."""

    kind: Literal["error", "limit", "away", "slow"]
    seconds: float = 0.0
    """To wait, or that the answer takes longer."""


@dataclass(frozen=True)
class WeatherPlan:
    """The weather of a run, as a function of its calls and of nothing else."""

    seed: str

    def meets(self, tool: str, arguments: str, ordinal: int) -> Meeting | None:
        """What a call meets.

        Args:
            tool: Its canonical name.
            arguments: Its arguments in their canonical form.
            ordinal: How often this same call was made in the run, this time included.
        """
        table, server = roughness(), tool.partition("/")[0]
        if self._share("away", server) < table.servers.away:
            gone = 1 + int(self._share("attempts", server) * table.servers.attempts)
            return Meeting(kind="away") if ordinal <= gone else None
        point, second = self._share("call", tool, arguments), self._share("second", tool, arguments)
        if point < (border := table.calls.error):
            return Meeting(kind="error") if ordinal <= 1 + int(second * table.calls.tries) else None
        if ordinal > 1:
            return None
        if point < (border := border + table.calls.limit):
            low, high = table.seconds.wait
            return Meeting(kind="limit", seconds=low + int(second * (high - low + 1)))
        if point < border + table.calls.slow:
            quick, slow = table.seconds.slow
            return Meeting(kind="slow", seconds=round(quick + second * (slow - quick), 3))
        return None

    def replaces(self, tool: str) -> bool:
        """Whether a tool has a new name."""
        return self._share("replaced", tool) < roughness().tools.replaced

    def _share(self, *parts: str) -> float:
        """A number from 0 to 1 that these parts always get."""
        return (
            int.from_bytes(sha256("\0".join((self.seed, *parts)).encode(errors="surrogatepass")).digest()[:7]) / 2**56
        )


class RunWeather:
    """The weather of a run that is under way.

    Args:
        plan: What happens when.
        sleep: Lets time pass.
    """

    def __init__(self, plan: WeatherPlan, sleep: Callable[[float], Awaitable[None]] = anyio.sleep) -> None:
        self.plan = plan
        self._sleep = sleep
        self._made: Counter[tuple[str, str, bool]] = Counter()

    def count(self, tool: str, arguments: Mapping[str, object], *, old: bool = False) -> tuple[str, int]:
        """Take note of a call: its arguments in canonical form, and its ordinal."""
        written = canonical(arguments)
        self._made[tool, written, old] += 1
        return written, self._made[tool, written, old]

    async def meet(self, tool: str, arguments: Mapping[str, object]) -> ToolAnswer | None:
        """What becomes of a call before it reaches its tool; None when it goes on, perhaps a little later."""
        met = self.plan.meets(tool, *self.count(tool, arguments))
        if met is None:
            return None
        if met.kind == "slow":
            await self._sleep(met.seconds)
            return None
        server = tool.partition("/")[0]
        match met.kind:
            case "error":
                text = f"{server} answered with a temporary error (503), and nothing was done. Call the tool again."
            case "away":
                text = f"The connection to {server} is lost; it is being restarted, and nothing was done. Try again."
            case "limit":
                wait = f"{met.seconds:g} second{'' if met.seconds == 1 else 's'}"
                text = f"Too many requests to {server} (429): nothing was done. Wait {wait}, then call the tool again."
        return fault(met.kind, text, retry_after=met.seconds if met.kind == "limit" else None)

    def outdated(self, tool: str, arguments: Mapping[str, object], old: str, new: str) -> ToolAnswer:
        """The answer under a tool's old name; whoever was told and makes the same call again has not listened."""
        _, ordinal = self.count(tool, arguments, old=True)
        text = f"There is no tool {old} any more: {new} has taken its place, with the same arguments. Call {new}."
        answer = fault("replaced", text)
        return answer if ordinal == 1 else ToolAnswer(outcome="unknown_tool", result=answer.result)


def fault(kind: FaultKind, text: str, *, retry_after: float | None = None) -> ToolAnswer:
    """The answer of a call that the weather took."""
    said = {"kind": kind, **({} if retry_after is None else {"retry_after": retry_after})}
    result = {"content": [{"type": "text", "text": text}], "isError": True, "_meta": {ERROR_META: said}}
    return ToolAnswer(outcome="failed", owner="weather", result=dump(result), returned_ns=time.monotonic_ns())


def weather_of(setting: str, task: str, sleep: Callable[[float], Awaitable[None]] = anyio.sleep) -> RunWeather | None:
    """The weather of a run of a task; None when it is fair. Everybody who plays a task meets the same."""
    return None if setting == FAIR else RunWeather(WeatherPlan(f"{setting} {task}"), sleep)


def kind_of(meta: object) -> FaultKind | None:
    """What a result's `_meta` says it met."""
    said = meta.get(ERROR_META) if isinstance(meta, Mapping) else None
    found = said.get("kind") if isinstance(said, Mapping) else None
    return found if found in get_args(FaultKind) else None


def canonical(arguments: Mapping[str, object]) -> str:
    """Arguments as one text, whatever their order and spacing were."""
    return json.dumps(arguments, sort_keys=True, ensure_ascii=False, separators=(",", ":"), default=str)
