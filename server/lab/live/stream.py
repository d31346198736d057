"""The events of a server as a program reads them: connects, reads messages, and tries again when it is cut off."""

import http.client
import json
import socket
import time
from collections.abc import Callable, Iterator
from typing import Any
from urllib.parse import urlsplit

from m3bench.server.lab.live.events import HEARTBEAT_SECONDS
from m3bench.tasks.errors import UserError

RETRY_SECONDS = 1.0

Message = tuple[str, Any]
"""`state` or `news` with its data, or `lost` with None when the connection is."""


def messages(url: str, token: str | None, wait: Callable[[float], None] = time.sleep) -> Iterator[Message]:
    """Messages without end.

    Args:
        url: Where the server is.
        token: What it wants to be sent.
        wait: Waits for some seconds before another try.

    Raises:
        UserError: Nothing answers there at all, or it does not let us in.
    """
    seen = False
    while True:
        try:
            for message in _connection(url, token):
                seen = True
                yield message
        except (OSError, http.client.HTTPException) as error:
            if not seen:
                raise UserError(
                    f"Nothing answers at {url} ({_why(error)}): start a server with "
                    "`m3bench serve --http 127.0.0.1:8000`, or follow the record of any server with --data FOLDER."
                ) from error
        yield "lost", None
        wait(RETRY_SECONDS)


def _connection(url: str, token: str | None) -> Iterator[Message]:
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
            raise UserError(f"The server at {url} needs a token: give --token, or set M3BENCH_TOKEN.")
        if response.status != 200 or "event-stream" not in response.headers.get("content-type", ""):
            what = f"{response.status} {response.reason}"
            raise UserError(f"What answers at {url} has no live view ({what}): is it `m3bench serve --http`?")
        yield from _events(response)
    finally:
        connection.close()


def _events(response: http.client.HTTPResponse) -> Iterator[Message]:
    event = ""
    while line := response.readline():
        name, _, value = line.decode("utf-8").rstrip("\r\n").partition(": ")
        if name == "event":
            event = value
        elif name == "data" and event in ("state", "news"):
            yield event, json.loads(value)


def _why(error: Exception) -> str:
    if isinstance(error, socket.gaierror):
        return "no such host"
    return error.strerror or str(error) if isinstance(error, OSError) else type(error).__name__
