"""How a client is known to send the calls of one turn, from a probe of that very client.

Many clients send read-only tools together and others one by one, so each kind has a habit of its own. A habit that
was not measured is None, and then it says nothing.
"""

from dataclasses import dataclass
from typing import Literal

Habit = Literal["together", "in a row"]

MODEL_NS = 300_000_000
"""A model needs longer than this between two calls; what comes sooner, the client did by itself."""

TOGETHER_NS = 1_000_000_000
"""Calls that are sent together arrive within this time, however fast they are answered."""


@dataclass(frozen=True, kw_only=True)
class Habits:
    """What a probe measured."""

    read_only: Habit | None = None
    others: Habit | None = None

    def of(self, read_only: bool) -> Habit | None:
        """The habit for tools of one kind."""
        return self.read_only if read_only else self.others
