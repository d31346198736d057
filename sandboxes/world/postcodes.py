"""US ZIP codes: where they are and which post town they belong to."""

from functools import lru_cache
from typing import NamedTuple

from m3bench.sandboxes.world import tables
from m3bench.sandboxes.world.geo import Point
from m3bench.sandboxes.world.search import fold


class ZipCode(NamedTuple):
    """One ZIP code."""

    code: str
    point: Point
    town: str
    state: str


@lru_cache(maxsize=64)
def zip_entry(code: str) -> ZipCode | None:
    """The entry of a five-digit code; None when it is not in use."""
    for record in tables.stream("zips", f'{{"id": "{code[:3]}-'):
        for entry in record["entries"]:
            if entry.startswith(code):
                return _parsed(entry, record["state"])
    return None


@lru_cache(maxsize=64)
def post_town(name: str, state: str) -> ZipCode | None:
    """The first ZIP code of a town in a state; None when there is no such post town."""
    wanted = fold(name)
    for record in tables.stream("zips"):
        if record["state"] == state:
            for entry in record["entries"]:
                if fold(entry.split(" ", 3)[3]) == wanted:
                    return _parsed(entry, state)
    return None


def _parsed(entry: str, state: str) -> ZipCode:
    code, lat, lng, town = entry.split(" ", 3)
    return ZipCode(code, Point(float(lat), float(lng)), town, state)
