"""Tools: static maps and street views as addresses of pictures, and the drawing of static maps.

The addresses are those the public server builds, without a key. Nobody can open them offline, so a static map comes
with the picture itself, a piece of the Web Mercator map drawn from the world: ground, roads, towns and sights, then the
caller's markers and path. Of a street there is no picture to give.
"""

import math
import re
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from math import cos, radians
from urllib.parse import urlencode

import numpy as np
from PIL import Image, ImageChops, ImageColor, ImageFilter

from m3bench.sandboxes.content import ImageBlock
from m3bench.sandboxes.servers.google_maps import geocoder
from m3bench.sandboxes.servers.google_maps.wire import LEGACY, server
from m3bench.sandboxes.world import fields, geo, land, places, settlements, tables, terrain
from m3bench.sandboxes.world.fields import Array
from m3bench.sandboxes.world.geo import Box, Point
from m3bench.sandboxes.world.settlements import Settlement
from m3bench.sandboxes.world.streets import streets
from m3bench.tasks.drawing.files import png
from m3bench.tasks.drawing.fonts import plain_font, writable
from m3bench.tasks.drawing.pixels import Numbers, ramp, stretched
from m3bench.tasks.drawing.sheet import Colour, Sheet
from m3bench.tasks.errors import ToolError

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
        full = stretched(shades.reshape(size[1], size[0]), wide, high, (self.width, self.height))
        return Image.fromarray(np.clip(full, 0, 255).astype(np.uint8))

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
        bumps = (20 + 900 * wild) * fields.fractal_noise(lngs * fine, lats * fine, 4, 91)
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


TOWN_ZOOM = 6
STREET_ZOOM = 13
SIGHT_ZOOM = 12
MAX_LABELS = 26
GREY: Colour = (96, 96, 100)
PAPER: Colour = (255, 255, 255)


@dataclass(frozen=True)
class Marker:
    """A pin with a letter."""

    point: Point
    colour: Colour = (219, 68, 55)
    label: str = ""


@dataclass(frozen=True)
class Path:
    """A line."""

    points: tuple[Point, ...]
    colour: Colour = (26, 98, 222)
    weight: int = 5


def draw_map(
    centre: Point,
    zoom: int,
    size: tuple[int, int],
    style: str,
    markers: list[Marker],
    path: Path | None,
    scale: int = 1,
) -> bytes:
    """A PNG. A larger scale shows the same with more pixels to each of the size."""
    view = MapView(centre, zoom, *size, style)
    towns = _towns(view)
    _built_up(view, towns, style)
    if style != "satellite":
        _side_streets(view, towns, style)
        _parks(view, style)
        _country_roads(view, towns, style)
        _highways(view, style)
        _streets(view)
        _labels(view, towns, style)
    if path and len(path.points) > 1:
        view.line(list(path.points), path.colour, path.weight)
    for marker in sorted(markers, key=lambda marker: -marker.point.lat):
        _pin(view, marker)
    return png(view.sheet.image.resize((size[0] * scale, size[1] * scale), Image.Resampling.NEAREST))


def fit_view(points: list[Point], size: tuple[int, int]) -> tuple[Point, int]:
    """The centre and the largest zoom at which all points are seen with a margin."""
    box = Box.of(points)
    for zoom in range(17, 0, -1):
        left, top = geo.pixel(Point(box.north, box.west), zoom)
        right, bottom = geo.pixel(Point(box.south, box.east), zoom)
        if right - left <= size[0] * 0.8 and bottom - top <= size[1] * 0.8:
            return geo.unpixel((left + right) / 2, (top + bottom) / 2, zoom), zoom
    return Point((box.south + box.north) / 2, (box.west + box.east) / 2), 1


def colour_of(text: str, default: Colour) -> Colour:
    """A colour by name or as 0xRRGGBB; the default when it is neither."""
    try:
        return ImageColor.getrgb("#" + text[2:8] if text.lower().startswith("0x") else text)[:3]
    except ValueError:
        return default


def _towns(view: MapView) -> list[Settlement]:
    """Settlements on the picture, largest first."""
    box = view.box
    seen = [
        town for town in settlements.settlements() if box.south <= town.point.lat <= box.north and view.sees(town.point)
    ]
    seen.sort(key=lambda town: -town.people)
    least = 0 if view.zoom >= 10 else 20_000 if view.zoom >= 8 else 150_000 if view.zoom >= TOWN_ZOOM else 900_000
    large = [town for town in seen if town.people >= least]
    return large[:220] if len(large) >= 6 else seen[:6]


def _built_up(view: MapView, towns: list[Settlement], style: str) -> None:
    if view.zoom < 7 or style == "terrain":
        return
    outlines = []
    for town in towns[:90]:
        radius = 0.6 * town.radius_m / view.metres_per_px
        if radius > 2:
            x, y = view.place(town.point)
            turn = town.people % 7
            angles = [step * math.tau / 40 for step in range(40)]
            outlines.append(
                [
                    (x + radius * k * math.cos(angle), y + radius * k * math.sin(angle))
                    for angle in angles
                    for k in (0.85 + 0.1 * math.sin(3 * angle + turn) + 0.05 * math.sin(7 * angle),)
                ]
            )
    view.patches(outlines, (232, 228, 219) if style == "roadmap" else (116, 114, 106))


def _side_streets(view: MapView, towns: list[Settlement], style: str) -> None:
    """A web of nameless streets in the towns, to tell built-up land from fields."""
    if view.zoom < STREET_ZOOM or style != "roadmap" or not towns:
        return
    web = Image.new("L", (view.width, view.height))
    sheet = Sheet(web)
    spacing = 170 / view.metres_per_px
    x0, y0 = view.place(towns[0].point)
    reach = view.width + view.height
    for number in range(-int(reach / spacing), int(reach / spacing) + 1):
        for turn in (0.31, 0.31 + math.pi / 2):
            along, across = (math.cos(turn), math.sin(turn)), (-math.sin(turn), math.cos(turn))
            jolt = spacing * (number + 0.28 * math.sin(1.9 * number + turn))
            x, y = (
                x0 % spacing + view.width / 2 + across[0] * jolt,
                y0 % spacing + view.height / 2 + across[1] * jolt,
            )
            far, high = reach * along[0], reach * along[1]
            sheet.line([(x - far, y - high), (x + far, y + high)], 255, 2)
    view.sheet.image.paste((248, 246, 241), (0, 0), ImageChops.multiply(web, view.shore))


def _parks(view: MapView, style: str) -> None:
    if view.zoom < SIGHT_ZOOM or style == "hybrid":
        return
    for place in places.places():
        if "park" in place.types and view.sees(place.point):
            x, y = view.place(place.point)
            radius = 380 / view.metres_per_px
            edges = (x - radius, y - 0.7 * radius, x + radius, y + 0.7 * radius)
            view.sheet.box(*edges, (200, 226, 186), corner=radius / 3)


def _country_roads(view: MapView, towns: list[Settlement], style: str) -> None:
    """Each town joined to its nearest neighbours on the picture."""
    if not 8 <= view.zoom <= 13:
        return
    pairs: set[tuple[int, int]] = set()
    near = [view.place(town.point) for town in towns[:60]]
    for number, (x, y) in enumerate(near):
        others = sorted(((x - u) ** 2 + (y - v) ** 2, other) for other, (u, v) in enumerate(near) if other != number)
        pairs |= {(min(number, other), max(number, other)) for square, other in others[:2] if square < 300**2}
    lines = [_bent(near[a], near[b]) for a, b in sorted(pairs)]
    if style == "roadmap":
        for line in lines:
            view.sheet.line(line, (214, 208, 198), 4)
    for line in lines:
        view.sheet.line(line, (206, 202, 194) if style == "hybrid" else PAPER, 2)


def _bent(a: tuple[float, float], b: tuple[float, float]) -> list[tuple[float, float]]:
    middle = ((a[0] + b[0]) / 2 + 0.08 * (b[1] - a[1]), (a[1] + b[1]) / 2 - 0.08 * (b[0] - a[0]))
    return [a, middle, b]


def _highways(view: MapView, style: str) -> None:
    if view.zoom < 5:
        return
    width = 2 if view.zoom < 9 else 4 if view.zoom < 12 else 6
    for _, line in _lines():
        if not any(view.sees(point, 1500) for point in line):
            continue
        for a, b in pairwise(line):
            view.line([a, b], (226, 172, 76), width + 2)
        for a, b in pairwise(line):
            view.line([a, b], (252, 214, 126), width)


def _streets(view: MapView) -> None:
    if view.zoom < STREET_ZOOM:
        return
    for street in streets():
        if view.sees(street.middle, 200):
            half = street.length / 2
            ends = [geo.destination(street.middle, street.bearing, far) for far in (-half, half)]
            view.line(ends, (214, 208, 200), 7)
            view.line(ends, PAPER, 5)


def _labels(view: MapView, towns: list[Settlement], style: str) -> None:
    halo: Colour = (20, 24, 30) if style == "hybrid" else PAPER
    ink: Colour = (250, 250, 250) if style == "hybrid" else (58, 58, 64)
    taken: list[tuple[float, float, float, float]] = []
    for town in towns:
        if len(taken) >= MAX_LABELS:
            break
        size = 20 if town.people > 2_000_000 else 16 if town.people > 400_000 else 13 if town.people > 60_000 else 11
        _label(view, view.place(town.point), town.name, size, ink, halo, taken)
    if view.zoom >= STREET_ZOOM:
        for street in streets():
            if view.sees(street.middle):
                _label(view, view.place(street.middle), street.name, 11, GREY, PAPER, taken)
    if view.zoom >= SIGHT_ZOOM:
        for place in places.places():
            if place.fame > 0.75 and view.sees(place.point, -10):
                x, y = view.place(place.point)
                if _label(view, (x, y + 12), place.name, 11, (28, 110, 96), halo, taken):
                    view.sheet.oval(x, y, 4, 4, PAPER)
                    view.sheet.oval(x, y, 3, 3, (28, 140, 120))


def _label(
    view: MapView,
    at: tuple[float, float],
    text: str,
    size: int,
    ink: Colour,
    halo: Colour,
    taken: list[tuple[float, float, float, float]],
) -> bool:
    """Write a text around a point unless it would touch another; whether it was written."""
    font, text = plain_font(size), writable(text)
    left, top, right, bottom = font.getbbox(text)
    wide, high = right - left, bottom - top
    x, y = at[0] - wide / 2, at[1] - high / 2
    room = (x - 4, y - 3, x + wide + 4, y + high + 3)
    if room[0] < 0 or room[1] < 0 or room[2] > view.width or room[3] > view.height:
        return False
    if any(room[0] < other[2] and other[0] < room[2] and room[1] < other[3] and other[1] < room[3] for other in taken):
        return False
    taken.append(room)
    view.sheet.text(x - left, y - top, text, font, ink, stroke=2, halo=halo)
    return True


def _pin(view: MapView, marker: Marker) -> None:
    sheet, (x, y) = view.sheet, view.place(marker.point)
    red, green, blue = (part * 13 // 20 for part in marker.colour)
    dark = (red, green, blue)
    sheet.polygon([(x, y), (x - 9, y - 18), (x + 9, y - 18)], dark)
    sheet.polygon([(x, y - 3), (x - 7, y - 17), (x + 7, y - 17)], marker.colour)
    sheet.oval(x, y - 24, 11, 11, dark)
    sheet.oval(x, y - 24, 10, 10, marker.colour)
    if marker.label:
        sheet.text(x, y - 24, marker.label[:1], plain_font(14), PAPER, anchor="mm")
    else:
        sheet.oval(x, y - 24, 4, 4, dark)


@cache
def _lines() -> tuple[tuple[str, tuple[Point, ...]], ...]:
    return tuple(
        (record["name"], tuple(Point(lat, lng) for lat, lng in record["line"])) for record in tables.load("highways")
    )


SCALES = (1, 2)
STYLES = ("roadmap", "satellite", "terrain", "hybrid")
MAX_PX = 640
MAX_ZOOM = 20
DEFAULT_ZOOM = 12
_SIZE = re.compile(r"(\d{1,4})x(\d{1,4})")


@server.tool
def static_map(
    center: str | None = None,
    zoom: int | None = None,
    size: str = "640x640",
    markers: list[str] | None = None,
    path: str | None = None,
    scale: int = 2,
    maptype: str = "roadmap",
) -> list[object]:
    parameters: dict[str, object] = {"size": size, "scale": scale, "maptype": maptype}
    if center is not None:
        parameters["center"] = center
    if zoom is not None:
        parameters["zoom"] = zoom
    parameters |= {f"markers{number}": marker for number, marker in enumerate(markers or [])}
    if path is not None:
        parameters["path"] = path
    wide, high = _pixels(size)
    if scale not in SCALES:
        raise ToolError(f"scale must be 1 or 2, not {scale}.", outcome="invalid_arguments")
    if maptype not in STYLES:
        raise ToolError(f"Unknown maptype {maptype!r}. Use one of {', '.join(STYLES)}.", outcome="invalid_arguments")
    pins = [pin for text in markers or [] for pin in _markers(text)]
    line = _path(path) if path else None
    middle, level = _view(center, zoom, pins, line, (wide, high))
    picture = draw_map(middle, level, (wide, high), maptype, pins, line, scale)
    return [{"image_url": f"{LEGACY}/staticmap?{urlencode(parameters)}"}, ImageBlock(picture)]


@server.tool
def street_view_image(
    location: str, size: str = "640x640", heading: int | None = None, pitch: int | None = None, fov: int | None = None
) -> dict[str, object]:
    _pixels(size)
    parameters: dict[str, object] = {"size": size, "location": location}
    for name, value in (("heading", heading), ("pitch", pitch), ("fov", fov)):
        if value is not None:
            parameters[name] = value
    return {"image_url": f"{LEGACY}/streetview?{urlencode(parameters)}"}


def _pixels(size: str) -> tuple[int, int]:
    match = _SIZE.fullmatch(size.strip())
    if match is None or 0 in (wide := int(match[1]), high := int(match[2])):
        raise ToolError(f"size must be WIDTHxHEIGHT such as 640x640, not {size!r}.", outcome="invalid_arguments")
    return min(wide, MAX_PX), min(high, MAX_PX)


def _view(
    center: str | None, zoom: int | None, pins: list[Marker], line: Path | None, size: tuple[int, int]
) -> tuple[Point, int]:
    """What the map shows: what was asked for, or all that is on it."""
    points = [pin.point for pin in pins] + list(line.points if line else ())
    if zoom is not None and not 0 <= zoom <= MAX_ZOOM + 2:
        raise ToolError(f"zoom must be 0 to {MAX_ZOOM + 2}, not {zoom}.", outcome="invalid_arguments")
    if center is not None:
        return _position(center), DEFAULT_ZOOM if zoom is None else min(zoom, MAX_ZOOM)
    if not points:
        raise ToolError("A map needs a center, markers or a path.", outcome="invalid_arguments")
    middle, fitting = fit_view(points, size)
    if zoom is None:
        return middle, min(fitting, 15 if len(points) == 1 else MAX_ZOOM)
    return middle, min(zoom, MAX_ZOOM)


def _position(text: str) -> Point:
    point = geocoder.coordinates(text)
    if point is not None:
        return point
    found = geocoder.geocode(text.strip()) if text.strip() else ()
    if not found:
        raise ToolError(
            f"No place answers to {text!r}. Give an address or 'lat,lng'.",
            outcome="gap" if any(character.isalpha() for character in text) else "not_found",
        )
    return found[0].point


def _markers(text: str) -> list[Marker]:
    """The pins of a spec such as `color:blue|label:S|40.7,-74.0|Times Square`."""
    style, places = _split(text)
    colour = colour_of(style.get("color", ""), Marker.colour)
    return [Marker(_position(place), colour, style.get("label", "").upper()) for place in places]


def _path(text: str) -> Path:
    """The line of a spec such as `color:0x0000ff|weight:5|40.7,-74.0|40.8,-73.9` or `enc:…`."""
    style, places = _split(text)
    points: list[Point] = []
    for place in places:
        if place.startswith("enc:"):
            try:
                points += geo.decode_polyline(place.removeprefix("enc:"))
            except ValueError as error:
                raise ToolError(f"Bad path: {error}.", outcome="invalid_arguments") from error
        else:
            points.append(_position(place))
    weight = style.get("weight", "5")
    colour = colour_of(style.get("color", ""), Path.colour)
    return Path(tuple(points), colour, min(20, int(weight)) if weight.isdigit() else 5)


def _split(text: str) -> tuple[dict[str, str], list[str]]:
    style: dict[str, str] = {}
    places = []
    # An encoded line may itself contain the separator, and stands last.
    head, mark, encoded = text.partition("enc:")
    for part in head.split("|"):
        name, colon, value = part.partition(":")
        if colon and name in ("color", "label", "size", "weight", "fillcolor", "geodesic", "icon", "scale", "anchor"):
            style[name] = value
        elif part.strip():
            places.append(part.strip())
    return style, [*places, mark + encoded] if mark else places
