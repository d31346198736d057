"""Tables on slides: cells that grow with their text, in the colours of their style."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from m3bench.tasks.office import typeset
from m3bench.tasks.office.colours import A, mixed
from m3bench.tasks.office.marks import WHITE, Box, Colour, Mark, Stroke, Surface, corners
from m3bench.tasks.office.slide_text import EMU, Style, paragraphs
from m3bench.tasks.office.typeset import TextBlock

_MARGINS = {"marL": 91440, "marT": 45720, "marR": 91440, "marB": 45720}
_MEDIUM = "{5C22544A-7EE6-4342-B048-85BDC9FD1C3A}"
"""The style of new tables: medium style 2 in the first accent."""
_PLAIN = ("{2D5ABB26-0587-4C30-8999-92F81FD0307C}", "{5940675A-B579-460E-94D1-54222C63F5DA}")


def table(element: Any, style: Style, box: Box, owner: str) -> tuple[list[Mark], dict[str, Box]]:
    """The marks of a table, and the boxes of its cells by name."""
    widths = [int(item.get("w", "0")) / EMU for item in element.iterfind(f"{A}tblGrid/{A}gridCol")]
    rows = list(element.iterfind(f"{A}tr"))
    look = _Look(element, style, len(rows))
    texts = [[_text(cell, look, number) for cell in row.iterfind(f"{A}tc")] for number, row in enumerate(rows)]
    heights = [
        max([int(row.get("h", "0")) / EMU, *_needs(row, texts[number], widths)]) for number, row in enumerate(rows)
    ]
    _share(rows, texts, widths, heights)
    lefts, tops = _sums(box[0], widths), _sums(box[1], heights)
    fills: list[Mark] = []
    words: list[Mark] = []
    lines: list[Mark] = []
    boxes: dict[str, Box] = {}
    for number, row in enumerate(rows):
        for column, cell in enumerate(row.iterfind(f"{A}tc")):
            if column >= len(widths) or cell.get("hMerge") in ("1", "true") or cell.get("vMerge") in ("1", "true"):
                continue
            right = lefts[min(len(widths), column + int(cell.get("gridSpan", "1")))]
            bottom = tops[min(len(rows), number + int(cell.get("rowSpan", "1")))]
            room = (lefts[column], tops[number], right, bottom)
            boxes[f"{owner} {number + 1},{column + 1}"] = room
            fill = look.fill(cell, number)
            if fill is not None:
                fills.append(Surface(points=corners(room), owner=owner, fill=fill))
            lines += look.lines(cell, room, owner, number)
            left, top, right_margin, bottom_margin = _margins(cell)
            inner = (room[0] + left, room[1] + top, room[2] - right_margin, room[3] - bottom_margin)
            anchor = _properties(cell).get("anchor", "t") if _properties(cell) is not None else "t"
            words += typeset.placed(texts[number][column], inner, anchor, owner)
    return [*fills, *lines, *words], boxes


class _Look:
    """The colours of a table's style: medium style 2, which new tables have, or none."""

    def __init__(self, element: Any, style: Style, rows: int) -> None:
        properties = element.find(f"{A}tblPr")
        given = properties.find(f"{A}tableStyleId") if properties is not None else None
        self.style, self.rows = style, rows
        self.plain = given is None or given.text in _PLAIN
        self._first = properties is not None and properties.get("firstRow") in ("1", "true")
        self._banded = properties is not None and properties.get("bandRow") in ("1", "true")
        self._accent = style.theme.named("accent1")

    def head(self, row: int) -> bool:
        """Whether a row is the table's head."""
        return not self.plain and self._first and row == 0

    def fill(self, cell: Any, row: int) -> Colour | None:
        """The ground of a cell."""
        properties = _properties(cell)
        if properties is not None:
            if properties.find(f"{A}noFill") is not None:
                return None
            own = self.style.theme.of(properties.find(f"{A}solidFill"))
            if own is not None:
                return own[0]
        if self.plain:
            return None
        if self.head(row):
            return self._accent
        band = self._banded and (row - self._first) % 2 == 0
        return mixed(WHITE, self._accent, 0.4 if band else 0.2)

    def lines(self, cell: Any, box: Box, owner: str, row: int) -> list[Mark]:
        """The lines around a cell."""
        left, top, right, bottom = box
        sides = {
            "lnL": ((left, top), (left, bottom)),
            "lnR": ((right, top), (right, bottom)),
            "lnT": ((left, top), (right, top)),
            "lnB": ((left, bottom), (right, bottom)),
        }
        found: list[Mark] = []
        properties = _properties(cell)
        for name, ends in sides.items():
            line = properties.find(f"{A}{name}") if properties is not None else None
            colour = self.style.theme.of(line.find(f"{A}solidFill")) if line is not None else None
            if line is not None and colour is not None:
                found.append(
                    Stroke(points=ends, owner=owner, colour=colour[0], width=int(line.get("w", "12700")) / EMU)
                )
            elif line is None and not self.plain:
                found.append(
                    Stroke(
                        points=ends, owner=owner, colour=WHITE, width=4.0 if self.head(row) and name == "lnB" else 1.33
                    )
                )
        return found


def _properties(cell: Any) -> Any:
    return cell.find(f"{A}tcPr")


def _margins(cell: Any) -> Box:
    properties = _properties(cell)
    left, top, right, bottom = (
        int(properties.get(name, usual) if properties is not None else usual) / EMU for name, usual in _MARGINS.items()
    )
    return left, top, right, bottom


def _text(cell: Any, look: _Look, row: int) -> list[TextBlock]:
    body = cell.find(f"{A}txBody")
    # LibreOffice does not make the head bold, as other programs do; a file whose head must be bold says so itself.
    style = replace(look.style, colour=WHITE) if look.head(row) else look.style
    return [replace(item, by_font=True) for item in paragraphs(body, style)] if body is not None else []


def _needs(row: Any, texts: Sequence[Sequence[TextBlock]], widths: Sequence[float]) -> list[float]:
    """The height that each cell of one row needs."""
    found = []
    for column, cell in enumerate(row.iterfind(f"{A}tc")):
        if (
            cell.get("hMerge") in ("1", "true")
            or cell.get("vMerge") in ("1", "true")
            or int(cell.get("rowSpan", "1")) > 1
        ):
            continue
        left, top, right, bottom = _margins(cell)
        wide = sum(widths[column : column + int(cell.get("gridSpan", "1"))]) - left - right
        found.append(typeset.height(texts[column], max(1.0, wide)) + top + bottom)
    return found


def _share(
    rows: Sequence[Any], texts: Sequence[Sequence[Sequence[TextBlock]]], widths: Sequence[float], heights: list[float]
) -> None:
    """A cell over several rows makes the last of them higher where it needs it."""
    for number, row in enumerate(rows):
        for column, cell in enumerate(row.iterfind(f"{A}tc")):
            span = int(cell.get("rowSpan", "1"))
            if span < 2:
                continue
            left, top, right, bottom = _margins(cell)
            wide = sum(widths[column : column + int(cell.get("gridSpan", "1"))]) - left - right
            need = typeset.height(texts[number][column], max(1.0, wide)) + top + bottom
            last = min(len(rows), number + span) - 1
            heights[last] += max(0.0, need - sum(heights[number : last + 1]))


def _sums(start: float, sizes: Sequence[float]) -> list[float]:
    found = [start]
    for size in sizes:
        found.append(found[-1] + size)
    return found
