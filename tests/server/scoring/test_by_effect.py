"""Scoring by effect, put together: the best reference, ranges over readings, and every number in words."""

from collections.abc import Sequence
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from m3bench.server.scoring import EFFECT, ScorableRun, TrajectoryScore, best_of, ranges, score, score_each
from m3bench.server.scoring.explain import explain
from m3bench.server.scoring.profiles import AVERAGED
from m3bench.server.scoring.reasons import KINDS_ALONE
from m3bench.server.scoring.signatures import catalog_signatures
from m3bench.tasks.catalog import load_catalog
from m3bench.tasks.plan import Plan, PlannedCall
from m3bench.tasks.readings import Conversation, Readings
from m3bench.tasks.trajectory import Call, Step, Trajectory
from tests.examples import examples
from tests.server.scoring.conftest import TrigramEncoder

SIGNATURES = catalog_signatures(load_catalog())


def number(value: int) -> Call:
    return Call(tool="math/floor", arguments={"number": value})


def trajectory(*steps: Sequence[Call]) -> Trajectory:
    return Trajectory(steps=tuple(Step(calls=tuple(step)) for step in steps))


def plan(*needs: tuple[int, ...]) -> Plan:
    return Plan(calls=tuple(PlannedCall(needs=one) for one in needs))


def scored(run: ScorableRun) -> TrajectoryScore:
    return best_of(score_each(run, profile=EFFECT, signatures=SIGNATURES))


def told(played: ScorableRun) -> list[str]:
    return [line.text for line in explain(scored(played), "films", "movies")]


def test_the_best_of_the_references_counts() -> None:
    one, other = trajectory([number(1)], [number(2)]), trajectory([number(1)], [number(3)])
    played = ScorableRun(actual=other, references=[one, other])
    card = scored(played)
    assert (card.reference, card.references, card.average) == (1, 2, 1.0)
    assert scored(replace(played, references=[one, one])).reference == 0


def test_what_was_asked_instead_is_told_in_words() -> None:
    joker, love, titanic = (
        Call(tool="tmdb/search_movies", arguments={"query": title})
        for title in ("Joker", "In the Mood for Love", "Titanic")
    )
    lines = told(ScorableRun(actual=trajectory([love, titanic]), references=[trajectory([joker, love])]))
    assert "  ✗ tmdb/search_movies  missed: another film: Joker wanted, Titanic asked" in lines
    assert any(line.startswith("  ✓ tmdb/search_movies  in step 1   1.000 same call") for line in lines)
    assert KINDS_ALONE in lines
    assert any("0.500  1 of 2 needed calls answered" in line for line in lines)


def test_a_wrong_thing_has_no_tick_in_any_profile() -> None:
    wanted, asked = (Call(tool="openlibrary_mcp/get_book_info", arguments={"isbn": isbn}) for isbn in ISBNS)
    played = ScorableRun(actual=trajectory([asked]), references=[trajectory([wanted])])
    assert scored(played).average == 0
    words = score(played.actual, played.references, encoder=TrigramEncoder())
    for line in [*told(played), *(line.text for line in explain(words, "books"))]:
        assert "✓" not in line


ISBNS = ("9780140449136", "9780140449143")


@st.composite
def runs(draw: st.DrawFn) -> tuple[ScorableRun, Readings]:
    """Some calls of a random plan in a random order, and a record that leaves boundaries open."""
    count = draw(st.integers(1, 5))
    needs = [tuple(sorted(draw(st.sets(st.integers(0, at - 1), max_size=2)))) if at else () for at in range(count)]
    depth: list[int] = []
    for one in needs:
        depth.append(1 + max((depth[need] for need in one), default=-1))
    steps = [[number(at) for at in range(count) if depth[at] == level] for level in range(max(depth) + 1)]
    order = [at for level in range(max(depth) + 1) for at in range(count) if depth[at] == level]
    place = {at: index for index, at in enumerate(order)}
    planned = plan(*(tuple(sorted(place[need] for need in needs[at])) for at in order))
    made = draw(st.permutations(range(count)))[: draw(st.integers(1, count))]
    calls = [number(at) for at in made]
    joined = (False, *(draw(st.booleans()) for _ in calls[1:]))
    floor = [0]
    for at in range(1, len(calls)):
        seen = [start for start in range(at + 1) if start == 0 or not joined[start]]
        floor.append(max(floor[-1], draw(st.sampled_from([0, seen[-1], seen[max(0, len(seen) - 2)]]))))
    conversation = Conversation(calls=tuple(range(len(calls))), joined=joined, floor=tuple(floor))
    readings = Readings(conversations=(conversation,))
    grouped = readings.steps([conversation.possible])
    actual = trajectory(*([calls[index] for index in step] for step in grouped))
    return ScorableRun(actual=actual, references=[trajectory(*steps)], plans=[planned]), readings


@settings(max_examples=examples(150), deadline=None)
@given(runs(), st.sampled_from([0, ranges.ENUMERATED]))
def test_ranges_hold_every_reading_and_are_attained_where_they_say_so(
    drawn: tuple[ScorableRun, Readings], enumerated: int
) -> None:
    played, readings = drawn
    scores = score_each(played, profile=EFFECT, signatures=SIGNATURES)
    order = tuple(range(len(played.actual.calls)))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ranges, "ENUMERATED", enumerated)
        found = ranges.score_ranges(scores, readings, order)
    every = []
    for begins in readings.every():
        step = {call: at for at, calls in enumerate(readings.steps(begins)) for call in calls}
        every.append(ranges.values_in(scores[0], step, order))
    for name in (*AVERAGED, "average"):
        values = [read[name] for read in every if name in read]
        low, high = found.values[name]
        assert low <= min(values) + 1e-12
        assert high >= max(values) - 1e-12
        if found.exact:
            assert (low, high) == pytest.approx((min(values), max(values)))
    if enumerated:
        assert found.exact


@settings(max_examples=examples(100), deadline=None)
@given(runs())
def test_the_best_possible_schedule_is_perfect_whatever_the_author_wrote(drawn: tuple[ScorableRun, Readings]) -> None:
    """Whoever sends each call as early as its needs allow loses nothing, also when the author wrote them in a row.

    Playing in a row what could go together costs coherence, and nothing else, also when the author wrote it so.
    """
    played, _ = drawn
    (best,) = played.references
    serial = trajectory(*([call] for call in best.calls))
    for reference in (best, serial):
        card = scored(ScorableRun(actual=best, references=[reference], plans=played.plans))
        assert set(card.metrics.values()) == {1.0}
        slow = scored(ScorableRun(actual=serial, references=[reference], plans=played.plans))
        assert slow.metrics["step_coherence"] == pytest.approx(len(best.steps) / len(best.calls))
        assert slow.metrics["order_consistency"] == slow.metrics["merge_purity"] == 1.0


def test_of_several_references_the_range_is_that_of_the_best_in_each_reading() -> None:
    together, apart = trajectory([number(1), number(2)]), trajectory([number(1)], [number(2)])
    played = ScorableRun(actual=apart, references=[together, apart], plans=[plan((), ()), plan((), (0,))])
    conversation = Conversation(calls=(0, 1), joined=(False, False), floor=(0, 0))
    scores = score_each(played, profile=EFFECT, signatures=SIGNATURES)
    found = ranges.score_ranges(scores, Readings(conversations=(conversation,)), (0, 1))
    assert found.values["average"] == (1.0, 1.0)
    assert found.exact
