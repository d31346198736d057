"""The newest version of each client plays as the pinned one does; the report tells what does not."""

import pytest

from m3bench.server.clients.table import clients as known_clients
from m3bench.server.clients.table import profile_for
from m3bench.server.clients.trial.starts import STARTS
from m3bench.tasks.catalog import load_catalog
from m3bench.tasks.library import Library
from m3bench.tasks.profiles import tools_of
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
    bad = Found(client="cline", version="9.9", problems=["two: it asked the model nothing"])
    first, _, second, *rest = report([good, bad], {"kilo": "gone"}).splitlines()
    assert first == "# Newest clients: 1 of 2 play without a problem"
    assert second == "- **cline 9.9**: two: it asked the model nothing"
    assert "- kilo: gone." in rest
