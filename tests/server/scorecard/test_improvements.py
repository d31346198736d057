"""What each fault cost by effect: corrected alone, each of them gives the score of the corrected run."""

from typing import Any

import pytest

from m3bench.server.scorecard.building import alignment_of
from m3bench.server.scorecard.improvements import improvements
from m3bench.server.scorecard.markdown import markdown
from m3bench.server.scorecard.model import ActualCall, ScoreCard
from m3bench.server.scoring import EFFECT, ScorableRun, score_many
from m3bench.server.scoring.reasons import reasons
from m3bench.server.scoring.signatures import catalog_signatures
from m3bench.tasks.catalog import load_catalog
from m3bench.tasks.plan import Plan, PlannedCall
from m3bench.tasks.trajectory import Call, Step, Trajectory
from tests.server.scorecard.cards import made_card

Steps = list[list[Call]]


def film(title: str) -> Call:
    return Call(tool="tmdb/search_movies", arguments={"query": title})


def power(of: int) -> Call:
    return Call(tool="metmuseum-mcp/get-museum-object", arguments={"objectId": of})


POTTER = "Harry Potter and the Chamber of Secrets"
REFERENCE: Steps = [[film(POTTER), film("Titanic")], [power(3)], [power(4)]]
PLAN = Plan(calls=(PlannedCall(), PlannedCall(), PlannedCall(needs=(0, 1)), PlannedCall(needs=(2,))))
FAULTS: dict[str, Steps] = {
    "missed": [REFERENCE[0], REFERENCE[1]],
    "extra": [REFERENCE[0], [*REFERENCE[1], power(9)], REFERENCE[2]],
    "arguments": [[film(f"{POTTER} film"), film("Titanic")], REFERENCE[1], REFERENCE[2]],
    "apart": [[REFERENCE[0][0]], [REFERENCE[0][1]], REFERENCE[1], REFERENCE[2]],
    "mixed": [REFERENCE[0], [*REFERENCE[1], *REFERENCE[2]]],
    "order": [REFERENCE[0], REFERENCE[2], REFERENCE[1]],
    "unlike": [[film(POTTER), film("Avatar")], REFERENCE[1], REFERENCE[2]],
    "failed": [[film(POTTER), Call(tool="tmdb/search_movies", arguments={}, failed=True)], *REFERENCE[1:]],
}
"""A run with one fault, by the name of the fault."""


def trajectory(steps: Steps) -> Trajectory:
    return Trajectory(steps=tuple(Step(calls=tuple(step)) for step in steps))


def card_of(steps: Steps, **fields: Any) -> ScoreCard:
    run = ScorableRun(actual=trajectory(steps), references=[trajectory(REFERENCE)], plans=[PLAN])
    best = next(score_many([run], profile=EFFECT, signatures=catalog_signatures(load_catalog())))
    actual = [
        [
            ActualCall(
                tool=call.tool, arguments=dict(call.arguments), outcome="not_found" if call.failed else "success"
            )
            for call in step
        ]
        for step in steps
    ]
    card = made_card(scoring_profile="effect").model_copy(
        update={
            "metrics": dict(best.metrics),
            "reasons": reasons(best),
            "alignment": alignment_of(best, trajectory(REFERENCE), actual),
            **fields,
        }
    )
    return card.model_copy(update={"improvements": improvements(card)})


@pytest.mark.parametrize("fault", FAULTS)
def test_the_one_fault_of_a_run_is_what_costs_it_everything(fault: str) -> None:
    card = card_of(FAULTS[fault])
    assert card.average is not None
    assert card.average < 0.999
    best = card.improvements[0]
    assert best.kind == fault
    assert best.average == pytest.approx(1.0)
    assert best.gain == pytest.approx(1.0 - card.average)
    assert f"**+{best.gain:.3f}**" in markdown(card)


def test_a_perfect_run_has_nothing_to_improve() -> None:
    assert card_of(REFERENCE).improvements == ()


def test_an_idle_run_is_told_what_to_do_first() -> None:
    best = card_of([]).improvements[0]
    assert (best.kind, best.gain > 0) == ("missed", True)
    assert "is missing" in best.text


def test_a_gain_is_what_scoring_the_corrected_run_gives() -> None:
    """Three faults at once: each gain equals the score of the run with that fault alone corrected."""
    sloppy: Steps = [[film(f"{POTTER} film"), film("Titanic"), power(9)], REFERENCE[1]]
    corrected: dict[str, Steps] = {
        "arguments": [[REFERENCE[0][0], *sloppy[0][1:]], REFERENCE[1]],
        "unlike": [[*sloppy[0][:2]], REFERENCE[1], REFERENCE[2]],
    }
    found = {one.kind: one.average for one in card_of(sloppy).improvements}
    assert found["arguments"] == pytest.approx(card_of(corrected["arguments"]).average)
    assert found["unlike"] < (card_of(corrected["unlike"]).average or 0.0), "it went out before what it needs"


def test_another_thing_is_named_and_gets_no_tick() -> None:
    card = card_of(FAULTS["unlike"])
    text = markdown(card)
    assert "another film: Titanic wanted, Avatar asked" in card.improvements[0].text
    (line,) = [line for line in text.split("\n") if line.startswith("| 1 |") and "Titanic" in line]
    assert "✗ another film: Titanic wanted, Avatar asked" in line
    assert "✓" not in line
