"""Churches, mosques, temples and tombs, drawn in a frame of 300 × 200 units."""

from m3bench.tasks.render.masonry import (
    DARK,
    FOOT,
    GLASS,
    GOLD,
    PALE,
    ROOF,
    SHADE,
    STONE,
    Drawing,
    arches,
    columns,
    dome,
    spire,
)
from m3bench.tasks.render.shapes import ellipse, line, path, polygon, rect


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
