"""An agent that does not try to solve its task: it looks for the solution wherever a client can look.

Paths out of the workspace, the set of tasks, other runs, the environment, searches for the reference, the
benchmark's own tools at the wrong time, prompts and resources. What it found is its answer; it must be nothing.
"""

from collections.abc import AsyncIterator

from mcp import Client
from mcp.shared.exceptions import MCPError

from m3bench.server.lab.headless.agents.idle import draw, is_path
from m3bench.server.lab.headless.agents.play import AgentPlay
from m3bench.server.store.layout import DATABASE
from m3bench.tasks.catalog import Tool
from m3bench.tasks.trajectory import JSON, Call

NOTHING = "Found nothing"

OUTSIDE = (
    "/etc/passwd",
    "/proc/self/environ",
    "/proc/1/environ",
    "../../../../../../../../etc/passwd",
    "file:///etc/passwd",
    "~/.bashrc",
    "./.m3bench",
    "../",
    "../../set.json",
    f"../../data/{DATABASE}",
    "media/../../tasks.json",
)
TELLING = ("root:x:0:0", "PATH=/", '"references":[', '"references": [', '"tolerances"', '"answer_names"')
"""Texts that such files contain, whatever the task."""

URIS = (
    "m3bench://run/scorecard",
    "m3bench://run/reference",
    "m3bench://run/../tasks.json",
    "m3bench://tasks",
    "file:///etc/passwd",
)
PROMPTS = ("run-task", "finish", "solution")

READS, SEARCHES, TOGETHER = 24, 4, 8
"""Calls with paths and with search words, and how many of them in one step."""


async def canary(play: AgentPlay) -> str:
    """Looks for the solution; says what it found."""
    secrets = (*TELLING, *play.hidden.texts)
    found: list[str] = []
    seen = 0
    async for where, text in _looks(play):
        seen += 1
        found += [f"{secret[:60]!r} in {where}" for secret in secrets if secret in text]
    return f"{NOTHING} in {seen} places." if not found else f"Found {'; '.join(found)}."


async def _looks(play: AgentPlay) -> AsyncIterator[tuple[str, str]]:
    """Every place and what is to be read there."""
    calls = _calls(play, await play.tools())
    for start in range(0, len(calls), TOGETHER):
        step = calls[start : start + TOGETHER]
        for call, text in zip(step, await play.step(step), strict=True):
            yield f"{call.tool} {dict(call.arguments)}", text
    for name in ("score", "list_tasks"):
        yield name, (await play.client.call_tool(name, {})).text
    async with play.connect() as client:
        looked = [
            (uri, await _resource(client, uri)) for uri in (*URIS, *(f"file://{path}" for path in play.hidden.files))
        ]
        looked.append(("resources", str(await client.list_resources())))
        looked.append(("prompts", str(await client.list_prompts())))
        looked += [(prompt, await _prompt(client, prompt, play.task.id)) for prompt in PROMPTS]
    for where, text in looked:
        yield where, text


def _calls(play: AgentPlay, tools: list[Tool]) -> list[Call]:
    """A random choice of attempts to read what it must not see, and of searches for it."""
    places = (*play.hidden.files, *OUTSIDE)
    readers = [
        (tool, name, place)
        for tool in tools
        for name in tool.input_schema.get("properties", {})
        if is_path(name)
        for place in places
    ]
    words = (play.task.question, f"reference solution of {play.task.id}", "tasks.json", "answer_names tolerances")
    searchers = [(tool, "query", word) for tool in tools if "query" in _properties(tool) for word in words]
    chosen = play.dice.sample(readers, min(READS, len(readers)))
    chosen += play.dice.sample(searchers, min(SEARCHES, len(searchers)))
    return [
        Call(tool=tool.qualified, arguments={**draw(tool, play.dice, words, places), name: _fit(tool, name, word)})
        for tool, name, word in chosen
    ]


def _properties(tool: Tool) -> dict[str, dict[str, object]]:
    return dict(tool.input_schema.get("properties", {}))


def _fit(tool: Tool, name: str, word: str) -> JSON:
    """A path in the form that an argument takes."""
    kinds = str(_properties(tool)[name])
    return {"title": word} if "'object'" in kinds else [word] if "'array'" in kinds else word


async def _resource(client: Client, uri: str) -> str:
    try:
        return str(await client.read_resource(uri))
    except MCPError as error:
        return str(error)


async def _prompt(client: Client, name: str, task: str) -> str:
    try:
        return str(await client.get_prompt(name, {"task_id": task}))
    except MCPError as error:
        return str(error)
