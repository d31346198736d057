"""Which of several things are meant: those for which two cues hold. Decoys have one of them, or none."""

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache

from m3bench.tasks.render.canvas import Canvas
from m3bench.tasks.render.cues import amounts, looks, sheets, states
from m3bench.tasks.render.cues.cue import THEN, Cue, Spot, Value, card, placed
from m3bench.tasks.render.phone import Snapshot
from m3bench.tasks.scene import Box
from m3bench.tasks.truth import Amount, CueTruth, SeenCue, ThingTruth, Truth

CUES: tuple[Cue, ...] = (*states.CUES, *amounts.CUES, *looks.CUES, *sheets.CUES)
_ASKEW = 7
"""Degrees that a cue may be turned by at most, of those that may."""
_UPRIGHT = ("clock", "gauge", "thermometer", "bars", "curve", "candle", "glass", "ball")


@cache
def by_skill() -> Mapping[str, tuple[Cue, ...]]:
    """The cues of each skill."""
    return {skill: tuple(cue for cue in CUES if cue.skill == skill) for skill in {cue.skill for cue in CUES}}


def cues_for(skills: Sequence[str], style: str, without: Sequence[str] = ()) -> tuple[Cue, ...]:
    """A cue of each skill, the same for the same style; none whose name begins with a word of `without`."""
    rng = random.Random(f"cues {style}")
    found: list[Cue] = []
    for skill in skills:
        taken = [cue.name.split()[0] for cue in found]
        free = [cue for cue in by_skill()[skill] if cue.name.split()[0] not in (*taken, *without)]
        # First the drawing, then which of its values is asked for: a drawing with many values is not likelier.
        drawing = rng.choice(sorted({cue.name.split()[0] for cue in free}))
        found.append(rng.choice([cue for cue in free if cue.name.split()[0] == drawing]))
    return tuple(found)


@dataclass(frozen=True, kw_only=True)
class Thing:
    """One of the things that could be meant, on a canvas."""

    name: str
    """As the world knows it."""
    box: Box
    spots: tuple[Spot, ...] = ()
    """A place for each cue."""
    label: str = ""
    """What a detector calls it."""
    words: tuple[str, ...] = ()
    """Other words that mean it."""


@dataclass(frozen=True, kw_only=True)
class Selection:
    """What is meant, and what each thing shows of it."""

    cues: tuple[Cue, ...]
    meant: tuple[int, ...]
    """Numbers of the things that are meant."""
    values: tuple[tuple[Value, ...], ...]
    """By thing: a value for each cue."""
    second: tuple[int, ...] = ()
    """Numbers of those that are meant otherwise: the first cue holds for them, the others do not."""

    @property
    def which(self) -> Mapping[str, str]:
        """Words for the placeholders of a question.

        `{which}` comes after several things, `{which_one}` after one; `{others}` is the second group, where there is one.
        """
        beside = " and ".join(cue.phrase for cue in self.cues if not cue.sheet)
        apart = [cue.phrase for cue in self.cues if cue.sheet]
        many = [f"have {beside} beside them"] if beside else []
        one = [f"has {beside} beside it"] if beside else []
        one += [_of_one(said) for said in apart]
        said = {"which": f"that {' and '.join([*many, *apart])}", "which_one": f"that {' and '.join(one)}"}
        if self.second:
            first, *rest = self.cues
            said["others"] = f"that have {first.phrase} but not {' or '.join(cue.phrase for cue in rest)} beside them"
        return said

    def draw(self, canvas: Canvas, rng: random.Random, things: Sequence[Thing]) -> list[Canvas]:
        """Draw every cue at its spot; returns the pictures: several where something changes or has a sheet of its own."""
        changes = any(cue.changes for cue in self.cues)
        pictures = [canvas, canvas.copy()] if changes else [canvas]
        for thing, values in zip(things, self.values, strict=True):
            spots = iter(thing.spots)
            for cue, value in zip(self.cues, values, strict=True):
                if cue.sheet:
                    continue
                spot, seed = next(spots), rng.randrange(1 << 40)
                turn, flip = rng.uniform(-_ASKEW, _ASKEW), rng.random() < 0.5
                for number, picture in enumerate(pictures):
                    shown = str(value).split(THEN)[number] if cue.changes else value
                    _draw(picture, random.Random(seed), cue, shown, spot, turn, flip=flip)
        for index, cue in enumerate(self.cues):
            if cue.sheet:
                told = [values[index] for values in self.values]
                pictures.append(sheets.sheet(canvas.art, rng, cue, told, [thing.box for thing in things]))
        return pictures

    def truth(
        self,
        things: Sequence[Thing],
        snapshots: Sequence[Snapshot],
        *,
        amounts: Sequence[Amount] = (),
        choices: int = 0,
    ) -> Truth:
        """What is to be seen, for the server's side.

        Args:
            things: What is on the canvas.
            snapshots: The photographs of it.
            amounts: What else is to be read.
            choices: How many sets of things could be meant, where the family allows fewer than any.
        """
        second = 1 if any(cue.changes for cue in self.cues) else 0
        found = []
        for number, thing in enumerate(things):
            spots, seen = iter(thing.spots), []
            for cue, value in zip(self.cues, self.values[number], strict=True):
                at = len(snapshots) - 1 if cue.sheet else second if cue.changes else 0
                box = None if cue.sheet else snapshots[at].seen(_box(next(spots)))
                seen.append(SeenCue(value=value, holds=value in cue.holds, box=box, picture=at))
            found.append(
                ThingTruth(
                    name=thing.name,
                    label=thing.label,
                    words=thing.words,
                    box=snapshots[0].seen(thing.box),
                    cues=tuple(seen),
                    meant=number in (*self.meant, *self.second),
                    group=int(number in self.second),
                )
            )
        told = tuple(
            CueTruth(name=cue.name, skill=cue.skill, phrase=cue.phrase, measure=cue.measure) for cue in self.cues
        )
        return Truth(cues=told, things=tuple(found), amounts=tuple(amounts), choices=choices)


def choose(
    rng: random.Random, cues: Sequence[Cue], count: int, meant: Sequence[int], second: Sequence[int] = ()
) -> Selection:
    """What each of some things shows, so that all cues hold for those that are meant and for no other.

    Args:
        rng: Chooses the decoys and values.
        cues: Two, or more.
        count: How many things there are.
        meant: Numbers of those that are meant.
        second: Numbers of a second group, for which the first cue alone holds; no other thing is like that.
    """
    others = [number for number in range(count) if number not in (*meant, *second)]
    rng.shuffle(others)
    values: list[tuple[Value, ...]] = [()] * count
    for number in meant:
        values[number] = tuple(rng.choice(cue.holds) for cue in cues)
    for number in second:
        values[number] = tuple(rng.choice(cue.fails if index else cue.holds) for index, cue in enumerate(cues))
    if second:
        for place, number in enumerate(others):
            first, *rest = cues
            more = (rng.choice(cue.holds if place % 2 == 0 else cue.fails) for cue in rest)
            values[number] = (rng.choice(first.fails), *more)
        others = []
    for place, number in enumerate(others):
        # In turn: only the first cue holds, only the second, …, none; the first decoys have one each.
        alone = place % (len(cues) + 1)
        if alone == len(cues) and place == len(others) - 1:
            alone = rng.randrange(len(cues))
        values[number] = tuple(rng.choice(cue.holds if index == alone else cue.fails) for index, cue in enumerate(cues))
    return Selection(cues=tuple(cues), meant=tuple(meant), second=tuple(second), values=tuple(values))


def below(box: Box, size: float, *, drop: float = 0.6, apart: float = 0.04) -> tuple[Spot, Spot]:
    """Two spots side by side at the foot of a box.

    Args:
        box: Of a thing.
        size: Of a spot.
        drop: How much of a spot is below the box.
        apart: Between the two, in sizes.
    """
    left, _, right, bottom = box
    middle, foot, aside = (left + right) / 2, bottom + size * drop, size * (0.5 + apart / 2)
    return Spot(x=middle - aside, foot=foot, size=size), Spot(x=middle + aside, foot=foot, size=size)


def _of_one(said: str) -> str:
    """What several things do, of one."""
    return (
        said.replace("are no stops", "is no stop")
        .replace("are stops", "is a stop")
        .replace("have a", "has a")
        .replace("their backs", "its back")
    )


def put(canvas: Canvas, rng: random.Random, cue: Cue, value: Value, spot: Spot) -> None:
    """Draw a cue that is only an amount: it says how many or how much, and not which."""
    _draw(canvas, rng, cue, value, spot, rng.uniform(-_ASKEW, _ASKEW), flip=False)


def amount(drawing: str) -> Cue:
    """A cue whose value a family chooses, by the first word of its name: `pencils`, `dice`, `clock`."""
    return next(cue for cue in CUES if cue.name.split()[0] == drawing)


def _box(spot: Spot) -> Box:
    half = spot.size / 2
    return spot.x - half, spot.foot - spot.size, spot.x + half, spot.foot


def _draw(canvas: Canvas, rng: random.Random, cue: Cue, value: Value, spot: Spot, turn: float, *, flip: bool) -> None:
    upright = cue.name.split()[0] in _UPRIGHT
    if cue.draw is not None:
        canvas.draw(placed(cue.draw(rng, value), spot, turn=turn * (0.4 if upright else 1)))
        return
    canvas.draw(placed(card(rng), spot, turn=turn))
    size = spot.size * rng.uniform(0.62, 0.74)
    x, foot = spot.x + spot.size * rng.uniform(-0.06, 0.04), spot.foot - spot.size * rng.uniform(0.1, 0.16)
    tilt = rng.uniform(-22, 22)
    canvas.place(str(value), x, foot, size, flip=flip, turn=tilt, shadow=False, note=False)
