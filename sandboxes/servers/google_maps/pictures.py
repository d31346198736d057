"""Tools: static maps and street views as addresses of pictures.

The addresses are those the public server builds, without a key. Nobody can open them offline, so a static map
comes with the picture itself, drawn from the world; of a street there is no picture to give.
"""

import re
from typing import Any
from urllib.parse import urlencode

from m3bench.sandboxes.content import Image
from m3bench.sandboxes.servers.google_maps import drawing, geocoder
from m3bench.sandboxes.servers.google_maps.drawing import Marker, Path
from m3bench.sandboxes.servers.google_maps.wire import LEGACY, server
from m3bench.sandboxes.world import geo
from m3bench.sandboxes.world.geo import Point
from m3bench.tasks.errors import ToolError

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
) -> list[Any]:
    parameters: dict[str, object] = {"size": size, "scale": scale, "maptype": maptype}
    if center is not None:
        parameters["center"] = center
    if zoom is not None:
        parameters["zoom"] = zoom
    parameters |= {f"markers{number}": marker for number, marker in enumerate(markers or [])}
    if path is not None:
        parameters["path"] = path
    wide, high = _pixels(size)
    if maptype not in STYLES:
        raise ToolError(f"Unknown maptype {maptype!r}. Use one of {', '.join(STYLES)}.", outcome="invalid_arguments")
    pins = [pin for text in markers or [] for pin in _markers(text)]
    line = _path(path) if path else None
    middle, level = _view(center, zoom, pins, line, (wide, high))
    picture = drawing.draw(middle, level, (wide, high), maptype, pins, line)
    return [{"image_url": f"{LEGACY}/staticmap?{urlencode(parameters)}"}, Image(picture)]


@server.tool
def street_view_image(
    location: str, size: str = "640x640", heading: int | None = None, pitch: int | None = None, fov: int | None = None
) -> dict[str, Any]:
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
    middle, fitting = drawing.fitting(points, size)
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
    colour = drawing.colour_of(style.get("color", ""), Marker.colour)
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
    colour = drawing.colour_of(style.get("color", ""), Path.colour)
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
