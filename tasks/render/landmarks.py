"""Famous buildings and mountains as simple drawings; those without one of their own look like their kind.

A drawing lives in a frame of 300 × 200 units, its foot at 170 and its middle at 150; `postcards` frames it.
"""

from collections.abc import Callable, Mapping
from typing import Any

from m3bench.tasks.render import bridges, monuments, nature, palaces, shrines, towers
from m3bench.tasks.render.masonry import IRON, PALE, Drawing


def sight(landmark: Mapping[str, Any]) -> Drawing:
    """The fragments of a landmark of the world."""
    return _OWN.get(landmark["id"], _KINDS.get(landmark["kind"], monuments.monument))()


_KINDS: dict[str, Callable[[], Drawing]] = {
    "attraction": towers.wheel, "bridge": bridges.bridge, "castle": palaces.castle, "church": shrines.church, "government": palaces.palace, "hotel": towers.skyscraper,
    "lighthouse": towers.lighthouse, "monument": monuments.monument, "mosque": shrines.mosque, "mountain": nature.snow_peak, "museum": shrines.temple, "natural": nature.snow_peak,
    "neighborhood": palaces.houses, "palace": palaces.palace, "park": nature.garden, "station": palaces.palace, "temple": shrines.pagoda, "theatre": palaces.modern, "tower": towers.tower,
    "university": palaces.palace, "viewpoint": nature.snow_peak, "waterfall": nature.falls,
}  # fmt: skip
_OWN: dict[str, Callable[[], Drawing]] = {
    "eiffel-tower": lambda: towers.lattice(IRON), "tokyo-tower": lambda: towers.lattice("#d9532f"), "big-ben": towers.clock_tower, "leaning-tower": towers.leaning, "colosseum": monuments.colosseum,
    "taj-mahal": shrines.taj, "statue-of-liberty": monuments.liberty, "odaiba-liberty": monuments.liberty, "sydney-opera-house": monuments.shells, "golden-gate": lambda: bridges.suspension("#c4452f"),
    "brooklyn-bridge": lambda: bridges.suspension("#8a6f58"), "clifton-bridge": lambda: bridges.suspension("#8b9298"), "tower-bridge": bridges.bascule, "pyramids-giza": monuments.pyramids, "burj-khalifa": towers.burj,
    "brandenburg-gate": monuments.gate, "mount-fuji": nature.snow_peak, "christ-the-redeemer": monuments.christ, "space-needle": lambda: towers.disc_tower(18, 62, PALE, 40), "cn-tower": towers.disc_tower,
    "sky-tower-auckland": lambda: towers.disc_tower(12, 76, "#c9d3da", 20), "n-seoul-tower": lambda: towers.disc_tower(10, 84, "#d6d9dc", 22), "lotus-tower": lambda: towers.disc_tower(20, 60, "#7fae7a", 30),
    "oriental-pearl": towers.pearl, "arc-de-triomphe": monuments.arch_of_triumph, "gateway-of-india": monuments.arch_of_triumph, "india-gate": monuments.arch_of_triumph, "petronas-towers": towers.twins,
    "gateway-arch": towers.gateway, "atomium": towers.atoms, "stonehenge": monuments.stones, "london-eye": towers.wheel, "pantheon": shrines.temple, "acropolis": shrines.temple, "temple-of-artemis": shrines.temple,
    "ephesus": shrines.temple, "hagia-sophia": shrines.mosque, "saint-basils": shrines.onions, "kremlin": shrines.onions, "marina-bay-sands": towers.sands, "fushimi-inari": shrines.torii, "empire-state": towers.skyscraper,
    "taipei-101": towers.skyscraper, "palace-of-culture": towers.skyscraper, "sydney-harbour-bridge": bridges.steel_arch, "dom-luis-bridge": bridges.steel_arch, "forbidden-city": shrines.pagoda,
    "gyeongbokgung": shrines.pagoda, "osaka-castle": shrines.pagoda, "angel-of-independence": towers.column, "obelisco": monuments.obelisk, "monas": towers.column,
    "sphinx": monuments.pyramids, "western-wall": monuments.wall, "great-wall-badaling": monuments.wall, "st-peters": shrines.basilica, "st-pauls": shrines.basilica, "florence-cathedral": shrines.basilica, "st-marks": shrines.basilica,
    "sacre-coeur": shrines.basilica, "helsinki-cathedral": shrines.basilica, "us-capitol": shrines.basilica, "sagrada-familia": shrines.spires, "milan-cathedral": shrines.spires, "hallgrimskirkja": towers.tower,
    "trevi-fountain": palaces.fountain, "little-mermaid": monuments.statue, "merlion": monuments.merlion, "mausoleum-halicarnassus": shrines.temple, "royal-crescent": palaces.palace, "petra-treasury": shrines.temple,
    "one-world-trade": towers.skyscraper, "willis-tower": towers.skyscraper, "times-square": towers.skyscraper, "shibuya-crossing": towers.skyscraper, "lincoln-memorial": shrines.temple,
    "palace-of-fine-arts": shrines.basilica, "griffith-observatory": shrines.basilica, "washington-monument": monuments.obelisk, "hermitage": palaces.palace, "intramuros": palaces.castle,
    "louvre": palaces.glass_pyramid, "boudhanath": shrines.stupa, "white-dagoba": shrines.stupa, "borobudur": shrines.stupa, "tian-tan-buddha": monuments.statue, "hoan-kiem-lake": nature.lake,
    "table-mountain": nature.mesa, "uluru": lambda: nature.mesa("#b5593a"), "giants-causeway": monuments.stones, "easter-island": monuments.faces, "mount-rushmore": monuments.faces,
    "belem-tower": palaces.castle, "rijksmuseum": palaces.palace, "prado": palaces.palace, "anne-frank-house": palaces.houses, "vasa-museum": palaces.modern, "cloud-gate": towers.gateway,
    "chichen-itza": monuments.pyramids, "terracotta-army": monuments.faces, "city-palace-udaipur": palaces.palace, "alcatraz": towers.lighthouse, "grand-palace-bangkok": shrines.stupa,
}  # fmt: skip
