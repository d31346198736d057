"""The option manuals of Home Manager and nix-darwin, which are asked in the same ways.

Search is a plain match of letters in option names, in the order of the manual, as at the public server; a lookup
needs the exact name and otherwise says what comes close.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from m3bench.sandboxes.gaps import covered
from m3bench.sandboxes.servers.nixos.errors import absent_option, check_limit, failure
from m3bench.sandboxes.world import tables

Option = Mapping[str, Any]

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
