"""The sheet a poster is drawn on: a picture of 1200 by 800 units, drawn at twice the size and then reduced.

Coordinates are units, colours are names of the palette or `#rrggbb`, darkness is a share from -1 (white) to
1 (black). Not a scene: what stands where is the recipe's part.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from random import Random

from PIL import Image, ImageColor, ImageDraw

from m3bench.sandboxes.lettering import font

WIDTH, HEIGHT = 1200, 800
MARGIN, CAPTION = 28, 96
"""The paper left around the drawing, and below it for the name of the place."""
_ZOOM = 2

Colour = tuple[int, int, int]
Point = tuple[float, float]

PALETTES = {
    "day": {
        "sky": "#3f97c9", "horizon": "#cfe9ee", "sun": "#fff6d6", "cloud": "#ffffff", "far": "#8fb2bf",
        "middle": "#5d8f80", "near": "#2f5d50", "water": "#2e7f9f", "shine": "#d8f1f2", "paper": "#f6efdf",
        "ink": "#1f3a4d", "stone": "#d9cbb0", "roof": "#b5523b", "light": "#fbe7a1", "leaf": "#2f6b4a",
    },
    "dawn": {
        "sky": "#5b7fb0", "horizon": "#f9d5b3", "sun": "#fff0c9", "cloud": "#fbe3d6", "far": "#a793ad",
        "middle": "#6f7f8f", "near": "#3b4f60", "water": "#5f86a8", "shine": "#fbe4cf", "paper": "#f8efe2",
        "ink": "#34425c", "stone": "#e0c7ab", "roof": "#a9503f", "light": "#ffe39a", "leaf": "#45665a",
    },
    "dusk": {
        "sky": "#3a2f5f", "horizon": "#f59e6c", "sun": "#ffd77d", "cloud": "#e8907d", "far": "#7f5a7b",
        "middle": "#553f63", "near": "#2d2440", "water": "#5b4a78", "shine": "#f8b98a", "paper": "#f7ead9",
        "ink": "#2d2440", "stone": "#d99f79", "roof": "#7d3447", "light": "#ffd36b", "leaf": "#2d2440",
    },
    "night": {
        "sky": "#101b3b", "horizon": "#385a8a", "sun": "#f4efd5", "cloud": "#4a6594", "far": "#2a4470",
        "middle": "#1d3158", "near": "#101c38", "water": "#16294f", "shine": "#9db9dd", "paper": "#eef0f2",
        "ink": "#14203f", "stone": "#8b98ad", "roof": "#3f4f75", "light": "#ffdf85", "leaf": "#101c38",
    },
    "desert": {
        "sky": "#4d9bbd", "horizon": "#fbe3bb", "sun": "#fff3cd", "cloud": "#fff2df", "far": "#b98a7b",
        "middle": "#d79a58", "near": "#a8622f", "water": "#4e93a6", "shine": "#fdeecb", "paper": "#f9efdc",
        "ink": "#5b3420", "stone": "#e3bd83", "roof": "#a8552f", "light": "#ffe2a0", "leaf": "#5d7044",
    },
    "north": {
        "sky": "#7fa6bd", "horizon": "#e6eef0", "sun": "#fffbe8", "cloud": "#f4f7f8", "far": "#a9bcc6",
        "middle": "#728f94", "near": "#44605c", "water": "#4d7789", "shine": "#e6f0f2", "paper": "#f3f1ea",
        "ink": "#2b3f4c", "stone": "#c9ccc8", "roof": "#8e4a43", "light": "#fbe9b0", "leaf": "#44665a",
    },
    "tropic": {
        "sky": "#2aa3b8", "horizon": "#fdf0c8", "sun": "#fff7d1", "cloud": "#ffffff", "far": "#7fc0b4",
        "middle": "#3f9a7a", "near": "#1f6b55", "water": "#1b8fa5", "shine": "#dbf6ee", "paper": "#fbf3df",
        "ink": "#12505c", "stone": "#efdcb4", "roof": "#d26a45", "light": "#ffe89a", "leaf": "#1f6b55",
    },
}  # fmt: skip


@dataclass
class Canvas:
    """A poster in the making."""

    palette: str
    seed: str
    image: Image.Image = field(init=False)
    random: Random = field(init=False)

    def __post_init__(self) -> None:
        self.image = Image.new("RGB", (WIDTH * _ZOOM, HEIGHT * _ZOOM))
        self.random = Random(self.seed)
        self._pen = ImageDraw.Draw(self.image, "RGBA")

    def colour(self, name: str, darker: float = 0.0) -> Colour:
        """A colour of the palette or `#rrggbb`, made darker or, below zero, lighter."""
        found = _rgb(PALETTES[self.palette].get(name, name))
        return blend(found, (0, 0, 0) if darker > 0 else (255, 255, 255), abs(darker))

    def polygon(self, points: Sequence[Point], colour: Colour, opacity: float = 1.0) -> None:
        """A filled shape."""
        self._pen.polygon([(x * _ZOOM, y * _ZOOM) for x, y in points], fill=(*colour, round(255 * opacity)))

    def box(self, left: float, top: float, right: float, bottom: float, colour: Colour, opacity: float = 1.0) -> None:
        """A filled rectangle; nothing when it has no extent."""
        if right > left and bottom > top:
            edges = (left * _ZOOM, top * _ZOOM, max(left, right - 0.5) * _ZOOM, max(top, bottom - 0.5) * _ZOOM)
            self._pen.rectangle(edges, fill=(*colour, round(255 * opacity)))

    def oval(self, x: float, y: float, wide: float, high: float, colour: Colour, opacity: float = 1.0) -> None:
        """A filled ellipse by its middle and its half axes."""
        edges = ((x - wide) * _ZOOM, (y - high) * _ZOOM, (x + wide) * _ZOOM, (y + high) * _ZOOM)
        self._pen.ellipse(edges, fill=(*colour, round(255 * opacity)))

    def line(self, points: Sequence[Point], colour: Colour, width: float = 2, opacity: float = 1.0) -> None:
        """A line through points."""
        path = [(x * _ZOOM, y * _ZOOM) for x, y in points]
        self._pen.line(path, fill=(*colour, round(255 * opacity)), width=max(1, round(width * _ZOOM)), joint="curve")

    def fade(self, top: float, bottom: float, upper: Colour, lower: Colour) -> None:
        """A band over the whole width that runs from one colour to another."""
        first, last = round(top * _ZOOM), round(bottom * _ZOOM)
        for y in range(first, last):
            tone = blend(upper, lower, (y - first) / max(1, last - first - 1))
            self._pen.line((0, y, WIDTH * _ZOOM, y), fill=tone)

    def finish(self, title: str, subtitle: str) -> Image.Image:
        """The poster in its final size, with paper around it and the place's name below."""
        poster = self.image.resize((WIDTH, HEIGHT), Image.Resampling.LANCZOS)
        pen = ImageDraw.Draw(poster)
        paper, ink = self.colour("paper"), self.colour("ink")
        bottom = HEIGHT - CAPTION
        pen.rectangle((0, 0, WIDTH, MARGIN), fill=paper)
        pen.rectangle((0, bottom, WIDTH, HEIGHT), fill=paper)
        pen.rectangle((0, 0, MARGIN, HEIGHT), fill=paper)
        pen.rectangle((WIDTH - MARGIN, 0, WIDTH, HEIGHT), fill=paper)
        # The rule keeps a dark drawing and the caption apart for whoever reads the letters by machine.
        pen.rectangle((0, bottom, WIDTH, bottom + 3), fill=ink)
        _line(pen, title.upper(), bottom + 32, 44, ink)
        _line(pen, subtitle, bottom + 71, 32, ink)
        return poster


def blend(one: Colour, other: Colour, share: float) -> Colour:
    """A colour between two: `share` of the other."""
    red, green, blue = (round(a + (b - a) * share) for a, b in zip(one, other, strict=True))
    return (red, green, blue)


def _rgb(text: str) -> Colour:
    red, green, blue, *_ = ImageColor.getrgb(text)
    return (red, green, blue)


def _line(pen: ImageDraw.ImageDraw, text: str, middle: float, size: int, colour: Colour) -> None:
    """A centred line, smaller when it would be too long."""
    while font(size).getlength(text) > WIDTH - 4 * MARGIN:
        size -= 2
    pen.text((WIDTH / 2, middle), text, font=font(size), fill=colour, anchor="mm", stroke_width=0.6)
