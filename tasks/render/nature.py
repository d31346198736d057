"""Mountains, waterfalls and gardens, drawn in a frame of 300 × 200 units."""

from m3bench.tasks.render.masonry import DARK, FOOT, GLASS, STONE, Drawing
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
