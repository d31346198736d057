"""What the filter for usefulness refuses: steps nobody needs, answers that can be guessed, repetitions."""

from functools import partial

import anyio
import pytest

from m3bench.sandboxes.backends.inprocess import InProcessBackend
from m3bench.server.authoring.performance import perform
from m3bench.server.authoring.synthesis.instance import Answer, Instance
from m3bench.server.authoring.synthesis.lexicon import Ask, words
from m3bench.server.authoring.synthesis.pipeline import make_set, usable
from m3bench.server.authoring.synthesis.plan import Plan
from m3bench.server.authoring.synthesis.usefulness import (
    REASONS,
    Reason,
    Usefulness,
    has_needless_step,
    is_trivial,
)
from m3bench.tasks.facts import Held
from m3bench.tasks.folding import fold
from m3bench.tasks.task import ReferenceCall
from tests.art import art

ASK = next(ask for entry in words().values() for ask in entry.asks)


def instance(
    *steps: tuple[str, str, str | float | None], things: tuple[str, ...] = ("Yosemite",), ask: Ask = ASK
) -> Instance:
    """A task in the making, one call in each step: its argument, its answer, and what is asked of it."""
    made = Instance(Plan(next(iter(words().values())), len(things)), things)
    for step, (argument, text, value) in enumerate(steps):
        made.steps[step].append(ReferenceCall(tool="wiki/search", arguments={"query": argument}))
        made.heard[step].append(text)
        if value is not None:
            made.answers.append(Answer(ask, things[0], value, "wiki/search", step))
    return made


def test_a_step_that_tells_what_was_told_before_is_needless() -> None:
    assert has_needless_step(instance(("a", "it lies 1234 metres up", None), ("b", "1234 metres", 1234.0)))
    assert has_needless_step(instance(("a", "Great Smoky Mountains", None), ("b", "GREAT SMOKY", "Great Smoky")))
    assert has_needless_step(instance(("a", "nothing", None), ("b", "Yosemite", "Yosemite"))), "it is on the card"
    assert not has_needless_step(instance(("a", "it has a number", None), ("b", "1234 metres", 1234.0)))


def test_a_number_that_is_rounded_was_told_too_and_a_short_one_may_stand_there_by_chance() -> None:
    assert has_needless_step(instance(("a", "about 123.5 km", None), ("b", "123.4567", 123.4567)))
    assert not has_needless_step(instance(("a", "3 parks in 50 states", None), ("b", "3", 3.0)))


def test_a_last_step_that_nothing_is_asked_of_is_needless_and_one_that_makes_a_file_is_not() -> None:
    made = instance(("a", "Mariposa Grove", "Mariposa Grove"), ("b", "whatever", None))
    assert has_needless_step(made)
    made.files = 1
    assert not has_needless_step(made)


def test_every_step_counts_not_only_the_last() -> None:
    told = ("a", "The ranger is called Galen Clark, id 7712", None)
    assert not has_needless_step(instance(told, ("7712", "born in 1814", None), ("1814", "Dublin Canada", "Dublin")))
    assert has_needless_step(instance(told, ("7712", "Galen", "Galen Clark"), ("x", "of no use", None)))


@pytest.mark.parametrize("value", ["None", "unknown", " N/A ", "yes", 0.0])
def test_an_answer_that_tells_nothing_is_trivial(value: str | float) -> None:
    assert is_trivial(instance(("a", "x", None), ("b", "y", value)), None)


def test_one_answer_of_several_may_tell_nothing() -> None:
    made = instance(("a", "x", None), ("b", "y", 0.0))
    made.answers.append(Answer(ASK, "Zion", 12.0, "wiki/search", 1))
    assert not is_trivial(made, None)


def test_an_answer_that_other_things_have_too_is_trivial() -> None:
    mine = instance(("a", "x", "Half Dome"), ("b", "y", "Good"))
    same = instance(("c", "z", "Zion Arch"), ("d", "y", "Good"), things=("Zion",))
    unlike = instance(("c", "z", "Zion Arch"), ("d", "y", "Moderate"), things=("Zion",))
    assert is_trivial(mine, same), "the last step need not be made to know it"
    assert not is_trivial(mine, unlike)
    assert not is_trivial(mine, None)


def test_a_task_with_half_of_another_ones_calls_is_a_repetition() -> None:
    filter_ = Usefulness()
    first = instance(("a", "x", None), ("b", "Half Dome", "Half Dome"))
    assert filter_.refuse(first, None) is None
    filter_.keep(first)
    assert filter_.refuse(instance(("a", "x", None), ("c", "Zion Arch", "Zion Arch")), None) == "repetition"
    assert filter_.refuse(instance(("d", "x", None), ("e", "Half Dome", "Half Dome")), None) is None
    assert filter_.refused == {"repetition": 1}


def test_what_was_refused_for_another_reason_is_not_held_against_later_tasks() -> None:
    filter_ = Usefulness()
    assert filter_.refuse(instance(("a", "x", None), ("b", "none", "none")), None) == "trivial answer"
    assert filter_.refuse(instance(("a", "x", None), ("c", "Half Dome", "Half Dome")), None) is None


@pytest.mark.seeds
@pytest.mark.parametrize("seed", [1, 2])
def test_nobody_gets_the_answer_of_a_kept_task_from_all_but_its_last_step(seed: int) -> None:
    refusing = Usefulness()
    servers = [server for server in usable() if server != "ocr"]
    library = anyio.run(
        partial(make_set, servers, count=12, seed=seed, art=art(), backend=InProcessBackend(), name="made",
                usefulness=refusing)
    )  # fmt: skip
    assert len(library.tasks) == 12
    known: set[Reason] = set(REASONS)
    assert set(refusing.refused) <= known
    seen: list[frozenset[str]] = []
    for task in library.tasks.values():
        performance = anyio.run(partial(perform, library, task, task.references[0], InProcessBackend()))
        *earlier, _ = task.references[0].steps
        texts = [call.text for call in performance.calls]
        before = Held("\n".join(texts[: sum(map(len, earlier))]))
        told = [
            fold(name) for check in task.checks if check.kind == "answer_names" for names in check.all_of
            for name in names[:1]
        ]  # fmt: skip
        numbers = [check.value for check in task.checks if check.kind == "answer_number"]
        files = [check for check in task.checks if check.kind == "file_opens"]
        assert files or not all(map(before.holds, [*told, *numbers])), task.id
        calls = frozenset(f"{call.tool} {call.arguments}" for step in task.references[0].steps for call in step)
        assert all(len(calls & other) * 2 < min(len(calls), len(other)) for other in seen), task.id
        seen.append(calls)
