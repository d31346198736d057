"""`airports` from the package airportsdata (MIT): airports that have an IATA code.

Run it with the path of the wheel that `pip download --no-deps airportsdata==20260905` leaves.
"""

import csv
import io
import sys
import unicodedata
import zipfile

from m3bench.sandboxes.world import tables
from m3bench.sandboxes.world.build.writing import write

_FOOT = 0.3048


def main(wheel: str) -> None:
    """Write the table."""
    countries = {record["id"] for record in tables.load("countries")}
    with zipfile.ZipFile(wheel) as package:
        text = package.read("airportsdata/airports.csv").decode("utf-8")
    records = [
        {
            "id": row["iata"],
            "name": unicodedata.normalize("NFC", row["name"].strip()),
            "city": unicodedata.normalize("NFC", row["city"].strip()),
            "country": row["country"],
            "lat": round(float(row["lat"]), 4),
            "lng": round(float(row["lon"]), 4),
            "metres": round(float(row["elevation"]) * _FOOT),
        }
        for row in csv.DictReader(io.StringIO(text))
        if row["iata"] and row["name"].strip() and row["country"] in countries
    ]
    source = "airportsdata 20260905: airports with an IATA code."
    write("airports", source, "MIT", sorted(records, key=lambda record: str(record["id"])))


if __name__ == "__main__":
    main(sys.argv[1])
