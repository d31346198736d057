"""m3bench watch: the same in a terminal, from a server or from the folder of any server."""

import os
import pty
import select
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from m3bench.server.store.layout import database
from tests.server.conftest import SERVE
from tests.server.lab.live.conftest import Watched
from tests.server.lab.live.players import NUMBERS, player
from tests.server.lab.reports.stage import play
from tests.sets import write_set

WATCH = [sys.executable, "-m", "m3bench.server.cli", "runs", "watch"]


def m3bench_watch(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    """The command where it has to end by itself."""
    return subprocess.run([*WATCH, *map(str, arguments)], capture_output=True, text=True, check=False, timeout=60)


@contextmanager
def watching(*arguments: str | Path) -> "Iterator[subprocess.Popen[str]]":
    """The command with pipes for a terminal, once it watches; ended by Ctrl-C."""
    process = subprocess.Popen(
        [*WATCH, *map(str, arguments)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    try:
        assert process.stderr is not None
        first = process.stderr.readline()
        assert "watching" in first, first + process.stderr.read()
        yield process
    finally:
        process.send_signal(signal.SIGINT)
        _, rest = process.communicate(timeout=30)
    assert process.returncode == 130
    assert rest == ""


def until(process: "subprocess.Popen[str]", text: str) -> list[str]:
    """The lines up to one that holds a text."""
    assert process.stdout is not None
    found = []
    for line in process.stdout:
        found.append(line)
        if text in line:
            return found
    raise AssertionError(f"{text!r} was never told: {found}")


def test_a_server_is_followed_in_plain_lines(shared: Watched) -> None:
    with watching(shared.url) as process, player(shared.url, "lines") as one:
        run = one.play()
        told = until(process, "average")
    assert f"run {run[:12]}" in told[-1]
    assert any("math/sum" in line and "success" in line for line in told)
    assert any("math/sum" in line and "invalid arguments" in line for line in told)


@pytest.mark.slow
def test_a_folder_is_followed_whatever_server_writes_there(tmp_path: Path) -> None:
    tasks, data = write_set(tmp_path / "set"), tmp_path / "data"
    data.mkdir()
    with watching("--data", data) as process:
        play(data, "sum-1", [[("math/sum", {"numbers": NUMBERS})]], "108", tasks=tasks)
        told = until(process, "average 1.000, solved")
    assert any("math/sum" in line for line in told)


@pytest.mark.slow
def test_a_terminal_shows_tables_and_ctrl_c_ends_them(shared: Watched) -> None:
    with player(shared.url, "terminal") as one:
        one.start("survey-1")
        master, slave = pty.openpty()
        environment = {**os.environ, "TERM": "xterm-256color", "COLUMNS": "120", "LINES": "40"}
        process = subprocess.Popen([*WATCH, shared.url], stdin=slave, stdout=slave, stderr=slave, env=environment)
        os.close(slave)
        seen = b""
        try:
            while b"terminal 1" not in seen or b"survey-1" not in seen:
                assert select.select([master], [], [], 30)[0], seen
                seen += os.read(master, 65536)
        finally:
            process.send_signal(signal.SIGINT)
            while select.select([master], [], [], 10)[0]:
                try:
                    seen += os.read(master, 65536)
                except OSError:
                    break
            assert process.wait(30) == 130
            os.close(master)
    assert b"Traceback" not in seen


def test_nothing_that_answers_is_told_with_what_to_do() -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{free.getsockname()[1]}"
        done = m3bench_watch(url)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith(f"m3bench: Nothing answers at {url}")
    assert "m3bench serve --http" in done.stderr


@pytest.mark.slow
@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["ftp://example.com"], "is not the address of a server"),
        (["http://127.0.0.1:99999999"], "is not the address of a server"),
        (["--data", "nowhere-at-all"], "There is no folder 'nowhere-at-all'"),
        (["http://127.0.0.1:8000", "--data", "."], "Watch a server or a record, not both"),
    ],
)
def test_what_cannot_be_watched_is_told_in_a_line(arguments: list[str], told: str) -> None:
    done = m3bench_watch(*arguments)
    assert done.returncode == 2
    assert told in done.stderr
    assert done.stderr.count("\n") == 1


@pytest.mark.slow
def test_a_record_that_is_none_is_told_in_a_line(tmp_path: Path) -> None:
    database(tmp_path).write_text("no database, but long enough to be taken for one " * 50)
    done = m3bench_watch("--data", tmp_path)
    assert done.returncode == 2
    assert "could not be read" in done.stderr


def test_watching_a_folder_writes_nothing_there(tmp_path: Path) -> None:
    tasks, data = write_set(tmp_path / "set"), tmp_path / "data"
    play(data, "sum-1", [], "108", tasks=tasks)
    before = {path.relative_to(data): path.read_bytes() for path in sorted(data.rglob("*")) if path.is_file()}
    with watching("--data", data):
        pass
    after = {path.relative_to(data): path.read_bytes() for path in sorted(data.rglob("*")) if path.is_file()}
    assert {name for name in after if not name.name.endswith(("-shm", "-wal"))} == set(before)
    assert all(after[name] == content for name, content in before.items())


def test_a_server_over_stdio_has_nothing_of_the_live_view(tmp_path: Path) -> None:
    code = (
        "import sys; sys.argv = ['m3bench', 'serve', *sys.argv[1:]]\n"
        "from m3bench.server.cli import main\n"
        "try: main()\n"
        "except SystemExit: pass\n"
        "print(*[name for name in sys.modules if name.startswith('m3bench.server.lab.live')], file=sys.stderr)"
    )
    command = [SERVE[0], "-c", code, "--data", str(tmp_path / "data")]
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=True, timeout=60)
    assert done.stderr.strip() == ""
