"""The executor: plans, batches of calls, one correction of what cannot be read, an answer in the end."""

import json
from typing import Any

import pytest

from m3bench.server.lab.headless.replies import ReplyError, read_calls, read_plan
from m3bench.server.lab.results.resultset import Result
from tests.server.lab.headless.scripts import NUMBERS, Outcome, Scene, Turn, play_scenes

pytestmark = pytest.mark.slow

MEDIAN = {"tool": "math__median", "arguments": {"numbers": NUMBERS}}
MEAN = {"tool": "math__mean", "arguments": {"numbers": NUMBERS}}
SUBTRACT = {"tool": "math__subtract", "arguments": {"minuend": 18, "subtrahend": 15.5}}
ANSWER = {"text": "They differ by 2.5."}


EXECUTOR = ("--profile", "task", "--solver", "executor")


def plan(*tools: str) -> Turn:
    return {"text": f"Let me see.\n```json\n{json.dumps({'done': not tools, 'why': 'so', 'tools': tools})}\n```"}


def calls(*made: dict[str, Any], text: bool) -> Turn:
    return {"text": json.dumps({"calls": made})} if text else {"calls": made}


def bounded(calling: str) -> Scene:
    text = calling == "text"
    script = {
        "survey-1": [
            plan("math__median", "math__mean", "math__nowhere"),
            calls(MEDIAN, MEAN, text=text),
            plan("math__subtract"),
            calls(SUBTRACT, text=text),
            ANSWER,
        ],
        "sum-1": [
            plan("math__median", "math__mean"),
            calls(MEDIAN, MEAN, MEDIAN, MEDIAN, text=text),
            plan(),
            ANSWER,
        ],
        "sum-2": [{"text": "Hm."}, {"text": "Hm."}, {"text": "I give up."}],
    }
    return Scene(script=script, options=(*EXECUTOR, "--calling", calling, "--max-steps", "2", "--batch", "2"))


BROKEN = [
    plan("math__median", "math__mean"),
    {"text": '{"calls": [{"tool": "math__median", '},
    calls(MEDIAN, MEAN, text=True),
    plan("math__subtract"),
    {"text": "subtract them!"},
    {"text": "as I said: subtract them!"},
    plan("math__subtract"),
    calls(SUBTRACT, text=True),
    plan(),
    ANSWER,
]

SCENES = {
    "native": bounded("native"),
    "text": bounded("text"),
    "broken": Scene(script={"survey-1": BROKEN}, options=(*EXECUTOR, "--calling", "text", "--task", "survey-1")),
}


@pytest.fixture(scope="module")
def scenes(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Outcome]:
    return play_scenes(tmp_path_factory.mktemp("scenes"), SCENES)


def tools(result: Result) -> list[str]:
    return sorted(call.tool for step in result.card.alignment.actual_steps for call in step)


@pytest.mark.parametrize("calling", ["native", "text"])
def test_a_model_plans_and_calls_in_bounded_steps(scenes: dict[str, Outcome], calling: str) -> None:
    assert scenes[calling].code == 0, scenes[calling].stderr
    found = scenes[calling].results
    # Out of steps, though nothing was wrong.
    assert found["survey-1"].card.metrics["average"] == 1.0
    assert tools(found["survey-1"]) == ["math/mean", "math/median", "math/subtract"]
    assert found["survey-1"].run.answer == ANSWER["text"]
    # More calls than a step may have.
    assert tools(found["sum-1"]) == ["math/mean", "math/median"]
    assert found["sum-1"].run.answer == ANSWER["text"]
    # Never a plan.
    assert tools(found["sum-2"]) == []
    assert found["sum-2"].run.answer == "I give up."


def test_broken_json_gets_one_correction_and_counts_as_an_illegal_call(scenes: dict[str, Outcome]) -> None:
    card = scenes["broken"].results["survey-1"].card
    assert card.outcomes == {"illegal_format": 3, "success": 3}
    assert card.metrics["recall"] == 1.0
    assert card.metrics["precision"] == 0.5


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("no idea", "no JSON object"),
        ('{"tools": []}', "has no 'done'"),
        ('{"done": "yes"}', "true or false"),
        ('{"done": false, "tools": []}', "at least one"),
        ('{"done": false, "tools": [1]}', "list of tool names"),
        ("{" * 100_000, "broken"),
        ('{"a":' * 100_000, "broken"),
    ],
)
def test_a_plan_that_cannot_be_read_says_why(text: str, says: str) -> None:
    with pytest.raises(ReplyError, match=says):
        read_plan(text)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ('{"calls": {}}', "must be a list"),
        ('{"calls": ["math__sum"]}', "Call 1"),
        ('{"calls": [{"tool": "a"}, {"tool": 3}]}', "Call 2"),
        ('{"calls": [{"tool": "a", "arguments": []}]}', "call 1 must be an object"),
    ],
)
def test_calls_that_cannot_be_read_say_why(text: str, says: str) -> None:
    with pytest.raises(ReplyError, match=says):
        read_calls(text)


def test_prose_and_fences_around_json_are_passed_over() -> None:
    text = 'I {really} think:\n```json\n{"calls": [{"tool": "a"}, {"tool": "b", "arguments": {"x": "}"}}]}\n```\nDone.'
    assert read_calls(text) == [("a", {}), ("b", {"x": "}"})]
