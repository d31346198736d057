"""The Earth from Landsat 8: which scene shows a point, and when."""

from datetime import date as Day
from urllib.parse import urlencode

from m3bench.sandboxes.servers.nasa_mcp.answers import api_error, day_of, refusal, server
from m3bench.sandboxes.world import clock
from m3bench.sandboxes.world.geo import Point
from m3bench.sandboxes.world.landsat import FIRST_SCENE, Scene, nearest
from m3bench.tasks.errors import SoftError

_DATASET = "LANDSAT/LC08/C02/T1"


@server.tool
async def get_earth_imagery(
    lat: float, lon: float, date: str | None = None, dim: float = 0.025, cloud_score: bool = False
) -> str:
    # As at the public server, `cloud_score` is accepted and makes no difference.
    scene = _scene(lat, lon, date, dim)
    if scene is None:
        where = f"Lat: {lat}, Lon: {lon}, Date: {date or 'latest'}"
        raise SoftError(f"No Landsat 8 imagery available for the specified location and date ({where}).")
    query = urlencode({"lon": lon, "lat": lat, "date": scene.taken.isoformat(), "dim": dim})
    return "\n".join(
        [
            f"Earth image metadata for coordinates: Lat {lat}, Lon {lon}",
            f"Date: {scene.taken}",
            f"ID: {_DATASET}/{scene.id}",
            f"Image URL: https://api.nasa.gov/planetary/earth/imagery?{query}",
            "Cloud score: Not available",
        ]
    )


@server.tool
async def get_earth_assets(lat: float, lon: float, date: str, dim: float = 0.025) -> str:
    scene = _scene(lat, lon, date, dim)
    if scene is None:
        where = f"Lat: {lat}, Lon: {lon}, Date: {date}"
        raise SoftError(f"No Landsat 8 assets found for the specified location and date range ({where}).")
    return "\n".join(
        [
            f"Asset found for coordinates: Lat {lat}, Lon {lon}",
            f"Date (closest): {scene.taken}",
            f"ID: {_DATASET}/{scene.id}",
            f"Dataset: {_DATASET}",
        ]
    )


def _scene(lat: float, lon: float, date: str | None, dim: float) -> Scene | None:
    if not (-90 <= lat <= 90 and -180 <= lon <= 180):
        raise api_error(400, f"lat {lat} and lon {lon} are not on Earth: expected -90..90 and -180..180")
    if not 0 < dim <= 10:
        raise refusal(f"Invalid dim {dim}: expected more than 0 and at most 10 degrees.")
    day = day_of(date, "date") if date else clock.NOW.date()
    return nearest(Point(lat, lon), day) if _is_covered(day) else None


def _is_covered(day: Day) -> bool:
    return FIRST_SCENE <= day <= clock.NOW.date()
