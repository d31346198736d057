"""From a record to a card, in memory: what counts is scored, what is not the agent's fault is only counted."""

import json
from pathlib import Path
from typing import Any

import pytest

from m3bench.server.scorecard.building import VERSION, score_run
from m3bench.server.scorecard.migration import read_card
from m3bench.server.scorecard.model import ChangedArgument, Client, ScoreCard
from m3bench.server.scoring import open_encoder
from m3bench.server.store.records import CallRecord, RunRecord
from m3bench.tasks.task import Task

MILLISECOND = 1_000_000
NUMBERS = [4, 8, 15, 16, 23, 42]

TASK = Task.model_validate(
    {
        "id": "survey-1",
        "family": "survey",
        "question": "What are the middle and the average of the figures on the note?",
        "wording": "Compute the median and the mean, then their difference.",
        "pictures": [],
        "servers": ["math"],
        "references": [
            {
                "steps": [
                    [
                        {"tool": "math/median", "arguments": {"numbers": NUMBERS}},
                        {"tool": "math/mean", "arguments": {"numbers": NUMBERS}},
                    ],
                    [{"tool": "math/subtract", "arguments": {"minuend": 18, "subtrahend": 15.5}}],
                ]
            }
        ],
        "checks": [{"kind": "answer_number", "value": 2.5}],
    }
)


def call(at: int, tool: str, outcome: str = "success", owner: str = "agent", **arguments: Any) -> CallRecord:
    """A call that arrived some milliseconds after the first and took five."""
    moment = 1_000_000_000 + at * MILLISECOND
    message = {"params": {"name": tool, "arguments": arguments}}
    result = {"content": [{"type": "text", "text": f"answer {at}"}]}
    return CallRecord(
        id=at, run="r", seat="s", tool=tool, request_id="1", request=json.dumps(message).encode(), revision="r",
        client="c 1", wall="2026-01-01T00:00:00+00:00", received_ns=moment, outcome=outcome, owner=owner,
        result=json.dumps(result).encode(), error=None, full=None, forwarded_ns=moment,
        returned_ns=moment + 5 * MILLISECOND, sent_ns=moment + 5 * MILLISECOND,
    )  # fmt: skip


def card_of(*calls: CallRecord, answer: str = "2.5", client: Client | None = None) -> ScoreCard:
    run = RunRecord(
        id="r", seat="s", task=TASK.id, state="submitted", mode="practice", started="", ended=None, answer=answer,
        seal=None, manifest={}, scorecard=None,
    )  # fmt: skip
    return score_run(run, TASK, calls, Path("nowhere"), open_encoder(), client)


def test_a_right_run_is_right_in_everything() -> None:
    card = card_of(
        call(0, "math/median", numbers=NUMBERS),
        call(1, "math/mean", numbers=NUMBERS),
        call(1000, "math/subtract", minuend=18, subtrahend=15.5),
        client=Client(name="c 1", revision="r"),
    )
    assert set(card.metrics.values()) == {1.0}
    assert (card.success, card.checks_passed, card.improvements) == (True, 1, ())
    assert (card.task, card.family, card.scoring_version, card.reference.of) == ("survey-1", "survey", VERSION, 1)
    assert [len(step) for step in card.alignment.actual_steps] == [2, 1]
    assert card.client == Client(name="c 1", revision="r")
    assert read_card(json.loads(json.dumps(card.to_json()))) == card


def test_what_was_not_the_agents_fault_is_counted_and_not_scored() -> None:
    card = card_of(
        call(0, "math/median", numbers=NUMBERS),
        call(1, "math/mean", "failed", "sandbox", numbers=NUMBERS),
        call(500, "math/sum", "invalid_arguments", numbers="many"),
        answer="3",
    )
    assert card.excluded == {"sandbox": 1}
    assert card.outcomes == {"invalid_arguments": 1, "success": 1}
    assert card.row.actual_calls == 2
    assert card.success is False
    assert card.checks[0].reason


def test_differences_and_what_they_cost_are_on_the_card() -> None:
    card = card_of(
        call(0, "math/median", numbers=NUMBERS),
        call(1, "math/mean", numbers=[*NUMBERS[:-1], 43]),
        call(1000, "math/subtract", minuend=18, subtrahend=15.5),
    )
    (difference,) = card.alignment.matches[1].differences
    assert isinstance(difference, ChangedArgument)
    assert (difference.argument, 43 in difference.actual) == ("numbers", True)
    assert [one.kind for one in card.improvements] == ["arguments"]
    assert card.average is not None
    assert card.improvements[0].average == pytest.approx(card.average + card.improvements[0].gain)


def test_a_value_lies_within_its_range() -> None:
    card = card_of(
        call(0, "math/median", numbers=NUMBERS),
        call(150, "math/mean", numbers=NUMBERS),
        call(2000, "math/subtract", minuend=18, subtrahend=15.5),
    )
    for name in card.ranges:
        low, high = card.range_of(name)
        assert low <= (card.metrics[name] or 0.0) <= high
