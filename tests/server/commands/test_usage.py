"""Help that teaches at any width, and commands whose reader goes away."""

import os
import subprocess
import sys
from itertools import pairwise

import pytest

from m3bench.server.commands.usage import flowing


def m3bench(*arguments: str, width: int = 80) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "m3bench.server.cli", *arguments]
    env = {**os.environ, "COLUMNS": str(width), "NO_COLOR": "1"}
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=120, env=env)


def test_paragraphs_flow_and_examples_keep_their_lines() -> None:
    text = "What it does.\n\nOne sentence,\nbroken in two.\n\n\b\nfirst example\nsecond example\n"
    assert flowing(text) == "What it does.\n\nOne sentence, broken in two.\n\nfirst example\nsecond example"
    assert flowing(None) is None


@pytest.mark.parametrize("command", ["curate", "judge", "run", "bundle"])
def test_help_has_no_short_lines_inside_a_paragraph(command: str) -> None:
    text = m3bench(command, "--help").stdout.split("╭─")[0]
    lines = [line.rstrip() for line in text.splitlines()]
    for line, following in pairwise(lines):
        assert not line or not following or len(f"{line} {following.split()[0]}") >= 79, line


def test_a_flag_names_no_value() -> None:
    text = m3bench("install", "--help").stdout
    assert "--remove" in text
    assert "<bool>" not in text


@pytest.mark.parametrize("arguments", [["servers"], ["tasks", "list", "--json"], ["call", "excel"]])
def test_a_reader_that_goes_away_is_no_error(arguments: list[str]) -> None:
    command = [sys.executable, "-m", "m3bench.server.cli", *arguments]
    reader, writer = os.pipe()
    os.close(reader)
    try:
        ended = subprocess.run(command, stdout=writer, stderr=subprocess.PIPE, text=True, check=False, timeout=120)
    finally:
        os.close(writer)
    assert (ended.returncode, ended.stderr) == (0, "")
