"""A page: a flat list of named shapes and lines of text, and its form as an SVG file.

A page is a small part of SVG: no groups, no styles, no links to other files, so that what comes from an agent is safe
to read and everything in a page can be changed by name. `read` refuses anything else with a sentence that says what a
page may have. A page is written in one way only: the same page is the same bytes. Reports and decks have several
sheets of one size, one below the other in the same page, so that positions mean the same for all of them. A new kind of
artefact is one function that makes pages of a file, and a line in `FORMS`.
"""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from hashlib import sha256
from html import escape
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from m3bench.tasks.drawing.fonts import FAMILY, WEIGHTS
from m3bench.tasks.lazy_modules import LazyModule

if TYPE_CHECKING:
    from lxml import etree
else:
    etree = LazyModule("lxml.etree")

Attribute = str | float

_PAINT = ("fill", "stroke", "stroke-width", "stroke-linecap", "stroke-linejoin", "stroke-dasharray", "opacity")
KINDS: Mapping[str, tuple[str, ...]] = {
    "rect": ("x", "y", "width", "height", "rx"),
    "circle": ("cx", "cy", "r"),
    "line": ("x1", "y1", "x2", "y2"),
    "polygon": ("points",),
    "path": ("d", "transform"),
    "text": ("x", "y", "font-size", "font-weight", "text-anchor"),
}
"""What there is on a page, each with the attributes of its own."""
NUMBERS = frozenset(
    {"x", "y", "width", "height", "rx", "cx", "cy", "r", "x1", "y1", "x2", "y2", "font-size", "stroke-width", "opacity"}
)
ANCHORS = ("start", "middle", "end")

MOST_ELEMENTS = 400
LONGEST_TEXT = 400
LARGEST = 4000.0
"""Pixels that a page may be wide or high."""
MOST_SHEETS = 12

_NAME = re.compile(r"[A-Za-z][\w.-]{0,39}")
_PLAIN = re.compile(r"[\w#(),. %+-]{0,4000}")
"""What a value may have that is not a number: colours, points, outlines, moves. No address can be written with it."""
_NEEDED = {
    "rect": ("width", "height"),
    "circle": ("r",),
    "path": ("d",),
    "polygon": ("points",),
    "text": ("font-size",),
}


class PageError(Exception):
    """Something is not a page, or cannot be part of one; the message says why."""


@dataclass(frozen=True, kw_only=True)
class Element:
    """One thing on a page."""

    name: str
    """Its id."""
    kind: str
    """One of `KINDS`."""
    attributes: Mapping[str, Attribute] = field(default_factory=dict)
    text: str = ""
    """What is written; only for texts."""

    def number(self, name: str, otherwise: float = 0.0) -> float:
        """An attribute that is a number."""
        found = self.attributes.get(name, otherwise)
        return float(found)

    def changed(self, attributes: Mapping[str, Attribute | None], text: str | None = None) -> "Element":
        """The element with some attributes set, or taken away where they are None.

        Raises:
            PageError: It cannot have them.
        """
        new = {**self.attributes, **attributes}
        given = {name: value for name, value in new.items() if value is not None}
        return element(self.kind, self.name, given, self.text if text is None else text)

    def moved(self, dx: float, dy: float) -> "Element":
        """The element somewhere else."""
        match self.kind:
            case "path":
                before = f" {self.attributes['transform']}" if "transform" in self.attributes else ""
                return self.changed({"transform": f"translate({_plain(dx)} {_plain(dy)}){before}"})
            case "polygon":
                points = (f"{_plain(x + dx)},{_plain(y + dy)}" for x, y in points_of(self))
                return self.changed({"points": " ".join(points)})
        across, down = _PLACES[self.kind]
        moves = {**dict.fromkeys(across, dx), **dict.fromkeys(down, dy)}
        return self.changed({name: round(self.number(name) + by, 3) for name, by in moves.items()})

    def digest(self, free: Iterable[str] = ()) -> str:
        """The same for the same element, whatever order its attributes were given in.

        Args:
            free: Attributes that do not count; `text` is what is written.
        """
        loose = set(free)
        kept = {name: value for name, value in self.attributes.items() if name not in loose}
        bare = replace(self, attributes=kept, text="" if "text" in loose else self.text)
        return sha256(_markup(bare).encode()).hexdigest()[:12]


_PLACES: Mapping[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "rect": (("x",), ("y",)),
    "circle": (("cx",), ("cy",)),
    "line": (("x1", "x2"), ("y1", "y2")),
    "text": (("x",), ("y",)),
}


@dataclass(frozen=True, kw_only=True)
class Page:
    """What is on a sheet, from the back to the front."""

    width: float
    height: float
    """Of all sheets together."""
    elements: tuple[Element, ...] = ()
    sheets: int = 1
    """How many there are, one below the other, all equally high."""

    def __getitem__(self, name: str) -> Element:
        for element in self.elements:
            if element.name == name:
                return element
        raise KeyError(name)

    def __contains__(self, name: object) -> bool:
        return any(element.name == name for element in self.elements)

    def with_element(self, new: Element) -> "Page":
        """The page with an element in the place of the one of its name, or in front of all others."""
        if new.name in self:
            return replace(
                self, elements=tuple(new if element.name == new.name else element for element in self.elements)
            )
        if len(self.elements) >= MOST_ELEMENTS:
            raise PageError(f"a page has {MOST_ELEMENTS} elements at most")
        return replace(self, elements=(*self.elements, new))

    def without(self, names: Iterable[str]) -> "Page":
        """The page without some elements."""
        gone = set(names)
        return replace(self, elements=tuple(element for element in self.elements if element.name not in gone))

    def sheet(self, number: int) -> "Page":
        """One of its sheets alone, with everything that is on the page: what is on other sheets lies outside."""
        high = self.height / self.sheets
        moved = (
            tuple(element.moved(0, -high * (number - 1)) for element in self.elements) if number > 1 else self.elements
        )
        return Page(width=self.width, height=high, elements=moved)

    def svg(self) -> str:
        """The page as a file."""
        size = f'width="{_plain(self.width)}" height="{_plain(self.height)}"'
        if self.sheets > 1:
            size += f' data-sheets="{self.sheets}"'
        box = f'viewBox="0 0 {_plain(self.width)} {_plain(self.height)}"'
        head = f'<svg xmlns="http://www.w3.org/2000/svg" {size} {box} font-family="{FAMILY}">'
        return "\n".join((head, *map(_markup, self.elements), "</svg>", ""))

    @property
    def digest(self) -> str:
        """The same for the same page."""
        return sha256(self.svg().encode()).hexdigest()[:8]


def element(kind: str, name: str, attributes: Mapping[str, Attribute], text: str = "") -> Element:
    """An element, checked.

    Raises:
        PageError: There is no such element, or it cannot have these attributes.
    """
    if kind not in KINDS:
        raise PageError(f"there is no kind {kind!r}: use {', '.join(KINDS)}")
    if not _NAME.fullmatch(name):
        raise PageError(f"{name[:60]!r} is no name: use a letter, then letters, digits, dots and dashes, 40 at most")
    found: dict[str, Attribute] = {}
    for key in (*KINDS[kind], *_PAINT):
        if key in attributes:
            found[key] = _value(key, attributes[key])
    if unknown := [key for key in attributes if key not in found]:
        raise PageError(f"a {kind} has no {unknown[0]!r}: it has {', '.join((*KINDS[kind], *_PAINT))}")
    if missing := [key for key in _NEEDED.get(kind, ()) if key not in found]:
        raise PageError(f"a {kind} needs {missing[0]!r}")
    if kind == "polygon":
        _points(str(found["points"]))
    words = " ".join(text.split())
    if words and kind != "text":
        raise PageError(f"a {kind} has no text")
    if len(words) > LONGEST_TEXT or any(ord(letter) < 32 for letter in words):
        raise PageError(f"a text has {LONGEST_TEXT} letters at most, and no control characters")
    return Element(name=name, kind=kind, attributes=found, text=words)


def read(data: bytes) -> Page:
    """The page in a file.

    Raises:
        PageError: It is not a page.
    """
    try:
        parser = etree.XMLParser(resolve_entities=False, no_network=True, load_dtd=False, remove_comments=True)
        root = etree.fromstring(data, parser)
    except (etree.XMLSyntaxError, ValueError) as error:
        raise PageError("it is no SVG page") from error
    if etree.QName(root).localname != "svg":
        raise PageError("it is no SVG page")
    wide, high = (_value("width", root.get(side, "")) for side in ("width", "height"))
    assert isinstance(wide, float)
    assert isinstance(high, float)
    if min(wide, high) < 1:
        raise PageError("it has no size")
    sheets = root.get("data-sheets", "1")
    if not sheets.isdecimal() or not 1 <= int(sheets) <= MOST_SHEETS:
        raise PageError(f"it has one sheet or up to {MOST_SHEETS}")
    page = Page(width=wide, height=high, sheets=int(sheets))
    for number, node in enumerate(root):
        if not isinstance(node.tag, str):
            raise PageError("it has something else than elements in it")
        if len(node):
            raise PageError(f"its element {node.get('id') or number + 1} has others in it: a page is flat")
        given = {str(key): str(value) for key, value in node.attrib.items() if key != "id"}
        new = element(etree.QName(node).localname, node.get("id", f"e{number + 1}"), given, node.text or "")
        if new.name in page:
            raise PageError(f"two elements are called {new.name!r}")
        page = page.with_element(new)
    return page


def points_of(polygon: Element) -> list[tuple[float, float]]:
    """The corners of a polygon."""
    return _points(str(polygon.attributes["points"]))


def _points(text: str) -> list[tuple[float, float]]:
    numbers = re.findall(r"-?\d+(?:\.\d+)?", text)
    if len(numbers) < 6 or len(numbers) % 2:
        raise PageError("a polygon needs three points or more, such as 10,10 90,10 50,80")
    values = [float(number) for number in numbers]
    return list(zip(values[::2], values[1::2], strict=True))


def _value(name: str, given: object) -> Attribute:
    if name == "font-weight":
        named = {"normal": "400", "bold": "700"}.get(str(given), str(given).removesuffix(".0"))
        if named not in map(str, WEIGHTS):
            raise PageError(f"font-weight is one of {', '.join(map(str, WEIGHTS))}")
        return float(named)
    if name == "text-anchor" and given not in ANCHORS:
        raise PageError(f"text-anchor is one of {', '.join(ANCHORS)}")
    if name in NUMBERS:
        try:
            number = float(str(given).removesuffix("px"))
        except ValueError:
            raise PageError(f"{name} is a number, not {str(given)[:40]!r}") from None
        if not -LARGEST <= number <= LARGEST:
            raise PageError(f"{name} lies between {-LARGEST:g} and {LARGEST:g}")
        return round(number, 3)
    text = " ".join(str(given).split())
    if not _PLAIN.fullmatch(text) or "url" in text.casefold():
        raise PageError(f"{name} has letters, digits and # ( ) , . % + - alone, and no address")
    return text


def _markup(one: Element) -> str:
    listed = "".join(f' {name}="{_shown(one.attributes[name])}"' for name in _order(one))
    return f'<{one.kind} id="{one.name}"{listed}>{escape(one.text, quote=False)}</{one.kind}>' if one.text else (
        f'<{one.kind} id="{one.name}"{listed}/>'
    )  # fmt: skip


def described(one: Element) -> str:
    """An element in a line for clients."""
    listed = " ".join(f"{name}={_shown(one.attributes[name])!s}" for name in _order(one))
    return f"{one.name} ({one.kind}) {listed}" + (f" “{one.text}”" if one.kind == "text" else "")


def _order(one: Element) -> list[str]:
    return [name for name in (*KINDS[one.kind], *_PAINT) if name in one.attributes]


def _shown(value: Attribute) -> str:
    return value if isinstance(value, str) else _plain(value)


def _plain(number: float) -> str:
    return f"{number:.3f}".rstrip("0").rstrip(".") if number % 1 else str(int(number))


def page_of(width: float, height: float, *parts: Element | Iterable[Element], sheets: int = 1) -> Page:
    """A page of elements and rows of elements."""
    found: list[Element] = []
    for part in parts:
        found += [part] if isinstance(part, Element) else part
    return Page(width=width, height=height, elements=tuple(found), sheets=sheets)


def box(name: str, x: float, y: float, width: float, height: float, fill: str, **more: Attribute) -> Element:
    """A rectangle."""
    return element("rect", name, {"x": x, "y": y, "width": width, "height": height, "fill": fill, **_dashed(more)})


def text(name: str, x: float, y: float, size: float, words: str, fill: str, **more: Attribute) -> Element:
    """A line of writing, the foot of its letters at `y`."""
    return element("text", name, {"x": x, "y": y, "font-size": size, "fill": fill, **_dashed(more)}, words)


def line(name: str, x1: float, y1: float, x2: float, y2: float, stroke: str, **more: Attribute) -> Element:
    """A straight line."""
    return element("line", name, {"x1": x1, "y1": y1, "x2": x2, "y2": y2, "stroke": stroke, **_dashed(more)})


def _dashed(more: Mapping[str, Attribute]) -> dict[str, Attribute]:
    return {name.replace("_", "-"): value for name, value in more.items()}


FORMS: Mapping[str, Callable[[bytes], Sequence[Page]]] = {
    ".svg": lambda data: (read(data),),
}
"""Functions that make pages of a file and raise `PageError` when it is not one of theirs."""


def pages(name: str, data: bytes) -> Sequence[Page]:
    """The pages of a file.

    Raises:
        PageError: It has none, or is of a kind that cannot be shown.
    """
    form = PurePosixPath(name).suffix.casefold()
    if form not in FORMS:
        raise PageError(f"a {form or 'file without an ending'} cannot be shown: only {', '.join(FORMS)} can")
    return FORMS[form](data)
