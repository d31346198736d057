"""Hand-drawn plans of a day: a sheet with streets, nine places with their names, and a dotted way through three of them."""

import math
import random
from collections.abc import Sequence
from itertools import pairwise, permutations

from m3bench.tasks.render import backdrops
from m3bench.tasks.render.canvas import Canvas
from m3bench.tasks.render.shapes import ellipse, line, mix, path, polygon, rect

Point = tuple[float, float]

SIZE = (1440, 1010)
PLACES = 9
_PAPERS = ("#fdfcf7", "#fdf8ea", "#f6f8fb", "#fbf7f2")
_PENS = ("#2b3a67", "#7a2e3a", "#1f5c4a", "#4a3a68", "#33383f")
_COLUMNS, _ROWS, _STAGGER = (270.0, 720.0, 1170.0), (320.0, 576.0, 832.0), 44.0
"""Where the names stand; rows are shifted to the sides in turn."""
_LIFT = 64.0
"""How far a mark is above its name."""
_HALF = 148.0
"""Half of the width of the widest name."""
_TURN = 0.6
"""The least angle, in radians, between the two parts of a way."""
_AROUND = ("tree", "evergreen", "office building", "church", "bicycle", "fountain")


def plan(canvas: Canvas, rng: random.Random, title: str, stops: Sequence[str], others: Sequence[str]) -> None:
    """Fill a canvas of `SIZE` with a plan.

    A house, a star, a flag and the way between them say what the stops are; every other place has a dot. None of these
    marks is noted in the scene.

    Args:
        canvas: Where.
        rng: Chooses paper, pen, where the stops are and what stands along the streets.
        title: Above the plan.
        stops: The names of start, sight and goal.
        others: The names of six places that the way does not lead to.
    """
    backdrops.table(canvas, rng)
    pen = rng.choice(_PENS)
    backdrops.paper(canvas, rng, (36, 30, canvas.width - 36, canvas.height - 30), rng.choice(_PAPERS))
    spots = _spots(rng)
    meant = rng.choice(_ways(spots))
    _streets(canvas, rng, pen)
    _title(canvas, rng, title, pen)
    _way(canvas, rng, pen, [(*spots[number], name) for number, name in zip(meant, stops, strict=True)])
    rest = [number for number in range(PLACES) if number not in meant]
    marks = dict(zip(meant, (_house, _star, _flag), strict=True))
    for number, name in sorted(zip((*meant, *rest), (*stops, *others), strict=True)):
        x, y = spots[number]
        _label(canvas, x, y, name, pen)
        marks.get(number, _dot)(canvas, x, y - _LIFT, pen)
    basket = _shop(spots[meant[1]], spots[meant[2]], spots)
    assert basket
    canvas.draw(ellipse(*basket, 46, 46, "#fffdf5", f'stroke="{pen}" stroke-width="4" stroke-dasharray="10 7"'))
    canvas.place("shopping cart", basket[0], basket[1] + 29, 56, shadow=False, note=False)


def _spots(rng: random.Random) -> list[Point]:
    """Three rows of three places, not quite in line."""
    lean = rng.choice((-1, 1))
    return [
        (x + lean * (-1) ** row * _STAGGER + rng.uniform(-12, 12), y + rng.uniform(-9, 9))
        for row, y in enumerate(_ROWS)
        for x in _COLUMNS
    ]


def _ways(spots: Sequence[Point]) -> list[tuple[int, int, int]]:
    """The ways through three places that cross no fourth one, have room for a shop and do not come back beside themselves."""
    fit = {
        (one, two)
        for one, two in permutations(range(len(spots)), 2)
        if all(
            _clear(point, spot, 14)
            for other, spot in enumerate(spots)
            if other not in (one, two)
            for point in _between(spots[one], spots[two])
        )
    }
    return [
        (one, two, three)
        for one, two, three in permutations(range(len(spots)), 3)
        if (one, two) in fit
        and (two, three) in fit
        and _turn(spots[one], spots[two], spots[three]) > _TURN
        and _shop(spots[two], spots[three], spots) is not None
    ]


def _between(start: Point, end: Point) -> list[Point]:
    """Points on the way from one mark to another."""
    (x1, y1), (x2, y2) = start, end
    return [(x1 + (x2 - x1) * part / 20, y1 + (y2 - y1) * part / 20 - _LIFT) for part in range(21)]


def _clear(point: Point, spot: Point, air: float) -> bool:
    """Whether a point is away from the mark and the name of a place."""
    (x, y), (left, top) = point, spot
    return abs(x - left) > _HALF + air or not top - 2 * _LIFT + 8 - air < y < top + 96 + air


def _turn(one: Point, two: Point, three: Point) -> float:
    """The angle at the middle of three places."""
    back, on = (math.atan2(y - two[1], x - two[0]) for x, y in (one, three))
    return abs((on - back + math.pi) % math.tau - math.pi)


def _shop(start: Point, end: Point, spots: Sequence[Point]) -> Point | None:
    """The place nearest to the middle of a way where a shop covers nothing."""
    points = [point for point in _between(start, end) if all(_clear(point, spot, 50) for spot in spots)]
    middle = ((start[0] + end[0]) / 2, (start[1] + end[1]) / 2 - _LIFT)
    return min(points, key=lambda point: math.dist(point, middle), default=None)


def _title(canvas: Canvas, rng: random.Random, title: str, pen: str) -> None:
    middle = canvas.width / 2
    canvas.text(title, middle, 112, 58, face="round", fill=pen, anchor="middle", width=1000)
    wobble = 118 + rng.uniform(2, 8)
    half = canvas.art.width(title, 58, "round") / 2
    canvas.draw(
        path(
            f"M{middle - half:.0f} {wobble + 10:.0f} q{half:.0f} {rng.uniform(-8, 10):.0f} {2 * half:.0f} 0",
            more=f'stroke="{pen}" stroke-width="5" stroke-linecap="round"',
        )
    )


def _streets(canvas: Canvas, rng: random.Random, pen: str) -> None:
    """Pale streets, a river, and two things above them at the sides."""
    pale = mix(pen, "#ffffff", 0.88)
    for y in (196, 450, 706, 950):
        bend = rng.uniform(-26, 26)
        canvas.draw(
            path(
                f"M60 {y + bend:.0f} C460 {y - bend:.0f} 980 {y + bend:.0f} 1380 {y - bend:.0f}",
                more=f'stroke="{pale}" stroke-width="16"',
            )
        )
    for x in (110, 500, 950, 1340):
        bend = rng.uniform(-40, 40)
        canvas.draw(
            path(
                f"M{x + bend:.0f} 170 C{x - bend:.0f} 440 {x + bend:.0f} 700 {x - bend:.0f} 966",
                more=f'stroke="{pale}" stroke-width="16"',
            )
        )
    start = rng.uniform(420, 760)
    canvas.draw(
        path(
            f"M40 {start:.0f} C360 {start + rng.uniform(-70, 70):.0f} 1010 {start + rng.uniform(-60, 60):.0f} 1400 {start + rng.uniform(-60, 20):.0f}",
            more='stroke="#d5e9f4" stroke-width="34"',
        )
    )
    for name, x in zip(rng.sample(_AROUND, 2), (120, 1320), strict=True):
        canvas.place(name, x + rng.uniform(-14, 14), 150, rng.uniform(70, 84), shadow=False, score=0.7)


def _way(canvas: Canvas, rng: random.Random, pen: str, stops: Sequence[tuple[float, float, str]]) -> None:
    """The dotted way through the stops, around the name of the one that it leaves downwards."""
    more = f'stroke="{mix(pen, "#ffffff", 0.1)}" stroke-width="9" stroke-dasharray="3 19" stroke-linecap="round"'
    for one, two in pairwise(stops):
        bend = rng.uniform(-0.03, 0.03)
        (x1, y1, name), (x2, y2, _) = sorted((one, two), key=lambda stop: stop[1])
        y1, y2 = y1 - _LIFT, y2 - _LIFT
        wide, tall, _ = _size(canvas, name)
        foot = y1 + _LIFT - 8 + tall
        # The way would leave the name through its side or its foot.
        beside = x1 + math.copysign(wide / 2 + 24, x2 - x1)
        if y2 - y1 > _LIFT and y1 + (beside - x1) * (y2 - y1) / ((x2 - x1) or 1) > y1 + _LIFT - 30:
            d = f"M{x1:.0f} {y1:.0f} Q{beside:.0f} {y1:.0f} {beside:.0f} {foot - 30:.0f} L{x2:.0f} {y2:.0f}"
        else:
            middle = ((x1 + x2) / 2 - (y2 - y1) * bend, (y1 + y2) / 2 + (x2 - x1) * bend)
            d = f"M{x1:.0f} {y1:.0f} Q{middle[0]:.0f} {middle[1]:.0f} {x2:.0f} {y2:.0f}"
        canvas.draw(path(d, more=more))


def _size(canvas: Canvas, name: str) -> tuple[float, float, list[str]]:
    """Width, height and lines of the label with a name."""
    lines = canvas.lines(name, 262, 34, "sans bold")
    wide = min(2 * _HALF, max(canvas.art.width(text, 34, "sans bold") for text in lines) + 36)
    return wide, 24.0 + 40 * len(lines), lines


def _label(canvas: Canvas, x: float, y: float, name: str, pen: str) -> None:
    wide, tall, lines = _size(canvas, name)
    canvas.draw(
        rect(x - wide / 2, y - 8, wide, tall, "#fffefa", 14, f'stroke="{mix(pen, "#ffffff", 0.55)}" stroke-width="2"')
    )
    for number, text in enumerate(lines):
        canvas.text(
            text, x, y + 32 + 40 * number, 34, face="sans bold", fill="#22262e", anchor="middle", width=wide - 24
        )


def _dot(canvas: Canvas, x: float, y: float, pen: str) -> None:
    canvas.draw(ellipse(x, y + 32, 13, 13, mix(pen, "#ffffff", 0.35), f'stroke="{pen}" stroke-width="4"'))


def _house(canvas: Canvas, x: float, y: float, pen: str) -> None:
    canvas.draw(
        rect(x - 26, y - 14, 52, 44, "#fffefa", 3, f'stroke="{pen}" stroke-width="5"'),
        polygon(
            [(x - 38, y - 12), (x, y - 46), (x + 38, y - 12)],
            "#e07a5f",
            f'stroke="{pen}" stroke-width="5" stroke-linejoin="round"',
        ),
        rect(x - 8, y + 6, 16, 24, pen, 2),
    )


def _star(canvas: Canvas, x: float, y: float, pen: str) -> None:
    rim = ((0, -46), (12, -14), (46, -14), (18, 6), (28, 38), (0, 18), (-28, 38), (-18, 6), (-46, -14), (-12, -14))
    canvas.draw(
        polygon(
            [(x + dx, y + dy - 4) for dx, dy in rim],
            "#f2c14e",
            f'stroke="{pen}" stroke-width="5" stroke-linejoin="round"',
        )
    )


def _flag(canvas: Canvas, x: float, y: float, pen: str) -> None:
    canvas.draw(
        polygon(
            [(x - 18, y - 46), (x + 40, y - 28), (x - 18, y - 8)],
            "#81b29a",
            f'stroke="{pen}" stroke-width="5" stroke-linejoin="round"',
        ),
        line(x - 20, y - 48, x - 20, y + 34, pen, 6, 'stroke-linecap="round"'),
    )
