"""Landscapes far away, by kind: mountains, canyons, deserts, coasts, lakes, woods and wetlands under a sky."""

import random
from collections.abc import Sequence

from m3bench.tasks.render.canvas import Canvas
from m3bench.tasks.render.shapes import ellipse, fade, line, mix, path, polygon, rect

LANDSCAPES = ("peaks", "canyon", "desert", "coast", "wetland", "woods", "lake", "badlands")

_SKIES = (("#7fbbe6", "#e4f2fa"), ("#f0a878", "#fde3c4"), ("#8fb2d6", "#f6e6d4"), ("#5f9fd4", "#cfe6f5"))


def distance(canvas: Canvas, rng: random.Random, landscape: str, level: float) -> None:
    """Sky, sun and what stands at the horizon.

    Args:
        canvas: Where.
        rng: Chooses the light and the shapes.
        landscape: One of `LANDSCAPES`.
        level: Height of the horizon in pixels.
    """
    top, low = rng.choice(_SKIES)
    canvas.draw(fade("sky", top, low), rect(0, 0, canvas.width, level + 2, "url(#sky)"))
    sun = canvas.width * rng.uniform(0.1, 0.9), level * rng.uniform(0.2, 0.4)
    canvas.draw(ellipse(*sun, 44, 44, "#fff6d8", 'opacity="0.9"'))
    _FAR[landscape](canvas, rng, level, low)


def _range(
    rng: random.Random, width: float, base: float, tall: float, fill: str, peaks: int, snow: str | None = None
) -> list[str]:
    """Pointed mountains, white at the top when asked."""
    drawn = []
    for number in range(peaks):
        x = width * (number + 0.5) / peaks + rng.uniform(-40, 40)
        high, half = tall * rng.uniform(0.65, 1.0), width / peaks * rng.uniform(0.75, 1.0)
        shade = mix(fill, "#ffffff", 0.12 * (number % 2))
        drawn.append(polygon([(x - half, base), (x, base - high), (x + half, base)], shade))
        drawn.append(
            polygon([(x, base - high), (x + half, base), (x + half * 0.25, base)], mix(shade, "#000000", 0.16))
        )
        if snow:
            cap = 0.3
            drawn.append(
                polygon(
                    [
                        (x - half * cap, base - high * (1 - cap)),
                        (x, base - high),
                        (x + half * cap, base - high * (1 - cap)),
                        (x + half * 0.12, base - high * 0.76),
                        (x, base - high * 0.66),
                        (x - half * 0.14, base - high * 0.77),
                    ],
                    snow,
                )
            )
    return drawn


def _peaks(canvas: Canvas, rng: random.Random, level: float, low: str) -> None:
    canvas.draw(*_range(rng, canvas.width, level, level * 0.8, mix("#6b7f9c", low, 0.25), 4, "#ffffff"))
    canvas.draw(*_range(rng, canvas.width, level + 4, level * 0.34, "#5f8560", 7))


def _woods(canvas: Canvas, rng: random.Random, level: float, low: str) -> None:
    for layer, share in enumerate((0.6, 0.4, 0.15)):
        colour, tall = mix("#4d7658", low, share), level * (0.62 - 0.14 * layer)
        d, x = f"M0 {level:.0f} L0 {level - tall * 0.6:.0f} ", 0.0
        while x < canvas.width:
            step = rng.uniform(160, 260)
            d += f"Q{x + step / 2:.0f} {level - tall * rng.uniform(0.7, 1.1):.0f} {x + step:.0f} {level - tall * rng.uniform(0.45, 0.65):.0f} "
            x += step
        canvas.draw(path(f"{d}L{x:.0f} {level:.0f} Z", colour))


def _mesas(canvas: Canvas, rng: random.Random, level: float, tones: Sequence[str], tall: float) -> None:
    """Flat-topped rocks in coloured bands."""
    for number in range(5):
        x = canvas.width * (number + 0.5) / 5 + rng.uniform(-50, 50)
        half, high = rng.uniform(120, 190), tall * rng.uniform(0.6, 1.0)
        bands = len(tones)
        for band, tone in enumerate(tones):
            lower, upper = band / bands, (band + 1) / bands
            canvas.draw(
                polygon(
                    [
                        (x - half * (1.15 - 0.45 * lower), level - high * lower),
                        (x - half * (1.15 - 0.45 * upper), level - high * upper),
                        (x + half * (1.15 - 0.45 * upper), level - high * upper),
                        (x + half * (1.15 - 0.45 * lower), level - high * lower),
                    ],
                    tone,
                )
            )


def _canyon(canvas: Canvas, rng: random.Random, level: float, low: str) -> None:
    canvas.draw(rect(0, level - 60, canvas.width, 62, mix("#c07a52", low, 0.35)))
    _mesas(canvas, rng, level, ("#a5532f", "#c9754a", "#b7613b", "#d8936a", "#c06a43"), level * 0.72)


def _desert(canvas: Canvas, rng: random.Random, level: float, low: str) -> None:
    canvas.draw(*_range(rng, canvas.width, level, level * 0.42, mix("#a58a7c", low, 0.35), 5))
    d = f"M0 {level:.0f} L0 {level - 40:.0f} Q{canvas.width * 0.2:.0f} {level - rng.uniform(90, 150):.0f} {canvas.width * 0.45:.0f} {level - 30:.0f} "
    d += f"Q{canvas.width * 0.75:.0f} {level - rng.uniform(90, 140):.0f} {canvas.width} {level - 30:.0f} L{canvas.width} {level:.0f} Z"
    canvas.draw(path(d, "#dcbf86"))


def _badlands(canvas: Canvas, rng: random.Random, level: float, low: str) -> None:
    for layer, tone in enumerate(("#d8b7a0", "#e6d2b4")):
        canvas.draw(
            *_range(
                rng, canvas.width, level, level * (0.55 - 0.2 * layer), mix(tone, low, 0.3 - 0.2 * layer), 8 + 3 * layer
            )
        )
    for number in range(1, 4):
        canvas.draw(rect(0, level - number * 22, canvas.width, 6, "#b9725c", 0, 'opacity="0.3"'))


def _coast(canvas: Canvas, rng: random.Random, level: float, low: str) -> None:
    sea = level * 0.68
    canvas.draw(fade("sea", "#8fc3d4", "#4f8fa8"), rect(0, sea, canvas.width, level - sea + 2, "url(#sea)"))
    for _ in range(18):
        x, y = rng.uniform(0, canvas.width), rng.uniform(sea + 8, level - 6)
        canvas.draw(line(x, y, x + 50, y, "#ffffff", 2, 'opacity="0.45" stroke-linecap="round"'))
    side = rng.choice((0, 1))
    reach = canvas.width * 0.4
    edge = 0 if side else canvas.width
    sign = 1 if side else -1
    canvas.draw(
        path(
            f"M{edge} {level:.0f} L{edge} {sea - 120:.0f} Q{edge + sign * reach * 0.6:.0f} {sea - 110:.0f} {edge + sign * reach * 0.8:.0f} {sea + 10:.0f} L{edge + sign * reach:.0f} {level:.0f} Z",
            mix("#7c7f78", low, 0.15),
        )
    )
    canvas.draw(
        path(
            f"M{edge} {sea - 100:.0f} L{edge} {sea - 150:.0f} Q{edge + sign * reach * 0.55:.0f} {sea - 140:.0f} {edge + sign * reach * 0.72:.0f} {sea - 40:.0f} Q{edge + sign * reach * 0.4:.0f} {sea - 90:.0f} {edge} {sea - 100:.0f} Z",
            "#55795a",
        )
    )


def _lake(canvas: Canvas, rng: random.Random, level: float, low: str) -> None:
    shore = level * 0.66
    canvas.draw(*_range(rng, canvas.width, shore, level * 0.5, mix("#77879c", low, 0.25), 5, "#f7fbff"))
    canvas.draw(fade("water", "#4f86c4", "#2f5f9c"), rect(0, shore, canvas.width, level - shore + 2, "url(#water)"))
    for _ in range(16):
        x, y = rng.uniform(0, canvas.width), rng.uniform(shore + 8, level - 6)
        canvas.draw(line(x, y, x + 60, y, "#ffffff", 2, 'opacity="0.3" stroke-linecap="round"'))


def _wetland(canvas: Canvas, rng: random.Random, level: float, low: str) -> None:
    bank = level * 0.72
    canvas.draw(
        path(
            f"M0 {bank:.0f} L0 {bank - 70:.0f} Q{canvas.width * 0.25:.0f} {bank - 120:.0f} {canvas.width * 0.5:.0f} {bank - 60:.0f} T{canvas.width} {bank - 70:.0f} L{canvas.width} {bank:.0f} Z",
            mix("#5f8a5c", low, 0.3),
        )
    )
    canvas.draw(fade("swamp", "#a9c3b4", "#6f948c"), rect(0, bank, canvas.width, level - bank + 2, "url(#swamp)"))
    for _ in range(60):
        x, y = rng.uniform(0, canvas.width), rng.uniform(bank + 20, level + 4)
        canvas.draw(
            line(
                x,
                y,
                x + rng.uniform(-8, 8),
                y - rng.uniform(26, 46),
                "#7f9a4c",
                4,
                'stroke-linecap="round" opacity="0.8"',
            )
        )


_FAR = {
    "peaks": _peaks,
    "canyon": _canyon,
    "desert": _desert,
    "coast": _coast,
    "wetland": _wetland,
    "woods": _woods,
    "lake": _lake,
    "badlands": _badlands,
}
