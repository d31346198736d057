"""Which known scene a picture shows, and what of it can be seen there.

A picture is known by its hash, or by its content when it was saved anew, resized, cropped, greyed, drawn on
or blurred in places. Places where it may lie are proposed (`alignment`) and then judged here by structural similarity
(SSIM): the objects that should be visible must really look as they do in the scene. So another picture on the same
background is not taken for it, and an object that was painted over is not reported.

A whole picture is also known when it was mirrored, turned or framed. A straightening is a guess how: each is tried, the
one that fits is kept, and points found in the straightened picture are carried back into the copy.
"""

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from hashlib import sha256
from typing import NamedTuple

import numpy as np
from PIL import Image, ImageOps

from m3bench.sandboxes.alignment import (
    Backdrop,
    Hit,
    Pixels,
    Placement,
    View,
    fit_brightness,
    integral_image,
    refine,
    search,
    weigh,
    window_sums,
)
from m3bench.tasks.scene import Box, Keypoint, Scene, SceneObject

Point = tuple[float, float]

MOST_DEGREES = 8
"""How far a picture may be turned by hand; quarter turns are tried too."""
_SAME_COLOUR = 12
"""Steps of brightness in which the colour of a frame may vary."""
_THICKEST = 0.3
"""The share of a side that a frame may take at each edge."""


class Straightening(NamedTuple):
    """A copy made straight."""

    name: str
    """The same for the same way at every size; a size may lack a way that another has."""
    image: Image.Image
    back: Callable[[float, float], Point]
    """From a point of the straight picture to the same one of the copy."""


def straightenings(image: Image.Image) -> Iterator[Straightening]:
    """Everything that a copy may be, the most common first."""
    width, height = image.size
    yield Straightening("mirrored", ImageOps.mirror(image), lambda x, y: (width - x, y))
    if framed := _inside(image):
        yield framed
    for sign in (1, -1):
        for degrees in range(1, MOST_DEGREES + 1):
            yield from _turned(image, sign * degrees)
    yield Straightening(
        "upside down", image.transpose(Image.Transpose.ROTATE_180), lambda x, y: (width - x, height - y)
    )
    yield Straightening("turned right", image.transpose(Image.Transpose.ROTATE_90), lambda x, y: (width - y, x))
    yield Straightening("turned left", image.transpose(Image.Transpose.ROTATE_270), lambda x, y: (y, height - x))
    yield Straightening("flipped", ImageOps.flip(image), lambda x, y: (x, height - y))


def _inside(image: Image.Image) -> Straightening | None:
    """What is inside a frame of one colour."""
    pixels = np.asarray(image.convert("RGB"), np.int16)
    other = (np.abs(pixels - pixels[0, 0]) > _SAME_COLOUR).any(axis=2)
    rows, columns = np.flatnonzero(other.any(axis=1)), np.flatnonzero(other.any(axis=0))
    if not len(rows):
        return None
    left, top, right, bottom = int(columns[0]), int(rows[0]), int(columns[-1]) + 1, int(rows[-1]) + 1
    across, down = max(left, image.width - right), max(top, image.height - bottom)
    if not across + down or across > _THICKEST * image.width or down > _THICKEST * image.height:
        return None
    return Straightening("framed", image.crop((left, top, right, bottom)), lambda x, y: (x + left, y + top))


def _turned(image: Image.Image, degrees: int) -> Iterator[Straightening]:
    """The picture turned back, its corners lost as they were, or whole where the copy was made larger for them."""
    straight = image.rotate(-degrees, Image.Resampling.BILINEAR)
    middle = (image.width / 2, image.height / 2)
    yield Straightening(f"turned by {degrees}", straight, lambda x, y: _around(middle, x, y, degrees))
    angle = math.radians(abs(degrees))
    share = math.cos(angle) ** 2 - math.sin(angle) ** 2
    wide = (image.width * math.cos(angle) - image.height * math.sin(angle)) / share
    tall = (image.height * math.cos(angle) - image.width * math.sin(angle)) / share
    if wide < image.width / 2 or tall < image.height / 2:
        return
    left, top = round((image.width - wide) / 2), round((image.height - tall) / 2)
    part = straight.crop((left, top, image.width - left, image.height - top))
    yield Straightening(f"turned by {degrees}, whole", part, lambda x, y: _around(middle, x + left, y + top, degrees))


def _around(middle: Point, x: float, y: float, degrees: float) -> Point:
    """A point turned about the middle, against the clock as pictures are."""
    angle = math.radians(degrees)
    right, down = x - middle[0], y - middle[1]
    return (
        middle[0] + right * math.cos(angle) + down * math.sin(angle),
        middle[1] - right * math.sin(angle) + down * math.cos(angle),
    )


_COARSE, _MIDDLE, _FINE = 80, 160, 320
"""Cells along the longer side of the grids for searching at any scale, searching at one scale, and judging."""

_SMALLEST_PART = 0.12
"""Share of a scene's area that a crop needs to be found at any scale."""
_SCALE_STEP = 1.06
_COMMON_SCALES = (0.5, 1.5, 2.0, 3.0, 4.0)
"""At these, as at its own scale, smaller crops are found too."""

_ALIKE = 0.5
"""Likeness, from -1 to 1, at which an area counts as showing the same."""
_SEEN = 0.3
"""Share of an object's area that must show the same for the object to be reported."""

_CERTAIN = 1.9
"""The score of a place beyond which no other one is looked for."""

_REMEMBERED = 64


@dataclass(frozen=True, kw_only=True)
class Sighting:
    """A picture that was recognised."""

    scene: Scene
    placement: Placement
    objects: tuple[SceneObject, ...]
    """What can be seen, with boxes and points in pixels of the picture, in the scene's order."""


@dataclass(frozen=True, kw_only=True)
class _Judgement:
    """How well a picture fits a place."""

    kept: float
    """Share of the scene's structure that the picture has."""
    explained: float
    """Share of the picture's structure that the scene has."""
    structure: float
    """How much there was to compare, in windows with something in them."""
    objects: tuple[tuple[SceneObject, float], ...]
    """The objects that should be visible, and the share of each that looks the same."""

    @property
    def score(self) -> float:
        """To choose among places that fit; 2 is perfect."""
        return self.kept + self.explained

    @property
    def fits(self) -> bool:
        """Whether the picture shows the scene; the less there is to go by, the more of it must agree."""
        agreeing = sum(share >= 0.5 for _, share in self.objects)
        if not self.objects:
            return self.structure >= 20 and min(self.kept, self.explained) >= 0.93
        if 2 * agreeing < len(self.objects):
            return False
        if agreeing == 1:
            return self.kept >= 0.8 and self.explained >= 0.6
        return self.kept >= 0.5 and self.explained >= 0.15


class Recogniser:
    """Recognises pictures of some scenes."""

    def __init__(self, scenes: Iterable[Scene]) -> None:
        self._scenes = {scene.sha256: scene for scene in scenes}
        self._backdrops = [Backdrop(scene) for scene in self._scenes.values()]
        self._remembered: dict[str, Sighting | None] = {}

    def recognise(self, file: bytes, image: Image.Image) -> Sighting | None:
        """What a picture shows; None when it is not one of the scenes.

        Args:
            file: The picture's file, for its hash.
            image: The same, decoded and upright.
        """
        name = sha256(file).hexdigest()
        if name in self._scenes:
            scene = self._scenes[name]
            return Sighting(scene=scene, placement=Placement(), objects=scene.objects)
        if name not in self._remembered:
            if len(self._remembered) >= _REMEMBERED:
                self._remembered.clear()
            self._remembered[name] = self._find_any(image) if min(image.size) >= 16 else None
        return self._remembered[name]

    def _find_any(self, image: Image.Image) -> Sighting | None:
        return self._find(View(image)) or self._find_straightened(image)

    def _find_straightened(self, image: Image.Image) -> Sighting | None:
        """What a picture shows when it is made straight, with boxes and points in pixels of the picture as it is."""
        small = image.copy()
        small.thumbnail((_FINE, _FINE))
        fits: dict[str, float] = {}
        for way in straightenings(small):
            _, fit = self._best_frame(View(way.image)) if min(way.image.size) >= 16 else (None, 0.0)
            if fit > 0:
                fits[way.name] = fit
            if fit > _CERTAIN:
                break
        likely = max(fits, key=lambda name: fits[name], default="")
        way_back = next((way for way in straightenings(image) if way.name == likely), None)
        if way_back is None:
            return None
        view = View(way_back.image)
        hit, _ = self._best_frame(view)
        if hit is None:
            return None
        sighting = _sighting(hit, view)
        return replace(sighting, objects=tuple(_bent(item, way_back, image.size) for item in sighting.objects))

    def _best_frame(self, view: View) -> tuple[Hit | None, float]:
        """The scene that a picture shows as a whole, and how well it fits."""
        found, score = None, 0.0
        for hit in _whole_frames(self._backdrops, view):
            judgement = judge(hit, view)
            if judgement is not None and judgement.fits and judgement.score > score:
                found, score = hit, judgement.score
        return found, score

    def _find(self, view: View) -> Sighting | None:
        found, score = None, 0.0
        for propose in _PROPOSERS:
            for hit in propose(self._backdrops, view):
                judgement = judge(hit, view)
                # What is rarer must fit clearly better.
                if judgement is not None and judgement.fits and judgement.score > score + (0.1 if found else 0):
                    found, score = hit, judgement.score
            if score > _CERTAIN:
                break
        return _sighting(found, view) if found is not None else None


def judge(hit: Hit, view: View) -> _Judgement | None:
    """How well a picture fits a place; None when there is too little to compare."""
    backdrop, placement = hit.backdrop, hit.placement
    grid = backdrop.grid(_COARSE)
    sample = view.sample(grid, placement)
    if sample is None:
        return None
    gain, offset = fit_brightness(grid.pixels[sample.rows, sample.columns], sample.pixels)
    if not 0.5 < gain < 2:
        return None
    # A picture of fewer pixels than the grid has cells would only show that it is less sharp.
    whole = max(backdrop.scene.width * placement.scale_x, backdrop.scene.height * placement.scale_y)
    grid = backdrop.grid(min(_FINE, max(40, int(0.8 * whole))))
    sample = view.sample(grid, placement)
    if sample is None or min(sample.pixels.shape) < 8:
        return None
    alike, there, here = _compare(grid.pixels[sample.rows, sample.columns], (sample.pixels - offset) / gain, 8, 4)
    objects = []
    for item in backdrop.scene.objects:
        box = placement.box(item.box)
        part = clip(box, view.size)
        if part is None or 2 * area(part) < area(box):
            continue
        size = _patch_size(part, backdrop, placement)
        scene, seen = backdrop.patch(placement.back(part), size), (view.patch(part, size) - offset) / gain
        same, *weights = _compare(scene, seen, 5, 1)
        objects.append((item, _share(same, np.maximum(*weights) + 0.05)))
    return _Judgement(
        kept=_share(alike, there),
        explained=_share(alike, here),
        structure=float(there.sum()),
        objects=tuple(objects),
    )


def _patch_size(part: Box, backdrop: Backdrop, placement: Placement) -> tuple[int, int]:
    """Cells to compare an object on: at most 16 a side, and not many more than the thumbnail has."""
    width, height = (part[2] - part[0]) / placement.scale_x, (part[3] - part[1]) / placement.scale_y
    density = max(backdrop.thumbnail.size) / max(backdrop.scene.width, backdrop.scene.height)
    longer = max(width, height)
    factor = min(16, max(8, longer * density)) / longer
    return (max(5, round(width * factor)), max(5, round(height * factor)))


def _compare(scene: Pixels, seen: Pixels, size: int, stride: int) -> tuple[Pixels, Pixels, Pixels]:
    """For windows over two areas: their likeness, and how much structure each of the two has there."""

    def means(values: Pixels) -> Pixels:
        found: Pixels = window_sums(integral_image(values), size, size)[::stride, ::stride] / size**2
        return found

    scene_mean, seen_mean = means(scene), means(seen)
    scene_spread = np.maximum(means(scene**2) - scene_mean**2, 0)
    seen_spread = np.maximum(means(seen**2) - seen_mean**2, 0)
    shared = means(scene * seen) - scene_mean * seen_mean
    # Structural similarity; the constant makes flat windows alike, which differ by coding noise alone.
    likeness = (2 * shared + 40) / (scene_spread + seen_spread + 40)
    likeness *= np.exp(-(((scene_mean - seen_mean) / 45) ** 2))
    return likeness, np.minimum(1, scene_spread / 100), np.minimum(1, seen_spread / 100)


def _share(likeness: Pixels, weights: Pixels) -> float:
    return float((weights * (likeness > _ALIKE)).sum() / max(weights.sum(), 1e-9))


def _whole_frames(backdrops: Sequence[Backdrop], view: View) -> Iterator[Hit]:
    """Copies and resized copies, in proportion or not."""
    hits = []
    for backdrop in backdrops:
        scene = backdrop.scene
        placement = Placement(scale_x=view.width / scene.width, scale_y=view.height / scene.height)
        hit = weigh(backdrop, view, placement, _COARSE)
        if hit is not None and 0.5 <= placement.scale_x / placement.scale_y <= 2:
            hits.append(hit)
    yield from _best(hits, 3)


def _parts(backdrops: Sequence[Backdrop], view: View) -> Iterator[Hit]:
    """Crops that kept their scale."""
    hits = [
        hit
        for backdrop in backdrops
        if view.width <= backdrop.scene.width and view.height <= backdrop.scene.height
        for hit in search(backdrop, view, 1.0, _MIDDLE, 2)
    ]
    yield from _refined(_best(hits, 5, 0.3), view, _MIDDLE, scaling=False)


def _scaled_parts(backdrops: Sequence[Backdrop], view: View) -> Iterator[Hit]:
    """Crops that were resized afterwards, in proportion."""
    hits = [
        hit
        for backdrop in backdrops
        for scale in _scales(backdrop.scene, view)
        for hit in search(backdrop, view, scale, _COARSE, 1)
    ]
    yield from _refined(_refined(_best(hits, 8, 0.4), view, _COARSE, scaling=True)[:4], view, _MIDDLE, scaling=True)


def _small_scaled_parts(backdrops: Sequence[Backdrop], view: View) -> Iterator[Hit]:
    """Smaller crops that were resized by a common factor."""
    hits = [
        hit
        for backdrop in backdrops
        for scale in _COMMON_SCALES
        if scale > max(_scales(backdrop.scene, view), default=0)
        for hit in search(backdrop, view, scale, _MIDDLE, 2)
    ]
    yield from _refined(_best(hits, 4, 0.4), view, _MIDDLE, scaling=True)


_PROPOSERS: tuple[Callable[[Sequence[Backdrop], View], Iterator[Hit]], ...] = (
    _whole_frames,
    _parts,
    _scaled_parts,
    _small_scaled_parts,
)
"""From the cheap and common to the costly and rare."""


def _scales(scene: Scene, view: View) -> Iterator[float]:
    """Every scale at which the picture could be a part of the scene of some size."""
    scale = max(view.width / scene.width, view.height / scene.height)
    while scale**2 * _SMALLEST_PART * scene.width * scene.height <= view.width * view.height * _SCALE_STEP**2:
        yield scale
        scale *= _SCALE_STEP


def _best(hits: Iterable[Hit], count: int, least: float = -1.0) -> list[Hit]:
    """The best few, as far as they are worth a closer look: right places measured 0.35 and more, mostly 0.7."""
    return sorted((hit for hit in hits if hit.correlation >= least), key=lambda hit: -hit.correlation)[:count]


def _refined(hits: Iterable[Hit], view: View, side: int, *, scaling: bool) -> list[Hit]:
    """The hits made exact, best first, without those that slipped out of the scene."""
    found = [refine(hit, view, side, scaling=scaling) for hit in hits]
    return _best([hit for hit in found if hit is not None], len(found))


def _sighting(hit: Hit, view: View) -> Sighting:
    """The sighting at a place that fits, with the place made as exact as can be."""
    hit = _exact(hit, view)
    judgement = judge(hit, view)
    seen = [item for item, share in judgement.objects if share >= _SEEN] if judgement is not None else []
    objects = tuple(_carried(item, hit.placement, view) for item in seen)
    return Sighting(scene=hit.backdrop.scene, placement=hit.placement, objects=objects)


def _exact(hit: Hit, view: View) -> Hit:
    """A place that fits, made exact: the whole scene, unless a crop just inside it fits clearly better."""
    scene, placement = hit.backdrop.scene, hit.placement
    if (placement.scale_x, placement.scale_y) != (view.width / scene.width, view.height / scene.height):
        exact = refine(hit, view, _FINE, scaling=placement.scale_x != 1) or hit
        return exact._replace(placement=_snapped(exact.placement, view))
    whole, moved = weigh(hit.backdrop, view, placement, _FINE), hit
    for side in (_COARSE, _MIDDLE, _FINE):
        moved = refine(moved, view, side, scaling=True) or hit
    if whole is not None and 1 - moved.correlation < 0.7 * (1 - whole.correlation):
        return moved._replace(placement=_snapped(moved.placement, view))
    return hit


def _snapped(placement: Placement, view: View) -> Placement:
    """The nearest placement that is a crop along whole pixels, as every crop is."""
    left, top, right, bottom = (round(edge) for edge in placement.back((0, 0, view.width, view.height)))
    return Placement(
        left=left,
        top=top,
        scale_x=view.width / max(1, right - left),
        scale_y=view.height / max(1, bottom - top),
    )


def _carried(item: SceneObject, placement: Placement, view: View) -> SceneObject:
    """An object of the scene in pixels of the picture."""
    box = clip(placement.box(item.box), view.size)
    assert box is not None
    points = tuple(_carried_point(point, placement, view) for point in item.keypoints)
    return replace(item, box=box, keypoints=points)


def _carried_point(point: Keypoint, placement: Placement, view: View) -> Keypoint:
    """A point of the scene in pixels of the picture; one outside is moved to the edge and not visible."""
    x, y = placement.point(point[0], point[1])
    inside = 0 <= x <= view.width and 0 <= y <= view.height
    return (min(max(x, 0.0), view.width), min(max(y, 0.0), view.height), point[2] if inside else 0.0)


def _bent(item: SceneObject, way: Straightening, size: tuple[int, int]) -> SceneObject:
    """An object of a straightened picture in pixels of the picture as it is."""
    left, top, right, bottom = item.box
    corners = [way.back(x, y) for x in (left, right) for y in (top, bottom)]
    across, down = [x for x, _ in corners], [y for _, y in corners]
    box = clip((min(across), min(down), max(across), max(down)), size) or item.box
    points = tuple((*way.back(x, y), seen) for x, y, seen in item.keypoints)
    return replace(item, box=box, keypoints=points)


def clip(box: Box, size: tuple[int, int]) -> Box | None:
    """The part of a box inside a picture; None when there is none."""
    left, top, right, bottom = max(box[0], 0.0), max(box[1], 0.0), min(box[2], size[0]), min(box[3], size[1])
    return (left, top, right, bottom) if left < right and top < bottom else None


def area(box: Box) -> float:
    """Of a box, in square pixels."""
    return (box[2] - box[0]) * (box[3] - box[1])
