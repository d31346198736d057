"""Version histories of packages, with the nixpkgs commits to pin.

A version was last seen the day before the next one was packaged; the commit of a day is the same for every
package. Commit hashes are made up: they identify a day, not a real commit.
"""

import re
from collections.abc import Sequence
from datetime import date, timedelta
from typing import NamedTuple

from m3bench.sandboxes.gaps import covered
from m3bench.sandboxes.servers.nixos import channels, packages
from m3bench.sandboxes.servers.nixos.channels import Package
from m3bench.sandboxes.servers.nixos.errors import check_limit, failure
from m3bench.sandboxes.world import clock, noise

_NAME = re.compile(r"[a-zA-Z0-9\-_.]+")
_VERSION = re.compile(r"v?\d[\w.+~-]*")
_ALIASES = {"python": "python3"}
_CHECKED = 50


class Seen(NamedTuple):
    """A version and where it can be had."""

    version: str
    last: date
    commit: str


def history(name: str, limit: int) -> str:
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


def find(name: str, version: str) -> str:
    """Where one version of a package can be had, or what there is instead."""
    _check_name(name)
    if not version.strip():
        raise failure("Version is required", outcome="invalid_arguments")
    package, versions = _find(name)
    found = next((seen for seen in versions if seen.version == version), None)
    if found is None:
        return covered(_absent(name, version, versions[:_CHECKED]), not _VERSION.fullmatch(version.strip()))
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


def _absent(name: str, version: str, versions: Sequence[Seen]) -> str:
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
    if not _NAME.fullmatch(name):
        raise failure(
            "Invalid package name. Only letters, numbers, hyphens, underscores and dots are allowed",
            outcome="invalid_arguments",
        )


def _find(name: str) -> tuple[Package, Sequence[Seen]]:
    found = packages.named(_ALIASES.get(name, name))
    if not found:
        raise failure(
            f"Package '{name}' not found in NixHub",
            "NOT_FOUND",
            outcome="not_found" if packages.is_absent(name) else "gap",
        )
    package = found[0]
    last = clock.NOW.date() - timedelta(days=1)
    versions: list[Seen] = []
    for release in channels.histories()[package["attribute"]]:
        versions.append(Seen(release.version, last, _commit(last)))
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
