"""What tools' schemas say about comparing calls: which value an absent argument means, which arrays have no order.

Defaults come from the schemas. Which arrays mean the same in any order no schema says, so they are listed here: sets
and samples, where the tool gives the same answer whatever the order.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TypeAlias

from m3bench.tasks.catalog import Catalog
from m3bench.tasks.trajectory import JSON

UNORDERED: Mapping[str, frozenset[str]] = MappingProxyType(
    {
        "google-maps/geolocate_home": frozenset({"cellTowers", "wifiAccessPoints"}),
        "google-maps/places_nearby_search": frozenset({"includedTypes"}),
        "math/max": frozenset({"numbers"}),
        "math/mean": frozenset({"numbers"}),
        "math/median": frozenset({"numbers"}),
        "math/min": frozenset({"numbers"}),
        "math/mode": frozenset({"numbers"}),
        "math/sum": frozenset({"numbers"}),
    }
)


@dataclass(frozen=True, kw_only=True)
class ToolSignature:
    """What comparing calls needs to know about their tool."""

    defaults: Mapping[str, JSON] = field(default_factory=dict)
    """Arguments whose absence means this value."""
    unordered: frozenset[str] = frozenset()
    """Array arguments whose order carries no meaning."""

    @classmethod
    def from_schema(cls, schema: Mapping[str, JSON], unordered: frozenset[str] = frozenset()) -> "ToolSignature":
        """The facts in a JSON Schema: the `default` of each property."""
        properties = schema.get("properties")
        entries = properties.items() if isinstance(properties, Mapping) else ()
        defaults = {
            name: entry["default"] for name, entry in entries if isinstance(entry, Mapping) and "default" in entry
        }
        return cls(defaults=defaults, unordered=unordered)


Signatures: TypeAlias = Callable[[str], ToolSignature | None]
"""Tool name to signature; a mapping's `get` will do."""


def unknown(tool: str) -> ToolSignature | None:
    """Nothing is known of any tool: no argument is dropped and no array sorted."""
    return None


def catalog_signatures(catalog: Catalog) -> Signatures:
    """The signatures of all the catalog's tools; other tools have none."""
    return {
        name: ToolSignature.from_schema(tool.input_schema, UNORDERED.get(name, frozenset()))
        for name, tool in catalog.by_tool.items()
    }.get
