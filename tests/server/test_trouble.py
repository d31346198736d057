"""What goes wrong between a client and a server is answered clearly, recorded, and survived."""

import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from m3bench.server.store.records import CallRecord
from m3bench.server.store.sqlite import SqliteStore
from tests.server.hosts import Hosts
from tests.server.pipes import Pipe, text
from tests.waiting import eventually

SUM = {"numbers": [4, 8, 15]}


@pytest.fixture
def pipe(arguments: list[str]) -> Iterator[Pipe]:
    """A client of a server with a task under way."""
    opened = Pipe(arguments)
    try:
        opened.open()
        opened.ask(1, "start_task", {"task_id": "sum-1"})
        yield opened
    finally:
        opened.stdin.close()
        opened.process.kill()
        opened.close()


def test_nothing_waits_for_a_sandbox_that_starts(pipe: Pipe) -> None:
    pipe.call(2, "math__sum", SUM)
    pipe.send(3, "ping", {})
    pipe.send(4, "logging/setLevel", {"level": "info"})
    pipe.send(5, "tools/list", {})
    assert [pipe.read()["id"] for _ in range(4)] == [3, 4, 5, 2]


@contextmanager
def stored(data: Path) -> Iterator[SqliteStore]:
    store = SqliteStore(data)
    try:
        yield store
    finally:
        store.close()


def calls(data: Path) -> list[CallRecord]:
    with stored(data) as store:
        return [call for run in store.runs() for call in store.calls(run.id)]


@pytest.mark.sample(1)
@pytest.mark.parametrize(
    "revision",
    ["2024-11-05", *(pytest.param(one, marks=pytest.mark.slow) for one in ("2025-03-26", "2025-06-18")), "2025-11-25"],
)
def test_the_clients_revision_is_spoken(arguments: list[str], revision: str) -> None:
    pipe = Pipe(arguments)
    assert pipe.open(revision)["result"]["protocolVersion"] == revision
    assert text(pipe.ask(1, "list_tasks", {})).startswith("2 tasks.")
    pipe.close()
    assert pipe.process.returncode == 0


@pytest.mark.slow
def test_an_unknown_revision_is_offered_the_newest_with_a_handshake(arguments: list[str]) -> None:
    pipe = Pipe(arguments)
    assert pipe.open("1999-01-01")["result"]["protocolVersion"] == "2025-11-25"
    pipe.close()


def test_lines_that_are_not_json_are_survived(pipe: Pipe) -> None:
    for line in (b"hello", b"{", b'{"jsonrpc":"2.0"', b"[]", b"null", b"\xff\xfe", b"{}" * 3, b"[" * 100_000):
        pipe.stdin.write(line + b"\n")
    pipe.call(2, "math__sum", SUM)
    answers: list[dict[str, Any]] = []
    while not answers or answers[-1].get("id") != 2:
        answers.append(pipe.read())
    assert text(answers[-1]) == "27"


def test_malformed_calls_are_protocol_errors_and_on_record(pipe: Pipe, data: Path) -> None:
    bad: list[dict[str, Any]] = [
        {},
        {"name": 7},
        {"name": "math__sum", "arguments": [1]},
        {"name": "math__sum", "arguments": "x"},
    ]
    for number, params in enumerate(bad, 10):
        pipe.send(number, "tools/call", params)
        assert pipe.read()["error"]["code"] == -32602
    assert text(pipe.ask(20, "math__sum", SUM)) == "27"
    assert [call.outcome for call in calls(data)] == ["illegal_format"] * len(bad) + ["success"]


def test_a_huge_argument_is_refused_and_on_record(pipe: Pipe, data: Path) -> None:
    answer = pipe.ask(2, "math__sum", {"numbers": SUM["numbers"], "padding": "x" * 50_000_000})
    assert answer["result"]["isError"]
    assert "50000" in text(answer)
    assert text(pipe.ask(3, "math__sum", SUM)) == "27"
    assert [call.outcome for call in calls(data)] == ["invalid_arguments", "success"]
    assert len(calls(data)[0].request) > 50_000_000


def test_a_sandbox_that_dies_costs_a_call_that_is_not_the_agents_fault(pipe: Pipe, data: Path, hosts: Hosts) -> None:
    assert text(pipe.ask(2, "math__sum", SUM)) == "27"
    assert hosts.alive()
    hosts.kill()
    eventually(lambda: not hosts.alive(), "the host is dead")
    answer = pipe.ask(3, "math__sum", SUM)
    if answer["result"]["isError"]:
        assert "sandbox failed, not your call" in text(answer)
    assert text(pipe.ask(4, "math__sum", SUM)) == "27"
    assert all(call.owner == "sandbox" for call in calls(data) if call.outcome == "failed")


@pytest.mark.slow
def test_a_cancelled_call_is_recorded_as_cut_off_by_the_client(pipe: Pipe, data: Path, hosts: Hosts) -> None:
    pipe.ask(2, "math__sum", SUM)
    hosts.pause()
    pipe.call(3, "math__sum", SUM)
    eventually(lambda: len(calls(data)) == 2, "the call arrived")
    pipe.send(None, "notifications/cancelled", {"requestId": 3})
    eventually(lambda: calls(data)[1].outcome is not None, "the call is settled")
    cut = calls(data)[1]
    assert (cut.outcome, cut.owner) == ("failed", "client")
    hosts.resume()
    assert text(pipe.ask(4, "math__sum", SUM)) == "27"


def test_a_client_that_vanishes_in_the_middle_of_a_call_leaves_a_clean_record(
    pipe: Pipe, data: Path, hosts: Hosts
) -> None:
    pipe.ask(2, "math__sum", SUM)
    hosts.pause()
    pipe.call(3, "math__sum", SUM)
    eventually(lambda: len(calls(data)) == 2, "the call arrived")
    pipe.close()
    assert pipe.process.returncode == 0
    assert calls(data)[1].owner == "client"
    eventually(lambda: not hosts.alive(), "no host is left")


@pytest.mark.slow
def test_arguments_that_clients_inject_are_kept_on_record_and_not_forwarded(pipe: Pipe, data: Path) -> None:
    assert text(pipe.ask(2, "math__sum", {**SUM, "wait_for_previous": True})) == "27"
    assert calls(data)[0].arguments["wait_for_previous"] is True


def test_a_run_ends_at_its_limits_with_a_clear_message(arguments: list[str]) -> None:
    pipe = Pipe([*arguments, "--max-calls", "1"])
    pipe.open()
    pipe.ask(1, "start_task", {"task_id": "sum-1"})
    assert text(pipe.ask(2, "math__sum", SUM)) == "27"
    assert text(pipe.ask(3, "math__sum", SUM)) == "This run has made its 1 calls: submit what you have."
    assert "Submitted" in text(pipe.ask(4, "submit", {"answer": "27"}))
    pipe.close()


def test_a_ranked_run_tells_the_client_nothing(arguments: list[str], data: Path) -> None:
    pipe = Pipe([*arguments, "--ranked"])
    pipe.open()
    pipe.ask(1, "start_task", {"task_id": "sum-1"})
    pipe.ask(2, "submit", {"answer": "108"})
    answer = pipe.ask(3, "score", {})
    assert text(answer) == "Scored. This is a ranked run: the score card goes only to the operator."
    assert "structuredContent" not in answer["result"]
    pipe.close()
    with stored(data) as store:
        card = store.runs()[0].scorecard
    assert card is not None
    assert card["success"] is True


@pytest.mark.slow
def test_calls_sent_together_with_the_answer_belong_to_the_run(pipe: Pipe, data: Path) -> None:
    pipe.call(2, "math__sum", SUM)
    pipe.call(3, "submit", {"answer": "27"})
    assert {pipe.read()["id"], pipe.read()["id"]} == {2, 3}
    assert [call.outcome for call in calls(data) if call.tool == "math/sum"] == ["success"]


@pytest.mark.slow
def test_content_only_drops_structured_content(arguments: list[str]) -> None:
    pipe = Pipe([*arguments, "--content-only"])
    pipe.open()
    assert set(pipe.ask(1, "list_tasks", {})["result"]) == {"content", "isError"}
    pipe.close()


def test_a_result_too_large_for_clients_is_cut_and_kept_whole_in_the_workspace(data: Path) -> None:
    from m3bench.proxy.protocol.sizes import fitted
    from m3bench.proxy.protocol.tool_calls import MAX_RESULT_BYTES

    text = 'é\n"' * 700_000
    whole = json.dumps({"content": [{"type": "text", "text": text}, {"type": "image", "data": "A" * 900_000}]}).encode()
    short = fitted(whole, "the whole of it is in ./results/1.json")
    assert len(short) <= MAX_RESULT_BYTES
    blocks = json.loads(short)["content"]
    assert text.startswith(blocks[0]["text"])
    assert "./results/1.json" in blocks[-1]["text"]


@pytest.mark.slow
def test_a_spare_sandbox_answers_the_first_call_and_leaves_nothing(
    arguments: list[str], data: Path, hosts: Hosts
) -> None:
    pipe = Pipe([*arguments, "--spares", "1"])
    pipe.open()
    eventually(lambda: bool(hosts.alive()), "a spare is up")
    pipe.ask(1, "start_task", {"task_id": "sum-1"})
    assert text(pipe.ask(2, "math__sum", SUM)) == "27"
    pipe.ask(3, "submit", {"answer": "27"})
    pipe.close()
    eventually(lambda: not hosts.alive(), "no host is left")
    assert list((data / "workspaces").iterdir()) == []
    (kept,) = (data / "runs").iterdir()
    assert (kept / "workspace" / "media" / "note.png").exists()


def test_a_framework_that_starts_a_server_for_every_call_goes_on_by_a_handle(arguments: list[str]) -> None:
    def once(name: str, options: list[str], **given: object) -> str:
        pipe = Pipe([*arguments, *options])
        pipe.open()
        try:
            return text(pipe.ask(1, name, given))
        finally:
            pipe.close()

    lost = once("math__sum", [], **SUM)
    found = re.search(r"m3bench serve --seat ([0-9a-f]{32})", lost)
    assert found is not None, lost
    seat = ["--seat", found[1]]
    assert "# Task sum-1" in once("start_task", seat, task_id="sum-1")
    assert once("math__sum", seat, **SUM) == "27"
    assert "sealed" in once("submit", seat, answer="27")
    assert "**average" in once("score", seat)
