"""The first thing that went wrong in a run that was not solved, in a sentence or two.

A card has every fault; this is the one that a reader should look at first, in words that need no knowledge of us. It is
a limit that ended the run, else the first call of the reference, in its own order, that nothing answered or that was
answered in part only; when all were answered, it is what was handed in. Nothing is said that the card's data do not
show.
"""

from collections.abc import Sequence
from difflib import SequenceMatcher

from m3bench.server.scorecard.improvements import tools_text
from m3bench.server.scorecard.model import ActualCall, CheckResult, Instead, Match, ReferenceCall, ScoreCard
from m3bench.server.scoring.words import printable, value

_MAX_ARGUMENTS, _MAX_NAMED = 90, 3
_LARGE = 1_000_000
"""Characters of arguments beyond which their size is told."""
_ALIKE = 0.7
"""How alike the name of a tool that does not exist is to the one that was meant."""

NOTHING_GIVEN = "nothing was given"
"""How the reason of a field begins that was left empty."""
NOTHING_HANDED_IN = "nothing was handed in"
NO_FIELDS = "only prose was handed in, from which none of the fields that were asked for could be read"

_FAILED = {
    "invalid_arguments": "was refused for wrong arguments",
    "unknown_tool": "failed, for there is no such tool",
    "not_found": "did not find what it was asked for",
    "gap": "asked for what the offline world does not hold",
}


def first_fault(card: ScoreCard, *, prose: bool = False) -> str:
    """The words; empty for a run that was solved, that is void, or whose task has nothing to check.

    Args:
        card: The card.
        prose: Whether an answer in words was handed in.
    """
    if card.success is not False or card.void is not None:
        return ""
    wrong = [check for check in card.checks if not check.passed]
    refused = card.excluded.get("limit", 0)
    limit = _weather(card) + (
        f"The run reached a limit on its calls or its time, and {_many(refused, 'call')} after that {_was(refused)} "
        "refused. "
        if refused
        else ""
    )
    empty = (NO_FIELDS if prose else NOTHING_HANDED_IN) if _is_empty(card) else ""
    ending = empty or _handed_in(wrong)
    if not card.alignment.actual_calls:
        return limit + _joined("No tool was called", "and", ending)
    if call := _first_call(card):
        return limit + call + (f" {empty[0].upper()}{empty[1:]}." if empty else "")
    return limit + _joined("Every call that was needed was made", "but", ending) + _besides(card)


def _weather(card: ScoreCard) -> str:
    """That calls which failed for a while, on purpose, were not made again until they worked."""
    recovery = card.conduct.recovery if card.conduct is not None else None
    lost = 0 if recovery is None else recovery.met - recovery.survived
    return (
        f"{_many(lost, 'call')} met a passing fault, made on purpose, and {_was(lost)} not made again until "
        f"{'it' if lost == 1 else 'they'} worked. "
        if lost
        else ""
    )


def _first_call(card: ScoreCard) -> str:
    """The first call that went wrong. One that is missing and on which no other depends led nothing astray."""
    found = card.alignment
    matches = {match.reference: match for match in found.matches}
    instead = {near.reference: near for near in found.instead}
    later = ""
    for place, (_, wanted) in enumerate(found.reference_calls):
        match = matches.get(place)
        if place in found.not_needed or (match is not None and match.full):
            continue
        if match is not None:
            return _partly(card, wanted, match)
        if place in instead:
            return _other(card, wanted, instead[place])
        if told := _failed(card, place, wanted) or _ended(card, place, wanted):
            return told
        needed = any(place in needs for needs in found.needs)
        vain = _made_in_vain(card, wanted)
        if needed and not vain:
            return _missing(card, wanted, needed=needed)
        later = later or vain or _missing(card, wanted, needed=needed)
    return later


def _partly(card: ScoreCard, wanted: ReferenceCall, match: Match) -> str:
    step, made = card.alignment.actual_calls[match.actual]
    why = match.note or "its arguments differ"
    return f"In step {step + 1}, {_call(made)} gave only a part of what {_call(wanted)} gives: {printable(why)}."


def _other(card: ScoreCard, wanted: ReferenceCall, near: Instead) -> str:
    step, made = card.alignment.actual_calls[near.actual]
    ended = f", which {_how(made)}" if made.failed else ""
    where = f"Step {step + 1} called {_call(made)}{ended}"
    return f"{where}{',' if ended else ''} where {_call(wanted)} was needed: {printable(near.note)}."


def _failed(card: ScoreCard, place: int, wanted: ReferenceCall) -> str:
    """A call that was meant for it, failed, and was not made again."""
    for extra in card.alignment.extra:
        step, made = card.alignment.actual_calls[extra]
        meant = made.tool == wanted.tool or (made.outcome == "unknown_tool" and _alike(made.tool, wanted.tool))
        if made.failed and meant:
            again = "was never called" if made.tool != wanted.tool else "never got an answer"
            first = _too_early(card, place, step) or f"{_call(wanted)}, which was needed, {again}"
            return f"In step {step + 1}, {_call(made)} {_how(made)}; {first}."
    return ""


def _too_early(card: ScoreCard, place: int, step: int) -> str:
    """That what a call needs was called after it only; of several the one about the same thing, such as a file."""
    found = card.alignment
    needs = found.needs[place] if found.needs else ()
    about = _texts(found.reference_calls[place][1])
    late = [
        found.actual_calls[match.actual]
        for match in found.matches
        if match.reference in needs and found.actual_calls[match.actual][0] > step
    ]
    if not late:
        return ""
    later, made = max(late, key=lambda each: len(about & _texts(each[1])))
    return f"it came too early, for {_call(made)}, which it needs, was called in step {later + 1} only"


def _texts(call: ReferenceCall | ActualCall) -> set[str]:
    return {item for item in call.arguments.values() if isinstance(item, str)}


def _ended(card: ScoreCard, place: int, wanted: ReferenceCall) -> str:
    """That nothing which was needed came after this: the run ended too soon."""
    found = card.alignment
    needed = [number for number in range(len(found.reference_calls)) if number not in found.not_needed]
    left = [number for number in needed if number >= place]
    later = {match.reference for match in found.matches} | {near.reference for near in found.instead}
    if len(left) < 2 or later.intersection(left):
        return ""
    if left == needed:
        return f"Nothing that was needed was called: {_call(wanted)} should have come first.{_in_vain(card)}"
    done = len(needed) - len(left)
    return (
        f"{'By then' if card.excluded.get('limit') else 'The run stopped too soon:'} {done} of "
        f"{_many(len(needed), 'needed call')} {_was(done)} made, and next should have come {_call(wanted)}."
        f"{_in_vain(card)}"
    )


def _missing(card: ScoreCard, wanted: ReferenceCall, *, needed: bool) -> str:
    never = "answered" if _weather(card) else "called"
    later = ", although later calls depend on it" if needed else ""
    return f"{_call(wanted)} was never {never}, nor anything that tells or does the same{later}.{_in_vain(card)}"


def _made_in_vain(card: ScoreCard, wanted: ReferenceCall) -> str:
    """That the very call was made, and what came of it is not what it should have led to."""
    for place in card.alignment.extra:
        step, made = card.alignment.actual_calls[place]
        if not made.failed and (made.tool, made.arguments) == (wanted.tool, wanted.arguments):
            return f"{_call(made)} in step {step + 1} did not lead to what was needed."
    return ""


def _in_vain(card: ScoreCard) -> str:
    """What was called that nobody needed: other tools than the right ones, or the same call again and again."""
    told = {near.actual for near in card.alignment.instead}
    extra = [card.alignment.actual_calls[place][1] for place in card.alignment.extra if place not in told]
    reference = card.alignment.reference_calls
    wanted = [(call.tool, call.arguments) for _, call in (reference[place] for place in card.alignment.missed)]
    worked = [call for call in extra if not call.failed and (call.tool, call.arguments) not in wanted]
    if not worked:
        return ""
    made = f"{_many(len(worked), 'call')} that {_was(len(worked))} not needed {_was(len(worked))} made"
    return f" {made}: {tools_text(worked)}."


def _is_empty(card: ScoreCard) -> bool:
    """Whether every field was left empty."""
    return bool(card.checks) and all(NOTHING_GIVEN in check.reason and not check.given for check in card.checks)


def _handed_in(wrong: Sequence[CheckResult]) -> str:
    """All that was needed was called, or nothing at all: the fault is what was handed in."""
    empty = [check for check in wrong if NOTHING_GIVEN in check.reason and not check.given]
    bad = [check for check in wrong if check not in empty]
    values = "a wrong value was" if len(bad) == 1 else "wrong values were"
    said = [f"{values} handed in for {_named(bad)}"] if bad else []
    said += [f"{_named(empty)} {_was(len(empty))} left empty"] if empty else []
    return " and ".join(said) + _swapped(bad)


def _swapped(wrong: Sequence[CheckResult]) -> str:
    """That two values stand in each other's field; only where the right ones may be told."""
    for place, one in enumerate(wrong):
        for other in wrong[place + 1 :]:
            if _holds(one, other) and _holds(other, one):
                return f" (each holds what belongs in the other: {_named([one, other])})"
    return ""


def _holds(one: CheckResult, other: CheckResult) -> bool:
    """Whether what was given in one field is right in another, which may say its unit as well."""
    return bool(one.given) and one.given in (other.right, other.right.partition(" ")[0])


def _joined(first: str, word: str, then: str) -> str:
    return f"{first}, {word} {then}." if then else f"{first}."


def _besides(card: ScoreCard) -> str:
    """What else was done, which may have undone it."""
    done = [card.alignment.actual_calls[place] for place in card.alignment.extra]
    worked = [(step, call) for step, call in done if not call.failed]
    if not worked:
        return ""
    step, call = worked[-1]
    count = f"{_many(len(worked), 'call')} that {_was(len(worked))} not needed {_was(len(worked))} made, too"
    return f" {count}, the last in step {step + 1}: {_call(call)}."


def _named(checks: Sequence[CheckResult]) -> str:
    """A few fields or checks by name."""
    names = [f"'{printable(check.check)[:60]}'" for check in checks[:_MAX_NAMED]]
    if len(checks) > _MAX_NAMED:
        return f"{', '.join(names)} and {len(checks) - _MAX_NAMED} more"
    return " and ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)


def _how(made: ActualCall) -> str:
    size = sum(len(str(item)) for item in made.arguments.values())
    if made.outcome == "invalid_arguments" and size > _LARGE:
        return f"was refused for its arguments, which take {size / 1e6:.1f} MB"
    return _FAILED.get(made.outcome or "", "failed")


def _alike(one: str, other: str) -> bool:
    return SequenceMatcher(None, one.replace("__", "/"), other).ratio() > _ALIKE


def _many(count: int, what: str) -> str:
    return f"{count} {what}{'' if count == 1 else 's'}"


def _was(count: int) -> str:
    return "was" if count == 1 else "were"


def _call(call: ReferenceCall | ActualCall) -> str:
    arguments = ", ".join(f"{printable(name)}={value(item, 32)}" for name, item in call.arguments.items())
    shown = arguments if len(arguments) <= _MAX_ARGUMENTS else f"{arguments[: _MAX_ARGUMENTS - 1]}…"
    return f"{printable(call.tool)[:60]}({shown})"
