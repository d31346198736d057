"""The newest version of each client plays as the pinned one does; the report tells what does not."""

import subprocess
from collections.abc import Sequence
from functools import cache
from json import dumps
from pathlib import Path

import pytest

from m3bench.server.clients.table import clients as known_clients
from m3bench.server.clients.table import profile_for
from m3bench.server.clients.trial.starts import STARTS
from m3bench.tasks.catalog import load_catalog
from m3bench.tasks.library import Library
from m3bench.tasks.profiles import tools_of
from tests.clients.real import newest
from tests.clients.real.newest import TASKS, Found, chosen, main, report, sessions
from tests.clients.real.programs import OUTAGE


@pytest.mark.night
@pytest.mark.clients
def test_the_newest_version_of_each_client_plays() -> None:
    problem = main([])
    if problem and OUTAGE.search(problem):
        pytest.skip(problem)
    assert problem is None


def test_eight_tasks_of_eight_families_are_played_in_three_sessions() -> None:
    library = Library()
    for profile in {profile_for(known_clients()[key]) for key in STARTS}:
        tasks = chosen(profile, library)
        assert len({task.family for task in tasks}) == TASKS
        shown = {tool.qualified for tool in tools_of(profile, load_catalog().ready, library)}
        assert all(call.tool in shown for task in tasks for call in task.references[0].trajectory.calls)
        played = dict(sessions(tasks))
        started = [call for turns in played.values() for turn in turns for call in turn if call.name == "start_task"]
        assert len(started) == TASKS + 1, "one is abandoned"
        assert played["two"][0][0].arguments["task_id"] == tasks[0].id
        apart = dict(sessions(tasks, long=False))
        assert [turn for name in list(apart)[2:] for turn in apart[name]] == played["rest"]


def test_the_report_begins_with_what_needs_a_look() -> None:
    good = Found(client="codex", version="9.9", perfect=8, two=True, abandoned=True, slow=True)
    bad = Found(client="cline", version="9.9", problems=["two: it asked the model nothing"], wide=["t-1 is 1.000"])
    first, _, second, *rest = report([good, bad], {"kilo": "gone"}).splitlines()
    assert first == "# Newest clients: 1 of 2 play without a problem"
    assert second == "- **cline 9.9**: two: it asked the model nothing"
    assert "- cline: t-1 is 1.000." in rest
    assert "- kilo: gone." in rest


def test_where_the_newest_version_has_no_program_here_earlier_ones_are_tried(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    asked: list[str] = []

    def npm(program: Sequence[str], *command: str) -> subprocess.CompletedProcess[str]:
        asked.append(command[-1])
        return subprocess.CompletedProcess(command, 0, stdout=dumps(["1.0.0", "1.1.0", "1.2.0-beta", "1.2.0", "1.3.0"]))

    @cache
    def missing(program: str, folder: Path) -> str | None:
        return None if asked[-2].endswith("@1.1.0") else "the registry has none"

    monkeypatch.setattr(newest, "FOLDER", tmp_path / "clients")
    monkeypatch.setattr(newest, "_npm", npm)
    monkeypatch.setattr(newest, "missing", missing)
    monkeypatch.setattr(newest, "find_node", lambda: "node")
    monkeypatch.setattr(newest, "npm_program", lambda node: "npm")
    assert newest.install(["kilo"]) == {}
    assert [each.rpartition("@")[2] for each in asked if each.count("@") == 2] == ["latest", "1.2.0", "1.1.0"]
    monkeypatch.setattr(newest, "EARLIER", 1)
    assert "registry has none" in newest.install(["kilo"])["kilo"]
