"""Plans: which samples are to be made, and which folders take them."""

import json
from pathlib import Path
from typing import Any

import pytest

from m3bench.server.lab.headless.plan import RunChoice, RunPlan, SampleAttempt, make_plan, select
from m3bench.server.lab.results.resultset import DATA, Sample, append_sample, read_header, write_header
from m3bench.server.store.owners import OwnerLock
from m3bench.server.store.records import RunRecord
from m3bench.server.store.sqlite import SqliteStore
from m3bench.tasks.errors import InputFileError, UserError
from m3bench.tasks.library import Library
from m3bench.tasks.profiles import profile_of


def plan(folder: Path, task_set: Path, **fields: Any) -> RunPlan:
    return make_plan(
        RunChoice(**{"agent": "oracle", "kind": "baseline", "folder": folder, "tasks": task_set, **fields})
    )


def note(folder: Path, task: str, repeat: int = 1, state: Any = "scored", run: str | None = None) -> None:
    append_sample(folder, Sample(task=task, repeat=repeat, state=state, run=run))


def test_all_tasks_are_played_once_before_any_is_played_again(tmp_path: Path, task_set: Path) -> None:
    made = plan(tmp_path / "out", task_set, repeats=2)
    assert made.todo == (
        SampleAttempt("survey-1", 1),
        SampleAttempt("sum-1", 1),
        SampleAttempt("survey-1", 2),
        SampleAttempt("sum-1", 2),
    )
    assert made.total == 4
    assert not (tmp_path / "out").exists(), "making a plan writes nothing"


def test_what_was_scored_is_done_and_what_is_void_is_tried_again(tmp_path: Path, task_set: Path) -> None:
    with plan(tmp_path, task_set, repeats=2).begin():
        pass
    note(tmp_path, "survey-1")
    note(tmp_path, "sum-1", state="void")
    note(tmp_path, "survey-1", 2, state="void")
    note(tmp_path, "survey-1", 2)
    assert plan(tmp_path, task_set, repeats=2, resume=True).todo == (
        SampleAttempt("sum-1", 1),
        SampleAttempt("sum-1", 2),
    )


def test_resuming_keeps_the_header_that_is_there(tmp_path: Path, task_set: Path) -> None:
    with plan(tmp_path, task_set).begin():
        pass
    before = read_header(tmp_path)
    resumed = plan(tmp_path, task_set, resume=True)
    with resumed.begin():
        assert read_header(tmp_path) == resumed.header == before


def test_resuming_what_never_began_begins_it(tmp_path: Path, task_set: Path) -> None:
    assert len(plan(tmp_path / "new", task_set, resume=True).todo) == 2


def test_results_are_not_written_over(tmp_path: Path, task_set: Path) -> None:
    with plan(tmp_path, task_set).begin():
        pass
    with pytest.raises(UserError, match="--resume"):
        plan(tmp_path, task_set)


def test_a_folder_with_something_else_in_it_is_refused(tmp_path: Path, task_set: Path) -> None:
    (tmp_path / "thesis.txt").write_text("precious")
    for resume in (False, True):
        with pytest.raises(UserError, match="not empty"):
            plan(tmp_path, task_set, resume=resume)
    with pytest.raises(UserError, match="not empty"):
        plan(tmp_path / "thesis.txt", task_set)


@pytest.mark.parametrize(
    ("change", "name"),
    [
        ({"agent": "null"}, "agent"),
        ({"kind": "model"}, "kind"),
        ({"solver": "executor"}, "solver"),
        ({"profile": "full"}, "profile"),
        ({"repeats": 3}, "repeats"),
        ({"seed": 7}, "seed"),
        ({"sandbox": "docker"}, "sandbox"),
        ({"max_calls": 5}, "max calls"),
        ({"limit": 1}, "number of tasks"),
        ({"options": {"calling": "text"}}, "calling"),
    ],
)
def test_results_of_another_run_are_refused_by_what_differs(
    tmp_path: Path, task_set: Path, change: dict[str, Any], name: str
) -> None:
    with plan(tmp_path, task_set).begin():
        pass
    with pytest.raises(UserError, match=rf"another run \({'the ' if 'tasks' in name else ''}{name}: "):
        plan(tmp_path, task_set, resume=True, **change)


def test_results_on_another_set_are_refused(tmp_path: Path, task_set: Path) -> None:
    with plan(tmp_path / "out", task_set).begin():
        pass
    other = tmp_path / "other"
    (other / "pictures").mkdir(parents=True)
    for path in task_set.rglob("*.*"):
        (other / path.relative_to(task_set)).write_bytes(path.read_bytes().replace(b"note?", b"paper?"))
    with pytest.raises(UserError, match="set hash"):
        plan(tmp_path / "out", other, resume=True)


def test_a_broken_header_is_said_plainly(tmp_path: Path, task_set: Path) -> None:
    (tmp_path / "set.json").write_text("{")
    with pytest.raises(InputFileError, match=r"set\.json"):
        plan(tmp_path, task_set, resume=True)


def test_two_processes_do_not_work_in_one_folder(tmp_path: Path, task_set: Path) -> None:
    write_header(tmp_path, plan(tmp_path / "x", task_set).header)
    lock = OwnerLock(tmp_path, "run")
    try:
        with pytest.raises(UserError, match="is using"), plan(tmp_path, task_set, resume=True).begin():
            pass
    finally:
        lock.close()
    with plan(tmp_path, task_set, resume=True).begin():
        pass


def test_a_run_that_was_never_noted_is_given_up_so_that_it_counts_nowhere(tmp_path: Path, task_set: Path) -> None:
    with plan(tmp_path, task_set).begin():
        pass
    store = SqliteStore(tmp_path / DATA)
    for id, task in (("noted", "survey-1"), ("lost", "sum-1"), ("void", "sum-1")):
        store.add_run(
            RunRecord(
                id=id, seat="s", task=task, state="scored", mode="practice", started="", ended=None, answer="",
                seal=None, manifest={}, scorecard={},
            )
        )  # fmt: skip
    store.close()
    note(tmp_path, "survey-1", run="noted")
    note(tmp_path, "sum-1", state="void", run="void")
    with plan(tmp_path, task_set, resume=True).begin():
        store = SqliteStore(tmp_path / DATA)
        states = {run.id: run.state for run in store.runs()}
        store.close()
    assert states == {"noted": "scored", "lost": "abandoned", "void": "abandoned"}


def test_a_few_tasks_are_taken_from_the_families_in_turn() -> None:
    library = Library()
    few = select(library, (), (), 28)
    assert len({task.family for task in few}) == 28
    assert len(select(library, (), (), 30)) == 30
    order = list(library.tasks)
    assert [task.id for task in few] == sorted((task.id for task in few), key=order.index)


def test_families_and_tasks_are_chosen_by_name() -> None:
    library = Library()
    chosen = select(library, ("fish",), ("movies-2",), None)
    assert {task.family for task in chosen} == {"fish", "movies"}
    assert [task.id for task in chosen if task.family == "movies"] == ["movies-2"]
    with pytest.raises(UserError, match="fish"):
        select(library, ("fisch",), (), None)
    with pytest.raises(UserError, match="movies-2"):
        select(library, (), ("movie-2",), None)


def test_tasks_that_the_tools_cannot_solve_are_left_out(tmp_path: Path) -> None:
    small = make_plan(RunChoice(agent="null", kind="baseline", folder=tmp_path / "out", profile="mini"))
    assert 0 < len(small.header.tasks) < 224
    assert len(small.header.tasks) + small.unsolvable == 224
    with pytest.raises(UserError, match="--profile full"):
        make_plan(
            RunChoice(agent="null", kind="baseline", folder=tmp_path, profile="family:fish", families=("movies",))
        )
    with pytest.raises(UserError, match="no profile"):
        make_plan(RunChoice(agent="null", kind="baseline", folder=tmp_path, profile="huge"))


def test_a_profile_of_tasks_is_that_of_the_task_at_hand(tmp_path: Path, task_set: Path) -> None:
    assert plan(tmp_path, task_set).profile("sum-1") == "standard:sum-1"
    task = Library(task_set).task("survey-1")
    assert profile_of("task", task) == "task:survey-1"
    assert profile_of("family", task) == "family:survey"
    assert profile_of("family:sums", task) == "family:sums"


def test_a_set_that_is_not_there_is_said_plainly(tmp_path: Path) -> None:
    with pytest.raises(InputFileError, match=r"tasks\.json"):
        plan(tmp_path / "out", tmp_path / "nowhere")
    (tmp_path / "tasks.json").write_text(json.dumps({"schema": 1, "name": "x", "version": "1", "tasks": []}))
    with pytest.raises(UserError, match="0 chosen tasks"):
        plan(tmp_path / "out", tmp_path)
