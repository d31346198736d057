"""A gallery of a museum: paintings on the wall and pieces under glass, each with a card that can be read."""

import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from m3bench.tasks.render.canvas import Canvas
from m3bench.tasks.render.drawings import SymbolDrawing, sheet
from m3bench.tasks.render.shapes import ellipse, fade, line, mix, path, polygon, rect
from m3bench.tasks.scene import Box

_PAINTS = ("#b65a4a", "#4f7a8c", "#d9a441", "#6c8f5c", "#83618f", "#3f5573", "#c98a6b", "#8b3f4f")
_GREYS = ("#8a8780", "#5d5a55", "#b9b6ae")
_PAPER = ("#efe6cf", "#e3d6b6")
_SKIN = "#deb696"


@dataclass(frozen=True, kw_only=True)
class _Frame:
    """The box that a painting fills, and the paints it is done in."""

    rng: random.Random
    left: float
    top: float
    wide: float
    tall: float
    paints: tuple[str, str, str]

    @property
    def right(self) -> float:
        return self.left + self.wide

    @property
    def foot(self) -> float:
        return self.top + self.tall

    @property
    def middle(self) -> float:
        return self.left + self.wide / 2

    @property
    def gradient(self) -> str:
        """The id of its gradient, which must differ from those of the paintings beside it."""
        return f"w{round(self.left)}"


def painting(rng: random.Random, kind: str, left: float, top: float, wide: float, tall: float) -> list[str]:
    """A picture of a kind that fills a box; a kind that is not in the table is drawn as a landscape."""
    one, two, three = rng.sample(_PAINTS, 3)
    paints = _GREYS if kind == "photograph" else (one, two, three)
    frame = _Frame(rng=rng, left=left, top=top, wide=wide, tall=tall, paints=paints)
    return _KINDS.get(kind, _landscape)(frame)


def _portrait(frame: _Frame) -> list[str]:
    left, top, wide, tall = frame.left, frame.top, frame.wide, frame.tall
    foot, x = frame.foot, frame.middle
    one, two, three = frame.paints
    head = tall * 0.15
    return [
        fade(frame.gradient, mix(one, "#101010", 0.55), mix(one, "#101010", 0.25)), rect(left, top, wide, tall, f"url(#{frame.gradient})"),
        path(f"M{x - wide * 0.38:.0f} {foot:.0f} Q{x - wide * 0.34:.0f} {foot - tall * 0.4:.0f} {x:.0f} {foot - tall * 0.42:.0f} Q{x + wide * 0.34:.0f} {foot - tall * 0.4:.0f} {x + wide * 0.38:.0f} {foot:.0f} Z", two),
        rect(x - head * 0.35, foot - tall * 0.52, head * 0.7, tall * 0.14, mix(_SKIN, "#8a5a3a", 0.25), 8),
        ellipse(x, foot - tall * 0.64, head * 0.98, head * 1.22, mix(three, "#20140c", 0.7)),
        ellipse(x, foot - tall * 0.61, head * 0.8, head * 1.05, _SKIN),
        ellipse(x - head * 0.3, foot - tall * 0.63, 4, 3, "#2b211b"), ellipse(x + head * 0.3, foot - tall * 0.63, 4, 3, "#2b211b"),
        line(x - head * 0.2, foot - tall * 0.545, x + head * 0.2, foot - tall * 0.545, "#a45a50", 3),
    ]  # fmt: skip


def _still_life(frame: _Frame) -> list[str]:
    rng, left, top, wide, tall = frame.rng, frame.left, frame.top, frame.wide, frame.tall
    foot, x = frame.foot, frame.middle
    one, two, three = frame.paints
    apples = [
        ellipse(
            x + wide * 0.1 * number,
            foot - tall * 0.22,
            wide * 0.065,
            wide * 0.065,
            rng.choice((one, two, "#c94f3d")),
        )
        for number in range(-2, 4)
    ]
    leaves = [
        ellipse(
            x - wide * 0.2 + wide * 0.08 * number,
            top + tall * (0.26 + 0.06 * (number % 2)),
            wide * 0.07,
            wide * 0.05,
            rng.choice(("#5c8a4c", "#7fa35a", two)),
        )
        for number in range(6)
    ]
    return [
        rect(left, top, wide, tall, mix(one, "#ffffff", 0.35)), rect(left, foot - tall * 0.32, wide, tall * 0.32, mix(three, "#2a1a10", 0.4)),
        *leaves, path(f"M{x - wide * 0.16:.0f} {top + tall * 0.38:.0f} h{wide * 0.3:.0f} l{-wide * 0.05:.0f} {tall * 0.32:.0f} h{-wide * 0.2:.0f} Z", "#e3ddd0"), *apples,
    ]  # fmt: skip


def _textile(frame: _Frame) -> list[str]:
    left, top, wide, tall = frame.left, frame.top, frame.wide, frame.tall
    one, two, three = frame.paints
    rows = [
        rect(left, top + tall * number / 7, wide, tall / 7 + 1, (one, "#efe3c8", two)[number % 3])
        for number in range(7)
    ]
    gems = [
        polygon(
            [
                (left + wide * (n + 0.5) / 5, top + tall * 0.5 - 26),
                (left + wide * (n + 0.5) / 5 + 22, top + tall * 0.5),
                (left + wide * (n + 0.5) / 5, top + tall * 0.5 + 26),
                (left + wide * (n + 0.5) / 5 - 22, top + tall * 0.5),
            ],
            three,
        )
        for n in range(5)
    ]
    return [*rows, *gems]


def _landscape(frame: _Frame) -> list[str]:
    sky, hills = _view(frame, _pale(frame), "#26331f")
    return [*sky, *hills]


def _ink_landscape(frame: _Frame) -> list[str]:
    """A landscape on paper: a scroll."""
    sky, hills = _view(frame, _PAPER, "#26331f")
    return [*sky, *hills]


def _print(frame: _Frame) -> list[str]:
    """A landscape on paper, its hills in blue."""
    sky, hills = _view(frame, _PAPER, "#22406a")
    return [*sky, *hills]


def _scene(frame: _Frame) -> list[str]:
    """People in a landscape."""
    rng, left, wide, tall, foot = frame.rng, frame.left, frame.wide, frame.tall, frame.foot
    sky, hills = _view(frame, _pale(frame), "#26331f")
    people = []
    for n in range(4):
        px, py, coat = left + wide * (0.16 + 0.22 * n), foot - tall * rng.uniform(0.08, 0.16), rng.choice(_PAINTS)
        people += [
            polygon([(px - wide * 0.07, py), (px - wide * 0.03, py - tall * 0.34), (px + wide * 0.03, py - tall * 0.34), (px + wide * 0.07, py)], mix(coat, "#ffffff", 0.1)),
            ellipse(px, py - tall * 0.39, wide * 0.032, wide * 0.04, _SKIN),
        ]  # fmt: skip
    return [*sky, hills[0], hills[2], *people]


def _pale(frame: _Frame) -> tuple[str, str]:
    _, two, three = frame.paints
    return mix(two, "#ffffff", 0.6), mix(three, "#ffffff", 0.75)


def _view(frame: _Frame, sky: tuple[str, str], shade: str) -> tuple[list[str], list[str]]:
    """A sky with a sun, and three hills one behind another."""
    rng, left, top, wide, tall = frame.rng, frame.left, frame.top, frame.wide, frame.tall
    foot, x, right = frame.foot, frame.middle, frame.right
    one, two, three = frame.paints
    hills = [
        path(
            f"M{left:.0f} {foot:.0f} V{top + tall * (0.42 + 0.15 * n) + rng.uniform(-12, 12):.0f} Q{left + wide * rng.uniform(0.2, 0.45):.0f} {top + tall * (0.2 + 0.17 * n):.0f} {x:.0f} {top + tall * (0.46 + 0.14 * n):.0f} T{right:.0f} {top + tall * (0.4 + 0.16 * n):.0f} V{foot:.0f} Z",
            mix((one, three, two)[n], shade, 0.12 + 0.18 * n),
        )
        for n in range(3)
    ]
    ground = [
        fade(frame.gradient, *sky),
        rect(left, top, wide, tall, f"url(#{frame.gradient})"),
        ellipse(left + wide * rng.uniform(0.2, 0.8), top + tall * 0.2, 20, 20, "#fbeec2"),
    ]
    return ground, hills


_KINDS: Mapping[str, Callable[[_Frame], list[str]]] = {
    "portrait": _portrait,
    "still life": _still_life,
    "textile": _textile,
    "print": _print,
    "scroll": _ink_landscape,
    "scene": _scene,
}


_WALLS = ("#7d8b86", "#8a4b46", "#44566b", "#c9bda4", "#5b6650", "#a88f7b", "#d9d4c8")
_FLOORS = ("#b98a5e", "#8d633f", "#a9a39a", "#6f5a48")
_ART = {
    "vessel": "amphora",
    "clock": "mantel clock",
    "animal": "hippopotamus",
    "bull": "ox",
    "manuscript": "open book",
    "bell": "bell",
    "shield": "shield",
}
_RIM = 52
"""What a frame adds to a picture's width and height."""
PICTURES = ("portrait", "scene", "landscape", "still life", "print", "photograph", "scroll", "textile")
"""Kinds that hang on the wall."""
PIECES = (*_ART, "statue", "armour", "stele", "jewel", "mask", "plate", "instrument")
"""Kinds that stand under glass."""
_SEEN = {
    "vessel": "vase",
    "animal": "sculpture",
    "bull": "sculpture",
    "statue": "sculpture",
    "manuscript": "book",
    "armour": "armor",
    "stele": "stone",
    "jewel": "jewelry",
    "instrument": "musical instrument",
}
"""What a detector takes a piece for, where it is not the kind itself."""


def gallery(canvas: Canvas, rng: random.Random, ledge: float) -> float:
    """Wall with a ledge along it, skirting and floor; returns where the floor begins, in pixels."""
    width, height, level = canvas.width, canvas.height, canvas.height * 0.94
    wall, floor = rng.choice(_WALLS), rng.choice(_FLOORS)
    canvas.draw(
        fade("wall", mix(wall, "#ffffff", 0.22), wall), rect(0, 0, width, level, "url(#wall)"),
        fade("floor", mix(floor, "#ffffff", 0.2), mix(floor, "#000000", 0.15)), rect(0, level, width, height - level, "url(#floor)"),
        rect(0, level - 18, width, 18, mix(wall, "#000000", 0.4)), rect(0, 0, width, 14, mix(wall, "#000000", 0.3)),
        rect(0, ledge, width, 16, mix(wall, "#000000", 0.3)), rect(0, ledge + 16, width, 8, "#00000022"),
    )  # fmt: skip
    return level


def exhibit(
    canvas: Canvas,
    rng: random.Random,
    kind: str,
    number: int,
    x: float,
    width: float,
    heights: tuple[float, float],
    card: Sequence[str],
) -> Box:
    """One work with its card below, in a column about `x`; returns the box of both.

    Args:
        canvas: Where.
        rng: Chooses colours and shapes.
        kind: One of `PICTURES` or `PIECES`; a work without a drawing of its own looks like its kind.
        number: Of the work in the museum, after which its own drawing is named.
        x: Middle of the column.
        width: Of the column.
        heights: Where the column begins, and the floor or ledge that it stands on.
        card: Title, then further lines.
    """
    high, level = heights
    lines = canvas.lines(card[0], width - 30, 28, "serif bold")
    facts = [part for text in card[1:] for part in canvas.lines(text, width - 20, 25)]
    tall = 26 + 34 * len(lines) + 31 * len(facts)
    top = level - 32 - tall
    canvas.draw(ellipse(x, high, width * 0.6, 240, "#fff6dc", 'opacity="0.07"'))
    if kind in PICTURES:
        own = sheet("paintings").get(f"met-{number}")
        upper = _hang(canvas, rng, kind, own, x, width, (high, top - 24))
        canvas.draw(rect(x - width / 2 + 5, top + 6, width, tall, "#00000030", 4))
    else:
        own = sheet("pieces").get(f"met-{number}")
        upper = _case(canvas, rng, kind, own, x, width, (high, top - 14), level)
    canvas.draw(rect(x - width / 2, top, width, tall, "#fbf9f3", 4))
    y = top + 36
    for text in lines:
        canvas.text(text, x, y, 28, face="serif bold", anchor="middle", width=width - 24)
        y += 34
    for text in facts:
        canvas.text(text, x, y, 25, face="sans", fill="#3c3f46", anchor="middle", width=width - 24)
        y += 31
    return (round(x - width / 2), round(upper), round(x + width / 2), round(top + tall))


def _hang(
    canvas: Canvas,
    rng: random.Random,
    kind: str,
    own: SymbolDrawing | None,
    x: float,
    width: float,
    between: tuple[float, float],
) -> float:
    """A framed picture; returns where it begins."""
    high, bottom = between
    tall = min(bottom - high, 330) * rng.uniform(0.92, 1)
    wide = min(width * 0.94, tall * (0.78 if kind in ("portrait", "scroll") else 1.25))
    if own is not None:
        room = tall
        wide = min(width * 0.94, (tall - _RIM) * own.width / own.height + _RIM)
        tall = (wide - _RIM) * own.height / own.width + _RIM
        bottom -= (room - tall) / 2
    top, left = bottom - tall, x - wide / 2
    frame = rng.choice(("#b8893a", "#8a6230", "#3a2f28", "#c9a24f"))
    box = (left + _RIM / 2, top + _RIM / 2, wide - _RIM, tall - _RIM)
    # Composed in any case: what a family chooses afterwards does not depend on which works have a drawing.
    like_its_kind = painting(rng, kind, *box)
    canvas.draw(rect(left + 8, top + 12, wide, tall, "#00000045"))
    canvas.thing(
        "picture frame",
        rect(left, top, wide, tall, mix(frame, "#000000", 0.25), 3), rect(left + 6, top + 6, wide - 12, tall - 12, frame, 2),
        rect(left + 22, top + 22, wide - 44, tall - 44, mix(frame, "#000000", 0.4)),
        *(like_its_kind if own is None else own.fitted(*box)),
    )  # fmt: skip
    return top


def _case(
    canvas: Canvas,
    rng: random.Random,
    kind: str,
    own: SymbolDrawing | None,
    x: float,
    width: float,
    between: tuple[float, float],
    level: float,
) -> float:
    """A piece under glass on a stone; returns where the glass begins."""
    stone = rng.choice(("#e8e4da", "#d9d4ca", "#f1efe9", "#e3e6e6"))
    top, foot = max(between[0], between[1] - 360), between[1]
    wide = width * 0.86
    canvas.draw(
        ellipse(x, level + 14, width * 0.56, 16, "#00000040"),
        rect(x - width / 2 - 12, foot, width + 24, level + 12 - foot, stone, 3),
        # Dark bands part the stone from glass and floor, for eyes and readers alike.
        rect(x - width / 2 - 12, foot - 2, width + 24, 12, "#34373c"),
        rect(x - width / 2 - 16, level - 8, width + 32, 22, "#34373c"),
        rect(x - wide / 2, top, wide, foot - top, "#eaf4f8", 4, 'opacity="0.30"'),
    )
    tall = min(foot - top - 40, 330) * rng.uniform(0.86, 1)
    label = _SEEN.get(kind, kind)
    like_its_kind = [] if kind in _ART else _piece(rng, kind, x, foot - 4, tall)
    if own is not None:
        scale = min(tall / own.height, wide * 0.92 / own.width)
        across, down = own.width * scale, own.height * scale
        canvas.thing(label, *own.fitted(x - across / 2, foot - 4 - down, across, down), shadow=True)
    elif kind in _ART:
        height = tall * (0.58 if kind in ("animal", "bull", "manuscript") else 1)
        canvas.place(_ART[kind], x, foot - 4, height, label=label)
    else:
        canvas.thing(label, *like_its_kind, shadow=True)
    canvas.draw(
        rect(x - wide / 2, top, wide, foot - top, "none", 4, 'stroke="#ffffff" stroke-width="4" opacity="0.75"'),
        polygon(
            [(x - wide * 0.42, top + 6), (x - wide * 0.24, top + 6), (x - wide * 0.42, top + 110)],
            "#ffffff",
            'opacity="0.35"',
        ),
    )
    return top


class _Cast(NamedTuple):
    """Where a piece stands, how tall it is, and what it is made of."""

    x: float
    foot: float
    tall: float
    tone: str
    fill: str
    dark: str


def _piece(rng: random.Random, kind: str, x: float, foot: float, tall: float) -> list[str]:
    key = f"k{round(x)}-{round(foot)}"
    stone = rng.choice(("#d8d2c4", "#bfa98a", "#9c9a94", "#c8b79c", "#6f6a62"))
    metal = rng.choice(("#8f9aa3", "#a8813f", "#7c7468"))
    tone = (
        metal
        if kind in ("armour", "plate")
        else "#c9a03e"
        if kind == "jewel"
        else "#7a5533"
        if kind in ("mask", "instrument")
        else stone
    )
    shine = fade(key, mix(tone, "#ffffff", 0.4), tone, mix(tone, "#000000", 0.3), across=True)
    cast = _Cast(x, foot, tall, tone, f"url(#{key})", mix(tone, "#000000", 0.45))
    return [shine, *_PIECES.get(kind, _instrument)(rng, cast)]


def _statue(rng: random.Random, cast: _Cast) -> list[str]:
    x, foot, t, _tone, fill, dark = cast
    return [
        rect(x - t * 0.22, foot - t * 0.1, t * 0.44, t * 0.1, dark, 3),
        path(f"M{x - t * 0.3:.0f} {foot - t * 0.1:.0f} Q{x - t * 0.34:.0f} {foot - t * 0.42:.0f} {x - t * 0.09:.0f} {foot - t * 0.48:.0f} L{x - t * 0.08:.0f} {foot - t * 0.6:.0f} H{x + t * 0.08:.0f} L{x + t * 0.09:.0f} {foot - t * 0.48:.0f} Q{x + t * 0.34:.0f} {foot - t * 0.42:.0f} {x + t * 0.3:.0f} {foot - t * 0.1:.0f} Z", fill),
        ellipse(x, foot - t * 0.76, t * 0.19, t * 0.24, dark), ellipse(x, foot - t * 0.73, t * 0.15, t * 0.2, fill),
        line(x - t * 0.08, foot - t * 0.76, x - t * 0.03, foot - t * 0.76, dark, 3), line(x + t * 0.03, foot - t * 0.76, x + t * 0.08, foot - t * 0.76, dark, 3),
        line(x - t * 0.04, foot - t * 0.63, x + t * 0.04, foot - t * 0.63, dark, 3), line(x, foot - t * 0.75, x, foot - t * 0.69, dark, 3),
    ]  # fmt: skip


def _stele(rng: random.Random, cast: _Cast) -> list[str]:
    x, foot, t, _tone, fill, dark = cast
    rows = [
        line(x - t * 0.22, foot - t * (0.14 + 0.09 * n), x + t * 0.22, foot - t * (0.14 + 0.09 * n), dark, 2)
        for n in range(7)
    ]
    signs = [
        rect(
            x - t * 0.2 + t * 0.06 * (n % 7),
            foot - t * (0.2 + 0.09 * (n // 7)),
            t * rng.uniform(0.012, 0.03),
            t * 0.035,
            dark,
        )
        for n in range(35)
    ]
    return [
        path(
            f"M{x - t * 0.28:.0f} {foot:.0f} V{foot - t * 0.76:.0f} Q{x:.0f} {foot - t * 1.22:.0f} {x + t * 0.28:.0f} {foot - t * 0.76:.0f} V{foot:.0f} Z",
            fill,
        ),
        *rows,
        *signs,
        ellipse(x, foot - t * 0.85, t * 0.07, t * 0.07, dark),
    ]


def _armour(rng: random.Random, cast: _Cast) -> list[str]:
    x, foot, t, _tone, fill, dark = cast
    return [
        rect(x - t * 0.1, foot - t * 0.12, t * 0.2, t * 0.12, "#5a4634", 3),
        path(f"M{x - t * 0.3:.0f} {foot - t * 0.1:.0f} V{foot - t * 0.5:.0f} Q{x - t * 0.28:.0f} {foot - t * 0.98:.0f} {x:.0f} {foot - t:.0f} Q{x + t * 0.28:.0f} {foot - t * 0.98:.0f} {x + t * 0.3:.0f} {foot - t * 0.5:.0f} V{foot - t * 0.1:.0f} Q{x:.0f} {foot - t * 0.02:.0f} {x - t * 0.3:.0f} {foot - t * 0.1:.0f} Z", fill),
        rect(x - t * 0.21, foot - t * 0.58, t * 0.42, t * 0.06, "#15171a", 6), line(x, foot - t, x, foot - t * 0.6, dark, 5),
        *(ellipse(x + t * 0.06 * n, foot - t * 0.32, 4, 4, "#15171a") for n in range(-3, 4)),
    ]  # fmt: skip


def _jewel(rng: random.Random, cast: _Cast) -> list[str]:
    x, foot, t, tone, _fill, _dark = cast
    stones = [
        ellipse(x + t * 0.3 * dx, foot - t * dy, t * 0.055, t * 0.055, colour)
        for dx, dy, colour in (
            (-1, 0.6, "#2f6f8f"),
            (-0.72, 0.38, "#8f2f3a"),
            (0, 0.22, "#2f8f5f"),
            (0.72, 0.38, "#8f2f3a"),
            (1, 0.6, "#2f6f8f"),
        )
    ]
    return [
        rect(x - t * 0.36, foot - t * 0.08, t * 0.72, t * 0.08, "#3a2f3f", 4),
        path(
            f"M{x - t * 0.3:.0f} {foot - t * 0.9:.0f} C{x - t * 0.4:.0f} {foot - t * 0.3:.0f} {x - t * 0.12:.0f} {foot - t * 0.2:.0f} {x:.0f} {foot - t * 0.2:.0f} S{x + t * 0.4:.0f} {foot - t * 0.3:.0f} {x + t * 0.3:.0f} {foot - t * 0.9:.0f}",
            more=f'stroke="{tone}" stroke-width="16"',
        ),
        *stones,
    ]


def _mask(rng: random.Random, cast: _Cast) -> list[str]:
    x, foot, t, _tone, fill, dark = cast
    return [
        rect(x - 5, foot - t * 0.3, 10, t * 0.3, "#4a4d52"), ellipse(x, foot - t * 0.58, t * 0.27, t * 0.38, fill),
        ellipse(x, foot - t * 0.9, t * 0.22, t * 0.09, dark), ellipse(x - t * 0.1, foot - t * 0.64, t * 0.06, t * 0.035, dark), ellipse(x + t * 0.1, foot - t * 0.64, t * 0.06, t * 0.035, dark),
        path(f"M{x:.0f} {foot - t * 0.62:.0f} L{x - t * 0.05:.0f} {foot - t * 0.46:.0f} H{x + t * 0.05:.0f} Z", dark), ellipse(x, foot - t * 0.36, t * 0.09, t * 0.03, dark),
    ]  # fmt: skip


def _plate(rng: random.Random, cast: _Cast) -> list[str]:
    x, foot, t, _tone, fill, _dark = cast
    return [
        rect(x - t * 0.14, foot - t * 0.08, t * 0.28, t * 0.08, "#4a3a2b", 3),
        ellipse(x, foot - t * 0.5, t * 0.44, t * 0.44, fill),
        ellipse(x, foot - t * 0.5, t * 0.32, t * 0.32, "#e9edf2"),
        ellipse(x, foot - t * 0.5, t * 0.2, t * 0.2, "#3f5f9a", 'opacity="0.6"'),
    ]


def _instrument(rng: random.Random, cast: _Cast) -> list[str]:
    x, foot, t, _tone, fill, dark = cast
    return [
        path(f"M{x - t * 0.55:.0f} {foot - t * 0.42:.0f} H{x + t * 0.55:.0f} V{foot - t * 0.28:.0f} H{x - t * 0.55:.0f} Z", fill),
        polygon([(x - t * 0.5, foot - t * 0.44), (x - t * 0.3, foot - t * 0.86), (x + t * 0.56, foot - t * 0.44)], dark),
        *(rect(x - t * 0.5 + t * 0.1 * n, foot - t * 0.4, t * 0.085, t * 0.05, "#f4f0e6") for n in range(10)),
        rect(x - t * 0.46, foot - t * 0.28, t * 0.05, t * 0.28, dark), rect(x + t * 0.41, foot - t * 0.28, t * 0.05, t * 0.28, dark),
    ]  # fmt: skip


_PIECES: Mapping[str, Callable[[random.Random, _Cast], list[str]]] = {
    "statue": _statue,
    "stele": _stele,
    "armour": _armour,
    "jewel": _jewel,
    "mask": _mask,
    "plate": _plate,
}
