"""The 18 tools of the `nixos` server.

Texts are laid out as the public server lays them out. What it reports as having found nothing is an ordinary
answer; errors are plain texts with a code. Counts are those of our tables, not of the whole of nixpkgs.
"""

from m3bench.sandboxes.gaps import covered
from m3bench.sandboxes.servers.nixos import channels, flakes, nixhub, packages
from m3bench.sandboxes.servers.nixos.errors import check_limit, failure
from m3bench.sandboxes.servers.nixos.manuals import DARWIN, HOME_MANAGER
from m3bench.sandboxes.toolserver import ToolServer
from m3bench.sandboxes.world import tables

server = ToolServer("nixos")


@server.tool
async def nixos_search(query: str, search_type: str = "packages", limit: int = 20, channel: str = "unstable") -> str:
    if search_type not in ("packages", "options", "programs", "flakes"):
        raise failure(f"Invalid type '{search_type}'", outcome="invalid_arguments")
    channels.check(channel)
    check_limit(limit, 100, "Limit must be 1-100")
    if search_type == "flakes":
        return flakes.search(query, limit)
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
    channels.check(channel)
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
    for name in sorted(channels.CHANNELS):
        label = f"{name} (current: {channels.STABLE})" if name == "stable" else name
        documents = packages.count(name) + len(tables.load("nix_options"))
        lines += [f"• {label} → {channels.index(name)}", f"  Status: ✓ Available ({documents:,} documents)", ""]
    return "\n".join([*lines, "Note: 'stable' stands for the newest release."])


@server.tool
async def nixos_stats(channel: str = "unstable") -> str:
    channels.check(channel)
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
    return flakes.stats()


@server.tool
async def nixos_flakes_search(query: str, limit: int = 20, channel: str = "unstable") -> str:
    # Flakes have an index of their own: the channel is accepted and not used.
    return flakes.search(query, limit)


@server.tool
async def nixhub_package_versions(package_name: str, limit: int = 10) -> str:
    return nixhub.history(package_name, limit)


@server.tool
async def nixhub_find_version(package_name: str, version: str) -> str:
    return nixhub.find(package_name, version)
