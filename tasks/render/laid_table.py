"""A table laid for guests: a wall behind it, a cloth, plates, boards, and small standing cards."""

import random

from m3bench.tasks.render.canvas import INK, Canvas
from m3bench.tasks.render.shapes import ellipse, fade, line, mix, path, polygon, rect
from m3bench.tasks.scene import Box

_WALLS = ("#d9e3e0", "#ece0cf", "#d8dcea", "#e7d7d3", "#dfe4d2", "#e9e4da")
_CLOTHS = ("#c9504a", "#3f7f8c", "#5d8a54", "#d9a441", "#7a6aa8", "#4f6f9e", "#b8607e")
_RIMS = ("#3d6fa5", "#b0413e", "#4f8a5b", "#c98f2b", "#7b6fae", "#8a8f98")


def laid(canvas: Canvas, rng: random.Random, back: float = 0.27) -> float:
    """Wall, table and cloth; returns where the table begins at the back, in pixels."""
    width, height = canvas.width, canvas.height
    top, fold = height * back, height * 0.94
    wall, cloth = rng.choice(_WALLS), rng.choice(_CLOTHS)
    canvas.draw(
        fade("wall", mix(wall, "#ffffff", 0.3), mix(wall, "#8a8f96", 0.12)), rect(0, 0, width, top + 4, "url(#wall)")
    )
    _window(canvas, rng, width * rng.uniform(0.06, 0.62), top)
    pale = mix(cloth, "#ffffff", 0.72)
    canvas.draw(
        fade("cloth", mix(pale, "#000000", 0.05), mix(pale, "#ffffff", 0.35)),
        rect(0, top, width, fold - top, "url(#cloth)"),
        rect(0, fold, width, height - fold, mix(pale, "#000000", 0.14)),
        rect(0, top - 3, width, 6, "#00000022"),
    )
    _weave(canvas, rng, top, fold, cloth)
    canvas.draw(line(0, fold, width, fold, mix(pale, "#000000", 0.28), 3))
    return top


def plate(canvas: Canvas, rng: random.Random, x: float, y: float, wide: float) -> None:
    """A plate about `(x, y)`, seen from the front."""
    rim, tall = rng.choice(_RIMS), wide * 0.3
    canvas.draw(
        ellipse(x + 4, y + tall * 0.16, wide * 0.51, tall * 0.54, "#000000", 'opacity="0.2"'),
        ellipse(x, y, wide * 0.5, tall * 0.5, "#fbfaf6", f'stroke="{mix(rim, "#ffffff", 0.2)}" stroke-width="5"'),
        ellipse(x, y, wide * 0.35, tall * 0.33, "#eeece5"),
        ellipse(x, y - 2, wide * 0.34, tall * 0.31, "#f7f5ef"),
    )


def board(canvas: Canvas, rng: random.Random, x: float, y: float, wide: float) -> None:
    """A wooden board about `(x, y)`, seen from the front."""
    wood, tall = rng.choice(("#b98a5e", "#9a6d45", "#c9a376", "#8a6242")), wide * 0.3
    left, right, back, front = x - wide / 2, x + wide / 2, y - tall / 2, y + tall / 2
    canvas.draw(
        ellipse(x + 4, front + 8, wide * 0.5, 14, "#000000", 'opacity="0.22"'),
        polygon(
            [(left + wide * 0.1, back), (right - wide * 0.1, back), (right, front), (left, front)],
            mix(wood, "#ffffff", 0.2),
        ),
        rect(left, front, wide, 12, mix(wood, "#000000", 0.22), 3),
    )
    for share in (0.28, 0.52, 0.78):
        level, inset = back + tall * share, wide * 0.1 * (1 - share) + 6
        canvas.draw(line(left + inset, level, right - inset, level, mix(wood, "#000000", 0.12), 2, 'opacity="0.6"'))


def card(
    canvas: Canvas, rng: random.Random, text: str, x: float, foot: float, size: float = 44, face: str = "serif bold"
) -> Box:
    """A folded card with a word or two on it, the middle of its foot at `(x, foot)`; returns its box."""
    wide, tall = canvas.art.width(text, size, face) + 56, size * 1.75
    left, top = x - wide / 2, foot - tall
    paper = rng.choice(("#fffdf6", "#fdf8ea", "#ffffff"))
    canvas.draw(
        ellipse(x, foot + 2, wide * 0.52, 8, "#000000", 'opacity="0.22"'),
        polygon(
            [(left + 10, top - 9), (left + wide - 10, top - 9), (left + wide, top), (left, top)],
            mix(paper, "#8a8577", 0.3),
        ),
        rect(left, top, wide, tall, paper, 2, 'stroke="#cfc8b8" stroke-width="1.5"'),
    )
    canvas.text(text, x, foot - tall / 2 + size * 0.34, size, face=face, fill=INK, anchor="middle")
    return (round(left), round(top), round(left + wide), round(foot))


def _window(canvas: Canvas, rng: random.Random, left: float, foot: float) -> None:
    """A window with sky, or a picture in a frame, on the wall."""
    wide, tall = canvas.width * rng.uniform(0.26, 0.34), foot * 0.7
    top = foot * 0.12
    if rng.random() < 0.6:
        sky = rng.choice((("#9fd0ee", "#e4f2fa"), ("#f5c59a", "#fdebd2"), ("#b7c7d6", "#edf1f4")))
        canvas.draw(
            fade("pane", *sky),
            rect(left - 12, top - 12, wide + 24, tall + 24, "#f7f4ec", 4),
            rect(left, top, wide, tall, "url(#pane)"),
        )
        canvas.draw(
            ellipse(left + wide * 0.3, top + tall * 0.4, 44, 15, "#ffffff", 'opacity="0.8"'),
            ellipse(left + wide * 0.38, top + tall * 0.34, 34, 15, "#ffffff", 'opacity="0.8"'),
        )
        canvas.draw(
            rect(left + wide / 2 - 5, top, 10, tall, "#f7f4ec"),
            rect(left - 22, top + tall + 8, wide + 44, 12, "#e6e1d5", 3),
        )
    else:
        frame, far = rng.choice(("#8a6242", "#3d4a5c", "#c9a05a")), rng.choice(("#7f9db0", "#a3b79a", "#c7a48f"))
        canvas.draw(
            rect(left - 12, top - 8, wide + 24, tall + 16, frame, 3),
            rect(left, top + 4, wide, tall - 8, mix(far, "#ffffff", 0.6)),
        )
        low = top + tall - 4
        canvas.draw(
            path(
                f"M{left:.0f} {low:.0f} L{left:.0f} {low - tall * 0.3:.0f} Q{left + wide * 0.3:.0f} {low - tall * 0.75:.0f} {left + wide * 0.55:.0f} {low - tall * 0.3:.0f} T{left + wide:.0f} {low - tall * 0.4:.0f} L{left + wide:.0f} {low:.0f} Z",
                far,
            ),
            ellipse(left + wide * 0.76, top + tall * 0.28, 18, 18, "#fff3d0"),
        )


def _weave(canvas: Canvas, rng: random.Random, top: float, fold: float, cloth: str) -> None:
    """Stripes, checks or a runner, narrower towards the back."""
    width, kind = canvas.width, rng.choice(("checks", "stripes", "runner", "hem"))
    middle = width / 2
    if kind in ("checks", "stripes"):
        for number in range(-10, 11, 2):
            near, far = middle + number * width * 0.075, middle + number * width * 0.055
            canvas.draw(
                polygon(
                    [(far, top), (far + width * 0.055, top), (near + width * 0.075, fold), (near, fold)],
                    cloth,
                    'opacity="0.16"',
                )
            )
    if kind == "checks":
        level, deep = top + 14.0, 30.0
        while level < fold:
            canvas.draw(rect(0, level, width, min(deep, fold - level), cloth, 0, 'opacity="0.16"'))
            level, deep = level + deep * 2.1, deep * 1.2
    if kind == "runner":
        canvas.draw(rect(0, top + (fold - top) * 0.3, width, (fold - top) * 0.42, cloth, 0, 'opacity="0.3"'))
    if kind == "hem":
        canvas.draw(
            rect(0, fold - 34, width, 12, cloth, 0, 'opacity="0.45"'),
            rect(0, top + 16, width, 6, cloth, 0, 'opacity="0.35"'),
        )
