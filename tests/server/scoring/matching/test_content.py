"""What is put into files is compared as what it makes: rows, marks and texts, not their layout."""

from typing import Any

import pytest

from m3bench.server.scoring.matching.content import ELSEWHERE, POINTS_RIGHT, share, together

TABLE: list[list[Any]] = [["Name", "Titles"], ["Simvastatin", 0], ["Hypertension", 1], ["Prednisolone", 2]]
ARROW = {"x1": 100, "y1": 100, "x2": 400, "y2": 100, "thickness": 8}
BOX: dict[str, Any] = {"name": "seal", "bbox": {"xmin": 100, "ymin": 100, "xmax": 300, "ymax": 200}}


@pytest.mark.parametrize(
    "asked",
    [
        TABLE,
        [["Item", "Hits"], *TABLE[1:]],
        TABLE[1:],
        [*TABLE[:0:-1]],
        [["Titles", "Name"], *([number, name] for name, number in TABLE[1:])],
        [[*row] for row in zip(*TABLE, strict=True)],
        [["Name", "Titles"], ["SIMVASTATIN", "0"], ["hypertension", 1.0], ["Prednisolone", 2], ["Total", 3]],
    ],
    ids=["same", "other headings", "no headings", "other order", "columns swapped", "turned", "spelling and more"],
)
def test_the_layout_of_a_table_is_free(asked):
    assert share("data", TABLE, asked) == 1


def test_a_table_about_other_things_has_nothing_of_it():
    assert share("data", TABLE, [["Name", "Titles"], ["Migraine", 0], ["Vertigo", 1], ["Eczema", 2]]) == 0


def test_numbers_beside_the_wrong_names_do_not_count():
    assert (
        share("data", TABLE, [["Name", "Titles"], ["Simvastatin", 2], ["Hypertension", 0], ["Prednisolone", 1]]) == 0.5
    )


def test_rounded_amounts_and_longer_names_are_the_same():
    wanted: list[Any] = [["Mott's 100% Original Apple Juice, 64 fl oz Bottle", 3.78], ["Each", 9.56333333]]
    assert share("data", wanted, [["Mott's 100% Original Apple Juice 64 fl oz", "$3.78"], ["Each pays", 9.56]]) == 1
    assert share("data", wanted, [["Mott's 100% Original Apple Juice 64 fl oz", "$3.87"], ["Each pays", 9.57]]) == 0.5


def test_rows_written_by_several_calls_are_one_table():
    assert share("data", TABLE, together(TABLE[:2], TABLE[2:])) == 1


def test_an_arrow_counts_by_where_it_points():
    def points(**changed):
        return share("arrows", [ARROW], [ARROW | changed])

    assert points(color=[0, 0, 255], x2=420, y2=130) == 1
    assert points(x1=390, y1=400) == POINTS_RIGHT
    assert points(x2=700) == 0


def test_boxes_count_by_overlap_and_name():
    def boxed(name, *corners):
        return share("detections", [BOX], [{"name": name, "bbox": dict(zip(BOX["bbox"], corners, strict=True))}])

    assert boxed("seal", 95, 90, 310, 205) == 1
    assert boxed("walrus", 100, 100, 300, 200) == 0
    assert boxed("seal", 600, 100, 800, 200) == 0


def test_words_on_a_picture_belong_beside_their_thing():
    label: dict[str, Any] = {"text": "open fire", "x": 100, "y": 100}
    assert share("texts", [label], [label | {"y": 300, "font_scale": 2}]) == 1
    assert share("texts", [label], [label | {"x": 900}]) == ELSEWHERE
    assert share("texts", [label], [label | {"text": "oil spill"}]) == 0


def test_a_caption_may_list_the_same_in_another_order():
    wanted = "torn cable, open fire, plank with nails, broken ladder"
    assert share("text", wanted, "Broken ladder; plank with nails; open fire; torn cable.") == 1
    assert share("text", wanted, "Beware of the open fire and the broken ladder") == 0.5
    assert share("text", "Martin Larsen", "Martina Larsen") == 0
