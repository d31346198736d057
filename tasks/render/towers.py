"""Towers, wheels and tall houses, drawn in a frame of 300 × 200 units."""

import math

from m3bench.tasks.render.masonry import DARK, FOOT, GLASS, GOLD, PALE, SHADE, STONE, Drawing, arches, spire
from m3bench.tasks.render.shapes import ellipse, line, path, polygon, rect


def lattice(colour: str, top: float = 26) -> Drawing:
    """A tapering iron tower on four feet, two of which are seen."""
    d = f"M108 {FOOT} C138 132 145 90 148 {top} L152 {top} C155 90 162 132 192 {FOOT} L176 {FOOT} Q150 122 124 {FOOT} Z"
    return [
        path(d, colour),
        *(path(f"M{150 - w} {y} L{150 + w} {y + 12} M{150 + w} {y} L{150 - w} {y + 12}", more='stroke="#ffffff" stroke-opacity="0.35" stroke-width="1.4"') for y, w in ((70, 4), (86, 6), (102, 9), (118, 12))),
        rect(130, 130, 40, 5, colour), rect(138, 98, 24, 4, colour), rect(146, top - 2, 8, 6, colour),
        line(150, top, 150, top - 14, colour, 2),
    ]  # fmt: skip


def clock_tower() -> Drawing:
    """A clock tower beside a parliament."""
    return [
        *(rect(x, 128, 44, 42, SHADE) for x in (176, 222)), *arches(178, 264, 138, 26, 6),
        *(polygon([(x, 128), (x + 5, 114), (x + 10, 128)], DARK) for x in (178, 208, 238, 256)),
        *spire(150, 34, 18, 52), rect(130, 52, 40, 34, SHADE), ellipse(150, 69, 13, 13, PALE, f'stroke="{DARK}" stroke-width="2"'),
        line(150, 69, 150, 60, DARK, 2), line(150, 69, 156, 72, DARK, 2), *(line(x, 92, x, 166, SHADE, 2) for x in (142, 150, 158)),
    ]  # fmt: skip


def leaning() -> Drawing:
    """A round tower of arches that leans."""
    tiers = [
        fragment
        for n in range(7)
        for fragment in (
            rect(126, 50 + n * 17, 48, 15, PALE), *arches(127, 173, 52 + n * 17, 12, 7, SHADE), rect(123, 64 + n * 17, 54, 4, STONE),
        )
    ]  # fmt: skip
    return [
        f'<g transform="rotate(5.5 150 {FOOT})">',
        rect(132, 32, 36, 18, PALE),
        *arches(133, 167, 36, 13, 5, SHADE),
        *tiers,
        "</g>",
    ]


def burj() -> Drawing:
    """A very tall tower of glass in steps."""
    tiers = ((30, 140, 170), (24, 112, 170), (18, 84, 170), (12, 58, 170), (6, 36, 170))
    return [
        *(rect(150 - w, top, 2 * w, foot - top, GLASS) for w, top, foot in tiers),
        *(rect(150, top, w, foot - top, "#3d6781", 0, 'opacity="0.25"') for w, top, foot in tiers),
        line(150, 40, 150, 8, "#6d8ea0", 2.5),
    ]


def pearl() -> Drawing:
    """A television tower of spheres."""
    return [
        line(150, 60, 150, 8, "#b5657a", 3), *(polygon([(x, FOOT), (150 + (x - 150) * 0.25, 110), (150 + (x - 150) * 0.25 + 6, 110), (x + 8, FOOT)], "#9a8f98") for x in (118, 146, 174)),
        rect(143, 56, 4, 90, "#9a8f98"), rect(153, 56, 4, 90, "#9a8f98"), ellipse(150, 126, 22, 22, "#c2546e"), ellipse(150, 70, 14, 14, "#c2546e"), ellipse(150, 42, 6, 6, "#c2546e"),
        ellipse(143, 118, 7, 5, "#ffffff", 'opacity="0.4"'), ellipse(145, 65, 5, 4, "#ffffff", 'opacity="0.4"'),
    ]  # fmt: skip


def twins() -> Drawing:
    """Two equal towers joined by a bridge."""
    return [
        *(fragment for x in (116, 184) for fragment in (rect(x - 18, 84, 36, 86, "#b9c6cd"), rect(x - 13, 60, 26, 24, "#b9c6cd"), rect(x - 8, 42, 16, 18, "#b9c6cd"), polygon([(x - 5, 42), (x, 14), (x + 5, 42)], "#8fa0a9"), *(rect(x - 18, y, 36, 2, "#7b8c96") for y in range(92, 168, 10)))),
        rect(134, 112, 32, 6, "#8fa0a9"), path("M138 136 L150 118 L162 136", more='stroke="#8fa0a9" stroke-width="2.5"'),
    ]  # fmt: skip


def skyscraper() -> Drawing:
    """A stepped skyscraper."""
    return [
        rect(112, 110, 76, 60, SHADE),
        rect(122, 70, 56, 100, STONE),
        rect(132, 48, 36, 30, STONE),
        rect(142, 34, 16, 16, SHADE),
        line(150, 34, 150, 10, "#8c8c90", 3),
        *(line(x, 56, x, 166, SHADE, 2) for x in range(130, 172, 8)),
    ]


def tower() -> Drawing:
    """A square tower."""
    return [
        *spire(150, 44, 22, 58),
        *arches(132, 168, 66, 26, 2),
        rect(126, 98, 48, 4, SHADE),
        *arches(132, 168, 108, 24, 2),
        rect(126, 138, 48, 4, SHADE),
        *arches(138, 162, 148, 22, 1),
    ]


def lighthouse() -> Drawing:
    """A lighthouse in red and white."""
    return [
        polygon([(130, FOOT), (138, 62), (162, 62), (170, FOOT)], PALE),
        polygon([(133, 134), (136, 98), (164, 98), (167, 134)], "#c8423a"),
        rect(132, 56, 36, 6, DARK),
        rect(140, 38, 20, 18, GOLD),
        polygon([(136, 38), (150, 24), (164, 38)], "#c8423a"),
    ]


def atoms() -> Drawing:
    """Nine spheres of a crystal, seven of which are seen."""
    balls = ((150, 36), (112, 62), (188, 62), (150, 92), (112, 120), (188, 120), (150, 148))
    tubes = [
        line(*balls[a], *balls[b], "#9aa7b0", 4)
        for a, b in ((0, 1), (0, 2), (0, 3), (1, 3), (2, 3), (1, 4), (2, 5), (3, 4), (3, 5), (3, 6), (4, 6), (5, 6))
    ]
    return [
        *tubes,
        *(
            fragment
            for x, y in balls
            for fragment in (ellipse(x, y, 16, 16, "#c4d0d8"), ellipse(x - 5, y - 5, 5, 4, "#ffffff", 'opacity="0.7"'))
        ),
        line(112, 132, 100, FOOT, "#9aa7b0", 4),
        line(188, 132, 200, FOOT, "#9aa7b0", 4),
    ]


def gateway() -> Drawing:
    """A high steel arch."""
    return [
        path(f"M84 {FOOT} C92 40 130 26 150 26 C170 26 208 40 216 {FOOT}", more='stroke="#c3cdd4" stroke-width="9"'),
        path(f"M88 {FOOT} C96 44 132 30 150 30", more='stroke="#ffffff" stroke-width="2" opacity="0.6"'),
    ]


def wheel() -> Drawing:
    """An observation wheel."""
    rim = [(150 + 62 * math.cos(n * math.pi / 8), 92 + 62 * math.sin(n * math.pi / 8)) for n in range(16)]
    return [
        line(150, 92, 122, FOOT, "#8d99a3", 5), line(150, 92, 178, FOOT, "#8d99a3", 5), ellipse(150, 92, 62, 62, "none", 'stroke="#eef2f5" stroke-width="4"'),
        *(line(150, 92, x, y, "#ffffff", 1, 'opacity="0.7"') for x, y in rim), *(ellipse(x, y, 6, 4.5, "#5f93b8") for x, y in rim), ellipse(150, 92, 6, 6, "#8d99a3"),
    ]  # fmt: skip


def sands() -> Drawing:
    """Three towers that carry a ship."""
    return [
        *(
            fragment
            for x in (92, 140, 188)
            for fragment in (
                polygon([(x, FOOT), (x + 5, 66), (x + 25, 66), (x + 30, FOOT)], GLASS),
                *(line(x + 4, y, x + 26, y, "#ffffff", 1, 'opacity="0.5"') for y in range(76, 168, 10)),
            )
        ),
        path("M78 58 Q150 72 240 54 L236 66 Q150 78 84 68 Z", PALE),
    ]
