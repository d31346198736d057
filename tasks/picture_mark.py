"""The mark of a run's picture: four letters on a strip below it, which only somebody who sees the picture can tell.

Each run has letters of its own. The picture that a client is sent carries them; the file that tools read does not, so
no tool can read them, and boxes and texts that tools find are the same in every run.
"""

import re
import secrets
import struct
import zlib
from collections.abc import Iterator, Mapping
from hashlib import sha256
from io import BytesIO
from typing import TYPE_CHECKING

from m3bench.tasks.foreign_files import READABLE
from m3bench.tasks.lazy_modules import LazyModule

if TYPE_CHECKING:
    from PIL import Image, ImageDraw, ImageFont
else:
    Image = LazyModule("PIL.Image")
    ImageDraw = LazyModule("PIL.ImageDraw")
    ImageFont = LazyModule("PIL.ImageFont")

FIELD = "picture_mark"
"""The name under which the mark is handed in."""

MEANING = "the four letters on the strip below the picture; leave it out if you cannot see the picture"

LETTERS = "ACDEFHJKLMNPRTUVWXY"
"""None that is easily taken for another."""

LENGTH = 4

NARROWEST = 240
"""Pixels that the strip needs."""

_PNG = b"\x89PNG\r\n\x1a\n"
_PLAIN = (8, 2, 0, 0, 0)
"""Of a PNG with three bytes a pixel and its rows in order."""

_LEVEL = 3
"""Of compression: the higher ones take twice the time for a fifth of the size."""


def new_mark() -> str:
    """A mark that nobody can guess."""
    return "".join(secrets.choice(LETTERS) for _ in range(LENGTH))


def marked(picture: bytes, mark: str) -> bytes:
    """A PNG or JPEG file with the mark on a strip below the picture; one that cannot be read stays as it is."""
    try:
        return _lengthened(picture, mark) or _drawn_anew(picture, mark)
    except (OSError, ValueError, struct.error, zlib.error):
        return picture


def given(mark: str, answer: str | None, fields: Mapping[str, object] | None) -> bool:
    """Whether an answer has the mark: as its field, or after the field's name in the prose. Only the first counts."""
    found = told(answer, fields)
    return found is not None and _letters(found) == mark.lower()


def told(answer: str | None, fields: Mapping[str, object] | None) -> str | None:
    """What an answer gives as the mark; None when it gives none."""
    field = next((str(value) for name, value in (fields or {}).items() if is_mark(name)), None)
    if field is None and (said := re.search(r"(?i)picture[ _-]?mark\W+((?:[a-z]\W?){4})", answer or "")):
        return said[1]
    return field


def is_mark(name: str) -> bool:
    """Whether the name of a field is the mark's."""
    return _letters(name) == _letters(FIELD)


def _letters(text: str) -> str:
    return re.sub(r"[\W_]+", "", text).lower()


def _lengthened(picture: bytes, mark: str) -> bytes | None:
    """A plain PNG with more rows; None for any other file and for a narrow picture.

    The rows that are there stay as they are packed into pixels, which takes a tenth of the time of drawing the whole
    picture again.
    """
    chunks = list(_chunks(picture)) if picture.startswith(_PNG) else []
    if not chunks or chunks[0][0] != b"IHDR" or struct.unpack(">5B", chunks[0][1][8:]) != _PLAIN:
        return None
    width, height = struct.unpack(">2I", chunks[0][1][:8])
    if width < NARROWEST:
        return None
    strip = _strip(mark, width)
    pixels = strip.tobytes()
    rows = b"".join(b"\0" + pixels[row * width * 3 : (row + 1) * width * 3] for row in range(strip.height))
    packer = zlib.compressobj(_LEVEL)
    packed = b"".join(data for kind, data in chunks if kind == b"IDAT")
    longer = packer.compress(zlib.decompress(packed)) + packer.compress(rows) + packer.flush()
    header = struct.pack(">2I", width, height + strip.height) + chunks[0][1][8:]
    before = [chunk for chunk in chunks[1:] if chunk[0] not in (b"IDAT", b"IEND")]
    written = [(b"IHDR", header), *before, (b"IDAT", longer), (b"IEND", b"")]
    return _PNG + b"".join(
        struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
        for kind, data in written
    )


def _chunks(picture: bytes) -> Iterator[tuple[bytes, bytes]]:
    """The parts of a PNG, each with its kind."""
    at = len(_PNG)
    while at < len(picture):
        size, kind = struct.unpack(">I4s", picture[at : at + 8])
        yield kind, picture[at + 8 : at + 8 + size]
        at += size + 12


def _drawn_anew(picture: bytes, mark: str) -> bytes:
    with Image.open(BytesIO(picture), formats=READABLE) as image:
        kind, whole = image.format or "PNG", image.convert("RGB")
    strip = _strip(mark, max(NARROWEST, whole.width))
    sheet = Image.new("RGB", (strip.width, whole.height + strip.height))
    sheet.paste(whole)
    sheet.paste(strip, (0, whole.height))
    file = BytesIO()
    sheet.save(file, kind, quality=92)
    return file.getvalue()


def strip_height(width: int) -> int:
    """How many pixels the strip adds to the height of a picture of a width."""
    return max(40, width // 24)


def _strip(mark: str, width: int) -> "Image.Image":
    """The letters in a row, each a little turned and out of line."""
    height = strip_height(width)
    chance = sha256(mark.encode()).digest()
    strip = Image.new("RGB", (width, height), (232, 232, 232))
    font = ImageFont.load_default(height * 0.75)
    left = height // 2 + chance[0] * max(0, width - 6 * height) // 255
    for place, letter in enumerate(mark):
        tile = Image.new("L", (height, height), 0)
        ImageDraw.Draw(tile).text((height / 2, height / 2), letter, fill=255, font=font, anchor="mm")
        tile = tile.rotate(chance[place + 1] % 21 - 10, Image.Resampling.BICUBIC)
        strip.paste((32, 32, 32), (left + place * height, chance[place + 8] % 5 - 2), tile)
    return strip
