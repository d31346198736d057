"""Refuses tasks that would measure nothing: steps that are not needed, answers that can be guessed, repetitions.

MCP-Bench has a model rate how useful a task is. Here rules decide, from what the calls of a task really answered, and
the same task is always decided in the same way. Whether a task can be solved is proved elsewhere.
"""

import json
from collections import Counter
from collections.abc import Sequence
from typing import Literal

from m3bench.server.authoring.synthesis.instance import Instance
from m3bench.tasks.facts import MIN_LETTERS, MIN_ROUNDED, Held, digits
from m3bench.tasks.folding import fold

Reason = Literal["needless step", "trivial answer", "repetition"]

REASONS: dict[Reason, str] = {
    "needless step": "a step is asked for nothing that earlier answers or the card do not say already",
    "trivial answer": "all answers of a step say that there is nothing, or the last step answers the same about others",
    "repetition": "half of its calls or more are those of another task",
}

EMPTY = frozenset({"", "-", "n/a", "na", "nan", "no", "none", "null", "not available", "other", "unknown", "yes"})
"""Answers that tell nothing, or that one time in two are right when guessed."""

MOST_SHARED = 0.5
"""Share of a task's calls that may not be reached by those it has in common with another one."""


class Usefulness:
    """Decides on one task after the other, and remembers those that were kept."""

    def __init__(self) -> None:
        self.refused: Counter[Reason] = Counter()
        """Tasks that were refused, by reason."""
        self._kept: list[frozenset[str]] = []

    def refuse(self, made: Instance, other: Instance | None) -> Reason | None:
        """Why a task is refused; None when it is useful.

        Args:
            made: The task in the making.
            other: The same plan with other things alone, where there is one.
        """
        reason = self._reason(made, other)
        if reason is not None:
            self.refused[reason] += 1
        return reason

    def keep(self, made: Instance) -> None:
        """Remember a task that enters the set."""
        self._kept.append(_calls(made))

    def _reason(self, made: Instance, other: Instance | None) -> Reason | None:
        if has_needless_step(made):
            return "needless step"
        if is_trivial(made, other):
            return "trivial answer"
        calls = _calls(made)
        for kept in self._kept:
            if len(calls & kept) >= MOST_SHARED * min(len(calls), len(kept)):
                return "repetition"
        return None


def has_needless_step(made: Instance) -> bool:
    """Whether some step after the first tells nothing new of what is asked.

    Numbers with one or two digits may stand anywhere by chance and count as new.
    """
    asked = made.asked
    for step in range(1, len(made.steps)):
        if not made.steps[step]:
            continue
        before = Held("\n".join([*made.things, *(text for texts in made.heard[:step] for text in texts)]))
        later = [value for at in range(step, len(made.steps)) for value in asked[at]]
        if not later and not made.files:
            return True
        if later and not made.files and all(_stands(value, before) for value in later):
            return True
    return False


def is_trivial(made: Instance, other: Instance | None) -> bool:
    """Whether all answers of a step tell nothing, or those of the last one do not depend on what is on the card."""
    if any(values and all(map(_is_empty, values)) for values in made.asked):
        return True
    if other is None:
        return False
    mine, others = _last(made.asked), _last(other.asked)
    return bool(mine) and sorted(map(str, mine)) == sorted(map(str, others))


def _is_empty(value: str | float) -> bool:
    return fold(value) in EMPTY if isinstance(value, str) else value == 0


def _stands(value: str | float, text: Held) -> bool:
    if isinstance(value, str):
        return len(value) >= MIN_LETTERS and text.holds(fold(value))
    return digits(value) >= MIN_ROUNDED and (text.holds(value) or text.holds_rounded(value))


def _last(asked: Sequence[Sequence[str | float]]) -> Sequence[str | float]:
    return next((values for values in reversed(asked) if values), ())


def _calls(made: Instance) -> frozenset[str]:
    return frozenset(
        f"{call.tool} {json.dumps(call.arguments, sort_keys=True, ensure_ascii=False)}"
        for step in made.steps
        for call in step
    )
