"""The page on the public interface: every name can be imported, every version is the code's, every command exists."""

import re
from importlib import import_module
from importlib.resources import files
from typing import Any

import pytest
import typer.main
from typer.testing import CliRunner

from m3bench.proxy.upstreams import cassette
from m3bench.server.commands.program import app
from m3bench.server.lab.interchange import bundle
from m3bench.server.lab.live import rows as live_rows
from m3bench.server.lab.reports import standings, summary
from m3bench.server.lab.reports.paper import folder
from m3bench.server.lab.results import resultset
from m3bench.server.scorecard import building, model
from m3bench.server.store import capability, schema, seal
from m3bench.tasks import plan, task, trajectory_files
from tests.pages import ROOT

PAGE = (ROOT / "docs" / "interface.md").read_text("utf-8")

VERSIONS: dict[str, Any] = {
    "task set": task.SCHEMA,
    "plans": plan.SCHEMA,
    "result set": resultset.Header.model_fields["schema_"].default,
    "score card": model.SCHEMA,
    "scoring rules": building.VERSION,
    "trajectories": trajectory_files.VERSION,
    "bundle": bundle.BundleIndex.model_fields["version"].default,
    "cassette": cassette.VERSION,
    "record": schema.VERSION,
    "seal": seal.VERSION,
    "capability card": capability.VERSION,
    "leaderboard": standings.SCHEMA,
    "page of a set": summary.SCHEMA,
    "numbers of a paper": folder.SCHEMA,
    "live state": live_rows.SCHEMA,
}
"""The versions in the code, by the name that the page gives to a format."""


def table(heading: str, columns: int) -> list[list[str]]:
    """The rows of the first table with that many columns below a heading."""
    text = PAGE.partition(f"\n## {heading}\n")[2].partition("\n## ")[0]
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in text.splitlines() if line.startswith("|")]
    return [row for row in rows if len(row) == columns and not row[0].startswith("---")][1:]


def test_every_name_can_be_imported() -> None:
    rows = table("What may be imported", 3)
    assert rows
    for module, names, _ in rows:
        found = import_module(module.strip("`"))
        assert [name for name in re.findall(r"`(\w+)`", names) if not hasattr(found, name)] == [], module


@pytest.mark.parametrize("package", ["server", "proxy", "tasks", "sandboxes"])
def test_a_package_ships_its_type_hints(package: str) -> None:
    assert (files(f"m3bench.{package}") / "py.typed").is_file()


def test_every_format_has_the_version_of_the_code() -> None:
    assert {name: int(version) for name, _, _, version in table("Files", 4)} == VERSIONS


def test_the_commands_are_those_of_the_program() -> None:
    rows = table("Commands", 2)
    listed = {
        f"{group.strip('`')} {name}".strip() for group, names in rows for name in re.findall(r"`([a-z -]+)`", names)
    }
    assert listed == set(commands(typer.main.get_command(app)))


def commands(command: Any, name: str = "") -> list[str]:
    """The commands that help shows, without the name of the program."""
    inner = {key: child for key, child in getattr(command, "commands", {}).items() if not child.hidden}
    return [leaf for key, child in inner.items() for leaf in commands(child, f"{name} {key}".strip())] or [name]


def test_what_cannot_be_carried_out_ends_with_2() -> None:
    assert re.search(r"^\| 2 \| the request cannot be carried out", PAGE, re.MULTILINE)
    assert CliRunner().invoke(app, ["tasks", "list", "--no-such-option"]).exit_code == 2
