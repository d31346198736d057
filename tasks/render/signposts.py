"""Signposts in the open with an arm for each of nine places, and a base far off below them."""

import random
from collections.abc import Sequence

from m3bench.tasks.render import backdrops
from m3bench.tasks.render.canvas import Canvas
from m3bench.tasks.render.outposts import cabin, dome
from m3bench.tasks.render.shapes import ellipse, fade, mix, on, polygon, rect
from m3bench.tasks.scene import Box

SIZE = (1600, 960)
"""Of a picture."""
ARMS = 9
"""Places that a signpost points to."""
_LANDS = ("snow", "sand", "meadow")
_BOARDS = ("#fdfbf2", "#f6e7b4", "#cfe3ee", "#f3d9c4", "#d5e6cf", "#20435c", "#6a3a26", "#2f5741")
_POSTS = (0.255, 0.745)
"""Where posts stand across a picture."""
_TALL, _STEP, _TOP = 76, 138, 46
"""Height of an arm, from one to the next, and where the first begins."""
_SIZE = 36


def signpost(canvas: Canvas, rng: random.Random, names: Sequence[str]) -> list[Box]:
    """Draw two posts with an arm for each name; returns the boxes of the arms."""
    level = backdrops.outdoors(canvas, rng, rng.choice(_LANDS), horizon=rng.uniform(0.8, 0.84))
    for x in (0.06, 0.5, 0.95):
        if rng.random() < 0.5:
            dome(canvas, rng, canvas.width * x, level + 30, rng.uniform(45, 52))
        else:
            cabin(canvas, rng, canvas.width * x, level + 34, rng.uniform(124, 140))
    foot = canvas.height - 34
    posts = [canvas.width * share for share in _POSTS]
    for x in posts:
        canvas.draw(
            ellipse(x, foot, 90, 13, "#00000038"),
            fade(f"post{round(x)}", "#b08a62", "#8a6845", across=True),
            rect(x - 15, 22, 30, foot - 22, f"url(#post{round(x)})", 6),
        )
    boxes: list[Box] = []
    for number, name in enumerate(names):
        row, column = divmod(number, len(posts))
        top = _TOP + row * _STEP + column * rng.randint(24, 40) + rng.randint(-4, 4)
        boxes.append(_arm(canvas, rng, name, posts[column], top))
    return boxes


def _arm(canvas: Canvas, rng: random.Random, name: str, x: float, top: float) -> Box:
    """A board with a point at one end, and a name on it."""
    board = rng.choice(_BOARDS)
    wide = min(640.0, canvas.art.width(name, _SIZE, "sans bold") + 70)
    middle = x + rng.uniform(-22, 22)
    left, right, bottom = middle - wide / 2, middle + wide / 2, top + _TALL
    points = [(left, top), (right, top), (right + 40, top + _TALL / 2), (right, bottom), (left, bottom)]
    if rng.random() < 0.5:
        points = [(left + right - px, py) for px, py in points]
    ends = [px for px, _ in points]
    canvas.draw(polygon([(px + 6, py + 9) for px, py in points], "#00000038"))
    canvas.thing(
        "sign",
        polygon(points, mix(board, "#000000", 0.45)),
        polygon([(middle + (px - middle) * 0.986, top + _TALL / 2 + (py - top - _TALL / 2) * 0.88) for px, py in points], board),
    )  # fmt: skip
    canvas.text(name, middle, top + 51, _SIZE, face="sans bold", fill=on(board), anchor="middle", width=wide - 50)
    return (round(min(ends)), round(top), round(max(ends)), round(bottom))
