"""`shores` from the towns and the mask of the sea: towns that stand where the mask, a kilometre coarse, has water.

Towns that the heights around them would put below the sea are there too, but for lands that really lie lower.
"""

import numpy as np

from m3bench.sandboxes.world import land, settlements, tables, terrain
from m3bench.sandboxes.world.build.writing import write

LOW = ("DE", "IL", "IR", "JO", "KZ", "NL", "PS", "RU", "TM", "US")
"""Countries with towns below the level of the sea: behind dikes, at the Caspian or the Dead Sea, in New Orleans."""


def main() -> None:
    """Write the table."""
    towns = settlements.settlements()
    points = [town.point for town in towns]
    lats, lngs = np.array([point.lat for point in points]), np.array([point.lng for point in points])
    dry = land.sea_mask(lats, lngs)
    low = terrain.elevations(lats, lngs) <= 0
    wet = {
        (point.lat, point.lng)
        for town, point, is_dry, is_low in zip(towns, points, dry, low, strict=True)
        if not is_dry or (is_low and town.country not in LOW)
    }
    # Those that are mended stay: without them they would be low again.
    wet |= {(record["lat"], record["lng"]) for record in tables.load("shores")}
    source = (
        "Positions of towns from GeoNames (geonames.org) that lie outside the mask of the land "
        "or would be below the sea."
    )
    write("shores", source, "CC-BY-4.0", [{"lat": lat, "lng": lng} for lat, lng in sorted(wet)])


if __name__ == "__main__":
    main()
