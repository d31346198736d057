"""Runs a client from its command line, in a home that is made for it, and has it play a task with a scripted model.

The entry is the one that `m3bench install` writes; nobody's configuration, sign-in or network is used. What the client
leaves behind is ended and deleted.
"""

import os
import shutil
import signal
import socket
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from m3bench.server.clients.client import NAME, McpClient
from m3bench.server.clients.installation import program
from m3bench.server.clients.table import profile_for
from m3bench.server.clients.trial.conversation import Request, Saying
from m3bench.server.clients.trial.findings import Findings, Tools, findings, tools_on_the_first_turn
from m3bench.server.clients.trial.model import Model
from m3bench.server.clients.trial.script import DONE, TrialScript, Turn, task_for, turns_of
from m3bench.server.clients.trial.starts import STARTS
from m3bench.server.runs.tools import DEFINITIONS
from m3bench.server.scorecard.migration import card_of
from m3bench.server.scorecard.model import ScoreCard
from m3bench.server.store.layout import DATABASE
from m3bench.server.store.records import CallRecord, RunRecord
from m3bench.server.store.sqlite import SqliteStore
from m3bench.tasks.catalog import load_catalog
from m3bench.tasks.errors import UserError
from m3bench.tasks.library import Library
from m3bench.tasks.picture_mark import marked
from m3bench.tasks.profiles import tools_of

SECONDS = 300.0
"""How long a client may take; they need ten to thirty on an idle machine."""

STEP_SECONDS = 300.0
"""For each of what comes before the client itself."""

_TAIL = 400
"""Characters of what a client printed that are shown when nothing came of it."""


def program_of(client: McpClient, path: str | None = None) -> str:
    """The program of a client that can be tried.

    Raises:
        UserError: It cannot be started from a command line, or is not installed.
    """
    start = STARTS.get(client.key)
    if start is None:
        raise UserError(
            f"{client.title} has no command line to start it with: ask it to run the probe (`m3bench client probe "
            f"--print {client.key}`) and see the result with `m3bench client probe --show {client.key}`."
        )
    found = shutil.which(start.program, path=path)
    if found is None:
        raise UserError(
            f"{client.title} is not installed here: there is no {start.program} in PATH. "
            f"npm install -g {start.package} gets it."
        )
    return found


def try_client(client: McpClient, *, path: str | None = None, seconds: float = SECONDS) -> Findings:
    """Have a client play a task.

    Args:
        client: Which one.
        path: Where programs are looked for, instead of `PATH`.
        seconds: How long it may take.

    Raises:
        UserError: It cannot be tried, or did not play to the end; the text says why.
    """
    with _trial(client, path, seconds) as trial:
        return trial.played()


ScoredRun = tuple[RunRecord, ScoreCard | None, Sequence[CallRecord]]


@dataclass(frozen=True, kw_only=True)
class TrialSession:
    """What came of a session in which a client played several tasks."""

    tools: Tools
    runs: tuple[ScoredRun, ...]
    """Each run with its card, where it has one, and its calls."""
    requests: tuple[Request, ...]
    """What the model was asked."""
    ended: str
    """Why the client did not come to its end; nothing when it did."""


def play_session(
    client: McpClient,
    turns: Iterable[Turn],
    *,
    path: str | None = None,
    seconds: float = SECONDS,
    installed: Callable[[Path], None] = lambda home: None,
    write: float = 0.0,
) -> TrialSession:
    """Have a client play what a script says, in one session.

    Args:
        client: Which one.
        turns: What its model calls.
        path: Where programs are looked for, instead of `PATH`.
        seconds: How long it may take.
        installed: Changes the client's home after `m3bench install`.
        write: Seconds that its model takes to write each call but the first of a turn.

    Raises:
        UserError: It cannot be tried; the text says why.
    """
    with _trial(client, path, seconds) as trial:
        return trial.session(turns, installed, write)


def first_turn(client: McpClient, *, path: str | None = None, seconds: float = SECONDS) -> tuple[Tools, int, int]:
    """Start a client whose model says at once that it is done: how its tools are there, how many, and of how many.

    Raises:
        UserError: It cannot be tried; the text says why.
    """
    with _trial(client, path, seconds) as trial:
        model, _ = trial.run(lambda request: Saying(text=DONE))
        return *tools_on_the_first_turn(trial.tools, model.requests), len(trial.tools)


@contextmanager
def _trial(client: McpClient, path: str | None, seconds: float) -> Iterator["_Trial"]:
    found = program_of(client, path)
    with TemporaryDirectory(prefix="m3bench-trial-", ignore_cleanup_errors=True) as folder:
        trial = _Trial(client, found, Path(folder), path or os.environ.get("PATH", os.defpath), seconds)
        try:
            yield trial
        finally:
            _end_those_of(trial.home)


class _Trial:
    def __init__(self, client: McpClient, found: str, folder: Path, path: str, seconds: float) -> None:
        self.client, self.start, self.found, self.seconds = client, STARTS[client.key], found, seconds
        self.home, self.work = folder / "home", folder / "work"
        self.env = {
            "PATH": path, "HOME": str(self.home), "USERPROFILE": str(self.home), "TERM": "dumb", "LANG": "C.UTF-8",
        }  # fmt: skip
        self.catalog, self.library = load_catalog().ready, Library()
        self.profile = profile_for(client)
        self.task = task_for(self.profile, self.catalog, self.library)
        shown = tools_of(self.profile, self.catalog, self.library)
        self.tools = [*(str(tool["name"]) for tool in DEFINITIONS), *(tool.exposed for tool in shown)]

    def played(self) -> Findings:
        return self._found(*self.run(self.script(turns_of(self.task)).answer))

    def script(self, turns: Iterable[Turn]) -> TrialScript:
        """What the model plays, by the names that the client shows."""
        return TrialScript(turns, lambda tool: self.client.naming.shown(NAME, tool))

    def session(self, turns: Iterable[Turn], installed: Callable[[Path], None], write: float) -> "TrialSession":
        model, done = self.run(self.script(turns).answer, installed, write)
        runs: list[ScoredRun] = []
        for place in sorted(self.home.rglob(DATABASE)):
            store = SqliteStore(place.parent)
            try:
                runs += [(record, card_of(record), store.calls(record.id)) for record in store.runs()]
            finally:
                store.close()
        return TrialSession(
            tools=tools_on_the_first_turn(self.tools, model.requests)[0],
            runs=tuple(runs),
            requests=tuple(model.requests),
            ended="" if done.code == 0 else self._why(model, [self.home], done),
        )

    def run(
        self, answer: Callable[[Request], Saying], installed: Callable[[Path], None] = lambda home: None,
        write: float = 0.0,
    ) -> tuple[Model, "_Done"]:  # fmt: skip
        """Install m3bench, start the client, and wait for its end."""
        self.home.mkdir()
        self.work.mkdir()
        with Model(answer, write=write) as model:
            self.start.home(self.home, model.url)
            self._must(
                _run([*program(), "install", self.client.key], self.env, self.work, STEP_SECONDS), "m3bench install"
            )
            installed(self.home)
            values = {"url": model.url, "home": str(self.home), "port": str(_free_port())}
            env = self.env | {name: _filled(value, values) for name, value in self.start.env.items()}
            if self.start.before:
                before = [self.found, *(_filled(part, values) for part in self.start.before)]
                self._must(_run(before, env, self.work, STEP_SECONDS), f"{self.start.program} {self.start.before[0]}")
            line = [self.found, *(_filled(part, values) for part in self.start.arguments)]
            return model, _run(line, env, self.work, self.seconds)

    def _must(self, done: "_Done", what: str) -> None:
        if done.code is None:
            said = f" It said: {done.tail}" if done.tail else ""
            raise UserError(f"{what} did not end within {STEP_SECONDS:g} s: try again when there is less to do.{said}")
        if done.code != 0:
            raise UserError(f"{what} failed: {done.tail}")

    def _found(self, model: Model, done: "_Done") -> Findings:
        stores = sorted(self.home.rglob(DATABASE))
        for place in stores:
            store = SqliteStore(place.parent)
            try:
                for record in store.runs():
                    if record.task == self.task.id and (card := card_of(record)) is not None:
                        picture = marked(self.library.picture(self.task.pictures[0]), record.setup.mark)
                        run = record, card, store.calls(record.id)
                        return findings(self.task, self.profile, self.tools, model.requests, picture, run, self.catalog)
            finally:
                store.close()
        raise UserError(f"{self.client.title} did not play to the end: {self._why(model, stores, done)}")

    def _why(self, model: Model, stores: Sequence[Path], done: "_Done") -> str:
        """What is known of a client that did not play to the end."""
        there, shown = tools_on_the_first_turn(self.tools, model.requests)
        if not model.requests:
            known = "it asked the model nothing"
        elif there == "missing":
            known = f"{shown} of {len(self.tools)} tools were there on the first turn"
        else:
            made = max(len(request.calls) for request in model.requests)
            known = f"it made {made} calls" + ("" if stores else ", and none of them reached m3bench")
        how = f"ended with {done.code}" if done.code is not None else f"was stopped after {self.seconds:g} s"
        return f"{known}, and it {how}. It said: {done.tail or 'nothing'}"


@dataclass(frozen=True)
class _Done:
    code: int | None
    """None when it was stopped."""
    tail: str


def _run(command: list[str], env: Mapping[str, str], folder: Path, seconds: float) -> _Done:
    """Run a program to its end, or stop it; and what it started with it."""
    output = folder.parent / "output"
    with output.open("wb") as file:
        process = subprocess.Popen(
            command, env=dict(env), cwd=folder, stdin=subprocess.DEVNULL, stdout=file, stderr=subprocess.STDOUT,
            start_new_session=sys.platform != "win32",
        )  # fmt: skip
        code: int | None = None
        try:
            code = process.wait(seconds)
        except subprocess.TimeoutExpired:
            pass
        finally:
            _stop(process)
    said = output.read_bytes().decode("utf-8", "replace")
    return _Done(code, said[-_TAIL:].strip())


def _stop(process: subprocess.Popen[bytes]) -> None:
    with suppress(ProcessLookupError, PermissionError):
        if sys.platform == "win32":
            process.kill()
        else:
            os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def _free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return int(listener.getsockname()[1])


def _end_those_of(home: Path) -> None:
    """End what went into the background: some clients leave a server of their own running. Linux alone tells us."""
    mark = f"HOME={home}".encode()
    for folder in Path("/proc").glob("[0-9]*"):
        with suppress(OSError, ValueError):
            if mark in (folder / "environ").read_bytes().split(b"\0"):
                os.kill(int(folder.name), signal.SIGKILL)


def _filled(text: str, values: Mapping[str, str]) -> str:
    for name, value in values.items():
        text = text.replace(f"{{{name}}}", value)
    return text
