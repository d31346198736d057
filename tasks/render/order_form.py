"""A printed order form with boxes that somebody ticked, on a table, and what was delivered later, beside its carton."""

import random
from collections.abc import Collection, Sequence

from m3bench.tasks.render import pen
from m3bench.tasks.render.canvas import Canvas
from m3bench.tasks.render.shapes import line, mix, on, path, polygon, rect
from m3bench.tasks.render.tabletop import paper, tabletop

SIZE = 1000, 1240
"""Of a canvas for a form."""
_COLOURS = ("#1f5a8a", "#8a2f2b", "#2f6b46", "#5a3f7d", "#a65a1f", "#30424f")
_INKS = ("#1d3f8f", "#22262e", "#3a2a78", "#0d6b54")
_MARGIN, _HEAD, _STEP = 92, 330, 84


def order_form(canvas: Canvas, rng: random.Random, shop: str, things: Sequence[str], ticked: Collection[str]) -> None:
    """Fill a canvas of `SIZE` with a form of two columns; what is ticked is not noted.

    Args:
        canvas: Where.
        rng: Chooses colours and moves the hand.
        shop: Stands in the head.
        things: What can be ordered.
        ticked: Which of them have a tick.
    """
    tabletop(canvas, rng)
    width, height = canvas.width, canvas.height
    colour, ink = rng.choice(_COLOURS), rng.choice(_INKS)
    left, right = _MARGIN, width - _MARGIN
    paper(canvas, rng, (left - 26, 74, right + 26, height - 74))
    canvas.draw(rect(left, 104, right - left, 84, colour, 4))
    canvas.text(shop, left + 26, 160, 44, face="sans bold", fill=on(colour), width=right - left - 52)
    canvas.text("Order by post", left, 240, 38, face="sans bold", fill=mix(colour, "#000000", 0.25))
    canvas.text(f"No. {rng.randrange(10000, 99999)}", right, 240, 30, fill="#54575d", anchor="end")
    canvas.text("Please tick what you would like to have, one piece of each.", left, 282, 25, fill="#54575d")
    rows = (len(things) + 1) // 2
    for number, thing in enumerate(things):
        column, row = divmod(number, rows)
        x, y = left + 10 + column * (right - left) / 2, _HEAD + 34 + row * _STEP
        canvas.draw(
            rect(x, y - 31, 38, 38, "#ffffff", 4, 'stroke="#555b64" stroke-width="3"'),
            line(x, y + 28, x + (right - left) / 2 - 40, y + 28, "#c9c8c0", 1.5),
        )
        canvas.text(thing.capitalize(), x + 62, y + 2, 33, width=(right - left) / 2 - 110)
        if thing in ticked:
            pen.tick(canvas, rng, x + 17 + rng.uniform(-3, 3), y + rng.uniform(-1, 5), rng.uniform(36, 48), ink)
    canvas.text("Signature", left, height - 130, 22, fill="#54575d")
    canvas.draw(line(left + 110, height - 126, left + 470, height - 126, "#555b64", 2))
    x, y, moves = left + 150, height - 140, []
    for _ in range(7):
        moves.append(
            f"q{rng.uniform(4, 14):.0f} {-rng.uniform(16, 50):.0f} {rng.uniform(18, 34):.0f} {rng.uniform(-6, 6):.0f}"
        )
    canvas.draw(path(f"M{x} {y} {' '.join(moves)}", more=f'stroke="{ink}" stroke-width="4" stroke-linecap="round"'))
    canvas.text("Thank you for your order!", right, height - 130, 25, face="script", fill=colour, anchor="end")


def delivered(canvas: Canvas, rng: random.Random, things: Sequence[str]) -> None:
    """Things in two rows before an open carton; the detector sees that something is there, and not what."""
    tabletop(canvas, rng)
    width, height = canvas.width, canvas.height
    _carton(canvas, rng)
    split = (len(things) + rng.randint(0, 1)) // 2
    for foot, row in ((height * 0.6, things[:split]), (height * 0.92, things[split:])):
        slot = width * 0.86 / len(row)
        for number, thing in enumerate(row):
            x = width * 0.07 + slot * (number + 0.5) + rng.uniform(-0.1, 0.1) * slot
            score, flip = round(rng.uniform(0.7, 0.95), 2), rng.random() < 0.4
            canvas.place(
                thing, x, foot + rng.uniform(-18, 18), rng.uniform(170, 212), label="item", flip=flip,
                turn=rng.uniform(-14, 14), score=score,
            )  # fmt: skip


def _carton(canvas: Canvas, rng: random.Random) -> None:
    board = rng.choice(("#b98d5c", "#c79b69", "#a87c4e"))
    left, right, foot = (
        canvas.width * rng.uniform(0.2, 0.28),
        canvas.width * rng.uniform(0.7, 0.8),
        canvas.height * 0.35,
    )
    dark, light = mix(board, "#000000", 0.4), mix(board, "#ffffff", 0.25)
    canvas.thing(
        "box",
        polygon([(left + 50, 60), (right - 50, 60), (right, 175), (left, 175)], dark),
        polygon([(left + 50, 60), (left - 70, 100), (left - 120, 200), (left, 175)], light),
        polygon([(right - 50, 60), (right + 70, 100), (right + 120, 200), (right, 175)], light),
        rect(left, 175, right - left, foot - 175, board),
        rect((left + right) / 2 - 26, 175, 52, foot - 175, mix(board, "#fff4d8", 0.45)),
        shadow=True,
        score=round(rng.uniform(0.8, 0.95), 2),
    )
    for _ in range(14):
        x, y = rng.uniform(left + 40, right - 40), rng.uniform(80, 160)
        canvas.draw(
            line(
                x, y, x + rng.uniform(-50, 50), y + rng.uniform(-16, 16), "#f2efe6", rng.uniform(5, 10), 'opacity="0.8"'
            )
        )
