"""A real language model, the smallest there is, plays through the path that every model takes.

It solves nothing. What is tested is that nothing hangs, that what it does wrong has a name, and that its tokens are
those that its endpoint counted.
"""

import json
import subprocess
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.request import Request, urlopen

import pytest

from m3bench.server.lab.results.analyses.failures import CLASSES, classes
from m3bench.server.lab.results.resultset import read_resultset
from m3bench.server.lab.studies.abilities import ANSWERS
from tests.server.lab.headless.scripts import three_tasks
from tests.server.lab.headless.small_model.model_server import NAME, NotInstalled, model_server

pytestmark = pytest.mark.model

COMMAND = [sys.executable, "-m", "m3bench.server.cli", "lab", "study"]


class Counter(ThreadingHTTPServer):
    """Stands before an endpoint and keeps the usage of every reply."""

    daemon_threads = True
    ahead = ""

    def __init__(self) -> None:
        self.used: list[dict[str, Any]] = []
        super().__init__(("127.0.0.1", 0), _Passing)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}/v1"


class _Passing(BaseHTTPRequestHandler):
    server: Counter

    def do_GET(self) -> None:
        self._pass(Request(self.server.ahead + self.path.removeprefix("/v1")))

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["content-length"]))
        self._pass(Request(self.server.ahead + self.path.removeprefix("/v1"), body))

    def _pass(self, request: Request) -> None:
        with urlopen(request, timeout=1200) as reply:
            data = reply.read()
        usage = json.loads(data).get("usage")
        if usage is not None:
            self.server.used.append(usage)
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture(scope="module")
def counter() -> Iterator[Counter]:
    try:
        with model_server() as url, Counter() as counter:
            counter.ahead = url
            thread = threading.Thread(target=counter.serve_forever, daemon=True)
            thread.start()
            yield counter
            counter.shutdown()
            thread.join()
    except NotInstalled as error:
        pytest.skip(f"the model could not be installed: {error}")


def test_a_real_small_model_plays_and_its_failures_have_names(counter: Counter, tmp_path: Path) -> None:
    tasks = three_tasks(tmp_path / "set")
    model = {
        "model": f"openai-api/local/{NAME}",
        "name": NAME,
        "arguments": {"base_url": counter.url, "api_key": "none"},
    }
    plan = tmp_path / "plan.yaml"
    plan.write_text(json.dumps({
        "models": [{**model, "generate": {"temperature": 0, "max_tokens": 60}}], "solvers": ["react", "executor"],
        "profiles": ["task"], "sandbox": "inprocess", "parallel": 1, "limits": {"max_steps": 2},
        "sets": [{"name": "small", "tasks": str(tasks), "ids": ["sum-1"]}],
    }))  # fmt: skip
    done = subprocess.run([*COMMAND, str(plan)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    answers = json.loads((tmp_path / "study" / ANSWERS).read_text())[NAME]
    assert answers["can"]["context"] == 8192
    assert answers["can"]["vision"] is False
    assert answers["can"]["tools"] is False
    assert f"{NAME}.react.task.small: the model has no tool calls of its own" in done.stderr
    assert "its results are ranked apart" in done.stderr
    read = written = 0
    for solver in ("react", "executor"):
        results = read_resultset(tmp_path / "study" / f"{NAME}.{solver}.task.small")
        assert (len(results.results), results.void, results.missing) == (1, (), ())
        assert results.header.options["calling"] == results.header.options["sight"] == "text"
        found = classes(results)
        assert sum(found.values()) == 1
        assert set(found) <= set(CLASSES)
        read += sum(one.sample.usage.input_tokens for one in results.results)
        written += sum(one.sample.usage.output_tokens for one in results.results)
    total = sum(one["prompt_tokens"] + one["completion_tokens"] for one in counter.used)
    assert read + written + answers["tokens"] == total, "what was asked and what was played are all there is"
