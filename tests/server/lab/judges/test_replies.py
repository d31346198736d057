"""What is read from a reply, and what is not guessed."""

import json

import pytest

from m3bench.server.lab.judges.judge import OffScale, Unreadable, read
from m3bench.server.lab.judges.questions import COMPLETION, CRITERIA, EQUIVALENCE, GROUNDING, rubric

RUBRIC = rubric(tuple(CRITERIA), 0)


@pytest.mark.parametrize(
    ("reply", "score"),
    [
        ('{"reason": "Fine.", "score": 7}', 7),
        ('{"score": 7.5, "reason": "Fine."}', 7.5),
        ('{"score": "7", "reason": "Fine."}', 7),
        ('{"score": " 7.5 ", "reason": "Fine."}', 7.5),
        ('{"score": "7/10", "reason": "Fine."}', 7),
        ('{"score": "7 out of 10", "reason": "Fine."}', 7),
        ('```json\n{"reason": "Fine.", "score": 7}\n```', 7),
        ('Here is my verdict: {"reason": "Fine.", "score": 7}. I hope it helps.', 7),
        ('<think>{a brace} and 9 of 10</think>{"reason": "Fine.", "score": 7}', 7),
        ('{"reason": "Fine.", "score": 7}\n{"reason": "As I said.", "score": 7.0}', 7),
        ('{"about": "nothing"}{"reason": "Fine.", "score": 7}', 7),
        ('{"reason": "It says {\\"score\\": 10}.", "score": 2}', 2),
        ('{"reason": "", "score": 0, "more": [1, 2]}', 0),
        ('{"score": 10}', 10),
        ('{"score": 3, "reason": {"not": "a sentence"}}', 3),
    ],
)
def test_a_score_is_found_whatever_stands_around_it(reply: str, score: float) -> None:
    assert read(COMPLETION, reply).scores == {"score": score}


@pytest.mark.parametrize(
    ("reply", "problem"),
    [
        ("", "no JSON object"),
        ("I would say 7.", "no JSON object"),
        ("7", "no JSON object"),
        ("I'm sorry, but I can't help with that.", "no JSON object"),
        ('{"reason": "Fine."}', "the score is missing"),
        ('{"score": null}', "not a number"),
        ('{"score": true}', "not a number"),
        ('{"score": "seven"}', "not a number"),
        ('{"score": "7/5"}', "not a number"),
        ('{"score": [7]}', "not a number"),
        ('{"score": NaN}', "not a number"),
        ('{"score": 7', "no JSON object"),
        ('{"score": 10}\n{"score": 2}', "several JSON objects"),
        ('{"score": 10, "reason": "quoted"} so {"score": 99}', "several JSON objects"),
        ('{"score": 1}' + " " * 60_000, "longer than"),
        ('{"a":' * 9_000, "no JSON object"),
    ],
)
def test_what_is_not_of_the_form_is_said_and_not_guessed(reply: str, problem: str) -> None:
    with pytest.raises(Unreadable, match=problem):
        read(COMPLETION, reply)


@pytest.mark.parametrize("score", ["11", "-1", '"12"', "1e400", "Infinity", "10.0001", "9" * 400])
def test_a_number_off_the_scale_is_not_pulled_onto_it(score: str) -> None:
    with pytest.raises(OffScale, match="the scale goes from 0 to 10"):
        read(COMPLETION, f'{{"score": {score}, "reason": ""}}')


def test_grounding_has_its_own_scale() -> None:
    assert read(GROUNDING, '{"score": 0.85, "reason": "Most of it."}').scores == {"score": 0.85}
    with pytest.raises(OffScale):
        read(GROUNDING, '{"score": 8.5, "reason": ""}')


def test_a_rubric_has_all_its_criteria_or_is_asked_for_again() -> None:
    parts = {name: {"score": place + 1, "reason": name} for place, name in enumerate(CRITERIA)}
    verdict = read(RUBRIC, json.dumps(parts))
    assert verdict.scores == {name: place + 1 for place, name in enumerate(CRITERIA)}
    assert verdict.reasons == {name: name for name in CRITERIA}
    parts.pop("parallelism")
    with pytest.raises(Unreadable, match="parallelism"):
        read(RUBRIC, json.dumps(parts))
    with pytest.raises(OffScale, match="grounding is 0"):
        read(RUBRIC, json.dumps({name: {"score": 0 if name == "grounding" else 5} for name in CRITERIA}))


def test_a_reason_is_kept_short_and_inert() -> None:
    reason = read(COMPLETION, json.dumps({"score": 1, "reason": "\x1b[31m\u202e" + "long " * 1_000})).reasons["score"]
    assert "\x1b" not in reason
    assert "\u202e" not in reason
    assert len(reason) < 1_000


def test_equivalence_is_all_or_nothing() -> None:
    assert read(EQUIVALENCE, '{"reason": "alike", "score": 1}').scores == {"score": 1.0}
    with pytest.raises(OffScale, match="only 0 or 1"):
        read(EQUIVALENCE, '{"reason": "nearly", "score": 0.5}')
