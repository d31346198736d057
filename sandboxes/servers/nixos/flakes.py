"""Community flakes: search and statistics. Every package a flake offers counts as one entry of the flake index."""

from collections import Counter
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

from m3bench.sandboxes.gaps import covered
from m3bench.sandboxes.servers.nixos.errors import check_limit
from m3bench.sandboxes.world import tables
from m3bench.sandboxes.world.search import Index

Flake = Mapping[str, Any]

_MOST_SHOWN = 5


def search(query: str, limit: int) -> str:
    """The flakes that fit, with their repository and packages."""
    check_limit(limit, 100, "Limit must be 1-100")
    wanted = query.strip()
    everything: Sequence[Flake] = tables.load("nix_flakes")
    found = everything if wanted in ("", "*") else [flake for _, flake in _index().search(wanted, len(everything))]
    if not found:
        answer = "\n".join(
            [
                f"No flakes found matching '{query}'.",
                "",
                "Try searching for:",
                "• A well-known flake: nixpkgs, home-manager, flake-utils, devenv",
                "• An owner: nix-community, numtide, cachix",
                "• A topic: python, rust, neovim, secrets",
            ]
        )
        return covered(answer, found, query)
    total, shown = sum(len(flake["packages"]) for flake in found), found[:limit]
    unique = f"{len(shown)} unique flakes"
    head = f"{total:,} total matches ({unique})" if total > len(shown) else unique
    lines = [f"Found {head} matching '{query}':", ""]
    for flake in shown:
        lines += [
            f"• {flake['name']}",
            f"  Repository: {flake['owner']}/{flake['repository']} (github)",
            f"  {flake['description']}",
            f"  Packages: {_packages(flake)}",
            "",
        ]
    return "\n".join(lines).strip()


def stats() -> str:
    """How much the flake index holds and who contributes most."""
    flakes = tables.load("nix_flakes")
    packages: Counter[str] = Counter()
    for flake in flakes:
        packages[flake["owner"]] += len(flake["packages"])
    total = packages.total()
    top = sorted(packages.items(), key=lambda item: (-item[1], item[0].lower()))[:_MOST_SHOWN]
    return "\n".join(
        [
            "NixOS Flakes Statistics:",
            f"• Available flakes: {total:,}",
            f"• Unique repositories: {len(flakes):,}",
            "• Flake types:",
            f"  - github: {total:,}",
            "• Top contributors:",
            *(f"  - {owner}: {count:,} packages" for owner, count in top),
            "",
            "Note: flakes come from the community and are indexed apart from the official packages.",
        ]
    )


def _packages(flake: Flake) -> str:
    names = sorted(flake["packages"])
    shown = ", ".join(names[:_MOST_SHOWN])
    return f"{shown}, ... ({len(names)} total)" if len(names) > _MOST_SHOWN else shown


@cache
def _index() -> Index[Flake]:
    weights = {"name": 3.0, "repository": 2.5, "owner": 2.0, "packages": 1.5, "description": 1.5}
    return Index(tables.load("nix_flakes"), weights)
