"""What an agent did, or should have done: calls in steps.

A call is a tool with arguments; a step is the set of calls issued before any of their results was seen, so order
inside it means nothing; a trajectory is a sequence of steps. These are values: no ids, times or results, which
belong to the record of a run. The JSON form carries `SCHEMA`; files with many trajectories are in `files`.
"""

import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from m3bench.tasks.errors import TrajectoryError
from m3bench.tasks.tolerance import Tolerance

JSON: TypeAlias = "bool | int | float | str | Sequence[JSON] | Mapping[str, JSON] | None"

SCHEMA = 1
"""Version of the JSON form, raised when a reader of the old form would misread the new one."""

MAX_DEPTH = 64
"""Deepest nesting of an argument."""
MAX_CHARACTERS = 10_000_000
"""Longest string in an argument."""


@dataclass(frozen=True, kw_only=True)
class Call:
    """One use of a tool."""

    tool: str
    """Canonical name, `server/tool`."""
    arguments: Mapping[str, JSON] = field(default_factory=dict)
    bare: bool = False
    """The call had no arguments object at all, which differs from an empty one."""
    tolerances: Mapping[str, Tolerance] = field(default_factory=dict)
    """Of a reference call: which arguments may differ, and how. Not part of the JSON form."""
    failed: bool = False
    """Of a recorded call: it failed, so it matches no reference call. Not part of the JSON form."""

    def __post_init__(self) -> None:
        if self.bare and self.arguments:
            raise ValueError("a bare call has no arguments")

    @property
    def server(self) -> str:
        """The part of the name before the first slash; empty when there is none."""
        return self.tool.partition("/")[0] if "/" in self.tool else ""

    @property
    def name(self) -> str:
        """The part of the name after the first slash."""
        return self.tool.partition("/")[2] if "/" in self.tool else self.tool

    def to_json(self) -> dict[str, object]:
        """A dict that `json.dumps` takes; shares the arguments."""
        return {"tool": self.tool} if self.bare else {"tool": self.tool, "arguments": dict(self.arguments)}

    @classmethod
    def from_json(cls, data: object, where: str = "call") -> "Call":
        """The call that `to_json` wrote; absent arguments make it bare.

        Raises:
            TrajectoryError: The data is not a call; names the field.
        """
        entry = mapping(data, where, {"tool", "arguments"})
        return make_call(entry.get("tool"), entry.get("arguments"), where, name_field="tool")


@dataclass(frozen=True, kw_only=True)
class Step:
    """Calls issued together. May be empty."""

    calls: tuple[Call, ...] = ()

    def to_json(self) -> dict[str, object]:
        """A dict that `json.dumps` takes."""
        return {"calls": [call.to_json() for call in self.calls]}


@dataclass(frozen=True, kw_only=True)
class Trajectory:
    """Steps in order. May be empty: an agent that did nothing."""

    steps: tuple[Step, ...] = ()

    @property
    def calls(self) -> tuple[Call, ...]:
        """All calls, flattened in order; an index into this tuple names a call."""
        return tuple(call for step in self.steps for call in step.calls)

    def to_json(self) -> dict[str, object]:
        """A dict that `json.dumps` takes."""
        return {"schema": SCHEMA, "steps": [step.to_json() for step in self.steps]}

    @classmethod
    def from_json(cls, data: object) -> "Trajectory":
        """The trajectory that `to_json` wrote.

        Raises:
            TrajectoryError: The data is not a trajectory of this schema; names the field.
        """
        entry = mapping(data, "trajectory", {"schema", "steps"})
        schema = entry.get("schema")
        if schema != SCHEMA:
            raise TrajectoryError("schema", f"is {show(schema)} (this version reads {SCHEMA})")
        steps = []
        for index, step in enumerate(array(entry.get("steps"), "steps")):
            where = f"steps[{index}]"
            calls = array(mapping(step, where, {"calls"}).get("calls"), f"{where}.calls")
            steps.append(Step(calls=tuple(Call.from_json(call, f"{where}.calls[{i}]") for i, call in enumerate(calls))))
        return cls(steps=tuple(steps))


def make_call(tool: object, arguments: object, where: str, *, name_field: str) -> Call:
    """A checked call from parsed JSON; `None` arguments make it bare."""
    if not isinstance(tool, str):
        raise TrajectoryError(f"{where}.{name_field}", f"is {show(tool)} (expected a string)")
    if not tool.strip():
        raise TrajectoryError(f"{where}.{name_field}", "is empty (expected server/tool)")
    if arguments is None:
        return Call(tool=tool.strip(), bare=True)
    if not isinstance(arguments, Mapping):
        raise TrajectoryError(f"{where}.arguments", f"is {show(arguments)} (expected an object)")
    for problem in _problems(arguments, 0):
        raise TrajectoryError(f"{where}.arguments", problem)
    return Call(tool=tool.strip(), arguments=arguments)


def mapping(data: object, where: str, fields: Collection[str] | None = None) -> Mapping[str, object]:
    """The data, when it is an object without repeated keys, and with no others than `fields` when given."""
    if not isinstance(data, Mapping):
        raise TrajectoryError(where, f"is {show(data)} (expected an object)")
    # Readers of files mark an object whose text held a key twice; a plain dict cannot.
    if repeated := getattr(data, "repeated", ()):
        raise TrajectoryError(where, f"has the key {show(repeated[0])} twice")
    unknown = [] if fields is None else [key for key in data if key not in fields]
    if unknown:
        raise TrajectoryError(
            where, f"has the unknown field {show(unknown[0])} (known: {', '.join(sorted(fields or ()))})"
        )
    return data


def array(data: object, where: str) -> Sequence[object]:
    """The data, when it is an array."""
    if not isinstance(data, list | tuple):
        raise TrajectoryError(where, f"is {show(data)} (expected an array)")
    return data


def show(data: object) -> str:
    """What was found, short enough for a message."""
    if data is None:
        return "absent"
    if isinstance(data, Mapping):
        return "an object"
    if isinstance(data, list | tuple):
        return "an array"
    if isinstance(data, str):
        return f"the string {data!r}" if len(data) <= 40 else f"a string of {len(data)} characters"
    text = str(data) if not isinstance(data, int) or abs(data) < 10**40 else "a huge number"
    return text if len(text) <= 60 else f"{text[:60]}…"


def _problems(value: object, depth: int) -> Iterator[str]:
    if depth > MAX_DEPTH:
        yield f"is nested more than {MAX_DEPTH} levels deep"
    elif isinstance(value, str):
        if len(value) > MAX_CHARACTERS:
            yield f"holds a string of {len(value)} characters (the limit is {MAX_CHARACTERS})"
    elif isinstance(value, float):
        if not math.isfinite(value):
            yield f"holds {value}, which is not a JSON number"
    elif isinstance(value, Mapping):
        if repeated := getattr(value, "repeated", ()):
            yield f"has the key {show(repeated[0])} twice"
        for key, item in value.items():
            if len(key) > MAX_CHARACTERS:
                yield f"holds a key of {len(key)} characters (the limit is {MAX_CHARACTERS})"
            yield from _problems(item, depth + 1)
    elif isinstance(value, list | tuple):
        for item in value:
            yield from _problems(item, depth + 1)
    elif value is not None and not isinstance(value, bool | int):
        yield f"holds a {type(value).__name__}, which is not JSON"
