"""The astronomy picture of the day."""

from datetime import timedelta

from m3bench.sandboxes.servers.nasa_mcp.answers import RULE, api_error, day_of, server
from m3bench.sandboxes.world import noise
from m3bench.sandboxes.world.pictures import FIRST, LAST, Picture, picture

_MOST = 100
_CHOSEN = "(Chosen for this offline world: what the public site showed that day is not held.)"


@server.tool
async def get_astronomy_picture_of_day(date: str | None = None, count: int | None = None, thumbs: bool = False) -> str:
    if count:
        if date:
            raise api_error(400, {"code": 400, "msg": "date and count cannot be combined"})
        if not 1 <= count <= _MOST:
            raise api_error(400, {"code": 400, "msg": f"count must be between 1 and {_MOST}"})
        numbers = noise.generator_of("random pictures", count).sample(range((LAST - FIRST).days + 1), count)
        shown = [picture(FIRST + timedelta(days=number)) for number in numbers]
        return "\n".join(line for entry in shown for line in (*_lines(entry, thumbs), RULE))
    day = day_of(date, "date") if date else LAST
    if not FIRST <= day <= LAST:
        message = f"Date must be between {FIRST:%b %d, %Y} and {LAST:%b %d, %Y}."
        raise api_error(400, {"code": 400, "msg": message})
    return "\n".join(_lines(picture(day), thumbs))


def _lines(entry: Picture, thumbs: bool) -> list[str]:
    lines = [
        f"Date: {entry.day}",
        f"Title: {entry.title}",
        f"Explanation: {entry.explanation}" + (f" {_CHOSEN}" if entry.chosen else ""),
        f"URL: {entry.address}",
    ]
    return [*lines, f"Thumbnail URL: {entry.thumbnail}"] if thumbs and entry.thumbnail else lines
