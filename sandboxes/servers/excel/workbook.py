"""The `excel` server's ground: how workbook files are opened and saved, and the tools on whole files.

Relative paths are resolved in the workspace, where the public server refuses them. A failure is an ordinary
result that starts with `Error: `, as the public server reports it; only a path outside the workspace and a
failed read are `isError`. Nothing is kept between calls: the file is the state. What is saved has the frozen
clock in it, holds no formula results (programs compute them on opening) and can always be opened again.
"""

import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from pathlib import Path
from typing import ParamSpec

from openpyxl import Workbook, load_workbook
from openpyxl.worksheet.cell_range import CellRange, MultiCellRange
from openpyxl.worksheet.worksheet import Worksheet

from m3bench.sandboxes.archives import stamp
from m3bench.sandboxes.context import Context
from m3bench.sandboxes.servers.excel.headers import align_headers
from m3bench.sandboxes.servers.excel.references import Area
from m3bench.sandboxes.servers.excel.survey import MAX_CELLS, survey
from m3bench.sandboxes.toolserver import ToolServer
from m3bench.sandboxes.world.clock import NOW
from m3bench.tasks.errors import LimitError, PathError, SoftError, ToolError

server = ToolServer("excel")

Parameters = ParamSpec("Parameters")


def tool(function: Callable[Parameters, str]) -> Callable[Parameters, str]:
    """Register a tool whose failures are ordinary results that start with `Error: `."""

    @wraps(function)
    def run(*args: Parameters.args, **kwargs: Parameters.kwargs) -> str:
        try:
            return function(*args, **kwargs)
        except (PathError, SoftError):
            raise
        except ToolError as error:
            raise SoftError(f"Error: {error}", outcome=error.outcome) from error

    return server.tool(run)


@tool
def create_workbook(filepath: str, context: Context) -> str:
    context.workspace.resolve(filepath)
    book = Workbook()
    book.properties.created = NOW.replace(tzinfo=None)
    worksheet = book.active
    assert isinstance(worksheet, Worksheet)
    worksheet.title = "Sheet1"
    try:
        _check_suffix(filepath)
        save_book(context, filepath, book)
    except ToolError as error:
        raise ToolError(f"Failed to create workbook: {error}", outcome=error.outcome) from error
    return f"Created workbook at {filepath}"


@tool
def get_workbook_metadata(filepath: str, context: Context, include_ranges: bool = False) -> str:
    if not context.workspace.resolve(filepath).exists():
        raise ToolError(f"File not found: {filepath}")
    book = open_book(context, filepath)
    real = context.workspace.existing(filepath)
    facts: dict[str, object] = {
        "filename": real.name,
        "sheets": book.sheetnames,
        "size": real.stat().st_size,
        "modified": NOW.timestamp(),
    }
    if include_ranges:
        facts["used_ranges"] = {worksheet.title: used_area(worksheet).text for worksheet in book.worksheets}
    return repr(facts)


@contextmanager
def editing(context: Context, filepath: str) -> Iterator[Workbook]:
    """The workbook in a file, saved when the block ends well."""
    book = open_book(context, filepath)
    yield book
    save_book(context, filepath, book)


def open_book(context: Context, filepath: str) -> Workbook:
    """The workbook in a file, after the guard has seen it."""
    if not context.workspace.resolve(filepath).exists():
        raise ToolError(f"[Errno 2] No such file or directory: {filepath!r}")
    real = context.workspace.existing(filepath)
    _check_suffix(filepath)
    survey(real, context.workspace.limits, real.name)
    # Opened here, because openpyxl leaves a file open that it cannot read.
    with _quiet(), real.open("rb") as stream:
        try:
            return load_workbook(stream)
        except Exception as error:  # openpyxl raises whatever its parsing of a damaged part runs into
            raise ToolError(
                f"{real.name!r} is not a readable workbook ({type(error).__name__}): create or save it again",
                outcome="invalid_arguments",
            ) from error


def save_book(context: Context, filepath: str, book: Workbook) -> None:
    """Write a workbook, with the same bytes whenever its content is the same."""
    count = sum(len(worksheet._cells) for worksheet in book.worksheets)
    if count > MAX_CELLS:
        raise LimitError(f"The workbook would hold {count} cells, more than the {MAX_CELLS} allowed")
    for worksheet in book.worksheets:
        align_headers(worksheet)
        worksheet.merged_cells = _Ordered(worksheet.merged_cells.ranges)
    with context.workspace.writing(filepath) as draft:
        with _quiet():
            _save(book, draft)
        stamp(draft)
        survey(draft, context.workspace.limits, Path(filepath).name)


def sheet(book: Workbook, name: str, problem: str = "Sheet '{}' not found") -> Worksheet:
    """A sheet by its exact name."""
    if name not in book.sheetnames:
        raise ToolError(problem.format(name))
    found = book[name]
    if not isinstance(found, Worksheet):
        raise ToolError(f"Sheet '{name}' is a chart sheet and has no cells", outcome="invalid_arguments")
    return found


def used_area(worksheet: Worksheet) -> Area:
    """From A1 to the last row and column that hold a value or a format."""
    return Area(1, 1, worksheet.max_row, worksheet.max_column)


def _save(book: Workbook, draft: Path) -> None:
    try:
        book.save(draft)
    except OSError:
        raise
    except Exception as error:  # what another program left in the file may be more than openpyxl can write
        raise ToolError(
            f"The workbook holds something that cannot be saved ({type(error).__name__})", outcome="invalid_arguments"
        ) from error


class _Ordered(MultiCellRange):
    """Ranges that are written in a fixed order; openpyxl keeps them in a set."""

    def __iter__(self) -> Iterator[CellRange]:
        return iter(self.sorted())


def _check_suffix(filepath: str) -> None:
    if Path(filepath).suffix.lower() != ".xlsx":
        raise ToolError(
            f"{Path(filepath).name!r} does not end in .xlsx, the only format supported", outcome="invalid_arguments"
        )


@contextmanager
def _quiet() -> Iterator[None]:
    # openpyxl warns of features it leaves out; nobody reads that here.
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield
