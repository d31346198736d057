"""What a slide template is made of: texts, pictures, panels, tables and charts in boxes.

Boxes are percent of the slide, or of a cell where an element is repeated, so that a template suits every slide
format. A blueprint says what belongs where and in which colour by purpose; it draws nothing and holds no
content but the sample texts that show a role in use. The 23 templates are in the table `slide_templates`; `builder`
makes slides of them.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cache
from typing import Any, Literal, TypeAlias

from m3bench.sandboxes.servers.ppt.registry import failure
from m3bench.sandboxes.world import tables
from m3bench.sandboxes.world.tables import Record

Box: TypeAlias = tuple[float, float, float, float]
"""Left, top, width and height in percent."""

Background: TypeAlias = Literal["white", "light", "primary", "gradient", "dark"]


@dataclass(frozen=True)
class TextElement:
    """A text in a box, as large as fits and no larger than `size`."""

    role: str
    box: Box
    sample: str
    size: int
    """Points."""
    on: str = "white"
    """The purpose of the colour beneath: the text takes one that can be read on it."""
    colour: str | None = None
    """The purpose of its own colour where that is not left to contrast."""
    bold: bool = False
    italic: bool = False
    align: str = "left"
    anchor: str = "top"
    style: Literal["plain", "bullets", "numbers"] = "plain"
    glow: bool = False


@dataclass(frozen=True)
class PanelElement:
    """A coloured area, or a mark such as a number in a circle."""

    box: Box
    fill: str | None
    """The purpose of its colour; None for a bare label."""
    shape: str = "rectangle"
    role: str = "decoration"
    of: str | None = None
    """The role without which it is left out."""
    soften: float = 0.0
    """How far its colour fades into the background, 0 to 1."""
    transparency: float = 0.0
    circle: bool = False
    """Whether it is as wide as high, in the middle of its box."""
    shadow: bool = False
    label: str = ""
    label_size: int = 18
    label_colour: str | None = None


@dataclass(frozen=True)
class PictureElement:
    """A picture that fills its box, cut where it is too long."""

    role: str
    box: Box
    round: bool = False
    sample: str = "Image"
    initials: str | None = None
    """The role whose first letters stand in for a missing picture."""


@dataclass(frozen=True)
class TableElement:
    """A table, written as lines with cells between `|`."""

    role: str
    box: Box
    sample: str


@dataclass(frozen=True)
class ChartElement:
    """A chart, written as lines `label: value`."""

    role: str
    box: Box
    sample: str
    kind: str = "column"


Element: TypeAlias = TextElement | PanelElement | PictureElement | TableElement | ChartElement


@dataclass(frozen=True, kw_only=True)
class RepeatedElement:
    """Elements that come once per item; `{n}` in a role is the item's number, `{letter}` in a label its letter."""

    box: Box
    count: int
    """Items at most."""
    columns: int
    parts: tuple[Element, ...]
    gap: float = 2.0
    """Percent of the slide between cells."""

    def items(self, number: int) -> Iterator[Element]:
        """The elements of so many items, placed on the slide."""
        if number == 0:
            return
        columns = min(self.columns, number)
        rows = -(-number // columns)
        left, top, width, height = self.box
        wide = (width - self.gap * (columns - 1)) / columns
        high = (height - self.gap * (rows - 1)) / rows
        for index in range(number):
            cell = (
                left + (wide + self.gap) * (index % columns),
                top + (high + self.gap) * (index // columns),
                wide,
                high,
            )
            for part in self.parts:
                yield _numbered(part, index + 1, _inside(cell, part.box))


@dataclass(frozen=True, kw_only=True)
class Blueprint:
    """A slide template."""

    id: str
    name: str
    description: str
    kind: str
    """What sort of slide it is, such as `comparison`."""
    background: Background
    elements: tuple[Element | RepeatedElement, ...]
    heading: str = "title"
    """The role that is the slide's title for outlines and screen readers."""

    def laid_out(self, given: Mapping[str, object] | None = None) -> list[Element]:
        """All elements with their places: with every item, or with as many as there is content for."""
        found: list[Element] = []
        for element in self.elements:
            if isinstance(element, RepeatedElement):
                found += element.items(element.count if given is None else _items_given(element, given))
            else:
                found.append(element)
        return found

    def roles(self, kind: type | tuple[type, ...] = (TextElement, TableElement, ChartElement)) -> list[str]:
        """The roles a client may fill, in reading order."""
        return [
            element.role
            for element in self.laid_out()
            if isinstance(element, kind) and not isinstance(element, PanelElement)
        ]


def _items_given(repeat: RepeatedElement, given: Mapping[str, object]) -> int:
    patterns = [part.role for part in repeat.parts if not isinstance(part, PanelElement)]
    return max(
        (n for n in range(1, repeat.count + 1) if any(given.get(role.format(n=n)) for role in patterns)), default=0
    )


def _inside(cell: Box, box: Box) -> Box:
    left, top, width, height = cell
    return left + width * box[0] / 100, top + height * box[1] / 100, width * box[2] / 100, height * box[3] / 100


def _numbered(part: Element, number: int, box: Box) -> Element:
    letter = chr(ord("A") + number - 1)
    if isinstance(part, PanelElement):
        of = part.of.format(n=number) if part.of else None
        return replace(part, box=box, of=of, label=part.label.format(n=number, letter=letter))
    if isinstance(part, PictureElement):
        initials = part.initials.format(n=number) if part.initials else None
        return replace(part, box=box, role=part.role.format(n=number), initials=initials)
    return replace(part, box=box, role=part.role.format(n=number), sample=part.sample.format(n=number, letter=letter))


_ELEMENTS: Mapping[str, Any] = {
    "text": TextElement,
    "panel": PanelElement,
    "picture": PictureElement,
    "grid": TableElement,
    "plot": ChartElement,
    "repeat": RepeatedElement,
}
"""The class of each kind of element in the table."""


@cache
def templates() -> Mapping[str, Blueprint]:
    """All templates, in the order they are listed."""
    return {
        record["id"]: Blueprint(**{**record, "elements": tuple(map(_element, record["elements"]))})
        for record in tables.load("slide_templates")
    }


def template(id: str) -> Blueprint:
    """The template of an id."""
    if id not in templates():
        raise failure(f"Template '{id[:60]}' not found", available_templates=list(templates()))
    return templates()[id]


def _element(record: Record) -> Any:
    values = {key: value for key, value in record.items() if key != "element"}
    values["box"] = tuple(values["box"])
    if "parts" in values:
        values["parts"] = tuple(map(_element, values["parts"]))
    return _ELEMENTS[record["element"]](**values)
