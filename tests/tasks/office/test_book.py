"""Worksheets as sheets of marks: cells, their formats and rules, charts and pictures."""

import io
from datetime import date
from typing import Any

import pytest
from openpyxl import Workbook
from openpyxl.chart import BarChart, Reference
from openpyxl.formatting.rule import CellIsRule
from openpyxl.styles import Alignment, Font, PatternFill

from m3bench.tasks.office import reading
from m3bench.tasks.office.marks import PrintedSheet, Surface
from m3bench.tasks.office.numbers import shown


@pytest.fixture
def book() -> Any:
    return Workbook()


def seen(book: Any) -> PrintedSheet:
    file = io.BytesIO()
    book.save(file)
    return reading.sheets("book.xlsx", file.getvalue())[0]


def said(sheet: PrintedSheet, cell: str) -> str:
    return " ".join(word.text for word in sheet.words(cell))


def test_cells_are_as_wide_and_high_as_libreoffice_has_them(book: Any) -> None:
    """The numbers are those of LibreOffice 7.4's PDF."""
    book.active["B2"] = 42
    sheet = seen(book)
    assert sheet.boxes["B2"] == pytest.approx((64.1, 20, 128.3, 40), abs=0.3)
    (word,) = sheet.words("B2")
    assert word.x + word.width == pytest.approx(126.9, abs=0.3), "numbers stand to the right"
    assert word.y == pytest.approx(34.9, abs=0.3)


def test_text_runs_over_empty_cells_and_is_cut_at_full_ones(book: Any) -> None:
    book.active.append(["a heading that is long", None, None])
    book.active.append(["a heading that is long", "full"])
    book.active.append(["a number", 123456789012])
    sheet = seen(book)
    assert said(sheet, "A1") == "a heading that is long"
    assert said(sheet, "A2") == "a heading t"
    assert set(said(sheet, "B3")) == {"#"}


def test_formulas_show_what_they_come_to(book: Any) -> None:
    sheet = book.active
    sheet.append([2, 3, "=A1*B1"])
    sheet["D1"] = "=NOSUCH(A1)"
    found = seen(book)
    assert said(found, "C1") == "6"
    assert found.unknown == ("a formula whose value cannot be told",)


@pytest.mark.parametrize(
    ("value", "code", "text"),
    [
        (1234.5, "#,##0.00", "1,234.50"), (0.256, "0%", "26%"), (-3, "0;(0)", "(3)"), (7, "000", "007"),
        (12, '0 "kg"', "12 kg"), (date(2024, 3, 9), "d mmm yyyy", "9 Mar 2024"), (1.5, "General", "1.5"),
        (1e6, "#,##0,", "1,000"), (5, "[$€-407] 0.00", "€ 5.00"), (True, "General", "TRUE"), (2.5, "0", "3"),
        (1 / 3, "General", "0.333333333"), (0.5, "#.0#", ".5"),
    ],
)  # fmt: skip
def test_a_number_is_written_by_its_format(value: object, code: str, text: str) -> None:
    assert shown(value, code) == (text, True)


def test_merged_wrapped_and_coloured_cells(book: Any) -> None:
    sheet = book.active
    sheet["A1"] = "several words in one place that has two columns"
    sheet["A1"].alignment = Alignment(wrap_text=True, vertical="center")
    sheet["A1"].fill = PatternFill("solid", fgColor="1F4E79")
    sheet["A1"].font = Font(color="FFFFFF", bold=True)
    sheet.merge_cells("A1:B1")
    sheet.row_dimensions[1].height = 60
    found = seen(book)
    assert found.boxes["A1"] == pytest.approx((0, 0, 128.3, 80), abs=0.5)
    assert len({word.y for word in found.words("A1")}) == 3
    assert next(mark for mark in found.marks if isinstance(mark, Surface)).fill == (0x1F, 0x4E, 0x79)
    assert {word.face.colour for word in found.words()} == {(255, 255, 255)}


def test_rules_colour_the_cells_that_they_hold_for(book: Any) -> None:
    sheet = book.active
    for value in (5, 15):
        sheet.append([value])
    rule = CellIsRule(operator="greaterThan", formula=["10"], fill=PatternFill("solid", bgColor="FFC7CE"))
    sheet.conditional_formatting.add("A1:A2", rule)
    assert [(mark.owner, mark.fill) for mark in seen(book).marks if isinstance(mark, Surface)] == [
        ("A2", (255, 0xC7, 0xCE))
    ]


def test_a_rule_for_every_cell_there_could_be_costs_no_more_than_the_used_ones(book: Any) -> None:
    book.active["B2"] = 12
    rule = CellIsRule(operator="greaterThan", formula=["10"], fill=PatternFill("solid", bgColor="FFC7CE"))
    book.active.conditional_formatting.add("A1:XFD1048576", rule)
    assert [mark.owner for mark in seen(book).marks if isinstance(mark, Surface)] == ["B2"]


def test_a_chart_reads_the_cells_that_it_refers_to(book: Any) -> None:
    sheet = book.active
    for row in (["What", "How many"], ["Apples", 40], ["Pears", "=B2/2"]):
        sheet.append(row)
    chart = BarChart()
    chart.title = "Fruit"
    chart.add_data(Reference(sheet, min_col=2, min_row=1, max_row=3), titles_from_data=True)
    chart.set_categories(Reference(sheet, min_col=1, min_row=2, max_row=3))
    sheet.add_chart(chart, "D2")
    found = seen(book)
    name = next(name for name in found.boxes if name.startswith("Chart"))
    assert {"Fruit", "Apples", "Pears", "45"} <= {word.text for word in found.words(name)}
    bars = [mark.box for mark in found.marks if isinstance(mark, Surface) and mark.fill == (0x4F, 0x81, 0xBD)]
    heights = [box[3] - box[1] for box in bars if box[3] - box[1] > 12]
    assert heights[0] == pytest.approx(2 * heights[1], rel=0.01)


def test_other_sheets_are_pages_of_their_own_and_hidden_ones_are_none(book: Any) -> None:
    book.active["A1"] = "one"
    book.create_sheet("Notes")["A1"] = "two"
    book.create_sheet("Secret").sheet_state = "hidden"
    file = io.BytesIO()
    book.save(file)
    assert [page.name for page in reading.sheets("a.xlsx", file.getvalue())] == ["Sheet", "Notes"]
