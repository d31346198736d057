"""Host processes: how they start, what is said of them, and that none is ever left."""

import json
import os
import random
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import aclosing
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import anyio
import pytest

import m3bench.sandboxes
import m3bench.tasks
from m3bench.sandboxes.backends.base import LACKING, Guard, Prospect, Sandbox, SandboxSpec
from m3bench.sandboxes.backends.bubblewrap import problem
from m3bench.sandboxes.backends.hosted import HostBackend, RunningHost
from m3bench.sandboxes.backends.isolation import HostLimits, Isolation
from m3bench.sandboxes.backends.privileges import within_reach
from m3bench.sandboxes.backends.process import ProcessBackend
from m3bench.sandboxes.selfcheck import processes
from m3bench.tasks.errors import SandboxError, UnknownToolError

pytestmark = pytest.mark.anyio

NOTHING = Isolation(bubblewrap=False, landlock=False, namespaces=False, seccomp=False, own_user=False, limited=False)


async def _call(sandbox: Sandbox, tool: str, seconds: float = 30, **arguments: object) -> str:
    reply = await sandbox.call(f"probe/{tool}", json.dumps(arguments).encode(), seconds)
    return "".join(block["text"] for block in json.loads(reply.result)["content"])


async def _nobody(folder: Path) -> None:
    with anyio.fail_after(30):
        while processes(folder):  # noqa: ASYNC110 - other processes end when they end
            await anyio.sleep(0.02)


@pytest.fixture(autouse=True)
def nothing_is_left(tmp_path: Path) -> Iterator[None]:
    """After each test no process works in its folder and no descriptor is open."""
    before = len(os.listdir("/proc/self/fd")) if os.path.isdir("/proc/self/fd") else 0
    yield
    assert processes(tmp_path) == []
    if before:
        assert len(os.listdir("/proc/self/fd")) <= before + 1


KILLS = int(os.environ.get("M3BENCH_KILLS", "20"))
LIVES = 200 if os.environ.get("M3BENCH_FULL") else 70
SUPERUSER = hasattr(os, "geteuid") and os.geteuid() == 0


@pytest.mark.skipif(sys.platform != "linux", reason="what is missing depends on the platform")
@pytest.mark.parametrize(
    ("isolation", "lacking", "reasons"),
    [
        (Isolation(bubblewrap=False), {"others"}, ["bubblewrap is switched off"]),
        (Isolation(seccomp=False), {"sockets", "kernel"}, ["seccomp is switched off"]),
        (Isolation(limited=False), {"memory", "forks", "disk"}, ["limits are switched off"]),
        (
            NOTHING,
            {"files", "network", "sockets", "others", "kernel", "memory", "forks", "disk"},
            [
                "bubblewrap is switched off",
                "Landlock is switched off",
                "seccomp is switched off",
                "limits are switched off",
            ],
        ),
    ],
    ids=["without-bubblewrap", "without-seccomp", "without-limits", "with-nothing"],
)
async def test_what_a_platform_lacks_is_said_in_one_sentence(
    tmp_path: Path, isolation: Isolation, lacking: set[Guard], reasons: list[str]
) -> None:
    if isolation.bubblewrap and problem() is not None:
        pytest.skip(str(problem()))
    if SUPERUSER and not isolation.own_user:
        lacking = {*lacking, "user"}
    async with ProcessBackend(isolation) as backend:
        expected = backend.prospect()
        sandbox = await backend.open(SandboxSpec(workspace=tmp_path))
    (said,) = sandbox.notices
    assert {guard for guard, words in LACKING.items() if words in said} >= lacking == set(LACKING) - sandbox.guards
    assert all(reason in said for reason in reasons)
    assert expected == (sandbox.guards, sandbox.notices)


@pytest.mark.skipif(problem() is not None, reason=str(problem()))
async def test_with_bubblewrap_nothing_is_lacking(tmp_path: Path) -> None:
    async with ProcessBackend() as backend:
        sandbox = await backend.open(SandboxSpec(workspace=tmp_path))
        assert sandbox.notices == ()


@pytest.mark.skipif(not SUPERUSER, reason="only root runs tools as somebody else")
async def test_what_root_starts_has_a_user_of_its_own_and_root_has_the_files_back(tmp_path: Path) -> None:
    places = [tmp_path / "one", tmp_path / "two"]
    users = set()
    async with ProcessBackend() as backend:
        for place in places:
            place.mkdir()
            (place / "given.txt").write_text("given")
            sandbox = await backend.open(SandboxSpec(workspace=place, servers=("probe",)))
            assert await _call(sandbox, "write", path="given.txt", text="written") == "written"
            (place / "later.txt").write_text("later")
            await sandbox.take(["later.txt"])
            assert await _call(sandbox, "write", path="later.txt", text="written") == "written"
            users.add(json.loads(await _call(sandbox, "who"))["user"])
            await sandbox.aclose()
    assert len(users) == 2
    assert 0 not in users
    assert {path.stat().st_uid for place in places for path in (place, *place.rglob("*"))} == {0}


UNPRIVILEGED = """
import anyio, json, sys
from pathlib import Path
from m3bench.sandboxes.backends.isolation import Isolation
from m3bench.sandboxes.backends.process import ProcessBackend
from m3bench.sandboxes.selfcheck import CHECKS, run_check

async def main():
    async with ProcessBackend(Isolation(**json.loads(sys.argv[2]))) as backend:
        for number, check in enumerate(CHECKS):
            if check.needs not in (None, "process"):
                place = Path(sys.argv[1], str(number))
                place.mkdir()
                print(json.dumps((await run_check(check, backend, place)).__dict__), flush=True)

anyio.run(main)
"""


@pytest.mark.slow
@pytest.mark.skipif(not SUPERUSER or sys.platform != "linux", reason="only root can become somebody else")
@pytest.mark.parametrize("switches", [{}, {"bubblewrap": False}], ids=["bubblewrap", "without-bubblewrap"])
async def test_the_walls_are_the_same_for_somebody_who_is_not_root(switches: dict[str, bool]) -> None:
    python = sys.executable if within_reach([Path(sys.executable), Path(sys.base_prefix)]) else "/usr/bin/python3"
    libraries = [path for path in sys.path if path.endswith("site-packages") and within_reach([Path(path)])]
    nobody: dict[str, Any] = {
        "user": 65534, "group": 65534, "extra_groups": [], "cwd": "/", "capture_output": True, "text": True,
        "env": {"PYTHONDONTWRITEBYTECODE": "1", "PATH": "/usr/bin:/bin"},
    }  # fmt: skip
    with TemporaryDirectory(prefix="m3bench-unprivileged-", dir="/tmp") as folder:
        os.chmod(folder, 0o777)
        tree = Path(folder, "tree", "m3bench")
        tree.mkdir(parents=True)
        for package in (m3bench.sandboxes, m3bench.tasks):
            (tree / package.__name__.rpartition(".")[2]).symlink_to(package.__path__[0])
        nobody["env"]["PYTHONPATH"] = os.pathsep.join([str(tree.parent), *libraries])
        version = f"{sys.version_info.major}.{sys.version_info.minor}."
        run = [python, "-c", UNPRIVILEGED, folder, json.dumps(switches)]
        try:
            asked = subprocess.run([python, "-c", "import sys, m3bench.sandboxes; print(sys.version)"], **nobody)
        except OSError as error:
            pytest.skip(f"no Python that others can run: {error}")
        if not asked.stdout.startswith(version):
            pytest.skip(f"no Python {version} that others can run: {asked.stderr[-300:]}")
        done = subprocess.run(run, timeout=300, check=True, **nobody)
    verdicts = [json.loads(line) for line in done.stdout.splitlines()]
    assert [verdict for verdict in verdicts if verdict["state"] == "failed"] == []
    skipped = {"other_processes_cannot_be_seen"} if switches or problem() is not None else set()
    assert {verdict["check"] for verdict in verdicts if verdict["state"] == "skipped"} == skipped


async def test_a_missing_workspace_is_named(tmp_path: Path) -> None:
    async with ProcessBackend() as backend:
        with pytest.raises(SandboxError, match=r"no folder '.*nowhere'"):
            await backend.open(SandboxSpec(workspace=tmp_path / "nowhere"))


async def test_a_host_that_cannot_start_says_why_and_how_to_see_more(tmp_path: Path) -> None:
    starving = Isolation(bubblewrap=False, limits=HostLimits(address_space=1))
    async with ProcessBackend(starving) as backend:
        with pytest.raises(SandboxError) as caught:
            await backend.open(SandboxSpec(workspace=tmp_path))
    assert "A host cannot be started" in str(caught.value)
    assert "python -m m3bench.sandboxes.host" in str(caught.value)


async def test_an_unknown_server_is_the_callers_mistake(tmp_path: Path) -> None:
    async with ProcessBackend() as backend:
        with pytest.raises(UnknownToolError):
            await backend.open(SandboxSpec(workspace=tmp_path, servers=("nobody",)))


async def test_an_error_passes_through_the_backend_as_it_is(tmp_path: Path) -> None:
    async def fail() -> None:
        async with ProcessBackend() as backend:
            await backend.open(SandboxSpec(workspace=tmp_path))
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        await fail()


class Faltering(HostBackend):
    """A process backend that fails some starts and counts those under way."""

    name = "faltering"

    def __init__(self, failures: int = 0, starts: int = 4) -> None:
        super().__init__(starts=starts)
        self.failures = failures
        self.launched = 0
        self.most = 0
        self._inner = ProcessBackend(NOTHING)

    def prospect(self) -> Prospect:
        return self._inner.prospect()

    async def launch(self, workspace: Path) -> RunningHost:
        self.launched += 1
        # All permits but those in use are free; the rest are starts under way.
        self.most = max(self.most, 4 - self.starting.value)
        if self.failures:
            self.failures -= 1
            raise SandboxError("It falters.")
        self._inner._tasks = self._tasks
        return await self._inner.launch(workspace)


async def test_a_start_is_tried_once_more_and_not_again(tmp_path: Path) -> None:
    async with Faltering(failures=1) as backend:
        sandbox = await backend.open(SandboxSpec(workspace=tmp_path, servers=("probe",)))
        assert backend.launched == 2
        assert await _call(sandbox, "echo", text="x") == "x"
    async with Faltering(failures=5) as backend:
        with pytest.raises(SandboxError, match="It falters"):
            await backend.open(SandboxSpec(workspace=tmp_path))
        assert backend.launched == 2


async def test_a_call_that_died_with_its_host_is_not_made_again(tmp_path: Path) -> None:
    async with Faltering() as backend:
        sandbox = await backend.open(SandboxSpec(workspace=tmp_path, servers=("probe",)))
        with pytest.raises(SandboxError, match="killed by signal 9"):
            await _call(sandbox, "crash", code=-9)
        assert backend.launched == 1
        async with anyio.create_task_group() as tasks:
            for _ in range(8):
                tasks.start_soon(_call, sandbox, "resting")
        assert backend.launched == 2


@pytest.mark.slow
async def test_no_more_than_four_hosts_start_at_the_same_time(tmp_path: Path) -> None:
    async with Faltering() as backend, anyio.create_task_group() as tasks:
        for number in range(10):
            place = tmp_path / str(number)
            place.mkdir()
            tasks.start_soon(backend.open, SandboxSpec(workspace=place))
    assert backend.most == 4


@pytest.mark.skipif(sys.platform != "linux", reason="limits are held on Linux")
async def test_a_host_that_used_up_its_time_or_file_size_is_stopped(tmp_path: Path) -> None:
    limits = HostLimits(cpu_seconds=1, file_bytes=1_000_000)
    async with ProcessBackend(Isolation(limits=limits)) as backend:
        sandbox = await backend.open(SandboxSpec(workspace=tmp_path, servers=("probe",)))
        assert "File too large" in await _call(sandbox, "write", path="big.txt", text="x" * 2_000_000)
        with pytest.raises(SandboxError, match="The host"):
            await _call(sandbox, "spin")
        assert await _call(sandbox, "echo", text="x") == "x"


async def test_a_module_in_the_workspace_is_not_imported(tmp_path: Path) -> None:
    for name in ("json", "anyio", "m3bench", "sitecustomize", "usercustomize"):
        (tmp_path / f"{name}.py").write_text("raise SystemExit('taken over')")
    async with ProcessBackend() as backend:
        sandbox = await backend.open(SandboxSpec(workspace=tmp_path, servers=("probe",)))
        assert await _call(sandbox, "echo", text="x") == "x"


SERVER = """
import anyio, json, signal, sys
from pathlib import Path
from m3bench.sandboxes.backends.base import SandboxSpec
from m3bench.sandboxes.backends.isolation import Isolation
from m3bench.sandboxes.backends.process import ProcessBackend

async def main():
    async with ProcessBackend(Isolation(**json.loads(sys.argv[2]))) as backend, anyio.create_task_group() as tasks:
        for tool in sys.argv[3:]:
            place = Path(sys.argv[1], tool)
            place.mkdir()
            sandbox = await backend.open(SandboxSpec(workspace=place, servers=("probe",)))
            await sandbox.call("probe/fork", b'{"times": 2}')
            await sandbox.call("probe/daemonise", b'{"times": 2}')
            await sandbox.call("probe/keep_forking", b"{}")
            tasks.start_soon(sandbox.call, f"probe/{tool}", b"{}")
        await anyio.wait_all_tasks_blocked()
        print("ready", flush=True)
        await anyio.sleep_forever()

signal.signal(signal.SIGHUP, signal.SIG_DFL)  # whatever started the tests may ignore it, as nohup does
anyio.run(main)
"""
"""A server whose tools fork, leave their session, fork on without an end, and then keep busy in a way of their own."""

ALONE = {"bubblewrap": False}
PLAIN = {
    "bubblewrap": False, "landlock": False, "namespaces": False, "seccomp": False, "own_user": False, "limited": False,
}  # fmt: skip


async def _serve_and_kill(folder: Path, switches: dict[str, bool], number: int, tools: Sequence[str]) -> None:
    """Start a server, end it by a signal, and see that two seconds later nothing is left."""
    command = [sys.executable, "-P", "-c", SERVER, str(folder), json.dumps(switches), *tools]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as server:
        assert server.stdout is not None
        assert server.stdout.readline() == b"ready\n"
        assert len(processes(folder)) > 5 * len(tools)
        server.send_signal(number)
    with anyio.fail_after(2):
        while processes(folder):  # noqa: ASYNC110 - other processes end when they end
            await anyio.sleep(0.02)


@pytest.mark.skipif(not Path("/proc").exists(), reason="processes are found through /proc")
@pytest.mark.parametrize(
    ("switches", "number", "tools"),
    [
        pytest.param(
            {}, signal.SIGKILL, ["rest", "spin"], id="with-bubblewrap",
            marks=pytest.mark.skipif(problem() is not None, reason=str(problem())),
        ),
        pytest.param(ALONE, signal.SIGKILL, ["rest", "hang_loop", "spin"], id="without-bubblewrap"),
        pytest.param(PLAIN, signal.SIGKILL, ["hang_loop"], id="with-nothing"),
        pytest.param(ALONE, signal.SIGHUP, ["rest"], id="closed-terminal"),
        pytest.param(ALONE, signal.SIGSEGV, ["rest"], id="crash"),
    ],
)  # fmt: skip
async def test_nothing_outlives_a_server(
    tmp_path: Path, switches: dict[str, bool], number: int, tools: list[str]
) -> None:
    await _serve_and_kill(tmp_path, switches, number, tools)


@pytest.mark.kills
@pytest.mark.skipif(not Path("/proc").exists(), reason="processes are found through /proc")
@pytest.mark.parametrize("switches", [ALONE, PLAIN], ids=["without-bubblewrap", "with-nothing"])
async def test_nothing_outlives_any_of_many_servers(tmp_path: Path, switches: dict[str, bool]) -> None:
    for life in range(KILLS):
        place = tmp_path / str(life)
        place.mkdir()
        await _serve_and_kill(place, switches, signal.SIGKILL, ["rest", "hang_loop", "spin"][life % 3 :][:1])


@pytest.mark.skipif(not Path("/proc").exists(), reason="processes are found through /proc")
@pytest.mark.parametrize("switches", [{}, ALONE, PLAIN], ids=["bubblewrap", "without-bubblewrap", "with-nothing"])
async def test_nothing_outlives_a_run(tmp_path: Path, switches: dict[str, Any]) -> None:
    async with ProcessBackend(Isolation(**switches)) as backend:
        sandbox = await backend.open(SandboxSpec(workspace=tmp_path, servers=("probe",)))
        await _call(sandbox, "daemonise", times=2)
        await _call(sandbox, "keep_forking")
        assert len(processes(tmp_path)) > 3
        await sandbox.aclose()
        assert processes(tmp_path) == []


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux can keep a process from sending signals")
async def test_a_tool_cannot_kill_what_would_end_it(tmp_path: Path) -> None:
    async with ProcessBackend(Isolation(bubblewrap=False)) as backend:
        sandbox = await backend.open(SandboxSpec(workspace=tmp_path, servers=("probe",)))
        assert json.loads(await _call(sandbox, "signal_parents")) == {"reached": []}


ENDINGS = ("close", "crash", "kill", "kill-one", "abandon", "cancel-start", "kill-start")


@pytest.mark.kills
@pytest.mark.skipif(not Path("/proc").exists(), reason="processes are found through /proc")
async def test_many_lives_with_random_ends_leave_nothing(tmp_path: Path) -> None:
    # Each life has dice of its own: which worker comes first must not decide what is tried.
    lives = [(life, ENDINGS[life % len(ENDINGS)]) for life in range(LIVES)]
    random.Random(7).shuffle(lives)
    threads = len(os.listdir("/proc/self/task"))

    async def worker(backend: ProcessBackend) -> None:
        while lives:
            life, ending = lives.pop()
            place = tmp_path / f"{life:03}"
            place.mkdir()
            await _live(backend, place, ending, random.Random(life))
            await _nobody(place)
            shutil.rmtree(place)

    with anyio.fail_after(300):
        async with (
            ProcessBackend() as bubblewrapped,
            ProcessBackend(Isolation(bubblewrap=False)) as confined,
            ProcessBackend(NOTHING) as plain,
            anyio.create_task_group() as tasks,
        ):
            for backend in (bubblewrapped, bubblewrapped, bubblewrapped, confined, confined, confined, plain, plain):
                tasks.start_soon(worker, backend)
    assert list(tmp_path.iterdir()) == []
    # A thread for each of the eight workers may wait for more to do.
    assert len(os.listdir("/proc/self/task")) <= threads + 8


async def _live(backend: ProcessBackend, place: Path, ending: str, dice: random.Random) -> None:
    spec = SandboxSpec(workspace=place, servers=("probe",))
    if ending == "cancel-start":
        with anyio.move_on_after(dice.random() * 0.3):
            await (await backend.open(spec)).aclose()
        return
    if ending == "kill-start":
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(_kill_once_seen, place, dice)
            sandbox = await backend.open(spec)
            await sandbox.aclose()
            tasks.cancel_scope.cancel()
        return
    sandbox = await backend.open(spec)
    async with aclosing(sandbox), anyio.create_task_group() as tasks:
        for _ in range(dice.randrange(3)):
            tasks.start_soon(_rest, sandbox)
        await _call(sandbox, "echo", text="x")
        match ending:
            case "crash":
                with pytest.raises(SandboxError):
                    await _call(sandbox, "crash", code=dice.choice([0, 1, -9, -11]))
            case "kill":
                sandbox.kill()
            case "kill-one":
                _kill(dice.choice(processes(place)))
            case "abandon":
                tasks.cancel_scope.cancel()
        if dice.random() < 0.3:
            # A call on the way out may find a host dying.
            await _rest(sandbox, 0.01)
        await sandbox.aclose()


async def _rest(sandbox: Sandbox, seconds: float = 60) -> None:
    with pytest.raises(SandboxError):
        await _call(sandbox, "rest", seconds)


async def _kill_once_seen(place: Path, dice: random.Random) -> None:
    while not processes(place):  # noqa: ASYNC110 - another process appears when it appears
        await anyio.sleep(0.005)
    _kill(dice.choice(processes(place) or [0]))


def _kill(pid: int) -> None:
    if pid:
        try:
            os.kill(pid, signal.SIGKILL)
        except ProcessLookupError:
            return
