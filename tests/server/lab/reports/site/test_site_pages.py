"""The site of six sets of runs in a real browser: every link followed, at every width, in both colours."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Literal
from urllib.parse import unquote, urlparse

import pytest

from m3bench.server.lab.interchange.verdict import BundleVerdict, Coverage, Discrepancy
from m3bench.server.lab.reports.site.files import leaderboard_page, write_site
from m3bench.server.lab.reports.standings import leaderboard_document
from m3bench.server.lab.results.resultset import read_resultset
from m3bench.tasks.library import Library
from tests.browser import Browser, broken, serious, walk
from tests.server.lab.reports.made_sets import made_set
from tests.server.lab.reports.site.stored import stored_set
from tests.server.made import FULL

if TYPE_CHECKING:
    from playwright.sync_api import Page

pytestmark = [pytest.mark.browser, pytest.mark.xdist_group("site")]

WIDTHS = (360, 768, 1280, 2000)
SCHEMES: tuple[Literal["light", "dark"], ...] = ("light", "dark")


RUNS = 60 if FULL else 16
"""Of each set."""

_SIGNED = {"started": 71, "scored": 60, "abandoned": 11}
VERDICTS = (
    BundleVerdict(name="mini", differences=[Discrepancy(where="a run", what="average", claimed=1.0, recomputed=0.2)]),
    BundleVerdict(
        name="small", runs=60, public=True, notes=["Not every call was made again: 12 of 60 runs were chosen."]
    ),
    BundleVerdict(name="huge", runs=60, replayed=60, coverage=Coverage(planned=60, scored=60)),
    BundleVerdict(name="a model with quite a long name", runs=60, signers=["1f" * 8, "2e" * 8], starts=_SIGNED),
)
"""One of every level; the other sets have none."""


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The site."""
    folder = tmp_path_factory.mktemp("site")
    sets = [
        stored_set(folder, name, RUNS, skill=0.2 + 0.14 * number)
        for number, name in enumerate(("mini", "small", "middle", "large", "huge", "a model with quite a long name"))
    ]
    found = [read_resultset(one) for one in sets]
    write_site(
        folder / "out", found, libraries=[Library()], verdicts={verdict.name: verdict.document for verdict in VERDICTS}
    )
    return folder / "out"


CUT = """() => {
    const cut = [...document.querySelectorAll("table")].filter((table) => table.checkVisibility()).filter((table) => {
        const region = table.closest(".scroll, .feed");
        if (region) return !(region.tabIndex === 0 && region.getAttribute("aria-label"));
        return table.scrollWidth > table.clientWidth + 1 || table.getBoundingClientRect().right > innerWidth + 1;
    }).map((table) => table.className);
    return document.documentElement.scrollWidth > innerWidth ? [...cut, "page"] : cut;
}"""
"""What sticks out: tables that cannot be scrolled to, and the page itself."""

LINKS = """() => [...document.querySelectorAll("a[href]")].map((link) =>
    new URL(link.getAttribute("href"), location.href).href)"""


def _pages(written: Path) -> Iterator[Path]:
    """One page of every kind."""
    yield from (written / name for name in ("index.html", "board.html", "tasks.html"))
    for folder in ("sets", "runs", "tasks"):
        yield min((written / folder).glob("*.html"))


def _look(page: "Page", path: Path) -> list[Path]:
    """Open a page and see that it is whole; returns the files that it leads to."""
    page.goto(path.as_uri())
    page.wait_for_selector("html[data-ready]", state="attached")
    assert page.evaluate(CUT) == [], (path, page.viewport_size)
    assert broken(page) == [], (path, page.viewport_size)
    links = page.evaluate(LINKS)
    assert [link for link in links if not link.startswith("file:")] == []
    return [Path(unquote(urlparse(link).path)) for link in links]


def test_every_link_is_followed_and_nothing_is_cut_at_any_width(browser: Browser, written: Path) -> None:
    pages, samples = sorted(written.rglob("*.html")), list(_pages(written))
    assert len(pages) == 3 + 6 + 6 * RUNS + RUNS
    windows = [(width, scheme) for width in WIDTHS for scheme in SCHEMES]
    leads: dict[Path, list[Path]] = {}
    for number, (width, scheme) in enumerate(windows):
        # Every page in one of the windows, and one of every kind in each.
        mine = [*pages[number :: len(windows)], *samples]

        def look(page: "Page", mine: list[Path] = mine) -> None:
            leads.update({path: _look(page, path) for path in mine})

        browser.visit(written / "index.html", look, width=width, scheme=scheme, allowed=[written.as_uri()])
    assert [path for found in leads.values() for path in found if not path.is_file()] == []
    reached, waiting = set(), [written / "index.html"]
    while waiting:
        path = waiting.pop()
        if path.suffix == ".html" and path not in reached:
            reached.add(path)
            waiting += leads[path]
    assert reached == set(pages), "every page is found from the first"


@pytest.mark.parametrize("scheme", SCHEMES)
def test_axe_finds_nothing_serious_on_any_kind_of_page(
    browser: Browser, written: Path, axe: str, scheme: Literal["light", "dark"]
) -> None:
    def look(page: "Page") -> None:
        for path in _pages(written):
            page.goto(path.as_uri())
            page.wait_for_selector("html[data-ready]", state="attached")
            for summary in page.locator("summary").all()[:12]:
                summary.click()
            for width in (360, 1280):
                page.set_viewport_size({"width": width, "height": 900})
                assert serious(page, axe) == [], (path.name, width)

    browser.visit(written / "index.html", look, scheme=scheme, allowed=[written.as_uri()])


def test_numbers_on_the_pages_are_those_of_the_json(browser: Browser, written: Path) -> None:
    board = json.loads((written / "leaderboard.json").read_text("utf-8"))

    def values(page: "Page") -> dict[str, str]:
        found = page.evaluate(
            "() => [...document.querySelectorAll('[data-value]')].map((node) => [node.dataset.value, node.textContent])"
        )
        return dict(found)

    shown = browser.visit(written / "board.html", values)
    home = browser.visit(written / "index.html", values)
    for entry in board["entries"]:
        name, summary = entry["name"], entry["summary"]
        assert shown[f"{name}.success"] == home[f"{name}.success"] == f"{summary['success'] * 100:.1f} %"
        assert shown.get(f"{name}.level") == entry.get("verdict", {}).get("verdict"), name
        assert shown[f"{name}.average"] == home[f"{name}.average"] == f"{summary['metrics']['average']:.3f}"
        for family, part in entry["families"].items():
            assert shown[f"{name}.{family}"] == f"{part['metrics']['average']:.2f}"


def test_numbers_of_sets_and_runs_are_those_of_the_json(browser: Browser, written: Path) -> None:
    def words(page: "Page") -> str:
        return " ".join(page.inner_text("body").split())

    for path in sorted((written / "sets").glob("*.html")):
        document = json.loads(path.with_suffix(".json").read_text("utf-8"))
        text, summary = browser.visit(path, words), document["summary"]
        assert f"{summary['success'] * 100:.1f} % solved" in text
        run = document["runs"][0]
        alone = browser.visit(written / "runs" / f"{run['run']}.html", words)
        for entry in document["legend"]:
            name, meaning = entry["name"], entry["meaning"]
            assert f"{meaning} {summary['metrics'][name]:.3f}" in text, (path, name)
            assert f"{meaning} {run['metrics'][name]:.3f}" in alone, (run["run"], name)
        assert f"{run['metrics']['average']:.3f} average" in alone


def test_a_board_is_sorted_and_searched_by_keyboard(browser: Browser, written: Path) -> None:
    names = "() => [...document.querySelectorAll('#standings tbody th a')].map((link) => link.textContent)"

    def look(page: "Page") -> None:
        first = page.evaluate(names)
        button = page.locator("#standings button.sort", has_text="set")
        button.focus()
        page.keyboard.press("Enter")
        assert page.evaluate(names) == sorted(first)
        page.keyboard.press("Enter")
        assert page.evaluate(names) == sorted(first, reverse=True)
        assert page.locator("#standings th[aria-sort=descending]").count() == 1
        page.locator("#by-text").fill("MID")
        assert page.evaluate(names) == ["middle"]

    browser.visit(written / "board.html", look)


def test_a_link_to_two_runs_shows_them_side_by_side(browser: Browser, written: Path) -> None:
    page_file = min((written / "tasks").glob("*.html"))

    def look(page: "Page") -> None:
        runs = page.evaluate(
            "() => JSON.parse(document.getElementById('data').textContent).runs.map((run) => [run.run, run.set])"
        )
        page.goto(f"{page_file.as_uri()}#compare={runs[4][0]},{runs[2][0]}")
        assert page.locator(".side-run h3").all_inner_texts() == [runs[4][1], runs[2][1]]
        page.locator("#side-1").select_option(runs[0][0])
        assert page.locator(".side-run h3").all_inner_texts() == [runs[4][1], runs[0][1]]
        assert page.url.endswith(f"#compare={runs[4][0]},{runs[0][0]}")

    browser.visit(page_file, look, allowed=[page_file.as_uri()])


@pytest.mark.parametrize("name", ["index.html", "tasks.html", "board.html"])
def test_every_control_is_reached_by_keyboard(browser: Browser, written: Path, name: str) -> None:
    def look(page: "Page") -> None:
        _, lost = walk(page)
        assert lost == []

    browser.visit(written / name, look)


def test_a_board_of_fifty_sets_and_a_thousand_runs_draws_what_is_looked_at(browser: Browser, tmp_path: Path) -> None:
    sets = [made_set(f"model {number}", 20, skill=0.2 + 0.014 * number) for number in range(50)]
    board = leaderboard_document(sets)
    path = tmp_path / "board.html"
    path.write_text(leaderboard_page(board), "utf-8")
    assert path.stat().st_size < 2_000_000
    assert len(board.pairs) == 50 * 49

    def look(page: "Page") -> None:
        assert page.evaluate("document.querySelectorAll('*').length") < 10_000
        assert page.evaluate(CUT) == []
        rows = page.locator("#pairs tbody tr")
        assert rows.count() == 0
        page.locator("#pairs summary").click()
        rows.first.wait_for()
        assert rows.count() == 100
        page.locator("#pairs .more button").click()
        assert rows.count() == 600
        assert page.evaluate(CUT) == []

    browser.visit(path, look, width=768)
