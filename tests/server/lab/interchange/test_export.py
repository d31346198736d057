"""Recorded runs in the forms that other programs read, read back by those programs where they are here."""

import gzip
import json
import os
import subprocess
import threading
from base64 import b64decode
from collections.abc import Iterator
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, HTTPServer
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pytest
from google.protobuf.json_format import MessageToDict
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from pydantic import ValidationError

from m3bench.server.lab.interchange.atif import AtifTrajectory, ContentPart, atif
from m3bench.server.lab.interchange.episode import Episode, EpisodeStep, episode
from m3bench.server.lab.interchange.inspect_log import write_log
from m3bench.server.lab.interchange.inspect_samples import eval_log
from m3bench.server.lab.interchange.spans import otlp_json, send, spans
from m3bench.server.lab.reports.summary import summary
from m3bench.server.lab.results.resultset import SampleUsage, read_resultset
from m3bench.server.store.records import CallRecord
from m3bench.server.store.sqlite import SqliteStore
from m3bench.tasks.errors import UserError
from m3bench.tasks.library import Library
from tests.server.lab.headless.scripts import command
from tests.server.lab.interchange.conftest import m3bench
from tests.server.lab.judges.doubles import endpoint
from tests.sets import write_set


@pytest.fixture
def stories(played: Path, library: Library) -> Iterator[list[Episode]]:
    store = SqliteStore(played / "results" / "data")
    yield [episode(run, store, library) for run in store.runs()]
    store.close()


@pytest.fixture
def survey(stories: list[Episode]) -> Episode:
    return next(story for story in stories if story.run.task == "survey-1")


class Collector:
    """Takes traces over HTTP as a collector does."""

    def __init__(self, status: int = 200) -> None:
        self.requests: list[tuple[str, ExportTraceServiceRequest]] = []
        collector = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"]))
                body = gzip.decompress(body) if self.headers.get("Content-Encoding") == "gzip" else body
                collector.requests.append((self.path, ExportTraceServiceRequest.FromString(body)))
                self.send_response(status)
                self.send_header("Content-Length", "0")
                self.end_headers()

            def log_message(self, format: str, *arguments: Any) -> None:
                pass

        self._server = HTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_port}"
        self._thread = threading.Thread(target=self._server.serve_forever)

    def __enter__(self) -> "Collector":
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()


def attributes(span: dict[str, Any]) -> dict[str, Any]:
    return {one["key"]: next(iter(one["value"].values())) for one in span["attributes"]}


def test_a_trace_tells_run_steps_and_calls(survey: Episode) -> None:
    found = spans(survey)
    assert len({span.trace for span in found}) == 1
    root, *rest = found
    assert (root.parent, root.name) == (None, "invoke_agent oracle")
    assert root.attributes["m3bench.score.average"] == 1.0
    steps = [span for span in rest if span.kind == "internal"]
    calls = [span for span in rest if span.kind == "server"]
    assert [span.name for span in steps] == ["step 1", "step 2"]
    assert sorted(span.name for span in calls) == [
        "tools/call math__mean", "tools/call math__median", "tools/call math__subtract",
    ]  # fmt: skip
    assert {span.parent for span in steps} == {root.id}
    assert [sum(call.parent == step.id for call in calls) for step in steps] == [2, 1]
    for span, call in zip(calls, survey.calls, strict=True):
        assert span.attributes.items() >= {
            "mcp.method.name": "tools/call", "gen_ai.operation.name": "execute_tool",
            "gen_ai.tool.name": call.params["name"], "mcp.protocol.version": call.revision,
            "jsonrpc.request.id": str(json.loads(call.request_id)), "m3bench.tool": call.tool,
        }.items()  # fmt: skip
        assert "error.type" not in span.attributes
        assert json.loads(str(span.attributes["gen_ai.tool.call.arguments"])) == call.arguments
        assert call.sent_ns is not None
        assert span.end_ns - span.start_ns == call.sent_ns - call.received_ns
        assert root.start_ns <= span.start_ns <= span.end_ns <= root.end_ns
    assert spans(survey) == found


def test_a_collector_is_sent_what_the_file_says(stories: list[Episode]) -> None:
    with Collector() as collector:
        assert send(stories, collector.url, content=True) == 2
    assert [path for path, _ in collector.requests] == ["/v1/traces", "/v1/traces"]
    for story, (_, request) in zip(stories, collector.requests, strict=True):
        sent = MessageToDict(request)
        document: dict[str, Any] = dict(otlp_json(story))
        (written,) = document["resourceSpans"]
        (scope,) = sent["resourceSpans"][0]["scopeSpans"]
        assert attributes(sent["resourceSpans"][0]["resource"]) == attributes(written["resource"])
        assert scope["scope"] == written["scopeSpans"][0]["scope"]
        for one, other in zip(scope["spans"], written["scopeSpans"][0]["spans"], strict=True):
            assert b64decode(one["traceId"]).hex() == other["traceId"]
            assert b64decode(one["spanId"]).hex() == other["spanId"]
            assert one["name"] == other["name"]
            assert one["startTimeUnixNano"] == other["startTimeUnixNano"]
            assert one["endTimeUnixNano"] == other["endTimeUnixNano"]
            assert attributes(one) == attributes(other)


def test_without_content_nothing_of_it_leaves(played: Path) -> None:
    with Collector() as collector:
        done = m3bench(
            "runs", "export", "--data", played / "results", "--tasks", played / "set", "--otlp",
            f"{collector.url}/v1/traces", "--no-content",
        )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "2 traces sent" in done.stderr
    raw = b"".join(request.SerializeToString() for _, request in collector.requests)
    assert b"math__median" in raw
    for secret in (b"minuend", b"numbers", b"figures on the note", b"gen_ai.tool.call.result"):
        assert secret not in raw


def test_a_collector_that_refuses_is_one_line(stories: list[Episode]) -> None:
    with Collector(status=400) as collector, pytest.raises(UserError, match="did not accept the trace of run"):
        send(stories, collector.url, content=True)
    for url in ("collector", "ftp://x", "http://"):
        with pytest.raises(UserError, match="--otlp needs the address"):
            send(stories, url, content=True)


def test_traces_in_a_file_are_one_a_line(played: Path, tmp_path: Path) -> None:
    path = tmp_path / "traces.jsonl"
    done = m3bench("runs", "export", "--data", played / "results", "--format", "otel", "-o", path)
    assert done.returncode == 0, done.stderr
    lines = path.read_text("utf-8").splitlines()
    assert len(lines) == 2
    assert len(json.loads(lines[0])["resourceSpans"][0]["scopeSpans"][0]["spans"]) >= 3


def test_atif_trajectories_hold_their_own_rules(played: Path) -> None:
    done = m3bench("runs", "export", "--data", played / "results", "--tasks", played / "set", "--format", "atif")
    assert done.returncode == 0, done.stderr
    found = [AtifTrajectory.model_validate_json(line) for line in done.stdout.splitlines()]
    survey = next(one for one in found if one.extra is not None and one.extra["task"] == "survey-1")
    assert survey.schema_version == "ATIF-v1.7"
    assert (survey.agent.name, survey.agent.version) == ("oracle", version("m3bench"))
    assert [step.source for step in survey.steps] == ["user", "agent", "agent", "agent"]
    message = survey.steps[0].message
    assert not isinstance(message, str)
    question, picture = message
    assert isinstance(question, ContentPart)
    assert question.text is not None
    assert question.text.startswith("What are the middle and the average")
    assert isinstance(picture, ContentPart)
    assert picture.source is not None
    assert picture.source.path.startswith("data:image/png;base64,")
    first = survey.steps[1]
    assert first.tool_calls is not None
    assert {call.function_name for call in first.tool_calls} == {"math__median", "math__mean"}
    assert first.observation is not None
    contents = {result.source_call_id: result.content for result in first.observation.results}
    assert {contents[call.tool_call_id] for call in first.tool_calls} == {"15.5", "18"}
    assert survey.final_metrics is not None
    assert survey.final_metrics.total_steps == 4


@pytest.mark.parametrize(
    "change",
    [
        {"schema_version": "ATIF-v9"},
        {"steps": []},
        {"surprise": 1},
        {"steps": [{"step_id": 2, "source": "user", "message": "hi"}]},
        {"steps": [{"step_id": 1, "source": "user", "message": "hi", "tool_calls": []}]},
        {"steps": [{"step_id": 1, "source": "user", "message": "hi", "metrics": {"prompt_tokens": 1}}]},
        {"steps": [{"step_id": 1, "source": "user", "message": [{"type": "text"}]}]},
        {"steps": [{"step_id": 1, "source": "agent", "message": "", "llm_call_count": 0, "reasoning_content": "so"}]},
        {
            "steps": [
                {
                    "step_id": 1, "source": "agent", "message": "",
                    "tool_calls": [{"tool_call_id": "a", "function_name": "f", "arguments": {}}],
                    "observation": {"results": [{"source_call_id": "b", "content": ""}]},
                }
            ]
        },
    ],
)  # fmt: skip
def test_what_breaks_a_rule_of_atif_is_refused(change: dict[str, Any]) -> None:
    good = {"agent": {"name": "a", "version": "1"}, "steps": [{"step_id": 1, "source": "user", "message": "hi"}]}
    assert AtifTrajectory.model_validate(good)
    with pytest.raises(ValidationError):
        AtifTrajectory.model_validate(good | change)


@pytest.fixture(scope="module")
def driven(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a result set of a model that we drove: it thinks, makes calls, and answers."""
    folder = tmp_path_factory.mktemp("driven")
    call = {"id": "c1", "type": "function", "function": {"name": "math__sum", "arguments": '{"numbers": [4, 8]}'}}
    first = {"content": "I add.", "reasoning_content": "Two numbers.", "tool_calls": [call]}

    def answer(body: dict[str, Any]) -> tuple[int, str | dict[str, Any]]:
        return 200, "108" if any(message["role"] == "tool" for message in body["messages"]) else first

    options = ("--profile", "task", "--task", "sum-1", "--price", "1,10")
    with endpoint(answer) as place:
        arguments = command("openai-api/local/m", write_set(folder / "set"), folder / "results", *options)
        done = subprocess.run(
            arguments, capture_output=True, text=True, timeout=300, env={**os.environ, **place.env}, check=False
        )
    assert done.returncode == 0, done.stderr
    return folder


@pytest.mark.slow
def test_the_trajectory_of_a_model_that_we_drove_is_whole(driven: Path, tmp_path: Path) -> None:
    out = tmp_path / "model.jsonl"
    options = ("--data", driven / "results", "--tasks", driven / "set", "--format", "atif", "-o", out)
    assert m3bench("runs", "export", *options).returncode == 0
    (line,) = out.read_text().splitlines()
    steps = AtifTrajectory.model_validate_json(line).steps
    assert [step.source for step in steps] == ["system", "user", "agent", "agent"]
    pictures = [part.source for part in steps[1].message if isinstance(part, ContentPart) and part.source is not None]
    assert [(out.parent / picture.path).read_bytes()[:4] for picture in pictures] == [b"\x89PNG"]
    first, last = steps[2:]
    assert (first.message, first.reasoning_content) == ("I add.", "Two numbers.")
    assert first.tool_calls is not None
    assert first.observation is not None
    assert [(made.function_name, made.arguments) for made in first.tool_calls] == [("math__sum", {"numbers": [4, 8]})]
    assert [result.content for result in first.observation.results] == ["12"]
    assert last.message == "108"
    for step in (first, last):
        assert step.llm_call_count == 1
        assert step.metrics is not None
        assert (step.metrics.prompt_tokens, step.metrics.completion_tokens) == (100, 10)
        assert step.metrics.cost_usd == pytest.approx(0.0002)


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.parametrize("name", ["runs.eval", "runs.json"])
def test_inspect_opens_the_log(stories: list[Episode], tmp_path: Path, name: str) -> None:
    from inspect_ai.log import read_eval_log

    path = tmp_path / name
    write_log(stories, path)
    log = read_eval_log(str(path))
    assert (log.status, log.eval.model, log.eval.task) == ("success", "oracle", "m3bench/tests")
    assert log.samples is not None
    assert log.results is not None
    sample = next(one for one in log.samples if one.id == "survey-1")
    assert [message.role for message in sample.messages] == [
        "user", "assistant", "tool", "tool", "assistant", "tool", "assistant",
    ]  # fmt: skip
    assert sample.scores is not None
    assert sample.scores["average"].value == 1.0
    assert {score.name: score.metrics["mean"].value for score in log.results.scores}["recall"] == 1.0


def as_played_by(story: Episode, model: str) -> Episode:
    """The story, had a model played it that read 120 tokens and wrote 30."""
    assert story.header is not None
    assert story.sample is not None
    usage = SampleUsage(input_tokens=120, output_tokens=30, cost=0.5)
    return replace(
        story,
        header=story.header.model_copy(update={"kind": "model", "agent": model}),
        sample=story.sample.model_copy(update={"usage": usage}),
    )


def scoring(story: Episode, average: float, run: str) -> Episode:
    """The story with another average, as another run."""
    assert story.card is not None
    metrics = dict.fromkeys(story.card.metrics, average)
    card = story.card.model_copy(update={"metrics": metrics, "success": average > 0.3})
    return replace(story, card=card, run=replace(story.run, id=run, started=f"2026-01-01T00:00:0{run}+00:00"))


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_the_means_of_a_log_are_those_of_the_report_to_the_digit(
    stories: list[Episode], survey: Episode, played: Path
) -> None:
    def means(told: list[Episode]) -> dict[str, float]:
        results = eval_log(told).results
        assert results is not None
        return {score.name: score.metrics["mean"].value for score in results.scores}

    found = summary(read_resultset(played / "results").results)
    logged = means(stories)
    for name, value in found.metrics.items():
        assert logged.get(name) == value
    assert logged["m3_average"] == found.paper
    assert logged["success"] == found.success

    other = next(story for story in stories if story.run.task != "survey-1")
    told = [
        scoring(survey, 0.1, "1"), scoring(survey, 0.4, "2"), scoring(other, 0.7, "0"),
    ]  # fmt: skip
    assert means(told)["average"] == ((0.1 + 0.4) / 2 + 0.7) / 2
    assert means(told)["success"] == (0.5 + 1) / 2


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_a_log_carries_pictures_durations_and_tokens(survey: Episode) -> None:
    shown = as_played_by(replace(survey, pictures=(("a.png", b"picture"),)), "openai/gpt-5")
    (sample,) = eval_log([shown]).samples or []
    question = sample.messages[0].content
    assert not isinstance(question, str)
    assert [part.type for part in question] == ["text", "image"]
    assert question[1].image == "data:image/png;base64,cGljdHVyZQ=="
    assert sample.total_time is not None
    assert sample.total_time > 0
    tools = [message for message in sample.messages if message.role == "tool"]
    assert all(message.metadata is not None and message.metadata["seconds"] >= 0 for message in tools)
    assert sample.model_usage["openai/gpt-5"].total_tokens == 150


def test_traces_and_trajectories_name_provider_model_and_tokens(survey: Episode) -> None:
    assert spans(survey)[0].attributes["gen_ai.provider.name"] == "m3bench"
    assert spans(replace(survey, header=None))[0].attributes["gen_ai.provider.name"] == "unknown"
    told = as_played_by(survey, "openai/gpt-5")
    assert spans(told)[0].attributes.items() >= {
        "gen_ai.provider.name": "openai", "gen_ai.request.model": "gpt-5", "gen_ai.usage.input_tokens": 120,
        "gen_ai.usage.output_tokens": 30,
    }.items()  # fmt: skip
    found = atif(told)
    assert found.agent.model_name == "openai/gpt-5"
    assert found.final_metrics is not None
    assert (found.final_metrics.total_prompt_tokens, found.final_metrics.total_completion_tokens) == (120, 30)
    assert found.final_metrics.total_cost_usd == 0.5
    assert atif(survey).final_metrics.total_prompt_tokens is None


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_the_same_runs_make_the_same_log(stories: list[Episode]) -> None:
    first, again = (eval_log(stories).model_dump() for _ in range(2))
    assert first == again


def hostile(call: CallRecord, **changes: Any) -> CallRecord:
    """The call as nobody would make it."""
    return replace(call, **changes)


HOSTILE: dict[str, dict[str, Any]] = {
    "half a character": {
        "request": json.dumps({"params": {"name": "x\ud800", "arguments": {"\ud800": ["\udfff", 1]}}}).encode(),
        "tool": "x\ud800", "client": "evil\ud800 1", "outcome": "unknown_tool", "result": None,
        "error": (-32602, "no \ud800", {"data": 1}),
    },
    "no object": {"request": b'{"params": {"name": 7, "arguments": "x"}}', "result": b'{"content": "text"}'},
    "odd blocks": {"result": b'{"content": [1, {"type": "text", "text": 5}, {"type": "image"}, {}], "isError": true}'},
    "cut off": {"outcome": None, "owner": None, "result": None, "forwarded_ns": None, "returned_ns": None,
                "sent_ns": None},
    "markup": {"result": json.dumps({"content": [{"type": "text", "text": "<script>\x1b[2J\u202e" * 9999}]}).encode()},
    "clock": {"sent_ns": 1, "returned_ns": 1, "forwarded_ns": 1},
    "trace": {"request": b'{"params": {"name": "a", "_meta": {"traceparent": "00-zz-1-2"}}}'},
}  # fmt: skip


@pytest.mark.sample(2)
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_records_are_told_like_any_other(survey: Episode, tmp_path: Path, name: str) -> None:
    odd = hostile(survey.calls[0], **HOSTILE[name])
    run = replace(survey.run, answer="\ud800 <b>\x00")
    story = replace(survey, run=run, steps=(EpisodeStep(calls=(odd,), evidence="first"),), client=odd.client[:4])
    json.dumps(otlp_json(story), ensure_ascii=False).encode()
    json.dumps(atif(story).to_json(), ensure_ascii=False).encode()
    with Collector() as collector:
        assert send([story], collector.url, content=True) == 1
    write_log([story], tmp_path / "log.json")
    assert all(span.end_ns >= span.start_ns for span in spans(story))


def test_the_span_of_the_client_is_linked(survey: Episode) -> None:
    parent = f"00-{7:032x}-{9:016x}-01"
    message = {"params": {"name": "a", "arguments": {}, "_meta": {"traceparent": parent}}}
    call = hostile(survey.calls[0], request=json.dumps(message).encode())
    story = replace(survey, steps=(EpisodeStep(calls=(call,), evidence="first"),))
    assert spans(story)[-1].link == (7, 9)


def test_predictions_score_as_the_runs_did(played: Path, tmp_path: Path) -> None:
    path = tmp_path / "predictions.json"
    m3bench(
        "runs", "export", "--data", played / "results", "--tasks", played / "set", "--format", "open-m3-bench",
        "-o", path,
    )  # fmt: skip
    entry = next(one for one in json.loads(path.read_text()) if one["id"] == "survey-1")
    assert (entry["type"], entry["num_step"], entry["max_num_concurrent"]) == ("survey", 2, 2)
    m3bench("tasks", "export", "--tasks", played / "set", "-o", tmp_path / "public")
    done = m3bench("lab", "score", tmp_path / "public" / "references.json", path, "--json", "--no-cache")
    assert json.loads(done.stdout)["aggregate"]["average"] == 1.0


@pytest.mark.sample(2)
@pytest.mark.parametrize(
    "options",
    [
        ["--format", "inspect"],
        ["--format", "atif", "--otlp", "http://localhost:1"],
        ["--otlp", "http://localhost:1", "-o", "x"],
        ["--no-content"],
        ["--format", "atif", "-o", "/no/such/folder/file"],
    ],
)
def test_options_that_do_not_go_together_are_one_line(played: Path, options: list[str]) -> None:
    done = m3bench("runs", "export", "--data", played / "results", *options)
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
