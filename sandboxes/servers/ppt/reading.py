"""What a slide says, what is on it, and whether a file is sound, without changing anything."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

from pptx.opc.constants import RELATIONSHIP_TYPE
from pptx.presentation import Presentation
from pptx.shapes.autoshape import Shape
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


def examine(presentation: Presentation) -> None:
    """Read whatever the tools rely on, so that a damaged file shows now and not in the middle of a change.

    Raises anything: python-pptx reads lazily and trusts what it finds.
    """
    for master in presentation.slide_masters:
        master.part.part_related_by(RELATIONSHIP_TYPE.THEME)
        for layout in master.slide_layouts:
            places: Any = layout.placeholders
            seen = [layout.name, *((item.placeholder_format.type, item.left, item.width) for item in places)]
            assert seen[0] is not None
    for slide in presentation.slides:
        slide_text(slide)
        assert slide.slide_layout.slide_master is not None
        for _, shape in _with_index(slide.shapes):
            _examine_shape(shape)


def _examine_shape(shape: Any) -> None:
    seen = [kind(shape), shape.name, shape.left, shape.top, shape.width, shape.height]
    if isinstance(shape, Shape):
        seen.append(shape.fill.type)
    if isinstance(shape, GraphicFrame) and shape.has_chart:
        seen.append(shape.chart.part)
    if shape.has_text_frame:
        frame = shape.text_frame
        seen += [frame.margin_left, frame.margin_top, frame.word_wrap, frame.auto_size, frame.vertical_anchor]
        for paragraph in frame.paragraphs:
            seen += [paragraph.level, paragraph.alignment, paragraph.line_spacing]
            # Asking a run for its font would add an empty one to the file.
            formatted = [run for run in paragraph.runs if run._r.rPr is not None]
            seen += [(run.font.size, run.font.bold, run.hyperlink.address) for run in formatted]


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
