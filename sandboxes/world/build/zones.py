"""`zones` from Babel: what the time zones are called in English, in winter and in summer (CLDR)."""

from importlib import import_module
from importlib.metadata import version
from zoneinfo import available_timezones

from m3bench.sandboxes.world.build.writing import write


def main() -> None:
    """Write the table."""
    name_of = import_module("babel.dates").get_timezone_name
    groups = import_module("babel.core").get_global("meta_zones")
    records = []
    for zone in sorted(available_timezones()):
        if zone in groups:
            standard = name_of(zone, width="long", zone_variant="standard", locale="en_US")
            daylight = name_of(zone, width="long", zone_variant="daylight", locale="en_US")
            records.append({"id": zone, "standard": standard, "daylight": daylight})
    write("zones", f"Unicode CLDR, by way of Babel {version('babel')}.", "Unicode-3.0", records)


if __name__ == "__main__":
    main()
