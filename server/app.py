"""The composition root: the one place that knows everybody.

Builds a server process out of settings. Nothing is opened or started before it is needed: a client that only
connects and lists tools leaves no file, no process and no run behind.
"""

import logging
import secrets
import threading
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from functools import cached_property, partial
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import anyio
import anyio.to_thread

from m3bench.proxy.front import Front
from m3bench.proxy.router import Router
from m3bench.proxy.seat import Seat
from m3bench.proxy.weather import FAIR
from m3bench.sandboxes.backends.base import LACKING, Backend
from m3bench.sandboxes.pool import SandboxPool
from m3bench.server.runs.attestation.statements import Attestor
from m3bench.server.runs.event import RankedEvent
from m3bench.server.runs.loading import encoder_of, library_of
from m3bench.server.runs.observer import LazyJournal
from m3bench.server.runs.opening import limits_rule
from m3bench.server.runs.profile_budget import budget
from m3bench.server.runs.resources import PROMPTS, BenchmarkResources
from m3bench.server.runs.resuming import Resuming
from m3bench.server.runs.retrieval import listed
from m3bench.server.runs.run import RunHooks, RunLimits, Runs, say_once
from m3bench.server.runs.tools import DEFINITIONS, BenchmarkTools, Offers
from m3bench.server.runs.versions import versions
from m3bench.server.scorecard.building import score_run
from m3bench.server.scorecard.migration import card_of
from m3bench.server.scorecard.model import Client, ScoreCard
from m3bench.server.scorecard.pages.app_view import run_in_short, run_view, scorecard_page
from m3bench.server.scorecard.trajectory import seen_before
from m3bench.server.scoring.encoder import check_encoder
from m3bench.server.serving.backend import backend_of, check_backend
from m3bench.server.serving.upstreams import UpstreamNotices, open_upstreams
from m3bench.server.settings import Settings
from m3bench.server.store.capability import ClientTable, bare_name, client_facts
from m3bench.server.store.contract import Store
from m3bench.server.store.factory import open_store
from m3bench.server.store.layout import WORKSPACES, run_workspace
from m3bench.server.store.location import RecordLocation
from m3bench.server.store.modes import check_mode, claim_mode
from m3bench.server.store.records import CallRecord, RunRecord, now
from m3bench.server.store.takeover import has_leftovers
from m3bench.tasks.catalog import Catalog, load_catalog
from m3bench.tasks.eager import in_task
from m3bench.tasks.errors import InputFileError, M3Error, RunError, SandboxError, StoreError, UserError
from m3bench.tasks.library import Library
from m3bench.tasks.profiles import RETRIEVE, catalog_of, tools_of

if TYPE_CHECKING:
    from m3bench.server.runs.observer import Observer

logger = logging.getLogger(__name__)

WILDCARDS = ("0.0.0.0", "::")
"""Addresses that are listened on and lead nowhere."""

EARLIER_RUNS = 5
"""On the same seat, from which it is seen how a client sends calls."""

TIDY_SECONDS = 60.0
"""Between two looks for what dead servers left."""


class App:
    """A server process.

    Args:
        settings: What the person chose.
        catalog: The tools there are; those that are built when left out.
        runs_per_sandbox: More than one only for agents that are known to mean no harm.
        sandboxes: Those of another server of this process, which is there for longer; its own when left out.
        clients: What is known of clients beforehand.
        library: The tasks; those that the settings name when left out.
        offers: The tasks that a seat is given, in their order; the one of the settings, or all, when left out.
    """

    def __init__(
        self, settings: Settings, catalog: Catalog | None = None, *, runs_per_sandbox: int = 1,
        sandboxes: SandboxPool | None = None, clients: ClientTable | None = None, library: Library | None = None,
        offers: Offers | None = None,
    ) -> None:  # fmt: skip
        check_encoder(settings.encoder)
        self.settings = settings
        self.place = RecordLocation(settings.data, settings.store)
        self._runs_per_sandbox = runs_per_sandbox
        self._lent = sandboxes
        self._clients = clients
        self.catalog = catalog or load_catalog().ready
        self.event = RankedEvent.read(settings.event) if settings.event is not None else None
        self.library = library or library_of(settings)
        only = None if settings.task is None else (settings.task,)
        self._offers: Offers = offers or (lambda seat: only)
        self.upstreams = open_upstreams(settings, PROMPTS)
        self.seats: dict[str, Seat] = {}
        self._notices = UpstreamNotices(self.upstreams, self.seats, self.list_tools)
        self.observer: Observer | None = None
        """Who looks on, when somebody does."""
        self._attestor = Attestor(settings.data, self._capabilities)
        self._owner = secrets.token_hex(8)
        self._store: Store | None = None
        self._opening = threading.Lock()
        self._address = settings.advertise

    @property
    def store(self) -> Store:
        """The record of runs and calls, opened now if it was not before."""
        with self._opening:
            if self._store is None:
                claim_mode(self.place, self.settings.mode)
                self._store = open_store(self.place, sync=self.settings.sync, owner=self._owner, address=self._address)
                for seat in list(self.seats.values()):
                    self._store.add_seat(seat.id, seat.profile, now())
            return self._store

    async def opened_store(self) -> Store:
        """The same without holding up the event loop: another process may be at the folder."""
        if self._store is not None:
            return self._store
        await in_task()
        return await anyio.to_thread.run_sync(lambda: self.store)

    @cached_property
    def backend(self) -> Backend:
        """Where sandboxes come from."""
        return self._lent.backend if self._lent is not None else backend_of(self.settings)

    @cached_property
    def pool(self) -> SandboxPool:
        """Sandboxes for runs, some of them kept warm when asked for."""
        if self._lent is not None:
            return self._lent
        root = self.settings.data / WORKSPACES / self._owner
        runs = self._runs_per_sandbox
        return SandboxPool(self.backend, root, spares=self.settings.spares, runs=runs, remembers=runs > 1)

    @cached_property
    def runs(self) -> Runs:
        """The runs of this process."""
        return Runs(
            store=lambda: self.store,
            library=self.library,
            pool=self.pool,
            manifest=lambda seat: {**self.manifest(seat), **self.walls, **self._facts(seat)},
            mode=self.settings.mode,
            limits=RunLimits(max_calls=self.settings.max_calls, seconds=self.settings.max_minutes * 60),
            hooks=RunHooks(
                changed=self._run_changed, sealing=self._attestor.sealed, tools_changed=self._notices.renamed
            ),
            event=self.event,
            weather=self.settings.weather,
        )

    @cached_property
    def resuming(self) -> Resuming:
        """Goes on with the runs of processes that are gone."""
        return Resuming(
            self.runs, library=self.library, pool=self.pool, manifest=self.manifest, folder=self.settings.data,
            forgetful=self.upstreams.forgetful,
        )  # fmt: skip

    @cached_property
    def router(self) -> Router:
        """Answers calls."""
        limits = limits_rule(self.settings.max_calls, self.settings.max_minutes)
        tools = BenchmarkTools(
            self.runs, self.library, self.score, limits, self._takes_structured, run_in_short, self._offers
        )
        return Router(LazyJournal(self), tools, self.upstreams, only_runs=self.settings.ranked, limit=self._most_bytes)

    @cached_property
    def front(self) -> Front:
        """What transports serve."""
        return Front(
            router=self.router,
            resources=BenchmarkResources(self.runs, self.library, self.upstreams, scorecard_page, run_view),
            version=version("m3bench"),
            content_only=self.settings.content_only,
            changing=bool(self.upstreams.names) or self.settings.weather != FAIR,
            prepare=self._notices.prepare,
            limit=self._most_bytes,
        )

    def _most_bytes(self, client: str) -> int | None:
        """How much a client takes at a time, as the table of clients says."""
        return self._clients.most_bytes(bare_name(client)) if self._clients is not None else None

    def _takes_structured(self, client: str) -> bool:
        """Whether a client passes structured content over, as a probe of it or the table of clients says."""
        probed = (client_facts(self.settings.data, client, "")["capabilities"] or {}).get("structured")
        known = self._clients.structured(bare_name(client)) if self._clients is not None else ""
        return (probed or known) == "ignored"

    @cached_property
    def _entries(self) -> Mapping[str, dict[str, Any]]:
        """The entries of tool lists by tool, the same ones for all seats."""
        return {name: tool.wire() for name, tool in self.catalog.by_tool.items()}

    def check(self) -> None:
        """Raise now what the first client would run into: a set or a profile that is not there, a file for a folder."""
        if self.settings.data.is_file():
            raise InputFileError(self.settings.data, "is a file: name a folder for the record of runs with --data")
        check_mode(self.place, self.settings.mode)
        tools_of(self.settings.profile, self.catalog, self.library)
        check_backend(self.settings)
        _ = self._attestor.key
        if self.settings.tasks is not None or self.settings.task is not None:
            _ = self.library.set if self.settings.task is None else self.library.task(self.settings.task)

    def open_seat(self, id: str | None = None, profile: str | None = None, *, lasting: bool = False) -> Seat:
        """A new seat, its tools fixed from now on; a run on one that lasts can be resumed by another process."""
        if self.event is not None and id is not None:
            self.event.participant(id)
        profile = self.settings.seat_profile(profile)
        tools = [
            tool for tool in tools_of(profile, self.catalog, self.library) if tool.server not in self.upstreams.names
        ]
        seat = Seat(
            id=id or secrets.token_hex(16),
            profile=profile,
            tools={tool.exposed: tool for tool in tools},
            lasting=lasting,
        )
        self.list_tools(seat)
        self.seats[seat.id] = seat
        if self._store is not None:
            self._store.add_seat(seat.id, profile, now())
        self._seats_changed()
        return seat

    async def open_handle(self, handle: str, profile: str | None = None) -> Seat:
        """The seat of a handle, with the run that its client left there when the server ended.

        Raises:
            UserError: There is no such profile.
            RunError: Another process that lives has the run.
            StoreError: It cannot be looked up now.
            SandboxError: Its workspace cannot be had now.
        """
        if not self.place.begun:
            return self.open_seat(handle, profile, lasting=True)
        store = await self.opened_store()
        found = await anyio.to_thread.run_sync(store.take_over, handle)
        if found is None:
            return self.open_seat(handle, profile, lasting=True)
        record, resumption = found
        try:
            seat = self.open_seat(handle, record.setup.profile, lasting=True)
        except UserError:
            seat = self.open_seat(handle, profile, lasting=True)
        try:
            await self.resuming.resume(seat, record, resumption)
        except BaseException:
            del self.seats[handle]
            raise
        return seat

    async def seat_address(self, handle: str, doubted: bool) -> str | None:
        """Which server on the same record has the seat of a handle, by its address; None when it is this one.

        Raises:
            RunError: One has it that cannot be reached from here.
            StoreError: It cannot be looked up now.
        """
        if self.place.url is None:
            return None
        store = await self.opened_store()
        return await anyio.to_thread.run_sync(partial(store.home, handle, doubted=doubted))

    def listening(self, address: str) -> None:
        """It is reached at this address now; others are told of it, unless it is that of any machine."""
        if self._address is None and urlsplit(address).hostname not in WILDCARDS:
            self._address = address

    def list_tools(self, seat: Seat) -> None:
        """Have a seat show the tools that there are for it now."""
        own = (self._entries.get(tool.qualified) or tool.wire() for tool in seat.tools.values())
        everything = (*own, *self.upstreams.tools(seat))
        if seat.run is not None and seat.run.weather is not None:
            everything = self.router.shown(seat, everything)
        seat.listing = (*DEFINITIONS, *listed(seat.profile, everything))
        seat.unlisted = everything if seat.profile == RETRIEVE else ()

    async def close_seat(self, seat: Seat) -> None:
        """End what runs on a seat and forget it."""
        try:
            await self.runs.abandon(seat)
        except StoreError as error:
            # Whoever opens the record next finds the run without its server and marks it as abandoned.
            logger.warning("A seat ended, and its run could not be marked as abandoned: %s", error)
        self.upstreams.stop(seat.id)
        if self.seats.get(seat.id) is seat:
            del self.seats[seat.id]
        if seat.lasting and self._store is not None:
            with suppress(StoreError):
                await anyio.to_thread.run_sync(self._store.leave, seat.id)
        self._seats_changed()

    def load(self, seat: Seat) -> None:
        """Load what the first task needs; what is wrong with it, `start_task` says."""
        with suppress(M3Error):
            _ = self.library.tasks, self.manifest(seat)

    def stopping(self) -> None:
        """The process is about to end: calls that are cut off from now on are not cut off by their clients."""
        self.router.stop()

    async def score(self, record: RunRecord) -> ScoreCard:
        """The score card of a submitted run, computed once."""
        known = card_of(record)
        if known is not None:
            return known
        if record.state not in ("submitted", "scored"):
            raise RunError("This run was not submitted: there is nothing to score.")
        task = self.library.task(record.task)
        calls = await anyio.to_thread.run_sync(self.runs.tool_calls, record.id)
        client = self._client(record)
        known_of = (self.library.plans(task), self.library.scenes(task), self.library.truth(task))
        job = partial(
            score_run, record, task, calls, self.workspace(record), encoder_of(self.settings.encoder), client, *known_of
        )
        card = await anyio.to_thread.run_sync(job)
        change = partial(self.store.change_run, record.id, state="scored", scorecard=card.to_json())
        await anyio.to_thread.run_sync(change)
        self._run_changed(record.id)
        return card

    def workspace(self, record: RunRecord) -> Path:
        """The folder a run worked in."""
        return run_workspace(self.store.folder, record.id)

    def manifest(self, seat: Seat) -> dict[str, object]:
        """What makes two runs comparable."""
        return {
            **versions(self.library, catalog_of(seat.profile, self.catalog), self.settings.encoder),
            "profile": seat.profile,
            "tools": len(seat.tools),
            "sandbox": self.settings.sandbox,
            "upstream": self.upstreams.versions,
            "content_only": self.settings.content_only,
            **({"weather": self.settings.weather} if self.settings.weather != FAIR else {}),
        }

    def _facts(self, seat: Seat) -> dict[str, object]:
        """What the tools of a seat cost a client and can be used for, a run's limits, and who plays in which event."""
        cost = budget(seat.listing, tuple(seat.tools.values()), self.library).to_json()
        limits = {"calls": self.settings.max_calls, "minutes": self.settings.max_minutes}
        return {"budget": cost, "limits": limits, **(self.event.facts(seat.id) if self.event is not None else {})}

    @property
    def walls(self) -> dict[str, object]:
        """What of a manifest says how sandboxes are held."""
        return {"lacking": self.lacking, "limited_by": self.backend.limited_by}

    @cached_property
    def lacking(self) -> list[str]:
        """The guards that sandboxes here do not have, said aloud the first time; blocks for a moment then."""
        try:
            found = self.backend.prospect()
        except SandboxError:
            return ["unknown"]
        for notice in found.notices:
            say_once(notice)
        if self.backend.limited_by == "control group":
            say_once("Control groups hold each sandbox to its memory, processes and CPU.")
        return sorted(set(LACKING) - found.guards)

    @asynccontextmanager
    async def lifespan(self) -> AsyncIterator[None]:
        """Runs the process; what is open at the end is closed."""
        if self.settings.spares:
            # First of all the lock that says that this process lives and its workspaces are in use.
            _ = self.store
            self.pool.root.mkdir(parents=True)
        try:
            async with AsyncExitStack() as stack:
                if self._lent is None:
                    await stack.enter_async_context(self.backend)
                    await stack.enter_async_context(self.pool)
                await stack.enter_async_context(self.upstreams)
                tasks = await stack.enter_async_context(anyio.create_task_group())
                tasks.start_soon(self._keep_tidy)
                try:
                    yield
                finally:
                    await self._close()
                    tasks.cancel_scope.cancel()
        finally:
            if self._lent is None:
                with suppress(OSError):
                    self.pool.root.rmdir()

    async def _keep_tidy(self) -> None:
        """Remove what dead servers left, now and from time to time."""
        while True:
            with suppress(StoreError):
                # The record knows of processes elsewhere; of those here, the folder tells without opening it.
                if has_leftovers(self.settings.data) or (self.place.url is not None and self._store is not None):
                    store = await self.opened_store()
                    await anyio.to_thread.run_sync(store.mend)
            await anyio.sleep(TIDY_SECONDS)

    async def _close(self) -> None:
        with anyio.CancelScope(shield=True):
            for seat in list(self.seats.values()):
                await (self.runs.suspend(seat) if seat.lasting else self.close_seat(seat))
            if self._store is not None:
                await anyio.to_thread.run_sync(self._store.close)

    def _run_changed(self, run: str) -> None:
        if not self.runs.under_way(run):
            self.upstreams.stop(run)
        if self.observer is not None:
            self.observer.run_changed(run)

    def _seats_changed(self) -> None:
        if self.observer is not None:
            self.observer.seats_changed()

    def _client(self, record: RunRecord) -> Client | None:
        """Who played a run, as its last call says, which is at the latest the one that submitted."""
        last = next(reversed(self.store.calls(record.id)), None)
        if last is None:
            return None
        facts = client_facts(self.settings.data, last.client, last.revision, self._clients)
        if facts["capabilities"] is None:
            facts["capabilities"] = seen_before(last.client.rpartition(" ")[2], self._earlier(record, last.client))
        return Client(**facts)

    def _capabilities(self, record: RunRecord) -> Mapping[str, object] | None:
        """What is known of who played a run."""
        client = self._client(record)
        return None if client is None else client.capabilities

    def _earlier(self, record: RunRecord, client: str) -> Iterator[list[CallRecord]]:
        """The calls of the runs that the same client made on the same seat before, the latest few."""
        before = [run for run in self.store.runs(record.seat) if run.started < record.started]
        for run in before[:EARLIER_RUNS]:
            calls = self.runs.tool_calls(run.id)
            if calls and calls[-1].client == client:
                yield calls
