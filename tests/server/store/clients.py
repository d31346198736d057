"""A client of a record: it calls through the real router and remembers what it saw."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import anyio

from m3bench.proxy.protocol.tool_calls import Caller, Journal, Relay, ToolAnswer, ToolRequest
from m3bench.proxy.router import Router
from m3bench.proxy.seat import Seat
from m3bench.proxy.weather import RunWeather
from m3bench.server.store.factory import open_store
from m3bench.server.store.location import RecordLocation
from m3bench.server.store.records import RunRecord
from m3bench.server.store.sqlite import SqliteStore
from m3bench.tasks.errors import StoreError
from m3bench.tasks.outcome import Reply, text_of
from m3bench.tasks.trap import StrayOrder

SEAT = "seat"


def request(number: int = 1, text: str = "hello", raw: bytes | None = None) -> ToolRequest:
    """A call as it comes over the wire."""
    params = {"name": "echo", "arguments": {"text": text}}
    message = {"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": params}
    return ToolRequest(
        caller=Caller(seat=SEAT, revision="2025-11-25", client="tests 1"),
        id=number,
        raw=json.dumps(message).encode() if raw is None else raw,
        name="echo",
        arguments={"text": text},
        received_ns=10,
        wall="2026-01-01T00:00:00+00:00",
    )


def run_record(id: str = "a" * 40, state: str = "working", **changes: Any) -> RunRecord:
    """A run that begins."""
    values: dict[str, Any] = {
        "id": id, "seat": SEAT, "task": "sum-1", "state": state, "mode": "practice", "started": "2026-01-01",
        "ended": None, "answer": None, "seal": None, "manifest": {"profile": "full"}, "scorecard": None,
    }  # fmt: skip
    return RunRecord(**{**values, **changes})


class _Run:
    """A run under way that needs no sandbox."""

    weather: RunWeather | None = None
    order: StrayOrder | None = None

    def __init__(self, id: str) -> None:
        self.id = id

    def enter(self) -> None: ...

    def leave(self) -> None: ...

    def admit(self) -> str | None:
        return None

    def lose(self, request: ToolRequest, tool: str, answer: ToolAnswer) -> None: ...

    async def call(self, tool: str, arguments: bytes, seconds: float) -> Reply:
        raise NotImplementedError

    def keep(self, call: int, result: bytes) -> str:
        return "./results/1.json"


class _NoTools:
    names: frozenset[str] = frozenset()

    async def call(self, seat: Seat, name: str, arguments: Mapping[str, Any], client: str = "") -> ToolAnswer:
        raise NotImplementedError


class _Echo:
    """A server that says what it was told, and remembers that it was asked."""

    def __init__(self) -> None:
        self.asked: list[str] = []

    def owns(self, seat: Seat, name: str) -> bool:
        return name == "echo"

    def qualified(self, seat: Seat, name: str) -> str:
        return "echo/echo"

    def schema(self, name: str) -> Mapping[str, Any] | None:
        return None

    async def call(
        self, seat: Seat, run: str | None, name: str, params: Mapping[str, Any], relay: Relay | None, seconds: float
    ) -> ToolAnswer:
        text = params["arguments"]["text"]
        self.asked.append(text)
        await anyio.lowlevel.checkpoint()
        return ToolAnswer(outcome="success", result=json.dumps({"content": [{"type": "text", "text": text}]}).encode())


class _Delivery:
    """Lets a client see an answer as soon as it is said to be on record."""

    def __init__(self, seen: dict[int, bytes], number: int) -> None:
        self.sent_ns = 0
        self._seen = seen
        self._number = number

    def send(self, answer: ToolAnswer) -> None:
        self._seen[self._number] = answer.result
        self.sent_ns = 1


class Client:
    """Calls a tool that echoes, within a run, and remembers every answer it saw."""

    def __init__(self, journal: Journal, run: str) -> None:
        self.run = run
        self.seen: dict[int, bytes] = {}
        """Results by the id of the request."""
        self.refused: dict[int, str] = {}
        """Errors by the id of the request."""
        self.delivered = 0
        """How many answers came from the thread that wrote them."""
        self.server = _Echo()
        self._seat = Seat(id=SEAT, profile="full", run=_Run(run))
        self._router = Router(journal, _NoTools(), self.server)

    async def call(self, number: int, text: str = "hello") -> None:
        """Call the tool and note what comes back, by whichever way."""
        delivery = _Delivery(self.seen, number)
        with anyio.fail_after(30):
            answer = await self._router.call(self._seat, request(number, text), delivery=delivery)
        self.delivered += delivery.sent_ns > 0
        if answer.outcome == "success":
            assert self.seen.get(number, answer.result) == answer.result
            self.seen[number] = answer.result
        else:
            self.refused[number] = text_of(json.loads(answer.result)) if answer.result else str(answer.error)

    async def call_together(self, numbers: range, text: str = "hello") -> None:
        """Make several calls at once."""
        async with anyio.create_task_group() as tasks:
            for number in numbers:
                tasks.start_soon(self.call, number, text)


def assert_seen_is_recorded(folder: Path, *clients: Client, exact: bool = True) -> None:
    """What `assert_recorded` holds, of a record in a file."""
    assert_recorded(RecordLocation(folder), *clients, exact=exact)


def assert_recorded(place: RecordLocation, *clients: Client, exact: bool = True) -> None:
    """What a client saw is on record, once, in its run; with `exact`, what it did not see is not there as a success."""
    store = open_store(place)
    try:
        for client in clients:
            found: dict[int, list[tuple[str | None, bytes | None]]] = {}
            for call in store.calls(client.run):
                found.setdefault(int(call.request_id), []).append((call.outcome, call.result))
            for number, result in client.seen.items():
                assert found.get(number) == [("success", result)], (number, found.get(number))
            for number in client.refused:
                recorded = found.get(number, [])
                assert len(recorded) <= 1
                assert not exact or all(outcome == "failed" for outcome, _ in recorded), (number, recorded)
    finally:
        store.close()


def opened(folder: Path, run: str = "a" * 40, **options: Any) -> SqliteStore:
    """A store with a seat and a run under way."""
    store = SqliteStore(folder, **options)
    store.add_seat(SEAT, "full", "2026-01-01")
    try:
        store.add_run(run_record(run))
    except StoreError:
        store.close()
        raise
    return store
