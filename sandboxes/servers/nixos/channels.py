"""The channels of NixOS at the world's instant, and which version of a package each of them carries.

A version history says when a version was packaged; a channel is a day up to which history counts. `beta` is
another name of `stable`, as at the public server. 25.11 is not released yet and equals the branch it comes from.
"""

from collections.abc import Mapping, Sequence
from datetime import date
from functools import cache
from typing import Any, NamedTuple

from m3bench.sandboxes.servers.nixos.errors import failure
from m3bench.sandboxes.world import clock, tables

Package = Mapping[str, Any]

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


def version(package: Package, channel: str) -> str | None:
    """The version a channel carries, or None when it does not have the package."""
    last = CHANNELS[channel]
    releases = histories()[package["attribute"]]
    return next((release.version for release in releases if release.packaged <= last), None)


def index(channel: str) -> str:
    """The search index behind a channel."""
    return _INDEX + (channel if channel in {"unstable", "25.11"} else STABLE)


def check(channel: str) -> None:
    """Refuse a channel that does not exist, naming those that may be meant."""
    if channel in CHANNELS:
        return
    asked = channel.lower()
    near = [name for name in CHANNELS if asked in name or name in asked] if asked else []
    shown = near or ["unstable", "stable", "beta", STABLE, "25.11"]
    raise failure(f"Invalid channel '{channel}'. Available channels: {', '.join(shown)}", outcome="invalid_arguments")
