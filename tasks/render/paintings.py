"""Paintings in broad strokes: portraits, landscapes, scenes, still lifes, prints and textiles."""

import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from m3bench.tasks.render.shapes import ellipse, fade, line, mix, path, polygon, rect

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
