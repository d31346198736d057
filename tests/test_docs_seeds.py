"""The table of features of other papers: whatever it says is here names a command and a test that exist."""

import re
from pathlib import Path
from typing import Any

import pytest
import typer

from m3bench.server.commands.program import app

ROOT = Path(__file__).parents[1]
SEEDS = ("M³-Bench", "MCP-Bench", "MCPVerse", "TOBench")

ROWS = [
    [cell.strip() for cell in line.strip("|").split("|")]
    for line in (ROOT / "docs" / "comparison.md").read_text("utf-8").splitlines()
    if line.startswith(tuple(f"| {seed} | " for seed in SEEDS))
]


def test_every_seed_has_rows_and_no_feature_stands_twice() -> None:
    assert {seed for seed, *_ in ROWS} == set(SEEDS)
    assert len({(seed, feature) for seed, feature, *_ in ROWS}) == len(ROWS)


@pytest.mark.sample(10)
@pytest.mark.parametrize("row", ROWS, ids=lambda row: f"{row[0]}: {row[1]}")
def test_a_feature_that_is_here_names_a_command_and_a_test_that_exist(row: list[str]) -> None:
    _, _, command, test = row
    found, words = _command(command.strip("`"))
    assert found.name != "m3bench", f"there is no command {command}"
    known = {option for parameter in found.params for option in parameter.opts}
    assert {word for word in words if word.startswith("--")} <= known, command
    assert not words or words[0].startswith("--"), f"there is no command {command}"
    path, _, name = test.strip("`").partition("::")
    assert (ROOT / path).is_file(), path
    assert not name or re.search(rf"^(?:async )?def {name}\(", (ROOT / path).read_text("utf-8"), re.MULTILINE), name


def _command(line: str) -> tuple[Any, list[str]]:
    """The command that a line names, and the words after it."""
    found: Any = typer.main.get_command(app)
    words = line.split()[1:]
    while words and words[0] in getattr(found, "commands", {}):
        found = found.commands[words.pop(0)]
    return found, words
