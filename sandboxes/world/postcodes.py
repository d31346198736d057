"""US ZIP codes: where they are and which post town they belong to."""

from functools import cache
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


def zip_entry(code: str) -> ZipCode | None:
    """The entry of a five-digit code; None when it is not in use."""
    for state, entries in _groups().get(code[:3], ()):
        for entry in entries:
            if entry.startswith(code):
                return _parsed(entry, state)
    return None


def post_town(name: str, state: str) -> ZipCode | None:
    """The first ZIP code of a town in a state; None when there is no such post town."""
    entry = _towns().get((fold(name), state))
    return _parsed(entry, state) if entry else None


@cache
def _groups() -> dict[str, list[tuple[str, list[str]]]]:
    groups: dict[str, list[tuple[str, list[str]]]] = {}
    for record in tables.stream("zips"):
        groups.setdefault(record["id"][:3], []).append((record["state"], record["entries"]))
    return groups


@cache
def _towns() -> dict[tuple[str, str], str]:
    towns: dict[tuple[str, str], str] = {}
    for groups in _groups().values():
        for state, entries in groups:
            for entry in entries:
                towns.setdefault((fold(entry.split(" ", 3)[3]), state), entry)
    return towns


def _parsed(entry: str, state: str) -> ZipCode:
    code, lat, lng, town = entry.split(" ", 3)
    return ZipCode(code, Point(float(lat), float(lng)), town, state)
