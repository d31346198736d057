"""Records runs: a client in this process plays given calls through a whole server, one after another or together."""

from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, cast

from mcp import Client
from mcp.shared.exceptions import MCPError
from mcp_types import RequestParamsMeta

from m3bench.proxy.steps.hints import HINT
from m3bench.proxy.transports.sdk_server import sdk_server
from m3bench.server.app import App
from m3bench.server.lab.authoring.curation.material import CurationMaterial, gather
from m3bench.server.settings import Settings
from m3bench.tasks.catalog import expose

Called = tuple[str, dict[str, Any]]


async def record(data: Path, task: str, calls: Sequence[Called], *, answer: str | None = None,
                 tasks: Path | None = None) -> CurationMaterial:  # fmt: skip
    """A run of a task that made calls one after another, and what the record says of it.

    Args:
        data: Where the record is.
        task: The task's id.
        calls: Canonical names with arguments.
        answer: What is submitted; the task's own answer when left out.
        tasks: The set; the bundled one when left out.
    """
    app = App(Settings.of(data=data, sandbox="inprocess", tasks=tasks))
    async with app.lifespan():
        seat = app.open_seat(profile="full")

        async def seat_of(context: object) -> Any:
            return seat

        async with Client(sdk_server(app.front, seat_of), mode="2026-07-28") as client:
            await client.call_tool("start_task", {"task_id": task})
            for number, (tool, arguments) in enumerate(calls):
                with suppress(MCPError):  # an unknown tool is a mistake of the client's, and on record
                    await client.call_tool(expose(tool), arguments, meta=cast("RequestParamsMeta", {HINT: number}))
            answer = app.library.task(task).answer if answer is None else answer
            if (await client.call_tool("submit", {"answer": answer})).is_error:
                await client.call_tool("submit", {"answer": answer})  # fields are missing, and stay so
            await client.call_tool("score", {})
        (run,) = [run for run in app.store.runs() if run.seat == seat.id]
        return gather(app.store, app.library, run)


def own_calls(material_or_task: Any) -> list[Called]:
    """The calls of a task's first reference, one after another."""
    return [(call.tool, dict(call.arguments)) for step in material_or_task.references[0].steps for call in step]


def as_sets(reference: Any) -> list[set[str]]:
    """A reference as it is compared: the calls of each step in any order."""
    return [{f"{call.tool} {sorted(call.arguments.items())}" for call in step} for step in reference.steps]
