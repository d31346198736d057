"""A dealer's forecourt: cars of five body styles in two rows, each before a sign with its name, below strings of pennants."""

import math
import random
from collections.abc import Sequence
from typing import NamedTuple

from m3bench.tasks.render import backdrops
from m3bench.tasks.render.canvas import Canvas
from m3bench.tasks.render.shapes import ellipse, fade, line, mix, path, polygon, rect
from m3bench.tasks.scene import Box

PAINTS = ("#c8322f", "#1f5fa8", "#2f6d4f", "#e3b23c", "#8b95a1", "#3d4a5c", "#d96b2b", "#16807f", "#eceff1", "#6c3f5f")
_TYRE, _ARCH = 7.5, 8.6
"""Radius of a wheel, and of the opening in the body around it."""
_AXLE = 40 - _TYRE
_DARK = "#15191f"
_SPOKES = 5


class _Body(NamedTuple):
    """A kind of car that looks to the left, on a grid of 100 by 40 whose lower edge is the ground."""

    size: float
    """Its length as a share of a saloon's."""
    upper: str
    """Its outline from the foot of the front bumper over the roof to the foot of the rear one."""
    sill: float
    """Height of its lower edge on the grid."""
    wheels: tuple[float, float]
    glass: str
    """The outline of all its side windows with the pillars between them."""
    panes: tuple[str, ...]
    screens: tuple[str, ...]
    """The windscreen and the rear window, seen from their side."""
    doors: str
    handles: tuple[tuple[float, float], ...]
    crease: str
    """The line along its shoulder."""
    mirror: tuple[float, float]
    lamp: str
    tail: str
    rugged: bool = False
    """It has unpainted wheel arches and sills."""
    more: tuple[str, ...] = ()
    """Outlines in black: a rail on the roof, the edge of a loading bed."""


_BODIES = {
    "hatchback": _Body(
        size=0.92,
        upper="M5 34.5 Q2.4 34.4 2.2 31 L2.2 25.5 Q2.4 21.8 5.6 20.4 Q14 16.9 25.5 15.8 Q33.5 8.6 38.5 5.6 Q42.5 3.3 50 3 L66 3 Q77 3.1 84 5.6 L85 6.8 "
        "L92.4 15.4 Q96.2 17.2 96.8 21 L97.6 30.4 Q97.6 34.4 95 34.5",
        sill=34.5,
        wheels=(19.5, 79.5),
        glass="M30 15.9 Q36 9.6 40.6 7 Q43.8 5.4 50 5.2 L66 5.2 Q75 5.4 80 7.8 L87 15.2 Z",
        panes=(
            "M31.8 15.3 Q37 9.8 41.2 7.6 Q44 6.2 49.6 6 L54.6 6 L55.4 15.3 Z",
            "M57 6 L66 6 Q71 6.1 73.6 6.8 L77 15.2 L57.8 15.3 Z",
            "M75.6 7.3 Q78 7.8 79.6 8.7 L85 14.6 L78.8 15 Z",
        ),
        screens=("M26.8 15.7 Q34.4 8.8 39.6 5.9 L40.4 6.4 Q35 9.6 29 15.8 Z", "M84.6 7.2 L91.4 15 L89.6 15.2 L81.8 7.4 Z"),
        doors="M31.4 16.8 L31 26 Q31.2 31.6 33 33.6 M56.2 15.6 L56.4 33.6 M78 15.4 L79 20.6 Q74 22 71.6 27 L70 33.6",
        handles=((50.4, 19.4), (73, 19)),
        crease="M8 21.8 Q30 18.6 55 18.2 T95 18.6",
        mirror=(33.4, 15),
        lamp="M3.4 22.4 Q6 20.5 12.6 18.8 Q11.6 22.6 4 24.2 Z",
        tail="M93.2 16.4 L95.8 18.2 Q96.7 20 96.9 22.4 L92 20.4 Z",
    ),
    "saloon": _Body(
        size=1.0,
        upper="M4.6 35 Q2 34.8 1.8 31.6 L1.8 27.4 Q2 24 5 22.8 Q14 19.8 27.4 18.8 Q36 12 41.4 9.8 Q46 8.2 53 8.2 L58 8.2 Q66 8.3 72.6 12 L82.4 17.6 "
        "L94.4 18.6 Q97 19 97.6 21.6 L98.2 31 Q98 34.8 95.6 35",
        sill=35,
        wheels=(18.5, 79),
        glass="M31.4 18.8 Q38.4 13 42.8 11.2 Q46.8 10 53 10 L58 10 Q65 10.2 70.4 13 L78.6 17.8 Z",
        panes=(
            "M33.4 18.2 Q39.4 13.2 43.4 11.8 Q46.6 10.8 51.6 10.7 L52.6 18.1 Z",
            "M53.8 10.7 L58 10.7 Q63 10.8 66.4 12.2 L68.4 17.9 L54.8 18.1 Z",
            "M68.4 13 Q70 13.7 75.6 17.4 L70.2 17.8 Z",
        ),
        screens=("M28.6 18.7 Q37 12.2 42.2 10.1 L43 10.5 Q37.6 13 30.8 18.7 Z", "M72.4 12.4 L80.8 17.4 L79.2 17.6 L70.6 12.6 Z"),
        doors="M32.6 19.6 L32 27 Q32.2 32.4 34 34.2 M53.4 18.4 L53.6 34.2 M69.4 18 L70.6 21.6 Q70.6 28 69 34.2",
        handles=((47.6, 21.8), (65.4, 21.4)),
        crease="M8 23.8 Q30 21.2 55 20.8 T96 21.2",
        mirror=(34.6, 17.8),
        lamp="M2.8 24.6 Q5.6 22.6 13 21.2 Q11.6 24.6 3.2 26.2 Z",
        tail="M90 19.4 L95 19.6 Q96.7 20 97 22.6 L97.2 23.8 L90.4 22.4 Z",
    ),
    "suv": _Body(
        size=0.98,
        upper="M4.8 33 Q2.2 32.8 2.2 29.6 L2.2 21.6 Q2.4 18.2 5.6 17.2 Q14 15 25 14.2 L34.4 4.6 Q36.6 2.8 42 2.7 L82 2.7 Q87.6 2.8 89 4.4 "
        "L94.2 13.6 Q96.8 15.8 97.2 19.6 L97.8 29.6 Q97.8 32.8 95.2 33",
        sill=33,
        wheels=(19.5, 79.5),
        glass="M29.6 14.2 L36.6 6.4 Q38 5.1 42 5.1 L83 5.1 Q86 5.2 87.2 6.8 L91 13.6 Z",
        panes=(
            "M31.6 13.5 L37.4 7.1 Q38.6 5.9 42 5.9 L52.4 5.9 L53.2 13.5 Z",
            "M54.8 5.9 L70.4 5.9 L72.2 13.4 L55.6 13.5 Z",
            "M72.2 5.9 L82.6 5.9 Q85.4 5.9 86.4 7.2 L89.6 12.9 L74 13.3 Z",
        ),
        screens=("M26.4 14.1 L35.2 5 L36.2 5.5 L28.6 14.1 Z", "M88.8 5.2 L93 12.8 L91.8 13.2 L87.8 6.2 Z"),
        doors="M30.8 15 L30.4 24 Q30.6 29.6 32.4 32 M54 13.8 L54.2 32 M73 13.6 L74.4 19.4 Q71 22 70.2 27 L69.4 32",
        handles=((48, 17.8), (68, 17.4)),
        crease="M7 18.8 Q30 16.8 55 16.4 T95.4 16.8",
        mirror=(32.8, 13.6),
        lamp="M3 19.2 Q6 17.8 12 17 L11.4 20 Q7 21.2 3 21.2 Z",
        tail="M93 13.8 L94.8 15 Q96 17 96.3 21 L93.8 20.8 Z",
        rugged=True,
        more=("M40 2.8 L41.6 1.5 L80 1.5 L82.6 2.8 L81.4 2.8 L79.4 2.2 L42.2 2.2 L41.2 2.8 Z",),
    ),
    "pickup": _Body(
        size=1.0,
        upper="M4.2 33.4 Q2 33.2 1.8 30.4 L1.8 22.4 Q2 19.6 4.6 18.9 Q12 17.2 22 16.6 L30 7.8 Q31.6 6.4 36 6.3 L55.4 6.3 Q58.6 6.4 59.8 7.8 L63.6 16.4 "
        "L64.4 17.2 L97 17.2 Q98.2 17.3 98.2 18.4 L98.4 30.6 Q98.2 33.2 96.2 33.4",
        sill=33.4,
        wheels=(17.5, 79),
        glass="M26.4 16.6 L32 9.6 Q33.2 8.4 36.4 8.3 L54.6 8.3 Q56.8 8.4 57.6 9.6 L60.6 16.2 Z",
        panes=(
            "M28.4 15.9 L32.8 10.2 Q34 9.1 36.4 9 L43 9 L43.8 15.9 Z",
            "M45.2 9 L54.4 9 Q56.2 9.1 56.8 10.2 L59.2 15.6 L46 15.8 Z",
        ),
        screens=("M23.4 16.5 L30.8 8.2 L31.8 8.8 L25.4 16.5 Z",),
        doors="M27.6 17.4 L27.2 25 Q27.4 30.4 29 32.4 M44.4 16.2 L44.6 32.4 M60.6 16.6 L61.6 32.4 M63.4 17.4 L64 32.4",
        handles=((39.4, 20), (56.4, 19.8)),
        crease="M6 20.4 Q26 18.9 60 18.9",
        mirror=(29.6, 16),
        lamp="M2.4 20.6 Q5 19.6 10 19 L9.6 22 Q6 22.8 2.4 22.8 Z",
        tail="M95.8 18.4 L97.9 18.4 L98 24 L95.8 24 Z",
        rugged=True,
        more=("M64 16.6 L98.4 16.6 L98.4 17.9 L64 17.9 Z",),
    ),
    "coupe": _Body(
        size=1.0,
        upper="M4 35.6 Q1.8 35.4 1.6 32.4 L1.8 29.6 Q2.4 26.6 6 25.6 Q14 22.6 30 21.2 Q38.6 14.8 44.4 12.8 Q49 11.5 55 11.5 Q68 11.8 79.6 18.2 "
        "L92 20.2 L95.6 20 Q97.8 21 98 24.6 L98.4 32 Q98.2 35.4 96 35.6",
        sill=35.6,
        wheels=(18.5, 80),
        glass="M35 21.2 Q41.4 15.8 46 14.2 Q49.6 13.1 55 13.1 Q65 13.4 73.6 19.2 L70 20.6 Z",
        panes=(
            "M37 20.6 Q42.4 16.2 46.6 14.8 Q49.8 13.8 54.6 13.8 L58 13.9 L59.4 20.3 Z",
            "M59.6 14 Q66.4 15 71.6 18.8 L69.6 20 L61 20.3 Z",
        ),
        screens=("M31.4 21.1 Q39.6 14.8 45 13 L45.8 13.4 Q40.2 16 34 21.1 Z", "M66 12.9 Q73.4 15 79 18.2 L77 18.6 Q71.6 15.4 65 13.4 Z"),
        doors="M35.6 22 L34.8 28 Q35 33 37 34.8 M60.2 20.6 L61.4 24 Q61.4 31 58.6 34.8",
        handles=((54.6, 24),),
        crease="M28 23.5 Q44 22.8 60 22.7 T91 22.8",
        mirror=(38.4, 20.2),
        lamp="M4 27.2 Q7 25.2 15 23.6 Q13.6 26.6 4.4 28.6 Z",
        tail="M92 21.8 L96.6 21.6 Q97.2 22.8 97.4 24.6 L92.4 24.2 Z",
    ),
}  # fmt: skip
BODIES = tuple(_BODIES)


def car(canvas: Canvas, x: float, foot: float, width: float, *, body: str, paint: str, flip: bool = False) -> Box:
    """Put down a car, the middle of its foot at `(x, foot)`; it looks to the left unless flipped.

    Args:
        canvas: Where.
        x: Middle.
        foot: Where the wheels stand.
        width: From bumper to bumper, of a saloon; other bodies are a little shorter or longer.
        body: One of `BODIES`.
        paint: Its colour.
        flip: It looks to the right.
    """
    kind = _BODIES[body]
    scale = width * kind.size / 100
    side = -1 if flip else 1
    place = f"translate({x - side * 50 * scale:.1f} {foot - 40 * scale:.1f}) scale({side * scale:.4f} {scale:.4f})"
    key = f"car{round(x)}-{round(foot)}"
    fades = (
        fade(f"{key}b", mix(paint, "#ffffff", 0.45), mix(paint, "#ffffff", 0.08), paint, mix(paint, "#000000", 0.32)),
        fade(f"{key}w", "#a9c3d3", "#54707f"),
        fade(f"{key}r", "#f1f4f6", "#9aa3ab"),
    )
    parts = (*_shell(kind, key, paint), *_trim(kind, paint), *(part for at in kind.wheels for part in _wheel(at, key)))
    for share in (1.0, 0.94, 0.88):
        canvas.draw(ellipse(x, foot - scale, 49 * scale * share, 4.4 * scale * share**3, "#000000", 'opacity="0.13"'))
    drawn = (*fades, f'<g transform="{place}">', *parts, "</g>")
    return canvas.thing("car", *drawn, score=0.95, aliases=("vehicle",))


def _shell(kind: _Body, key: str, paint: str) -> list[str]:
    """The body with its windows."""
    edge = mix(paint, "#000000", 0.5)
    half = math.sqrt(_ARCH**2 - (kind.sill - _AXLE) ** 2)
    # An arch is more than half a circle when its middle is above the sill.
    large = 1 if kind.sill > _AXLE else 0
    under = "".join(
        f" L{at + half:.2f} {kind.sill} A{_ARCH} {_ARCH} 0 {large} 0 {at - half:.2f} {kind.sill}"
        for at in reversed(kind.wheels)
    )
    front, rear = kind.wheels
    return [
        rect(front - 9, 24, rear - front + 18, 11.6, _DARK, 3),
        path(f"{kind.upper}{under} Z", f"url(#{key}b)", f'stroke="{edge}" stroke-width="0.45"'),
        path(kind.glass, _DARK),
        *(path(pane, f"url(#{key}w)") for pane in kind.panes),
        *(path(screen, "#7d98a8") for screen in kind.screens),
        path(kind.doors, more=f'stroke="{edge}" stroke-width="0.5" opacity="0.8"'),
        path(kind.crease, more='stroke="#ffffff" stroke-width="0.7" opacity="0.5"'),
    ]


def _trim(kind: _Body, paint: str) -> list[str]:
    """Lamps, handles, a mirror, bumpers and sills."""
    edge, low = mix(paint, "#000000", 0.5), kind.sill
    front, rear = kind.wheels
    lower = _DARK if kind.rugged else mix(paint, "#000000", 0.45)
    parts = [
        rect(front + _ARCH, low - 2.4, rear - front - 2 * _ARCH, 2.4, lower, 0.6),
        path(f"M2 {low - 4.6} L{front - _ARCH - 0.6} {low - 4.6} L{front - _ARCH + 0.2} {low} L5 {low} Q2.4 {low - 0.2} 2.2 {low - 2.6} Z", lower),
        path(f"M98 {low - 4.2} L{rear + _ARCH + 0.6} {low - 4.2} L{rear + _ARCH - 0.2} {low} L95 {low} Q97.8 {low - 0.2} 98 {low - 2.6} Z", lower),
        rect(4, low - 3.8, 3.4, 1.2, "#f3e7b4", 0.6),
        path(kind.lamp, "#fdf6d8", f'stroke="{edge}" stroke-width="0.35"'),
        path(kind.tail, "#d42a27", f'stroke="{edge}" stroke-width="0.35"'),
        *(rect(a, b, 4.2, 1.1, edge, 0.5) for a, b in kind.handles),
        *(path(d, _DARK) for d in kind.more),
        path("M{} {} q-0.4 -2.6 1.6 -2.8 q2.2 -0.1 2.2 1.6 q0 1.3 -1.6 1.4 Z".format(*kind.mirror), mix(paint, "#000000", 0.25),
             f'stroke="{edge}" stroke-width="0.3"'),
    ]  # fmt: skip
    if kind.rugged:
        rim = f'stroke="{_DARK}" stroke-width="1.5"'
        parts += [
            path(f"M{at - _ARCH:.2f} {_AXLE + 0.6} A{_ARCH} {_ARCH} 0 0 1 {at + _ARCH:.2f} {_AXLE + 0.6}", more=rim)
            for at in kind.wheels
        ]
    return parts


def _wheel(at: float, key: str) -> list[str]:
    """A tyre on a rim with spokes."""
    spokes = "".join(
        f"M{at:.2f} {_AXLE} L{at + 4.5 * math.sin(turn):.2f} {_AXLE - 4.5 * math.cos(turn):.2f} "
        for turn in (math.tau * number / _SPOKES for number in range(_SPOKES))
    )
    return [
        ellipse(at, _AXLE, _TYRE, _TYRE, "#1a1d22"), ellipse(at, _AXLE, 5.2, 5.2, f"url(#{key}r)"),
        ellipse(at, _AXLE, 4.5, 4.5, "#3a4048"),
        path(spokes, more='stroke="#d3d9de" stroke-width="1.7"'), ellipse(at, _AXLE, 1.4, 1.4, "#e9edf0"),
    ]  # fmt: skip


COLUMNS = 4
_WIDE, _SIGN, _TALL = 286.0, 252.0, 92.0
"""A parked car's length, and its sign."""
_PENNANTS = ("#d8433b", "#f1c644", "#2f78bd", "#f6f4ec", "#3f9a5f")
_MAST = 24.0
"""Height at which the strings of pennants hang, in pixels from the upper edge."""


def parked(canvas: Canvas, rng: random.Random, cars: Sequence[tuple[str, str, str]], pitch: float = 412) -> list[Box]:
    """Cars in two rows at a dealer's, each before a sign with its name; returns the boxes of both together.

    Args:
        canvas: Where: 1500 pixels wide, and 512 higher than the second row is below the first.
        rng: Chooses paints and places.
        cars: Body, brand and model of each.
        pitch: How far the second row is below the first.
    """
    width, height = canvas.width, canvas.height
    top = backdrops.outdoors(canvas, rng, rng.choice(("meadow", "forest", "sand")), 0.1) + 16
    tar = rng.choice(("#8d939a", "#9c968d", "#7f8891", "#a3a7a5"))
    slot, paints = width / COLUMNS, rng.sample(PAINTS, len(cars))
    canvas.draw(
        fade("asphalt", mix(tar, "#ffffff", 0.2), tar),
        rect(0, top, width, height - top, "url(#asphalt)"),
        rect(0, top - 4, width, 5, "#eceeee"),
        rect(0, top + 1, width, 6, "#aeb2b4"),
        *(fragment for row in range(2) for fragment in _bays(396 + row * pitch, width, slot)),
        *(fragment for column in range(COLUMNS) for fragment in _string(column * slot, slot, top)),
        *(_mast(column * slot, top) for column in range(COLUMNS + 1)),
    )
    boxes = []
    for number, (body, brand, model) in enumerate(cars):
        row, column = divmod(number, COLUMNS)
        x, foot = slot * (column + 0.5) + rng.uniform(-12, 12), 396 + row * pitch + rng.uniform(-6, 6)
        boxes.append(_with_sign(canvas, rng, x, foot, body, brand, model, paints[number]))
    return boxes


def _bays(foot: float, width: float, slot: float) -> list[str]:
    """The lines between places to park in a row, and the one behind them, as somebody sees them who stands in the middle."""
    back, front = foot - 62, foot + 34
    lines = [line(0, back, width, back, "#f3f4f2", 4, 'opacity="0.55"')]
    for column in range(1, COLUMNS):
        x = column * slot
        lean = (x - width / 2) * 0.07
        lines.append(
            polygon(
                [(x - lean - 2.5, back), (x - lean + 2.5, back), (x + lean + 5, front), (x + lean - 5, front)],
                "#f3f4f2",
                'opacity="0.7"',
            )
        )
    return lines


def _string(x: float, long: float, top: float) -> list[str]:
    """Pennants on a string from one mast to the next."""
    sag = (top - _MAST) * 0.4
    points = [(x + long * share / 12, _MAST + sag * 4 * (share / 12) * (1 - share / 12)) for share in range(13)]
    flags = [
        polygon([(a - 11, y), (a + 11, y), (a, y + 24)], _PENNANTS[number % len(_PENNANTS)], 'opacity="0.95"')
        for number, (a, y) in enumerate(points[1:-1])
    ]
    string = path("M" + " L".join(f"{a:.1f} {y:.1f}" for a, y in points), more='stroke="#6d7278" stroke-width="2"')
    return [string, *flags]


def _mast(x: float, top: float) -> str:
    return rect(x - 3, _MAST - 10, 6, top - _MAST + 14, "#7c838a", 2) + ellipse(x, _MAST - 10, 5, 5, "#c9a13b")


def _with_sign(
    canvas: Canvas, rng: random.Random, x: float, foot: float, body: str, brand: str, model: str, paint: str
) -> Box:
    colour = rng.choice(("#8f1d24", "#123f73", "#1d5a3c", "#2f3640"))
    left, top = x - _SIGN / 2, foot - 0.4 * _WIDE - _TALL - 34
    for side in (-0.3, 0.3):
        canvas.draw(
            rect(x + side * _SIGN - 4, top + _TALL, 8, 84, "#5d646c"),
            rect(x + side * _SIGN - 4, top + _TALL, 3, 84, "#7d858d"),
        )
    canvas.draw(
        rect(left + 5, top + 6, _SIGN, _TALL, "#00000040", 8), rect(left, top, _SIGN, _TALL, "#fcfbf6", 8),
        rect(left, top, _SIGN, _TALL, "none", 8, f'stroke="{colour}" stroke-width="5"'),
    )  # fmt: skip
    canvas.text(brand, x, top + 33, 26, face="sans bold", fill=colour, anchor="middle", width=_SIGN - 30)
    canvas.text(model, x, top + 77, 44, face="sans black", fill="#22262e", anchor="middle", width=_SIGN - 30)
    car(canvas, x, foot, _WIDE, body=body, paint=paint, flip=rng.random() < 0.5)
    return (round(x - _WIDE / 2), round(top), round(x + _WIDE / 2), round(foot))
