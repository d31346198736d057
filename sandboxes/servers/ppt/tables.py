"""Tables: insert one, format a cell.

`border_color` is drawn (the public server only checks it). A table has at most as many rows and columns as
PowerPoint's own dialog allows.
"""

from lxml.etree import _Element
from pptx.dml.color import RGBColor
from pptx.oxml.ns import qn
from pptx.shapes.graphfrm import GraphicFrame
from pptx.table import Table, _Cell
from pptx.util import Emu, Inches, Length, Pt

from m3bench.sandboxes.context import Context
from m3bench.sandboxes.servers.ppt import decks
from m3bench.sandboxes.servers.ppt.arguments import (
    drawing_slide,
    frame,
    index_of,
    optional_rgb,
    points,
    shape_at,
    slide_at,
)
from m3bench.sandboxes.servers.ppt.colours import readable_on
from m3bench.sandboxes.servers.ppt.registry import failure, refusal, tool
from m3bench.sandboxes.servers.ppt.typesetting import Look, anchor, clean, format_frame
from m3bench.sandboxes.servers.ppt.typesetting import alignment as alignment_of

MAX_SIDE = 75
"""Rows or columns: the most PowerPoint's dialog takes."""

_SIDES = ("a:lnL", "a:lnR", "a:lnT", "a:lnB")
_TEXT = RGBColor(0x22, 0x22, 0x22)


@tool
def add_table(
    context: Context,
    slide_index: int,
    rows: int,
    cols: int,
    left: float,
    top: float,
    width: float,
    height: float,
    data: list[list[str]] | None = None,
    header_row: bool = True,
    header_font_size: int = 12,
    body_font_size: int = 10,
    header_bg_color: list[int] | None = None,
    body_bg_color: list[int] | None = None,
    border_color: list[int] | None = None,
    presentation_id: str | None = None,
) -> dict[str, object]:
    _check_size(rows, cols)
    _check_data(data, rows, cols)
    header_size = points("header_font_size", header_font_size)
    body_size = points("body_font_size", body_font_size)
    header_ground = optional_rgb("header_bg_color", header_bg_color)
    body_ground = optional_rgb("body_bg_color", body_bg_color)
    border = optional_rgb("border_color", border_color)
    with decks.editing(context, presentation_id) as deck:
        slide = drawing_slide(deck.presentation, slide_index)
        shape = slide.shapes.add_table(rows, cols, *frame(left, top, width, height))
        shape.table.first_row = header_row
        texts = data or [[""] * cols for _ in range(rows)]
        fill_table(shape.table, texts, header_size if header_row else body_size, body_size)
        if header_row:
            for cell in shape.table.rows[0].cells:
                format_frame(cell.text_frame, Look(bold=True))
        for number, row in enumerate(shape.table.rows):
            ground = header_ground if header_row and number == 0 else body_ground
            for cell in row.cells:
                if ground is not None:
                    paint_cell(cell, ground)
                if border is not None:
                    draw_border(cell, border)
        index = index_of(slide, shape)
    return {
        "message": f"Added {rows}x{cols} table to slide {slide_index}",
        "shape_index": index,
        "rows": rows,
        "cols": cols,
    }


@tool
def format_table_cell(
    context: Context,
    slide_index: int,
    shape_index: int,
    row: int,
    col: int,
    font_size: int | None = None,
    font_name: str | None = None,
    bold: bool | None = None,
    italic: bool | None = None,
    color: list[int] | None = None,
    bg_color: list[int] | None = None,
    alignment: str | None = None,
    vertical_alignment: str | None = None,
    presentation_id: str | None = None,
) -> dict[str, object]:
    look = Look.of(font_size=font_size, font_name=font_name, bold=bold, italic=italic, color=color)
    align, upright = alignment_of(alignment), anchor(vertical_alignment)
    ground = optional_rgb("bg_color", bg_color)
    with decks.editing(context, presentation_id) as deck:
        shape = shape_at(slide_at(deck.presentation, slide_index), shape_index)
        if not isinstance(shape, GraphicFrame) or not shape.has_table:
            raise failure(f"Shape at index {shape_index} is not a table", outcome="invalid_arguments")
        cell = _cell(shape.table, row, col)
        if ground is not None:
            cell.fill.solid()
            cell.fill.fore_color.rgb = ground
        format_frame(cell.text_frame, look, align)
        if upright is not None:
            cell.vertical_anchor = upright
    return {"message": f"Formatted cell at row {row}, column {col} in table at shape index {shape_index}"}


def fill_table(table: Table, texts: list[list[str]], header: Length, body: Length) -> None:
    """Write the cells; margins shrink where rows are too low for the usual ones."""
    for number, (row, line) in enumerate(zip(table.rows, texts, strict=True)):
        size = body if number else header
        tight = row.height < size * 1.25 + Inches(0.1)
        for cell, text in zip(row.cells, line, strict=True):
            cell.text_frame.text = clean(text)
            format_frame(cell.text_frame, Look(size=size))
            cell.vertical_anchor = anchor("middle")
            if tight:
                cell.margin_top = cell.margin_bottom = Emu(Pt(1))


def paint_cell(cell: _Cell, ground: RGBColor) -> None:
    """Give a cell a background and text that can be read on it."""
    cell.fill.solid()
    cell.fill.fore_color.rgb = ground
    format_frame(cell.text_frame, Look(color=readable_on(ground, _TEXT)))


def draw_border(cell: _Cell, colour: RGBColor) -> None:
    """Draw a line on all four sides of a cell."""
    properties: _Element = cell._tc.get_or_add_tcPr()
    for old in [child for child in properties if child.tag in [qn(side) for side in _SIDES]]:
        properties.remove(old)
    for position, side in enumerate(_SIDES):
        line = properties.makeelement(qn(side), {"w": str(int(Pt(1))), "cap": "flat", "cmpd": "sng"})
        fill = line.makeelement(qn("a:solidFill"), {})
        fill.append(fill.makeelement(qn("a:srgbClr"), {"val": str(colour)}))
        line.append(fill)
        properties.insert(position, line)


def _check_size(rows: int, cols: int) -> None:
    for name, value in (("rows", rows), ("cols", cols)):
        if value < 1:
            raise refusal(name, "must be a positive integer")
        if value > MAX_SIDE:
            raise refusal(name, f"must be at most {MAX_SIDE}, not {value}: split the table over several slides")


def _check_data(data: list[list[str]] | None, rows: int, cols: int) -> None:
    if data is None:
        return
    if len(data) != rows:
        raise failure(f"Data has {len(data)} rows but table should have {rows} rows", outcome="invalid_arguments")
    for number, line in enumerate(data):
        if len(line) != cols:
            raise failure(
                f"Row {number} has {len(line)} columns but table should have {cols} columns",
                outcome="invalid_arguments",
            )


def _cell(table: Table, row: int, col: int) -> _Cell:
    for name, value, count in (("row", row, len(table.rows)), ("column", col, len(table.columns))):
        if not 0 <= value < count:
            raise failure(f"Invalid {name} index: {value}. Available {name}s: 0-{count - 1}")
    return table.cell(row, col)
