"""Boats, people, birds and lamps: what makes a poster inhabited."""

from math import pi, sin

from m3bench.sandboxes.world.posters.canvas import Canvas

_COATS = ("#c8553d", "#2f5d8a", "#e0a458", "#4f7d5a", "#7d4f7d", "#3b3b4f", "#d98c9c")


def people(canvas: Canvas, places: list[float], base: float, size: float = 60) -> None:
    """Strollers, each with a shadow."""
    for x in places:
        high, coat = size * canvas.random.uniform(0.88, 1.08), canvas.random.choice(_COATS)
        canvas.oval(x + high * 0.14, base, high * 0.24, high * 0.045, canvas.colour("ink"), 0.25)
        stride = high * canvas.random.uniform(0.08, 0.14)
        for side in (-1, 1):
            canvas.line([(x, base - high * 0.46), (x + side * stride, base)], canvas.colour("#2c3444"), high * 0.09)
        canvas.polygon(
            [
                (x - high * 0.13, base - high * 0.8),
                (x + high * 0.13, base - high * 0.8),
                (x + high * 0.16, base - high * 0.36),
                (x - high * 0.16, base - high * 0.36),
            ],
            canvas.colour(coat),
        )
        canvas.line(
            [(x + high * 0.12, base - high * 0.76), (x + high * 0.19, base - high * 0.46)],
            canvas.colour(coat, 0.2),
            high * 0.06,
        )
        canvas.oval(x, base - high * 0.9, high * 0.085, high * 0.1, canvas.colour("#b9805c"))
        canvas.polygon(
            [(x - high * 0.09, base - high * 0.91), (x, base - high * 1.02), (x + high * 0.09, base - high * 0.91)],
            canvas.colour("#3a2a22"),
        )


def boat(
    canvas: Canvas,
    x: float,
    base: float,
    size: float = 120,
    kind: str = "rowing",
    sail: str = "#f6efe0",
    hull: str = "#7a4a2b",
) -> None:
    """A boat with a mirror image: a long wine boat, a sailing boat, a ferry or a rowing boat."""
    half, high = size / 2, size * 0.16
    canvas.oval(x, base + high * 0.5, half * 1.05, high * 0.4, canvas.colour("water", 0.5), 0.45)
    if kind == "wine":
        outline = [
            (x - half * 1.15, base - high * 1.5),
            (x - half * 0.7, base - high * 0.4),
            (x + half * 0.6, base - high * 0.3),
            (x + half * 1.1, base - high * 1.1),
            (x + half * 0.75, base + high * 0.4),
            (x - half * 0.7, base + high * 0.4),
        ]
        canvas.polygon(outline, canvas.colour(hull))
        for barrel in range(4):
            at = x - half * 0.35 + barrel * half * 0.24
            canvas.oval(at, base - high * 0.6, half * 0.11, high * 0.42, canvas.colour("#a8693c"))
            canvas.line([(at, base - high), (at, base - high * 0.2)], canvas.colour("#4c2f1b"), 2)
        canvas.line(
            [(x - half * 0.55, base - high * 0.4), (x - half * 0.55, base - high * 5)], canvas.colour("#4c2f1b"), 4
        )
        canvas.polygon(
            [
                (x - half * 0.9, base - high * 4.8),
                (x - half * 0.05, base - high * 4.6),
                (x + half * 0.05, base - high * 1.8),
                (x - half * 0.85, base - high * 1.9),
            ],
            canvas.colour(sail),
        )
        canvas.line(
            [(x + half * 0.7, base - high * 0.5), (x + half * 1.5, base + high * 0.3)], canvas.colour("#4c2f1b"), 4
        )
        return
    canvas.polygon(
        [
            (x - half, base - high * 0.7),
            (x + half * 1.08, base - high * 0.9),
            (x + half * 0.72, base + high * 0.4),
            (x - half * 0.72, base + high * 0.4),
        ],
        canvas.colour(hull),
    )
    canvas.polygon(
        [
            (x - half, base - high * 0.7),
            (x + half * 1.08, base - high * 0.9),
            (x + half * 1.0, base - high * 0.55),
            (x - half * 0.95, base - high * 0.4),
        ],
        canvas.colour(hull, -0.35),
    )
    if kind == "sail":
        canvas.line([(x, base - high * 0.7), (x, base - size * 1.15)], canvas.colour("#5b4634"), 3.5)
        canvas.polygon(
            [(x + 4, base - size * 1.12), (x + 4, base - high * 1.2), (x + half * 0.95, base - high * 1.4)],
            canvas.colour(sail),
        )
        canvas.polygon(
            [(x - 4, base - size * 1.0), (x - 4, base - high * 1.2), (x - half * 0.75, base - high * 1.2)],
            canvas.colour(sail, 0.1),
        )
    elif kind == "ferry":
        canvas.box(x - half * 0.7, base - high * 2.2, x + half * 0.6, base - high * 0.7, canvas.colour("#f7f4ea"))
        for window in range(6):
            left = x - half * 0.6 + window * half * 0.2
            canvas.box(left, base - high * 1.9, left + half * 0.12, base - high * 1.3, canvas.colour("#41606e"))
        canvas.box(x - half * 0.1, base - high * 3.2, x + half * 0.12, base - high * 2.2, canvas.colour("roof"))


def birds(canvas: Canvas, count: int = 6, top: float = 120, bottom: float = 280) -> None:
    """Gulls, far away."""
    for _ in range(count):
        x, y, size = canvas.random.uniform(120, 1080), canvas.random.uniform(top, bottom), canvas.random.uniform(8, 16)
        wings = [(x + size * (step / 10 - 1), y - size * 0.45 * abs(sin(step / 10 * pi))) for step in range(21)]
        canvas.line(wings, canvas.colour("ink"), 2, 0.75)


def lamps(canvas: Canvas, places: list[float], base: float, height: float = 130) -> None:
    """Street lamps."""
    for x in places:
        canvas.line([(x, base), (x, base - height)], canvas.colour("#2d3138"), 5)
        canvas.box(x - 8, base - 10, x + 8, base, canvas.colour("#2d3138"))
        canvas.polygon(
            [
                (x - 11, base - height - 22),
                (x + 11, base - height - 22),
                (x + 7, base - height),
                (x - 7, base - height),
            ],
            canvas.colour("light"),
        )
        canvas.polygon(
            [(x - 13, base - height - 22), (x, base - height - 34), (x + 13, base - height - 22)],
            canvas.colour("#2d3138"),
        )


def quay(canvas: Canvas, top: float, bottom: float) -> None:
    """A stone edge between houses and water."""
    canvas.box(0, top, 1200, bottom, canvas.colour("stone", 0.12))
    canvas.box(0, top, 1200, top + 7, canvas.colour("stone", -0.2))
    for row, y in enumerate(range(int(top) + 16, int(bottom), 14)):
        canvas.line([(0, y), (1200, y)], canvas.colour("stone", 0.35), 1.2, 0.7)
        for x in range(-30 + 30 * (row % 2), 1200, 60):
            canvas.line([(x, y), (x, min(bottom, y + 14))], canvas.colour("stone", 0.35), 1.2, 0.7)


def promenade(canvas: Canvas, top: float, bottom: float = 800) -> None:
    """A paved walk that runs towards the horizon."""
    canvas.fade(top, bottom, canvas.colour("stone", -0.1), canvas.colour("stone", 0.12))
    for line in range(-12, 13):
        canvas.line([(600 + line * 34, top), (600 + line * 190, bottom)], canvas.colour("stone", 0.25), 1.4, 0.6)
    y, step = top, 5.0
    while y < bottom:
        canvas.line([(0, y), (1200, y)], canvas.colour("stone", 0.25), 1.2, 0.6)
        y, step = y + step, step * 1.32
