"""Packages, the programs in them, NixOS options, channels and version histories: search and exact lookup.

An identifier such as `pillow_simd` is one thing to look for: a package must match all its parts. Of several words some
may match. Attribute sets (`python313Packages`) are searched but not shown, as on the public server; beyond it, a lookup
also takes an attribute where that differs from the name.

A version history says when a version was packaged; a channel is a day up to which history counts. `beta` is another
name of `stable`, as on the public server. 25.11 is not released yet and equals the branch it comes from. A version was
last seen the day before the next one was packaged; the commit of a day is the same for every package. Commit hashes are
made up: they identify a day, not a real commit.

Failures are plain text, `Error (<CODE>): <message>`, in an ordinary result.
"""

import re
from collections.abc import Mapping, Sequence
from datetime import date, timedelta
from functools import cache
from typing import NamedTuple

from m3bench.sandboxes.gaps import covered
from m3bench.sandboxes.world import clock, noise, tables
from m3bench.sandboxes.world.search import SearchIndex, both, fold
from m3bench.sandboxes.world.tables import Record
from m3bench.tasks.errors import Failure, SoftError

_OPTION = re.compile(r"[\w<>*-]+(\.[\w<>*\"@/:+-]+)*")


def failure(
    message: str,
    code: str = "ERROR",
    *,
    outcome: Failure = "not_found",
) -> SoftError:
    """The error to raise, with the text the client reads."""
    return SoftError(f"Error ({code}): {message}", outcome=outcome)


def absent_option(name: str) -> Failure:
    """How it ends when an option is not held: a gap of the world, unless no option can have that name."""
    return "gap" if _OPTION.fullmatch(name.strip()) else "not_found"


def check_limit(limit: int, most: int, message: str) -> None:
    """Refuse a number of results outside 1 … most."""
    if not 1 <= limit <= most:
        raise failure(message, outcome="invalid_arguments")


Package = Record

STABLE = "25.05"
CHANNELS = {
    "unstable": clock.NOW.date(),
    "stable": date(2025, 5, 20),
    STABLE: date(2025, 5, 20),
    "25.11": date(2025, 10, 25),
    "beta": date(2025, 5, 20),
}
"""Channel to the last day whose versions it has."""

_INDEX = "latest-44-nixos-"


class Release(NamedTuple):
    """One version in the history of a package."""

    version: str
    packaged: date


@cache
def histories() -> Mapping[str, Sequence[Release]]:
    """Attribute to releases, newest first."""
    return {
        record["attribute"]: tuple(Release(version, date.fromisoformat(day)) for version, day in record["versions"])
        for record in tables.load("nix_releases")
    }


def version_in(package: Package, channel: str) -> str | None:
    """The version a channel carries, or None when it does not have the package."""
    last = CHANNELS[channel]
    releases = histories()[package["attribute"]]
    return next((release.version for release in releases if release.packaged <= last), None)


def index_name(channel: str) -> str:
    """The search index behind a channel."""
    return _INDEX + (channel if channel in {"unstable", "25.11"} else STABLE)


def check_channel(channel: str) -> None:
    """Refuse a channel that does not exist, naming those that may be meant."""
    if channel in CHANNELS:
        return
    asked = channel.lower()
    near = [name for name in CHANNELS if asked in name or name in asked] if asked else []
    shown = near or ["unstable", "stable", "beta", STABLE, "25.11"]
    raise failure(f"Invalid channel '{channel}'. Available channels: {', '.join(shown)}", outcome="invalid_arguments")


Option = Record

_WEIGHTS = {"name": 3.0, "attribute": 2.0, "description": 1.0, "terms": 1.2}
_WHOLE = 0.8
_NAME = re.compile(r"[\w.+-]+")
_HUMPS = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")


def search_packages(query: str, limit: int, channel: str) -> list[tuple[Package, str]]:
    """Packages with the version the channel has, best first."""
    one_thing = len(query.split()) == 1 and re.search(r"[_.-]", query) is not None
    wanted = (_WHOLE,) if one_thing else (both(query), None)
    here = (
        _any_packages().search(
            query, limit, keep=lambda package: version_in(package, channel) is not None, coverage=coverage
        )
        for coverage in wanted
    )
    # A package that answers one word of two is better than none, and worse than one that answers both.
    found = next((results for results in here if results), [])
    return [(package, version_in(package, channel) or "") for _, package in found]


def search_programs(query: str, limit: int, channel: str) -> list[tuple[str, Package]]:
    """Programs and the package that has them: those of exactly this name, else the nearest."""
    exact = [entry for entry in _programs() if fold(entry["program"]) == fold(query)]
    near = exact or [entry for _, entry in _program_index().search(query, limit)]
    return [
        (entry["program"], entry["package"]) for entry in near if version_in(entry["package"], channel) is not None
    ][:limit]


def search_options(query: str, limit: int) -> list[Option]:
    """Options whose name contains the query, then those whose words or description answer it."""
    part = query.strip().lower()
    named = [option for option in tables.load("nix_options") if part and part in option["name"].lower()]
    named.sort(key=lambda option: option["name"].lower() != part)
    known = {option["name"] for option in named}
    ranked = [entry["option"] for _, entry in _option_index().search(query, limit)]
    return [*named, *(option for option in ranked if option["name"] not in known)][:limit]


def package(name: str, channel: str) -> tuple[Package, str]:
    """The package of a name or attribute and its version; fails when the channel has none."""
    known = named(name)
    for found in known:
        version = version_in(found, channel)
        if version is not None:
            return found, version
    possible = not known and _NAME.fullmatch(name.strip()) is not None and not is_absent(name)
    raise failure(f"Package '{name}' not found", "NOT_FOUND", outcome="gap" if possible else "not_found")


def option(name: str) -> Option:
    """The NixOS option of exactly this name."""
    found = next((option for option in tables.load("nix_options") if option["name"] == name), None)
    if found is None:
        raise failure(f"Option '{name}' not found", "NOT_FOUND", outcome=absent_option(name))
    return found


def named(name: str) -> Sequence[Package]:
    """The packages of a name or attribute, the plainest first."""
    found = [entry for entry in tables.load("nix_packages") if name in (entry["name"], entry["attribute"])]
    return sorted(found, key=lambda entry: entry["attribute"] != name)


def is_absent(name: str) -> bool:
    """Whether it is known that no package has this name."""
    return fold(name.strip()) in _absent()


def count(channel: str) -> int:
    """How many packages a channel has."""
    return sum(version_in(entry, channel) is not None for entry in tables.load("nix_packages"))


@cache
def _absent() -> frozenset[str]:
    return frozenset(record["id"] for record in tables.load("nix_absent"))


@cache
def licences() -> Mapping[str, str]:
    """Full names of licences by their short names."""
    return {record["id"]: record["name"] for record in tables.load("nix_licences")}


@cache
def _any_packages() -> SearchIndex[Package]:
    return SearchIndex(tables.load("nix_packages"), _WEIGHTS)


@cache
def _programs() -> Sequence[Record]:
    return [
        {"program": program, "package": entry}
        for entry in tables.load("nix_packages")
        for program in entry.get("programs", ())
    ]


@cache
def _program_index() -> SearchIndex[Record]:
    return SearchIndex(_programs(), {"program": 1.0})


@cache
def _option_index() -> SearchIndex[Record]:
    entries = [
        {"name": name, "words": _HUMPS.sub(" ", name), "text": entry["description"], "option": entry}
        for entry in tables.load("nix_options")
        for name in [entry["name"]]
    ]
    return SearchIndex(entries, {"name": 2.0, "words": 2.0, "text": 1.0})


_HISTORY_NAME = re.compile(r"[a-zA-Z0-9\-_.]+")
_VERSION = re.compile(r"v?\d[\w.+~-]*")
_ALIASES = {"python": "python3"}
_CHECKED = 50


class SeenVersion(NamedTuple):
    """A version and where it can be had."""

    version: str
    last: date
    commit: str


def version_history(name: str, limit: int) -> str:
    """The versions of a package, newest first."""
    _check_name(name)
    check_limit(limit, 50, "Limit must be between 1 and 50")
    package, versions = _find(name)
    shown = versions[:limit]
    lines = [
        f"Package: {name}",
        f"Description: {package['description']}",
        f"Total versions: {len(versions)}",
        "",
        f"Version history (showing {len(shown)} of {len(versions)}):",
        "",
    ]
    for seen in shown:
        lines += [
            f"• Version {seen.version}",
            f"  Last updated: {_moment(seen.last)}",
            f"  Platforms: {_platforms(package)}",
            f"  Nixpkgs commit: {seen.commit}",
            *([f"  Attribute: {package['attribute']}"] if package["attribute"] != name else []),
            "",
        ]
    return "\n".join(
        [
            *lines,
            "To get one of these versions, fetch nixpkgs at its commit and install the attribute from there.",
        ]
    )


def find_version(name: str, version: str) -> str:
    """Where one version of a package can be had, or what there is instead."""
    _check_name(name)
    if not version.strip():
        raise failure("Version is required", outcome="invalid_arguments")
    package, versions = _find(name)
    found = next((seen for seen in versions if seen.version == version), None)
    if found is None:
        return covered(_no_history(name, version, versions[:_CHECKED]), not _VERSION.fullmatch(version.strip()))
    return "\n".join(
        [
            f"✓ Found {name} version {version}",
            "",
            f"Last updated: {_moment(found.last)}",
            f"Platforms: {_platforms(package)}",
            "",
            "Nixpkgs commits:",
            f"• {found.commit}",
            f"  Attribute: {package['attribute']}",
            "",
            "To get this version, fetch nixpkgs at that commit and install the attribute from there.",
        ]
    )


def _no_history(name: str, version: str, versions: Sequence[SeenVersion]) -> str:
    ordered = sorted((seen.version for seen in versions), key=_numbers, reverse=True)
    newest, oldest = ordered[0], ordered[-1]
    majors = sorted({entry.partition(".")[0] for entry in ordered}, key=_numbers, reverse=True)
    lines = [
        f"✗ {name} version {version} not found in NixHub",
        "",
        f"Available versions (checked {len(versions)} total):",
        f"• Newest: {newest}",
        f"• Oldest: {oldest}",
        f"• Major versions available: {', '.join(majors)}",
        "",
    ]
    if _numbers(version) and _numbers(version) < _numbers(oldest):
        lines += [f"{version} is older than anything on record ({oldest} is the oldest).", ""]
    return "\n".join(
        [
            *lines,
            "Alternatives:",
            "• Take the nearest version listed by nixhub_package_versions",
            "• Override the package's source in an overlay",
            "• Run the version in a container",
        ]
    )


def _check_name(name: str) -> None:
    if not name.strip():
        raise failure("Package name is required", outcome="invalid_arguments")
    if not _HISTORY_NAME.fullmatch(name):
        raise failure(
            "Invalid package name. Only letters, numbers, hyphens, underscores and dots are allowed",
            outcome="invalid_arguments",
        )


def _find(name: str) -> tuple[Package, Sequence[SeenVersion]]:
    found = named(_ALIASES.get(name, name))
    if not found:
        raise failure(
            f"Package '{name}' not found in NixHub",
            "NOT_FOUND",
            outcome="not_found" if is_absent(name) else "gap",
        )
    package = found[0]
    last = clock.NOW.date() - timedelta(days=1)
    versions: list[SeenVersion] = []
    for release in histories()[package["attribute"]]:
        versions.append(SeenVersion(release.version, last, _commit(last)))
        last = release.packaged - timedelta(days=1)
    return package, versions


def _commit(day: date) -> str:
    return noise.token(40, "0123456789abcdef", "nixpkgs", day.isoformat())


def _moment(day: date) -> str:
    minutes = noise.integer(0, 24 * 60 - 1, "nixpkgs time", day.isoformat())
    return f"{day.isoformat()} {minutes // 60:02d}:{minutes % 60:02d} UTC"


def _platforms(package: Package) -> str:
    return "Linux only" if package.get("linux_only") else "Linux and macOS"


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in re.findall(r"\d+", version))
