"""Prompts, resources and instructions: what a client can offer a person beside the tools."""

import json
import re
from base64 import b64encode
from collections.abc import Callable, Iterator, Sequence

import anyio.to_thread

from m3bench.proxy.protocol.messages import Json
from m3bench.proxy.protocol.tool_calls import Relay
from m3bench.proxy.router import no_task
from m3bench.proxy.seat import Seat
from m3bench.proxy.upstreams.servers import UpstreamServers
from m3bench.server.runs.opening import RECORDING, recording_resource, recordings_of, shown_pictures
from m3bench.server.runs.run import Runs
from m3bench.server.runs.tools import Shown
from m3bench.server.scorecard.markdown import markdown
from m3bench.server.scorecard.migration import card_of
from m3bench.server.scorecard.pages.app_view import MIME, URI, VIEW
from m3bench.server.scorecard.trajectory import played_run
from m3bench.tasks.errors import RunError
from m3bench.tasks.library import Library
from m3bench.tasks.outcome import CALL_SECONDS
from m3bench.tasks.profiles import solvable
from m3bench.tasks.task import picture_type

INSTRUCTIONS = """m3bench measures how well you use tools. To run a task:

1. Call start_task (list_tasks shows the choice). It returns a question and a picture, also as a file path.
2. Answer the question with the tools of this server, named server__tool; where only find_tools and \
call_tool are listed, the first finds them and the second calls them. They work offline on a frozen world and on \
the files of this run. Look at the picture yourself too. Calls that do not depend on each other belong together: send \
them in one turn. Calls that need an earlier result come after it.
3. Call submit once with the final answer, complete in itself.
4. Call score to see how the calls compare with a reference solution.

Only calls between start_task and submit count. An error result says what to do next."""

PROMPTS = {
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

MAX_VALUES = 100
"""The protocol's bound on the values of one completion."""

_VIEW = re.compile(re.escape(VIEW).replace(r"\{run\}", "([0-9a-f]+)"))

PICTURE, TRAJECTORY, SCORECARD = "m3bench://run/picture", "m3bench://run/trajectory", "m3bench://run/scorecard"


class BenchmarkResources:
    """Prompts and resources of the benchmark, and those of the upstream servers beside them.

    Args:
        runs: The runs of this process.
        library: The tasks.
        upstreams: The upstream servers.
        card_page: Makes the page that shows a score card inside a client.
        run_view: Makes what that page reads of a run.
    """

    instructions = INSTRUCTIONS

    def __init__(
        self, runs: Runs, library: Library, upstreams: UpstreamServers, card_page: Callable[[], str], run_view: Shown
    ) -> None:
        self._runs = runs
        self._library = library
        self._upstreams = upstreams
        self._card_page = card_page
        self._run_view = run_view

    async def prompts(self, seat: Seat) -> Sequence[Json]:
        """The commands a client can offer."""
        task = {"name": "task_id", "description": "A task's id; the next task when left out"}
        own: list[Json] = [
            {"name": name, "description": title, "arguments": [task] if name == "run-task" else []}
            for name, (title, _) in PROMPTS.items()
        ]
        return own + await self._upstreams.prompts(seat)

    async def prompt(self, seat: Seat, params: Json, relay: Relay) -> Json | None:
        """A prompt by its name and arguments."""
        title, text = PROMPTS.get(str(params["name"]), ("", ""))
        if not title:
            return await self._ask(seat, "prompts/get", params, relay)
        given = params.get("arguments")
        task = given.get("task_id") if isinstance(given, dict) else None
        content = {"type": "text", "text": text.format(argument=f" with task_id {task!r}" if task else "")}
        return {"description": title, "messages": [{"role": "user", "content": content}]}

    async def resources(self, seat: Seat) -> Sequence[Json]:
        """What can be read now: it depends on the run, never on another seat."""
        return [*self._own_resources(seat), *await self._upstreams.resources(seat)]

    async def templates(self, seat: Seat) -> Sequence[Json]:
        """Of our own there are none."""
        return await self._upstreams.templates(seat)

    async def resource(self, seat: Seat, params: Json, relay: Relay) -> Json | None:
        """A resource by URI. The page of the score card is not in the list: the tool that it belongs to names it."""
        uri = str(params["uri"])
        if uri == URI:
            meta = {"ui": {"prefersBorder": True}}
            return {"contents": [{"uri": URI, "mimeType": MIME, "text": self._card_page(), "_meta": meta}]}
        if not uri.startswith("m3bench://"):
            return await self._ask(seat, "resources/read", params, relay)
        if (named := _VIEW.fullmatch(uri)) is not None:
            return await self._view(seat, uri, named[1])
        if not self._runs.touched:
            return None
        running, latest = self._runs.running(seat), self._runs.latest(seat)
        if uri == PICTURE and running is not None:
            shown = await shown_pictures(self._library, running)
            return {"contents": [_picture(name, data) for name, data in shown]}
        if uri == RECORDING and running is not None and running.task.recordings:
            return recording_resource(await recordings_of(self._library, running.task))
        if uri == TRAJECTORY and latest is not None:
            found = played_run(self._runs.tool_calls(latest.id)).trajectory
            return _text(uri, json.dumps(found.to_json(), ensure_ascii=False, indent=1), "application/json")
        card = card_of(latest) if uri == SCORECARD and latest is not None and latest.mode == "practice" else None
        if latest is not None and card is not None:
            return _text(uri, markdown(card, latest.id), "text/markdown")
        return None

    async def completion(self, seat: Seat, params: Json, relay: Relay) -> Json | None:
        """Ids of tasks for `run-task`; anything else is for the upstream servers to know."""
        match params:
            case {"ref": {"name": "run-task"}, "argument": {"name": "task_id", "value": str(begun)}}:
                offered = solvable(tuple(self._library.tasks.values()), tuple(seat.tools.values()))
                ids = [] if self._runs.shut() else [task.id for task in offered if task.id.startswith(begun)]
                shown = ids[:MAX_VALUES]
                return {"completion": {"values": shown, "total": len(ids), "hasMore": len(ids) > len(shown)}}
        self._check_run(seat)
        return await self._upstreams.ask(seat, "completion/complete", params, relay, CALL_SECONDS)

    async def log_level(self, seat: Seat, level: str) -> None:
        """Passed on: we log only to standard error."""
        await self._upstreams.log_level(seat, level)

    async def subscribe(self, seat: Seat, method: str, uri: str) -> None:
        """Passed on to the server whose resource it is; of our own none changes unasked."""
        if not uri.startswith("m3bench://"):
            self._check_run(seat)
            await self._upstreams.ask(seat, method, {"uri": uri}, None, CALL_SECONDS)

    async def roots_changed(self, seat: Seat) -> None:
        """Passed on."""
        await self._upstreams.roots_changed(seat)

    async def _view(self, seat: Seat, uri: str, handle: str) -> Json | None:
        """What the page of the score card reads of a run: of one that was scored here in practice, and of no other."""
        record = self._runs.record(seat, handle)
        if record is None or record.mode != "practice" or record.scorecard is None:
            return None
        calls = self._runs.tool_calls(record.id)
        made = await anyio.to_thread.run_sync(self._run_view, record, calls, self._library)
        return _text(uri, json.dumps(made, ensure_ascii=False), "application/json")

    async def _ask(self, seat: Seat, method: str, params: Json, relay: Relay) -> Json | None:
        """Ask the upstream servers for something that a run may use: it counts like a call.

        Raises:
            RunError: The run has used up what it may.
        """
        self._check_run(seat)
        stop = seat.run.admit() if seat.run is not None and self._upstreams.names else None
        if stop is not None:
            raise RunError(stop)
        return await self._upstreams.ask(seat, method, params, relay, CALL_SECONDS)

    def _check_run(self, seat: Seat) -> None:
        """In ranked mode upstream servers are asked only during a run."""
        if self._runs.mode == "ranked" and seat.run is None and self._upstreams.names:
            raise RunError(no_task(seat))

    def _own_resources(self, seat: Seat) -> Iterator[Json]:
        if not self._runs.touched:
            return
        running = self._runs.running(seat)
        if running is not None and running.task.recordings:
            yield {"uri": RECORDING, "name": "recording", "title": "The sound or film of the running task"}
        elif running is not None:
            yield {"uri": PICTURE, "name": "picture", "title": "The picture of the running task"}
        latest = self._runs.latest(seat)
        if latest is None:
            return
        yield {"uri": TRAJECTORY, "name": "trajectory", "title": "The calls so far", "mimeType": "application/json"}
        if latest.scorecard is not None and latest.mode == "practice":
            yield {"uri": SCORECARD, "name": "scorecard", "title": "The latest score card", "mimeType": "text/markdown"}


def _text(uri: str, text: str, mime_type: str) -> Json:
    return {"contents": [{"uri": uri, "text": text, "mimeType": mime_type}]}


def _picture(name: str, data: bytes) -> Json:
    return {"uri": PICTURE, "blob": b64encode(data).decode(), "mimeType": picture_type(name)}
