"""A model's headless run: the scores that calls get by hand, an Inspect log that agrees, nothing lost by a stop."""

import json
import signal
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp import Client
from mcp.client.stdio import StdioServerParameters, stdio_client
from mcp.shared.exceptions import MCPError

from m3bench.server.lab.results.resultset import ResultSet, read_resultset, read_samples
from m3bench.server.scoring import aggregate
from tests.server.conftest import SERVE
from tests.server.hosts import Hosts
from tests.server.lab.headless.scripts import SCRIPT, command, run, stopped, three_tasks, write_script
from tests.waiting import eventually

pytestmark = pytest.mark.slow

ONE_AND_TWO = {(task, repeat) for task in SCRIPT for repeat in (1, 2)}


@pytest.fixture(scope="module")
def tasks(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return three_tasks(tmp_path_factory.mktemp("set"))


@pytest.fixture(scope="module")
def played(tasks: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The results of a model that played every task twice, all at the same time."""
    folder = tmp_path_factory.mktemp("played")
    model = write_script(folder / "script.json", SCRIPT)
    done = run(model, tasks, folder / "results", "--profile", "task", "--repeat", "2", "--parallel", "8")
    assert done.returncode == 0, done.stderr
    assert "6/6" in done.stderr
    return folder / "results"


def cards(results: ResultSet) -> dict[tuple[str, int], Mapping[str, Any]]:
    """The score cards by task and repeat, without who the client was."""
    return {
        (result.sample.task, result.sample.repeat): {k: v for k, v in result.card.to_json().items() if k != "client"}
        for result in results.results
    }


async def by_hand(tasks: Path, data: Path, task: str, turns: list[dict[str, Any]]) -> dict[str, Any]:
    """The score card of somebody who makes the same calls with an MCP client."""
    options = ["--tasks", str(tasks), "--data", str(data), "--profile", f"task:{task}"]
    parameters = StdioServerParameters(command=SERVE[0], args=[*SERVE[1:], *options])
    with anyio.fail_after(90):
        async with Client(stdio_client(parameters)) as client:
            await client.call_tool("start_task", {"task_id": task})
            answer = turns[-1].get("text") or turns[-1]["calls"][0]["arguments"]["answer"]
            for step, turn in enumerate(turns[:-1]):
                async with anyio.create_task_group() as together:
                    for call in turn["calls"]:
                        together.start_soon(_call, client, call["tool"], call["arguments"], step, len(turn["calls"]))
            await client.call_tool("submit", {"answer": answer})
            found = (await client.call_tool("score", {})).meta
    assert found is not None
    return {name: value for name, value in found["m3bench/card"].items() if name != "client"}


async def _call(client: Client, tool: str, arguments: dict[str, Any], step: int, calls: int) -> None:
    meta: Any = {"m3bench/step": step, "m3bench/calls": calls}
    try:
        await client.call_tool(tool, arguments, meta=meta)
    except MCPError:
        assert tool == "math__sums"


@pytest.mark.anyio
async def test_a_model_gets_the_score_cards_that_the_same_calls_get_by_hand(
    played: Path, tasks: Path, tmp_path: Path
) -> None:
    found = cards(read_resultset(played))
    hand = {task: await by_hand(tasks, tmp_path / "data", task, turns) for task, turns in SCRIPT.items()}
    for task, repeat in ONE_AND_TWO:
        assert found[task, repeat] == hand[task]


def test_a_right_a_sloppy_and_an_idle_model_are_told_apart(played: Path) -> None:
    found = cards(read_resultset(played))
    assert found["survey-1", 1]["metrics"]["average"] == 1.0
    assert found["survey-1", 1]["success"] is True
    assert found["sum-1", 1]["metrics"]["average"] == 0.0, "other numbers are another sum"
    assert 0 < found["sum-1", 1]["paper"]["metrics"]["average"] < 1
    assert found["sum-1", 1]["outcomes"] == {"invalid_arguments": 1, "success": 1, "unknown_tool": 1}
    assert found["sum-1", 1]["success"] is False
    assert found["sum-2", 1]["metrics"]["average"] == 0.0


def test_samples_carry_what_they_used(played: Path) -> None:
    sample = read_samples(played)["sum-1", 1]
    assert sample.usage.input_tokens > 900
    assert sample.usage.output_tokens > 7
    assert sample.usage.cost is None
    assert sample.seconds > 0


def test_each_sample_has_a_run_of_its_own_whose_steps_are_the_models_turns(played: Path) -> None:
    results = read_resultset(played)
    assert len({result.run.id for result in results.results}) == 6
    assert len({result.run.seat for result in results.results}) == 6
    for result in results.results:
        turns = [len(turn.get("calls", ())) for turn in SCRIPT[result.sample.task][:-1]]
        assert [len(step) for step in result.card.alignment.actual_steps] == turns
        assert result.card.open == 0


def test_inspects_own_log_has_the_same_numbers(played: Path) -> None:
    from inspect_ai.log import read_eval_log

    results = read_resultset(played)
    (path,) = (played / "inspect").glob("*.eval")
    log = read_eval_log(path)
    assert log.status == "success"
    assert log.samples is not None
    assert log.results is not None
    found = {result.run.id: result.card for result in results.results}
    for sample in log.samples:
        assert sample.scores is not None
        score = sample.scores["scorecard"]
        card = found.pop(score.metadata["run"])
        expected = {**card.metrics, "success": float(card.success is True), "m3_average": card.paper_average}
        assert score.as_dict() == expected
        assert score.metadata["checks"] == [check.to_json() for check in card.checks]
        assert score.metadata["outcomes"] == card.outcomes
    assert not found
    means = {score.name: score.metrics["m3bench/mean"].value for score in log.results.scores}
    assert means.pop("success") == pytest.approx(1 / 3)
    assert means.pop("m3_average") == pytest.approx(aggregate.mean(results.paper_rows)["average"])
    known = {name: value for name, value in aggregate.mean(results.rows).items() if value is not None}
    assert means == pytest.approx(known)
    assert log.results.headline is not None
    assert log.results.headline.score == "average"


def test_the_model_sees_the_picture_and_its_path_and_none_of_the_benchmarks_own_tools(played: Path) -> None:
    from inspect_ai.event import ModelEvent
    from inspect_ai.log import read_eval_log

    (path,) = (played / "inspect").glob("*.eval")
    log = read_eval_log(path, resolve_attachments=True)
    sample = next(sample for sample in log.samples or [] if sample.id == "survey-1")
    asked = next(event for event in sample.events if isinstance(event, ModelEvent))
    question = next(message for message in asked.input if message.role == "user")
    assert [part.type for part in question.content] == ["text", "image"]
    assert "./media/note.png" in question.text
    assert "What are the middle and the average" in question.text
    shown = {tool.name for tool in asked.tools}
    assert "math__median" in shown
    assert "submit" in shown
    assert not {"list_tasks", "start_task", "score"} & shown
    everything = json.dumps([message.model_dump(mode="json") for message in asked.input])
    assert "Compute the median" not in everything


@pytest.mark.all_sample(1)
@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGINT], ids=lambda number: number.name)
def test_a_run_that_is_stopped_goes_on_without_loss_or_repetition(
    played: Path, tasks: Path, tmp_path: Path, number: signal.Signals
) -> None:
    held = {task: [{**turns[0], "pause": 600}, *turns[1:]] for task, turns in SCRIPT.items()} | {
        "survey-1": SCRIPT["survey-1"]
    }
    model = write_script(tmp_path / "script.json", held)
    results = tmp_path / "results"
    options = ("--profile", "task", "--repeat", "2", "--parallel", "8")
    lines = results / "samples.jsonl"
    stopping = stopped(command(model, tasks, results, *options), number)
    with stopping:
        eventually(lambda: lines.exists() and len(lines.read_text().splitlines()) == 2, "two samples", 120)
    if number == signal.SIGINT:
        assert stopping.process.returncode == 130, stopping.output
        assert "--resume" in stopping.output[1]
    eventually(lambda: not Hosts(results / "data", "process").alive(), "sandboxes are gone")
    before = read_samples(results)
    write_script(tmp_path / "script.json", SCRIPT)
    done = run(model, tasks, results, *options, "--resume")
    assert done.returncode == 0, done.stderr
    after = read_samples(results)
    assert {key: after[key] for key in before} == before
    assert Counter((line["task"], line["repeat"]) for line in map(json.loads, lines.read_text().splitlines())) == (
        Counter(ONE_AND_TWO)
    )
    straight = cards(read_resultset(played))
    for key, card in cards(read_resultset(results)).items():
        assert card == straight.pop(key)
    assert not straight
    again = run(model, tasks, results, *options, "--resume")
    assert again.returncode == 0, again.stderr
    assert read_samples(results) == after
