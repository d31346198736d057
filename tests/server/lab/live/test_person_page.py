"""A person plays: the address that works once, and whole runs in a real browser with the keyboard alone."""

import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import httpx2
import pytest

from m3bench.tasks.answers.fields import right_fields
from m3bench.tasks.catalog import expose
from m3bench.tasks.library import Library
from m3bench.tasks.task import ReferenceCall, Task
from tests.browser import Browser, serious, unsound
from tests.server.lab.reports.forge import MARKUP
from tests.sets import write_set
from tests.waiting import eventually

if TYPE_CHECKING:
    from playwright.sync_api import Page

PLAY = [sys.executable, "-m", "m3bench.server.cli", "play"]
SECONDS = 120.0


@dataclass(frozen=True, kw_only=True)
class Played:
    """A server on which a person plays."""

    address: str
    """What the terminal shows."""
    data: Path
    process: subprocess.Popen[str]

    @property
    def base(self) -> str:
        """Without the ticket."""
        return self.address.partition("/?")[0]

    def runs(self) -> Any:
        """What is on record, as the command lists it."""
        return json.loads(_m3bench("runs", "list", "--json", "--data", str(self.data)))["runs"]

    def run(self) -> Any:
        """The only run."""
        (row,) = self.runs()
        return json.loads(_m3bench("runs", "show", row["run"], "--json", "--data", str(self.data)))


def _m3bench(*words: str) -> str:
    command = [sys.executable, "-m", "m3bench.server.cli", *words]
    return subprocess.run(command, capture_output=True, text=True, check=True, timeout=SECONDS).stdout


@contextmanager
def played(folder: Path, *words: str, browser: str | None = None) -> Iterator[Played]:
    """A server for a person, whose Ctrl-C it gets in the end."""
    command = [*PLAY, *words, *([] if browser else ["--no-open"]), "--data", str(folder / "data")]
    env = {**os.environ, **({"BROWSER": browser} if browser else {})}
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True, env=env)
    assert process.stderr is not None
    line = process.stderr.readline()
    found = re.search(r"http://127\.0\.0\.1:\d+/\?ticket=\S+", line)
    assert found is not None, line + process.stderr.read()
    try:
        yield Played(address=found[0], data=folder / "data", process=process)
    finally:
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=SECONDS)
    assert process.returncode == 130, errors
    assert "Traceback" not in errors


def _given(html: str) -> Any:
    """The data in a page."""
    found = re.search(r'<script type="application/json" id="data">(.*?)</script>', html, re.DOTALL)
    assert found is not None
    return json.loads(found[1])


def test_the_address_opens_one_browser_once_and_ctrl_c_gives_up_what_runs(tmp_path: Path) -> None:
    tasks, seen = write_set(tmp_path / "set"), tmp_path / "seen"
    script = tmp_path / "browser"
    script.write_text(f'#!/bin/sh\necho "$1" > {seen}\n', "utf-8")
    script.chmod(0o755)
    with played(tmp_path, "sum-1", "--tasks", str(tasks), browser=f"{script} %s &") as one:
        eventually(lambda: seen.exists() and seen.read_text("utf-8").strip() == one.address, "the browser opens")
        with closing(_refused_and_let_in(one)) as page:
            html = page.get(one.base).text
            given = _given(html)
            _start(page, one, given["token"])
        assert "connect-src 'self'" in html
        assert "default-src 'none'" in html
        assert not any(secret in html for secret in ("Add 4, 8, 15", "answer_names"))
        assert (given["task"], given["tasks"], given["client"]) == ("sum-1", ["sum-1"], "person")
        assert given["token"] not in one.address + str(page.cookies)
    (run,) = one.runs()
    assert (run["state"], run["task"]) == ("abandoned", "sum-1")


def _refused_and_let_in(one: Played) -> httpx2.Client:
    """Somebody who came by the address, after others were turned away."""
    first, second = httpx2.Client(timeout=30), httpx2.Client(timeout=30)
    assert first.get(one.base).status_code == 401
    assert first.get(f"{one.base}/?ticket=another").status_code == 401
    assert first.post(one.base).status_code == 405
    assert first.get(f"{one.base}/live/state").status_code == 404
    assert first.get(one.address, headers={"origin": "https://evil.example"}).status_code == 403
    assert first.get(one.address, headers={"host": "evil.example"}).status_code == 421
    assert first.post(f"{one.base}/mcp", json={}).status_code == 401
    opened = first.get(one.address)
    assert (opened.status_code, opened.headers["location"]) == (303, "/")
    assert {"HttpOnly", "SameSite=strict"} <= set(opened.headers["set-cookie"].split("; "))
    shown = first.get(one.base)
    assert (shown.status_code, shown.headers["cache-control"]) == (200, "no-store")
    assert shown.headers["content-security-policy"] == "frame-ancestors 'none'"
    assert second.get(one.address).status_code == 401, "the address was used already"
    second.close()
    assert first.get(one.address).status_code == 303, "who has the page may open the address again"
    # The cookie shows the page, and opens no door for clients.
    assert first.post(f"{one.base}/mcp", json={}).status_code == 401
    return first


def _start(page: httpx2.Client, one: Played, token: str) -> None:
    """Start the task as the page does, and leave it there."""
    headers = {"authorization": f"Bearer {token}", "accept": "application/json, text/event-stream", "origin": one.base}
    about = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "person", "version": "1"}}

    def ask(method: str, **parameters: Any) -> httpx2.Response:
        message = {"jsonrpc": "2.0", "id": 1, "method": method, "params": parameters}
        return page.post(f"{one.base}/mcp", json=message, headers=headers)

    headers["mcp-session-id"] = ask("initialize", **about).headers["mcp-session-id"]
    page.post(f"{one.base}/mcp", json={"jsonrpc": "2.0", "method": "notifications/initialized"}, headers=headers)
    assert "How much is everything" in ask("tools/call", name="start_task", arguments={}).text


@pytest.mark.parametrize(
    ("words", "says"),
    [(["none-1"], "There is no task 'none-1'"), (["--tasks", "nowhere"], "nowhere"), (["--port", "70000"], "65535")],
)
def test_what_cannot_be_played_is_said_at_once(words: list[str], says: str, tmp_path: Path) -> None:
    command = [*PLAY, *words, "--no-open", "--data", str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=SECONDS, check=False)
    assert (done.returncode, done.stdout) == (2, "")
    assert says in done.stderr


FOCUSED = """() => {
    const node = document.activeElement, part = node.closest("section"), draft = node.closest("[data-tool]");
    return { id: node.id, tag: node.tagName, field: node.dataset.field ?? "", adds: "adds" in node.dataset,
        lines: "lines" in node.dataset, part: part ? part.id : "", tool: draft ? draft.dataset.tool : "",
        closed: node.tagName === "SUMMARY" && !node.parentNode.open };
}"""
"""What has the focus, and where it is."""


class Person:
    """Somebody who plays with the keyboard alone."""

    def __init__(self, page: "Page") -> None:
        self._page = page
        self._turns = 0

    @property
    def focused(self) -> Any:
        """What has the focus."""
        return self._page.evaluate(FOCUSED)

    def press(self, key: str) -> None:
        """Press a key."""
        self._page.keyboard.press(key)

    def go(self, id: str, key: str = "Tab") -> None:
        """Press Tab until something has the focus."""
        for _ in range(600):
            if self.focused["id"] == id:
                return
            self.press(key)
        raise AssertionError(f"#{id} is never reached with {key}")

    def begin(self) -> None:
        """Begin the task."""
        self.go("begin")
        self.press("Enter")
        self._page.wait_for_selector(".play")

    def step(self, calls: Sequence[ReferenceCall]) -> None:
        """Gather calls and send them as one turn."""
        for call in calls:
            self.go("find", "Shift+Tab")
            self.press("Control+a")
            self._page.keyboard.type(expose(call.tool).replace("__", " "))
            self.press("Enter")
            self._page.wait_for_function("() => document.activeElement.id !== 'find'")
            self._fill(dict(call.arguments), "turn")
        self.press("Control+Enter")
        self._turns += 1
        self._page.wait_for_selector(f"[data-turn='{self._turns}']:not(:has(.badge.plain))")

    def hand_in(self, answer: str, fields: Mapping[str, Any]) -> None:
        """Fill in what is asked for, hand it in, and wait for the score card."""
        self._fill({**fields, "answer": answer}, "hand-in")
        self.go("hand-in-now")
        self.press("Enter")
        self._page.wait_for_selector("h1:has-text('Your score card')")
        self._page.wait_for_selector("#checks, #metrics")

    def _fill(self, values: dict[str, Any], part: str) -> None:
        """Go through a form in its order and give every value where its field is."""
        for _ in range(600):
            if not values:
                return
            here = self.focused
            if here["part"] == part and here["closed"] and here["tool"]:
                self.press("Enter")
            elif here["part"] == part and here["field"] in values:
                self._give(values.pop(here["field"]), here)
            self.press("Tab")
        raise AssertionError(f"there are no fields for {sorted(values)}")

    def _give(self, value: Any, here: Any) -> None:
        type_ = self._page.keyboard.type
        if here["adds"]:
            for row in value:
                self.press("Enter")
                self._fill(dict(row), here["part"])
                self._back(here["field"])
        elif here["tag"] == "SELECT":
            type_({True: "yes", False: "no"}.get(value, str(value)) if isinstance(value, bool) else str(value))
        elif here["lines"] and isinstance(value, list):
            type_("\n".join(one if isinstance(one, str) else json.dumps(one) for one in value))
        else:
            type_(value if isinstance(value, str) else json.dumps(value))

    def _back(self, field: str) -> None:
        """To the button that adds another row."""
        for _ in range(60):
            here = self.focused
            if here["adds"] and here["field"] == field:
                return
            self.press("Tab")
        raise AssertionError("the button for another row is never reached")


def average(page: "Page") -> str:
    """The average on the card."""
    return page.locator("[data-value='average']").first.inner_text()


TASKS = {
    "desk": "fleet-6",
    "m3": "med_excel-7",
    "recordings": "signposts-6",
    "snapshots": "seating-5",
    "studio": "poster-6",
    "tests": "survey-1",
}
"""A task of each set."""


def _task(name: str, folder: Path) -> tuple[str, Task]:
    """Where the set of a task is, and the task."""
    where = str(write_set(folder / "set")) if name == "tests" else name
    return where, Library(Path(where)).task(TASKS[name])


@pytest.mark.all_sample(2)
@pytest.mark.apart
@pytest.mark.parametrize("name", TASKS)
def test_a_task_of_every_set_is_played_to_the_end_with_the_keyboard_alone(
    browser: Browser, name: str, tmp_path: Path
) -> None:
    where, task = _task(name, tmp_path)

    def look(page: "Page") -> None:
        person = Person(page)
        person.begin()
        for step in task.references[0].steps:
            person.step(step)
        person.hand_in(task.answer or "2.5", right_fields(task.fields))
        assert average(page) == "1.000"
        assert page.get_by_text("✓ solved").first.is_visible()

    with played(tmp_path, task.id, "--tasks", where) as one:
        browser.visit(one.address, look, allowed=[one.base], ready="#begin")
        found = one.run()
    assert (found["state"], found["success"], found["average"]) == ("scored", True, 1.0)
    assert {call["client"].split()[0] for call in found["calls"]} == {"person"}
    steps = [[expose(call.tool) for call in step] for step in task.references[0].steps]
    tools = [call["tool"].replace("/", "__") for call in found["calls"] if "/" in call["tool"]]
    assert sorted(tools) == sorted(tool for step in steps for tool in step)


def test_a_wrong_run_survives_a_reload_and_its_card_says_what_was_wrong(
    browser: Browser, axe: str, tmp_path: Path
) -> None:
    task = Library(Path("m3")).task("items_price-1")
    right = right_fields(task.fields)

    def sound(page: "Page") -> None:
        page.emulate_media(color_scheme="dark")
        assert serious(page, axe) == []
        page.emulate_media(color_scheme="light")
        assert unsound(page, axe) == []

    def look(page: "Page") -> None:
        person = Person(page)
        sound(page)
        assert "null" not in page.locator("#page").inner_text()
        person.begin()
        sound(page)
        person.step(task.references[0].steps[0][:2])
        sound(page)
        values = page.locator("#results button.value")
        assert values.count() > 5
        answers = page.locator("#results").inner_text()
        page.reload()
        page.wait_for_selector("#results .badge")
        assert page.locator("#results").inner_text() == answers
        person.go("notebook")
        page.keyboard.type("the shelf above")
        # A value that is chosen goes into the field that had the focus last, and the focus with it.
        page.locator("[data-field='upper_total']").focus()
        values.first.focus()
        person.press("ArrowRight")
        chosen = page.evaluate("document.activeElement.dataset.value")
        person.press("Enter")
        assert person.focused["field"] == "upper_total"
        assert page.input_value("[data-field='upper_total']") == chosen
        assert page.input_value("#notebook") == "the shelf above"
        person.press("Control+a")
        person.hand_in("It is more.", {**dict.fromkeys(right, 1), "picture_mark": "AAAA"})
        assert page.get_by_text("✗ not solved").first.is_visible()
        assert page.get_by_text("right is").count() == len(right)
        sound(page)
        person.go("another")
        person.press("Enter")
        page.wait_for_selector("#begin")

    with played(tmp_path, task.id) as one:
        browser.visit(one.address, look, allowed=[one.base], ready="#begin")
        found = one.run()
    assert (found["state"], found["success"]) == ("scored", False)
    assert found["scorecard"]["metrics"]["average"] < 1


def test_the_picture_is_looked_at_closely_and_hostile_words_stay_words(browser: Browser, tmp_path: Path) -> None:
    folder = write_set(tmp_path / "set")
    document = json.loads((folder / "tasks.json").read_text("utf-8"))
    document["tasks"][1]["question"] = MARKUP
    (folder / "tasks.json").write_text(json.dumps(document), "utf-8")

    def look(page: "Page") -> None:
        person = Person(page)
        person.begin()
        page.locator("button.picture").first.focus()
        person.press("Enter")
        page.wait_for_selector("dialog[open] img")
        person.press("+")
        assert "150" in page.locator(".viewer-head .number").inner_text()
        person.press("Escape")
        assert page.evaluate("document.activeElement.className") == "picture"
        person.go("find")
        page.keyboard.type("excel create workbook")
        person.press("Enter")
        page.keyboard.type(MARKUP)
        person.press("Control+Enter")
        page.wait_for_selector("#results .badge:not(.plain)")
        person.go("find", "Shift+Tab")
        page.keyboard.type(MARKUP)
        page.locator("#find").fill("")
        assert page.get_by_text(MARKUP[:30]).first.is_visible()
        assert page.evaluate("window.hacked") is None
        assert page.locator("#page script, #page [onerror], #page iframe").count() == 0

    with played(tmp_path, "sum-1", "--tasks", str(folder)) as one:
        browser.visit(one.address, look, allowed=[one.base], ready="#begin", width=390)
