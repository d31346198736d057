"""`make test` itself: asked what it would do it does nothing, and what it starts is counted and ended."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]


def test_make_can_be_asked_what_it_would_do() -> None:
    done = subprocess.run(["make", "-n", "test"], cwd=ROOT, capture_output=True, text=True, timeout=60, check=True)
    assert "tests.session" in done.stdout
    assert "passed" not in done.stdout


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere no process adopts orphans")
def test_a_process_that_tests_left_behind_is_named_and_ended() -> None:
    program = (
        "import subprocess, sys\nfrom tests import session\n"
        "session.ctypes.CDLL(None).prctl(session._CHILD_SUBREAPER, 1, 0, 0, 0)\nsession._LEAVE_SECONDS = 0.3\n"
        "leave = 'import os, threading; os.fork() or (os.setsid(), threading.Event().wait())'\n"
        "subprocess.run([sys.executable, '-c', leave, 'left-behind'])\n"
        "print(session._left(), session._left())"
    )
    done = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=True)
    first, _, second = done.stdout.strip().rpartition(" ")
    assert "left-behind" in first
    assert second == "[]"
