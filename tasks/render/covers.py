"""Covers of books without a title that can be read: a colour, a pattern, and a picture in the middle."""

import random
from collections.abc import Sequence
from typing import NamedTuple

from m3bench.tasks.render.art import Art
from m3bench.tasks.render.canvas import Canvas
from m3bench.tasks.render.shapes import ellipse, fade, line, mix, polygon, rect

COLOURS = ("#b23a35", "#27588f", "#2e7048", "#d9a02b", "#6b4590", "#d8703a", "#1f7f83", "#3b3f4a", "#e6dcc4", "#c8708f")
PATTERNS = ("stripes", "dots", "rays", "frame", "bands", "checks")
MOTIFS = (
    "sailboat", "owl", "rose", "key", "castle", "cat", "fox", "bicycle", "crown", "compass", "whale", "violin", "umbrella",
    "lantern", "butterfly", "anchor", "hourglass", "teapot", "elephant", "mountain", "telescope", "horse", "piano", "cactus",
)  # fmt: skip
WIDTH, HEIGHT = 204, 280


class Cover(NamedTuple):
    """What a cover looks like."""

    motif: str
    colour: str
    pattern: str


def cover(art: Art, look: Cover) -> Canvas:
    """A cover on a canvas of its own."""
    canvas = Canvas(art, WIDTH, HEIGHT, look.colour)
    canvas.draw(
        fade("g", mix(look.colour, "#ffffff", 0.1), mix(look.colour, "#000000", 0.12)),
        rect(0, 0, WIDTH, HEIGHT, "url(#g)"),
    )
    canvas.draw(*_pattern(look.pattern, mix(look.colour, "#ffffff" if look.colour != "#e6dcc4" else "#7a6a4a", 0.38)))
    canvas.draw(
        ellipse(WIDTH / 2, HEIGHT * 0.47, 76, 76, "#fbf6ea"),
        rect(34, HEIGHT - 66, WIDTH - 68, 44, "#fbf6ea", 3),
        # Lettering that is too small to be read.
        *(line(46, y, right, y, "#6d675c", 3) for y, right in ((HEIGHT - 52, 158), (HEIGHT - 42, 132), (HEIGHT - 32, 148))),
        rect(0, 0, 9, HEIGHT, "#000000", 0, 'opacity="0.22"'),
        line(13, 0, 13, HEIGHT, "#ffffff", 2, 'opacity="0.25"'),
    )  # fmt: skip
    canvas.place(look.motif, WIDTH / 2, HEIGHT * 0.47 + 54, 108, shadow=False, note=False)
    canvas.draw(rect(0, 0, WIDTH, HEIGHT, "none", 0, 'stroke="#000000" stroke-opacity="0.3" stroke-width="2"'))
    return canvas


def unlike(rng: random.Random, looks: Sequence[Cover], like: Cover, *, motif: bool) -> Cover:
    """A cover that shares its motif, or else its colour and pattern, with one and is none of those there are."""
    if motif:
        colour = rng.choice([one for one in COLOURS if one not in {look.colour for look in looks if look == like}])
        return Cover(like.motif, colour, rng.choice([one for one in PATTERNS if one != like.pattern]))
    used = {look.motif for look in looks}
    return Cover(rng.choice([one for one in MOTIFS if one not in used]), like.colour, like.pattern)


def _pattern(name: str, ink: str) -> list[str]:
    if name == "stripes":
        return [rect(x, 0, 12, HEIGHT, ink) for x in range(14, WIDTH, 30)]
    if name == "dots":
        return [
            ellipse(x + (row % 2) * 17, y, 6, 6, ink)
            for row, y in enumerate(range(16, HEIGHT, 28))
            for x in range(12, WIDTH, 34)
        ]
    if name == "rays":
        middle = (WIDTH / 2, HEIGHT * 0.47)
        ends = [(-60, 20), (-60, 120), (-60, 240), (20, 330), (110, 330), (200, 330), (270, 240), (270, 120), (270, 20)]
        ends += [(200, -50), (110, -50), (20, -50)]
        return [polygon([middle, (x - 14, y - 14), (x + 14, y + 14)], ink) for x, y in ends]
    if name == "frame":
        return [
            rect(18, 14, WIDTH - 32, HEIGHT - 28, "none", 0, f'stroke="{ink}" stroke-width="7"'),
            rect(30, 26, WIDTH - 56, HEIGHT - 52, "none", 0, f'stroke="{ink}" stroke-width="3"'),
        ]
    if name == "bands":
        return [rect(0, y, WIDTH, 18, ink) for y in (16, 48, HEIGHT - 96)]
    return [
        rect(x, y, 24, 24, ink)
        for row, y in enumerate(range(0, HEIGHT, 24))
        for x in range(24 * (row % 2), WIDTH, 48)
    ]  # fmt: skip
