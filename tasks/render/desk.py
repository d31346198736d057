"""A desk against a wall, with a window, a shelf or a pinboard above it, for things to stand on."""

import random

from m3bench.tasks.render.canvas import Canvas
from m3bench.tasks.render.shapes import ellipse, fade, line, mix, rect

_WALLS = ("#dfe6e3", "#e8e0d3", "#d5dfe8", "#e6dbe0", "#dfe3ce", "#e9e4ea", "#cfdad8")
_TOPS = ("#b98a5e", "#c9a376", "#8d633f", "#d8c1a0", "#9c8470", "#e4dfd6")
_NOTES = ("#f6e27a", "#f3b6c0", "#b9dcf2", "#c6e6b5", "#fbd3a2")


def desk(canvas: Canvas, rng: random.Random, edge: float = 0.42) -> float:
    """A wall with something on it and the top of a desk below; returns where the top begins, in pixels."""
    width, height = canvas.width, canvas.height
    level = height * edge
    wall, top = rng.choice(_WALLS), rng.choice(_TOPS)
    canvas.draw(fade("wall", mix(wall, "#ffffff", 0.4), wall), rect(0, 0, width, level, "url(#wall)"))
    rng.choice((_window, _pinboard, _prints))(canvas, rng, level)
    canvas.draw(
        rect(0, level - 12, width, 12, mix(wall, "#000000", 0.12)),
        fade("top", mix(top, "#000000", 0.06), mix(top, "#ffffff", 0.28), top),
        rect(0, level, width, height - level, "url(#top)"),
    )
    for number in range(1, 9):
        y = level + (height - level) * (number / 9) ** 1.5
        canvas.draw(line(0, y, width, y + rng.uniform(-4, 4), mix(top, "#000000", 0.2), 2, 'opacity="0.3"'))
    canvas.draw(rect(0, height - 26, width, 26, mix(top, "#000000", 0.32)))
    return level


def _window(canvas: Canvas, rng: random.Random, level: float) -> None:
    wide, tall = 420.0, level - 60
    left = rng.uniform(80, canvas.width - wide - 80)
    sky = rng.choice((("#8ec9ef", "#e6f4fb"), ("#f3b98a", "#fde7cc"), ("#2c3a5e", "#6f7fa8")))
    canvas.draw(
        rect(left - 14, 16, wide + 28, tall + 28, "#f7f5f0", 4),
        fade("pane", *sky),
        rect(left, 30, wide, tall, "url(#pane)"),
        ellipse(left + wide * rng.uniform(0.2, 0.8), 30 + tall * 0.35, 30, 30, "#fff6d8", 'opacity="0.85"'),
        rect(left + wide / 2 - 6, 30, 12, tall, "#f7f5f0"),
        rect(left, 30 + tall * 0.5 - 5, wide, 10, "#f7f5f0"),
    )


def _pinboard(canvas: Canvas, rng: random.Random, level: float) -> None:
    wide, tall = 560.0, level - 70
    left = rng.uniform(80, canvas.width - wide - 80)
    canvas.draw(rect(left - 12, 18, wide + 24, tall + 24, "#8a6a48", 6), rect(left, 30, wide, tall, "#cfa97a"))
    for number in range(6):
        x, y = left + 26 + number * 88, 30 + tall * rng.uniform(0.1, 0.5)
        canvas.draw(
            rect(x + 3, y + 4, 72, 72, "#00000022"),
            rect(x, y, 72, 72, rng.choice(_NOTES), 2),
            line(x + 12, y + 30, x + 58, y + 30, "#6b6456", 3, 'opacity="0.5"'),
            line(x + 12, y + 46, x + 46, y + 46, "#6b6456", 3, 'opacity="0.5"'),
            ellipse(x + 36, y + 8, 5, 5, "#c0392b"),
        )


def _prints(canvas: Canvas, rng: random.Random, level: float) -> None:
    left = rng.uniform(120, 260)
    for number in range(3):
        x, wide, tall = left + number * 320, rng.uniform(170, 230), level - rng.uniform(90, 120)
        one, other = rng.sample(("#4f7a8c", "#d9a441", "#b65a4a", "#6c8f5c", "#83618f", "#e9d8b4"), 2)
        canvas.draw(
            rect(x + 6, 44, wide, tall, "#00000022"),
            rect(x, 36, wide, tall, "#3d352e"),
            rect(x + 12, 48, wide - 24, tall - 24, one),
            ellipse(x + wide / 2, 36 + tall * 0.5, wide * 0.26, wide * 0.26, other),
            rect(x + 12, 36 + tall * 0.66, wide - 24, tall * 0.34 - 12, mix(one, "#000000", 0.25)),
        )
