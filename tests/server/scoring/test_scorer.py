"""Whole runs scored with a cheap encoder: the properties every score has."""

import random
from collections import Counter
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from m3bench.server.scoring import ScorableRun, ToolSignature, score, score_many
from m3bench.server.scoring.alignment import STRONG, WEAK
from m3bench.server.scoring.profiles import AVERAGED, M3, OPEN_M3_BENCH, PROFILES, Profile
from m3bench.tasks.trajectory import Call, Step, Trajectory
from tests.examples import examples
from tests.server.scoring.conftest import TrigramEncoder, call, trajectory

every_profile = pytest.mark.parametrize("profile", PROFILES.values(), ids=PROFILES)

calls = st.builds(
    Call,
    tool=st.sampled_from(["wiki/summary", "wiki/search", "math/sum"]),
    arguments=st.fixed_dictionaries(
        {"query": st.sampled_from(["barn owl", "Barn owl", "snowy owl", "steam engine", "glass frog", "x", ""])},
        optional={"n": st.integers(0, 3)},
    ),
)
trajectories = st.lists(st.lists(calls, max_size=4), max_size=4).map(lambda steps: trajectory(*steps))


@given(reference=trajectories)
def test_a_reference_as_its_own_run_scores_exactly_one_in_m3(reference: Trajectory) -> None:
    assume(reference.calls)
    encoder = TrigramEncoder()
    card = score(reference, [reference], encoder=encoder)
    assert set(card.metrics.values()) == {1.0}
    assert encoder.encoded == []


@pytest.mark.sample(1)
@every_profile
@settings(max_examples=examples(60))
@given(reference=trajectories, actual=trajectories)
def test_scores_lie_between_zero_and_one_and_matching_is_fair(
    profile: Profile, reference: Trajectory, actual: Trajectory
) -> None:
    card = score(actual, [reference], encoder=TrigramEncoder(), profile=profile)
    assert all(value is not None and 0.0 <= value <= 1.0 for value in card.metrics.values())
    for match in card.matches:
        assert match.reference.call.tool == match.actual.call.tool
        assert match.similarity >= WEAK
        assert match.strong == (match.similarity >= STRONG)
    assert Counter(p.index for p in (*card.missed, *(m.reference for m in card.matches))) == Counter(
        range(len(reference.calls))
    )
    assert Counter(p.index for p in (*card.extra, *(m.actual for m in card.matches))) == Counter(
        range(len(actual.calls))
    )


@settings(max_examples=examples(60))
@given(reference=trajectories, actual=trajectories, seed=st.integers(0, 1000))
def test_permuting_calls_inside_a_step_changes_nothing(reference: Trajectory, actual: Trajectory, seed: int) -> None:
    source = random.Random(seed)

    def permuted(whole: Trajectory) -> Trajectory:
        return Trajectory(
            steps=tuple(Step(calls=tuple(source.sample(step.calls, len(step.calls)))) for step in whole.steps)
        )

    one = score(actual, [reference], encoder=TrigramEncoder())
    other = score(permuted(actual), [permuted(reference)], encoder=TrigramEncoder())
    assert other.metrics == one.metrics


@pytest.mark.sample(1)
@every_profile
@settings(max_examples=examples(40))
@given(reference=trajectories, actual=trajectories, data=st.data())
def test_dropping_a_matched_call_never_raises_recall(
    profile: Profile, reference: Trajectory, actual: Trajectory, data: st.DataObject
) -> None:
    card = score(actual, [reference], encoder=TrigramEncoder(), profile=profile)
    assume(card.matches)
    dropped = data.draw(st.sampled_from(card.matches)).actual
    steps = [list(step.calls) for step in actual.steps]
    first = sum(len(step) for step in steps[: dropped.step])
    del steps[dropped.step][dropped.index - first]
    fewer = score(trajectory(*steps), [reference], encoder=TrigramEncoder(), profile=profile)
    assert (fewer.metrics["recall"] or 0) <= (card.metrics["recall"] or 0)


@pytest.mark.sample(1)
@every_profile
@settings(max_examples=examples(30))
@given(attempts=st.lists(st.tuples(trajectories, trajectories), max_size=5))
def test_scoring_many_equals_scoring_each(profile: Profile, attempts: Sequence[tuple[Trajectory, Trajectory]]) -> None:
    together = score_many(
        [ScorableRun(actual=actual, references=[reference]) for actual, reference in attempts],
        encoder=TrigramEncoder(),
        profile=profile,
    )
    each = [score(actual, [reference], encoder=TrigramEncoder(), profile=profile) for actual, reference in attempts]
    assert [card.metrics for card in together] == [card.metrics for card in each]


def test_more_texts_than_a_group_holds_are_scored_in_order(encoder: TrigramEncoder) -> None:
    reference = trajectory([call("wiki/summary", title="barn owl")])
    attempts = [
        ScorableRun(actual=trajectory([call("wiki/summary", title=f"barn owl {number}")]), references=[reference])
        for number in range(300)
    ]
    cards = list(score_many(attempts, encoder=encoder))
    assert [card.matches[0].actual.call.arguments["title"] for card in cards] == [
        f"barn owl {number}" for number in range(300)
    ]


def test_the_best_reference_counts_and_is_named(encoder: TrigramEncoder) -> None:
    actual = trajectory([call("wiki/summary", title="barn owl")])
    wrong = trajectory([call("math/sum", numbers=[1])])
    card = score(actual, [wrong, actual, actual], encoder=encoder)
    assert (card.reference, card.references, card.average) == (1, 3, 1.0)
    with pytest.raises(ValueError, match="at least one reference"):
        score(actual, [], encoder=encoder)


def test_only_what_needs_a_similarity_is_embedded(encoder: TrigramEncoder) -> None:
    reference = trajectory(
        [call("wiki/summary", title="same"), call("a/only", x=1), call("math/sum", numbers=[1])],
        [call("wiki/search", query="one")],
    )
    actual = trajectory(
        [call("wiki/summary", title="same"), call("b/only", x=1)],
        [call("math/sum", numbers=[1]), call("math/sum", numbers=[2]), call("wiki/search", query="two")],
    )
    score(actual, [reference], encoder=encoder)
    assert encoder.encoded == ['wiki/search {"query":"one"}', 'wiki/search {"query":"two"}']


def test_differences_missed_and_extra_are_told(encoder: TrigramEncoder) -> None:
    reference = trajectory([call("wiki/search", query="barn owl nesting", n=5)], [call("math/sum", numbers=[1, 2])])
    actual = trajectory([call("a/extra", x=1)], [call("wiki/search", query="barn owl nests", lang="en")])
    card = score(actual, [reference], encoder=encoder)
    (match,) = card.matches
    assert (match.reference.index, match.reference.step, match.actual.index, match.actual.step) == (0, 0, 1, 1)
    assert [(d.argument, d.kind, d.reference, d.actual) for d in match.differences] == [
        ("query", "changed", "barn owl nesting", "barn owl nests"),
        ("n", "missing", 5, None),
        ("lang", "extra", None, "en"),
    ]
    assert [placed.call.tool for placed in card.missed] == ["math/sum"]
    assert [placed.call.tool for placed in card.extra] == ["a/extra"]
    assert card.strong + card.weak == card.matches


def test_an_argument_left_at_its_default_is_no_difference(encoder: TrigramEncoder) -> None:
    signatures = {"wiki/search": ToolSignature(defaults={"n": 3})}.get
    reference = trajectory([call("wiki/search", query="owl", n=3)])
    actual = trajectory([call("wiki/search", query="owl")])
    assert set(score(actual, [reference], encoder=encoder, signatures=signatures).metrics.values()) == {1.0}
    assert score(actual, [reference], encoder=encoder).average != 1.0


class Uncased(TrigramEncoder):
    """Sees no difference between cases."""

    def key(self, text: str) -> str:
        return text.lower()

    def encode(self, texts: Sequence[str]) -> Any:
        return super().encode([text.lower() for text in texts])


def test_calls_the_encoder_cannot_tell_apart_tie_in_the_public_profile_only() -> None:
    reference = trajectory([call("wiki/summary", title="owl")])
    actual = trajectory([call("wiki/summary", title="OWL"), call("wiki/summary", title="owl")])
    public = score(actual, [reference], encoder=Uncased(), profile=OPEN_M3_BENCH)
    ours = score(actual, [reference], encoder=Uncased(), profile=M3)
    assert [match.actual.index for match in public.matches] == [0]
    assert [match.actual.index for match in ours.matches] == [1]
    louder = score(trajectory([call("wiki/summary", title="OWL")]), [reference], encoder=Uncased(), profile=M3)
    assert 0.999 < louder.matches[0].similarity < 1.0


def test_the_json_form_holds_metrics_and_indices(encoder: TrigramEncoder) -> None:
    reference = trajectory([call("wiki/summary", title="owl"), call("math/sum", numbers=[1])])
    card = score(trajectory([call("wiki/summary", title="owl")]), [reference], encoder=encoder)
    data = card.to_json()
    assert data["matches"] == [[0, 0, 1.0]]
    assert (data["missed"], data["extra"]) == ([1], [])
    assert (data["reference_calls"], data["actual_calls"], data["matched"]) == (2, 1, 1)
    assert {*AVERAGED, "argument_similarity_all", "argument_similarity_strong", "average"} <= data.keys()
