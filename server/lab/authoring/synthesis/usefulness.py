"""Refuses tasks that would measure nothing: steps that are not needed, answers that can be guessed, near-duplicates.

MCP-Bench has a model rate how useful a task is. Here rules decide, from what the calls of a task really answered, and
the same task is always decided in the same way. Whether a task can be solved is proved elsewhere.
"""

from collections import Counter
from collections.abc import Sequence
from typing import Literal

from m3bench.server.lab.authoring.synthesis.instance import Instance
from m3bench.server.lab.authoring.synthesis.likeness import Kept
from m3bench.server.lab.authoring.synthesis.names import named
from m3bench.tasks.facts import MIN_DIGITS, MIN_LETTERS, MIN_ROUNDED, Held, digits
from m3bench.tasks.folding import fold
from m3bench.tasks.task import Task

Reason = Literal["needless step", "trivial answer", "near-duplicate", "names a service"]

REASONS: dict[Reason, str] = {
    "needless step": "a step is asked for nothing that earlier answers or the card do not say already",
    "trivial answer": (
        "all answers of a step say that there is nothing or are numbers of one digit, or the last step answers the "
        "same about others"
    ),
    "near-duplicate": "it asks, calls or sounds like another task of the set",
    "names a service": "the question names a service or a tool",
}

EMPTY = frozenset({"", "-", "n/a", "na", "nan", "no", "none", "null", "not available", "other", "unknown", "yes"})
"""Answers that tell nothing, or that one time in two are right when guessed."""


class Usefulness:
    """Decides on one task after the other, and remembers those that were kept."""

    def __init__(self) -> None:
        self.refused: Counter[Reason] = Counter()
        """Tasks that were refused, by reason."""
        self._kept = Kept()

    def refuse(self, made: Instance, other: Instance | None) -> Reason | None:
        """Why a task is refused before it has words; None when it is useful.

        Args:
            made: The task in the making.
            other: The same errand with other things alone, where there is one.
        """
        reason: Reason | None = None
        if has_needless_step(made):
            reason = "needless step"
        elif is_trivial(made, other):
            reason = "trivial answer"
        elif self._kept.repeats(made.errand.shape, made.steps):
            reason = "near-duplicate"
        return self._counted(reason)

    def refuse_words(self, question: str) -> Reason | None:
        """Why a question is refused; None when it is fit to be asked."""
        if named(question) is not None:
            return self._counted("names a service")
        return self._counted("near-duplicate" if self._kept.sounds_like(question) else None)

    def keep(self, made: Instance, task: Task) -> None:
        """Remember a task that enters the set."""
        self._kept.keep(made.errand.shape, task)

    def _counted(self, reason: Reason | None) -> Reason | None:
        if reason is not None:
            self.refused[reason] += 1
        return reason


def has_needless_step(made: Instance) -> bool:
    """Whether some step after the first tells nothing new of what is asked.

    Numbers with one or two digits may stand anywhere by chance. They count as new where nothing else is asked, and
    not at all where something is.
    """
    asked = made.asked
    for step in range(1, len(made.steps)):
        before = Held("\n".join([*made.things, *(text for texts in made.heard[:step] for text in texts)]))
        later = [value for at in range(step, len(made.steps)) for value in asked[at]]
        telling = [value for value in later if not _is_short(value)]
        if all(_stands(value, before) for value in telling or later):
            return True
    return False


def is_trivial(made: Instance, other: Instance | None) -> bool:
    """Whether all answers of a step can be guessed, or those of the last one do not depend on what is on the card."""
    if any(values and all(map(_is_guessed, values)) for values in made.asked):
        return True
    if other is None:
        return False
    mine, others = _last(made.asked), _last(other.asked)
    return bool(mine) and sorted(map(str, mine)) == sorted(map(str, others))


def _is_guessed(value: str | float) -> bool:
    """Whether it tells nothing, or is a number of one digit, which stands in many a text by chance."""
    return fold(value) in EMPTY if isinstance(value, str) else digits(value) < MIN_DIGITS


def _stands(value: str | float, text: Held) -> bool:
    if isinstance(value, str):
        return len(value) >= MIN_LETTERS and text.holds(fold(value))
    return not _is_short(value) and (text.holds(value) or text.holds_rounded(value))


def _is_short(value: str | float) -> bool:
    return not isinstance(value, str) and digits(value) < MIN_ROUNDED


def _last(asked: Sequence[Sequence[str | float]]) -> Sequence[str | float]:
    return next((values for values in reversed(asked) if values), ())
