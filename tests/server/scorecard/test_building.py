"""From a record to a card, in memory: what counts is scored, what is not the agent's fault is only counted."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal

import pytest

from m3bench.server.scorecard.building import VERSION, score_run
from m3bench.server.scorecard.markdown import markdown
from m3bench.server.scorecard.migration import read_card
from m3bench.server.scorecard.model import Client, ScoreCard
from m3bench.server.scoring import Encoder, open_encoder
from m3bench.server.scoring.aggregate import overall
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


ONE_BY_ONE = (
    call(0, "math/median", numbers=NUMBERS),
    call(50, "math/mean", numbers=NUMBERS),
    call(4000, "math/subtract", minuend=18, subtrahend=15.5),
)

APART = (ONE_BY_ONE[0], call(2000, "math/mean", numbers=NUMBERS), ONE_BY_ONE[2])


def card_of(
    *calls: CallRecord, answer: str = "2.5", client: Client | None = None, encoder: Encoder | None = None
) -> ScoreCard:
    run = RunRecord(
        id="r", seat="s", task=TASK.id, state="submitted", mode="practice", started="", ended=None, answer=answer,
        seal=None, manifest={}, scorecard=None,
    )  # fmt: skip
    return score_run(run, TASK, calls, Path("nowhere"), encoder or open_encoder(), client)


def test_a_right_run_is_right_in_everything() -> None:
    card = card_of(
        call(0, "math/median", numbers=NUMBERS),
        call(1, "math/mean", numbers=NUMBERS),
        call(1000, "math/subtract", minuend=18, subtrahend=15.5),
        client=Client(name="c 1", revision="r"),
    )
    assert set(card.metrics.values()) == {1.0}
    assert (card.scoring_profile, card.paper_average) == ("effect", 1.0)
    assert (card.success, card.checks_passed, card.improvements) == (True, 1, ())
    assert (card.task, card.family, card.scoring_version, card.reference.of) == ("survey-1", "survey", VERSION, 1)
    assert [len(step) for step in card.alignment.actual_steps] == [2, 1]
    assert card.client == Client(name="c 1", revision="r")
    assert read_card(json.loads(json.dumps(card.to_json()))) == card


def test_without_an_encoder_all_but_the_papers_metric_is_scored(tmp_path: Path) -> None:
    calls = (call(0, "math/median", numbers=NUMBERS), call(1, "math/mean", numbers=[*NUMBERS[:-1], 43]))
    card, bare = card_of(*calls), card_of(*calls, encoder=open_encoder(weights=tmp_path))
    assert bare.paper is not None
    assert set(bare.paper.metrics.values()) == {None}
    assert bare.model_copy(update={"paper": card.paper}) == card
    assert card.paper_average is not None
    assert "paper's metric unscored" in markdown(bare, "r")
    assert read_card(json.loads(json.dumps(bare.to_json()))) == bare
    assert overall([bare.paper_row])["average"] is None


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
    assert card.void is not None
    assert card.void.fault == "sandbox"
    assert (card.success, set(card.numbers.values()), card.ranges) == (None, {None}, {})
    assert card.checks[0].reason


def test_calls_lost_to_gaps_of_the_world_are_not_scored_and_their_share_is_told() -> None:
    made = (
        call(0, "math/median", numbers=NUMBERS),
        call(1, "math/mean", numbers=NUMBERS),
        call(1000, "math/subtract", minuend=18, subtrahend=15.5),
    )
    card, lost = card_of(*made), card_of(*made, call(2000, "wiki/summary", "gap", "world", title="Neptune Grange"))
    assert (card.gap_share, lost.gap_share) == (0.0, 0.25)
    assert lost.excluded == {"world": 1}
    assert lost.metrics == card.metrics
    empty = card_of(*made, call(2000, "wiki/search", "success", "world", query="Neptune Grange"))
    assert (empty.gaps, empty.gap_share, empty.excluded, empty.row.actual_calls) == (1, 0.25, {}, 4)
    assert "Lost to gaps of the offline world: 1 call, 25.0% of all." in markdown(lost, "r")


def test_differences_and_what_they_cost_are_on_the_card() -> None:
    card = card_of(
        call(0, "math/median", numbers=NUMBERS),
        call(1, "math/mean", numbers=[*NUMBERS[:-1], 43]),
        call(1000, "math/subtract", minuend=18, subtrahend=15.5),
    )
    assert (card.alignment.missed, card.alignment.extra) == ((1,), (1,))
    (instead,) = card.alignment.instead
    assert instead.note.startswith("other numbers: [4, 8, 15, 16, 23, 42] wanted, [4, 8, 15, 16, 23, 43] asked")
    best = card.improvements[0]
    assert (best.kind, best.reference, best.actual) == ("unlike", (1,), (1,))
    assert card.average is not None
    assert card.improvements[0].average == pytest.approx(card.average + card.improvements[0].gain) == 1.0
    assert (card.paper_average or 0.0) > 0.95, "by its words the call is the one that was wanted"


def test_a_wrong_thing_gets_no_tick() -> None:
    """Only the order that was asked for is right; by their words all of these are strong matches."""
    card = card_of(
        call(0, "math/median", numbers=[*NUMBERS[:-1], 41]),
        call(1, "math/mean", numbers=[*NUMBERS[:-1], 43]),
        call(1000, "math/subtract", minuend=19, subtrahend=15.5),
    )
    assert (card.paper_average or 0.0) > 0.9
    assert card.average == 0
    table = [line for line in markdown(card).split("\n") if line.startswith("| ") and "math/" in line]
    assert len(table) == 3
    assert not any("✓" in line or "≈" in line for line in table)
    assert sum("wanted" in line for line in table) == 3


def test_where_the_record_is_certain_there_is_no_range() -> None:
    card = card_of(
        call(0, "math/median", numbers=NUMBERS),
        call(3, "math/mean", numbers=NUMBERS),
    )
    assert card.evidence == ("first",)
    assert (card.open, card.ranges_exact) == (0, True)
    assert card.ranges["average"] == (card.average, card.average)
    assert "begins is open" not in markdown(card)


def test_calls_one_by_one_are_steps_of_their_own_and_the_range_holds_the_other_reading() -> None:
    card = card_of(*APART)
    assert card.open == 2
    assert card.metrics["step_coherence"] == pytest.approx(2 / 3)
    assert card.ranges["step_coherence"] == (card.metrics["step_coherence"], 1.0)
    assert card.range_of("average")[1] == 1.0
    text = markdown(card)
    assert f"**average {card.average:.3f} (" in text
    assert "Whether a step begins is open at 2 calls" in text


def test_a_hint_does_not_make_one_step_of_calls_that_were_answered_one_by_one() -> None:
    hinted = [replace(one, request=one.request[:-2] + b', "_meta": {"m3bench/step": 1}}}') for one in APART[:2]]
    card = card_of(*hinted, APART[2])
    assert card.metrics == card_of(*APART).metrics
    assert card.contradictions == ("math/mean: the client says the same step, but all answers had left",)
    assert "Not followed, because the record contradicts it: math/mean" in markdown(card)


def test_what_a_probe_measured_of_this_client_decides_how_open_boundaries_are_read() -> None:
    in_a_row = {"probed": "1", "overlap": "in a row", "overlap_others": "in a row"}
    card = card_of(*ONE_BY_ONE, client=Client(name="c 1", capabilities=in_a_row))
    assert (card.average, card.open) == (1.0, 2)
    together = {"probed": "1", "overlap": "together", "overlap_others": "together"}
    narrow = card_of(*ONE_BY_ONE, client=Client(name="c 1", capabilities=together))
    assert narrow.open == 2, "a person may have been asked about the last tool"
    assert (narrow.average or 0) < 1, "such a client would have sent them at once"
    allowed = {**together, "late": False}
    assert card_of(*APART, client=Client(name="c 1", capabilities=in_a_row)).open == 2, "a person may have been asked"
    assert card_of(*APART, client=Client(name="c 1", capabilities={**in_a_row, "late": False})).open == 0
    assert card_of(*ONE_BY_ONE, client=Client(name="c 1", capabilities=allowed)).open == 1
    family = card_of(*ONE_BY_ONE, client=Client(name="c 1.4", capabilities=together))
    assert family.metrics == narrow.metrics, "another version of the family was probed"
    other = card_of(*ONE_BY_ONE, client=Client(name="c 2", capabilities=together))
    assert other.metrics == card_of(*ONE_BY_ONE).metrics, "a version of another family was probed"


def test_what_is_open_is_read_by_what_a_model_can_do_and_advice_says_that_it_is_open() -> None:
    quick, apart = card_of(*ONE_BY_ONE), card_of(*APART)
    assert (quick.average, quick.open) == (1.0, 2)
    assert quick.range_of("average")[0] < 1
    assert "too soon for a model" in markdown(quick)
    (advice,) = apart.improvements
    assert advice.kind == "apart"
    assert "Whether they were sent so is open" in advice.text
    assert "were sent apart" not in advice.text
    hints = [replace(each, request=each.request[:-2] + b', "_meta": {"m3bench/step": %d}}}' % number)
             for number, each in enumerate(APART)]  # fmt: skip
    (certain,) = card_of(*hints).improvements
    assert "could have been sent together but were sent apart, in steps 1 and 2" in certain.text
    early = card_of(ONE_BY_ONE[0], call(2000, "math/mean", numbers=NUMBERS),
                    call(2050, "math/subtract", minuend=18, subtrahend=15.5))  # fmt: skip
    assert early.metrics["merge_purity"] == 1, "nobody has to wait for a sum"


def test_a_value_lies_within_its_range() -> None:
    card = card_of(
        call(0, "math/median", numbers=NUMBERS),
        call(150, "math/mean", numbers=NUMBERS),
        call(2000, "math/subtract", minuend=18, subtrahend=15.5),
    )
    for name in card.ranges:
        low, high = card.range_of(name)
        assert low <= (card.metrics[name] or 0.0) <= high


def test_arguments_sent_as_text_are_scored_as_read_and_counted_apart() -> None:
    sent = [
        call(0, "math/median", numbers=json.dumps(NUMBERS)),
        call(0, "math/mean", numbers=NUMBERS),
        call(50, "math/subtract", minuend="18", subtrahend=15.5),
        call(90, "math/sum", "invalid_arguments", numbers="4, 8"),
    ]
    found = card_of(*sent)
    assert found.metrics["recall"] == found.metrics["argument_similarity"] == 1
    assert found.calls_coerced == 2
    assert [one.coerced for _, one in found.alignment.actual_calls] == [("numbers",), (), ("minuend",), ()]
    assert found.alignment.actual_calls[2][1].arguments == {"minuend": 18, "subtrahend": 15.5}
    assert "sent as text and read as what the schema asks for: 2." in markdown(found)
    assert read_card(found.to_json()) == found


def test_a_right_field_is_never_accused_where_every_needed_call_was_made() -> None:
    value = {"type": "name", "value": "nowhere in a result"}
    task = Task.model_validate({
        **TASK.model_dump(mode="json"), "checks": [],
        "fields": [{"name": "place", "meaning": "where it is", "value": value}],
    })  # fmt: skip

    def grounded(said: str, *calls: CallRecord) -> bool | None:
        run = RunRecord(
            id="r", seat="s", task=task.id, state="submitted", mode="practice", started="", ended=None, answer="",
            seal=None, manifest={}, scorecard=None, fields={"place": said},
        )  # fmt: skip
        return score_run(run, task, calls, Path("nowhere"), open_encoder()).grounded

    assert grounded("nowhere in a result", *ONE_BY_ONE) is True
    assert grounded("nowhere in a result", *ONE_BY_ONE[:2]) is False
    assert grounded("Atlantis", *ONE_BY_ONE) is False


@pytest.mark.parametrize(("mode", "told"), [("practice", "Lagos"), ("ranked", "")])
def test_the_right_value_of_a_wrong_field_is_told_in_practice_alone(
    mode: Literal["practice", "ranked"], told: str
) -> None:
    fields = [
        {"name": "place", "meaning": "where it is", "value": {"type": "name", "value": "Lagos"}},
        {"name": "river", "meaning": "what flows there", "value": {"type": "name", "value": "Ogun"}},
    ]
    task = Task.model_validate({**TASK.model_dump(mode="json"), "checks": [], "fields": fields})
    run = RunRecord(
        id="r", seat="s", task=task.id, state="submitted", mode=mode, started="", ended=None, answer="",
        seal=None, manifest={}, scorecard=None, fields={"place": "Accra", "river": "Ogun"},
    )  # fmt: skip
    card = score_run(run, task, ONE_BY_ONE, Path("nowhere"), open_encoder())
    assert [(check.passed, check.given, check.right) for check in card.checks] == [
        (False, "Accra", told), (True, "Ogun", ""),
    ]  # fmt: skip
    assert ("Lagos" in markdown(card)) is (mode == "practice")
    assert read_card(json.loads(json.dumps(card.to_json()))) == card


def test_a_table_is_told_by_its_columns_in_whatever_order_it_came_back() -> None:
    value = {
        "type": "table",
        "columns": ["title", "year"],
        "rows": [[{"type": "name", "value": "Roma"}, {"type": "integer", "value": 2018}]],
    }
    task = Task.model_validate(
        {
            **TASK.model_dump(mode="json"),
            "checks": [],
            "fields": [{"name": "films", "meaning": "which they are", "value": value}],
        }
    )
    row = {"year": 2018, "title": "Roma", "b": 1, "a": 2}
    for given in (row, dict(sorted(row.items()))):
        run = RunRecord(
            id="r", seat="s", task=task.id, state="submitted", mode="practice", started="", ended=None, answer="",
            seal=None, manifest={}, scorecard=None, fields={"films": [given]},
        )  # fmt: skip
        card = score_run(run, task, ONE_BY_ONE, Path("nowhere"), open_encoder())
        assert card.checks[0].given == '[{"title": "Roma", "year": 2018, "a": 2, "b": 1}]'
