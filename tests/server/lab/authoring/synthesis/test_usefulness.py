"""What the filter for usefulness refuses: steps nobody needs, answers that can be guessed, repetitions."""

import json

import anyio
import pytest

from m3bench.server.lab.authoring.synthesis.errand import SynthesisErrand, Want
from m3bench.server.lab.authoring.synthesis.instance import ExecutedCall, Instance, InstanceAnswer
from m3bench.server.lab.authoring.synthesis.lexicon import kinds
from m3bench.server.lab.authoring.synthesis.usefulness import (
    REASONS,
    SOLVABLE,
    USEFUL,
    ModelRater,
    Usefulness,
    has_needless_step,
    is_trivial,
)
from m3bench.tasks.library import Library
from m3bench.tasks.task import Reference, ReferenceCall, Task
from tests.server.lab.authoring.scripted_asker import asker

KIND = kinds()["park"]
WANT = Want((), KIND.asks[0])


def instance(*steps: tuple[str, str, str | float | None], things: tuple[str, ...] = ("Yosemite",)) -> Instance:
    """A task in the making, one call in each step: its argument, its answer, and what is asked of it."""
    want = Want((), KIND.asks[0])
    made = Instance(SynthesisErrand(kind=KIND, count=len(things), motif="chain", wants=(want,)), things)
    for step, (argument, text, value) in enumerate(steps):
        made.made[argument] = ExecutedCall(ReferenceCall(tool="wiki/search", arguments={"query": argument}), text, step)
        if value is not None:
            made.answers.append(InstanceAnswer(want, 0, value, step))
    return made


def test_a_step_that_tells_what_was_told_before_is_needless() -> None:
    assert has_needless_step(instance(("a", "it lies 1234 metres up", None), ("b", "1234 metres", 1234.0)))
    assert has_needless_step(instance(("a", "Great Smoky Mountains", None), ("b", "GREAT SMOKY", "Great Smoky")))
    assert has_needless_step(instance(("a", "nothing", None), ("b", "Yosemite", "Yosemite"))), "it is on the card"
    assert not has_needless_step(instance(("a", "it has a number", None), ("b", "1234 metres", 1234.0)))


def test_a_number_that_is_rounded_was_told_too_and_a_short_one_may_stand_there_by_chance() -> None:
    assert has_needless_step(instance(("a", "about 123.5 km", None), ("b", "123.4567", 123.4567)))
    assert not has_needless_step(instance(("a", "3 parks in 50 states", None), ("b", "3", 3.0)))


def test_a_short_number_saves_no_step_whose_other_answers_were_told_before() -> None:
    made = instance(("a", "Watchman Campground", None), ("b", "Watchman Campground", "Watchman Campground"))
    made.result, made.result_step = 2.0, 1
    assert has_needless_step(made)
    made.answers.append(InstanceAnswer(WANT, 0, "Zion Lodge", 1))
    assert not has_needless_step(made)


def test_a_last_step_that_nothing_is_asked_of_is_needless() -> None:
    assert has_needless_step(instance(("a", "Mariposa Grove", "Mariposa Grove"), ("b", "whatever", None)))


def test_what_was_brought_together_counts_as_asked() -> None:
    made = instance(("a", "120 sites", None), ("b", "95 sites", None), ("c", "215", None))
    assert has_needless_step(made)
    made.result, made.result_step = 215.0, 2
    assert not has_needless_step(made)


def test_every_step_counts_not_only_the_last() -> None:
    told = ("a", "The ranger is called Galen Clark, id 7712", None)
    assert not has_needless_step(instance(told, ("7712", "born in 1814", None), ("1814", "Dublin Canada", "Dublin")))
    assert has_needless_step(instance(told, ("7712", "Galen", "Galen Clark"), ("x", "of no use", None)))


@pytest.mark.parametrize("value", ["None", "unknown", " N/A ", "yes", 0.0, 1.0])
def test_an_answer_that_tells_nothing_or_is_one_digit_is_trivial(value: str | float) -> None:
    assert is_trivial(instance(("a", "x", None), ("b", "y", value)), None)


def test_one_answer_of_several_may_tell_nothing() -> None:
    made = instance(("a", "x", None), ("b", "y", 0.0))
    made.answers.append(InstanceAnswer(WANT, 1, 12.0, 1))
    assert not is_trivial(made, None)


def test_an_answer_that_other_things_have_too_is_trivial() -> None:
    mine = instance(("a", "x", "Half Dome"), ("b", "y", "Good"))
    same = instance(("c", "z", "Zion Arch"), ("d", "y", "Good"), things=("Zion",))
    unlike = instance(("c", "z", "Zion Arch"), ("d", "y", "Moderate"), things=("Zion",))
    assert is_trivial(mine, same), "the last step need not be made to know it"
    assert not is_trivial(mine, unlike)
    assert not is_trivial(mine, None)


def task(made: Instance, question: str) -> Task:
    steps = tuple(map(tuple, made.steps))
    return Task(id="t", family="f", question=question, wording="?", pictures=(), servers=("wiki",),
                references=(Reference(steps=steps),))  # fmt: skip


def test_what_is_kept_is_held_against_later_tasks_and_what_is_refused_is_not() -> None:
    refusing = Usefulness()
    first = instance(("a", "x", None), ("b", "Half Dome", "Half Dome"))
    assert refusing.refuse(instance(("a", "x", None), ("b", "none", "none")), None) == "trivial answer"
    assert refusing.refuse(first, None) is None
    refusing.keep(first, task(first, "Which rock is it that everybody climbs?"))
    again = instance(("a", "x", None), ("c", "Zion Arch", "Zion Arch"))
    assert refusing.refuse(again, None) == "near-duplicate"
    assert refusing.refuse_words("Which rock is it that everybody climbs there?") == "near-duplicate"
    assert refusing.refuse_words("Ask Wikipedia about the rock.") == "names a service"
    assert refusing.refuse_words("Who built the dam in the valley?") is None
    assert refusing.refused == {"trivial answer": 1, "near-duplicate": 2, "names a service": 1}
    assert set(refusing.refused) <= set(REASONS)


@pytest.mark.filterwarnings("ignore:The 'initial' parameter is deprecated:DeprecationWarning")
@pytest.mark.parametrize(
    ("solvability", "utility", "kept"), [(9, 5, True), (8.9, 10, False), (10, 4.9, False), (11, 9, False)]
)
def test_a_rating_keeps_what_mcp_bench_keeps(
    monkeypatch: pytest.MonkeyPatch, solvability: float, utility: float, kept: bool
) -> None:
    assert (SOLVABLE, USEFUL) == (9.0, 5.0), "the paper's thresholds, of ten"
    task = Library().task("barcode_lookup-1")
    reply = {"solvability": solvability, "utility": utility, "why_solvable": "so", "why_useful": "so"}
    scripted, sent = asker(monkeypatch, *[json.dumps(reply)] * 2)
    refusing = Usefulness(ModelRater(scripted))
    assert anyio.run(refusing.refuse_rated, task) == (None if kept else "rated low")
    assert refusing.refused == ({} if kept else {"rated low": 1})
    assert task.question in sent[1]
    assert task.wording in sent[1]
    assert all(f"- {server}/" in sent[1] for server in task.servers)


def test_without_a_rater_the_rules_decide_alone() -> None:
    assert anyio.run(Usefulness().refuse_rated, Library().task("barcode_lookup-1")) is None
