"""Photographs of sights with the place printed below: postcards, instant pictures, framed prints."""

import math
import random
from collections.abc import Sequence

from m3bench.tasks.json_types import Record
from m3bench.tasks.render import backdrops
from m3bench.tasks.render.canvas import Canvas
from m3bench.tasks.render.landmarks import sight
from m3bench.tasks.render.shapes import ellipse, fade, mix, path, rect
from m3bench.tasks.scene import Box

_SKIES = (
    ("#6fb4e6", "#e4f3fb"),
    ("#f2a875", "#fdebcf"),
    ("#8fb6d9", "#f6efdc"),
    ("#7fa3c9", "#f3d9cf"),
    ("#5aa9c9", "#dff2ec"),
)
_GROUNDS = ("#a9c98a", "#c9c2a8", "#d8c79a", "#9fb991", "#c7cdb4")
_PAPERS = ("#fdfcf7", "#fbf6ea", "#ffffff", "#f7f4ee")


def rows(canvas: Canvas, rng: random.Random, cards: Sequence[tuple[Record, str]]) -> list[Box]:
    """Eight sights, each with its place, in two rows on a table, a pin board or a wall of 1520 × 960 pixels.

    Returns:
        The boxes of the cards. The first card hangs in a column left of the second's, the others anywhere.
    """
    kind = rng.choice(("table", "board", "wall"))
    if kind == "board":
        cork = rng.choice((("#d3aa78", "#c0935f"), ("#dcb98b", "#c8a06c"), ("#c9a27a", "#b28556")))
        canvas.draw(
            fade("cork", *cork),
            rect(0, 0, canvas.width, canvas.height, "#7a5636"),
            rect(22, 22, canvas.width - 44, canvas.height - 44, "url(#cork)", 6),
        )
    elif kind == "table":
        backdrops.table(canvas, rng)
    else:
        backdrops.room(canvas, rng, floor=0.96)
    places = [(column, rng.randrange(2)) for column in sorted(rng.sample(range(4), 2))]
    free = [(column, row) for row in range(2) for column in range(4) if (column, row) not in places]
    boxes = []
    for (landmark, place), (column, row) in zip(cards, [*places, *free], strict=True):
        left, top = 44 + column * 366 + rng.uniform(-5, 5), 54 + row * 448 + rng.uniform(-10, 10)
        box = (left, top, left + 330, top + rng.uniform(376, 390))
        boxes.append(postcard(canvas, rng, landmark, place, box, turn=rng.uniform(-1.6, 1.6)))
        if kind == "board":
            canvas.place("pushpin", left + 168, top + 26, 46, shadow=False, label="pushpin")
    return boxes


def view(canvas: Canvas, rng: random.Random, landmark: Record, x: float, y: float, width: float, height: float) -> None:
    """A sight under a sky, filling a rectangle."""
    top, low = rng.choice(_SKIES)
    ground = rng.choice(_GROUNDS)
    key = f"v{round(x)}-{round(y)}"
    wide = 200 * width / height
    tall = 200.0
    scale = rng.uniform(0.9, 1.02) * min(1.0, wide / 268)
    middle = wide / 2 + rng.uniform(-0.03, 0.03) * wide
    clouds = []
    for _ in range(rng.randint(1, 3)):
        cloud_x, cloud_y = rng.uniform(0.08, 0.92) * wide, rng.uniform(18, 58)
        clouds += [
            ellipse(cloud_x + shift, cloud_y + lift, 15, 8, "#ffffff", 'opacity="0.85"')
            for shift, lift in ((-13, 3), (0, 0), (14, 3))
        ]
    bend = rng.uniform(-14, 14)
    canvas.draw(
        fade(key, top, low),
        f'<svg x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="{height:.1f}" viewBox="0 0 {wide:.2f} {tall:.0f}" preserveAspectRatio="none">',
        rect(0, 0, wide, tall, f"url(#{key})"),
        ellipse(rng.uniform(0.1, 0.9) * wide, rng.uniform(24, 52), 13, 13, "#fff4cf", 'opacity="0.95"'),
        *clouds,
        path(f"M0 150 Q{wide * 0.25:.1f} {132 + bend:.1f} {wide * 0.5:.1f} 148 T{wide:.1f} 146 V170 H0 Z", mix(ground, low, 0.5)),
        rect(0, 164, wide, 40, ground),
        f'<g transform="translate({middle:.2f} 170) scale({scale:.3f}) translate(-150 -170)">',
        ellipse(150, 171, 104, 5, "#000000", 'opacity="0.16"'),
        *sight(landmark),
        "</g></svg>",
    )  # fmt: skip


def postcard(
    canvas: Canvas,
    rng: random.Random,
    landmark: Record,
    place: str,
    box: tuple[float, float, float, float],
    *,
    turn: float = 0,
) -> Box:
    """A card with a sight, its name and where it is, within a box; noted for the detector, whose box it returns.

    Args:
        canvas: Where.
        rng: Chooses paper and lettering.
        landmark: A record of the world.
        place: City and country, printed below the name.
        box: Left, top, right, bottom.
        turn: Degrees, a few.
    """
    left, top, right, bottom = box
    width, height = right - left, bottom - top
    paper = rng.choice(_PAPERS)
    face = rng.choice(("serif bold", "sans bold", "round"))
    edge, strip = width * 0.04, width * 0.24
    about = f"rotate({turn:.2f} {(left + right) / 2:.1f} {(top + bottom) / 2:.1f})"
    canvas.draw(
        f'<g transform="{about}">',
        rect(left + 7, top + 9, width, height, "#000000", 5, 'opacity="0.22"'),
        rect(left, top, width, height, paper, 4),
    )
    view(canvas, rng, landmark, left + edge, top + edge, width - 2 * edge, height - strip - edge)
    middle = (left + right) / 2
    canvas.text(
        landmark["name"],
        middle,
        bottom - strip + width * 0.1,
        width * 0.082,
        face=face,
        anchor="middle",
        width=width * 0.88,
        fill="#26303c",
    )
    canvas.text(
        place,
        middle,
        bottom - width * 0.05,
        width * 0.066,
        face="sans",
        anchor="middle",
        width=width * 0.86,
        fill="#3c4856",
    )
    canvas.draw("</g>")
    turned = abs(math.radians(turn))
    half_x, half_y = (
        (width * math.cos(turned) + height * math.sin(turned)) / 2,
        (width * math.sin(turned) + height * math.cos(turned)) / 2,
    )
    down = (top + bottom) / 2
    return canvas.note(
        "postcard",
        (round(middle - half_x), round(down - half_y), round(middle + half_x), round(down + half_y)),
        aliases=("photo", "photograph"),
    )
