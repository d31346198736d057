"""The set `recordings`: whoever neither hears nor watches, or hands in what another task asks for, solves nothing."""

import random
from hashlib import sha256
from pathlib import Path

import anyio
import pytest

from m3bench.sandboxes.backends.inprocess import InProcessBackend
from m3bench.sandboxes.world.tables import load
from m3bench.server.lab.authoring.generation import stage
from m3bench.tasks import sound_and_film
from m3bench.tasks.answers.fields import judge, right_fields
from m3bench.tasks.answers.reading import read
from m3bench.tasks.checks import Evidence
from m3bench.tasks.errors import UserError
from m3bench.tasks.families.base import Composition, Kit, Script, Solution, Unfit, questions
from m3bench.tasks.families.registry import RECORDINGS as FAMILIES
from m3bench.tasks.library import RECORDINGS, Library
from m3bench.tasks.render.outline import Outline
from m3bench.tasks.task import Task
from tests.server.made import FULL

LIBRARY = Library(RECORDINGS)
MEMBERS = {family: [task for task in LIBRARY.tasks.values() if task.family == family] for family in FAMILIES}
every_family = pytest.mark.parametrize("family", FAMILIES)


def test_every_recording_is_one_of_its_own_and_all_are_small() -> None:
    files = [LIBRARY.recording(name) for task in LIBRARY.tasks.values() for name in task.recordings]
    assert len({sha256(data).digest() for data in files}) == len(files) == len(LIBRARY.tasks)
    assert sum(map(len, files)) <= 8_000_000
    assert (RECORDINGS / "recordings" / "espeak-ng.version").read_text().strip()


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


@pytest.mark.all_sample(1)
@pytest.mark.speech
@pytest.mark.seeds
@every_family
def test_who_makes_up_what_is_heard_solves_one_of_eight_at_most(family: str) -> None:
    """Two of the eight, and all of them with M3BENCH_FULL=1, which takes ten minutes."""
    goals = tuple(questions(family))

    async def main() -> list[bool]:
        tasks = list(enumerate(MEMBERS[family]))[:: 1 if FULL else 4]
        return [judged(task, await guessed(family, goals[number % len(goals)], number)) for number, task in tasks]

    assert sum(anyio.run(main)) <= 1


@pytest.mark.speech
@every_family
def test_a_recording_is_the_same_bytes_every_time(family: str) -> None:
    one, other = (FAMILIES[family].compose(random.Random("twice"), Kit(Outline(), load)).recording for _ in range(2))
    assert one is not None
    assert other is not None
    assert one.file() == other.file()


def test_where_espeak_is_missing_one_line_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("m3bench.tasks.sound_and_film.shutil.which", lambda name: None)
    with pytest.raises(UserError, match="apt-get install espeak-ng") as told:
        sound_and_film.Speech(lines=("hello",)).file()
    assert "\n" not in str(told.value)
