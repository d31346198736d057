"""`inspect eval m3bench/m3`: the benchmark from within Inspect."""

import os
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from m3bench.server.lab.results.resultset import read_resultset
from tests.server.lab.headless.scripts import SCRIPT, three_tasks, write_script

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[4]


def installed(folder: Path) -> Path:
    """A folder for the import path that holds the entry points of `pyproject.toml`."""
    points = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["entry-points"]["inspect_ai"]
    info = folder / "entry_points_of_m3bench-0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: entry-points-of-m3bench\nVersion: 0\n")
    lines = [f"{name} = {module}" for name, module in points.items()]
    (info / "entry_points.txt").write_text("\n".join(["[inspect_ai]", *lines]))
    return folder


def test_inspect_runs_the_benchmark_by_name(tmp_path: Path) -> None:
    tasks = three_tasks(tmp_path / "set")
    model = write_script(tmp_path / "script.json", SCRIPT)
    data = tmp_path / "data"
    given = {"tasks": tasks, "data": data, "family": "survey,sums", "limit": 2, "profile": "task", "solver": "react"}
    parameters = [part for name, value in given.items() for part in ("-T", f"{name}={value}")]
    options = ["--display", "plain", "--log-dir", str(tmp_path / "logs"), "--ctl-server", "false"]
    done = subprocess.run(
        [sys.executable, "-m", "inspect_ai", "eval", "m3bench/m3", "--model", model, *parameters, *options],
        capture_output=True,
        text=True,
        timeout=300,
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(installed(tmp_path))},
    )
    assert done.returncode == 0, done.stdout + done.stderr

    from inspect_ai.log import read_eval_log

    (path,) = (tmp_path / "logs").glob("*.eval")
    log = read_eval_log(path)
    assert log.status == "success", [sample.error for sample in log.samples or []]
    averages = {sample.id: sample.scores["scorecard"].value["average"] for sample in log.samples or []}  # type: ignore[call-overload]
    recorded = {result.sample.task: result.card.average for result in read_resultset(data).results}
    assert averages == recorded
    assert averages["survey-1"] == 1.0
    assert len(averages) == 2


def test_inspects_own_mock_model_plays_without_a_network(tmp_path: Path) -> None:
    tasks = three_tasks(tmp_path / "set")
    given = {"tasks": tasks, "data": tmp_path / "data", "limit": 1, "profile": "task", "max_steps": 3}
    parameters = [part for name, value in given.items() for part in ("-T", f"{name}={value}")]
    options = ["--display", "plain", "--log-dir", str(tmp_path / "logs"), "--ctl-server", "false"]
    nowhere = dict.fromkeys(("http_proxy", "https_proxy", "HTTP_PROXY", "HTTPS_PROXY"), "http://127.0.0.1:9")
    environment = {
        **os.environ, **nowhere, "PYTHONPATH": str(installed(tmp_path)), "TIKTOKEN_CACHE_DIR": str(tmp_path / "none"),
    }  # fmt: skip
    done = subprocess.run(
        [sys.executable, "-m", "inspect_ai", "eval", "m3bench/m3", "--model", "mockllm/model", *parameters, *options],
        capture_output=True,
        text=True,
        timeout=300,
        cwd=tmp_path,
        env=environment,
    )
    assert done.returncode == 0, done.stdout + done.stderr

    from inspect_ai.log import read_eval_log

    (path,) = (tmp_path / "logs").glob("*.eval")
    log = read_eval_log(path)
    assert log.status == "success"
    (sample,) = log.samples or []
    assert sample.error is None
    assert sample.scores is not None
    assert sample.scores["scorecard"].value["average"] == 0.0  # type: ignore[call-overload]
