"""Draws static maps: ground, roads, towns and sights of the world, then the caller's markers and path."""

import math
from dataclasses import dataclass
from functools import cache
from itertools import pairwise

from PIL import Image, ImageChops, ImageColor

from m3bench.sandboxes.servers.google_maps.view import MapView
from m3bench.sandboxes.world import geo, places, settlements, tables
from m3bench.sandboxes.world.geo import Box, Point
from m3bench.sandboxes.world.settlements import Settlement
from m3bench.sandboxes.world.streets import streets
from m3bench.tasks.drawing.files import png
from m3bench.tasks.drawing.lettering import plain_font, writable
from m3bench.tasks.drawing.sheet import Colour, Sheet

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


def draw(
    centre: Point, zoom: int, size: tuple[int, int], style: str, markers: list[Marker], path: Path | None
) -> bytes:
    """A PNG."""
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
    return png(view.sheet.image)


def fitting(points: list[Point], size: tuple[int, int]) -> tuple[Point, int]:
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
