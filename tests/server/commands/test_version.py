"""`m3bench --version` says what results depend on, in the same words as a run's manifest."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from m3bench.server.app import App
from m3bench.server.commands.program import app
from m3bench.server.settings import Settings


def test_the_hashes_are_those_of_a_runs_manifest(tmp_path: Path) -> None:
    benchmark = App(Settings(data=tmp_path))
    manifest = benchmark.manifest(benchmark.open_seat())
    done = CliRunner().invoke(app, ["--version", "--json"])
    assert done.exit_code == 0
    said = json.loads(done.stdout)
    assert {"m3bench", "tasks", "catalog", "world", "encoder", "steps", "scores"} == set(said)
    assert said == {name: manifest[name] for name in said}


def test_a_person_reads_one_line_for_each() -> None:
    said = json.loads(CliRunner().invoke(app, ["--json", "--version"]).stdout)
    lines = CliRunner().invoke(app, ["--version"]).stdout.splitlines()
    assert lines[0] == f"m3bench {said['m3bench']}"
    assert lines[1].endswith(said["tasks"]["hash"])
    assert [line.split()[0] for line in lines[1:]] == ["tasks", "catalog", "world", "encoder", "steps", "scores"]


@pytest.mark.parametrize("arguments", [["--json"], ["--json", "servers"]])
def test_json_alone_is_told_where_it_belongs(arguments: list[str]) -> None:
    done = CliRunner().invoke(app, arguments)
    assert done.exit_code == 2
    assert "--json goes with --version" in done.stderr
