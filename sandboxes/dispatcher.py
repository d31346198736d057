"""Carries out one call inside a sandbox: find the tool, check the arguments, run it, render the answer.

The host serves a dispatcher over stdio, the in-process backend calls it directly: both give the same bytes.
A server's code is imported on its first call. Whatever a tool raises on purpose becomes a result. An unknown tool is an
exception, and so is all that is not the client's doing: a server that cannot be loaded, a tool that crashes.
"""

import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial

import anyio
import anyio.to_thread

from m3bench.sandboxes.content import Block, CallToolResult, blocks, result, with_gap_sentence
from m3bench.sandboxes.context import Context
from m3bench.sandboxes.servers import load
from m3bench.sandboxes.toolserver import ToolServer
from m3bench.sandboxes.wire import dump
from m3bench.sandboxes.workspace import MOUNT
from m3bench.tasks.catalog import Catalog, Tool
from m3bench.tasks.errors import InvalidArgumentsError, SandboxError, SoftError, ToolError
from m3bench.tasks.fault import crash
from m3bench.tasks.outcome import Reply, ToolOutcome

MAX_ARGUMENT_BYTES = 16 * 1024 * 1024
MAX_TOOL_BYTES = 64 * 1024 * 1024
MAX_QUERY_CHARACTERS = 2000
"""How long a name, an address or a search may be; services that are asked refuse longer ones too."""
MAX_LINE_CHARACTERS = 32_000
"""How long the text of a line on a map may be."""
_LINES = frozenset(("path", "points", "locations", "markers"))
_BOUNDED = frozenset(("amazon", "excel", "food_nutrition_mcp", "ppt"))
"""Servers that have bounds of their own."""
_FILES = frozenset(("desk", "dinox-mcp", "imagesorcery-mcp", "ocr", "probe", "pyzbar-mcp", "recordings", "studio"))
"""Servers that work on files or on nothing: a text is not looked up, and is as long as it likes."""
MAX_NAMED = 10
"""Undeclared arguments that are named in an answer."""

NOT_AN_OBJECT = "arguments must be an object"

logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class ToolResult:
    """What a call came to, before it is bytes. The outcome travels beside the result, never inside it."""

    outcome: ToolOutcome
    result: CallToolResult

    def render(self) -> Reply:
        """The reply with the result as bytes; one that is far too large is replaced by an error."""
        data = dump(self.result)
        if len(data) <= MAX_TOOL_BYTES:
            return Reply(self.outcome, data)
        text = f"The result has {len(data)} bytes, more than the {MAX_TOOL_BYTES} allowed: ask for less"
        return Reply("invalid_arguments", dump(result(text, is_error=True)))


def refusal(tool: str, problem: str) -> ToolResult:
    """The answer to arguments that cannot even be checked."""
    return ToolResult("invalid_arguments", result(str(InvalidArgumentsError(tool, [problem])), is_error=True))


def oversized(size: int) -> str:
    """The problem with arguments of more than `MAX_ARGUMENT_BYTES`."""
    return f"arguments have {size} bytes (expected at most {MAX_ARGUMENT_BYTES})"


class Dispatcher:
    """The tools of one sandbox.

    Args:
        catalog: The servers this sandbox offers.
        context: What the tools work on.
        loader: Finds a server's code by name.
    """

    def __init__(self, catalog: Catalog, context: Context, loader: Callable[[str], ToolServer] = load) -> None:
        self.catalog = catalog
        self._context = context
        self._loader = loader
        self._turns: dict[str, anyio.CapacityLimiter] = {}

    async def call(self, name: str, arguments: Mapping[str, object]) -> ToolResult:
        """Run a tool.

        Raises:
            UnknownToolError: There is no tool of that name.
            SandboxError: Its server cannot be loaded here, or the machine ran out of something.
            ToolCrashError: It broke.
        """
        tool = self.catalog.tool(name)
        try:
            arguments = tool.read(arguments).arguments
            _check_length(tool, arguments)
        except InvalidArgumentsError as error:
            return ToolResult("invalid_arguments", result(str(error), is_error=True))
        try:
            server = self._loader(tool.server)
        except Exception as error:
            logger.exception("Server %s cannot be loaded", tool.server)
            raise SandboxError(f"Server {tool.server!r} cannot be loaded: {type(error).__name__}: {error}.") from error
        found = await self._answer(server, tool, arguments)
        found.result["content"] += _ignored(tool, arguments)
        return found

    async def _answer(self, server: ToolServer, tool: Tool, arguments: Mapping[str, object]) -> ToolResult:
        try:
            value = await self._run(server, tool, arguments)
            return ToolResult("success", {"content": blocks(value, server.layout), "isError": False})
        except SandboxError:
            raise
        except SoftError as error:
            return _failed(error, result(error.payload, server.layout))
        except ToolError as error:
            return _failed(error, result(_error_text(server, tool, str(error)), is_error=True))
        except (MemoryError, RecursionError) as error:
            text = _error_text(server, tool, f"the input is too large to work on ({type(error).__name__})")
            return ToolResult("invalid_arguments", result(text, is_error=True))
        except Exception as error:
            logger.exception("%s failed", tool.qualified)
            # What a library says may name real places.
            message = f"{type(error).__name__}: {error}".replace(str(self._context.workspace.root), MOUNT)
            raise crash(tool.qualified, error, message) from error

    async def _run(self, server: ToolServer, tool: Tool, arguments: Mapping[str, object]) -> object:
        handler = server.handler(tool.name)
        declared = tool.input_schema.get("properties", {})
        values = {name: value for name, value in tool.filled(arguments).items() if name in declared}
        if handler.wants_context:
            values["context"] = self._context
        if handler.is_async:
            return await handler.function(**values)
        turn = self._turns.setdefault(server.name, anyio.CapacityLimiter(1))
        return await anyio.to_thread.run_sync(partial(handler.function, **values), limiter=turn)


def _check_length(tool: Tool, arguments: Mapping[str, object]) -> None:
    """Raise `InvalidArgumentsError` when a text is too long to be looked up in little time."""
    if tool.server in _BOUNDED | _FILES:
        return
    for name, value in arguments.items():
        most = MAX_LINE_CHARACTERS if name in _LINES else MAX_QUERY_CHARACTERS
        longest = max(
            (len(text) for text in (value if isinstance(value, list) else [value]) if isinstance(text, str)), default=0
        )
        if longest > most:
            problem = f"{name!r} has {longest} characters (expected at most {most})"
            raise InvalidArgumentsError(tool.qualified, [problem])


def _ignored(tool: Tool, arguments: Mapping[str, object]) -> list[Block]:
    """A sentence that names the arguments which the tool does not have, if there are any."""
    known = {*tool.input_schema.get("properties", {}), *(path.partition(".")[0] for path in tool.elsewhere.values())}
    names = [str(name)[:MAX_QUERY_CHARACTERS] for name in arguments if name not in known]
    if not names:
        return []
    more = f" and {len(names) - MAX_NAMED} more" if len(names) > MAX_NAMED else ""
    told = ", ".join(map(repr, names[:MAX_NAMED])) + more
    has = ", ".join(tool.input_schema.get("properties", {})) or "none"
    return [{"type": "text", "text": f"Ignored: {tool.name} has no argument {told}. Its arguments: {has}."}]


def _failed(error: ToolError, answer: CallToolResult) -> ToolResult:
    """The result of a failure; one that is a gap of the world ends with the sentence that says so."""
    if error.outcome in ("gap", "empty"):
        answer["content"] = with_gap_sentence(answer["content"])
    return ToolResult(error.outcome, answer)


def _error_text(server: ToolServer, tool: Tool, message: str) -> str:
    return server.error.format(tool=tool.name, message=message)
