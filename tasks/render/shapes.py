"""Short functions for SVG: the fragments that drawings are made of."""

from collections.abc import Iterable


def rect(x: float, y: float, width: float, height: float, fill: str, radius: float = 0, more: str = "") -> str:
    """A rectangle, its corners rounded by `radius`."""
    return f'<rect x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="{height:.1f}" rx="{radius:.1f}" fill="{fill}" {more}/>'


def ellipse(x: float, y: float, across: float, down: float, fill: str, more: str = "") -> str:
    """An ellipse about `(x, y)` with its two radii."""
    return f'<ellipse cx="{x:.1f}" cy="{y:.1f}" rx="{across:.1f}" ry="{down:.1f}" fill="{fill}" {more}/>'


def polygon(points: Iterable[tuple[float, float]], fill: str, more: str = "") -> str:
    """A closed shape."""
    return f'<polygon points="{" ".join(f"{x:.1f},{y:.1f}" for x, y in points)}" fill="{fill}" {more}/>'


def line(x1: float, y1: float, x2: float, y2: float, stroke: str, width: float = 2, more: str = "") -> str:
    """A straight line."""
    return f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" stroke="{stroke}" stroke-width="{width:.1f}" {more}/>'


def path(d: str, fill: str = "none", more: str = "") -> str:
    """Any shape."""
    return f'<path d="{d}" fill="{fill}" {more}/>'


def fade(id: str, *colours: str, across: bool = False) -> str:
    """A gradient from top to bottom (or left to right), to be used as `url(#id)`; ids are unique in a picture."""
    end = 'x2="1" y2="0"' if across else 'x2="0" y2="1"'
    stops = "".join(
        f'<stop offset="{number / max(1, len(colours) - 1):.3f}" stop-color="{colour}"/>'
        for number, colour in enumerate(colours)
    )
    return f'<defs><linearGradient id="{id}" x1="0" y1="0" {end}>{stops}</linearGradient></defs>'


def mix(one: str, other: str, share: float) -> str:
    """A colour between two others, written `#rrggbb`."""
    first, second = (bytes.fromhex(colour.removeprefix("#")) for colour in (one, other))
    return "#" + bytes(round(a + (z - a) * share) for a, z in zip(first, second, strict=True)).hex()


def on(colour: str) -> str:
    """A colour to write with on another: dark on light, light on dark."""
    red, green, blue = bytes.fromhex(colour.removeprefix("#"))
    return "#22262e" if red * 0.3 + green * 0.59 + blue * 0.11 > 140 else "#fdfbf5"
