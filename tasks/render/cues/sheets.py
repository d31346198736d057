"""Cues that a second picture shows: a way on a plan, and what is on the backs of things.

Both show the same things at the same places as the first picture. A plan may be turned: a note says which edge is the
front. From behind, left and right have changed places, and what was in front is far away.
"""

import heapq
import math
import random
from collections.abc import Sequence

from m3bench.tasks.render.art import Art
from m3bench.tasks.render.canvas import Canvas
from m3bench.tasks.render.cues.cue import Cue, colour, dark, pale
from m3bench.tasks.render.cues.looks import shape
from m3bench.tasks.render.shapes import ellipse, mix, path, polygon, rect
from m3bench.tasks.scene import Box

Point = tuple[float, float]

WIDE, TALL = 1100, 760
_GRID = 20
"""Pixels of a step of the way."""
_BACKS = ("star", "heart", "circle", "square", "triangle")

CUES = (
    Cue(name="plan stop", skill="way", phrase="are stops on the way drawn on the plan", holds=("stop",), fails=("passed by",), measure="relation", sheet=True),
    Cue(name="plan passed", skill="way", phrase="are no stops on the way drawn on the plan", holds=("passed by",), fails=("stop",), measure="relation", sheet=True),
    *(
        Cue(
            name=f"back {kind}", skill="viewpoint", phrase=f"have a {kind} on their backs in the photo from behind",
            holds=(kind,), fails=tuple(other for other in _BACKS if other != kind), measure="kind", sheet=True,
        )
        for kind in _BACKS
    ),
)  # fmt: skip


def sheet(art: Art, rng: random.Random, cue: Cue, values: Sequence[object], boxes: Sequence[Box]) -> Canvas:
    """The second picture.

    Args:
        art: What is drawn with.
        rng: Chooses how it looks.
        cue: One of this module.
        values: By thing.
        boxes: Where the things are in the first picture.
    """
    middles = _spread([((left + right) / 2, (top + bottom) / 2) for left, top, right, bottom in boxes])
    if cue.skill == "way":
        return _plan(art, rng, [value == "stop" for value in values], middles)
    return _behind(art, rng, [str(value) for value in values], middles)


def _spread(middles: Sequence[Point]) -> list[Point]:
    """The middles as shares of what they span."""
    spans = [(min(axis), max(axis)) for axis in zip(*middles, strict=True)]
    return [
        tuple(
            (at - low) / (high - low) if high - low > 60 else 0.5 for at, (low, high) in zip(middle, spans, strict=True)
        )  # type: ignore[misc]
        for middle in middles
    ]


def _plan(art: Art, rng: random.Random, stops: Sequence[bool], middles: Sequence[Point]) -> Canvas:
    """Squares on paper, and a way by hand that ends at some of them and passes by the others."""
    turned = rng.choice((0, 90, 180, 270))
    upright = turned % 180 == 0
    wide, tall = (WIDE - 240, TALL - 250) if upright else (TALL - 250, WIDE - 260)
    canvas = Canvas(art, WIDE, TALL, mix(pale(rng), "#ffffff", 0.4))
    for line_ in range(1, 12):
        canvas.draw(rect(0, line_ * TALL / 12, WIDE, 1.4, "#7f8fa6", more='opacity="0.25"'))

    def at(point: Point) -> Point:
        x, y = (point[0] - 0.5) * wide, (point[1] - 0.5) * tall
        over, down = {0: (x, y), 90: (-y, x), 180: (-x, -y), 270: (y, -x)}[turned]
        return WIDE / 2 + over, TALL / 2 + down

    places = [at(middle) for middle in middles]
    size, ink = 27.0, dark(rng)
    for x, y in places:
        canvas.draw(
            rect(
                x - size,
                y - size,
                2 * size,
                2 * size,
                mix(ink, "#ffffff", 0.75),
                3,
                f'stroke="{ink}" stroke-width="3" transform="rotate({rng.uniform(-4, 4):.1f} {x:.1f} {y:.1f})"',
            )
        )
    for share, label in ((1.0, "front"), (0.0, "back")):
        x, y = at((0.5, share))
        over, down = {0: (0, 1), 90: (-1, 0), 180: (0, -1), 270: (1, 0)}[turned]
        sign = 1 if share else -1
        x, y = x + sign * over * 96, y + sign * down * 80
        canvas.text(label, x, y + 14, 44, face="hand", fill=ink, anchor="middle", note=False, turn=0.0)
    wanted = [place for place, stop in zip(places, stops, strict=True) if stop]
    others = [place for place, stop in zip(places, stops, strict=True) if not stop]
    points, pen = _way(rng, wanted, others), rng.choice(("#1d3f8f", "#a3262f", "#2b2f36", "#2e7d4f"))
    first, *rest = (f"{x:.1f} {y:.1f}" for x, y in points)
    canvas.draw(
        path(
            f"M{first} L{' L'.join(rest)}",
            more=f'stroke="{pen}" stroke-width="5" stroke-linejoin="round" stroke-linecap="round" opacity="0.85"',
        )
    )
    for x, y in wanted:
        canvas.draw(ellipse(x, y, 8, 8, pen))
    canvas.draw(ellipse(*points[0], 11, 11, "#ffffff", f'stroke="{pen}" stroke-width="5"'))
    return canvas  # fmt: skip


def _way(rng: random.Random, stops: Sequence[Point], others: Sequence[Point]) -> list[Point]:
    """Points from the edge to each stop, clear of the others."""
    columns, rows = WIDE // _GRID, TALL // _GRID
    costs = {
        (x, y): rng.uniform(1, 3.2) + sum(60 for other in others if math.dist((x * _GRID, y * _GRID), other) < 54)
        for x in range(1, columns)
        for y in range(1, rows)
    }
    order, place = [], (rng.choice((2, columns - 2)), rng.randrange(3, rows - 3))
    left = list(stops)
    while left:
        near = min(left, key=lambda stop: math.dist((place[0] * _GRID, place[1] * _GRID), stop) * rng.uniform(0.7, 1.3))
        left.remove(near)
        end = round(near[0] / _GRID), round(near[1] / _GRID)
        order += [*_steps(costs, place, end), near]
        place = end
    points = [(x * _GRID, y * _GRID) if isinstance(x, int) else (x, y) for x, y in order]
    return [(x + rng.uniform(-3, 3), y + rng.uniform(-3, 3)) for x, y in points]


def _steps(costs: dict[tuple[int, int], float], start: tuple[int, int], end: tuple[int, int]) -> list[tuple[int, int]]:
    """The cheapest way between two points of a grid."""
    best, before = {start: 0.0}, {start: start}
    queue = [(0.0, start)]
    while queue:
        spent, place = heapq.heappop(queue)
        if place == end:
            break
        for across in (-1, 0, 1):
            for down in (-1, 0, 1):
                after = place[0] + across, place[1] + down
                if after in costs and spent + costs[after] * math.hypot(across, down) < best.get(after, math.inf):
                    best[after] = spent + costs[after] * math.hypot(across, down)
                    before[after] = place
                    heapq.heappush(queue, (best[after], after))
    found = [end]
    while found[-1] != start:
        found.append(before[found[-1]])
    return found[::-1]


def _behind(art: Art, rng: random.Random, kinds: Sequence[str], middles: Sequence[Point]) -> Canvas:
    """The backs of the things, as boards with a sticker each; far ones are smaller."""
    floor, wall = colour(rng, (0.4, 0.7), (0.1, 0.4)), colour(rng, (0.7, 0.9), (0.1, 0.4))
    canvas = Canvas(art, WIDE, TALL, wall)
    canvas.draw(rect(0, 190, WIDE, TALL, floor), rect(0, 182, WIDE, 12, mix(wall, "#000000", 0.4)))
    for (x, y), kind in sorted(zip(middles, kinds, strict=True), key=lambda one: -one[0][1]):
        near = 1 - y
        scale = 0.72 + 0.28 * near
        width = (WIDE - 290) * (0.86 + 0.14 * near)
        at, foot = WIDE / 2 + (0.5 - x) * width, 300 + near * 370
        wood, high, wide = colour(rng, (0.62, 0.85), (0.15, 0.5)), 190 * scale, 150 * scale
        lean = rng.uniform(-0.05, 0.05) * high
        board = [
            (at - wide / 2 + lean, foot - high),
            (at + wide / 2 + lean, foot - high),
            (at + wide / 2, foot),
            (at - wide / 2, foot),
        ]
        canvas.draw(
            ellipse(at, foot, wide * 0.6, 13, "#000000", 'opacity="0.25"'),
            polygon(board, wood, f'stroke="{mix(wood, "#000000", 0.5)}" stroke-width="3"'),
            path(
                f"M{at + lean * 0.4 + wide * 0.1:.1f} {foot - high * 0.3:.1f} L{at + wide * 0.3:.1f} {foot + 8:.1f}",
                more=f'stroke="{mix(wood, "#000000", 0.35)}" stroke-width="7"',
            ),
            shape(
                kind,
                at + rng.uniform(-14, 14) * scale,
                foot - high * rng.uniform(0.55, 0.7),
                25 * scale,
                colour(rng, (0.2, 0.4), (0.5, 0.95)),
                turn=rng.uniform(-25, 25),
                more='stroke="#00000066" stroke-width="1.5"',
            ),
        )
    return canvas  # fmt: skip
