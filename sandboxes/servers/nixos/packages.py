"""Packages, the programs in them, and NixOS options: search and exact lookup.

An identifier such as `pillow_simd` is one thing to look for: a package must answer all its parts. Several words
may be answered in part. Attribute sets (`python313Packages`) are searched but not shown, as at the public server;
beyond it, a lookup also takes an attribute where that differs from the name.
"""

import re
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

from m3bench.sandboxes.servers.nixos import channels
from m3bench.sandboxes.servers.nixos.channels import Package
from m3bench.sandboxes.servers.nixos.errors import absent_option, failure
from m3bench.sandboxes.world import tables
from m3bench.sandboxes.world.search import Index, fold

Option = Mapping[str, Any]

_WEIGHTS = {"name": 3.0, "attribute": 2.0, "description": 1.0}
_WHOLE = 0.8
_NAME = re.compile(r"[\w.+-]+")
_HUMPS = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")


def search_packages(query: str, limit: int, channel: str) -> list[tuple[Package, str]]:
    """Packages with the version the channel has, best first."""
    one_thing = len(query.split()) == 1 and re.search(r"[_.-]", query) is not None
    found = (_whole_packages() if one_thing else _any_packages()).search(
        query, limit, keep=lambda package: channels.version(package, channel) is not None
    )
    return [(package, channels.version(package, channel) or "") for _, package in found]


def search_programs(query: str, limit: int, channel: str) -> list[tuple[str, Package]]:
    """Programs and the package that has them: those of exactly this name, else the nearest."""
    exact = [entry for entry in _programs() if fold(entry["program"]) == fold(query)]
    near = exact or [entry for _, entry in _program_index().search(query, limit)]
    return [
        (entry["program"], entry["package"])
        for entry in near
        if channels.version(entry["package"], channel) is not None
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
        version = channels.version(found, channel)
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
    return sum(channels.version(entry, channel) is not None for entry in tables.load("nix_packages"))


@cache
def _absent() -> frozenset[str]:
    return frozenset(record["id"] for record in tables.load("nix_absent"))


@cache
def licences() -> Mapping[str, str]:
    """Full names of licences by their short names."""
    return {record["id"]: record["name"] for record in tables.load("nix_licences")}


@cache
def _any_packages() -> Index[Package]:
    return Index(tables.load("nix_packages"), _WEIGHTS)


@cache
def _whole_packages() -> Index[Package]:
    return Index(tables.load("nix_packages"), _WEIGHTS, coverage=_WHOLE)


@cache
def _programs() -> Sequence[Mapping[str, Any]]:
    return [
        {"program": program, "package": entry}
        for entry in tables.load("nix_packages")
        for program in entry.get("programs", ())
    ]


@cache
def _program_index() -> Index[Mapping[str, Any]]:
    return Index(_programs(), {"program": 1.0})


@cache
def _option_index() -> Index[Mapping[str, Any]]:
    entries = [
        {"name": name, "words": _HUMPS.sub(" ", name), "text": entry["description"], "option": entry}
        for entry in tables.load("nix_options")
        for name in [entry["name"]]
    ]
    return Index(entries, {"name": 2.0, "words": 2.0, "text": 1.0})
