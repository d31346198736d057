"""Whose fault it is: the one rule that says who is responsible for a failed call or run.

Every call that did not simply work, and every run that did not simply end, is charged to one of eight. The table says
what follows from each, and nothing else in m3bench decides it: routing, score cards, result sets, the live view,
reports and bundles all ask here. A provider's errors are told apart in `server.lab.headless.providers.failures`.
"""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from errno import EDQUOT, EIO, EMFILE, ENFILE, ENOMEM, ENOSPC, EROFS
from typing import Literal, cast, get_args

from m3bench.tasks.errors import (
    CallError,
    RunEndError,
    RunError,
    SandboxError,
    ToolCrashError,
    ToolError,
    UpstreamError,
)
from m3bench.tasks.outcome import Owner

Fault = Literal["client", "world", "tool", "sandbox", "proxy", "provider", "limit", "weather"]

MAX_WORDS = 600
"""Characters of what a broken part said that are repeated on a card."""


@dataclass(frozen=True, kw_only=True)
class Rule:
    """What follows when something is charged to somebody."""

    means: str
    voids: bool
    """Whether a run in which it happened says nothing about who played it: it is shown and counted, never averaged."""
    plural: str
    """How calls that were lost to it are called."""


RULES: Mapping[Fault, Rule] = {
    "client": Rule(
        means="what was sent, or not waited for", voids=False, plural="by the client"
    ),
    "world": Rule(
        means="the frozen world does not hold what was asked for", voids=False, plural="to gaps of the world"
    ),
    "tool": Rule(
        means="a tool server crashed, gave no answer or is gone", voids=True, plural="by a tool server"
    ),
    "sandbox": Rule(
        means="the place where tools run broke, or was too slow", voids=True, plural="by the sandbox"
    ),
    "proxy": Rule(
        means="m3bench itself or its record failed", voids=True, plural="by m3bench itself"
    ),
    "provider": Rule(
        means="the model could not be asked, or did not answer", voids=True, plural="by the model's provider"
    ),
    "limit": Rule(
        means="a limit of the run was reached", voids=False, plural="by a limit of the run"
    ),
    "weather": Rule(
        means="rough weather that was asked for", voids=False, plural="to the weather"
    ),
}  # fmt: skip

OWNERS: Mapping[Owner, Fault] = {
    "agent": "client",
    "client": "client",
    "world": "world",
    "tool": "tool",
    "upstream": "tool",
    "cassette": "tool",
    "sandbox": "sandbox",
    "proxy": "proxy",
    "limit": "limit",
    "weather": "weather",
}
"""Whom the record names, and whom that charges."""

_BROKEN_MACHINE = frozenset({ENOSPC, EDQUOT, EIO, EROFS, EMFILE, ENFILE, ENOMEM})
"""Errors of a machine, not of what was asked of it."""


@dataclass(frozen=True, kw_only=True)
class VoidRun:
    """Why a run says nothing about who played it."""

    fault: Fault
    calls: int
    """Calls that were lost, to whichever fault of those that make a run void."""
    words: str
    """What happened, in the words of the part that broke."""


def fault_of(owner: str | None) -> Fault:
    """Whom a call on record is charged to; one without an answer was lost by m3bench itself."""
    return OWNERS.get(cast("Owner", owner), "proxy")


def voids(owner: str | None) -> bool:
    """Whether a call with this owner makes its run void."""
    return RULES[fault_of(owner)].voids


def owner_of_error(error: BaseException) -> Owner:
    """Whose an exception is; what nobody raised on purpose is the proxy's."""
    match error:
        case ToolCrashError():
            return "tool"
        case SandboxError():
            return "sandbox"
        case UpstreamError():
            return "agent" if error.code is not None else "upstream"
        case CallError() | ToolError() | RunError():
            return "agent"
    return "proxy"


def fault_of_error(error: BaseException) -> Fault:
    """Whom an exception that ended a run is charged to."""
    if isinstance(error, RunEndError) and error.fault in RULES:
        return cast("Fault", error.fault)
    return fault_of(owner_of_error(error))


def crash(tool: str, error: Exception, words: str) -> SandboxError:
    """What an unexpected exception inside a tool is: the machine's, when it ran out of something, else the tool's."""
    if isinstance(error, OSError) and error.errno in _BROKEN_MACHINE:
        return SandboxError(f"{tool} could not work: {words}.")
    return ToolCrashError(f"{tool} crashed: {words}.")


def void_run(lost: Iterable[tuple[str | None, str]]) -> VoidRun | None:
    """What the calls of a run that failed, each with owner and text, make of the run; None when it can be scored."""
    found = [(fault_of(owner), words) for owner, words in lost if voids(owner)]
    if not found:
        return None
    fault, words = found[0]
    return VoidRun(
        fault=fault, calls=len(found), words=f"{lost_calls(Counter(fault for fault, _ in found))}. {cut(words)}"
    )


def lost_calls(counts: Mapping[Fault, int]) -> str:
    """How many calls were lost, and to whom."""
    parts = [f"{counts[fault]} {RULES[fault].plural}" for fault in get_args(Fault) if counts.get(fault)]
    total = sum(counts.values())
    return f"{total} call{'s were' if total > 1 else ' was'} lost through no fault of the agent: {', '.join(parts)}"


def cut(words: str) -> str:
    """Words of a broken part on one line, bounded."""
    line = " ".join(words.split())
    return line if len(line) <= MAX_WORDS else f"{line[: MAX_WORDS - 1]}…"
