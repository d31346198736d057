"""A studio for authors: a page of this machine with a task as it is, and what is wrong with it, in plain words.

It shows question, pictures, fields and references beside each other and looks at the folder again and again: what was
saved is on the page a moment later. The references of the task that is looked at are played, and agents that must not
solve it try. Nothing is written into the folder.
"""

import subprocess
import sys
from base64 import b64encode
from collections.abc import Callable, Mapping
from functools import partial
from importlib.metadata import version
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Lock, Thread
from typing import Any

import anyio
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, Response
from starlette.routing import Route

from m3bench.proxy.logs import tell
from m3bench.proxy.transports.access import CheckNames
from m3bench.proxy.transports.http import HttpSettings
from m3bench.server.lab.authoring.fairness import unfair
from m3bench.server.lab.authoring.lint import NEEDLESS, lint, needless
from m3bench.server.lab.authoring.planning import decided_by, derive, in_steps
from m3bench.server.lab.authoring.replay import perform
from m3bench.server.lab.live.pages import HEADERS, text_response
from m3bench.server.lab.live.person_page import Ticket
from m3bench.server.lab.reports.page import page
from m3bench.server.lab.results.resultset import read_resultset
from m3bench.server.serving.backend import backend_of
from m3bench.server.serving.transport import serve_asgi
from m3bench.server.settings import Settings
from m3bench.tasks.answers.fields import right_fields
from m3bench.tasks.catalog import load_catalog
from m3bench.tasks.errors import M3Error
from m3bench.tasks.library import Library
from m3bench.tasks.task import Task

SCRIPTS, STYLES = ("card.js", "forms.js", "results.js", "studio.js"), ("card.css", "site.css", "play.css")

AGENTS = {
    "blind": ("never looks at the picture", "The picture is not needed: {}."),
    "threshold": ("looks with thresholds, shapes and OCR alone", "No understanding is needed: {}."),
    "sibling": ("replays the likest task of the family", "It is the same as another task of its family: {}."),
    "lookalike": ("makes one call about another thing", "Another call counts as right as well: {}."),
}
"""Who tries a task: what they do, and what it means when they should not have got what they got."""

LONGEST = 4000
"""Letters of a result that are shown."""


class Studio:
    """What is known of the tasks of a folder.

    Args:
        folder: Of the set.
        settings: Say where references are played.
    """

    def __init__(self, folder: Path, settings: Settings) -> None:
        self._folder = folder
        self._settings = settings
        self._tried: dict[tuple[str, str], dict[str, Any]] = {}
        self._working: set[tuple[str, str]] = set()
        self._one = Lock()

    def stamp(self) -> str:
        """What changes when something in the folder is saved."""
        found = sorted(
            (path.name, path.stat().st_mtime_ns, path.stat().st_size)
            for path in self._folder.rglob("*")
            if path.is_file()
        )
        return f"{hash(tuple(found)) & 0xFFFFFFFFFFFF:012x}"

    def document(self, wanted: str | None) -> dict[str, Any]:
        """Everything that there is to show now; a task that is looked at for the first time is tried meanwhile."""
        stamp = self.stamp()
        try:
            library = Library(self._folder)
            tasks = list(library.tasks.values())
            task = next((task for task in tasks if task.id == wanted), tasks[0] if tasks else None)
            shown = None if task is None else self._task(library, task, stamp)
        except (M3Error, OSError) as error:
            return {"stamp": stamp, "tasks": [], "problem": str(error), "task": None}
        return {"stamp": stamp, "tasks": [task.id for task in tasks], "problem": "", "task": shown}

    def _task(self, library: Library, task: Task, stamp: str) -> dict[str, Any]:
        tried = self._trying(library, task, stamp)
        return {
            **tried["shown"],
            "wrong": [*dict.fromkeys(tried["wrong"])],
            "played": tried["played"],
            "agents": tried["agents"],
            "busy": (stamp, task.id) in self._working,
        }

    @staticmethod
    def _shown(library: Library, task: Task) -> dict[str, Any]:
        """What is shown of a task as it stands."""
        return {
            "id": task.id,
            "family": task.family,
            "question": task.question,
            "answer": task.answer,
            "pictures": [_data(name, library.picture(name)) for name in task.pictures],
            "recordings": [_data(name, library.recording(name)) for name in task.recordings],
            "fields": [{**field.shown(), "right": value} for field, value in _right(task)],
            "references": [
                [[call.model_dump(include={"tool", "arguments"}) for call in step] for step in reference.steps]
                for reference in task.references
            ],
        }

    def _trying(self, library: Library, task: Task, stamp: str) -> dict[str, Any]:
        """What trying a task has shown so far; begins to when nobody has."""
        key = (stamp, task.id)
        if key not in self._tried:
            for old in [known for known in self._tried if known[0] != stamp]:
                del self._tried[old]
            wrong = [*lint(task, library, load_catalog().ready), *unfair(task, library)]
            self._tried[key] = {"shown": self._shown(library, task), "wrong": wrong, "played": [], "agents": []}
            self._working.add(key)
            Thread(target=self._try, args=(library, task, key), daemon=True).start()
        return self._tried[key]

    def _try(self, library: Library, task: Task, key: tuple[str, str]) -> None:
        found = self._tried[key]
        try:
            # One at a time: whoever leafs through a set needs no twenty sandboxes.
            with self._one:
                if key not in self._tried:
                    return
                anyio.run(partial(self._play, library, task, found))
                if key in self._tried:
                    found["agents"] = self._play_agents(task, found["wrong"])
        except M3Error as error:
            found["wrong"].append(f"it cannot be tried: {error}")
        finally:
            self._working.discard(key)

    async def _play(self, library: Library, task: Task, found: dict[str, Any]) -> None:
        async with backend_of(self._settings) as backend:
            for reference in task.references:
                played = await perform(library, task, reference, backend)
                found["played"].append([
                    {"outcome": call.outcome, "text": call.text[:LONGEST]} for call in played.calls
                ])  # fmt: skip
                found["wrong"] += [
                    f"the reference’s own answer is called wrong: {finding.check}: {finding.reason}"
                    for finding in played.findings
                    if not finding.passed
                ]
                steps = in_steps(reference, played.calls)
                plan = derive(task.question, task.answer, steps, decided=decided_by(task), in_order=True)
                if needless(task.model_copy(update={"references": (reference,)}), [plan]):
                    found["wrong"].append(NEEDLESS)

    def _play_agents(self, task: Task, wrong: list[str]) -> list[dict[str, Any]]:
        """What agents get that should get little."""
        with TemporaryDirectory(prefix="m3bench-studio-") as name:
            command = [sys.executable, "-m", "m3bench.server.cli", "run", "--tasks", str(self._folder.resolve()),
                       "--task", task.id, "--profile", "full", "--sandbox", self._settings.sandbox,
                       "-o", name]  # fmt: skip
            command += [word for agent in AGENTS for word in ("--agent", agent)]
            done = subprocess.run(command, capture_output=True, text=True, check=False)
            lines = []
            for agent, (does, means) in AGENTS.items():
                got: Mapping[str, Any] = {"agent": agent, "does": does}
                try:
                    (result,) = read_resultset(Path(name) / agent).results
                except (M3Error, ValueError):
                    lines.append({**got, "average": None, "solved": None, "why": done.stderr.strip()[-300:]})
                    continue
                average, solved = result.card.average, bool(result.card.success)
                lines.append({**got, "average": average, "solved": solved, "why": ""})
                too_good = (average or 0) > 1 - 1e-9 if agent == "lookalike" else solved
                if too_good:
                    what = f"the agent {agent}, which {does}, " + ("solved it" if solved else "got everything")
                    wrong.append(means.format(what))
        return lines


def _right(task: Task) -> list[tuple[Any, Any]]:
    right = right_fields(task.fields)
    return [(field, right[field.name]) for field in task.fields]


def _data(name: str, data: bytes) -> dict[str, str]:
    kinds = {"jpg": "image/jpeg", "jpeg": "image/jpeg", "webp": "image/webp", "wav": "audio/wav", "mp3": "audio/mpeg",
             "mp4": "video/mp4", "webm": "video/webm", "ogg": "audio/ogg"}  # fmt: skip
    kind = kinds.get(name.rpartition(".")[2].lower(), "image/png")
    return {"name": name, "type": kind, "url": f"data:{kind};base64,{b64encode(data).decode()}"}


async def serve_studio(studio: Studio, listen: HttpSettings, show: Callable[[str], None]) -> bool:
    """Serve the page until a signal ends it; returns whether that was Ctrl-C."""
    ticket = Ticket("studio", "start m3bench tasks studio anew")

    async def index(request: Request) -> Response:
        refused = ticket.refusal(request)
        if refused is not None:
            return refused
        found = await anyio.to_thread.run_sync(studio.document, request.query_params.get("task"))
        document = {"kind": "studio", "version": version("m3bench"), **found}
        html = page("studio · m3bench", document, SCRIPTS, styles=STYLES, connect=True, media=True)
        return HTMLResponse(html, headers=HEADERS)

    async def state(request: Request) -> Response:
        if not ticket.known(request):
            return text_response("Open the address that the terminal shows.", 401)
        return JSONResponse(
            await anyio.to_thread.run_sync(studio.document, request.query_params.get("task")), headers=HEADERS
        )  # fmt: skip

    def listening(base: str) -> None:
        address = f"{base}/?ticket={ticket.value}"
        tell(f"The studio is at {address}\nThe address works once; Ctrl-C ends everything.")
        show(address)

    app = Starlette(routes=[Route("/", index), Route("/state", state)])
    return await serve_asgi(CheckNames(app, listen), listen, listening=listening)
