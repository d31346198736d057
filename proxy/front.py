"""The front door: what clients see, however they connect.

Tool lists, results in the envelope of the client's revision, and the request that a call becomes when it arrives. A
result is the raw bytes that the tool gave. What a seat is, where calls go and who answers everything else is given from
outside; who speaks with clients is in `transports`.
"""

import json
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import cached_property
from typing import TYPE_CHECKING, Protocol

from m3bench.proxy.protocol.messages import MODERN_REVISIONS, SERVER_INFO, Id, Json, dump
from m3bench.proxy.protocol.tool_calls import AnswerDelivery, Caller, Relay, ToolAnswer, ToolRequest
from m3bench.proxy.seat import Seat

if TYPE_CHECKING:
    from mcp.server.lowlevel import Server

NAME = "m3bench"

LIST_SECONDS = 3600
"""How long a client may keep a tool list, where a seat's never changes."""

_SOUND, _LINKS = "2025-03-26", "2025-06-18"
"""The first revisions whose results may have sound, and links to resources."""


class Calls(Protocol):
    """Where tool calls go: a router, or something that chooses one."""

    def schema(self, name: str) -> Mapping[str, object] | None:
        """The schema whose arguments HTTP clients may have to repeat in headers."""
        ...

    async def call(
        self, seat: Seat, request: ToolRequest, relay: Relay | None = None, delivery: AnswerDelivery | None = None
    ) -> ToolAnswer:
        """Answer a request; the answer is on record when this returns, and may have been delivered."""
        ...


class Resources(Protocol):
    """Prompts, resources, completions and the log level, answered by whoever is served; entries are as on the wire."""

    instructions: str

    async def prompts(self, seat: Seat) -> Sequence[Json]:
        """The prompts a client can offer as commands."""
        ...

    async def prompt(self, seat: Seat, params: Json, relay: Relay) -> Json | None:
        """A prompt by its name and arguments; None when there is none."""
        ...

    async def resources(self, seat: Seat) -> Sequence[Json]:
        """What can be read now."""
        ...

    async def templates(self, seat: Seat) -> Sequence[Json]:
        """Patterns of what can be read."""
        ...

    async def resource(self, seat: Seat, params: Json, relay: Relay) -> Json | None:
        """A resource by URI; None when there is none."""
        ...

    async def completion(self, seat: Seat, params: Json, relay: Relay) -> Json | None:
        """Values for an argument that is being typed; None when nobody knows any."""
        ...

    async def log_level(self, seat: Seat, level: str) -> None:
        """The client wants log messages from this level on."""
        ...

    async def subscribe(self, seat: Seat, method: str, uri: str) -> None:
        """The client wants to hear of changes of a resource, or no longer."""
        ...

    async def roots_changed(self, seat: Seat) -> None:
        """The client has other roots now."""
        ...


async def _as_it_is(seat: Seat) -> None:
    pass


@dataclass(frozen=True, kw_only=True)
class Front:
    """What the transports share: the router, the resources and how results are shown."""

    router: Calls
    resources: Resources
    version: str
    content_only: bool = False
    """Drop structured content, for clients that would hide images behind it."""
    changing: bool = False
    """Whether third-party servers take part, whose lists may change at any time."""
    prepare: Callable[[Seat], Awaitable[None]] = _as_it_is
    """Has the tool list of a seat complete before it is shown."""
    limit: Callable[[str], int | None] = lambda client: None
    """How many bytes a client takes, by its name and version; None when that is not known."""
    attend: "Callable[[Server[Json]], None] | None" = None
    """Is given every SDK server that speaks with clients, to add something to it."""

    @cached_property
    def stamp(self) -> Json:
        """Who answers, as the newest revision has it in every result."""
        return {"name": NAME, "title": "m3bench", "version": self.version}

    def listing(self, seat: Seat, revision: str) -> Json:
        """The result of `tools/list`: who promises no structured content declares none."""
        tools = list(seat.listing)
        if self.content_only:
            tools = [{key: value for key, value in tool.items() if key != "outputSchema"} for tool in tools]
        if revision not in MODERN_REVISIONS:
            return {"tools": tools}
        meta = {SERVER_INFO: self.stamp}
        hints = {"ttlMs": 0 if self.changing else LIST_SECONDS * 1000, "cacheScope": "private"}
        return {"resultType": "complete", **hints, "tools": tools, "_meta": meta}

    def result(self, answer: ToolAnswer, revision: str) -> bytes:
        """The raw result of an answer that is not an error, in the envelope of a revision."""
        # What is sent is one line; outside its strings JSON may be broken anywhere.
        result = answer.result.replace(b"\n", b" ") if b"\n" in answer.result else answer.result
        if self.content_only and b'"structuredContent"' in result:
            data = json.loads(result)
            data.pop("structuredContent", None)
            result = dump(data)
        if revision < _LINKS and (b'"audio"' in result or b'"resource_link"' in result):
            result = _without_unknown(result, revision)
        if revision not in MODERN_REVISIONS:
            return result
        if b'"_meta"' not in result and result != b"{}":
            stamp = dump({SERVER_INFO: self.stamp})
            return b'{"resultType":"complete","_meta":%b,%b' % (stamp, result[1:])
        data = json.loads(result)
        meta = {**(data.get("_meta") or {}), SERVER_INFO: self.stamp}
        return dump({"resultType": "complete", **data, "_meta": meta})


def _without_unknown(result: bytes, revision: str) -> bytes:
    """A result without blocks of kinds that a revision does not know, which would make a client refuse all of it."""
    data = json.loads(result)
    unknown = ("resource_link",) if revision >= _SOUND else ("audio", "resource_link")
    content = data.get("content")
    if not isinstance(content, list):
        return result
    data["content"] = [block for block in content if _kind(block) not in unknown]
    return dump(data)


def _kind(block: object) -> object:
    """The type of a block; None for anything else that a careless server sends."""
    return block.get("type") if isinstance(block, dict) else None


def tool_request(
    caller: Caller, id: Id, params: Mapping[str, object], raw: bytes | None, received_ns: int = 0
) -> ToolRequest:
    """A request that has just arrived, unless it is said when."""
    now = time.monotonic_ns()
    received = received_ns or now
    if raw is None:
        raw = dump({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params})
    meta = params.get("_meta")
    return ToolRequest(
        caller=caller,
        id=id,
        raw=raw,
        name=params.get("name"),
        arguments=params.get("arguments"),
        meta=meta if isinstance(meta, dict) else {},
        received_ns=received,
        wall=(datetime.now(UTC) - timedelta(microseconds=(now - received) // 1000)).isoformat(),
    )


def client_name(info: object) -> str:
    """Name and version that a client gave of itself."""
    return f"{info.get('name', '')} {info.get('version', '')}".strip() if isinstance(info, dict) else ""
