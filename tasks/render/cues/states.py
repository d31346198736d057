"""Cues of state: full or empty, burning or out, lit or dark, open or shut, whole or broken, fresh or wilted."""

import math
import random

from m3bench.tasks.render.cues.cue import THEN, Cue, Fragments, Value, colour, dark, pale
from m3bench.tasks.render.shapes import ellipse, line, mix, path, polygon, rect

_FLAMES = ("#ffb52e", "#ffd34d", "#ff8a1f")
_DRINKS = ("#c8692b", "#7a2135", "#f0c33c", "#e9e4d4", "#5b8f3a", "#bfe0ee", "#3b2418", "#e58fa5")


def glass(rng: random.Random, value: Value) -> Fragments:
    """A tumbler, a glass with a stem or a beaker; it may be of coloured glass itself."""
    drink, tint = rng.choice(_DRINKS), colour(rng, (0.75, 0.95), (0.1, 0.9))
    level = rng.uniform(0.82, 0.93) if value == "full" else rng.uniform(0.0, 0.05)
    stem = rng.random() < 0.45
    top, bottom = rng.uniform(4, 14), (rng.uniform(54, 64) if stem else rng.uniform(92, 97))
    wide, narrow = rng.uniform(24, 34), rng.uniform(12, 18) if stem else rng.uniform(17, 28)

    def half(y: float) -> float:
        return narrow + (wide - narrow) * (bottom - y) / (bottom - top)

    surface = bottom - (bottom - top) * level
    body = [(50 - half(top), top), (50 + half(top), top), (50 + half(bottom), bottom), (50 - half(bottom), bottom)]
    drawn = [polygon(body, tint, 'opacity="0.55"')]
    if stem:
        drawn += [
            line(50, bottom, 50, 94, mix(tint, "#40464f", 0.35), 4),
            ellipse(50, 94, 20, 4, mix(tint, "#40464f", 0.2)),
        ]
    if level > 0.01:
        inside = [
            (50 - half(surface) + 2, surface),
            (50 + half(surface) - 2, surface),
            (50 + half(bottom) - 2, bottom - 2),
            (50 - half(bottom) + 2, bottom - 2),
        ]
        drawn += [
            polygon(inside, drink, 'opacity="0.93"'),
            ellipse(50, surface, half(surface) - 2, 3.4, mix(drink, "#ffffff", 0.3)),
        ]
    edge = mix(tint, "#20242b", 0.45)
    drawn += [
        polygon(body, "none", f'stroke="{edge}" stroke-width="2"'),
        ellipse(50, top, half(top), 3.6, "none", f'stroke="{edge}" stroke-width="2"'),
        line(50 - half(top) * 0.6, top + 8, 50 - half(bottom) * 0.6, bottom - 8, "#ffffff", 3, 'opacity="0.6"'),
    ]
    return drawn  # fmt: skip


def candle(rng: random.Random, value: Value) -> Fragments:
    """A candle on a holder, its body painted; one that is out has a wick, and perhaps smoke."""
    wax, tall, wide = colour(rng, (0.5, 0.95)), rng.uniform(40, 58), rng.uniform(16, 26)
    top, ring = 90 - tall, rng.choice(_FLAMES)
    drawn = [
        ellipse(50, 92, rng.uniform(26, 38), 6, colour(rng, (0.3, 0.6))),
        rect(50 - wide / 2, top, wide, tall, wax, 3),
        ellipse(50, top, wide / 2, 3.5, mix(wax, "#ffffff", 0.3)),
        line(50, top, 50 + rng.uniform(-2, 2), top - 8, "#2b2622", 2.2),
        ellipse(50, top + tall * rng.uniform(0.4, 0.7), wide * 0.3, wide * 0.3, ring),
    ]
    if value == "burning":
        tip, fat = top - rng.uniform(27, 36), rng.uniform(6, 9)
        d = f"M50 {tip:.1f} C{50 + fat * 1.6:.1f} {top - 14:.1f} {50 + fat:.1f} {top - 3:.1f} 50 {top - 2:.1f} C{50 - fat:.1f} {top - 3:.1f} {50 - fat * 1.6:.1f} {top - 14:.1f} 50 {tip:.1f} Z"
        drawn += [
            ellipse(50, top - 12, 22, 24, "#ffe9a8", 'opacity="0.3"'),
            path(d, rng.choice(_FLAMES)),
            ellipse(50, top - 8, fat * 0.5, 5, "#fff6d8"),
        ]
    elif rng.random() < 0.6:
        sway = rng.uniform(-9, 9)
        drawn += [
            path(
                f"M50 {top - 9:.1f} q{sway:.1f} -8 0 -15 t0 -14",
                more='stroke="#d8d8d8" stroke-width="3" opacity="0.75" stroke-linecap="round"',
            )
        ]
    return drawn  # fmt: skip


def lamp(rng: random.Random, value: Value) -> Fragments:
    """A table lamp with a shade of any colour; a lit one shines around itself."""
    shade, foot = colour(rng, (0.5, 0.93), (0.2, 0.9)), colour(rng, (0.2, 0.6))
    wide, top = rng.uniform(26, 34), rng.uniform(12, 20)
    low, deep = top + rng.uniform(28, 36), rng.uniform(0.45, 0.75)
    body = [(50 - wide * deep, top), (50 + wide * deep, top), (50 + wide, low), (50 - wide, low)]
    drawn = [rect(47, low - 2, 6, 92 - low, foot), ellipse(50, 93, rng.uniform(16, 24), 5, foot)]
    if value == "lit":
        drawn += [
            ellipse(50, (top + low) / 2, 50, 42, "#fff0b8", 'opacity="0.28"'),
            polygon([(50 - wide, low), (50 + wide, low), (96, 96), (4, 96)], "#fff3c4", 'opacity="0.4"'),
            polygon(body, mix(shade, "#fff8dd", 0.62)),
            ellipse(50, low, wide, 4, "#fffbe8"),
        ]
    else:
        drawn += [polygon(body, mix(shade, "#000000", 0.12)), ellipse(50, low, wide, 4, mix(shade, "#000000", 0.5))]
    return drawn


def padlock(rng: random.Random, value: Value) -> Fragments:
    """A padlock; the bow of an open one is lifted or swung aside."""
    body, bow = colour(rng, (0.35, 0.7)), mix("#8d949e", colour(rng), 0.2)
    wide, top, thick = rng.uniform(25, 32), rng.uniform(46, 52), rng.uniform(6, 9)
    reach, up = wide * 0.66, rng.uniform(24, 32)
    left, right, lift = 50 - reach, 50 + reach, 0.0
    end = top + 4
    if value == "open":
        if rng.random() < 0.5:
            lift = rng.uniform(11, 15)
            end = top - rng.uniform(7, 10)
        else:
            left, right = right, right + 2 * reach * 0.72
            end = top - rng.uniform(2, 8)
    arc = f"M{left:.1f} {top + 4:.1f} V{top - up * 0.4 - lift:.1f} A{abs(right - left) / 2:.1f} {up * 0.7:.1f} 0 0 1 {right:.1f} {top - up * 0.4 - lift:.1f} V{end:.1f}"
    return [
        path(arc, more=f'stroke="{bow}" stroke-width="{thick:.1f}" stroke-linecap="round"'),
        rect(50 - wide, top, 2 * wide, 95 - top, body, rng.choice((3, 8, 14))),
        ellipse(50, top + 20, 5, 5, mix(body, "#000000", 0.6)),
        rect(48, top + 20, 4, 13, mix(body, "#000000", 0.6)),
    ]


def box(rng: random.Random, value: Value) -> Fragments:
    """A box from the front and a bit from above, with a lid."""
    face, trim = colour(rng), colour(rng, (0.3, 0.9))
    left, right, top = rng.uniform(8, 16), rng.uniform(84, 92), rng.uniform(48, 56)
    back, mid = top - rng.uniform(9, 14), (left + right) / 2
    drawn = [rect(left, top, right - left, 96 - top, face), rect(mid - 5, top, 10, 96 - top, trim)]
    top_face = [(left, top), (right, top), (right - 8, back), (left + 8, back)]
    if value == "open":
        tilt = rng.uniform(24, 36)
        lid = [(left + 8, back), (right - 8, back), (right - 6 + 3, back - tilt), (left + 6 - 3, back - tilt)]
        return [
            polygon(lid, mix(face, "#ffffff", 0.22), f'stroke="{mix(face, "#000000", 0.4)}" stroke-width="1.5"'),
            *drawn,
            polygon(top_face, mix(face, "#000000", 0.66)),
        ]
    lip = mix(face, "#000000", 0.16)
    return [*drawn, polygon(top_face, mix(face, "#ffffff", 0.25)), polygon([(mid - 4, back), (mid + 4, back), (mid + 5, top), (mid - 5, top)], trim), rect(left - 2, top, right - left + 4, 8, lip)]  # fmt: skip


def cup(rng: random.Random, value: Value) -> Fragments:
    """A cup of china with a painted band; a broken one lacks a piece of its rim."""
    china, band = pale(rng), dark(rng)
    top, wide, low = rng.uniform(22, 30), rng.uniform(28, 33), rng.uniform(88, 94)
    edge, base = mix(china, "#303640", 0.5), wide * rng.uniform(0.55, 0.75)
    zigzag = " ".join(f"L{x} {48 + (4 if number % 2 else -4)}" for number, x in enumerate(range(24, 80, 7)))
    drawn = [
        path(f"M{48 + wide} {top + 16:.1f} q26 4 12 24 q-6 8 -16 8", more=f'stroke="{edge}" stroke-width="6"'),
        polygon(
            [(50 - wide, top), (50 + wide, top), (50 + base, low), (50 - base, low)],
            china,
            f'stroke="{edge}" stroke-width="2"',
        ),
        path(f"M24 48 {zigzag}", more=f'stroke="{band}" stroke-width="2.4"'),
        ellipse(50, top, wide, 7, mix(china, "#303640", 0.18), f'stroke="{edge}" stroke-width="2"'),
    ]
    if value == "broken":
        x, deep = 50 + rng.uniform(-14, 8), rng.uniform(18, 26)
        gap = [
            (x - 11, top - 9),
            (x + 12, top - 9),
            (x + 13, top + 5),
            (x + 6, top + deep * 0.5),
            (x + 4, top + deep),
            (x - 3, top + deep * 0.55),
            (x - 9, top + 8),
        ]
        shard = rng.choice((6, 78))
        drawn += [
            polygon(gap, "#4a4741"),
            path(
                f"M{x + 3:.1f} {top + deep:.1f} l{rng.uniform(-5, 5):.1f} 9 l{rng.uniform(-5, 7):.1f} 9",
                more=f'stroke="{edge}" stroke-width="1.8"',
            ),
            polygon(
                [(shard, 97), (shard + 8, 86), (shard + 17, 92), (shard + 12, 98)],
                china,
                f'stroke="{edge}" stroke-width="1.6"',
            ),
        ]
    return drawn  # fmt: skip


def flower(rng: random.Random, value: Value) -> Fragments:
    """A flower in a pot: upright, or with a hanging head."""
    petal, pot, green = (
        colour(rng, (0.5, 0.85), (0.5, 0.95)),
        colour(rng, (0.3, 0.7)),
        rng.choice(("#4f8a3c", "#6a9a48", "#857f45")),
    )
    if value == "fresh":
        stem, head = f"M50 72 Q{rng.uniform(44, 56):.1f} 50 50 32", (50 + rng.uniform(-3, 3), rng.uniform(20, 26))
        petals = 360.0
    else:
        side = rng.choice((-1, 1))
        stem, head = f"M50 72 Q48 26 {50 + side * 20} 34 Q{50 + side * 29} 42 {50 + side * 29} 54", (50 + side * 29, 60)
        petals = 200.0
    count = rng.randint(6, 9)
    drawn = [
        path(stem, more=f'stroke="{green}" stroke-width="4"'),
        ellipse(40, 62, 10, 4, green, 'transform="rotate(25 40 62)"'),
    ]
    for number in range(count):
        turn = number * petals / count + (0 if value == "fresh" else -10)
        angle = math.radians(turn)
        x, y = head[0] + 10 * math.cos(angle), head[1] + 10 * math.sin(angle)
        drawn.append(ellipse(x, y, 9, 5, petal, f'transform="rotate({turn:.0f} {x:.1f} {y:.1f})"'))
    drawn += [
        ellipse(*head, 6, 6, mix(petal, "#3a2a10", 0.6)),
        polygon([(32, 70), (68, 70), (63, 97), (37, 97)], pot),
        rect(29, 67, 42, 8, mix(pot, "#ffffff", 0.15), 2),
    ]
    return drawn  # fmt: skip


_STATES = (
    ("glass", glass, "full", "empty", "a full glass", "an empty glass", "a glass that was emptied", "a glass that was filled"),
    ("candle", candle, "burning", "out", "a burning candle", "a candle that is out", "a candle that went out", "a candle that was lit"),
    ("lamp", lamp, "lit", "dark", "a lamp that is switched on", "a lamp that is switched off", "a lamp that was switched off", "a lamp that was switched on"),
    ("padlock", padlock, "open", "shut", "an open padlock", "a padlock that is shut", "a padlock that was shut", "a padlock that was opened"),
    ("box", box, "open", "shut", "a box with its lid up", "a box with its lid down", "a box whose lid was put down", "a box whose lid was put up"),
    ("cup", cup, "whole", "broken", "an unbroken cup", "a broken cup", "a cup that got broken", ""),
    ("flower", flower, "fresh", "wilted", "a flower that stands upright", "a wilted flower", "a flower that wilted", ""),
)  # fmt: skip
BETWEEN = " between the two photos"


def _cues() -> list[Cue]:
    found = []
    for name, draw, one, other, first, second, there, back in _STATES:
        for state, rest, phrase in ((one, other, first), (other, one, second)):
            found.append(
                Cue(name=f"{name} {state}", skill="state", phrase=phrase, holds=(state,), fails=(rest,), draw=draw)
            )
        pairs = [f"{before}{THEN}{after}" for before in (one, other) for after in (one, other)]
        for wanted, phrase in ((pairs[1], there), (pairs[2], back)):
            if phrase:
                others = tuple(pair for pair in pairs if pair != wanted)
                found.append(
                    Cue(
                        name=f"{name} {wanted}",
                        skill="change",
                        phrase=phrase + BETWEEN,
                        holds=(wanted,),
                        fails=others,
                        draw=draw,
                        changes=True,
                    )
                )
    return found  # fmt: skip


CUES = tuple(_cues())
