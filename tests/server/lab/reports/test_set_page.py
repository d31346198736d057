"""The pages of result sets and leaderboards in a real browser: complete, quick, inert, and the numbers of --json."""

import json
import shlex
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import pytest

from m3bench.server.lab.reports.site.files import leaderboard_page
from m3bench.server.lab.reports.slices import CUTS, slices
from m3bench.server.lab.reports.standings import Leaderboard, leaderboard_document
from m3bench.server.lab.reports.summary import SetDocument, set_document, set_page
from m3bench.server.lab.results.resultset import read_resultset
from m3bench.server.scorecard.model import CheckResult, Improvement
from m3bench.server.scorecard.pages.legend import legend
from m3bench.server.scorecard.pages.page import inert
from m3bench.tasks.library import Library
from tests.browser import Browser, broken, fits, walk
from tests.server.lab.reports.conftest import Played, m3bench
from tests.server.lab.reports.forge import MARKUP, ODD
from tests.server.lab.reports.made_sets import MANIFEST, made_set

if TYPE_CHECKING:
    from playwright.sync_api import Page

Scheme = Literal["light", "dark"]


@dataclass(frozen=True, kw_only=True)
class Documents:
    """What pages are made of."""

    set: SetDocument
    board: Leaderboard


@pytest.fixture(scope="module")
def documents() -> Documents:
    """A set, and a leaderboard with it."""
    sets = [
        made_set("first", 120, skill=0.7, repeats=2),
        made_set("second", 60, skill=0.3),
        made_set("third", 60, seed=3),
    ]
    document = set_document(sets[0], slices(sets[0].results, Library()))
    return Documents(set=document, board=leaderboard_document(sets))


@pytest.fixture(scope="module")
def files(documents: Documents, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Their pages."""
    folder = tmp_path_factory.mktemp("pages")
    (folder / "set.html").write_text(set_page(documents.set), "utf-8")
    (folder / "board.html").write_text(leaderboard_page(documents.board), "utf-8")
    return {"set": folder / "set.html", "board": folder / "board.html"}


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [390, 768, 1280, 2000])
@pytest.mark.parametrize("kind", ["set", "board"])
def test_a_page_draws_itself_at_any_width_and_in_both_colours(
    browser: Browser, files: dict[str, Path], kind: str, width: int, scheme: Scheme
) -> None:
    def look(page: "Page") -> None:
        assert page.locator("#families").is_visible()
        assert fits(page)
        for summary in page.locator("summary").all():
            summary.click()
        assert fits(page)
        assert broken(page) == []

    browser.visit(files[kind], look, width=width, scheme=scheme)


@pytest.mark.parametrize("kind", ["set", "board"])
def test_every_control_is_reached_by_keyboard(browser: Browser, files: dict[str, Path], kind: str) -> None:
    def look(page: "Page") -> None:
        if kind == "set":
            page.locator("#by-text").fill("museum-1")
        _, lost = walk(page)
        assert lost == []

    browser.visit(files[kind], look)


def test_a_page_has_the_errors_and_the_numbers_of_each_level(
    browser: Browser, files: dict[str, Path], documents: Documents
) -> None:
    document: Any = documents.set.to_json()

    def look(page: "Page") -> None:
        for one in document["errors"]:
            shown = page.locator(f"#errors [data-value='errors.{one['error']}']").inner_text()
            assert shown == str(one["runs"]), one["error"]
        for cut in CUTS:
            for name, part in document["slices"][cut].items():
                assert (
                    f"{part['metrics']['average']:.2f}"
                    in page.locator(f"#slices [data-value='{name}.average']").inner_text()
                )

    assert document["errors"]
    assert {"L1", "L2", "L3"} <= set(document["slices"]["level"])
    browser.visit(files["set"], look)


def test_a_page_of_few_families_says_what_its_intervals_do_not_cover(browser: Browser, tmp_path: Path) -> None:
    for runs, notes in ((5, ["The tasks are of 5 families"]), (60, [])):
        path = tmp_path / f"{runs}.html"
        path.write_text(set_page(set_document(made_set("some", runs))), "utf-8")

        def look(page: "Page", notes: list[str] = notes) -> None:
            shown = page.locator("[data-value='caution']").all_inner_texts()
            assert [note.partition(":")[0] for note in shown] == notes

        browser.visit(path, look)


def test_runs_are_filtered_sorted_opened_and_two_of_them_compared(
    browser: Browser, files: dict[str, Path], documents: Documents
) -> None:
    runs: Any = documents.set.to_json()["runs"]
    failed = [run for run in runs if run["success"] is False]

    def look(page: "Page") -> None:
        page.locator("#failed-only").click()
        assert page.locator("#runs [role=status]").inner_text() == f"{len(failed)} of {len(runs)} runs"
        page.locator("#by-order").select_option("worst")
        weakest = min(failed, key=lambda run: run["metrics"]["average"])
        first = page.locator("#runs tr.row").first
        assert f"{weakest['metrics']['average']:.3f}" in first.inner_text()
        first.locator(".open").click()
        assert "math/sum is missing." in page.locator("#runs tr.run-detail:not([hidden])").inner_text()
        boxes = page.locator("#runs input[type=checkbox]")
        boxes.nth(0).check()
        boxes.nth(1).check()
        chosen = sorted(failed, key=lambda run: run["metrics"]["average"])
        told = page.locator("[data-value='difference.average']").inner_text()
        difference = chosen[1]["metrics"]["average"] - chosen[0]["metrics"]["average"]
        assert told.lstrip("+") == f"{difference:.3f}"
        boxes.nth(2).check()
        assert page.locator("#runs input:checked").count() == 2

    browser.visit(files["set"], look)


GEOMETRY = """() => {
    const box = (node) => node.getBoundingClientRect();
    const across = (node) => [box(node).left, box(node).right].map(Math.round);
    const down = (node) => [box(node).top, box(node).bottom].map(Math.round);
    const table = document.querySelector(".runlist");
    const shown = [...table.rows].filter((row) => !row.hidden);
    const details = shown.filter((row) => row.classList.contains("run-detail"));
    return {
        window: innerWidth,
        table: across(table),
        heads: [...table.tHead.rows[0].cells].map(across),
        rows: [...table.querySelectorAll("tr.row")].map((row) => [...row.cells].map(across)),
        lines: shown.map(down),
        details: details.map((row) => [across(row.cells[0]), across(row.querySelector("p"))]),
    };
}"""
"""Where everything of the table of runs is: left and right of cells, top and bottom of rows."""


@pytest.mark.parametrize("width", [390, 768, 1024, 1600])
def test_opening_every_run_leaves_the_table_whole(browser: Browser, tmp_path: Path, width: int) -> None:
    page_file = tmp_path / "set.html"
    page_file.write_text(set_page(set_document(made_set("a set of twelve", 12, skill=0.6))), "utf-8")

    def look(page: "Page") -> None:
        for button in page.locator("#runs .open").all():
            button.click()
        found: dict[str, Any] = page.evaluate(GEOMETRY)
        assert all(row == found["heads"] for row in found["rows"]), "cells stand below their headings"
        assert all(upper[1] <= lower[0] + 1 for upper, lower in pairwise(found["lines"])), "no row lies over another"
        assert len(found["details"]) == 12
        left, right = found["table"]
        for cell, text in found["details"]:
            assert cell == [pytest.approx(left, abs=2), pytest.approx(right, abs=2)], "as wide as the table"
            assert text[1] <= found["window"], "can be read without scrolling sideways"
        assert fits(page)

    browser.visit(page_file, look, width=width)


def test_the_command_that_an_opened_run_names_works_where_it_is_pasted(
    browser: Browser, sloppy: Played, tmp_path: Path
) -> None:
    page_file = tmp_path / "set.html"
    page_file.write_text(set_page(set_document(read_resultset(sloppy.data))), "utf-8")

    def look(page: "Page") -> str:
        page.locator("#runs .open").click()
        return str(page.locator(".run-detail code").inner_text())

    program, *arguments = shlex.split(browser.visit(page_file, look))
    assert program == "m3bench"
    done = m3bench(*arguments, "-o", tmp_path / "run.html")
    assert done.returncode == 0, done.stderr
    assert "survey-1" in (tmp_path / "run.html").read_text("utf-8")


def test_a_link_to_a_run_opens_it_wherever_it_stands(
    browser: Browser, files: dict[str, Path], documents: Documents
) -> None:
    last = documents.set.runs[-1].run

    def look(page: "Page") -> None:
        row = page.locator(f"#run-{last}")
        assert row.locator(".open").get_attribute("aria-expanded") == "true"
        assert row.is_visible()

    browser.visit(f"{files['set'].resolve().as_uri()}#run-{last}", look, allowed=[files["set"].resolve().as_uri()])


def test_every_number_of_a_set_is_that_of_its_document(
    browser: Browser, files: dict[str, Path], documents: Documents
) -> None:
    document: Any = documents.set.to_json()
    expected = {"average": f"{document['summary']['metrics']['average']:.3f}"}
    expected |= {one["name"]: f"{document['summary']['metrics'][one['name']]:.3f}" for one in legend()}
    expected["success"] = f"{document['summary']['success'] * 100:.1f} %"
    for family, summary in document["families"].items():
        values = {"success": summary["success"], **summary["metrics"]}
        for name in ("average", "success", *(one["name"] for one in legend())):
            expected[f"{family}.{name}"] = f"{values[name]:.2f}"
    shown = browser.visit(files["set"], _values)
    assert {name: shown[name] for name in expected} == expected


def test_every_number_of_a_leaderboard_is_that_of_its_document(
    browser: Browser, files: dict[str, Path], documents: Documents
) -> None:
    expected = {}
    board: Any = documents.board.to_json()
    for entry in board["entries"]:
        name, summary = entry["name"], entry["summary"]
        low, high = entry["ranks"]["solved"]["interval"]
        expected[f"{name}.rank"] = str(low) if low == high else f"{low}–{high}"
        expected[f"{name}.success"] = f"{summary['success'] * 100:.1f} %"
        for metric in ("average", *(one["name"] for one in legend())):
            expected[f"{name}.{metric}"] = f"{summary['metrics'][metric]:.3f}"
    shown = browser.visit(files["board"], _values)
    assert {name: shown[name] for name in expected} == expected


def _values(page: "Page") -> dict[str, str]:
    return {
        str(node.get_attribute("data-value")): node.inner_text().strip() for node in page.locator("[data-value]").all()
    }


def test_a_thousand_runs_open_at_once(browser: Browser, tmp_path: Path) -> None:
    page_file = tmp_path / "set.html"
    page_file.write_text(set_page(set_document(made_set("many", 1000))), "utf-8")
    assert page_file.stat().st_size < 2_000_000

    def look(page: "Page") -> None:
        assert page.locator("#runs tr.row").count() == 25
        page.locator("#runs .more button").click()
        assert page.locator("#runs tr.row").count() == 525
        page.locator("#by-text").fill("museum-35")
        assert page.locator("#runs tr.row").count() == 1

    browser.visit(page_file, look)


@pytest.mark.parametrize("text", [MARKUP, ODD], ids=["markup", "odd"])
def test_markup_in_names_and_reasons_stays_text(browser: Browser, tmp_path: Path, text: str) -> None:
    plain = made_set("plain", 6)
    results = []
    for result in plain.results:
        checks = (CheckResult(check=text, passed=False, reason=text),)
        best = Improvement(kind="missed", gain=0.1, average=0.5, reference=(0,), actual=(), text=text)
        changes = {"family": text, "success": False, "checks": checks, "improvements": (best,)}
        results.append(replace(result, card=result.card.model_copy(update=changes)))
    header = plain.header.model_copy(update={"name": text, "agent": text, "solver": text})
    hostile = replace(plain, header=header, results=tuple(results), manifests=({**MANIFEST, "m3bench": text},))
    board = leaderboard_document([hostile, made_set("other", 6)], mixed=True)
    for name, html in (("set", set_page(set_document(hostile))), ("board", leaderboard_page(board))):
        page_file = tmp_path / f"{name}.html"
        page_file.write_text(html, "utf-8")

        def look(page: "Page") -> None:
            assert page.evaluate("window.hacked") is None
            assert page.locator("main script, main iframe, main img").count() == 0

        browser.visit(page_file, look)


def test_the_command_writes_a_page_for_a_folder_and_prints_the_same_as_json(sloppy: Played, tmp_path: Path) -> None:
    done = m3bench("report", sloppy.data, "-o", tmp_path / "set.html", "--json")
    assert done.returncode == 0, done.stderr
    document = json.loads(done.stdout)
    assert document["kind"] == "set"
    assert document["counts"]["scored"] == 1
    page = (tmp_path / "set.html").read_text("utf-8")
    assert f'id="data">{inert(document)}</script>' in page


def test_a_leaderboard_is_printed_written_and_refused_with_a_reason(sloppy: Played, tmp_path: Path) -> None:
    done = m3bench("leaderboard", sloppy.data, "-o", tmp_path / "board")
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "board" / "index.html").exists()
    nothing = m3bench("leaderboard", tmp_path)
    assert nothing.returncode == 2
    assert "holds no recorded runs" in nothing.stderr
