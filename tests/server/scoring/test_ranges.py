"""Ranges over all readings equal what going through every reading gives, and cost little however many there are."""

import itertools
from collections.abc import Iterator

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from m3bench.server.scoring import TrajectoryScore, score
from m3bench.server.scoring.encoder import Encoder
from m3bench.server.scoring.profiles import M3, OPEN_M3_BENCH, STRUCTURE, Profile
from m3bench.server.scoring.ranges import reference_ranges, score_ranges
from m3bench.tasks.readings import Conversation, Readings
from m3bench.tasks.trajectory import Call, Step, Trajectory
from tests.examples import examples

NAMES = (*STRUCTURE, "average")


class NoEncoder(Encoder):
    """Calls here are equal or of different tools."""

    name = "none"

    def encode(self, texts: list[str]) -> object:  # type: ignore[override]
        raise AssertionError("nothing is to be embedded")


def trajectory(steps: list[list[int]]) -> Trajectory:
    return Trajectory(steps=tuple(Step(calls=tuple(Call(tool=f"s/t{call}") for call in step)) for step in steps))


def card(reference: list[list[int]], steps: list[list[int]], profile: Profile = M3) -> TrajectoryScore:
    return score(trajectory(steps), [trajectory(reference)], encoder=NoEncoder(), profile=profile)  # type: ignore[abstract]


def every(readings: Readings) -> Iterator[list[tuple[int, ...]]]:
    """Every reading, one by one."""
    yield from map(list, itertools.product(*(_of(one) for one in readings.conversations)))


def _of(conversation: Conversation) -> Iterator[tuple[int, ...]]:
    for choice in itertools.product((False, True), repeat=len(conversation.calls)):
        begins = [place for place, begin in enumerate(choice) if begin]
        if begins[:1] == [0] and all(place in conversation.possible for place in begins):
            latest = [max(start for start in begins if start <= place) for place in range(len(conversation.calls))]
            if all(start >= floor for start, floor in zip(latest, conversation.floor, strict=True)):
                yield tuple(begins)


@st.composite
def conversations(draw: st.DrawFn, calls: tuple[int, ...]) -> Conversation:
    """A conversation with evidence that does not contradict itself."""
    joined = [False, *draw(st.lists(st.booleans(), min_size=len(calls) - 1, max_size=len(calls) - 1))]
    floor: list[int] = []
    latest = 0
    for place in range(len(calls)):
        latest = place if not joined[place] else latest
        source = draw(st.integers(-4, place - 1)) + 1
        floor.append(max([0, *floor[-1:], source if source <= latest else 0]))
    return Conversation(calls=calls, joined=tuple(joined), floor=tuple(floor))


@st.composite
def runs(draw: st.DrawFn, chats: int = 1) -> tuple[list[list[int]], list[int], Readings]:
    """A reference, the calls that were made in order of arrival, and the evidence on their steps."""
    sizes = draw(st.lists(st.integers(1, 3), min_size=1, max_size=4))
    numbers = iter(range(sum(sizes)))
    reference = [[next(numbers) for _ in range(size)] for size in sizes]
    pool = [*range(sum(sizes)), *range(100, 100 + draw(st.integers(0, 3)))]
    made = draw(st.permutations(pool)) if draw(st.booleans()) else pool
    made = made[: draw(st.integers(1, 8))]
    chat = [draw(st.integers(0, chats - 1)) for _ in made]
    split = [tuple(index for index, mine in enumerate(chat) if mine == one) for one in range(chats)]
    return reference, made, Readings(conversations=tuple(draw(conversations(calls)) for calls in split if calls))


def values(reference: list[list[int]], made: list[int], readings: Readings, profile: Profile) -> list[TrajectoryScore]:
    """The run in every reading."""
    return [
        card(reference, [[made[index] for index in step] for step in readings.steps(begins)], profile)
        for begins in every(readings)
    ]


@given(runs(), st.sampled_from((M3, OPEN_M3_BENCH)))
@settings(max_examples=examples(150), deadline=None)
def test_ranges_are_what_going_through_every_reading_gives(
    run: tuple[list[list[int]], list[int], Readings], profile: Profile
) -> None:
    reference, made, readings = run
    every_value = values(reference, made, readings, profile)
    steps = readings.steps([one.possible for one in readings.conversations])
    scored = card(reference, [[made[index] for index in step] for step in steps], profile)
    found = reference_ranges(scored, readings, range(len(made)))
    assert found.exact
    for name in NAMES:
        seen = [one.metrics[name] or 0.0 for one in every_value]
        assert abs(found.values[name][0] - min(seen)) < 1e-9, name
        assert abs(found.values[name][1] - max(seen)) < 1e-9, name


@given(runs(chats=2))
@settings(max_examples=examples(50), deadline=None)
def test_no_reading_of_interleaved_conversations_passes_the_ranges(
    run: tuple[list[list[int]], list[int], Readings],
) -> None:
    reference, made, readings = run
    begins = [one.possible for one in readings.conversations]
    steps = readings.steps(begins)
    order = [index for step in steps for index in step]
    found = reference_ranges(card(reference, [[made[index] for index in step] for step in steps]), readings, order)
    for one in values(reference, made, readings, M3):
        for name in NAMES:
            low, high = found.values[name]
            assert low - 1e-9 <= (one.metrics[name] or 0.0) <= high + 1e-9, name


def test_where_another_reference_may_count_the_range_holds_its_values_too() -> None:
    made = [0, 1, 2]
    readings = Readings(conversations=(Conversation(calls=(0, 1, 2), joined=(False,) * 3, floor=(0, 0, 0)),))
    cards = [card(reference, [[call] for call in made]) for reference in ([[0], [1, 2], [3]], [[0], [1], [2]])]
    found = score_ranges(cards, readings, made)
    for begins in every(readings):
        steps = [[made[index] for index in step] for step in readings.steps(begins)]
        both = [card(reference, steps) for reference in ([[0], [1, 2], [3]], [[0], [1], [2]])]
        best = max(both, key=lambda one: one.average or 0.0)
        for name in (*NAMES, "recall"):
            assert found.values[name][0] - 1e-9 <= (best.metrics[name] or 0.0) <= found.values[name][1] + 1e-9


@pytest.mark.slow
def test_two_hundred_calls_with_a_hundred_and_fifty_open_boundaries_have_exact_ranges() -> None:
    reference = [list(range(start, start + 4)) for start in range(0, 200, 4)]
    joined = tuple(place % 4 == 3 for place in range(200))
    one = Conversation(calls=tuple(range(200)), joined=joined, floor=(0,) * 200)
    readings = Readings(conversations=(one,))
    assert readings.open == 149
    scored = card(reference, [[call] for call in range(200)])
    found = reference_ranges(scored, readings, range(200))
    assert found.exact
    assert found.values["step_coherence"] == pytest.approx((1 / 3, 1.0))
    assert found.values["merge_purity"] == pytest.approx((0.0, 1.0))
