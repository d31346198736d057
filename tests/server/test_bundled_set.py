"""The set that travels with the package: large, proved, and with a floor that lazy agents do not leave."""

import io
import itertools
import json
import random
import re
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from statistics import mean
from typing import Any

import anyio
import pytest
from PIL import Image, ImageOps

from m3bench.sandboxes.backends.base import SandboxSpec
from m3bench.sandboxes.backends.inprocess import InProcessBackend
from m3bench.sandboxes.wire import decode, dump
from m3bench.server.lab.authoring.statistics import statistics
from m3bench.server.lab.authoring.verification import verify
from m3bench.server.scoring import EFFECT, Encoder, ScorableRun, open_encoder, score, score_many
from m3bench.server.scoring.signatures import catalog_signatures
from m3bench.tasks.answers.reading import findings_of
from m3bench.tasks.catalog import load_catalog
from m3bench.tasks.checks import Evidence, LoggedCall
from m3bench.tasks.errors import InvalidArgumentsError
from m3bench.tasks.families.registry import FAMILIES
from m3bench.tasks.folding import fold
from m3bench.tasks.library import Library
from m3bench.tasks.outcome import text_of
from m3bench.tasks.scene import Box
from m3bench.tasks.task import Task
from m3bench.tasks.trajectory import JSON, Call, Step, Trajectory
from tests.pictures import assert_close_picture
from tests.server.made import family_set
from tests.sets import part

LIBRARY = Library()
every_family = pytest.mark.parametrize("family", FAMILIES)
MEMBERS = {family: [task for task in LIBRARY.tasks.values() if task.family == family] for family in FAMILIES}


@pytest.fixture(scope="module")
def encoder() -> Encoder:
    return open_encoder()


def test_the_set_is_as_large_as_promised():
    numbers = statistics(LIBRARY)
    assert (numbers["tasks"], numbers["families"], numbers["servers"]) == (224, 28, 27)
    assert numbers["steps"] >= 644
    assert numbers["calls"] >= 1337
    assert numbers["tools"] >= 90
    assert numbers["multi_hop"] >= 0.8
    assert numbers["multi_threaded"] >= 0.6


def problems(family: str) -> list[str]:
    return anyio.run(partial(verify, part(LIBRARY, MEMBERS[family]), InProcessBackend()))


@pytest.mark.sample(2)
@every_family
def test_the_references_of_a_task_run_pass_its_checks_and_score_one(family):
    """One task of each family; the others have their turn below."""
    assert len(MEMBERS[family]) == 8
    assert anyio.run(partial(verify, part(LIBRARY, MEMBERS[family][:1]), InProcessBackend())) == []


@pytest.mark.all_sample(2)
@pytest.mark.apart
@pytest.mark.slow
@every_family
def test_every_reference_runs_passes_its_checks_and_scores_one(family):
    assert problems(family) == []


@pytest.mark.all_sample(2)
@pytest.mark.seeds
@every_family
def test_the_set_is_what_its_seed_gives(family):
    """One task of each family, made again: the same task, and the same picture but for a few shades."""
    made = family_set(family, 1, per_family=1)
    (task,) = made.tasks.values()
    assert task == LIBRARY.task(task.id)
    assert_close_picture(made.picture(task.pictures[0]), LIBRARY.picture(task.pictures[0]), task.id)


@every_family
def test_no_two_questions_share_more_than_two_thirds_of_their_words(family):
    for one, other in itertools.combinations(MEMBERS[family], 2):
        first, second = (set(re.findall(r"\w+", task.question.casefold())) for task in (one, other))
        assert len(first & second) <= min(len(first), len(second)) * 2 / 3, (one.id, other.id)


def succeeds(task: Task, answer: str, workspace: Path, calls: list[LoggedCall]) -> bool:
    evidence = Evidence(answer=answer, workspace=workspace, calls=calls)
    found = findings_of(task, evidence)
    return bool(found) and all(one.passed for one in found)


def average(task: Task, actual: Trajectory, encoder: Encoder) -> float:
    card = score(
        actual, [reference.trajectory for reference in task.references], encoder=encoder,
        signatures=catalog_signatures(load_catalog()),
    )  # fmt: skip
    assert card.average is not None
    return card.average


def by_effect(task: Task, actual: Trajectory) -> float:
    """The average of calls whose results are not known."""
    references = [reference.trajectory for reference in task.references]
    played = ScorableRun(actual=actual, references=references, plans=LIBRARY.plans(task))
    found = next(score_many([played], profile=EFFECT, signatures=catalog_signatures(load_catalog()))).average
    assert found is not None
    return found


def nothing(task: Task) -> tuple[str, Trajectory]:
    return "", Trajectory()


def copycat(task: Task) -> tuple[str, Trajectory]:
    return task.question, Trajectory()


def everything_once(task: Task) -> tuple[str, Trajectory]:
    rng = random.Random(task.id)
    calls = [
        Call(tool=tool.qualified, arguments=_random(tool.input_schema, rng)) for tool in load_catalog().ready.tools
    ]
    rng.shuffle(calls)
    return "I tried everything.", Trajectory(steps=tuple(Step(calls=(call,)) for call in calls))


def wrong_arguments(task: Task) -> tuple[str, Trajectory]:
    rng = random.Random(task.id)
    catalog = load_catalog()
    steps = [
        Step(
            calls=tuple(
                Call(tool=call.tool, arguments=_random(catalog.tool(call.tool).input_schema, rng)) for call in step
            )
        )
        for step in task.references[0].steps
    ]
    return "Done, as you asked.", Trajectory(steps=tuple(steps))


def _random(schema: Mapping[str, Any], rng: random.Random) -> dict[str, JSON]:
    words = ("lorem", "ipsum", "dolor", "amet", "quux", "zanzibar", "bicycle")
    made: dict[str, JSON] = {}
    properties = schema.get("properties", {})
    assert isinstance(properties, dict)
    for name, entry in properties.items():
        kind = entry.get("type")
        if kind in ("number", "integer"):
            made[name] = rng.randint(100_000, 999_999)
        elif kind == "boolean":
            made[name] = rng.random() < 0.5
        elif kind == "array":
            made[name] = [rng.choice(words)]
        else:
            made[name] = " ".join(rng.sample(words, 3))
    return made


@pytest.mark.sample(1)
@pytest.mark.parametrize(("agent", "ceiling"), [(nothing, 0.01), (copycat, 0.01), (everything_once, 0.15)])
def test_lazy_agents_stay_on_the_floor(agent, ceiling, tmp_path):
    averages, successes = [], 0
    for task in LIBRARY.tasks.values():
        answer, actual = agent(task)
        made = [
            LoggedCall(tool=call.tool, arguments=dict(call.arguments), outcome="not_found", text="")
            for call in actual.calls
        ]
        successes += succeeds(task, answer, tmp_path, made)
        averages.append(by_effect(task, actual))
    assert successes == 0
    assert mean(averages) <= ceiling, mean(averages)


@pytest.mark.slow
def test_the_right_tools_with_wrong_arguments_stay_near_the_floor(encoder, tmp_path):
    averages = []
    for task in list(LIBRARY.tasks.values())[::6]:
        answer, wanted = wrong_arguments(task)
        workspace = tmp_path / task.id
        workspace.mkdir()
        made, actual = anyio.run(_perform, task, wanted, workspace)
        assert not succeeds(task, answer, workspace, made)
        averages.append(average(task, actual, encoder))
    assert mean(averages) <= 0.35


async def _perform(task: Task, wanted: Trajectory, workspace: Path) -> tuple[list[LoggedCall], Trajectory]:
    sandbox = await InProcessBackend().open(
        SandboxSpec(workspace=workspace, servers=task.servers, scenes=LIBRARY.scenes(task))
    )
    made: list[LoggedCall] = []
    steps = []
    for step in wanted.steps:
        calls = []
        for call in step.calls:
            outcome, text = "invalid_arguments", ""
            with suppress(InvalidArgumentsError):
                load_catalog().tool(call.tool).check(call.arguments)
                reply = await sandbox.call(call.tool, dump(call.arguments), 30)
                outcome, text = reply.outcome, text_of(decode(reply.result))
            made.append(LoggedCall(tool=call.tool, arguments=dict(call.arguments), outcome=outcome, text=text))
            calls.append(replace(call, failed=outcome != "success"))
        steps.append(Step(calls=tuple(calls)))
    return made, Trajectory(steps=tuple(steps))


def test_every_call_of_a_reference_counts(encoder):
    """Without any one of its calls, the reference scores less than 1."""
    for task in random.Random(7).sample(list(LIBRARY.tasks.values()), 60):
        reference = task.references[0]
        others = [other.trajectory.calls for other in task.references[1:]]
        for number, step in enumerate(reference.trajectory.steps):
            for index in range(len(step.calls)):
                rest = step.calls[:index] + step.calls[index + 1 :]
                steps = [*reference.trajectory.steps]
                steps[number] = Step(calls=rest)
                shorter = Trajectory(steps=tuple(step for step in steps if step.calls))
                if any(len(calls) <= len(shorter.calls) for calls in others):
                    continue  # another reference may do without this call
                assert average(task, shorter, encoder) < 1, (task.id, number, index)


@pytest.mark.all_sample(2)
@pytest.mark.sample(1)
@pytest.mark.parametrize(
    "family",
    [pytest.param(family, marks=[pytest.mark.slow] * (number % 7 > 0)) for number, family in enumerate(FAMILIES)],
)
def test_what_is_written_can_be_read_by_the_projects_ocr(family, tmp_path):
    """The lines that a scene notes, cut out and set below one another, are read again: 95 % of the words."""
    wanted: list[str] = []
    found = 0
    for task in MEMBERS[family][:3]:
        (scene,) = LIBRARY.scenes(task)
        if not scene.texts:
            continue
        with Image.open(io.BytesIO(LIBRARY.picture(task.pictures[0]))) as file:
            picture = file.convert("L")
        strips = [_strip(picture, text.box) for text in scene.texts]
        sheet = Image.new(
            "L", (max(strip.width for strip in strips) + 40, sum(strip.height + 24 for strip in strips) + 24), 255
        )
        top = 24
        for strip in strips:
            sheet.paste(strip, (20, top))
            top += strip.height + 24
        sheet.save(tmp_path / "sheet.png")
        read = set(re.findall(r"\w+", fold(anyio.run(_read, tmp_path))))
        words = [word for text in scene.texts for word in re.findall(r"\w{3,}", fold(text.text))]
        wanted += words
        found += sum(word in read for word in words)
    assert found >= 0.95 * len(wanted), (found, len(wanted))


def _strip(picture: Image.Image, box: Box) -> Image.Image:
    """A line of writing, dark on light, in a size that is easy to read."""
    left, top, right, bottom = box
    cut = picture.crop(
        (max(0, left - 6), max(0, top - 6), min(picture.width, right + 6), min(picture.height, bottom + 6))
    )
    cut = ImageOps.autocontrast(cut)
    if mean(cut.resize((40, 10)).tobytes()) < 128:
        cut = ImageOps.invert(cut)
    return cut.resize((max(1, cut.width * 56 // cut.height), 56), Image.Resampling.LANCZOS)


async def _read(workspace: Path) -> str:
    sandbox = await InProcessBackend().open(SandboxSpec(workspace=workspace, servers=("ocr",)))
    reply = await sandbox.call("ocr/perform_ocr", dump({"input_data": "sheet.png", "config": "--oem 3 --psm 6"}))
    return text_of(decode(reply.result))


def test_tasks_are_labelled_by_their_length():
    kinds = {task.difficulty for task in LIBRARY.tasks.values()}
    assert kinds == {"easy", "medium", "hard"}


def test_the_set_is_not_too_heavy():
    size = sum(len(data) for _, data in LIBRARY.files())
    assert size < 50_000_000
    assert json.loads(dict(LIBRARY.files())["tasks.json"])["schema"] == 2
