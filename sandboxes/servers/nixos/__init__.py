"""The 18 tools of the `nixos` server around the Nix package manager, with flakes and two option manuals.

Texts are laid out as the public server lays them out. What it reports as having found nothing is an ordinary answer;
errors are plain texts with a code. Counts are those of our tables, not of the whole of nixpkgs. Every package that a
flake offers counts as one entry of the flake index. The manuals, Home Manager's and nix-darwin's, are searched for
letters in option names, in their order, as on the public server; a lookup needs the exact name and otherwise says what
comes close.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

from m3bench.sandboxes.gaps import covered
from m3bench.sandboxes.servers.nixos import packages
from m3bench.sandboxes.servers.nixos.packages import absent_option, check_limit, failure
from m3bench.sandboxes.toolserver import ToolServer
from m3bench.sandboxes.world import tables
from m3bench.sandboxes.world.search import SearchIndex
from m3bench.sandboxes.world.tables import Record

Flake = Record

_MOST_SHOWN = 5


def search_flakes(query: str, limit: int) -> str:
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


def flake_stats() -> str:
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
def _index() -> SearchIndex[Flake]:
    weights = {"name": 3.0, "repository": 2.5, "owner": 2.0, "packages": 1.5, "description": 1.5}
    return SearchIndex(tables.load("nix_flakes"), weights)


Option = Record

_MOST_DESCRIPTION = 200
_MOST_BY_PREFIX = 100
_SUGGESTED = 5


@dataclass(frozen=True, kw_only=True)
class Manual:
    """One manual."""

    title: str
    table: str
    browser: str
    """The tool that lists options by prefix, named in hints."""
    shown: Sequence[str]
    """Categories that the statistics count."""

    def search(self, query: str, limit: int) -> str:
        """The options whose name contains the query."""
        check_limit(limit, 100, "Limit must be 1-100")
        found = self._containing(query)[:limit]
        if not found:
            return covered(f"No {self.title} options found matching '{query}'", found, query)
        lines = [f"Found {len(found)} {self.title} options matching '{query}':", ""]
        for option in found:
            lines += [f"• {option['name']}", f"  Type: {option['type']}", f"  {_description(option)}", ""]
        return "\n".join(lines).strip()

    def info(self, name: str) -> str:
        """One option."""
        found = next((option for option in self._options if option["name"] == name), None)
        if found is not None:
            return f"Option: {name}\nType: {found['type']}\nDescription: {_description(found)}"
        near = [option["name"] for option in self._containing(name)][:_SUGGESTED] if name else []
        if near:
            listed = "\n".join(f"  • {option}" for option in near)
            raise failure(
                f"Option '{name}' not found. Did you mean one of these?\n{listed}\n\n"
                f"Tip: {self.browser}('{name}') lists everything below it.",
                "NOT_FOUND",
                outcome=absent_option(name),
            )
        raise failure(
            f"Option '{name}' not found.\nTip: {self.browser} lists the options below a prefix.",
            "NOT_FOUND",
            outcome=absent_option(name),
        )

    def by_prefix(self, prefix: str) -> str:
        """The options below a prefix, in alphabetical order."""
        found = [
            option
            for option in self._options
            if not prefix or option["name"] == prefix or option["name"].startswith(f"{prefix}.")
        ][:_MOST_BY_PREFIX]
        if not found:
            return covered(f"No {self.title} options found with prefix '{prefix}'", found, prefix)
        lines = [f"{self.title} options with prefix '{prefix}' ({len(found)} found):", ""]
        for option in sorted(found, key=lambda option: str(option["name"])):
            lines += [f"• {option['name']}", f"  {_description(option)}", ""]
        return "\n".join(lines).strip()

    def categories(self) -> str:
        """The top-level categories by size."""
        counts = self._counts()
        ordered = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
        head = f"{self.title} option categories ({len(counts)} total):"
        return "\n".join([head, "", *(f"• {name} ({count} options)" for name, count in ordered)])

    def stats(self) -> str:
        """How many options there are."""
        counts = self._counts()
        return "\n".join(
            [
                f"{self.title} Statistics:",
                f"• Total options: {len(self._options):,}",
                f"• Categories: {len(counts)}",
                "• Top categories:",
                *(f"  - {name}: {counts[name]:,} options" for name in self.shown),
            ]
        )

    def _containing(self, part: str) -> list[Option]:
        return [option for option in self._options if part.lower() in option["name"].lower()]

    def _counts(self) -> Counter[str]:
        return Counter(option["name"].partition(".")[0] for option in self._options)

    @property
    def _options(self) -> Sequence[Option]:
        return tables.load(self.table)


HOME_MANAGER = Manual(
    title="Home Manager",
    table="home_manager_options",
    browser="home_manager_options_by_prefix",
    shown=("programs", "services", "home", "wayland", "xsession"),
)
DARWIN = Manual(
    title="nix-darwin",
    table="darwin_options",
    browser="darwin_options_by_prefix",
    shown=("services", "system", "launchd", "programs", "homebrew"),
)


def _description(option: Option) -> str:
    return str(option["description"])[:_MOST_DESCRIPTION]


server = ToolServer("nixos")


@server.tool
async def nixos_search(query: str, search_type: str = "packages", limit: int = 20, channel: str = "unstable") -> str:
    if search_type not in ("packages", "options", "programs", "flakes"):
        raise failure(f"Invalid type '{search_type}'", outcome="invalid_arguments")
    packages.check_channel(channel)
    check_limit(limit, 100, "Limit must be 1-100")
    if search_type == "flakes":
        return search_flakes(query, limit)
    entries: list[list[str]]
    if search_type == "packages":
        entries = [
            [f"• {package['name']} ({version})", f"  {package['description']}"]
            for package, version in packages.search_packages(query, limit, channel)
        ]
    elif search_type == "options":
        entries = [
            [f"• {option['name']}", f"  Type: {option['type']}", f"  {option['description']}"]
            for option in packages.search_options(query, limit)
        ]
    else:
        entries = [
            [f"• {program} (provided by {package['name']})"]
            for program, package in packages.search_programs(query, limit, channel)
        ]
    if not entries:
        return covered(f"No {search_type} found matching '{query}'", packages.is_absent(query), query)
    lines = [f"Found {len(entries)} {search_type} matching '{query}':", ""]
    return "\n".join([*lines, *(line for entry in entries for line in (*entry, ""))]).strip()


@server.tool
async def nixos_info(name: str, type: str = "package", channel: str = "unstable") -> str:
    if type not in ("package", "option"):
        raise failure("Type must be 'package' or 'option'", outcome="invalid_arguments")
    packages.check_channel(channel)
    if type == "package":
        package, version = packages.package(name, channel)
        facts = {
            "Package": package["name"],
            "Version": version,
            "Description": package["description"],
            "Homepage": package["homepage"],
            "License": packages.licences()[package["licence"]],
        }
    else:
        option = packages.option(name)
        facts = {
            "Option": option["name"],
            "Type": option["type"],
            "Description": option["description"],
            "Default": option.get("default"),
            "Example": option.get("example"),
        }
    return "\n".join(f"{key}: {value}" for key, value in facts.items() if value)


@server.tool
async def nixos_channels() -> str:
    lines = ["NixOS Channels (auto-discovered):", ""]
    for name in sorted(packages.CHANNELS):
        label = f"{name} (current: {packages.STABLE})" if name == "stable" else name
        documents = packages.count(name) + len(tables.load("nix_options"))
        lines += [f"• {label} → {packages.index_name(name)}", f"  Status: ✓ Available ({documents:,} documents)", ""]
    return "\n".join([*lines, "Note: 'stable' stands for the newest release."])


@server.tool
async def nixos_stats(channel: str = "unstable") -> str:
    packages.check_channel(channel)
    return "\n".join(
        [
            f"NixOS Statistics for {channel} channel:",
            f"• Packages: {packages.count(channel):,}",
            f"• Options: {len(tables.load('nix_options')):,}",
        ]
    )


@server.tool
async def home_manager_search(query: str, limit: int = 20) -> str:
    return HOME_MANAGER.search(query, limit)


@server.tool
async def home_manager_info(name: str) -> str:
    return HOME_MANAGER.info(name)


@server.tool
async def home_manager_stats() -> str:
    return HOME_MANAGER.stats()


@server.tool
async def home_manager_list_options() -> str:
    return HOME_MANAGER.categories()


@server.tool
async def home_manager_options_by_prefix(option_prefix: str) -> str:
    return HOME_MANAGER.by_prefix(option_prefix)


@server.tool
async def darwin_search(query: str, limit: int = 20) -> str:
    return DARWIN.search(query, limit)


@server.tool
async def darwin_info(name: str) -> str:
    return DARWIN.info(name)


@server.tool
async def darwin_stats() -> str:
    return DARWIN.stats()


@server.tool
async def darwin_list_options() -> str:
    return DARWIN.categories()


@server.tool
async def darwin_options_by_prefix(option_prefix: str) -> str:
    return DARWIN.by_prefix(option_prefix)


@server.tool
async def nixos_flakes_stats() -> str:
    return flake_stats()


@server.tool
async def nixos_flakes_search(query: str, limit: int = 20, channel: str = "unstable") -> str:
    # Flakes have an index of their own: the channel is accepted and not used.
    return search_flakes(query, limit)


@server.tool
async def nixhub_package_versions(package_name: str, limit: int = 10) -> str:
    return packages.version_history(package_name, limit)


@server.tool
async def nixhub_find_version(package_name: str, version: str) -> str:
    return packages.find_version(package_name, version)
