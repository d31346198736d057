"""Clients that people use sign in from their command lines, play a task, and renew their tokens in the middle of it.

Whoever signs in is a person with a browser in practice: here an HTTP client that goes where the program says. Claude
Code and Codex would say who they are by documents of their vendors; a server that may not read them has them register.
"""

import fcntl
import os
import pty
import re
import signal
import struct
import subprocess
import termios
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Protocol

import httpx2
import pytest

from m3bench.server.clients.client import NAME
from m3bench.server.clients.installation import program
from m3bench.server.clients.table import clients
from m3bench.server.clients.trial.conversation import Request, Saying
from m3bench.server.clients.trial.model import Model
from m3bench.server.clients.trial.script import TrialScript, turns_of
from m3bench.server.clients.trial.starts import STARTS
from m3bench.server.scorecard.migration import card_of
from m3bench.server.store.sqlite import SqliteStore
from m3bench.tasks.library import Library
from tests.clients.node import Node
from tests.clients.people import signing_in
from tests.clients.real.programs import missing
from tests.clients.test_openid import providing
from tests.sets import write_set

pytestmark = [pytest.mark.clients, pytest.mark.skipif(os.name == "nt", reason="needs a terminal of its own")]

SECONDS = 240.0

LOGINS = {
    "claude-code": ("mcp", "login", NAME, "--no-browser"),
    "codex": ("mcp", "login", NAME, "--no-browser", "--oauth-client-registration", "dcr"),
    "opencode": ("mcp", "auth", NAME),
}
"""What each is asked to sign in with; the first two then read where the browser was sent back."""


@contextmanager
def terminal(command: list[str], env: dict[str, str], folder: Path) -> Iterator[tuple[int, "subprocess.Popen[bytes]"]]:
    """A program in a terminal of its own, wide enough for an address."""
    ours, its = pty.openpty()
    fcntl.ioctl(its, termios.TIOCSWINSZ, struct.pack("HHHH", 50, 4000, 0, 0))
    process = subprocess.Popen(command, env=env, cwd=folder, stdin=its, stdout=its, stderr=its, start_new_session=True)
    os.close(its)
    stop = threading.Timer(SECONDS, os.killpg, (process.pid, signal.SIGKILL))
    stop.start()
    try:
        yield ours, process
    finally:
        stop.cancel()
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        os.close(ours)


class Signing(Protocol):
    """A server with sign-in, here or at a provider."""

    url: str

    def allow(self, address: str, name: str) -> str:
        """Go where a client sends its person, and allow it; returns the address that leads back to the client."""
        ...

    def expire(self) -> int:
        """Have the access tokens run out."""
        ...


def sign_in(command: list[str], env: dict[str, str], folder: Path, server: Signing) -> str:
    """Have a client sign a person in; what it said."""
    said, went = "", False
    address = re.compile(r"(https?://[^\s\x1b\x07]+/auth(?:/authorize)?\?[^\s\x1b\x07]+)[\s\x1b\x07]")
    with terminal(command, env, folder) as (ours, process):
        while True:
            try:
                part = os.read(ours, 65_536)
            except OSError:  # Linux says so when the program has ended.
                part = b""
            if not part:
                break
            said += part.decode("utf-8", "replace")
            found = address.search(said)
            if found and not went:
                went = True
                back = server.allow(found[1], "ann")
                if "--no-browser" in command:
                    os.write(ours, f"{back}\r".encode())
                else:
                    assert httpx2.get(back, timeout=60).status_code == 200
        assert process.wait() == 0, said[-2000:]
    return said


BEFORE = 2
"""Calls before all tokens run out: those that list and start, so that it happens to two calls side by side."""


class Expiring:
    """A model that plays a script, during which all tokens run out once, in the middle of the run."""

    def __init__(self, script: TrialScript, server: Signing, before: int) -> None:
        self._script, self._server, self._before = script, server, before
        self.ran_out = 0

    def answer(self, request: Request) -> Saying:
        saying = self._script.answer(request)
        if len(request.calls) >= self._before and not self.ran_out and saying.calls:
            self.ran_out = self._server.expire()
        return saying


OPTIONS = ("--profile", "task:survey-1", "--content-only")


@pytest.mark.parametrize("key", [*list(LOGINS)[:2], pytest.param("opencode", marks=pytest.mark.night)])
def test_a_client_signs_in_and_plays_on_with_a_new_token(key: str, programs: str, tmp_path: Path) -> None:
    tasks = write_set(tmp_path / "set")
    with signing_in(tasks, tmp_path / "data", *OPTIONS, "--no-documents") as server:
        said = play(key, server, tasks, programs, tmp_path)
    assert averages(tmp_path / "data") == [1.0], said


@pytest.mark.node
@pytest.mark.parametrize("key", [pytest.param(key, marks=pytest.mark.night) for key in ("claude-code", "codex")])
def test_a_client_signs_in_at_a_provider_and_plays_on(key: str, programs: str, node: Node, tmp_path: Path) -> None:
    tasks = write_set(tmp_path / "set")
    with providing(node, tasks, tmp_path / "data", *OPTIONS, seconds=20) as server:
        said = play(key, server, tasks, programs, tmp_path)
    assert averages(tmp_path / "data") == [1.0], said


def play(key: str, server: Signing, tasks: Path, programs: str, folder: Path) -> str:
    """Have a client sign in and play a task, during which all tokens run out; what it said."""
    start = STARTS[key]
    if (reason := missing(start.program)) is not None:
        pytest.skip(reason)
    home, work = folder / "home", folder / "work"
    home.mkdir()
    work.mkdir()
    found = str(Path(programs.partition(os.pathsep)[0]) / start.program)
    script = TrialScript(
        turns_of(Library(tasks).tasks["survey-1"]), lambda tool: clients()[key].naming.shown(NAME, tool)
    )
    expiring = Expiring(script, server, BEFORE)
    with Model(expiring.answer) as model:
        env = {"PATH": programs, "HOME": str(home), "TERM": "dumb", "LANG": "C.UTF-8"}
        start.home(home, model.url)
        install = [*program(), "install", key, "--http", f"{server.url}/mcp"]
        subprocess.run(install, env=env, cwd=work, capture_output=True, check=True, timeout=120)
        filled = {"{url}": model.url, "{home}": str(home), "{port}": "0"}
        env |= {name: fill(value, filled) for name, value in start.env.items()}
        sign_in([found, *LOGINS[key]], env, work, server)
        line = [found, *(fill(part, filled) for part in start.arguments)]
        done = subprocess.run(
            line, env=env, cwd=work, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=SECONDS,
            check=False,
        )  # fmt: skip
    said = f"{done.stdout[-1500:]}\n{done.stderr[-1500:]}"
    assert expiring.ran_out, said
    return said


def averages(data: Path) -> list[float | None]:
    """Of the runs that were scored."""
    store = SqliteStore(data)
    try:
        cards = [card_of(record) for record in store.runs()]
    finally:
        store.close()
    return [card.average for card in cards if card is not None]


def fill(text: str, values: dict[str, str]) -> str:
    for name, value in values.items():
        text = text.replace(name, value)
    return text
