"""What is the model's fault is scored, what is not is void: limits, outages, servers that go."""

import os
import signal
import sys
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp_types import Implementation

from m3bench.server.lab.headless.inspect_run import find_model
from m3bench.server.lab.headless.inspect_seat import SeatOptions, open_seat
from m3bench.server.lab.headless.plan import ModelOptions
from m3bench.server.lab.headless.solver import SampleWatch
from m3bench.server.lab.results.resultset import Sample
from m3bench.server.store.sqlite import SqliteStore
from m3bench.tasks.errors import RunError, SandboxError, UserError
from tests.server.lab.headless.scripts import GIVES_UP, RIGHT, Outcome, Scene, play_scenes, three_tasks

pytestmark = pytest.mark.slow

CLIENT = Implementation(name="a test", version="1")

ADD = {"tool": "math__add", "arguments": {"firstNumber": 1, "secondNumber": 2}}

ONE_TASK = ("--profile", "task", "--task", "survey-1")
TWO_TASKS = (*ONE_TASK, "--task", "sum-1")

SCENES = {
    "outage": Scene(
        script={"survey-1": [RIGHT[0], {"error": "<b>out of order</b>"}], "sum-1": GIVES_UP}, options=TWO_TASKS
    ),
    "outage over": Scene(
        script={"survey-1": RIGHT, "sum-1": RIGHT}, options=(*TWO_TASKS, "--resume"), results="outage"
    ),
    "limits": Scene(
        script={
            "survey-1": [{"text": "One.", "calls": [ADD]}, {"text": "Two.", "calls": [ADD], "pause": 600}],
            "sum-1": [{"text": "One.", "calls": [ADD] * 7}, {"text": "Two.", "calls": [ADD]}],
            "sum-2": [{"text": f"{turn}.", "calls": [ADD]} for turn in ("One", "Two", "Three", "Four")],
        },
        options=("--profile", "task", "--max-minutes", "0.4", "--max-messages", "9", "--max-steps", "3"),
    ),
    "broken JSON": Scene(
        script={"survey-1": [{"calls": [{"tool": "math__sum", "arguments": '{"numbers": [4, 8'}]}, *RIGHT]},
        options=ONE_TASK,
    ),
    "priced": Scene(
        script={"survey-1": [{"text": "2.5", "input_tokens": 1_000_000, "output_tokens": 10_000}]},
        options=(*ONE_TASK, "--price", "1.25,10"),
    ),
    "meddling": Scene(
        script={
            "survey-1": [
                *({"calls": [{"tool": name, "arguments": {}}]} for name in ("list_tasks", "start_task", "score")),
                *RIGHT,
            ]
        },
        options=ONE_TASK,
    ),
    "no credit": Scene(
        script={"*": [{"error": "no credit"}]}, options=("--profile", "task", "--repeat", "4", "--parallel", "4")
    ),
    "mock": Scene(options=ONE_TASK),
    "unusable": Scene(script={"*": [{"error": "x", "say": "y"}]}),
}


@pytest.fixture(scope="module")
def scenes(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Outcome]:
    return play_scenes(tmp_path_factory.mktemp("scenes"), SCENES)


@pytest.fixture(scope="module")
def tasks(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return three_tasks(tmp_path_factory.mktemp("set"))


def test_an_outage_of_the_provider_makes_a_sample_void_until_it_is_tried_again(scenes: dict[str, Outcome]) -> None:
    assert scenes["outage"].code == 1
    assert "out of order" in scenes["outage"].stderr
    written = (scenes["outage"].folder / "samples.jsonl").read_text().splitlines()
    lines = [Sample.model_validate_json(line) for line in written]
    assert sorted((line.task, line.state) for line in lines[:2]) == [("sum-1", "scored"), ("survey-1", "void")]
    void = next(line for line in lines if line.state == "void")
    assert void.reason == "The model was not heard from again. Its provider says: refused request: <b>out of order</b>"
    assert void.fault == "provider"
    assert void.usage.input_tokens > 0

    assert scenes["outage over"].code == 0
    assert [(line.task, line.state) for line in lines[2:]] == [("survey-1", "scored")]
    assert scenes["outage"].results["survey-1"].card.metrics["average"] == 1.0
    assert scenes["outage"].results["sum-1"].card.average == 0.0


def test_inspects_log_leaves_void_samples_out_of_its_means(scenes: dict[str, Outcome]) -> None:
    from inspect_ai.log import read_eval_log

    first, *_ = sorted((scenes["outage"].folder / "inspect").glob("*.eval"))
    log = read_eval_log(first)
    assert log.status == "success"
    assert log.results is not None
    assert {score.scored_samples for score in log.results.scores} == {1}
    assert [sample.id for sample in log.samples or [] if sample.error] == ["survey-1"]


def test_a_model_that_reaches_a_limit_is_scored_with_what_it_did(scenes: dict[str, Outcome]) -> None:
    assert scenes["limits"].code == 0
    found = scenes["limits"].results
    made = {task: len(result.card.alignment.actual_calls) for task, result in found.items()}
    assert made == {"survey-1": 1, "sum-1": 7, "sum-2": 3}
    assert {result.sample.fault for result in found.values()} == {"limit", "client"}
    assert {task: result.run.answer for task, result in found.items()} == {
        "survey-1": "One.", "sum-1": "One.", "sum-2": "Three.",
    }  # fmt: skip


def test_broken_json_from_a_model_is_on_record_as_an_illegal_call(scenes: dict[str, Outcome]) -> None:
    card = scenes["broken JSON"].results["survey-1"].card
    assert card.outcomes == {"illegal_format": 1, "success": 3}


def test_a_sample_costs_what_its_tokens_cost(scenes: dict[str, Outcome]) -> None:
    usage = scenes["priced"].samples["survey-1", 1].usage
    assert (usage.input_tokens, usage.output_tokens) == (1_000_000, 10_000)
    assert usage.cost == pytest.approx(1.35)
    assert "$1.35" in scenes["priced"].stderr


def test_the_benchmarks_own_tools_are_out_of_a_models_reach(scenes: dict[str, Outcome]) -> None:
    assert scenes["meddling"].results["survey-1"].card.metrics["average"] == 1.0
    store = SqliteStore(scenes["meddling"].folder / "data")
    try:
        assert [run.task for run in store.runs()] == ["survey-1"]
    finally:
        store.close()


def test_a_run_in_which_nothing_works_stops_and_can_be_resumed(scenes: dict[str, Outcome]) -> None:
    outcome = scenes["no credit"]
    assert outcome.code == 2
    assert "no credit" in outcome.stderr
    assert "--resume" in outcome.stderr
    assert 8 <= len(outcome.samples) < 12


def test_failures_with_a_success_between_them_stop_nothing() -> None:
    kept: list[Sample] = []
    watch = SampleWatch(lambda sample, card: kept.append(sample), patience=3)
    for repeat, state in enumerate(("void", "void", "scored", "void", "void", "void"), 1):
        watch.check()
        watch.over(Sample(task="sum-1", repeat=repeat, state=state, reason=f"no credit {repeat}"), None)  # type: ignore[arg-type]
    with pytest.raises(RunError, match="Not begun"):
        watch.check()
    assert watch.last_reason == "no credit 6"
    assert len(kept) == 6


def test_results_that_cannot_be_kept_stop_a_run() -> None:
    def full(sample: Sample, card: object) -> None:
        raise OSError("No space left on device")

    watch = SampleWatch(full)
    with pytest.raises(OSError, match="No space"):
        watch.over(Sample(task="sum-1", repeat=1, state="scored"), None)
    assert watch.halted
    assert isinstance(watch.broken, OSError)


def test_a_model_that_cannot_be_used_leaves_no_folder(scenes: dict[str, Outcome]) -> None:
    assert scenes["unusable"].code == 2
    assert len(scenes["unusable"].stderr.strip().splitlines()) == 1
    assert not scenes["unusable"].folder.exists()


def test_inspects_mock_model_plays_without_a_network(scenes: dict[str, Outcome]) -> None:
    assert scenes["mock"].code == 0, scenes["mock"].stderr
    assert scenes["mock"].results["survey-1"].card.average == 0.0


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"model": "nowhere/model"}, "nowhere"),
        ({"model": "model"}, "api_name"),
        ({"model": "m3bench/no-such-script.json"}, "no-such-script"),
        ({"model": "mockllm/model", "solver": "magic"}, "react, executor, m3-bench, mcp-bench"),
        ({"model": "mockllm/model", "solver": "executor", "calling": "smoke"}, "native or text"),
        ({"model": "mockllm/model", "solver": "mcp-bench", "planning": "later"}, "rounds or one-shot"),
        ({"model": "mockllm/model", "planning": "one-shot"}, "--solver mcp-bench"),
        (
            {"model": "mockllm/model", "solver": "mcp-bench", "planning": "one-shot", "calling": "native"},
            "leave out --calling",
        ),
        ({"model": "mockllm/model", "generate": {"temperature": "hot"}}, "number"),
        ({"model": "mockllm/model", "generate": {"heat": 1}}, "heat"),
        ({"model": "mockllm/model", "price": "cheap"}, "1.25,10"),
        ({"model": "mockllm/model", "price": "1,2,3,4"}, "1.25,10"),
        ({"model": "mockllm/model", "price": "1,-2"}, "1.25,10"),
        ({"model": "mockllm/model", "price": "1,nan"}, "1.25,10"),
    ],
)
def test_a_model_that_cannot_be_used_says_why(options: dict[str, Any], says: str) -> None:
    with pytest.raises(UserError, match=says) as caught:
        find_model(ModelOptions(**options))
    assert "\n" not in str(caught.value)


def test_without_inspect_a_model_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "inspect_ai.model", None)
    with pytest.raises(UserError, match=r"pip install 'm3bench\[agents\]'"):
        find_model(ModelOptions(model="openai/gpt-5"))


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("{", "JSON"),
        ('{"tasks": {"a": [{"say": "hi"}]}}', "tasks.a.0.say"),
        ('{"tasks": {"a": {"text": "hi"}}}', "tasks.a"),
    ],
)
def test_a_script_that_cannot_be_played_says_where(tmp_path: Path, text: str, says: str) -> None:
    path = tmp_path / "script.json"
    path.write_text(text)
    with pytest.raises(UserError, match=says):
        find_model(ModelOptions(model=f"m3bench/{path}"))


@pytest.mark.anyio
async def test_a_server_that_goes_away_is_nobodys_score(tasks: Path, tmp_path: Path) -> None:
    data = tmp_path / "data"
    with anyio.fail_after(60):
        async with open_seat(SeatOptions(data=data, tasks=tasks), "sum-1", "task:sum-1", CLIENT) as seat:
            for pid in _servers(data):
                os.kill(pid, signal.SIGKILL)
            with pytest.raises(SandboxError, match="server"):
                await seat.call("math__sum", {"numbers": [1]})


@pytest.mark.anyio
async def test_a_server_that_does_not_start_says_why(tmp_path: Path) -> None:
    with anyio.fail_after(60), pytest.raises(SandboxError, match=r"tasks\.json"):
        async with open_seat(SeatOptions(data=tmp_path / "data", tasks=tmp_path), "sum-1", "task:sum-1", CLIENT):
            pass


@pytest.mark.anyio
async def test_a_providers_keys_do_not_reach_the_server(
    tasks: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "not for tools")
    data = tmp_path / "data"
    with anyio.fail_after(60):
        async with open_seat(SeatOptions(data=data, tasks=tasks), "sum-1", "task:sum-1", CLIENT):
            (server,) = _servers(data)
            assert b"not for tools" not in Path(f"/proc/{server}/environ").read_bytes()


def _servers(data: Path) -> list[int]:
    """The server processes with this data folder."""
    found = []
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            line = (entry / "cmdline").read_bytes().decode()
        except OSError:
            continue
        if "serve" in line.split("\0") and str(data) in line:
            found.append(int(entry.name))
    return found
