"""Those who watch a server at work: they are told of seats, runs and calls, and never hold them up.

Only the live view and the numbers for Prometheus do, and only over HTTP; without them nothing is told and nothing is
computed.

The store is the journal of a server process: the first call opens it, and what it records is told to observers.
"""

from typing import Protocol

from m3bench.proxy.protocol.tool_calls import AnswerDelivery, ToolAnswer, ToolRequest
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


class ServerProcess(Protocol):
    """A server process, as far as its journal needs it."""

    @property
    def observer(self) -> Observer | None:
        """Who is told about calls, when somebody watches."""
        ...

    @property
    def store(self) -> Store:
        """The record."""
        ...

    async def opened_store(self) -> Store:
        """The same, opened without holding anybody up."""
        ...


class LazyJournal:
    """The journal of a server process.

    Args:
        app: Whose store it is, and whose observer.
    """

    def __init__(self, app: ServerProcess) -> None:
        self._app = app
        self._told = False

    async def received(self, request: ToolRequest, run: str | None, tool: str) -> int:
        """Put a call on record."""
        observer = self._app.observer
        try:
            store = await self._app.opened_store()
            if observer is not None and not self._told:
                self._told = True
                observer.opened(store)
            number = await store.received(request, run, tool)
        except Exception:
            if observer is not None:
                observer.withheld(None)
            raise
        if observer is not None:
            observer.received(number, request, run, tool)
        return number

    async def answered(self, call: int, answer: ToolAnswer, delivery: AnswerDelivery | None = None) -> None:
        """Put its answer on record."""
        observer = self._app.observer
        try:
            await self._app.store.answered(call, answer, delivery)
        except Exception:
            if observer is not None:
                observer.withheld(call)
            raise
        if observer is not None:
            observer.answered(call, answer)

    def sent(self, call: int, sent_ns: int) -> None:
        """Note when it left."""
        self._app.store.sent(call, sent_ns)
