"""The errors of runs that failed, under the names that TOBench has for them: of tools, of parameters, of verification.

A failed run may have several; each follows by rule from its score card. `failures` says once for every sample what
became of it, and charges somebody; this says what an agent did wrong on the way. Runs that are solved, unchecked or
void, and those that the world let down, have none.

Why a tool refused a call is found by holding the call's arguments against the schema again. Verification is looking at
a file that was made: a call that is not read-only and names a file makes it, and a later read-only call that names it
too looks at it. Names are compared without folders; what a result really showed is not asked.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from json import dumps
from typing import Literal, get_args

from m3bench.server.lab.results.analyses.confusion import NONE, pairs_of
from m3bench.server.lab.results.analyses.failures import CLASSES, class_of
from m3bench.server.lab.results.resultset import Result
from m3bench.server.scorecard.model import ActualCall, ScoreCard
from m3bench.server.scoring.differences import differences
from m3bench.tasks.coercion import read_arguments
from m3bench.tasks.kinds import kinds_of
from m3bench.tasks.schema import Schema, problems
from m3bench.tasks.table_tools import find_tool
from m3bench.tasks.trajectory import JSON

ToolError = Literal["wrong tool", "missing tool", "hallucinated tool", "poor plan"]
ParameterError = Literal[
    "parameter type", "parameter range", "parameter object", "parameter missing", "parameter hallucinated"
]
Verification = Literal["no verification", "incomplete verification", "pseudo-verification"]
ErrorName = ToolError | ParameterError | Verification

ERRORS: Mapping[ErrorName, str] = {
    "wrong tool": "a needed call was not made, and another tool was called in its place",
    "missing tool": "a needed call was not made, and nothing was called in its place",
    "hallucinated tool": "a tool was called that does not exist",
    "poor plan": "nothing was called or handed in, a limit ended the run, the very same call was made three times, or "
    "calls came in the wrong order",
    "parameter type": "an argument was refused because it is of another type",
    "parameter range": "an argument was refused because of its value, or an amount is another one than needed",
    "parameter object": "a call is about something that does not exist, or about something else than needed",
    "parameter missing": "an argument that is required or needed was left out",
    "parameter hallucinated": "an argument was refused because the tool has none of that name",
    "no verification": "every needed call was made, the result is wrong, and nothing that was made was looked at",
    "incomplete verification": "the same, but some of the files that were made were looked at",
    "pseudo-verification": "the same, but every file that was made was looked at after its last change",
}
"""By error, in TOBench's groups: what happened."""

GROUPS: Mapping[str, tuple[ErrorName, ...]] = {
    "tools and plan": get_args(ToolError),
    "parameters": get_args(ParameterError),
    "verification": get_args(Verification),
}

REPEATED = 3
"""Times that the very same call is made in a poor plan."""

_CHARGED = ("client", "limit")
_BOUNDS = ("minimum", "maximum", "minItems")
_FILE = re.compile(r"[^/\\]*\.[A-Za-z][A-Za-z0-9]{1,4}")
"""The name of a file, at the end of a path."""


@dataclass(frozen=True, kw_only=True)
class ErrorCount:
    """How common an error is."""

    runs: int
    """Failed runs that have it."""
    times: int
    """How often it was made in them."""


def errors(results: Iterable[Result]) -> dict[ErrorName, ErrorCount]:
    """How often each error occurs, in the order of the list."""
    found = [errors_of(result) for result in results]
    return {
        name: ErrorCount(runs=sum(name in run for run in found), times=sum(run[name] for run in found))
        for name in ERRORS
        if any(name in run for run in found)
    }


def errors_of(result: Result) -> Counter[ErrorName]:
    """The errors of a run; none unless its failure is charged to the client or to a limit."""
    of = class_of(result)
    if CLASSES[of][0] not in _CHARGED:
        return Counter()
    found: Counter[ErrorName] = Counter()
    found.update(_tool_errors(result.card))
    found.update(_parameter_errors(result.card))
    if of in ("no answer", "no calls", "limit") or _unordered(result.card):
        found["poor plan"] += 1
    if of == "wrong answer":
        found[looked_at(call for _, call in result.card.alignment.actual_calls)] += 1
    return found


def _tool_errors(card: ScoreCard) -> Iterator[ToolError]:
    made = [call for _, call in card.alignment.actual_calls]
    failed = {call.tool for call in made if call.failed}
    for call in made:
        if call.outcome == "unknown_tool":
            yield "hallucinated tool"
    for pair in pairs_of(card):
        if pair.answered or pair.wanted == NONE or pair.wanted in failed or pair.called == pair.wanted:
            continue
        yield "missing tool" if pair.called == NONE else "wrong tool"
    counts = Counter(dumps([call.tool, call.arguments], sort_keys=True, default=str) for call in made)
    for count in counts.values():
        if count >= REPEATED:
            yield "poor plan"


def _parameter_errors(card: ScoreCard) -> Iterator[ParameterError]:
    wanted = [call for _, call in card.alignment.reference_calls]
    made = [call for _, call in card.alignment.actual_calls]
    for call in made:
        if call.outcome == "invalid_arguments":
            yield from refusals(call.tool, call.arguments)
        elif call.outcome == "not_found":
            yield "parameter object"
    instead = card.alignment.instead
    told = {wanted[other.reference].tool for other in instead} | {call.tool for call in made if call.failed}
    for pair in pairs_of(card):
        if not pair.answered and pair.called == pair.wanted and pair.wanted not in told:
            yield "parameter object"
    for other in instead:
        if not made[other.actual].failed:
            needed = wanted[other.reference]
            yield from _other(needed.tool, needed.arguments, made[other.actual].arguments)


def _other(tool: str, wanted: JSON, made: JSON) -> set[ParameterError]:
    """What is wrong with a call that was taken and is about something else."""
    found: set[ParameterError] = set()
    for difference in differences(wanted, made):
        kind = kinds_of(tool).kind(difference.argument.partition(".")[0])
        if kind == "presentation" or difference.kind == "extra":
            continue
        if difference.kind == "missing":
            found.add("parameter missing")
        else:
            found.add("parameter range" if kind == "quantity" else "parameter object")
    return found or {"parameter object"}


def _unordered(card: ScoreCard) -> bool:
    return any(improvement.kind == "order" for improvement in card.improvements)


def refusals(tool: str, arguments: Mapping[str, object]) -> set[ParameterError]:
    """The kinds of faults in the arguments of a call that was refused.

    Where the schema is kept, or is not known because the tool is a third party's, a value was refused by the tool
    itself: that is its range.
    """
    known = find_tool(tool)
    if known is None:
        return {"parameter range"}
    given = known.filled(read_arguments(known.input_schema, arguments).arguments)
    found = set(_faults(known.input_schema, given))
    if known.strict and set(given) - set(known.input_schema.get("properties", {})):
        found.add("parameter hallucinated")
    return found or {"parameter range"}


def _faults(schema: Schema, value: object) -> Iterator[ParameterError]:
    if "anyOf" in schema:
        if all(problems(branch, value) for branch in schema["anyOf"]):
            yield "parameter type"
        return
    if "enum" in schema:
        if value not in schema["enum"]:
            yield "parameter range"
        return
    if "type" in schema and problems({"type": schema["type"]}, value):
        yield "parameter type"
        return
    if problems({name: schema[name] for name in _BOUNDS if name in schema}, value):
        yield "parameter range"
    if isinstance(value, Mapping):
        if set(schema.get("required", ())) - set(value):
            yield "parameter missing"
        for name, part in schema.get("properties", {}).items():
            if name in value:
                yield from _faults(part, value[name])
    elif isinstance(value, list):
        for item in value:
            yield from _faults(schema.get("items", {}), item)


def looked_at(calls: Iterable[ActualCall]) -> Verification:
    """How far what was made was looked at, for a run whose result is wrong all the same.

    Args:
        calls: In their order.
    """
    seen: dict[str, bool] = {}
    for call in calls:
        if call.failed:
            continue
        tool = find_tool(call.tool)
        looks = tool is not None and tool.read_only
        for name in _files(call.arguments):
            if not looks:
                seen[name] = False
            elif name in seen:
                seen[name] = True
    if not any(seen.values()):
        return "no verification"
    return "pseudo-verification" if all(seen.values()) else "incomplete verification"


def _files(value: object) -> Iterator[str]:
    if isinstance(value, str):
        name = re.split(r"[/\\]", value)[-1]
        if _FILE.fullmatch(name):
            yield name
    elif isinstance(value, dict):
        for part in value.values():
            yield from _files(part)
    elif isinstance(value, list | tuple):
        for part in value:
            yield from _files(part)
