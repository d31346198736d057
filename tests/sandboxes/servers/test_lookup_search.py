"""Searches of the nixos and icon servers find what was meant, by queries made from the tables by rule."""

import json
import random
import re
from collections.abc import Callable, Iterator

import pytest

from m3bench.sandboxes.world import tables
from tests.sandboxes.servers.conftest import Bench

Search = Callable[[Bench, str], list[str]]

QUERIES = 60
NONSENSE = ["qwxzvk", "blorfgan wubbalub", "zzzz", "xkcdqq-frobnicatrix", "fake_tensor_ops", "gnurfl 0xq"]


def packages(bench: Bench, query: str) -> list[str]:
    return re.findall(r"^• (.+) \(", bench.text("nixos/nixos_search", query=query, limit=3), re.M)


def options(bench: Bench, query: str) -> list[str]:
    text = bench.text("nixos/nixos_search", query=query, search_type="options", limit=3)
    return re.findall(r"^• (.+)$", text, re.M)


def programs(bench: Bench, query: str) -> list[str]:
    text = bench.text("nixos/nixos_search", query=query, search_type="programs", limit=3)
    return re.findall(r"^• (.+) \(provided by ", text, re.M)


def flakes(bench: Bench, query: str) -> list[str]:
    return re.findall(r"^• (.+)\n  Repository", bench.text("nixos/nixos_flakes_search", query=query, limit=3), re.M)


def icons(bench: Bench, query: str) -> list[str]:
    found = json.loads(bench.text("hugeicons-mcp/search_icons", query=query))
    return [family(icon["name"]) for icon in found[:3]]


def family(name: str) -> str:
    """An icon's name without the number of its version."""
    return re.sub(r"-\d+$", "", name)


def names(search: Search) -> list[str]:
    """Everything a search can find."""
    if search is programs:
        return sorted({name for package in tables.load("nix_packages") for name in package.get("programs", ())})
    kinds: dict[Search, str] = {packages: "nix_packages", options: "nix_options", flakes: "nix_flakes", icons: "icons"}
    records = tables.load(kinds[search])
    return sorted({family(record["name"]) if search is icons else record["name"] for record in records})


def by_rule(name: str, draws: random.Random) -> Iterator[tuple[str, str]]:
    """Rule and query: the name as written, shouted, in other words' order, cut short, and with a slip of the keys."""
    parts = re.split(r"[-_. ]+", name)
    yield "as it is", name
    yield "in capitals", name.upper()
    if len(parts) > 1:
        yield "reordered", " ".join(reversed(parts))
    longest = max(parts, key=len)
    if len(longest) >= 6:
        yield "cut short", name.replace(longest, longest[:-2])
        at = draws.randrange(1, len(longest) - 2)
        swapped = longest[:at] + longest[at + 1] + longest[at] + longest[at + 2 :]
        yield "misspelled", name.replace(longest, draws.choice([swapped, longest[:at] + longest[at + 1 :]]))


@pytest.mark.parametrize("search", [packages, options, programs, flakes, icons])
def test_what_is_meant_is_among_the_first_three(bench: Bench, search: Search) -> None:
    draws = random.Random(search.__name__)
    asked = [
        (name, rule, query) for name in draws.sample(names(search), QUERIES) for rule, query in by_rule(name, draws)
    ]
    missed = [entry for entry in asked if entry[0] not in search(bench, entry[2])]
    assert len(missed) <= 0.1 * len(asked), missed


@pytest.mark.parametrize("query", NONSENSE)
def test_nonsense_finds_nothing_and_says_so(bench: Bench, query: str) -> None:
    for kind in ("packages", "options", "programs"):
        text = bench.text("nixos/nixos_search", query=query, search_type=kind)
        assert text == f"No {kind} found matching '{query}'"
    assert bench.text("nixos/nixos_search", query=query, search_type="flakes").startswith(
        f"No flakes found matching '{query}'."
    )
    assert bench.text("nixos/home_manager_search", query=query) == f"No Home Manager options found matching '{query}'"
    assert bench.text("nixos/darwin_search", query=query) == f"No nix-darwin options found matching '{query}'"
    assert bench.text("hugeicons-mcp/search_icons", query=query) == "[]"


def test_a_package_is_found_by_what_it_is_for(bench: Bench) -> None:
    draws = random.Random("descriptions")
    missed = []
    for package in draws.sample(tables.load("nix_packages"), QUERIES):
        words = re.findall(r"[A-Za-z]{4,}", package["description"])[:4]
        draws.shuffle(words)
        if package["name"] not in packages(bench, " ".join(words)):
            missed.append((package["name"], words))
    assert len(missed) <= 0.1 * QUERIES, missed
