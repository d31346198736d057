"""What the drawings of buildings share: colours, arches, columns, domes and spires, in a frame of 300 × 200 units."""

from m3bench.tasks.render.shapes import line, path, polygon, rect

FOOT = 170.0
STONE, SHADE, DARK, ROOF, GOLD, IRON = "#e2d3b5", "#c4b08c", "#5a4b40", "#a8503c", "#d9a73a", "#7a5c48"
GLASS, PALE, BRICK, GREEN = "#8fb4c8", "#f4f1ea", "#b3694a", "#6fae9c"

Drawing = list[str]


def arches(left: float, right: float, top: float, tall: float, count: int, fill: str = DARK) -> Drawing:
    """A row of round arches."""
    step = (right - left) / count
    wide = step * 0.56
    return [
        path(
            f"M{left + step * n + (step - wide) / 2:.1f} {top + tall:.1f} v{-tall + wide / 2:.1f} a{wide / 2:.1f} {wide / 2:.1f} 0 0 1 {wide:.1f} 0 v{tall - wide / 2:.1f} Z",
            fill,
        )
        for n in range(count)
    ]


def columns(left: float, right: float, top: float, foot: float, count: int, fill: str = PALE) -> Drawing:
    """A row of columns."""
    step = (right - left) / count
    return [rect(left + step * (n + 0.25), top, step * 0.5, foot - top, fill) for n in range(count)]


def dome(x: float, foot: float, radius: float, fill: str, tip: str = GOLD) -> Drawing:
    """A dome with a tip."""
    bulb = f"M{x - radius} {foot} C{x - radius * 1.5} {foot - radius * 1.1} {x - radius * 0.4} {foot - radius * 1.5} {x} {foot - radius * 2.1} C{x + radius * 0.4} {foot - radius * 1.5} {x + radius * 1.5} {foot - radius * 1.1} {x + radius} {foot} Z"
    return [path(bulb, fill), line(x, foot - radius * 2.1, x, foot - radius * 2.7, tip, 2)]


def spire(x: float, wide: float, top: float, shoulder: float, wall: str = STONE, roof: str = DARK) -> Drawing:
    """A square tower with a pointed roof."""
    return [
        rect(x - wide / 2, shoulder, wide, FOOT - shoulder, wall),
        rect(x, shoulder, wide / 2, FOOT - shoulder, "#000000", 0, 'opacity="0.1"'),
        polygon([(x - wide / 2 - 2, shoulder), (x, top), (x + wide / 2 + 2, shoulder)], roof),
    ]
