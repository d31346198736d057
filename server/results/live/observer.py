"""Whoever looks on while a server works: told of seats, runs and calls, and never in their way.

Only the live view is one, and only over HTTP; without it nothing is told and nothing is computed.
"""

from typing import Protocol

from m3bench.proxy.call import Answer, ToolRequest


class Observer(Protocol):
    """Is told what happens, at once and briefly; what it raises would break the call it is told of."""

    def seats_changed(self) -> None:
        """A seat was opened or closed."""
        ...

    def run_changed(self, run: str) -> None:
        """A run began, or its state on record is another."""
        ...

    def received(self, call: int, request: ToolRequest, run: str | None, tool: str) -> None:
        """A call arrived and is on record."""
        ...

    def answered(self, call: int, answer: Answer) -> None:
        """The answer of a call is on record."""
        ...
