"""The loop of M³-Bench: which prompts a model gets, how many, in which order, and what each of them holds."""

import json
from typing import Any

import pytest

from m3bench.server.lab.headless.replies import ReplyError, read_strict_calls
from m3bench.server.lab.headless.solver_m3_bench import ImagePool
from m3bench.tasks.catalog import load_catalog
from tests.server.lab.headless.scripts import NUMBERS, Asked, Outcome, Scene, Turn, asked, play_scenes

MEDIAN = {"tool": "math__median", "arguments": {"numbers": NUMBERS}}
MEAN = {"tool": "math__mean", "arguments": {"numbers": NUMBERS}}
SUBTRACT = {"tool": "math__subtract", "arguments": {"minuend": 18, "subtrahend": 15.5}}
CROP = {
    "tool": "imagesorcery-mcp__crop",
    "arguments": {"input_path": "./media/note.png", "x1": 0, "y1": 0, "x2": 1, "y2": 1, "output_path": "cut.png"},
}
ANSWER = {"text": "They differ by 2.5."}
YES, NO = {"text": "Yes."}, {"text": "no"}


def plan(*tools: str) -> Turn:
    return {"text": "\n".join([*(f"- `{tool}`: for the figures" for tool in tools), "First these, then the rest."])}


def calls(*made: dict[str, Any]) -> Turn:
    return {"text": json.dumps({"calls": made})}


SURVEY = [
    plan("math__median", "math__mean"),
    calls(MEDIAN, MEAN),
    NO,
    plan("math__subtract"),
    {"text": "Here you are: " + json.dumps({"calls": [SUBTRACT]})},
    calls(SUBTRACT),
    YES,
    ANSWER,
]
"""Two steps, the second written once more: nothing may stand around the JSON."""

SUM = [
    {"text": "I would add the numbers up and take their mean."},
    {"text": "never JSON"},
    {"text": "still not"},
    plan("math__sum"),
    calls(*[{"tool": "math__sum", "arguments": {"numbers": NUMBERS}}] * 3),
    {"text": "perhaps"},
    {"text": "108"},
]
"""A first step without a call, of which nobody is asked whether it was enough; a second with a call too many."""

NATIVE = [plan("math__median", "math__mean"), {"calls": [MEDIAN, MEAN]}, YES, ANSWER]

POOL = [plan("imagesorcery-mcp__crop"), calls(CROP), NO, plan("ocr__ocr"), calls(SUBTRACT), YES, ANSWER]

BASE = ("--solver", "m3-bench", "--max-steps", "2", "--batch", "2")
SCENES = {
    "json": Scene(script={"survey-1": SURVEY, "sum-1": SUM, "*": [ANSWER]}, options=(*BASE, "--profile", "task")),
    "native": Scene(
        script={"survey-1": NATIVE}, options=(*BASE, "--profile", "task", "--calling", "native", "--task", "survey-1")
    ),
    "pool": Scene(script={"survey-1": POOL}, options=(*BASE, "--profile", "full", "--task", "survey-1")),
}


@pytest.fixture(scope="module")
def scenes(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Outcome]:
    return play_scenes(tmp_path_factory.mktemp("m3-bench"), SCENES)


@pytest.fixture(scope="module")
def survey(scenes: dict[str, Outcome]) -> list[Asked]:
    assert scenes["json"].code == 0, scenes["json"].stderr
    return asked(scenes["json"].folder)["survey-1"]


def kinds(turns: list[Asked]) -> list[str]:
    """What each prompt is, by words that no other has."""
    words = {
        "plan": "Decide which tools this step needs",
        "process": "Now make the calls of step",
        "again": "could not be read",
        "decide": "one word, yes or no",
        "reply": "The work with tools is over",
    }
    return [next(kind for kind, text in words.items() if text in turn.prompt) for turn in turns]


@pytest.mark.slow
def test_each_step_is_planned_processed_and_decided_and_one_reply_ends_it(survey: list[Asked]) -> None:
    assert kinds(survey) == ["plan", "process", "decide", "plan", "process", "again", "decide", "reply"]
    assert [turn.said for turn in survey] == [turn["text"] for turn in SURVEY]


@pytest.mark.slow
def test_a_prompt_stands_behind_the_task_and_the_results_alone(survey: list[Asked]) -> None:
    (question,) = survey[0].before
    assert question.startswith("user: # Task survey-1")
    assert survey[1].before == (question,), "a plan is not part of the history"
    first = (question, survey[2].before[1])
    assert first[1].startswith("user: Results of step 1:")
    assert "1. math__median" in first[1]
    assert "15.5" in first[1]
    assert [turn.before for turn in survey[2:5]] == [first] * 3
    assert len(survey[-1].before) == 3
    assert not any(turn.tools for turn in survey)


@pytest.mark.slow
def test_a_plan_sees_its_step_and_the_whole_catalog_uncut(scenes: dict[str, Outcome], survey: list[Asked]) -> None:
    assert "step 1 of 2" in survey[0].prompt
    assert "step 2 of 2" in survey[3].prompt
    prompt = asked(scenes["pool"].folder)["survey-1"][0].prompt
    listed = {
        entry["tool"]: entry for line in prompt.splitlines() if line.startswith("{") for entry in [json.loads(line)]
    }
    tools = load_catalog().ready.tools
    assert set(listed) == {tool.exposed for tool in tools}
    for tool in tools:
        assert listed[tool.exposed]["description"] == tool.description
        assert set(listed[tool.exposed]["arguments"].get("properties", {})) == set(
            tool.input_schema.get("properties", {})
        )


@pytest.mark.slow
def test_processing_sees_only_what_was_chosen(survey: list[Asked]) -> None:
    assert '"math__median"' in survey[1].prompt
    assert '"math__sum"' not in survey[1].prompt
    assert "at least one and at most 2" in survey[1].prompt


@pytest.mark.slow
def test_the_question_is_asked_again_with_every_decision(survey: list[Asked]) -> None:
    assert "What are the middle and the average of the figures on the note?" in survey[2].prompt


@pytest.mark.slow
def test_what_is_not_json_alone_is_an_illegal_call_and_may_be_written_once_more(scenes: dict[str, Outcome]) -> None:
    found = scenes["json"].results
    assert found["survey-1"].card.outcomes == {"illegal_format": 1, "success": 3}
    assert found["survey-1"].run.answer == ANSWER["text"]
    assert found["sum-1"].card.outcomes == {"illegal_format": 2, "success": 2}
    turns = asked(scenes["json"].folder)["sum-1"]
    assert kinds(turns) == ["plan", "process", "again", "plan", "process", "decide", "reply"]
    assert "Step 1 made no call" in turns[3].before[-1]
    assert "Calls after the first 2 of the step were not run." in turns[-1].before[-1]
    assert turns[1].prompt.count('{"tool": "math__') == 4, "a plan that names no tool gets the four likeliest"


@pytest.mark.slow
def test_native_calls_are_made_with_the_chosen_tools(scenes: dict[str, Outcome]) -> None:
    assert scenes["native"].code == 0, scenes["native"].stderr
    turns = asked(scenes["native"].folder)["survey-1"]
    assert [turn.tools for turn in turns] == [(), ("math__mean", "math__median"), (), ()]
    assert kinds(turns) == ["plan", "process", "decide", "reply"]
    assert scenes["native"].results["survey-1"].card.outcomes == {"success": 2}


@pytest.mark.slow
def test_a_picture_that_a_tool_made_can_be_opened_in_later_steps(scenes: dict[str, Outcome]) -> None:
    assert scenes["pool"].code == 0, scenes["pool"].stderr
    turns = asked(scenes["pool"].folder)["survey-1"]
    assert "- ./media/note.png (with the task)" in turns[1].prompt
    assert "cut.png" not in turns[1].prompt
    assert "- ./cut.png (from imagesorcery-mcp__crop, step 1)" in turns[4].prompt


def test_the_pool_holds_paths_that_tools_can_open_and_no_addresses() -> None:
    pool = ImagePool()
    pool.add('{"images": ["a/b_1.png"], "url": "https://x.org/c.png", "poster": "/d.jpg", "n": 1.5}', "one")
    pool.add("saved to ./a/b_1.png and images/e-f.JPG.", "two")
    assert pool.lines() == "- ./a/b_1.png (one)\n- ./images/e-f.JPG (two)"
    assert ImagePool().lines() == ""


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "not JSON"),
        ('Well: {"calls": [{"tool": "a"}]}', "not JSON"),
        ('{"calls": [{"tool": "a"}]} That is all.', "not JSON"),
        ("[" * 100_000, "not JSON"),
        ('[{"tool": "a"}]', "must be an object"),
        ('{"calls": []}', "at least one call"),
        ('{"calls": [{"tool": 1}]}', "Call 1"),
    ],
)
def test_strict_calls_that_cannot_be_read_say_why(text: str, says: str) -> None:
    with pytest.raises(ReplyError, match=says):
        read_strict_calls(text)


def test_strict_calls_may_have_a_fence_or_a_thought_around_them() -> None:
    written = '<think>{"calls": 1}</think>\n```json\n{"calls": [{"tool": "a", "arguments": {"x": 1}}]}\n```\n'
    assert read_strict_calls(written) == [("a", {"x": 1})]
