"""JSON-RPC messages as clients write them: reading one, and saying what is wrong with it.

The same for every transport. Nothing here raises for what a client sent: whatever is not a message comes back as a
`InvalidMessage`, which is the error that the specification asks for. What a method means is somebody else's business.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass

from m3bench.tasks.jsonrpc import INVALID_PARAMS, INVALID_REQUEST, PARSE_ERROR

Json = dict[str, object]
"""A JSON object; nothing inside it is checked."""

MODERN_REVISIONS = ("2026-07-28",)
"""Revisions of the protocol without a handshake."""

PROTOCOL_VERSION, CLIENT_CAPABILITIES, CLIENT_INFO, LOG_LEVEL, SERVER_INFO = (
    f"io.modelcontextprotocol/{name}"
    for name in ("protocolVersion", "clientCapabilities", "clientInfo", "logLevel", "serverInfo")
)
"""Keys of `_meta` in these revisions; a test holds them against the SDK's, which take half a second to import."""

Id = str | int

_BOM = b"\xef\xbb\xbf"
"""Some programs on Windows begin a stream with it."""


@dataclass(frozen=True)
class Message:
    """A request, a notification or a response, well-formed on the outside."""

    body: Json
    method: str | None
    """None for a response."""
    id: Id | None
    """None for a notification."""

    @property
    def params(self) -> Json:
        """The parameters; empty when there are none."""
        params = self.body.get("params")
        return params if isinstance(params, dict) else {}

    @property
    def cancels(self) -> Id | None:
        """The id of the request that this notification takes back."""
        if self.method != "notifications/cancelled" or self.id is not None:
            return None
        return _id(self.params.get("requestId"))


@dataclass(frozen=True)
class InvalidMessage:
    """The error that answers what is not a message."""

    code: int
    text: str
    id: Id | float | None = None

    def line(self) -> bytes:
        """As it goes over the wire, without the end of the line."""
        return error_bytes(self.id, {"code": self.code, "message": self.text})


def read(raw: bytes) -> Message | list[object] | InvalidMessage:
    """A message, the members of a batch, or what is wrong."""
    try:
        value = json.loads(raw.removeprefix(_BOM).decode())
    except RecursionError:
        return InvalidMessage(PARSE_ERROR, "Parse error: the JSON is nested too deeply")
    except ValueError as error:
        return InvalidMessage(PARSE_ERROR, f"Parse error: {error}")
    return value if isinstance(value, list) else message(value)


def message(value: object) -> Message | InvalidMessage:
    """A value as a message."""
    if not isinstance(value, dict):
        return InvalidMessage(INVALID_REQUEST, "Invalid request: a message is a JSON object")
    id, known = value.get("id"), _id(value.get("id"))
    # An id that JSON-RPC allows and MCP does not is still the one that the sender waits for.
    echo = known if known is not None or not isinstance(id, float) or id != id or abs(id) == float("inf") else id
    if value.get("jsonrpc") != "2.0":
        return InvalidMessage(INVALID_REQUEST, 'Invalid request: "jsonrpc" must be "2.0"', echo)
    if "method" not in value:
        return _response(value, known, echo)
    if not isinstance(value["method"], str):
        return InvalidMessage(INVALID_REQUEST, "Invalid request: the method must be a string", echo)
    if "id" in value and known is None:
        return InvalidMessage(INVALID_REQUEST, "Invalid request: the id must be a string or an integer", echo)
    params = value.get("params")
    if params is not None and not isinstance(params, dict):
        code = INVALID_PARAMS if isinstance(params, list) else INVALID_REQUEST
        return InvalidMessage(code, "Invalid request: params must be an object", echo)
    return Message(value, value["method"], known)


def dump(value: object) -> bytes:
    """JSON in one line. What UTF-8 cannot carry, half a surrogate pair, goes as an escape, which JSON allows."""
    try:
        return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()
    except UnicodeEncodeError:
        return json.dumps(value, separators=(",", ":")).encode()


def error_bytes(id: Id | float | None, error: Mapping[str, object]) -> bytes:
    """An error response, without the end of the line."""
    return dump({"jsonrpc": "2.0", "id": id, "error": error})


def _response(value: Json, known: Id | None, echo: Id | float | None) -> Message | InvalidMessage:
    if "result" not in value and "error" not in value:
        return InvalidMessage(INVALID_REQUEST, "Invalid request: there is no method", echo)
    if known is None or not isinstance(value.get("result", value.get("error")), dict):
        # Never with its id: that would answer a request of the sender's own that has the same one.
        return InvalidMessage(INVALID_REQUEST, "Invalid response: it needs an id and an object as result or error")
    return Message(value, None, known)


def _id(value: object) -> Id | None:
    return value if isinstance(value, str | int) and not isinstance(value, bool) else None
