"""`m3bench lab study --on ray`, as people run it: a cluster of separate processes, one node of which dies."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from typer.testing import CliRunner

from m3bench.server.commands.program import app
from m3bench.server.lab.results.resultset import DATA
from m3bench.server.store.sqlite import SqliteStore
from tests.postgres import Server, serving
from tests.ray_nodes import Nodes, cluster, workers_of
from tests.server.commands.test_study import plan, samples, written
from tests.server.commands.test_worker import SECONDS, script
from tests.server.lab.headless.scripts import three_tasks, write_script
from tests.waiting import eventually

COMMAND = [sys.executable, "-m", "m3bench.server.cli"]


@pytest.fixture(scope="module")
def postgres() -> Iterator[Server]:
    with serving() as server:
        yield server


@pytest.fixture
def nodes() -> Iterator[Nodes]:
    """A cluster for each test: one of them kills a node, which the head remembers."""
    with cluster() as found:
        yield found


@contextmanager
def started(nodes: Nodes, log: Path, *arguments: object) -> "Iterator[subprocess.Popen[bytes]]":
    """A command on the cluster, which says what it says in a file."""
    environment = {**os.environ, "RAY_ADDRESS": nodes.address}
    with log.open("wb") as file:
        process = subprocess.Popen([*COMMAND, *map(str, arguments)], stdout=file, stderr=file, env=environment)
        try:
            yield process
        finally:
            process.kill()
            process.wait()


def leased(postgres: Server, url: str) -> int:
    if postgres.execute("SELECT to_regclass('m3bench.queued_samples') IS NOT NULL", url) == "f":
        return 0
    return int(postgres.execute("SELECT count(*) FROM m3bench.queued_samples WHERE state = 'leased'", url))


@pytest.mark.night
@pytest.mark.ray
def test_workers_on_a_cluster_play_everything_once_though_a_node_and_a_worker_die(
    postgres: Server, nodes: Nodes, tmp_path: Path
) -> None:
    further = nodes.add()
    model = {"model": write_script(tmp_path / "m.json", script(pause=1)), "name": "m"}
    path = plan(tmp_path, three_tasks(tmp_path / "set"), models=[model], repeats=8)
    url, folder = postgres.new_database(), tmp_path / "study"
    options = ["--store", url, "--on", "ray", "--workers", 2, "--slots", 2, "--needs", "cpu=1", "--lease", 5]
    log = tmp_path / "log"
    with started(nodes, log, "lab", "study", path, *options) as study:
        eventually(lambda: written(folder) >= 4, "some samples", SECONDS)
        further.kill()
        eventually(lambda: written(folder) >= 8, "some more", SECONDS)
        for pid in workers_of(url):
            os.kill(pid, signal.SIGKILL)
        assert study.wait(SECONDS) == 0, log.read_text()
    whole = samples(folder)
    assert len(whole) == len(set(whole)) == 24
    store = SqliteStore(folder / "m.react.task.small" / DATA)
    assert [run.state for run in store.runs()].count("scored") == 24
    store.close()
    eventually(lambda: not workers_of(url), "no worker is left", 60)


@pytest.mark.night
@pytest.mark.ray
@pytest.mark.slow
def test_ctrl_c_ends_the_workers_on_the_cluster_and_gives_their_samples_back(
    postgres: Server, nodes: Nodes, tmp_path: Path
) -> None:
    model = {"model": write_script(tmp_path / "m.json", script(pause=600)), "name": "m"}
    path = plan(tmp_path, three_tasks(tmp_path / "set"), models=[model])
    url = postgres.new_database()
    options = ["--store", url, "--on", nodes.from_outside, "--workers", 3, "--needs", "cpu=2"]
    log, room = tmp_path / "log", "room for 1 of 3 workers so far; each asks for 2 CPU"
    with started(nodes, log, "lab", "study", path, *options) as study:
        eventually(lambda: leased(postgres, url) == 2, "two samples are being played", SECONDS)
        eventually(lambda: room in log.read_text(), "it is said that there is no room for the others", SECONDS)
        study.send_signal(signal.SIGINT)
        assert study.wait(120) == 130, log.read_text()
    assert leased(postgres, url) == 0
    eventually(lambda: not workers_of(url), "no worker is left", 60)


@pytest.mark.ray
def test_a_cluster_that_cannot_be_reached_is_said(postgres: Server, tmp_path: Path) -> None:
    path = plan(tmp_path, three_tasks(tmp_path / "set"), agents=["oracle"])
    options = ["--store", postgres.new_database(), "--on", "ray://127.0.0.1:1", "--workers", "1"]
    done = subprocess.run([*COMMAND, "lab", "study", path, *options], capture_output=True, text=True, timeout=SECONDS)
    assert done.returncode == 2
    assert "The Ray cluster ray://127.0.0.1:1 cannot be used" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--on", "ray"], "--on needs a queue"),
        (["--store", "postgresql:///x", "--on", "slurm", "--workers", "1"], "choose ray, or ray://HOST:PORT"),
        (["--store", "postgresql:///x", "--on", "ray"], "Say how many workers"),
        (["--store", "postgresql:///x", "--workers", "1", "--needs", "cpu=1"], "add --on ray"),
        (["--store", "postgresql:///x", "--on", "ray", "--workers", "1", "--needs", "cpu=two"], "write NAME=NUMBER"),
        (["--store", "postgresql:///x", "--on", "ray", "--workers", "1", "--needs", "memory=-1G"], "write NAME=NUMBER"),
    ],
)
def test_what_does_not_go_together_is_said(task_set: Path, tmp_path: Path, options: list[str], said: str) -> None:
    path = plan(tmp_path, task_set, agents=["oracle"])
    done = CliRunner().invoke(app, ["lab", "study", str(path), *options])
    assert said in str(done.exception)
