"""Faults in a client's run, over stdio and HTTP: the run is void, says whose fault it was, and has no number.

The server is whole, in memory; what breaks is broken where it would break. Providers are in `test_faults_headless`,
programs that need long in `tests/sandboxes/test_programs.py`, containers in `test_engine_trouble`.
"""

import errno
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import anyio
import httpx2
import pytest

from m3bench.proxy.transports.http import HttpSettings, http_app
from m3bench.proxy.transports.stdio import serve_stream
from m3bench.sandboxes.backends import inprocess
from m3bench.sandboxes.backends.docker import image
from m3bench.sandboxes.toolserver import ToolServer
from m3bench.server.app import App
from m3bench.server.lab.interchange.bundle import pack
from m3bench.server.lab.live.record import LiveRecord
from m3bench.server.lab.results.resultset import read_resultset
from m3bench.server.scorecard.pages.app_view import CARD
from m3bench.server.settings import Settings
from m3bench.server.store.location import RecordLocation
from m3bench.tasks.errors import InputFileError, SandboxError, StoreError, ToolError
from tests.proxy.house import Pipe
from tests.proxy.web import Web, running
from tests.sandboxes.backends.docker.engines import Complaining
from tests.server.hosts import Hosts

pytestmark = pytest.mark.anyio

SUM = {"numbers": [4, 8, 15, 16, 23, 42]}
MEAN = {"numbers": [1, 2]}

Ask = Callable[[str, dict[str, Any]], Awaitable[dict[str, Any]]]


@dataclass
class Stage:
    """A server in memory and what can be done to it."""

    app: App
    patch: pytest.MonkeyPatch
    folder: Path
    stack: AsyncExitStack

    def tools(self, **functions: Callable[..., object]) -> None:
        """Put other tools in the place of the math server's."""
        math = ToolServer("math")
        for name, function in {"mean": lambda numbers: 1.5, **functions}.items():
            function.__name__ = name
            math.tool(function)
        self.patch.setattr(inprocess, "load", lambda server: math)

    def engine(self, complaint: str, status: int = 500) -> None:
        """Have a container engine that refuses to make a container."""
        path = self.folder / "engine.sock"
        engine = self.stack.enter_context(Complaining(path, image.labels(), complaint, status))
        self.patch.setenv("DOCKER_HOST", engine.address)


@asynccontextmanager
async def over_stdio(app: App) -> AsyncIterator[Ask]:
    pipe, numbers = Pipe(), iter(range(1, 1000))

    async def ask(name: str, arguments: dict[str, Any]) -> dict[str, Any]:
        answer = await pipe.ask(next(numbers), "tools/call", {"name": name, "arguments": arguments})
        found: dict[str, Any] = answer["result"]
        return found

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(serve_stream, app.front, app.open_seat(), pipe)
        await pipe.open()
        yield ask
        pipe.close()
    pipe.release()


@asynccontextmanager
async def over_http(app: App) -> AsyncIterator[Ask]:
    asgi = http_app(app.front, HttpSettings(), app.open_seat, app.close_seat)
    numbers = iter(range(1, 1000))
    async with running(asgi):
        transport = httpx2.ASGITransport(asgi)
        async with httpx2.AsyncClient(transport=transport, base_url="http://127.0.0.1:8000") as client:
            web = Web(client, "/mcp")
            await web.open()

            async def ask(name: str, arguments: dict[str, Any]) -> dict[str, Any]:
                answer = await web.call(next(numbers), name, arguments)
                line = next(line for line in answer.text.splitlines() if '"result"' in line)
                found: dict[str, Any] = json.loads(line.removeprefix("data: "))["result"]
                return found

            yield ask


WAYS = {"stdio": over_stdio, "http": over_http}


def boom(numbers: list[float]) -> object:
    raise KeyError("no such column")


def full(numbers: list[float]) -> object:
    raise OSError(errno.ENOSPC, "No space left on device")


def crash(stage: Stage) -> None:
    stage.tools(sum=boom)


def disk_full_in_the_sandbox(stage: Stage) -> None:
    stage.tools(sum=full)


def tool_that_cannot_be_loaded(stage: Stage) -> None:
    def load(server: str) -> ToolServer:
        raise ImportError("libgomp.so.1: cannot open shared object file")

    stage.patch.setattr(inprocess, "load", load)


def no_ocr_engine(stage: Stage) -> None:
    def missing(numbers: list[float]) -> object:
        raise SandboxError("There is no OCR engine on this machine.")

    stage.tools(sum=missing)


def engine_missing(stage: Stage) -> None:
    stage.patch.setenv("DOCKER_HOST", f"unix://{stage.folder}/nothing.sock")


def image_missing(stage: Stage) -> None:
    stage.engine("No such image: m3bench-sandbox:1", 404)


def disk_full_at_the_engine(stage: Stage) -> None:
    stage.engine("write /var/lib/docker/x: no space left on device")


def sandbox_not_ready(stage: Stage) -> None:
    async def late(*_: object) -> object:
        raise SandboxError("The sandbox was not ready within 50 seconds.")

    stage.patch.setattr(stage.app.backend, "open", late)


def record_full_before(stage: Stage) -> None:
    _fail_once(stage, "received")


def record_full_after(stage: Stage) -> None:
    _fail_once(stage, "answered")


def _fail_once(stage: Stage, name: str) -> None:
    """A disk that is full when the sum is asked for, and not any more when the answer is handed in."""
    store = stage.app.store
    real = getattr(store, name)
    failed: list[bool] = []

    async def write(*given: Any) -> Any:
        if not failed and ("math/sum" in given or name == "answered"):
            failed.append(True)
            raise StoreError("The disk is full: free some disk space.")
        return await real(*given)

    stage.patch.setattr(store, name, write)


def bug_in_the_proxy(stage: Stage) -> None:
    async def call(*_: object) -> object:
        raise ZeroDivisionError

    stage.patch.setattr("m3bench.server.runs.run.Run.call", call)


@dataclass(frozen=True, kw_only=True)
class Case:
    """A fault, and what is said of the run."""

    inject: Callable[[Stage], None]
    fault: str
    words: str
    sandbox: Literal["process", "docker", "inprocess"] = "inprocess"


CASES = [
    Case(inject=crash, fault="tool", words="math/sum crashed: KeyError: 'no such column'"),
    Case(inject=disk_full_in_the_sandbox, fault="sandbox", words="No space left on device"),
    Case(inject=tool_that_cannot_be_loaded, fault="sandbox", words="libgomp.so.1: cannot open shared object file"),
    Case(inject=no_ocr_engine, fault="sandbox", words="no OCR engine on this machine"),
    Case(inject=engine_missing, fault="sandbox", words="No Docker engine answers", sandbox="docker"),
    Case(inject=image_missing, fault="sandbox", words="no image m3bench-sandbox", sandbox="docker"),
    Case(inject=disk_full_at_the_engine, fault="sandbox", words="`docker system prune` makes room", sandbox="docker"),
    Case(inject=sandbox_not_ready, fault="sandbox", words="not ready within 50 seconds"),
    Case(inject=record_full_before, fault="proxy", words="The disk is full: free some disk space."),
    Case(inject=record_full_after, fault="proxy", words="no answer on record"),
    Case(inject=bug_in_the_proxy, fault="proxy", words="ZeroDivisionError"),
]


@asynccontextmanager
async def staged(folder: Path, tasks: Path, patch: pytest.MonkeyPatch, case: Case, **more: Any) -> AsyncIterator[Stage]:
    async with AsyncExitStack() as stack:
        app = App(Settings(data=folder / "data", tasks=tasks, sandbox=case.sandbox, **more))
        stage = Stage(app, patch, folder, stack)
        if case.sandbox == "docker":
            case.inject(stage)  # before the engine is looked for
        await stack.enter_async_context(app.lifespan())
        yield stage


async def play(stage: Stage, case: Case, ask: Ask) -> dict[str, Any]:
    """A run with a call that works, one that the fault meets, and an answer; what `score` gives."""
    assert not (await ask("start_task", {"task_id": "sum-1"})).get("isError")
    if case.sandbox != "docker":
        case.inject(stage)
    lost = await ask("math__sum", SUM)
    assert lost["isError"], lost
    stage.patch.undo()
    await ask("math__mean", MEAN)
    assert not (await ask("submit", {"answer": "108"})).get("isError")
    return await ask("score", {})


@pytest.mark.sample(8)
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.inject.__name__)
@pytest.mark.parametrize("way", WAYS)
async def test_a_fault_that_is_not_the_clients_makes_a_run_void(
    way: str, case: Case, tmp_path: Path, task_set: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with anyio.fail_after(120):
        async with staged(tmp_path, task_set, monkeypatch, case) as stage, WAYS[way](stage.app) as ask:
            result = await play(stage, case, ask)
    card, text = result["_meta"][CARD], result["content"][0]["text"]
    assert card["void"]["fault"] == case.fault
    assert case.words in card["void"]["words"]
    assert "void: this run is not scored" in text
    for numbers in (card, card["paper"]):
        assert set(numbers["metrics"].values()) == {None}
        assert numbers["ranges"] == {}
    assert (card["success"], card["improvements"], card["reasons"]) == (None, [], {})
    assert "average" not in text

    found = read_resultset(tmp_path / "data")
    assert found.results == ()
    assert [(sample.task, sample.fault, sample.reason) for sample in found.void] == [
        ("sum-1", case.fault, card["void"]["words"])
    ]
    with pytest.raises(InputFileError, match="no scored run"):
        pack(tmp_path / "data", tmp_path / "bundle.zip")
    live = LiveRecord(RecordLocation(tmp_path / "data"), lambda mode: True)
    try:
        (run,), (line,) = live.runs(), live.standings()
        assert (run.state, run.average, run.success) == ("void", None, None)
        assert (line.scored, line.void, line.average) == (0, 1, None)
    finally:
        live.close()


@pytest.mark.parametrize("way", WAYS)
async def test_a_host_that_is_killed_at_work_makes_a_run_void(
    way: str, tmp_path: Path, task_set: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    hosts = Hosts(tmp_path / "data", "process")

    case = Case(inject=lambda stage: hosts.pause(), fault="sandbox", words="host", sandbox="process")
    with anyio.fail_after(120):
        async with staged(tmp_path, task_set, monkeypatch, case) as stage, WAYS[way](stage.app) as ask:
            await ask("start_task", {"task_id": "sum-1"})
            assert not (await ask("math__mean", MEAN)).get("isError")
            case.inject(stage)
            answers: list[dict[str, Any]] = []

            async def sum_up() -> None:
                answers.append(await ask("math__sum", SUM))

            async with anyio.create_task_group() as tasks:
                tasks.start_soon(sum_up)
                await anyio.wait_all_tasks_blocked()
                hosts.kill()
            assert answers[0]["isError"]
            await ask("submit", {"answer": "108"})
            card = (await ask("score", {}))["_meta"][CARD]
    assert card["void"]["fault"] == case.fault
    assert case.words in card["void"]["words"]
    assert set(card["metrics"].values()) == {None}


@pytest.mark.parametrize("way", WAYS)
async def test_what_the_client_the_world_and_a_limit_do_is_scored(
    way: str, tmp_path: Path, task_set: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def gap(numbers: list[float]) -> object:
        raise ToolError("No such town.", outcome="gap")

    def absent(numbers: list[float]) -> object:
        raise ToolError("There is no such file.")

    case = Case(inject=lambda stage: stage.tools(sum=lambda numbers: 108, median=gap, mode=absent), fault="", words="")
    with anyio.fail_after(120):
        async with staged(tmp_path, task_set, monkeypatch, case, max_calls=5) as stage, WAYS[way](stage.app) as ask:
            await ask("start_task", {"task_id": "sum-1"})
            case.inject(stage)
            for name in ("math__median", "math__mode", "math__sum"):
                await ask(name, SUM)
            for _ in range(4):
                await ask("math__mean", MEAN)
            await ask("submit", {"answer": "108"})
            card = (await ask("score", {}))["_meta"][CARD]
    assert card["void"] is None
    assert card["excluded"] == {"limit": 2, "world": 1}
    assert card["metrics"]["average"] is not None
    assert card["success"] is True
