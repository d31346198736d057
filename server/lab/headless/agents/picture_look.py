"""A picture under classical vision: pen marks by colour, and what they enclose by letters, codes and the detector.

Writing is read part by part: a loop's inside is cut out of the picture that the client was sent, the line is painted
over, and the part goes to the OCR tool. What was read is held against the names that there are in the world, so a wrong
letter costs nothing.
"""

import base64
import io
import json
import random
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TypeVar

import numpy as np
from PIL import Image
from rapidfuzz import fuzz

from m3bench.sandboxes.world.tables import load
from m3bench.server.lab.headless.agents.cue_reader import meant_things
from m3bench.server.lab.headless.agents.evidence import words_of
from m3bench.server.lab.headless.agents.pen_marks import PenMark, Pixels, loops, painted_over, pen_mask, thin
from m3bench.server.lab.headless.agents.play import AgentPlay
from m3bench.tasks.families.base import Family, Kit
from m3bench.tasks.families.tool_answers import Found, read_objects
from m3bench.tasks.foreign_files import READABLE
from m3bench.tasks.likeness import iou
from m3bench.tasks.picture_mark import strip_height
from m3bench.tasks.render.outline import Outline
from m3bench.tasks.scene import Box
from m3bench.tasks.trajectory import JSON, Call

T = TypeVar("T")

_ENLARGED = 2
_LEAST = 62.0
"""Of 100: how alike a name and what was read must be."""
_LOOKED_AT = 60
"""Options that are compared word by word."""
_TOGETHER = 6
"""Parts that are read in one step."""


class NotSeen(LookupError):
    """The picture does not show what a plan needs, or not clearly enough."""


@dataclass(kw_only=True)
class PictureLook:
    """The first picture of a task, and the tools that tell more of it."""

    play: AgentPlay
    family: Family
    goal: str
    values: dict[str, str]
    """What the question says, by placeholder."""
    again: bool = False
    """Whether this is a second look, for which more ways of reading are tried."""
    _objects: list[Found] | None = field(default=None, init=False)

    @cached_property
    def kit(self) -> Kit:
        """What families compose from, drawings left out."""
        return Kit(Outline(), load)

    @cached_property
    def images(self) -> list[Pixels]:
        """The pixels that the client was sent, without the strips that have marks."""
        found = []
        for data in self.play.images:
            with Image.open(io.BytesIO(data), formats=READABLE) as file:
                whole = np.asarray(file.convert("RGB"))
            found.append(whole[: len(whole) - strip_height(whole.shape[1])])
        return found

    @property
    def image(self) -> Pixels:
        """The first picture."""
        return self.images[0]

    @cached_property
    def cued(self) -> list[PenMark]:
        """The things that cues seem to mean, as if they had loops around them: red, or blue for a second group."""
        which = self.values.get("which") or self.values.get("which_one") or ""
        dice, kit = random.Random(self.play.task.id), replace(self.kit, goal=self.goal)
        things = meant_things(self.family, kit, which, self.images, dice)
        nothing = np.zeros((1, 1), dtype=bool)
        return [
            PenMark(colour=("red", "blue")[thing.group], box=thing.box, mask=nothing, corner=(0, 0)) for thing in things
        ]

    def loops(self, colour: str = "red") -> list[PenMark]:
        """The loops of a colour, row by row, or what cues mean in their place.

        Raises:
            NotSeen: There are none.
        """
        cued = self.values.keys() & {"which", "which_one"}
        found = [mark for mark in self.cued if mark.colour == colour] if cued else loops(self.image, colour)
        if not found:
            raise NotSeen(f"there is no {colour} loop")
        return found

    async def read(
        self, boxes: Iterable[Box], *, psm: Sequence[int] = (6,), pens: Iterable[str] = ("red", "blue")
    ) -> list[str]:
        """What is written in parts of the picture, each way of reading it below the other."""
        parts = [_encoded(self._part(box, tuple(pens))) for box in boxes]
        calls = [
            Call(tool="ocr/perform_ocr", arguments={"input_data": part, "config": f"--oem 3 --psm {mode}"})
            for part in parts
            for mode in psm
        ]
        texts: list[str] = []
        for start in range(0, len(calls), _TOGETHER):
            texts += await self.play.patient_step(calls[start : start + _TOGETHER])
        each = len(psm)
        return [
            "\n".join(text for text in texts[number * each : (number + 1) * each] if "No text detected" not in text)
            for number in range(len(parts))
        ]

    async def objects(self) -> list[Found]:
        """What the detector names, with boxes."""
        if self._objects is None:
            arguments: dict[str, JSON] = {"imageFileUri": self.play.pictures[0], "includeDescription": False}
            (text,) = await self.play.patient_step([Call(tool="dinox-mcp/detect-all-objects", arguments=arguments)])
            try:
                self._objects = list(read_objects(text))
            except (ValueError, LookupError, TypeError):
                self._objects = []
        return self._objects

    async def codes(self) -> list[tuple[str, tuple[float, float]]]:
        """What the codes say, and where the middle of each is."""
        (text,) = await self.play.patient_step(
            [Call(tool="pyzbar-mcp/scan_barcode", arguments={"image_paths": [self.play.pictures[0]]})]
        )
        try:
            results = json.loads(text)["metadata"]["results"]
        except (ValueError, LookupError, TypeError):
            return []
        return [
            (
                str(code["data"]),
                (code["rect"]["x"] + code["rect"]["width"] / 2, code["rect"]["y"] + code["rect"]["height"] / 2),
            )
            for code in results
        ]

    def _part(self, box: Box, pens: tuple[str, ...]) -> Image.Image:
        height, width = self.image.shape[:2]
        left, top, right, bottom = (
            round(min(max(side, 0), most)) for side, most in zip(box, (width, height, width, height), strict=True)
        )
        if right - left < 4 or bottom - top < 4:
            raise NotSeen("a part of the picture is empty")
        part = self.image[top:bottom, left:right]
        for pen in pens:
            part = painted_over(part, thin(pen_mask(part, pen)))
        cut = Image.fromarray(part)
        return cut.resize((cut.width * _ENLARGED, cut.height * _ENLARGED), Image.Resampling.LANCZOS)


def _encoded(part: Image.Image) -> str:
    file = io.BytesIO()
    part.save(file, "PNG")
    return base64.b64encode(file.getvalue()).decode()


def grown(box: Box, *, left: float = 0, up: float = 0, right: float = 0, down: float = 0) -> Box:
    """A box with so many pixels more on each side."""
    return box[0] - left, box[1] - up, box[2] + right, box[3] + down


def overlap(one: Box, other: Box) -> float:
    """The share of the smaller of two boxes that lies in the other."""
    wide = min(one[2], other[2]) - max(one[0], other[0])
    high = min(one[3], other[3]) - max(one[1], other[1])
    if wide <= 0 or high <= 0:
        return 0.0
    return wide * high / min((box[2] - box[0]) * (box[3] - box[1]) for box in (one, other))


def within(box: Box, point: tuple[float, float]) -> bool:
    """Whether a point lies in a box."""
    return box[0] <= point[0] <= box[2] and box[1] <= point[1] <= box[3]


def looped(objects: Sequence[Found], marks: Iterable[PenMark]) -> list[Found]:
    """The object that each loop is around.

    Raises:
        NotSeen: A loop is around nothing that the detector knows.
    """
    found = []
    for mark in marks:
        best = max(objects, key=lambda thing: iou(thing.box, mark.box), default=None)
        if best is None or iou(best.box, mark.box) < 0.2:
            raise NotSeen("a loop is around nothing that has a name")
        found.append(best)
    return found


def likeness(name: str, text: Sequence[str]) -> float:
    """How alike a name is to some words in a row of a text, of 100; a longer one counts a bit more."""
    words = words_of(name)
    if not words or not text:
        return 0.0
    joined, best = "".join(words), 0.0
    for count in {max(1, len(words) - 1), len(words), len(words) + 1}:
        for start in range(max(1, len(text) - count + 1)):
            best = max(best, fuzz.ratio(joined, "".join(text[start : start + count]), score_cutoff=best))
    return best + 0.35 * min(len(joined), 40) * best / 100


def closest(text: str, options: Iterable[T], said: Callable[[T], Sequence[str]], least: float = _LEAST) -> T:
    """The option whose phrases are most like what was read.

    Args:
        text: What was read.
        options: What may be meant.
        said: The phrases of an option that stand in the picture, all of them.
        least: How alike the best must be.

    Raises:
        NotSeen: None is alike.
    """
    words, best, found = words_of(text), least, None
    for option in _promising("".join(words), options, said):
        alike = [likeness(phrase, words) for phrase in said(option) if phrase]
        score = sum(alike) / len(alike) + 2 * len(alike) if alike else 0.0
        if score > best:
            best, found = score, option
    if found is None:
        raise NotSeen(f"nothing is called {text[:60]!r}")
    return found


def _promising(text: str, options: Iterable[T], said: Callable[[T], Sequence[str]]) -> list[T]:
    """The few options whose letters stand in a text best; of so many the words are looked at one by one."""
    known = list(options)
    if len(known) <= _LOOKED_AT:
        return known
    rough = [_roughly(text, said(option)) for option in known]
    best = sorted(range(len(known)), key=lambda number: -rough[number])
    return [known[number] for number in best[:_LOOKED_AT]]


def _roughly(text: str, phrases: Sequence[str]) -> float:
    forms = ["".join(words_of(phrase)) for phrase in phrases]
    return sum(fuzz.partial_ratio(form, text) * len(form) for form in forms) / max(8, sum(map(len, forms)))


def closest_name(text: str, names: Iterable[str], least: float = _LEAST) -> str:
    """The name that is most like what was read."""
    return closest(text, names, lambda name: (name,), least)


def first_number(text: str, pattern: str = r"\d+") -> int:
    """The first number of a text.

    Raises:
        NotSeen: There is none.
    """
    found = re.search(pattern, text)
    if found is None:
        raise NotSeen(f"there is no number in {text[:60]!r}")
    return int(re.sub(r"\D", "", found[0]))
