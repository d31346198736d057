"""Backgrounds for pictures: outdoors, rooms, tables, walls and sheets of paper, each varied by the random numbers it is given."""

import random
from itertools import pairwise

from m3bench.tasks.render.canvas import Canvas
from m3bench.tasks.render.shapes import ellipse, fade, line, mix, path, polygon, rect
from m3bench.tasks.scene import Box

_SKIES = (
    ("#8ec9ef", "#e6f4fb"),
    ("#6fb1e4", "#d7ecf7"),
    ("#f3b98a", "#fde7cc"),
    ("#a9b9c9", "#e8edf1"),
    ("#7fc4d8", "#f7f0d8"),
)
_LANDS = {
    "meadow": ("#a8cf7a", "#6d9f4c", "#8fb98a"),
    "savanna": ("#e3cb8a", "#c3a25c", "#c9b483"),
    "forest": ("#8bb06c", "#53763f", "#5f8560"),
    "snow": ("#f2f7fa", "#d4e2ea", "#b9cbd8"),
    "sand": ("#f2e2b8", "#dcc389", "#d6c29a"),
    "site": ("#d9c7ae", "#b59a78", "#a9a59c"),
}
_WOODS = ("#b98a5e", "#8d633f", "#c9a376", "#75543a", "#a97f5b")
_WALLS = ("#e9e2d4", "#d7e0e4", "#e6d9cf", "#dfe5d6", "#d9d6e4", "#efe7d2")


def outdoors(canvas: Canvas, rng: random.Random, land: str = "meadow", horizon: float | None = None) -> float:
    """Sky, hills and ground; returns the height of the horizon in pixels."""
    width, height = canvas.width, canvas.height
    level = height * (horizon if horizon is not None else rng.uniform(0.34, 0.46))
    near, far, hill = _LANDS[land]
    top, low = rng.choice(_SKIES)
    canvas.draw(fade("sky", top, low), rect(0, 0, width, level + 2, "url(#sky)"))
    canvas.draw(
        ellipse(width * rng.uniform(0.12, 0.88), level * rng.uniform(0.2, 0.5), 46, 46, "#fff6d8", 'opacity="0.9"')
    )
    for _ in range(rng.randint(2, 4)):
        _cloud(canvas, rng, width * rng.random(), level * rng.uniform(0.12, 0.55), rng.uniform(0.6, 1.2))
    for layer, share in enumerate((0.55, 0.25)):
        canvas.draw(_ridge(rng, width, level, level * (0.42 - 0.16 * layer), mix(hill, low, share)))
    canvas.draw(fade("land", near, far), rect(0, level, width, height - level, "url(#land)"))
    for _ in range(26):
        x, y = rng.uniform(0, width), level + (height - level) * rng.random() ** 0.7
        size = 4 + 10 * (y - level) / (height - level)
        canvas.draw(ellipse(x, y, size * 3, size * 0.5, mix(far, "#ffffff", 0.22), 'opacity="0.35"'))
    return level


def water(canvas: Canvas, rng: random.Random, horizon: float = 0.35) -> float:
    """Sky over open water; returns the height of the horizon in pixels."""
    width, height = canvas.width, canvas.height
    level = height * horizon
    top, low = rng.choice(_SKIES)
    canvas.draw(fade("sky", top, low), rect(0, 0, width, level + 2, "url(#sky)"))
    for _ in range(rng.randint(2, 4)):
        _cloud(canvas, rng, width * rng.random(), level * rng.uniform(0.15, 0.6), rng.uniform(0.6, 1.1))
    canvas.draw(_ridge(rng, width, level, level * 0.16, mix("#6d8f8a", low, 0.45)))
    canvas.draw(fade("sea", "#8fc3d4", "#3f7f9c"), rect(0, level, width, height - level, "url(#sea)"))
    for _ in range(40):
        x, y = rng.uniform(0, width), level + (height - level) * rng.random()
        long = 20 + 60 * (y - level) / (height - level)
        canvas.draw(line(x, y, x + long, y, "#ffffff", 2, 'opacity="0.35" stroke-linecap="round"'))
    return level


def room(canvas: Canvas, rng: random.Random, floor: float = 0.68) -> float:
    """A wall with a skirting board and a floor; returns where the floor begins, in pixels."""
    width, height = canvas.width, canvas.height
    level = height * floor
    wall, wood = rng.choice(_WALLS), rng.choice(_WOODS)
    canvas.draw(fade("wall", mix(wall, "#ffffff", 0.35), wall), rect(0, 0, width, level, "url(#wall)"))
    canvas.draw(fade("floor", mix(wood, "#ffffff", 0.3), wood), rect(0, level, width, height - level, "url(#floor)"))
    for number in range(1, 12):
        x = width * number / 12
        canvas.draw(
            line(x, level, width / 2 + (x - width / 2) * 1.7, height, mix(wood, "#000000", 0.18), 2, 'opacity="0.6"')
        )
    canvas.draw(rect(0, level - 16, width, 16, mix(wall, "#ffffff", 0.6)), line(0, level, width, level, "#00000033", 2))
    return level


def table(canvas: Canvas, rng: random.Random) -> None:
    """The top of a wooden table, seen from above."""
    width, height = canvas.width, canvas.height
    wood = rng.choice(_WOODS)
    canvas.draw(rect(0, 0, width, height, mix(wood, "#ffffff", 0.18)))
    plank = height / rng.choice((4, 5, 6))
    for number in range(8):
        y = number * plank
        canvas.draw(rect(0, y, width, plank - 3, mix(wood, "#ffffff", rng.uniform(0.12, 0.3))))
        for _ in range(4):
            level, bend = y + plank * rng.uniform(0.15, 0.85), rng.uniform(-10, 10)
            canvas.draw(
                path(
                    f"M0 {level:.0f} C{width * 0.3:.0f} {level + bend:.0f} {width * 0.7:.0f} {level - bend:.0f} {width} {level:.0f}",
                    more=f'stroke="{mix(wood, "#000000", 0.2)}" stroke-width="2" opacity="0.35"',
                )
            )


def shelves(canvas: Canvas, rng: random.Random, boards: int) -> list[float]:
    """A rack with boards; returns the height of each board's upper edge, from above."""
    width, height = canvas.width, canvas.height
    back = rng.choice(("#e8edf0", "#f0eadf", "#e3e8e0", "#ece6ee"))
    metal = rng.choice(("#9aa4ad", "#b08c62", "#7d8791"))
    canvas.draw(
        fade("rack", mix(back, "#ffffff", 0.4), mix(back, "#8a8f96", 0.25)), rect(0, 0, width, height, "url(#rack)")
    )
    edges = []
    for number in range(1, boards + 1):
        y = height * number / boards - 26
        canvas.draw(
            rect(0, y, width, 20, metal),
            rect(0, y, width, 5, mix(metal, "#ffffff", 0.45)),
            rect(0, y + 20, width, 14, "#00000022"),
        )
        edges.append(y)
    canvas.draw(
        rect(0, 0, 16, height, mix(metal, "#000000", 0.15)),
        rect(width - 16, 0, 16, height, mix(metal, "#000000", 0.15)),
    )
    return edges


def paper(canvas: Canvas, rng: random.Random, box: tuple[float, float, float, float], fill: str = "#fdfcf7") -> None:
    """A sheet with a shadow, lying on what is there."""
    left, top, right, bottom = box
    canvas.draw(
        rect(left + 8, top + 10, right - left, bottom - top, "#00000030", 6),
        rect(left, top, right - left, bottom - top, fill, 4),
        polygon([(right - 46, bottom), (right, bottom - 46), (right, bottom)], mix(fill, "#8a8577", 0.28))
        if rng.random() < 0.5
        else "",
    )


def _cloud(canvas: Canvas, rng: random.Random, x: float, y: float, scale: float) -> None:
    for number in range(4):
        canvas.draw(
            ellipse(
                x + (number - 1.5) * 38 * scale, y + rng.uniform(-8, 8) * scale, 44 * scale, 22 * scale, "#ffffff",
                'opacity="0.8"',
            )
        )  # fmt: skip


def _ridge(rng: random.Random, width: float, base: float, tall: float, fill: str) -> str:
    points, x = [(0.0, base)], 0.0
    while x < width:
        points.append((x, base - tall * rng.uniform(0.35, 1.0)))
        x += width * rng.uniform(0.08, 0.16)
    points += [(width, base - tall * 0.5), (width, base)]
    d = f"M0 {base:.0f} L{points[1][0]:.0f} {points[1][1]:.0f} "
    for (x1, y1), (x2, y2) in pairwise(points[1:-1]):
        middle = (x1 + x2) / 2
        d += f"C{middle:.0f} {y1:.0f} {middle:.0f} {y2:.0f} {x2:.0f} {y2:.0f} "
    return path(f"{d}L{width:.0f} {base:.0f} Z", fill)


_TABLE_WOODS = ("#9c7350", "#7c5a3e", "#b89468", "#6a655e", "#8f7a66", "#c2a987")
_PAPERS = ("#fbfaf4", "#f7f3e8", "#fcfcfa", "#f4f5f2")


def tabletop(canvas: Canvas, rng: random.Random) -> None:
    """Planks from edge to edge, with grain and here and there a stain."""
    wood = rng.choice(_TABLE_WOODS)
    width, height, plank = canvas.width, canvas.height, rng.uniform(120, 190)
    dark = mix(wood, "#000000", 0.3)
    canvas.draw(rect(0, 0, width, height, wood))
    top = -rng.uniform(0, plank)
    while top < height:
        shade = mix(wood, rng.choice(("#ffffff", "#000000")), rng.uniform(0, 0.1))
        canvas.draw(rect(0, top, width, plank, shade), line(0, top, width, top, dark, 3, 'opacity="0.7"'))
        for _ in range(7):
            y, bend = top + plank * rng.uniform(0.08, 0.92), rng.uniform(-9, 9)
            canvas.draw(
                path(
                    f"M0 {y:.0f} q{width / 4:.0f} {bend:.0f} {width / 2:.0f} 0 t{width / 2:.0f} 0",
                    more=f'stroke="{dark}" stroke-width="2" opacity="0.2"',
                )
            )
        top += plank
    for _ in range(2):
        x, y, size = rng.uniform(0, width), rng.uniform(0, height), rng.uniform(34, 60)
        canvas.draw(ellipse(x, y, size, size, "none", f'stroke="{dark}" stroke-width="6" opacity="0.22"'))


def folded_paper(canvas: Canvas, rng: random.Random, box: Box) -> str:
    """A sheet that was folded once each way; returns its colour."""
    left, top, right, bottom = box
    colour, crease = rng.choice(_PAPERS), "#8d8a80"
    canvas.draw(
        rect(left + 8, top + 11, right - left, bottom - top, "#00000042", 3),
        rect(left, top, right - left, bottom - top, colour, 2),
    )
    across, down = (left + right) / 2 + rng.uniform(-8, 8), (top + bottom) / 2 + rng.uniform(-8, 8)
    canvas.draw(
        polygon([(left, top), (across, top), (across, bottom), (left, bottom)], "#000000", 'opacity="0.025"'),
        line(across, top, across, bottom, crease, 2, 'opacity="0.3"'),
        line(left, down, right, down, crease, 2, 'opacity="0.3"'),
    )
    return colour
