"""What the catalog's schemas say about the text of a call.

Defaults come from the schemas. Which arrays mean the same in any order no schema says, so they are listed here: sets
and samples, where the tool gives the same answer whatever the order.
"""

from collections.abc import Mapping
from types import MappingProxyType

from m3bench.server.scoring.texts import Signature, Signatures
from m3bench.tasks.catalog import Catalog

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


def catalog_signatures(catalog: Catalog) -> Signatures:
    """The signatures of all the catalog's tools; other tools have none."""
    return {
        name: Signature.from_schema(tool.input_schema, UNORDERED.get(name, frozenset()))
        for name, tool in catalog.by_tool.items()
    }.get
