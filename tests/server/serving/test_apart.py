"""Work apart: what it comes to costs the work alone."""

import os
import signal
import sys
from pathlib import Path
from typing import Any

import pytest

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
