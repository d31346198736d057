"""What a server says on standard error as JSON: one object a line, with run and seat, and never a secret."""

import json
import re
import secrets
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.server.conftest import SERVE, serving
from tests.server.lab.live.players import NUMBERS, player

FIELDS = {"time", "level", "logger", "message"}


class logged(serving):
    """A server process whose lines are kept: `lines` has them when it is gone."""

    def __exit__(self, *_: object) -> None:
        self.process.terminate()
        self.text = self.process.communicate(timeout=120)[1]
        self.lines: list[dict[str, Any]] = [json.loads(line) for line in self.text.splitlines()]


@pytest.mark.sample(1)
@pytest.mark.parametrize(("options", "env"), [(["--log", "json"], {}), ([], {"M3BENCH_LOG": "json"})])
def test_every_line_is_an_object_and_those_of_calls_name_run_and_seat(
    options: list[str], env: dict[str, str], task_set: Path, tmp_path: Path
) -> None:
    handle = secrets.token_urlsafe(24)
    arguments = ["--tasks", str(task_set), "--data", str(tmp_path / "data"), "--sandbox", "inprocess"]
    server = logged([*arguments, *options], env=env)
    with server as url:
        with player(url, at=f"/seat/{handle}/mcp") as one:
            run = one.play()
    assert server.lines
    assert all(line.keys() >= FIELDS for line in server.lines)
    calls = [line for line in server.lines if line["message"] == "A call was answered"]
    assert [line["tool"] for line in calls] == ["start_task", "math/sum", "math/sum", "submit", "score"]
    assert [line["outcome"] for line in calls] == ["success", "success", "invalid_arguments", "success", "success"]
    assert {line["run"] for line in calls[:4]} == {run[:12]}
    (seat,) = {line["seat"] for line in calls}
    assert re.fullmatch("[0-9a-f]{8}", seat)
    assert all(0 < line["seconds"] < 300 for line in calls)
    assert handle not in server.text
    assert run not in server.text


def test_what_goes_wrong_in_a_call_names_its_run_and_what_broke(task_set: Path, tmp_path: Path) -> None:
    data, token = tmp_path / "data", secrets.token_hex(16)
    arguments = ["--tasks", str(task_set), "--data", str(data), "--sandbox", "inprocess", "--log", "json"]
    server = logged(arguments, env={"M3BENCH_OPERATOR_TOKEN": token})
    with server as url, player(url) as one:
        run = one.start("sum-1")
        shutil.rmtree(data)
        assert one.call("math__sum", numbers=NUMBERS).is_error
    broken = [line for line in server.lines if line["level"] in ("warning", "error") and line.get("run") == run[:12]]
    assert broken
    assert token not in server.text


def test_lines_are_for_people_unless_asked_for_and_another_form_is_refused(tmp_path: Path) -> None:
    command = [*SERVE, "--http", "127.0.0.1:0", "--data", str(tmp_path), "--log", "xml"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, done.stderr) == (2, "m3bench: --log cannot be 'xml': choose plain or json.\n")
