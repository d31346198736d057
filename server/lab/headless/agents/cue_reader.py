"""Reads cues without a model: learns each from drawings that this repository makes, and looks where it must be.

For a cue of the question, examples that hold and that do not are drawn on pieces of the task's own picture, blurred and
noisy as a photograph is. A linear classifier over edges and colours then says how much each place of the picture looks
like one or the other. Where places are follows from the family's layout, which hardly differs between pictures.
"""

import random
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from io import BytesIO
from statistics import median

import numpy as np
import resvg_py
from numpy.typing import NDArray
from PIL import Image, ImageFilter

from m3bench.server.lab.headless.agents.pen_marks import Pixels
from m3bench.tasks.errors import UserError
from m3bench.tasks.families.base import Family, Kit, Unfit
from m3bench.tasks.foreign_files import READABLE
from m3bench.tasks.render.art import Art
from m3bench.tasks.render.cues.cue import THEN, Cue, Spot, Value, card, placed
from m3bench.tasks.render.cues.selection import CUES
from m3bench.tasks.render.packages import default_folder
from m3bench.tasks.scene import Box

Vector = NDArray[np.float64]

SAMPLES = 220
"""Drawings of each kind that a cue is learned from."""
LAYOUTS = 7
_SIDE, _CELLS, _TURNS = 48, 6, 8
_LOOSENESS = 30.0
"""How far the classifier is kept from the single example."""


@dataclass(frozen=True, kw_only=True)
class CuedThing:
    """A thing that cues seem to mean."""

    box: Box
    group: int
    """0, or 1 for the second group that a question speaks of."""


@dataclass(frozen=True, kw_only=True)
class Layout:
    """Where things are, and how many are meant."""

    places: "tuple[CuedPlace, ...]"
    meant: int
    second: int


@dataclass(frozen=True, kw_only=True)
class CuedPlace:
    """Where one of the things and its cues are, as a rule."""

    box: Box
    spots: tuple[Box | None, ...]
    """For each cue; None where another picture has it."""


def asked_cues(which: str) -> tuple[Cue, ...]:
    """The cues that a question names, in the order in which it names them."""
    found = [(which.index(cue.phrase), cue) for cue in CUES if cue.phrase in which]
    # What is part of a longer phrase is not meant: a candle that is out, among candles that went out.
    longest = [
        (at, cue) for at, cue in found
        if not any(cue.phrase in other.phrase and cue is not other for _, other in found)
    ]  # fmt: skip
    return tuple(cue for _, cue in sorted(longest, key=lambda one: one[0]))


def meant_things(
    family: Family, kit: Kit, which: str, pictures: Sequence[Pixels], rng: random.Random
) -> list[CuedThing]:
    """The things for which the cues of a question seem to hold, row by row; none where nothing is known of them.

    Args:
        family: Whose picture it is.
        kit: With the goal of the question.
        which: The words of the question that name the cues.
        pictures: Of the task.
        rng: Makes the examples.
    """
    cues, usual = asked_cues(which), layout(family, kit)
    if usual is None or not cues:
        return []
    # Cues on sheets are said last, and have a place among those of the goal all the same.
    beside = [number for number, spot in enumerate(usual.places[0].spots) if spot is not None]
    ordered = [cue for cue in cues if not cue.sheet]
    told = [
        np.clip(likeness(cue, pictures, usual.places, number, rng), -1, 1)
        for number, cue in zip(beside, ordered, strict=False)
    ]
    if not told:
        return []
    both, numbers = np.sum(told, axis=0), np.arange(len(usual.places))
    first = [int(number) for number in numbers[np.argsort(-both)][: usual.meant]]
    alone = told[0] - np.sum(told[1:], axis=0)
    rest = [int(number) for number in numbers[np.argsort(-alone)] if number not in first][: usual.second]
    return [CuedThing(box=usual.places[number].box, group=int(number in rest)) for number in sorted([*first, *rest])]


def layout(family: Family, kit: Kit) -> Layout | None:
    """Where things and cues usually are; None for a family whose pictures have none."""
    seen = []
    for seed in range(LAYOUTS * 4):
        try:
            truth = family.compose(random.Random(f"layout {seed}"), kit).truth
        except Unfit:
            continue
        if truth is not None:
            seen.append(truth)
        if len(seen) == LAYOUTS:
            break
    if not seen:
        return None
    places = []
    for number in range(min(len(truth.things) for truth in seen)):
        things = [truth.things[number] for truth in seen]
        spots = [
            None if things[0].cues[cue].box is None else _middle([thing.cues[cue].box for thing in things])
            for cue in range(len(things[0].cues))
        ]
        places.append(CuedPlace(box=_middle([thing.box for thing in things]), spots=tuple(spots)))
    second = sum(thing.group for thing in seen[0].things)
    return Layout(places=tuple(places), meant=len(seen[0].meant) - second, second=second)


def _middle(boxes: Sequence[Box | None]) -> Box:
    left, top, right, bottom = (median(sides) for sides in zip(*(box for box in boxes if box), strict=True))
    return left, top, right, bottom


def likeness(
    cue: Cue, pictures: Sequence[Pixels], places: Sequence[CuedPlace], number: int, rng: random.Random
) -> list[float]:
    """How much each thing looks as if a cue held for it, around 0; nothing is known of a cue on a sheet.

    Args:
        cue: One that the question names.
        pictures: Of the task.
        places: Where things are.
        number: Of the cue, among those of the question.
        rng: Makes the examples.
    """
    spots = [place.spots[number] for place in places]
    if any(spot is None for spot in spots):
        return [0.0] * len(places)
    boxes = [spot for spot in spots if spot is not None]
    if not cue.changes:
        return _told(cue, tuple(cue.holds), tuple(cue.fails), pictures[0], boxes, rng)
    before, after = str(cue.holds[0]).split(THEN)
    first = _told(cue, (before,), (after,), pictures[0], boxes, rng)
    then = _told(cue, (after,), (before,), pictures[1], boxes, rng)
    return [min(one, other) for one, other in zip(first, then, strict=True)]


def _told(
    cue: Cue, holds: Sequence[Value], fails: Sequence[Value], picture: Pixels, boxes: Sequence[Box], rng: random.Random
) -> list[float]:
    whole = Image.fromarray(picture)
    rows, wanted = [], []
    for number in range(2 * SAMPLES):
        value = rng.choice(holds if number % 2 else fails)
        rows.append(features(_example(cue, value, whole, boxes, rng)))
        wanted.append(1.0 if number % 2 else -1.0)
    table = np.array(rows)
    mean, spread = table.mean(0), table.std(0) + 1e-6
    table = (table - mean) / spread
    # In the form for fewer examples than features.
    weights = table.T @ np.linalg.solve(table @ table.T + _LOOSENESS * np.eye(len(table)), np.array(wanted))
    seen = np.array([features(whole.crop(_wider(box))) for box in boxes])
    return [float(score) for score in ((seen - mean) / spread) @ weights]


def features(part: Image.Image) -> Vector:
    """Directions of edges in a grid of cells, and the colours of the cells."""
    small = part.convert("RGB").resize((_SIDE, _SIDE), Image.Resampling.BILINEAR)
    pixels = np.asarray(small, dtype=np.float64) / 255
    grey = pixels.mean(2)
    down, across = np.gradient(grey)
    size, turn = np.hypot(down, across), (np.arctan2(down, across) % np.pi) / np.pi * _TURNS
    step = _SIDE // _CELLS
    cells = []
    for row in range(_CELLS):
        for column in range(_CELLS):
            area = np.s_[row * step : (row + 1) * step, column * step : (column + 1) * step]
            edges = np.bincount(turn[area].astype(int).ravel() % _TURNS, size[area].ravel(), _TURNS)
            cells += [*(edges / (np.linalg.norm(edges) + 0.5)), *pixels[area].mean((0, 1)), grey[area].std()]
    return np.array(cells)


def _wider(box: Box) -> Box:
    margin = 0.1 * (box[2] - box[0])
    return box[0] - margin, box[1] - margin, box[2] + margin, box[3] + margin


def _example(cue: Cue, value: Value, whole: Image.Image, boxes: Sequence[Box], rng: random.Random) -> Image.Image:
    """A drawing of a value on a piece of the picture, off its middle, blurred and noisy."""
    left, top, right, bottom = _wider(rng.choice(boxes))
    side, drop = round(right - left), rng.choice((-1, 1)) * (bottom - top)
    ground = whole.crop((round(left), round(top + drop), round(left) + side, round(top + drop) + side)).convert("RGBA")
    size = side / 1.2 * rng.uniform(0.92, 1.08)
    x, foot = side / 2 + rng.uniform(-0.1, 0.1) * side, side * 0.92 + rng.uniform(-0.1, 0.1) * side
    spot = Spot(x=x, foot=foot, size=size)
    drawn = cue.draw(rng, value) if cue.draw else card(rng)
    svg = (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{side}" height="{side}">'
        f"{placed(drawn, spot, turn=rng.uniform(-7, 7))}</svg>"
    )
    layer = resvg_py.svg_to_bytes(
        svg_string=svg, skip_system_fonts=True, font_files=list(_fonts()) if "<text" in svg else []
    )
    ground.alpha_composite(Image.open(BytesIO(bytes(layer)), formats=READABLE).convert("RGBA"))
    if not cue.draw:
        thing = _art().object(str(value)).resize((round(size * 0.68), round(size * 0.68))).rotate(rng.uniform(-22, 22))
        ground.alpha_composite(thing, (max(0, round(x - size * 0.34)), max(0, round(foot - size * 0.8))))
    blurred = np.asarray(
        ground.convert("RGB").filter(ImageFilter.GaussianBlur(rng.uniform(0.5, 1.2))), dtype=np.float64
    )
    noisy = blurred * rng.uniform(0.8, 1.08) + np.random.default_rng(rng.randrange(1 << 30)).normal(0, 3, blurred.shape)
    return Image.fromarray(np.clip(noisy, 0, 255).astype(np.uint8))


@cache
def _art() -> Art:
    if not default_folder().is_dir():
        raise UserError("The art packages are not here: m3bench tasks generate fetches them.")
    return Art(default_folder())


@cache
def _fonts() -> tuple[str, ...]:
    return tuple(sorted(map(str, _art().fonts.values())))


def counted(drawing: str, picture: Pixels, box: Box) -> int:
    """How many there are of what a cue counts, by which of its examples a place looks most like."""
    rng, found = random.Random(drawing), {}
    cue = next(cue for cue in CUES if cue.name.split()[0] == drawing)
    values = (*cue.holds, *cue.fails)
    for value in values:
        rest = tuple(other for other in values if other != value)
        (found[int(value)],) = _told(cue, (value,), rest, picture, [box], rng)
    return max(found, key=lambda value: found[value])
