"""Works that stand alone on a poster: temples, gates, pyramids, vaults, standing stones."""

from math import pi, sin

from m3bench.sandboxes.world.posters.poster import PosterCanvas


def temple(
    poster: PosterCanvas,
    left: float,
    right: float,
    base: float,
    high: float,
    columns: int = 8,
    pediment: bool = True,
    colour: str = "stone",
) -> None:
    """Columns on steps under a beam, with a gable or flat."""
    wide = right - left
    for step in range(3):
        poster.block(
            left - 18 + step * 8,
            base - 8 * (step + 1),
            right + 18 - step * 8,
            base - 8 * step,
            poster.colour(colour, 0.18 - 0.06 * step),
        )
    foot, top = base - 24, base - high
    poster.block(left + 10, top + 24, right - 10, foot, poster.colour(colour, 0.45))
    gap = wide / columns
    for number in range(columns):
        x = left + gap * (number + 0.5)
        poster.polygon(
            [(x - gap * 0.27, foot), (x - gap * 0.22, top + 20), (x + gap * 0.22, top + 20), (x + gap * 0.27, foot)],
            poster.colour(colour, -0.15),
        )
        poster.polygon(
            [(x + gap * 0.08, foot), (x + gap * 0.07, top + 20), (x + gap * 0.22, top + 20), (x + gap * 0.27, foot)],
            poster.colour(colour, 0.14),
        )
        poster.block(x - gap * 0.32, top + 14, x + gap * 0.32, top + 24, poster.colour(colour))
    poster.block(left - 6, top - 14, right + 6, top + 16, poster.colour(colour, -0.05))
    poster.block(left - 6, top + 6, right + 6, top + 9, poster.colour(colour, 0.25))
    if pediment:
        poster.polygon(
            [(left - 12, top - 14), ((left + right) / 2, top - 14 - wide * 0.13), (right + 12, top - 14)],
            poster.colour(colour, 0.05),
        )
        poster.polygon(
            [(left + 24, top - 20), ((left + right) / 2, top - 10 - wide * 0.115), (right - 24, top - 20)],
            poster.colour(colour, 0.3),
        )
    else:
        poster.block(left + wide * 0.06, top - 46, right - wide * 0.06, top - 14, poster.colour(colour, 0.04))


def chariot(poster: PosterCanvas, x: float, base: float, size: float = 1.0) -> None:
    """Four horses and a rider on top of a gate."""
    bronze = poster.colour("#3f7d6b")
    for number in range(4):
        at = x + (number - 1.5) * 26 * size
        poster.oval(at, base - 22 * size, 9 * size, 13 * size, bronze)
        poster.polygon(
            [
                (at - 3 * size, base - 30 * size),
                (at + 8 * size, base - 50 * size),
                (at + 13 * size, base - 40 * size),
                (at + 6 * size, base - 24 * size),
            ],
            bronze,
        )
        for leg in (-5, 4):
            poster.line([(at + leg * size, base - 14 * size), (at + leg * size, base)], bronze, 3.4 * size)
    poster.block(x - 16 * size, base - 40 * size, x + 16 * size, base - 24 * size, poster.colour("#2f6557"))
    poster.polygon([(x - 9 * size, base - 38 * size), (x, base - 76 * size), (x + 9 * size, base - 38 * size)], bronze)
    poster.oval(x, base - 78 * size, 6 * size, 6 * size, bronze)
    poster.line([(x + 10 * size, base - 34 * size), (x + 10 * size, base - 100 * size)], bronze, 2.6 * size)
    poster.oval(x + 10 * size, base - 100 * size, 8 * size, 8 * size, poster.colour("light", 0.1))


def shells(poster: PosterCanvas, x: float, base: float, size: float) -> None:
    """White vaults like sails, on a terrace by the water."""
    poster.block(x - size * 1.6, base - size * 0.16, x + size * 1.6, base, poster.colour("#b98f72"))
    poster.block(x - size * 1.6, base - size * 0.16, x + size * 1.6, base - size * 0.13, poster.colour("#d9b89a"))
    foot = base - size * 0.16
    for at, high, facing in (
        (-1.05, 0.55, -1),
        (-0.62, 0.82, -1),
        (-0.1, 1.12, -1),
        (0.72, 0.72, 1),
        (0.3, 0.98, 1),
        (1.15, 0.48, 1),
    ):
        left, wide = x + at * size, high * size * 0.8
        tip = (left + facing * wide * 0.55, foot - high * size)
        back = [
            (
                left - facing * wide * 0.5 * (1 - (step / 12) ** 2) + (tip[0] - left) * (step / 12) ** 2,
                foot - high * size * sin(step / 12 * pi / 2),
            )
            for step in range(13)
        ]
        front = [
            (tip[0] + (left + facing * wide * 0.42 - tip[0]) * (step / 12) ** 0.7, tip[1] + (foot - tip[1]) * step / 12)
            for step in range(13)
        ]
        poster.polygon([*back, *front], poster.colour("#fbfaf4"))
        poster.polygon([tip, *front, (left + facing * wide * 0.1, foot)], poster.colour("#c9d3da"))
        poster.line(back, poster.colour("#dcdcd2"), 2)


def pyramid(poster: PosterCanvas, x: float, base: float, wide: float, colour: str = "stone") -> None:
    """Four-sided, with courses of stone, lit from the left."""
    top = (x, base - wide * 0.62)
    edge = x + wide * 0.16
    poster.polygon([(x - wide / 2, base), top, (edge, base)], poster.colour(colour, -0.05))
    poster.polygon([(edge, base), top, (x + wide / 2, base)], poster.colour(colour, 0.3))
    for course in range(1, 15):
        share = course / 15
        y = top[1] + (base - top[1]) * share
        line = [(x - wide / 2 * share, y), (x + (edge - x) * share, y), (x + wide / 2 * share, y)]
        poster.line(line, poster.colour(colour, 0.35), 1, 0.5)


def gates(poster: PosterCanvas, x: float, base: float, size: float, count: int = 5) -> None:
    """Red gates, one behind the other, over a path."""
    for number in range(count - 1, -1, -1):
        share = 0.62**number
        at, foot, high, half = x + (1 - share) * 20, base - (1 - share) * size * 0.35, size * share, size * 0.5 * share
        red, dark = poster.colour("#d8432b", 0.1 * number), poster.colour("#2b2326")
        for side in (-1, 1):
            left = at + side * half * 0.78
            poster.polygon(
                [
                    (left - 15 * share, foot),
                    (left - 12 * share - side * 4, foot - high),
                    (left + 12 * share - side * 4, foot - high),
                    (left + 15 * share, foot),
                ],
                red,
            )
            poster.block(left - 18 * share, foot - 24 * share, left + 18 * share, foot, dark)
        poster.block(at - half * 0.95, foot - high * 0.8, at + half * 0.95, foot - high * 0.74, red)
        poster.polygon(
            [
                (at - half * 1.3, foot - high * 1.04),
                (at, foot - high * 0.98),
                (at + half * 1.3, foot - high * 1.04),
                (at + half * 1.22, foot - high * 0.92),
                (at - half * 1.22, foot - high * 0.92),
            ],
            red,
        )
        poster.polygon(
            [
                (at - half * 1.34, foot - high * 1.1),
                (at, foot - high * 1.03),
                (at + half * 1.34, foot - high * 1.1),
                (at + half * 1.3, foot - high * 1.03),
                (at, foot - high * 0.97),
                (at - half * 1.3, foot - high * 1.03),
            ],
            dark,
        )


def stones(poster: PosterCanvas, x: float, base: float, size: float) -> None:
    """A ring of standing stones, some with lintels."""
    grey = "#8d8f8c"
    for at, high, lintel in (
        (-1.5, 0.5, False),
        (-1.05, 0.75, True),
        (-0.62, 0.75, False),
        (-0.2, 1.0, True),
        (0.26, 1.0, False),
        (0.72, 0.8, True),
        (1.12, 0.8, False),
        (1.6, 0.45, False),
    ):
        left, wide = x + at * size, size * 0.2
        lean = poster.random.uniform(-4, 4)
        poster.polygon(
            [
                (left - wide / 2, base),
                (left - wide * 0.42 + lean, base - high * size),
                (left + wide * 0.42 + lean, base - high * size),
                (left + wide / 2, base),
            ],
            poster.colour(grey, -0.1),
        )
        poster.polygon(
            [
                (left + wide * 0.1, base),
                (left + wide * 0.12 + lean, base - high * size),
                (left + wide * 0.42 + lean, base - high * size),
                (left + wide / 2, base),
            ],
            poster.colour(grey, 0.25),
        )
        if lintel:
            reach = size * 0.44
            poster.block(
                left - wide * 0.55,
                base - high * size - size * 0.13,
                left + reach + wide * 0.55,
                base - high * size,
                poster.colour(grey),
            )
            poster.block(
                left - wide * 0.55,
                base - high * size - size * 0.04,
                left + reach + wide * 0.55,
                base - high * size,
                poster.colour(grey, 0.28),
            )
    poster.oval(x, base + 8, size * 2, 12, poster.colour("near", 0.3), 0.35)
