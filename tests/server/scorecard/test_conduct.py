"""What a card says of faults that were met and of what nobody asked for."""

import json
from pathlib import Path
from typing import Any

import pytest

from m3bench.proxy.weather import fault
from m3bench.server.scorecard.building import score_run
from m3bench.server.scorecard.conduct import recovery_of
from m3bench.server.scorecard.markdown import conduct_lines, markdown
from m3bench.server.scorecard.migration import read_card
from m3bench.server.scorecard.model import ScoreCard
from m3bench.server.store.records import CallRecord, RunRecord
from m3bench.tasks.library import Library

MS = 1_000_000
TASK = "med_excel-1"


def record(id: int, at: int, tool: str, arguments: dict[str, Any], **answer: Any) -> CallRecord:
    """A call that was received `at` milliseconds after the start and took one."""
    given = {"outcome": "success", "owner": "agent", "result": b'{"content":[]}', **answer}
    params = {"name": tool.replace("/", "__"), "arguments": arguments}
    return CallRecord(
        id=id, run="run", seat="seat", tool=tool, request_id=str(id), revision="", client="", wall="",
        request=json.dumps({"params": params}).encode(), received_ns=at * MS, full=None, error=None,
        forwarded_ns=at * MS, returned_ns=(at + 1) * MS, sent_ns=(at + 1) * MS, **given,
    )  # fmt: skip


def taken(id: int, at: int, number: int, kind: Any, wait: float | None = None) -> CallRecord:
    """A call of a number that the weather took."""
    result = fault(kind, "…", retry_after=wait).result
    return record(id, at, "math/add", {"firstNumber": number}, outcome="failed", owner="weather", result=result)


def card_of(*calls: CallRecord, workspace: Path) -> ScoreCard:
    library = Library()
    run = RunRecord(
        id="run", seat="seat", task=TASK, state="submitted", mode="practice", started="2026-01-01", ended=None,
        answer="x", seal=None, manifest={}, scorecard=None,
    )  # fmt: skip
    task = library.task(TASK)
    return score_run(run, task, calls, workspace, None, None, library.plans(task), library.scenes(task))


def test_recovery_counts_calls_that_got_through_and_what_that_took() -> None:
    again = [record(5, 5000, "math/add", {"firstNumber": 1}), record(6, 3100, "math/add", {"firstNumber": 2})]
    found = recovery_of(
        [
            taken(1, 0, 1, "error"),
            taken(2, 10, 1, "error"),
            taken(3, 3000, 2, "limit", 2),
            taken(4, 20, 3, "away"),
            *again,
        ]
    )
    assert found is not None
    assert found.to_json() == {
        "faults": {"away": 1, "error": 2, "limit": 1}, "met": 3, "survived": 2, "calls": 4, "hurried": 1,
    }  # fmt: skip
    assert recovery_of(again) is None


def test_who_uses_the_old_name_again_has_not_recovered() -> None:
    old = record(2, 10, "math/add", {"firstNumber": 1}, outcome="unknown_tool")
    found = recovery_of([taken(1, 0, 1, "replaced"), old])
    assert found is not None
    assert (found.met, found.survived) == (1, 0)


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    """What the task begins with."""
    (tmp_path / "media").mkdir()
    (tmp_path / f"media/{TASK}.png").write_bytes(b"")
    return tmp_path


def test_a_run_that_did_what_it_should_has_the_card_that_it_always_had(workspace: Path) -> None:
    card = card_of(record(1, 0, "math/add", {"firstNumber": 1, "secondNumber": 2}), workspace=workspace)
    assert card.conduct is None
    assert "conduct" not in card.to_json()
    assert conduct_lines(card) == []


def test_files_that_nobody_asked_for_are_counted_and_named(workspace: Path) -> None:
    picture = f"./media/{TASK}.png"
    (workspace / "spare.png").write_bytes(b"")
    (workspace / "results").mkdir()
    (workspace / "results/1.json").write_bytes(b"{}")
    spare = {"input_path": picture, "x1": 0, "y1": 0, "x2": 5, "y2": 5, "output_path": "./spare.png"}
    calls = [
        record(1, 0, "imagesorcery-mcp/crop", spare),
        record(2, 2000, "imagesorcery-mcp/crop", {**spare, "output_path": picture}),
        taken(3, 4000, 1, "error"),
    ]
    card = card_of(*calls, workspace=workspace)
    assert card.conduct is not None
    told = [(effect.what, effect.path, effect.tool) for effect in card.conduct.effects]
    assert told == [
        ("written", "spare.png", "imagesorcery-mcp/crop"),
        ("overwritten", f"media/{TASK}.png", "imagesorcery-mcp/crop"),
    ]
    assert card.conduct.unwanted == 2
    assert read_card(json.loads(json.dumps(card.to_json()))).conduct == card.conduct
    said = markdown(card)
    assert "**Unwanted effects:** 2 (spare.png written by imagesorcery-mcp/crop" in said
    assert "**Recovery:** 0 of 1 calls that the weather took got through" in said
    assert "Not counted" not in said


def test_a_picture_that_is_gone_was_deleted(workspace: Path) -> None:
    (workspace / f"media/{TASK}.png").rename(workspace / "moved.png")
    card = card_of(workspace=workspace)
    assert card.conduct is not None
    assert [(effect.what, effect.path) for effect in card.conduct.effects] == [
        ("written", "moved.png"), ("deleted", f"media/{TASK}.png"),
    ]  # fmt: skip
