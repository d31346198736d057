"""The numbers that Prometheus reads: what they count, who may read them, and what is never in them."""

import secrets
import shutil
from contextlib import closing
from functools import partial
from pathlib import Path

import pytest
from mcp.shared.exceptions import MCPError
from prometheus_client.openmetrics.parser import text_string_to_metric_families as open_metrics
from prometheus_client.parser import text_string_to_metric_families

from m3bench.server.store.location import RecordLocation
from m3bench.server.store.postgres.queue import Key, Queue, QueuedCell
from m3bench.tasks.atomic_files import write_private
from tests.postgres import serving as postgres
from tests.server.conftest import serving
from tests.server.lab.live.conftest import Watched, watched
from tests.server.lab.live.players import NUMBERS, player
from tests.waiting import eventually

CLIENTS, OPERATOR = "that-of-the-clients", "s3cret-of-the-operator"

Numbers = dict[tuple[str, frozenset[tuple[str, str]]], float]


def read(text: str) -> Numbers:
    """Every sample by its name and labels, as Prometheus' own parser reads them."""
    return {
        (sample.name, frozenset(sample.labels.items())): sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
    }


def value(found: Numbers, name: str, **labels: str) -> float:
    return found[name, frozenset(labels.items())]


def numbers(server: Watched, **headers: str) -> Numbers:
    answer = server.get("/metrics", **headers)
    assert (answer.status_code, answer.headers["content-type"].partition(";")[0]) == (200, "text/plain")
    return read(answer.text)


def test_calls_are_counted_by_what_they_came_to(fresh: Watched) -> None:
    before = numbers(fresh)
    assert not [name for name, _ in before if name == "m3bench_calls_total"]
    assert value(before, "m3bench_runs", state="scored") == 0
    assert value(before, "m3bench_record_writable") == 1
    assert not (fresh.data / "runs.db").exists(), "whoever measures a server begins no record"
    with player(fresh.url) as one:
        one.play()
        one.start("sum-1")
        one.call("math__sum", numbers=NUMBERS)
        with pytest.raises(MCPError):
            one.call("no_such_tool_at_all")
        during = numbers(fresh)
    assert value(during, "m3bench_calls_total", outcome="success", owner="agent") == 6
    assert value(during, "m3bench_calls_total", outcome="invalid_arguments", owner="agent") == 1
    assert value(during, "m3bench_calls_total", outcome="unknown_tool", owner="agent") == 1
    assert value(during, "m3bench_call_duration_seconds_count", kind="benchmark") == 4
    assert value(during, "m3bench_call_duration_seconds_count", kind="tool") == 4
    for kind in ("benchmark", "tool"):
        assert value(during, "m3bench_call_duration_seconds_bucket", kind=kind, le="+Inf") == 4
        assert 0 < value(during, "m3bench_call_duration_seconds_sum", kind=kind) < 300
    assert value(during, "m3bench_seats") == 1
    assert value(during, "m3bench_runs_under_way") == 1
    assert value(during, "m3bench_sandboxes_in_use") == 1
    assert value(during, "m3bench_runs", state="scored") == 1
    assert value(during, "m3bench_runs", state="working") == 1
    assert value(during, "m3bench_calls_under_way") == 0
    assert value(during, "m3bench_record_queued") == 0
    assert value(during, "m3bench_data_free_bytes") > 0
    assert value(during, "process_resident_memory_bytes") > 0
    after = numbers(fresh)
    assert value(after, "m3bench_seats") == value(after, "m3bench_sandboxes_in_use") == 0
    assert value(after, "m3bench_runs", state="abandoned") == 1


def test_the_newer_format_is_given_to_whoever_asks_for_it(shared: Watched) -> None:
    answer = shared.get("/metrics", accept="application/openmetrics-text; version=1.0.0")
    assert answer.headers["content-type"].startswith("application/openmetrics-text")
    (build,) = [family for family in open_metrics(answer.text) if family.name == "m3bench_build"]
    assert build.samples[0].labels["store"] == "sqlite"


def test_nothing_that_a_client_chose_is_a_label(fresh: Watched) -> None:
    handle = secrets.token_urlsafe(24)
    with player(fresh.url, name="client-of-somebody", at=f"/seat/{handle}/mcp") as one:
        run = one.start("sum-1")
        with pytest.raises(MCPError):
            one.call("tool-that-somebody-made-up")
        text = fresh.get("/metrics").text
    for word in (handle, run, "client-of-somebody", "somebody-made-up", "sum-1", "math"):
        assert word not in text
    # Among the values, such as bytes of memory, the digits of the answer may occur.
    assert not any("108" in told for _, labels in read(text) for _, told in labels)
    known = {"version", "mode", "sandbox", "store", "outcome", "owner", "kind", "le", "state"}
    assert {label for _, labels in read(text) for label, _ in labels} <= known


def _has_one_spare(server: Watched) -> bool:
    return value(numbers(server), "m3bench_sandboxes_spare") == 1


def test_spares_are_counted(tmp_path: Path) -> None:
    for server in watched(tmp_path, "--spares", "1"):
        eventually(partial(_has_one_spare, server), "a sandbox waits")


def test_a_record_that_cannot_be_written_is_seen_and_its_calls_are_counted(fresh: Watched) -> None:
    with player(fresh.url) as one:
        one.start("sum-1")
        shutil.rmtree(fresh.data)
        assert one.call("math__sum", numbers=NUMBERS).is_error
        lost = numbers(fresh)
    assert value(lost, "m3bench_record_writable") == 0
    assert value(lost, "m3bench_calls_unrecorded_total") >= 1
    assert value(lost, "m3bench_calls_under_way") == 0


@pytest.fixture(scope="module")
def tasks(tmp_path_factory: pytest.TempPathFactory, task_set: Path) -> list[str]:
    """Options of servers whose tokens differ."""
    data = tmp_path_factory.mktemp("locked") / "data"
    token = data.parent / "token"
    write_private(token, f"{CLIENTS}\n".encode())
    return ["--tasks", str(task_set), "--data", str(data), "--sandbox", "inprocess", "--token-file", str(token)]


def test_the_token_opens_them_and_nothing_else_does(tasks: list[str], tmp_path: Path) -> None:
    with serving(tasks) as url:
        server = Watched(url=url, data=tmp_path, tasks=tmp_path)
        assert server.get("/metrics").status_code == 401
        assert server.get("/metrics", authorization="Bearer wrong").status_code == 401
        assert value(numbers(server, authorization=f"Bearer {CLIENTS}"), "m3bench_seats") == 0
        assert server.get("/metrics", host="evil.example").status_code == 421


def test_those_of_a_ranked_server_are_for_the_operator_alone(tasks: list[str], tmp_path: Path) -> None:
    clients, operator = {"authorization": f"Bearer {CLIENTS}"}, {"authorization": f"Bearer {OPERATOR}"}
    ranked = [*tasks, "--ranked", "--data", str(tmp_path / "data")]
    with serving(ranked) as url:
        server = Watched(url=url, data=tmp_path, tasks=tmp_path)
        assert server.get("/metrics", **clients).status_code == 403
    with serving(ranked, env={"M3BENCH_OPERATOR_TOKEN": OPERATOR}) as url:
        server = Watched(url=url, data=tmp_path, tasks=tmp_path)
        assert server.get("/metrics", **clients).status_code == 401
        assert value(numbers(server, **operator), "m3bench_seats") == 0


@pytest.mark.postgres
def test_the_queue_of_a_database_is_counted(tmp_path: Path) -> None:
    cell = QueuedCell("study", "cell", "{}", "openai", None)
    with (
        postgres() as database,
        closing(Queue(RecordLocation(tmp_path, url := database.new_database()), print)) as queue,
    ):
        queue.put([cell], [Key("study", "cell", f"task-{number}", 1) for number in range(3)])
        queue.take(cell, "worker", 60.0)
        (found,) = (numbers(server) for server in watched(tmp_path / "served", "--store", url))
    assert value(found, "m3bench_queue_samples", state="waiting") == 2
    assert value(found, "m3bench_queue_samples", state="leased") == 1
    assert value(found, "m3bench_queue_samples", state="done") == 0
