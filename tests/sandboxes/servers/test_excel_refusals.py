"""What the `excel` server refuses: files that are none, files that are traps, values no workbook holds."""

import json
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from io import BytesIO
from pathlib import Path
from typing import Any
from zipfile import ZIP_DEFLATED, ZipFile

import pytest
from openpyxl import Workbook, load_workbook
from openpyxl.worksheet.worksheet import Worksheet

from m3bench.sandboxes.context import Context
from m3bench.sandboxes.servers.excel import workbook as surveys
from m3bench.sandboxes.servers.excel.workbook import editing, open_book
from m3bench.sandboxes.workspace import Workspace, WorkspaceLimits
from m3bench.tasks.catalog import load_catalog
from m3bench.tasks.errors import LimitError, ToolError
from m3bench.tasks.examples import load_examples
from tests.pictures import assert_same_bytes
from tests.sandboxes.servers.conftest import Bench

FILE = "sales.xlsx"
TOOLS = [pytest.param(tool.name, id=tool.name) for tool in load_catalog().by_name["excel"].tools]


def workbook_bytes() -> bytes:
    packed = BytesIO()
    workbook = Workbook()
    sheet = workbook.active
    assert isinstance(sheet, Worksheet)
    sheet["A1"] = "x"
    workbook.save(packed)
    return packed.getvalue()


def patched(changes: dict[str, Callable[[bytes], bytes]]) -> bytes:
    """A small workbook with some of its parts changed."""
    packed = BytesIO()
    with ZipFile(BytesIO(workbook_bytes())) as source, ZipFile(packed, "w", ZIP_DEFLATED) as target:
        for name in source.namelist():
            content = source.read(name)
            target.writestr(name, changes[name](content) if name in changes else content)
    return packed.getvalue()


def _instead(changed: bytes, content: bytes) -> bytes:
    """What a part becomes, whatever it was."""
    return changed


def sheet_with(extra: str) -> bytes:
    part = "xl/worksheets/sheet1.xml"
    return patched({part: lambda xml: xml.replace(b"</sheetData>", b"</sheetData>" + extra.encode())})


BOMB = "<!DOCTYPE x [<!ENTITY a 'aaaaaaaaaa'>" + "".join(
    f"<!ENTITY {name} '{f'&{previous};' * 10}'>" for previous, name in zip("abcdefgh", "bcdefghi", strict=True)
)
UNREADABLE = {
    "empty": b"",
    "csv under another name": b"a,b\r\n1,2\r\n",
    "old binary or encrypted": b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(1024),
    "truncated": workbook_bytes()[:-300],
    "half": workbook_bytes()[: len(workbook_bytes()) // 2],
    "another zip": b"PK\x05\x06" + bytes(18),
    "broken sheet": patched({"xl/worksheets/sheet1.xml": lambda xml: xml[:-40]}),
    "broken workbook": patched({"xl/workbook.xml": lambda _: b"<workbook>"}),
    "binary sheet": patched({"xl/worksheets/sheet1.xml": lambda _: bytes(range(256))}),
    "cells that are not": patched({"xl/worksheets/sheet1.xml": lambda xml: xml.replace(b'r="A1"', b'r="ZZZZ1"')}),
    "merge of no range": sheet_with('<mergeCells><mergeCell ref="A1:Q"/></mergeCells>'),
    "entities": patched(
        {"xl/worksheets/sheet1.xml": lambda xml: (BOMB + "]>").encode() + xml.replace(b">x<", b">&i;<")}
    ),
}


@pytest.mark.parametrize("content", UNREADABLE.values(), ids=UNREADABLE)
def test_files_that_are_no_workbooks_are_refused(bench: Bench, content: bytes) -> None:
    (bench.folder / FILE).write_bytes(content)
    reply = bench.reply("excel/write_data_to_excel", filepath=FILE, sheet_name="Sheet", data=[[1]])
    text = reply.result["content"][0]["text"]
    assert (reply.outcome, reply.result["isError"]) == ("invalid_arguments", False)
    assert text.startswith("Error: 'sales.xlsx' ")
    assert str(bench.folder) not in text
    assert_same_bytes((bench.folder / FILE).read_bytes(), content, FILE)


def test_an_entity_bomb_is_named(bench: Bench) -> None:
    (bench.folder / FILE).write_bytes(UNREADABLE["entities"])
    assert "document type" in bench.error("excel/get_merged_cells", filepath=FILE, sheet_name="Sheet")


@pytest.mark.parametrize(
    "content",
    [
        sheet_with('<mergeCells><mergeCell ref="A1:XFD1048576"/></mergeCells>'),
        sheet_with('<hyperlinks><hyperlink ref="A1:XFD1048576" location="A1"/></hyperlinks>'),
        sheet_with('<x:mergeCells xmlns:x="urn:x"><x:mergeCell ref="A1:A300000"/></x:mergeCells>'),
        patched(
            {
                "xl/worksheets/sheet1.xml": lambda xml: (
                    xml.decode()
                    .replace("</sheetData>", '</sheetData><mergeCells><mergeCell ref="A1:A300000"/></mergeCells>')
                    .encode("utf-16")
                )
            }
        ),
    ],
    ids=["merged", "linked", "another namespace", "another encoding"],
)
def test_a_tiny_file_that_stands_for_millions_of_cells_is_refused(bench: Bench, content: bytes) -> None:
    (bench.folder / FILE).write_bytes(content)
    text = bench.error("excel/read_data_from_excel", filepath=FILE, sheet_name="Sheet")
    assert "'sales.xlsx' holds more than the 100000 cells allowed in a workbook" in text


def test_a_zip_bomb_is_refused(bench: Bench) -> None:
    padding = b"<!--" + b" " * 30_000_000 + b"-->"
    (bench.folder / FILE).write_bytes(patched({"xl/worksheets/sheet1.xml": lambda xml: xml + padding}))
    assert "zip bomb" in bench.error("excel/get_workbook_metadata", filepath=FILE)


@pytest.mark.parametrize(
    ("limits", "text"),
    [
        (WorkspaceLimits(text=3), "more than the 3 characters of text allowed"),
        (WorkspaceLimits(zip_entries=3), "entries, more than the 3 allowed"),
        (WorkspaceLimits(zip_bytes=500), "bytes, more than the 500 allowed"),
        (WorkspaceLimits(file_bytes=500), "bytes, more than the 500 allowed for a file"),
    ],
)
def test_every_limit_of_the_workspace_counts(tmp_path: Path, limits: WorkspaceLimits, text: str) -> None:
    (tmp_path / FILE).write_bytes(workbook_bytes())
    with pytest.raises(LimitError, match=text):
        open_book(Context(workspace=Workspace(tmp_path, limits)), FILE)


def test_a_file_with_too_many_cells_or_elements_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / FILE).write_bytes(workbook_bytes())
    context = Context(workspace=Workspace(tmp_path))
    monkeypatch.setattr(surveys, "MAX_CELLS", 0)
    with pytest.raises(LimitError, match="more than the 0 cells"):
        open_book(context, FILE)
    monkeypatch.setattr(surveys, "MAX_ELEMENTS", 5)
    with pytest.raises(LimitError, match="more than the 5 XML elements"):
        open_book(context, FILE)


@pytest.mark.slow
def test_damage_anywhere_is_a_refusal_and_nothing_else(tmp_path: Path) -> None:
    good = workbook_bytes()
    context = Context(workspace=Workspace(tmp_path))
    for position in range(0, len(good), 37):
        damaged = good[:position] + bytes([good[position] ^ 0x55]) + good[position + 1 :]
        (tmp_path / FILE).write_bytes(damaged)
        with suppress(ToolError):
            open_book(context, FILE)
    part = "xl/worksheets/sheet1.xml"
    with ZipFile(BytesIO(good)) as archive:
        xml = archive.read(part)
    for position in range(0, len(xml), 11):
        changed = xml[:position] + b"9" + xml[position + 1 :]
        (tmp_path / FILE).write_bytes(patched({part: partial(_instead, changed)}))
        with suppress(ToolError):
            open_book(context, FILE)


@pytest.mark.parametrize("tool", TOOLS)
def test_every_tool_refuses_bad_files_in_its_own_form(bench: Bench, tool: str) -> None:
    call = load_examples("excel").calls[tool]
    if tool == "create_workbook":
        return
    hard = tool == "read_data_from_excel"
    start = f"Error executing tool {tool}: " if hard else "Error: "

    reply = bench.reply(f"excel/{tool}", call)
    missing = "File not found: ./sales.xlsx" if tool == "get_workbook_metadata" else None
    missing = missing or "[Errno 2] No such file or directory: './sales.xlsx'"
    assert (reply.outcome, reply.result["isError"]) == ("not_found", hard)
    assert reply.result["content"][0]["text"] == start + missing

    (bench.folder / FILE).write_bytes(b"not a workbook")
    reply = bench.reply(f"excel/{tool}", call)
    assert (reply.outcome, reply.result["isError"]) == ("invalid_arguments", hard)
    assert reply.result["content"][0]["text"].startswith(f"{start}'sales.xlsx' is not a readable office file")

    for path, problem in [("../sales.xlsx", "leaves the workspace"), ("", "The path is empty")]:
        reply = bench.reply(f"excel/{tool}", {**call, "filepath": path})
        assert reply.result["isError"] is True
        assert problem in reply.result["content"][0]["text"]


@pytest.mark.parametrize("tool", TOOLS)
def test_every_tool_refuses_a_sheet_that_is_not_there(prepared: Callable[[str], Bench], tool: str) -> None:
    call = dict(load_examples("excel").calls[tool])
    field = next((name for name in ("sheet_name", "source_sheet", "old_name") if name in call), None)
    if field is None or tool in ("create_worksheet", "write_data_to_excel"):
        return
    bench = prepared("excel")
    reply = bench.reply(f"excel/{tool}", {**call, field: "No such sheet"})
    assert reply.outcome == "not_found"
    assert "heet 'No such sheet' not found" in reply.result["content"][0]["text"]


@pytest.mark.parametrize("name", ["a.xls", "a.csv", "a.xlsm", "a", "a.xlsx.txt"])
def test_only_xlsx_is_made(bench: Bench, name: str) -> None:
    text = bench.error("excel/create_workbook", filepath=name)
    assert text.startswith(f"Error: Failed to create workbook: {name!r} does not end in .xlsx")
    assert not (bench.folder / name).exists()


def test_a_folder_is_not_a_workbook(bench: Bench) -> None:
    (bench.folder / "a.xlsx").mkdir()
    text = bench.error("excel/create_workbook", filepath="a.xlsx")
    assert text == "Error: Failed to create workbook: 'a.xlsx' is a folder: give a file name"
    assert "'a.xlsx' is not a file" in bench.error("excel/get_merged_cells", filepath="a.xlsx", sheet_name="S")


@pytest.mark.parametrize(
    ("value", "problem"),
    [
        (float("nan"), "the number is too large or not a number"),
        (float("inf"), "the number is too large or not a number"),
        (10**400, "the number is too large or not a number"),
        ("x" * 32_768, "the text has 32768 characters, more than the 32767 allowed"),
        ("bell\x07", "the text has control characters"),
        ("\x00", "the text has control characters"),
        ("half \ud83d", "the text has control characters"),
        ("\uffff", "the text has control characters"),
        ([1], "an array does not fit into a cell"),
        ({"a": 1}, "an object does not fit into a cell"),
    ],
)
def test_values_no_cell_holds_are_refused_with_their_place(
    prepared: Callable[[str], Bench], value: Any, problem: str
) -> None:
    bench = prepared("excel")
    before = (bench.folder / FILE).read_bytes()
    call = {"filepath": FILE, "sheet_name": "Sales", "data": [["fine"], ["fine", value]], "start_cell": "B8"}
    assert bench.error("excel/write_data_to_excel", call).startswith(f"Error: Cell C9: {problem}")
    assert_same_bytes((bench.folder / FILE).read_bytes(), before, FILE)


def test_the_longest_text_fits(prepared: Callable[[str], Bench]) -> None:
    bench = prepared("excel")
    bench.text("excel/write_data_to_excel", filepath=FILE, sheet_name="Sales", data=[["é" * 32_767]])
    assert len(load_workbook(bench.folder / FILE)["Sales"]["A1"].value) == 32_767


@pytest.mark.sample(3)
@pytest.mark.parametrize(
    ("data", "start", "problem"),
    [
        ([], "A1", "No data provided to write"),
        ([[]], "A1", "No data provided to write"),
        ([[1]], "ZZZZ1", "Invalid start cell format: ZZZZ1"),
        ([[1]], "A1048577", "Invalid start cell format: A1048577"),
        ([[1]], "A0", "Invalid start cell format: A0"),
        ([[1]], "", "Invalid start cell format: "),
        ([[1]], "A" * 5000, "Invalid start cell format: AAA"),
        ([[1], [2]], "A1048576", "The data would reach row 1048577 and column 1"),
        ([[]] * 1_048_576 + [[1]], "A1", "The data would reach row 1048577 and column 1"),
        ([[1, 2]], "XFD1", "The data would reach row 1 and column 16385"),
        ([[0] * 201] * 500, "A1", "The data has 100500 cells, more than the 100000 allowed"),
        ([["x" * 30_000]] * 167, "A1", "The data has 5010000 characters of text, more than the 5000000 allowed"),
    ],
)
def test_data_that_does_not_fit_a_sheet_is_refused(
    prepared: Callable[[str], Bench], data: list[list[Any]], start: str, problem: str
) -> None:
    call = {"filepath": FILE, "sheet_name": "Sales", "data": data, "start_cell": start}
    text = prepared("excel").error("excel/write_data_to_excel", call)
    assert text.startswith(f"Error: {problem}")
    assert len(text) < 300


def test_a_range_too_large_to_show_is_refused(prepared: Callable[[str], Bench]) -> None:
    bench = prepared("excel")
    bench.text("excel/write_data_to_excel", filepath=FILE, sheet_name="Sales", data=[["far"]], start_cell="XFD1048576")
    text = bench.error("excel/read_data_from_excel", filepath=FILE, sheet_name="Sales")
    assert "Range A1:XFD1048576 has 17179869184 cells, more than the 20000 read at once" in text
    call = {"filepath": FILE, "sheet_name": "Sales", "start_cell": "XFD1048576"}
    assert json.loads(bench.text("excel/read_data_from_excel", call))["cells"][0]["value"] == "far"


def test_a_full_workspace_keeps_the_old_file(tmp_path: Path) -> None:
    old = workbook_bytes()
    (tmp_path / FILE).write_bytes(old)
    (tmp_path / "big").write_bytes(bytes(1_000))
    context = Context(workspace=Workspace(tmp_path, WorkspaceLimits(bytes=1_500)))
    with pytest.raises(LimitError, match="the workspace would hold"), editing(context, FILE) as book:
        book["Sheet"]["A1"] = "y"
    assert_same_bytes((tmp_path / FILE).read_bytes(), old, FILE)
