"""Pictures: the astronomy picture of the day (APOD), the Earth by EPIC and by Landsat 8, and Mars by its rovers."""

from collections.abc import Sequence
from datetime import date as Day
from datetime import timedelta
from functools import cache
from itertools import islice
from typing import cast
from urllib.parse import urlencode

from m3bench.sandboxes.gaps import covered
from m3bench.sandboxes.servers.nasa_mcp.answers import RULE, api_error, day_of, refusal, server
from m3bench.sandboxes.world import clock, noise
from m3bench.sandboxes.world.apod import FIRST_DAY, LAST_DAY, AstronomyPicture, picture
from m3bench.sandboxes.world.epic import LAST_SHOT_DAY, Collection, Shot, days, shots, was_on
from m3bench.sandboxes.world.geo import Point
from m3bench.sandboxes.world.landsat import FIRST_SCENE, LandsatScene, nearest
from m3bench.sandboxes.world.mars import CAMERAS, Rover, RoverPhoto, rovers
from m3bench.tasks.errors import SoftError

_MOST = 100
_CHOSEN = "(Chosen for this offline world: what the public site showed that day is not held.)"


@server.tool
async def get_astronomy_picture_of_day(date: str | None = None, count: int | None = None, thumbs: bool = False) -> str:
    if count:
        if date:
            raise api_error(400, {"code": 400, "msg": "date and count cannot be combined"})
        if not 1 <= count <= _MOST:
            raise api_error(400, {"code": 400, "msg": f"count must be between 1 and {_MOST}"})
        numbers = noise.generator_of("random pictures", count).sample(range((LAST_DAY - FIRST_DAY).days + 1), count)
        shown = [picture(FIRST_DAY + timedelta(days=number)) for number in numbers]
        return "\n".join(line for entry in shown for line in (*_picture_lines(entry, thumbs), RULE))
    day = day_of(date, "date") if date else LAST_DAY
    if not FIRST_DAY <= day <= LAST_DAY:
        message = f"Date must be between {FIRST_DAY:%b %d, %Y} and {LAST_DAY:%b %d, %Y}."
        raise api_error(400, {"code": 400, "msg": message})
    return "\n".join(_picture_lines(picture(day), thumbs))


def _picture_lines(entry: AstronomyPicture, thumbs: bool) -> list[str]:
    lines = [
        f"Date: {entry.day}",
        f"Title: {entry.title}",
        f"Explanation: {entry.explanation}" + (f" {_CHOSEN}" if entry.chosen else ""),
        f"URL: {entry.address}",
    ]
    return [*lines, f"Thumbnail URL: {entry.thumbnail}"] if thumbs and entry.thumbnail else lines


_SHOWN = 10
_DATES_A_LINE = 10
_CAPTION = "The sunlit side of the Earth, seen by the EPIC camera on board the DSCOVR spacecraft"


@server.tool
async def get_epic_imagery(collection: str = "natural") -> str:
    chosen = _collection(collection)
    return _listed("EPIC images found", shots(LAST_SHOT_DAY), chosen)


@server.tool
async def get_epic_imagery_by_date(date: str, collection: str = "natural") -> str:
    chosen = _collection(collection)
    day = day_of(date, "date")
    found = shots(day)
    if not found:
        return covered(f"No EPIC images available for the specified date ({date}).", not was_on(day))
    return _listed(f"EPIC images found for date {date}", found, chosen)


@server.tool
async def get_epic_dates(collection: str = "natural") -> str:
    chosen = _collection(collection)
    dates = [day.isoformat() for day in days()]
    lines = [f"Available dates for EPIC {chosen} images: {len(dates)}"]
    lines += [", ".join(dates[first : first + _DATES_A_LINE]) for first in range(0, len(dates), _DATES_A_LINE)]
    return "\n".join(lines)


def _listed(title: str, found: Sequence[Shot], collection: Collection) -> str:
    lines = [f"{title}: {len(found)}"]
    for shot in found[:_SHOWN]:
        lines += [
            "",
            f"Identifier: {shot.id}",
            f"Date/Time: {shot.time:%Y-%m-%d %H:%M:%S}",
            f"Caption: {_CAPTION}",
            f"Image Name: {shot.name(collection)}",
            f"Archive URL: {shot.address(collection)}",
            f"Centroid Coordinates: Lat {shot.centre.lat:.6f}, Lon {shot.centre.lng:.6f}",
            RULE,
        ]
    if len(found) > _SHOWN:
        lines += ["", f"... and {len(found) - _SHOWN} more images."]
    return "\n".join(lines)


def _collection(name: str) -> Collection:
    if name not in ("natural", "enhanced"):
        raise refusal("Invalid collection. Available options: natural, enhanced.")
    return cast(Collection, name)


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


def _scene(lat: float, lon: float, date: str | None, dim: float) -> LandsatScene | None:
    if not (-90 <= lat <= 90 and -180 <= lon <= 180):
        raise api_error(400, f"lat {lat} and lon {lon} are not on Earth: expected -90..90 and -180..180")
    if not 0 < dim <= 10:
        raise refusal(f"Invalid dim {dim}: expected more than 0 and at most 10 degrees.")
    day = day_of(date, "date") if date else clock.NOW.date()
    return nearest(Point(lat, lon), day) if _is_covered(day) else None


def _is_covered(day: Day) -> bool:
    return FIRST_SCENE <= day <= clock.NOW.date()


_PAGE = 25
_SHOWN_PHOTOS = 10
_SHOWN_SOLS = 5


@server.tool
async def get_mars_rover_photos(
    rover_name: str,
    sol: int | None = None,
    earth_date: str | None = None,
    camera: str | None = None,
    page: int = 1,
) -> str:
    rover = _rover(rover_name)
    if sol is not None and earth_date is not None:
        raise refusal("Error: Specify either sol or earth_date, but not both.")
    if sol is None and earth_date is None:
        raise refusal("Error: Specify either sol or earth_date.")
    wanted = camera.upper() if camera else None
    if wanted and wanted not in rover.cameras:
        available = ", ".join(rover.cameras)
        raise refusal(f"Invalid camera '{wanted}' for rover '{rover.id}'. Available cameras: {available}")
    if page < 1:
        raise api_error(400, f"page {page} does not exist: pages count from 1")
    asked = sol if sol is not None else rover.sol(day_of(earth_date or "", "earth_date"))
    taken = [] if asked is None else rover.photos(asked)
    found = [photo for photo in taken if wanted in (None, photo.camera)][(page - 1) * _PAGE : page * _PAGE]
    if not found:
        criteria = f"sol={sol}" if sol is not None else f"earth_date={earth_date}"
        criteria += f", camera={wanted}" if wanted else ""
        possible = asked is not None and 0 <= asked <= rover.last_sol and page == 1
        return covered(f"No photos found for rover '{rover.id}' with criteria: {criteria}, page {page}.", not possible)
    lines = [f"Mars Rover Photos for '{rover.id}' (Page {page}): {len(found)} found on this page."]
    for photo in found[:_SHOWN_PHOTOS]:
        lines += ["", *_photo_lines(rover, photo), RULE]
    if len(found) > _SHOWN_PHOTOS:
        lines += ["", f"... and {len(found) - _SHOWN_PHOTOS} more photos on this page."]
    return "\n".join(lines)


@server.tool
async def get_mars_rover_manifest(rover_name: str) -> str:
    rover = _rover(rover_name)
    total, sols = _totals(rover.id)
    lines = [
        f"Mission Manifest for Rover: {rover.name}",
        f"Status: {rover.status}",
        f"Launch Date: {rover.launch}",
        f"Landing Date: {rover.landing}",
        f"Max Sol: {rover.last_sol}",
        f"Max Earth Date: {rover.day(rover.last_sol)}",
        f"Total Photos: {total}",
        "",
        "Photo Summary per Sol (showing latest 5 sols with photos):",
    ]
    latest = list(islice((sol for sol in range(rover.last_sol, -1, -1) if rover.counts(sol)), _SHOWN_SOLS))
    for sol in latest:
        counts = rover.counts(sol)
        lines += [f"  Sol {sol}: {sum(counts.values())} photos", f"    Cameras: {', '.join(counts)}"]
    return "\n".join([*lines, "", f"... and {sols - len(latest)} more sols with photos."])


def _rover(name: str) -> Rover:
    rover = rovers().get(name.lower())
    if rover is None:
        raise refusal(f"Invalid rover name. Available rovers: {', '.join(rovers())}")
    return rover


@cache
def _totals(name: str) -> tuple[int, int]:
    """Pictures of a whole mission, and sols with any."""
    rover = rovers()[name]
    counts = [sum(rover.counts(sol).values()) for sol in range(rover.last_sol + 1)]
    return sum(counts), sum(count > 0 for count in counts)


def _photo_lines(rover: Rover, photo: RoverPhoto) -> list[str]:
    return [
        f"Photo ID: {photo.id}",
        f"Sol: {photo.sol}",
        f"Earth Date: {photo.day}",
        f"Camera: {photo.camera} ({CAMERAS[photo.camera]})",
        f"Image URL: {photo.address}",
        f"Rover: {rover.name} (Status: {rover.status})",
    ]
