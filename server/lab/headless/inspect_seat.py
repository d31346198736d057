"""The seat of one sample: a benchmark server of its own over stdio, with one task running on it.

The harness starts the task, hands in the answer and asks for the score card on the same connection that carries the
model's calls; the model sees none of that. What breaks here is nobody's score: it raises `SandboxError`.
"""

import os
import sys
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryFile
from typing import Any, TextIO

import anyio
from mcp import Client
from mcp.client.stdio import StdioServerParameters, get_default_environment, stdio_client
from mcp.shared.exceptions import MCPError
from mcp_types import (
    CallToolRequest,
    CallToolRequestParams,
    CallToolResult,
    ImageContent,
    Implementation,
    TextContent,
    Tool,
)
from mcp_types.version import MODERN_PROTOCOL_VERSIONS

from m3bench.proxy.steps.announced import CALLS
from m3bench.proxy.steps.hints import HINT
from m3bench.server.lab.headless.forked_servers import launcher
from m3bench.server.scorecard.migration import read_card
from m3bench.server.scorecard.model import ScoreCard
from m3bench.server.scorecard.pages.app_view import CARD
from m3bench.server.settings import MAX_CALLS, MAX_MINUTES
from m3bench.server.store.records import RUN_TOOLS
from m3bench.tasks.errors import SandboxError, first_cause
from m3bench.tasks.jsonrpc import INVALID_PARAMS

REVISION = MODERN_PROTOCOL_VERSIONS[-1]
"""The revision to speak. A server that is asked which ones it knows has a time limit: a busy machine would decide."""

AS_SENT = "m3bench/arguments"
"""Where a request's `_meta` has the arguments as the model wrote them, before anybody parsed them."""

REPLY_SECONDS = 180.0
"""The server answers every call sooner than this; after it, the server is taken to be gone."""

_PASSED_ON = ("M3BENCH_", "DOCKER_", "XDG_", "PYTHON", "TMP", "TEMP", "LANG", "LC_", "SSL_CERT")
"""Beginnings of the variables the server gets; it must not get a provider's key."""

_BROKEN = (MCPError, OSError, anyio.BrokenResourceError, anyio.ClosedResourceError)


@dataclass(frozen=True, kw_only=True)
class SeatOptions:
    """How the servers of samples are started."""

    data: Path
    tasks: Path | None = None
    """A folder with a set of tasks; the bundled set when left out."""
    sandbox: str = "process"
    runtime: str | None = None
    encoder: str = "minilm"
    max_calls: int = MAX_CALLS
    max_minutes: float = MAX_MINUTES
    weather: str = "fair"

    def command(self, profile: str) -> list[str]:
        """The command line of a server."""
        options: dict[str, object] = {
            "data": self.data,
            "profile": profile,
            "sandbox": self.sandbox,
            "max-calls": self.max_calls,
            "max-minutes": self.max_minutes,
            "tasks": self.tasks,
            "runtime": self.runtime,
            "encoder": self.encoder,
            "weather": self.weather if self.weather != "fair" else None,
        }
        given = [part for name, value in options.items() if value is not None for part in (f"--{name}", str(value))]
        return [sys.executable, "-m", "m3bench.server.cli", "serve", *given]


@dataclass(kw_only=True)
class SampleSeat:
    """A seat with a run under way."""

    client: Client
    run: str
    """The run's handle."""
    pictures: tuple[ImageContent, ...]
    """The pictures of its task, with its mark."""
    tools: tuple[Tool, ...]
    """What the profile shows, without the benchmark's own tools."""
    step: int = field(default=0, init=False)
    """The turn of the model that calls belong to."""
    calls: int = field(default=0, init=False)
    """How many calls it has."""

    def turn(self, calls: int) -> None:
        """A turn of the model begins, with so many calls; they are to be made together."""
        self.step += 1
        self.calls = calls

    async def call(self, tool: str, arguments: object, text: str | None = None) -> CallToolResult:
        """Make a call.

        The arguments go out as they are, even when they are no object: the record shows what the model sent. A
        request that the server refuses as such comes back as a result with `is_error`.

        Args:
            tool: The tool's name as the model gave it.
            arguments: What is sent.
            text: The arguments letter by letter as the model's provider gave them, for the record.
        """
        try:
            said = {AS_SENT: text} if text is not None else {}
            return await _request(self.client, tool, arguments, {HINT: self.step, CALLS: self.calls, **said})
        except MCPError as error:
            if error.error.code != INVALID_PARAMS:
                raise SandboxError(f"The benchmark server failed: {error.error.message}") from error
            return CallToolResult(content=[TextContent(type="text", text=error.error.message)], is_error=True)

    async def submit(self, answer: str) -> None:
        """Hand in the answer, whose fields the server reads in its prose; when some are missing, as it is."""
        if (await _request(self.client, "submit", {"answer": answer}, None)).is_error:
            await _own(self.client, "submit", {"answer": answer})

    async def score(self) -> ScoreCard:
        """The score card of the run."""
        found = (await _own(self.client, "score", {})).meta or {}
        if CARD not in found:
            raise SandboxError("The benchmark server gave no score card.")
        return read_card(found[CARD])


@asynccontextmanager
async def open_seat(seating: SeatOptions, task: str, profile: str, client: Implementation) -> AsyncIterator[SampleSeat]:
    """Start a server and a task on it; both end with the context.

    Raises:
        SandboxError: The server does not start, or goes away, or the task does not start.
    """
    command, *arguments = launcher(seating.command(profile))
    environment = server_environment()
    parameters = StdioServerParameters(command=command, args=arguments, env=environment)
    with TemporaryFile("w+", encoding="utf-8", errors="replace") as log:
        inside: Exception | None = None
        try:
            async with Client(stdio_client(parameters, errlog=log), client_info=client, mode=REVISION) as connection:
                opening = await _done(connection, "start_task", {"task_id": task})
                listed = (await connection.list_tools()).tools
                seat = SampleSeat(
                    client=connection,
                    run=str((opening.meta or {})["m3bench/task"]["run"]),
                    pictures=tuple(block for block in opening.content if isinstance(block, ImageContent)),
                    tools=tuple(tool for tool in listed if tool.name not in RUN_TOOLS),
                )
                try:
                    yield seat
                except Exception as error:
                    inside = error
                    raise
        except Exception as error:
            # The task groups of a client wrap what is raised inside them.
            cause = inside or first_cause(error)
            if inside is None and isinstance(cause, _BROKEN):
                raise SandboxError(_why(log, cause)) from error
            raise cause from None


def server_environment() -> dict[str, str]:
    """The variables that the server of a sample gets."""
    passed_on = {name: value for name, value in os.environ.items() if name.startswith(_PASSED_ON)}
    return get_default_environment() | passed_on


class _AnyParams(CallToolRequestParams):
    """The parameters of a call whose arguments may be anything."""

    arguments: Any = None


class _AnyRequest(CallToolRequest):
    params: _AnyParams


async def _own(client: Client, tool: str, arguments: Mapping[str, object]) -> CallToolResult:
    """Call one of the benchmark's own tools, which do not fail in normal operation."""
    try:
        return await _done(client, tool, arguments)
    except MCPError as error:
        raise SandboxError(f"{tool} failed: {error.error.message}") from error


async def _done(client: Client, tool: str, arguments: Mapping[str, object]) -> CallToolResult:
    """The same; a server that is gone is left to whoever can read what it said last."""
    result = await _request(client, tool, arguments, None)
    if result.is_error:
        raise SandboxError(f"{tool} failed: {text_of(result)}")
    return result


async def _request(client: Client, tool: str, arguments: object, meta: Mapping[str, object] | None) -> CallToolResult:
    # Past the SDK's own call_tool, which would check the results of tools and refuse arguments that are no object.
    request = _AnyRequest.model_validate({"params": {"name": tool, "arguments": arguments, "_meta": meta}})
    return await client.session.send_request(request, CallToolResult, request_read_timeout_seconds=REPLY_SECONDS)


def text_of(result: CallToolResult) -> str:
    """The texts of a result, one below the other."""
    return "\n".join(block.text for block in result.content if isinstance(block, TextContent))


def _why(log: TextIO, error: BaseException) -> str:
    """What a server said last before it went."""
    log.seek(0)
    said = [line.strip() for line in log if line.strip()]
    return f"The benchmark server of the sample is gone: {said[-1] if said else error}"
