"""How ranges look: fonts, fills, borders, number formats, alignment, protection.

What is not asked for stays as it was; the public server resets the font with every call.
"""

from collections.abc import Callable
from copy import copy
from typing import Any

from openpyxl.cell.cell import Cell, MergedCell
from openpyxl.styles import Border, Color, PatternFill, Side
from openpyxl.worksheet.worksheet import Worksheet

from m3bench.sandboxes.context import Context
from m3bench.sandboxes.servers.excel import references
from m3bench.sandboxes.servers.excel.colors import opaque
from m3bench.sandboxes.servers.excel.conditions import condition
from m3bench.sandboxes.servers.excel.ranges import check_size, merge
from m3bench.sandboxes.servers.excel.values import ILLEGAL, copy_style, style_key
from m3bench.sandboxes.servers.excel.workbook import editing, sheet, tool
from m3bench.tasks.errors import ToolError

BORDERS = (
    "thin", "medium", "thick", "double", "dashed", "dotted", "hair", "dashDot", "dashDotDot", "mediumDashed",
    "mediumDashDot", "mediumDashDotDot", "slantDashDot",
)  # fmt: skip
ALIGNMENTS = ("left", "center", "right", "justify", "general", "fill", "centerContinuous", "distributed")
MAX_FONT_SIZE = 409
MAX_NUMBER_FORMAT = 255

_Style = Callable[[Cell | MergedCell], None]


@tool
def format_range(
    filepath: str,
    sheet_name: str,
    start_cell: str,
    context: Context,
    end_cell: str | None = None,
    bold: bool = False,
    italic: bool = False,
    underline: bool = False,
    font_size: int | None = None,
    font_color: str | None = None,
    bg_color: str | None = None,
    border_style: str | None = None,
    border_color: str | None = None,
    number_format: str | None = None,
    alignment: str | None = None,
    wrap_text: bool = False,
    merge_cells: bool = False,
    protection: dict[str, Any] | None = None,
    conditional_format: dict[str, Any] | None = None,
) -> str:
    references.cell(start_cell.partition(":")[0], "Invalid start cell reference")
    if end_cell:
        references.cell(end_cell, "Invalid end cell reference")
    area = references.area(start_cell, end_cell, "Invalid cell range")
    check_size(area)
    styles = [
        *_font(bold, italic, underline, font_size, font_color),
        *_fill(bg_color),
        *_border(border_style, border_color),
        *_number_format(number_format),
        *_alignment(alignment, wrap_text),
        *_protection(protection),
    ]
    rule = condition(conditional_format) if conditional_format is not None else None
    with editing(context, filepath) as book:
        worksheet = sheet(book, sheet_name)
        if styles:
            _apply(worksheet, area, styles)
        if merge_cells and area.size > 1:
            merge(worksheet, area)
        if rule is not None:
            worksheet.conditional_formatting.add(area.text, rule)
    return "Range formatted successfully"


def _apply(worksheet: Worksheet, area: references.Area, styles: list[_Style]) -> None:
    # Styling a cell is slow, copying a style is not: one cell of each old style is enough.
    made: dict[bytes, Cell | MergedCell] = {}
    for row, column in area.cells:
        cell = worksheet.cell(row, column)
        old = style_key(cell)
        if old in made:
            copy_style(made[old], cell)
            continue
        for style in styles:
            style(cell)
        made[old] = cell


def _font(bold: bool, italic: bool, underline: bool, size: int | None, color: str | None) -> list[_Style]:
    changes: dict[str, Any] = {}
    if bold:
        changes["b"] = True
    if italic:
        changes["i"] = True
    if underline:
        changes["u"] = "single"
    if size is not None:
        if not 1 <= size <= MAX_FONT_SIZE:
            raise _refusal(f"Invalid font size: {size} (use 1 to {MAX_FONT_SIZE} points)")
        changes["sz"] = size
    if color is not None:
        changes["color"] = Color(rgb=opaque(color, "Invalid font color"))
    return _changed("font", changes)


def _fill(color: str | None) -> list[_Style]:
    if color is None:
        return []
    rgb = Color(rgb=opaque(color, "Invalid background color"))
    return [_setter("fill", PatternFill(fill_type="solid", start_color=rgb, end_color=rgb))]


def _border(style: str | None, color: str | None) -> list[_Style]:
    if style is None and color is None:
        return []
    if style is not None and style not in BORDERS:
        raise _refusal(f"Invalid border settings: {style[:60]} (use one of {', '.join(BORDERS)})")
    rgb = opaque(color, "Invalid border settings") if color is not None else "FF000000"
    side: Any = Side(style=style or "thin", color=Color(rgb=rgb))  # type: ignore[arg-type]
    return [_setter("border", Border(left=side, right=side, top=side, bottom=side))]


def _number_format(text: str | None) -> list[_Style]:
    if text is None:
        return []
    if not text or len(text) > MAX_NUMBER_FORMAT or ILLEGAL.search(text):
        raise _refusal(f"Invalid number format: {text[:60]!r} (use a format such as 0.00, #,##0 or yyyy-mm-dd)")
    return [_setter("number_format", text)]


def _alignment(horizontal: str | None, wrap: bool) -> list[_Style]:
    if horizontal is None and not wrap:
        return []
    if horizontal is not None and horizontal not in ALIGNMENTS:
        raise _refusal(f"Invalid alignment settings: {horizontal[:60]} (use left, center, right or justify)")

    changes: dict[str, Any] = {"wrap_text": True} if wrap else {}
    if horizontal is not None:
        changes["horizontal"] = horizontal
    return _changed("alignment", changes)


def _protection(flags: dict[str, Any] | None) -> list[_Style]:
    if flags is None:
        return []
    for name, value in flags.items():
        if name not in ("locked", "hidden") or not isinstance(value, bool):
            raise _refusal(f"Invalid protection settings: {name[:60]} (use locked and hidden, each true or false)")
    return _changed("protection", flags)


def _changed(field: str, changes: dict[str, Any]) -> list[_Style]:
    """A style that keeps what is there but for the given changes."""

    def style(cell: Cell | MergedCell) -> None:
        new = copy(getattr(cell, field))
        for name, value in changes.items():
            setattr(new, name, value)
        setattr(cell, field, new)

    return [style] if changes else []


def _setter(field: str, value: object) -> _Style:
    return lambda cell: setattr(cell, field, value)


def _refusal(problem: str) -> ToolError:
    return ToolError(problem, outcome="invalid_arguments")
