"""The studio of authors: what a page says of a task that is being written, and that it follows the folder."""

import json
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import httpx2
import pytest

from m3bench.server.lab.authoring.lint import NEEDLESS
from tests.browser import Browser, unsound
from tests.sets import write_set
from tests.waiting import eventually

if TYPE_CHECKING:
    from playwright.sync_api import Page

STUDIO = [sys.executable, "-m", "m3bench.server.cli", "tasks", "studio", "--no-open", "--sandbox", "inprocess"]
SECONDS = 120.0


@contextmanager
def started(folder: Path) -> Iterator[tuple[str, str]]:
    """A studio: the address that opens it once, and where it is."""
    process = subprocess.Popen([*STUDIO, str(folder)], stderr=subprocess.PIPE, text=True)
    assert process.stderr is not None
    line = process.stderr.readline()
    found = re.search(r"(http://127\.0\.0\.1:\d+)/\?ticket=\S+", line)
    assert found is not None, line + process.stderr.read()
    try:
        yield found[0], found[1]
    finally:
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=SECONDS)
    assert process.returncode == 130, errors
    assert "Traceback" not in errors


@contextmanager
def opened(folder: Path) -> Iterator[tuple[httpx2.Client, str]]:
    """A browser that came by the address, and where the studio is."""
    with (
        started(folder) as (address, base),
        httpx2.Client(timeout=30) as browser,
        httpx2.Client(timeout=30) as stranger,
    ):
        assert stranger.get(f"{base}/").status_code == 401
        assert stranger.get(f"{base}/state").status_code == 401
        assert browser.get(address).status_code == 303
        assert stranger.get(address).status_code == 401, "the address was used already"
        yield browser, base


def _state(browser: httpx2.Client, base: str, task: str) -> Any:
    return browser.get(f"{base}/state", params={"task": task}).json()


@pytest.mark.apart
@pytest.mark.slow
def test_the_studio_plays_a_task_has_agents_try_it_and_follows_what_is_saved(tmp_path: Path) -> None:
    folder = write_set(tmp_path / "set")
    before = {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    with opened(folder) as (browser, base):
        page = browser.get(f"{base}/", params={"task": "sum-1"}).text
        assert "default-src 'none'" in page

        def tried() -> Any:
            found = _state(browser, base, "sum-1")["task"]
            return found if not found["busy"] else None

        eventually(lambda: tried() is not None, "it was tried", SECONDS * 3)
        task = tried()
        assert [[call["tool"] for call in step] for step in task["references"][0]] == [["math/sum"]]
        assert [call["outcome"] for call in task["played"][0]] == ["success"]
        assert "108" in task["played"][0][0]["text"]
        assert [line["agent"] for line in task["agents"]] == ["blind", "threshold", "sibling", "lookalike"]
        assert NEEDLESS not in task["wrong"]

        # The question now says everything, and the page says so a moment later.
        document = json.loads((folder / "tasks.json").read_text("utf-8"))
        document["tasks"][1]["question"] = "How much are 4, 8, 15, 16, 23 and 42 together, which is 108?"
        (folder / "tasks.json").write_text(json.dumps(document), "utf-8")
        eventually(lambda: NEEDLESS in (tried() or {"wrong": []})["wrong"], "what was saved is seen", SECONDS * 3)
        (folder / "tasks.json").write_text("{", "utf-8")
        assert "tasks.json" in _state(browser, base, "sum-1")["problem"]
        (folder / "tasks.json").write_bytes(before[folder / "tasks.json"])
    assert {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()} == before


@pytest.mark.all_sample(1)
@pytest.mark.apart
@pytest.mark.slow
@pytest.mark.xdist_group("site")
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_everybody_can_read_the_studio_at_any_width(
    browser: Browser, axe: str, scheme: Literal["light", "dark"], tmp_path: Path
) -> None:
    folder = write_set(tmp_path / "set")

    def look(page: "Page") -> list[Any]:
        page.goto(f"{page.url.partition('?')[0]}?task=survey-1")
        page.wait_for_selector("#agents tbody tr:nth-child(4)", timeout=SECONDS * 1000)
        return unsound(page, axe)

    with started(folder) as (address, base):
        assert browser.visit(address, look, allowed=[base], scheme=scheme) == []


def test_a_folder_without_a_set_is_refused(tmp_path: Path) -> None:
    done = subprocess.run([*STUDIO, str(tmp_path)], capture_output=True, text=True, timeout=SECONDS, check=False)
    assert done.returncode == 2
    assert "no tasks.json" in done.stderr
