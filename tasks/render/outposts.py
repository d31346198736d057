"""A research base in the open: cabins on stilts, domes, dishes and masts, and a sign with its name."""

import random
from collections.abc import Sequence

from m3bench.tasks.render import backdrops
from m3bench.tasks.render.canvas import Canvas
from m3bench.tasks.render.shapes import ellipse, fade, line, mix, path, polygon, rect

_CABINS = ("#c0392b", "#2f6f9f", "#d98e2b", "#3f7f5f", "#8a4f9f", "#c9ced3", "#a8442f")
_SIGNS = ("#fdfbf2", "#fbf3dc", "#f4f8fa", "#f6f8ea")
_EDGES = ("#20435c", "#6a3a26", "#2f5741", "#7a1f2b")
_BEINGS = {
    "snow": ("penguin", "seal", "penguin"),
    "sand": ("llama", "cactus", "goat"),
    "meadow": ("bird", "deer", "rabbit"),
}


def outpost(
    canvas: Canvas, rng: random.Random, land: str, name: str, below: Sequence[str], *, domes: bool, beings: bool
) -> None:
    """Draw a base.

    Args:
        canvas: Where.
        rng: Chooses place, colours and what else stands there.
        land: A ground of `backdrops.outdoors`.
        name: On the sign.
        below: Smaller lines on the sign.
        domes: It watches the sky.
        beings: Whether animals stand about.
    """
    level = backdrops.outdoors(canvas, rng, land, horizon=rng.uniform(0.36, 0.42))
    foot = level + 120
    flip = rng.random() < 0.5
    spots = [canvas.width * share for share in ((0.27, 0.52, 0.77) if flip else (0.23, 0.48, 0.73))]
    for number, x in enumerate(spots):
        y = foot + rng.uniform(-26, 14)
        if domes and number != 1:
            _dome(canvas, rng, x, y, rng.uniform(100, 135))
        else:
            _cabin(canvas, rng, x, y, rng.uniform(250, 290))
    _mast(canvas, rng, canvas.width * (0.93 if flip else 0.08), foot + 10)
    _dish(canvas, canvas.width * (0.06 if flip else 0.94), foot + 30, rng.uniform(58, 74))
    _sign(canvas, rng, name, below)
    if beings:
        for number, x in enumerate((0.09, 0.92)):
            kind = rng.choice(_BEINGS[land])
            canvas.place(
                kind,
                canvas.width * x,
                canvas.height - 60 - 30 * number,
                rng.uniform(90, 120),
                flip=number == 0,
                label=kind,
                score=0.85,
            )


def _cabin(canvas: Canvas, rng: random.Random, x: float, foot: float, wide: float) -> None:
    colour, tall = rng.choice(_CABINS), wide * 0.36
    left, top, key = x - wide / 2, foot - tall - 34, f"c{round(x)}"
    stilts = [
        line(left + wide * share, foot - 40, left + wide * share, foot, "#5a6067", 8)
        for share in (0.1, 0.37, 0.63, 0.9)
    ]
    windows = [
        rect(
            left + wide * (0.1 + 0.17 * n),
            top + tall * 0.3,
            wide * 0.1,
            tall * 0.26,
            "#dff1fa",
            6,
            'stroke="#3a4149" stroke-width="3"',
        )
        for n in range(4)
    ]
    canvas.draw(ellipse(x, foot + 2, wide * 0.5, 10, "#00000028"))
    canvas.thing(
        "building", *stilts, fade(key, mix(colour, "#ffffff", 0.25), mix(colour, "#000000", 0.2)),
        rect(left, top, wide, tall, f"url(#{key})", 16), rect(left + wide * 0.04, top - 12, wide * 0.92, 16, "#e9eef1", 6), *windows,
        rect(left + wide * 0.8, top + tall * 0.3, wide * 0.11, tall * 0.7, "#3a4149", 4),
    )  # fmt: skip


def _dome(canvas: Canvas, rng: random.Random, x: float, foot: float, radius: float) -> None:
    key = f"d{round(x)}"
    slit = rng.uniform(-0.3, 0.2) * radius
    canvas.draw(ellipse(x, foot + 2, radius * 1.1, 10, "#00000028"))
    canvas.thing(
        "observatory", fade(key, "#ffffff", "#dfe4e8", "#a9b2ba", across=True),
        rect(x - radius * 0.92, foot - radius * 0.8, radius * 1.84, radius * 0.8, mix("#c9ced3", "#8f989f", 0.3), 4),
        path(f"M{x - radius:.0f} {foot - radius * 0.78:.0f} A{radius:.0f} {radius:.0f} 0 0 1 {x + radius:.0f} {foot - radius * 0.78:.0f} Z", f"url(#{key})"),
        polygon([(x + slit, foot - radius * 1.72), (x + slit + radius * 0.24, foot - radius * 1.7), (x + slit + radius * 0.26, foot - radius * 0.9), (x + slit, foot - radius * 0.9)], "#2b333b"),
        rect(x - radius, foot - radius * 0.82, radius * 2, 10, "#7d868d"), rect(x - radius * 0.14, foot - radius * 0.42, radius * 0.28, radius * 0.42, "#4a535b", 4),
    )  # fmt: skip


def _mast(canvas: Canvas, rng: random.Random, x: float, foot: float) -> None:
    top = 60 + rng.uniform(0, 60)
    rungs = [
        line(
            x - 16 + 10 * k / 6,
            foot - (foot - top) * k / 6,
            x + 16 - 10 * k / 6,
            foot - (foot - top) * (k + 1) / 6,
            "#7b848c",
            3,
        )
        for k in range(6)
    ]
    canvas.draw(
        line(x - 18, foot, x - 4, top, "#6b747c", 5),
        line(x + 18, foot, x + 4, top, "#6b747c", 5),
        *rungs,
        ellipse(x, top - 4, 7, 7, "#d0342c"),
    )


def _dish(canvas: Canvas, x: float, foot: float, size: float) -> None:
    canvas.draw(
        polygon([(x - 26, foot), (x + 26, foot), (x + 8, foot - size), (x - 8, foot - size)], "#7d868d"),
        ellipse(x, foot - size * 1.5, size, size * 0.72, "#f4f6f7", f'transform="rotate(-28 {x:.0f} {foot - size * 1.5:.0f})"'),
        ellipse(x + 6, foot - size * 1.54, size * 0.8, size * 0.54, "#cfd6db", f'transform="rotate(-28 {x:.0f} {foot - size * 1.5:.0f})"'),
        line(x + 6, foot - size * 1.54, x - size * 0.5, foot - size * 2.2, "#5a6067", 5), ellipse(x - size * 0.5, foot - size * 2.2, 8, 8, "#3a4149"),
    )  # fmt: skip


def _sign(canvas: Canvas, rng: random.Random, name: str, below: Sequence[str]) -> None:
    board, edge = rng.choice(_SIGNS), rng.choice(_EDGES)
    ink = mix(edge, "#0c0e12", 0.6)
    lines = canvas.lines(name, 720, 50, "sans bold")
    wide = max(canvas.art.width(text, 50, "sans bold") for text in lines)
    wide = min(860.0, max(wide, *(canvas.art.width(text, 32, "sans") for text in below)) + 90)
    tall = 44 + 60 * len(lines) + 44 * len(below)
    x, top = canvas.width * rng.uniform(0.46, 0.54), canvas.height - tall - rng.uniform(84, 104)
    canvas.draw(
        *(rect(x + side * wide * 0.36 - 11, top + 20, 22, canvas.height - top - 46, "#a98763", 4) for side in (-1, 1)),
        ellipse(x, canvas.height - 24, wide * 0.46, 12, "#00000030"),
    )
    canvas.thing(
        "sign",
        rect(x - wide / 2, top, wide, tall, mix(edge, "#ffffff", 0.55), 12),
        rect(x - wide / 2 + 5, top + 5, wide - 10, tall - 10, board, 9),
    )
    y = top + 62
    for text in lines:
        canvas.text(text, x, y, 50, face="sans bold", fill=ink, anchor="middle", width=wide - 50)
        y += 60
    for text in below:
        canvas.text(text, x, y - 6, 32, fill=ink, anchor="middle", width=wide - 50)
        y += 44
