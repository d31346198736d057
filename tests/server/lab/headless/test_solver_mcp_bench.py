"""The loop of MCP-Bench: rounds or one plan, long results shortened, and how often a model is asked for each."""

import json
from typing import Any

import pytest

from m3bench.server.lab.headless.replies import ReplyError, read_round, read_steps
from m3bench.server.lab.headless.solver_mcp_bench import Compression
from m3bench.server.lab.headless.solver_react import MOUNTED, WANTED, descriptions
from m3bench.tasks.catalog import load_catalog
from tests.server.lab.headless.scripts import NUMBERS, Asked, Outcome, Scene, Turn, asked, play_scenes

MEDIAN = {"tool": "math__median", "arguments": {"numbers": NUMBERS}}
MEAN = {"tool": "math__mean", "arguments": {"numbers": NUMBERS}}
SUBTRACT = {"tool": "math__subtract", "arguments": {"minuend": 18, "subtrahend": 15.5}}
DEPARTMENTS = {"tool": "metmuseum-mcp__list-departments", "arguments": {}}
ANSWER = {"text": "They differ by 2.5."}
DONE = {"text": '{"done": true, "why": "both are there", "calls": []}'}


def turn(*calls: dict[str, Any]) -> Turn:
    return {"text": f"So: {json.dumps({'done': False, 'why': 'so', 'calls': calls})}"}


def steps(*given: list[dict[str, Any]]) -> Turn:
    return {"text": json.dumps({"why": "so", "steps": given})}


ROUNDS = [turn(MEDIAN, MEAN), {"text": "Now subtract."}, turn(SUBTRACT), DONE, ANSWER]
"""The second round is written once more."""

BOUNDED = [turn(MEDIAN), turn(MEAN), turn(SUBTRACT), ANSWER]

LONG = [turn(DEPARTMENTS, MEDIAN), {"text": "Asian Art is 6"}, turn(DEPARTMENTS), {"text": ""}, DONE, ANSWER]
"""The first long result is shortened, of the second the model makes nothing."""

NATIVE: list[dict[str, Any]] = [{"calls": [MEDIAN, MEAN]}, {"text": "That is all."}, ANSWER]

RETRIEVED: list[dict[str, Any]] = [
    {"text": '{"servers": ["arithmetic: mean, median and difference of numbers", "works of art in a museum"]}'},
    {"calls": [MEDIAN, MEAN]}, {"calls": [SUBTRACT]},
    {"calls": [{"tool": "submit", "arguments": {"answer": "They differ by 2.5."}}]},
]  # fmt: skip
"""As MCPVerse retrieves: servers are described, mounted, and then used."""

BASE = ("--solver", "mcp-bench", "--task", "survey-1")
SCENES = {
    "rounds": Scene(script={"survey-1": ROUNDS}, options=(*BASE, "--profile", "task")),
    "bounded": Scene(script={"survey-1": BOUNDED}, options=(*BASE, "--profile", "task", "--max-steps", "3")),
    "one-shot": Scene(
        script={"survey-1": [steps([MEDIAN, MEAN], [], [SUBTRACT]), ANSWER]},
        options=(*BASE, "--profile", "task", "--planning", "one-shot"),
    ),
    "unread": Scene(
        script={"survey-1": [{"text": "later"}, {"text": "no"}, ANSWER]},
        options=(*BASE, "--profile", "task", "--planning", "one-shot"),
    ),
    "long": Scene(script={"survey-1": LONG}, options=(*BASE, "--profile", "full", "--compress", "100")),
    "retrieved": Scene(
        script={"survey-1": RETRIEVED},
        options=("--solver", "mcpverse", "--task", "survey-1", "--profile", "mcpverse-max-scale"),
    ),
    "native": Scene(script={"survey-1": NATIVE}, options=(*BASE, "--profile", "task", "--calling", "native")),
}


@pytest.fixture(scope="module")
def scenes(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Outcome]:
    found = play_scenes(tmp_path_factory.mktemp("mcp-bench"), SCENES)
    assert {name: outcome.stderr for name, outcome in found.items() if outcome.code} == {}
    return found


def turns(scenes: dict[str, Outcome], name: str) -> list[Asked]:
    return asked(scenes[name].folder)["survey-1"]


def kinds(found: list[Asked]) -> list[str]:
    """What each prompt is, by words that no other has."""
    words = {
        "round": "This is round",
        "plan": "You plan once, now",
        "again": "could not be read",
        "compress": "A tool returned more than can be kept",
        "answer": "No more tools can be called",
    }
    return [next(kind for kind, text in words.items() if text in one.prompt) for one in found]


def made(scenes: dict[str, Outcome], name: str) -> list[list[str]]:
    """The tools that were called, step by step."""
    card = scenes[name].results["survey-1"].card
    return [sorted(call.tool for call in step) for step in card.alignment.actual_steps]


@pytest.mark.slow
def test_rounds_are_planned_one_by_one_from_all_results_so_far(scenes: dict[str, Outcome]) -> None:
    found = turns(scenes, "rounds")
    assert kinds(found) == ["round", "round", "again", "round", "answer"]
    assert "round 1 of at most 20" in found[0].prompt
    assert "round 3 of at most 20" in found[3].prompt
    assert [len(one.before) for one in found] == [1, 2, 4, 3, 3]
    assert "15.5" in found[1].before[1]
    assert not any(one.startswith("assistant") for one in found[3].before)
    card = scenes["rounds"].results["survey-1"].card
    assert card.outcomes == {"illegal_format": 1, "success": 3}
    assert scenes["rounds"].results["survey-1"].run.answer == ANSWER["text"]


@pytest.mark.slow
def test_every_round_sees_the_whole_catalog_uncut(scenes: dict[str, Outcome]) -> None:
    for one in turns(scenes, "long"):
        if kinds([one]) == ["round"]:
            lines = [json.loads(line) for line in one.prompt.splitlines() if line.startswith('{"tool"')]
            listed = {line["tool"]: line["description"] for line in lines}
            assert listed == {tool.exposed: tool.description for tool in load_catalog().ready.tools}


@pytest.mark.slow
def test_no_more_rounds_than_allowed(scenes: dict[str, Outcome]) -> None:
    assert kinds(turns(scenes, "bounded")) == ["round"] * 3 + ["answer"]
    assert made(scenes, "bounded") == [["math/median"], ["math/mean"], ["math/subtract"]]


@pytest.mark.slow
def test_one_plan_is_made_before_any_result_and_carried_out_step_by_step(scenes: dict[str, Outcome]) -> None:
    found = turns(scenes, "one-shot")
    assert kinds(found) == ["plan", "answer"]
    assert len(found[0].before) == 1
    assert made(scenes, "one-shot") == [["math/mean", "math/median"], ["math/subtract"]]
    assert scenes["one-shot"].results["survey-1"].card.metrics["average"] == 1.0


@pytest.mark.slow
def test_a_plan_that_cannot_be_read_twice_leaves_nothing_but_the_answer(scenes: dict[str, Outcome]) -> None:
    assert kinds(turns(scenes, "unread")) == ["plan", "again", "answer"]
    assert scenes["unread"].results["survey-1"].card.outcomes == {"illegal_format": 2}


@pytest.mark.slow
def test_a_long_result_is_shortened_by_the_model_before_it_is_kept(scenes: dict[str, Outcome]) -> None:
    found = turns(scenes, "long")
    assert kinds(found) == ["round", "compress", "round", "compress", "round", "answer"]
    assert found[1].before == ()
    assert "# Task survey-1" in found[1].prompt
    assert "What metmuseum-mcp__list-departments returned" in found[1].prompt
    first, second = found[-1].before[1:]
    assert "characters) Asian Art is 6" in first
    assert "2. math__median:\n15.5" in first, "a short result is kept as it is"
    cut = second.partition("characters) ")[2]
    assert len(cut) == 100, "what the model says nothing of is cut"


@pytest.mark.slow
def test_native_rounds_end_when_nothing_is_called(scenes: dict[str, Outcome]) -> None:
    found = turns(scenes, "native")
    assert kinds(found) == ["round", "round", "answer"]
    assert "math__median" in found[0].tools
    assert found[2].tools == ()
    assert made(scenes, "native") == [["math/mean", "math/median"]]


@pytest.mark.anyio
async def test_compression_keeps_what_is_short_and_what_is_no_text() -> None:
    from inspect_ai.model import ContentImage, ContentText

    prompts: list[str] = []

    async def ask(prompt: str) -> str:
        prompts.append(prompt)
        return "y" * 500

    compression = Compression(10, "the task", ask)
    picture = ContentImage(image="data:image/png;base64,AA==")
    kept = await compression.shorten("t", [ContentText(text="x" * 10), picture, ContentText(text="x" * 11)])
    assert [part.text if isinstance(part, ContentText) else part for part in kept] == [
        "x" * 10, picture, f"(shortened from 11 characters) {'x' * 10}",
    ]  # fmt: skip
    assert len(prompts) == 1
    (long,) = await compression.shorten("t", [ContentText(text="x" * 1000)])
    assert isinstance(long, ContentText)
    assert long.text == f"(shortened from 1000 characters) {'y' * 10}", "what the model says is held to the limit too"


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("nothing", "no JSON object"),
        ('{"done": 1}', "true or false"),
        ('{"done": false, "calls": []}', "at least one call"),
        ('{"done": false, "calls": [{"tool": 1}]}', "Call 1"),
    ],
)
def test_a_round_that_cannot_be_read_says_why(text: str, says: str) -> None:
    with pytest.raises(ReplyError, match=says):
        read_round(text)


@pytest.mark.parametrize("text", ['{"steps": {}}', '{"steps": [{"tool": "a"}]}'])
def test_a_plan_whose_steps_are_no_lists_says_so(text: str) -> None:
    with pytest.raises(ReplyError, match="list of lists"):
        read_steps(text)
    assert read_steps('{"steps": [[{"tool": "a"}], []]}') == [[("a", {})]]


@pytest.mark.slow
def test_as_in_mcpverse_the_model_describes_servers_and_the_five_nearest_are_mounted(
    scenes: dict[str, Outcome],
) -> None:
    first, *later = turns(scenes, "retrieved")
    assert first.tools == ()
    assert "describe each server of tools that you want" in first.prompt
    mounted = {tool.partition("__")[0] for tool in later[0].tools if "__" in tool}
    assert len(mounted) == MOUNTED == 5
    assert {"math", "metmuseum-mcp"} <= mounted
    assert all(one.tools == later[0].tools for one in later)
    assert WANTED not in "".join((*later[0].before, later[0].prompt)), "what was asked first is not part of the work"
    result = scenes["retrieved"].results["survey-1"]
    assert made(scenes, "retrieved") == [["math/mean", "math/median"], ["math/subtract"]]
    assert result.card.success


def test_a_reply_that_is_no_object_is_one_description() -> None:
    assert descriptions('so: {"servers": ["a map", 3, " ", "a clock"]} done') == ["a map", "a clock"]
    assert descriptions("I want a map.") == ["I want a map."]
    assert descriptions('{"servers": "maps"}') == ['{"servers": "maps"}']
    assert descriptions("") == []
