"""The store as the journal of a server process; opened by the first call; observers are told of it."""

from typing import Protocol

from m3bench.proxy.protocol.tool_calls import AnswerDelivery, ToolAnswer, ToolRequest
from m3bench.server.runs.observer import Observer
from m3bench.server.store.contract import Store


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
