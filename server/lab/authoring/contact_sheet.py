"""A contact sheet: all the pictures of a set on one PNG."""

import io
from collections.abc import Mapping, Sequence
from pathlib import Path

from PIL import Image, ImageDraw, ImageFont

from m3bench.tasks.foreign_files import READABLE

COLUMNS = 8
CELL = (320, 240)
CAPTION = 22


def write_sheet(folder: Path, pictures: Mapping[str, bytes]) -> Path:
    """Write pictures, by file name, into a folder's `pictures`, and `contact.png` beside it."""
    (folder / "pictures").mkdir(parents=True, exist_ok=True)
    for name, data in pictures.items():
        (folder / "pictures" / name).write_bytes(data)
    sheet = folder / "contact.png"
    _draw(list(pictures.items())).save(sheet, optimize=True)
    return sheet


def _draw(pictures: Sequence[tuple[str, bytes]]) -> Image.Image:
    rows = -(-len(pictures) // COLUMNS)
    wide, tall = CELL
    sheet = Image.new("RGB", (COLUMNS * wide, max(1, rows) * (tall + CAPTION)), "#f4f2ec")
    draw, font = ImageDraw.Draw(sheet), ImageFont.load_default(14)
    for number, (name, data) in enumerate(pictures):
        left, top = number % COLUMNS * wide, number // COLUMNS * (tall + CAPTION)
        with Image.open(io.BytesIO(data), formats=READABLE) as picture:
            small = picture.convert("RGB")
            small.thumbnail((wide - 8, tall - 8), Image.Resampling.LANCZOS)
        sheet.paste(small, (left + (wide - small.width) // 2, top + (tall - small.height) // 2))
        draw.text((left + 8, top + tall), Path(name).stem, fill="#444", font=font)
    return sheet
