"""Prompts, resources and instructions: what a client can offer a person beside the tools."""

import json
from base64 import b64encode
from collections.abc import Mapping, Sequence
from pathlib import PurePath

import mcp_types as types

from m3bench.proxy.seat import Seat
from m3bench.server.cards import markdown
from m3bench.server.runs import Runs
from m3bench.server.trajectories import course

INSTRUCTIONS = """m3bench measures how well you use tools. To run a task:

1. Call start_task (list_tasks shows the choice). It returns a question and a picture, also as a file path.
2. Answer the question with the tools of this server, named server__tool. They work offline on a frozen world and on \
the files of this run. Look at the picture yourself too. Calls that do not depend on each other belong together: send \
them in one turn. Calls that need an earlier result come after it.
3. Call submit once with the final answer, complete in itself.
4. Call score to see how the calls compare with a reference solution.

Only calls between start_task and submit count. An error result says what to do next."""

_PROMPTS = {
    "run-task": (
        "Run a benchmark task from start to score",
        "Run an m3bench task: call start_task{argument}, look at the picture, solve the task with the tools of this "
        "server (independent calls together), call submit with the final answer, then call score and show me the score "
        "card.",
    ),
    "finish": (
        "Submit the running task and show the score card",
        "Finish the m3bench task that is running: call submit with your best answer so far, then call score and show "
        "me the score card.",
    ),
}

PICTURE, TRAJECTORY, SCORECARD = "m3bench://run/picture", "m3bench://run/trajectory", "m3bench://run/scorecard"


class BenchmarkDesk:
    """Prompts and resources of the benchmark."""

    instructions = INSTRUCTIONS

    def __init__(self, runs: Runs) -> None:
        self._runs = runs

    async def prompts(self, seat: Seat) -> Sequence[types.Prompt]:
        """The commands a client can offer."""
        task = types.PromptArgument(name="task_id", description="A task's id; the next task when left out")
        return [
            types.Prompt(name=name, description=title, arguments=[task] if name == "run-task" else [])
            for name, (title, _) in _PROMPTS.items()
        ]

    async def prompt(self, seat: Seat, name: str, arguments: Mapping[str, str]) -> types.GetPromptResult | None:
        """A prompt by name."""
        if name not in _PROMPTS:
            return None
        title, text = _PROMPTS[name]
        task = arguments.get("task_id")
        content = types.TextContent(text=text.format(argument=f" with task_id {task!r}" if task else ""))
        return types.GetPromptResult(description=title, messages=[types.PromptMessage(role="user", content=content)])

    async def resources(self, seat: Seat) -> Sequence[types.Resource]:
        """What can be read now: it depends on the run, never on another seat."""
        if not self._runs.touched:
            return []
        found = []
        if self._runs.running(seat) is not None:
            found.append(types.Resource(uri=PICTURE, name="picture", title="The picture of the running task"))
        latest = self._runs.latest(seat)
        if latest is not None:
            found.append(
                types.Resource(
                    uri=TRAJECTORY, name="trajectory", title="The calls of the latest run", mime_type="application/json"
                )
            )
            if latest.scorecard is not None and latest.mode == "practice":
                found.append(
                    types.Resource(
                        uri=SCORECARD, name="scorecard", title="The latest score card", mime_type="text/markdown"
                    )
                )
        return found

    async def templates(self, seat: Seat) -> Sequence[types.ResourceTemplate]:
        """There are none."""
        return []

    async def resource(self, seat: Seat, uri: str) -> types.ReadResourceResult | None:
        """A resource by URI."""
        if not self._runs.touched:
            return None
        running, latest = self._runs.running(seat), self._runs.latest(seat)
        if uri == PICTURE and running is not None:
            return types.ReadResourceResult(contents=[_picture(path) for path in self._runs.pictures(running)])
        if uri == TRAJECTORY and latest is not None:
            text = json.dumps(
                course(self._runs.tool_calls(latest.id)).trajectory.to_json(), ensure_ascii=False, indent=1
            )
            return _text(uri, text, "application/json")
        if uri == SCORECARD and latest is not None and latest.scorecard is not None and latest.mode == "practice":
            return _text(uri, markdown(latest.scorecard), "text/markdown")
        return None


def _text(uri: str, text: str, mime_type: str) -> types.ReadResourceResult:
    return types.ReadResourceResult(contents=[types.TextResourceContents(uri=uri, text=text, mime_type=mime_type)])


def _picture(item: tuple[str, bytes]) -> types.BlobResourceContents:
    name, data = item
    kind = "image/jpeg" if PurePath(name).suffix in (".jpg", ".jpeg") else "image/png"
    return types.BlobResourceContents(uri=PICTURE, blob=b64encode(data).decode(), mime_type=kind)
