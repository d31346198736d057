"""Makes slides from blueprints: draws the elements, fills them with content, fits every text.

With content, roles that were not given are left out together with what belongs to them; without any, every
role shows its sample. The slide's title placeholder carries the heading, so that outlines and screen readers
find it, and empty placeholders go. Areas lie beneath what is already on a slide, texts above it. Roles that take text
only get tables and figures as plain lines.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from io import BytesIO
from typing import Any

from lxml.etree import _Element
from PIL import Image
from pptx.dml.color import RGBColor
from pptx.enum.shapes import MSO_SHAPE
from pptx.enum.text import MSO_AUTO_SIZE
from pptx.oxml import parse_xml
from pptx.oxml.ns import nsdecls, qn
from pptx.presentation import Presentation
from pptx.shapes.autoshape import Shape
from pptx.shapes.base import BaseShape
from pptx.shapes.picture import Picture
from pptx.slide import Slide
from pptx.text.text import _Paragraph
from pptx.util import Emu, Pt

from m3bench.sandboxes.pictures import READABLE
from m3bench.sandboxes.servers.ppt import colours, typesetting
from m3bench.sandboxes.servers.ppt.arguments import index_of
from m3bench.sandboxes.servers.ppt.blueprints import (
    Blueprint,
    Box,
    ChartElement,
    Element,
    PanelElement,
    PictureElement,
    TableElement,
    TextElement,
)
from m3bench.sandboxes.servers.ppt.charts import colour_series, insert_chart, label_values
from m3bench.sandboxes.servers.ppt.colours import Scheme, blend, readable_on
from m3bench.sandboxes.servers.ppt.images import file_data, prepared
from m3bench.sandboxes.servers.ppt.registry import failure
from m3bench.sandboxes.servers.ppt.shapes import SHAPES, plain_shape
from m3bench.sandboxes.servers.ppt.tables import draw_border, fill_table, paint_cell
from m3bench.sandboxes.servers.ppt.typesetting import (
    ALIGNMENTS,
    ANCHORS,
    Look,
    bullet,
    clean,
    format_frame,
    inner_size,
    items,
    numbered,
    text_frame,
)
from m3bench.sandboxes.workspace import Workspace

MAX_ROWS = 40
MAX_COLUMNS = 12
MAX_FIGURES = 40

_SEPARATORS = ("|", "\t", ";", ",")
_FIGURE = re.compile(r"^(.*\S)\s*[:=|\t]\s*([-+]?[\d.,]*\d)\s*%?$")


def grid(role: str, text: str) -> list[list[str]]:
    """The cells of a table; short rows are filled up. Lines of dashes, as Markdown has them, are skipped."""
    lines = [line.strip() for line in clean(text).split("\n")]
    lines = [line for line in lines if line and not re.fullmatch(r"[|\s:-]+", line)]
    mark = next((mark for mark in _SEPARATORS if any(mark in line for line in lines)), "|")
    rows = [[cell.strip() for cell in (line.strip("|") if mark == "|" else line).split(mark)] for line in lines]
    columns = max(map(len, rows), default=0)
    if not 1 <= len(rows) <= MAX_ROWS or columns > MAX_COLUMNS:
        raise failure(
            f"the table for role '{role}' has {len(rows)} rows and {columns} columns: give lines such as "
            f"'Region | Sales', at most {MAX_ROWS} with at most {MAX_COLUMNS} cells",
            outcome="invalid_arguments",
        )
    return [row + [""] * (columns - len(row)) for row in rows]


def figures(role: str, text: str) -> tuple[list[str], list[float]]:
    """The labels and values of a chart."""
    lines = [line.strip() for line in clean(text).split("\n") if line.strip()]
    found = [match for line in lines if (match := _FIGURE.match(line))]
    if not 1 <= len(found) <= MAX_FIGURES or len(found) < len(lines):
        raise failure(
            f"the chart for role '{role}' needs lines such as 'North: 42', at most {MAX_FIGURES}",
            outcome="invalid_arguments",
        )
    return [match[1].strip() for match in found], [_value(role, match[2]) for match in found]


def _value(role: str, text: str) -> float:
    try:
        return float(text.replace(",", ""))
    except ValueError as error:
        raise failure(
            f"the chart for role '{role}' has a value that is no number: {text[:40]!r}", outcome="invalid_arguments"
        ) from error


MIN_SIZE = 6
"""Points: what does not fit at this size does not fit."""

_PANELS = {**SHAPES, "chevron": MSO_SHAPE.CHEVRON}
_BLACK = RGBColor(0, 0, 0)
_LIST_INDENT = 2.0
"""Room for the number before a list item in units of the font size; bullets take half of it."""
_LIST_GAP = 0.35
"""Space between list items in units of the font size."""


@dataclass(frozen=True)
class Created:
    """An element that was drawn."""

    kind: str
    role: str
    shape: BaseShape
    features: tuple[str, ...]


def build(
    presentation: Presentation,
    slide: Slide,
    blueprint: Blueprint,
    scheme: Scheme,
    workspace: Workspace,
    content: Mapping[str, str] | None = None,
    pictures: Mapping[str, str] | None = None,
) -> dict[str, object]:
    """Lay a template over a slide; raises `SoftError` when a role is not the template's or a text too long."""
    builder = _Builder(presentation, slide, blueprint, scheme, workspace, content or {}, pictures or {})
    created = builder.run()
    return {
        "success": True,
        "template_id": blueprint.id,
        "template_name": blueprint.name,
        "color_scheme": scheme.name,
        "elements_created": [
            {
                "type": item.kind,
                "role": item.role,
                "index": index_of(slide, item.shape),
                "enhanced_features": list(item.features),
            }
            for item in created
        ],
        "enhanced_features_applied": sorted({feature for item in created for feature in item.features}),
    }


class _Builder:
    """One slide in the making."""

    def __init__(
        self,
        presentation: Presentation,
        slide: Slide,
        blueprint: Blueprint,
        scheme: Scheme,
        workspace: Workspace,
        content: Mapping[str, str],
        pictures: Mapping[str, str],
    ) -> None:
        self._width = presentation.slide_width or Emu(9144000)
        self._height = presentation.slide_height or Emu(6858000)
        self._slide = slide
        self._blueprint = blueprint
        self._scheme = scheme
        self._workspace = workspace
        self._content = {role: text for role, text in content.items() if text.strip()}
        self._pictures = {role: path for role, path in pictures.items() if path.strip()}
        self._tree: _Element = slide.shapes._spTree
        self._beneath = 0
        """Areas drawn so far: the next one lies above them and beneath all else."""

    def run(self) -> list[Created]:
        self._check_roles()
        self._ground()
        heading = self._take_heading()
        samples = not self._content and not self._pictures
        given = {**self._content, **self._pictures}
        created = []
        for element in self._blueprint.laid_out(None if samples else given):
            if isinstance(element, PanelElement):
                if samples or element.of is None or element.of in given:
                    created.append(self._panel(element))
            elif isinstance(element, PictureElement):
                created.append(self._picture(element, samples))
            else:
                text = element.sample if samples else self._content.get(element.role)
                if text is not None:
                    created.append(self._filled(element, text, heading))
        return created

    def _check_roles(self) -> None:
        for given, known in (
            (self._content, self._blueprint.roles()),
            (self._pictures, self._blueprint.roles(PictureElement)),
        ):
            unknown = [role for role in given if role not in known]
            if unknown:
                there = f"Its roles are: {', '.join(known)}" if known else "It has none of that kind"
                raise failure(
                    f"template '{self._blueprint.id}' has no role '{unknown[0][:60]}'. {there}",
                    outcome="invalid_arguments",
                )

    def _ground(self) -> None:
        scheme = self._scheme
        match self._blueprint.background:
            case "gradient":
                colours.shade_background(self._slide, scheme.primary, blend(scheme.primary, _BLACK, 0.45))
            case purpose:
                colours.paint_background(self._slide, self._colour(purpose))

    def _colour(self, purpose: str) -> RGBColor:
        return blend(self._scheme.primary, _BLACK, 0.6) if purpose == "dark" else self._scheme.colour(purpose)

    def _take_heading(self) -> BaseShape | None:
        """The title placeholder for the heading, all other empty placeholders being removed.

        What an existing slide's title says is kept when no other heading is given.
        """
        title = self._slide.shapes.title
        role = self._blueprint.heading
        old = title.text_frame.text.strip() if title is not None else ""
        if old and role not in self._content:
            self._content[role] = old
        needed = role in self._content or not (self._content or self._pictures)
        for placeholder in list(self._slide.placeholders):
            empty = not placeholder.has_text_frame or not placeholder.text_frame.text.strip()
            if title is not None and placeholder.shape_id == title.shape_id:
                empty = not needed
            if empty and placeholder._element.tag == qn("p:sp"):
                self._tree.remove(placeholder._element)
        return title if needed else None

    def _box(self, box: Box) -> tuple[Emu, Emu, Emu, Emu]:
        left, top, width, height = box
        return (
            Emu(round(self._width * left / 100)),
            Emu(round(self._height * top / 100)),
            Emu(round(self._width * width / 100)),
            Emu(round(self._height * height / 100)),
        )

    def _lower(self, shape: BaseShape) -> None:
        """Put an area above the areas before it and beneath everything else."""
        # The tree starts with two elements that describe the slide itself.
        self._tree.insert(2 + self._beneath, shape._element)
        self._beneath += 1

    def _panel(self, panel: PanelElement) -> Created:
        left, top, width, height = self._box(panel.box)
        if panel.circle:
            side = min(width, height)
            left, top = Emu(left + (width - side) // 2), Emu(top + (height - side) // 2)
            width = height = side
        shape = plain_shape(self._slide, _PANELS[panel.shape], (left, top, width, height))
        features = []
        if panel.fill is None:
            shape.fill.background()
            ink = self._colour(panel.label_colour or "text")
        else:
            colour = blend(self._colour(panel.fill), self._colour(_ground_purpose(self._blueprint)), panel.soften)
            shape.fill.solid()
            shape.fill.fore_color.rgb = colour
            ink = readable_on(colour, self._scheme.text)
        if panel.transparency:
            _set_alpha(shape, 1 - panel.transparency)
            features.append("transparency")
        if panel.shadow:
            _add_shadow(shape)
            features.append("soft_shadow")
        if panel.label:
            _set_label(shape, panel, ink)
        self._lower(shape)
        return Created("shape", panel.role, shape, tuple(features))

    def _picture(self, element: PictureElement, samples: bool) -> Created:
        path = self._pictures.get(element.role)
        if path is None:
            return self._missing_picture(element, samples)
        blob = prepared(file_data(self._workspace, path), self._workspace.limits, repr(path))
        left, top, width, height = self._round_box(element)
        with Image.open(BytesIO(blob), formats=READABLE) as image:
            aspect = image.width / image.height
        picture = self._slide.shapes.add_picture(BytesIO(blob), left, top, width, height)
        features = _cover(picture, aspect, width / height)
        if element.round:
            picture.auto_shape_type = MSO_SHAPE.OVAL
            features += ("round_frame",)
        self._lower(picture)
        return Created("image", element.role, picture, features)

    def _missing_picture(self, element: PictureElement, samples: bool) -> Created:
        """A quiet area where a picture could be; for people, their initials."""
        name = self._content.get(element.initials or "", "")
        label = "".join(word[0] for word in name.split()[:2]).upper() or (element.sample if samples else "")
        left, top, width, height = self._round_box(element)
        kind = MSO_SHAPE.OVAL if element.round else MSO_SHAPE.RECTANGLE
        shape = plain_shape(self._slide, kind, (left, top, width, height))
        colour = blend(self._scheme.secondary, self._scheme.light, 0.6)
        shape.fill.solid()
        shape.fill.fore_color.rgb = colour
        if label:
            shape.text_frame.text = label
            size = Pt(28 if name else 16)
            ink = readable_on(colour, self._scheme.text)
            format_frame(shape.text_frame, Look(size=size, color=ink), ALIGNMENTS["center"])
        self._lower(shape)
        return Created("image", element.role, shape, ("empty_frame",))

    def _round_box(self, element: PictureElement) -> tuple[Emu, Emu, Emu, Emu]:
        left, top, width, height = self._box(element.box)
        if not element.round:
            return left, top, width, height
        side = Emu(min(width, height))
        return Emu(left + (width - side) // 2), Emu(top + (height - side) // 2), side, side

    def _filled(self, element: Element, text: str, heading: BaseShape | None) -> Created:
        if isinstance(element, TableElement):
            return self._table(element, text)
        if isinstance(element, ChartElement):
            return self._chart(element, text)
        assert isinstance(element, TextElement)
        return self._text(element, text, heading if element.role == self._blueprint.heading else None)

    def _text(self, element: TextElement, text: str, placeholder: BaseShape | None) -> Created:
        left, top, width, height = self._box(element.box)
        if placeholder is None:
            shape: BaseShape = self._slide.shapes.add_textbox(left, top, width, height)
        else:
            shape = placeholder
            shape.left, shape.top, shape.width, shape.height = left, top, width, height
            self._tree.append(shape._element)
        lines = clean(text).split("\n") if element.style == "plain" else items(text) or [text.strip()]
        size = self._fitting(shape, element, lines)
        frame = text_frame(shape)
        frame.text = "\n".join(lines)
        frame.word_wrap = True
        frame.auto_size = MSO_AUTO_SIZE.NONE
        frame.vertical_anchor = ANCHORS[element.anchor]
        look = Look(size=Pt(size), bold=element.bold, italic=element.italic, color=self._ink(element))
        format_frame(frame, look, ALIGNMENTS[element.align])
        features = ["auto_fit"]
        for number, paragraph in enumerate(frame.paragraphs):
            if element.style == "bullets":
                bullet(paragraph, indent=size)
            elif element.style == "numbers":
                numbered(paragraph, indent=size * _LIST_INDENT)
            if element.style != "plain" and number:
                paragraph.space_before = Pt(size * _LIST_GAP)
            if element.glow:
                _add_glow(paragraph, self._ink(element))
        features += [element.style] if element.style != "plain" else []
        features += ["glow"] if element.glow else []
        return Created("text", element.role, shape, tuple(features))

    def _ink(self, element: TextElement) -> RGBColor:
        if element.colour is not None:
            return self._colour(element.colour)
        return readable_on(self._colour(element.on), self._scheme.text)

    def _fitting(self, shape: BaseShape, element: TextElement, lines: list[str]) -> int:
        room = inner_size(shape, text_frame(shape))
        assert room is not None
        listed = element.style != "plain"
        for size in range(element.size, MIN_SIZE - 1, -1):
            paragraphs = [
                typesetting.Paragraph(
                    text=line,
                    size=size,
                    bold=element.bold,
                    indent=size * _LIST_INDENT if listed else 0.0,
                    before=_LIST_GAP if listed else 0.0,
                )
                for line in lines
            ]
            if typesetting.text_height(paragraphs, room[0]) <= room[1]:
                return size
        raise failure(
            f"the text for role '{element.role}' of template '{self._blueprint.id}' has "
            f"{sum(map(len, lines))} characters and does not fit its box: shorten it",
            outcome="invalid_arguments",
        )

    def _table(self, element: TableElement, text: str) -> Created:
        rows = grid(element.role, text)
        left, top, width, height = self._box(element.box)
        size = _table_size(element, rows, width / Pt(1), height / Pt(1))
        needed = Emu(min(height, round(len(rows) * Pt(size) * 2.4)))
        shape: Any = self._slide.shapes.add_table(len(rows), len(rows[0]), left, top, width, needed)
        table = shape.table
        fill_table(table, rows, Pt(size), Pt(size))
        for number, row in enumerate(table.rows):
            for cell in row.cells:
                paint_cell(cell, self._scheme.primary if number == 0 else _stripe(self._scheme, number))
                draw_border(cell, blend(self._scheme.secondary, self._scheme.light, 0.6))
                format_frame(cell.text_frame, Look(bold=number == 0))
        return Created("table", element.role, shape, ("auto_fit", "striped_rows"))

    def _chart(self, element: ChartElement, text: str) -> Created:
        labels, values = figures(element.role, text)
        shape = insert_chart(self._slide, element.kind, self._box(element.box), labels, [(element.role, values)])
        shape.chart.has_legend = False
        colour_series(shape.chart, self._scheme)
        label_values(shape.chart, element.kind)
        return Created("chart", element.role, shape, ("data_labels",))


def _ground_purpose(blueprint: Blueprint) -> str:
    return "primary" if blueprint.background == "gradient" else blueprint.background


def _stripe(scheme: Scheme, number: int) -> RGBColor:
    return scheme.light if number % 2 else scheme.colour("white")


def _table_size(element: TableElement, rows: list[list[str]], width: float, height: float) -> int:
    """The largest font size at which all rows fit, 16 at most."""
    column = width / len(rows[0]) - 15
    for size in range(16, MIN_SIZE - 1, -1):
        lines = [max(_cell_lines(cell, size, column, not number) for cell in row) for number, row in enumerate(rows)]
        if sum(count * size * typesetting.LINE + 8 for count in lines) <= height:
            return size
    raise failure(
        f"the table for role '{element.role}' has {len(rows)} rows and does not fit its box: shorten it",
        outcome="invalid_arguments",
    )


def _cell_lines(text: str, size: int, width: float, bold: bool) -> int:
    return typesetting.line_count(text, size, width, bold)


def _cover(picture: Picture, aspect: float, wanted: float) -> tuple[str, ...]:
    """Cut a picture on both sides so that it fills its frame without being stretched."""
    if abs(aspect / wanted - 1) < 0.005:
        return ()
    if aspect > wanted:
        picture.crop_left = picture.crop_right = (1 - wanted / aspect) / 2
    else:
        picture.crop_top = picture.crop_bottom = (1 - aspect / wanted) / 2
    return ("cropped_to_fill",)


def _set_label(shape: Shape, panel: PanelElement, ink: RGBColor) -> None:
    frame = shape.text_frame
    frame.word_wrap = False
    frame.margin_left = frame.margin_right = frame.margin_top = frame.margin_bottom = Emu(0)
    frame.text = panel.label
    format_frame(frame, Look(size=Pt(panel.label_size), bold=True, color=ink), ALIGNMENTS["center"])
    frame.vertical_anchor = ANCHORS["middle"]


def _set_alpha(shape: Shape, opacity: float) -> None:
    colour: _Element = shape._element.spPr.xpath("a:solidFill/a:srgbClr")[0]
    colour.append(parse_xml(f'<a:alpha {nsdecls("a")} val="{round(opacity * 100_000)}"/>'))


def _add_shadow(shape: Shape) -> None:
    effects: _Element = shape._element.spPr.find(qn("a:effectLst"))
    effects.append(
        parse_xml(
            f'<a:outerShdw {nsdecls("a")} blurRad="76200" dist="25400" dir="5400000" algn="t" rotWithShape="0">'
            '<a:srgbClr val="000000"><a:alpha val="22000"/></a:srgbClr></a:outerShdw>'
        )
    )


def _add_glow(paragraph: _Paragraph, colour: RGBColor) -> None:
    for run in paragraph.runs:
        glow = parse_xml(
            f'<a:effectLst {nsdecls("a")}><a:glow rad="101600"><a:srgbClr val="{colour}">'
            '<a:alpha val="45000"/></a:srgbClr></a:glow></a:effectLst>'
        )
        run.font._element.xpath("a:solidFill")[0].addnext(glow)
