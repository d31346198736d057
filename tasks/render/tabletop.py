"""The top of a table seen from above, and sheets of paper on it."""

import random

from m3bench.tasks.render.canvas import Canvas
from m3bench.tasks.render.shapes import ellipse, line, mix, path, polygon, rect
from m3bench.tasks.scene import Box

_WOODS = ("#9c7350", "#7c5a3e", "#b89468", "#6a655e", "#8f7a66", "#c2a987")
_PAPERS = ("#fbfaf4", "#f7f3e8", "#fcfcfa", "#f4f5f2")


def tabletop(canvas: Canvas, rng: random.Random) -> None:
    """Planks from edge to edge, with grain and here and there a stain."""
    wood = rng.choice(_WOODS)
    width, height, plank = canvas.width, canvas.height, rng.uniform(120, 190)
    dark = mix(wood, "#000000", 0.3)
    canvas.draw(rect(0, 0, width, height, wood))
    top = -rng.uniform(0, plank)
    while top < height:
        shade = mix(wood, rng.choice(("#ffffff", "#000000")), rng.uniform(0, 0.1))
        canvas.draw(rect(0, top, width, plank, shade), line(0, top, width, top, dark, 3, 'opacity="0.7"'))
        for _ in range(7):
            y, bend = top + plank * rng.uniform(0.08, 0.92), rng.uniform(-9, 9)
            canvas.draw(
                path(
                    f"M0 {y:.0f} q{width / 4:.0f} {bend:.0f} {width / 2:.0f} 0 t{width / 2:.0f} 0",
                    more=f'stroke="{dark}" stroke-width="2" opacity="0.2"',
                )
            )
        top += plank
    for _ in range(2):
        x, y, size = rng.uniform(0, width), rng.uniform(0, height), rng.uniform(34, 60)
        canvas.draw(ellipse(x, y, size, size, "none", f'stroke="{dark}" stroke-width="6" opacity="0.22"'))


def paper(canvas: Canvas, rng: random.Random, box: Box) -> str:
    """A sheet that was folded once each way; returns its colour."""
    left, top, right, bottom = box
    colour, crease = rng.choice(_PAPERS), "#8d8a80"
    canvas.draw(
        rect(left + 8, top + 11, right - left, bottom - top, "#00000042", 3),
        rect(left, top, right - left, bottom - top, colour, 2),
    )
    across, down = (left + right) / 2 + rng.uniform(-8, 8), (top + bottom) / 2 + rng.uniform(-8, 8)
    canvas.draw(
        polygon([(left, top), (across, top), (across, bottom), (left, bottom)], "#000000", 'opacity="0.025"'),
        line(across, top, across, bottom, crease, 2, 'opacity="0.3"'),
        line(left, down, right, down, crease, 2, 'opacity="0.3"'),
    )
    return colour
