"""Workbooks are judged by what stands together in them, and charts by what they show."""

from typing import Any

import pytest
from openpyxl import Workbook
from openpyxl.chart import BarChart, LineChart, Reference

from m3bench.tasks.answers.fields import Money, Name
from m3bench.tasks.answers.office import WorkbookChart, WorkbookRows
from m3bench.tasks.checks import Evidence

PRICED = WorkbookRows(
    rows=(
        (Name(value="Advil", others=("Aleve",)), Name(value="Ibuprofen"), Money(value=9.12, unit="USD")),
        (Name(value="Aleve", others=("Advil",)), Name(value="Naproxen sodium"), Money(value=7.5, unit="USD")),
    )
)


def problem(check, tmp_path, rows, chart=None):
    book = Workbook()
    sheet: Any = book.active
    for row in rows:
        sheet.append(row)
    if chart is not None:
        drawn, column = chart
        drawn.add_data(Reference(sheet, min_col=column, min_row=1, max_row=len(rows)), titles_from_data=True)
        sheet.add_chart(drawn, "F2")
    book.save(tmp_path / "made.xlsx")
    return check.problem(Evidence(answer="", workspace=tmp_path))


GOOD = [["Advil", "Ibuprofen", 9.12], ["Aleve", "Naproxen sodium", 7.5]]


@pytest.mark.parametrize(
    "rows",
    [
        GOOD,
        [["Price", "Brand", "What"], ["$9.12", "Advil", "ibuprofen"], [], ["7.50", "Aleve", "naproxen sodium"]],
        [list(line) for line in zip(["Brand", "Substance", "Price"], *GOOD, strict=True)],
        [["Advil", "Ibuprofen", "=9.00+0.12"], ["Aleve", "Naproxen sodium", "=15/2"]],
    ],
    ids=["plain", "another order", "turned", "formulas"],
)
def test_lines_count_wherever_their_cells_stand(tmp_path, rows):
    assert problem(PRICED, tmp_path, rows) is None


def test_values_that_stand_with_another_thing_do_not_count(tmp_path):
    swapped = [["Advil", "Ibuprofen", 7.5], ["Aleve", "Naproxen sodium", 9.12]]
    assert problem(PRICED, tmp_path, swapped) == "the line of 'Advil' lacks '9.12 USD'"
    assert problem(PRICED, tmp_path, GOOD[:1]) == "there is no line of 'Aleve'"
    assert PRICED.problem(Evidence(answer="", workspace=tmp_path / "empty")) == "there is no *.xlsx"


def test_a_chart_counts_by_its_kind_and_the_numbers_it_shows(tmp_path):
    rows = [["Dish", "Score"], ["Soup", 12], ["Cake", 30]]
    right = WorkbookChart(form="bar", values=(30, 12))
    assert problem(right, tmp_path, rows, (BarChart(), 2)) is None
    assert problem(right, tmp_path, rows, (LineChart(), 2)) == "there is no bar chart"
    assert problem(right, tmp_path, rows) == "there is no bar chart"
    assert problem(right, tmp_path, [["Dish", "Score"], ["Soup", 12], ["Cake", 31]], (BarChart(), 2)) == (
        "no chart shows the numbers"
    )
