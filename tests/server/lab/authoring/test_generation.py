"""Any seed gives tasks that are proved: they run, can be checked, need their picture, and are the same every time."""

import json

import pytest

from m3bench.server.app import App
from m3bench.server.lab.authoring.sets import chosen_library
from m3bench.server.settings import Settings
from m3bench.tasks.errors import UserError
from m3bench.tasks.families.base import questions
from m3bench.tasks.families.registry import FAMILIES
from m3bench.tasks.library import Library
from m3bench.tasks.task import Task
from tests.art import art
from tests.server.made import FULL, GOALS, PER_FAMILY, asked_alike, proved, seeded

every_family = pytest.mark.parametrize("family", FAMILIES)


def way(task: Task) -> str:
    return json.dumps(task.references[0].model_dump(mode="json"), sort_keys=True).replace(task.id, "")


@pytest.mark.all_sample(2)
@pytest.mark.seeds
@pytest.mark.parametrize(("family", "seed"), seeded(FAMILIES))
def test_other_seeds_give_sets_that_verify(family, seed):
    library, problems = proved(family, seed)
    assert len(library.tasks) == PER_FAMILY
    assert problems == []


@pytest.mark.all_sample(2)
@pytest.mark.seeds
@every_family
def test_no_two_tasks_have_the_same_reference(family):
    """Neither in the bundled set nor among fresh ones, of which there are several with M3BENCH_FULL=1."""
    made = [proved(*wanted)[0] for wanted in seeded(FAMILIES) if wanted[0] == family]
    for tasks in (Library().tasks.values(), [task for library in made for task in library.tasks.values()]):
        ways = [way(task) for task in tasks if task.family == family]
        assert len(set(ways)) == len(ways)


@pytest.mark.all_sample(1)
@pytest.mark.seeds
@pytest.mark.parametrize("family", list(FAMILIES)[:: 1 if FULL else 3])
def test_the_picture_is_needed(family):
    for goal in list(questions(family))[-GOALS:]:
        one, other = asked_alike(family, goal)
        assert one.task.question == other.task.question
        picture = f"pictures/{one.task.pictures[0]}"
        assert one.files[picture] != other.files[picture]


@pytest.mark.seeds
def test_a_private_set_is_served_and_leaves_no_reference_on_disk(tmp_path, monkeypatch):
    art()
    monkeypatch.setattr("m3bench.tasks.families.registry.FAMILIES", {"barcode_lookup": FAMILIES["barcode_lookup"]})
    monkeypatch.setenv("TMPDIR", str(tmp_path / "scratch"))
    (tmp_path / "scratch").mkdir()
    settings = Settings(data=tmp_path / "data", seed=8_271_828_182, sandbox="inprocess")
    app = App(settings, library=chosen_library(settings))
    (task,) = app.library.tasks.values()
    assert app.library.picture(task.pictures[0]).startswith(b"\x89PNG")
    assert app.library.scenes(task)
    assert not [path for path in tmp_path.rglob("*") if path.is_file()]


def test_a_set_comes_from_a_folder_or_a_seed(tmp_path):
    with pytest.raises(UserError, match="give one of --tasks, --seed and --secret-file"):
        chosen_library(Settings(data=tmp_path, seed=1, tasks=tmp_path))
