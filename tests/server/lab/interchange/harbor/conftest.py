"""An exported task whose containers are a folder and processes here: its own scripts serve it, play it and judge it."""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from socket import socket
from typing import Any

import httpx2
import pytest
from typer.testing import CliRunner

from m3bench.server.commands.program import app
from m3bench.server.lab.interchange.harbor.dataset import SEAT
from tests.sets import write_set
from tests.waiting import eventually

TASK = "sum-1"
SECONDS = 120


@dataclass(frozen=True, kw_only=True)
class Trial:
    """One trial of a task: a folder that stands for the roots of its containers, and the port of its server."""

    root: Path
    port: int

    @property
    def url(self) -> str:
        """The server's address."""
        return f"http://127.0.0.1:{self.port}"

    @property
    def verdict(self) -> Path:
        """What Harbor collects."""
        return self.root / "verdict"

    def solve(self, seat: str = SEAT) -> str:
        """Play the reference with the exported solution, on the agent's seat or on another one."""
        solution = self.root / "solution"
        url = f"{self.url}/seat/{seat}/mcp"
        done = self.run(sys.executable, str(solution / "solve.py"), str(solution / "reference.json"), url)
        assert done.returncode == 0, done.stderr
        return done.stdout

    def collect(self) -> None:
        """What Harbor has the server's container do when the agent has ended."""
        script = str(self.root / "m3bench/harbor/m3bench.sh")
        done = self.run("sh", script, "harbor", "collect", str(self.verdict), "--task", TASK)
        assert done.returncode == 0, done.stderr

    def reward(self) -> tuple[dict[str, float] | None, str]:
        """What the exported verifier writes, and what it says."""
        place = self.root / "logs" / "verifier" / "reward.json"
        place.unlink(missing_ok=True)
        done = self.run("sh", str(self.root / "tests" / "test.sh"))
        return json.loads(place.read_bytes()) if place.exists() else None, done.stdout + done.stderr

    def run(self, *command: str) -> subprocess.CompletedProcess[str]:
        """Run something in the containers."""
        variables = {**os.environ, "M3BENCH_DATA": str(self.root / "data")}
        return subprocess.run(command, capture_output=True, text=True, check=False, timeout=SECONDS, env=variables)


@pytest.fixture(scope="session")
def harbor_set(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The small set, with an answer to each task."""
    folder = write_set(tmp_path_factory.mktemp("harbor") / "set")
    tasks = json.loads((folder / "tasks.json").read_bytes())
    for task, answer in zip(tasks["tasks"], ("The difference is 2.5.", "Together it is 108."), strict=True):
        task["answer"] = answer
    (folder / "tasks.json").write_text(json.dumps(tasks))
    return folder


@pytest.fixture(scope="session")
def dataset(harbor_set: Path) -> Path:
    """The set as a Harbor dataset."""
    folder = harbor_set.parent / "dataset"
    arguments = ["lab", "harbor", "export", "-o", str(folder), "--set", str(harbor_set), "--profile", "task"]
    done = CliRunner().invoke(app, arguments)
    assert done.exception is None, done.exception
    return folder


@contextmanager
def on_trial(dataset: Path, root: Path) -> Iterator[Trial]:
    """A trial of the task, its server up."""
    with socket() as free:
        free.bind(("127.0.0.1", 0))
        trial = Trial(root=root, port=free.getsockname()[1])
    shutil.copytree(dataset / "image", root / "m3bench/harbor")
    for part in ("tests", "solution"):
        shutil.copytree(dataset / "tasks" / TASK / part, root / part)
    for part in ("logs/verifier", "verdict"):
        (root / part).mkdir(parents=True)
    for script in root.rglob("*.sh"):
        script.write_text(_here(script.read_text(), trial))
    command = ["sh", str(root / "m3bench/harbor/serve.sh"), TASK, f"task:{TASK}", "60"]
    variables = {**os.environ, "M3BENCH_DATA": str(root / "data")}
    with (root / "server.log").open("wb") as log, subprocess.Popen(command, stderr=log, env=variables) as server:
        try:
            eventually(lambda: _answers(trial.url), "the server answers")
            yield trial
        finally:
            server.terminate()


@pytest.fixture(scope="session")
def solved(dataset: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Trial]:
    """A trial in which the reference was played, and what became of it was collected."""
    with on_trial(dataset, tmp_path_factory.mktemp("solved")) as trial:
        trial.solve()
        trial.collect()
        yield trial


def _here(script: str, trial: Trial) -> str:
    """A script of a container as it runs outside of one."""
    for there in ("/m3bench/harbor", "/verdict", "/logs/verifier"):
        script = script.replace(f" {there}", f" {trial.root}{there}")
    return script.replace("127.0.0.1:8000", f"127.0.0.1:{trial.port}").replace("python3", sys.executable)


def _answers(url: str) -> bool:
    with suppress(httpx2.HTTPError):
        answer: Any = httpx2.get(f"{url}/health", timeout=5)
        return bool(answer.status_code == 200)
    return False
