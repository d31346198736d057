"""Bridges over water, drawn in a frame of 300 × 200 units; they go on beyond it on both sides."""

from m3bench.tasks.render.masonry import DARK, SHADE, STONE, Drawing, arches
from m3bench.tasks.render.shapes import line, path, polygon, rect


def suspension(colour: str) -> Drawing:
    """A suspension bridge with two towers."""
    hangers = [line(x, 70 + 58 * (1 - ((x - 150) / 62) ** 2), x, 138, colour, 1) for x in range(94, 210, 8)]
    return [
        rect(-90, 150, 480, 90, "#5f9dbd"), *(line(x, y, x + 26, y, "#ffffff", 1.5, 'opacity="0.5"') for x, y in ((20, 164), (110, 176), (200, 166), (250, 186), (60, 190))),
        path("M-90 134 Q50 128 88 60 Q150 196 212 60 Q250 128 390 134", more=f'stroke="{colour}" stroke-width="3"'), *hangers,
        rect(-90, 136, 480, 6, colour), *(fragment for x in (88, 212) for fragment in (rect(x - 7, 58, 5, 104, colour), rect(x + 2, 58, 5, 104, colour), *(rect(x - 7, y, 14, 4, colour) for y in (58, 82, 108)))),
    ]  # fmt: skip


def bascule() -> Drawing:
    """A drawbridge between two gothic towers."""
    return [
        rect(-90, 152, 480, 90, "#6f9fb4"), path("M-60 140 Q60 136 96 84 M204 84 Q240 136 360 140", more='stroke="#4f86a6" stroke-width="4"'),
        rect(-90, 138, 480, 7, "#4f86a6"), rect(106, 84, 88, 7, "#4f86a6"), rect(106, 96, 88, 4, "#4f86a6"),
        *(fragment for x in (100, 200) for fragment in (rect(x - 16, 70, 32, 90, STONE), *arches(x - 12, x + 12, 100, 34, 1), polygon([(x - 18, 70), (x, 36), (x + 18, 70)], DARK), *(polygon([(x + o - 4, 70), (x + o, 48), (x + o + 4, 70)], SHADE) for o in (-13, 13)))),
    ]  # fmt: skip


def bridge() -> Drawing:
    """An old bridge on stone arches."""
    return [
        rect(-90, 152, 480, 90, "#6f9fb4"),
        path(
            "M-90 116 H390 V166 H282 A28 28 0 0 0 226 166 H210 A28 28 0 0 0 154 166 H146 A28 28 0 0 0 90 166 H74 A28 28 0 0 0 18 166 H-90 Z",
            STONE,
        ),
        rect(-90, 110, 480, 8, SHADE),
        *(rect(x, 100, 8, 12, SHADE) for x in (4, 78, 146, 214, 288)),
    ]
