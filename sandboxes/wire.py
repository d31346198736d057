"""Newline-delimited JSON-RPC as host and link speak it: splitting, reading, writing.

A reply from our host begins in one fixed way, with the outcome before the result, so that the link can hand
on the result's bytes without parsing them.
"""

import json
import re
from collections.abc import Iterator
from typing import Any

PARSE_ERROR, INVALID_REQUEST, METHOD_NOT_FOUND, INVALID_PARAMS = -32700, -32600, -32601, -32602

_REPLY = re.compile(rb'\{"jsonrpc":"2\.0","id":(\d+),"m3bench":"(\w+)","result":')


class Lines:
    """Cuts a byte stream into lines, in time linear in its length.

    Args:
        limit: Lines longer than this are dropped as they arrive; `dropped` counts them.
    """

    def __init__(self, limit: int) -> None:
        self.dropped = 0
        self._limit = limit
        self._parts: list[bytes] = []
        self._size = 0

    def feed(self, data: bytes) -> Iterator[bytes]:
        """The lines that `data` completes, without their ends."""
        start = 0
        while (end := data.find(b"\n", start)) >= 0:
            self._keep(data[start:end])
            if self._size <= self._limit:
                yield b"".join(self._parts)
            else:
                self.dropped += 1
            self._parts, self._size = [], 0
            start = end + 1
        self._keep(data[start:])

    def _keep(self, part: bytes) -> None:
        self._size += len(part)
        if self._size <= self._limit:
            self._parts.append(part)
        else:
            self._parts.clear()


def encode(message: object) -> bytes:
    """A message as one line."""
    return (
        json.dumps(message, ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode(errors="surrogatepass")
        + b"\n"
    )


def decode(line: bytes) -> Any:
    """The message of one line; raises `ValueError` when it is not JSON, `NaN` and the like included."""
    try:
        return json.loads(line, parse_constant=_refuse)
    except RecursionError as error:
        raise ValueError("nested too deeply") from error


def encode_reply(request: int | str, outcome: str, result: object) -> bytes:
    """A host's answer to a call."""
    return encode({"jsonrpc": "2.0", "id": request, "m3bench": outcome, "result": result})


def split_reply(line: bytes) -> tuple[int, str, bytes] | None:
    """Request id, outcome and the raw result of a host's answer to a call; None for any other message."""
    found = _REPLY.match(line)
    if found is None:
        return None
    return int(found[1]), found[2].decode(), line[found.end() : line.rindex(b"}")]


def error(request: object, code: int, message: str) -> dict[str, Any]:
    """A JSON-RPC error response."""
    return {"jsonrpc": "2.0", "id": request, "error": {"code": code, "message": message}}


def _refuse(constant: str) -> float:
    raise ValueError(f"{constant} is not JSON")
