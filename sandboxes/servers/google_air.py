"""The `google-air` server: the universal air quality index now, ahead and back, and heat-map tiles.

The public server sends the forecast and history services what they refuse, and fails to read its tiles as
JSON; here hours and times are honoured and a tile is an image. Forecasts reach 96 hours ahead and history
30 days back from the world's instant. No API key is shown in failures.
"""

from datetime import UTC, datetime, timedelta
from typing import Any

import numpy as np
from PIL import Image as Picture

from m3bench.sandboxes.content import ImageBlock
from m3bench.sandboxes.toolserver import ToolServer
from m3bench.sandboxes.world import air, geo, settlements
from m3bench.sandboxes.world.air import AirQuality
from m3bench.sandboxes.world.clock import NOW
from m3bench.sandboxes.world.fields import Array
from m3bench.sandboxes.world.geo import Point
from m3bench.tasks.drawing.files import png
from m3bench.tasks.drawing.pixels import ramp, stretched
from m3bench.tasks.errors import ToolError

server = ToolServer("google-air")

BASE = "https://airquality.googleapis.com/v1"
MAX_FORECAST_HOURS = 96
MAX_HISTORY_HOURS = 720
DEFAULT_FORECAST_HOURS = 24
MAX_ZOOM = 16
GRID = 24
"""Points per side at which a tile's air is computed; between them it is smooth."""
PARTS = 64
"""Of an index's unit: what is drawn is rounded to these first and computed with whole numbers from there."""
VEIL = 140
"""How much a tile covers the map below, of 255."""

Colour = tuple[int, int, int]
CATEGORIES = ((80, "Excellent"), (60, "Good"), (40, "Moderate"), (20, "Low"), (0, "Poor"))
UNIVERSAL_COLOURS: tuple[tuple[int, Colour], ...] = (
    (0, (128, 0, 0)),
    (20, (255, 0, 0)),
    (40, (255, 140, 0)),
    (60, (255, 255, 0)),
    (80, (132, 207, 51)),
    (100, (0, 158, 58)),
)
INDIGO: tuple[tuple[int, Colour], ...] = (
    (0, (73, 0, 33)),
    (20, (168, 3, 65)),
    (40, (220, 110, 130)),
    (60, (200, 200, 232)),
    (80, (102, 134, 206)),
    (100, (30, 60, 160)),
)
US_COLOURS: tuple[tuple[int, Colour], ...] = (
    (0, (0, 228, 0)),
    (50, (140, 236, 0)),
    (75, (255, 255, 0)),
    (125, (255, 126, 0)),
    (175, (255, 0, 0)),
    (250, (143, 63, 151)),
    (400, (126, 0, 35)),
)
MAP_TYPES = {
    "UNIVERSAL_AQI": UNIVERSAL_COLOURS,
    "UAQI_RED_GREEN": UNIVERSAL_COLOURS,
    "UAQI_INDIGO_PERSIAN": INDIGO,
    "PM25_INDIGO_PERSIAN": INDIGO,
    "GBR_DEFRA": UNIVERSAL_COLOURS,
    "DEU_UBA": UNIVERSAL_COLOURS,
    "CAN_EC": UNIVERSAL_COLOURS,
    "FRA_ATMO": UNIVERSAL_COLOURS,
    "US_AQI": US_COLOURS,
}


@server.tool
def current_conditions(lat: float, lng: float) -> dict[str, object]:
    point = _point(lat, lng, f"{BASE}/currentConditions:lookup")
    return {"dateTime": _stamp(NOW), "regionCode": _region(point), "indexes": [_index(air.air(point, NOW))]}


@server.tool
def forecast(lat: float, lng: float, hours: int | None = None) -> dict[str, object]:
    endpoint = f"{BASE}/forecast:lookup"
    point = _point(lat, lng, endpoint)
    count = DEFAULT_FORECAST_HOURS if hours is None else hours
    if not 1 <= count <= MAX_FORECAST_HOURS:
        raise _refused(endpoint, f"hours must be 1 to {MAX_FORECAST_HOURS}, not {count}")
    moments = [NOW + timedelta(hours=ahead) for ahead in range(1, count + 1)]
    return {"hourlyForecasts": [_hour(point, moment) for moment in moments], "regionCode": _region(point)}


@server.tool
def history(lat: float, lng: float, startTime: str, endTime: str) -> dict[str, object]:
    endpoint = f"{BASE}/history:lookup"
    point = _point(lat, lng, endpoint)
    start, end = _moment(startTime, endpoint), _moment(endTime, endpoint)
    earliest = NOW - timedelta(hours=MAX_HISTORY_HOURS)
    if not earliest <= start <= end <= NOW:
        span = f"{_stamp(earliest)} … {_stamp(NOW)}"
        raise _refused(endpoint, f"startTime and endTime must be in order and within {span}")
    first = start.replace(minute=0, second=0, microsecond=0) + timedelta(hours=1 if start.minute or start.second else 0)
    count = max(0, int((end - first).total_seconds() // 3600) + 1)
    # The newest hour comes first, as the service lists them.
    moments = [first + timedelta(hours=number) for number in reversed(range(count))]
    return {"hoursInfo": [_hour(point, moment) for moment in moments], "regionCode": _region(point)}


@server.tool
def heatmap_tile(z: int, x: int, y: int, indexType: str = "UNIVERSAL_AQI") -> ImageBlock:
    endpoint = f"{BASE}/mapTypes/{indexType}/heatmapTiles/{z}/{x}/{y}"
    if indexType not in MAP_TYPES:
        raise _refused(endpoint, f"indexType must be one of {', '.join(MAP_TYPES)}")
    if not 0 <= z <= MAX_ZOOM:
        raise _refused(endpoint, f"z must be 0 to {MAX_ZOOM}, not {z}")
    if not (0 <= x < 2**z and 0 <= y < 2**z):
        raise _refused(endpoint, f"x and y must be 0 to {2**z - 1} at zoom {z}")
    return ImageBlock(_tile(z, x, y, indexType))


def _tile(zoom: int, column: int, row: int, kind: str) -> bytes:
    steps = np.linspace(-0.5 / GRID, 1 + 0.5 / GRID, GRID + 2)
    lngs = (column + steps) / 2**zoom * 360 - 180
    lats = np.round(np.degrees(np.arcsin(np.tanh((0.5 - (row + steps) / 2**zoom) * 2 * np.pi))), 9)
    grid_lats, grid_lngs = np.meshgrid(lats, lngs, indexing="ij")
    pm25 = air.pm25_field(grid_lats.ravel(), _wrapped(grid_lngs.ravel()), NOW).reshape(grid_lats.shape)
    values = air.us_aqi(pm25) if kind == "US_AQI" else air.universal_aqi(pm25)
    size = round(geo.TILE_PX * (GRID + 2) / GRID)
    fine = stretched(np.round(values * PARTS).astype(np.int64), size, size)
    off = (size - geo.TILE_PX) // 2
    fine = fine[off : off + geo.TILE_PX, off : off + geo.TILE_PX]
    levels, colours = zip(*MAP_TYPES[kind], strict=True)
    shades = [(ramp(fine, levels, [colour[part] for colour in colours], PARTS) + 128) // 256 for part in range(3)]
    pixels = np.stack([*shades, np.full(fine.shape, VEIL)], axis=-1)
    return png(Picture.fromarray(pixels.astype(np.uint8)))


def _wrapped(lngs: Array) -> Array:
    """Longitudes in [-180, 180)."""
    return np.asarray((lngs + 180) % 360 - 180)


def _hour(point: Point, moment: datetime) -> dict[str, object]:
    return {"dateTime": _stamp(moment), "indexes": [_index(air.air(point, moment))]}


def _index(found: AirQuality) -> dict[str, Any]:
    category = next(name for least, name in CATEGORIES if found.index >= least)
    return {
        "code": "uaqi",
        "displayName": "Universal AQI",
        "aqi": found.index,
        "aqiDisplay": str(found.index),
        "color": _colour(found.index),
        "category": f"{category} air quality",
        "dominantPollutant": found.dominant,
    }


def _colour(index: int) -> dict[str, float]:
    """Fractions of red, green and blue; those that are zero are left out, as in Google's JSON."""
    levels, colours = zip(*UNIVERSAL_COLOURS, strict=True)
    parts = {
        name: round(float(np.interp(index, levels, [colour[part] for colour in colours])) / 255, 7)
        for part, name in enumerate(("red", "green", "blue"))
    }
    return {name: value for name, value in parts.items() if value}


def _region(point: Point) -> str:
    place = settlements.nearest(point, 400_000)
    return place.country.lower() if place else "zz"


def _point(lat: float, lng: float, endpoint: str) -> Point:
    if not (-90 <= lat <= 90 and -180 <= lng <= 180):
        raise _refused(endpoint, "lat must be -90 to 90 and lng -180 to 180")
    return Point(float(lat), float(lng))


def _moment(text: str, endpoint: str) -> datetime:
    try:
        moment = datetime.fromisoformat(text.strip())
    except ValueError:
        raise _refused(endpoint, f"{text!r} is not an ISO 8601 time such as 2025-10-31T08:00:00Z") from None
    return moment.astimezone(UTC) if moment.tzinfo else moment.replace(tzinfo=UTC)


def _refused(endpoint: str, problem: str) -> ToolError:
    text = f"Client error '400 Bad Request' for url '{endpoint}': {problem}."
    return ToolError(text, outcome="invalid_arguments")


def _stamp(moment: datetime) -> str:
    return moment.strftime("%Y-%m-%dT%H:%M:%SZ")
