"""The part `pypi` of `nix_releases`: when the versions of the packages that are on PyPI came out.

A distribution follows upstream with a delay and skips releases that come too thickly: a version counts as packaged
some days after its publication, and only when the one before is old enough. Histories of the other packages are
written by hand in the part `written`. Needs the network, unlike anything that runs for a client.
"""

import json
import re
import sys
from collections.abc import Iterator, Sequence
from datetime import date, timedelta
from urllib.request import urlopen

from m3bench.sandboxes.world import clock, tables
from m3bench.sandboxes.world.build.writing import write

DELAY = timedelta(days=6)
GAP = timedelta(days=18)
KEPT = 24
_PLAIN = re.compile(r"\d+(\.\d+)*(\.post\d+)?$")


def main() -> None:
    """Write the table. The first argument is the address of the index's JSON interface."""
    index = sys.argv[1]
    records = []
    for package in tables.load("nix_packages"):
        if "pypi" in package:
            published = sorted((day, version) for version, day in _published(index, package["pypi"]))
            records.append({"attribute": package["attribute"], "versions": _packaged(published)})
    source = "Release dates of the Python Package Index, thinned as a distribution would follow them."
    write("nix_releases/pypi", source, "own selection of public facts", records)


def _packaged(published: Sequence[tuple[date, str]]) -> list[list[str]]:
    """Version and the day it was packaged, newest first."""
    kept: list[tuple[date, str]] = []
    for day, version in published:
        seen = day + DELAY
        if seen > clock.NOW.date() - timedelta(days=2):
            break
        if kept and _rank(version) <= _rank(kept[-1][1]):
            continue
        if kept and seen - kept[-1][0] < GAP:
            if seen - kept[-1][0] < timedelta(days=4):
                kept[-1] = (kept[-1][0], version)
            continue
        kept.append((seen, version))
    return [[version, day.isoformat()] for day, version in reversed(kept[-KEPT:])]


def _rank(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in re.findall(r"\d+", version))


def _published(index: str, name: str) -> Iterator[tuple[str, date]]:
    with urlopen(f"{index}/{name}/json", timeout=60) as answer:
        releases = json.load(answer)["releases"]
    for version, uploads in releases.items():
        if uploads and _PLAIN.match(version):
            yield version, date.fromisoformat(min(upload["upload_time"] for upload in uploads)[:10])


if __name__ == "__main__":
    main()
