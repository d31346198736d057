"""The `excel` server's formats, charts, tables and pivots, seen by openpyxl and by LibreOffice."""

import csv
import warnings
from pathlib import Path
from typing import Any

import pytest
from openpyxl import Workbook, load_workbook
from openpyxl.worksheet.worksheet import Worksheet

from tests.office import convert
from tests.pictures import assert_same_bytes
from tests.sandboxes.servers.conftest import Bench

FILE = "sales.xlsx"
SHEET = {"filepath": FILE, "sheet_name": "Sales"}
ROWS: list[list[Any]] = [
    ["Region", "Product", "Units", "Price"],
    ["North", "Apples", 120, 0.5],
    ["South", "Pears", 80, 0.25],
    ["North", "Plums", 60, 0.75],
    ["West", "Apples", 95, 1],
    ["South", "Plums", 40, 2.5],
]


@pytest.fixture
def sales(bench: Bench) -> Bench:
    """A workbook with one sheet of sales."""
    bench.text("excel/create_workbook", filepath=FILE)
    bench.text("excel/rename_worksheet", filepath=FILE, old_name="Sheet1", new_name="Sales")
    bench.text("excel/write_data_to_excel", SHEET, data=ROWS)
    return bench


def open_sheet(bench: Bench, sheet: str = "Sales") -> Worksheet:
    found = load_workbook(bench.folder / FILE)[sheet]
    assert isinstance(found, Worksheet)
    return found


def charts(sheet: Any) -> list[Any]:
    """The charts of a sheet, which openpyxl keeps to itself."""
    return list(sheet._charts)


def style(bench: Bench, **arguments: Any) -> str:
    return bench.text("excel/format_range", {**SHEET, "start_cell": "A1", "end_cell": "D1", **arguments})


def test_a_range_gets_every_kind_of_format(sales: Bench) -> None:
    said = style(
        sales,
        bold=True,
        italic=True,
        underline=True,
        font_size=14,
        font_color="FF0000",
        bg_color="#ffee00",
        border_style="thick",
        border_color="00FF00",
        number_format="0.00",
        alignment="right",
        wrap_text=True,
        protection={"locked": False, "hidden": True},
    )
    assert said == "Range formatted successfully"
    for cell in open_sheet(sales)[1]:
        assert (cell.font.b, cell.font.i, cell.font.u, cell.font.sz) == (True, True, "single", 14)
        assert cell.font.color.rgb == "FFFF0000"
        assert (cell.fill.fill_type, cell.fill.start_color.rgb) == ("solid", "FFFFEE00")
        assert {side.style for side in (cell.border.left, cell.border.top)} == {"thick"}
        assert cell.border.bottom.color.rgb == "FF00FF00"
        assert cell.number_format == "0.00"
        assert (cell.alignment.horizontal, cell.alignment.wrap_text) == ("right", True)
        assert (cell.protection.locked, cell.protection.hidden) == (False, True)


def test_what_is_not_asked_for_stays_as_it_was(sales: Bench) -> None:
    style(sales, bold=True, font_size=20, bg_color="112233", wrap_text=True)
    style(sales, italic=True, alignment="center")
    cell = open_sheet(sales)["A1"]
    assert (cell.font.b, cell.font.i, cell.font.sz) == (True, True, 20)
    assert cell.fill.start_color.rgb == "FF112233"
    assert (cell.alignment.horizontal, cell.alignment.wrap_text) == ("center", True)


def test_one_cell_is_enough_and_a_range_may_be_merged(sales: Bench) -> None:
    style(sales, start_cell="B7", end_cell=None, bold=True)
    style(sales, start_cell="A8:C9", end_cell=None, merge_cells=True, border_style="thin")
    sheet = open_sheet(sales)
    assert sheet["B7"].font.b
    assert not sheet["B8"].font.b
    assert str(sheet.merged_cells) == "A8:C9"


@pytest.mark.sample(4)
@pytest.mark.parametrize(
    ("wanted", "kind", "formula"),
    [
        ({"type": "cell_is", "params": {"operator": ">", "formula": ["100"]}}, "cellIs", ["100"]),
        ({"type": "cell_is", "params": {"operator": "between", "formula": [1, 2]}}, "cellIs", ["1", "2"]),
        (
            {"type": "cell_is", "params": {"operator": "lessThan", "formula": ["$A$1"], "fill": {"fgColor": "C6EFCE"}}},
            "cellIs",
            ["$A$1"],
        ),
        ({"type": "formula", "params": {"formula": ["=$C2>50"], "font": {"bold": True}}}, "expression", ["$C2>50"]),
        ({"type": "color_scale"}, "colorScale", []),
        (
            {"type": "color_scale", "params": {"mid_type": "num", "mid_value": 9, "mid_color": "FFFFFF"}},
            "colorScale",
            [],
        ),
        ({"type": "data_bar", "params": {"color": "FF0000", "showValue": False}}, "dataBar", []),
        ({"type": "icon_set"}, "iconSet", []),
        ({"type": "icon_set", "params": {"icon_style": "4Arrows", "values": [0, 25, 50, 75]}}, "iconSet", []),
    ],
)
def test_conditional_formats_of_every_type_are_stored(
    sales: Bench, wanted: dict[str, Any], kind: str, formula: list[str]
) -> None:
    style(sales, start_cell="C2", end_cell="C6", conditional_format=wanted)
    [block] = open_sheet(sales).conditional_formatting
    assert str(block.sqref) == "C2:C6"
    assert (block.rules[0].type, block.rules[0].formula) == (kind, formula)


@pytest.mark.sample(10)
@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        ({"start_cell": "ZZZZ1"}, "Invalid start cell reference: ZZZZ1"),
        ({"end_cell": "1A"}, "Invalid end cell reference: 1A"),
        ({"start_cell": "C3", "end_cell": "A1"}, "Invalid cell range: End row cannot be before start row"),
        ({"end_cell": "XFD1048576"}, "Range A1:XFD1048576 has 17179869184 cells"),
        ({"sheet_name": "Nope"}, "Sheet 'Nope' not found"),
        ({"font_size": 0}, "Invalid font size: 0"),
        ({"font_color": "red"}, "Invalid font color: red"),
        ({"bg_color": "12345"}, "Invalid background color: 12345"),
        ({"border_style": "wavy"}, "Invalid border settings: wavy"),
        ({"border_color": "zzz"}, "Invalid border settings: zzz"),
        ({"alignment": "middle"}, "Invalid alignment settings: middle"),
        ({"number_format": "x" * 256}, "Invalid number format"),
        ({"number_format": "0\x00"}, "Invalid number format"),
        ({"protection": {"locked": "yes"}}, "Invalid protection settings: locked"),
        ({"protection": {"password": True}}, "Invalid protection settings: password"),
        ({"conditional_format": {}}, "Conditional format type not specified"),
        ({"conditional_format": {"type": "rainbow"}}, "Invalid conditional format type: rainbow"),
        ({"conditional_format": {"type": "cell_is"}}, "Failed to apply conditional formatting: unknown operator None"),
        ({"conditional_format": {"type": "cell_is", "params": {"operator": ">"}}}, "Failed to apply"),
        ({"conditional_format": {"type": "cell_is", "params": {"operator": "between", "formula": ["1"]}}}, "Failed"),
        (
            {"conditional_format": {"type": "formula", "params": {"formula": ["INDIRECT(A1)"]}}},
            "Invalid formula syntax",
        ),
        ({"conditional_format": {"type": "color_scale", "params": {"start_color": "blue"}}}, "Failed to apply"),
        ({"conditional_format": {"type": "color_scale", "params": {"start_type": "num"}}}, "Failed to apply"),
        ({"conditional_format": {"type": "data_bar", "params": {"colour": "FF0000"}}}, "Failed to apply"),
        ({"conditional_format": {"type": "data_bar", "params": {"maxLength": 900}}}, "Failed to apply"),
        ({"conditional_format": {"type": "data_bar", "params": {"showValue": "yes"}}}, "Failed to apply"),
        ({"conditional_format": {"type": "icon_set", "params": {"icon_style": "9Cats"}}}, "Failed to apply"),
        ({"conditional_format": {"type": "icon_set", "params": {"values": [1]}}}, "Failed to apply"),
        ({"conditional_format": {"type": "formula", "params": []}}, "Failed to apply"),
    ],
)
def test_formats_that_make_no_sense_are_refused(sales: Bench, arguments: dict[str, Any], problem: str) -> None:
    before = (sales.folder / FILE).read_bytes()
    call = {**SHEET, "start_cell": "A1", "end_cell": "D1", **arguments}
    assert sales.error("excel/format_range", call).startswith(f"Error: {problem}")
    assert_same_bytes((sales.folder / FILE).read_bytes(), before, FILE)


@pytest.mark.parametrize("kind", ["line", "bar", "pie", "area", "LINE"])
def test_a_chart_draws_the_columns_under_their_headers(sales: Bench, kind: str) -> None:
    call = {**SHEET, "data_range": "B1:D6", "chart_type": kind, "target_cell": "F2"}
    said = sales.text("excel/create_chart", call, title="Units & prices", x_axis="Product", y_axis="Units")
    assert said == f"{kind.capitalize()} chart created successfully"
    [chart] = charts(open_sheet(sales))
    assert type(chart).__name__.lower() == f"{kind.lower()}chart"
    assert [series.val.numRef.f for series in chart.series] == ["'Sales'!$C$2:$C$6", "'Sales'!$D$2:$D$6"]
    assert [series.tx.strRef.f for series in chart.series] == ["'Sales'!C1", "'Sales'!D1"]
    assert {series.cat.numRef.f for series in chart.series} == {"'Sales'!$B$2:$B$6"}
    assert (chart.anchor._from.row, chart.anchor._from.col) == (1, 5)
    assert chart.title.tx.rich.p[0].r[0].t == "Units & prices"


def test_a_scatter_chart_pairs_columns_and_a_single_column_stands_alone(sales: Bench) -> None:
    call = {**SHEET, "chart_type": "scatter", "target_cell": "AA30"}
    sales.text("excel/create_chart", call, data_range="C1:D6")
    sales.text("excel/create_chart", call, data_range="D1:D6", chart_type="line")
    scatter, line = charts(open_sheet(sales))
    assert scatter.series[0].xVal.numRef.f == "'Sales'!$C$2:$C$6"
    assert scatter.series[0].yVal.numRef.f == "'Sales'!$D$2:$D$6"
    assert scatter.series[0].tx.strRef.f == "'Sales'!D1"
    assert (line.series[0].cat, line.series[0].val.numRef.f) == (None, "'Sales'!$D$2:$D$6")
    assert (scatter.anchor._from.row, scatter.anchor._from.col) == (29, 26)


def test_a_chart_may_draw_another_sheet(sales: Bench) -> None:
    sales.text("excel/create_worksheet", filepath=FILE, sheet_name="My charts")
    for data_range in ("Sales!A1:C6", "'Sales'!A1:C6"):
        call = {"sheet_name": "My charts", "data_range": data_range, "chart_type": "bar", "target_cell": "A1"}
        sales.text("excel/create_chart", call, filepath=FILE)
    for chart in charts(open_sheet(sales, "My charts")):
        assert chart.series[1].val.numRef.f == "'Sales'!$C$2:$C$6"


def test_charts_survive_later_edits(sales: Bench) -> None:
    call = {**SHEET, "data_range": "B1:C6", "chart_type": "bar", "target_cell": "F2"}
    sales.text("excel/create_chart", call, title="Kept")
    sales.text("excel/write_data_to_excel", SHEET, data=[["East"]], start_cell="A7")
    [chart] = charts(open_sheet(sales))
    assert chart.title.tx.rich.p[0].r[0].t == "Kept"


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        ({"sheet_name": "Nope"}, "Sheet 'Nope' not found"),
        ({"chart_type": "radar"}, "Unsupported chart type: radar. Supported types: line, bar, pie, scatter, area"),
        ({"data_range": "Nope!A1:B2"}, "Sheet 'Nope' referenced in data range not found"),
        ({"data_range": "A1"}, "Invalid data range format: A1:A1 needs a header row"),
        (
            {"data_range": "A1:A9", "chart_type": "scatter"},
            "Invalid data range format: A1:A9 needs a column of x values",
        ),
        ({"data_range": "C6:A1"}, "Invalid data range format: End row cannot be before start row"),
        ({"data_range": "A1:B1048577"}, "Invalid data range format: B1048577"),
        ({"data_range": "A1:ZZ9"}, "Range A1:ZZ9 has 702 columns, more than a chart's 255 series"),
        ({"target_cell": "ZZZZ1"}, "Invalid target cell: ZZZZ1"),
        ({"title": "a\x0b"}, "Invalid label"),
        ({"title": "a" * 256}, "Invalid label"),
    ],
)
def test_charts_that_make_no_sense_are_refused(sales: Bench, arguments: dict[str, Any], problem: str) -> None:
    call = {**SHEET, "data_range": "A1:B3", "chart_type": "bar", "target_cell": "E1", **arguments}
    assert sales.error("excel/create_chart", call).startswith(f"Error: {problem}")


def test_a_table_has_a_name_a_style_and_filters(sales: Bench) -> None:
    call = {**SHEET, "data_range": "A1:D6", "table_name": "SalesTable", "table_style": "TableStyleLight3"}
    said = sales.text("excel/create_table", call)
    assert said == "Successfully created table 'SalesTable' in sheet 'Sales'."
    table = open_sheet(sales).tables["SalesTable"]
    assert (table.ref, table.autoFilter.ref, table.tableStyleInfo.name) == ("A1:D6", "A1:D6", "TableStyleLight3")
    assert table.column_names == ["Region", "Product", "Units", "Price"]


def test_a_table_without_a_name_gets_one_that_follows_from_its_place(sales: Bench) -> None:
    said = sales.text("excel/create_table", SHEET, data_range="Sales!A1:D6")
    [name] = open_sheet(sales).tables
    assert name.startswith("Table_")
    assert len(name) == 14
    assert name in said


def test_headers_become_distinct_texts(sales: Bench) -> None:
    header = [["a", "A", None, 2024, True], [1, 2, 3, 4, 5]]
    sales.text("excel/write_data_to_excel", SHEET, data=header, start_cell="G1")
    sales.text("excel/create_table", SHEET, data_range="G1:K2", table_name="Odd")
    sheet = open_sheet(sales)
    assert sheet.tables["Odd"].column_names == ["a", "A2", "Column3", "2024", "True"]
    assert [cell.value for cell in sheet["G1:K1"][0]] == ["a", "A2", "Column3", "2024", "True"]


def test_a_table_learns_headers_that_are_written_later(sales: Bench) -> None:
    sales.text("excel/create_table", SHEET, data_range="A1:D6", table_name="SalesTable")
    sales.text("excel/write_data_to_excel", SHEET, data=[["Area", 2025, "AREA"]])
    sheet = open_sheet(sales)
    assert sheet.tables["SalesTable"].column_names == ["Area", "2025", "AREA2", "Price"]
    assert [cell.value for cell in sheet[1]] == ["Area", "2025", "AREA2", "Price"]


@pytest.mark.sample(6)
@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        ({"sheet_name": "Nope"}, "Sheet 'Nope' not found."),
        ({"table_name": "taken"}, "Table name 'taken' already exists."),
        ({"table_name": "A1"}, "Invalid table name 'A1'"),
        ({"table_name": "my table"}, "Invalid table name 'my table'"),
        ({"table_name": ""}, "Invalid table name ''"),
        ({"table_style": "Pretty"}, "Unknown table style 'Pretty'"),
        ({"table_style": "TableStyleDark12"}, "Unknown table style 'TableStyleDark12'"),
        ({"data_range": "A1:D1"}, "Range A1:D1 is too small for a table"),
        ({"data_range": "D6:A1"}, "Invalid data range: End row cannot be before start row"),
        ({"data_range": "Other!A1:B2"}, "Invalid data range: Other!A1:B2 is not on sheet 'Sales'"),
        ({"data_range": "F10:G11"}, "Range F10:G11 overlaps the table in F11:G12"),
        ({"data_range": "A1:XFD1048576"}, "Range A1:XFD1048576 has 17179869184 cells"),
        ({"data_range": "I1:J2"}, "Header cell J1 holds a formula"),
        ({"data_range": "L1:M4"}, "Range L1:M4 overlaps the merged range L3:M4"),
    ],
)
def test_tables_that_make_no_sense_are_refused(sales: Bench, arguments: dict[str, Any], problem: str) -> None:
    sales.text("excel/create_table", SHEET, data_range="F11:G12", table_name="Taken")
    sales.text("excel/apply_formula", SHEET, cell="J1", formula="=1")
    sales.text("excel/merge_cells", SHEET, start_cell="L3", end_cell="M4")
    call = {**SHEET, "data_range": "A1:D6", **arguments}
    assert sales.error("excel/create_table", call).startswith(f"Error: {problem}")


def pivot(bench: Bench, **arguments: Any) -> list[tuple[Any, ...]]:
    call = {**SHEET, "data_range": "A1:D6", "rows": ["Region"], "values": ["Units"], **arguments}
    assert bench.text("excel/create_pivot_table", call) == "Summary table created successfully"
    return list(open_sheet(bench, "Sales_pivot").values)


@pytest.mark.parametrize(
    ("how", "label", "numbers"),
    [
        ("sum", "sum", [180, 120, 95]),
        ("average", "average", [90, 60, 95]),
        ("mean", "average", [90, 60, 95]),
        ("count", "count", [2, 2, 1]),
        ("min", "min", [60, 40, 95]),
        ("MAX", "max", [120, 80, 95]),
    ],
)
def test_a_pivot_groups_and_aggregates(sales: Bench, how: str, label: str, numbers: list[int]) -> None:
    found = pivot(sales, agg_func=how)
    assert found == [("Region", f"Units ({label})"), *zip(["North", "South", "West"], numbers, strict=True)]


def test_the_default_aggregation_is_the_average(sales: Bench) -> None:
    assert pivot(sales)[1] == ("North", 90)


def test_a_pivot_lists_the_groups_that_occur(sales: Bench) -> None:
    found = pivot(sales, rows=["product", " REGION "], values=["Units", "Price (sum)"], agg_func="sum")
    assert found == [
        ("Product", "Region", "Units (sum)", "Price (sum)"),
        ("Apples", "North", 120, 0.5),
        ("Apples", "West", 95, 1),
        ("Pears", "South", 80, 0.25),
        ("Plums", "North", 60, 0.75),
        ("Plums", "South", 40, 2.5),
    ]


def test_column_fields_spread_the_values_over_their_labels(sales: Bench) -> None:
    assert pivot(sales, columns=["Product"], agg_func="sum") == [
        ("Region", "Apples - Units (sum)", "Pears - Units (sum)", "Plums - Units (sum)"),
        ("North", 120, None, 60),
        ("South", None, 80, 40),
        ("West", 95, None, None),
    ]
    assert pivot(sales, rows=[], columns=["Region"], values=["Units", "Price"], agg_func="max")[0][:3] == (
        "North - Units (max)",
        "North - Price (max)",
        "South - Units (max)",
    )


def test_numbers_and_blanks_group_too_and_text_is_counted(sales: Bench) -> None:
    sales.text("excel/write_data_to_excel", SHEET, data=[[None, "Figs", "n/a"], ["West", None, 95]], start_cell="A7")
    assert pivot(sales, data_range="A1:D9", rows=["Units"], values=["Product"], agg_func="count") == [
        ("Units", "Product (count)"),
        (40, 1),
        (60, 1),
        (80, 1),
        (95, 1),
        (120, 1),
        ("n/a", 1),
    ]
    assert pivot(sales, data_range="A1:D9", agg_func="max")[1] == ("(blank)", None)


def test_a_pivot_is_a_styled_table_that_a_second_one_replaces(sales: Bench) -> None:
    sales.text("excel/create_worksheet", filepath=FILE, sheet_name="Last")
    pivot(sales)
    pivot(sales, rows=["Product"], agg_func="sum")
    workbook = load_workbook(sales.folder / FILE)
    assert workbook.sheetnames == ["Sales", "Last", "Sales_pivot"]
    sheet = workbook["Sales_pivot"]
    [table] = sheet.tables.values()
    assert (table.ref, table.tableStyleInfo.name) == ("A1:B4", "TableStyleMedium9")
    assert table.displayName.startswith("PivotTable_")
    assert sheet["A1"].font.b
    assert list(workbook["Sales"].values) == [tuple(row) for row in ROWS]


def test_a_pivot_of_a_sheet_with_a_long_name_still_has_a_legal_one(sales: Bench) -> None:
    long = "x" * 31
    sales.text("excel/rename_worksheet", filepath=FILE, old_name="Sales", new_name=long)
    call = {"sheet_name": long, "data_range": "A1:D6", "rows": [], "values": ["Units"], "agg_func": "sum"}
    sales.text("excel/create_pivot_table", call, filepath=FILE)
    assert list(open_sheet(sales, "x" * 25 + "_pivot").values) == [("Units (sum)",), (395,)]


@pytest.mark.sample(4)
@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        ({"sheet_name": "Nope"}, "Sheet 'Nope' not found"),
        (
            {"agg_func": "median"},
            "Invalid aggregation function. Must be one of: sum, average, count, min, max",
        ),
        (
            {"rows": ["Country"]},
            "Invalid row field 'Country'. Available fields: Price, Product, Region, Units",
        ),
        ({"values": ["Weight"]}, "Invalid value field 'Weight'. Available fields: Price, Product, Region, Units"),
        ({"columns": ["Year"]}, "Invalid column field 'Year'. Available fields: Price, Product, Region, Units"),
        ({"values": []}, "No value fields given"),
        ({"values": ["Product"]}, "Value field 'Product' has no numbers: use agg_func count"),
        ({"data_range": "A1:D1"}, "Source data must have a header row and at least one data row."),
        ({"data_range": "A20:D30"}, "Source data must have a header row and at least one data row."),
        ({"data_range": "D6:A1"}, "Invalid data range: End row cannot be before start row"),
        ({"data_range": "A1:E6", "values": ["Total"]}, "Field 'Total' holds a formula in E2"),
    ],
)
def test_pivots_that_make_no_sense_are_refused(sales: Bench, arguments: dict[str, Any], problem: str) -> None:
    sales.text("excel/write_data_to_excel", SHEET, data=[["Total"], ["=C2*D2"]], start_cell="E1")
    call = {**SHEET, "data_range": "A1:D6", "rows": ["Region"], "values": ["Units"], **arguments}
    assert sales.error("excel/create_pivot_table", call).startswith(f"Error: {problem}")
    assert load_workbook(sales.folder / FILE).sheetnames == ["Sales"]


@pytest.fixture
def full(sales: Bench) -> Bench:
    """The sales with everything a workbook can be given."""
    sales.text("excel/write_data_to_excel", SHEET, data=[["Total"]], start_cell="E1")
    for row in range(2, 7):
        sales.text("excel/apply_formula", SHEET, cell=f"E{row}", formula=f"=C{row}*D{row}")
    style(sales, bold=True, bg_color="4472C4", font_color="FFFFFF")
    for kind in ("color_scale", "data_bar", "icon_set"):
        style(sales, start_cell="C2", end_cell="C6", conditional_format={"type": kind})
    sales.text("excel/create_pivot_table", SHEET, data_range="A1:D6", rows=["Region"], values=["Units"], agg_func="sum")
    for number, kind in enumerate(["line", "bar", "pie", "scatter", "area"]):
        call = {**SHEET, "data_range": "B1:C6", "chart_type": kind, "target_cell": f"H{2 + 16 * number}"}
        sales.text("excel/create_chart", call, title=kind)
    sales.text("excel/create_table", SHEET, data_range="A1:E6", table_name="SalesTable")
    sales.text("excel/insert_rows", SHEET, start_row=4)
    sales.text("excel/write_data_to_excel", SHEET, data=[["East", "Figs", 10, 3, "=C4*D4"]], start_cell="A4")
    sales.text(
        "excel/write_data_to_excel", SHEET, data=[["Sum", None, "=SUM(C2:C7)", None, "=SUM(E2:E7)"]], start_cell="A9"
    )
    sales.text("excel/merge_cells", SHEET, start_cell="A11", end_cell="E12")
    sales.text("excel/copy_worksheet", filepath=FILE, source_sheet="Sales", target_sheet="Copy of sales")
    return sales


@pytest.mark.office
def test_libreoffice_computes_the_formulas(full: Bench, tmp_path: Path) -> None:
    with convert(full.folder / FILE, "csv", tmp_path / "office").open(encoding="utf-8") as stream:
        found = list(csv.reader(stream))
    assert found[0] == ["Region", "Product", "Units", "Price", "Total"]
    assert found[3] == ["East", "Figs", "10", "3", "30"]
    assert found[8] == ["Sum", "", "405", "", "350"]


@pytest.mark.office
def test_libreoffice_keeps_sheets_charts_and_tables(full: Bench, tmp_path: Path) -> None:
    converted = convert(full.folder / FILE, "xlsx", tmp_path / "office")
    with warnings.catch_warnings():
        # openpyxl warns of LibreOffice's own extensions.
        warnings.simplefilter("ignore")
        workbook = load_workbook(converted, data_only=True)
    assert workbook.sheetnames == ["Sales", "Sales_pivot", "Copy of sales"]
    assert list(workbook["Sales_pivot"].values) == [
        ("Region", "Units (sum)"),
        ("North", 180),
        ("South", 120),
        ("West", 95),
    ]
    for title in ("Sales", "Copy of sales"):
        sheet = workbook[title]
        assert sheet["E9"].value == 350
        assert len(charts(sheet)) == 5
        assert len(sheet.tables) == 1
        assert str(sheet.merged_cells) == "A11:E12"


@pytest.mark.office
def test_a_workbook_that_libreoffice_wrote_can_be_edited(bench: Bench, tmp_path: Path) -> None:
    workbook = Workbook()
    sheet = workbook.active
    assert isinstance(sheet, Worksheet)
    sheet.append(["a", 1])
    workbook.save(tmp_path / "source.xlsx")
    converted = convert(tmp_path / "source.xlsx", "xlsx", tmp_path / "office")
    (bench.folder / FILE).write_bytes(converted.read_bytes())
    bench.text("excel/write_data_to_excel", filepath=FILE, sheet_name="Sheet", data=[["b", 2]], start_cell="A2")
    assert list(open_sheet(bench, "Sheet").values) == [("a", 1), ("b", 2)]
