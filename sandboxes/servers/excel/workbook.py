"""The `excel` server itself: how workbook files are opened and saved, and the tools on whole files.

Relative paths are resolved in the workspace, where the public server refuses them. A failure is an ordinary
result that starts with `Error: `, as the public server reports it; only a path outside the workspace and a
failed read are `isError`. Nothing is kept between calls: the file is the state. What is saved has the frozen
clock in it, holds no formula results (programs compute them on opening) and can always be opened again.

`survey` finds out what a file would cost to open before openpyxl opens it. The zip guard bounds bytes; this bounds
what those bytes make a spreadsheet library build: cells (also those that one merged or linked range stands for),
elements and characters. It runs the same XML parser over every part in one pass and keeps nothing.

`align_headers` keeps the header row of a table the same as the table's own columns, since Excel repairs a workbook in
which the two differ. As when Excel makes a table, headers that are not text become text, empty ones get a name and
repeated ones a number.
"""

import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from pathlib import Path
from typing import ParamSpec
from xml.parsers.expat import ExpatError, ParserCreate, XMLParserType

from openpyxl import Workbook, load_workbook
from openpyxl.cell.cell import Cell
from openpyxl.worksheet.cell_range import CellRange, MultiCellRange
from openpyxl.worksheet.worksheet import Worksheet

from m3bench.sandboxes.archives import pieces, stamp
from m3bench.sandboxes.context import Context
from m3bench.sandboxes.servers.excel import references, values
from m3bench.sandboxes.servers.excel.references import Area, area
from m3bench.sandboxes.toolserver import ToolServer
from m3bench.sandboxes.workspace import WorkspaceLimits
from m3bench.sandboxes.world.clock import NOW
from m3bench.tasks.errors import LimitError, PathError, SoftError, ToolError

MAX_CELLS = 100_000
"""Cells of a workbook, all sheets together: a few seconds to read and to write, more on a busy machine."""
MAX_ELEMENTS = 2_000_000


def survey(path: Path, limits: WorkspaceLimits, name: str) -> None:
    """Raise `LimitError` when a workbook is too large to open, `ToolError` when it is none.

    Args:
        path: The file.
        limits: Those of the workspace.
        name: What messages call the file.
    """
    count = _Count(name, limits)
    current, parser, dead = "", count.parser(), False
    for part, piece in pieces(path, limits, name):
        if part != current:
            current, parser, dead = part, count.parser(), False
        if dead:
            continue
        try:
            parser.Parse(piece, False)
        except ExpatError:
            dead = True


class _Count:
    """The sums over all parts of one file."""

    def __init__(self, name: str, limits: WorkspaceLimits) -> None:
        self._name = name
        self._limits = limits
        self._cells = 0
        self._elements = 0
        self._characters = 0

    def parser(self) -> XMLParserType:
        """A fresh parser that adds to the sums."""
        parser = ParserCreate()
        parser.buffer_text = True
        parser.StartElementHandler = self._element
        parser.CharacterDataHandler = self._text
        parser.StartDoctypeDeclHandler = self._document_type
        return parser

    def _element(self, name: str, attributes: dict[str, str]) -> None:
        self._elements += 1
        if self._elements > MAX_ELEMENTS:
            raise LimitError(f"{self._name!r} holds more than the {MAX_ELEMENTS} XML elements allowed")
        local = name.rpartition(":")[2]
        if local == "c":
            self._add_cells(1)
        elif local in ("mergeCell", "hyperlink") and "ref" in attributes:
            self._add_cells(area(attributes["ref"], problem=f"{self._name!r} is damaged").size)

    def _add_cells(self, count: int) -> None:
        self._cells += count
        if self._cells > MAX_CELLS:
            raise LimitError(f"{self._name!r} holds more than the {MAX_CELLS} cells allowed in a workbook")

    def _text(self, text: str) -> None:
        self._characters += len(text)
        if self._characters > self._limits.text:
            raise LimitError(f"{self._name!r} holds more than the {self._limits.text} characters of text allowed")

    def _document_type(self, *_: object) -> None:
        raise ToolError(
            f"{self._name!r} declares a document type, which office files never do", outcome="invalid_arguments"
        )


def align_headers(worksheet: Worksheet) -> None:
    """Bring header cells and column names of a sheet's tables together; whoever wrote the cells last wins."""
    for table in worksheet.tables.values():
        if not table.headerRowCount:
            continue
        names = name_columns(worksheet, references.area(table.ref))
        if len(names) != len(table.tableColumns):
            # openpyxl makes them from the header row when it saves.
            table.tableColumns = []
        for column, name in zip(table.tableColumns, names, strict=False):
            column.name = name


def name_columns(worksheet: Worksheet, area: Area) -> list[str]:
    """Make the first row of an area distinct texts, and say which."""
    names: list[str] = []
    seen: set[str] = set()
    for number, column in enumerate(area.columns, 1):
        cell = worksheet.cell(area.top, column)
        header = str(values.text(cell.value)).strip() if cell.value is not None else ""
        header = _distinct(header or f"Column{number}", seen)
        seen.add(header.casefold())
        names.append(header)
        if isinstance(cell, Cell):
            cell.value = header
            cell.data_type = "s"
    return names


def _distinct(header: str, seen: set[str]) -> str:
    number, name = 2, header
    while name.casefold() in seen:
        number, name = number + 1, f"{header}{number}"
    return name


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
