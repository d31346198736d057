"""Steps are found where the wire carries any evidence, and where it carries none the range says so."""

import itertools
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from m3bench.proxy.steps import HINT, WAIT, Segmentation, Timed, segment
from m3bench.server.scoring.metrics import Alignment, Link, merge_purity, order_consistency, step_coherence
from tests.proxy.clients import BEHAVIOURS, MS, Log, simulate

RUNS = 200

PROOF = ("parallel", "parallel with dataflow", "hints", "two chats")
"""Calls overlap, or the client says which step they belong to."""
EVIDENCE = ("serialising, 1-60 ms", "serialising with dataflow", "fast chain with dataflow", "mixed")
NOTHING = ("slow approvals", "slow approvals with dataflow", "chain with dataflow", "chain without dataflow")


def accuracy(logs: Sequence[Log]) -> float:
    """The share of pairs of calls that are rightly put into one step or two."""
    right = total = 0
    for log in logs:
        place = {index: number for number, step in enumerate(segment(log.calls).steps) for index in step}
        for one, other in itertools.combinations(range(len(log.calls)), 2):
            total += 1
            right += (place[one] == place[other]) == (log.steps[one] == log.steps[other])
    return right / total


def call(received: int, sent: int, arguments: dict[str, object] | None = None, text: str = "", **meta: object) -> Timed:
    return Timed(
        tool="world/find", arguments=arguments or {}, text=text, received_ns=received * MS, sent_ns=sent * MS, meta=meta
    )


@pytest.mark.parametrize("behaviour", PROOF)
def test_overlap_and_hints_are_proof(behaviour: str) -> None:
    assert accuracy([simulate(behaviour, seed) for seed in range(RUNS)]) == 1.0


@pytest.mark.parametrize("behaviour", EVIDENCE)
def test_dataflow_and_gaps_that_stand_apart_are_nearly_proof(behaviour: str) -> None:
    assert accuracy([simulate(behaviour, seed) for seed in range(RUNS)]) >= 0.98


@pytest.mark.parametrize("behaviour", BEHAVIOURS)
def test_the_range_holds_the_true_value(behaviour: str) -> None:
    held = sum(_range_holds(simulate(behaviour, seed), seed) for seed in range(RUNS))
    assert held / RUNS >= 0.99


def test_every_behaviour_is_measured() -> None:
    assert {*PROOF, *EVIDENCE, *NOTHING} == set(BEHAVIOURS)


def test_no_calls_make_no_steps() -> None:
    assert segment([]).steps == ()


def test_a_call_that_arrives_before_an_answer_leaves_is_in_the_same_step() -> None:
    found = segment([call(0, 900), call(500, 600), call(5000, 5100)])
    assert found.steps == ((0, 1), (2,))
    assert found.evidence == ("first", "gap")


def test_a_value_from_an_answer_begins_a_step_however_fast_it_comes() -> None:
    found = segment([call(0, 10, text="id ChIJ-77aQ"), call(12, 20, {"place": "ChIJ-77aQ"})])
    assert found.steps == ((0,), (1,))
    assert found.evidence == ("first", "dataflow")


def test_a_value_the_question_gave_is_no_dataflow() -> None:
    calls = [call(0, 10, text="Zion is a park"), call(12, 20, {"park": "Zion is a park"})]
    assert segment(calls, known="Tell me why Zion is a park.").steps == ((0, 1),)


def test_a_value_both_calls_were_given_is_no_dataflow() -> None:
    calls = [call(0, 10, {"path": "./report.xlsx"}, text="made ./report.xlsx"), call(12, 20, {"path": "./report.xlsx"})]
    assert segment(calls).steps == ((0, 1),)


def test_a_call_that_waits_for_the_previous_one_is_of_the_same_turn() -> None:
    assert segment([call(0, 10), call(4000, 4010, {WAIT: True})]).steps == ((0, 1),)


def test_a_step_never_crosses_a_turn() -> None:
    calls = [call(0, 10, **{"vscode.requestId": "a"}), call(11, 20, **{"vscode.requestId": "b"})]
    assert segment(calls).steps == ((0,), (1,))


def test_a_call_in_the_background_proves_nothing() -> None:
    calls = [call(0, 400_000), call(1000, 1100), call(130_000, 130_100)]
    assert segment(calls).steps == ((0, 1), (2,))


@given(st.lists(st.tuples(st.integers(0, 5000), st.integers(0, 2000), st.sampled_from([None, "a", "b"])), max_size=9))
def test_every_reading_puts_each_call_into_exactly_one_step(rows: list[tuple[int, int, str | None]]) -> None:
    rows.sort(key=lambda row: row[0])
    calls = [call(start, start + took, **({HINT: hint} if hint else {})) for start, took, hint in rows]
    found = segment(calls)
    for steps in found.readings():
        assert sorted(index for step in steps for index in step) == list(range(len(calls)))
        assert list(steps) == sorted(steps)


def _range_holds(log: Log, seed: int) -> bool:
    """Whether the structure metrics of the true steps lie within the range over the readings."""
    found = segment(log.calls)
    # The reference is the truth with its first step split, so that the metrics are not all one.
    reference = [step + (index % 2 if step == log.steps[0] else 0) for index, step in enumerate(log.steps)]
    true = _metrics(reference, _places_of(log.steps))
    seen = [_metrics(reference, _places(steps)) for steps in _readings(found)]
    return all(
        min(values) - 1e-9 <= value <= max(values) + 1e-9
        for value, values in zip(true, zip(*seen, strict=True), strict=True)
    )


def _readings(found: Segmentation) -> list[tuple[tuple[int, ...], ...]]:
    return list(found.readings())


def _places(steps: Sequence[Sequence[int]]) -> dict[int, int]:
    return {index: number for number, step in enumerate(steps) for index in step}


def _places_of(steps: Sequence[int]) -> dict[int, int]:
    first: dict[int, int] = {}
    for index, step in enumerate(steps):
        first.setdefault(step, index)
    rank = {step: number for number, step in enumerate(sorted(first, key=lambda step: first[step]))}
    return {index: rank[step] for index, step in enumerate(steps)}


def _metrics(reference: Sequence[int], places: dict[int, int]) -> tuple[float, float, float]:
    ranks = {step: number for number, step in enumerate(sorted(set(reference)))}
    links = tuple(Link(ranks[step], places[index], 0.9) for index, step in enumerate(reference))
    sizes = [0] * (max(places.values()) + 1)
    for place in places.values():
        sizes[place] += 1
    alignment = Alignment(
        links=links,
        reference_sizes=tuple(reference.count(step) for step in sorted(set(reference))),
        actual_sizes=tuple(sizes),
        strong=0.8,
    )
    return step_coherence(alignment), order_consistency(alignment), merge_purity(alignment)
