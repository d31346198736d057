"""All third-party servers of one proxy: what clients see of them, and what is asked of them.

Who is started for whom is the staff's business. With a cassette the lists and answers come from the recording, and
what is not in it goes live or is a miss, as asked.
"""

import asyncio
import json
import time
from collections import deque
from collections.abc import Collection, Mapping
from types import TracebackType
from typing import Any, Self
from weakref import WeakKeyDictionary

import anyio
from anyio.abc import TaskGroup

from m3bench.proxy.call import Answer, Relay, WireError, error_result
from m3bench.proxy.cassette import Cassette
from m3bench.proxy.crew import Crew, Patient
from m3bench.proxy.directory import Listing, Owned, distinct, named_prompts, owners
from m3bench.proxy.entries import Entry
from m3bench.proxy.messages import Json
from m3bench.proxy.seat import Seat
from m3bench.proxy.staff import LISTS, PROMPTS, RESOURCES, TEMPLATES, Changed, Staff
from m3bench.proxy.upstream import Containers
from m3bench.tasks.errors import CassetteError, UpstreamError
from m3bench.tasks.jsonrpc import INVALID_PARAMS, METHOD_NOT_FOUND

LISTINGS = 8
"""Tool lists kept at a time; each seat may have its own."""

_UNKNOWN = frozenset({INVALID_PARAMS, METHOD_NOT_FOUND, -32002})
"""Errors by which a server says that something is not its own, among others."""

_CAPABILITY = {"prompts/get": "prompts", "completion/complete": "completions"}
"""What a server must declare to be asked; resources for all other methods."""


class Fleet:
    """The third-party servers.

    Args:
        entries: What to start, by name.
        prefix: Whether tools are shown with their server's name.
        cassette: Records answers, or gives recorded ones.
        reserved: Names that no tool may be shown under.
        prompts: Names that no prompt may be shown under.
        containers: Runs those that are images.
    """

    def __init__(
        self,
        entries: Mapping[str, Entry],
        *,
        prefix: bool = True,
        cassette: Cassette | None = None,
        reserved: Collection[str] = (),
        prompts: Collection[str] = (),
        containers: Containers | None = None,
    ) -> None:
        self.changed: Changed | None = None
        """Is told what clients must know, when set."""
        recorded = cassette.servers if cassette is not None else ()
        self.names = frozenset([*entries, *recorded])
        """The servers, which take the place of bundled ones of the same name."""
        self.forgetful = self.names - {name for name, entry in entries.items() if not entry.stateful}
        """Those of which what a run did there is lost when this process ends."""
        self._prefix = prefix
        self._cassette = cassette
        self._reserved = frozenset(reserved)
        self._taken_prompts = frozenset(prompts)
        self._told: set[str] = set()
        self._listings: deque[tuple[dict[str, list[Json]], Listing]] = deque(maxlen=LISTINGS)
        """Made lately, with what they were made of: most seats have the same."""
        self._current: WeakKeyDictionary[Crew | Staff, tuple[int, Listing]] = WeakKeyDictionary()
        """Those of crews, and of everybody else, with the edition of the lists that they were made of."""
        self._staff = Staff(entries, cassette, containers, self._on_change)
        self._tasks: TaskGroup | None = None

    async def __aenter__(self) -> Self:
        if self._cassette is not None:
            self._cassette.open()
        self._tasks = await anyio.create_task_group().__aenter__()
        await self._staff.start(self._tasks)
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        assert self._tasks is not None
        self._tasks.cancel_scope.cancel()
        try:
            await self._tasks.__aexit__(None, None, None)
        finally:
            if self._cassette is not None:
                self._cassette.close()

    @property
    def versions(self) -> Json:
        """What each server says of itself, for the manifest."""
        return {name: self._staff.about.get(name, {}).get("serverInfo", {}) for name in sorted(self.names)}

    def tools(self, seat: Seat | None = None) -> tuple[Json, ...]:
        """The tools of a seat as they go over the wire."""
        return self._listing(self._staff.present(seat) if seat is not None else None).tools

    def owns(self, seat: Seat, name: str) -> bool:
        """Whether an exposed name is answered by a third-party server."""
        return name in self._listing(self._staff.present(seat)).routes

    def qualified(self, seat: Seat, name: str) -> str:
        """The canonical name of an exposed one."""
        return "/".join(self._listing(self._staff.present(seat)).routes[name])

    def schema(self, name: str) -> Mapping[str, Any] | None:
        """The input schema of a tool by its exposed name; None when it is not theirs."""
        for crew in (None, *self._staff.crews()):
            tool = self._listing(crew).entries.get(name)
            if tool is not None:
                found: Mapping[str, Any] = tool["inputSchema"]
                return found
        return None

    async def call(
        self, seat: Seat, run: str | None, name: str, params: Mapping[str, Any], relay: Relay | None, seconds: float
    ) -> Answer:
        """Forward a call."""
        crew = self._staff.crew(seat, run)
        server, tool = self._listing(crew).routes[name]
        asked = {"name": tool, "arguments": params.get("arguments") or {}}
        forwarded = time.monotonic_ns()
        try:
            # It costs half as much as `fail_after`, and this is done for every call.
            async with asyncio.timeout(seconds) as clock:
                patient = Patient(relay, clock) if relay is not None else None
                found = await self._ask(crew, server, "tools/call", asked, params.get("_meta"), patient)
            return _answered(found, forwarded)
        except TimeoutError:
            text = f"{server}/{tool} gave no answer within {seconds:g} seconds."
            return Answer(outcome="failed", owner="upstream", result=error_result(text), forwarded_ns=forwarded)
        except CassetteError as error:
            return Answer(outcome="failed", owner="cassette", result=error_result(str(error)), forwarded_ns=forwarded)
        except UpstreamError as error:
            if error.code is not None:
                returned = time.monotonic_ns()
                return Answer(outcome="not_found", error=_wire(error), forwarded_ns=forwarded, returned_ns=returned)
            return Answer(outcome="failed", owner="upstream", result=error_result(str(error)), forwarded_ns=forwarded)

    async def prompts(self, seat: Seat) -> list[Json]:
        """The prompts, under the names that clients see."""
        named = named_prompts(await self._gather(seat, PROMPTS), self._taken_prompts)
        return [{**prompt, "name": name} for name, (_, prompt) in named.items()]

    async def resources(self, seat: Seat) -> list[Json]:
        """The resources."""
        return distinct(await self._gather(seat, RESOURCES), "uri")

    async def templates(self, seat: Seat) -> list[Json]:
        """The patterns of resources."""
        return distinct(await self._gather(seat, TEMPLATES), "uriTemplate")

    async def ask(self, seat: Seat, method: str, params: Json, relay: Relay | None, seconds: float) -> Json | None:
        """The answer to a request about a prompt or a resource by the server it belongs to; None when it is nobody's.

        Where several servers may be meant, each is asked until one has an answer.

        Raises:
            UpstreamError: The server's own error, or that it is not there.
            CassetteError: The recording has no answer.
        """
        crew = self._crew(seat)
        problems: list[UpstreamError | CassetteError] = []
        meta = params.get("_meta")
        for server, asked in await self._addressees(crew, method, params):
            try:
                async with asyncio.timeout(seconds) as clock:
                    patient = Patient(relay, clock) if relay is not None else None
                    return dict(json.loads(await self._ask(crew, server, method, asked, meta, patient)))
            except (UpstreamError, CassetteError) as error:
                problems.append(error)
            except TimeoutError:
                problems.append(UpstreamError(server, f"it gave no answer within {seconds:g} seconds"))
        if problems:
            # That something is unknown is the least that a server can say.
            raise min(problems, key=lambda problem: isinstance(problem, UpstreamError) and problem.code in _UNKNOWN)
        return None

    async def prepare(self, seat: Seat) -> None:
        """Have the lists of a seat as complete as they can be before they are asked for."""
        await self._staff.prepare(seat)

    async def log_level(self, seat: Seat, level: str) -> None:
        """The client wants log messages from this level on: its servers are told, those to come as well."""
        seat.level = level
        for upstream in self._staff.running(self._staff.present(seat)):
            await self._staff.set_level(upstream, level)

    async def roots_changed(self, seat: Seat) -> None:
        """The client has other roots now."""
        crew = self._staff.present(seat)
        for upstream in list(crew.members.values()) if crew is not None and "roots" in crew.capabilities else ():
            await upstream.tell("notifications/roots/list_changed")

    def end(self, key: str) -> None:
        """A run or a seat is over, and with it the servers that worked for it."""
        self._staff.end(key)

    def _listing(self, crew: Crew | None) -> Listing:
        found = self._current.get(crew or self._staff)
        if found is None or found[0] != self._staff.edition:
            found = self._current[crew or self._staff] = self._staff.edition, self._made(crew)
        return found[1]

    def _made(self, crew: Crew | None) -> Listing:
        tools = self._staff.tools(crew)
        for known, listing in self._listings:
            if known == tools:
                return listing
        made = Listing(tools, prefix=self._prefix, reserved=self._reserved, told=self._told)
        self._listings.appendleft((tools, made))
        return made

    def _crew(self, seat: Seat) -> Crew:
        return self._staff.crew(seat, seat.run.id if seat.run is not None else None)

    async def _ask(
        self, crew: Crew, server: str, method: str, params: Json, meta: object, relay: Relay | None
    ) -> bytes:
        """The raw answer of a server, or of the recording that stands for it."""
        crew.used = True
        found = crew.take.answer(server, method, params) if crew.take is not None else None
        if found is None and not self._staff.live:
            assert crew.take is not None
            raise CassetteError(crew.take.missing(_what(server, params), server, method, params))
        if found is None:
            upstream = await self._staff.member(crew, server)
            sent = {**params, "_meta": meta} if isinstance(meta, dict) else params
            try:
                found = await upstream.request(method, sent, relay)
            except UpstreamError as error:
                if error.code is None:
                    raise
                found = _wire(error)
            if crew.take is not None:
                crew.take.keep(server, method, params, found)
            await self._staff.settle(upstream)
        if isinstance(found, bytes):
            return found
        raise UpstreamError(server, found[1], code=found[0], data=found[2] if len(found) == 3 else None)

    async def _gather(self, seat: Seat, method: str) -> list[Owned]:
        """The entries of a list over all servers that have it; a server that fails has none."""
        crew, found = self._crew(seat), []
        for server in self._having(LISTS[method][0]):
            try:
                found += [(server, entry) for entry in await self._staff.entries(crew, server, method)]
            except UpstreamError:
                found += [(server, entry) for entry in self._staff.known(crew, server, method) or ()]
        return found

    async def _known(self, crew: Crew, method: str) -> list[Owned]:
        """The same as far as it was asked for before."""
        if any(self._staff.known(crew, server, method) is None for server in self._having(LISTS[method][0])):
            return await self._gather(crew.seat, method)
        servers = self._having(LISTS[method][0])
        return [(server, entry) for server in servers for entry in self._staff.known(crew, server, method) or ()]

    async def _addressees(self, crew: Crew, method: str, params: Json) -> list[tuple[str, Json]]:
        """Whom to ask, and in which words."""
        asked = {key: value for key, value in params.items() if key != "_meta"}
        having = self._having(_CAPABILITY.get(method, "resources"))
        ref = asked.get("ref") if isinstance(asked.get("ref"), dict) else asked
        assert isinstance(ref, dict)
        if "name" in ref:
            named = named_prompts(await self._known(crew, PROMPTS), self._taken_prompts)
            server, prompt = named.get(str(ref["name"]), (None, {}))
            if server is not None:
                own = {**ref, "name": prompt.get("name")}
                return [(server, {**asked, "ref": own} if ref is not asked else own)] if server in having else []
        elif "uri" in ref:
            known = owners(str(ref["uri"]), await self._known(crew, RESOURCES), await self._known(crew, TEMPLATES))
            if known:
                having = [server for server in known if server in having]
        return [(server, asked) for server in having]

    def _having(self, capability: str) -> list[str]:
        about = self._staff.about
        return [name for name in sorted(about) if capability in about[name].get("capabilities", {})]

    async def _on_change(self, seat: Seat | None, method: str, params: Json) -> None:
        if self.changed is not None:
            await self.changed(seat, method, params)


def _what(server: str, params: Json) -> str:
    """What was asked for, in a word."""
    name = params.get("name") or params.get("uri")
    return f"{server}/{name}" if params.get("name") else str(name or server)


def _wire(error: UpstreamError) -> WireError:
    assert error.code is not None
    return (error.code, error.problem) if error.data is None else (error.code, error.problem, error.data)


def _answered(result: bytes, forwarded: int) -> Answer:
    """An upstream's result; that it failed is all that can be said of one with `isError`."""
    try:
        failed = json.loads(result).get("isError") is True
    except (ValueError, AttributeError):
        text = "The upstream server's answer is not a JSON object."
        return Answer(outcome="failed", owner="upstream", result=error_result(text), forwarded_ns=forwarded)
    return Answer(
        outcome="not_found" if failed else "success",
        result=result,
        forwarded_ns=forwarded,
        returned_ns=time.monotonic_ns(),
    )
