"""`m3bench store`, `runs` and `doctor` on a sound, an old and a damaged record, as a person would type them."""

import json
import sqlite3
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from m3bench.server.commands.program import app
from m3bench.server.store.layout import database
from tests.server.store.test_versions import first_release


def m3bench(*arguments: str | Path) -> Result:
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


@pytest.fixture
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A record of three runs that the first release made, with files of large values gone."""
    monkeypatch.setenv("DOCKER_HOST", "tcp://127.0.0.1:1")
    first_release(tmp_path / "data")
    return tmp_path / "data"


def damage(data: Path) -> str:
    """Change the score card of a run and the outcome of a call of another; returns the two, with a space between."""
    connection = sqlite3.connect(database(data))
    (first,), (second,) = connection.execute("SELECT id FROM runs ORDER BY id LIMIT 2").fetchall()
    connection.execute("UPDATE runs SET scorecard = '{' WHERE id = ?", (first,))
    call = "(SELECT max(id) FROM calls WHERE run = ?)"
    connection.execute(f"UPDATE answers SET outcome = 'failed' WHERE call = {call}", (second,))
    connection.commit()
    connection.close()
    return f"{first} {second}"


def checked_json(data: Path) -> Any:
    return json.loads(m3bench("store", "check", "--data", data, "--json").stdout)


def doctor(data: Path) -> str:
    findings = json.loads(m3bench("doctor", "--data", data, "--json").stdout)
    return next(f"{one['state']}: {one['says']}" for one in findings if one["subject"] == "record")


def test_the_doctor_tells_version_and_damage(data: Path, tmp_path: Path) -> None:
    assert doctor(tmp_path / "none") == "ok: There is none yet."
    assert doctor(data) == "note: Version 1, 3 runs. The next start migrates it to version 4 and keeps a copy."
    assert m3bench("runs", "list", "--data", data).exit_code == 0
    assert doctor(data) == "ok: Version 4, 3 runs, nothing damaged."
    first = damage(data).split()[0]
    assert doctor(data).startswith(f"wrong: 2 parts of the record in {data} damaged (affected runs: {first[:12]}")
    database(data).write_bytes(b"nothing of use " * 500)
    assert doctor(data).startswith("wrong: 1 part of the record")


def test_one_bad_record_costs_itself_only(data: Path) -> None:
    m3bench("runs", "list", "--data", data)
    first, second = damage(data).split()
    listed = m3bench("runs", "list", "--data", data, "--json")
    assert listed.exit_code == 0
    assert first not in {run["run"] for run in json.loads(listed.stdout)["runs"]}
    assert len(json.loads(listed.stdout)["runs"]) == 2
    assert f"damaged and left out: run {first}" in listed.stderr
    shown = m3bench("runs", "show", second, "--data", data)
    assert shown.exit_code == 0
    assert f"damaged and left out: run {second}, call " in shown.stderr


def test_a_damaged_record_is_checked_and_repaired(data: Path) -> None:
    m3bench("runs", "list", "--data", data)
    first, second = damage(data).split()
    checked = m3bench("store", "check", "--data", data)
    assert checked.exit_code == 1
    assert f"run {first}: it is not what was written" in checked.stdout
    assert f"run {second}, call " in checked.stdout
    assert {first, second} <= set(checked_json(data)["runs_concerned"])
    repaired = json.loads(m3bench("store", "repair", "--data", data, "--json").stdout)
    assert {first, second} <= set(repaired["left_out"])
    assert Path(repaired["old"]).exists()
    again = m3bench("store", "repair", "--data", data)
    assert again.stdout.startswith("Nothing in the database is damaged: 1 run in")
    # The runs' workspaces did not come along: that is told, and nothing that a repair could mend.
    assert [one["says"] for one in checked_json(data)["damage"]] == ["the folder with the files it left is missing"]


def test_a_copy_is_a_data_folder(data: Path, tmp_path: Path) -> None:
    m3bench("runs", "list", "--data", data)
    copied = m3bench("store", "backup", "--data", data, "-o", tmp_path / "copy")
    assert copied.exit_code == 0
    assert len(json.loads(m3bench("runs", "list", "--data", tmp_path / "copy", "--json").stdout)["runs"]) == 3
    assert m3bench("store", "backup", "--data", tmp_path / "none").exit_code != 0
    assert "Copied to" in m3bench("store", "backup", "--data", data).stdout
