"""What holds of every bundled set beside `m3`: it is whole, its tasks can be played, differ, and come from a seed."""

import itertools
import re
from collections.abc import Mapping
from dataclasses import replace
from functools import cache, partial
from pathlib import Path

import anyio
import pytest

from m3bench.sandboxes.backends.inprocess import InProcessBackend
from m3bench.server.lab.authoring.fairness import solves
from m3bench.server.lab.authoring.generation import generate
from m3bench.server.lab.authoring.statistics import max_shared_calls
from m3bench.server.lab.authoring.verification import verify
from m3bench.tasks.catalog import load_catalog
from m3bench.tasks.families import registry
from m3bench.tasks.families.base import Family
from m3bench.tasks.library import DESK, RECORDINGS, SNAPSHOTS, STUDIO, Library, MadeLibrary
from m3bench.tasks.profiles import solvable, tools_of
from m3bench.tasks.task import Task
from tests.art import art
from tests.pictures import assert_close_picture
from tests.server.made import FULL, seeded
from tests.sets import part

FAMILIES: Mapping[Path, Mapping[str, Family]] = {
    DESK: registry.DESK,
    STUDIO: registry.STUDIO,
    RECORDINGS: registry.RECORDINGS,
    SNAPSHOTS: registry.SNAPSHOTS,
}
PER_FAMILY = 8
every_set = pytest.mark.parametrize("folder", FAMILIES, ids=lambda folder: folder.name)


def each(*marks_of_recordings: pytest.MarkDecorator) -> pytest.MarkDecorator:
    """Every family of every set; what is heard takes long to write down and is spoken by a program of its own."""
    given = [
        pytest.param(folder, family, id=family, marks=marks_of_recordings if folder == RECORDINGS else ())
        for folder, families in FAMILIES.items()
        for family in families
    ]
    return pytest.mark.parametrize(("folder", "family"), given)


every_family, every_family_made = each(), each(pytest.mark.speech)


@cache
def library(folder: Path) -> Library:
    return Library(folder)


def members(folder: Path, family: str) -> list[Task]:
    return [task for task in library(folder).tasks.values() if task.family == family]


def problems(made: Library) -> list[str]:
    return anyio.run(partial(verify, made, InProcessBackend()))


@every_set
def test_a_set_has_eight_tasks_of_each_of_its_families_and_is_loaded_by_name(folder: Path) -> None:
    assert list(dict.fromkeys(task.family for task in library(folder).set.tasks)) == list(FAMILIES[folder])
    assert all(len(members(folder, family)) == PER_FAMILY for family in FAMILIES[folder])
    assert Library(Path(folder.name)).hash == library(folder).hash
    assert library(folder).set.name == folder.name


@every_set
def test_profiles_that_a_task_may_be_played_in_show_its_tools(folder: Path) -> None:
    for task in library(folder).tasks.values():
        for profile in (f"task:{task.id}", f"standard:{task.id}", "full"):
            assert solvable((task,), tools_of(profile, load_catalog(), library(folder))) == (task,)


@pytest.mark.all_sample(5)
@pytest.mark.sample(2)
@each(pytest.mark.slow)
def test_the_references_of_a_task_run_pass_its_checks_and_score_one(folder: Path, family: str) -> None:
    assert problems(part(library(folder), members(folder, family)[:1])) == []


@pytest.mark.all_sample(3)
@pytest.mark.slow
@every_family
def test_every_reference_runs_passes_its_checks_and_scores_one(folder: Path, family: str) -> None:
    """The last task of each family, and all of them with M3BENCH_FULL=1."""
    assert problems(part(library(folder), members(folder, family)[0 if FULL else -1 :])) == []


@every_family
def test_tasks_of_a_family_differ_in_words_and_calls(folder: Path, family: str) -> None:
    for one, other in itertools.combinations(members(folder, family), 2):
        first, second = (set(re.findall(r"\w+", task.question.casefold())) for task in (one, other))
        assert len(first & second) <= min(len(first), len(second)) * 2 / 3, (one.id, other.id)
    # Whoever hears has the same few ways to look something up.
    assert max_shared_calls(members(folder, family)) <= (0.5 if folder == RECORDINGS else 0.3)


@pytest.mark.sample(5)
@every_family
def test_no_task_is_solved_by_the_answer_of_another(folder: Path, family: str) -> None:
    for one, other in itertools.product(members(folder, family), library(folder).tasks.values()):
        assert one == other or not solves(one, other), (one.id, other.id)


def made(folder: Path, family: str, seed: int, count: int) -> MadeLibrary:
    return anyio.run(
        partial(
            generate,
            [FAMILIES[folder][family]],
            seed=seed,
            per_family=count,
            art=art(),
            backend=InProcessBackend(),
            name="fresh",
            version="1",
        )
    )


@pytest.mark.all_sample(5)
@pytest.mark.seeds
@every_family_made
def test_a_set_is_what_its_seed_gives(folder: Path, family: str) -> None:
    """One task of each family: the same task and scenes, and the same pictures but for a few shades."""
    again, kept = made(folder, family, 1, 1), library(folder)
    (task,) = again.tasks.values()
    assert task == kept.task(task.id)
    for new, old in zip(again.scenes(task), kept.scenes(task), strict=True):
        assert replace(new, sha256=old.sha256, thumbnail=old.thumbnail) == old
    for name in task.pictures:
        assert_close_picture(again.picture(name), kept.picture(name), name)


@pytest.mark.all_sample(2)
@pytest.mark.seeds
@every_family_made
def test_fresh_seeds_give_tasks_that_are_proved(folder: Path, family: str) -> None:
    for one, seed in seeded(FAMILIES[folder]):
        assert one != family or problems(made(folder, family, seed, 1)) == []
