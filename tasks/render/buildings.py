"""Monuments, palaces, castles, churches, mosques, temples and tombs, and the arches, columns, domes and spires they share.

Each is drawn in a frame of 300 × 200 units.
"""

import math

from m3bench.tasks.render.shapes import ellipse, line, path, polygon, rect

FOOT = 170.0
STONE, SHADE, DARK, ROOF, GOLD, IRON = "#e2d3b5", "#c4b08c", "#5a4b40", "#a8503c", "#d9a73a", "#7a5c48"
GLASS, PALE, BRICK, GREEN = "#8fb4c8", "#f4f1ea", "#b3694a", "#6fae9c"

Drawing = list[str]


def arches(left: float, right: float, top: float, tall: float, count: int, fill: str = DARK) -> Drawing:
    """A row of round arches."""
    step = (right - left) / count
    wide = step * 0.56
    return [
        path(
            f"M{left + step * n + (step - wide) / 2:.1f} {top + tall:.1f} v{-tall + wide / 2:.1f} a{wide / 2:.1f} {wide / 2:.1f} 0 0 1 {wide:.1f} 0 v{tall - wide / 2:.1f} Z",
            fill,
        )
        for n in range(count)
    ]


def columns(left: float, right: float, top: float, foot: float, count: int, fill: str = PALE) -> Drawing:
    """A row of columns."""
    step = (right - left) / count
    return [rect(left + step * (n + 0.25), top, step * 0.5, foot - top, fill) for n in range(count)]


def dome(x: float, foot: float, radius: float, fill: str, tip: str = GOLD) -> Drawing:
    """A dome with a tip."""
    bulb = f"M{x - radius} {foot} C{x - radius * 1.5} {foot - radius * 1.1} {x - radius * 0.4} {foot - radius * 1.5} {x} {foot - radius * 2.1} C{x + radius * 0.4} {foot - radius * 1.5} {x + radius * 1.5} {foot - radius * 1.1} {x + radius} {foot} Z"
    return [path(bulb, fill), line(x, foot - radius * 2.1, x, foot - radius * 2.7, tip, 2)]


def spire(x: float, wide: float, top: float, shoulder: float, wall: str = STONE, roof: str = DARK) -> Drawing:
    """A square tower with a pointed roof."""
    return [
        rect(x - wide / 2, shoulder, wide, FOOT - shoulder, wall),
        rect(x, shoulder, wide / 2, FOOT - shoulder, "#000000", 0, 'opacity="0.1"'),
        polygon([(x - wide / 2 - 2, shoulder), (x, top), (x + wide / 2 + 2, shoulder)], roof),
    ]


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


def castle() -> Drawing:
    """A castle on a rock."""
    teeth = [rect(90 + n * 13, 104, 8, 8, STONE) for n in range(10)]
    return [
        path(f"M50 {FOOT} L76 148 L224 148 L250 {FOOT} Z", "#8c8f78"),
        rect(88, 110, 124, 42, STONE),
        *teeth,
        *arches(138, 162, 122, 30, 1),
        *(
            fragment
            for x, top in ((88, 84), (212, 84), (150, 62))
            for fragment in (
                rect(x - 13, top, 26, 152 - top if x != 150 else 50, SHADE),
                polygon([(x - 16, top), (x, top - 28), (x + 16, top)], ROOF),
            )
        ),
    ]


def palace() -> Drawing:
    """A long house with a flag."""
    return [
        rect(56, 112, 188, 58, STONE),
        rect(126, 92, 48, 78, STONE),
        polygon([(122, 92), (150, 74), (178, 92)], SHADE),
        rect(52, 106, 74, 7, ROOF),
        rect(174, 106, 74, 7, ROOF),
        *arches(62, 122, 122, 18, 6),
        *arches(178, 238, 122, 18, 6),
        *arches(62, 122, 148, 18, 6),
        *arches(178, 238, 148, 18, 6),
        *arches(138, 162, 132, 38, 1),
        line(150, 74, 150, 52, DARK, 2),
        polygon([(150, 52), (168, 57), (150, 62)], ROOF),
    ]


def modern() -> Drawing:
    """A slanting hall of glass."""
    return [
        polygon([(64, FOOT), (90, 110), (220, 92), (240, FOOT)], PALE),
        polygon([(120, 150), (134, 112), (206, 102), (216, 150)], GLASS),
        *(line(x, 150, x + 4, 106, "#ffffff", 1.5) for x in range(136, 212, 12)),
    ]


def houses() -> Drawing:
    """Painted houses side by side."""
    colours = ("#d8684f", "#e0b04a", "#6f9fb8", "#8fb37a", "#c98aa0", "#e8dcc4")
    return [
        fragment
        for n, colour in enumerate(colours)
        for fragment in (
            rect(36 + n * 38, 84 + n % 3 * 8, 36, 86 - n % 3 * 8, colour),
            polygon(
                [(34 + n * 38, 84 + n % 3 * 8), (54 + n * 38, 62 + n % 3 * 8), (74 + n * 38, 84 + n % 3 * 8)], DARK
            ),
            *arches(40 + n * 38, 70 + n * 38, 98, 16, 3, PALE),
            *arches(40 + n * 38, 70 + n * 38, 124, 16, 3, PALE),
        )
    ]


def glass_pyramid() -> Drawing:
    """A pyramid of glass before a palace."""
    panes = [
        line(
            150 - 56 * n / 5,
            170 - 74 * (5 - n) / 5,
            150 + 56 * n / 5,
            170 - 74 * (5 - n) / 5,
            "#ffffff",
            1.2,
            'opacity="0.7"',
        )
        for n in range(1, 5)
    ]
    return [
        *palace(),
        polygon([(94, FOOT), (150, 96), (206, FOOT)], GLASS, 'opacity="0.92"'),
        *panes,
        *(line(150, 96, x, FOOT, "#ffffff", 1.2, 'opacity="0.7"') for x in (112, 131, 150, 169, 188)),
    ]


def church() -> Drawing:
    """A church with two towers."""
    return [
        *spire(112, 30, 36, 82), *spire(188, 30, 36, 82), rect(126, 104, 48, 66, STONE), polygon([(124, 104), (150, 74), (176, 104)], ROOF),
        ellipse(150, 116, 9, 9, GLASS), *arches(138, 162, 134, 36, 1), *arches(102, 122, 96, 26, 1), *arches(178, 198, 96, 26, 1), *(line(x, 36, x, 26, GOLD, 2) for x in (112, 188)),
    ]  # fmt: skip


def mosque() -> Drawing:
    """A mosque with two minarets."""
    return [
        rect(92, 118, 116, 52, STONE), ellipse(150, 118, 40, 36, GLASS), rect(92, 118, 116, 8, SHADE), line(150, 82, 150, 70, GOLD, 3), *(ellipse(x, 126, 14, 12, GLASS) for x in (106, 194)), rect(92, 126, 116, 44, STONE),
        *arches(98, 202, 136, 34, 7), *(fragment for x in (70, 230) for fragment in (rect(x - 5, 70, 10, 100, STONE), rect(x - 8, 96, 16, 4, SHADE), polygon([(x - 6, 70), (x, 40), (x + 6, 70)], DARK))),
    ]  # fmt: skip


def temple() -> Drawing:
    """A temple with columns."""
    return [
        polygon([(78, 88), (150, 54), (222, 88)], STONE),
        polygon([(96, 84), (150, 60), (204, 84)], SHADE),
        rect(78, 88, 144, 10, STONE),
        *columns(82, 218, 98, 156, 7),
        rect(74, 156, 152, 7, STONE),
        rect(66, 163, 168, 7, SHADE),
    ]


def pagoda() -> Drawing:
    """Three roofs one above the other."""
    return [
        *(
            fragment
            for n, (half, y) in enumerate(((26, 62), (36, 92), (46, 122)))
            for fragment in (
                rect(150 - half * 0.62, y, half * 1.24, 32, "#d8b48a"),
                path(
                    f"M{150 - half - 10} {y + 2} Q{150 - half * 0.4} {y - 4} 150 {y - 18} Q{150 + half * 0.4} {y - 4} {150 + half + 10} {y + 2} Z",
                    "#8f3b32",
                ),
            )
        ),
        rect(138, 134, 24, 22, DARK),
        rect(100, 152, 100, 18, STONE),
        line(150, 44, 150, 26, GOLD, 3),
    ]


def torii() -> Drawing:
    """Two red gates."""
    return [
        fragment
        for scale, x in ((0.62, 210), (1.0, 132))
        for fragment in (
            f'<g transform="translate({x} {FOOT}) scale({scale})">',
            path("M-72 -112 Q0 -98 72 -112 L70 -98 Q0 -86 -70 -98 Z", "#3a2a2a"),
            rect(-60, -96, 120, 9, "#d9472f"),
            rect(-52, -70, 104, 8, "#d9472f"),
            rect(-46, -90, 11, 90, "#d9472f"),
            rect(35, -90, 11, 90, "#d9472f"),
            "</g>",
        )
    ]


def taj() -> Drawing:
    """A white tomb with four minarets."""
    return [
        rect(70, 158, 160, 12, PALE), rect(106, 108, 88, 50, PALE), *dome(150, 108, 24, PALE), *dome(116, 108, 8, PALE), *dome(184, 108, 8, PALE),
        *arches(132, 168, 116, 42, 1, SHADE), *arches(108, 132, 128, 26, 1, SHADE), *arches(168, 192, 128, 26, 1, SHADE),
        *(fragment for x in (82, 218) for fragment in (rect(x - 4, 84, 8, 74, PALE), rect(x - 6, 106, 12, 3, SHADE), *dome(x, 84, 5, PALE))),
    ]  # fmt: skip


def stupa() -> Drawing:
    """A white dome with a gilded spire and flags."""
    return [
        rect(70, 156, 160, 14, STONE), rect(84, 144, 132, 12, PALE), path("M92 144 Q94 92 150 88 Q206 92 208 144 Z", PALE), rect(134, 72, 32, 18, GOLD),
        *(ellipse(x, 80, 4, 2.4, DARK) for x in (143, 157)), polygon([(136, 72), (150, 30), (164, 72)], GOLD),
        *(path(f"M150 40 Q{150 + side * 50} 90 {150 + side * 96} 150", more=f'stroke="{colour}" stroke-width="2.5" stroke-dasharray="7 4"') for side, colour in ((-1, "#c8423a"), (1, "#3c6fb0"))),
    ]  # fmt: skip
