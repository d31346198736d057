"""What a reference tolerates costs nothing in profile `m3`; what failed gains nothing."""

from m3bench.server.scoring import score
from m3bench.server.scoring.profiles import OPEN_M3_BENCH
from m3bench.tasks.task import Reference
from m3bench.tasks.trajectory import Call, Step, Trajectory
from tests.server.scoring.conftest import TrigramEncoder


def test_tolerated_calls_score_one_and_the_published_arithmetic_knows_no_tolerance():
    reference = Reference.model_validate(
        {
            "steps": [
                [
                    {"tool": "s/make", "arguments": {"path": "a", "n": 1}, "tolerances": {"path": {"free": True}}},
                    {"tool": "s/make", "arguments": {"path": "b", "n": 2}, "tolerances": {"path": {"free": True}}},
                ]
            ]
        }
    ).trajectory
    actual = Trajectory(
        steps=(
            Step(
                calls=(
                    Call(tool="s/make", arguments={"path": "mine-2", "n": 2}),
                    Call(tool="s/make", arguments={"path": "mine-1", "n": 1}),
                )
            ),
        )
    )
    card = score(actual, [reference], encoder=TrigramEncoder())
    assert card.metrics["argument_similarity"] == 1
    assert [match.actual.call.arguments["path"] for match in card.matches] == ["mine-1", "mine-2"]
    assert not any(match.differences for match in card.matches)
    published = score(actual, [reference], encoder=TrigramEncoder(), profile=OPEN_M3_BENCH)
    similarity = published.metrics["argument_similarity"]
    assert similarity is not None
    assert similarity < 1


def test_calls_that_differ_in_nothing_that_counts_each_find_their_own():
    reference = Reference.model_validate(
        {
            "steps": [
                [
                    {
                        "tool": "s/cut",
                        "arguments": {"box": [1], "to": "a"},
                        "tolerances": {"to": {"free": True}, "box": {"free": True}},
                    },
                    {
                        "tool": "s/cut",
                        "arguments": {"box": [2], "to": "b"},
                        "tolerances": {"to": {"free": True}, "box": {"free": True}},
                    },
                ]
            ]
        }
    ).trajectory
    card = score(reference, [reference], encoder=TrigramEncoder())
    assert all(value == 1 for value in card.metrics.values())


def test_a_call_that_failed_answers_nothing_and_still_counts_as_made():
    wanted = Call(tool="s/find", arguments={"q": "owl"})
    reference = Trajectory(steps=(Step(calls=(wanted,)),))
    failed = Trajectory(
        steps=(Step(calls=(Call(tool="s/find", arguments={"q": "owl"}, failed=True),)), Step(calls=(wanted,)))
    )
    card = score(failed, [reference], encoder=TrigramEncoder())
    assert (card.metrics["recall"], card.metrics["precision"]) == (1, 0.5)
    assert [extra.call.failed for extra in card.extra] == [True]
    assert score(failed, [reference], encoder=TrigramEncoder(), profile=OPEN_M3_BENCH).matches[0].actual.call.failed
