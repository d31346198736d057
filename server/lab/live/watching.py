"""Follows a server or a record in a terminal until Ctrl-C; writes plain lines where there is no terminal.

The events of a server are read over HTTP, and asked for again when the connection is cut off; a record is looked at.
What is known is a `LiveView`: a state into which news are put, as the page does. `Screen` draws it as tables, and
`lines` tells it line by line.
"""

import http.client
import json
import socket
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from datetime import datetime
from threading import Lock
from typing import Literal
from urllib.parse import urlsplit

from pydantic import TypeAdapter, ValidationError
from rich.console import Console, ConsoleOptions, Group, RenderableType, RenderResult
from rich.live import Live
from rich.table import Table
from rich.text import Text

from m3bench.server.lab.live.events import HEARTBEAT_SECONDS
from m3bench.server.lab.live.record import CALLS, LiveRecord
from m3bench.server.lab.live.rows import (
    CallNews,
    LiveAnswer,
    LiveCall,
    LiveNews,
    LiveRun,
    LiveSeat,
    LiveState,
    RunNews,
    SeatsNews,
    Standing,
    StandingsNews,
)
from m3bench.server.lab.live.state import folder_state
from m3bench.server.scoring.words import printable
from m3bench.server.store.location import RecordLocation
from m3bench.server.store.records import OWN_TOOLS
from m3bench.tasks.errors import StoreError, UserError


class LiveView:
    """What is known of a server; empty before the first state."""

    def __init__(self) -> None:
        self.seats: list[LiveSeat] = []
        self.runs: dict[str, LiveRun] = {}
        self.calls: dict[str, LiveCall] = {}
        self.standings: list[Standing] = []

    def copy(self) -> "LiveView":
        """A copy of the view; rows are never changed, only replaced."""
        made = LiveView()
        made.seats, made.runs = self.seats.copy(), self.runs.copy()
        made.calls, made.standings = self.calls.copy(), self.standings.copy()
        return made

    def adopt(self, state: LiveState) -> None:
        """Replace everything with a state."""
        self.seats, self.standings = list(state.seats), list(state.standings)
        self.runs = {run.run: run for run in state.runs}
        self.calls = {call.call: call for call in state.calls}

    def apply(self, news: Sequence[LiveNews]) -> None:
        """Apply news to the view."""
        for message in news:
            match message:
                case CallNews(row=row):
                    self._put_call(row)
                case RunNews(row=row):
                    known = self.runs.get(row.run) if row.state == "working" else None
                    counted = row if known is None else replace(row, calls=known.calls, failed=known.failed)
                    self.runs[row.run] = counted
                case StandingsNews(standings=standings):
                    self.standings = list(standings)
                case SeatsNews(seats=seats):
                    clients = {seat.seat: seat.client for seat in self.seats}
                    self.seats = [replace(seat, client=seat.client or clients.get(seat.seat, "")) for seat in seats]
        for name in list(self.calls)[: max(0, len(self.calls) - CALLS)]:
            del self.calls[name]

    def _put_call(self, row: LiveCall | LiveAnswer) -> None:
        before = self.calls.get(row.call)
        if isinstance(row, LiveCall):
            call = row
        elif before is not None:
            call = replace(before, outcome=row.outcome, owner=row.owner, took_ns=row.took_ns)
        else:
            return
        self.calls[call.call] = call
        run = self.runs.get(call.run or "")
        if run is not None and run.state == "working" and call.tool not in OWN_TOOLS:
            failed = call.outcome not in (None, "success") and (before is None or before.outcome is None)
            self.runs[run.run] = replace(
                run,
                calls=run.calls + (before is None),
                failed=run.failed + failed,
                client=run.client or call.client,
            )
        if call.client:
            self.seats = [
                replace(seat, client=call.client) if seat.seat == call.seat else seat for seat in self.seats
            ]  # fmt: skip


_TONES = {"success": "green", "not_found": "yellow", None: "dim"}
_PAPER = "paper's metric"
_NUMBERS = {_PAPER, "calls", "failed", "time", "took", "average", "runs", "solved"}
_FRAME = 12
"""Lines that headings, blank lines and the foot take."""


class Screen:
    """Draws the live view, as high and wide as the terminal is now.

    Args:
        view: What is known.
        where: What is watched, in words.
        drawing: Held while the view is looked at, which another thread fills.
    """

    def __init__(self, view: LiveView, where: str, drawing: Lock) -> None:
        self._view = view
        self._drawing = drawing
        self._where = where
        self.lost = False
        """Whether the connection is lost."""

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """The tables, as Rich asks for them."""
        with self._drawing:
            yield self._tables(options.height or console.height)

    def _tables(self, height: int) -> RenderableType:
        """The calls get the room that the others leave."""
        room = max(6, height - _FRAME)
        seats = sorted(self._view.seats, key=lambda seat: seat.run is None)[: max(2, room // 4)]
        runs = _finished(self._view)[: max(2, room // 4)]
        standings = self._view.standings[: max(1, room // 8)]
        calls = list(self._view.calls.values())[::-1][: max(2, room - len(seats) - len(runs) - len(standings))]
        state = Text("connection lost, trying again", "red") if self.lost else Text("watching", "green")
        return Group(
            Text.assemble(("m3bench live ", "bold"), printable(self._where), "  ", state, no_wrap=True),
            *_seats(seats, self._view),
            *_calls(calls, self._view),
            *_runs(runs),
            *_standings(standings),
            Text("\nCtrl-C ends this view and nothing else.", "dim"),
        )


def lines(before: LiveView, after: LiveView) -> Iterator[str]:
    """What happened between two moments, a line each."""
    for name, call in after.calls.items():
        if name not in before.calls or before.calls[name].outcome != call.outcome:
            took = "" if call.took_ns is None else f"  {call.took_ns / 1e6:.1f} ms"
            tail = f"  {call.arguments}" if call.arguments and call.outcome is None else ""
            outcome = _words(call.outcome or "called")
            yield printable(f"{_clock(call.wall)}  {call.seat}  {outcome:18} {call.tool}{took}{tail}")
    for name, run in reversed(after.runs.items()):
        if name not in before.runs or before.runs[name].state != run.state:
            score = "" if run.average is None else f"  average {run.average:.3f}, {_solved(run.success)}"
            score = f"  {run.void}" if run.void else score
            moment = run.started if run.state == "working" else run.ended or run.started
            told = "started" if run.state == "working" else run.state
            yield printable(f"{_clock(moment)}  {run.seat}  {told:18} {run.task}  run {run.run[:12]}{score}")


def _table(*columns: tuple[str, int | None]) -> Table:
    """A table as wide as the terminal; numbers are on the right, and names share what room is left."""
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), expand=True, header_style="bold cyan")
    for heading, ratio in columns:
        side: Literal["left", "right"] = "right" if heading in _NUMBERS else "left"
        table.add_column(heading, ratio=ratio, justify=side, no_wrap=True, overflow="ellipsis")
    return table


def _seats(seats: list[LiveSeat], view: LiveView) -> list[RenderableType]:
    if not seats:
        return [Text("\nNobody is connected yet.", "dim")]
    table = _table(("seat", None), ("client", 3), ("profile", 2), ("task", 3), ("calls", None), ("failed", None),
                   ("time", None))  # fmt: skip
    for seat in seats:
        run = view.runs.get(seat.run or "")
        table.add_row(
            seat.seat, _said(seat.client), _said(seat.profile), Text(printable(run.task if run else "–"), "bold"),
            str(run.calls) if run else "", str(run.failed or "") if run else "",
            _lasted(run.started, None) if run else "",
        )  # fmt: skip
    return [Text(), table]


def _calls(calls: list[LiveCall], view: LiveView) -> list[RenderableType]:
    if not calls:
        return [Text("\nNo call was made yet.", "dim")]
    table = _table(("at", None), ("call", 3), ("arguments", 5), ("outcome", None), ("took", None), ("task", 2))
    for call in calls:
        run = view.runs.get(call.run or "")
        table.add_row(
            _clock(call.wall), Text(printable(call.tool), "bold"), _said(call.arguments or ""),
            Text(_words(call.outcome or "under way"), _TONES.get(call.outcome, "red")),
            "" if call.took_ns is None else f"{call.took_ns / 1e6:.1f} ms", _said(run.task if run else "–"),
        )  # fmt: skip
    return [Text(), table]


def _runs(runs: list[LiveRun]) -> list[RenderableType]:
    if not runs:
        return []
    table = _table(("finished run", None), ("task", 3), ("client", 3), ("state", None), ("average", None), ("", None),
                   ("calls", None), ("time", None))  # fmt: skip
    for run in runs:
        table.add_row(
            run.run[:12], Text(printable(run.task), "bold"), _said(run.client), run.state,
            "" if run.average is None else f"{run.average:.3f}",
            Text(_solved(run.success), "green" if run.success else "red"), str(run.calls),
            _lasted(run.started, run.ended) if run.ended else "",
        )  # fmt: skip
    return [Text(), table]


def _standings(standings: list[Standing]) -> list[RenderableType]:
    if not standings:
        return []
    table = _table(("client", 3), ("profile", 2), ("tasks", 2), ("runs", None), ("average", None), ("solved", None),
                   (_PAPER, None))  # fmt: skip
    for line in standings:
        table.add_row(
            _said(line.client), _said(line.profile), _said(line.set), str(line.runs),
            "–" if line.average is None else f"{line.average:.3f}",
            f"{line.solved} of {line.checked}" if line.checked else "–",
            "–" if line.paper is None else f"{line.paper:.3f}",
        )  # fmt: skip
    return [Text(), table]


def _finished(view: LiveView) -> list[LiveRun]:
    ended = [run for run in view.runs.values() if run.state != "working"]
    return sorted(ended, key=lambda run: run.started, reverse=True)


def _said(text: str) -> Text:
    return Text(printable(text))


def _words(name: str) -> str:
    return name.replace("_", " ")


def _solved(success: bool | None) -> str:
    return "" if success is None else "solved" if success else "not solved"


def _clock(wall: str) -> str:
    return datetime.fromisoformat(wall).astimezone().strftime("%H:%M:%S")


def _lasted(start: str, end: str | None) -> str:
    until = datetime.fromisoformat(end) if end else datetime.now().astimezone()
    seconds = max(0, int((until - datetime.fromisoformat(start)).total_seconds()))
    return f"{seconds} s" if seconds < 60 else f"{seconds // 60}:{seconds % 60:02d} min"


LOOK_SECONDS = 0.5
"""Between two looks at a record."""
RETRY_SECONDS = 1.0

Message = LiveState | list[LiveNews] | None
"""A whole state, news, or None when the connection is lost."""


class _Reader:
    """Reads what a server tells; fields that our rows do not have are ignored."""

    def __init__(self) -> None:
        self._state = TypeAdapter(LiveState)
        self._call, self._answer = TypeAdapter(LiveCall), TypeAdapter(LiveAnswer)
        self._run = TypeAdapter(LiveRun)
        self._standings, self._seats = TypeAdapter(StandingsNews), TypeAdapter(SeatsNews)

    def messages(self, response: http.client.HTTPResponse) -> Iterator[Message]:
        """The messages of an event stream."""
        event = ""
        while line := response.readline():
            name, _, value = line.decode("utf-8").rstrip("\r\n").partition(": ")
            if name == "event":
                event = value
            elif name == "data" and event == "state":
                yield self._state.validate_json(value)
            elif name == "data" and event == "news":
                yield list(self._news(json.loads(value)))

    def _news(self, messages: list[dict[str, object]]) -> Iterator[LiveNews]:
        for message in messages:
            match message.get("type"):
                case "call" if message.get("new"):
                    yield CallNews(row=self._call.validate_python(message))
                case "call":
                    yield CallNews(row=self._answer.validate_python(message))
                case "run":
                    yield RunNews(row=self._run.validate_python(message))
                case "standings":
                    yield self._standings.validate_python(message)
                case "seats":
                    yield self._seats.validate_python(message)


def server_messages(url: str, token: str | None, wait: Callable[[float], None] = time.sleep) -> Iterator[Message]:
    """Yield the messages of a server, reconnecting without end.

    Args:
        url: Where the server is.
        token: What it wants to be sent.
        wait: Waits for some seconds before another try.

    Raises:
        UserError: Nothing answers there at all, it does not let us in, or it speaks another form of the protocol.
    """
    seen, reader = False, _Reader()
    while True:
        try:
            for message in _connection(url, token, reader):
                seen = True
                yield message
        except (OSError, http.client.HTTPException) as error:
            if not seen:
                raise UserError(
                    f"Nothing answers at {url} ({_why(error)}): start a server with "
                    "`m3bench serve --http 127.0.0.1:8000`, or follow the record of any server with --data FOLDER."
                ) from error
        yield None
        wait(RETRY_SECONDS)


def _connection(url: str, token: str | None, reader: _Reader) -> Iterator[Message]:
    parts = urlsplit(url if "//" in url else f"//{url}", scheme="http")
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise UserError(f"{url!r} is not the address of a server: write http://HOST:PORT.")
    kind = http.client.HTTPSConnection if parts.scheme == "https" else http.client.HTTPConnection
    try:
        connection = kind(parts.hostname, parts.port, timeout=2 * HEARTBEAT_SECONDS)
    except ValueError as error:
        raise UserError(f"{url!r} is not the address of a server: {error}.") from error
    try:
        headers = {"accept": "text/event-stream", **({"authorization": f"Bearer {token}"} if token else {})}
        connection.request("GET", "/live/events", headers=headers)
        response = connection.getresponse()
        if response.status == 401:
            raise UserError(f"The server at {url} needs a token: give --token-file, or set M3BENCH_TOKEN.")
        if response.status != 200 or "event-stream" not in response.headers.get("content-type", ""):
            what = f"{response.status} {response.reason}"
            raise UserError(f"What answers at {url} has no live view ({what}): is it `m3bench serve --http`?")
        try:
            yield from reader.messages(response)
        except ValidationError as error:
            raise UserError(f"What the server at {url} tells is not understood: is it of another version?") from error
    finally:
        connection.close()


def _why(error: Exception) -> str:
    if isinstance(error, socket.gaierror):
        return "no such host"
    return error.strerror or str(error) if isinstance(error, OSError) else type(error).__name__


def record_messages(place: RecordLocation, version: str) -> Iterator[Message]:
    """The states of a record, a new one whenever something was written there.

    Args:
        place: Where the record is.
        version: Of m3bench.
    """
    record = LiveRecord(place, lambda mode: True)
    first = True
    try:
        while True:
            try:
                if record.changed() or first:
                    state = folder_state(record, version)
                    first = False
                    yield state
                record.wait(LOOK_SECONDS)
            except StoreError:
                if first or place.url is None:
                    raise
                # A database comes back: whoever watches is told, and goes on then.
                yield None
                time.sleep(LOOK_SECONDS)
    finally:
        record.close()


def follow(messages: Iterator[Message], where: str, console: Console) -> None:
    """Show messages as they come, until there are no more."""
    if console.is_terminal:
        _draw(messages, where, console)
    else:
        _tell(messages, where)


def waiting_words(place: RecordLocation) -> str:
    """What is watched, in words."""
    return str(place) if place.begun else f"{place}, where no run is on record yet"


def _draw(messages: Iterator[Message], where: str, console: Console) -> None:
    view, drawing = LiveView(), threading.Lock()
    screen = Screen(view, where, drawing)
    # What is unknown is said before the screen is taken.
    first = next(messages, None)
    with Live(screen, console=console, screen=True, refresh_per_second=4, vertical_overflow="crop"):
        _take(screen, view, first, drawing)
        for message in messages:
            _take(screen, view, message, drawing)


def _take(screen: Screen, view: LiveView, message: Message, drawing: threading.Lock) -> None:
    with drawing:
        _put(view, message)
        screen.lost = message is None


def _tell(messages: Iterator[Message], where: str) -> None:
    view = LiveView()
    before: LiveView | None = None
    for message in messages:
        _put(view, message)
        if message is None:
            print(f"m3bench: lost {where}, trying again", file=sys.stderr, flush=True)
            continue
        if before is None:
            print(f"m3bench: watching {where}", file=sys.stderr, flush=True)
        else:
            for line in lines(before, view):
                print(line, flush=True)
        before = view.copy()


def _put(view: LiveView, message: Message) -> None:
    if isinstance(message, LiveState):
        view.adopt(message)
    elif message is not None:
        view.apply(message)
