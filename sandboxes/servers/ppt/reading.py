"""What a slide says and what is on it, without changing anything."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from pptx.shapes.base import BaseShape
from pptx.shapes.graphfrm import GraphicFrame
from pptx.shapes.group import GroupShape
from pptx.slide import Slide
from pptx.table import Table
from pptx.text.text import TextFrame

Entry = dict[str, object]


@dataclass
class SlideText:
    """The text of a slide by where it stands."""

    title: str = ""
    placeholders: list[Entry] = field(default_factory=list)
    others: list[Entry] = field(default_factory=list)
    tables: list[Entry] = field(default_factory=list)
    lines: list[str] = field(default_factory=list)

    @property
    def combined(self) -> str:
        """Everything, in the order of the shapes."""
        return "\n".join(self.lines)

    @property
    def shape_count(self) -> int:
        """How many shapes, tables aside, carry text."""
        return len(self.placeholders) + len(self.others)

    def content(self) -> Entry:
        """The text as the tools show it."""
        return {
            "slide_title": self.title,
            "placeholders": self.placeholders,
            "text_shapes": self.others,
            "table_text": self.tables,
            "all_text_combined": self.combined,
        }


def kind(shape: BaseShape) -> str:
    """The kind of a shape in PowerPoint's words, such as `PICTURE (13)`."""
    try:
        return str(shape.shape_type)
    except NotImplementedError:
        return "unknown"


def slide_text(slide: Slide) -> SlideText:
    """All text of a slide, also what stands inside groups."""
    found = SlideText()
    title = slide.shapes.title
    if title is not None:
        found.title = title.text_frame.text.strip()
    for index, shape in _with_index(slide.shapes):
        if isinstance(shape, GraphicFrame):
            if shape.has_table:
                _add_table(found, index, shape.name, shape.table)
            continue
        frame = getattr(shape, "text_frame", None)
        text = frame.text.strip() if isinstance(frame, TextFrame) else ""
        if not text:
            continue
        found.lines.append(text)
        entry: Entry = {"shape_index": index, "shape_name": shape.name, "shape_type": kind(shape), "text": text}
        if shape.is_placeholder:
            entry["placeholder_type"] = str(shape.placeholder_format.type)
            entry["placeholder_idx"] = shape.placeholder_format.idx
            found.placeholders.append(entry)
        else:
            found.others.append(entry)
    return found


def _with_index(shapes: Iterable[BaseShape]) -> Iterator[tuple[int, BaseShape]]:
    """Every shape with the index of the one on the slide that it is or belongs to."""
    for index, shape in enumerate(shapes):
        for inner in _flat(shape):
            yield index, inner


def _flat(shape: BaseShape) -> Iterator[BaseShape]:
    if isinstance(shape, GroupShape):
        for inner in shape.shapes:
            yield from _flat(inner)
    else:
        yield shape


def _add_table(found: SlideText, index: int, name: str, table: Table) -> None:
    rows: list[Entry] = []
    for number, row in enumerate(table.rows):
        cells = [text for cell in row.cells if (text := cell.text_frame.text.strip())]
        found.lines += cells
        if cells:
            rows.append({"row": number, "cells": cells})
    if rows:
        found.tables.append({"shape_index": index, "shape_name": name, "table_content": rows})
