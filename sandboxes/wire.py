"""Newline-delimited JSON-RPC as host and link speak it: splitting, reading, writing.

A call from our link and a reply from our host begin in one fixed way. So the link can put a client's
arguments into a request and hand on a result without parsing either, and the host can say whose a message is
even when it cannot read the rest.
"""

import json
import re
from typing import Any, cast

from m3bench.tasks.outcome import Reply, ToolOutcome

_CALL = re.compile(rb'\{"jsonrpc":"2\.0","id":(\d+|"[^"\\]{0,64}"),"method":"tools/call",')
_REPLY = re.compile(
    rb'\{"jsonrpc":"2\.0","id":(\d+),"m3bench":"(success|empty|not_found|gap|invalid_arguments)","result":'
)


def encode(message: object) -> bytes:
    """A message as one line."""
    return dump(message) + b"\n"


def dump(value: object) -> bytes:
    """JSON as it goes over the wire. Half a surrogate pair, which UTF-8 cannot carry, becomes a question mark."""
    return json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode(errors="replace")


def decode(line: bytes) -> Any:
    """The message of one line; raises `ValueError` when it is not JSON, `NaN` and the like included."""
    try:
        return json.loads(line, parse_constant=_refuse)
    except RecursionError as error:
        raise ValueError("nested too deeply") from error
    except json.JSONDecodeError as error:
        raise ValueError(error.msg) from error


def encode_call(request: int, tool: str, arguments: bytes, room: str = "") -> bytes:
    """A link's call; the arguments are raw JSON, in which line ends can only be white space."""
    if b"\n" in arguments:
        arguments = arguments.replace(b"\n", b" ")
    head = b'{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":%b,"arguments":' % (request, dump(tool))
    tail = b',"room":%b}}\n' % dump(room) if room else b"}}\n"
    return b"".join((head, arguments, tail))


def caller(line: bytes) -> int | str | None:
    """The request id of a `tools/call` that begins as ours do, read without the rest."""
    found = _CALL.match(line)
    return None if found is None else json.loads(found[1])


def encode_reply(request: int | str, reply: Reply) -> bytes:
    """A host's answer to a call."""
    head = b'{"jsonrpc":"2.0","id":%b,"m3bench":"%b","result":' % (dump(request), reply.outcome.encode())
    return b"".join((head, reply.result, b"}\n"))


def split_reply(line: bytes) -> tuple[int, Reply] | None:
    """Request id and reply of a host's answer to a call; None for any other message."""
    found = _REPLY.match(line)
    if found is None:
        return None
    outcome = cast("ToolOutcome", found[2].decode())
    return int(found[1]), Reply(outcome, line[found.end() : line.rindex(b"}")])


def error(request: object, code: int, message: str, data: object = None) -> dict[str, object]:
    """A JSON-RPC error response."""
    extra = {} if data is None else {"data": data}
    return {"jsonrpc": "2.0", "id": request, "error": {"code": code, "message": message, **extra}}


def _refuse(constant: str) -> float:
    raise ValueError(f"{constant} is not JSON")
