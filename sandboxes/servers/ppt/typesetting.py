"""Text in shapes: setting it, formatting it, and making it fit.

Where a client names a font size the size is kept and the box is told to scale its text, as PowerPoint's own
"shrink text on overflow" does; the scale is computed here, so that the text fits before any program opened the
file. Sizes that nobody set are looked up in layout and master.

How much room a text takes follows from character widths and greedy line breaking. The widths are those of a wide
sans-serif face (the one that stands in where a named font is missing), so that what fits here fits with the usual,
narrower faces too: a bound, not a rendering. Sizes and widths are points.
"""

import math
import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from lxml.etree import _Element
from pptx.dml.color import RGBColor
from pptx.enum.shapes import PP_PLACEHOLDER
from pptx.enum.text import MSO_ANCHOR, MSO_AUTO_SIZE, PP_ALIGN
from pptx.oxml.ns import qn
from pptx.shapes.base import BaseShape
from pptx.text.text import Font, TextFrame, _Paragraph
from pptx.util import Length, Pt

from m3bench.sandboxes.servers.ppt.arguments import choice, optional_rgb, points
from m3bench.sandboxes.servers.ppt.registry import refusal

LINE = 1.22
"""Height of a line in units of the font size."""

BOLD = 1.13
"""How much wider bold text runs."""

_FIRST = 32
_WIDTHS = (
    (318, 401, 460, 838, 636, 950, 780, 275, 390, 390, 500, 838, 318, 361, 318, 337)
    + (636,) * 10
    + (337, 337, 838, 838, 838, 531)
    + (1000, 684, 686, 698, 770, 632, 575, 775, 752, 295, 295, 656, 557, 863, 748, 787)
    + (603, 787, 695, 635, 611, 732, 684, 989, 685, 611, 685, 390, 337, 390, 838, 500)
    + (500, 613, 635, 550, 635, 615, 352, 635, 634, 278, 278, 579, 278, 974, 634, 612)
    + (635, 635, 411, 521, 392, 634, 592, 818, 592, 592, 525, 636, 337, 636, 838)
)
"""Thousandths of the font size, for the characters from the space to the tilde."""

_NARROW = {"–": 500, "“": 520, "”": 520, "‘": 320, "’": 320, "•": 590, "·": 320, "°": 500, "\u00a0": 318}
_OTHER = 750
_WIDE = 1050
_WORD = 24
"""Letters; longer words are addresses and the like."""
_HANGUL = 0x1100
"""From here on most scripts have no spaces between words."""


@dataclass(frozen=True, kw_only=True)
class Paragraph:
    """A paragraph to be measured."""

    text: str
    size: float
    bold: bool = False
    indent: float = 0.0
    """Points lost at the left of every line."""
    before: float = 0.0
    """Space above it in units of the font size; the first paragraph of a text has none."""


def text_width(text: str, size: float, bold: bool = False) -> float:
    """The length of a text in one line."""
    return _measure(text) * size / 1000 * (BOLD if bold else 1.0)


def line_count(text: str, size: float, available: float, bold: bool = False) -> int:
    """How many lines a paragraph takes; words longer than a line are broken."""
    room = max(available, size) * 1000 / size / (BOLD if bold else 1.0)
    return sum(_lines(line, room) for line in text.split("\v"))


def text_height(paragraphs: Sequence[Paragraph], available: float, scale: float = 1.0) -> float:
    """The height of a text in a column, with every size scaled; infinite when a word would be broken."""
    total = 0.0
    for index, paragraph in enumerate(paragraphs):
        size = paragraph.size * scale
        if text_width(_longest_word(paragraph.text), size, paragraph.bold) > available - paragraph.indent:
            return math.inf
        lines = line_count(paragraph.text, size, available - paragraph.indent, paragraph.bold)
        total += size * (LINE * lines + (paragraph.before if index else 0.0))
    return total


def largest_scale(paragraphs: Sequence[Paragraph], available: float, room: float, steps: Sequence[float]) -> float:
    """The largest of some ascending scales at which a text fits a box; the smallest when none does."""
    low, high = 0, len(steps) - 1
    while low < high:
        middle = (low + high + 1) // 2
        if text_height(paragraphs, available, steps[middle]) <= room:
            low = middle
        else:
            high = middle - 1
    return steps[low]


@lru_cache(maxsize=256)
def _longest_word(text: str) -> str:
    """The widest word that must stay in one piece: scripts without spaces and very long words may be broken."""
    words = (word for word in text.split() if len(word) <= _WORD and all(ord(letter) < _HANGUL for letter in word))
    return max(words, key=_measure, default="")


def _lines(text: str, room: float) -> int:
    lines, used = 1, 0.0
    for word in text.split(" "):
        wide = _measure(word)
        gap = _WIDTHS[0] if used else 0
        if used + gap + wide <= room:
            used += gap + wide
            continue
        if used:
            lines += 1
        extra = math.ceil(wide / room) - 1 if wide > room else 0
        lines += extra
        used = wide - extra * room
    return lines


def _measure(text: str) -> int:
    return _measure_word(text) if len(text) <= _WORD else sum(map(_character, text))


@lru_cache(maxsize=4096)
def _measure_word(text: str) -> int:
    return sum(map(_character, text))


@lru_cache(maxsize=4096)
def _character(character: str) -> int:
    code = ord(character)
    if _FIRST <= code < _FIRST + len(_WIDTHS):
        return _WIDTHS[code - _FIRST]
    if character == "\t":
        return 4 * _WIDTHS[0]
    if character in _NARROW:
        return _NARROW[character]
    if unicodedata.category(character) in ("Mn", "Me", "Cf"):
        return 0
    base = unicodedata.normalize("NFD", character)[0]
    if base != character and ord(base) < 127:
        return _character(base)
    kind = unicodedata.east_asian_width(character)
    return _WIDE if kind in ("W", "F") or (kind == "A" and not character.isalpha()) else _OTHER


ALIGNMENTS = {
    "left": PP_ALIGN.LEFT,
    "center": PP_ALIGN.CENTER,
    "right": PP_ALIGN.RIGHT,
    "justify": PP_ALIGN.JUSTIFY,
}
ANCHORS = {"top": MSO_ANCHOR.TOP, "middle": MSO_ANCHOR.MIDDLE, "bottom": MSO_ANCHOR.BOTTOM}

SCALES = tuple(step / 40 for step in range(10, 41))
"""25 % to 100 %: PowerPoint goes no lower."""

DEFAULT_SIZE = 18.0
TITLES = (PP_PLACEHOLDER.TITLE, PP_PLACEHOLDER.CENTER_TITLE, PP_PLACEHOLDER.VERTICAL_TITLE)
MAX_FONT_NAME = 100

_TEXT_AREAS = {
    "roundRect": (0.9, 0.9),
    "ellipse": (0.66, 0.66),
    "diamond": (0.5, 0.5),
    "triangle": (0.5, 0.5),
    "rtTriangle": (0.5, 0.42),
    "pentagon": (0.55, 0.7),
    "hexagon": (0.6, 0.7),
    "heptagon": (0.6, 0.7),
    "octagon": (0.7, 0.75),
    "star5": (0.38, 0.4),
    "rightArrow": (0.8, 0.5),
    "cloud": (0.55, 0.55),
    "heart": (0.55, 0.45),
    "lightningBolt": (0.32, 0.35),
    "sun": (0.35, 0.4),
    "moon": (0.25, 0.5),
    "smileyFace": (0.62, 0.65),
    "noSmoking": (0.62, 0.65),
    "flowChartDecision": (0.5, 0.5),
    "flowChartInputOutput": (0.6, 1.0),
    "flowChartDocument": (1.0, 0.8),
}
"""The part of a shape, across and down, that its text may use."""


@dataclass(frozen=True, kw_only=True)
class Look:
    """How characters look; None leaves a property as it is."""

    size: Length | None = None
    name: str | None = None
    bold: bool | None = None
    italic: bool | None = None
    underline: bool | None = None
    color: RGBColor | None = None

    @classmethod
    def of(
        cls,
        *,
        font_size: float | None = None,
        font_name: str | None = None,
        bold: bool | None = None,
        italic: bool | None = None,
        underline: bool | None = None,
        color: object = None,
    ) -> "Look":
        """From a tool's arguments; raises `SoftError` naming the one that makes no sense."""
        if font_name is not None and not 0 < len(font_name.strip()) <= MAX_FONT_NAME:
            raise refusal("font_name", f"must have between 1 and {MAX_FONT_NAME} characters")
        return cls(
            size=None if font_size is None else points("font_size", font_size),
            name=font_name,
            bold=bold,
            italic=italic,
            underline=underline,
            color=optional_rgb("color", color),
        )

    def apply(self, font: Font) -> None:
        """Give a font this look."""
        if self.size is not None:
            font.size = self.size
        if self.name is not None:
            font.name = self.name
        if self.bold is not None:
            font.bold = self.bold
        if self.italic is not None:
            font.italic = self.italic
        if self.underline is not None:
            font.underline = self.underline
        if self.color is not None:
            font.color.rgb = self.color


def alignment(value: str | None) -> PP_ALIGN | None:
    """The paragraph alignment of that name."""
    return None if value is None else ALIGNMENTS[choice("alignment", value, ALIGNMENTS)]


def anchor(value: str | None) -> MSO_ANCHOR | None:
    """The vertical alignment of that name."""
    return None if value is None else ANCHORS[choice("vertical_alignment", value, ANCHORS)]


def clean(text: str) -> str:
    """Line ends as python-pptx knows them."""
    return text.replace("\r\n", "\n").replace("\r", "\n")


def format_frame(frame: TextFrame, look: Look, align: PP_ALIGN | None = None) -> None:
    """Format all text of a frame, also what will be typed into its empty paragraphs."""
    for paragraph in frame.paragraphs:
        if align is not None:
            paragraph.alignment = align
        for run in paragraph.runs:
            look.apply(run.font)
        if not paragraph.runs:
            look.apply(paragraph.font)


def shrink(shape: BaseShape) -> None:
    """Make the shape's text fit its box.

    Sizes that were asked for stay in the file, with a scale beside them; text without one gets a size that
    fits, which every program shows alike.
    """
    frame = text_frame(shape)
    room = inner_size(shape, frame)
    frame.word_wrap = True
    frame.auto_size = MSO_AUTO_SIZE.TEXT_TO_FIT_SHAPE
    if room is None:
        return
    paragraphs = measured(shape, frame)
    scale = largest_scale(paragraphs, room[0], room[1], SCALES)
    if scale == 1:
        return
    if any(run.font.size is not None for paragraph in frame.paragraphs for run in paragraph.runs):
        body: _Element = frame._txBody.bodyPr
        body.find(qn("a:normAutofit")).set("fontScale", str(round(scale * 100_000)))
        return
    frame.auto_size = MSO_AUTO_SIZE.NONE
    for paragraph, item in zip(frame.paragraphs, paragraphs, strict=True):
        for run in paragraph.runs:
            run.font.size = Pt(math.floor(item.size * scale * 2) / 2)


def text_frame(shape: BaseShape) -> TextFrame:
    """The text frame of a shape that has one."""
    owner: Any = shape
    frame: TextFrame = owner.text_frame
    return frame


def inner_size(shape: BaseShape, frame: TextFrame) -> tuple[float, float] | None:
    """Width and height for text in points; None when the shape's size is not known."""
    # A placeholder whose layout has lost it has no size, whatever the type says.
    owner: Any = shape
    width, height = owner.width, owner.height
    if width is None or height is None:
        return None
    across, down = _TEXT_AREAS.get(_geometry(shape), (1.0, 1.0))
    wide = width * across - frame.margin_left - frame.margin_right
    high = height * down - frame.margin_top - frame.margin_bottom
    return max(wide / Pt(1), 1.0), max(high / Pt(1), 1.0)


def _geometry(shape: BaseShape) -> str:
    names = shape._element.xpath("p:spPr/a:prstGeom/@prst")
    return names[0] if names else "rect"


def measured(shape: BaseShape, frame: TextFrame) -> list[Paragraph]:
    """The paragraphs of a frame with the sizes they are shown in."""
    body = shape.is_placeholder and shape.placeholder_format.type not in TITLES
    found = []
    for paragraph in frame.paragraphs:
        sizes = [run.font.size.pt for run in paragraph.runs if run.font.size is not None]
        size = max(sizes, default=0.0) or inherited_size(shape, paragraph.level)
        found.append(
            Paragraph(
                text=paragraph.text,
                size=size,
                bold=any(run.font.bold for run in paragraph.runs),
                indent=27.0 * (paragraph.level + 1) if body else 0.0,
                before=0.2 if body else 0.0,
            )
        )
    return found


def inherited_size(shape: BaseShape, level: int = 0) -> float:
    """The size in points of text in a shape where no run says so."""
    style = f"lvl{level + 1}pPr/a:defRPr/@sz"
    for element, path in _ancestry(shape):
        sizes = element.xpath(f"{path}/a:{style}")
        if sizes:
            return int(sizes[0]) / 100
    return DEFAULT_SIZE


def bullet(paragraph: _Paragraph, character: str = "•", *, indent: float = 18.0) -> None:
    """Put a bullet before a paragraph; `indent` is in points."""
    _list_item(paragraph, indent, "a:buChar", {"char": character})


def numbered(paragraph: _Paragraph, *, indent: float = 24.0) -> None:
    """Number a paragraph among its neighbours."""
    _list_item(paragraph, indent, "a:buAutoNum", {"type": "arabicPeriod"})


def items(text: str) -> list[str]:
    """The lines of a list, without the marks people put before them."""
    lines = [re.sub(r"^\s*(?:[-*•–]|\d{1,2}[.)])\s+", "", line).strip() for line in clean(text).split("\n")]
    return [line for line in lines if line]


def _list_item(paragraph: _Paragraph, indent: float, tag: str, attributes: dict[str, str]) -> None:
    properties: _Element = paragraph._p.get_or_add_pPr()
    for old in properties.xpath("a:buNone|a:buChar|a:buAutoNum|a:buBlip"):
        properties.remove(old)
    properties.set("marL", str(int(Pt(indent))))
    properties.set("indent", str(-int(Pt(indent))))
    mark = properties.makeelement(qn(tag), attributes)
    properties.insert_element_before(mark, "a:tabLst", "a:defRPr", "a:extLst")


def _ancestry(shape: BaseShape) -> list[tuple[_Element, str]]:
    """Where the style of a shape's text is looked up: the element and the path of the list style in it."""
    own: list[tuple[_Element, str]] = [(shape._element, ".//a:lstStyle")]
    if not shape.is_placeholder:
        return own
    slide: Any = shape.part.slide  # type: ignore[attr-defined]
    layout = slide.slide_layout
    master = layout.slide_master
    kind = shape.placeholder_format.type
    title = kind in TITLES
    own += [
        (item._element, ".//a:lstStyle")
        for item in layout.placeholders
        if item.placeholder_format.idx == shape.placeholder_format.idx
    ]
    wanted = PP_PLACEHOLDER.TITLE if title else PP_PLACEHOLDER.BODY
    if kind not in (PP_PLACEHOLDER.DATE, PP_PLACEHOLDER.FOOTER, PP_PLACEHOLDER.SLIDE_NUMBER):
        own += [
            (item._element, ".//a:lstStyle") for item in master.placeholders if item.placeholder_format.type == wanted
        ]
        own.append((master._element, f"p:txStyles/p:{'titleStyle' if title else 'bodyStyle'}"))
    return own
