"""Whoever types what the docs say gets what the docs show: every command of every page is run."""

import os
import re
import shlex
import signal
import socket
import subprocess
import sys
from pathlib import Path
from runpy import run_path
from typing import Any

import pytest
import typer.main

from m3bench.server.commands.program import app
from tests.engines import engine_problem
from tests.pages import PAGES, ROOT, Command, read_page
from tests.server.pipes import Pipe
from tests.waiting import eventually

BIN = Path(sys.executable).parent
SECONDS = 300.0

ELSEWHERE = {"make demo", "make test"}
"""Commands for a fresh clone: CI runs the second, and `m3bench demo`, which the first runs, has tests of its own."""

MODELS = {"openai/gpt-5": "mockllm/model"}
"""What stands in for a model that needs a key."""

HOSTING = ("serve", "probe", "watch", "tool-server")
"""Commands that go on until they are stopped."""


@pytest.mark.slow
@pytest.mark.parametrize("path", [path for path in PAGES if read_page(path).commands], ids=lambda path: path.name)
def test_the_commands_of_a_page_work_in_an_empty_folder(path: Path, tmp_path: Path) -> None:
    page = read_page(path)
    folder, home = tmp_path / "folder", tmp_path / "home"
    folder.mkdir()
    home.mkdir()
    for name, text in page.files.items():
        (folder / name).write_text(text, "utf-8")
    for command in page.commands:
        if command.line not in ELSEWHERE:
            _follow(command, folder, _environment(home))


def _environment(home: Path) -> dict[str, str]:
    places = {"HOME": str(home), "M3BENCH_DATA": str(home / "data"), "XDG_CONFIG_HOME": str(home / "config")}
    cache = os.environ.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")
    return {**os.environ, **places, "XDG_CACHE_HOME": cache, "PATH": f"{BIN}{os.pathsep}{os.environ['PATH']}",
            "NO_COLOR": "1", "COLUMNS": "120"}  # fmt: skip


def _follow(command: Command, folder: Path, environment: dict[str, str]) -> None:
    line = command.line
    for name, stand_in in MODELS.items():
        line = line.replace(name, stand_in)
    if line.startswith("docker ") and engine_problem() is not None:
        return
    words = shlex.split(line)
    if words[0] == "m3bench" and words[1] in HOSTING and not {"--show", "--print", "--help"} & set(words):
        _host(words, folder, environment)
        return
    done = subprocess.run(
        ["bash", "-c", line], cwd=folder, env=environment, capture_output=True, text=True, timeout=SECONDS, check=False
    )
    assert done.returncode == 0, f"$ {line}\n{done.stdout}\n{done.stderr}"
    printed = [" ".join(part.split()) for part in (done.stdout + done.stderr).splitlines()]
    for expected in command.output:
        pattern = re.escape(" ".join(expected.split())).replace("…", ".*")
        assert any(re.fullmatch(pattern, part) for part in printed), f"$ {line}\nnot printed: {expected}\n{done.stdout}"


def _host(words: list[str], folder: Path, environment: dict[str, str]) -> None:
    """Start a command that goes on, see that it answers, and stop it."""
    if "--http" in words or words[1] == "watch":
        process = subprocess.Popen(words, cwd=folder, env=environment, stderr=subprocess.PIPE, stdout=subprocess.PIPE)
        try:
            if "--http" in words:
                host, port = words[words.index("--http") + 1].rsplit(":", 1)
                eventually(lambda: _listens(host or "127.0.0.1", int(port)), "the server listens", SECONDS)
            assert process.poll() is None
        finally:
            process.send_signal(signal.SIGINT)
            process.communicate(timeout=60)
        return
    pipe = Pipe([], environment, command=words, cwd=folder)
    try:
        assert "serverInfo" in pipe.open()["result"]
    finally:
        pipe.close()


def _listens(host: str, port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex((host, port)) == 0


def test_commands_in_the_text_exist_with_their_options() -> None:
    program: Any = typer.main.get_command(app)
    for path in PAGES:
        for line in re.findall(r"(?<!`)`(m3bench [a-z][^`]*)`", path.read_text("utf-8")):
            command, where = program, f"{path.name}: {line}"
            words = re.sub(r"[\[\]|<>…]", " ", line).split()[1:]
            while words and words[0] in getattr(command, "commands", {}):
                command = command.commands[words.pop(0)]
            assert command.name != "m3bench", f"{where}: there is no such command"
            known = {option for parameter in command.params for option in (*parameter.opts, *parameter.secondary_opts)}
            options = {word.partition("=")[0].rstrip(",.") for word in words if word.startswith("--")}
            assert options <= known | {"--help", "-h"}, where


def test_the_readme_begins_with_the_two_commands() -> None:
    assert [command.line for command in read_page(ROOT / "README.md").commands[:2]] == ["make demo", "make test"]


@pytest.mark.slow
def test_the_score_card_of_the_readme_is_the_one_that_the_command_makes(tmp_path: Path) -> None:
    from m3bench.server.results.resultset import read_resultset
    from m3bench.server.scorecard.markdown import markdown

    command = [str(BIN / "m3bench"), "run", "--agent", "sloppy", "--task", "movies-1", "-o", str(tmp_path / "set")]
    subprocess.run(command, check=True, capture_output=True, timeout=SECONDS)
    (result,) = read_resultset(tmp_path / "set").results
    shown = (ROOT / "README.md").read_text("utf-8").partition("<!-- card -->\n")[2].partition("\n<!-- /card -->")[0]
    assert shown == markdown(result.card).strip().replace("## m3bench", "### m3bench", 1)
    script = run_path(str(ROOT / "docs" / "card_picture.py"))
    assert script["CARD"].read_text("utf-8") == script["card_of_set"](tmp_path / "set"), "make picture"
