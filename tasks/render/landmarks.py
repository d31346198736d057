"""Famous buildings, towers, bridges and mountains as simple drawings; those without one of their own look like their kind.

Most are symbols in the sheet `data/drawings/landmarks.svg`; here and in `buildings` are those made of parts that repeat,
such as arches. A drawing has a frame of 300 × 200 units, its foot at 170 and its middle at 150; `postcards` frames it.
"""

import math
from collections.abc import Callable

from m3bench.tasks.json_types import Record
from m3bench.tasks.render import buildings
from m3bench.tasks.render.buildings import DARK, FOOT, GLASS, GOLD, IRON, PALE, SHADE, STONE, Drawing, arches, spire
from m3bench.tasks.render.drawings import sheet
from m3bench.tasks.render.shapes import ellipse, line, path, polygon, rect


def snow_peak(colour: str = "#6b7f9c", wide: float = 130) -> Drawing:
    """A mountain with a white top."""
    return [
        polygon([(150 - wide, FOOT), (138, 48), (162, 48), (150 + wide, FOOT)], colour),
        path(f"M{150 - wide * 0.42:.0f} 96 L138 48 L162 48 L{150 + wide * 0.42:.0f} 96 L{150 + wide * 0.24:.0f} 84 L166 100 L150 82 L134 100 L{150 - wide * 0.24:.0f} 84 Z", "#ffffff"),
    ]  # fmt: skip


def garden() -> Drawing:
    """Trees and a fountain."""
    trees = ((60, 26), (98, 34), (206, 32), (244, 24))
    return [
        *(
            fragment
            for x, r in trees
            for fragment in (rect(x - 3, 120, 6, 50, DARK), ellipse(x, 118, r, r * 1.1, "#5f9a58"))
        ),
        rect(120, 160, 60, 10, STONE, 4),
        ellipse(150, 158, 26, 5, GLASS),
        path(
            "M150 156 Q136 110 128 140 M150 156 Q164 110 172 140 M150 156 L150 112",
            more='stroke="#cfe8f3" stroke-width="3"',
        ),
    ]


def falls() -> Drawing:
    """A broad waterfall."""
    return [
        rect(20, 84, 260, 86, "#7d8a72"),
        rect(20, 78, 260, 10, "#6f9a5c"),
        *(rect(x, 80, 26, 92, "#d7ecf5") for x in (56, 98, 140, 182, 224)),
        ellipse(150, 170, 116, 12, "#ffffff", 'opacity="0.8"'),
    ]


def mesa(colour: str = "#8a7f6a") -> Drawing:
    """A mountain with a flat top."""
    return [
        path(f"M10 {FOOT} Q50 150 66 92 Q70 80 84 80 L214 78 Q230 80 236 96 Q250 150 290 {FOOT} Z", colour),
        *(line(x, 92, x - 4, 140, "#000000", 3, 'opacity="0.12"') for x in range(92, 226, 22)),
    ]


def lake() -> Drawing:
    """A lake with a small pavilion on an island."""
    return [
        ellipse(150, 176, 150, 22, "#7fb3c8"), *(line(x, y, x + 30, y, "#ffffff", 2, 'opacity="0.5"') for x, y in ((60, 172), (190, 176), (110, 184))),
        ellipse(150, 168, 44, 8, "#7c9a5e"), rect(132, 128, 36, 38, "#d8c9a6"), rect(144, 142, 12, 24, "#5a4b40"), polygon([(122, 130), (150, 102), (178, 130)], "#8f5a44"),
        *(fragment for x in (26, 274) for fragment in (rect(x - 3, 124, 6, 44, "#5a4b40"), ellipse(x, 118, 22, 26, "#5f9a58"))),
    ]  # fmt: skip


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


def sight(landmark: Record) -> Drawing:
    """The fragments of a landmark of the world."""
    drawn = sheet("landmarks").get(landmark["id"])
    if drawn is not None:
        return list(drawn.fragments)
    return _OWN.get(landmark["id"], _KINDS.get(landmark["kind"], buildings.monument))()


_KINDS: dict[str, Callable[[], Drawing]] = {
    "attraction": wheel, "bridge": bridge, "castle": buildings.castle, "church": buildings.church, "government": buildings.palace, "hotel": skyscraper,
    "lighthouse": lighthouse, "monument": buildings.monument, "mosque": buildings.mosque, "mountain": snow_peak, "museum": buildings.temple, "natural": snow_peak,
    "neighborhood": buildings.houses, "palace": buildings.palace, "park": garden, "station": buildings.palace, "temple": buildings.pagoda, "theatre": buildings.modern, "tower": tower,
    "university": buildings.palace, "viewpoint": snow_peak, "waterfall": falls,
}  # fmt: skip
_OWN: dict[str, Callable[[], Drawing]] = {
    "eiffel-tower": lambda: lattice(IRON), "tokyo-tower": lambda: lattice("#d9532f"),
    "big-ben": clock_tower, "leaning-tower": leaning, "colosseum": buildings.colosseum,
    "taj-mahal": buildings.taj, "statue-of-liberty": buildings.liberty, "sydney-opera-house": buildings.shells,
    "golden-gate": lambda: suspension("#c4452f"), "tower-bridge": bascule,
    "burj-khalifa": burj, "brandenburg-gate": buildings.gate, "mount-fuji": snow_peak,
    "christ-the-redeemer": buildings.christ, "oriental-pearl": pearl,
    "arc-de-triomphe": buildings.arch_of_triumph, "petronas-towers": twins, "gateway-arch": gateway,
    "atomium": atoms, "stonehenge": buildings.stones, "london-eye": wheel,
    "marina-bay-sands": sands, "fushimi-inari": buildings.torii, "merlion": buildings.merlion,
    "petra-treasury": buildings.temple, "louvre": buildings.glass_pyramid, "borobudur": buildings.stupa,
    "hoan-kiem-lake": lake, "uluru": lambda: mesa("#b5593a"), "giants-causeway": buildings.stones,
    "easter-island": buildings.faces, "mount-rushmore": buildings.faces, "chichen-itza": buildings.pyramids,
}  # fmt: skip
