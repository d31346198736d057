"""Mountains, waterfalls and gardens, drawn in a frame of 300 × 200 units."""

from m3bench.tasks.render.masonry import DARK, FOOT, GLASS, STONE, Drawing
from m3bench.tasks.render.shapes import ellipse, path, polygon, rect


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
