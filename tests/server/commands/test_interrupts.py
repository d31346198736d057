"""Ctrl-C at any moment: a line, exit code 130, and nothing left: no process, no temporary file, no lock.

It goes to every process of the command, as a terminal sends it. `make test` presses once for three commands and
`make test-all` four times for each, at moments spread over all that it does; M3BENCH_PRESSES=60 makes that sixty.
"""

import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from tempfile import mkdtemp

import anyio
import pytest

from m3bench.server.serving import interrupts
from m3bench.tasks.errors import is_ctrl_c
from tests.art import art
from tests.waiting import eventually

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="signals")

PRESSES = int(os.environ.get("M3BENCH_PRESSES", "4"))
SECONDS = 120.0
"""For a command to end, on a machine that does other things too."""
PROGRAM = "from m3bench.server.cli import main; print('begun', flush=True); main()"
"""Until our first line runs, Ctrl-C is Python's own."""
COMMANDS: dict[str, Sequence[str]] = {
    "run": ("run", "--agent", "oracle", "--limit", "4", "--parallel", "2", "-o", "out"),
    "study": ("lab", "study", "plan.yaml"),
    "serve": ("serve", "--http", "127.0.0.1:0", "--data", "data"),
    "generate": ("tasks", "generate", "--seed", "5", "--family", "movies", "--per-family", "1", "-o", "set"),
    "verify": ("lab", "verify", "../material/results.m3run"),
    "replay": ("tools", "replay", "../material/public/references.json"),
    "leaderboard": ("leaderboard", "../material/results", "-o", "site"),
    "paper": ("lab", "paper", "../material/results", "-o", "paper"),
}
LONG = ("serve", "replay")
"""They take longer than anybody waits."""
PLAN = "agents: [oracle, 'null']\nsets:\n  - {name: few, families: [movies], limit: 3}\n"
HELPERS = 2
"""A command that makes a set has more processes: itself, one that looks after what they share, and its workers."""
HARMLESS = ("opening.lock",)
"""Files that stay in a record: what counts is whether somebody holds them."""


class Pressed:
    """A command that somebody started in a folder of its own and stopped.

    Args:
        folder: The folder.
        words: The command.
        after: When to press, in seconds after it began; None for never.
        terminate: Instead, end the process alone, as a service manager does, once it has helpers at work.
    """

    def __init__(self, folder: Path, words: Sequence[str], after: float | None, *, terminate: bool = False) -> None:
        self._folder = folder
        self._temporary = folder / "tmp"
        self._temporary.mkdir(parents=True)
        (folder / "plan.yaml").write_text(PLAN)
        environment = {**os.environ, "TMPDIR": str(self._temporary), "M3BENCH_DATA": str(folder / "own")}
        self._mark = f"PRESSED={folder}".encode()
        process = subprocess.Popen(
            [sys.executable, "-c", PROGRAM, *words], cwd=folder, env={**environment, "PRESSED": str(folder)},
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True,
        )  # fmt: skip
        assert process.stdout is not None
        assert process.stdout.readline() == "begun\n"
        if after is not None:
            try:
                process.wait(after)
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, signal.SIGINT)
        if terminate:
            eventually(lambda: len(self._alive()) > HELPERS, "helpers are at work", SECONDS)
            process.terminate()
        try:
            self.out, self.errors = process.communicate(timeout=SECONDS)
        finally:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
        self.code = process.returncode

    def left(self) -> list[str]:
        """What there still is of it."""
        eventually(lambda: not self._alive(), "its processes end", SECONDS)
        locks = [path for path in self._folder.rglob("*.lock") if path.name not in HARMLESS]
        return [str(path) for path in (*self._temporary.iterdir(), *locks)]

    def _alive(self) -> list[str]:
        found = []
        for path in Path("/proc").glob("[0-9]*/environ"):
            try:
                if self._mark in path.read_bytes():
                    found.append(path.parent.name)
            except OSError:
                continue
        return found


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the material that some of the commands need."""
    folder = tmp_path_factory.mktemp("pressed")
    (folder / "material").mkdir()
    for words in (
        ("run", "--agent", "oracle", "--limit", "2", "-o", "results"),
        ("lab", "pack", "results", "-o", "results.m3run"),
        ("tasks", "export", "-o", "public"),
    ):
        command = [sys.executable, "-m", "m3bench.server.cli", *words]
        subprocess.run(command, cwd=folder / "material", check=True, capture_output=True)
    return folder


def press(folder: Path, name: str, after: float) -> None:
    # A second try must not find what the first one left.
    folder.parent.mkdir(parents=True, exist_ok=True)
    folder = Path(mkdtemp(prefix=f"{folder.name}-", dir=folder.parent))
    found = Pressed(folder, COMMANDS[name], after)
    lines = found.errors.splitlines()
    assert "Traceback" not in found.errors, (after, found.errors)
    assert found.left() == [], after
    if found.code in (0, 1):
        # It was done already: everything was printed, or written.
        assert found.out or "Written to" in found.errors or "written" in found.errors.lower(), (after, found.errors)
    else:
        assert found.code == 130, (after, found.errors)
        assert lines[-1].startswith(("m3bench: stopped", "Stopped; what was finished is kept")), (after, lines)
    shutil.rmtree(folder)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["run", "generate", "serve"])
def test_ctrl_c_is_a_line_and_leaves_nothing(name: str, tmp_path: Path) -> None:
    press(tmp_path / "one", name, 2.5)


@pytest.mark.slow
def test_a_set_in_the_making_that_is_told_to_end_leaves_no_process(tmp_path: Path) -> None:
    art()
    found = Pressed(tmp_path / "one", COMMANDS["generate"], None, terminate=True)
    assert found.left() == []
    assert (found.code, found.errors.splitlines()[-1]) == (130, "m3bench: stopped")


@pytest.mark.all_sample(1)
@pytest.mark.slow
@pytest.mark.parametrize("name", COMMANDS)
def test_ctrl_c_at_any_moment_is_a_line_and_leaves_nothing(name: str, place: Path) -> None:
    whole = 8.0 if name in LONG else _duration(place / f"{name}-whole", name)
    for number in range(PRESSES):
        press(place / f"{name}-{number}", name, whole * (number + 0.5) / PRESSES)


def _duration(folder: Path, name: str) -> float:
    from time import monotonic

    begun = monotonic()
    done = Pressed(folder, COMMANDS[name], None)
    assert done.code in (0, 1), done.errors
    return monotonic() - begun


def test_what_runs_is_cancelled_and_cleans_up_before_ctrl_c_is_told() -> None:
    said: list[str] = []

    async def work() -> None:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(part)
            os.kill(os.getpid(), signal.SIGINT)

    async def part() -> None:
        try:
            await anyio.sleep_forever()
        finally:
            with anyio.CancelScope(shield=True):
                # An impatient person: that changes nothing.
                os.kill(os.getpid(), signal.SIGINT)
                await anyio.wait_all_tasks_blocked()
                said.append("clean")

    with pytest.raises(KeyboardInterrupt):
        interrupts.run(work)
    assert said == ["clean"]


def test_what_fails_fails_as_it_is_and_what_ends_gives_its_result() -> None:
    async def fail() -> None:
        raise ValueError("as it is")

    async def give(number: int) -> int:
        return number

    with pytest.raises(ValueError, match="as it is"):
        interrupts.run(fail)
    assert interrupts.run(give, 7) == 7


def test_what_libraries_make_of_ctrl_c_is_known_for_what_it_is() -> None:
    wrapped = BaseExceptionGroup("tasks", [ValueError("other"), BaseExceptionGroup("more", [KeyboardInterrupt()])])
    assert is_ctrl_c(wrapped)
    assert is_ctrl_c(ValueError('Error building "model" validator:\n  KeyboardInterrupt: '))
    caused = RuntimeError("in between")
    caused.__context__ = KeyboardInterrupt()
    assert is_ctrl_c(caused)
    assert not is_ctrl_c(ExceptionGroup("tasks", [ValueError("other")]))


def test_a_ctrl_c_that_python_throws_away_comes_again(tmp_path: Path) -> None:
    program = """
import signal, sys
from m3bench.server import cli

class Thing:
    def __del__(self):
        signal.raise_signal(signal.SIGINT)

def run():
    thing = Thing()
    del thing
    signal.pause()

cli._run = run
cli.main()
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=SECONDS, check=False)
    assert (done.returncode, done.stderr) == (130, "m3bench: stopped\n")
