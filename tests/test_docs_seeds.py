"""The features of other papers: one of three words each, with a reason, and a command and a test that exist."""

import re
from pathlib import Path
from runpy import run_path
from typing import Any

import pytest
import typer

from m3bench.server.commands.program import app

ROOT = Path(__file__).parents[1]
SEEDS = ("M³-Bench", "MCP-Bench", "MCPVerse", "TOBench")
REFERENCE = run_path(str(ROOT / "docs" / "reference.py"))

ROWS = [
    (paper, section, row)
    for paper, sections in REFERENCE["seeds"]().items()
    for section, rows in sections.items()
    for row in rows
]
LEAST = 110
"""Rows."""
SHORTEST = 20
"""Letters of a reason."""


def test_every_paper_is_told_in_full_and_no_feature_stands_twice() -> None:
    assert tuple(dict.fromkeys(paper for paper, _, _ in ROWS)) == SEEDS
    assert len(ROWS) >= LEAST
    assert len({(paper, row[0]) for paper, _, row in ROWS}) == len(ROWS)


def test_the_page_is_made_of_the_rows() -> None:
    page = (ROOT / "docs" / "seeds.md").read_text("utf-8")
    assert page == REFERENCE["seeds_page"](), "run python docs/reference.py --seeds"


@pytest.mark.parametrize(("paper", "section", "row"), ROWS, ids=[f"{paper}: {row[0]}"[:80] for paper, _, row in ROWS])
def test_a_feature_is_equal_different_or_missing_and_proved_or_explained(
    paper: str, section: str, row: list[str]
) -> None:
    _, word, why, command, test = row
    assert word in REFERENCE["WORDS"] == ("equal", "different", "missing")
    assert word == "equal" or len(why) >= SHORTEST, "how, or why not"
    assert bool(command) == bool(test) == (word != "missing")
    if word == "missing":
        return
    found, words = _command(command)
    assert found.name != "m3bench", f"there is no command {command}"
    known = {option for parameter in found.params for option in parameter.opts}
    assert {word for word in words if word.startswith("--")} <= known, command
    assert not words or words[0].startswith("--"), f"there is no command {command}"
    path, _, name = test.partition("::")
    assert (ROOT / path).is_file(), path
    assert re.search(rf"^(?:async )?def {name}\(", (ROOT / path).read_text("utf-8"), re.MULTILINE), test


def _command(line: str) -> tuple[Any, list[str]]:
    """The command that a line names, and the words after it."""
    found: Any = typer.main.get_command(app)
    words = line.split()[1:]
    while words and words[0] in getattr(found, "commands", {}):
        found = found.commands[words.pop(0)]
    return found, words
