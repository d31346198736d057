"""`zones` from Babel: what the time zones are called in English, in winter and in summer (CLDR)."""

from importlib import import_module
from importlib.metadata import version
from zoneinfo import available_timezones

from m3bench.sandboxes.world.build.writing import write

RENAMED = {
    "Africa/Asmara": "Africa/Asmera",
    "America/Argentina/Buenos_Aires": "America/Buenos_Aires",
    "America/Argentina/Catamarca": "America/Catamarca",
    "America/Argentina/Cordoba": "America/Cordoba",
    "America/Argentina/Jujuy": "America/Jujuy",
    "America/Argentina/Mendoza": "America/Mendoza",
    "America/Atikokan": "America/Coral_Harbour",
    "America/Indiana/Indianapolis": "America/Indianapolis",
    "America/Kentucky/Louisville": "America/Louisville",
    "America/Nuuk": "America/Godthab",
    "Asia/Ho_Chi_Minh": "Asia/Saigon",
    "Asia/Kathmandu": "Asia/Katmandu",
    "Asia/Kolkata": "Asia/Calcutta",
    "Asia/Yangon": "Asia/Rangoon",
    "Atlantic/Faroe": "Atlantic/Faeroe",
    "Europe/Kyiv": "Europe/Kiev",
    "Pacific/Chuuk": "Pacific/Truk",
    "Pacific/Pohnpei": "Pacific/Ponape",
}
"""Zones that the names of CLDR know by an older id."""


def main() -> None:
    """Write the table."""
    name_of = import_module("babel.dates").get_timezone_name
    groups = import_module("babel.core").get_global("meta_zones")
    records = []
    for zone in sorted(available_timezones()):
        known = zone if zone in groups else RENAMED.get(zone)
        if known in groups:
            standard = name_of(known, width="long", zone_variant="standard", locale="en_US")
            daylight = name_of(known, width="long", zone_variant="daylight", locale="en_US")
            records.append({"id": zone, "standard": standard, "daylight": daylight})
    write("zones", f"Unicode CLDR, by way of Babel {version('babel')}.", "Unicode-3.0", records)


if __name__ == "__main__":
    main()
