"""Prepares what a client is told first, for the next start (`instant`).

The answers are those that the SDK gives: a client of each protocol revision is served here, and what it gets is kept.
"""

import json
import logging
from collections.abc import AsyncIterator, Mapping
from contextlib import suppress
from pathlib import Path

import anyio
import anyio.to_thread

from m3bench.proxy.front import Front
from m3bench.proxy.protocol.messages import dump
from m3bench.proxy.protocol.pipes import AtOnce
from m3bench.proxy.seat import Seat
from m3bench.proxy.transports.instant import (
    CAPABILITIES,
    HANDSHAKE,
    LISTS,
    MODERN,
    VERSION,
    InstantStart,
    prepared_bytes,
    prepared_file,
    read_prepared,
)
from m3bench.proxy.transports.stdio import serve_stream
from m3bench.tasks.atomic_files import write_atomically

KEPT = 24
"""Files in the cache folder; the oldest go first."""

logger = logging.getLogger(__name__)


async def prepare(front: Front, seat: Seat, start: InstantStart) -> bool:
    """Write the answers of a start unless they are there and right; whether anything was written.

    That the folder cannot be written is no trouble: the next start is as slow as this one.
    """
    path = Path(await anyio.to_thread.run_sync(prepared_file, start))
    known = read_prepared(str(path))
    if known is not None and await anyio.to_thread.run_sync(_is_current, known, front, seat):
        return False
    if known is not None:
        logger.warning("The prepared answers in %s were not those of this program; they are made again", path)
    made = prepared_bytes(await answers(front, seat))
    with suppress(OSError):
        await anyio.to_thread.run_sync(_write, path, made)
        return True
    return False


async def answers(front: Front, seat: Seat) -> dict[str, bytes]:
    """The raw results that clients of each revision get for what they ask first."""
    found: dict[str, bytes] = {}
    for revision in HANDSHAKE:
        info = {"name": "m3bench", "version": "0"}
        hello = {"protocolVersion": revision, "capabilities": {}, "clientInfo": info}
        got = await _ask(front, seat, [("initialize", hello), *((method, {}) for method in LISTS)])
        found[f"initialize {revision}"] = got[0]
        # Those of the last revision stay: a test makes sure that they do not differ.
        found |= {f"{method} {HANDSHAKE[-1]}": result for method, result in zip(LISTS, got[1:], strict=True)}
    envelope = {"_meta": {VERSION: MODERN, CAPABILITIES: {}}}
    methods = ("server/discover", *LISTS)
    got = await _ask(front, seat, [(method, envelope) for method in methods])
    return found | {f"{method} {MODERN}": result for method, result in zip(methods, got, strict=True)}


async def _ask(front: Front, seat: Seat, requests: list[tuple[str, Mapping[str, object]]]) -> list[bytes]:
    """Make requests as a client would, one after the other; the raw results."""
    lines = [dump({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}) for method, params in requests]
    exchange = _Client(lines)
    await serve_stream(front, seat, exchange)
    head = b'{"jsonrpc":"2.0","id":1,"result":'
    assert all(line.startswith(head) for line in exchange.got), exchange.got
    return [line.removeprefix(head).removesuffix(b"}\n") for line in exchange.got]


class _Client:
    """Both ends of a stream of lines: says the next one when the last is answered."""

    def __init__(self, lines: list[bytes]) -> None:
        self._lines = lines
        self._answered = anyio.Event()
        self.got: list[bytes] = []

    async def chunks(self, at_once: AtOnce | None = None) -> AsyncIterator[bytes]:
        for line in self._lines:
            self._answered = anyio.Event()
            yield line + b"\n"
            await self._answered.wait()

    async def send(self, *data: bytes) -> None:
        self.got.append(b"".join(data))
        self._answered.set()

    def send_at_once(self, data: bytes) -> bool:
        return False


def _is_current(known: Mapping[str, bytes], front: Front, seat: Seat) -> bool:
    """Whether prepared answers are still true, as the tool lists say, which is what a client acts upon."""
    return all(
        json.loads(known.get(f"tools/list {revision}", b"null")) == front.listing(seat, revision)
        for revision in (HANDSHAKE[-1], MODERN)
    )


def _write(path: Path, data: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    write_atomically(path, data)
    files = sorted(path.parent.glob("*.answers"), key=lambda file: file.stat().st_mtime)
    for old in files[:-KEPT]:
        old.unlink(missing_ok=True)
