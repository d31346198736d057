"""The probe: a small MCP server that measures the client that connects to it.

It takes the place of the benchmark's app, behind the same front door and transports: a front that is watched, and for
each client a router whose journal is the notes on it. Clients are distinguished by the name and version they give,
because some open a session for every call.
"""

import sys
import time
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path

from mcp.server.context import CallNext, HandlerResult
from mcp.server.subscriptions import InMemorySubscriptionBus, ListenHandler, ToolsListChanged
from mcp.shared.exceptions import MCPError
from mcp_types import INVALID_PARAMS, SubscriptionsListenRequestParams

from m3bench.proxy.front import Front
from m3bench.proxy.protocol.messages import Json
from m3bench.proxy.protocol.sdk import Context
from m3bench.proxy.protocol.tool_calls import AnswerDelivery, Relay, ToolAnswer, ToolRequest
from m3bench.proxy.router import Router
from m3bench.proxy.seat import Seat
from m3bench.proxy.transports.handlers import SdkServer
from m3bench.server.clients.probe_findings import draw_up
from m3bench.server.clients.probe_notes import Listed, Notes
from m3bench.server.clients.probe_tools import (
    INSTRUCTIONS,
    OWN,
    SECOND,
    Padding,
    ProbeListing,
    ProbeTools,
    Setup,
    listing,
)
from m3bench.server.clients.table import by_client_info, profile_for
from m3bench.server.runs.retrieval import listed
from m3bench.server.store.capability import CapabilityCard, keep
from m3bench.tasks.catalog import load_catalog
from m3bench.tasks.errors import InputFileError
from m3bench.tasks.library import Library
from m3bench.tasks.profiles import tools_of

_PROMPT = "Probe this MCP client: call probe_start of the m3bench probe, do what it says, and show me what it found."


class Probe:
    """A probe process.

    Args:
        data: Where cards are kept.
        setup: What the person chose.
        transport: `stdio` or `http`, for the card.
    """

    def __init__(self, data: Path, setup: Setup, transport: str) -> None:
        self._data = data
        self._setup = setup
        self._transport = transport
        self._clients: dict[str, tuple[Notes, Router]] = {}
        self._listings: dict[str, ProbeListing] = {}
        self._bus = InMemorySubscriptionBus()
        self.front = Front(router=self, resources=_ProbePrompt(), version=version("m3bench"), attend=self.attend)

    def check(self) -> None:
        """Raise now when there is no such profile."""
        if self._setup.profile is not None:
            self.listing(self._setup.profile)

    def open_seat(self, id: str | None = None, profile: str | None = None) -> Seat:
        """A seat; the tools are those of the client that takes it."""
        return Seat(id=id or "probe", profile="probe")

    async def seat_address(self, handle: str, doubted: bool) -> str | None:
        """None: a probe is alone."""
        return None

    def listening(self, address: str) -> None:
        """Nobody else needs to know."""

    async def open_handle(self, handle: str, profile: str | None = None) -> Seat:
        """The same: a probe is not resumed."""
        return self.open_seat(handle, profile)

    def load(self, seat: Seat) -> None:
        """A probe has no tasks."""

    async def close_seat(self, seat: Seat) -> None:
        """Nothing is bound to a seat."""

    def stopping(self) -> None:
        """What was noted is kept in any case."""

    @asynccontextmanager
    async def lifespan(self) -> AsyncIterator[None]:
        """Runs the process; what was begun and not finished is kept as it is."""
        try:
            yield
        finally:
            for notes, _ in self._clients.values():
                if notes.round and notes.said is None:
                    _, trouble = self._keep(notes)
                    print("".join(f"m3bench: {line}\n" for line in trouble), end="", file=sys.stderr)

    def schema(self, name: str) -> Mapping[str, object] | None:
        """No tool's arguments go into headers."""
        return None

    async def call(
        self, seat: Seat, request: ToolRequest, relay: Relay | None = None, delivery: AnswerDelivery | None = None
    ) -> ToolAnswer:
        """Answer a call by the router of the client that made it."""
        return await self.client(request.caller.client.strip())[1].call(seat, request, relay, delivery)

    def client(self, called: str) -> tuple[Notes, Router]:
        """A client's notes and router, made when it is first heard of."""
        if called not in self._clients:
            notes = Notes(client=called, profile=self._setup.profile or _fitting(called))
            shown = self.listing(notes.profile)
            notes.marks = shown.marks
            tools = ProbeTools(notes, self._setup, self._announce, lambda: _lines(*self._keep(notes)))
            self._clients[called] = notes, Router(notes, Padding(shown.names - OWN), tools)
        return self._clients[called]

    def listing(self, profile: str) -> ProbeListing:
        """The tools that are shown with a profile as padding."""
        if profile not in self._listings:
            padding = tools_of(profile, load_catalog().ready, Library())
            self._listings[profile] = listing(list(listed(profile, (tool.wire() for tool in padding))))
        return self._listings[profile]

    def attend(self, server: SdkServer) -> None:
        """Let a server of the front take subscriptions, so that clients can ask for them."""
        server.add_request_handler("subscriptions/listen", SubscriptionsListenRequestParams, ListenHandler(self._bus))
        server.middleware.insert(0, _Watch(self))

    async def _announce(self) -> None:
        await self._bus.publish(ToolsListChanged())

    def _keep(self, notes: Notes) -> tuple[CapabilityCard, list[str]]:
        """The card as it stands, and what kept it from being written."""
        card = draw_up(
            notes, self._setup, transport=self._transport, version=version("m3bench"),
            taken=datetime.now(UTC).isoformat(timespec="seconds"),
        )  # fmt: skip
        try:
            keep(self._data, card)
        except InputFileError as error:
            return card, [str(error)]
        return card, []


class _Watch:
    """Notes what a client says and asks for, and serves the tool list page by page."""

    def __init__(self, probe: Probe) -> None:
        self._probe = probe

    async def __call__(self, ctx: Context, call_next: CallNext) -> HandlerResult:
        context, params = ctx, ctx.params or {}
        if context.method == "initialize":
            return await self._shake_hands(context, params, call_next)
        notes = self._notes(context)
        if context.method == "subscriptions/listen":
            wanted = params.get("notifications")
            notes.listens = isinstance(wanted, dict) and wanted.get("toolsListChanged") is True
        result = await call_next(context)
        if context.method != "tools/list":
            return result
        assert isinstance(result, dict)
        return {**result, **self._page(notes, params.get("cursor"))}

    async def _shake_hands(self, context: Context, params: Mapping[str, object], call_next: CallNext) -> HandlerResult:
        result = await call_next(context)
        info = params.get("clientInfo")
        if isinstance(info, dict) and isinstance(result, dict):
            notes, _ = self._probe.client(_called(info))
            notes.sessions += 1
            # The front promises no changes; the probe announces one, to see what the client does about it.
            result["capabilities"]["tools"] = {**result["capabilities"]["tools"], "listChanged": True}
        return result

    def _notes(self, context: Context) -> Notes:
        known = context.session.client_params
        info = known.client_info.model_dump(by_alias=True, exclude_none=True) if known is not None else {}
        notes, _ = self._probe.client(_called(info))
        notes.info = info
        notes.revision = context.protocol_version
        if known is not None:
            notes.capabilities = tuple(sorted(known.capabilities.model_dump(by_alias=True, exclude_none=True)))
        return notes

    def _page(self, notes: Notes, cursor: object) -> Json:
        if cursor not in (None, SECOND):
            raise MCPError(code=INVALID_PARAMS, message=f"There is no page {cursor!r}: list the tools from the start")
        number = 1 if cursor is None else 2
        page = self._probe.listing(notes.profile).pages[number - 1]
        notes.listed.append(Listed(page=number, tools=len(page), at_ns=time.monotonic_ns()))
        return {"tools": list(page)} | ({"nextCursor": SECOND} if number == 1 else {})


class _ProbePrompt:
    """One prompt, for people whose client offers prompts as commands."""

    instructions = INSTRUCTIONS

    async def prompts(self, seat: Seat) -> Sequence[Json]:
        return [{"name": "probe", "description": "Find out what this client passes on"}]

    async def prompt(self, seat: Seat, params: Json, relay: Relay) -> Json | None:
        if params["name"] != "probe":
            return None
        return {"messages": [{"role": "user", "content": {"type": "text", "text": _PROMPT}}]}

    async def resources(self, seat: Seat) -> Sequence[Json]:
        return []

    async def templates(self, seat: Seat) -> Sequence[Json]:
        return []

    async def resource(self, seat: Seat, params: Json, relay: Relay) -> Json | None:
        return None

    async def completion(self, seat: Seat, params: Json, relay: Relay) -> Json | None:
        return None

    async def log_level(self, seat: Seat, level: str) -> None:
        return None

    async def subscribe(self, seat: Seat, method: str, uri: str) -> None:
        return None

    async def roots_changed(self, seat: Seat) -> None:
        return None


def _called(info: Mapping[str, object]) -> str:
    """Name and version as the record of calls has them."""
    return f"{info.get('name', '')} {info.get('version', '')}".strip()


def _fitting(called: str) -> str:
    """The profile that the benchmark would be installed with."""
    known = by_client_info(called.rpartition(" ")[0] or called)
    return profile_for(known) if known is not None else "full"


def _lines(probed: CapabilityCard, trouble: Sequence[str]) -> list[str]:
    found = [f"- {fact['says']}" for fact in probed["facts"].values()]
    return [*found, "", *(f"This was not kept: {line}" for line in trouble)] if trouble else found
