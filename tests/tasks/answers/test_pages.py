"""Checks of pages: by content and geometry, with the metrics that pages are rendered in."""

from pathlib import Path

import pytest

from m3bench.tasks.answers.base import AnswerContext
from m3bench.tasks.answers.files import File
from m3bench.tasks.answers.pages import (
    BarsTrue,
    MarksIn,
    NoOverlap,
    PageCheck,
    PageKept,
    PageLacks,
    PageLooks,
    PageSays,
    TextFits,
)
from m3bench.tasks.checks import Evidence
from m3bench.tasks.studio.page import Page, box, element, line, page_of, text

CHART = page_of(
    200, 120, box("panel", 10, 4, 100, 20, "#eeeeee"), text("title", 14, 18, 12, "Fruit we sell", "#000000"),
    line("axis", 40, 100, 190, 100, "#000000"),
    [text(f"tick-{at}", 36, 100 - 30 * at, 10, f"{10 * at}", "#000000", text_anchor="end") for at in range(3)],
    box("bar-1", 60, 55, 20, 45, "#446688", rx=2), box("bar-2", 100, 40, 20, 60, "#446688"),
)  # fmt: skip
BARS = BarsTrue(axis="axis", bars={"bar-1": 15, "bar-2": 20}, ticks=("tick-0", "tick-1", "tick-2"))


def change(page: Page, name: str, words: str | None = None, **attributes: float | str) -> Page:
    return page.with_element(
        page[name].changed({key.replace("_", "-"): value for key, value in attributes.items()}, words)
    )


def test_true_bars_pass_and_whatever_misleads_is_named() -> None:
    assert BARS.fault(CHART) is None
    assert BARS.fault(change(CHART, "tick-0", "10")) == "the axis does not begin at zero"
    assert BARS.fault(change(CHART, "tick-1", "12")) == "12 is at the wrong height of the axis"
    assert BARS.fault(change(CHART, "bar-1", y=60, height=40)) == "bar-1 is not as high as its figure"
    assert BARS.fault(change(CHART, "bar-1", y=50)) == "bar-1 does not stand on the axis"
    assert BARS.fault(change(CHART, "tick-1", "some")) == "tick-1 is no number"
    assert BARS.fault(CHART.without(["bar-2"])) == "bar-2 is missing"
    lifted = CHART
    for number in range(3):
        lifted = change(lifted, f"tick-{number}", f"{10 * number + 50}")
    assert BARS.fault(lifted) == "the axis does not begin at zero"


def test_what_was_right_is_kept_but_for_what_is_free() -> None:
    kept = PageKept(
        kept={one.name: one.digest(("height", "y") if one.name == "bar-1" else ()) for one in CHART.elements},
        free={"bar-1": ("height", "y")},
        open=("new",),
    )
    assert kept.fault(CHART) is None
    assert kept.fault(change(CHART, "bar-1", y=70, height=30)) is None
    assert kept.fault(change(CHART, "bar-1", x=61)) == "something of bar-1 was right and was changed"
    assert kept.fault(change(CHART, "title", "Fruit we SELL")) == "something of title was right and was changed"
    assert kept.fault(CHART.without(["panel"])) == "panel is gone"
    assert kept.fault(CHART.with_element(box("new", 0, 0, 1, 1, "none"))) is None
    assert kept.fault(CHART.with_element(box("cover", 0, 0, 200, 120, "#ffffff"))) == "cover was added"
    front = CHART.without(["panel"]).with_element(CHART["panel"])
    assert kept.fault(front) == "elements are in another order"


def test_texts_fit_by_real_metrics_and_are_not_shrunk_to_nothing() -> None:
    check = TextFits(boxes={"title": "panel"}, least={"title": 9.0})
    assert check.fault(CHART) is None
    assert check.fault(change(CHART, "title", "Fruit we sell in autumn")) == "title sticks out of panel"
    assert check.fault(change(CHART, "title", "lillil lillil lillil il")) is None
    assert check.fault(change(CHART, "title", font_size=8.5)) == "title is too small to be read"
    assert check.fault(CHART.without(["panel"])) == "panel is missing"


def test_a_page_says_and_lacks_what_it_must() -> None:
    says = PageSays(texts={"title": "Fruit we sell", "tick-1": "10.00"})
    assert says.fault(CHART) is None
    assert says.fault(change(CHART, "title", "fruit  WE sell")) is None
    assert says.fault(change(CHART, "tick-1", "10.01")) == "tick-1 says '10.01'"
    assert says.fault(CHART.without(["title"])) == "title is missing"
    assert PageLacks(names=("bar-3",)).fault(CHART) is None
    assert PageLacks(names=("bar-2",)).fault(CHART) == "bar-2 is still there"


def test_things_lie_apart_and_on_the_sheet() -> None:
    check = NoOverlap(names=("title", "bar-1", "bar-2"))
    assert check.fault(CHART) is None
    assert check.fault(change(CHART, "bar-2", x=75)) == "bar-1 and bar-2 overlap"
    assert check.fault(change(CHART, "bar-2", x=190)) == "bar-2 is outside"


def test_marks_lie_in_their_areas() -> None:
    plan = page_of(
        100, 100, element("polygon", "hall", {"points": "0,0 90,0 90,40 40,40 40,90 0,90"}),
        box("office", 40, 40, 50, 50, "none"),
        element("circle", "mark", {"cx": 20, "cy": 70, "r": 5}),
    )  # fmt: skip
    assert MarksIn(marks={"mark": "hall"}).fault(plan) is None
    assert MarksIn(marks={"mark": "office"}).fault(plan) == "mark is not in office"
    assert MarksIn(marks={"mark": "hall"}).fault(change(plan, "mark", cx=38)) == "mark is not in hall"


def test_parts_look_right_whatever_they_are_made_of() -> None:
    check = PageLooks(svg=CHART.svg(), parts=((50, 30, 130, 100),))
    assert check.fault(CHART) is None
    same = CHART.without(["bar-2"]).with_element(
        element("polygon", "bar-2", {"points": "100,40 120,40 120,100 100,100", "fill": "#446688"})
    )
    assert check.fault(same) is None
    assert check.fault(change(CHART, "bar-2", x=128)) == "part 1 does not look right"
    assert check.fault(change(CHART, "title", "elsewhere")) is None


@pytest.mark.parametrize("check", [BARS, PageSays(texts={"a": "b"}), PageLooks(svg=CHART.svg(), parts=((0, 0, 9, 9),))])
def test_a_file_that_is_no_page_fails_with_a_reason(check: PageCheck, tmp_path: Path) -> None:
    evidence = Evidence(answer="", workspace=tmp_path)
    assert check.run(evidence).reason == "there is no *.svg"
    (tmp_path / "a.svg").write_bytes(b"<svg><image/></svg>")
    assert not check.run(evidence).passed


def test_a_revised_file_is_handed_in_by_its_path(tmp_path: Path) -> None:
    field = File(form="svg", value="./chart.svg", holds=(BARS,))
    (tmp_path / "chart.svg").write_text(CHART.svg())
    (tmp_path / "bad.svg").write_text(change(CHART, "bar-1", height=10).svg())
    asked = AnswerContext(evidence=Evidence(answer="", workspace=tmp_path))
    assert field.problem("./chart.svg", asked) is None
    assert field.problem("bad.svg", asked) == "bar-1 does not stand on the axis"
    assert field.problem("none.svg", asked) == "there is no file 'none.svg'"
