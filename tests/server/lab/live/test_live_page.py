"""The live view in a real browser, with real runs: calls and score cards appear by themselves, inert."""

import json
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import httpx2
import pytest

from tests.browser import Browser, fits, unsound, walk
from tests.server.conftest import SERVE, serving
from tests.server.lab.live.conftest import Watched
from tests.server.lab.live.players import NUMBERS, player
from tests.server.lab.reports.forge import MARKUP, ODD
from tests.sets import write_set

if TYPE_CHECKING:
    from playwright.sync_api import Page

CONNECTED = ".status .badge.strong"


def test_a_run_is_followed_from_its_first_call_to_its_score_card_without_a_reload(
    browser: Browser, fresh: Watched
) -> None:
    def look(page: "Page") -> None:
        page.wait_for_selector(CONNECTED)
        assert page.get_by_text("Nobody is here yet").is_visible()
        page.evaluate("window.stayed = true")
        with player(fresh.url) as one:
            run = one.start("survey-1")
            page.wait_for_selector(".seat.busy:has-text('survey-1')")
            one.call("math__median", numbers=NUMBERS)
            row = page.locator("tr[data-call]", has_text="median").first
            row.locator(".badge.strong").wait_for()
            assert "4, 8, 15, 16, 23, 42" in row.inner_text()
            page.wait_for_selector(f"[data-value='calls.{run}']:has-text('1 call')")
            assert page.locator(".finished .figure").count() == 0
            one.call("submit", answer="2.5")
            one.call("score")
            card = page.locator(f"a[data-run='{run}']")
            card.locator(".figure").wait_for()
            assert page.evaluate("window.stayed") is True
            average = card.locator(".figure").inner_text()
            card.click()
            page.wait_for_selector("#alignment")
            assert page.locator("[data-value='average']").inner_text() == average
            assert page.url.endswith(f"/live/run/{run}")

    browser.visit(fresh.url + "/", look, allowed=[fresh.url])


def test_results_tasks_and_runs_are_pages_that_lead_to_each_other(browser: Browser, fresh: Watched) -> None:
    assert [fresh.get(path).status_code for path in ("/live/results", "/live/tasks", "/live/task/sum-1")] == [404] * 3
    with player(fresh.url) as one:
        runs = [one.play(), one.play()]

    def look(page: "Page") -> None:
        page.get_by_role("link", name="Results").click()
        page.wait_for_selector("#runs")
        assert page.url == f"{fresh.url}/live/results"
        page.get_by_role("link", name="Tasks").click()
        page.get_by_role("link", name="sum-1").click()
        page.wait_for_selector("#compare")
        assert page.locator("#runs tbody tr").count() == 2
        page.locator("#runs tbody th a").first.click()
        page.wait_for_selector("#alignment")
        assert page.url.rpartition("/")[2] in runs
        page.get_by_role("link", name="every run of this task").click()
        page.wait_for_selector("#compare")
        page.get_by_role("link", name="m3bench", exact=True).click()
        page.wait_for_selector(CONNECTED)

    browser.visit(fresh.url + "/", look, allowed=[fresh.url])
    assert [fresh.get(path).status_code for path in ("/live/task/none", "/live/task/", "/live/tasks/")] == [404] * 3


def test_the_page_the_state_and_the_command_show_the_same_numbers(browser: Browser, shared: Watched) -> None:
    with player(shared.url, "counter") as one:
        run = one.play()
        one.start("survey-1")
        one.call("math__median", numbers=NUMBERS)
        state = shared.state()
        values, rows, outcomes = browser.visit(shared.url + "/", _numbers, allowed=[shared.url])
    shown = _command(shared, run)
    (told,) = [row for row in state["runs"] if row["run"] == run]
    assert told["average"] == shown["average"] == shown["scorecard"]["metrics"]["average"]
    assert told["success"] is shown["success"]
    tools = [call for call in shown["calls"] if "/" in call["tool"]]
    assert (
        (told["calls"], told["failed"]) == (len(tools), sum(call["outcome"] != "success" for call in tools)) == (2, 1)
    )
    assert values[f"average.{run}"] == f"{shown['average']:.3f}"
    for number, line in enumerate(state["standings"]):
        assert values[f"average.{number}"] == f"{line['average']:.3f}"
        assert values[f"runs.{number}"] == str(line["runs"])
        assert values[f"solved.{number}"] == f"{line['solved']} of {line['checked']}"
    assert rows == [call["call"] for call in reversed(state["calls"])]
    assert outcomes == [call["outcome"].replace("_", " ") for call in reversed(state["calls"])]


def _numbers(page: "Page") -> tuple[dict[str, str], list[str], list[str]]:
    page.wait_for_selector(CONNECTED)
    values = {str(node.get_attribute("data-value")): node.inner_text() for node in page.locator("[data-value]").all()}
    rows = page.locator("tr[data-call]").evaluate_all("(rows) => rows.map((row) => row.dataset.call)")
    return values, rows, page.locator("td.outcome .badge").all_inner_texts()


def _command(server: Watched, run: str) -> Any:
    command = [sys.executable, "-m", "m3bench.server.cli", "runs", "show", run, "--json", "--data", str(server.data)]
    return json.loads(subprocess.run(command, capture_output=True, text=True, check=True, timeout=60).stdout)


def test_hostile_names_and_arguments_are_shown_and_inert(browser: Browser, fresh: Watched) -> None:
    def look(page: "Page") -> None:
        page.wait_for_selector(CONNECTED)
        with player(fresh.url, MARKUP) as one:
            one.start("sum-1")
            odd = ODD.replace("\ud800", "")
            one.call("math__sum", **{"numbers": NUMBERS, MARKUP: MARKUP, "odd": odd, "big": "x" * 1_000_000})
            page.locator("tr[data-call]", has_text=MARKUP[:40]).first.wait_for()
            page.locator(".seat", has_text=MARKUP[:40]).wait_for()
            one.call("submit", answer=MARKUP)
            one.call("score")
            page.locator("a.run", has_text=MARKUP[:40]).wait_for()
            page.locator("#clients", has_text=MARKUP[:40]).wait_for()
        assert page.evaluate("window.hacked") is None
        assert page.locator("#page script, #page img, #page [style]").count() == 0
        assert fits(page)

    browser.visit(fresh.url + "/", look, allowed=[fresh.url], width=390)
    assert len(fresh.get("/live/state").content) < 20_000


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [390, 1024, 1600])
def test_the_view_fits_at_any_width_and_in_both_colours(
    browser: Browser, shared: Watched, width: int, scheme: Literal["light", "dark"]
) -> None:
    def look(page: "Page") -> None:
        page.wait_for_selector(CONNECTED)
        assert [page.locator(f"#{name}").is_visible() for name in ("seats", "live-calls", "finished", "clients")] == [
            True
        ] * 4
        assert fits(page)

    browser.visit(shared.url + "/", look, allowed=[shared.url], width=width, scheme=scheme)


@pytest.mark.xdist_group("site")
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_everybody_can_read_every_page_at_any_width(
    browser: Browser, shared: Watched, axe: str, scheme: Literal["light", "dark"]
) -> None:
    with player(shared.url) as one:
        run = one.play()
        one.start("survey-1")
        one.call("math__median", numbers=NUMBERS)
        paths = ["/", "/live/results", "/live/tasks", "/live/task/sum-1", f"/live/run/{run}"]

        def look(page: "Page") -> dict[str, list[Any]]:
            found = {}
            for path in paths:
                page.goto(shared.url + path)
                page.wait_for_selector(CONNECTED if path == "/" else "html[data-ready]", state="attached")
                found[path] = unsound(page, axe)
            return found

        found = browser.visit(shared.url + "/", look, allowed=[shared.url], scheme=scheme)
    assert {path: what for path, what in found.items() if what} == {}


def test_every_control_is_reached_by_keyboard(browser: Browser, shared: Watched) -> None:
    with player(shared.url) as one:
        one.play()

    def look(page: "Page") -> None:
        page.wait_for_selector(CONNECTED)
        total, lost = walk(page)
        assert total >= 5
        assert lost == []

    browser.visit(shared.url + "/", look, allowed=[shared.url])


def test_calls_can_be_held_and_go_on(browser: Browser, shared: Watched) -> None:
    def look(page: "Page") -> None:
        page.wait_for_selector(CONNECTED)
        hold = page.locator("#live-calls button")
        hold.click()
        before = page.locator("tr[data-call]").evaluate_all("(rows) => rows.map((row) => row.dataset.call)")
        with player(shared.url) as one:
            one.call("list_tasks")
        page.wait_for_selector("#live-calls button:has-text('1 new')")
        after = page.locator("tr[data-call]").evaluate_all("(rows) => rows.map((row) => row.dataset.call)")
        assert after == before
        hold.click()
        page.locator("tr[data-call]", has_text="list_tasks").first.wait_for()

    browser.visit(shared.url + "/", look, allowed=[shared.url])


def test_a_page_finds_its_server_again_and_shows_what_happened_meanwhile(browser: Browser, tmp_path: Path) -> None:
    arguments = [
        "--tasks",
        str(write_set(tmp_path / "set")),
        "--data",
        str(tmp_path / "data"),
        "--sandbox",
        "inprocess",
    ]

    def look(page: "Page") -> None:
        page.wait_for_selector(CONNECTED)
        first.__exit__()
        page.wait_for_selector(".status .badge.missed")
        with serving([*arguments, "--http", url.removeprefix("http://")]):
            with player(url) as one:
                run = one.play()
            page.wait_for_selector(CONNECTED)
            page.wait_for_selector(f"a[data-run='{run}'] .figure")

    first = serving(arguments)
    url = first.__enter__()
    browser.visit(url + "/", look, allowed=[url], complaints="ERR_")


def test_a_server_that_is_stopped_ends_its_streams_at_once_and_quietly(tmp_path: Path) -> None:
    command = [*SERVE, "--http", "127.0.0.1:0", "--data", str(tmp_path / "data")]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        url = process.stderr.readline().split()[-1].removesuffix("/mcp")
        with httpx2.stream("GET", url + "/live/events", timeout=30) as response:
            lines = response.iter_lines()
            while next(lines) != "event: state":
                pass
            process.terminate()
            rest = list(lines)
        assert rest[0].startswith("data: ")
        said = process.stderr.read()
    assert process.returncode == 0
    assert said.splitlines() == [f"m3bench shows what happens at {url}/"]
