"""A picture being composed: SVG drawings, objects with exact boxes, and writing, in the order they are put down.

What is put on a canvas is remembered, so that the scene written for the detector is what was drawn: the box of an
object is measured on its own pixels. Drawings are SVG fragments in the pixels of the picture; resvg renders them
with our fonts alone, so the same fragments give the same bytes on one machine and the same pixels, within a shade, on
any other. The file is a lossless PNG, encoded in two ways, of which the smaller is kept. A detector has words for
everyday things alone, not for names, prices or judgement: an author can note only the objects of the art and a few that
are drawn.
"""

import io
import math
import random
import struct
import zlib
from collections.abc import Sequence
from functools import cache
from html import escape
from typing import TYPE_CHECKING, TypedDict, Unpack

from PIL import Image, ImageDraw, ImageFilter

from m3bench.tasks.foreign_files import READABLE
from m3bench.tasks.lazy_modules import LazyModule
from m3bench.tasks.render.art import FACES, Art, names, visible
from m3bench.tasks.scene import Box, Keypoint, Scene, SceneObject, SceneText

if TYPE_CHECKING:
    import resvg_py
else:
    resvg_py = LazyModule("resvg_py")

_SIGNATURE = b"\x89PNG\r\n\x1a\n"
_TRUE_COLOUR = 2


def smallest_png(image: Image.Image) -> bytes:
    """A picture in red, green and blue as a file.

    Pillow predicts each row from the one above it, which pays for gradients and photographs. Pages of writing on flat
    colours take a fifth less when nothing is predicted.
    """
    predicted = io.BytesIO()
    image.save(predicted, "PNG", optimize=True)
    return min(predicted.getvalue(), _plain(image), key=len)


def _plain(image: Image.Image) -> bytes:
    width, height = image.size
    row, pixels = 3 * width, image.tobytes()
    # Each row begins with the number of its filter, here none.
    rows = b"".join(b"\0" + pixels[start : start + row] for start in range(0, len(pixels), row))
    header = struct.pack(">IIBBBBB", width, height, 8, _TRUE_COLOUR, 0, 0, 0)
    chunks = ((b"IHDR", header), (b"IDAT", zlib.compress(rows, 9)), (b"IEND", b""))
    return _SIGNATURE + b"".join(_chunk(kind, data) for kind, data in chunks)


def _chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


_DRAWN = (
    *("armor", "bag", "barrier", "bell", "book", "bottle", "box", "building", "cable", "can", "car", "clock"),
    *(
        "fish",
        "food",
        "gas cylinder",
        "item",
        "jar",
        "jewelry",
        "ladder",
        "leaf",
        "mask",
        "musical instrument",
        "observatory",
        "person",
    ),
    *("picture frame", "pit", "plank", "plate", "postcard", "sculpture", "shield", "sign", "spill", "stack of pipes"),
    *("stone", "tent", "traffic cone", "tree", "tube", "vase", "wheelbarrow", "worker"),
)


@cache
def vocabulary() -> frozenset[str]:
    """Every label that an object of a picture may have."""
    return frozenset((*names(), *_DRAWN))


INK = "#22262e"
_OUTLINE = 10
"""How many times smaller things are rendered that are only laid out."""


class ParagraphStyle(TypedDict, total=False):
    """How text is written."""

    face: str
    """One of `FACES`; `sans` when left out."""
    fill: str
    """The colour."""
    anchor: str
    """`start`, `middle` or `end`."""
    turn: float
    """Degrees, clockwise, about the anchor."""
    note: bool
    """Whether it is in the scene; not for turned or decorative writing."""
    extra: str
    """More SVG attributes."""


class TextStyle(ParagraphStyle, total=False):
    """How a line is written."""

    width: float | None
    """The line is made smaller until it fits."""


class Noted(TypedDict, total=False):
    """What the scene says of an object, besides its box."""

    note: bool
    """Whether it is in the scene; not for scenery."""
    label: str | None
    """What the detector calls it; its name when left out."""
    score: float
    """How sure the detector is; 0.9 when left out."""
    aliases: tuple[str, ...]
    keypoints: tuple[Keypoint, ...]


class Canvas:
    """A picture of a size.

    Args:
        art: Objects and fonts.
        width: In pixels.
        height: In pixels.
        ground: The colour it begins with.
    """

    def __init__(self, art: Art, width: int, height: int, ground: str = "#ffffff") -> None:
        self.art = art
        self.width, self.height = width, height
        self._image = Image.new("RGBA", (width, height) if art.drawn else (1, 1), ground)
        self._waiting: list[str] = []
        self._objects: list[SceneObject] = []
        self._texts: list[SceneText] = []

    def copy(self) -> "Canvas":
        """Another canvas with the same on it."""
        self._settle()
        twin = Canvas(self.art, 1, 1)
        twin.width, twin.height, twin._image = self.width, self.height, self._image.copy()
        twin._waiting, twin._objects, twin._texts = list(self._waiting), list(self._objects), list(self._texts)
        return twin

    def draw(self, *fragments: str) -> None:
        """Put down SVG fragments; nothing is said about them in the scene."""
        self._waiting += fragments

    def thing(self, label: str, *fragments: str, score: float = 0.9, shadow: bool = False, **facts: object) -> Box:
        """Put down an object drawn in SVG, and note it; returns its box."""
        if not self.art.drawn:
            return self.note(label, self._outlined(fragments), score=score, **facts)
        self._settle()
        layer = self._render(fragments)
        box = visible(layer)
        if shadow:
            self._shade(box)
        self._image.alpha_composite(layer)
        return self.note(label, box, score=score, **facts)

    def place(
        self,
        name: str,
        x: float,
        y: float,
        height: float,
        *,
        flip: bool = False,
        turn: float = 0,
        shadow: bool = True,
        **noted: Unpack[Noted],
    ) -> Box:
        """Put down an object of the art, the middle of its foot at `(x, y)`; returns its box.

        Args:
            name: Of the object.
            x: Where.
            y: Where.
            height: In pixels, before turning.
            flip: Mirror it.
            turn: Degrees, counter-clockwise.
            shadow: It stands on the ground.
            noted: What the scene says of it.
        """
        if not self.art.drawn:
            around = (x - height / 2, y - height, x + height / 2, y)
            left, top, right, bottom = map(round, around)
            box = (max(0, left), max(0, top), min(self.width, right), min(self.height, bottom))
            return self._noted(name, box, noted)
        self._settle()
        drawn = self.art.object(name)
        drawn = drawn.resize(
            (max(1, round(drawn.width * height / drawn.height)), round(height)), Image.Resampling.LANCZOS
        )
        if flip:
            drawn = drawn.transpose(Image.Transpose.FLIP_LEFT_RIGHT)
        if turn:
            drawn = drawn.rotate(turn, Image.Resampling.BICUBIC, expand=True)
            drawn = drawn.crop(visible(drawn))
        left, top = round(x - drawn.width / 2), round(y) - drawn.height
        if shadow:
            self._shade((left, top, left + drawn.width, top + drawn.height))
        inside = max(0, left), max(0, top), min(self.width, left + drawn.width), min(self.height, top + drawn.height)
        shown = drawn.crop((inside[0] - left, inside[1] - top, inside[2] - left, inside[3] - top))
        self._image.alpha_composite(shown, inside[:2])
        x1, y1, x2, y2 = visible(shown)
        box = (x1 + inside[0], y1 + inside[1], x2 + inside[0], y2 + inside[1])
        return self._noted(name, box, noted)

    def _noted(self, name: str, box: Box, noted: Noted) -> Box:
        if not noted.get("note", True):
            return box
        facts = {key: value for key, value in noted.items() if key not in ("label", "note")}
        return self.note(noted.get("label") or name, box, **facts)  # type: ignore[arg-type]

    def note(self, label: str, box: Box, *, score: float = 0.9, **facts: object) -> Box:
        """Say that an object is in a box.

        Raises:
            ValueError: No detector has a word for it.
        """
        if label not in vocabulary():
            raise ValueError(f"a detector has no word for {label!r}: use one of its vocabulary")
        self._objects.append(SceneObject(label=label, box=box, score=score, **facts))  # type: ignore[arg-type]
        return box

    def text(
        self,
        text: str,
        x: float,
        y: float,
        size: float,
        **style: Unpack[TextStyle],
    ) -> Box:
        """Write a line, its baseline beginning at `(x, y)`; returns its box.

        Args:
            text: What to write.
            x: Where the anchor is.
            y: Where the baseline is.
            size: Of the font.
            style: How it is written.
        """
        face, anchor, turn = style.get("face", "sans"), style.get("anchor", "start"), style.get("turn", 0.0)
        fill, width, extra = style.get("fill", INK), style.get("width"), style.get("extra", "")
        wide = self.art.width(text, size, face)
        if width is not None and wide > width:
            size, wide = size * width / wide, width
        kind = FACES[face]
        turned = f' transform="rotate({turn:.2f} {x:.1f} {y:.1f})"' if turn else ""
        self.draw(
            f'<text x="{x:.1f}" y="{y:.1f}" font-family="&apos;{kind.family}&apos;" font-weight="{kind.weight}"'
            f' font-size="{size:.2f}" fill="{fill}" text-anchor="{anchor}"{turned} {extra}>{escape(text)}</text>'
        )
        left = x - {"start": 0.0, "middle": wide / 2, "end": wide}[anchor]
        box = (max(0, round(left)), max(0, round(y - size * 0.75)), round(left + wide), round(y + size * 0.22))
        if style.get("note", True):
            self._texts.append(SceneText(text=text, box=box))
        return box

    def lines(self, text: str, width: float, size: float, face: str = "sans") -> list[str]:
        """A text broken into lines that are no wider than `width`."""
        found = [""]
        for word in text.split():
            longer = f"{found[-1]} {word}".strip()
            if found[-1] and self.art.width(longer, size, face) > width:
                found.append(word)
            else:
                found[-1] = longer
        return found

    def paragraph(
        self,
        text: str,
        x: float,
        y: float,
        width: float,
        size: float,
        *,
        leading: float = 1.3,
        **style: Unpack[ParagraphStyle],
    ) -> float:
        """Write a text in lines from the baseline `y` on; returns the baseline of the line that would follow."""
        for line in self.lines(text, width, size, style.get("face", "sans")):
            self.text(line, x, y, size, **style)
            y += size * leading
        return y

    def paste(self, picture: Image.Image, x: int, y: int) -> Box:
        """Put down a ready picture, its corner at `(x, y)`; returns its box."""
        if self.art.drawn:
            self._settle()
            self._image.paste(picture.convert("RGB"), (x, y))
        return (x, y, x + picture.width, y + picture.height)

    def lay(
        self, other: "Canvas", x: float, y: float, *, turn: float = 0, label: str | None = None, score: float = 0.9
    ) -> Box:
        """Put down another canvas, such as a book, its middle at `(x, y)`, with a shadow; returns its box.

        Args:
            other: What is laid down; nothing of its scene is taken over.
            x: Where.
            y: Where.
            turn: Degrees, counter-clockwise.
            label: What the detector calls it; it is no part of the scene when left out.
            score: How sure the detector is.
        """
        up, over = (abs(share(math.radians(turn))) for share in (math.cos, math.sin))
        wide, tall = (other.width * up + other.height * over) / 2, (other.height * up + other.width * over) / 2
        right, bottom = min(self.width, round(x + wide)), min(self.height, round(y + tall))
        box = (max(0, round(x - wide)), max(0, round(y - tall)), right, bottom)
        if self.art.drawn:
            self._settle()
            turned = other.image().convert("RGBA").rotate(turn, Image.Resampling.BICUBIC, expand=True)
            dark = Image.new("RGBA", (turned.width + 48, turned.height + 48))
            dark.paste((0, 0, 0, 90), (24, 24), turned.getchannel("A"))
            for layer, aside, below in ((dark.filter(ImageFilter.GaussianBlur(7)), 7, 9), (turned, 0, 0)):
                left, top = round(x - layer.width / 2) + aside, round(y - layer.height / 2) + below
                cut = max(0, -left), max(0, -top)
                self._image.alpha_composite(layer.crop((*cut, *layer.size)), (left + cut[0], top + cut[1]))
        return self.note(label, box, score=score) if label else box

    def light(self, rng: random.Random, strength: float = 1.0) -> None:
        """Light from one side and darker corners; comes last, and differs from picture to picture."""
        self._settle()
        x, y = rng.uniform(0.1, 0.9), rng.uniform(0.0, 0.35)
        warm = rng.choice(("#fff3d6", "#fffaf0", "#eef4ff", "#ffe9d2"))
        if not self.art.drawn:
            return
        self._image.alpha_composite(
            self._render(
                [
                    f'<defs><radialGradient id="l" cx="{x:.3f}" cy="{y:.3f}" r="1.05">'
                    f'<stop offset="0" stop-color="{warm}" stop-opacity="{0.26 * strength:.3f}"/>'
                    f'<stop offset="0.55" stop-color="{warm}" stop-opacity="0"/>'
                    f'<stop offset="1" stop-color="#10131a" stop-opacity="{0.22 * strength:.3f}"/></radialGradient></defs>'
                    f'<rect width="{self.width}" height="{self.height}" fill="url(#l)"/>'
                ]
            )
        )

    @property
    def objects(self) -> tuple[SceneObject, ...]:
        """The things in it, in the order they were put down."""
        return tuple(self._objects)

    @property
    def texts(self) -> tuple[SceneText, ...]:
        """The writing in it."""
        return tuple(self._texts)

    def brightness(self, points: Sequence[tuple[float, float]]) -> float:
        """How bright the picture is at some points on average, of 255, without what waits to be rendered."""
        if not self.art.drawn:
            return 255
        inside = [(round(x), round(y)) for x, y in points if 0 <= x < self.width - 1 and 0 <= y < self.height - 1]
        seen = [self._image.getpixel(place) for place in inside]
        return sum(0.3 * red + 0.59 * green + 0.11 * blue for red, green, blue, _ in seen) / max(1, len(seen))  # type: ignore[misc]

    def image(self) -> Image.Image:
        """The picture as it is, in red, green and blue; a single pixel when nothing can be drawn."""
        self._settle()
        return self._image.convert("RGB")

    def png(self) -> bytes:
        """The picture as a file; without bytes when nothing can be drawn."""
        if not self.art.drawn:
            return b""
        self._settle()
        # Seven bits a channel look like eight, and the file is a quarter smaller.
        return smallest_png(self._image.convert("RGB").point([value & 0xFE | 1 for value in range(256)] * 3))

    def scene(self, picture: bytes) -> Scene:
        """What there is to see in it."""
        if not self.art.drawn:
            objects, texts = tuple(self._objects), tuple(self._texts)
            return Scene(sha256="", width=self.width, height=self.height, thumbnail=b"", objects=objects, texts=texts)
        return Scene.of(picture, self._objects, self._texts)

    def _settle(self) -> None:
        """Render what waits, so that what follows lies above it."""
        if self._waiting and self.art.drawn:
            fragments, self._waiting = self._waiting, []
            self._image.alpha_composite(self._render(fragments))

    def _outlined(self, fragments: tuple[str, ...]) -> Box:
        """About where fragments are."""
        box = visible(self._render(fragments, _OUTLINE))
        left, top, right, bottom = (round(place * _OUTLINE) for place in box)
        return left, top, right, bottom

    def _render(self, fragments: "list[str] | tuple[str, ...]", reduced: int = 1) -> Image.Image:
        svg = (
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{self.width // reduced}" height="{self.height // reduced}"'
            f' viewBox="0 0 {self.width} {self.height}">{"".join(fragments)}</svg>'
        )
        # Drawings without writing are not to wait for fonts.
        files = sorted(map(str, self.art.fonts.values())) if self.art.drawn and "<text" in svg else []
        data = resvg_py.svg_to_bytes(svg_string=svg, skip_system_fonts=True, font_files=files)
        return Image.open(io.BytesIO(bytes(data)), formats=READABLE).convert("RGBA")

    def _shade(self, box: Box) -> None:
        left, _, right, bottom = box
        width = right - left
        soft = max(3, width // 30)
        # The blur of a shadow reaches no farther; the rest of the picture is left alone.
        reach = round(6 * soft)
        x, y = max(0, round(left) - reach), max(0, round(bottom - width * 0.07) - reach)
        far = min(self.width, round(right) + reach), min(self.height, round(bottom + width * 0.06) + reach)
        shadow = Image.new("RGBA", (max(1, far[0] - x), max(1, far[1] - y)))
        ImageDraw.Draw(shadow).ellipse(
            (
                left + width * 0.08 - x,
                bottom - width * 0.07 - y,
                right - width * 0.08 - x,
                bottom + width * 0.06 - y,
            ),
            fill=(0, 0, 0, 80),
        )
        self._image.alpha_composite(shadow.filter(ImageFilter.GaussianBlur(soft)), (x, y))
