"""The map of a fair in a park: numbered pins, and ways that visitors drew from one to the next; its list of stands."""

import math
import random
from collections.abc import Mapping, Sequence
from itertools import pairwise

from m3bench.tasks.render import pen
from m3bench.tasks.render.canvas import Canvas
from m3bench.tasks.render.shapes import ellipse, line, mix, on, path, polygon, rect
from m3bench.tasks.render.tabletop import paper, tabletop

SIZE, LIST_SIZE = (1360, 1060), (1000, 1240)
"""Of canvases for a map and for a list."""
PINS = 16
_COLUMNS = 4
_LEFT, _TOP, _WIDE, _TALL = 100, 180, 1160, 790
"""Where the grounds are on the map."""
_CLEAR, _FAR, _AIR = 78, 560, 48
"""How near a leg may come to pins that it does not join, how long it may be, and how far from its own pins it ends."""
_GRASS = ("#cfe0b4", "#d9e2bf", "#c5dcb9", "#dde0b8")
_COLOURS = ("#8a3b2f", "#2f5f7d", "#5a4a86", "#2f6b50", "#7d5a1f")
_TRIES = 400

Point = tuple[float, float]


def grounds(canvas: Canvas, rng: random.Random, title: str) -> dict[int, Point]:
    """Draw the map on a canvas of `SIZE`; returns where the pins are, by number."""
    tabletop(canvas, rng)
    paper(canvas, rng, (64, 60, canvas.width - 64, canvas.height - 54))
    colour, grass = rng.choice(_COLOURS), rng.choice(_GRASS)
    canvas.text(title, canvas.width / 2, 140, 52, face="serif bold", fill=colour, anchor="middle", width=1100)
    canvas.draw(rect(_LEFT, _TOP, _WIDE, _TALL, grass, 14, f'stroke="{mix(grass, "#4f6b3a", 0.5)}" stroke-width="4"'))
    spots = _spots(rng)
    _scenery(canvas, rng, spots, grass)
    numbers = rng.sample(range(1, PINS + 1), PINS)
    pins = dict(zip(numbers, spots, strict=True))
    for number, (x, y) in sorted(pins.items()):
        canvas.draw(
            ellipse(x + 3, y + 40, 14, 5, "#000000", 'opacity="0.3"'),
            polygon([(x - 21, y + 12), (x + 21, y + 12), (x, y + 42)], colour),
            ellipse(x, y - 2, 25, 25, colour, 'stroke="#ffffff" stroke-width="3"'),
        )
        canvas.text(str(number), x, y + 7, 27, face="sans bold", fill=on(colour), anchor="middle")
    return pins


def walk(rng: random.Random, pins: Mapping[int, Point], stops: int, avoided: Sequence[int] = ()) -> list[int]:
    """Pins that are visited one after another: no leg comes near a pin between its ends, and none crosses another.

    Raises:
        ValueError: There is no such way.
    """
    for _ in range(_TRIES):
        way = [rng.choice([number for number in sorted(pins) if number not in avoided])]
        while len(way) < stops:
            near = [number for number in sorted(pins) if number not in avoided and _may_follow(pins, way, number)]
            if not near:
                break
            way.append(rng.choice(near))
        if len(way) == stops:
            return way
    raise ValueError("no way keeps clear of the pins")


def drawn(canvas: Canvas, rng: random.Random, pins: Mapping[int, Point], way: Sequence[int], colour: str) -> None:
    """The way by hand: an arrow for each leg, and a loop around the pin that it begins at; nothing is noted."""
    x, y = pins[way[0]]
    pen.loop(canvas, rng, (x - 26, y - 28, x + 26, y + 40), colour, air=12, width=7)
    for one, other in pairwise(way):
        (x1, y1), (x2, y2) = pins[one], pins[other]
        air = _AIR / math.dist(pins[one], pins[other])
        dx, dy = (x2 - x1) * air, (y2 - y1) * air
        pen.arrow(canvas, rng, (x2 - dx, y2 - dy), (x1 + dx, y1 + dy), colour)


def stands(canvas: Canvas, rng: random.Random, title: str, entries: Mapping[int, str]) -> None:
    """Fill a canvas of `LIST_SIZE` with the list of stands."""
    tabletop(canvas, rng)
    paper(canvas, rng, (66, 74, canvas.width - 66, canvas.height - 74))
    colour = rng.choice(_COLOURS)
    left, right = 120, canvas.width - 120
    canvas.text(title, left, 160, 48, face="serif bold", fill=colour, width=right - left)
    canvas.text("Who is where: the stands by number", left, 208, 28, fill="#54575d")
    canvas.draw(line(left, 230, right, 230, colour, 4))
    for place, (number, name) in enumerate(sorted(entries.items())):
        y = 284 + place * 54
        if place % 2:
            canvas.draw(rect(left - 10, y - 37, right - left + 20, 52, mix(colour, "#ffffff", 0.9)))
        canvas.text(str(number), left + 50, y, 33, face="sans bold", fill=colour, anchor="end")
        canvas.text(name, left + 84, y, 33, width=right - left - 100)


def _spots(rng: random.Random) -> list[Point]:
    """Rows of four, not quite in line."""
    across, down = _WIDE / _COLUMNS, _TALL / (PINS // _COLUMNS)
    return [
        (
            _LEFT + across * (column + 0.5) + rng.uniform(-0.28, 0.28) * across,
            _TOP + down * (row + 0.5) + rng.uniform(-0.24, 0.24) * down,
        )
        for row in range(PINS // _COLUMNS)
        for column in range(_COLUMNS)
    ]


def _may_follow(pins: Mapping[int, Point], way: Sequence[int], number: int) -> bool:
    start, end = pins[way[-1]], pins[number]
    if number in way or not 150 <= math.dist(start, end) <= _FAR:
        return False
    others = [spot for pin, spot in pins.items() if pin not in (way[-1], number)]
    if any(_distance(spot, start, end) < _CLEAR for spot in others):
        return False
    legs = list(pairwise(way))
    if legs and _angle(pins[legs[-1][0]], start, end) < 0.6:
        return False
    return not any(_cross(pins[one], pins[other], start, end) for one, other in legs[:-1])


def _distance(spot: Point, start: Point, end: Point) -> float:
    """How far a spot is from a leg."""
    (x, y), (x1, y1), (x2, y2) = spot, start, end
    along = ((x - x1) * (x2 - x1) + (y - y1) * (y2 - y1)) / math.dist(start, end) ** 2
    share = min(1.0, max(0.0, along))
    return math.dist(spot, (x1 + share * (x2 - x1), y1 + share * (y2 - y1)))


def _angle(one: Point, middle: Point, other: Point) -> float:
    first, second = (math.atan2(end[1] - middle[1], end[0] - middle[0]) for end in (one, other))
    turn = abs(first - second)
    return min(turn, math.tau - turn)


def _cross(one: Point, other: Point, start: Point, end: Point) -> bool:
    def side(a: Point, b: Point, c: Point) -> bool:
        return (b[0] - a[0]) * (c[1] - a[1]) > (b[1] - a[1]) * (c[0] - a[0])

    return side(one, other, start) != side(one, other, end) and side(start, end, one) != side(start, end, other)


def _scenery(canvas: Canvas, rng: random.Random, spots: Sequence[Point], grass: str) -> None:
    """Paths from pin to pin, a pond and trees."""
    sand = mix(grass, "#f7edd6", 0.75)
    for number, (x, y) in enumerate(spots):
        for other in (number + 1, number + _COLUMNS):
            if other < PINS and (other % _COLUMNS or other == number + _COLUMNS) and rng.random() < 0.8:
                x2, y2 = spots[other]
                bend = rng.uniform(-40, 40)
                canvas.draw(
                    path(
                        f"M{x:.0f} {y:.0f} Q{(x + x2) / 2 + bend:.0f} {(y + y2) / 2 + bend:.0f} {x2:.0f} {y2:.0f}",
                        more=f'stroke="{sand}" stroke-width="18" stroke-linecap="round"',
                    )
                )
    gaps = [(_LEFT + _WIDE * i / _COLUMNS, _TOP + _TALL * j / _COLUMNS) for i in (1, 2, 3) for j in (1, 2, 3)]
    pond, *rest = rng.sample(gaps, len(gaps))
    canvas.draw(
        ellipse(*pond, rng.uniform(60, 90), rng.uniform(34, 48), "#a9cfe0", 'stroke="#7fb0c6" stroke-width="3"')
    )
    for x, y in rest:
        kind = rng.choice(("tree", "evergreen", "tree", "tent", "fountain", "carousel"))
        canvas.place(kind, x, y + 26, rng.uniform(44, 60), shadow=False, note=False)
