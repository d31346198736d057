"""All upstream servers of one proxy: their names, tools, prompts and resources.

Tools are shown as `server__tool`, or under their own names when asked for without prefix. A server that does
not start is left out and said so; the others work. With a cassette the lists and answers come from the
recording, and what is not in it goes live or is a miss, as asked.
"""

import json
import logging
import sys
import time
from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from types import TracebackType
from typing import Any, Self

import anyio
from anyio.abc import TaskGroup

from m3bench.proxy.call import Answer, Relay, WireError, error_result
from m3bench.proxy.cassette import Cassette
from m3bench.proxy.upstream import Containers, Entry, Upstream, capabilities, make_upstream
from m3bench.tasks.catalog import SEPARATOR
from m3bench.tasks.errors import UpstreamError

STARTS = 4
"""Servers being started at the same time."""

logger = logging.getLogger(__name__)


class Fleet:
    """The upstream servers.

    Args:
        entries: What to start, by name.
        prefix: Whether tools are shown with their server's name.
        cassette: Records answers, or gives recorded ones.
        reserved: Names that no tool may be shown under.
        containers: Runs those that are images.
    """

    def __init__(
        self,
        entries: Mapping[str, Entry],
        *,
        prefix: bool = True,
        cassette: Cassette | None = None,
        reserved: Collection[str] = (),
        containers: Containers | None = None,
    ) -> None:
        self._reserved = frozenset(reserved)
        self._prefix = prefix
        self._cassette = cassette
        self._upstreams = {name: make_upstream(name, entry, containers) for name, entry in entries.items()}
        self._routes: dict[str, tuple[str, str]] = {}
        """Exposed name to server and tool."""
        self._tools: dict[str, dict[str, Any]] = {}
        """The tools as they go over the wire, by exposed name."""
        self._tasks: TaskGroup | None = None

    @property
    def names(self) -> frozenset[str]:
        """The servers, which take the place of bundled ones of the same name."""
        recorded = self._cassette.servers if self._cassette is not None else ()
        return frozenset([*self._upstreams, *recorded])

    @property
    def tools(self) -> tuple[dict[str, Any], ...]:
        """The tools as they go over the wire."""
        return tuple(self._tools[name] for name in sorted(self._tools))

    async def __aenter__(self) -> Self:
        self._tasks = await anyio.create_task_group().__aenter__()
        if self._cassette is not None and self._cassette.replaying:
            listed = {name: self._cassette.tools(name) for name in self._cassette.servers}
        else:
            listed = await self._start()
        for name in sorted(listed):
            self._list(name, listed[name])
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
                self._cassette.save()

    def owns(self, name: str) -> bool:
        """Whether an exposed name is answered upstream."""
        return name in self._routes

    def qualified(self, name: str) -> str:
        """The canonical name of an exposed one."""
        return "/".join(self._routes[name])

    @property
    def versions(self) -> dict[str, Any]:
        """What each server says of itself, for the manifest."""
        return {name: upstream.info.get("serverInfo", {}) for name, upstream in sorted(self._upstreams.items())}

    def schema(self, name: str) -> Mapping[str, Any] | None:
        """The input schema of a tool by its exposed name; None when it is not theirs."""
        tool = self._tools.get(name)
        return tool["inputSchema"] if tool is not None else None

    async def call(self, name: str, params: Mapping[str, Any], relay: Relay | None, seconds: float) -> Answer:
        """Forward a call."""
        server, tool = self._routes[name]
        forwarded = time.monotonic_ns()
        arguments = params.get("arguments") or {}
        recorded = self._cassette.answer(server, tool, arguments) if self._cassette is not None else None
        if recorded is not None:
            return _answered(recorded, forwarded)
        if self._cassette is not None and self._cassette.replaying and not self._cassette.live:
            text = f"The cassette has no answer to {server}/{tool} with these arguments."
            return Answer(outcome="failed", owner="cassette", result=error_result(text), forwarded_ns=forwarded)
        try:
            with anyio.fail_after(seconds):
                upstream = self._upstreams.get(server)
                if upstream is None:
                    raise UpstreamError(server, "it is not configured")
                await self._open(upstream)
                result = await upstream.call({**params, "name": tool}, relay)
            answer = _answered(result, forwarded)
        except UpstreamError as error:
            if error.code is not None:
                given: WireError = (error.code, error.problem)
                if error.data is not None:
                    given = (*given, error.data)
                return Answer(outcome="not_found", error=given, forwarded_ns=forwarded, returned_ns=time.monotonic_ns())
            return Answer(outcome="failed", owner="upstream", result=error_result(str(error)), forwarded_ns=forwarded)
        except TimeoutError:
            text = f"{server}/{tool} gave no answer within {seconds:g} seconds."
            return Answer(outcome="failed", owner="upstream", result=error_result(text), forwarded_ns=forwarded)
        if self._cassette is not None:
            self._cassette.keep(server, tool, arguments, result)
        return answer

    async def gather(self, capability: str, method: str, key: str) -> list[dict[str, Any]]:
        """The entries of a list method over all servers that have the capability."""
        found = []
        for upstream in self._having(capability):
            try:
                await self._open(upstream)
                found += await upstream.pages(method, key)
            except UpstreamError as error:
                logger.warning("%s", error)
        return found

    async def ask(self, capability: str, method: str, params: Mapping[str, Any]) -> dict[str, Any] | None:
        """The first answer that is not an error, over all servers that have the capability."""
        for upstream in self._having(capability):
            try:
                await self._open(upstream)
                return await upstream.request(method, params)
            except UpstreamError:
                continue
        return None

    async def tell(self, capability: str, method: str, params: Mapping[str, Any]) -> None:
        """Make a request of all servers that have the capability, whatever they answer."""
        for upstream in self._having(capability):
            with suppress(UpstreamError):
                await self._open(upstream)
                await upstream.request(method, params)

    async def _start(self) -> dict[str, list[dict[str, Any]]]:
        """Start the servers; the tools of each that did start."""
        slots = anyio.Semaphore(STARTS)
        listed: dict[str, list[dict[str, Any]]] = {}

        async def start(upstream: Upstream) -> None:
            async with slots:
                try:
                    await self._open(upstream)
                    listed[upstream.name] = await upstream.pages("tools/list", "tools")
                except UpstreamError as error:
                    print(f"m3bench: {error}", file=sys.stderr, flush=True)

        async with anyio.create_task_group() as starts:
            for upstream in self._upstreams.values():
                starts.start_soon(start, upstream)
        return listed

    def _having(self, capability: str) -> list[Upstream]:
        return capabilities(list(self._upstreams.values()), capability)

    async def _open(self, upstream: Upstream) -> None:
        assert self._tasks is not None
        await upstream.open(self._tasks)
        if self._cassette is not None:
            self._cassette.note_server(upstream.name, upstream.info.get("serverInfo", {}))

    def _list(self, server: str, tools: Sequence[dict[str, Any]]) -> None:
        for tool in tools:
            exposed = f"{server}{SEPARATOR}{tool['name']}" if self._prefix else str(tool["name"])
            if exposed in self._reserved or exposed in self._routes:
                print(f"m3bench: the tool {exposed!r} of {server!r} is left out: the name is taken", file=sys.stderr)
                continue
            self._routes[exposed] = (server, str(tool["name"]))
            schema = tool.get("inputSchema")
            # One tool with a schema that is no object would make clients drop the whole list.
            fixed = schema if isinstance(schema, dict) and schema.get("type") == "object" else {"type": "object"}
            self._tools[exposed] = {**tool, "name": exposed, "inputSchema": fixed}
        if self._cassette is not None and not self._cassette.replaying:
            self._cassette.note_tools(server, tools)


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
