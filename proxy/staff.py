"""Which third-party server is started for whom, and what its lists are.

A server that holds state, which is the default, is started for each run, and for a seat while no run is under way on
it; one that is declared to hold none is started once. At the beginning each is started to learn its lists; one that
holds state then waits for the first crew. A server that does not start is left out and said so; the others work.
"""

import logging
from collections.abc import Awaitable, Callable, Coroutine, Iterable, Mapping
from contextlib import suppress
from typing import Any

import anyio
from anyio.abc import TaskGroup

from m3bench.proxy.cassette import Cassette, Take
from m3bench.proxy.crew import Crew, Shared
from m3bench.proxy.entries import Entry
from m3bench.proxy.logs import tell
from m3bench.proxy.messages import Json
from m3bench.proxy.seat import Seat
from m3bench.proxy.upstream import Containers, Upstream, make_upstream
from m3bench.tasks.errors import UpstreamError

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

Changed = Callable[[Seat | None, str, Json], Coroutine[Any, Any, None]]
"""Is told what a client must know: that its tools changed, or what a server said. None stands for all seats."""

logger = logging.getLogger(__name__)


class Staff:
    """The servers that run.

    Args:
        entries: What to start, by name.
        cassette: Records what servers say of themselves, or knows it.
        containers: Runs those that are images.
        changed: Is told what clients must know.
    """

    def __init__(
        self,
        entries: Mapping[str, Entry],
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
        self._everybody = Shared(self._news)
        self._shared = {name: self._make(name, self._everybody) for name in entries if not entries[name].stateful}
        self._spares = {name: self._make(name, self._everybody) for name in entries if entries[name].stateful}
        """Started to learn their lists; nobody has asked anything else of them."""
        self._lists: dict[tuple[str, str], list[Json]] = {}
        """Lists as they are where a crew has no other, by server and method."""
        self.edition = 0
        """Of all lists: it grows when one of them is learned anew."""
        self._crews: dict[str, Crew] = {}
        """By run, or by seat while no run is under way."""
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
            self.about[name] = {"serverInfo": about["info"], "capabilities": about["capabilities"]}
            self._lists |= {(name, method): self._cassette.entries(name, method) for method in LISTS}
            self.edition += 1
        if self._cassette is None or not self._cassette.replaying:
            await self._each(self._entries, self._learn)

    @property
    def live(self) -> bool:
        """Whether servers may be asked at all."""
        return self._cassette is None or not self._cassette.replaying or self._cassette.live

    def tools(self, crew: Crew | None) -> dict[str, list[Json]]:
        """The tool lists as a crew has them, by server."""
        found = {server: tools for (server, method), tools in self._lists.items() if method == TOOLS}
        if crew is not None and crew.lists:
            found |= {server: tools for (server, method), tools in crew.lists.items() if method == TOOLS}
        return found

    def crews(self) -> Iterable[Crew]:
        """All crews that there are now."""
        return list(self._crews.values())

    def present(self, seat: Seat) -> Crew | None:
        """The crew that works for a seat at this moment, if there is one."""
        return self._crews.get(seat.run.id if seat.run is not None else seat.id) or self._crews.get(seat.id)

    def crew(self, seat: Seat, run: str | None) -> Crew:
        """The crew of a run, or of a seat without one; a run takes over a crew of its seat that left no trace yet."""
        crew = self._crews.get(run or seat.id)
        idle = self._crews.get(seat.id)
        if crew is None and run is not None and idle is not None and not idle.used:
            crew = self._crews[run] = self._crews.pop(seat.id)
        if crew is None or (crew.capabilities != seat.client and not crew.used):
            if crew is not None:
                crew.close()
            take = Take(self._cassette) if self._cassette is not None else None
            crew = self._crews[run or seat.id] = Crew(seat, self._news, take)
        return crew

    def end(self, key: str) -> None:
        """A run or a seat is over, and with it the servers that worked for it."""
        crew = self._crews.pop(key, None)
        if crew is not None:
            crew.close()
            if self.tools(crew) != self.tools(None):
                self._spawn(self._changed, crew.seat, TOOLS_CHANGED, {})

    async def prepare(self, seat: Seat) -> None:
        """Start the servers of a seat whose client can be asked things: some have more tools then."""
        if not seat.client or (self._cassette is not None and self._cassette.replaying):
            return
        crew = self.crew(seat, seat.run.id if seat.run is not None else None)
        crew.preparing = True
        try:
            waiting = [name for name in self.about if name not in self._shared and name not in crew.members]
            await self._each(waiting, lambda name: self.member(crew, name))
        finally:
            crew.preparing = False

    async def member(self, crew: Crew, name: str) -> Upstream:
        """The server of a name that works for a crew, started now if it is not running."""
        upstream = self._shared.get(name) or crew.members.get(name)
        new = upstream is None
        if upstream is None:
            upstream = crew.members[name] = self._hire(crew, name)
        started = await self._open(upstream)
        if started and upstream.forgot and upstream.home is crew:
            upstream.forgot = False
            if crew.used:
                problem = "it ended by itself and was started again, without what it remembered; you may ask again"
                raise UpstreamError(name, problem)
        if (new or started) and upstream.home is crew:
            if crew.seat.level is not None:
                await self.set_level(upstream, crew.seat.level)
            if crew.capabilities:
                await self._relist(upstream)
        return upstream

    def running(self, crew: Crew | None) -> list[Upstream]:
        """The servers that work for a crew now, those for everybody included."""
        return [*self._shared.values(), *(crew.members.values() if crew is not None else ())]

    async def entries(self, crew: Crew, server: str, method: str) -> list[Json]:
        """A list of a server, as new as can be had without starting one."""
        upstream = self._shared.get(server) or crew.members.get(server)
        if upstream is None and (server, method) not in self._lists and self.live:
            upstream = self._spares.get(server) or await self.member(crew, server)
        if upstream is None:
            return self._lists.get((server, method), [])
        await self._open(upstream)
        return await self._list(upstream, method)

    def known(self, crew: Crew, server: str, method: str) -> list[Json] | None:
        """A list of a server as it was last; None when it was never asked for."""
        return crew.lists.get((server, method), self._lists.get((server, method)))

    async def settle(self, upstream: Upstream) -> None:
        """Wait until a tool list that a server has changed is known."""
        if upstream in self._relisting:
            with anyio.move_on_after(RELIST_SECONDS):
                await self._relisting[upstream].wait()

    async def set_level(self, upstream: Upstream, level: str) -> None:
        """Tell a server from which level on log messages are wanted."""
        if upstream.has("logging"):
            with suppress(UpstreamError):
                await upstream.ask("logging/setLevel", {"level": level})

    def _make(self, name: str, home: Crew | Shared) -> Upstream:
        return make_upstream(name, self._entries[name], home, self._containers)

    def _hire(self, crew: Crew, name: str) -> Upstream:
        if name not in self._entries:
            raise UpstreamError(name, "it is not configured")
        spare = self._spares.pop(name, None)
        if spare is None:
            return self._make(name, crew)
        if crew.capabilities:
            # It was told at its start that nobody can be asked.
            spare.close()
            return self._make(name, crew)
        spare.home = crew
        return spare

    async def _learn(self, name: str) -> None:
        upstream = self._shared.get(name) or self._spares[name]
        await self._open(upstream)
        self.about[name] = upstream.info
        for method, (capability, _) in LISTS.items():
            # Tools are asked for in any case: some servers do not declare them. The others when they are wanted.
            if method == TOOLS or (self._cassette is not None and upstream.has(capability)):
                await self._list(upstream, method)

    async def _open(self, upstream: Upstream) -> bool:
        """Start a server if it is not running; whether it was started now."""
        assert self._tasks is not None
        started = await upstream.open(self._tasks)
        if started and self._cassette is not None:
            stateful = self._entries[upstream.name].stateful
            self._cassette.note_server(upstream.name, upstream.info, stateful=stateful)
        return started

    async def _list(self, upstream: Upstream, method: str) -> list[Json]:
        """Ask a server for a list, and remember it."""
        found = await upstream.pages(method, LISTS[method][1])
        home = upstream.home
        (home.lists if isinstance(home, Crew) else self._lists)[upstream.name, method] = found
        self.edition += 1
        if self._cassette is not None:
            self._cassette.note_list(upstream.name, method, found)
        return found

    async def _relist(self, upstream: Upstream) -> None:
        """Learn the tools of a server anew; whoever sees them is told when they are others."""
        home = upstream.home
        crew = home if isinstance(home, Crew) else None
        before = self.tools(crew)
        try:
            await self._list(upstream, TOOLS)
        except UpstreamError as error:
            logger.warning("%s", error)
            return
        if self.tools(crew) != before and not (crew is not None and crew.preparing):
            await self._changed(crew.seat if crew is not None else None, TOOLS_CHANGED, {})

    def _news(self, upstream: Upstream, method: str, params: Json) -> None:
        home = upstream.home
        if method == TOOLS_CHANGED:
            self._stale.add(upstream)
            if upstream not in self._relisting:
                self._relisting[upstream] = anyio.Event()
                self._spawn(self._relist_soon, upstream)
        elif isinstance(home, Crew) and method in _PASSED_ON:
            self._spawn(self._changed, home.seat, method, params)
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

        async def one(name: str) -> None:
            async with slots:
                try:
                    await start(name)
                except UpstreamError as error:
                    tell(f"m3bench: {error}")

        async with anyio.create_task_group() as starts:
            for name in names:
                starts.start_soon(one, name)

    def _spawn(self, function: Callable[..., Coroutine[Any, Any, None]], *arguments: object) -> None:
        assert self._tasks is not None
        self._tasks.start_soon(function, *arguments)
