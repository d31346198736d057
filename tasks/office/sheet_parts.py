"""Parts of a workbook's file that belong to a worksheet: its charts and pictures, with their places."""

import posixpath
from collections.abc import Iterator
from dataclasses import dataclass
from io import BytesIO
from typing import TYPE_CHECKING, Any
from zipfile import ZipFile

from m3bench.tasks.lazy_modules import LazyModule
from m3bench.tasks.office.colours import A

if TYPE_CHECKING:
    from lxml import etree
else:
    etree = LazyModule("lxml.etree")

_X = "{http://schemas.openxmlformats.org/drawingml/2006/spreadsheetDrawing}"
_R = "{http://schemas.openxmlformats.org/officeDocument/2006/relationships}"
_S = "{http://schemas.openxmlformats.org/spreadsheetml/2006/main}"
_CHART = "{http://schemas.openxmlformats.org/drawingml/2006/chart}chart"
_BOOK = "xl/workbook.xml"
_LONGEST = 32 << 20
"""Bytes of one part."""


@dataclass(frozen=True, kw_only=True)
class Anchor:
    """Where something lies: in the grid, by column, row and what is behind them, in EMU."""

    start: tuple[int, int, int, int]
    """Column, its offset, row, its offset."""
    end: tuple[int, int, int, int] | None
    size: tuple[int, int] | None
    name: str
    chart: Any = None
    """The element of a chart's part."""
    picture: bytes | None = None
    what: str = ""
    """What it is, when it is neither."""


class Parts:
    """The parts of a workbook's file.

    Args:
        data: The file.
    """

    def __init__(self, data: bytes) -> None:
        self._file = ZipFile(BytesIO(data))
        self._names = set(self._file.namelist())

    def theme(self) -> Any:
        """The theme's element, or None."""
        return self._element("xl/theme/theme1.xml")

    def anchors(self, sheet: str) -> Iterator[Anchor]:
        """What lies on a worksheet."""
        part = self._sheets().get(sheet)
        root = self._element(part) if part is not None else None
        drawing = root.find(f"{_S}drawing") if root is not None else None
        if part is None or drawing is None:
            return
        path = self._relations(part).get(drawing.get(f"{_R}id", ""), "")
        relations, root = self._relations(path), self._element(path)
        for anchor in root if root is not None else ():
            if isinstance(anchor.tag, str):
                yield self._anchor(anchor, relations)

    def _anchor(self, anchor: Any, relations: dict[str, str]) -> Anchor:
        ext, end = anchor.find(f"{_X}ext"), anchor.find(f"{_X}to")
        position = anchor.find(f"{_X}pos")
        start = _marker(anchor.find(f"{_X}from")) or (0, 0, 0, 0)
        if position is not None:
            start = (0, int(position.get("x", "0")), 0, int(position.get("y", "0")))
        named = anchor.find(f".//{_X}cNvPr")
        chart, blip = anchor.find(f".//{_CHART}"), anchor.find(f".//{_X}pic//{A}blip")
        chart_part = relations.get(chart.get(f"{_R}id", ""), "") if chart is not None else ""
        picture = relations.get(blip.get(f"{_R}embed", ""), "") if blip is not None else ""
        return Anchor(
            start=start,
            end=_marker(end),
            size=(int(ext.get("cx", "0")), int(ext.get("cy", "0"))) if ext is not None else None,
            name=(named.get("name") if named is not None else "") or ("Chart" if chart is not None else "Picture"),
            chart=self._element(chart_part) if chart_part else None,
            picture=self._read(picture) if picture else None,
            what="" if chart_part or picture else "a drawn shape on a worksheet",
        )

    def _sheets(self) -> dict[str, str]:
        root, relations = self._element(_BOOK), self._relations(_BOOK)
        found = root.iterfind(f"{_S}sheets/{_S}sheet") if root is not None else ()
        return {str(entry.get("name")): relations.get(entry.get(f"{_R}id", ""), "") for entry in found}

    def _relations(self, part: str) -> dict[str, str]:
        folder, name = posixpath.split(part)
        root = self._element(f"{folder}/_rels/{name}.rels")
        found = {}
        for entry in root if root is not None else ():
            target = str(entry.get("Target", ""))
            path = target.lstrip("/") if target.startswith("/") else posixpath.normpath(posixpath.join(folder, target))
            found[str(entry.get("Id"))] = path
        return found

    def _element(self, name: str) -> Any:
        data = self._read(name)
        if data is None:
            return None
        parser = etree.XMLParser(resolve_entities=False, no_network=True, load_dtd=False, huge_tree=False)
        return etree.fromstring(data, parser)

    def _read(self, name: str) -> bytes | None:
        if name not in self._names or self._file.getinfo(name).file_size > _LONGEST:
            return None
        return self._file.read(name)


def _marker(found: Any) -> tuple[int, int, int, int] | None:
    if found is None:
        return None
    column, across, row, down = (int(found.findtext(f"{_X}{name}") or 0) for name in ("col", "colOff", "row", "rowOff"))
    return column, across, row, down
