"""Marks in a picture, judged by where they are and by their colour; parts cut out by eye; and the tone of a picture."""

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal

from m3bench.tasks.checks import BaseCheck, Evidence
from m3bench.tasks.foreign_files import picture_in
from m3bench.tasks.lazy_modules import LazyModule

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt
    from PIL import Image, ImageChops, ImageFilter

    from m3bench.tasks import likeness

    Mask = npt.NDArray[np.bool_]
else:
    np = LazyModule("numpy")
    ImageChops = LazyModule("PIL.ImageChops")
    ImageFilter = LazyModule("PIL.ImageFilter")
    likeness = LazyModule("m3bench.tasks.likeness")

Box = tuple[int, int, int, int]

SHADE = 110
"""How far, in red, green and blue together, a mark may be from the colour asked for."""
ASIDE = 45
"""Pixels that a line may run beside the straight one."""
SECTORS = 12
DETAIL = 0.5
"""How much of its detail may be left of a thing that cannot be made out any more."""


class PictureMarked(BaseCheck):
    """A copy of the task's picture has lines between things and rings around things, in a colour."""

    kind: Literal["picture_marked"] = "picture_marked"
    source: str
    """Path of the task's picture in the workspace."""
    pattern: str = "*.png"
    colour: tuple[int, int, int]
    """Red, green and blue."""
    lines: tuple[tuple[Box, Box], ...] = ()
    """Each leads from one thing to another."""
    rings: tuple[Box, ...] = ()
    """Each goes around a thing."""
    bare: tuple[Box, ...] = ()
    """Things that have no ring."""
    labels: tuple[Box, ...] = ()
    """Things that have something in the colour at or beside them."""
    hidden: tuple[Box, ...] = ()
    """Things that cannot be made out any more."""

    @property
    def title(self) -> str:
        """What is checked, in words."""
        return f"the picture has {len(self.lines)} lines and {len(self.rings)} rings"

    def problem(self, evidence: Evidence) -> str | None:
        """What is missing from the drawing."""
        reason = f"there is no {self.pattern} of the same size"
        for source, copy in likeness.copies(evidence.workspace / self.source, evidence.find(self.pattern)):
            shown = sum(not _hidden(source, copy, box) for box in self.hidden)
            if shown:
                reason = f"{shown} of {len(self.hidden)} can still be made out"
                continue
            found = self._lacks(_drawn(source, copy, self.colour))
            if found is None:
                return None
            reason = found
        return reason

    def _lacks(self, drawn: "Mask") -> str | None:
        missing = sum(not _joined(drawn, start, end) for start, end in self.lines)
        if missing:
            return f"{missing} of {len(self.lines)} lines in that colour are missing"
        missing = sum(not _ringed(drawn, box) for box in self.rings)
        if missing:
            return f"{missing} of {len(self.rings)} rings in that colour are missing"
        if any(_ringed(drawn, box) for box in self.bare):
            return "there is a ring around something else"
        missing = sum(not _near(drawn, box) for box in self.labels)
        return f"{missing} of {len(self.labels)} things have no mark in that colour" if missing else None


class PicturePart(BaseCheck):
    """A part of the picture was cut out by eye: wherever the cut lies, it must have most in common with the part."""

    kind: Literal["picture_part"] = "picture_part"
    source: str
    """Path of the task's picture in the workspace."""
    pattern: str = "*.png"
    box: Box
    """Where the part lies in it."""
    overlap: float = 0.5
    """The least intersection over union (IoU) of cut and box."""

    @property
    def title(self) -> str:
        """What is checked, in words."""
        return "a part of the picture is cut out"

    def problem(self, evidence: Evidence) -> str | None:
        """Why no cut is of that part."""
        for path in evidence.find(self.pattern):
            cut = picture_in(path).convert("RGB")
            place = likeness.place_of_part(evidence.workspace / self.source, cut)
            if place is not None and likeness.iou(place, self.box) >= self.overlap:
                return None
        return "no picture shows that part and little else"


class PictureToned(BaseCheck):
    """A picture has no colours, or is all in shades of brown."""

    kind: Literal["picture_toned"] = "picture_toned"
    pattern: str = "*.png"
    tone: Literal["grayscale", "sepia"]

    @property
    def title(self) -> str:
        """What is checked, in words."""
        return f"the picture is in {self.tone}"

    def problem(self, evidence: Evidence) -> str | None:
        """Why no picture is."""
        for path in evidence.find(self.pattern):
            if _tone(picture_in(path).convert("RGB")) == self.tone:
                return None
        return f"it is not in {self.tone}"


def _tone(image: "Image.Image") -> str:
    red, green, blue = np.moveaxis(np.asarray(image, dtype=np.int16), 2, 0)
    if float((np.abs(red - green) + np.abs(green - blue)).mean()) < 8:
        return "grayscale"
    brown = (red >= green) & (green >= blue)
    return "sepia" if float(brown.mean()) > 0.97 and float((red - blue).mean()) > 8 else ""


def _drawn(source: "Image.Image", copy: "Image.Image", colour: tuple[int, int, int]) -> "Mask":
    """Where something in the colour is that was not there before."""
    red, green, blue = ImageChops.difference(source, copy).split()
    found: Mask = np.asarray(ImageChops.lighter(ImageChops.lighter(red, green), blue)) > 24
    after = np.asarray(copy)[found].astype(np.int16)
    found[found] = np.abs(after - np.asarray(colour, dtype=np.int16)).sum(axis=1) <= SHADE
    return found


def _hidden(source: "Image.Image", copy: "Image.Image", box: Box) -> bool:
    """Whether little of the detail in a box is left, however it was taken away."""
    before, after = (_detail(image.crop(box)) for image in (source, copy))
    whole = float((before * before).sum())
    return whole == 0.0 or float((before * after).sum()) <= DETAIL * whole


def _detail(image: "Image.Image") -> "npt.NDArray[np.float32]":
    """What a slight blur takes away."""
    grey = image.convert("L")
    smooth = grey.filter(ImageFilter.GaussianBlur(4))
    return np.asarray(grey, dtype=np.float32) - np.asarray(smooth, dtype=np.float32)


def _joined(drawn: "Mask", start: Box, end: Box) -> bool:
    """Whether a line runs between two boxes; how far it reaches into them is free."""
    (x1, y1), (x2, y2) = _middle(start), _middle(end)
    steps = [number / 40 for number in range(41)]
    points = [(x1 + (x2 - x1) * step, y1 + (y2 - y1) * step) for step in steps]
    between = [point for point in points if not _inside(point, start) and not _inside(point, end)]
    between = between or [points[20]]
    return sum(_any(drawn, x - ASIDE, y - ASIDE, x + ASIDE, y + ASIDE) for x, y in between) >= 0.75 * len(between)


def _ringed(drawn: "Mask", box: Box) -> bool:
    """Whether something goes around a box, as far as the picture reaches."""
    (x, y), wide, tall = _middle(box), (box[2] - box[0]) / 2, (box[3] - box[1]) / 2
    height, width = drawn.shape
    down, across = np.nonzero(drawn)
    aside, below = across - x, down - y
    far = np.hypot(aside / wide, below / tall)
    at = (far >= 0.6) & (np.hypot(aside, below) <= 1.6 * math.hypot(wide, tall) + 40)
    turns = np.floor((np.arctan2(below[at], aside[at]) / math.tau % 1) * SECTORS).astype(int)
    reach = max(wide, tall) + 16
    middles = [math.tau * (sector + 0.5) / SECTORS for sector in range(SECTORS)]
    visible = {
        sector
        for sector, angle in enumerate(middles)
        if 0 <= x + reach * math.cos(angle) < width and 0 <= y + reach * math.sin(angle) < height
    }
    return bool(visible) and len(visible & set(turns.tolist())) >= 0.8 * len(visible)


def _near(drawn: "Mask", box: Box, by: int = 60) -> bool:
    return _any(drawn, box[0] - by, box[1] - by, box[2] + by, box[3] + by)


def _any(drawn: "Mask", left: float, top: float, right: float, bottom: float) -> bool:
    return bool(drawn[max(0, int(top)) : max(0, int(bottom)), max(0, int(left)) : max(0, int(right))].any())


def _middle(box: Box) -> tuple[float, float]:
    return (box[0] + box[2]) / 2, (box[1] + box[3]) / 2


def _inside(point: Sequence[float], box: Box) -> bool:
    return box[0] <= point[0] <= box[2] and box[1] <= point[1] <= box[3]
