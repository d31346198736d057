"""How long upstream servers live: which one is started for whom, what its lists are, and when it is stopped.

A server that holds state, which is the default, is started for each run, and for a seat while no run is under way on
it; nothing that it remembers reaches another run. One that is declared to hold none is started once and shared. At the
beginning each is started to learn its lists; one that holds state then waits for the first seat that asks for it. A
server that does not start is left out and said so; the others work.
"""

import logging
from collections.abc import Awaitable, Callable, Coroutine, Iterable, Mapping
from contextlib import suppress

import anyio
from anyio.abc import TaskGroup

from m3bench.proxy.logs import tell
from m3bench.proxy.protocol.messages import Json
from m3bench.proxy.protocol.tool_calls import Relay
from m3bench.proxy.seat import Seat
from m3bench.proxy.upstreams.cassette import Cassette, Take
from m3bench.proxy.upstreams.configuration import UpstreamEntry
from m3bench.proxy.upstreams.upstream import Containers, Upstream, make_upstream
from m3bench.tasks.eager import in_task
from m3bench.tasks.errors import UpstreamError
from m3bench.tasks.jsonrpc import INTERNAL_ERROR, METHOD_NOT_FOUND

ASK_SECONDS = 600.0
"""How long a client, and the person in front of it, may take to answer what a server asks."""

ASKED = {"sampling/createMessage": "sampling", "elicitation/create": "elicitation", "roots/list": "roots"}
"""What servers may ask of clients, and the capability that it takes."""

STARTS = 4
"""Servers being started at the same time."""

RELIST_SECONDS = 5.0
"""How long the answer to a call waits for a tool list that changed meanwhile."""

TOOLS, PROMPTS, RESOURCES, TEMPLATES = "tools/list", "prompts/list", "resources/list", "resources/templates/list"

LISTS = {
    TOOLS: ("tools", "tools"),
    PROMPTS: ("prompts", "prompts"),
    RESOURCES: ("resources", "resources"),
    TEMPLATES: ("resources", "resourceTemplates"),
}
"""List methods: the capability they take, and where the entries are."""

TOOLS_CHANGED = "notifications/tools/list_changed"

_PASSED_ON = frozenset(
    {
        "notifications/elicitation/complete",
        "notifications/message",
        "notifications/prompts/list_changed",
        "notifications/resources/list_changed",
        "notifications/resources/updated",
    }
)
"""What servers tell that belongs to no call and reaches the client as it is."""

Notified = Callable[[Upstream, str, Json], None]
"""Is told of a notification that belongs to no call: by whom, its method and its parameters."""

Changed = Callable[[Seat | None, str, Json], Coroutine[object, object, None]]
"""Is told what a client must know: that its tools changed, or what a server said. None stands for all seats."""

logger = logging.getLogger(__name__)


class SharedClient:
    """Whom shared servers work for: everybody, so that nobody in particular can be asked."""

    shared = True

    def __init__(self, notified: Notified) -> None:
        self.notified = notified

    @property
    def capabilities(self) -> Json:
        """None: it would have to be known whose call the question belongs to."""
        return {}

    async def asked(self, method: str, params: Json, relay: Relay | None) -> Json:
        """Refused."""
        return _error(METHOD_NOT_FOUND, f"{method}: a server that is shared by several clients can ask none of them")


class SeatServers:
    """The servers that were started for one run, or for a seat while no run is under way on it.

    What they tell and ask beside their answers goes to the client of the seat, as far as that client can be asked.

    Args:
        seat: Whose client it is.
        notified: Is told what servers tell beside their answers.
        take: The way through a cassette, when there is one.
    """

    shared = False

    def __init__(self, seat: Seat, notified: Notified, take: Take | None) -> None:
        self.seat = seat
        self.notified = notified
        self.take = take
        self.capabilities: Json = dict(seat.client)
        self.started: dict[str, Upstream] = {}
        """Those that were started, by name."""
        self.lists: dict[tuple[str, str], list[Json]] = {}
        """Lists that these servers gave, by server and method."""
        self.used = False
        """Whether anything was asked that can leave a trace."""
        self.preparing = False
        """Whether its lists are being made complete for a client that asks for them just now."""

    async def asked(self, method: str, params: Json, relay: Relay | None) -> Json:
        """The client's answer to what a server asks, if the client declared that it can be asked for that."""
        if ASKED.get(method) not in self.capabilities:
            return _error(METHOD_NOT_FOUND, f"The client does not support {method}.")
        with anyio.move_on_after(ASK_SECONDS):
            return await (relay or self.seat).request(method, params)
        return _error(INTERNAL_ERROR, f"The client gave no answer to {method} within {ASK_SECONDS:g} s.")

    def stop(self) -> None:
        """Stop its servers."""
        for server in self.started.values():
            server.stop()


class Lifecycle:
    """Starts and stops servers.

    Args:
        entries: What to start, by name.
        cassette: Records what servers say of themselves, or knows it.
        containers: Runs those that are images.
        changed: Is told what clients must know.
    """

    def __init__(
        self,
        entries: Mapping[str, UpstreamEntry],
        cassette: Cassette | None,
        containers: Containers | None,
        changed: Changed,
    ) -> None:
        self.about: dict[str, Json] = {}
        """What the servers said of themselves at the beginning."""
        self._entries = entries
        self._cassette = cassette
        self._containers = containers
        self._changed = changed
        everybody = SharedClient(self._on_notification)
        self._shared = {name: self._make(name, everybody) for name in entries if not entries[name].stateful}
        self._unclaimed = {name: self._make(name, everybody) for name in entries if entries[name].stateful}
        """Started to learn their lists; nobody has asked anything else of them."""
        self._per_seat: dict[str, SeatServers] = {}
        """By run, or by seat while no run is under way."""
        self._lists: dict[tuple[str, str], list[Json]] = {}
        """Lists as they are where a seat's servers have no other, by server and method."""
        self.edition = 0
        """Of all lists: it grows when one of them is learned anew."""
        self._relisting: dict[Upstream, anyio.Event] = {}
        self._stale: set[Upstream] = set()
        """Servers whose tools may be others than those that are known."""
        self._tasks: TaskGroup | None = None

    async def start(self, tasks: TaskGroup) -> None:
        """Learn what there is: from the recording, or from the servers."""
        self._tasks = tasks
        for name in self._cassette.servers if self._cassette is not None else ():
            assert self._cassette is not None
            about = self._cassette.about(name)
            self.about[name] = {"serverInfo": about.info, "capabilities": about.capabilities}
            self._lists |= {(name, method): self._cassette.entries(name, method) for method in LISTS}
            self.edition += 1
        if self._cassette is None or not self._cassette.replaying:
            await self._each(self._entries, self._learn)

    @property
    def live(self) -> bool:
        """Whether servers may be asked at all."""
        return self._cassette is None or not self._cassette.replaying or self._cassette.live

    def tools(self, servers: SeatServers | None) -> dict[str, list[Json]]:
        """The tool lists by server, as they are for a run or a seat."""
        found = {server: tools for (server, method), tools in self._lists.items() if method == TOOLS}
        if servers is not None and servers.lists:
            found |= {server: tools for (server, method), tools in servers.lists.items() if method == TOOLS}
        return found

    def per_seat(self) -> Iterable[SeatServers]:
        """The servers of all runs and seats that have some now."""
        return list(self._per_seat.values())

    def current(self, seat: Seat) -> SeatServers | None:
        """The servers that work for a seat at this moment, if there are any."""
        return self._per_seat.get(seat.run.id if seat.run is not None else seat.id) or self._per_seat.get(seat.id)

    def claim(self, seat: Seat, run: str | None) -> SeatServers:
        """The servers of a run, or of a seat without one; a run takes over those of its seat that left no trace yet."""
        servers = self._per_seat.get(run or seat.id)
        idle = self._per_seat.get(seat.id)
        if servers is None and run is not None and idle is not None and not idle.used:
            servers = self._per_seat[run] = self._per_seat.pop(seat.id)
        if servers is None or (servers.capabilities != seat.client and not servers.used):
            if servers is not None:
                servers.stop()
            take = Take(self._cassette) if self._cassette is not None else None
            servers = self._per_seat[run or seat.id] = SeatServers(seat, self._on_notification, take)
        return servers

    def stop(self, key: str) -> None:
        """A run or a seat is over: stop the servers that were started for it."""
        servers = self._per_seat.pop(key, None)
        if servers is not None:
            servers.stop()
            if self.tools(servers) != self.tools(None):
                self._spawn(self._changed, servers.seat, TOOLS_CHANGED, {})

    async def prepare(self, seat: Seat) -> None:
        """Start the servers of a seat whose client can be asked things: some have more tools then."""
        if not seat.client or (self._cassette is not None and self._cassette.replaying):
            return
        servers = self.claim(seat, seat.run.id if seat.run is not None else None)
        servers.preparing = True
        try:
            waiting = [name for name in self.about if name not in self._shared and name not in servers.started]
            await self._each(waiting, lambda name: self.server(servers, name))
        finally:
            servers.preparing = False

    async def server(self, servers: SeatServers, name: str) -> Upstream:
        """The server of a name that works for a run or a seat, started now if it is not running."""
        upstream = self._shared.get(name) or servers.started.get(name)
        new = upstream is None
        if upstream is None:
            upstream = servers.started[name] = self._assign(servers, name)
        started = await self._start(upstream)
        if started and upstream.ended_unnoticed and upstream.client is servers:
            upstream.ended_unnoticed = False
            if servers.used:
                problem = "it ended by itself and was started again, without what it remembered; you may ask again"
                raise UpstreamError(name, problem)
        if (new or started) and upstream.client is servers:
            await in_task()
            if servers.seat.level is not None:
                await self.set_level(upstream, servers.seat.level)
            if servers.capabilities:
                await self._relist(upstream)
        return upstream

    def running(self, servers: SeatServers | None) -> list[Upstream]:
        """The servers that work for a run or a seat now, shared ones included."""
        return [*self._shared.values(), *(servers.started.values() if servers is not None else ())]

    async def entries(self, servers: SeatServers, server: str, method: str) -> list[Json]:
        """A list of a server, as new as can be had without starting one."""
        upstream = self._shared.get(server) or servers.started.get(server)
        if upstream is None and (server, method) not in self._lists and self.live:
            upstream = self._unclaimed.get(server) or await self.server(servers, server)
        if upstream is None:
            return self._lists.get((server, method), [])
        await self._start(upstream)
        return await self._list(upstream, method)

    def known(self, servers: SeatServers, server: str, method: str) -> list[Json] | None:
        """A list of a server as it was last; None when it was never asked for."""
        return servers.lists.get((server, method), self._lists.get((server, method)))

    async def settle(self, upstream: Upstream) -> None:
        """Wait until a tool list that a server has changed is known."""
        if upstream in self._relisting:
            await in_task()
            with anyio.move_on_after(RELIST_SECONDS):
                await self._relisting[upstream].wait()

    async def set_level(self, upstream: Upstream, level: str) -> None:
        """Tell a server from which level on log messages are wanted."""
        if upstream.has("logging"):
            with suppress(UpstreamError):
                await upstream.ask("logging/setLevel", {"level": level})

    def _make(self, name: str, client: SeatServers | SharedClient) -> Upstream:
        return make_upstream(name, self._entries[name], client, self._containers)

    def _assign(self, servers: SeatServers, name: str) -> Upstream:
        """A server for a run or a seat: the one that waits for that, or a new one."""
        if name not in self._entries:
            raise UpstreamError(name, "it is not configured")
        waiting = self._unclaimed.pop(name, None)
        if waiting is None:
            return self._make(name, servers)
        if servers.capabilities:
            # It was told at its start that nobody can be asked.
            waiting.stop()
            return self._make(name, servers)
        waiting.client = servers
        return waiting

    async def _learn(self, name: str) -> None:
        """Start a server and learn what it is and has."""
        upstream = self._shared.get(name) or self._unclaimed[name]
        await self._start(upstream)
        self.about[name] = upstream.info
        for method, (capability, _) in LISTS.items():
            # Tools are asked for in any case: some servers do not declare them. The others when they are wanted.
            if method == TOOLS or (self._cassette is not None and upstream.has(capability)):
                await self._list(upstream, method)

    async def _start(self, upstream: Upstream) -> bool:
        """Start a server if it is not running; whether it was started now."""
        assert self._tasks is not None
        started = await upstream.start(self._tasks)
        if started and self._cassette is not None:
            stateful = self._entries[upstream.name].stateful
            self._cassette.note_server(upstream.name, upstream.info, stateful=stateful)
        return started

    async def _list(self, upstream: Upstream, method: str) -> list[Json]:
        """Ask a server for a list, and remember it."""
        found = await upstream.pages(method, LISTS[method][1])
        client = upstream.client
        (client.lists if isinstance(client, SeatServers) else self._lists)[upstream.name, method] = found
        self.edition += 1
        if self._cassette is not None:
            self._cassette.note_list(upstream.name, method, found)
        return found

    async def _relist(self, upstream: Upstream) -> None:
        """Learn the tools of a server anew; whoever sees them is told when they are others."""
        client = upstream.client
        servers = client if isinstance(client, SeatServers) else None
        before = self.tools(servers)
        try:
            await self._list(upstream, TOOLS)
        except UpstreamError as error:
            logger.warning("%s", error)
            return
        if self.tools(servers) != before and not (servers is not None and servers.preparing):
            await self._changed(servers.seat if servers is not None else None, TOOLS_CHANGED, {})

    def _on_notification(self, upstream: Upstream, method: str, params: Json) -> None:
        client = upstream.client
        if method == TOOLS_CHANGED:
            self._stale.add(upstream)
            if upstream not in self._relisting:
                self._relisting[upstream] = anyio.Event()
                self._spawn(self._relist_soon, upstream)
        elif isinstance(client, SeatServers) and method in _PASSED_ON:
            self._spawn(self._changed, client.seat, method, params)
        elif method in _PASSED_ON and method != "notifications/message" and upstream.name in self._shared:
            self._spawn(self._changed, None, method, params)

    async def _relist_soon(self, upstream: Upstream) -> None:
        """Learn the tools anew until no other notice came meanwhile: servers send one for each tool."""
        done = self._relisting[upstream]
        try:
            while upstream in self._stale:
                self._stale.discard(upstream)
                await self._relist(upstream)
        finally:
            del self._relisting[upstream]
            done.set()

    async def _each(self, names: Iterable[str], start: Callable[[str], Awaitable[object]]) -> None:
        """Start servers, a few at a time; what does not start is said and left out."""
        slots = anyio.Semaphore(STARTS)

        async def start_or_tell(name: str) -> None:
            async with slots:
                try:
                    await start(name)
                except UpstreamError as error:
                    tell(f"m3bench: {error}")

        async with anyio.create_task_group() as starts:
            for name in names:
                starts.start_soon(start_or_tell, name)

    def _spawn(self, function: Callable[..., Coroutine[object, object, None]], *arguments: object) -> None:
        assert self._tasks is not None
        self._tasks.start_soon(function, *arguments)


def _error(code: int, message: str) -> Json:
    return {"error": {"code": code, "message": message}}
