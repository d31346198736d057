"""Film posters behind glass: a motif, a line of promise, the title in letters that can be read, and who made it."""

import random
from collections.abc import Mapping, Sequence
from typing import Any

from m3bench.tasks.render.canvas import Canvas
from m3bench.tasks.render.shapes import ellipse, fade, mix, path, rect
from m3bench.tasks.scene import Box

_MOODS = {
    "Science Fiction": (("#0b1d3a", "#3c6fb0"), ("rocket", "ringed planet", "satellite", "robot", "comet")),
    "Horror": (("#1c0d14", "#7a1f2b"), ("bat", "full moon", "candle", "spider", "urn")),
    "Romance": (("#5a1f3d", "#e58fa5"), ("rose", "bouquet", "ring", "violin", "moon")),
    "Comedy": (("#0f5f73", "#f2c14e"), ("masks", "balloon", "top hat", "taxi", "cocktail")),
    "Animation": (("#1c6e5a", "#a5d46a"), ("kite", "balloon", "teddy bear", "butterfly", "rainbow")),
    "War": (("#2b2f1e", "#8a8558"), ("helmet", "shield", "dove", "medal", "airplane")),
    "Western": (("#5a2f14", "#e0a458"), ("cactus", "horse", "boot", "desert", "sun")),
    "Crime": (("#15171d", "#5c6470"), ("magnifying glass", "key", "money bag", "police car", "dice")),
    "Fantasy": (("#2a1a52", "#8d6fd1"), ("castle", "crystal ball", "crown", "owl", "magic wand")),
    "Adventure": (("#0d4a52", "#e0b060"), ("compass", "world map", "sailboat", "mountain", "lantern")),
    "Family": (("#2b5d8a", "#f0c987"), ("house", "dog", "kite", "balloon", "umbrella")),
    "Music": (("#3d1147", "#e06fa0"), ("guitar", "piano", "trumpet", "drum", "microphone")),
    "Drama": (("#22333f", "#8fa8b5"), ("umbrella", "lantern", "cityscape", "mantel clock", "potted plant")),
}  # fmt: skip


def wall(canvas: Canvas, rng: random.Random) -> None:
    """The outside of a cinema: plaster, and a lamp above each half."""
    plaster = rng.choice(("#7d4a3a", "#5a5f68", "#8a6b4e", "#4d5a52", "#3f4a63"))
    width, height = canvas.width, canvas.height
    canvas.draw(
        fade("plaster", mix(plaster, "#ffffff", 0.12), mix(plaster, "#000000", 0.3)),
        rect(0, 0, width, height, "url(#plaster)"),
    )
    for share in (0.27, 0.73):
        canvas.draw(
            rect(width * share - 70, 0, 140, 16, "#2a2622", 6),
            path(
                f"M{width * share - 60} 16 L{width * share - 330} {height} H{width * share + 330} L{width * share + 60} 16 Z",
                "#fff3cf",
                'opacity="0.13"',
            ),
        )


def hang(
    canvas: Canvas,
    rng: random.Random,
    films: Sequence[tuple[Mapping[str, Any], float, float]],
    motifs: Mapping[str, tuple[str, str]],
    width: float,
    height: float,
) -> list[Box]:
    """Posters in their frames; returns the boxes of the frames.

    Args:
        canvas: Where.
        rng: Chooses what is not said here.
        films: Each with its left and its upper edge.
        motifs: What is on the poster of a film, large and small, by its title; others have things of their genre.
        width: Of a poster.
        height: Of a poster.
    """
    panel = height * 0.32
    boxes: list[Box] = []
    for film, left, top in films:
        colours, _ = _mood(film)
        key = f"poster{round(left)}-{round(top)}"
        canvas.draw(
            rect(left - 16, top - 16, width + 32, height + 32, "#2a2622", 8), rect(left - 10, top - 10, width + 20, height + 20, "#d8b56a", 6),
            fade(key, *colours), rect(left, top, width, height, f"url(#{key})"),
            ellipse(left + width * rng.uniform(0.38, 0.62), top + height * 0.36, width * 0.36, width * 0.36, mix(colours[1], "#ffffff", 0.35), 'opacity="0.55"'),
            rect(left, top + height - panel, width, panel, mix(colours[0], "#000000", 0.45)),
        )  # fmt: skip
        boxes.append((round(left - 16), round(top - 16), round(left + width + 16), round(top + height + 16)))
    for film, left, top in films:
        of_genre = rng.sample(_mood(film)[1], 2)
        large, small = motifs.get(film["title"], of_genre)
        x, y = left + width * rng.uniform(0.42, 0.58), top + height * 0.6
        canvas.place(large, x, y, height * 0.34, shadow=False, note=False)
        x, y = left + width * rng.choice((0.2, 0.8)), top + height * 0.64
        canvas.place(small, x, y, height * 0.14, shadow=False, note=False)
    for film, left, top in films:
        _write(canvas, film, left + width / 2, top, top + height - panel, width)
    return boxes


def _mood(film: Mapping[str, Any]) -> tuple[tuple[str, str], tuple[str, ...]]:
    return next((_MOODS[genre] for genre in film["genres"] if genre in _MOODS), _MOODS["Drama"])


def _write(canvas: Canvas, film: Mapping[str, Any], x: float, top: float, panel: float, width: float) -> None:
    """The promise above, and the title and the director in the panel below."""
    size = width * 0.072
    for number, text in enumerate(canvas.lines(film["tagline"], width - 40, size, "serif")[:2]):
        y = top + size * (1.7 + 1.17 * number)
        canvas.text(text, x, y, size, face="serif", fill="#ffffff", anchor="middle", note=False)
    lines = canvas.lines(film["title"], width - 24, 38, "sans bold")
    size = (38, 34, 29)[len(lines[:3]) - 1]
    y = panel + size * 1.25
    for text in lines:
        canvas.text(text, x, y, size, face="sans bold", fill="#ffffff", anchor="middle", width=width - 24)
        y += size * 1.06
    made = f"a film by {film['directors'][0]}"
    canvas.text(made, x, y + 2, 21, fill="#e9e4da", anchor="middle", width=width - 30)
