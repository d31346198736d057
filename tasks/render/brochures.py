"""Folded brochures of parks on a rack: a dark band with the park's name above a small landscape."""

import random
from collections.abc import Callable, Sequence

from m3bench.tasks.render.canvas import Canvas
from m3bench.tasks.render.drawings import SymbolDrawing, sheet
from m3bench.tasks.render.shapes import ellipse, fade, mix, path, polygon, rect
from m3bench.tasks.scene import Box

COLUMNS = 4
_WIDE, _TALL, _BAND = 296.0, 214.0, 64.0
_LETTERS, _SMALLEST, _HALVED = 30.0, 22.0, 26.0
"""Sizes of a name: as a rule, at least on one line, and on two lines."""
_SKIES = (("#7fb8e0", "#e6f2f8"), ("#f0ae7c", "#fbe6cc"), ("#8fb0cf", "#f3e6dc"), ("#6aa7cf", "#dcefe9"))


def rack(
    canvas: Canvas, rng: random.Random, parks: Sequence[tuple[str, str, str]], codes: Sequence[str] = ()
) -> list[Box]:
    """Brochures in rows of four, on a canvas of 1400 pixels' width; returns their boxes.

    Args:
        canvas: Where.
        rng: Chooses light and shapes.
        parks: Name, kind of park, and landscape of each.
        codes: Of the parks, each of which then looks like itself and not like any park of its landscape.
    """
    wood = rng.choice(("#8d633f", "#75543a", "#a97f5b", "#6d7680"))
    rows = (len(parks) + COLUMNS - 1) // COLUMNS
    canvas.draw(rect(0, 0, canvas.width, canvas.height, mix(wood, "#ffffff", 0.55)))
    boxes = []
    sceneries: list[SymbolDrawing | None] = [sheet("parks")[code] for code in codes] or [None] * len(parks)
    for number, ((name, kind, landscape), scenery) in enumerate(zip(parks, sceneries, strict=True)):
        row = number // COLUMNS
        left = 62 + number % COLUMNS * 327 + rng.uniform(-7, 7)
        top = 36 + row * (canvas.height - 44) / rows + rng.uniform(-3, 3)
        if number % COLUMNS == 0:
            foot = 36 + row * (canvas.height - 44) / rows + _TALL - 14
            canvas.draw(
                rect(0, foot, canvas.width, 40, wood),
                rect(0, foot, canvas.width, 6, mix(wood, "#ffffff", 0.35)),
                rect(0, foot + 40, canvas.width, 8, "#00000030"),
            )
        boxes.append(_brochure(canvas, rng, (left, top), name, kind, landscape, scenery))
    return boxes


def _brochure(
    canvas: Canvas,
    rng: random.Random,
    corner: tuple[float, float],
    name: str,
    kind: str,
    landscape: str,
    scenery: SymbolDrawing | None,
) -> Box:
    sky, low = rng.choice(_SKIES)
    left, top = corner
    key = f"sky{round(left)}-{round(top)}"
    sun = left + _WIDE * rng.uniform(0.12, 0.88)
    # Composed in any case: what a family chooses afterwards does not depend on which parks have a drawing.
    drawn = _LANDSCAPES[landscape](rng, left, top + _BAND, _TALL - _BAND, low)
    fits = canvas.art.width(name, _SMALLEST, "sans bold") < _WIDE - 28
    lines = [name] if scenery is None or fits else canvas.lines(name, _WIDE - 28, _HALVED, "sans bold")
    size = _LETTERS if len(lines) == 1 else _HALVED
    band = _BAND + (len(lines) - 1) * size
    x, y, tall = left, top + band, _TALL - band
    if scenery is not None:
        drawn = scenery.fitted(x, y, _WIDE, tall)
    canvas.draw(
        rect(left + 6, top + 7, _WIDE, _TALL, "#00000045", 3),
        fade(key, sky, low),
        rect(x, y, _WIDE, tall, f"url(#{key})"),
        ellipse(sun, y + 34, 15, 15, "#fff4cf", 'opacity="0.9"'),
        *drawn,
        rect(left, top, _WIDE, band, "#191a1c", 3),
        rect(left, top, _WIDE, _TALL, "none", 3, 'stroke="#00000038" stroke-width="2"'),
    )
    for number, text in enumerate(lines):
        canvas.text(text, x + 14, top + 34 + number * size, size, face="sans bold", fill="#ffffff", width=_WIDE - 28)
    canvas.text(kind, x + 14, top + band - 8, 18, fill="#e2e2de", width=_WIDE - 28)
    return (round(left), round(top), round(left + _WIDE), round(top + _TALL))


def _peaks(rng: random.Random, x: float, y: float, tall: float, haze: str) -> list[str]:
    drawn = []
    for share, high in ((0.18, 0.5), (0.78, 0.58), (0.46, 0.78)):
        middle, top, half = x + _WIDE * (share + rng.uniform(-0.05, 0.05)), y + tall * (1 - high), 78.0
        left, right = max(x, middle - half), min(x + _WIDE, middle + half)
        foot, stone = y + tall * 0.84, mix("#5d7186", haze, 0.2)
        drawn += [
            polygon([(left, foot), (middle, top), (right, foot)], stone),
            polygon(
                [(middle - half * 0.27, top + (foot - top) * 0.27), (middle, top), (middle + half * 0.27, top + (foot - top) * 0.27), (middle + 6, top + 22)],
                "#f6f9fb",
            ),
        ]  # fmt: skip
    return [*drawn, rect(x, y + tall * 0.8, _WIDE, tall * 0.2, "#7da35e"), *_trees(rng, x, y + tall * 0.92, 5)]


def _canyon(rng: random.Random, x: float, y: float, tall: float, haze: str) -> list[str]:
    drawn = []
    for number, (share, wide) in enumerate(((0.06, 0.4), (0.56, 0.4), (0.3, 0.3))):
        left, right = x + _WIDE * share, x + _WIDE * min(1.0, share + wide)
        top, foot = y + tall * (0.32 + 0.1 * number + rng.uniform(-0.04, 0.04)), y + tall * 0.86
        rock = mix("#b4562f", haze, 0.25 - 0.1 * number)
        drawn.append(polygon([(left, foot), (left + 14, top), (right - 14, top), (right, foot)], rock))
        for band in (0.3, 0.6):
            drawn.append(rect(left + 8, top + (foot - top) * band, right - left - 16, 6, mix(rock, "#ffffff", 0.3)))
    return [*drawn, rect(x, y + tall * 0.84, _WIDE, tall * 0.16, "#cf8f5c")]


def _desert(rng: random.Random, x: float, y: float, tall: float, haze: str) -> list[str]:
    level = y + tall * 0.58
    drawn = [
        path(f"M{x:.0f} {level + 12:.0f} Q{x + 80:.0f} {level - 34:.0f} {x + 160:.0f} {level + 8:.0f} T{x + _WIDE:.0f} {level:.0f} V{y + tall:.0f} H{x:.0f} Z", mix("#d9b06c", haze, 0.2)),
        path(f"M{x:.0f} {level + 46:.0f} Q{x + 110:.0f} {level + 10:.0f} {x + 200:.0f} {level + 40:.0f} T{x + _WIDE:.0f} {level + 34:.0f} V{y + tall:.0f} H{x:.0f} Z", "#e5c485"),
    ]  # fmt: skip
    for share in (rng.uniform(0.15, 0.35), rng.uniform(0.6, 0.82)):
        stem, foot = x + _WIDE * share, y + tall * 0.94
        green = "#4f7d4a"
        drawn += [
            rect(stem - 6, foot - 62, 12, 62, green, 6),
            rect(stem - 24, foot - 44, 10, 24, green, 5),
            rect(stem - 24, foot - 26, 22, 9, green, 4),
            rect(stem + 14, foot - 54, 10, 26, green, 5),
            rect(stem + 2, foot - 36, 22, 9, green, 4),
        ]
    return drawn


def _coast(rng: random.Random, x: float, y: float, tall: float, haze: str) -> list[str]:
    sea, cliff = y + tall * 0.5, x + _WIDE * rng.uniform(0.4, 0.6)
    drawn = [rect(x, sea, _WIDE, tall * 0.5, "#3f86a8")]
    for number in range(5):
        start = x + 20 + rng.uniform(0, 110)
        drawn.append(rect(start, sea + 12 + number * 13, 60, 3, "#d9eef5", 1, 'opacity="0.7"'))
    right = x + _WIDE
    drawn.append(
        polygon([(cliff, y + tall), (cliff + 26, y + tall * 0.42), (cliff + 70, y + tall * 0.3), (right, y + tall * 0.34), (right, y + tall)], "#7a6a58")
    )  # fmt: skip
    drawn.append(
        polygon([(cliff + 26, y + tall * 0.42), (cliff + 70, y + tall * 0.3), (right, y + tall * 0.34), (right, y + tall * 0.46)], "#6f9a5a")
    )  # fmt: skip
    return drawn


def _wetland(rng: random.Random, x: float, y: float, tall: float, haze: str) -> list[str]:
    level = y + tall * 0.55
    drawn = [
        rect(x, level - 8, _WIDE, 12, mix("#6f8f4a", haze, 0.3)),
        rect(x, level, _WIDE, y + tall - level, "#6d9aa6"),
    ]
    for _ in range(26):
        root, lean = x + 8 + rng.random() * (_WIDE - 16), rng.uniform(-7, 7)
        foot, high = y + tall * rng.uniform(0.75, 0.98), rng.uniform(22, 44)
        drawn.append(
            path(f"M{root:.0f} {foot:.0f} q{lean / 2:.0f} {-high / 2:.0f} {lean:.0f} {-high:.0f}", more='stroke="#4f7336" stroke-width="4"')
        )  # fmt: skip
    return drawn


def _woods(rng: random.Random, x: float, y: float, tall: float, haze: str) -> list[str]:
    hill = path(
        f"M{x:.0f} {y + tall * 0.5:.0f} Q{x + 90:.0f} {y + tall * 0.26:.0f} {x + 180:.0f} {y + tall * 0.46:.0f} T{x + _WIDE:.0f} {y + tall * 0.4:.0f} V{y + tall:.0f} H{x:.0f} Z",
        mix("#55794a", haze, 0.35),
    )
    ground = rect(x, y + tall * 0.82, _WIDE, tall * 0.18, "#6f9350")
    return [hill, *_trees(rng, x, y + tall * 0.8, 9, "#4d7344"), ground, *_trees(rng, x, y + tall * 0.97, 6)]


def _lake(rng: random.Random, x: float, y: float, tall: float, haze: str) -> list[str]:
    return [
        *_peaks(rng, x, y, tall, haze),
        ellipse(x + _WIDE / 2, y + tall * 0.9, _WIDE * 0.42, tall * 0.085, "#3f83ad"),
        ellipse(x + _WIDE / 2 - 30, y + tall * 0.885, _WIDE * 0.2, tall * 0.02, "#a9d0e4", 'opacity="0.8"'),
    ]


def _badlands(rng: random.Random, x: float, y: float, tall: float, haze: str) -> list[str]:
    points, place = [(x, y + tall * 0.86)], x
    while place < x + _WIDE - 16:
        points.append((place, y + tall * rng.uniform(0.34, 0.7)))
        place += rng.uniform(18, 34)
    points += [(x + _WIDE, y + tall * 0.6), (x + _WIDE, y + tall * 0.86)]
    drawn = [polygon(points, mix("#c98f6b", haze, 0.15))]
    for share in (0.66, 0.74, 0.82):
        drawn.append(rect(x, y + tall * share, _WIDE, 4, "#8f4a38", 0, 'opacity="0.5"'))
    return [*drawn, rect(x, y + tall * 0.85, _WIDE, tall * 0.15, "#d8c590")]


def _trees(rng: random.Random, x: float, foot: float, count: int, green: str = "#2f5a38") -> list[str]:
    drawn = []
    for number in range(count):
        middle = x + _WIDE * (number + 0.5) / count + rng.uniform(-6, 6)
        high, half = rng.uniform(40, 62), rng.uniform(12, 16)
        drawn.append(polygon([(middle - half, foot), (middle, foot - high), (middle + half, foot)], green))
    return drawn


_LANDSCAPES: dict[str, Callable[[random.Random, float, float, float, str], list[str]]] = {
    "peaks": _peaks,
    "canyon": _canyon,
    "desert": _desert,
    "coast": _coast,
    "wetland": _wetland,
    "woods": _woods,
    "lake": _lake,
    "badlands": _badlands,
}
