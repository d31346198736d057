"""Searches of the nixos and icon servers find what was meant, by queries made from the tables by rule."""

import json
import random
import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from m3bench.sandboxes.world import tables
from tests.sandboxes.servers.conftest import Bench
from tests.sandboxes.world.search_quality import Entry, measure, queries

Search = Callable[[Bench, str], list[str]]

COUNT = 60
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
    return [_family(icon["name"]) for icon in found[:3]]


def entries(search: Search) -> list[Entry]:
    """Everything a search can find; another spelling is the name with its parts joined in another way."""
    if search is programs:
        names = {name for package in tables.load("nix_packages") for name in package.get("programs", ())}
    else:
        kinds: dict[Search, str] = {
            packages: "nix_packages",
            options: "nix_options",
            flakes: "nix_flakes",
            icons: "icons",
        }
        names = {record["name"] for record in tables.load(kinds[search])}
    if search is icons:
        names = {_family(name) for name in names}
    plain = sorted(name for name in names if re.fullmatch(r"[\w.-]{3,}", name))
    return [Entry(name, re.sub(r"[-_.]", " ", name), (name, name.upper(), name.replace("-", "_"))) for name in plain]


@pytest.mark.parametrize("search", [packages, options, programs, flakes, icons])
def test_what_is_meant_is_among_the_first_three(bench: Bench, search: Search) -> None:
    asked = queries(entries(search), search.__name__, COUNT)
    measure(asked, lambda text: search(bench, text)).check()


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
    for package in draws.sample(tables.load("nix_packages"), COUNT):
        words = re.findall(r"[A-Za-z]{4,}", package["description"])[:4]
        draws.shuffle(words)
        if package["name"] not in packages(bench, " ".join(words)):
            missed.append((package["name"], words))
    assert len(missed) <= 0.1 * COUNT, missed


def _family(name: str) -> str:
    """An icon's name without the number of its version."""
    return re.sub(r"-\d+$", "", name)


@pytest.mark.parametrize(
    ("query", "named"),
    [
        ("video player", {"mpv", "vlc"}),
        ("web browser", {"firefox", "chromium", "brave"}),
        ("password manager", {"keepassxc", "bitwarden-desktop", "pass"}),
        ("pdf reader", {"zathura", "evince", "okular"}),
        ("torrent client", {"transmission", "qbittorrent", "deluge"}),
    ],
)
def test_a_package_is_found_by_what_people_call_its_kind(bench: Bench, query: str, named: set[str]) -> None:
    assert set(packages(bench, query)[:2]) & named


@pytest.mark.parametrize(
    ("tool", "arguments", "first"),
    [
        ("healthcare-mcp/lookup_icd_code", {"description": "flu"}, '"code": "J11.1"'),
        ("healthcare-mcp/lookup_icd_code", {"description": "common cold"}, '"code": "J00"'),
        ("metmuseum-mcp/search-museum-objects", {"q": "Japanese woodblock"}, "45434"),
        ("amazon/search_products", {"keywords": "gaming laptop"}, "Laptop"),
    ],
)
def test_the_thing_that_is_named_comes_first(bench: Bench, tool: str, arguments: dict[str, str], first: str) -> None:
    lines = bench.text(tool, arguments).splitlines()
    shown = next(line for line in lines if re.search(r'"code"|^- |IDs', line))
    assert first in shown


def test_a_place_in_a_town_is_not_one_of_another_town(bench: Bench) -> None:
    inside = bench.text("google-maps/places_text_search", query="hotel in Hallstatt")
    assert "4830 Hallstatt" in inside
    assert "Salzburg" not in inside
    without = bench.reply("google-maps/places_text_search", query="hotel in Hallein")
    assert (without.outcome, "Salzburg" in str(without.result)) == ("empty", False)
    assert "Salzburg" in bench.text("google-maps/places_text_search", query="hotel in Salzburg")


def judged() -> Iterator[tuple[str, str, str, str, str, bool]]:
    """Tool, argument, how much of the answer counts, query, what should stand there, and whether it is held out."""
    heading: list[str] = []
    number = 0
    for line in Path(__file__).with_name("judged_searches.txt").read_text(encoding="utf-8").splitlines():
        if line.startswith("@"):
            heading, number = line.split()[1:], 0
        elif line and not line.startswith("#"):
            query, _, expected = line.partition(" => ")
            yield heading[0], heading[1], heading[2], query, expected, number % 2 == 1
            number += 1


def beginning(bench: Bench, tool: str, argument: str, window: str, query: str) -> str:
    """What counts of an answer; of a list of numbers the card of the first."""
    text = bench.text(tool, **{argument: query})
    if window != "card":
        return text[: int(window)]
    first = re.search(r"IDs: (\d+)", text)
    assert first, query
    return bench.text("metmuseum-mcp/get-museum-object", objectId=int(first[1]), returnImage=False)


@pytest.mark.parametrize("held_out", [False, True])
def test_what_people_type_finds_what_they_mean_first(bench: Bench, held_out: bool) -> None:
    """Held back queries count as much as the others, and may miss more."""
    asked = [case for case in judged() if case[-1] == held_out]
    missed: list[str] = []
    for tool, argument, window, query, expected, _ in asked:
        if bench.reply(tool, {argument: query}).outcome != "success" or not re.search(
            expected, beginning(bench, tool, argument, window, query)
        ):
            missed.append(query)
    assert len(asked) >= 100
    assert len(missed) <= (0.08 if held_out else 0.0) * len(asked), missed
