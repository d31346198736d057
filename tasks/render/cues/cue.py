"""A cue: something drawn beside a thing that says whether it is meant, and that no detector has a word for.

Each cue belongs to one skill and has values that hold and values that do not. It is drawn in a frame of 100 by 100,
with its foot at the bottom, from random numbers that choose its shape, colours and pose; no two drawings are alike.
"""

import colorsys
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from m3bench.tasks.truth import Measure

Value = str | int | float
"""What a cue shows: a state, a count, a reading; of two pictures the states before and after, as `full > empty`."""

Fragments = list[str]

SIDE = 100
"""Of the frame that a cue is drawn in."""
THEN = " > "
"""Between the states before and after."""


@dataclass(frozen=True, kw_only=True)
class Cue:
    """One way to tell what is meant."""

    name: str
    skill: str
    phrase: str
    """What a thing has for which it holds: `a full glass`."""
    holds: Sequence[Value]
    fails: Sequence[Value]
    draw: Callable[[random.Random, Value], Fragments] | None = None
    """Draws a value; what is left out is an object of the art, named by the value."""
    measure: Measure = "state"
    """What kind of value it is."""
    sheet: bool = False
    """Whether it is drawn in a picture of its own, and not beside the things."""
    changes: bool = False
    """Whether only a second picture shows it: values are states before and after."""


@dataclass(frozen=True, kw_only=True)
class Spot:
    """A place for a cue."""

    x: float
    """Its middle."""
    foot: float
    size: float


def colour(
    rng: random.Random, light: tuple[float, float] = (0.35, 0.9), rich: tuple[float, float] = (0.25, 0.85)
) -> str:
    """Any colour of some lightness and richness."""
    shade = colorsys.hls_to_rgb(rng.random(), rng.uniform(*light), rng.uniform(*rich))
    return "#" + bytes(round(255 * part) for part in shade).hex()


def pale(rng: random.Random) -> str:
    """The colour of paper, plaster or china."""
    return colour(rng, (0.86, 0.96), (0.1, 0.6))


def dark(rng: random.Random) -> str:
    """A colour to draw with on something pale."""
    return colour(rng, (0.15, 0.36), (0.2, 0.8))


def placed(fragments: Fragments, spot: Spot, *, turn: float = 0, flip: bool = False) -> str:
    """A drawing where it belongs, turned about its middle."""
    scale = spot.size / SIDE
    left, top = spot.x - spot.size / 2, spot.foot - spot.size
    mirrored = f" translate({SIDE} 0) scale(-1 1)" if flip else ""
    about = f" rotate({turn:.1f} {SIDE / 2} {SIDE / 2})" if turn else ""
    move = f"translate({left:.1f} {top:.1f}) scale({scale:.4f}){about}{mirrored}"
    return f'<g transform="{move}">{"".join(fragments)}</g>'


def card(rng: random.Random) -> Fragments:
    """A piece of paper or wood that something is drawn on."""
    radius = rng.choice((0, 3, 8, 16))
    return [
        f'<rect x="5" y="6" width="92" height="92" rx="{radius}" fill="#000000" opacity="0.22"/>',
        f'<rect x="3" y="3" width="92" height="92" rx="{radius}" fill="{pale(rng)}"'
        f' stroke="{dark(rng)}" stroke-width="{rng.uniform(0.6, 2.2):.1f}"/>',
    ]
