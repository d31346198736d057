"""Gaps of the world: answers that are empty only because the frozen world does not hold what was asked for.

A server words the answer as its public service would; the dispatcher adds the sentence about the gap and marks the
call. What cannot exist, such as an ISBN whose check digit is wrong, is not a gap: see `m3bench.sandboxes.identifiers`.
"""

from dataclasses import dataclass
from typing import TypeVar

from m3bench.tasks.errors import SoftError

Value = TypeVar("Value")


@dataclass(frozen=True)
class Partial:
    """An answer of which a part is missing because the world does not hold it; the rest is of use."""

    answer: object


def gap(answer: object) -> SoftError:
    """The error to raise when the world does not hold what was asked for; the answer is what the service would say."""
    return SoftError(answer, outcome="gap")


def covered(answer: Value, found: object, *asked: str | None) -> Value:
    """The answer to a search, marked as empty through a gap of the world when nothing was found.

    Args:
        answer: What the service would say.
        found: What was found.
        asked: The words that were searched for, if any; with no letter or digit in them nothing was asked for, and
            that nothing is found is true.
    """
    if found or (asked and not any(character.isalnum() for text in asked for character in text or "")):
        return answer
    raise SoftError(answer, outcome="empty")
