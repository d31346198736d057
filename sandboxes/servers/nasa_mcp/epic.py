"""Pictures of the whole Earth by the EPIC camera."""

from collections.abc import Sequence
from typing import cast

from m3bench.sandboxes.gaps import covered
from m3bench.sandboxes.servers.nasa_mcp.answers import RULE, day_of, refusal, server
from m3bench.sandboxes.world.epic import LAST, Collection, Shot, days, shots, was_on

_SHOWN = 10
_DATES_A_LINE = 10
_CAPTION = "The sunlit side of the Earth, seen by the EPIC camera on board the DSCOVR spacecraft"


@server.tool
async def get_epic_imagery(collection: str = "natural") -> str:
    chosen = _collection(collection)
    return _listed("EPIC images found", shots(LAST), chosen)


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
