"""The picture by which clients show m3bench: three bars of a score card, the last one full."""

from io import BytesIO

SIZE = 512

_FINER = 4
"""Drawn so much larger and then reduced, for smooth edges."""
_GROUND, _TRACK, _BAR, _FULL = "#14213d", "#2b3a5c", "#8ecae6", "#ffb703"
_SHARES = (0.45, 0.7, 1.0)


def icon() -> bytes:
    """A square PNG with round corners."""
    from PIL import Image, ImageDraw

    size = SIZE * _FINER
    picture = Image.new("RGBA", (size, size), (0, 0, 0, 0))
    draw = ImageDraw.Draw(picture)
    draw.rounded_rectangle((0, 0, size - 1, size - 1), radius=size // 5, fill=_GROUND)
    left, width, height = size * 18 // 100, size * 64 // 100, size * 12 // 100
    for row, share in enumerate(_SHARES):
        top = size * (22 + 22 * row) // 100
        for part, colour in ((1.0, _TRACK), (share, _FULL if share == 1 else _BAR)):
            right = left + int(width * part)
            draw.rounded_rectangle((left, top, right, top + height), radius=height // 2, fill=colour)
    out = BytesIO()
    picture.resize((SIZE, SIZE), Image.Resampling.LANCZOS).save(out, "PNG")
    return out.getvalue()
