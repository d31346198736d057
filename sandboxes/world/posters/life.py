"""Boats, people, birds and lamps: what makes a poster inhabited."""

from math import pi, sin

from m3bench.sandboxes.world.posters.poster import Poster

_COATS = ("#c8553d", "#2f5d8a", "#e0a458", "#4f7d5a", "#7d4f7d", "#3b3b4f", "#d98c9c")


def people(poster: Poster, places: list[float], base: float, size: float = 60) -> None:
    """Strollers, each with a shadow."""
    for x in places:
        high, coat = size * poster.random.uniform(0.88, 1.08), poster.random.choice(_COATS)
        poster.oval(x + high * 0.14, base, high * 0.24, high * 0.045, poster.colour("ink"), 0.25)
        stride = high * poster.random.uniform(0.08, 0.14)
        for side in (-1, 1):
            poster.line([(x, base - high * 0.46), (x + side * stride, base)], poster.colour("#2c3444"), high * 0.09)
        poster.polygon(
            [
                (x - high * 0.13, base - high * 0.8),
                (x + high * 0.13, base - high * 0.8),
                (x + high * 0.16, base - high * 0.36),
                (x - high * 0.16, base - high * 0.36),
            ],
            poster.colour(coat),
        )
        poster.line(
            [(x + high * 0.12, base - high * 0.76), (x + high * 0.19, base - high * 0.46)],
            poster.colour(coat, 0.2),
            high * 0.06,
        )
        poster.oval(x, base - high * 0.9, high * 0.085, high * 0.1, poster.colour("#b9805c"))
        poster.polygon(
            [(x - high * 0.09, base - high * 0.91), (x, base - high * 1.02), (x + high * 0.09, base - high * 0.91)],
            poster.colour("#3a2a22"),
        )


def boat(
    poster: Poster,
    x: float,
    base: float,
    size: float = 120,
    kind: str = "rowing",
    sail: str = "#f6efe0",
    hull: str = "#7a4a2b",
) -> None:
    """A boat with a mirror image: a long wine boat, a sailing boat, a ferry or a rowing boat."""
    half, high = size / 2, size * 0.16
    poster.oval(x, base + high * 0.5, half * 1.05, high * 0.4, poster.colour("water", 0.5), 0.45)
    if kind == "wine":
        outline = [
            (x - half * 1.15, base - high * 1.5),
            (x - half * 0.7, base - high * 0.4),
            (x + half * 0.6, base - high * 0.3),
            (x + half * 1.1, base - high * 1.1),
            (x + half * 0.75, base + high * 0.4),
            (x - half * 0.7, base + high * 0.4),
        ]
        poster.polygon(outline, poster.colour(hull))
        for barrel in range(4):
            at = x - half * 0.35 + barrel * half * 0.24
            poster.oval(at, base - high * 0.6, half * 0.11, high * 0.42, poster.colour("#a8693c"))
            poster.line([(at, base - high), (at, base - high * 0.2)], poster.colour("#4c2f1b"), 2)
        poster.line(
            [(x - half * 0.55, base - high * 0.4), (x - half * 0.55, base - high * 5)], poster.colour("#4c2f1b"), 4
        )
        poster.polygon(
            [
                (x - half * 0.9, base - high * 4.8),
                (x - half * 0.05, base - high * 4.6),
                (x + half * 0.05, base - high * 1.8),
                (x - half * 0.85, base - high * 1.9),
            ],
            poster.colour(sail),
        )
        poster.line(
            [(x + half * 0.7, base - high * 0.5), (x + half * 1.5, base + high * 0.3)], poster.colour("#4c2f1b"), 4
        )
        return
    poster.polygon(
        [
            (x - half, base - high * 0.7),
            (x + half * 1.08, base - high * 0.9),
            (x + half * 0.72, base + high * 0.4),
            (x - half * 0.72, base + high * 0.4),
        ],
        poster.colour(hull),
    )
    poster.polygon(
        [
            (x - half, base - high * 0.7),
            (x + half * 1.08, base - high * 0.9),
            (x + half * 1.0, base - high * 0.55),
            (x - half * 0.95, base - high * 0.4),
        ],
        poster.colour(hull, -0.35),
    )
    if kind == "sail":
        poster.line([(x, base - high * 0.7), (x, base - size * 1.15)], poster.colour("#5b4634"), 3.5)
        poster.polygon(
            [(x + 4, base - size * 1.12), (x + 4, base - high * 1.2), (x + half * 0.95, base - high * 1.4)],
            poster.colour(sail),
        )
        poster.polygon(
            [(x - 4, base - size * 1.0), (x - 4, base - high * 1.2), (x - half * 0.75, base - high * 1.2)],
            poster.colour(sail, 0.1),
        )
    elif kind == "ferry":
        poster.block(x - half * 0.7, base - high * 2.2, x + half * 0.6, base - high * 0.7, poster.colour("#f7f4ea"))
        for window in range(6):
            left = x - half * 0.6 + window * half * 0.2
            poster.block(left, base - high * 1.9, left + half * 0.12, base - high * 1.3, poster.colour("#41606e"))
        poster.block(x - half * 0.1, base - high * 3.2, x + half * 0.12, base - high * 2.2, poster.colour("roof"))


def birds(poster: Poster, count: int = 6, top: float = 120, bottom: float = 280) -> None:
    """Gulls, far away."""
    for _ in range(count):
        x, y, size = poster.random.uniform(120, 1080), poster.random.uniform(top, bottom), poster.random.uniform(8, 16)
        wings = [(x + size * (step / 10 - 1), y - size * 0.45 * abs(sin(step / 10 * pi))) for step in range(21)]
        poster.line(wings, poster.colour("ink"), 2, 0.75)


def lamps(poster: Poster, places: list[float], base: float, height: float = 130) -> None:
    """Street lamps."""
    for x in places:
        poster.line([(x, base), (x, base - height)], poster.colour("#2d3138"), 5)
        poster.block(x - 8, base - 10, x + 8, base, poster.colour("#2d3138"))
        poster.polygon(
            [
                (x - 11, base - height - 22),
                (x + 11, base - height - 22),
                (x + 7, base - height),
                (x - 7, base - height),
            ],
            poster.colour("light"),
        )
        poster.polygon(
            [(x - 13, base - height - 22), (x, base - height - 34), (x + 13, base - height - 22)],
            poster.colour("#2d3138"),
        )


def quay(poster: Poster, top: float, bottom: float) -> None:
    """A stone edge between houses and water."""
    poster.block(0, top, 1200, bottom, poster.colour("stone", 0.12))
    poster.block(0, top, 1200, top + 7, poster.colour("stone", -0.2))
    for row, y in enumerate(range(int(top) + 16, int(bottom), 14)):
        poster.line([(0, y), (1200, y)], poster.colour("stone", 0.35), 1.2, 0.7)
        for x in range(-30 + 30 * (row % 2), 1200, 60):
            poster.line([(x, y), (x, min(bottom, y + 14))], poster.colour("stone", 0.35), 1.2, 0.7)


def promenade(poster: Poster, top: float, bottom: float = 800) -> None:
    """A paved walk that runs towards the horizon."""
    poster.fade(top, bottom, poster.colour("stone", -0.1), poster.colour("stone", 0.12))
    for line in range(-12, 13):
        poster.line([(600 + line * 34, top), (600 + line * 190, bottom)], poster.colour("stone", 0.25), 1.4, 0.6)
    y, step = top, 5.0
    while y < bottom:
        poster.line([(0, y), (1200, y)], poster.colour("stone", 0.25), 1.2, 0.6)
        y, step = y + step, step * 1.32
