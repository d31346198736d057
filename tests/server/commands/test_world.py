"""`m3bench world`, as a person would type it."""

import json
import os
import subprocess
import sys
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from m3bench.sandboxes.world import tables
from m3bench.server.commands import world_search
from m3bench.server.commands.program import app


def run(*arguments: str) -> Result:
    return CliRunner().invoke(app, ["world", *arguments])


@pytest.mark.slow
def test_the_tables_are_listed_with_counts_and_the_hash() -> None:
    lines = run().stdout.splitlines()
    assert [line.split()[0] for line in lines[:-3]] == list(tables.names())
    assert lines[-2].startswith("sound")
    assert lines[-1] == f"hash {tables.world_hash()}"
    listed: dict[str, Any] = json.loads(run("--json").stdout)
    assert listed["problems"] == []
    assert {table["table"]: table["records"] for table in listed["tables"]} == {
        name: len(tables.load(name)) for name in tables.names()
    }
    assert all(table["source"] and table["licence"] for table in listed["tables"])


@pytest.mark.slow
def test_a_search_finds_across_tables_or_in_one() -> None:
    found = json.loads(run("search", "eifel", "towr", "--json").stdout)
    assert any("Eiffel Tower" in (entry["record"].get("name"), entry["record"].get("title")) for entry in found[:3])
    only = json.loads(run("search", "paris", "--table", "cities", "--limit", "1", "--json").stdout)
    assert [entry["record"]["id"] for entry in only] == ["paris"]
    assert "Eiffel Tower" in run("search", "eiffel tower").stdout


def test_what_is_not_there_is_said() -> None:
    nothing = run("search", "xqzv blorfgan", "--table", "cities")
    assert nothing.exit_code == 1
    assert "Nothing in the world" in nothing.output


def test_an_unknown_table_names_those_there_are() -> None:
    failed = run("search", "paris", "--table", "dragons")
    assert failed.exception is not None
    assert "cities" in str(failed.exception)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["places", "landmarks", "cities"])
def test_every_table_of_places_is_there(name: str) -> None:
    assert name in run().stdout


def test_a_search_imports_no_more_than_a_search_needs() -> None:
    arguments = ["world", "search", "paris", "--table", "cities", "--limit=1", "--json"]
    command = [sys.executable, "-X", "importtime", "-m", "m3bench.server.cli", *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=120)
    loaded = {line.rpartition("|")[2].strip().partition(".")[0] for line in done.stderr.splitlines()}
    heavy = {"typer", "click", "pydantic", "pydantic_core", "rich", "anyio", "mcp", "numpy", "PIL", "asyncio"}
    assert loaded & heavy == set()
    assert [entry["record"]["id"] for entry in json.loads(done.stdout)] == ["paris"]


@pytest.mark.parametrize(
    "typed",
    [[], ["--help"], ["paris", "-h"], ["paris", "--limit", "0"], ["paris", "--limit", "x"], ["paris", "--limit"],
     ["paris", "--table", "dragons"], ["--", "paris"], ["paris", "--unknown"]],
)  # fmt: skip
def test_what_is_unusual_is_left_to_the_full_command(typed: list[str]) -> None:
    assert world_search.at_once(typed) is None


def test_a_search_whose_reader_leaves_ends_without_a_word() -> None:
    command = [sys.executable, "-m", "m3bench.server.cli", "world", "search", "paris", "--table", "cities"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.close()
        assert process.stderr.read() == ""
        assert process.wait(60) == 0


@pytest.mark.cold
def test_a_search_is_shown_where_not_every_letter_can_be() -> None:
    command = [sys.executable, "-m", "m3bench.server.cli", "world", "search", "ran", "--table", "films", "--limit", "1"]
    env = {**os.environ, "PYTHONIOENCODING": "ascii"}
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=120, env=env)
    assert "Ran, original_title ?," in done.stdout
