"""`--store` and `M3BENCH_STORE`: the commands work on a PostgreSQL database, or say what to use instead."""

import json
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import anyio
import pytest
from typer.testing import CliRunner

from m3bench.server.commands.program import app
from m3bench.server.settings import Settings
from m3bench.server.store.factory import open_store
from m3bench.server.store.location import RecordLocation, without_password
from m3bench.tasks.errors import UserError
from tests.postgres import serving
from tests.server.store.clients import SEAT, Client, run_record

RUN = "a" * 40


def run(*arguments: str) -> tuple[int, str]:
    done = CliRunner().invoke(app, list(arguments))
    return done.exit_code, done.output + (str(done.exception) if done.exception else "")


@pytest.fixture(scope="module")
def database() -> Iterator[str]:
    """A database with a run of two calls."""
    with serving() as server:
        url = server.new_database()
        store = open_store(RecordLocation(Path("unused"), url))
        store.add_seat(SEAT, "full", "2026-01-01")
        store.add_run(run_record(RUN, manifest={"profile": "full", "tasks": {"name": "sums", "hash": "x"}}))
        anyio.run(Client(store, RUN).call_together, range(2))
        store.change_run(RUN, state="submitted", answer="4", ended="2026-01-02")
        store.close()
        yield url


@pytest.mark.postgres
def test_runs_are_listed_shown_and_exported_from_a_database(database: str, tmp_path: Path) -> None:
    code, said = run("runs", "list", "--store", database, "--json")
    assert code == 0, said
    assert [(one["run"], one["state"]) for one in json.loads(said)["runs"]] == [(RUN, "submitted")]
    code, said = run("runs", "show", "latest", "--store", database, "--json")
    assert code == 0, said
    assert [call["outcome"] for call in json.loads(said)["calls"]] == ["success", "success"]
    assert (
        run("runs", "export", RUN, "--format", "jsonl", "--store", database, "-o", str(tmp_path / "calls.jsonl"))[0]
        == 0
    )
    assert len((tmp_path / "calls.jsonl").read_text().splitlines()) == 2


@pytest.mark.postgres
def test_the_environment_names_the_database_unless_an_option_names_a_folder(
    database: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("M3BENCH_STORE", database)
    assert RUN[:12] in run("runs", "list")[1]
    assert RUN[:12] not in run("runs", "list", "--data", str(tmp_path))[1]
    assert RUN[:12] not in run("runs", "list", "--store", str(tmp_path))[1]


@pytest.mark.postgres
def test_a_database_is_looked_over_and_what_it_has_its_own_programs_for_is_named(database: str, tmp_path: Path) -> None:
    code, said = run("store", "check", "--store", database, "--data", str(tmp_path), "--json")
    found = json.loads(said)
    assert (found["runs"], found["calls"], found["damage"]) == (1, 2, [])
    assert code == 0
    for command, instead in (("backup", "pg_dump --schema m3bench"), ("repair", "restore it from a backup")):
        code, said = run("store", command, "--store", database)
        assert code != 0
        assert instead in said


@pytest.mark.postgres
def test_watching_a_database_shows_what_any_server_writes(database: str) -> None:
    command = [sys.executable, "-m", "m3bench.server.cli", "runs", "watch", "--store", database]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        try:
            assert process.stderr is not None
            assert process.stdout is not None
            assert "watching postgresql:" in process.stderr.readline()
            store = open_store(RecordLocation(Path("unused"), database))
            store.add_seat("other", "full", "2026-01-01")
            store.add_run(run_record("b" * 40, seat="other", task="told-1"))
            assert re.search("told-1", process.stdout.readline())
            store.delete_run("b" * 40)
            store.close()
        finally:
            process.kill()


def test_a_place_that_cannot_be_is_refused_in_one_sentence() -> None:
    with pytest.raises(UserError, match="name a folder, or postgresql://"):
        Settings.of(store="mysql://host/name")
    with pytest.raises(UserError, match="leave one of them out"):
        Settings.of(store="here", data=Path("there"))
    assert Settings.of(store="here").data == Path("here")


def test_a_place_is_shown_without_its_password() -> None:
    assert without_password("postgresql://a:s3c@host:5432/db") == "postgresql://a@host:5432/db"
    assert (
        without_password("postgresql:///db?user=a&password=s3c&host=h") == "postgresql:///db?user=a&password=…&host=h"
    )
    assert str(RecordLocation(Path("folder"))) == "folder"
