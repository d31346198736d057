"""Faults in headless runs: whatever the provider, the engine or a tool does, no fault yields a number.

A real client of a provider asks an endpoint of the test's own, which answers each task with one fault. The bodies are
those of `lab/headless/providers/provider_errors.json`; that all of them are understood is tested there.
"""

import json
import os
import re
import sqlite3
import subprocess
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from copy import deepcopy
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import anyio
import pytest

from m3bench.sandboxes.backends.docker import image
from m3bench.server.lab.headless.agents.play import AgentPlay
from m3bench.server.lab.headless.agents.player import play_plan
from m3bench.server.lab.headless.inspect_seat import AS_SENT
from m3bench.server.lab.headless.plan import RunChoice, make_plan
from m3bench.server.lab.results.resultset import ResultSet, Sample, read_resultset, read_samples
from m3bench.server.scorecard.model import ScoreCard
from m3bench.server.store.layout import DATABASE
from m3bench.server.store.sqlite import SqliteStore
from m3bench.tasks.library import Library
from m3bench.tasks.trajectory import Call
from tests.sandboxes.backends.docker.engines import Complaining
from tests.server.hosts import Hosts
from tests.server.lab.headless.providers.test_failures import ERRORS
from tests.server.lab.headless.scripts import NUMBERS, RIGHT, command, write_script
from tests.sets import write_set

pytestmark = pytest.mark.slow

SUM = json.dumps({"numbers": NUMBERS})

Turn = tuple[int, Any]
"""Status and body of an answer; status 0 is none at all."""
Turns = Mapping[str, Sequence[Turn | Callable[[], Turn]]]
"""What a model answers in each task; the last answer is repeated."""


def says(text: str = "", *calls: tuple[str, str]) -> Turn:
    """A reply of the model: a text, and calls with their arguments letter by letter."""
    made = [
        {"id": f"call_{number}", "type": "function", "function": {"name": name, "arguments": arguments}}
        for number, (name, arguments) in enumerate(calls)
    ]
    message = {"role": "assistant", "content": text or None, **({"tool_calls": made} if made else {})}
    choice = {"index": 0, "message": message, "finish_reason": "tool_calls" if made else "stop"}
    usage = {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15}
    return 200, {
        "id": "r",
        "object": "chat.completion",
        "created": 1,
        "model": "m",
        "choices": [choice],
        "usage": usage,
    }


def fails(kind: str, dialect: str, status: int = 0) -> Turn:
    """An error of a kind, as a dialect has it."""
    found = next(
        one for one in ERRORS if one["kind"] == kind and one["dialect"] == dialect and status in (0, one["status"])
    )
    return found["status"], found["body"]


ANSWER = says("108")
FIRST = says("", ("math__sum", SUM))

PLAYED: dict[str, list[Turn]] = {
    "good-1": [FIRST, ANSWER],
    "key-1": [fails("authentication", "anthropic")],
    "busy-1": [fails("overload", "google")],
    "mute-1": [(0, None)],
    "busy-2": [FIRST, fails("overload", "openai")],
    "good-2": [FIRST, fails("rate limit", "openai"), ANSWER],
    "blind-1": [fails("refused picture", "openai")],
    "long-1": [fails("context overflow", "anthropic")],
    "long-2": [FIRST, fails("context overflow", "google")],
    "long-3": [FIRST, fails("context overflow", "openai")],
    "empty-1": [(200, {**says()[1], "choices": []})],
    "tools-1": [fails("too many tools", "google")],
    "words-1": [
        says("", ("math__sum", "[1,2"), ("math__sum", '{"numbers": [4, 8'), ("math__sum", '{"numbers": [1]}"'),
             ("math__sum", "4"), ("math__sum", '{"numbers": [NaN]}'),
             ("math__sum", '{ "numbers" :[4,8,15,16,23,42] }')),
        ANSWER,
    ],
}  # fmt: skip


@dataclass
class Endpoint:
    """A provider that answers as it is told."""

    turns: Turns
    asked: dict[str, int] = field(default_factory=dict)
    lock: threading.Lock = field(default_factory=threading.Lock)

    def answer(self, request: bytes) -> Turn:
        task = re.search(r"# Task ([a-z]+-\d)", request.decode())
        assert task is not None
        turns = self.turns[task[1]]
        with self.lock:
            number = self.asked.setdefault(task[1], 0)
            self.asked[task[1]] += 1
        turn = turns[min(number, len(turns) - 1)]
        return turn() if callable(turn) else turn


@contextmanager
def asked_at(turns: Turns) -> Iterator[str]:
    """The address of such a provider."""
    provider, over = Endpoint(turns), threading.Event()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            status, body = provider.answer(self.rfile.read(int(self.headers["Content-Length"])))
            if not status:
                over.wait()
                return
            data = json.dumps(body).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, format: str, *args: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/v1"
    finally:
        over.set()
        server.shutdown()
        server.server_close()
        thread.join()


@pytest.fixture(scope="module")
def endpoint() -> Iterator[str]:
    with asked_at(PLAYED) as address:
        yield address


@pytest.fixture(scope="module")
def results(endpoint: str, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What a headless run over all of them left."""
    folder = tmp_path_factory.mktemp("faults")
    tasks = write_set(folder / "set") / "tasks.json"
    data = json.loads(tasks.read_bytes())
    data["tasks"] = [deepcopy(data["tasks"][-1]) | {"id": id} for id in PLAYED]
    tasks.write_text(json.dumps(data))
    options = ("--profile", "task", "--max-minutes", "0.3", "--parallel", "2")
    done = subprocess.run(
        command("openai-api/fake/m", tasks.parent, folder / "results", *options),
        env={**os.environ, "FAKE_API_KEY": "x", "FAKE_BASE_URL": endpoint},
        capture_output=True,
        text=True,
        timeout=580,
    )
    assert done.returncode == 1, done.stderr
    assert "Its provider says" in done.stderr
    return folder / "results"


@pytest.fixture(scope="module")
def samples(results: Path) -> dict[str, Sample]:
    return {task: sample for (task, _), sample in read_samples(results).items()}


@pytest.fixture(scope="module")
def found(results: Path) -> ResultSet:
    return read_resultset(results)


@pytest.mark.parametrize(
    ("task", "words"),
    [
        ("key-1", "authentication (401): invalid x-api-key"),
        ("busy-1", "Its provider says: overload (503): The model is overloaded. Please try again later."),
        ("busy-2", "overload (503): That model is currently overloaded with other requests."),
        ("mute-1", "The model gave no reply until the time limit ended the sample."),
        ("blind-1", "gave no reply. Its provider says: refused picture (400): Invalid content type. image_url is"),
        ("long-1", "context overflow (400): prompt is too long: 215443 tokens > 200000 maximum"),
        ("empty-1", "The model gave no reply."),
        ("tools-1", "too many tools (400): The request can have at most 128 function declarations, but 236"),
    ],
)  # fmt: skip
def test_a_fault_of_the_provider_is_void_in_its_own_words(samples: dict[str, Sample], task: str, words: str) -> None:
    sample = samples[task]
    assert (sample.state, sample.fault) == ("void", "provider")
    assert words in sample.reason
    assert "{" not in sample.reason


def test_no_fault_is_averaged(found: ResultSet) -> None:
    voids = {sample.task for sample in found.void}
    assert voids == {"key-1", "busy-1", "mute-1", "busy-2", "blind-1", "long-1", "empty-1", "tools-1"}
    assert {result.sample.task for result in found.results} == set(PLAYED) - voids


@pytest.mark.parametrize("task", ["long-2", "long-3"])
def test_a_window_that_is_full_in_the_middle_of_play_is_the_models_limit(found: ResultSet, task: str) -> None:
    """Whatever the wording: Inspect takes only one of the two for what it is."""
    result = next(result for result in found.results if result.sample.task == task)
    assert (result.sample.state, result.sample.fault) == ("scored", "limit")
    assert result.card.outcomes == {"success": 1}
    assert "token" not in (result.run.answer or "")


def test_a_request_that_failed_and_was_made_good_changes_nothing(found: ResultSet) -> None:
    cards = {result.sample.task: result.card for result in found.results}
    assert cards["good-2"].average == cards["good-1"].average == 1.0
    assert cards["good-2"].success is True


def test_arguments_are_recorded_as_the_model_sent_them(found: ResultSet) -> None:
    """Inspect makes something of the first four; NaN is no JSON either."""
    result = next(result for result in found.results if result.sample.task == "words-1")
    assert result.card.outcomes == {"illegal_format": 5, "success": 1}
    store = SqliteStore(found.folder / "data")
    try:
        calls = [call.params for call in store.calls(result.run.id) if "math" in str(call.params.get("name"))]
    finally:
        store.close()
    sent = [arguments for _, arguments in _calls("words-1")]
    assert [params["arguments"] for params in calls if isinstance(params["arguments"], str)] == sent[:5]
    (read,) = (params for params in calls if not isinstance(params["arguments"], str))
    assert read["_meta"][AS_SENT] == sent[5]
    assert read["arguments"] == {"numbers": NUMBERS}
    assert [len(step) for step in result.card.alignment.actual_steps] == [6]


def test_a_sandbox_that_breaks_makes_a_sample_void_in_the_engines_words(tmp_path: Path) -> None:
    script = write_script(tmp_path / "script.json", {"*": RIGHT})
    with Complaining(tmp_path / "engine.sock", image.labels(), "write /x: no space left on device") as engine:
        done = subprocess.run(
            command(script, write_set(tmp_path / "set"), tmp_path / "results", "--profile", "task", "--sandbox",
                    "docker", "--task", "survey-1"),
            env={**os.environ, "DOCKER_HOST": engine.address}, capture_output=True, text=True, timeout=300,
        )  # fmt: skip
    assert done.returncode == 1, done.stderr
    (sample,) = read_samples(tmp_path / "results").values()
    assert (sample.state, sample.fault) == ("void", "sandbox")
    assert "`docker system prune` makes room" in sample.reason
    assert read_resultset(tmp_path / "results").results == ()


def test_a_host_that_is_killed_makes_a_sample_void(tmp_path: Path) -> None:
    """After a call that worked the host is held up, and killed when the next call is with it."""
    data = tmp_path / "results" / "data"
    hosts = Hosts(data, "process")
    over = threading.Event()

    def kill_at_work() -> None:
        with closing(sqlite3.connect(data / DATABASE)) as record:
            while not over.wait(0.05):
                if record.execute("SELECT count(*) FROM calls WHERE tool = 'math/sum'").fetchone() == (2,):
                    hosts.kill()
                    return

    killer = threading.Thread(target=kill_at_work)

    def hold_up() -> Turn:
        hosts.pause()
        killer.start()
        return FIRST

    with asked_at({"sum-1": [FIRST, hold_up, ANSWER]}) as address:
        done = subprocess.run(
            command("openai-api/fake/m", write_set(tmp_path / "set"), tmp_path / "results", "--profile", "task",
                    "--sandbox", "process", "--task", "sum-1"),
            env={**os.environ, "FAKE_API_KEY": "x", "FAKE_BASE_URL": address}, capture_output=True, text=True,
            timeout=580,
        )  # fmt: skip
    over.set()
    killer.join()
    assert done.returncode == 1, done.stderr
    (sample,) = read_samples(tmp_path / "results").values()
    assert (sample.state, sample.fault) == ("void", "sandbox")
    assert "1 call was lost through no fault of the agent: 1 by the sandbox." in sample.reason
    assert read_resultset(tmp_path / "results").results == ()


@pytest.mark.night
def test_sixteen_readings_at_once_are_answered_or_charged_to_the_sandbox(tmp_path: Path) -> None:
    """A busy machine is nobody's fault but ours: sixteen pictures are read at once, none of them read before."""
    task = next(task for task in Library().tasks.values() if "ocr" in task.servers)
    options = ["--oem 3 --psm 6" + " -c user_defined_dpi=300" * (number + 1) for number in range(16)]
    texts: list[str] = []

    async def crowd(play: AgentPlay) -> str:
        given = ({"input_data": play.pictures[0], "config": one} for one in options)
        texts.extend(await play.step([Call(tool="ocr/perform_ocr", arguments=one) for one in given]))
        return "That was all."

    choice = RunChoice(
        agent="crowd", kind="baseline", folder=tmp_path, ids=(task.id,), sandbox="process", profile="task", parallel=1
    )
    plan = make_plan(choice)
    found: list[tuple[Sample, ScoreCard | None]] = []
    agent: Any = SimpleNamespace(name="crowd", play=crowd)
    with plan.begin():
        anyio.run(play_plan, plan, agent, lambda sample, card: found.append((sample, card)))
    ((sample, card),) = found
    if card is None:
        assert (sample.state, sample.fault) == ("void", "sandbox")
        assert "ocr/perform_ocr gave no answer within" in sample.reason
    else:
        assert card.outcomes == {"success": 16}
        assert len(set(texts)) == 1


def _calls(task: str) -> list[tuple[str, str]]:
    made = PLAYED[task][0][1]["choices"][0]["message"]["tool_calls"]
    return [(call["function"]["name"], call["function"]["arguments"]) for call in made]
