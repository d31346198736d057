"""The `excel` server reads and writes real workbooks; openpyxl is the second reader."""

import ast
import json
import os
import subprocess
import sys
from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest
from openpyxl import Workbook, load_workbook
from openpyxl.workbook.defined_name import DefinedName
from openpyxl.worksheet.datavalidation import DataValidation
from openpyxl.worksheet.worksheet import Worksheet

from tests.pictures import assert_same_bytes
from tests.sandboxes.servers.conftest import Bench

FILE = "report.xlsx"


@pytest.fixture
def book(bench: Bench) -> Bench:
    """A workspace with one empty workbook."""
    bench.text("excel/create_workbook", filepath=FILE)
    return bench


def write(bench: Bench, data: list[list[Any]], sheet: str = "Sheet1", start: str = "A1") -> str:
    return bench.text("excel/write_data_to_excel", filepath=FILE, sheet_name=sheet, data=data, start_cell=start)


def read(bench: Bench, sheet: str = "Sheet1", **more: Any) -> dict[str, Any]:
    found = json.loads(bench.text("excel/read_data_from_excel", filepath=FILE, sheet_name=sheet, **more))
    assert isinstance(found, dict)
    return found


def rows(bench: Bench, sheet: str = "Sheet1") -> list[tuple[Any, ...]]:
    return list(load_workbook(bench.folder / FILE)[sheet].iter_rows(values_only=True))


@pytest.mark.parametrize("path", ["./media/new/a.xlsx", "/workspace/media/new/a.xlsx", "media/new/a.xlsx"])
def test_a_new_workbook_has_one_sheet_and_its_folders(bench: Bench, path: str) -> None:
    assert bench.text("excel/create_workbook", filepath=path) == f"Created workbook at {path}"
    assert load_workbook(bench.folder / "media/new/a.xlsx").sheetnames == ["Sheet1"]


def test_creating_a_workbook_replaces_the_old_one(book: Bench) -> None:
    write(book, [["old"]], sheet="Data")
    book.text("excel/create_workbook", filepath=FILE)
    assert load_workbook(book.folder / FILE).sheetnames == ["Sheet1"]


def test_values_keep_their_json_types(book: Bench) -> None:
    data = [["Word", "19", 19, 2.5, True, None, "2024-01-01", " spaced ", "é 😀\nline", "#N/A", -0.0, 10**15]]
    assert write(book, data) == "Data written to Sheet1"
    [found] = rows(book)
    assert list(found) == data[0]
    assert [type(value) for value in found[:5]] == [str, str, int, float, bool]
    assert [cell["value"] for cell in read(book)["cells"]] == data[0]


def test_writing_to_a_missing_sheet_adds_it(book: Bench) -> None:
    assert write(book, [["Word", "Frequency"], ["an", 2]], sheet="Word Frequency") == "Data written to Word Frequency"
    assert load_workbook(book.folder / FILE).sheetnames == ["Sheet1", "Word Frequency"]
    assert rows(book, "Word Frequency") == [("Word", "Frequency"), ("an", 2)]


def test_writing_overwrites_only_the_cells_it_names(book: Bench) -> None:
    write(book, [[1, 2, 3], [4, 5, 6]])
    write(book, [["x", None], ["y"]], start="$b$1")
    assert rows(book) == [(1, "x", None), (4, "y", 6)]


def test_a_formula_is_stored_and_read_as_its_text(book: Bench) -> None:
    write(book, [[2, 3, "=A1*B1"]])
    cell = load_workbook(book.folder / FILE)["Sheet1"]["C1"]
    assert (cell.value, cell.data_type) == ("=A1*B1", "f")
    assert read(book, start_cell="C1")["cells"][0]["value"] == "=A1*B1"


def test_reading_gives_address_row_column_and_validation(book: Bench) -> None:
    write(book, [["a", 1]], start="B2")
    assert read(book) == {
        "range": "B2:C2",
        "sheet_name": "Sheet1",
        "cells": [
            {"address": "B2", "value": "a", "row": 2, "column": 2, "validation": {"has_validation": False}},
            {"address": "C2", "value": 1, "row": 2, "column": 3, "validation": {"has_validation": False}},
        ],
    }


@pytest.mark.parametrize(
    ("arguments", "area"),
    [
        ({}, "B2:D3"),
        ({"start_cell": "C3"}, "C3:D3"),
        ({"start_cell": "A1", "end_cell": "B2"}, "A1:B2"),
        ({"start_cell": "a1:c2"}, "A1:C2"),
        ({"start_cell": "B2", "end_cell": None, "preview_only": True}, "B2:D3"),
    ],
)
def test_what_is_read_is_the_range_asked_for(book: Bench, arguments: dict[str, Any], area: str) -> None:
    write(book, [[1, 2, 3], [4, 5, 6]], start="B2")
    assert read(book, **arguments)["range"] == area


@pytest.mark.parametrize("arguments", [{}, {"start_cell": "Z99"}, {"start_cell": "A1", "end_cell": "C9"}])
def test_an_empty_range_has_no_data(book: Bench, arguments: dict[str, Any]) -> None:
    answer = book.text("excel/read_data_from_excel", filepath=FILE, sheet_name="Sheet1", **arguments)
    assert answer == "No data found in specified range"


def test_dates_of_other_programs_are_read_as_text(book: Bench) -> None:
    workbook = Workbook()
    sheet = workbook.active
    assert isinstance(sheet, Worksheet)
    sheet["A1"] = datetime(2024, 2, 29, 13, 30)
    workbook.save(book.folder / FILE)
    assert read(book, sheet="Sheet")["cells"][0]["value"] == "2024-02-29 13:30:00"


def test_a_failed_read_is_an_error_result(book: Bench) -> None:
    reply = book.reply("excel/read_data_from_excel", filepath=FILE, sheet_name="Nope")
    assert (reply.outcome, reply.result["isError"]) == ("not_found", True)
    text = "Error executing tool read_data_from_excel: Sheet 'Nope' not found"
    assert reply.result["content"] == [{"type": "text", "text": text}]


def test_other_failures_are_ordinary_results(book: Bench) -> None:
    reply = book.reply("excel/write_data_to_excel", filepath="none.xlsx", sheet_name="S", data=[[1]])
    assert (reply.outcome, reply.result["isError"]) == ("not_found", False)
    text = "Error: [Errno 2] No such file or directory: 'none.xlsx'"
    assert reply.result["content"] == [{"type": "text", "text": text}]


def test_a_path_outside_the_workspace_is_an_error_result(bench: Bench) -> None:
    reply = bench.reply("excel/create_workbook", filepath="../a.xlsx")
    assert reply.result["isError"] is True
    assert "leaves the workspace" in reply.result["content"][0]["text"]


def test_metadata_is_a_python_dict(book: Bench) -> None:
    write(book, [[1], [2]], start="B3")
    facts = ast.literal_eval(book.text("excel/get_workbook_metadata", filepath=FILE, include_ranges=True))
    assert facts == {
        "filename": FILE,
        "sheets": ["Sheet1"],
        "size": (book.folder / FILE).stat().st_size,
        "modified": 1761998400.0,
        "used_ranges": {"Sheet1": "A1:B4"},
    }
    assert "used_ranges" not in book.text("excel/get_workbook_metadata", filepath=FILE)
    assert book.error("excel/get_workbook_metadata", filepath="x.xlsx") == "Error: File not found: x.xlsx"


def _validated(bench: Bench) -> None:
    workbook = Workbook()
    sheet = workbook.active
    assert isinstance(sheet, Worksheet)
    rows: list[list[Any]] = [["Status", "Age", "Fruit"], ["open", 30, "fig"], [None, None, "pear"]]
    for row in rows:
        sheet.append(row)
    workbook.create_sheet("Lists")["A1"] = "kiwi"
    status = DataValidation("list", formula1='"open, paid"', allow_blank=True, errorTitle="Status", error="Choose one")
    status.add("A2:A3")
    age = DataValidation("whole", operator="between", formula1="18", formula2="99", promptTitle="Age", prompt="Years")
    age.add("B2")
    fruit = DataValidation("list", formula1="$C$2:$C$3")
    fruit.add("D2:D9")
    fruit.add("F1")
    other = DataValidation("list", formula1="Lists!$A$1:$A$4")
    other.add("E2")
    named = DataValidation("list", formula1="Fruits")
    named.add("E3")
    for rule in (status, age, fruit, other, named):
        sheet.add_data_validation(rule)
    workbook.save(bench.folder / FILE)


def test_validation_rules_are_listed(bench: Bench) -> None:
    _validated(bench)
    found = json.loads(bench.text("excel/get_data_validation_info", filepath=FILE, sheet_name="Sheet"))
    assert found["sheet_name"] == "Sheet"
    assert found["validation_rules"] == [
        {
            "ranges": "A2:A3",
            "validation_type": "list",
            "allow_blank": True,
            "error_message": "Choose one",
            "error_title": "Status",
            "allowed_values": ["open", "paid"],
        },
        {
            "ranges": "B2",
            "validation_type": "whole",
            "allow_blank": False,
            "operator": "between",
            "prompt": "Years",
            "prompt_title": "Age",
            "formula1": "18",
            "formula2": "99",
        },
        {"ranges": "D2:D9 F1", "validation_type": "list", "allow_blank": False, "allowed_values": ["fig", "pear"]},
        {"ranges": "E2", "validation_type": "list", "allow_blank": False, "allowed_values": ["kiwi"]},
        {"ranges": "E3", "validation_type": "list", "allow_blank": False, "allowed_values": ["Range: Fruits"]},
    ]
    none = "No data validation rules found in this worksheet"
    assert bench.text("excel/get_data_validation_info", filepath=FILE, sheet_name="Lists") == none


def test_a_cell_tells_the_rule_that_covers_it(bench: Bench) -> None:
    _validated(bench)
    found = read(bench, "Sheet", start_cell="A1", end_cell="B2")["cells"]
    cells = {cell["address"]: cell["validation"] for cell in found}
    assert cells["A1"] == {"has_validation": False}
    assert cells["A2"] == {
        "cell": "A2",
        "has_validation": True,
        "validation_type": "list",
        "allow_blank": True,
        "error_message": "Choose one",
        "error_title": "Status",
        "allowed_values": ["open", "paid"],
    }
    assert cells["B2"]["formula2"] == "99"


@pytest.mark.parametrize(
    ("formula", "stored"),
    [
        ("=XLOOKUP(A1,B1:B3,C1:C3)", "=_xlfn.XLOOKUP(A1,B1:B3,C1:C3)"),
        ("=SUM(FILTER(A1:A3,B1:B3>1))", "=SUM(_xlfn._xlws.FILTER(A1:A3,B1:B3>1))"),
        ("=LET(x, A1*2, y, x+1, x*y)", "=_xlfn.LET(_xlpm.x, A1*2, _xlpm.y, _xlpm.x+1, _xlpm.x*_xlpm.y)"),
        ("=MAP(A1:A3,LAMBDA(v,v*2))", "=_xlfn.MAP(A1:A3,_xlfn.LAMBDA(_xlpm.v,_xlpm.v*2))"),
        ('=TEXTJOIN(", ",TRUE,"XLOOKUP(",A1)', '=_xlfn.TEXTJOIN(", ",TRUE,"XLOOKUP(",A1)'),
        ("=VLOOKUP(A1,B:C,2,FALSE)", "=VLOOKUP(A1,B:C,2,FALSE)"),
        ("=_xlfn.STDEV.S(A1:A9)", "=_xlfn.STDEV.S(A1:A9)"),
    ],
)
def test_newer_functions_are_stored_as_excel_stores_them_and_shown_as_they_were_written(
    book: Bench, formula: str, stored: str
) -> None:
    where = {"filepath": FILE, "sheet_name": "Sheet1", "cell": "E5"}
    book.text("excel/apply_formula", where, formula=formula)
    assert load_workbook(book.folder / FILE)["Sheet1"]["E5"].value == stored
    write(book, [[formula]], start="E6")
    assert load_workbook(book.folder / FILE)["Sheet1"]["E6"].value == stored
    shown = [cell["value"] for cell in read(book, start_cell="E5", end_cell="E6")["cells"]]
    assert shown == [formula.replace("_xlfn.", "")] * 2
    assert "matches cell content" in book.text("excel/validate_formula_syntax", where, formula=formula)


def test_a_formula_is_applied_and_compared(book: Bench) -> None:
    def check(formula: str) -> str:
        return book.text(
            "excel/validate_formula_syntax", filepath=FILE, sheet_name="Sheet1", cell="C1", formula=formula
        )

    assert check("=SUM(A1:B1)") == "Formula is valid but cell contains no formula"
    said = book.text("excel/apply_formula", filepath=FILE, sheet_name="Sheet1", cell="C1", formula="=SUM(A1:B1)")
    assert said == "Applied formula '=SUM(A1:B1)' to cell C1"
    assert load_workbook(book.folder / FILE)["Sheet1"]["C1"].value == "=SUM(A1:B1)"
    assert check("=SUM(A1:B1)") == "Formula is valid and matches cell content"
    assert check("=SUM(A1:B2)") == "Formula is valid but doesn't match cell content"


@pytest.mark.parametrize(
    "formula",
    [
        "=1",
        "=-A1%",
        '=IF(A1>=10,"a)(b",)',
        "=SUM(A1:A3 A2:B2)",
        "={1,2;3,4}",
        "='My Sheet'!A1+Sheet2!$B$2",
        "=SUM(Sheet1!A:A,1:3)",
        "=LOG10(5)*2^-1",
        "=Table1[[#This Row],[Qty]]*2",
        "=VLOOKUP(A1, B1:C9, 2, FALSE)",
        '=A1&" & "&B1',
        "=(A1+B1)*(C1-1.5E+3)",
        "=NOW()",
        "=XLOOKUP(A1,B:B,C:C)",
        "=\n A1 + B1",
    ],
)
def test_formulas_of_every_shape_are_valid(book: Bench, formula: str) -> None:
    call = {"filepath": FILE, "sheet_name": "Sheet1", "cell": "A1", "formula": formula}
    assert book.text("excel/validate_formula_syntax", call).startswith("Formula is valid")


@pytest.mark.sample(8)
@pytest.mark.parametrize(
    ("formula", "problem"),
    [
        ("SUM(A1)", "Formula must start with '='"),
        ("=SUM(A1", "Unclosed parenthesis"),
        ("=SUM(A1))", "Unmatched closing parenthesis"),
        ('="open', "Unclosed quotation mark"),
        ("='open!A1", "Unclosed apostrophe"),
        ("=Table1[Qty", "Unclosed square bracket"),
        ("={1,2)", "Mismatched parentheses and braces"),
        ("=", "Formula ends where a value is expected"),
        ("=A1+", "Formula ends where a value is expected"),
        ("=*A1", "Missing value before *"),
        ("=()", "Missing value before )"),
        ("=A1 2", "Missing operator before 2"),
        ("=ZZZZ1+1", "Invalid cell reference in formula: ZZZZ1"),
        ("=SUM(A1:B1048577)", "Invalid cell reference in formula: B1048577"),
        ("=A0", "Invalid cell reference in formula: A0"),
        ("=INDIRECT(A1)", "Unsafe function: INDIRECT"),
        ('=hyperlink("http://x")', "Unsafe function: HYPERLINK"),
        ("=1+WEBSERVICE(A1)", "Unsafe function: WEBSERVICE"),
        ("=_xlfn.WEBSERVICE(A1)", "Unsafe function: WEBSERVICE"),
        ("=DGET(A1:B2,1,C1:C2)", "Unsafe function: DGET"),
        ("=A1:INDIRECT(B1)", "Unsafe function: INDIRECT"),
        ("=[1]Sheet!A1", "Unsafe reference: [1]Sheet!A1"),
        ("='[other.xlsx]S'!A1", "Unsafe reference: '[other.xlsx]S'!A1"),
        ("=cmd|calc!A1", "Unsafe reference: cmd|calc!A1"),
        ("=A1\x07", "Formula has control characters"),
        ("=" + "1+" * 4096 + "1", "Formula has 8194 characters"),
    ],
)
def test_bad_formulas_are_refused_wherever_they_are_written(book: Bench, formula: str, problem: str) -> None:
    call = {"filepath": FILE, "sheet_name": "Sheet1"}
    for tool in ("apply_formula", "validate_formula_syntax"):
        text = book.error(f"excel/{tool}", call, cell="A1", formula=formula)
        assert text.startswith(f"Error: Invalid formula syntax: {problem}")
    if len(formula) > 1 and formula.startswith("="):
        text = book.error("excel/write_data_to_excel", call, data=[[1], [formula]])
        assert text.startswith(f"Error: Invalid formula syntax in A2: {problem}")
    assert rows(book) == []


def test_a_defined_name_may_look_like_a_distant_cell(bench: Bench) -> None:
    workbook = Workbook()
    workbook.defined_names["RATE2025"] = DefinedName("RATE2025", attr_text="Sheet!$A$1")
    workbook.save(bench.folder / FILE)
    call = {"filepath": FILE, "sheet_name": "Sheet", "cell": "B1"}
    assert bench.text("excel/apply_formula", call, formula="=RATE2025*2")
    assert "RATE2026" in bench.error("excel/apply_formula", call, formula="=RATE2026*2")


@pytest.mark.slow
def test_the_same_calls_give_the_same_bytes_in_any_process(tmp_path: Path) -> None:
    """Hash seeds differ between processes, and openpyxl keeps merged ranges in a set."""
    code = (
        "import sys; from pathlib import Path; sys.path.insert(0, sys.argv[2])\n"
        "from tests.sandboxes.servers.conftest import Bench\n"
        "bench = Bench(Path(sys.argv[1]))\n"
        "call = {'filepath': 'a.xlsx', 'sheet_name': 'Sheet1'}\n"
        "bench.text('excel/create_workbook', filepath='a.xlsx')\n"
        "bench.text('excel/write_data_to_excel', call, data=[['a', 'b'], [1, 2], [3, 4]])\n"
        "for row in range(10, 40, 3):\n"
        "    bench.text('excel/merge_cells', call, start_cell=f'A{row}', end_cell=f'C{row + 1}')\n"
        "bench.text('excel/create_table', call, data_range='A1:B3')\n"
        "bench.text('excel/create_chart', call, data_range='A1:B3', chart_type='line', target_cell='E2')\n"
        "bench.text('excel/create_pivot_table', call, data_range='A1:B3', rows=['a'], values=['b'])\n"
    )
    found = []
    for seed in ("1", "2"):
        folder = tmp_path / seed
        root = str(Path(__file__).parents[3])
        environment = {**os.environ, "PYTHONHASHSEED": seed, "TZ": f"UTC+{seed}"}
        subprocess.run([sys.executable, "-c", code, str(folder), root], check=True, env=environment, timeout=60)
        found.append((folder / "a.xlsx").read_bytes())
    assert found[0] == found[1]


def test_document_dates_are_the_frozen_clock(book: Bench) -> None:
    write(book, [[1]])
    properties = load_workbook(book.folder / FILE).properties
    assert properties.created.isoformat() == properties.modified.isoformat() == "2025-11-01T12:00:00"


def test_writing_the_same_again_changes_nothing(prepared: Callable[[str], Bench]) -> None:
    bench = prepared("excel")
    call = {"filepath": "sales.xlsx", "sheet_name": "Sales", "data": [["x", 1]], "start_cell": "A9"}
    bench.text("excel/write_data_to_excel", call)
    first = (bench.folder / "sales.xlsx").read_bytes()
    bench.text("excel/write_data_to_excel", call)
    assert_same_bytes((bench.folder / "sales.xlsx").read_bytes(), first, "sales.xlsx")
