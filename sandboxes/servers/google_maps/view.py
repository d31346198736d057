"""A picture of a piece of the web-mercator map: the ground, and where points of the globe lie on it."""

from math import cos, radians

import numpy as np
from PIL import Image, ImageChops, ImageFilter

from m3bench.sandboxes.world import fields, geo, land, tables, terrain
from m3bench.sandboxes.world.fields import Array
from m3bench.sandboxes.world.geo import Box, Point
from m3bench.tasks.drawing.pixels import Numbers, ramp, stretched
from m3bench.tasks.drawing.sheet import Colour, Sheet

LAND: Colour = (243, 240, 232)
WATER: Colour = (170, 211, 236)
DEEP_WATER: Colour = (28, 58, 92)
CELL_PX = 4
COARSE_M = 12_000
HEIGHT_PX = 44
RELIEF_PX = 8
PARTS = 16
"""Of a metre: heights are rounded to these and drawn with whole numbers from there."""

_TERRAIN = (
    (0, 150, 400, 900, 1800, 3000, 4500),
    (
        *((222, 232, 208), (228, 234, 206), (236, 232, 204), (230, 218, 190)),
        *((214, 196, 168), (206, 200, 192), (250, 250, 250)),
    ),
)
_SATELLITE = (
    (0, 200, 700, 1500, 2500, 3800, 4800),
    (
        *((74, 92, 58), (84, 98, 60), (98, 100, 66), (112, 100, 76)),
        *((124, 116, 104), (190, 190, 192), (240, 240, 244)),
    ),
)
"""Heights in metres and the colours of the ground there."""


class MapView:
    """A picture around a centre at a zoom.

    Args:
        centre: What lies in the middle.
        zoom: The zoom of the web map.
        width: Of the picture, in pixels.
        height: Of the picture, in pixels.
        style: roadmap, terrain, satellite or hybrid.
    """

    def __init__(self, centre: Point, zoom: int, width: int, height: int, style: str) -> None:
        self.zoom = zoom
        self.width = width
        self.height = height
        self._world = geo.TILE_PX * 2.0**zoom
        x, y = geo.pixel(centre, zoom)
        self._left, self._top = x - width / 2, y - height / 2
        if self._world >= height:
            self._top = min(max(0.0, self._top), self._world - height)
        self.metres_per_px = round(40_075_017 * cos(radians(centre.lat)) / self._world, 9)
        self.sheet = Sheet(self._ground(style))

    @property
    def box(self) -> Box:
        """What the picture shows."""
        north_west = geo.unpixel(max(0.0, self._left), max(0.0, self._top), self.zoom)
        right = min(self._world, self._left + self.width)
        south_east = geo.unpixel(right, min(self._world, self._top + self.height), self.zoom)
        return Box(south_east.lat, north_west.lng, north_west.lat, south_east.lng)

    def place(self, point: Point) -> tuple[float, float]:
        """Where a point lies on the picture, in the copy of the world nearest to its middle; it may be outside."""
        x, y = geo.pixel(point, self.zoom)
        x -= self._left
        if x - self.width / 2 > self._world / 2:
            x -= self._world
        elif self.width / 2 - x > self._world / 2:
            x += self._world
        return x, y - self._top

    def sees(self, point: Point, margin: float = 0.0) -> bool:
        """Whether a point lies on the picture."""
        x, y = self.place(point)
        return -margin <= x <= self.width + margin and -margin <= y <= self.height + margin

    def line(self, points: list[Point], colour: Colour, width: int) -> None:
        """A line along points."""
        self.sheet.line([self.place(point) for point in points], colour, width)

    def _grid(self, step: float) -> tuple[Array, Array, tuple[int, int]]:
        """Latitudes and longitudes of points every so many pixels, and how many there are (columns, rows)."""
        columns, rows = int(self.width / step) + 2, int(self.height / step) + 2
        xs = self._left + (np.arange(columns) - 0.5) * step
        ys = np.clip(self._top + (np.arange(rows) - 0.5) * step, 0, self._world)
        lngs = (xs / self._world * 360) % 360 - 180
        # A latitude that is a whole number must be one on every machine: much on the ground begins there.
        lats = np.round(np.degrees(np.arcsin(np.tanh((0.5 - ys / self._world) * 2 * np.pi))), 9)
        grid_lats, grid_lngs = np.meshgrid(lats, lngs, indexing="ij")
        return grid_lats.ravel(), grid_lngs.ravel(), (columns, rows)

    def _stretched(self, shades: Numbers, size: tuple[int, int], step: float) -> Image.Image:
        """Shades from 0 to 255 on a grid, smoothly over the whole picture."""
        wide, high = round(size[0] * step), round(size[1] * step)
        full = np.clip(stretched(shades.reshape(size[1], size[0]), wide, high), 0, 255)
        return Image.fromarray(full[: self.height, : self.width].astype(np.uint8))

    def _ground(self, style: str) -> Image.Image:
        # The mask is a kilometre coarse: sampled cell by cell, and rounded between.
        cell = self._world / (360 * land.CELLS)
        step = max(float(CELL_PX), cell)
        lats, lngs, size = self._grid(step)
        # On a map of continents the mask by degrees is fine enough, and a thousand times less to read.
        is_dry = land.inland(lats, lngs) > -0.2 if self.metres_per_px > COARSE_M else land.sea_mask(lats, lngs)
        dry = self._stretched(np.where(is_dry, 255, 0), size, step)
        if step > CELL_PX:
            dry = dry.filter(ImageFilter.BoxBlur(0.55 * step))
        self.shore = dry.point([0] * 118 + [(value - 118) * 11 for value in range(118, 141)] + [255] * 115)
        self._inland_water(Sheet(self.shore))
        deep = style in ("satellite", "hybrid")
        water = Image.new("RGB", (self.width, self.height), DEEP_WATER if deep else WATER)
        ground = Image.new("RGB", (self.width, self.height), LAND) if style == "roadmap" else self._relief(style)
        return Image.composite(ground, water, self.shore)

    def patches(self, outlines: list[list[tuple[float, float]]], colour: Colour) -> None:
        """Colour areas of the land and leave the water as it is."""
        mask = Image.new("L", (self.width, self.height))
        sheet = Sheet(mask)
        for outline in outlines:
            sheet.polygon(outline, 255)
        self.sheet.image.paste(colour, (0, 0), ImageChops.multiply(mask, self.shore))

    def _relief(self, style: str) -> Image.Image:
        lats, lngs, coarse = self._grid(HEIGHT_PX)
        known = np.round(terrain.elevations(lats, lngs) * PARTS).astype(np.int64).reshape(coarse[1], coarse[0])
        lats, lngs, size = self._grid(RELIEF_PX)
        full = (round(coarse[0] * HEIGHT_PX) // RELIEF_PX, round(coarse[1] * HEIGHT_PX) // RELIEF_PX)
        metres = np.pad(stretched(known, *full), ((0, size[1]), (0, size[0])), mode="edge")[: size[1], : size[0]]
        wild = terrain.ruggedness(lats, lngs)
        fine = 24 / max(1e-6, RELIEF_PX * 8 * self.metres_per_px / 111_000) / 24
        bumps = (20 + 900 * wild) * fields.rough(lngs * fine, lats * fine, 4, 91)
        metres = metres + np.round(bumps * PARTS).astype(np.int64).reshape(metres.shape)
        slope_y, slope_x = np.gradient(metres)
        light = np.clip(4096 + np.round((slope_x - slope_y) * (4.5 / PARTS)), 2540, 5325).astype(np.int64)
        heights, tones = _TERRAIN if style == "terrain" else _SATELLITE
        parallel = np.abs(lats)
        dry = np.clip((parallel - 14) / 10, 0, 1) * np.clip((36 - parallel) / 8, 0, 1)
        dryness = np.round(dry * 256).astype(np.int64).reshape(metres.shape)
        channels = []
        for channel in range(3):
            tone = ramp(metres, heights, [colour[channel] for colour in tones], PARTS)
            shades = np.clip((tone + dryness * (22, 14, -8)[channel]) * light // (4096 * 256), 0, 255)
            channels.append(self._stretched(shades, size, RELIEF_PX))
        return Image.merge("RGB", channels)

    def _inland_water(self, sheet: Sheet) -> None:
        """Lakes and rivers, taken out of the land."""
        for record in tables.load("lakes"):
            outline = [Point(lat, lng) for lat, lng in record["outline"]]
            if any(self.sees(point, 2000) for point in outline):
                sheet.polygon([self.place(point) for point in outline], 0)
        for record in tables.load("rivers"):
            line = [Point(lat, lng) for lat, lng in record["line"]]
            if any(self.sees(point, 600) for point in line):
                width = max(1, round(record["width"] / self.metres_per_px))
                corners = [self.place(point) for point in line]
                sheet.line(corners, 0, width)
