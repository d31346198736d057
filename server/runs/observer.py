"""Those who watch a server at work: they are told of seats, runs and calls, and never hold them up.

Only the live view and the numbers for Prometheus do, and only over HTTP; without them nothing is told and nothing is
computed.
"""

from typing import Protocol

from m3bench.proxy.protocol.tool_calls import ToolAnswer, ToolRequest
from m3bench.server.store.contract import Store


class Observer(Protocol):
    """Is told what happens, at once; it must be quick, and an error that it raises would break the call."""

    def opened(self, store: Store) -> None:
        """The record is open: this comes before the first call."""
        ...

    def seats_changed(self) -> None:
        """A seat was opened or closed."""
        ...

    def run_changed(self, run: str) -> None:
        """A run began, or its state on record is another."""
        ...

    def received(self, call: int, request: ToolRequest, run: str | None, tool: str) -> None:
        """A call arrived and is on record."""
        ...

    def answered(self, call: int, answer: ToolAnswer) -> None:
        """The answer of a call is on record."""
        ...

    def withheld(self, call: int | None) -> None:
        """A call could not be recorded and was not made, or its answer could not be and was not given."""
        ...


class Observers:
    """Several observers as one."""

    def __init__(self, *observers: Observer) -> None:
        self._observers = observers

    def opened(self, store: Store) -> None:
        """The record is open."""
        for observer in self._observers:
            observer.opened(store)

    def seats_changed(self) -> None:
        """A seat was opened or closed."""
        for observer in self._observers:
            observer.seats_changed()

    def run_changed(self, run: str) -> None:
        """A run began, or its state on record is another."""
        for observer in self._observers:
            observer.run_changed(run)

    def received(self, call: int, request: ToolRequest, run: str | None, tool: str) -> None:
        """A call arrived and is on record."""
        for observer in self._observers:
            observer.received(call, request, run, tool)

    def answered(self, call: int, answer: ToolAnswer) -> None:
        """The answer of a call is on record."""
        for observer in self._observers:
            observer.answered(call, answer)

    def withheld(self, call: int | None) -> None:
        """A call or its answer could not be recorded."""
        for observer in self._observers:
            observer.withheld(call)
