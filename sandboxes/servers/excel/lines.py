"""Inserting and deleting whole rows and columns. Everything else on the sheet moves along (`shifting`)."""

from typing import Literal

from m3bench.sandboxes.context import Context
from m3bench.sandboxes.servers.excel.references import MAX_COLUMN, MAX_ROW
from m3bench.sandboxes.servers.excel.shifting import Shift, shift
from m3bench.sandboxes.servers.excel.workbook import editing, sheet, tool
from m3bench.tasks.errors import ToolError

_Axis = Literal["row", "column"]


@tool
def insert_rows(filepath: str, sheet_name: str, start_row: int, context: Context, count: int = 1) -> str:
    return _insert(context, filepath, sheet_name, "row", int(start_row), int(count))


@tool
def insert_columns(filepath: str, sheet_name: str, start_col: int, context: Context, count: int = 1) -> str:
    return _insert(context, filepath, sheet_name, "column", int(start_col), int(count))


@tool
def delete_sheet_rows(filepath: str, sheet_name: str, start_row: int, context: Context, count: int = 1) -> str:
    return _delete(context, filepath, sheet_name, "row", int(start_row), int(count))


@tool
def delete_sheet_columns(filepath: str, sheet_name: str, start_col: int, context: Context, count: int = 1) -> str:
    return _delete(context, filepath, sheet_name, "column", int(start_col), int(count))


def _insert(context: Context, filepath: str, sheet_name: str, axis: _Axis, start: int, count: int) -> str:
    with editing(context, filepath) as book:
        worksheet = sheet(book, sheet_name)
        _check(axis, start, count)
        end = MAX_ROW if axis == "row" else MAX_COLUMN
        last = worksheet.max_row if axis == "row" else worksheet.max_column
        if max(start, last) + count > end:
            raise ToolError(
                f"Inserting {count} {axis}(s) would push cells over the end of the sheet ({axis} {end})",
                outcome="invalid_arguments",
            )
        shift(book, worksheet, Shift(axis=axis, at=start, count=count))
    return f"Inserted {count} {axis}(s) starting at {axis} {start} in sheet '{sheet_name}'"


def _delete(context: Context, filepath: str, sheet_name: str, axis: _Axis, start: int, count: int) -> str:
    with editing(context, filepath) as book:
        worksheet = sheet(book, sheet_name)
        _check(axis, start, count)
        last = worksheet.max_row if axis == "row" else worksheet.max_column
        if start > last:
            raise ToolError(
                f"Start {axis} {start} exceeds worksheet bounds (max {axis}: {last})", outcome="invalid_arguments"
            )
        shift(book, worksheet, Shift(axis=axis, at=start, count=-count))
    return f"Deleted {count} {axis}(s) starting at {axis} {start} in sheet '{sheet_name}'"


def _check(axis: _Axis, start: int, count: int) -> None:
    if start < 1:
        raise ToolError(f"Start {axis} must be 1 or greater", outcome="invalid_arguments")
    if count < 1:
        raise ToolError("Count must be 1 or greater", outcome="invalid_arguments")
