"""Palaces, castles and houses, drawn in a frame of 300 × 200 units."""

from m3bench.tasks.render.masonry import DARK, FOOT, GLASS, PALE, ROOF, SHADE, STONE, Drawing, arches
from m3bench.tasks.render.shapes import line, path, polygon, rect


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
