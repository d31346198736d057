"""Famous buildings and mountains as simple drawings; those without one of their own look like their kind.

Most are in the sheet `landmarks`; the others are made of parts that repeat, such as arches. A drawing lives in a frame
of 300 × 200 units, its foot at 170 and its middle at 150; `postcards` frames it.
"""

from collections.abc import Callable, Mapping
from typing import Any

from m3bench.tasks.render import bridges, monuments, nature, palaces, shrines, towers
from m3bench.tasks.render.drawings import sheet
from m3bench.tasks.render.masonry import IRON, Drawing


def sight(landmark: Mapping[str, Any]) -> Drawing:
    """The fragments of a landmark of the world."""
    drawn = sheet("landmarks").get(landmark["id"])
    if drawn is not None:
        return list(drawn.fragments)
    return _OWN.get(landmark["id"], _KINDS.get(landmark["kind"], monuments.monument))()


_KINDS: dict[str, Callable[[], Drawing]] = {
    "attraction": towers.wheel, "bridge": bridges.bridge, "castle": palaces.castle, "church": shrines.church, "government": palaces.palace, "hotel": towers.skyscraper,
    "lighthouse": towers.lighthouse, "monument": monuments.monument, "mosque": shrines.mosque, "mountain": nature.snow_peak, "museum": shrines.temple, "natural": nature.snow_peak,
    "neighborhood": palaces.houses, "palace": palaces.palace, "park": nature.garden, "station": palaces.palace, "temple": shrines.pagoda, "theatre": palaces.modern, "tower": towers.tower,
    "university": palaces.palace, "viewpoint": nature.snow_peak, "waterfall": nature.falls,
}  # fmt: skip
_OWN: dict[str, Callable[[], Drawing]] = {
    "eiffel-tower": lambda: towers.lattice(IRON), "tokyo-tower": lambda: towers.lattice("#d9532f"),
    "big-ben": towers.clock_tower, "leaning-tower": towers.leaning, "colosseum": monuments.colosseum,
    "taj-mahal": shrines.taj, "statue-of-liberty": monuments.liberty, "sydney-opera-house": monuments.shells,
    "golden-gate": lambda: bridges.suspension("#c4452f"), "tower-bridge": bridges.bascule,
    "burj-khalifa": towers.burj, "brandenburg-gate": monuments.gate, "mount-fuji": nature.snow_peak,
    "christ-the-redeemer": monuments.christ, "oriental-pearl": towers.pearl,
    "arc-de-triomphe": monuments.arch_of_triumph, "petronas-towers": towers.twins, "gateway-arch": towers.gateway,
    "atomium": towers.atoms, "stonehenge": monuments.stones, "london-eye": towers.wheel,
    "marina-bay-sands": towers.sands, "fushimi-inari": shrines.torii, "merlion": monuments.merlion,
    "petra-treasury": shrines.temple, "louvre": palaces.glass_pyramid, "borobudur": shrines.stupa,
    "hoan-kiem-lake": nature.lake, "uluru": lambda: nature.mesa("#b5593a"), "giants-causeway": monuments.stones,
    "easter-island": monuments.faces, "mount-rushmore": monuments.faces, "chichen-itza": monuments.pyramids,
}  # fmt: skip
