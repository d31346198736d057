"""Works that stand alone on a poster: temples, gates, pyramids, vaults, standing stones."""

from math import pi, sin

from m3bench.sandboxes.world.posters.canvas import Canvas


def temple(
    canvas: Canvas,
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
        canvas.box(
            left - 18 + step * 8,
            base - 8 * (step + 1),
            right + 18 - step * 8,
            base - 8 * step,
            canvas.colour(colour, 0.18 - 0.06 * step),
        )
    foot, top = base - 24, base - high
    canvas.box(left + 10, top + 24, right - 10, foot, canvas.colour(colour, 0.45))
    gap = wide / columns
    for number in range(columns):
        x = left + gap * (number + 0.5)
        canvas.polygon(
            [(x - gap * 0.27, foot), (x - gap * 0.22, top + 20), (x + gap * 0.22, top + 20), (x + gap * 0.27, foot)],
            canvas.colour(colour, -0.15),
        )
        canvas.polygon(
            [(x + gap * 0.08, foot), (x + gap * 0.07, top + 20), (x + gap * 0.22, top + 20), (x + gap * 0.27, foot)],
            canvas.colour(colour, 0.14),
        )
        canvas.box(x - gap * 0.32, top + 14, x + gap * 0.32, top + 24, canvas.colour(colour))
    canvas.box(left - 6, top - 14, right + 6, top + 16, canvas.colour(colour, -0.05))
    canvas.box(left - 6, top + 6, right + 6, top + 9, canvas.colour(colour, 0.25))
    if pediment:
        canvas.polygon(
            [(left - 12, top - 14), ((left + right) / 2, top - 14 - wide * 0.13), (right + 12, top - 14)],
            canvas.colour(colour, 0.05),
        )
        canvas.polygon(
            [(left + 24, top - 20), ((left + right) / 2, top - 10 - wide * 0.115), (right - 24, top - 20)],
            canvas.colour(colour, 0.3),
        )
    else:
        canvas.box(left + wide * 0.06, top - 46, right - wide * 0.06, top - 14, canvas.colour(colour, 0.04))


def chariot(canvas: Canvas, x: float, base: float, size: float = 1.0) -> None:
    """Four horses and a rider on top of a gate."""
    bronze = canvas.colour("#3f7d6b")
    for number in range(4):
        at = x + (number - 1.5) * 26 * size
        canvas.oval(at, base - 22 * size, 9 * size, 13 * size, bronze)
        canvas.polygon(
            [
                (at - 3 * size, base - 30 * size),
                (at + 8 * size, base - 50 * size),
                (at + 13 * size, base - 40 * size),
                (at + 6 * size, base - 24 * size),
            ],
            bronze,
        )
        for leg in (-5, 4):
            canvas.line([(at + leg * size, base - 14 * size), (at + leg * size, base)], bronze, 3.4 * size)
    canvas.box(x - 16 * size, base - 40 * size, x + 16 * size, base - 24 * size, canvas.colour("#2f6557"))
    canvas.polygon([(x - 9 * size, base - 38 * size), (x, base - 76 * size), (x + 9 * size, base - 38 * size)], bronze)
    canvas.oval(x, base - 78 * size, 6 * size, 6 * size, bronze)
    canvas.line([(x + 10 * size, base - 34 * size), (x + 10 * size, base - 100 * size)], bronze, 2.6 * size)
    canvas.oval(x + 10 * size, base - 100 * size, 8 * size, 8 * size, canvas.colour("light", 0.1))


def shells(canvas: Canvas, x: float, base: float, size: float) -> None:
    """White vaults like sails, on a terrace by the water."""
    canvas.box(x - size * 1.6, base - size * 0.16, x + size * 1.6, base, canvas.colour("#b98f72"))
    canvas.box(x - size * 1.6, base - size * 0.16, x + size * 1.6, base - size * 0.13, canvas.colour("#d9b89a"))
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
        canvas.polygon([*back, *front], canvas.colour("#fbfaf4"))
        canvas.polygon([tip, *front, (left + facing * wide * 0.1, foot)], canvas.colour("#c9d3da"))
        canvas.line(back, canvas.colour("#dcdcd2"), 2)


def pyramid(canvas: Canvas, x: float, base: float, wide: float, colour: str = "stone") -> None:
    """Four-sided, with courses of stone, lit from the left."""
    top = (x, base - wide * 0.62)
    edge = x + wide * 0.16
    canvas.polygon([(x - wide / 2, base), top, (edge, base)], canvas.colour(colour, -0.05))
    canvas.polygon([(edge, base), top, (x + wide / 2, base)], canvas.colour(colour, 0.3))
    for course in range(1, 15):
        share = course / 15
        y = top[1] + (base - top[1]) * share
        line = [(x - wide / 2 * share, y), (x + (edge - x) * share, y), (x + wide / 2 * share, y)]
        canvas.line(line, canvas.colour(colour, 0.35), 1, 0.5)


def gates(canvas: Canvas, x: float, base: float, size: float, count: int = 5) -> None:
    """Red gates, one behind the other, over a path."""
    for number in range(count - 1, -1, -1):
        share = 0.62**number
        at, foot, high, half = x + (1 - share) * 20, base - (1 - share) * size * 0.35, size * share, size * 0.5 * share
        red, dark = canvas.colour("#d8432b", 0.1 * number), canvas.colour("#2b2326")
        for side in (-1, 1):
            left = at + side * half * 0.78
            canvas.polygon(
                [
                    (left - 15 * share, foot),
                    (left - 12 * share - side * 4, foot - high),
                    (left + 12 * share - side * 4, foot - high),
                    (left + 15 * share, foot),
                ],
                red,
            )
            canvas.box(left - 18 * share, foot - 24 * share, left + 18 * share, foot, dark)
        canvas.box(at - half * 0.95, foot - high * 0.8, at + half * 0.95, foot - high * 0.74, red)
        canvas.polygon(
            [
                (at - half * 1.3, foot - high * 1.04),
                (at, foot - high * 0.98),
                (at + half * 1.3, foot - high * 1.04),
                (at + half * 1.22, foot - high * 0.92),
                (at - half * 1.22, foot - high * 0.92),
            ],
            red,
        )
        canvas.polygon(
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


def stones(canvas: Canvas, x: float, base: float, size: float) -> None:
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
        lean = canvas.random.uniform(-4, 4)
        canvas.polygon(
            [
                (left - wide / 2, base),
                (left - wide * 0.42 + lean, base - high * size),
                (left + wide * 0.42 + lean, base - high * size),
                (left + wide / 2, base),
            ],
            canvas.colour(grey, -0.1),
        )
        canvas.polygon(
            [
                (left + wide * 0.1, base),
                (left + wide * 0.12 + lean, base - high * size),
                (left + wide * 0.42 + lean, base - high * size),
                (left + wide / 2, base),
            ],
            canvas.colour(grey, 0.25),
        )
        if lintel:
            reach = size * 0.44
            canvas.box(
                left - wide * 0.55,
                base - high * size - size * 0.13,
                left + reach + wide * 0.55,
                base - high * size,
                canvas.colour(grey),
            )
            canvas.box(
                left - wide * 0.55,
                base - high * size - size * 0.04,
                left + reach + wide * 0.55,
                base - high * size,
                canvas.colour(grey, 0.28),
            )
    canvas.oval(x, base + 8, size * 2, 12, canvas.colour("near", 0.3), 0.35)
