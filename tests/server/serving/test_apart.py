"""Work apart: what it comes to costs the work alone."""

import os
import signal
import socket
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from m3bench.sandboxes.backends import landlock, seccomp
from m3bench.server.serving.apart import WorkLimits, work_apart
from m3bench.tasks.errors import InputFileError, SandboxError

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="there are no forks")

FILE = Path("some.m3run")


def test_what_the_work_gives_or_raises_arrives() -> None:
    assert work_apart(FILE, lambda: {"é": [1, None]}) == {"é": [1, None]}

    def refuse() -> dict[str, Any]:
        raise InputFileError(FILE, "is no bundle")

    def fail() -> dict[str, Any]:
        raise SandboxError("no sandbox")

    with pytest.raises(InputFileError, match=r"^some\.m3run: is no bundle$"):
        work_apart(FILE, refuse)
    with pytest.raises(SandboxError, match="no sandbox"):
        work_apart(FILE, fail)


def test_a_crash_and_every_limit_cost_the_work_alone(tmp_path: Path) -> None:
    def crash() -> dict[str, Any]:
        os.kill(os.getpid(), signal.SIGKILL)
        return {}

    def spin() -> dict[str, Any]:
        while True:
            pass

    def hog() -> dict[str, Any]:
        return {"length": len(bytearray(4 << 30))}

    def fill() -> dict[str, Any]:
        (tmp_path / "large").write_bytes(bytes(2 << 20))
        return {}

    for work, limits in (
        (crash, WorkLimits()),
        (spin, WorkLimits(seconds=0.1)),
        (hog, WorkLimits(memory_bytes=2 << 30)),
        (fill, WorkLimits(file_bytes=1 << 20)),
    ):
        with pytest.raises(InputFileError, match="within the limits"):
            work_apart(FILE, work, limits)
    assert work_apart(FILE, lambda: {"fine": True}) == {"fine": True}


@pytest.mark.skipif(landlock.version() < 6 or seccomp.problem() is not None, reason="the kernel has no such walls")
def test_walls_leave_what_is_to_be_read_and_a_folder_of_its_own(tmp_path: Path) -> None:
    given, other = tmp_path / "given.m3run", tmp_path / "other"
    given.write_text("given")
    other.write_text("other")

    def refused(act: Callable[[], object]) -> bool:
        try:
            act()
        except PermissionError:
            return True
        return False

    def work() -> dict[str, Any]:
        with tempfile.TemporaryDirectory() as name:
            (Path(name) / "here").write_text(given.read_text())
            tried: dict[str, Callable[[], object]] = {
                "read": other.read_text,
                "list": lambda: list(tmp_path.iterdir()),
                "change": lambda: given.write_text("mine"),
                "write": lambda: (tmp_path / "new").write_text("mine"),
                "remove": other.unlink,
                "connect": socket.socket,
                "end": lambda: os.kill(os.getppid(), 0),
                "run": lambda: os.execv(str(other), ["other"]),
            }
            return {"folder": name, "not refused": [what for what, act in tried.items() if not refused(act)]}

    found = work_apart(FILE, work, readable=[given])
    assert found["not refused"] == []
    assert not Path(found["folder"]).parent.exists()
    assert sorted(os.listdir(tmp_path)) == ["given.m3run", "other"]
