"""Monuments, statues and ruins, drawn in a frame of 300 × 200 units."""

import math

from m3bench.tasks.render.masonry import (
    BRICK,
    DARK,
    FOOT,
    GOLD,
    GREEN,
    PALE,
    SHADE,
    STONE,
    Drawing,
    arches,
    columns,
    dome,
)
from m3bench.tasks.render.shapes import ellipse, line, path, polygon, rect


def colosseum() -> Drawing:
    """A ruined amphitheatre."""
    return [
        path(f"M62 {FOOT} L66 78 Q112 62 150 62 L204 74 L206 98 L236 106 L238 {FOOT} Z", STONE),
        *(fragment for n, top in enumerate((80, 110, 140)) for fragment in (*arches(70, 202 if n == 0 else 234, top, 22, 9 if n == 0 else 11, BRICK), rect(66, top + 25, 138 if n == 0 else 170, 3, SHADE))),
    ]  # fmt: skip


def liberty() -> Drawing:
    """A statue with a torch."""
    return [
        polygon([(122, FOOT), (130, 118), (170, 118), (178, FOOT)], STONE), rect(126, 112, 48, 8, SHADE),
        path("M136 112 Q138 84 140 66 L160 66 Q166 90 166 112 Z", GREEN), ellipse(150, 56, 8, 10, GREEN),
        *(line(150, 50, 150 + 16 * math.sin(a), 50 - 16 * math.cos(a), GREEN, 2) for a in (-1.3, -0.8, -0.3, 0.3, 0.8, 1.3)),
        path("M142 70 L128 34 L133 32 L150 66 Z", GREEN), rect(124, 28, 12, 6, DARK), path("M125 28 Q126 16 131 12 Q137 20 135 28 Z", GOLD),
        rect(154, 74, 14, 18, GREEN, 1, 'transform="rotate(14 160 82)"'), path("M146 74 L142 110 M156 76 L158 110", more='stroke="#4d8576" stroke-width="2"'),
    ]  # fmt: skip


def shells() -> Drawing:
    """A house under white shells."""
    shells = ((72, 96, 92), (104, 136, 66), (146, 182, 84), (190, 222, 108))
    return [
        rect(60, 146, 184, 24, BRICK),
        *(path(f"M{left} 148 Q{left + 2} {top + 18} {right + 16} {top} Q{right - 4} {top + 40} {right + 4} 148 Z", PALE, f'stroke="{SHADE}" stroke-width="1.5"') for left, right, top in shells),
        *arches(64, 240, 152, 14, 16, "#6b3c2c"),
    ]  # fmt: skip


def pyramids() -> Drawing:
    """Three pyramids."""
    return [
        fragment
        for x, tall, half in ((214, 64, 56), (82, 84, 72), (150, 112, 92))
        for fragment in (
            polygon([(x - half, FOOT), (x, FOOT - tall), (x + half, FOOT)], "#dcb878"), polygon([(x + half * 0.2, FOOT), (x, FOOT - tall), (x + half, FOOT)], "#b8915a"),
        )
    ]  # fmt: skip


def gate() -> Drawing:
    """A gate of columns with a chariot on it."""
    return [
        rect(78, 96, 144, 12, STONE), rect(86, 82, 128, 14, SHADE), *columns(80, 220, 108, 164, 6, STONE), rect(74, 164, 152, 6, SHADE),
        rect(128, 74, 44, 8, STONE), *(ellipse(x, 66, 6, 7, GREEN) for x in (134, 144, 154)), rect(160, 60, 10, 14, GREEN), line(165, 60, 165, 44, GREEN, 3), ellipse(165, 44, 4, 4, GREEN),
    ]  # fmt: skip


def christ() -> Drawing:
    """A statue with open arms on a hill."""
    return [
        path(f"M60 {FOOT} Q110 120 150 116 Q190 120 240 {FOOT} Z", "#5f8a58"), rect(143, 100, 14, 20, SHADE),
        path("M143 104 L146 56 L154 56 L157 104 Z", PALE), path("M98 58 L146 52 L154 52 L202 58 L202 66 L156 68 L144 68 L98 66 Z", PALE), ellipse(150, 44, 6, 8, PALE),
    ]  # fmt: skip


def arch_of_triumph() -> Drawing:
    """An arch of triumph."""
    return [
        rect(92, 66, 116, 104, STONE),
        rect(88, 62, 124, 10, SHADE),
        rect(88, 88, 124, 5, SHADE),
        *arches(112, 188, 100, 70, 1),
        *(rect(x, 112, 14, 34, SHADE) for x in (100, 186)),
    ]


def stones() -> Drawing:
    """A ring of standing stones."""
    return [
        *(rect(x, 112, 16, 58, "#9a978f", 3) for x in (70, 106, 142, 178, 214)),
        *(rect(x, 100, 54, 13, "#aeaba2", 3) for x in (69, 141)),
        rect(176, 100, 55, 13, "#aeaba2", 3),
        *(rect(x, 140, 14, 30, "#86837c", 3) for x in (50, 240)),
    ]


def monument() -> Drawing:
    """A pavilion with a small dome."""
    return [
        rect(100, 160, 100, 10, SHADE),
        rect(112, 152, 76, 8, STONE),
        rect(124, 104, 52, 48, STONE),
        rect(118, 98, 64, 8, SHADE),
        *arches(132, 168, 112, 40, 1),
        *dome(150, 98, 14, GREEN),
    ]


def merlion() -> Drawing:
    """A beast that spouts water."""
    return [
        rect(-90, 164, 480, 80, "#5f9dbd"),
        path("M132 170 Q124 120 138 96 L168 96 Q178 132 166 170 Z", PALE),
        ellipse(152, 80, 24, 24, PALE),
        ellipse(160, 80, 14, 15, SHADE),
        ellipse(164, 74, 3, 3, DARK),
        path("M176 84 Q226 88 238 170", more='stroke="#d7ecf5" stroke-width="6"'),
        *(path(f"M{138} {y} q14 8 28 0", more=f'stroke="{SHADE}" stroke-width="2"') for y in (112, 126, 140)),
    ]


def faces() -> Drawing:
    """Stone heads in a row."""
    return [
        fragment
        for x in (84, 150, 216)
        for fragment in (
            path(f"M{x - 22} {FOOT} L{x - 18} 92 Q{x} 76 {x + 18} 92 L{x + 22} {FOOT} Z", "#9b968a"),
            rect(x - 15, 104, 30, 7, "#6f6a60"),
            rect(x - 4, 106, 9, 30, "#b5b0a4"),
            rect(x - 9, 146, 18, 5, "#6f6a60"),
        )
    ]
