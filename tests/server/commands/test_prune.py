"""Old runs go, with everything of them, and nothing else does."""

import json
import os
import pty
import subprocess
import sys
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import anyio
import pytest
from typer.testing import CliRunner

from m3bench.proxy.protocol.tool_calls import ToolAnswer
from m3bench.server.commands.program import app
from m3bench.server.store.blobs import BLOB_BYTES, YOUNG_SECONDS
from m3bench.server.store.contract import Store
from m3bench.server.store.factory import open_store
from m3bench.server.store.layout import judgement, run_workspace
from m3bench.server.store.location import RecordLocation
from m3bench.server.store.retention import age
from m3bench.tasks.errors import UserError
from tests.postgres import serving
from tests.server.store.clients import SEAT, request, run_record

RUNS = {"old-scored": 40, "old-abandoned": 50, "new-scored": 3}
"""Days since they ended."""
LARGE = BLOB_BYTES + 1


def fill(store: Store) -> None:
    """Runs of several ages, each with a large result, a file and what a judge said."""
    store.add_seat(SEAT, "full", "2026-01-01")
    for name, days in RUNS.items():
        state, ended = name.partition("-")[2], (datetime.now(UTC) - timedelta(days=days)).isoformat()
        store.add_run(run_record(name, state, started=ended, ended=ended))
        number = anyio.run(store.received, request(), name, "math/sum")
        anyio.run(store.answered, number, ToolAnswer(outcome="success", result=name.encode().ljust(LARGE)))
        workspace = run_workspace(store.folder, name)
        workspace.mkdir(parents=True)
        (workspace / "a.txt").write_bytes(b"x" * 1000)
        judgement(store.folder, name).parent.mkdir(exist_ok=True)
        judgement(store.folder, name).write_text("{}")


@pytest.fixture
def data(tmp_path: Path) -> Path:
    store = open_store(RecordLocation(tmp_path / "data"))
    fill(store)
    store.close()
    return tmp_path / "data"


def prune(*arguments: str | Path) -> Any:
    done = CliRunner().invoke(app, ["runs", "prune", "--json", *map(str, arguments)])
    assert done.exit_code == 0, done.output
    return json.loads(done.stdout)


def kept(data: Path) -> set[str]:
    store = open_store(RecordLocation(data))
    try:
        return {run.id for run in store.runs()}
    finally:
        store.close()


def test_old_runs_go_with_all_that_belongs_to_them(data: Path) -> None:
    dry = prune("--older-than", "30d", "--data", data, "--dry-run")
    assert (sorted(dry["deleted"]), dry["bytes"], dry["dry_run"]) == (["old-abandoned", "old-scored"], 2000, True)
    assert kept(data) == RUNS.keys()
    done = prune("--older-than", "30d", "--data", data)
    assert sorted(done["deleted"]) == sorted(dry["deleted"])
    left = kept(data)
    assert left == {"new-scored"}
    assert {path.name for path in (data / "runs").iterdir()} == left
    assert {path.stem for path in (data / "judges").iterdir()} == left
    assert len(list((data / "blobs").iterdir())) == 1
    assert prune("--older-than", "30d", "--state", "scored", "--data", data)["deleted"] == []


def test_what_was_handed_in_can_be_kept_and_states_chosen(data: Path) -> None:
    assert prune("--older-than", "4w", "--keep-submitted", "--data", data)["states"] == {"abandoned": 1}
    assert prune("--older-than", "24h", "--state", "scored", "--data", data)["states"] == {"scored": 2}
    assert kept(data) == set()


def test_what_a_living_server_works_on_stays(data: Path) -> None:
    server = open_store(RecordLocation(data), owner="server")
    try:
        server.add_seat("another", "full", "2026-01-01")
        server.add_run(run_record("under-way", seat="another"))
        fresh, old = data / "blobs" / ("0" * 64), data / "blobs" / ("1" * 64)
        fresh.write_bytes(b"its row is yet to come")
        old.write_bytes(b"nobody refers to it")
        long_ago = time.time() - YOUNG_SECONDS - 60
        os.utime(old, (long_ago, long_ago))
        prune("--older-than", "30d", "--data", data)
        assert (fresh.exists(), old.exists()) == (True, False)
        assert kept(data) == {"under-way", "new-scored"}
    finally:
        server.close()


@pytest.mark.postgres
def test_old_runs_go_from_a_database_too(tmp_path: Path) -> None:
    with serving() as server:
        url = server.new_database()
        store = open_store(RecordLocation(tmp_path, url))
        fill(store)
        store.close()
        done = prune("--older-than", "30d", "--store", url, "--data", tmp_path)
        assert sorted(done["deleted"]) == ["old-abandoned", "old-scored"]
        assert {path.name for path in (tmp_path / "runs").iterdir()} == {"new-scored"}


def test_on_a_terminal_it_must_be_meant(data: Path) -> None:
    ours, theirs = pty.openpty()
    command = [sys.executable, "-m", "m3bench.server.cli", "runs", "prune", "--older-than", "30d", "--data", str(data)]
    try:
        refused = subprocess.run(command, stdin=theirs, capture_output=True, text=True, timeout=60, check=False)
        assert (refused.returncode, "--yes" in refused.stderr, len(kept(data))) == (2, True, 3)
        done = subprocess.run([*command, "--yes"], stdin=theirs, capture_output=True, text=True, timeout=60, check=True)
        assert done.stdout.startswith("Deleted 2 of 3 runs (1 abandoned, 1 scored) that ended before ")
    finally:
        os.close(ours)
        os.close(theirs)


@pytest.mark.parametrize("text", ["", "30", "d", "-3d", "1.5d", "30 days"])
def test_an_age_that_is_none_is_refused(text: str) -> None:
    with pytest.raises(UserError, match="is not an age"):
        age(text)
