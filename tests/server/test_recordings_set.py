"""The set `recordings`: whoever neither hears nor watches, or hands in what another task asks for, solves nothing."""

import itertools
import random
import re
from functools import partial
from hashlib import sha256
from pathlib import Path

import anyio
import pytest

from m3bench.sandboxes.backends.inprocess import InProcessBackend
from m3bench.sandboxes.world.tables import load
from m3bench.server.authoring.fairness import solves
from m3bench.server.authoring.generation import stage
from m3bench.server.authoring.statistics import max_shared_calls
from m3bench.server.authoring.verification import verify
from m3bench.tasks.answers.fields import judge, right_fields
from m3bench.tasks.answers.reading import read
from m3bench.tasks.catalog import load_catalog
from m3bench.tasks.checks import Evidence
from m3bench.tasks.errors import UserError
from m3bench.tasks.families.base import Composition, Kit, Script, Solution, Unfit
from m3bench.tasks.families.registry import RECORDINGS as FAMILIES
from m3bench.tasks.families.texts import questions
from m3bench.tasks.library import RECORDINGS, Library, MadeLibrary
from m3bench.tasks.profiles import solvable, tools_of
from m3bench.tasks.recording import speech
from m3bench.tasks.render.outline import Outline
from m3bench.tasks.task import Task, TaskSet

LIBRARY = Library(RECORDINGS)
MEMBERS = {family: [task for task in LIBRARY.tasks.values() if task.family == family] for family in FAMILIES}
every_family = pytest.mark.parametrize("family", FAMILIES)


def part(family: str, count: int = 8) -> MadeLibrary:
    tasks = tuple(MEMBERS[family][:count])
    files = {f"recordings/{name}": LIBRARY.recording(name) for task in tasks for name in task.recordings}
    plans = {task.id: LIBRARY.plans(task) for task in tasks}
    return MadeLibrary(TaskSet(schema=2, name="part", version="1", tasks=tasks), files, plans)


def test_the_set_has_eight_tasks_of_each_of_its_families_and_is_loaded_by_name() -> None:
    assert list(dict.fromkeys(task.family for task in LIBRARY.set.tasks)) == list(FAMILIES)
    assert {family: len(tasks) for family, tasks in MEMBERS.items()} == dict.fromkeys(FAMILIES, 8)
    assert Library(Path("recordings")).hash == LIBRARY.hash


def test_every_recording_is_one_of_its_own_and_all_are_small() -> None:
    files = [LIBRARY.recording(name) for task in LIBRARY.tasks.values() for name in task.recordings]
    assert len({sha256(data).digest() for data in files}) == len(files) == len(LIBRARY.tasks)
    assert sum(map(len, files)) <= 8_000_000
    assert (RECORDINGS / "recordings" / "espeak-ng.version").read_text().strip()


def test_profiles_that_a_task_may_be_played_in_show_the_tools_for_recordings() -> None:
    for task in LIBRARY.tasks.values():
        for profile in (f"task:{task.id}", f"standard:{task.id}", "full"):
            assert solvable((task,), tools_of(profile, load_catalog(), LIBRARY)) == (task,)


@every_family
def test_the_references_of_a_task_run_pass_its_checks_and_score_one(family: str) -> None:
    assert anyio.run(partial(verify, part(family, 1), InProcessBackend())) == []


@pytest.mark.slow
@every_family
def test_every_reference_runs_passes_its_checks_and_scores_one(family: str) -> None:
    assert anyio.run(partial(verify, part(family), InProcessBackend())) == []


@every_family
def test_tasks_of_a_family_differ_in_words_and_calls(family: str) -> None:
    for one, other in itertools.combinations(MEMBERS[family], 2):
        first, second = (set(re.findall(r"\w+", task.question.casefold())) for task in (one, other))
        assert len(first & second) <= min(len(first), len(second)) * 2 / 3, (one.id, other.id)
    assert max_shared_calls(MEMBERS[family]) <= 0.5


@every_family
def test_no_task_is_solved_by_the_answer_of_another(family: str) -> None:
    everything = [task for tasks in MEMBERS.values() for task in tasks]
    assert not [
        (one.id, other.id) for one in MEMBERS[family] for other in everything if one != other and solves(one, other)
    ]


@every_family
def test_no_question_says_what_is_to_be_heard_or_seen(family: str) -> None:
    for task in MEMBERS[family]:
        if family != "chimes":  # whose question names every coin that a note may stand for
            meant = task.fields[0].value.given()
            assert isinstance(meant, list)
            assert not [name for name in meant if str(name).casefold() in task.question.casefold()]


async def guessed(family: str, goal: str, number: int) -> Solution:
    """The solution of a task that somebody makes up who knows how such tasks are made."""
    for attempt in range(64):
        composition = FAMILIES[family].compose(
            random.Random(f"guess {family} {number} {attempt}"), Kit(Outline(), load)
        )
        try:
            return await _solution(family, goal, composition, number)
        except Unfit:
            continue
    raise AssertionError(f"{family} has no task for {goal}")


async def _solution(family: str, goal: str, composition: Composition, number: int) -> Solution:
    assert composition.recording is not None
    file = f"x{composition.recording.suffix}"
    files = {file: composition.recording.file()}
    async with stage(InProcessBackend(), "x", FAMILIES[family].servers, files, ()) as play:
        return await FAMILIES[family].solve(
            random.Random(f"asked {number}"), composition, f"./media/{file}", Script(play, goal)
        )


def judged(task: Task, given: Solution) -> bool:
    handed_in = read(task.fields, "", right_fields(given.fields))
    return all(one.passed for one in judge(task.fields, handed_in, Evidence(answer="", workspace=Path("nowhere"))))


@pytest.mark.speech
@pytest.mark.seeds
@every_family
def test_who_makes_up_what_is_heard_solves_one_of_eight_at_most(family: str) -> None:
    goals = tuple(questions(family))

    async def main() -> list[bool]:
        tasks = MEMBERS[family]
        return [
            judged(task, await guessed(family, goals[number % len(goals)], number)) for number, task in enumerate(tasks)
        ]

    assert sum(anyio.run(main)) <= 1


@pytest.mark.speech
@pytest.mark.seeds
@every_family
@pytest.mark.parametrize("seed", [2, 3, 4])
def test_fresh_seeds_give_tasks_that_are_proved(family: str, seed: int) -> None:
    from m3bench.server.authoring.generation import generate

    async def main() -> list[str]:
        fresh = await generate(
            [FAMILIES[family]],
            seed=seed,
            per_family=2,
            art=Outline(),
            backend=InProcessBackend(),
            name="fresh",
            version="1",
        )
        return await verify(fresh, InProcessBackend())

    assert anyio.run(main) == []


@pytest.mark.speech
@every_family
def test_a_recording_is_the_same_bytes_every_time(family: str) -> None:
    one, other = (FAMILIES[family].compose(random.Random("twice"), Kit(Outline(), load)).recording for _ in range(2))
    assert one is not None
    assert other is not None
    assert one.file() == other.file()


def test_where_espeak_is_missing_one_line_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(speech.shutil, "which", lambda name: None)
    with pytest.raises(UserError, match="apt-get install espeak-ng") as told:
        speech.Speech(lines=("hello",)).file()
    assert "\n" not in str(told.value)
