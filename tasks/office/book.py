"""Worksheets of a workbook as sheets of marks: what would be printed, on one long page."""

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from io import BytesIO
from typing import TYPE_CHECKING, Any

from m3bench.tasks.formulas import value_of
from m3bench.tasks.lazy_modules import LazyModule
from m3bench.tasks.office import cell_rules, charts, faces, typeset
from m3bench.tasks.office.colours import OfficeTheme, lightened, rgb
from m3bench.tasks.office.marks import (
    BLACK,
    Box,
    Colour,
    Inset,
    Mark,
    OfficeError,
    PrintedSheet,
    Stroke,
    Surface,
    Typeface,
    Word,
    corners,
)
from m3bench.tasks.office.numbers import shown
from m3bench.tasks.office.sheet_parts import Anchor, Parts
from m3bench.tasks.office.slide_text import EMU, POINT
from m3bench.tasks.office.typeset import TextBlock

if TYPE_CHECKING:
    import openpyxl
    from openpyxl.styles import colors
    from openpyxl.utils import cell as references
else:
    openpyxl = LazyModule("openpyxl")
    colors = LazyModule("openpyxl.styles.colors")
    references = LazyModule("openpyxl.utils.cell")

MOST_COLUMNS, MOST_ROWS = 60, 300
"""What is shown of a worksheet."""
MOST_FORMULAS = 2000
"""How many are computed."""
_DIGIT, _PADDING = 7.397, 5.0
"""The width of a digit in the font of new workbooks, and what a new column has beside its digits."""
_MARGIN = 1.33
"""Inside of a cell."""
_ROW = 20.0
_LINES = {"thin": 1.0, "hair": 0.7, "medium": 2.0, "thick": 3.0, "double": 2.5}
_INDEXED = {"l": "left", "ctr": "center", "r": "right"}
_SIDES = ("left", "right", "top", "bottom")


@dataclass(kw_only=True)
class _Grid:
    """A worksheet while it is read."""

    book: Any
    sheet: Any
    theme: OfficeTheme
    marks: list[Mark] = field(default_factory=list)
    boxes: dict[str, Box] = field(default_factory=dict)
    unknown: dict[str, None] = field(default_factory=dict)
    lefts: list[float] = field(default_factory=list)
    tops: list[float] = field(default_factory=list)
    values: dict[tuple[int, int], object] = field(default_factory=dict)
    formulas: int = 0
    """How many were computed."""

    def box(self, row: int, column: int, last_row: int, last_column: int) -> Box:
        return self.lefts[column - 1], self.tops[row - 1], self.lefts[last_column], self.tops[last_row]

    def value(self, cell: Any) -> object:
        """What a cell holds; a formula by what it comes to."""
        place = (cell.row, cell.column)
        if place not in self.values:
            found = cell.value
            if isinstance(found, str) and found.startswith("="):
                self.formulas += 1
                found = value_of(self.book, self.sheet, found) if self.formulas <= MOST_FORMULAS else None
                if found is None:
                    self.unknown.setdefault("a formula whose value cannot be told")
            self.values[place] = found
        return self.values[place]


def sheets(data: bytes) -> list[PrintedSheet]:
    """Every worksheet of a workbook.

    Raises:
        OfficeError: It is not one.
    """
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            book = openpyxl.load_workbook(BytesIO(data), rich_text=False)
        parts = Parts(data)
        theme = OfficeTheme(parts.theme())
        return [_sheet(book, sheet, parts, theme) for sheet in book.worksheets if sheet.sheet_state == "visible"]
    except OfficeError:
        raise
    except Exception as error:  # A broken file can make the library fail anywhere.
        raise OfficeError(f"it is no workbook that can be read ({type(error).__name__})") from error


def _sheet(book: Any, sheet: Any, parts: Parts, theme: OfficeTheme) -> PrintedSheet:
    grid = _Grid(book=book, sheet=sheet, theme=theme)
    rows, columns = min(sheet.max_row, MOST_ROWS), min(sheet.max_column, MOST_COLUMNS)
    if sheet.max_row > MOST_ROWS or sheet.max_column > MOST_COLUMNS:
        grid.unknown.setdefault(f"cells beyond row {MOST_ROWS} or column {MOST_COLUMNS}")
    anchors = list(parts.anchors(sheet.title))
    reach = [entry.end or entry.start for entry in anchors]
    _measure(
        grid,
        min(2 * MOST_ROWS, max([rows, *(entry[2] + 60 for entry in reach)])),
        min(2 * MOST_COLUMNS, max([columns, *(entry[0] + 30 for entry in reach)])),
        rows,
    )
    _cells(grid, rows, columns)
    for anchor in anchors:
        _floating(grid, anchor)
    right = max([grid.lefts[columns], *(mark.box[2] for mark in grid.marks)])
    bottom = max([grid.tops[rows], *(mark.box[3] for mark in grid.marks)])
    strange = dict.fromkeys(
        f"the font {mark.face.family}: drawn as wide as {faces.FALLBACK}"
        for mark in grid.marks
        if isinstance(mark, Word) and faces.known(mark.face.family) is None
    )
    return PrintedSheet(
        name=sheet.title,
        width=max(64.0, right + 8),
        height=max(40.0, bottom + 8),
        marks=tuple(grid.marks),
        boxes=grid.boxes,
        unknown=(*grid.unknown, *strange),
    )


def _measure(grid: _Grid, rows: int, columns: int, used: int) -> None:
    """Where columns and rows begin."""
    sheet = grid.sheet
    usual = sheet.sheet_format.defaultColWidth
    base = usual * _DIGIT if usual else (sheet.sheet_format.baseColWidth or 8) * _DIGIT + _PADDING
    widths: dict[int, float] = {}
    for name, one in sheet.column_dimensions.items():
        first = one.min or references.column_index_from_string(name)
        for column in range(first, min(one.max or first, columns) + 1):
            widths[column] = 0.0 if one.hidden else one.width * _DIGIT if one.width and one.customWidth else base
    grid.lefts = [0.0]
    for column in range(1, columns + 1):
        grid.lefts.append(grid.lefts[-1] + widths.get(column, base))
    grid.tops = [0.0]
    usual_row = (sheet.sheet_format.defaultRowHeight or 15) * POINT
    for row in range(1, rows + 1):
        one = sheet.row_dimensions.get(row)
        if one is not None and one.hidden:
            high = 0.0
        elif one is not None and one.height is not None:
            high = one.height * POINT
        else:
            high = max(usual_row, _needed(grid, row)) if row <= used else usual_row
        grid.tops.append(grid.tops[-1] + high)


def _needed(grid: _Grid, row: int) -> float:
    """How high a row without a height of its own must be."""
    most = 0.0
    for cell in grid.sheet[row][:MOST_COLUMNS]:
        if cell.value is None or type(cell).__name__ == "MergedCell" or _merged(grid.sheet, cell) is not None:
            continue
        face = _face(grid, cell)
        high = faces.rise(face)[1]
        if cell.alignment.wrap_text or "\n" in str(cell.value):
            room = grid.lefts[cell.column] - grid.lefts[cell.column - 1] - 2 * _MARGIN
            text = _text(grid, cell)
            high = typeset.height(_paragraphs(text, face, "l"), max(4.0, room) if cell.alignment.wrap_text else None)
        most = max(most, high + 2 * _MARGIN)
    return most


def _merged(sheet: Any, cell: Any) -> Any:
    return next((entry for entry in sheet.merged_cells.ranges if cell.coordinate in entry), None)


def _cells(grid: _Grid, rows: int, columns: int) -> None:
    sheet = grid.sheet
    spans = {(entry.min_row, entry.min_col): entry for entry in sheet.merged_cells.ranges}
    hidden = {place for entry in sheet.merged_cells.ranges for place in entry.cells} - set(spans)
    rules = cell_rules.read(sheet, grid.value)
    for what in rules.unknown:
        grid.unknown.setdefault(what)
    texts: list[tuple[Any, Box]] = []
    lines: list[Mark] = []
    for row in sheet.iter_rows(min_row=1, max_row=rows, max_col=columns):
        for cell in row:
            if (cell.row, cell.column) in hidden:
                continue
            span = spans.get((cell.row, cell.column))
            last = (span.max_row, span.max_col) if span is not None else (cell.row, cell.column)
            box = grid.box(cell.row, cell.column, min(last[0], len(grid.tops) - 1), min(last[1], len(grid.lefts) - 1))
            if cell.value is not None:
                grid.boxes[cell.coordinate] = box
                texts.append((cell, box))
            fill = rules.fill(cell) or _fill(grid, cell)
            if fill is not None:
                grid.marks.append(Surface(points=corners(box), owner=cell.coordinate, fill=fill))
            lines += _borders(grid, cell, box, span)
    grid.marks += lines
    for cell, box in texts:
        _write(grid, cell, box, rules.ink(cell))


def _fill(grid: _Grid, cell: Any) -> Colour | None:
    fill = cell.fill
    if fill is None or fill.fill_type is None:
        return None
    if fill.fill_type != "solid":
        grid.unknown.setdefault("a cell filled with a pattern or gradient: drawn in one colour")
    colour = fill.fgColor if hasattr(fill, "fgColor") else None
    return _colour(grid, colour) if colour is not None else (217, 217, 217)


def _colour(grid: _Grid, colour: Any) -> Colour | None:
    """A colour of openpyxl."""
    if colour is None:
        return None
    if colour.type == "rgb":
        return rgb(str(colour.rgb))
    if colour.type == "indexed":
        return rgb(colors.COLOR_INDEX[colour.indexed]) if colour.indexed < len(colors.COLOR_INDEX) else BLACK
    if colour.type != "theme":
        return None
    names = ("lt1", "dk1", "lt2", "dk2", *(f"accent{number}" for number in range(1, 7)), "hlink", "folHlink")
    found = grid.theme.named(names[min(colour.theme, len(names) - 1)])
    tint = colour.tint or 0.0
    return lightened(found, 1 + tint, 0.0) if tint < 0 else lightened(found, 1 - tint, tint) if tint else found


def _borders(grid: _Grid, cell: Any, box: Box, span: Any) -> list[Mark]:
    found: list[Mark] = []
    left, top, right, bottom = box
    ends = {
        "left": ((left, top), (left, bottom)),
        "right": ((right, top), (right, bottom)),
        "top": ((left, top), (right, top)),
        "bottom": ((left, bottom), (right, bottom)),
    }
    for side in _SIDES:
        line = getattr(cell.border, side)
        if line is None or line.style is None:
            continue
        if line.style not in _LINES:
            grid.unknown.setdefault("a broken border: drawn unbroken")
        colour = _colour(grid, line.color) or BLACK
        found.append(Stroke(points=ends[side], owner=cell.coordinate, colour=colour, width=_LINES.get(line.style, 1.0)))
    return found


def _face(grid: _Grid, cell: Any) -> Typeface:
    font = cell.font
    return Typeface(
        family=font.name or "Calibri",
        size=float(font.sz or 11) * POINT,
        bold=bool(font.b),
        italic=bool(font.i),
        underlined=bool(font.u) or bool(cell.hyperlink and font.u),
        colour=_colour(grid, font.color) or BLACK,
    )


def _text(grid: _Grid, cell: Any) -> str:
    text, is_known = shown(grid.value(cell), cell.number_format)
    if not is_known:
        grid.unknown.setdefault(f"the number format {cell.number_format}")
    return text


def _paragraphs(text: str, face: Typeface, align: str) -> list[TextBlock]:
    return [
        TextBlock(runs=((line, face),) if line else (), end=face, align=align, by_font=True)
        for line in text.split("\n")
    ]


def _write(grid: _Grid, cell: Any, box: Box, ink: Colour | None) -> None:
    text = _text(grid, cell)
    if not text.strip():
        return
    face = _face(grid, cell)
    if ink is not None:
        face = replace(face, colour=ink)
    value = grid.value(cell)
    numeric = not isinstance(value, str)
    alignment = cell.alignment
    align = {"center": "ctr", "centerContinuous": "ctr", "right": "r", "left": "l", "justify": "l", "fill": "l"}.get(
        alignment.horizontal or "", "ctr" if isinstance(value, bool) else "r" if numeric else "l"
    )
    if alignment.textRotation:
        grid.unknown.setdefault("turned text in a cell: drawn level")
    indent = (alignment.indent or 0) * 2 * _DIGIT * 0.65
    left, top, right, bottom = box
    inner = (
        left + _MARGIN + (indent if align == "l" else 0),
        top + _MARGIN,
        right - _MARGIN - (indent if align == "r" else 0),
        bottom - _MARGIN,
    )
    anchor = {"top": "t", "center": "ctr", "justify": "t"}.get(alignment.vertical or "bottom", "b")
    if alignment.wrap_text and not numeric:
        words = typeset.placed(_paragraphs(text, face, align), inner, anchor, cell.coordinate)
        grid.marks += [
            replace(word, clip=box) if word.box[3] > bottom + 3 or word.box[1] < top - 3 else word for word in words
        ]
        return
    wide = faces.width(text.replace("\n", " "), face)
    room = inner[2] - inner[0]
    if numeric and wide > room + 0.5:
        if cell.number_format == "General" and isinstance(value, float):
            text = _shorter(value, face, room) or text
            wide = faces.width(text, face)
        if wide > room + 0.5:
            text = "#" * max(1, int(room / faces.width("#", face)))
    words = typeset.placed(
        _paragraphs(text.replace("\n", " "), face, align), inner, anchor, cell.coordinate, wrap=False
    )
    grid.marks += _clipped(words, _space(grid, cell, box, wide - room, align)) if wide > room else words


def _shorter(value: float, face: Typeface, room: float) -> str:
    """A number with as many digits as there is room for."""
    whole = len(str(int(abs(value))))
    for digits in range(9, -1, -1):
        text = f"{value:.{max(0, digits)}f}".rstrip("0").rstrip(".") if digits else f"{value:.0f}"
        if digits + whole <= 10 and faces.width(text, face) <= room + 0.5:
            return text
    return ""


def _space(grid: _Grid, cell: Any, box: Box, over: float, align: str) -> Box:
    """The room of a text that is not broken: its cell and empty ones beside it."""
    left, top, right, bottom = box
    reach = {"l": (0.0, over), "r": (over, 0.0), "ctr": (over / 2, over / 2)}[align]

    def is_free(column: int) -> bool:
        return column < len(grid.lefts) and grid.sheet.cell(cell.row, column).value is None

    at = cell.column
    while left > box[0] - reach[0] - _MARGIN and at > 1 and is_free(at - 1):
        at -= 1
        left = grid.lefts[at - 1]
    at = cell.column
    while right < box[2] + reach[1] + _MARGIN and is_free(at + 1):
        at += 1
        right = grid.lefts[at]
    return left, top, right, bottom


def _clipped(words: Sequence[Word], room: Box) -> list[Word]:
    """Words of which only what lies in a room is seen."""
    found = []
    for word in words:
        text, x = word.text, word.x
        while text and x + faces.width(text[:-1], word.face) >= room[2] - 0.3:
            text = text[:-1]
        while text and x + faces.width(text[:1], word.face) <= room[0]:
            x += faces.width(text[:1], word.face)
            text = text[1:]
        if text:
            cut = text != word.text or x + word.width > room[2] or x < room[0]
            wide = faces.width(text, word.face)
            found.append(replace(word, text=text, x=x, width=wide, clip=room if cut else None))
    return found


def _floating(grid: _Grid, anchor: Anchor) -> None:
    """A chart or picture that lies over the cells."""

    def place(marker: tuple[int, int, int, int]) -> tuple[float, float]:
        column, across, row, down = marker
        column, row = min(column, len(grid.lefts) - 1), min(row, len(grid.tops) - 1)
        return grid.lefts[column] + across / EMU, grid.tops[row] + down / EMU

    left, top = place(anchor.start)
    if anchor.end is not None:
        right, bottom = place(anchor.end)
    elif anchor.size is not None:
        right, bottom = left + anchor.size[0] / EMU, top + anchor.size[1] / EMU
    else:
        right, bottom = left + 480, top + 288
    box = (left, top, right, bottom)
    name, count = anchor.name, 2
    while name in grid.boxes:
        name, count = f"{anchor.name} ({count})", count + 1
    grid.boxes[name] = box
    if anchor.chart is not None:
        grid.marks.append(Surface(points=corners(box), owner=name, fill=(255, 255, 255), line=(217, 217, 217)))
        made = charts.drawn(anchor.chart, box, name, grid.theme, 10.0, _looked_up(grid))
        grid.marks += made.marks
        for what in made.unknown:
            grid.unknown.setdefault(what)
    elif anchor.picture is not None:
        grid.marks.append(Inset(box=box, data=anchor.picture, owner=name))
    else:
        grid.unknown.setdefault(anchor.what)


def _looked_up(grid: _Grid) -> Any:
    titles: Mapping[str, Any] = {sheet.title: sheet for sheet in grid.book.worksheets}

    def values(reference: str) -> tuple[list[object], str]:
        name, _, cells = reference.rpartition("!")
        sheet = titles.get(name.strip("'").replace("''", "'"), grid.sheet)
        try:
            left, top, right, bottom = references.range_boundaries(cells.replace("$", ""))
        except ValueError:
            return [], "General"
        if (
            left is None
            or top is None
            or right is None
            or bottom is None
            or (right - left + 1) * (bottom - top + 1) > 4000
        ):
            return [], "General"
        found: list[object] = []
        for row in sheet.iter_rows(min_row=top, max_row=bottom, min_col=left, max_col=right):
            for cell in row:
                value = cell.value
                is_formula = isinstance(value, str) and value.startswith("=")
                found.append(value_of(grid.book, sheet, value) if is_formula else value)
        return found, str(sheet.cell(top, left).number_format)

    return values
