"""All third-party servers of one proxy: what clients see of them, and what is asked of them.

Which one is started for whom, and how long it lives, is in `lifecycle`. With a cassette the lists and answers come from
the recording, and what is not in it goes live or is a miss, as asked.
"""

import json
import time
from collections import deque
from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from types import TracebackType
from typing import TYPE_CHECKING, Self, cast
from weakref import WeakKeyDictionary

import anyio
from anyio.abc import TaskGroup
from pydantic import BaseModel, Field

from m3bench.proxy.logs import tell
from m3bench.proxy.protocol.messages import Json
from m3bench.proxy.protocol.tool_calls import Relay, ToolAnswer, WireError, error_result
from m3bench.proxy.seat import Seat
from m3bench.proxy.upstreams.cassette import Cassette
from m3bench.proxy.upstreams.configuration import UpstreamEntry
from m3bench.proxy.upstreams.lifecycle import (
    ASK_SECONDS,
    LISTS,
    PROMPTS,
    RESOURCES,
    TEMPLATES,
    Changed,
    Lifecycle,
    SeatServers,
)
from m3bench.proxy.upstreams.upstream import Containers, declares
from m3bench.tasks.catalog import SEPARATOR
from m3bench.tasks.eager import Patience
from m3bench.tasks.errors import CassetteError, UpstreamError, plain
from m3bench.tasks.jsonrpc import INVALID_PARAMS, METHOD_NOT_FOUND
from m3bench.tasks.lazy_modules import LazyModule

if TYPE_CHECKING:
    from mcp.shared import uri_template
else:
    uri_template = LazyModule("mcp.shared.uri_template")

Owned = tuple[str, Json]
"""An entry of a list, and the server that it belongs to."""


class ToolDirectory:
    """Tools under the names that clients see: `server__tool`, or their own when asked for without prefix.

    Args:
        tools: The tool lists of the servers.
        prefix: Whether tools are shown with their server's name.
        reserved: Names that no tool may be shown under.
        told: What was left out and said so before; grows.
    """

    def __init__(
        self, tools: Mapping[str, Sequence[Json]], *, prefix: bool, reserved: Collection[str], told: set[str]
    ) -> None:
        self.routes: dict[str, tuple[str, str]] = {}
        """Exposed name to server and tool."""
        self.entries: dict[str, Json] = {}
        """The tools as they go over the wire, by exposed name."""
        for server, tool in [(owner, tool) for owner in sorted(tools) for tool in tools[owner]]:
            name = str(tool.get("name", ""))
            exposed = f"{server}{SEPARATOR}{name}" if prefix else name
            if exposed in reserved or exposed in self.routes:
                text = f"m3bench: the tool {exposed!r} of {server!r} is left out: the name is taken"
                if text not in told:
                    told.add(text)
                    tell(text)
                continue
            self.routes[exposed] = (server, name)
            schema = tool.get("inputSchema")
            # One tool with a schema that is no object would make clients drop the whole list.
            fixed = schema if isinstance(schema, dict) and schema.get("type") == "object" else {"type": "object"}
            self.entries[exposed] = {**tool, "name": exposed, "inputSchema": fixed}

    @property
    def tools(self) -> tuple[Json, ...]:
        """The tools in their order."""
        return tuple(self.entries[name] for name in sorted(self.entries))


def named_prompts(prompts: Iterable[Owned], reserved: Collection[str]) -> dict[str, Owned]:
    """Prompts by the names that clients see: their own, with the server's before it where that one is taken."""
    found: dict[str, Owned] = {}
    for server, prompt in prompts:
        name = str(prompt.get("name", ""))
        shown = name if name not in reserved and name not in found else f"{server}{SEPARATOR}{name}"
        found.setdefault(shown, (server, prompt))
    return found


def distinct(entries: Iterable[Owned], key: str) -> list[Json]:
    """Entries without those whose key an earlier one has."""
    found: dict[object, Json] = {}
    for _, entry in entries:
        found.setdefault(entry.get(key), entry)
    return list(found.values())


def owners(uri: str, resources: Iterable[Owned], templates: Iterable[Owned]) -> list[str]:
    """The servers that a URI belongs to: the one that lists it, else those with a template for it; may be none."""
    for server, resource in resources:
        if resource.get("uri") == uri:
            return [server]
    fitting = [server for server, template in templates if _fits(str(template.get("uriTemplate", "")), uri)]
    return list(dict.fromkeys(fitting))


def _fits(template: str, uri: str) -> bool:
    try:
        return template == uri or uri_template.UriTemplate.parse(template).match(uri) is not None
    except ValueError:
        return False


DIRECTORIES = 8
"""Directories of tools kept at a time; each seat may have its own."""

LARGE_BYTES = 256 * 1024
"""A result from which on it matters how fast it is read."""

_UNKNOWN = frozenset({INVALID_PARAMS, METHOD_NOT_FOUND, -32002})
"""Errors by which a server says that something is not its own, among others."""

_CAPABILITY = {"prompts/get": "prompts", "completion/complete": "completions"}
"""What a server must declare to be asked; resources for all other methods."""


class UpstreamServers:
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
        entries: Mapping[str, UpstreamEntry],
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
        self._directories: deque[tuple[dict[str, list[Json]], ToolDirectory]] = deque(maxlen=DIRECTORIES)
        """Made lately, with what they were made of: most seats have the same."""
        self._current: WeakKeyDictionary[SeatServers | Lifecycle, tuple[int, ToolDirectory]] = WeakKeyDictionary()
        """For the servers of each run and seat, and for everybody else; with the edition of the lists that made it."""
        self._latest: tuple[SeatServers | None, int, ToolDirectory] | None = None
        """Which was asked for last: one call asks for it several times."""
        self._lifecycle = Lifecycle(entries, cassette, containers, self._on_change)
        self._tasks: TaskGroup | None = None

    async def __aenter__(self) -> Self:
        if self._cassette is not None:
            self._cassette.open()
        self._tasks = await anyio.create_task_group().__aenter__()
        await self._lifecycle.start(self._tasks)
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
        return {name: self._lifecycle.about.get(name, {}).get("serverInfo", {}) for name in sorted(self.names)}

    def tools(self, seat: Seat | None = None) -> tuple[Json, ...]:
        """The tools of a seat as they go over the wire."""
        return self._directory(self._lifecycle.current(seat) if seat is not None else None).tools

    def owns(self, seat: Seat, name: str) -> bool:
        """Whether an exposed name is answered by a third-party server."""
        return name in self._directory(self._lifecycle.current(seat)).routes

    def qualified(self, seat: Seat, name: str) -> str:
        """The canonical name of an exposed one."""
        return "/".join(self._directory(self._lifecycle.current(seat)).routes[name])

    def schema(self, name: str) -> Mapping[str, object] | None:
        """The input schema of a tool by its exposed name; None when it is not theirs."""
        for servers in (None, *self._lifecycle.per_seat()):
            tool = self._directory(servers).entries.get(name)
            if tool is not None:
                schema = tool["inputSchema"]
                assert isinstance(schema, dict)
                return schema
        return None

    async def call(
        self, seat: Seat, run: str | None, name: str, params: Mapping[str, object], relay: Relay | None, seconds: float
    ) -> ToolAnswer:
        """Forward a call."""
        servers = self._lifecycle.claim(seat, run)
        server, tool = self._directory(servers).routes[name]
        asked = {"name": tool, "arguments": params.get("arguments") or {}}
        forwarded = time.monotonic_ns()
        try:
            async with Patience(seconds) as clock:
                patient = _PatientRelay(relay, clock) if relay is not None else None
                found = await self._ask(servers, server, "tools/call", asked, params.get("_meta"), patient)
            return _answered(found, forwarded)
        except TimeoutError:
            text = f"{server}/{tool} gave no answer within {seconds:g} seconds."
            return ToolAnswer(outcome="failed", owner="upstream", result=error_result(text), forwarded_ns=forwarded)
        except CassetteError as error:
            return ToolAnswer(
                outcome="failed", owner="cassette", result=error_result(str(error)), forwarded_ns=forwarded
            )
        except UpstreamError as error:
            if error.code is not None:
                returned = time.monotonic_ns()
                return ToolAnswer(outcome="not_found", error=_wire(error), forwarded_ns=forwarded, returned_ns=returned)
            return ToolAnswer(
                outcome="failed", owner="upstream", result=error_result(plain(error)), forwarded_ns=forwarded
            )

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
        servers = self._claim(seat)
        problems: list[UpstreamError | CassetteError] = []
        meta = params.get("_meta")
        for server, asked in await self._addressees(servers, method, params):
            try:
                async with Patience(seconds) as clock:
                    patient = _PatientRelay(relay, clock) if relay is not None else None
                    return dict(json.loads(await self._ask(servers, server, method, asked, meta, patient)))
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
        await self._lifecycle.prepare(seat)

    async def log_level(self, seat: Seat, level: str) -> None:
        """The client wants log messages from this level on: its servers are told, those to come as well."""
        seat.level = level
        for upstream in self._lifecycle.running(self._lifecycle.current(seat)):
            await self._lifecycle.set_level(upstream, level)

    async def roots_changed(self, seat: Seat) -> None:
        """The client has other roots now."""
        servers = self._lifecycle.current(seat)
        if servers is None or "roots" not in servers.capabilities:
            return
        for upstream in list(servers.started.values()):
            await upstream.tell("notifications/roots/list_changed")

    def stop(self, key: str) -> None:
        """A run or a seat is over: stop the servers that were started for it."""
        self._lifecycle.stop(key)

    def _directory(self, servers: SeatServers | None) -> ToolDirectory:
        latest, edition = self._latest, self._lifecycle.edition
        if latest is not None and latest[0] is servers and latest[1] == edition:
            return latest[2]
        found = self._current.get(servers or self._lifecycle)
        if found is None or found[0] != edition:
            found = self._current[servers or self._lifecycle] = edition, self._made(servers)
        self._latest = servers, edition, found[1]
        return found[1]

    def _made(self, servers: SeatServers | None) -> ToolDirectory:
        tools = self._lifecycle.tools(servers)
        for known, directory in self._directories:
            if known == tools:
                return directory
        made = ToolDirectory(tools, prefix=self._prefix, reserved=self._reserved, told=self._told)
        self._directories.appendleft((tools, made))
        return made

    def _claim(self, seat: Seat) -> SeatServers:
        return self._lifecycle.claim(seat, seat.run.id if seat.run is not None else None)

    async def _ask(
        self, servers: SeatServers, server: str, method: str, params: Json, meta: object, relay: Relay | None
    ) -> bytes:
        """The raw answer of a server, or of the recording that stands for it."""
        servers.used = True
        found = servers.take.answer(server, method, params) if servers.take is not None else None
        if found is None and not self._lifecycle.live:
            assert servers.take is not None
            raise CassetteError(servers.take.missing(_what(server, params), server, method, params))
        if found is None:
            upstream = await self._lifecycle.server(servers, server)
            sent = {**params, "_meta": meta} if isinstance(meta, dict) else params
            try:
                found = await upstream.request(method, sent, relay)
            except UpstreamError as error:
                if error.code is None:
                    raise
                found = _wire(error)
            if servers.take is not None:
                servers.take.keep(server, method, params, found)
            await self._lifecycle.settle(upstream)
        if isinstance(found, bytes):
            return found
        raise UpstreamError(server, found[1], code=found[0], data=found[2] if len(found) == 3 else None)

    async def _gather(self, seat: Seat, method: str) -> list[Owned]:
        """The entries of a list over all servers that have it; a server that fails has none."""
        servers, found = self._claim(seat), []
        for server in self._having(LISTS[method][0]):
            try:
                found += [(server, entry) for entry in await self._lifecycle.entries(servers, server, method)]
            except UpstreamError:
                found += [(server, entry) for entry in self._lifecycle.known(servers, server, method) or ()]
        return found

    async def _known(self, servers: SeatServers, method: str) -> list[Owned]:
        """The same as far as it was asked for before."""
        known = {server: self._lifecycle.known(servers, server, method) for server in self._having(LISTS[method][0])}
        if None in known.values():
            return await self._gather(servers.seat, method)
        return [(server, entry) for server, entries in known.items() for entry in entries or ()]

    async def _addressees(self, servers: SeatServers, method: str, params: Json) -> list[tuple[str, Json]]:
        """Whom to ask, and in which words."""
        asked = {key: value for key, value in params.items() if key != "_meta"}
        having = self._having(_CAPABILITY.get(method, "resources"))
        ref = asked.get("ref") if isinstance(asked.get("ref"), dict) else asked
        assert isinstance(ref, dict)
        if "name" in ref:
            named = named_prompts(await self._known(servers, PROMPTS), self._taken_prompts)
            server, prompt = named.get(str(ref["name"]), (None, {}))
            if server is not None:
                own = {**ref, "name": prompt.get("name")}
                return [(server, {**asked, "ref": own} if ref is not asked else own)] if server in having else []
        elif "uri" in ref:
            known = owners(
                str(ref["uri"]), await self._known(servers, RESOURCES), await self._known(servers, TEMPLATES)
            )
            if known:
                having = [server for server in known if server in having]
        return [(server, asked) for server in having]

    def _having(self, capability: str) -> list[str]:
        """The servers that declare a capability."""
        return [name for name, about in sorted(self._lifecycle.about.items()) if declares(about, capability)]

    async def _on_change(self, seat: Seat | None, method: str, params: Json) -> None:
        if self.changed is not None:
            await self.changed(seat, method, params)


class _PatientRelay:
    """A relay that stops the clock of a call while the client is asked something.

    Args:
        relay: The relay.
        clock: What ends the call when it takes too long.
    """

    def __init__(self, relay: Relay, clock: Patience) -> None:
        self._relay = relay
        self._clock = clock

    async def notify(self, method: str, params: Mapping[str, object]) -> None:
        await self._relay.notify(method, params)

    async def request(self, method: str, params: Mapping[str, object]) -> Json:
        begun = time.monotonic()
        self._clock.put_off(ASK_SECONDS)
        try:
            return await self._relay.request(method, params)
        finally:
            self._clock.put_off(time.monotonic() - begun - ASK_SECONDS)


def _what(server: str, params: Json) -> str:
    """What was asked for, in a word."""
    name = params.get("name") or params.get("uri")
    return f"{server}/{name}" if params.get("name") else str(name or server)


def _wire(error: UpstreamError) -> WireError:
    assert error.code is not None
    return (error.code, error.problem) if error.data is None else (error.code, error.problem, error.data)


class _Result(BaseModel):
    """What of a large result must be known; the rest is looked over and not taken out."""

    is_error: object = Field(default=None, alias="isError")


def _has_failed(result: bytes) -> bool:
    """Whether a result says so; a large one is read by a faster reader, which takes less than Python's does."""
    if len(result) > LARGE_BYTES:
        with suppress(ValueError):
            return _Result.model_validate_json(result).is_error is True
    return cast("Json", json.loads(result)).get("isError") is True


def _answered(result: bytes, forwarded: int) -> ToolAnswer:
    """An upstream's result; that it failed is all that can be said of one with `isError`."""
    try:
        failed = _has_failed(result)
    except (ValueError, AttributeError):
        text = "The upstream server's answer is not a JSON object."
        return ToolAnswer(outcome="failed", owner="upstream", result=error_result(text), forwarded_ns=forwarded)
    return ToolAnswer(
        outcome="not_found" if failed else "success",
        result=result,
        forwarded_ns=forwarded,
        returned_ns=time.monotonic_ns(),
    )
