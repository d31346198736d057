"""Which tool was wanted, and which was called: counts over all runs of a set, and what was wrong with arguments.

A wanted call that was answered counts under the tools that answered it, its own or, on another route, others. One that
was missed counts under the tool of the nearest call in its place where the card names one (`its own tool`, about
something else); otherwise the calls that were not needed are put against it in order, those of the same server first.
`NONE` stands for nothing: wanted and not called, or called and not wanted.
"""

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from m3bench.server.lab.results.resultset import Result
from m3bench.server.scorecard.model import ScoreCard
from m3bench.server.scoring.differences import differences
from m3bench.tasks.kinds import kinds_of

NONE = "(none)"


@dataclass(frozen=True, order=True, kw_only=True)
class ToolPair:
    """A tool that was wanted and one that was called."""

    wanted: str
    called: str
    answered: bool
    """Whether the call gave what was wanted."""


@dataclass(frozen=True, order=True, kw_only=True)
class ArgumentError:
    """One way in which calls were wrong."""

    error: str
    """`refused` by the schema, `unknown tool`, `illegal format`; or, of a call that was taken, an argument that is
    `missing`, `extra` or `changed` against the reference."""
    kind: str
    """What the argument is (`identity`, `quantity`, `place`, `text`, `content`); empty for calls that were refused."""


def confusion(results: Iterable[Result]) -> dict[ToolPair, int]:
    """How often each tool was called where each was wanted."""
    counts: Counter[ToolPair] = Counter()
    for result in results:
        counts.update(pairs_of(result.card))
    return dict(sorted(counts.items()))


def argument_errors(results: Iterable[Result]) -> dict[ArgumentError, int]:
    """How often calls and arguments were wrong in each way."""
    counts: Counter[ArgumentError] = Counter()
    for result in results:
        counts.update(_errors(result.card))
    return dict(sorted(counts.items()))


def pairs_of(card: ScoreCard) -> Iterator[ToolPair]:
    """What was wanted and what was called in a run, call by call."""
    alignment = card.alignment
    wanted = [call.tool for _, call in alignment.reference_calls]
    made = [call.tool for _, call in alignment.actual_calls]
    for match in alignment.matches:
        for place in match.calls:
            yield ToolPair(wanted=wanted[match.reference], called=made[place], answered=True)
    instead = {other.reference: other.actual for other in alignment.instead}
    left = [place for place in alignment.extra if place not in instead.values()]
    for place in alignment.missed:
        found = instead[place] if place in instead else _nearest(wanted[place], left, made)
        if found is None:
            yield ToolPair(wanted=wanted[place], called=NONE, answered=False)
            continue
        yield ToolPair(wanted=wanted[place], called=made[found], answered=False)
        if found in left:
            left.remove(found)
    for place in left:
        yield ToolPair(wanted=NONE, called=made[place], answered=False)


def _nearest(wanted: str, left: list[int], made: list[str]) -> int | None:
    server = wanted.partition("/")[0]
    own = (place for place in left if made[place].partition("/")[0] == server)
    return next(own, left[0] if left else None)


_REFUSED = {"invalid_arguments": "refused", "unknown_tool": "unknown tool", "illegal_format": "illegal format"}


def _errors(card: ScoreCard) -> Iterator[ArgumentError]:
    alignment = card.alignment
    wanted = [call for _, call in alignment.reference_calls]
    made = [call for _, call in alignment.actual_calls]
    for call in made:
        if call.outcome in _REFUSED:
            yield ArgumentError(error=_REFUSED[call.outcome], kind="")

    def kind(tool: str, argument: str) -> str:
        return kinds_of(tool).kind(argument.partition(".")[0])

    for match in alignment.matches:
        tool = wanted[match.reference].tool
        if match.way in (None, "partly"):
            for difference in match.differences:
                yield ArgumentError(error=difference.kind, kind=kind(tool, difference.argument))
    for other in alignment.instead:
        call, tool = made[other.actual], wanted[other.reference].tool
        if call.outcome in _REFUSED:
            continue
        for step in differences(wanted[other.reference].arguments, call.arguments):
            if (found := kind(tool, step.argument)) != "presentation":
                yield ArgumentError(error=step.kind, kind=found)
