"""The page of a run, in a real browser: complete, inert, without a network, and the same numbers as the command."""

import json
import re
from typing import TYPE_CHECKING, Any, Literal

import pytest

from m3bench.server.scorecard.pages.legend import legend
from tests.browser import Browser, fits, walk
from tests.server.lab.reports.conftest import Played
from tests.server.lab.reports.forge import CALLS, LARGE, MARKUP

if TYPE_CHECKING:
    from playwright.sync_api import Page

SECTIONS = ["improvements", "metrics", "alignment", "calls", "checks", "outcomes", "manifest"]


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [360, 1400])
def test_a_page_draws_itself_alone_at_any_width_and_in_both_colours(
    browser: Browser, sloppy: Played, width: int, scheme: Literal["light", "dark"]
) -> None:
    def look(page: "Page") -> None:
        assert [page.locator(f"#{name}").is_visible() for name in SECTIONS] == [True] * len(SECTIONS)
        assert fits(page)
        page.locator(".call.weak, .call.strong").first.click()
        page.locator("#calls summary").first.click()
        assert fits(page)
        ground = page.evaluate("getComputedStyle(document.documentElement).backgroundColor")
        page.get_by_role("button", name="Switch to").click()
        assert page.evaluate("getComputedStyle(document.documentElement).backgroundColor") != ground

    browser.visit(sloppy.page, look, width=width, scheme=scheme)


def test_every_control_is_reached_by_keyboard_and_shows_its_focus(browser: Browser, sloppy: Played) -> None:
    def look(page: "Page") -> None:
        total, lost = walk(page)
        assert total > 12
        assert lost == []

    browser.visit(sloppy.page, look)


def test_a_chosen_call_shows_its_match_in_every_view(browser: Browser, sloppy: Played) -> None:
    alignment = sloppy.document["card"]["alignment"]
    (match,) = alignment["matches"]
    (wrong,) = alignment["instead"]
    call = next(one for one in sloppy.document["calls"] if one["actual"] == match["actual"])

    def look(page: "Page") -> None:
        one = page.locator(f'.call[data-side="reference"][data-index="{match["reference"]}"]')
        other = page.locator(f'.call[data-side="actual"][data-index="{match["actual"]}"]')
        row = page.locator(f'tr[data-call="{call["number"]}"]')
        one.focus()
        page.keyboard.press("Enter")
        assert [one.get_attribute("aria-pressed"), other.get_attribute("aria-pressed")] == ["true", "true"]
        assert page.locator(".call.chosen").count() == 2
        assert page.locator(".lines path.chosen").count() == 1
        assert "chosen" in (row.get_attribute("class") or "")
        assert "The same call" in page.locator(".detail").inner_text()
        row.locator(".pick").click()
        assert page.locator(".call.chosen").count() == 2
        row.locator(".pick").click()
        assert page.locator(".call.chosen").count() == 0
        missed = page.locator(f'.call.missed[data-side="reference"][data-index="{wrong["reference"]}"]')
        assert wrong["note"] in missed.inner_text()
        assert missed.locator(".mark").inner_text() == "✗"
        missed.click()
        chosen = page.locator(f'.call.chosen[data-side="actual"][data-index="{wrong["actual"]}"]')
        assert (chosen.count(), "43" in chosen.inner_text()) == (1, True)
        page.locator(".improvement").first.click()
        gain = advised(sloppy.document["card"])[0]
        assert page.locator(".call.chosen").count() == len(gain["reference"]) + len(gain["actual"])

    browser.visit(sloppy.page, look)


def shown_numbers(page: "Page") -> dict[str, Any]:
    def texts(where: str) -> list[str]:
        return page.locator(where).all_inner_texts()

    return {
        "values": {
            str(node.get_attribute("data-value")): node.inner_text().split()[0]
            for node in page.locator("[data-value]").all()
        },
        "gains": texts(".improvement .plus"),
        "similarities": texts(".side.reference .call:not(.missed) .similarity"),
        "rows": page.locator("tr[data-call]").count(),
        "steps": page.locator(".side.actual .step").count(),
        "outcomes": texts(".outcomes .number"),
    }


def advised(card: dict[str, Any]) -> list[dict[str, Any]]:
    """The advice that matters most, in the order in which it can be followed."""
    return sorted(card["improvements"][:3], key=lambda gain: (not gain["reference"], min(gain["reference"], default=0)))


def expected_numbers(document: dict[str, Any]) -> dict[str, Any]:
    card = document["card"]
    names = [metric["name"] for metric in legend()] + ["average"]
    return {
        "values": {
            **{name: f"{card['metrics'][name]:.3f}" for name in names},
            "paper": f"{card['paper']['metrics']['average']:.3f}",
        },
        "gains": [f"+{gain['gain']:.3f}" for gain in advised(card)],
        "similarities": [f"{match['similarity']:.2f}" for match in card["alignment"]["matches"]],
        "rows": len(document["calls"]),
        "steps": len(card["alignment"]["actual_steps"]),
        "outcomes": [str(number) for number in card["outcomes"].values()],
    }


def test_the_numbers_on_the_page_are_those_of_the_command(browser: Browser, sloppy: Played) -> None:
    assert browser.visit(sloppy.page, shown_numbers) == expected_numbers(sloppy.document)
    inside = re.search(r'id="data">(.*?)</script>', sloppy.page.read_text("utf-8"), re.DOTALL)
    assert inside is not None
    assert json.loads(inside[1]) == sloppy.document


def test_the_page_rounds_as_python_does(browser: Browser, sloppy: Played) -> None:
    from m3bench.server.scorecard.pages.run import run_page

    document = json.loads(json.dumps(sloppy.document))
    ties = [1 / 16, 3 / 16, 13 / 16, 15 / 16, 0.0005, 0.9995, 2 / 3]
    document["card"]["metrics"] |= dict(zip([*(metric["name"] for metric in legend()), "average"], ties, strict=True))
    path = sloppy.page.with_name("ties.html")
    path.write_text(run_page(document), "utf-8")
    assert browser.visit(path, shown_numbers) == expected_numbers(document)


@pytest.mark.parametrize("width", [360, 1400])
def test_a_hostile_run_is_shown_whole_and_inert(browser: Browser, hostile: Played, width: int) -> None:
    def look(page: "Page") -> None:
        assert MARKUP in page.locator(".answer").inner_text()
        assert MARKUP in page.locator(".facts").inner_text()
        assert f"{CALLS:,}".replace(",", "\u202f") + " calls in" in page.locator("#calls .note").inner_text()
        for row in (1, 2, 3, 4):
            page.locator(f'tr[data-call="{row}"] summary').click()
        told = page.locator('tr[data-call="3"]').inner_text()
        assert "5\u202f000\u202f000 characters" in told
        assert fits(page)
        for _ in range(10):
            button = page.locator("#calls .more button")
            if button.is_visible():
                button.click()
        assert page.locator("tr[data-call]").count() == CALLS
        assert page.evaluate("window.hacked") is None
        assert page.locator("#page script, #page img[onerror], #page [style]").count() == 0

    browser.visit(hostile.page, look, width=width)
    assert hostile.page.stat().st_size < 4_000_000 < LARGE


def test_what_slips_into_a_page_cannot_run(browser: Browser, sloppy: Played) -> None:
    text = sloppy.page.read_text("utf-8")
    inserted = (
        "<script>window.hacked = 1</script><img src=x onerror='window.hacked = 2'>"
        "<script src='https://example.com/x.js'></script><p style='color: red' id=slipped>x</p>"
    )
    path = sloppy.page.with_name("slipped.html")
    path.write_text(text.replace("</body>", f"{inserted}</body>"), "utf-8")

    def look(page: "Page") -> None:
        assert page.evaluate("window.hacked") is None
        assert page.evaluate("getComputedStyle(document.getElementById('slipped')).color") != "rgb(255, 0, 0)"

    browser.visit(path, look, complaints="Content Security Policy|ERR_")
    assert "unsafe-inline" not in text


def test_a_page_can_be_read_in_print(browser: Browser, sloppy: Played) -> None:
    def look(page: "Page") -> None:
        page.emulate_media(media="print", color_scheme="dark")
        assert page.get_by_role("button", name="Switch to").count() == 0
        assert page.evaluate("getComputedStyle(document.documentElement).colorScheme") == "light"
        assert page.locator("#metrics").is_visible()

    browser.visit(sloppy.page, look, scheme="dark")
