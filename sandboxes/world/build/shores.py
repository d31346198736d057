"""`shores` from the towns and the mask of the sea: towns that stand where the mask, a kilometre coarse, has water."""

import numpy as np

from m3bench.sandboxes.world import land, settlements
from m3bench.sandboxes.world.build.writing import write


def main() -> None:
    """Write the table."""
    points = [town.point for town in settlements.settlements()]
    dry = land.sea_mask(np.array([point.lat for point in points]), np.array([point.lng for point in points]))
    wet = {(point.lat, point.lng) for point, is_dry in zip(points, dry, strict=True) if not is_dry}
    source = "Positions of towns from GeoNames (geonames.org) that lie outside the mask of the land."
    write("shores", source, "CC-BY-4.0", [{"lat": lat, "lng": lng} for lat, lng in sorted(wet)])


if __name__ == "__main__":
    main()
