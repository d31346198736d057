"""The measure of near-duplicates: shapes, calls and runs of three words."""

import pytest

from m3bench.server.lab.authoring.synthesis.usefulness import KeptTasks, same_calls, same_words
from m3bench.tasks.task import Reference, ReferenceCall, Task

STEPS = tuple((ReferenceCall(tool="wiki/search", arguments={"query": name}),) for name in "abcd")


def task(question: str, names: str) -> Task:
    steps = tuple((ReferenceCall(tool="wiki/search", arguments={"query": name}),) for name in names)
    return Task(id="t", family="f", question=question, wording="?", pictures=(), servers=("wiki",),
                references=(Reference(steps=steps),))  # fmt: skip


@pytest.mark.parametrize(
    ("one", "other", "share"),
    [
        ("how high is the town", "How high is the town?", 1.0),
        ("how high is the town", "how high is the park", 2 / 4),
        ("how high is the town", "who wrote the book", 0.0),
    ],
)
def test_words_are_compared_by_runs_of_three(one: str, other: str, share: float) -> None:
    assert same_words(one, other) == share == same_words(other, one)


def test_calls_are_compared_by_the_shorter_task() -> None:
    assert same_calls(STEPS, STEPS[:1]) == 1
    assert same_calls(STEPS[:2], STEPS[1:4]) == 0.5
    assert same_calls(STEPS[:2], STEPS[2:]) == 0
    assert same_calls(STEPS, ()) == 0


def test_a_task_repeats_another_by_what_it_asks_or_calls_or_how_it_sounds() -> None:
    kept = KeptTasks()
    assert not kept.repeats("heights of parks", STEPS)
    kept.keep("heights of parks", task("how high is the town", "ab"))
    assert kept.repeats("heights of parks", ())
    assert kept.repeats("prices", STEPS[1:3])
    assert not kept.repeats("prices", STEPS[2:])
    assert kept.sounds_like("Now how high is the town")
    assert not kept.sounds_like("who wrote the book")
