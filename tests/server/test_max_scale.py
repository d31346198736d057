"""A seat with more than 550 tools, as MCPVerse's largest mode has: all of them listed, those of tables called."""

import json
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from m3bench.server.store.sqlite import SqliteStore
from m3bench.tasks.catalog import load_catalog
from m3bench.tasks.table_tools import whole_catalog
from tests.server.pipes import Pipe, text
from tests.sets import write_set

OWN = 4
"""Tools that a run is led with."""


def options(folder: Path, *more: str) -> list[str]:
    return ["--tasks", str(write_set(folder / "set")), "--data", str(folder / "data"), *more]


@pytest.mark.sample(1)
@pytest.mark.parametrize("sandbox", ["process", "inprocess"])
def test_a_seat_lists_more_than_550_tools_and_calls_one_of_a_table(tmp_path: Path, sandbox: str) -> None:
    pipe = Pipe(options(tmp_path, "--profile", "max-scale", "--sandbox", sandbox))
    pipe.open()
    try:
        pipe.send(1, "tools/list", {})
        listed = [tool["name"] for tool in pipe.read()["result"]["tools"]]
        pipe.ask(2, "start_task", {"task_id": "sum-1"})
        found = pipe.ask(3, "table-peaks__get", {"key": "everest"})
        near = pipe.ask(4, "table-airports__nearest", {"lat": 50.03, "lng": 8.57, "limit": 1})
        nowhere = pipe.ask(5, "table-peaks__get", {"key": "nowhere"})
        wrong = pipe.ask(6, "table-peaks__sort", {"field": "colour"})
        missing = pipe.ask(7, "table-peaks__between", {"field": "metres", "low": 1})
        pipe.ask(8, "math__sum", {"numbers": [4, 8, 15, 16, 23, 42]})
        pipe.ask(9, "submit", {"answer": "108"})
        card = pipe.ask(10, "score", {})["result"]["_meta"]["m3bench/card"]
    finally:
        pipe.close()
    assert len(listed) == len(set(listed)) == len(whole_catalog().tools) + OWN
    assert len(whole_catalog().tools) >= 550
    assert json.loads(text(found))["metres"] == 8849
    assert json.loads(text(near))["records"][0]["id"] == "FRA"
    assert [answer["result"]["isError"] for answer in (nowhere, wrong, missing)] == [True] * 3
    assert "find shows which there are" in text(nowhere)
    assert "colour" in text(wrong)
    assert "metres" in text(wrong), "the fields that there are"
    assert "high" in text(missing)
    assert card["outcomes"] == {"success": 3, "not_found": 1, "invalid_arguments": 2}
    assert card["metrics"]["recall"] == 1.0
    assert card["success"] is True
    with closing(SqliteStore(tmp_path / "data")) as store:
        (run,) = store.runs()
        calls = store.calls(run.id)
    recorded = [(call.tool, call.outcome) for call in calls]
    assert ("table-peaks/get", "success") in recorded
    assert ("table-peaks/get", "not_found") in recorded
    assert run.manifest["catalog"] == whole_catalog().hash
    assert (run.manifest["tools"], run.manifest["sandbox"]) == (len(listed) - OWN, sandbox)


def test_on_any_other_seat_the_catalog_is_as_it_was_and_there_are_no_tables(tmp_path: Path) -> None:
    pipe = Pipe(options(tmp_path))
    pipe.open()
    try:
        pipe.send(1, "tools/list", {})
        listed = [tool["name"] for tool in pipe.read()["result"]["tools"]]
        pipe.ask(2, "start_task", {"task_id": "sum-1"})
        refused = pipe.ask(3, "table-peaks__get", {"key": "everest"})
    finally:
        pipe.close()
    assert len(listed) == 232 + OWN
    assert not any(name.startswith("table-") for name in listed)
    assert "table-peaks" in json.dumps(refused)
    assert "metres" not in json.dumps(refused)
    with closing(SqliteStore(tmp_path / "data")) as store:
        (run,) = store.runs()
    assert run.manifest["catalog"] == load_catalog().ready.hash


def test_a_headless_run_plays_with_all_tools(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "m3bench.server.cli", "run", "--agent", "oracle", "--profile", "max-scale"]
    out = tmp_path / "out"
    subprocess.run(
        [*command, "--tasks", str(write_set(tmp_path / "set")), "--task", "sum-1", "-o", str(out)],
        check=True, capture_output=True, timeout=300,
    )  # fmt: skip
    samples = [json.loads(line) for path in out.rglob("samples.jsonl") for line in path.read_text("utf-8").splitlines()]
    assert [(sample["task"], sample["state"]) for sample in samples] == [("sum-1", "scored")]
    headers = [json.loads(path.read_text("utf-8")) for path in out.rglob("set.json")]
    assert [header["profile"] for header in headers] == ["max-scale"]
