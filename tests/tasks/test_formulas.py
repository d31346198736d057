"""A formula counts by what it comes to, and one that cannot be told counts for nothing."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from openpyxl import Workbook

from m3bench.tasks.checks import Evidence, WorkbookCells
from m3bench.tasks.formulas import cell_values, value_of
from tests.examples import examples


def book() -> Workbook:
    made = Workbook()
    sheet = made.active
    for row in (("pen", 2.5, 4), ("ink", 10, 1), ("total", "=SUM(B1:B2)", "=C1*B1+C2*B2")):
        sheet.append(row)
    made.create_sheet("Other data")["A1"] = 7
    return made


@pytest.mark.parametrize(
    ("formula", "value"),
    [
        ("=SUM(B1:B2)", 12.5),
        ("=B3*2", 25.0),
        ("=(B1+B2)/2", 6.25),
        ("=ROUND(B1*1.19, 2)", 2.98),
        ("=AVERAGE(B1:C2)", 4.375),
        ("='Other data'!A1+$B$2", 17.0),
        ('=A1&" and "&A2', "pen and ink"),
        ("=MAX(B1:B2)-MIN(B1;B2)", 7.5),
        ("=VLOOKUP(A1,B1:C2,2)", None),
        ("=B1/0", None),
        ("=B4", 0.0),
        ("=SUM(", None),
    ],
)
def test_a_formula_comes_to_what_a_person_would_see(formula, value):
    made = book()
    found = value_of(made, made.active, formula)
    assert found == (pytest.approx(value) if isinstance(value, float) else value)


def test_formulas_that_refer_to_each_other_end():
    made = book()
    made.active["D1"], made.active["D2"] = "=D2", "=D1"
    assert None in list(cell_values(made))


@given(st.text(alphabet="AB12:+-*/^()!,'\"SUM%& .", max_size=25))
@settings(max_examples=examples(150))
def test_no_formula_raises(text):
    made = book()
    value_of(made, made.active, f"={text}")


def test_a_workbook_holds_what_its_formulas_come_to_and_figures_written_as_text(tmp_path):
    made = book()
    made.active["E5"] = "€ 1.234,50"
    made.save(tmp_path / "a.xlsx")
    evidence = Evidence(answer="", workspace=tmp_path)
    assert WorkbookCells(values=(12.5, 20.0, 1234.5, "PEN")).problem(evidence) is None
    assert WorkbookCells(values=(13.5,)).problem(evidence) == "13.5 not in it"
