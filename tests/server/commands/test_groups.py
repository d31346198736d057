"""Help that teaches at any width, and commands whose reader goes away."""

import os
import subprocess
import sys
from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import pytest
from rich.cells import cell_len
from typer.main import get_command

from m3bench.server.commands.groups import flowing
from m3bench.server.commands.program import app


def m3bench(*arguments: str, width: int = 80) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "m3bench.server.cli", *arguments]
    env = {**os.environ, "COLUMNS": str(width), "NO_COLOR": "1"}
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=120, env=env)


def test_paragraphs_flow_and_examples_keep_their_lines() -> None:
    text = "What it does.\n\nOne sentence,\nbroken in two.\n\n\b\nfirst example\nsecond example\n"
    assert flowing(text) == "What it does.\n\nOne sentence, broken in two.\n\nfirst example\nsecond example"
    assert flowing(None) is None


@pytest.mark.sample(1)
@pytest.mark.parametrize("command", ["lab curate", "lab judge", "run", "client bundle"])
def test_help_has_no_short_lines_inside_a_paragraph(command: str) -> None:
    text = m3bench(*command.split(), "--help").stdout.split("╭─")[0]
    lines = ["" if line.startswith(" m3bench ") else line.rstrip() for line in text.splitlines()]
    for line, following in pairwise(lines):
        assert not line or not following or len(f"{line} {following.split()[0]}") >= 79, line


def _commands(group: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Any]]:
    yield path, group
    for name, command in getattr(group, "commands", {}).items():
        yield from _commands(command, (*path, name))


EVERY = """
import sys
from contextlib import suppress
from m3bench.server.commands.program import app
for words in sys.stdin.read().splitlines():
    print(f"== {words}")
    with suppress(SystemExit):
        app([*words.split(), "--help"])
"""
"""Prints the help of every command whose words it is given."""


@pytest.mark.sample(1)
@pytest.mark.parametrize("width", [60, 80, *(pytest.param(wide, marks=pytest.mark.slow) for wide in (120, 200))])
def test_help_of_every_command_fits_and_cuts_no_option(width: int) -> None:
    commands = {" ".join(path): command for path, command in _commands(get_command(app))}
    env = {**os.environ, "COLUMNS": str(width), "NO_COLOR": "1"}
    done = subprocess.run(
        [sys.executable, "-c", EVERY], input="\n".join(commands), capture_output=True, text=True, check=False, env=env
    )
    assert (done.returncode, done.stderr) == (0, "")
    shown = dict(part.split("\n", 1) for part in done.stdout.split("== ")[1:])
    assert shown.keys() == commands.keys()
    for words, text in shown.items():
        assert [line for line in text.splitlines() if cell_len(line.rstrip()) > width] == [], words
        for param in commands[words].params:
            named = param.opts[0] if param.param_type_name == "option" and not param.hidden else ""
            assert named in text, words


ENDLESS = {("serve",), ("play",), ("runs", "watch"), ("tasks", "studio"), ("tools", "serve")}
"""Commands that go on until they are stopped."""
ITSELF = {("runs", "export")}
"""What it prints is a format that the person chooses."""
FILES = {("lab", "harbor", "collect"), ("lab", "harbor", "reward")}
"""Harbor runs them in containers, and reads the files that they write."""


def test_every_command_with_results_has_them_as_json() -> None:
    lacking = {
        path
        for path, command in _commands(get_command(app))
        if not getattr(command, "commands", None)
        and "--json" not in {name for one in command.params for name in one.opts}
    }
    assert lacking == ENDLESS | ITSELF | FILES


def test_a_flag_names_no_value() -> None:
    text = m3bench("install", "--help").stdout
    assert "--remove" in text
    assert "<bool>" not in text


@pytest.mark.sample(1)
@pytest.mark.parametrize("arguments", [["servers"], ["tasks", "list", "--json"], ["tools", "call", "excel"]])
def test_a_reader_that_goes_away_is_no_error(arguments: list[str]) -> None:
    command = [sys.executable, "-m", "m3bench.server.cli", *arguments]
    reader, writer = os.pipe()
    os.close(reader)
    try:
        ended = subprocess.run(command, stdout=writer, stderr=subprocess.PIPE, text=True, check=False, timeout=120)
    finally:
        os.close(writer)
    assert (ended.returncode, ended.stderr) == (0, "")
