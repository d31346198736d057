"""`zips` from the zipcodes package: every ordinary and box ZIP code of the USA with its post town.

One record per state and three-digit prefix; an entry reads "code latitude longitude town".
"""

from importlib import import_module
from importlib.metadata import version

from m3bench.sandboxes.world.build.writing import write


def main() -> None:
    """Write the table."""
    groups: dict[tuple[str, str], list[str]] = {}
    for entry in sorted(import_module("zipcodes").list_all(), key=lambda entry: entry["zip_code"]):
        if entry["active"] and entry["zip_code_type"] in ("STANDARD", "PO BOX") and float(entry["lat"]):
            code = entry["zip_code"]
            position = f"{float(entry['lat']):.3f} {float(entry['long']):.3f}"
            groups.setdefault((code[:3], entry["state"]), []).append(f"{code} {position} {entry['city']}")
    records = [
        {"id": f"{prefix}-{state}", "state": state, "entries": entries}
        for (prefix, state), entries in sorted(groups.items())
    ]
    write("zips", f"zipcodes {version('zipcodes')}.", "MIT", records)


if __name__ == "__main__":
    main()
