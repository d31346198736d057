"""A shell that asks what could come next gets it, in its own protocol and without anything heavy being imported."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from m3bench.server.clients.table import clients
from m3bench.server.commands.completion import COMPLETERS, KINDS, PROFILES
from m3bench.server.commands.program import app
from m3bench.server.lab.headless.agents.registry import AGENTS
from m3bench.server.store.records import RunRecord
from m3bench.server.store.sqlite import SqliteStore
from m3bench.tasks.catalog import load_catalog
from m3bench.tasks.library import Library
from m3bench.tasks.profiles import NAMES
from tests.test_architecture import HEAVY

SHELLS = ("bash", "zsh", "fish")
CLI = [sys.executable, "-m", "m3bench.server.cli"]


def ask(line: str, shell: str = "bash", **env: str) -> str:
    """What the program tells a shell that completes this line."""
    words = line.split(" ")
    asked = {
        "_M3BENCH_COMPLETE": f"complete_{shell}",
        "COMP_WORDS": line,
        "COMP_CWORD": str(len(words) - 1),
        "_TYPER_COMPLETE_ARGS": line,
        "_TYPER_COMPLETE_FISH_ACTION": "get-args",
    }
    code = "import sys; sys.argv[0] = 'm3bench'; from m3bench.server.cli import main; main()"
    done = subprocess.run(
        [sys.executable, "-c", code], env={**os.environ, **asked, **env}, capture_output=True, text=True, check=False
    )
    assert done.stderr == ""
    return done.stdout


def offered(line: str, **env: str) -> list[str]:
    return ask(line, **env).split()


@pytest.mark.slow
@pytest.mark.parametrize("shell", SHELLS)
def test_every_shell_is_told_the_commands_and_the_profiles(shell: str) -> None:
    assert "serve" in ask("m3bench se", shell)
    assert "compact" in ask("m3bench serve --profile com", shell)


@pytest.mark.parametrize("shell", SHELLS)
def test_every_shell_can_be_set_up(shell: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("_TYPER_COMPLETE_TEST_DISABLE_SHELL_DETECTION", "1")
    done = subprocess.run(
        [*CLI, "--show-completion", shell], env=dict(os.environ), capture_output=True, text=True, check=True
    )
    assert "COMPLETE" in done.stdout


@pytest.mark.slow
def test_tasks_families_servers_tools_clients_and_agents_are_offered() -> None:
    library, catalog = Library(), load_catalog()
    assert offered("m3bench tasks show ") == sorted(library.tasks)
    assert offered("m3bench run --family ") == sorted({task.family for task in library.tasks.values()})
    assert offered("m3bench servers ") == sorted(server.name for server in catalog.servers)
    assert offered("m3bench tools call ma") == [f"{name}/" for name in sorted(catalog.by_name) if name.startswith("ma")]
    assert offered("m3bench tools call math/m") == sorted(
        tool.qualified for tool in catalog.tools if tool.qualified.startswith("math/m")
    )
    assert offered("m3bench install ") == sorted(clients())
    assert offered("m3bench run --agent ") == sorted(AGENTS)


@pytest.mark.slow
def test_profiles_are_offered_with_the_names_they_take() -> None:
    assert PROFILES == NAMES
    assert offered("m3bench serve --profile ") == [*PROFILES, *(f"{kind}:" for kind in KINDS)]
    families = sorted({task.family for task in Library().tasks.values()})
    assert offered("m3bench serve --profile fam") == [f"family:{family}" for family in families]


def test_tasks_come_from_the_set_the_command_was_pointed_at(task_set: Path) -> None:
    assert offered(f"m3bench tasks show --tasks {task_set} s") == ["sum-1", "survey-1"]


@pytest.mark.slow
def test_runs_are_offered_newest_first(tmp_path: Path) -> None:
    store = SqliteStore(tmp_path)
    for name, day in (("a1", "01"), ("b2", "02")):
        store.add_run(
            RunRecord(
                id=name, seat="s", task="t", state="scored", mode="practice", started=f"2026-01-{day}", ended=None,
                answer=None, seal=None, manifest={}, scorecard=None,
            )
        )  # fmt: skip
    store.close()
    assert offered("m3bench runs show ", M3BENCH_DATA=str(tmp_path)) == ["latest", "b2", "a1"]
    assert offered(f"m3bench runs show --data {tmp_path} a") == ["a1"]
    assert offered("m3bench runs show ", M3BENCH_DATA=str(tmp_path / "nothing")) == []


@pytest.mark.slow
def test_a_broken_set_offers_nothing_and_says_nothing(tmp_path: Path) -> None:
    (tmp_path / "tasks.json").write_text("{")
    assert offered(f"m3bench tasks show --tasks {tmp_path} ") == []
    (tmp_path / "tasks.json").write_text('{"tasks": [{"id": "$(reboot)"}, {"id": "a b"}, {"id": "good-1"}]}')
    assert offered(f"m3bench tasks show --tasks {tmp_path} ") == ["good-1"]


def test_completion_imports_nothing_heavy() -> None:
    code = (
        "import sys; sys.argv[0] = 'm3bench'; from m3bench.server.cli import main\n"
        "try: main()\nexcept SystemExit: pass\n"
        f"print(*sorted(set(sys.modules) & set({HEAVY!r})))"
    )
    env = {"_M3BENCH_COMPLETE": "complete_bash", "COMP_WORDS": "m3bench tasks show drug-1", "COMP_CWORD": "3"}
    done = subprocess.run(
        [sys.executable, "-c", code], env={**os.environ, **env}, capture_output=True, text=True, check=True
    )
    assert done.stdout.split() == ["drug-1"]


def test_commands_take_the_values_that_are_offered() -> None:
    assert set(COMPLETERS) >= {"task", "family", "profile", "run", "client", "tool", "agent"}
    shown = CliRunner().invoke(app, ["tasks", "show", offered("m3bench tasks show drug-")[0]])
    assert shown.exit_code == 0
