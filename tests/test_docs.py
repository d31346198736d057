"""The docs cannot rot: pages that are generated are current, links lead somewhere, every command is described."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from m3bench.server.commands.servers import page
from m3bench.tasks.catalog import load_catalog

ROOT = Path(__file__).parent.parent
PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").glob("*.md")])


def test_the_page_of_servers_is_current() -> None:
    assert (ROOT / "docs" / "servers.md").read_text("utf-8") == page(load_catalog())


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.name)
def test_links_lead_somewhere(path: Path) -> None:
    for target in re.findall(r"\]\(([^)#]+)[^)]*\)", path.read_text("utf-8")):
        assert target.startswith("http") or (path.parent / target).exists(), target


def test_every_command_is_in_the_docs() -> None:
    shown = subprocess.run(
        [sys.executable, "-m", "m3bench.server.cli", "--help"], capture_output=True, text=True, check=True
    )
    commands = re.findall(r"^│ (\w+) ", shown.stdout, re.MULTILINE)
    assert commands
    text = "\n".join(path.read_text("utf-8") for path in PAGES)
    assert [command for command in commands if f"m3bench {command}" not in text] == []
