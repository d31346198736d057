"""`heights` from airportsdata: ground elevations all over the world, one airfield per half degree.

Of several fields in a cell the one nearest to the cell's centre stays. Elevations come in feet.
"""

import csv
import io
import math
from importlib.metadata import version
from importlib.resources import files

from m3bench.sandboxes.world.build.writing import write

CELL_DEGREES = 0.5
METRES_PER_FOOT = 0.3048


def main() -> None:
    """Write the table."""
    text = (files("airportsdata") / "airports.csv").read_text(encoding="utf-8")
    best: dict[tuple[int, int], tuple[float, dict[str, object]]] = {}
    for field in csv.DictReader(io.StringIO(text)):
        lat, lng, feet = float(field["lat"]), float(field["lon"]), float(field["elevation"] or 0)
        if feet == 0 or not -1500 < feet < 16000:
            continue
        row, column = math.floor(lat / CELL_DEGREES), math.floor(lng / CELL_DEGREES)
        off = math.hypot(lat - (row + 0.5) * CELL_DEGREES, lng - (column + 0.5) * CELL_DEGREES)
        if (row, column) not in best or off < best[row, column][0]:
            metres = round(feet * METRES_PER_FOOT)
            best[row, column] = (off, {"lat": round(lat, 3), "lng": round(lng, 3), "metres": metres})
    source = f"Airport elevations of airportsdata {version('airportsdata')}."
    write("heights", source, "MIT", [record for _, (_, record) in sorted(best.items(), key=lambda item: item[0])])


if __name__ == "__main__":
    main()
