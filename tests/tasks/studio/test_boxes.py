"""Boxes are where the renderer draws."""

import pytest

from m3bench.tasks.studio import rendering
from m3bench.tasks.studio.page import Page, box, element, page_of, text

EMPTY = Page(width=600, height=100)


@pytest.mark.parametrize("weight", [400, 600, 700])
@pytest.mark.parametrize("words", ["Eat more of these", "WAVE TO AVA, TO YOU", "illicit filling", "Wm 100 g, 9.85 mg"])
def test_a_line_is_as_wide_as_it_is_drawn(words: str, weight: int) -> None:
    line = text("line", 20, 70, 40, words, "#000000", font_weight=weight)
    left, top, right, bottom = rendering.box_of(line, EMPTY)
    seen = rendering.drawn_box(line, EMPTY)
    assert (seen[0], seen[2]) == pytest.approx((left, right), abs=0.025 * (right - left) + 4)
    assert top - 3 <= seen[1]
    assert seen[3] <= bottom + 3


@pytest.mark.parametrize("anchor", ["start", "middle", "end"])
def test_a_line_begins_where_its_anchor_says(anchor: str) -> None:
    line = text("line", 300, 70, 40, "Hamburg", "#000000", text_anchor=anchor)
    assert rendering.drawn_box(line, EMPTY)[0] == pytest.approx(rendering.box_of(line, EMPTY)[0], abs=5)


def test_shapes_are_where_their_numbers_say() -> None:
    shapes = (
        box("r", 20, 10, 60, 40, "#ff0000"),
        element("circle", "c", {"cx": 60, "cy": 50, "r": 20, "fill": "#00ff00"}),
        element("polygon", "p", {"points": "10,10 90,10 50,80", "fill": "#0000ff"}),
    )
    for one in shapes:
        assert rendering.drawn_box(one, EMPTY) == pytest.approx(rendering.box_of(one, EMPTY), abs=1.5)


def test_an_outline_has_the_box_of_what_is_drawn() -> None:
    mark = element(
        "path", "m", {"d": "M0 0 L10 0 L10 10 Z", "transform": "translate(50 20) scale(3)", "fill": "#123456"}
    )
    assert rendering.box_of(mark, EMPTY) == pytest.approx((50, 20, 80, 50), abs=1.5)


def test_points_are_inside_or_outside() -> None:
    room = element("polygon", "room", {"points": "0,0 100,0 100,40 40,40 40,90 0,90"})
    assert rendering.contains(room, 20, 80)
    assert not rendering.contains(room, 70, 80)
    assert rendering.contains(box("b", 10, 10, 5, 5, "none"), 12, 12)


def test_overlaps_are_found() -> None:
    page = page_of(
        100, 100, box("a", 0, 0, 50, 50, "none"), box("b", 40, 40, 50, 50, "none"), box("c", 92, 0, 8, 8, "none")
    )
    assert list(rendering.overlapping(page, ["a", "b", "c"])) == [("a", "b")]


def test_a_page_is_rendered_in_its_size_and_never_too_large() -> None:
    assert rendering.size(EMPTY, 2) == (1200, 200)
    assert max(rendering.size(Page(width=4000, height=10))) == rendering.LARGEST_SIDE
    assert rendering.picture(EMPTY, 0.5).size == (300, 50)
