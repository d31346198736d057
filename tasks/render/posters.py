"""Film posters behind glass: a motif, a line of promise, the title in letters that can be read, and who made it."""

import random
from collections.abc import Mapping
from typing import Any

from m3bench.tasks.render.canvas import Canvas
from m3bench.tasks.render.shapes import ellipse, fade, mix, path, rect

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


def poster(
    canvas: Canvas, rng: random.Random, left: float, top: float, width: float, height: float, film: Mapping[str, Any]
) -> None:
    """One poster in its frame."""
    colours, motifs = next((_MOODS[genre] for genre in film["genres"] if genre in _MOODS), _MOODS["Drama"])
    key = f"poster{round(left)}"
    panel = height * 0.3
    canvas.draw(
        rect(left - 20, top - 20, width + 40, height + 40, "#2a2622", 8), rect(left - 12, top - 12, width + 24, height + 24, "#d8b56a", 6),
        fade(key, *colours), rect(left, top, width, height, f"url(#{key})"),
        ellipse(left + width * rng.uniform(0.3, 0.7), top + height * 0.36, width * 0.36, width * 0.36, mix(colours[1], "#ffffff", 0.35), 'opacity="0.55"'),
        rect(left, top + height - panel, width, panel, mix(colours[0], "#000000", 0.45)),
    )  # fmt: skip
    chosen = rng.sample(motifs, 2)
    canvas.place(
        chosen[0], left + width * rng.uniform(0.42, 0.58), top + height * 0.6, height * 0.34, shadow=False, note=False
    )
    canvas.place(
        chosen[1], left + width * rng.choice((0.2, 0.8)), top + height * 0.64, height * 0.14, shadow=False, note=False
    )
    for number, text in enumerate(canvas.lines(film["tagline"], width - 60, 30, "serif")[:2]):
        canvas.text(
            text,
            left + width / 2,
            top + 60 + number * 38,
            30,
            face="serif",
            fill="#ffffff",
            anchor="middle",
            note=False,
        )
    lines = canvas.lines(film["title"], width - 50, 62, "sans bold")
    y = top + height - panel + 92 - (len(lines) - 1) * 4
    for text in lines:
        canvas.text(
            text,
            left + width / 2,
            y,
            62 if len(lines) == 1 else 54,
            face="sans bold",
            fill="#ffffff",
            anchor="middle",
            width=width - 40,
        )
        y += 60
    canvas.text(
        f"a film by {film['directors'][0]}",
        left + width / 2,
        y + 2,
        27,
        fill="#e9e4da",
        anchor="middle",
        width=width - 50,
    )
