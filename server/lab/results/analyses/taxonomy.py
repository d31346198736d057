"""The errors of runs that failed, under the names that TOBench has for them: of tools, of parameters, of verification.

A failed run may have several; each follows by rule from its score card. `failures` says once for every sample what
became of it, and charges somebody; this says what an agent did wrong on the way. Runs that are solved, unchecked or
void, and those that the world let down, have none.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from json import dumps
from typing import Any, Literal, get_args

from m3bench.server.lab.results.analyses.confusion import NONE, pairs_of
from m3bench.server.lab.results.analyses.failures import CLASSES, class_of
from m3bench.server.lab.results.analyses.looking import Looked, looked_at
from m3bench.server.lab.results.analyses.refusals import ParameterError, refusals
from m3bench.server.lab.results.resultset import Result
from m3bench.server.scorecard.model import ScoreCard
from m3bench.server.scoring.differences import differences
from m3bench.tasks.kinds import kinds_of

ToolError = Literal["wrong tool", "missing tool", "hallucinated tool", "poor plan"]
ErrorName = ToolError | ParameterError | Looked

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
    "verification": get_args(Looked),
}

REPEATED = 3
"""Times that the very same call is made in a poor plan."""

_CHARGED = ("client", "limit")


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
        name: ErrorCount(runs=sum(name in one for one in found), times=sum(one[name] for one in found))
        for name in ERRORS
        if any(name in one for one in found)
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
    told = {wanted[one.reference].tool for one in card.alignment.instead} | {call.tool for call in made if call.failed}
    for pair in pairs_of(card):
        if not pair.answered and pair.called == pair.wanted and pair.wanted not in told:
            yield "parameter object"
    for one in card.alignment.instead:
        if not made[one.actual].failed:
            yield from _other(wanted[one.reference].tool, wanted[one.reference].arguments, made[one.actual].arguments)


def _other(tool: str, wanted: Mapping[str, Any], made: Mapping[str, Any]) -> set[ParameterError]:
    """What is wrong with a call that was taken and is about something else."""
    found: set[ParameterError] = set()
    for one in differences(wanted, made):
        kind = kinds_of(tool).kind(one.argument.partition(".")[0])
        if kind == "presentation" or one.kind == "extra":
            continue
        if one.kind == "missing":
            found.add("parameter missing")
        else:
            found.add("parameter range" if kind == "quantity" else "parameter object")
    return found or {"parameter object"}


def _unordered(card: ScoreCard) -> bool:
    return any(one.kind == "order" for one in card.improvements)
