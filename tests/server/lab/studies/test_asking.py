"""What nobody knows of a model is asked before its first sample, once, and its cells follow the answers."""

import json
from pathlib import Path
from typing import Any

import anyio
import pytest
from inspect_ai.model import ModelUsage
from typer.testing import CliRunner

from m3bench.server.commands.program import app
from m3bench.server.lab.studies.abilities import (
    ANSWERS,
    adapted,
    ask_models,
    spent_asking,
    to_ask,
    used_tokens,
    with_answers,
)
from m3bench.server.lab.studies.cells import Cell, cells_of
from m3bench.server.lab.studies.plan_file import StudyPlan, read_plan
from m3bench.tasks.errors import InputFileError
from tests.server.lab.headless.scripts import three_tasks
from tests.server.lab.judges.doubles import Endpoint, endpoint

# Inspect's, of a library below it; and what it leaves open ends with the loop.
pytestmark = pytest.mark.filterwarnings("ignore:The 'initial' parameter is deprecated:DeprecationWarning")

Body = dict[str, Any]
Said = tuple[int, str | Body]

PLAN = '```json\n{"done": true, "tools": []}\n```'


def planned(folder: Path, place: Endpoint, **given: Any) -> StudyPlan:
    tasks = folder / "set" if (folder / "set").exists() else three_tasks(folder / "set")
    path = folder / "plan.yaml"
    model = {"model": "openai-api/local/it", "name": "it", "arguments": {"base_url": place.url, "api_key": "none"}}
    path.write_text(json.dumps({
        "models": [{**model, **given}], "profiles": ["full"], "sandbox": "inprocess", "retry_minutes": 0,
        "sets": [{"name": "small", "tasks": str(tasks)}],
    }))  # fmt: skip
    return with_answers(read_plan(path))


def asked(plan: StudyPlan) -> tuple[StudyPlan, list[str]]:
    said: list[str] = []
    anyio.run(ask_models, plan, to_ask(plan), said.append)
    return with_answers(plan), said


def cell(plan: StudyPlan) -> Cell:
    (found,) = adapted(cells_of(plan))
    return found


def has_picture(body: Body) -> bool:
    return "image_url" in json.dumps(body["messages"])


def calls(*cities: str) -> Body:
    made = [
        {
            "id": f"call-{city}",
            "type": "function",
            "function": {"name": "weather", "arguments": json.dumps({"city": city})},
        }
        for city in cities
    ]
    return {"content": None, "tool_calls": made}


def able(body: Body) -> Said:
    """A model that can do everything, of a provider that takes 64 tools."""
    if len(body.get("tools", ())) > 64:
        return 400, "Invalid 'tools': array too long. Expected an array with maximum length 64, but got 300 instead."
    if body.get("tools"):
        return 200, calls("Oslo", "Rome")
    return 200, "The number is 4719." if has_picture(body) else PLAN


def unable(body: Body) -> Said:
    """A model that can write, and no more."""
    if body.get("tools"):
        return 400, "Tool calling is not supported by this model."
    return (400, "Unknown content part.") if has_picture(body) else (200, "I am done.")


def clumsy(body: Body) -> Said:
    """A model that takes everything and makes nothing of it."""
    return 200, "Sure, I can help with that!"


def test_a_model_that_can_do_everything_is_played_with_as_many_tools_as_its_provider_takes(tmp_path: Path) -> None:
    with endpoint(able) as place:
        plan, said = asked(planned(tmp_path, place))
    can = plan.models[0].can
    assert (can.tools, can.parallel_calls, can.vision, can.structured_output, can.tool_cap) == (
        True,
        True,
        True,
        True,
        64,
    )
    assert "at most 64" in said[0]
    assert cell(plan).choice.profile == "standard"
    assert "the model takes 64" in cell(plan).notes[0]
    assert spent_asking(plan).tokens == 3 * 110, "the refused request cost nothing"


def test_a_model_that_can_only_write_gets_calls_in_text_and_no_pictures(tmp_path: Path) -> None:
    with endpoint(unable) as place:
        place.listed = [{"id": "it", "object": "model", "created": 1, "owned_by": "us", "meta": {"n_ctx": 8192}}]
        plan, said = asked(planned(tmp_path, place))
        count = len(place.requests)
        assert asked(plan) == (plan, []), "what was asked is not asked again"
        assert len(place.requests) == count
    found = cell(plan)
    assert found.options is not None
    assert (found.options.calling, found.options.sight, found.choice.profile) == ("text", "text", "task")
    assert plan.models[0].can.context == 8192
    assert "what it wrote was not JSON; tool calls are refused; pictures are refused" in said[0]


def test_a_model_that_makes_no_calls_when_told_to_writes_them_and_keeps_its_pictures(tmp_path: Path) -> None:
    with endpoint(clumsy) as place:
        plan, _ = asked(planned(tmp_path, place))
    can = plan.models[0].can
    assert (can.tools, can.vision, can.structured_output) == (False, None, False)


@pytest.mark.sample(1)
@pytest.mark.parametrize(("status", "words"), [(401, "authentication"), (500, "server error")])
def test_a_provider_that_is_down_says_nothing_about_its_model(tmp_path: Path, status: int, words: str) -> None:
    with endpoint(lambda _: (status, "No.")) as place:
        before = planned(tmp_path, place)
        after, said = asked(before)
    assert after == before
    assert words in said[0]
    assert not (tmp_path / "study" / ANSWERS).exists()
    assert to_ask(after), "it is asked another time"


def test_what_the_plan_says_is_not_asked_and_nobody_is_asked_for_a_dry_run(tmp_path: Path) -> None:
    every = {"tools": True, "parallel_calls": False, "vision": False, "structured_output": True, "context": 10**6}
    with endpoint(able) as place:
        assert to_ask(planned(tmp_path, place, can=every)) == []
        plan, _ = asked(planned(tmp_path, place, can={"vision": False}))
        assert plan.models[0].can.vision is False
        assert not any(has_picture(body) for body in place.requests)
        (tmp_path / "other").mkdir()
        planned(tmp_path / "other", place)
        count = len(place.requests)
        dry = CliRunner().invoke(app, ["lab", "study", str(tmp_path / "other" / "plan.yaml"), "--dry-run"])
        assert "asked before its first sample" in dry.stderr
        assert len(place.requests) == count
    assert not (tmp_path / "other" / "study").exists()


def test_a_model_that_was_begun_and_a_script_are_not_asked(tmp_path: Path) -> None:
    with endpoint(able) as place:
        plan = planned(tmp_path, place)
        begun = cell(plan).choice.folder
        begun.mkdir(parents=True)
        assert to_ask(plan)
        (begun / "set.json").write_text("{}")
        assert to_ask(plan) == []
        other = plan.model_copy(update={"ask": False, "folder": tmp_path / "elsewhere"})
        assert to_ask(other) == []
        mock = other.models[0].model_copy(update={"model": "mockllm/model"})
        assert to_ask(other.model_copy(update={"ask": True, "models": (mock,)})) == []


def test_tokens_that_a_provider_had_in_its_cache_count() -> None:
    assert used_tokens(ModelUsage(input_tokens=10, output_tokens=5, total_tokens=39, input_tokens_cache_read=24)) == 39


def test_answers_that_cannot_be_read_are_named(tmp_path: Path) -> None:
    with endpoint(able) as place:
        plan = planned(tmp_path, place)
    (tmp_path / "study").mkdir()
    (tmp_path / "study" / ANSWERS).write_text('{"it": {"can": {"flying": true}}}')
    with pytest.raises(InputFileError, match="asked again"):
        to_ask(plan)
