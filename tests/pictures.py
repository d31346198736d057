"""Pictures for tests, drawn with the font inside Pillow or broken on purpose, and how pictures are compared."""

import struct
import zipfile
import zlib
from collections.abc import Sequence
from hashlib import sha256
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest
from PIL import Image, ImageChops, ImageDraw, ImageFont


def _chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def png_header(width: int, height: int) -> bytes:
    """A small PNG file that claims to be of that size."""
    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + _chunk(b"IHDR", header) + _chunk(b"IDAT", zlib.compress(b"")) + _chunk(b"IEND", b"")


def encoded(image: Image.Image, kind: str, **options: object) -> bytes:
    """The picture as a file's content."""
    file = BytesIO()
    image.save(file, kind, **options)
    return file.getvalue()


def colour(image: Image.Image, x: int, y: int) -> tuple[int, ...]:
    """The channels of a pixel."""
    value = image.getpixel((x, y))
    assert isinstance(value, tuple)
    return value


def zip_bytes() -> bytes:
    """A zip archive with one small file."""
    file = BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("a.txt", "text")
    return file.getvalue()


def written(
    lines: Sequence[str], *, size: int = 28, ink: str = "black", paper: str = "white", width: int = 1000
) -> Image.Image:
    """Lines of text on plain paper."""
    image = Image.new("RGB", (width, int(len(lines) * size * 1.7) + 60), paper)
    pen = ImageDraw.Draw(image)
    font = ImageFont.load_default(size)
    for row, line in enumerate(lines):
        pen.text((40, 30 + row * size * 1.7), line, font=font, fill=ink)
    return image


UNREADABLE = {
    "bomb.png": png_header(30_000, 30_000),
    "big.png": png_header(10_000, 10_000),
    "cut.jpg": encoded(written(["Cut off in the middle"]), "JPEG")[:3000],
    "zip.png": zip_bytes(),
    "drawing.svg": b'<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>',
    "empty.png": b"",
    "text.png": b"not a picture",
}
"""Files that no tool can read as a picture."""


def write_unreadable(folder: Path) -> None:
    """Put the unreadable files into a folder."""
    for name, content in UNREADABLE.items():
        (folder / name).write_bytes(content)


def odd_pictures(image: Image.Image) -> dict[str, bytes]:
    """The same picture in encodings that tools meet less often, by file name."""
    grey = image.convert("L")
    deep = Image.frombytes("I;16", grey.size, b"".join(bytes((value, value)) for value in grey.tobytes()))
    clear = image.convert("RGBA")
    clear.putalpha(255)
    clear.putpixel((0, 0), (0, 0, 0, 0))
    second = Image.new("RGB", image.size, "red")
    return {
        "deep.png": encoded(deep, "PNG"),
        "cmyk.jpg": encoded(image.convert("CMYK"), "JPEG", quality=95),
        "palette.png": encoded(image.quantize(64), "PNG", transparency=0),
        "clear.png": encoded(clear, "PNG"),
        "moving.gif": encoded(image, "GIF", save_all=True, append_images=[second], duration=50),
        "grey.webp": encoded(grey, "WEBP", lossless=True),
        "bits.tiff": encoded(grey.point(lambda value: 255 if value > 127 else 0).convert("1"), "TIFF"),
    }


CLOSE_SHADES, CLOSE_SHARE = 2, 0.001
"""How far a picture drawn on another kind of processor may be off, and for which share of its pixels."""


def assert_same_bytes(made: bytes, kept: bytes, what: str) -> None:
    """Compare by hash: pytest would take minutes to say where two long byte strings differ."""
    if sha256(made).digest() != sha256(kept).digest():
        pytest.fail(f"{what}: {_difference(made, kept)}")


def assert_close_picture(made: bytes, kept: bytes, what: str) -> None:
    """Compare two picture files by their pixels, which may differ as much as `docs/world.md` says."""
    if sha256(made).digest() == sha256(kept).digest():
        return
    one, other = (Image.open(BytesIO(data)).convert("RGB") for data in (made, kept))
    assert one.size == other.size, what
    apart = ImageChops.difference(one, other)
    extremes: list[Any] = [band.getextrema() for band in apart.split()]
    most = max(high for _, high in extremes)
    changed = one.width * one.height - apart.convert("L", (1, 1, 1, 0)).histogram()[0]
    share = changed / (one.width * one.height)
    assert (most <= CLOSE_SHADES, share <= CLOSE_SHARE) == (True, True), (
        f"{what}: differs by up to {most} shades in {share:.2%} of its pixels"
    )


def pixel_hash(image: Image.Image) -> str:
    """The hash of what there is to see."""
    return sha256(f"{image.mode} {image.size}".encode() + image.tobytes()).hexdigest()[:32]


def _difference(made: bytes, kept: bytes) -> str:
    if len(made) != len(kept):
        return f"{len(made)} bytes instead of {len(kept)}"
    first = next(place for place, pair in enumerate(zip(made, kept, strict=True)) if pair[0] != pair[1])
    return f"{len(made)} bytes that differ from place {first} on"
