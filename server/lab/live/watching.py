"""Follows a server or a record in a terminal until Ctrl-C; writes plain lines where there is no terminal.

The events of a server are read over HTTP, and asked for again when the connection is cut off; a record is looked at.
"""

import http.client
import json
import socket
import sys
import threading
import time
from collections.abc import Callable, Iterator
from urllib.parse import urlsplit

from pydantic import TypeAdapter, ValidationError
from rich.console import Console
from rich.live import Live

from m3bench.server.lab.live.events import HEARTBEAT_SECONDS
from m3bench.server.lab.live.record import LiveRecord
from m3bench.server.lab.live.rows import (
    CallNews,
    LiveAnswer,
    LiveCall,
    LiveNews,
    LiveRun,
    LiveState,
    RunNews,
    SeatsNews,
    StandingsNews,
)
from m3bench.server.lab.live.screen import Screen, lines
from m3bench.server.lab.live.state import folder_state
from m3bench.server.lab.live.view import LiveView
from m3bench.server.store.location import RecordLocation
from m3bench.tasks.errors import StoreError, UserError

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
