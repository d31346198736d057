"""The first thing that went wrong in a run that was not solved, in one sentence.

A card has every fault; this is the one that a reader should look at first. It is the first call of the reference, in
its own order, that nothing answered or that was answered in part only; when all were answered, it is what was handed
in. Nothing is said that the card's data do not show.
"""

from collections.abc import Sequence

from m3bench.server.scorecard.model import ActualCall, CheckResult, Instead, Match, ReferenceCall, ScoreCard
from m3bench.server.scoring.words import printable, value

_MAX_ARGUMENTS, _MAX_NAMED = 90, 3


def first_fault(card: ScoreCard) -> str:
    """The sentence; empty for a run that was solved, that is void, or whose task has nothing to check."""
    if card.success is not False or card.void is not None:
        return ""
    wrong = [check for check in card.checks if not check.passed]
    if not card.alignment.actual_calls:
        return f"No tool was called{_only_wrong(wrong, ', and ')}."
    return _first_call(card) or _handed_in(card, wrong)


def _first_call(card: ScoreCard) -> str:
    found = card.alignment
    matches = {match.reference: match for match in found.matches}
    instead = {near.reference: near for near in found.instead}
    for place, (_, wanted) in enumerate(found.reference_calls):
        match = matches.get(place)
        if place in found.not_needed or (match is not None and match.full):
            continue
        if match is not None:
            return _partly(card, wanted, match)
        return _other(card, wanted, instead[place]) if place in instead else _missing(card, place, wanted)
    return ""


def _partly(card: ScoreCard, wanted: ReferenceCall, match: Match) -> str:
    step, made = card.alignment.actual_calls[match.actual]
    why = match.note or "its arguments differ"
    return f"In step {step + 1}, {_call(made)} gave only a part of what {_call(wanted)} gives: {printable(why)}."


def _other(card: ScoreCard, wanted: ReferenceCall, near: Instead) -> str:
    step, made = card.alignment.actual_calls[near.actual]
    ended = f" and ended with {made.outcome.replace('_', ' ')}" if made.failed and made.outcome else ""
    return f"Step {step + 1} called {_call(made)}{ended}, where {_call(wanted)} was needed: {printable(near.note)}."


def _missing(card: ScoreCard, place: int, wanted: ReferenceCall) -> str:
    later = ", and later calls depend on it" if any(place in needs for needs in card.alignment.needs) else ""
    return f"No call gave what {_call(wanted)} gives{later}."


def _handed_in(card: ScoreCard, wrong: Sequence[CheckResult]) -> str:
    """All that was needed was called: the fault is between the results and the answer."""
    if wrong and all(not check.given for check in wrong) and len(wrong) == len(card.checks):
        return "Every call that was needed was made, and then nothing was handed in."
    named = _only_wrong(wrong, ": ")
    return f"Every call that was needed was made, but the answer does not say what they found{named}."


def _only_wrong(wrong: Sequence[CheckResult], joined: str) -> str:
    """Which fields or checks are wrong; a few by name."""
    if not wrong:
        return ""
    names = ", ".join(printable(check.check)[:60] for check in wrong[:_MAX_NAMED])
    rest = f" and {len(wrong) - _MAX_NAMED} more" if len(wrong) > _MAX_NAMED else ""
    return f"{joined}{names}{rest} {'is' if len(wrong) == 1 else 'are'} not right"


def _call(call: ReferenceCall | ActualCall) -> str:
    arguments = ", ".join(f"{printable(name)}={value(item, 32)}" for name, item in call.arguments.items())
    shown = arguments if len(arguments) <= _MAX_ARGUMENTS else f"{arguments[: _MAX_ARGUMENTS - 1]}…"
    return f"{printable(call.tool)[:60]}({shown})"
