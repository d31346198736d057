"""A contact sheet: all the pictures of a set on one PNG, and on one page with their questions."""

import io
from collections.abc import Mapping, Sequence
from html import escape
from pathlib import Path

from PIL import Image, ImageDraw, ImageFont

COLUMNS = 8
CELL = (320, 240)
CAPTION = 22

_PAGE = """<!doctype html>
<html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>{title}</title>
<style>
:root {{ color-scheme: light dark; font: 15px/1.45 system-ui, sans-serif }}
body {{ margin: 1.5rem }}
main {{ display: grid; gap: 1.25rem; grid-template-columns: repeat(auto-fill, minmax(20rem, 1fr)) }}
figure {{ margin: 0 }}
img {{ width: 100%; height: auto; border-radius: 6px }}
figcaption b {{ display: block }}
</style>
<h1>{title}</h1>
<main>
{figures}
</main>
</html>
"""


def write_sheet(folder: Path, title: str, pictures: Mapping[str, bytes], captions: Mapping[str, str]) -> list[Path]:
    """Write `contact.png` and `contact.html` beside the pictures.

    Args:
        folder: Where; the pictures are written into its `pictures`.
        title: Of the page.
        pictures: Files by name.
        captions: What the page says below a picture, by name.
    """
    (folder / "pictures").mkdir(parents=True, exist_ok=True)
    for name, data in pictures.items():
        (folder / "pictures" / name).write_bytes(data)
    sheet = folder / "contact.png"
    _draw(list(pictures.items())).save(sheet, optimize=True)
    figures = "\n".join(
        f'<figure><img loading="lazy" src="pictures/{escape(name)}" alt="{escape(name)}">'
        f"<figcaption><b>{escape(Path(name).stem)}</b>{escape(captions.get(name, ''))}</figcaption></figure>"
        for name in pictures
    )
    page = folder / "contact.html"
    page.write_text(_PAGE.format(title=escape(title), figures=figures), "utf-8")
    return [sheet, page]


def _draw(pictures: Sequence[tuple[str, bytes]]) -> Image.Image:
    rows = -(-len(pictures) // COLUMNS)
    wide, tall = CELL
    sheet = Image.new("RGB", (COLUMNS * wide, max(1, rows) * (tall + CAPTION)), "#f4f2ec")
    draw, font = ImageDraw.Draw(sheet), ImageFont.load_default(14)
    for number, (name, data) in enumerate(pictures):
        left, top = number % COLUMNS * wide, number // COLUMNS * (tall + CAPTION)
        with Image.open(io.BytesIO(data)) as picture:
            small = picture.convert("RGB")
            small.thumbnail((wide - 8, tall - 8), Image.Resampling.LANCZOS)
        sheet.paste(small, (left + (wide - small.width) // 2, top + (tall - small.height) // 2))
        draw.text((left + 8, top + tall), Path(name).stem, fill="#444", font=font)
    return sheet
