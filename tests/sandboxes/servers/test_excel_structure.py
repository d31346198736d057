"""The `excel` server moves sheets, rows, columns and ranges, and everything that refers to them follows."""

from typing import Any, Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st
from openpyxl import Workbook, load_workbook
from openpyxl.comments import Comment
from openpyxl.formatting.rule import FormulaRule
from openpyxl.styles import Font, PatternFill
from openpyxl.workbook.defined_name import DefinedName
from openpyxl.worksheet.datavalidation import DataValidation
from openpyxl.worksheet.formula import ArrayFormula
from openpyxl.worksheet.worksheet import Worksheet

from m3bench.sandboxes.servers.excel.references import Area
from m3bench.sandboxes.servers.excel.shifting import Shift
from tests.pictures import assert_same_bytes
from tests.sandboxes.servers.conftest import Bench

FILE = "report.xlsx"
SHEET = {"filepath": FILE, "sheet_name": "Data"}


@pytest.fixture
def data(bench: Bench) -> Bench:
    """A workbook in which everything that can move is there."""
    workbook = Workbook()
    sheet = workbook.active
    assert isinstance(sheet, Worksheet)
    sheet.title = "Data"
    sheet.append(["Item", "Qty", "Price", "Total"])
    for row in [["a", 1, 2, "=B2*C2"], ["b", 3, 4, "=B3*$C$3"], ["c", 5, 6, "=B4*C4"]]:
        sheet.append(row)
    sheet["A5"], sheet["D5"] = "Sum", "=SUM(D2:D4)"
    sheet["A2"].font = Font(bold=True)
    sheet["B3"].comment = Comment("checked", "me")
    sheet["A3"].hyperlink = "https://example.org/b"
    sheet["F4"] = ArrayFormula("F4:F5", "=B4:B5*2")
    sheet.row_dimensions[3].height = 40
    sheet.column_dimensions["C"].width = 30
    sheet.merge_cells("A7:B8")
    sheet["A7"] = "merged"
    sheet.freeze_panes = "A2"
    rule = DataValidation("list", formula1="$A$2:$A$4")
    rule.add("B2:B4")
    sheet.add_data_validation(rule)
    sheet.conditional_formatting.add("C2:C4", FormulaRule(formula=["$B2>2"], fill=PatternFill("solid", "FFFF0000")))
    workbook.create_sheet("Other")["A1"] = "=Data!D5+SUM(Data!$B$2:$B$4)+Data!B3"
    workbook["Other"]["A2"] = '=SUM(Data!C:C)+SUM(Data!3:4)&"Data!B3"'
    workbook.defined_names["Prices"] = DefinedName("Prices", attr_text="Data!$C$2:$C$4")
    workbook.save(bench.folder / FILE)
    bench.text("excel/create_chart", SHEET, data_range="A1:B4", chart_type="bar", target_cell="H6")
    bench.text("excel/create_table", SHEET, data_range="A1:D4", table_name="Items")
    return bench


def open_sheet(bench: Bench, sheet: str = "Data") -> Worksheet:
    found = load_workbook(bench.folder / FILE)[sheet]
    assert isinstance(found, Worksheet)
    return found


def series(sheet: Any) -> list[str]:
    return [item.val.numRef.f for chart in sheet._charts for item in chart.series]


def anchor(sheet: Any) -> tuple[int, int]:
    start = sheet._charts[0].anchor._from
    return start.row + 1, start.col + 1


def test_inserted_rows_push_everything_down(data: Bench) -> None:
    said = data.text("excel/insert_rows", SHEET, start_row=3, count=2)
    assert said == "Inserted 2 row(s) starting at row 3 in sheet 'Data'"
    sheet = open_sheet(data)
    assert [sheet.cell(row, 1).value for row in range(1, 8)] == ["Item", "a", None, None, "b", "c", "Sum"]
    assert [sheet.cell(row, 4).value for row in (2, 5, 6, 7)] == ["=B2*C2", "=B5*$C$5", "=B6*C6", "=SUM(D2:D6)"]
    assert sheet["A2"].font.bold
    assert sheet["B5"].comment.text == "checked"
    assert sheet["A5"].hyperlink.target == "https://example.org/b"
    assert (sheet["F6"].value.ref, sheet["F6"].value.text) == ("F6:F7", "=B6:B7*2")
    assert sheet.row_dimensions[5].height == 40
    assert sheet.row_dimensions[3].height is None
    assert str(sheet.merged_cells) == "A9:B10"
    assert sheet["A9"].value == "merged"
    [rule] = sheet.data_validations.dataValidation
    assert (str(rule.sqref), rule.formula1) == ("B2:B6", "$A$2:$A$6")
    [block] = sheet.conditional_formatting
    assert (str(block.sqref), block.rules[0].formula) == ("C2:C6", ["$B2>2"])
    assert sheet.tables["Items"].ref == sheet.tables["Items"].autoFilter.ref == "A1:D6"
    assert series(sheet) == ["'Data'!$B$2:$B$6"]
    assert anchor(sheet) == (8, 8)
    other = open_sheet(data, "Other")
    assert other["A1"].value == "=Data!D7+SUM(Data!$B$2:$B$6)+Data!B5"
    assert other["A2"].value == '=SUM(Data!C:C)+SUM(Data!5:6)&"Data!B3"'
    assert load_workbook(data.folder / FILE).defined_names["Prices"].attr_text == "Data!$C$2:$C$6"


def test_inserted_columns_push_everything_right(data: Bench) -> None:
    said = data.text("excel/insert_columns", SHEET, start_col=2)
    assert said == "Inserted 1 column(s) starting at column 2 in sheet 'Data'"
    sheet = open_sheet(data)
    assert [sheet.cell(2, column).value for column in range(1, 6)] == ["a", None, 1, 2, "=C2*D2"]
    assert sheet.column_dimensions["D"].width == 30
    assert str(sheet.merged_cells) == "A7:C8"
    table = sheet.tables["Items"]
    assert table.ref == "A1:E4"
    assert table.column_names == ["Item", "Column2", "Qty", "Price", "Total"]
    assert [cell.value for cell in sheet[1][:5]] == table.column_names
    assert series(sheet) == ["'Data'!$C$2:$C$4"]
    assert open_sheet(data, "Other")["A2"].value == '=SUM(Data!D:D)+SUM(Data!3:4)&"Data!B3"'


def test_deleted_rows_pull_everything_up_and_break_what_pointed_at_them(data: Bench) -> None:
    said = data.text("excel/delete_sheet_rows", SHEET, start_row=3)
    assert said == "Deleted 1 row(s) starting at row 3 in sheet 'Data'"
    sheet = open_sheet(data)
    assert [sheet.cell(row, 1).value for row in range(1, 5)] == ["Item", "a", "c", "Sum"]
    assert [sheet.cell(row, 4).value for row in (2, 3, 4)] == ["=B2*C2", "=B3*C3", "=SUM(D2:D3)"]
    assert str(sheet.merged_cells) == "A6:B7"
    assert sheet.tables["Items"].ref == "A1:D3"
    assert series(sheet) == ["'Data'!$B$2:$B$3"]
    assert anchor(sheet) == (5, 8)
    assert open_sheet(data, "Other")["A1"].value == "=Data!D4+SUM(Data!$B$2:$B$3)+#REF!"


def test_deleted_columns_take_their_tables_columns_along(data: Bench) -> None:
    said = data.text("excel/delete_sheet_columns", SHEET, start_col=2, count=2)
    assert said == "Deleted 2 column(s) starting at column 2 in sheet 'Data'"
    sheet = open_sheet(data)
    assert [cell.value for cell in sheet[2][:2]] == ["a", "=#REF!*#REF!"]
    assert sheet.tables["Items"].ref == "A1:B4"
    assert sheet.tables["Items"].column_names == ["Item", "Total"]
    assert not sheet.data_validations.dataValidation
    assert not sheet.conditional_formatting
    assert series(sheet) == ["#REF!"]
    assert str(sheet.merged_cells) == "A7:A8"
    assert sheet["A7"].value == "merged"


def test_a_table_goes_with_its_header_row(data: Bench) -> None:
    data.text("excel/delete_sheet_rows", SHEET, start_row=1)
    sheet = open_sheet(data)
    assert not sheet.tables
    assert sheet["A1"].value == "a"


def test_cells_in_sparse_rows_do_not_stay_behind(bench: Bench) -> None:
    bench.text("excel/create_workbook", filepath=FILE)
    sparse = [["1"], ["2", "x"], ["3", None, "y"], ["4"], ["5", None, None, "z"]]
    bench.text("excel/write_data_to_excel", SHEET, data=sparse)
    bench.text("excel/delete_sheet_rows", SHEET, start_row=2, count=2)
    found = list(open_sheet(bench).iter_rows(values_only=True))
    assert found == [("1", None, None, None), ("4", None, None, None), ("5", None, None, "z")]


def test_a_merged_range_shrinks_until_it_is_gone(data: Bench) -> None:
    data.text("excel/delete_sheet_rows", SHEET, start_row=7)
    sheet = open_sheet(data)
    assert str(sheet.merged_cells) == "A7:B7"
    assert sheet["A7"].value is None
    data.text("excel/delete_sheet_columns", SHEET, start_col=1)
    assert str(open_sheet(data).merged_cells) == ""


@pytest.mark.parametrize(
    ("change", "old", "new"),
    [
        (Shift(axis="row", at=3, count=2), "A3", "A5"),
        (Shift(axis="row", at=3, count=2), "$A$2", "$A$2"),
        (Shift(axis="row", at=3, count=2), "B2:C3", "B2:C5"),
        (Shift(axis="row", at=3, count=2), "A:C", "A:C"),
        (Shift(axis="row", at=3, count=2), "$2:$4", "$2:$6"),
        (Shift(axis="row", at=3, count=2), "A5:A2", "A7:A2"),
        (Shift(axis="row", at=3, count=2), "A1:A1048576", "A1:A1048576"),
        (Shift(axis="row", at=3, count=-2), "A3", None),
        (Shift(axis="row", at=3, count=-2), "A3:A4", None),
        (Shift(axis="row", at=3, count=-2), "A2:A4", "A2:A2"),
        (Shift(axis="row", at=3, count=-2), "A4:A9", "A3:A7"),
        (Shift(axis="row", at=1, count=-2), "A1:A3", "A1:A1"),
        (Shift(axis="row", at=1, count=-3), "1:3", None),
        (Shift(axis="column", at=2, count=1), "b2", "C2"),
        (Shift(axis="column", at=2, count=1), "A:B", "A:C"),
        (Shift(axis="column", at=2, count=1), "3:4", "3:4"),
        (Shift(axis="column", at=2, count=-1), "$B$2:$D$9", "$B$2:$C$9"),
    ],
)
def test_references_follow_a_shift(change: Shift, old: str, new: str | None) -> None:
    assert change.reference(old) == new


@given(
    axis=st.sampled_from(["row", "column"]),
    at=st.integers(1, 20),
    count=st.integers(1, 20),
    place=st.tuples(st.integers(1, 30), st.integers(1, 30), st.integers(0, 9), st.integers(0, 9)),
)
def test_deleting_what_was_inserted_leaves_every_reference_as_it_was(
    axis: Literal["row", "column"], at: int, count: int, place: tuple[int, int, int, int]
) -> None:
    top, left, height, width = place
    old = Area(top, left, top + height, left + width)
    moved = Shift(axis=axis, at=at, count=count).area(old)
    assert moved is not None
    assert Shift(axis=axis, at=at, count=-count).area(moved) == old
    left_over = Shift(axis=axis, at=at, count=-count).area(old)
    before = old.rows if axis == "row" else old.columns
    kept = [line for line in before if not at <= line < at + count]
    after = () if left_over is None else left_over.rows if axis == "row" else left_over.columns
    assert len(after) == len(kept)


@pytest.mark.sample(4)
@pytest.mark.parametrize(
    ("tool", "arguments", "problem"),
    [
        ("insert_rows", {"start_row": 0}, "Start row must be 1 or greater"),
        ("insert_rows", {"start_row": 1, "count": 0}, "Count must be 1 or greater"),
        ("insert_rows", {"start_row": 1, "count": 1_048_570}, "Inserting 1048570 row(s) would push cells over the end"),
        ("insert_rows", {"start_row": 10**12}, "Inserting 1 row(s) would push cells over the end"),
        ("insert_columns", {"start_col": -1}, "Start column must be 1 or greater"),
        ("insert_columns", {"start_col": 1, "count": 16_384}, "Inserting 16384 column(s) would push"),
        ("delete_sheet_rows", {"start_row": 99}, "Start row 99 exceeds worksheet bounds (max row: 8)"),
        ("delete_sheet_rows", {"start_row": 0}, "Start row must be 1 or greater"),
        ("delete_sheet_columns", {"start_col": 9}, "Start column 9 exceeds worksheet bounds (max column: 6)"),
        ("delete_sheet_columns", {"start_col": 1, "count": -3}, "Count must be 1 or greater"),
    ],
)
def test_lines_outside_the_sheet_are_refused(data: Bench, tool: str, arguments: dict[str, Any], problem: str) -> None:
    before = (data.folder / FILE).read_bytes()
    assert data.error(f"excel/{tool}", SHEET, **arguments).startswith(f"Error: {problem}")
    assert_same_bytes((data.folder / FILE).read_bytes(), before, FILE)


def test_a_sheet_is_added_last(data: Bench) -> None:
    said = data.text("excel/create_worksheet", filepath=FILE, sheet_name="Word Frequency")
    assert said == "Sheet Word Frequency created successfully"
    assert load_workbook(data.folder / FILE).sheetnames == ["Data", "Other", "Word Frequency"]
    error = data.error("excel/create_worksheet", filepath=FILE, sheet_name="Word Frequency")
    assert error == "Error: Sheet Word Frequency already exists"


def test_a_copied_sheet_stands_on_its_own(data: Bench) -> None:
    said = data.text("excel/copy_worksheet", filepath=FILE, source_sheet="Data", target_sheet="My copy")
    assert said == "Sheet 'Data' copied to 'My copy'"
    sheet, twin = open_sheet(data), open_sheet(data, "My copy")
    assert list(twin.values)[:3] == list(sheet.values)[:3]
    assert (twin["D5"].value, twin["F4"].value.text) == ("=SUM(D2:D4)", "=B4:B5*2")
    assert twin["A2"].font.bold
    assert twin["B3"].comment.text == "checked"
    assert twin["A3"].hyperlink.target == "https://example.org/b"
    assert twin.row_dimensions[3].height == 40
    assert twin.column_dimensions["C"].width == 30
    assert twin.freeze_panes == "A2"
    assert str(twin.merged_cells) == "A7:B8"
    assert str(twin.data_validations.dataValidation[0].sqref) == "B2:B4"
    assert [str(block.sqref) for block in twin.conditional_formatting] == ["C2:C4"]
    assert series(twin) == ["'My copy'!$B$2:$B$4"]
    assert [(name, table.ref) for name, table in dict.items(twin.tables)] == [("Items_2", "A1:D4")]
    assert series(sheet) == ["'Data'!$B$2:$B$4"]


def test_a_renamed_sheet_keeps_its_references(data: Bench) -> None:
    said = data.text("excel/rename_worksheet", filepath=FILE, old_name="Data", new_name="Bob's data")
    assert said == "Sheet renamed from 'Data' to 'Bob's data'"
    workbook = load_workbook(data.folder / FILE)
    assert workbook.sheetnames == ["Bob's data", "Other"]
    assert workbook["Other"]["A1"].value == "='Bob''s data'!D5+SUM('Bob''s data'!$B$2:$B$4)+'Bob''s data'!B3"
    assert workbook["Other"]["A2"].value.endswith('&"Data!B3"')
    assert workbook["Bob's data"]["D5"].value == "=SUM(D2:D4)"
    assert workbook.defined_names["Prices"].attr_text == "'Bob''s data'!$C$2:$C$4"
    assert series(workbook["Bob's data"]) == ["'Bob''s data'!$B$2:$B$4"]
    data.text("excel/rename_worksheet", filepath=FILE, old_name="Bob's data", new_name="BOB'S DATA")
    assert load_workbook(data.folder / FILE).sheetnames == ["BOB'S DATA", "Other"]


def test_a_deleted_sheet_breaks_references_visibly(data: Bench) -> None:
    assert data.text("excel/delete_worksheet", filepath=FILE, sheet_name="Data") == "Sheet 'Data' deleted"
    assert open_sheet(data, "Other")["A1"].value == "=#REF!+SUM(#REF!)+#REF!"
    error = data.error("excel/delete_worksheet", filepath=FILE, sheet_name="Other")
    assert error == "Error: Cannot delete the only sheet in workbook"


def test_deleting_the_last_visible_sheet_shows_a_hidden_one(bench: Bench) -> None:
    workbook = Workbook()
    workbook.create_sheet("Hidden").sheet_state = "hidden"
    workbook.save(bench.folder / FILE)
    bench.text("excel/delete_worksheet", filepath=FILE, sheet_name="Sheet")
    assert open_sheet(bench, "Hidden").sheet_state == "visible"


@pytest.mark.parametrize(
    ("tool", "arguments", "problem"),
    [
        ("copy_worksheet", {"source_sheet": "Nope", "target_sheet": "X"}, "Source sheet 'Nope' not found"),
        ("copy_worksheet", {"source_sheet": "Data", "target_sheet": "other"}, "Target sheet 'other' already exists"),
        ("delete_worksheet", {"sheet_name": "data"}, "Sheet 'data' not found"),
        ("rename_worksheet", {"old_name": "Nope", "new_name": "X"}, "Sheet 'Nope' not found"),
        ("rename_worksheet", {"old_name": "Data", "new_name": "OTHER"}, "Sheet 'OTHER' already exists"),
        ("create_worksheet", {"sheet_name": "DATA"}, "Sheet DATA already exists"),
    ],
)
def test_sheets_that_are_missing_or_in_the_way_are_named(
    data: Bench, tool: str, arguments: dict[str, Any], problem: str
) -> None:
    assert data.error(f"excel/{tool}", arguments, filepath=FILE) == f"Error: {problem}"


@pytest.mark.sample(4)
@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("a/b", "characters"),
        ("a\\b", "characters"),
        ("[a]", "characters"),
        ("a:b?*", "characters"),
        ("a\x00b", "characters"),
        ("a\tb", "characters"),
        ("x" * 32, "it has 32 characters, more than the 31 allowed"),
        ("", "it is empty"),
        ("   ", "it is empty"),
        ("'quoted", "apostrophe"),
        ("history", "reserves"),
    ],
)
def test_names_that_excel_forbids_are_refused_everywhere(data: Bench, name: str, reason: str) -> None:
    calls: list[tuple[str, dict[str, Any]]] = [
        ("create_worksheet", {"sheet_name": name}),
        ("copy_worksheet", {"source_sheet": "Data", "target_sheet": name}),
        ("rename_worksheet", {"old_name": "Data", "new_name": name}),
        ("write_data_to_excel", {"sheet_name": name, "data": [[1]]}),
    ]
    for tool, arguments in calls:
        text = data.error(f"excel/{tool}", arguments, filepath=FILE)
        assert text.startswith("Error: Invalid sheet name ")
        assert reason in text


def test_a_name_of_31_characters_in_any_script_is_fine(data: Bench) -> None:
    for name in ("x" * 31, "Ünïcödé 😀 данные", "a!b & <c>"):
        data.text("excel/create_worksheet", filepath=FILE, sheet_name=name)
        assert name in load_workbook(data.folder / FILE).sheetnames


def test_merging_keeps_the_first_value(data: Bench) -> None:
    said = data.text("excel/merge_cells", SHEET, start_cell="a10", end_cell="C11")
    assert said == "Range 'A10:C11' merged in sheet 'Data'"
    assert data.text("excel/get_merged_cells", SHEET) == "['A7:B8', 'A10:C11']"
    said = data.text("excel/unmerge_cells", SHEET, start_cell="A7", end_cell="B8")
    assert said == "Range 'A7:B8' unmerged successfully"
    assert data.text("excel/get_merged_cells", SHEET) == "['A10:C11']"
    assert open_sheet(data)["A7"].value == "merged"
    assert data.text("excel/get_merged_cells", filepath=FILE, sheet_name="Other") == "[]"


@pytest.mark.parametrize(
    ("tool", "start", "end", "problem"),
    [
        ("merge_cells", "A8", "C9", "Range 'A8:C9' overlaps the merged range 'A7:B8': unmerge it first"),
        ("merge_cells", "D4", "E4", "Range 'D4:E4' overlaps the table in 'A1:D4'"),
        ("merge_cells", "A9", "A9", "Range 'A9:A9' is a single cell: a merge needs two"),
        ("merge_cells", "B9", "A9", "Invalid range: End column cannot be before start column"),
        ("merge_cells", "A9", "A8", "Invalid range: End row cannot be before start row"),
        ("merge_cells", "A1", "XFD1048576", "Range A1:XFD1048576 has 17179869184 cells"),
        ("merge_cells", "ZZZZ1", "A2", "Invalid range: ZZZZ1"),
        ("unmerge_cells", "A7", "B7", "Range 'A7:B7' is not merged"),
    ],
)
def test_merges_that_make_no_sense_are_refused(data: Bench, tool: str, start: str, end: str, problem: str) -> None:
    assert data.error(f"excel/{tool}", SHEET, start_cell=start, end_cell=end).startswith(f"Error: {problem}")


def test_writing_into_a_merged_range_is_refused(data: Bench) -> None:
    refused: list[tuple[str, dict[str, Any]]] = [
        ("write_data_to_excel", {"data": [["x", "y"]], "start_cell": "A7"}),
        ("apply_formula", {"cell": "B7", "formula": "=1"}),
        ("copy_range", {"source_start": "A1", "source_end": "B1", "target_start": "A7"}),
    ]
    for tool, arguments in refused:
        assert "Cell B7 is covered by a merged range" in data.error(f"excel/{tool}", SHEET, **arguments)


def test_copied_formulas_follow_their_cells(data: Bench) -> None:
    call = {"source_start": "A2", "source_end": "D3", "target_start": "B12"}
    assert data.text("excel/copy_range", SHEET, **call) == "Range copied successfully"
    sheet = open_sheet(data)
    assert [cell.value for cell in sheet[12][1:5]] == ["a", 1, 2, "=C12*D12"]
    assert sheet["E13"].value == "=C13*$C$3"
    assert sheet["B12"].font.bold
    assert sheet["D2"].value == "=B2*C2"


def test_a_range_is_copied_to_another_sheet(data: Bench) -> None:
    call = {"source_start": "A1", "source_end": "B2", "target_start": "C3", "target_sheet": "Other"}
    data.text("excel/copy_range", SHEET, **call)
    assert [[cell.value for cell in row] for row in open_sheet(data, "Other")["C3:D4"]] == [["Item", "Qty"], ["a", 1]]


def test_overlapping_copies_take_the_old_values(data: Bench) -> None:
    data.text("excel/copy_range", SHEET, source_start="B2", source_end="B4", target_start="B3")
    assert [open_sheet(data).cell(row, 2).value for row in range(2, 6)] == [1, 1, 3, 5]


def test_a_formula_copied_off_the_sheet_breaks_visibly(data: Bench) -> None:
    data.text("excel/copy_range", SHEET, source_start="D2", source_end="D2", target_start="A20")
    assert open_sheet(data)["A20"].value == "=#REF!"


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        ({"source_start": "ZZZZ1"}, "Invalid source range: ZZZZ1"),
        ({"source_start": "B9"}, "Invalid source range: End row cannot be before start row"),
        ({"target_start": "nowhere"}, "Invalid target cell: nowhere"),
        ({"target_start": "XFD1"}, "Invalid target cell: XFD1 leaves no room for 2 rows and 2 columns"),
        ({"target_sheet": "Nope"}, "Sheet 'Nope' not found"),
        ({"source_end": "XFD1048576"}, "Range A1:XFD1048576 has 17179869184 cells"),
    ],
)
def test_copies_that_make_no_sense_are_refused(data: Bench, arguments: dict[str, Any], problem: str) -> None:
    call = {**SHEET, "source_start": "A1", "source_end": "B2", "target_start": "A10", **arguments}
    assert data.error("excel/copy_range", call).startswith(f"Error: {problem}")


@pytest.mark.parametrize(
    ("direction", "first", "total"), [("up", ["a", 1, 2], "=SUM(D2:D2)"), ("left", ["a", "=#REF!*#REF!", None], None)]
)
def test_deleting_a_range_deletes_its_rows_or_columns(
    data: Bench, direction: str, first: list[Any], total: Any
) -> None:
    call = {"start_cell": "B3", "end_cell": "C4", "shift_direction": direction}
    assert data.text("excel/delete_range", SHEET, **call) == "Range B3:C4 deleted successfully"
    sheet = open_sheet(data)
    assert [cell.value for cell in sheet[2][:3]] == first
    assert sheet["D3"].value == total


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        ({"end_cell": "B99"}, "End row 99 out of bounds (1-8)"),
        ({"end_cell": "Z4"}, "End column Z out of bounds (A-F)"),
        ({"shift_direction": "down"}, "Invalid shift direction: down. Must be 'up' or 'left'"),
        ({"start_cell": "A0"}, "Invalid range: A0"),
    ],
)
def test_deletions_that_make_no_sense_are_refused(data: Bench, arguments: dict[str, Any], problem: str) -> None:
    call = {**SHEET, "start_cell": "A2", "end_cell": "B4", **arguments}
    assert data.error("excel/delete_range", call).startswith(f"Error: {problem}")


def test_a_range_is_checked_against_the_used_part(data: Bench) -> None:
    used = "Sheet contains data in range 'A1:F8'"
    said = data.text("excel/validate_excel_range", SHEET, start_cell="A1", end_cell="C7")
    assert said == f"Range 'A1:C7' is valid. {used}"
    assert data.text("excel/validate_excel_range", SHEET, start_cell="B2") == f"Range 'B2' is valid. {used}"
    for arguments, problem in [
        ({"start_cell": "A9"}, "Start row 9 out of bounds (1-8)"),
        ({"start_cell": "G1"}, "Start column G out of bounds (A-F)"),
        ({"start_cell": "A1", "end_cell": "A9"}, "End row 9 out of bounds (1-8)"),
        ({"start_cell": "C3", "end_cell": "A1"}, "Invalid range: End row cannot be before start row"),
        ({"start_cell": "ZZZZ1"}, "Invalid range: ZZZZ1 (cells run from A1 to XFD1048576)"),
    ]:
        assert data.error("excel/validate_excel_range", SHEET, **arguments) == f"Error: {problem}"
