"""Goods as they stand on a shelf: boxes, bottles, cans, jars, bags and tubes with a label that can be read."""

import random

from m3bench.tasks.render.canvas import Canvas
from m3bench.tasks.render.shapes import ellipse, fade, mix, on, path, rect
from m3bench.tasks.scene import Box

SHAPES = ("box", "bottle", "can", "jar", "bag", "tube")
COLOURS = ("#c8322f", "#1f5fa8", "#2f7d4f", "#e0a21b", "#6c3f8f", "#d9682b", "#16807f", "#b0305f", "#3d4a5c", "#7a4a2b")
_KERNELS = {"almond": "#b8743c", "pistachio": "#a3b553"}
"""Nuts that the art has no object for, and their colours."""


def pack(
    canvas: Canvas,
    rng: random.Random,
    x: float,
    foot: float,
    width: float,
    height: float,
    *,
    brand: str,
    name: str,
    size: str = "",
    shape: str = "box",
    colour: str | None = None,
    picture: str | None = None,
    plate: bool = False,
) -> Box:
    """Put down one pack, the middle of its foot at `(x, foot)`; brand, name and size stand on it.

    Args:
        canvas: Where.
        rng: Chooses the colour when none is given.
        x: Middle of the foot.
        foot: Where it stands.
        width: Of the pack.
        height: Of the pack.
        brand: Written large.
        name: What it is, below.
        size: Such as "500 g", at the foot.
        shape: One of `SHAPES`.
        colour: Of the pack.
        picture: What is printed on the pack: an object of the art, an almond or a pistachio.
        plate: The writing stands dark on a light label, which is easiest to read.
    """
    colour = colour or rng.choice(COLOURS)
    ink = mix(colour, "#101318", 0.6) if plate else on(colour)
    left, top = x - width / 2, foot - height
    key = f"p{round(left)}-{round(top)}"
    shine = fade(key, mix(colour, "#ffffff", 0.22), colour, mix(colour, "#000000", 0.22), across=True)
    box = canvas.thing(
        shape,
        shine, *_body(shape, left, top, width, height, colour, f"url(#{key})"),
        shadow=True, score=round(rng.uniform(0.86, 0.97), 2),
    )  # fmt: skip
    area_top, area_bottom = _label_area(shape, top, height)
    tall = area_bottom - area_top
    wide = width * (0.86 if shape in ("box", "bag") else 0.9)
    if plate:
        across, down = wide * (0.92 if shape == "tube" else 1), tall * 0.94
        canvas.draw(rect(x - across / 2, area_top + tall * 0.03, across, down, "#fbf8ef", 10))
        wide, area_bottom = across * 0.94, area_bottom - tall * 0.03
    canvas.text(
        brand,
        x,
        area_top + min(tall * 0.2, 62),
        min(tall * 0.17, 44),
        face="sans black",
        fill=ink,
        anchor="middle",
        width=wide,
    )
    lines = canvas.lines(name, wide, min(tall * 0.13, 30), "sans bold")[:3]
    y = area_top + min(tall * 0.36, 106)
    for text in lines:
        canvas.text(text, x, y, min(tall * 0.13, 30), face="sans bold", fill=ink, anchor="middle", width=wide)
        y += min(tall * 0.14, 33)
    y -= min(tall * 0.07, 17)
    room = area_bottom - tall * 0.14 - y
    if picture and room > 36:
        high = min(room, width * 0.5)
        _print(canvas, picture, x, y + room / 2 + high / 2, high)
    if size:
        canvas.text(
            size,
            x,
            area_bottom - tall * 0.04,
            min(tall * 0.1, 28),
            face="sans bold",
            fill=ink,
            anchor="middle",
            width=wide,
        )
    return box


def _print(canvas: Canvas, picture: str, x: float, foot: float, high: float) -> None:
    """What is in a pack, printed on it."""
    if picture not in _KERNELS:
        canvas.place(picture, x, foot, high, shadow=False, note=False)
        return
    colour = _KERNELS[picture]
    dark, half, wide = mix(colour, "#000000", 0.35), high * 0.34, high * 0.23
    for across, down, turn in ((-0.36, 0.5, -24), (0.36, 0.5, 24), (0, 0.62, 0)):
        middle, y = x + across * high, foot - high + down * high
        almond = f"M{middle} {y - half} C{middle + wide * 1.5} {y - half * 0.1} {middle + wide} {y + half} {middle} {y + half} "
        almond += f"C{middle - wide} {y + half} {middle - wide * 1.5} {y - half * 0.1} {middle} {y - half} Z"
        grooves = "".join(
            f"M{middle + side * wide * 0.3} {y - half * 0.45} q{side * wide * 0.5} {half * 0.6} 0 {half * 1.1} "
            for side in (-1, 0, 1)
        )
        canvas.draw(
            f'<g transform="rotate({turn} {middle} {y})">'
            + path(almond, colour, f'stroke="{dark}" stroke-width="2"')
            + path(grooves, more=f'stroke="{dark}" stroke-width="2" stroke-linecap="round" opacity="0.7"')
            + "</g>"
        )


def _body(shape: str, left: float, top: float, width: float, height: float, colour: str, fill: str) -> list[str]:
    right, foot, middle = left + width, top + height, left + width / 2
    dark = mix(colour, "#000000", 0.35)
    if shape == "bottle":
        neck, shoulder = width * 0.18, top + height * 0.19
        body = (
            f"M{middle - neck} {top + height * 0.06} L{middle - neck} {top + height * 0.11} C{middle - neck} {shoulder} {left} "
            f"{shoulder - 6} {left} {shoulder + 18} L{left} {foot - 12} Q{left} {foot} {left + 12} {foot} L{right - 12} {foot} "
            f"Q{right} {foot} {right} {foot - 12} L{right} {shoulder + 18} C{right} {shoulder - 6} {middle + neck} {shoulder} "
            f"{middle + neck} {top + height * 0.11} L{middle + neck} {top + height * 0.06} Z"
        )
        return [path(body, fill), rect(middle - neck * 1.15, top, neck * 2.3, height * 0.075, dark, 4)]
    if shape == "can":
        return [
            rect(left, top + 8, width, height - 16, fill, 10),
            ellipse(middle, top + 9, width / 2, 9, "#c9ced3"),
            ellipse(middle, foot - 9, width / 2, 9, mix(colour, "#000000", 0.3)),
        ]
    if shape == "jar":
        return [
            rect(left, top + height * 0.14, width, height * 0.86, fill, width * 0.14),
            rect(left + width * 0.06, top, width * 0.88, height * 0.15, dark, 6),
        ]
    if shape == "bag":
        teeth = "".join(
            f"L{left + width * (i + 0.5) / 12:.1f} {top} L{left + width * (i + 1) / 12:.1f} {top + 8} "
            for i in range(12)
        )
        body = f"M{left} {top + 8} {teeth}Q{right + 6} {top + height / 2} {right} {foot} L{left} {foot} Q{left - 6} {top + height / 2} {left} {top + 8} Z"
        return [path(body, fill), rect(left, top + 18, width, 5, "#ffffff", 0, 'opacity="0.35"')]
    if shape == "tube":
        body = f"M{left} {top} L{right} {top} L{right - width * 0.08} {foot - height * 0.12} L{left + width * 0.08} {foot - height * 0.12} Z"
        return [
            path(body, fill),
            rect(middle - width * 0.22, foot - height * 0.12, width * 0.44, height * 0.12, dark, 5),
        ]
    return [
        rect(left, top, width, height, fill, 5),
        rect(left, top, width * 0.07, height, "#000000", 5, 'opacity="0.14"'),
    ]


def _label_area(shape: str, top: float, height: float) -> tuple[float, float]:
    share = {"bottle": (0.28, 0.97), "can": (0.1, 0.9), "jar": (0.22, 0.95), "bag": (0.1, 0.96), "tube": (0.04, 0.84)}
    first, last = share.get(shape, (0.04, 0.96))
    return top + height * first, top + height * last
