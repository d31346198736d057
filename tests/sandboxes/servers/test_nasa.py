"""The `nasa-mcp` server lays its answers out as the public one means to."""

import csv
import io
import re
from datetime import date, timedelta
from xml.etree import ElementTree

import pytest

from m3bench.sandboxes.world import tables
from tests.sandboxes.servers.conftest import Bench

SPANNED = [
    "get_coronal_mass_ejection",
    "get_geomagnetic_storm",
    "get_solar_flare",
    "get_solar_energetic_particle",
    "get_magnetopause_crossing",
    "get_radiation_belt_enhancement",
    "get_hight_speed_stream",
    "get_wsa_enlil_simulation",
    "get_notifications",
]


def ids(text: str) -> list[str]:
    return re.findall(r"^ID: (\S+)$", text, re.M)


def test_the_flares_of_a_famous_day_are_listed_with_their_ejections(bench: Bench) -> None:
    day = {"start_date": "2025-01-03", "end_date": "2025-01-03"}
    flares = bench.text("nasa-mcp/get_solar_flare", day)
    assert flares.startswith("Solar Flares found: ")
    assert re.search(r"Peak Time: 2025-01-03T11:39Z\nEnd Time: \S+\nClass: X1\.2\nSource Location: N16E63\n", flares)
    assert re.search(r"Peak Time: 2025-01-03T22:41Z\nEnd Time: \S+\nClass: X1\.1\n", flares)
    related = set(re.findall(r"\S+-CME-\d{3}", flares))
    assert related
    assert related <= set(ids(bench.text("nasa-mcp/get_coronal_mass_ejection", day)))


def test_announced_flares_are_those_of_the_record(bench: Bench) -> None:
    span = {"start_date": "2025-01-01", "end_date": "2025-01-10"}
    messages = bench.text("nasa-mcp/get_notifications", {**span, "notification_type": "FLR"})
    assert messages.startswith("Notifications found: 3\n\nID: 20250104-AL-")
    for name in re.findall(r"Activity ID: (\S+-FLR-\d{3})", messages):
        day = name[:10]
        assert name in bench.text("nasa-mcp/get_solar_flare", start_date=day, end_date=day)


@pytest.mark.parametrize("tool", SPANNED)
def test_a_span_defaults_to_the_last_days_and_may_be_empty(bench: Bench, tool: str) -> None:
    assert re.search(r"found: \d+|No .* found for the specified period", bench.text(f"nasa-mcp/{tool}"))
    empty = bench.text(f"nasa-mcp/{tool}", start_date="2019-01-01", end_date="2019-01-31")
    assert re.fullmatch(r"No .+ found for the specified period( and type)?\.", empty)


@pytest.mark.parametrize("tool", SPANNED)
@pytest.mark.parametrize(
    "span",
    [
        {"start_date": "yesterday"},
        {"start_date": "2025-13-01"},
        {"end_date": "2025-02-30"},
        {"start_date": "2025-02-02", "end_date": "2025-02-01"},
    ],
)
def test_what_is_no_span_is_an_api_error_in_plain_text(bench: Bench, tool: str, span: dict[str, str]) -> None:
    reply = bench.reply(f"nasa-mcp/{tool}", span)
    assert reply.outcome == "invalid_arguments"
    assert reply.result["isError"] is False
    assert reply.result["content"][0]["text"].startswith("API Error: HTTP error: 400 - Details: ")


def test_long_lists_are_cut_and_counted(bench: Bench) -> None:
    text = bench.text("nasa-mcp/get_solar_flare", start_date="2024-05-01", end_date="2024-05-31")
    total = int(text.split()[3])
    assert len(ids(text)) == 10
    assert text.endswith(f"\n\n... and {total - 10} more entries.")


def test_an_unknown_kind_of_message_is_refused_by_name(bench: Bench) -> None:
    assert "Available types: all, FLR" in bench.error("nasa-mcp/get_notifications", notification_type="XYZ")
    assert "Type: Report" in bench.text(
        "nasa-mcp/get_notifications", start_date="2025-03-01", end_date="2025-03-31", notification_type="report"
    )


def test_a_picture_has_date_title_text_and_address(bench: Bench) -> None:
    text = bench.text("nasa-mcp/get_astronomy_picture_of_day", date="2024-02-29")
    assert [line.partition(": ")[0] for line in text.splitlines()] == ["Date", "Title", "Explanation", "URL"]
    several = bench.text("nasa-mcp/get_astronomy_picture_of_day", count=5)
    assert several.count("-" * 40) == several.count("Title: ") == 5
    assert bench.text("nasa-mcp/get_astronomy_picture_of_day").startswith("Date: 2025-11-01\n")


def test_films_have_a_thumbnail_when_asked_for(bench: Bench) -> None:
    day, film = date(2024, 1, 1), ""
    while "mp4" not in film:
        day += timedelta(days=1)
        film = bench.text("nasa-mcp/get_astronomy_picture_of_day", date=day.isoformat(), thumbs=True)
    assert "\nThumbnail URL: " in film


@pytest.mark.parametrize("arguments", [{"date": "1995-06-15"}, {"date": "2025-11-02"}, {"count": 101}, {"count": -1}])
def test_pictures_outside_the_range_are_refused(bench: Bench, arguments: dict[str, object]) -> None:
    assert bench.error("nasa-mcp/get_astronomy_picture_of_day", arguments).startswith("API Error: HTTP error: 400")


def test_a_week_of_asteroids_adds_up_and_each_can_be_looked_up(bench: Bench) -> None:
    text = bench.text("nasa-mcp/get_asteroids_feed", start_date="2025-10-25")
    total = int(text.split("\n")[0].split()[-1])
    counts = re.findall(r"Number of asteroids: (\d+)", text)
    assert len(counts) == 8
    assert sum(map(int, counts)) == total == text.count("  ID: ")
    for found in re.findall(r"  ID: (\d+)\n  Name: (.+)", text)[::10]:
        assert bench.text("nasa-mcp/get_asteroid_lookup", asteroid_id=found[0]).startswith(
            f"ID: {found[0]}\nName: {found[1]}\n"
        )
    assert "API Error" in bench.error("nasa-mcp/get_asteroids_feed", start_date="2025-01-01", end_date="2025-01-09")
    assert "HTTP error: 404" in bench.error("nasa-mcp/get_asteroid_lookup", asteroid_id="1")


def test_the_catalogue_opens_with_ten_asteroids(bench: Bench) -> None:
    text = bench.text("nasa-mcp/browse_asteroids")
    assert text.startswith(
        f"Page 0 of 6\nTotal elements: {len(tables.load('asteroids'))}\n\nID: 2000433\nName: 433 Eros"
    )
    assert text.count("-" * 40) == 10


@pytest.mark.parametrize(
    ("query", "names"),
    [
        ("pl_name = 'Proxima Cen b'", {"Proxima Cen b"}),
        ("hostname = 'trappist-1' and pl_rade < 0.8", {"TRAPPIST-1 d", "TRAPPIST-1 h"}),
        ("pl_hostname like 'WASP-1%' and pl_disc between 2008 and 2009", {f"WASP-1{n} b" for n in (2, 7, 8, 9)}),
        ("pl_letter in ('g', 'h') and not pl_hostname like 'Kepler%' and st_dist < 13", None),
        ("(pl_orbper > 300 and pl_rade < 2) or pl_orbper is null and pl_disc > 2010", None),
        ("pl_bmassj >= 10", None),
    ],
)
def test_exoplanets_are_selected_by_conditions(bench: Bench, query: str, names: set[str] | None) -> None:
    text = bench.text("nasa-mcp/get_exoplanet_data", query=query)
    found = set(re.findall(r"  pl_name: (.+)", text))
    assert found
    assert names is None or found == names
    assert text.startswith(f"Found {len(found)} entries:")


@pytest.mark.parametrize(
    "query", ["pl_colour = 1", "pl_rade <", "pl_rade < 2)", "(((", "pl_rade is 3", "1 = 1", "drop table x", "$", "'"]
)
def test_what_is_no_condition_is_refused_with_the_reason(bench: Bench, query: str) -> None:
    text = bench.error("nasa-mcp/get_exoplanet_data", query=query)
    assert text.startswith("Error: Exoplanet Archive returned HTTP status 400. Response: the condition")


def test_exoplanets_come_in_other_formats(bench: Bench) -> None:
    arguments = {"query": "pl_hostname = 'HR 8799'"}
    text = bench.text("nasa-mcp/get_exoplanet_data", {**arguments, "format": "csv"})
    rows = list(csv.DictReader(io.StringIO(text.partition("\n")[2])))
    assert [row["pl_name"] for row in rows] == [f"HR 8799 {letter}" for letter in "bcde"]
    text = bench.text("nasa-mcp/get_exoplanet_data", {**arguments, "format": "xml"})
    assert len(ElementTree.fromstring(text.partition("\n")[2]).findall("row")) == 4
    assert bench.text("nasa-mcp/get_exoplanet_data", format="csv").endswith("\n... (response truncated)")
    assert bench.text("nasa-mcp/get_exoplanet_data", query="pl_rade > 90") == (
        "No exoplanet data found for the specified query."
    )
    assert "table" in bench.error("nasa-mcp/get_exoplanet_data", table="tce")


def test_rover_photos_are_paged_and_filtered(bench: Bench) -> None:
    call = {"rover_name": "Curiosity", "sol": 1000}
    pages: list[str] = []
    while (text := bench.text("nasa-mcp/get_mars_rover_photos", {**call, "page": len(pages) + 1})).startswith("Mars"):
        pages.append(text)
    counts = [int(page.split("): ")[1].split()[0]) for page in pages]
    assert all(count == 25 for count in counts[:-1])
    assert text == f"No photos found for rover 'curiosity' with criteria: sol=1000, page {len(pages) + 1}."
    only = bench.text("nasa-mcp/get_mars_rover_photos", {**call, "camera": "navcam"})
    assert set(re.findall(r"^Camera: (\w+)", only, re.M)) == {"NAVCAM"}
    same = bench.text("nasa-mcp/get_mars_rover_photos", rover_name="curiosity", earth_date="2015-05-30")
    assert same == pages[0]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"rover_name": "viking", "sol": 1}, "Invalid rover name. Available rovers: curiosity, opportunity, spirit"),
        ({"rover_name": "spirit"}, "Error: Specify either sol or earth_date."),
        (
            {"rover_name": "spirit", "sol": 1, "earth_date": "2004-02-01"},
            "Error: Specify either sol or earth_date, but not both.",
        ),
        (
            {"rover_name": "spirit", "sol": 1, "camera": "MAST"},
            "Invalid camera 'MAST' for rover 'spirit'. Available cameras: FHAZ, RHAZ, NAVCAM, PANCAM, MINITES",
        ),
    ],
)
def test_rover_mistakes_are_told_in_plain_text(bench: Bench, arguments: dict[str, object], message: str) -> None:
    assert bench.error("nasa-mcp/get_mars_rover_photos", arguments) == message


def test_a_manifest_has_the_dates_of_the_mission(bench: Bench) -> None:
    text = bench.text("nasa-mcp/get_mars_rover_manifest", rover_name="spirit")
    assert "Launch Date: 2003-06-10\nLanding Date: 2004-01-04\nMax Sol: 2208\nMax Earth Date: 2010-03-21\n" in text
    assert text.count("  Sol ") == 5


def test_the_earth_is_seen_from_space(bench: Bench) -> None:
    scene = bench.text("nasa-mcp/get_earth_assets", lat=37.48, lon=-122.21, date="2014-03-20")
    assert "Date (closest): 2014-03-18\nID: LANDSAT/LC08/C02/T1/LC08_L1TP_044034_20140318" in scene
    image = bench.text("nasa-mcp/get_earth_imagery", lat=37.48, lon=-122.21)
    assert "api_key" not in image
    assert "No Landsat 8 imagery available" in bench.error("nasa-mcp/get_earth_imagery", lat=0, lon=-150)
    assert "No Landsat 8 assets found" in bench.error("nasa-mcp/get_earth_assets", lat=48, lon=2, date="2010-01-01")
    assert "API Error" in bench.error("nasa-mcp/get_earth_imagery", lat=91, lon=0)


def test_epic_pictures_exist_on_listed_days_alone(bench: Bench) -> None:
    listed = re.findall(r"\d{4}-\d\d-\d\d", bench.text("nasa-mcp/get_epic_dates"))
    assert "2024-04-08" in listed
    assert "2019-12-01" not in listed
    assert bench.text("nasa-mcp/get_epic_imagery_by_date", date="2019-12-01") == (
        "No EPIC images available for the specified date (2019-12-01)."
    )
    text = bench.text("nasa-mcp/get_epic_imagery_by_date", date="2024-04-08", collection="enhanced")
    assert "Image Name: epic_RGB_20240408" in text
    assert "api_key" not in text
    assert bench.error("nasa-mcp/get_epic_imagery", collection="infrared") == (
        "Invalid collection. Available options: natural, enhanced."
    )
