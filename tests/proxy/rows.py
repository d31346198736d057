"""What a proxy can lose of a server's protocol, row by row, measured with a client that can do everything.

    python -m tests.proxy.rows COMMAND…      a proxy over stdio that fronts tests/proxy/far_server.py
    python -m tests.proxy.rows URL           one that listens

prints which rows hold. What docs/proxy.md says of m3bench is a test.
"""

import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import anyio
import mcp_types as types
from mcp import Client
from mcp.client.stdio import StdioServerParameters, stdio_client
from mcp.shared.exceptions import MCPError

from m3bench.tasks.errors import first_cause
from tests.waiting import until

ROW_SECONDS = 20.0

Check = Callable[[Client, "Able"], Awaitable[bool]]

ROWS: dict[str, Check] = {}


class Able:
    """A client that can be asked for everything, and notes what it hears."""

    def __init__(self, root: str = "file:///home/ada") -> None:
        self.root = root
        self.heard: list[str] = []
        self.logged: list[Any] = []

    async def sample(self, context: Any, params: types.CreateMessageRequestParams) -> types.CreateMessageResult:
        content = types.TextContent(text=f"at most {params.max_tokens}")
        return types.CreateMessageResult(role="assistant", model="m", content=content)

    async def elicit(self, context: Any, params: types.ElicitRequestParams) -> types.ElicitResult:
        return types.ElicitResult(action="accept", content={"name": "Ada"})

    async def roots(self, context: Any) -> types.ListRootsResult:
        return types.ListRootsResult(roots=[types.Root.model_validate({"uri": self.root, "name": "home"})])

    async def message(self, message: Any) -> None:
        self.heard.append(type(message).__name__)

    async def log(self, params: types.LoggingMessageNotificationParams) -> None:
        self.logged.append(params.data)

    @asynccontextmanager
    async def connected(self, to: Any, mode: str = "legacy") -> AsyncIterator[Client]:
        """A client of a transport or an address."""
        with anyio.fail_after(120):
            async with Client(
                to, mode=mode, sampling_callback=self.sample, elicitation_callback=self.elicit,
                list_roots_callback=self.roots, message_handler=self.message, logging_callback=self.log,
            ) as client:  # fmt: skip
                yield client


async def say(client: Client, tool: str, /, **arguments: Any) -> str:
    """The text of a call's answer."""
    result = await client.call_tool(tool, arguments)
    return str(result.content[0].text)


def row(name: str) -> Callable[[Check], Check]:
    """Puts a check among the rows."""

    def add(check: Check) -> Check:
        ROWS[name] = check
        return check

    return add


async def _error(ask: Awaitable[object]) -> tuple[int, str, object] | None:
    try:
        await ask
    except MCPError as error:
        return error.code, error.message, error.data
    return None


@row("error of a tool call: code, message, data")
async def tool_errors(client: Client, able: Able) -> bool:
    return await _error(client.call_tool("refuse", {})) == (-5, "not today", {"when": "tomorrow"})


@row("error of a prompt: code, message, data")
async def prompt_errors(client: Client, able: Able) -> bool:
    return await _error(client.get_prompt("greet", {})) == (-32602, "greet whom?", {"missing": ["who"]})


@row("error of a resource: code, message, data")
async def resource_errors(client: Client, able: Able) -> bool:
    return await _error(client.read_resource("far://none/size")) == (-7, "it has no size", "far://none/size")


@row("prompts and resources")
async def prompts_and_resources(client: Client, able: Able) -> bool:
    prompt = await client.get_prompt("greet", {"who": "you"})
    read = await client.read_resource("far://big/size")
    listed = [resource.uri for resource in (await client.list_resources()).resources]
    templates = [template.uri_template for template in (await client.list_resource_templates()).resource_templates]
    return (
        "greet you" in str(prompt.messages[0].content)
        and "far://big/size of" in str(read.contents[0])
        and ("far://one" in map(str, listed) and "far://{name}/size" in templates)
    )


@row("completions")
async def completions(client: Client, able: Able) -> bool:
    found = await client.complete(types.PromptReference(name="greet"), {"name": "who", "value": "y"})
    return found.completion.values == ["greet:y"]


@row("log level and log messages")
async def logging(client: Client, able: Able) -> bool:
    level = types.SetLevelRequestParams(level="warning")
    await client.session.send_request(types.SetLevelRequest(params=level), types.EmptyResult)
    await say(client, "log")
    await until(lambda: able.logged == ["warning"] * 2)
    return True


@row("progress")
async def progress(client: Client, able: Able) -> bool:
    heard: list[float] = []

    async def hear(progress: float, total: float | None, message: str | None) -> None:
        heard.append(progress)

    await client.call_tool("progress", {}, progress_callback=hear)
    await until(lambda: heard == [1, 2])
    return True


@row("cancellation of a call")
async def cancellation(client: Client, able: Able) -> bool:
    with TemporaryDirectory() as folder:
        mark = Path(folder) / "mark"
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(client.call_tool, "hold", {"mark": str(mark)})
            await until(mark.exists)
            tasks.cancel_scope.cancel()
        await until(lambda: mark.read_text() == "cancelled")
    return True


@row("sampling")
async def sampling(client: Client, able: Able) -> bool:
    return "at most 9" in await say(client, "ask_model")


@row("elicitation")
async def elicitation(client: Client, able: Able) -> bool:
    return '"Ada"' in await say(client, "ask_person")


@row("roots")
async def roots(client: Client, able: Able) -> bool:
    return "file:///home/ada" in await say(client, "ask_roots")


@row("tools that depend on what the client can do")
async def conditional_tools(client: Client, able: Able) -> bool:
    return "sampled" in {tool.name for tool in (await client.list_tools()).tools}


@row("subscriptions to resources")
async def subscriptions(client: Client, able: Able) -> bool:
    params = types.SubscribeRequestParams(uri="far://one")
    await client.session.send_request(types.SubscribeRequest(params=params), types.EmptyResult)
    await say(client, "touch")
    await until(lambda: "ResourceUpdatedNotification" in able.heard)
    return True


@row("tools added later: callable")
async def later_tools(client: Client, able: Able) -> bool:
    await say(client, "grow", name="later")
    listed = {tool.name for tool in (await client.list_tools()).tools}
    return "later" in listed and await say(client, "later") == "this is later"


@row("tools added later: announced")
async def announced(client: Client, able: Able) -> bool:
    await say(client, "grow", name="announced")
    await until(lambda: "ToolListChangedNotification" in able.heard)
    return True


async def measure(to: Callable[[], Any]) -> dict[str, str]:
    """Which rows hold, each with a client of its own: empty, or what happened instead."""
    found = {}
    for name, check in ROWS.items():
        found[name] = "not in time"
        try:
            with anyio.move_on_after(ROW_SECONDS):
                able = Able()
                async with able.connected(to()) as client:
                    found[name] = "" if await check(client, able) else "something else"
        except Exception as error:
            cause = first_cause(error)
            found[name] = found[name] and f"{type(cause).__name__}: {cause}"[:200]
    return found


def stdio(command: list[str]) -> Callable[[], Any]:
    """A server process of its own for each client."""
    return lambda: stdio_client(StdioServerParameters(command=command[0], args=command[1:]))


async def main(arguments: list[str]) -> None:
    """Print the rows."""
    to = stdio(arguments) if not arguments[0].startswith("http") else (lambda: arguments[0])
    for name, problem in (await measure(to)).items():
        print(f"{name}: {problem or 'yes'}", flush=True)


if __name__ == "__main__":
    anyio.run(main, sys.argv[1:])
