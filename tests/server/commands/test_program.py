"""The table of commands: what the first screen shows, what is loaded when, and that former names still answer."""

import os
import subprocess
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Annotated, Any

import pytest
import typer
from typer.main import get_command
from typer.testing import CliRunner

from m3bench.server.commands.groups import CommandEntry, load
from m3bench.server.commands.options import ADVANCED, OLD_SPELLINGS, expanded
from m3bench.server.commands.program import COMMANDS, MORE, RENAMED, app

FIRST = ["demo", "play", "install", "serve", "run", "report", "compare", "leaderboard", "tasks", "servers", "doctor"]
MOST_OPTIONS = 15


def entries(table: Mapping[str, CommandEntry], path: tuple[str, ...] = ()) -> Iterator[tuple[str, CommandEntry]]:
    for name, entry in table.items():
        yield " ".join((*path, name)), entry
        yield from entries(entry.commands, (*path, name))


EVERY = dict(entries(COMMANDS))


def loaded(words: str) -> Any:
    command: Any = get_command(app)
    for word in words.split():
        command = command.commands[word]
    return command


def test_the_first_screen_shows_few_commands_and_the_rest_in_groups() -> None:
    assert [name for name, entry in COMMANDS.items() if entry.panel is None] == FIRST
    rest = {name: entry for name, entry in COMMANDS.items() if entry.panel == MORE}
    assert len(FIRST) + len(rest) == len(COMMANDS)
    assert all(entry.commands for entry in rest.values())


@pytest.mark.parametrize("words", EVERY)
def test_the_line_in_the_list_is_the_first_of_the_commands_own_help_which_has_an_example(words: str) -> None:
    command, entry = loaded(words), EVERY[words]
    first, *others = command.help.split("\n\n")
    assert first == entry.line
    assert entry.line.endswith(".")
    assert entry.function is None or any(f"m3bench {words}" in paragraph for paragraph in others)


@pytest.mark.parametrize("old", RENAMED)
def test_a_former_name_runs_the_command_and_says_its_new_name_in_one_line(old: str) -> None:
    before = CliRunner().invoke(app, [*old.split(), "--help"])
    after = CliRunner().invoke(app, [*RENAMED[old].split(), "--help"])
    assert (before.exit_code, before.stderr) == (0, f"m3bench {old} is now m3bench {RENAMED[old]}.\n")
    assert (before.stdout, after.stderr) == (after.stdout, "")


def test_former_names_lead_to_commands_and_are_not_listed() -> None:
    assert set(RENAMED.values()) <= set(EVERY)
    assert not set(RENAMED) & set(EVERY)
    shown = CliRunner().invoke(app, ["--help"], env={"COLUMNS": "200"}).stdout
    assert "tool-server" not in shown
    mistyped = CliRunner().invoke(app, ["serv"])
    assert mistyped.exit_code == 2
    assert "Did you mean 'serve'" in mistyped.stderr


@pytest.mark.parametrize("words", ["serve", "run"])
def test_long_commands_show_few_options_before_the_advanced_ones(words: str) -> None:
    command = loaded(words)
    shown = [param for param in command.get_params(typer.Context(command)) if not getattr(param, "hidden", False)]
    panels = [getattr(param, "rich_help_panel", None) for param in shown]
    assert 0 < len([panel for panel in panels if panel != ADVANCED]) <= MOST_OPTIONS
    assert ADVANCED in panels


def test_one_word_means_one_option_everywhere() -> None:
    spelled = {
        spelling
        for words, entry in EVERY.items()
        if not entry.commands
        for param in loaded(words).params
        for spelling in param.opts
    }
    assert not spelled & (set(OLD_SPELLINGS) - {"--profile"})
    tools = {words for words, entry in EVERY.items() if not entry.commands and _has(words, "--profile")}
    scoring = {words for words, entry in EVERY.items() if not entry.commands and _has(words, "--metric")}
    assert scoring == {"lab score", "lab thresholds", "compare"}
    assert not tools & scoring


def _has(words: str, option: str) -> bool:
    return any(option in param.opts for param in loaded(words).params)


def test_former_spellings_of_options_are_read_and_not_shown() -> None:
    refused = CliRunner().invoke(app, ["lab", "score", "a.json", "b.json", "--profile", "none"])
    assert refused.exit_code == 2
    assert "--metric" in refused.stderr
    assert CliRunner().invoke(app, ["keys", "show", "--profile", "full"]).exit_code == 2
    shown = CliRunner().invoke(app, ["runs", "export", "--help"], env={"COLUMNS": "200"}).stdout
    assert "--out " in shown
    assert "--output" not in shown
    joined = CliRunner().invoke(app, ["runs", "export", "--format", "inspect", "--output="])
    assert "No such option" not in joined.stderr


@pytest.mark.parametrize("arguments", [["--help"], ["lab", "--help"], ["lab", "harbor", "--help"]])
def test_a_list_of_commands_loads_none_of_them(arguments: list[str]) -> None:
    command = [sys.executable, "-X", "importtime", "-m", "m3bench.server.cli", *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=True, env={**os.environ, "COLUMNS": "80"})
    imported = {line.rpartition("|")[2].strip() for line in done.stderr.splitlines()}
    ours = {name.removeprefix("m3bench.server.commands.") for name in imported if name.startswith("m3bench.server.c")}
    assert ours - {"m3bench.server.commands", "m3bench.server.cli"} == {"groups", "options", "program"}


def test_fields_of_a_dataclass_are_parameters_of_the_command() -> None:
    @dataclass(frozen=True, kw_only=True)
    class Choice:
        size: Annotated[int, typer.Option(help="How large.")]
        name: str = "it"

    def show(choice: Choice, words: Annotated[list[str] | None, typer.Argument()] = None) -> None:
        """Show it."""
        typer.echo(f"{choice} {words}")

    made = typer.Typer()
    made.command()(expanded(show))
    done = CliRunner().invoke(made, ["--size", "3", "a", "b"])
    assert done.stdout.strip().endswith("Choice(size=3, name='it') ['a', 'b']")
    assert CliRunner().invoke(made, ["a"]).exit_code == 2
    assert expanded(print) is print


def test_a_group_is_made_without_loading_its_commands() -> None:
    group: Any = load("group", CommandEntry("A group.", commands={"broken": CommandEntry("Broken.", "nowhere:gone")}))
    assert list(group.commands) == ["broken"]
    assert group.help == "A group."
    with pytest.raises(ModuleNotFoundError):
        group.commands["broken"]
