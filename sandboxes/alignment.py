"""Image registration: where a picture lies in a scene, by template matching and Gauss-Newton refinement.

Everything here is about brightness on grids: normalised cross-correlation (NCC) by FFT and integral images finds
places, Gauss-Newton steps make them exact to a fraction of a pixel. A scene is known by a thumbnail; a picture that
may be a crop, at any scale, is sampled on the cells of that grid and compared. Nothing here decides whether the two
show the same thing: that is recognition.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from io import BytesIO
from math import ceil, floor, sqrt
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from m3bench.tasks.foreign_files import READABLE
from m3bench.tasks.scene import Box, Scene, grey

Pixels: TypeAlias = NDArray[np.float64]

_LARGEST_VIEW = 2000
"""Longer side, in pixels, to which pictures are reduced before anything else."""
_FLAT = 5.0
"""Standard deviation, in levels of brightness, under which an area counts as having no structure."""


@dataclass(frozen=True, kw_only=True)
class Placement:
    """How a picture lies in a scene: picture pixel = (scene pixel - corner) * scale."""

    left: float = 0.0
    top: float = 0.0
    scale_x: float = 1.0
    scale_y: float = 1.0

    def box(self, box: Box) -> Box:
        """A box of the scene in pixels of the picture, not clipped."""
        left, top = self.point(box[0], box[1])
        right, bottom = self.point(box[2], box[3])
        return (left, top, right, bottom)

    def point(self, x: float, y: float) -> tuple[float, float]:
        """A point of the scene in pixels of the picture."""
        return ((x - self.left) * self.scale_x, (y - self.top) * self.scale_y)

    def back(self, box: Box) -> Box:
        """A box of the picture in pixels of the scene."""
        return (
            box[0] / self.scale_x + self.left,
            box[1] / self.scale_y + self.top,
            box[2] / self.scale_x + self.left,
            box[3] / self.scale_y + self.top,
        )


class PixelGrid:
    """A scene's brightness at one resolution."""

    def __init__(self, image: Image.Image, width: int, height: int) -> None:
        self.pixels: Pixels = np.asarray(image, np.float64)
        self.rows, self.columns = self.pixels.shape
        self.cell = (width / self.columns, height / self.rows)
        """Width and height of a cell in pixels of the scene."""

    @cached_property
    def spectrum(self) -> NDArray[np.complex128]:
        """For correlation."""
        return np.fft.rfft2(self.normalised)

    @cached_property
    def normalised(self) -> Pixels:
        """The pixels as they are compared in a search."""
        return contrast_normalised(self.pixels)

    @cached_property
    def sums(self) -> tuple[Pixels, Pixels]:
        """Integral images of the pixels and of their squares."""
        return (integral_image(self.normalised), integral_image(self.normalised**2))


class Backdrop:
    """A scene as it is searched: its thumbnail at several resolutions."""

    def __init__(self, scene: Scene) -> None:
        self.scene = scene
        self._grids: dict[int, PixelGrid] = {}

    @cached_property
    def thumbnail(self) -> Image.Image:
        """The thumbnail, decoded."""
        with Image.open(BytesIO(self.scene.thumbnail), formats=READABLE) as image:
            return image.convert("L")

    def grid(self, side: int) -> PixelGrid:
        """The scene with that many cells along its longer side, or as many as the thumbnail has."""
        side = min(side, max(self.thumbnail.size))
        if side not in self._grids:
            factor = side / max(self.thumbnail.size)
            size = (max(1, round(self.thumbnail.width * factor)), max(1, round(self.thumbnail.height * factor)))
            small = self.thumbnail.resize(size, Image.Resampling.BILINEAR)
            self._grids[side] = PixelGrid(small, self.scene.width, self.scene.height)
        return self._grids[side]

    def patch(self, box: Box, size: tuple[int, int]) -> Pixels:
        """A part of the scene, sampled to a size."""
        across = self.thumbnail.width / self.scene.width
        down = self.thumbnail.height / self.scene.height
        part = _inside((box[0] * across, box[1] * down, box[2] * across, box[3] * down), self.thumbnail.size)
        return np.asarray(self.thumbnail.resize(size, Image.Resampling.BILINEAR, box=part), np.float64)


class GridSample(NamedTuple):
    """A picture on the cells of a grid, and which cells it covers."""

    pixels: Pixels
    rows: slice
    columns: slice


class Template(NamedTuple):
    """A picture ready for correlation."""

    spectrum: NDArray[np.complex128]
    norm: float
    rows: int
    columns: int


class View:
    """A picture to be found, as an image pyramid: its brightness, and copies at a half, a quarter …"""

    def __init__(self, image: Image.Image) -> None:
        self.width, self.height = image.size
        self._pyramid = [grey(image)]
        factor = ceil(max(image.size) / _LARGEST_VIEW)
        if factor > 1:
            self._pyramid = [self._pyramid[0].reduce(factor)]
        while min(self._pyramid[-1].size) >= 32:
            self._pyramid.append(self._pyramid[-1].reduce(2))
        self._templates: dict[object, Template] = {}

    def template(self, grid: PixelGrid, scale: float, columns: int, rows: int) -> "Template":
        """The picture as it is searched: its first cells on a grid, at a scale."""
        key = (grid.cell, grid.pixels.shape, scale)
        if key not in self._templates:
            box = (0.0, 0.0, columns * grid.cell[0] * scale, rows * grid.cell[1] * scale)
            pixels = contrast_normalised(self.patch(box, (columns, rows)))
            pixels -= pixels.mean()
            spectrum = np.conj(np.fft.rfft2(pixels, s=grid.pixels.shape))
            self._templates[key] = Template(spectrum, sqrt((pixels**2).sum()), rows, columns)
        return self._templates[key]

    @property
    def size(self) -> tuple[int, int]:
        """Width and height of the picture."""
        return (self.width, self.height)

    def patch(self, box: Box, size: tuple[int, int]) -> Pixels:
        """A part of the picture, sampled to a size."""
        copy = next(
            (
                copy
                for copy in reversed(self._pyramid)
                if (box[2] - box[0]) * copy.width / self.width >= 2 * size[0]
                and (box[3] - box[1]) * copy.height / self.height >= 2 * size[1]
            ),
            self._pyramid[0],
        )
        across, down = copy.width / self.width, copy.height / self.height
        part = _inside((box[0] * across, box[1] * down, box[2] * across, box[3] * down), copy.size)
        return np.asarray(copy.resize(size, Image.Resampling.BILINEAR, box=part), np.float64)

    def sample(self, grid: PixelGrid, placement: Placement) -> GridSample | None:
        """The picture on all cells of a grid that lie in it; None when those are too few to say anything."""
        across, down = grid.cell[0] * placement.scale_x, grid.cell[1] * placement.scale_y
        left, top = placement.point(0, 0)
        columns = slice(
            max(0, ceil(-left / across - 0.02)), min(grid.columns, floor((self.width - left) / across + 0.02))
        )
        rows = slice(max(0, ceil(-top / down - 0.02)), min(grid.rows, floor((self.height - top) / down + 0.02)))
        size = (columns.stop - columns.start, rows.stop - rows.start)
        if min(size) < 4:
            return None
        box = (
            columns.start * across + left,
            rows.start * down + top,
            columns.stop * across + left,
            rows.stop * down + top,
        )
        return GridSample(self.patch(box, size), rows, columns)


class Hit(NamedTuple):
    """A place that may be right."""

    correlation: float
    backdrop: Backdrop
    placement: Placement


def search(backdrop: Backdrop, view: View, scale: float, side: int, count: int) -> Iterator[Hit]:
    """The likeliest places of a picture of known scale, best first."""
    grid = backdrop.grid(side)
    columns = min(grid.columns, floor(view.width / scale / grid.cell[0] + 0.02))
    rows = min(grid.rows, floor(view.height / scale / grid.cell[1] + 0.02))
    if min(columns, rows) < 5:
        return
    found = cross_correlate(grid, view.template(grid, scale, columns, rows))
    for _ in range(count):
        row, column = divmod(int(np.argmax(found)), found.shape[1])
        place = Placement(left=column * grid.cell[0], top=row * grid.cell[1], scale_x=scale, scale_y=scale)
        yield Hit(float(found[row, column]), backdrop, place)
        found[max(0, row - 3) : row + 4, max(0, column - 3) : column + 4] = -1


def cross_correlate(grid: PixelGrid, template: Template) -> Pixels:
    """The normalised cross-correlation (NCC) of a template with each place of a grid it fits in, by FFT."""
    rows, columns = template.rows, template.columns
    product = np.fft.irfft2(grid.spectrum * template.spectrum, s=grid.pixels.shape)
    total, squares = (window_sums(sums, rows, columns) for sums in grid.sums)
    spread = np.sqrt(np.maximum(squares - total**2 / (rows * columns), 0)) * template.norm
    found: Pixels = product[: grid.rows - rows + 1, : grid.columns - columns + 1] / (spread + 0.02 * rows * columns)
    return found


def refine(hit: Hit, view: View, side: int, *, scaling: bool) -> Hit | None:
    """A place made exact: Gauss-Newton steps on shift, and on scale where that is free, weighted against outliers.

    None when the place slips out of the scene.
    """
    grid, placement = hit.backdrop.grid(side), hit.placement
    for _ in range(8):
        sample = view.sample(grid, placement)
        if sample is None:
            return None
        shift, stretch = _step(grid, sample, scaling=scaling)
        placement = _moved(placement, grid, sample, shift, stretch)
        if max(np.abs(shift).max(), np.abs(stretch).max() * max(sample.pixels.shape)) < 0.03:
            break
    return weigh(hit.backdrop, view, placement, side)


def weigh(backdrop: Backdrop, view: View, placement: Placement, side: int) -> Hit | None:
    """A place with the correlation that a picture has there; None when there is too little to compare."""
    grid = backdrop.grid(side)
    sample = view.sample(grid, placement)
    if sample is None:
        return None
    return Hit(correlation(grid.pixels[sample.rows, sample.columns], sample.pixels), backdrop, placement)


def _step(grid: PixelGrid, sample: GridSample, *, scaling: bool) -> tuple[Pixels, Pixels]:
    """How far, in cells and in relative size, the sample should move."""
    scene, seen = contrast_normalised(grid.pixels[sample.rows, sample.columns]), contrast_normalised(sample.pixels)
    down, right = np.gradient(scene)
    terms = [right, down]
    if scaling:
        rows, columns = scene.shape
        terms.append(right * (np.arange(columns) - (columns - 1) / 2)[None, :])
        terms.append(down * (np.arange(rows) - (rows - 1) / 2)[:, None])
    matrix = np.stack([term.ravel() for term in terms])
    error = (seen - scene).ravel()
    weighted = matrix * _robust_weights(error, 0.1)
    normal = weighted @ matrix.T
    normal[np.diag_indices_from(normal)] *= 1 + 1e-4
    normal[np.diag_indices_from(normal)] += 1e-6
    solution = np.linalg.solve(normal, weighted @ error)
    stretch = np.clip(solution[2:4], -0.08, 0.08) if scaling else np.zeros(2)
    return np.clip(solution[:2], -2, 2), stretch


def _moved(placement: Placement, grid: PixelGrid, sample: GridSample, shift: Pixels, stretch: Pixels) -> Placement:
    middle = (sample.columns.start + sample.columns.stop) / 2, (sample.rows.start + sample.rows.stop) / 2
    return Placement(
        left=float(placement.left * (1 + stretch[0]) + (shift[0] - stretch[0] * middle[0]) * grid.cell[0]),
        top=float(placement.top * (1 + stretch[1]) + (shift[1] - stretch[1] * middle[1]) * grid.cell[1]),
        scale_x=float(placement.scale_x / (1 + stretch[0])),
        scale_y=float(placement.scale_y / (1 + stretch[1])),
    )


def fit_brightness(scene: Pixels, seen: Pixels) -> tuple[float, float]:
    """Gain and offset that turn the scene's brightness into the picture's, found past what was drawn over."""
    gain, offset = 1.0, float(np.median(seen - scene))
    for _ in range(5):
        weights = _robust_weights(seen - gain * scene - offset, 3.0)
        total = weights.sum()
        scene_mean, seen_mean = (weights * scene).sum() / total, (weights * seen).sum() / total
        centred = weights * (scene - scene_mean)
        gain = float((centred * (seen - seen_mean)).sum() / ((centred * (scene - scene_mean)).sum() + 1e-9))
        offset = float(seen_mean - gain * scene_mean)
    return gain, offset


def _robust_weights(error: Pixels, least: float) -> Pixels:
    """Geman-McClure weights, which fall from 1 to 0 as errors grow beyond what is usual among them."""
    width = 2 * max(least, 1.5 * float(np.median(np.abs(error))))
    weights: Pixels = 1 / (1 + (error / width) ** 2) ** 2
    return weights


def correlation(first: Pixels, second: Pixels) -> float:
    """The normalised cross-correlation (NCC) of two equally large areas."""
    first, second = first - first.mean(), second - second.mean()
    spread = sqrt((first**2).sum() * (second**2).sum())
    return float((first * second).sum() / (spread + _FLAT**2 * first.size))


def contrast_normalised(values: Pixels) -> Pixels:
    """Local contrast normalisation: brightness against its surroundings, which evens out light and strong strokes."""
    reach = 3
    padded = np.pad(values, reach, mode="edge")
    size = 2 * reach + 1
    mean = window_sums(integral_image(padded), size, size) / size**2
    squares = window_sums(integral_image(padded**2), size, size) / size**2
    spread = np.sqrt(np.maximum(squares - mean**2, 0))
    found: Pixels = (values - mean) / (spread + _FLAT)
    return found


def integral_image(values: Pixels) -> Pixels:
    """The integral image (summed-area table): sums over all above and to the left, after a row and column of zeros."""
    sums = np.zeros((values.shape[0] + 1, values.shape[1] + 1))
    np.cumsum(values, axis=0, out=sums[1:, 1:])
    np.cumsum(sums[1:, 1:], axis=1, out=sums[1:, 1:])
    return sums


def window_sums(sums: Pixels, rows: int, columns: int) -> Pixels:
    """Sums over every window of a size, from an integral image: four values each."""
    found: Pixels = sums[rows:, columns:] - sums[:-rows, columns:] - sums[rows:, :-columns] + sums[:-rows, :-columns]
    return found


def _inside(box: Box, size: tuple[int, int]) -> Box:
    """A box held inside a picture, never empty."""
    left, top = min(max(0.0, box[0]), size[0] - 0.01), min(max(0.0, box[1]), size[1] - 0.01)
    return (left, top, max(left + 0.01, min(size[0], box[2])), max(top + 0.01, min(size[1], box[3])))
