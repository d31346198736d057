"""Pictures that rovers took on Mars, and the record of their missions."""

from functools import cache
from itertools import islice

from m3bench.sandboxes.gaps import covered
from m3bench.sandboxes.servers.nasa_mcp.answers import RULE, api_error, day_of, refusal, server
from m3bench.sandboxes.world.mars import CAMERAS, Photo, Rover, rovers

_PAGE = 25
_SHOWN = 10
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
    for photo in found[:_SHOWN]:
        lines += ["", *_lines(rover, photo), RULE]
    if len(found) > _SHOWN:
        lines += ["", f"... and {len(found) - _SHOWN} more photos on this page."]
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


def _lines(rover: Rover, photo: Photo) -> list[str]:
    return [
        f"Photo ID: {photo.id}",
        f"Sol: {photo.sol}",
        f"Earth Date: {photo.day}",
        f"Camera: {photo.camera} ({CAMERAS[photo.camera]})",
        f"Image URL: {photo.address}",
        f"Rover: {rover.name} (Status: {rover.status})",
    ]
