"""The docs as a site: everything is in it, links lead somewhere, and it works from a folder without a network."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from runpy import run_path
from typing import TYPE_CHECKING, Any

import pytest
import typer.main

from m3bench.server.commands.program import app
from tests.browser import serious, unsound
from tests.pages import PAGES, ROOT

if TYPE_CHECKING:
    from playwright.sync_api import Page

    from tests.browser import Browser

SITE: dict[str, Any] = run_path(str(ROOT / "docs" / "site.py"))


def test_every_page_has_a_place_in_the_navigation() -> None:
    placed = set(re.findall(r"([\w/-]+\.md)$", (ROOT / "mkdocs.yml").read_text("utf-8"), re.MULTILINE))
    folder = ROOT / "docs"
    assert {path.relative_to(folder).as_posix() for path in PAGES if folder in path.parents} <= placed


def test_the_reference_has_every_command_with_its_options_and_every_part_of_a_file() -> None:
    pages = run_path(str(ROOT / "docs" / "reference.py"))["pages"]()
    commands = pages["commands.md"]

    def look(command: Any, name: str) -> None:
        assert f"## {name}\n" in commands
        text = commands.partition(f"## {name}\n")[2].partition("\n## ")[0]
        for child in getattr(command, "commands", {}).values():
            look(child, f"{name} {child.name}")
        if not getattr(command, "commands", None):
            shown = [one for one in command.params if one.param_type_name == "option" and not one.hidden]
            options = [option for one in shown for option in one.opts]
            assert [option for option in options if option != "--help" and f"`{option}`" not in text] == []

    for command in typer.main.get_command(app).commands.values():  # type: ignore[attr-defined]
        look(command, f"m3bench {command.name}")
    assert "\b" not in commands
    assert "| `question` | string | What the client is asked; natural and without tool names. |" in pages["formats.md"]
    assert "| `void` (optional) | VoidReason or null |" in pages["scorecard.md"]


def test_a_page_is_read_as_on_github() -> None:
    read = SITE["as_github_reads"]
    assert read("Some words:\n- one\n- two\n") == "Some words:\n\n- one\n- two\n"
    assert read("- one\n  goes on\n- two\n") == "- one\n  goes on\n- two\n"
    assert read("```json a/b.json\n[\n- 1]\n```\n") == '```json title="a/b.json"\n[\n- 1]\n```\n'
    assert read("costs `$1`, or $5 and $6 a day\n") == "costs `$1`, or $5 and $6 a day\n"
    assert read("see [faults]\n\n[faults]: ../tests/x.py\n") == "see `faults`\n\n- `faults`: `tests/x.py`\n"
    assert SITE["inwards"]("[a](../CONTRIBUTING.md#style) [b](tasks.md)", "../", "") == (
        "[a](contributing.md#style) [b](tasks.md)"
    )


def build(root: Path, into: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(into)]
    environment = os.environ | {"NO_MKDOCS_2_WARNING": "1", "NO_COLOR": "1"}
    return subprocess.run(command, cwd=root, env=environment, capture_output=True, text=True, timeout=600, check=False)


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("site")
    done = build(ROOT, folder)
    assert done.returncode == 0, done.stderr
    assert "WARNING" not in done.stderr
    return folder


@pytest.mark.slow
def test_links_that_lead_nowhere_and_pages_without_a_place_fail_the_build(tmp_path: Path) -> None:
    shutil.copytree(ROOT / "docs", tmp_path / "docs")
    for name in ("mkdocs.yml", *SITE["OUTSIDE"]):
        shutil.copy(ROOT / name, tmp_path / name)
    (tmp_path / "docs" / "troubleshooting.md").write_text(
        "[a](nowhere.md) [b](scoring.md#nothing) [c](../server/app.py)\n", "utf-8"
    )
    (tmp_path / "docs" / "lost.md").write_text("# Lost\n", "utf-8")
    done = build(tmp_path, tmp_path / "site")
    assert done.returncode == 1
    for told in ("nowhere.md", "scoring.md#nothing", "../server/app.py", "lost.md"):
        assert told in done.stderr


@pytest.mark.slow
def test_the_site_is_built_without_a_warning_and_asks_for_nothing_from_elsewhere(built: Path) -> None:
    pages = sorted(built.rglob("*.html"))
    assert len(pages) > 35
    for path in pages:
        text = path.read_text("utf-8")
        loaded = re.findall(r"<(?:script|img|iframe)[^>]*\ssrc=\"?([^\" >]+)|<link[^>]*\shref=\"?([^\" >]+)", text)
        assert [one for pair in loaded for one in pair if re.match(r"https?:|//", one)] == [], path.name
        assert "⟦" not in text, path.name
        assert "<p>```" not in text, path.name
    assert "<math" in (built / "statistics.html").read_text("utf-8")


PLACES = sorted(re.findall(r"([\w/-]+)\.md$", (ROOT / "mkdocs.yml").read_text("utf-8"), re.MULTILINE))


@pytest.mark.all_sample(3)
@pytest.mark.slow
@pytest.mark.xdist_group("site")
@pytest.mark.parametrize("place", PLACES)
def test_everybody_can_read_a_page_of_the_site_at_any_width(
    built: Path, browser: "Browser", axe: str, place: str
) -> None:
    def look(page: "Page") -> dict[str, list[Any]]:
        found = {"light": unsound(page, axe)}
        # Colours change at once, and are not looked at on their way.
        page.add_style_tag(content="* { transition: none !important; }")
        page.evaluate("document.body.dataset.mdColorScheme = 'slate'")
        return {**found, "dark": serious(page, axe)}

    inside = (built.resolve().as_uri(), "blob:")
    found = browser.visit(built / f"{place}.html", look, allowed=inside, ready="body[data-md-color-scheme=default]")
    assert found == {"light": [], "dark": []}


@pytest.mark.slow
def test_the_site_opens_from_a_folder_and_is_searched_there(built: Path, browser: "Browser") -> None:
    def search(page: Any) -> str:
        query = page.locator("[data-md-component=search-query]")
        query.click()
        query.press_sequentially("void")
        page.locator(".md-search-result__item").first.wait_for()
        found: str = page.locator(".md-search-result__list").inner_text()
        return found

    inside = (built.resolve().as_uri(), "blob:")
    assert "Why is my score void?" in browser.visit(
        built / "index.html", search, allowed=inside, ready="body[data-md-color-scheme]", width=1280
    )
