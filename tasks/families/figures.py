"""Small figures of pages, which say by their looks alone what they are: their parts have numbers for names."""

import math
from collections.abc import Callable, Mapping
from itertools import pairwise

from m3bench.tasks.studio.page import Attribute, Element, element
from m3bench.tasks.studio.shapes import box, line


def _columns(name: str, x: float, y: float, ink: str, accent: str) -> list[Element]:
    heights = (38, 52, 47, 70, 84, 96)
    bars = [
        box(f"{name}-part-{number}", x + 26 + 35 * number, y + 116 - high, 24, high, accent)
        for number, high in enumerate(heights)
    ]
    return [*bars, line(f"{name}-part-6", x + 16, y + 116, x + 240, y + 116, ink, stroke_width=2)]


def _curve(name: str, x: float, y: float, ink: str, accent: str) -> list[Element]:
    heights = (30, 44, 34, 58, 50, 76, 66, 98)
    points = [(x + 26 + 29 * number, y + 116 - high) for number, high in enumerate(heights)]
    outline = "M " + " L ".join(f"{left:g} {top:g}" for left, top in points)
    drawn: dict[str, Attribute] = {
        "d": outline,
        "fill": "none",
        "stroke": accent,
        "stroke-width": 4,
        "stroke-linejoin": "round",
    }
    dots = [
        element("circle", f"{name}-part-{number}", {"cx": left, "cy": top, "r": 4, "fill": ink})
        for number, (left, top) in enumerate(points, 1)
    ]
    axis = line(f"{name}-part-9", x + 16, y + 116, x + 240, y + 116, ink, stroke_width=2)
    return [element("path", f"{name}-part-0", drawn), *dots, axis]


def _pie(name: str, x: float, y: float, ink: str, accent: str) -> list[Element]:
    middle, radius = (x + 128, y + 66), 52.0
    cuts, found = (0.0, 0.42, 0.7, 0.88, 1.0), []
    for number, (start, end) in enumerate(pairwise(cuts)):
        (x1, y1), (x2, y2) = (
            (middle[0] + radius * math.sin(math.tau * share), middle[1] - radius * math.cos(math.tau * share))
            for share in (start, end)
        )
        outline = f"M {middle[0]:g} {middle[1]:g} L {x1:.1f} {y1:.1f} A {radius:g} {radius:g} 0 0 1 {x2:.1f} {y2:.1f} Z"
        paint = (accent, ink, "#a9adb5", "#d7d9de")[number]
        found.append(element("path", f"{name}-part-{number}", {"d": outline, "fill": paint, "stroke": "#ffffff"}))
    return found


FIGURES: Mapping[str, Callable[[str, float, float, str, str], list[Element]]] = {
    "columns": _columns,
    "curve": _curve,
    "pie": _pie,
}
"""By the way that a figure is drawn: given a name, a corner and two colours, its parts on 256 by 132 pixels."""
