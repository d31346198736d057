"""An open cupboard on a tiled kitchen wall, above a worktop, for things to stand in."""

import random

from m3bench.tasks.render.canvas import Canvas
from m3bench.tasks.render.shapes import fade, line, mix, path, rect

_TILES = ("#dfe7e6", "#e9e1d2", "#d6dfe8", "#e4ddd9", "#d9e2d3")
_WOODS = ("#a97f5b", "#8d633f", "#c9a376", "#7d5b41", "#b3a28c")
_TOPS = ("#6b6f75", "#8a7f74", "#55504b", "#9b9a94")
_SIDE = 0.06
"""The share of the picture beside the cupboard: a phone may cut it off."""


def cupboard(canvas: Canvas, rng: random.Random, boards: int) -> list[float]:
    """Draw it; returns the height of each board's upper edge, from above."""
    width, height = canvas.width, canvas.height
    tile, wood, top = rng.choice(_TILES), rng.choice(_WOODS), rng.choice(_TOPS)
    canvas.draw(rect(0, 0, width, height, tile))
    _tiles(canvas, rng, tile)
    left, right, ceiling, floor = width * _SIDE, width * (1 - _SIDE), height * 0.05, height * 0.9
    inside, dark = mix(wood, "#ffffff", 0.5), mix(wood, "#000000", 0.25)
    canvas.draw(
        rect(left + 10, ceiling + 16, right - left, floor - ceiling, "#00000040", 8),
        rect(left - 22, ceiling - 22, right - left + 44, floor - ceiling + 44, wood, 6),
        fade("inside", mix(inside, "#000000", 0.22), inside),
        rect(left, ceiling, right - left, floor - ceiling, "url(#inside)"),
    )
    for share in (0.2, 0.4, 0.6, 0.8):
        x = left + (right - left) * share
        canvas.draw(line(x, ceiling, x, floor, dark, 3, 'opacity="0.28"'))
    _grain(canvas, rng, left, right, ceiling, floor, dark)
    edges = []
    for number in range(1, boards + 1):
        y = ceiling + (floor - ceiling) * number / boards - 22
        canvas.draw(
            rect(left, y - 26, right - left, 28, mix(wood, "#ffffff", 0.28)),
            rect(left, y, right - left, 22, wood),
            rect(left, y, right - left, 4, mix(wood, "#ffffff", 0.4)),
            rect(left, y + 22, right - left, 18, "#00000030") if number < boards else "",
        )
        edges.append(y - 6)
    canvas.draw(
        rect(0, height * 0.945, width, height * 0.055, top),
        rect(0, height * 0.945, width, 6, mix(top, "#ffffff", 0.35)),
    )
    return edges


def _tiles(canvas: Canvas, rng: random.Random, tile: str) -> None:
    side, joint = 96, mix(tile, "#8a8f96", 0.35)
    for row in range(canvas.height // side + 1):
        for column in range(canvas.width // side + 2):
            x = column * side - (side / 2 if row % 2 else 0)
            shade = mix(tile, rng.choice(("#ffffff", "#9aa0a6")), rng.uniform(0, 0.14))
            canvas.draw(rect(x, row * side, side, side, shade, 3, f'stroke="{joint}" stroke-width="3"'))


def _grain(
    canvas: Canvas, rng: random.Random, left: float, right: float, ceiling: float, floor: float, dark: str
) -> None:
    for _ in range(26):
        x, y, long = rng.uniform(left, right), rng.uniform(ceiling, floor - 120), rng.uniform(60, 160)
        bend = rng.uniform(-5, 5)
        canvas.draw(
            path(
                f"M{x:.0f} {y:.0f} q{bend:.0f} {long / 2:.0f} 0 {min(long, floor - y):.0f}",
                more=f'stroke="{dark}" stroke-width="2" opacity="0.16"',
            )
        )
