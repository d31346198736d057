"""A picture being composed: a backdrop, objects with exact boxes, and writing.

What is put on a stage is remembered, so that the scene written for the detector is what was drawn.
"""

import io
import random

from PIL import Image, ImageDraw, ImageFilter, ImageFont

from m3bench.tasks.scene import Box, Scene, SceneObject, SceneText

Colour = tuple[int, int, int]


class Stage:
    """A picture of a size, begun with a backdrop."""

    def __init__(self, width: int, height: int, sky: Colour, ground: Colour, horizon: float = 0.45) -> None:
        self.width, self.height = width, height
        self._image = Image.new("RGB", (width, height))
        self._objects: list[SceneObject] = []
        self._texts: list[SceneText] = []
        line = int(height * horizon)
        draw = ImageDraw.Draw(self._image)
        for y in range(height):
            near = y / line if y < line else (y - line) / max(1, height - line)
            base = (
                _mix(sky, (255, 255, 255), 0.55 * near)
                if y < line
                else _mix(_mix(ground, (255, 255, 255), 0.25), ground, near)
            )
            draw.line([(0, y), (width, y)], fill=base)

    def hills(self, rng: random.Random, colour: Colour, at: float, height: float, count: int = 4) -> None:
        """Rounded hills behind everything that follows."""
        layer = Image.new("RGBA", self._image.size)
        draw = ImageDraw.Draw(layer)
        for number in range(count):
            centre = self.width * (number + rng.uniform(0.1, 0.9)) / count
            wide, tall = self.width * rng.uniform(0.22, 0.42), self.height * height * rng.uniform(0.6, 1.2)
            base = self.height * at
            draw.ellipse((centre - wide, base - tall, centre + wide, base + tall), fill=(*colour, 255))
        draw.rectangle((0, self.height * at, self.width, self.height), fill=(0, 0, 0, 0))
        self._image.paste(layer, (0, 0), layer)

    def place(
        self, art: Image.Image, label: str, x: int, y: int, height: int, *, flip: bool = False, **facts: object
    ) -> Box:
        """Put an object down, its foot at `(x, y)`; returns its box."""
        width = max(1, round(art.width * height / art.height))
        drawn = art.resize((width, height), Image.Resampling.LANCZOS)
        if flip:
            drawn = drawn.transpose(Image.Transpose.FLIP_LEFT_RIGHT)
        left, top = x - width // 2, y - height
        shadow = Image.new("RGBA", self._image.size)
        ImageDraw.Draw(shadow).ellipse(
            (left + width * 0.1, y - height * 0.05, left + width * 0.9, y + height * 0.05), fill=(0, 0, 0, 70)
        )
        shadow = shadow.filter(ImageFilter.GaussianBlur(6))
        self._image.paste(shadow, (0, 0), shadow)
        self._image.paste(drawn, (left, top), drawn)
        box = (max(0, left), max(0, top), min(self.width, left + width), min(self.height, y))
        self._objects.append(SceneObject(label=label, box=box, **facts))  # type: ignore[arg-type]
        return box

    def panel(
        self, box: tuple[int, int, int, int], fill: Colour, radius: int = 18, outline: Colour | None = None
    ) -> None:
        """A plain surface to write on."""
        ImageDraw.Draw(self._image).rounded_rectangle(box, radius, fill=fill, outline=outline, width=3)

    def write(self, text: str, x: int, y: int, size: int, colour: Colour = (30, 34, 42), *, note: bool = True) -> Box:
        """A line of writing, its left top at `(x, y)`; returns its box."""
        font = ImageFont.load_default(size)
        draw = ImageDraw.Draw(self._image)
        draw.text((x, y), text, fill=colour, font=font)
        left, top, right, bottom = draw.textbbox((x, y), text, font=font)
        box = (left, top, right, bottom)
        if note:
            self._texts.append(SceneText(text=text, box=box))
        return box

    def paste(self, picture: Image.Image, x: int, y: int) -> None:
        """Put a ready picture down."""
        self._image.paste(picture, (x, y))

    def png(self) -> bytes:
        """The picture as a file."""
        out = io.BytesIO()
        reduced = self._image.quantize(256, method=Image.Quantize.MEDIANCUT, dither=Image.Dither.FLOYDSTEINBERG)
        reduced.save(out, "PNG", optimize=True)
        return out.getvalue()

    def scene(self, picture: bytes) -> Scene:
        """What there is to see in it."""
        return Scene.of(picture, self._objects, self._texts)


def _mix(one: Colour, other: Colour, share: float) -> Colour:
    r, g, b = (round(a + (z - a) * share) for a, z in zip(one, other, strict=True))
    return (r, g, b)
