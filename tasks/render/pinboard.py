"""Photographs pinned on a board of cork, a living thing in each."""

import random
from collections.abc import Sequence

from m3bench.tasks.render.canvas import Canvas
from m3bench.tasks.render.shapes import ellipse, fade, mix, rect
from m3bench.tasks.render.wildlife import Actor, fit, score
from m3bench.tasks.scene import Box


def pinboard(canvas: Canvas, rng: random.Random, actors: Sequence[Actor]) -> list[Box]:
    """Photographs of the actors pinned on cork; returns the boxes of the actors."""
    width, height = canvas.width, canvas.height
    cork = rng.choice(("#c89b6a", "#bf9468", "#d0a878", "#b98d5f"))
    canvas.draw(rect(0, 0, width, height, cork))
    for _ in range(420):
        x, y, size = rng.uniform(0, width), rng.uniform(0, height), rng.uniform(1.5, 4)
        canvas.draw(
            ellipse(x, y, size, size * 0.7, mix(cork, rng.choice(("#000000", "#ffffff")), 0.22), 'opacity="0.6"')
        )
    frame = rng.choice(("#6b4a2f", "#3f3a36", "#8a6a4a", "#e7e2d8"))
    for x, y, w, h in ((0, 0, width, 26), (0, height - 26, width, 26), (0, 0, 26, height), (width - 26, 0, 26, height)):
        canvas.draw(rect(x, y, w, h, frame))
    columns = 2 if len(actors) in (2, 4) else 3
    rows = -(-len(actors) // columns)
    boxes = []
    for number, actor in enumerate(actors):
        row, column = divmod(number, columns)
        across = min(columns, len(actors) - row * columns)
        tall = min(430.0, (height - 110) / rows - 34)
        wide = min(tall * 1.08, (width - 130) / columns - 44)
        x = width / 2 + (column - (across - 1) / 2) * (width - 130) / columns + rng.uniform(-16, 16)
        y = 62 + (height - 110) / rows * (row + 0.5) + rng.uniform(-8, 8) - 6
        boxes.append(_photograph(canvas, rng, actor, number, x, y, wide, tall))
    return boxes


def _photograph(
    canvas: Canvas, rng: random.Random, actor: Actor, number: int, x: float, y: float, wide: float, tall: float
) -> Box:
    turn = rng.uniform(-3.5, 3.5)
    left, top = x - wide / 2, y - tall / 2
    sky, near = rng.choice(
        (("#bfe0f2", "#a8c98a"), ("#f6dcb8", "#d9c48c"), ("#cfe6e2", "#8fb7a0"), ("#dfe6f0", "#b9c6d4"))
    )
    inner = tall * 0.84
    canvas.draw(
        f'<g transform="rotate({-turn:.2f} {x:.1f} {y:.1f})">',
        rect(left + 7, top + 9, wide, tall, "#00000040", 4),
        rect(left, top, wide, tall, "#fdfcf8", 4),
        fade(f"photo{number}", mix(sky, "#ffffff", 0.3), sky),
        rect(left + 14, top + 14, wide - 28, inner, f"url(#photo{number})"),
        rect(left + 14, top + 14 + inner * 0.66, wide - 28, inner * 0.34, near),
        ellipse(x, top + 14 + inner * 0.67, (wide - 28) * 0.5, inner * 0.06, mix(near, "#ffffff", 0.18)),
        "</g>",
    )
    box = canvas.place(
        actor.art, x, top + 14 + inner * 0.9, fit(canvas.art, actor.art, (wide - 28) * 0.74, inner * 0.74),
        label=actor.name, flip=rng.random() < 0.5, turn=turn, shadow=True, score=score(rng),
        description=actor.description, aliases=actor.aliases,
    )  # fmt: skip
    pin = rng.choice(("#d8392f", "#2f6fc4", "#2f9a58", "#e2b022"))
    canvas.draw(
        ellipse(x + 3, top + 6, 11, 8, "#00000040"),
        ellipse(x, top, 11, 11, pin),
        ellipse(x - 3, top - 4, 4, 3, "#ffffff99"),
    )
    return box
