"""The `nixos` server answers from its tables as the public server does."""

import re
from datetime import date

import pytest

from m3bench.sandboxes.servers.nixos import packages
from m3bench.sandboxes.world import clock, tables
from tests.sandboxes.servers.conftest import Bench

PACKAGES = tables.load("nix_packages")


def test_a_package_is_listed_with_version_and_description(bench: Bench) -> None:
    text = bench.text("nixos/nixos_search", query="ripgrep", limit=1)
    assert re.fullmatch(r"Found 1 packages matching 'ripgrep':\n\n• ripgrep \(\d+\.\d+\.\d+\)\n  \S.*\.?", text)


def test_a_name_written_with_another_separator_is_found(bench: Bench) -> None:
    assert "• pillow-simd (" in bench.text("nixos/nixos_search", query="pillow_simd")


@pytest.mark.parametrize("query", ["fakeapi_loader", "not_real_component", "qwxzvk", "fake_tensor_ops"])
@pytest.mark.parametrize("kind", ["packages", "programs", "options"])
def test_invented_names_find_nothing(bench: Bench, kind: str, query: str) -> None:
    text = bench.text("nixos/nixos_search", query=query, search_type=kind)
    assert text == f"No {kind} found matching '{query}'"


def test_a_program_names_its_package(bench: Bench) -> None:
    text = bench.text("nixos/nixos_search", query="rg", search_type="programs")
    assert text == "Found 1 programs matching 'rg':\n\n• rg (provided by ripgrep)"


def test_options_are_found_by_part_of_the_name_and_by_meaning(bench: Bench) -> None:
    assert "• services.nginx.enable" in bench.text("nixos/nixos_search", query="services.nginx", search_type="options")
    assert "• boot.tmp.useTmpfs" in bench.text("nixos/nixos_search", query="tmp into memory", search_type="options")
    assert "• networking.firewall.allowedTCPPorts" in bench.text(
        "nixos/nixos_search", query="open tcp ports", search_type="options"
    )


def test_packages_of_a_channel_can_be_looked_up_and_others_cannot(bench: Bench) -> None:
    for package in PACKAGES[::6]:
        for channel in ("unstable", "25.05"):
            call = {"name": package["attribute"], "channel": channel}
            version = packages.version_in(package, channel)
            if version is None:
                assert "Error (NOT_FOUND): Package" in bench.error("nixos/nixos_info", call)
            else:
                text = bench.text("nixos/nixos_info", call)
                assert f"Version: {version}\n" in text
                assert re.search(r"\nLicense: \S", text)


def test_an_option_shows_type_default_and_example(bench: Bench) -> None:
    assert bench.text("nixos/nixos_info", name="time.timeZone", type="option") == (
        "Option: time.timeZone\n"
        "Type: null or string without spaces\n"
        "Description: Time zone in which times are shown; null leaves it to the user.\n"
        "Default: null\n"
        'Example: "America/New_York"'
    )


@pytest.mark.parametrize(
    ("tool", "arguments", "message"),
    [
        ("nixos_search", {"query": "git", "search_type": "books"}, "Error (ERROR): Invalid type 'books'"),
        ("nixos_search", {"query": "git", "limit": 0}, "Error (ERROR): Limit must be 1-100"),
        (
            "nixos_search",
            {"query": "git", "channel": "19.03"},
            "Error (ERROR): Invalid channel '19.03'. Available channels: unstable, stable, beta, 25.05, 25.11",
        ),
        ("nixos_info", {"name": "git", "type": "flake"}, "Error (ERROR): Type must be 'package' or 'option'"),
        ("nixos_info", {"name": "no-such", "type": "option"}, "Error (NOT_FOUND): Option 'no-such' not found"),
        ("home_manager_search", {"query": "git", "limit": 101}, "Error (ERROR): Limit must be 1-100"),
        ("nixhub_package_versions", {"package_name": "git", "limit": 51}, "Limit must be between 1 and 50"),
        ("nixhub_package_versions", {"package_name": "no-such"}, "Package 'no-such' not found in NixHub"),
        ("nixhub_package_versions", {"package_name": "a b"}, "Error (ERROR): Invalid package name."),
        ("nixhub_find_version", {"package_name": "git", "version": " "}, "Error (ERROR): Version is required"),
    ],
)
def test_mistakes_are_plain_texts_with_a_code(
    bench: Bench, tool: str, arguments: dict[str, object], message: str
) -> None:
    reply = bench.reply(f"nixos/{tool}", arguments)
    assert reply.outcome != "success"
    assert reply.result["isError"] is False
    assert message in reply.result["content"][0]["text"]


def test_channels_and_statistics_agree(bench: Bench) -> None:
    listed = bench.text("nixos/nixos_channels")
    assert "• stable (current: 25.05) → latest-44-nixos-25.05" in listed
    for channel in packages.CHANNELS:
        text = bench.text("nixos/nixos_stats", channel=channel)
        counted = [int(number.replace(",", "")) for number in re.findall(r": ([\d,]+)$", text, re.M)]
        assert counted == [packages.count(channel), len(tables.load("nix_options"))]
        assert f"({sum(counted):,} documents)" in listed


def test_manual_search_matches_letters_of_the_name_in_order(bench: Bench) -> None:
    text = bench.text("nixos/home_manager_search", query="ZSH", limit=100)
    names = re.findall(r"^• (.+)$", text, re.M)
    order = [option["name"] for option in tables.load("home_manager_options")]
    assert names == [name for name in order if "zsh" in name.lower()]
    assert bench.text("nixos/home_manager_search", query="ghsy") == "No Home Manager options found matching 'ghsy'"


@pytest.mark.parametrize(("family", "table"), [("home_manager", "home_manager_options"), ("darwin", "darwin_options")])
def test_every_option_of_a_manual_is_found_looked_up_and_counted(bench: Bench, family: str, table: str) -> None:
    options = tables.load(table)
    for option in options[::7]:
        assert f"• {option['name']}\n" in bench.text(f"nixos/{family}_search", query=option["name"], limit=100)
        assert bench.text(f"nixos/{family}_info", name=option["name"]).startswith(f"Option: {option['name']}\nType: ")
    assert f"• Total options: {len(options)}" in bench.text(f"nixos/{family}_stats")
    counts = re.findall(r"\((\d+) options\)", bench.text(f"nixos/{family}_list_options"))
    assert sum(map(int, counts)) == len(options)


def test_an_unknown_manual_option_suggests_others(bench: Bench) -> None:
    text = bench.error("nixos/home_manager_info", name="programs.tmux")
    assert text.startswith(
        "Error (NOT_FOUND): Option 'programs.tmux' not found. Did you mean one of these?\n  • programs"
    )
    assert "home_manager_options_by_prefix" in bench.error("nixos/home_manager_info", name="nothing.here")


def test_a_prefix_ends_at_a_dot(bench: Bench) -> None:
    text = bench.text("nixos/home_manager_options_by_prefix", option_prefix="programs.git")
    names = re.findall(r"^• (.+)$", text, re.M)
    assert names == sorted(names)
    assert all(name.startswith("programs.git.") for name in names)
    assert f"({len(names)} found)" in text


def test_all_flakes_are_listed_by_a_star(bench: Bench) -> None:
    text = bench.text("nixos/nixos_flakes_search", query="*", limit=100)
    assert len(re.findall(r"^• ", text, re.M)) == len(tables.load("nix_flakes"))
    assert text.startswith("Found ")
    assert "Try searching for" in bench.text("nixos/nixos_flakes_search", query="qwxzvk")


def test_an_owner_finds_its_flakes(bench: Bench) -> None:
    text = bench.text("nixos/nixos_flakes_search", query="hyprwm")
    assert "Repository: hyprwm/Hyprland (github)" in text


def test_a_history_has_each_version_once_newest_first(bench: Bench) -> None:
    for package in PACKAGES[::25]:
        text = bench.text("nixos/nixhub_package_versions", package_name=package["attribute"], limit=50)
        versions = re.findall(r"^• Version (.+)$", text, re.M)
        days = [date.fromisoformat(day) for day in re.findall(r"Last updated: (\S+)", text)]
        assert len(versions) == len(set(versions)) == len(days)
        assert days == sorted(days, reverse=True)
        assert days[0] < clock.NOW.date()
        assert all(re.findall(r"Nixpkgs commit: [0-9a-f]{40}$", text, re.M))
        found = bench.text("nixos/nixhub_find_version", package_name=package["attribute"], version=versions[-1])
        assert found.startswith(f"✓ Found {package['attribute']} version {versions[-1]}")


def test_two_packages_of_one_day_name_the_same_commit(bench: Bench) -> None:
    first, second = (
        re.search(r"commit: (\w+)", bench.text("nixos/nixhub_package_versions", package_name=name, limit=1))
        for name in ("git", "numpy")
    )
    assert first is not None
    assert second is not None
    assert first[1] == second[1]


def test_an_absent_version_shows_what_there_is(bench: Bench) -> None:
    text = bench.text("nixos/nixhub_find_version", package_name="git", version="1.0.0")
    assert text.startswith("✗ git version 1.0.0 not found in NixHub")
    assert "• Newest: 2.51.2" in text
    assert "is older than anything on record" in text


def test_every_package_has_a_history_a_licence_and_its_own_description() -> None:
    licences = {record["id"] for record in tables.load("nix_licences")}
    assert len({package["description"] for package in PACKAGES}) == len(PACKAGES) >= 600
    for package in PACKAGES:
        assert package["licence"] in licences
        assert package["homepage"].startswith(("https://", "http://"))
        releases = packages.histories()[package["attribute"]]
        assert [release.packaged for release in releases] == sorted(
            (release.packaged for release in releases), reverse=True
        )
        assert releases[0].packaged < clock.NOW.date()
