"""Short ways to write down the elements of a page."""

from collections.abc import Iterable, Mapping

from m3bench.tasks.studio.page import Attribute, Element, Page, element


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
