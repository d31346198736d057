"""A tool call as everybody sees it: the request that arrived, what it came to, and who is to blame when it failed.

Everything later, steps, trajectories, scores, is derived from records of these; they are written once and never
changed. What happens to a call between its request and its answer is in `m3bench.proxy.call`.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Protocol

from m3bench.proxy.protocol.messages import Json, dump
from m3bench.tasks.outcome import Outcome, Owner

WireError = tuple[int, str] | tuple[int, str, object]
"""A JSON-RPC error: code, message and, when it came with some, data."""

CUT_OFF = (-32000, "cut off: the server ended before the call did")
"""The error of a call that was under way when the server was stopped or died."""

MAX_RESULT_BYTES = 900_000
"""Of what is ours and what known clients are sent: Claude Desktop refuses a result of one megabyte."""


@dataclass(frozen=True, kw_only=True)
class Caller:
    """Who sent a request, as far as the protocol tells."""

    seat: str
    revision: str
    """The protocol revision in use, such as `2025-11-25`."""
    client: str = ""
    """Name and version the client gave of itself."""


@dataclass(frozen=True, kw_only=True)
class ToolRequest:
    """A `tools/call` request as it arrived."""

    caller: Caller
    id: str | int
    """The JSON-RPC id."""
    raw: bytes
    """The message, byte for byte where the transport gives it."""
    name: object
    """The tool's name as sent; a string when the request is well-formed."""
    arguments: object
    """The arguments as sent; an object when the request is well-formed."""
    meta: Mapping[str, object] = field(default_factory=dict)
    received_ns: int
    """Monotonic."""
    wall: str
    """ISO time of day, for people."""
    indirect: bool = False
    """Whether it came by way of `call_tool`: name and arguments are then those inside, the message is as it came."""


@dataclass(frozen=True, kw_only=True)
class ToolAnswer:
    """What a call came to: a result or a protocol error."""

    outcome: Outcome
    owner: Owner = "agent"
    result: bytes = b""
    """The raw JSON of the `CallToolResult`; empty when there is an error."""
    error: WireError | None = None
    """The error that takes the result's place."""
    full: bytes = b""
    """The result before it was cut to size; empty when it was not cut."""
    forwarded_ns: int = 0
    """When the call left for the tool; 0 when it never did."""
    returned_ns: int = 0
    """When the tool's answer came back."""


class Relay(Protocol):
    """A way to the client while its call is under way."""

    async def notify(self, method: str, params: Mapping[str, object]) -> None:
        """Send a notification that belongs to the call, such as progress or a log message."""
        ...

    async def request(self, method: str, params: Mapping[str, object]) -> Json:
        """Ask the client something that the call needs; its answer, as `result` or as `error`."""
        ...


class AnswerDelivery(Protocol):
    """Sends an answer to its client as soon as it is on record, from the thread that put it there."""

    sent_ns: int
    """When it left; 0 as long as it is still to be sent."""

    def send(self, answer: ToolAnswer) -> None:
        """Send the answer if nobody has to wait for that; never raises."""
        ...


class Journal(Protocol):
    """Where calls are written."""

    async def received(self, request: ToolRequest, run: str | None, tool: str) -> int:
        """Take in a call, to be on record with its answer at the latest; returns its number.

        Raises:
            StoreError: The record cannot be written: the call must not be forwarded.
        """
        ...

    async def answered(self, call: int, answer: ToolAnswer, delivery: AnswerDelivery | None = None) -> None:
        """Put the answer on record, also through a cancellation; it survives the death of this process from then on.

        Args:
            call: The number of the call.
            answer: Its answer.
            delivery: May be given the answer the moment that it is on record.

        Raises:
            StoreError: It is not on record, and must not be sent.
        """
        ...

    def sent(self, call: int, sent_ns: int) -> None:
        """Note when the answer left; never raises."""
        ...


def error_object(error: WireError) -> Json:
    """An error as it goes over the wire."""
    return {"code": error[0], "message": error[1]} | ({"data": error[2]} if len(error) == 3 else {})


def input_schema(tool: Json) -> Json:
    """The input schema of an entry in a list of tools."""
    schema = tool["inputSchema"]
    assert isinstance(schema, dict)
    return schema


def error_result(text: str) -> bytes:
    """The raw JSON of a result with `isError` and one text."""
    return dump({"content": [{"type": "text", "text": text}], "isError": True})
