"""Towers: gothic, iron, leaning, of glass, with a clock, with a lamp."""

from math import cos, floor, pi, sin

from m3bench.sandboxes.world.posters.buildings import windows
from m3bench.sandboxes.world.posters.poster import Point, PosterCanvas


def gothic(poster: PosterCanvas, x: float, base: float, high: float, colour: str = "stone", flag: bool = True) -> None:
    """A church tower in three stages, the last one open and eight-sided, with a flag."""
    half = high * 0.13
    for stage, (bottom, top, share) in enumerate(((0.0, 0.36, 1.0), (0.36, 0.66, 0.82), (0.66, 0.88, 0.52))):
        low, up, wide = base - high * bottom, base - high * top, half * share
        poster.block(x - wide, up, x + wide, low, poster.colour(colour, 0.02))
        poster.block(x + wide * 0.55, up, x + wide, low, poster.colour(colour, 0.2))
        for side in (-1, 1):
            poster.block(x + side * wide - 5, up - high * 0.035, x + side * wide + 5, low, poster.colour(colour, 0.12))
            poster.polygon(
                [
                    (x + side * wide - 6, up - high * 0.035),
                    (x + side * wide, up - high * 0.075),
                    (x + side * wide + 6, up - high * 0.035),
                ],
                poster.colour(colour, 0.2),
            )
        for at in (-0.42, 0.28) if stage < 2 else (-0.5, -0.12, 0.26):
            left, wide_arch = x + at * wide, wide * (0.3 if stage < 2 else 0.2)
            poster.block(left, up + (low - up) * 0.3, left + wide_arch, low - 12, poster.colour("#4a4440"))
            poster.oval(
                left + wide_arch / 2, up + (low - up) * 0.3, wide_arch / 2, wide_arch * 0.8, poster.colour("#4a4440")
            )
        poster.block(x - wide - 6, up - 4, x + wide + 6, up + 5, poster.colour(colour, 0.28))
    top = base - high * 0.88
    poster.polygon([(x - half * 0.54, top), (x, base - high), (x + half * 0.54, top)], poster.colour("#5f6f6b"))
    poster.polygon([(x, top), (x, base - high), (x + half * 0.54, top)], poster.colour("#4a5855"))
    if flag:
        pole = base - high * 1.12
        poster.line([(x, base - high * 0.98), (x, pole)], poster.colour("ink"), 3)
        for stripe, shade in enumerate(("#c8403a", "#f6f3ec", "#2f5fa8")):
            y = pole + stripe * 12
            poster.polygon(
                [(x, y), (x + 30, y + 4), (x + 62, y), (x + 62, y + 12), (x + 30, y + 16), (x, y + 12)],
                poster.colour(shade),
            )


def clock(poster: PosterCanvas, x: float, base: float, high: float, colour: str = "stone") -> None:
    """A slender clock tower with a steep roof."""
    half = high * 0.085
    poster.block(x - half, base - high * 0.7, x + half, base, poster.colour(colour))
    poster.block(x + half * 0.5, base - high * 0.7, x + half, base, poster.colour(colour, 0.18))
    for column in (-0.6, -0.2, 0.2, 0.6):
        poster.line([(x + column * half, base - high * 0.5), (x + column * half, base)], poster.colour(colour, 0.3), 2)
    for row in range(1, 5):
        poster.block(
            x - half, base - high * 0.12 * row, x + half, base - high * 0.12 * row + 3, poster.colour(colour, 0.25)
        )
    head = half * 1.18
    poster.block(x - head, base - high * 0.74, x + head, base - high * 0.52, poster.colour(colour, -0.12))
    poster.block(x - head, base - high * 0.535, x + head, base - high * 0.52, poster.colour("light", 0.25))
    poster.oval(x, base - high * 0.63, half * 0.82, half * 0.82, poster.colour("ink"))
    poster.oval(x, base - high * 0.63, half * 0.72, half * 0.72, poster.colour("#fdfaf0"))
    for hour in range(12):
        angle = hour * pi / 6
        spot = (x + sin(angle) * half * 0.58, base - high * 0.63 - cos(angle) * half * 0.58)
        poster.oval(*spot, 1.6, 1.6, poster.colour("ink"))
    poster.line([(x, base - high * 0.63), (x, base - high * 0.63 - half * 0.5)], poster.colour("ink"), 2.5)
    poster.line([(x, base - high * 0.63), (x + half * 0.36, base - high * 0.63 + half * 0.1)], poster.colour("ink"), 3)
    poster.block(x - head, base - high * 0.8, x + head, base - high * 0.74, poster.colour(colour, 0.1))
    windows(poster, x - head, base - high * 0.8, x + head, base - high * 0.74, 5, 1, poster.colour("#4d4540"))
    poster.polygon(
        [
            (x - head * 1.05, base - high * 0.8),
            (x - head * 0.4, base - high * 0.9),
            (x + head * 0.4, base - high * 0.9),
            (x + head * 1.05, base - high * 0.8),
        ],
        poster.colour("#4f6b6a"),
    )
    poster.polygon(
        [(x - head * 0.42, base - high * 0.9), (x, base - high), (x + head * 0.42, base - high * 0.9)],
        poster.colour("#3f5857"),
    )
    poster.line([(x, base - high * 1.05), (x, base - high)], poster.colour("light", 0.2), 3)


def lattice(poster: PosterCanvas, x: float, base: float, high: float, colour: str = "#6f4f3a") -> None:
    """An iron tower on four feet that meet in a point."""

    def reach(share: float) -> float:
        return high * (0.19 * float((1 - share) ** 2.6) + 0.012)

    iron, light = poster.colour(colour), poster.colour(colour, -0.18)
    outline = [(x - reach(step / 40), base - high * step / 40) for step in range(41)]
    poster.polygon([*outline, *[(2 * x - left, y) for left, y in reversed(outline)]], iron)
    steps = 26
    for step in range(steps):
        low, up = step / steps, (step + 1) / steps
        for side in (-1, 1):
            poster.line(
                [(x + side * reach(low) * 0.92, base - high * low), (x - side * reach(up) * 0.92, base - high * up)],
                light,
                1.4,
                0.8,
            )
    arch = [
        (x + cos(pi * step / 20) * high * 0.115, base + 2 - sin(pi * step / 20) * high * 0.12) for step in range(21)
    ]
    poster.polygon(arch, poster.colour("horizon", -0.05))
    hole = [
        (x - reach(0.2) * 0.45, base - high * 0.17),
        (x, base - high * 0.31),
        (x + reach(0.2) * 0.45, base - high * 0.17),
    ]
    poster.polygon(hole, poster.colour("horizon", -0.05), 0.85)
    for share, wide in ((0.15, 1.16), (0.33, 1.35), (0.88, 2.2)):
        half = reach(share) * wide
        poster.block(x - half, base - high * share - 7, x + half, base - high * share + 4, poster.colour(colour, 0.25))
    poster.line([(x, base - high), (x, base - high * 1.07)], iron, 3)


def leaning(
    poster: PosterCanvas, x: float, base: float, high: float, lean: float = 0.09, colour: str = "#f3ead8"
) -> None:
    """A round tower of eight arcaded floors, out of plumb."""
    half = high * 0.14

    def at(side: float, level: float, narrow: float = 1.0) -> Point:
        return (x + side * half * narrow + lean * high * level, base - high * level * 0.995)

    floors = 8
    for level in range(floors):
        low, up = level / floors, (level + 1) / floors
        narrow = 0.78 if level == floors - 1 else 1.0
        corners = [at(-1, low, narrow), at(-1, up, narrow), at(1, up, narrow), at(1, low, narrow)]
        poster.polygon(corners, poster.colour(colour))
        poster.polygon(
            [at(0.35, low, narrow), at(0.35, up, narrow), at(1, up, narrow), at(1, low, narrow)],
            poster.colour(colour, 0.16),
        )
        for arch in range(7):
            left = -0.88 + arch * 0.26
            bottom, middle = at(left, low + 0.012, narrow), at(left, low + 0.07, narrow)
            wide = half * 0.16 * narrow
            dark = poster.colour("#8a7a68")
            poster.polygon([bottom, middle, (middle[0] + wide, middle[1]), (bottom[0] + wide, bottom[1])], dark)
            poster.oval(middle[0] + wide / 2, middle[1], wide / 2, wide * 0.6, dark)
        edge = [
            at(-1.06, up - 0.012, narrow),
            at(-1.06, up, narrow),
            at(1.06, up, narrow),
            at(1.06, up - 0.012, narrow),
        ]
        poster.polygon(edge, poster.colour(colour, 0.12))
    poster.line([at(0, 1.0), at(0, 1.09)], poster.colour("ink"), 3)


def stepped(poster: PosterCanvas, x: float, base: float, high: float, colour: str = "#dfe0da") -> None:
    """A concrete church whose wings rise like basalt columns to a spire."""
    for side in (-1, 1):
        for column in range(11, 0, -1):
            share = 0.62 * (1 - column / 11.5) ** 1.5 + 0.04
            left = x + side * (high * 0.075 + column * high * 0.03) - high * 0.015
            poster.block(
                left,
                base - high * share,
                left + high * 0.03,
                base,
                poster.colour(colour, 0.04 * (column % 3) + (0.1 if side > 0 else 0)),
            )
    half = high * 0.075
    poster.block(x - half, base - high * 0.7, x + half, base, poster.colour(colour, -0.3))
    poster.block(x + half * 0.4, base - high * 0.7, x + half, base, poster.colour(colour, 0.08))
    poster.polygon(
        [(x - half, base - high * 0.7), (x, base - high), (x + half, base - high * 0.7)], poster.colour(colour, 0.02)
    )
    poster.polygon(
        [(x, base - high * 0.7), (x, base - high), (x + half, base - high * 0.7)], poster.colour(colour, 0.18)
    )
    for at in (-0.5, 0.0, 0.5):
        poster.block(
            x + at * half - 5, base - high * 0.64, x + at * half + 5, base - high * 0.44, poster.colour("#56656b")
        )
    poster.polygon(
        [
            (x - 16, base),
            (x - 16, base - high * 0.14),
            (x, base - high * 0.19),
            (x + 16, base - high * 0.14),
            (x + 16, base),
        ],
        poster.colour("#4c4440"),
    )
    poster.oval(x, base - high * 0.34, half * 0.42, half * 0.42, poster.colour("#fdfaf0"))
    poster.line([(x, base - high * 1.05), (x, base - high * 0.98)], poster.colour("ink"), 3)
    poster.line([(x - 7, base - high * 1.03), (x + 7, base - high * 1.03)], poster.colour("ink"), 3)


def needle(
    poster: PosterCanvas, x: float, base: float, high: float, head: str = "saucer", colour: str = "#e8e4d8"
) -> None:
    """A thin shaft that carries a saucer, a bud or a pod, and a mast."""
    for side in (-1, 1):
        leg = [
            (x + side * high * (0.016 + 0.07 * (1 - step / 20) ** 3), base - high * 0.74 * step / 20)
            for step in range(21)
        ]
        poster.line(leg, poster.colour(colour, 0.05 if side < 0 else 0.2), high * 0.018)
    poster.block(x - high * 0.012, base - high * 0.76, x + high * 0.012, base, poster.colour(colour, 0.1))
    y = base - high * 0.76
    if head == "bud":
        for leaf in range(7):
            at = (leaf - 3) / 3
            petal = [
                (x + at * high * 0.05, y + high * 0.05),
                (x + at * high * 0.13, y - high * 0.05),
                (x + at * high * 0.075, y - high * 0.14),
                (x, y - high * 0.02),
            ]
            poster.polygon(petal, poster.colour("#c0417d" if leaf % 2 else "#8f2f6b"))
        poster.polygon(
            [(x - high * 0.07, y - high * 0.1), (x, y - high * 0.16), (x + high * 0.07, y - high * 0.1), (x, y)],
            poster.colour("#d869a0"),
        )
    else:
        poster.polygon(
            [
                (x - high * 0.03, y + high * 0.045),
                (x - high * 0.12, y),
                (x + high * 0.12, y),
                (x + high * 0.03, y + high * 0.045),
            ],
            poster.colour(colour, 0.15),
        )
        poster.oval(x, y, high * 0.13, high * 0.014, poster.colour(colour))
        poster.block(x - high * 0.075, y - high * 0.03, x + high * 0.075, y - 2, poster.colour("light", 0.1))
        poster.polygon(
            [
                (x - high * 0.1, y - high * 0.03),
                (x - high * 0.03, y - high * 0.065),
                (x + high * 0.03, y - high * 0.065),
                (x + high * 0.1, y - high * 0.03),
            ],
            poster.colour(colour, 0.05),
        )
    poster.polygon([(x - 5, y - high * 0.06), (x, base - high), (x + 5, y - high * 0.06)], poster.colour(colour, 0.25))


def tiers(
    poster: PosterCanvas, x: float, base: float, high: float, wide: float, steps: int = 7, colour: str = "#9fb4c4"
) -> None:
    """A glass tower that narrows in steps to a needle."""
    for step in range(steps):
        share = (1 - step / steps) ** 1.05
        half, top = wide / 2 * share, base - high * (0.3 + 0.6 * (step + 1) / steps)
        poster.block(x - half, top, x + half, base, poster.colour(colour, 0.06 * (step % 2)))
        poster.block(x + half * 0.35, top, x + half, base, poster.colour(colour, 0.2))
        poster.block(x - half, top, x - half * 0.7, base, poster.colour(colour, -0.25))
    for row in range(46):
        share = row / 46
        half = wide / 2 * (1 - max(0.0, floor((share * 0.86 - 0.3) / 0.6 * steps)) / steps) ** 1.05
        y = base - high * 0.86 * share
        poster.line([(x - half, y), (x + half, y)], poster.colour(colour, 0.3), 0.8, 0.18)
    poster.polygon(
        [(x - 5, base - high * 0.88), (x, base - high), (x + 5, base - high * 0.88)], poster.colour(colour, 0.1)
    )


def twins(poster: PosterCanvas, x: float, base: float, high: float, colour: str = "#b7c4cf") -> None:
    """Two equal towers with ribs of steel and a bridge between them."""
    gap, half = high * 0.2, high * 0.085
    poster.block(x - gap, base - high * 0.46, x + gap, base - high * 0.43, poster.colour(colour, 0.3))
    poster.line(
        [(x - gap * 0.5, base - high * 0.3), (x, base - high * 0.43), (x + gap * 0.5, base - high * 0.3)],
        poster.colour(colour, 0.3),
        4,
    )
    for side in (-1, 1):
        at = x + side * gap
        for share, top in ((1.0, 0.62), (0.82, 0.72), (0.62, 0.8), (0.4, 0.86)):
            poster.block(at - half * share, base - high * top, at + half * share, base, poster.colour(colour))
            poster.block(
                at + half * share * 0.4, base - high * top, at + half * share, base, poster.colour(colour, 0.2)
            )
            poster.block(
                at - half * share - 3,
                base - high * top - 4,
                at + half * share + 3,
                base - high * top + 3,
                poster.colour(colour, 0.3),
            )
        for row in range(40):
            y = base - high * 0.6 * row / 40
            poster.block(at - half, y, at + half, y + 3, poster.colour("light"), 0.3 if row % 2 else 0.5)
        poster.polygon(
            [(at - half * 0.3, base - high * 0.86), (at, base - high), (at + half * 0.3, base - high * 0.86)],
            poster.colour(colour, 0.1),
        )
        poster.oval(at, base - high * 0.93, 6, 6, poster.colour(colour, -0.3))


def lighthouse(
    poster: PosterCanvas, x: float, base: float, high: float, upper: str = "#b8322c", lower: str = "#f7f3ea"
) -> None:
    """A tapering tower in two colours, with a lantern and its beam."""

    def wide(share: float) -> float:
        return high * (0.13 - 0.055 * share)

    lamp = (x, base - high * 0.9)
    beam: list[Point] = [lamp, (x + high * 3, base - high * 1.46), (x + high * 3, base - high * 0.62)]
    poster.polygon(beam, poster.colour("light"), 0.22)
    for bottom, top, shade in ((0.0, 0.45, lower), (0.45, 0.84, upper)):
        corners = [
            (x - wide(bottom), base - high * bottom),
            (x - wide(top), base - high * top),
            (x + wide(top), base - high * top),
            (x + wide(bottom), base - high * bottom),
        ]
        poster.polygon(corners, poster.colour(shade))
        poster.polygon(
            [(x + wide(bottom) * 0.4, base - high * bottom), (x + wide(top) * 0.4, base - high * top), *corners[2:]],
            poster.colour(shade, 0.18),
        )
    for share in (0.14, 0.34, 0.56, 0.74):
        poster.block(x - 7, base - high * share - 12, x + 7, base - high * share + 8, poster.colour("#3b4650"))
    poster.block(
        x - wide(0.84) * 1.35, base - high * 0.86, x + wide(0.84) * 1.35, base - high * 0.84, poster.colour("ink")
    )
    poster.block(
        x - wide(0.84) * 0.7, base - high * 0.94, x + wide(0.84) * 0.7, base - high * 0.86, poster.colour("light")
    )
    poster.polygon(
        [(x - wide(0.84) * 0.85, base - high * 0.94), (x, base - high), (x + wide(0.84) * 0.85, base - high * 0.94)],
        poster.colour("ink"),
    )


def arch(poster: PosterCanvas, x: float, base: float, high: float, colour: str = "#dfe5ea") -> None:
    """A slender arch of steel."""
    outer = [
        (
            x + high * 0.5 * (1 - 2 * step / 60),
            base - high * (1 - (1 - 2 * step / 60) ** 2 * (0.72 + 0.28 * (1 - 2 * step / 60) ** 2)),
        )
        for step in range(61)
    ]
    inner = [(x + (px - x) * 0.86, base - (base - py) * 0.955 + 0.0) for px, py in outer]
    poster.polygon([*outer, *reversed(inner)], poster.colour(colour))
    poster.polygon([*outer[:31], *reversed(inner[:31])], poster.colour(colour, 0.22))
