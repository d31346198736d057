"""Every tool that answers from the world: what it does not hold is a gap, what cannot exist is not.

`MISSES` holds for each such tool questions about something plausible that the world does not have, and about
something impossible. A tool of the catalog that is neither here nor among those that cannot miss fails the first test.
"""

import tomllib
from pathlib import Path
from typing import Any

import pytest

from m3bench.tasks import families
from m3bench.tasks.catalog import load_catalog
from m3bench.tasks.outcome import GAP_SENTENCE, text_of
from tests.sandboxes.servers.conftest import Bench

Questions = list[dict[str, Any]]

NOTHING = "?!"
"""Asks for nothing at all."""
SEA = {"latitude": -48.9, "longitude": -123.4}
DESERT = {"latitude": 22.0, "longitude": 4.9}
UNKNOWN_PLACE = "ChIJrTLr-GyuEmsRBfy61i59si0"
SHARES: dict[str, dict[str, Any]] = {
    "get_historical_stock_prices": {"start_date": "2025-10-01", "end_date": "2025-10-08"},
    "get_stock_info": {},
    "get_yahoo_finance_news": {},
    "get_stock_actions": {},
    "get_financial_statement": {"financial_type": "income_stmt"},
    "get_holder_info": {"holder_type": "major_holders"},
    "get_option_expiration_dates": {},
    "get_option_chain": {"expiration_date": "2025-11-21", "option_type": "calls"},
    "get_recommendations": {"recommendation_type": "recommendations"},
}
EVENTS = (
    *("coronal_mass_ejection", "geomagnetic_storm", "solar_flare", "solar_energetic_particle", "magnetopause_crossing"),
    *("radiation_belt_enhancement", "hight_speed_stream", "wsa_enlil_simulation"),
)
PREPRINTS = ("biorxiv", "medrxiv")


def asked(*values: Any, name: str = "query", **more: Any) -> Questions:
    return [{name: value, **more} for value in values]


MISSES: dict[str, tuple[Questions, Questions]] = {
    "wiki/search": (asked("Zwentibold of Lotharingia"), asked(NOTHING)),
    "wiki/summary": (asked("Zwentibold", "Treaty of Nymphenburg", name="title"), asked("[[x]]", NOTHING, name="title")),
    "weather/get_weather": (asked("Uummannatsiaq Bay", "59999", name="location"), asked("00000", "?", name="location")),
    "tmdb/search_movies": (asked("Zwartboek der Tempelritter"), [*asked(NOTHING), *asked("Alien", year=1700)]),
    "openlibrary_mcp/get_book_info": (
        [{"isbn": "9780306406157"}, {"isbn": "0-306-40615-2"}, {"title": "Grundriss der Zwirnkunde"}],
        [{"isbn": "9780306406158"}, {"isbn": "12"}],
    ),
    "Reddit-MCP-Server/search_hot_posts": (
        asked("tinglesociety", "r/zymurgists", name="subreddit"),
        asked("no such place!", "x" * 40, name="subreddit"),
    ),
    "Reddit-MCP-Server/get_post_content": (asked("1zzq9x", name="post_id"), asked("!?", "x" * 30, name="post_id")),
    "amazon/search_products": (asked("theodolite tribrach adapter", name="keywords"), asked(NOTHING, name="keywords")),
    "amazon/get_product": (asked("B0ZZZZ9999", name="asin"), asked("B0", "not-a-number", name="asin")),
    "car-price/search_brand_model_price": (
        [{"brand_name": "Koenigsegg", "model_keyword": "Jesko"}, {"brand_name": "Fiat", "model_keyword": "Zagato"}],
        [{"brand_name": "!", "model_keyword": "x"}],
    ),
    "okx/get_price": (asked("ZZQ-USDT", name="instrument"), asked("nonsense", name="instrument")),
    "okx/get_candlesticks": (asked("ZZQ-USDT", name="instrument"), asked("bitcoin please", name="instrument")),
    "linkimage-mcp/fetch_unsplash_image": (
        asked("https://unsplash.com/photos/a-red-fox-Zq8Yk3pLw0a", name="url"),
        asked("https://unsplash.com/photos/a-b", "https://unsplash.com/photos/!", name="url"),
    ),
    "food_nutrition_mcp/get_nutrition": (asked("100 g of zwieback pudding"), asked("100")),
    "metmuseum-mcp/search-museum-objects": (
        asked("Zwinger pavilion elevation", name="q"),
        [*asked(NOTHING, name="q"), {"q": "", "departmentId": 999}],
    ),
    "metmuseum-mcp/get-museum-object": (
        asked(731_999, name="objectId"),
        asked(-4, 0, 10.5, name="objectId"),
    ),
    "hugeicons-mcp/search_icons": (asked("theodolite"), asked(NOTHING)),
    "hugeicons-mcp/get_icon_glyphs": (asked("zeppelin-09", name="icon_name"), asked("Not An Icon", name="icon_name")),
    "hugeicons-mcp/get_icon_glyph_by_style": (
        asked("zeppelin-09", name="icon_name", style="stroke-rounded"),
        asked("Not An Icon", name="icon_name", style="stroke-rounded"),
    ),
    "nationalparks/findParks": (asked("theodolite workshops", name="q"), asked(NOTHING, name="q")),
    "nationalparks/getParkDetails": (asked("zzqx", name="parkCode"), asked("z9", "yellowstone", name="parkCode")),
    "nationalparks/getAlerts": (asked("zzqx", name="parkCode"), asked("y9", name="parkCode")),
    "nationalparks/getVisitorCenters": (asked("zzqx", name="parkCode"), asked("y9", name="parkCode")),
    "nationalparks/getCampgrounds": (asked("zzqx", name="parkCode"), asked("y9", name="parkCode")),
    "nationalparks/getEvents": (
        asked("zzqx", name="parkCode"),
        [{"dateStart": "2026-03-01", "dateEnd": "2026-01-01"}, {"parkCode": "y9"}],
    ),
    **{
        f"paper_search/search_{home}": (asked("zymurgical quokka telemetry"), asked(NOTHING))
        for home in ("arxiv", "pubmed", *PREPRINTS, "google_scholar", "iacr")
    },
    "paper_search/search_semantic": (asked("zymurgical quokka telemetry"), asked("learning", year="2031-2040")),
    "paper_search/search_crossref": (asked("zymurgical quokka telemetry", kwargs=""), asked(NOTHING, kwargs="")),
    "paper_search/get_crossref_paper_by_doi": (asked("10.5555/3295222", name="doi"), asked("eleven", name="doi")),
    **{
        f"paper_search/{tool}": (
            asked("2401.99999", "hep-th/9901001", name="paper_id"),
            asked("2413.00001", "9901.12345", "abc", name="paper_id"),
        )
        for tool in ("download_arxiv", "read_arxiv_paper")
    },
    **{
        f"paper_search/{tool}": (asked("10.1101/1999.01.01.999999", name="paper_id"), asked("abc", name="paper_id"))
        for home in PREPRINTS
        for tool in (f"download_{home}", f"read_{home}_paper")
    },
    **{
        f"paper_search/{tool}": (asked("2019/9999", name="paper_id"), asked("1890/1", "abc", name="paper_id"))
        for tool in ("download_iacr", "read_iacr_paper")
    },
    **{
        f"paper_search/{tool}": (
            asked("ARXIV:2401.99999", "PMID:99999999", "10.5555/3295222", name="paper_id"),
            asked("ARXIV:9913.1", "who", name="paper_id"),
        )
        for tool in ("download_semantic", "read_semantic_paper")
    },
    "healthcare-mcp/fda_drug_lookup": (asked("zymurgastatin", name="drug_name"), asked("1234", name="drug_name")),
    "healthcare-mcp/pubmed_search": (asked("zymurgical quokka telemetry"), asked(NOTHING)),
    "healthcare-mcp/medrxiv_search": (asked("zymurgical quokka telemetry"), asked(NOTHING)),
    "healthcare-mcp/ncbi_bookshelf_search": (asked("zymurgical quokka telemetry"), asked(NOTHING)),
    "healthcare-mcp/health_topics": (asked("quokka bites", name="topic"), asked(NOTHING, name="topic")),
    "healthcare-mcp/clinical_trials_search": (asked("quokka allergy", name="condition"), asked("?", name="condition")),
    "healthcare-mcp/lookup_icd_code": (
        asked("quokka zymurgy", name="description"),
        [{"code": "ZZ9.9"}, {"description": NOTHING}],
    ),
    "nasa-mcp/get_asteroids_feed": ([], asked("2025-13-01", name="start_date")),
    "nasa-mcp/get_asteroid_lookup": (asked("3999999", name="asteroid_id"), asked("Bennu?", "12", name="asteroid_id")),
    **{
        f"nasa-mcp/get_{event}": (
            [{"start_date": "2013-05-01", "end_date": "2013-05-20"}],
            [
                {"start_date": "2031-05-01", "end_date": "2031-05-20"},
                {"start_date": "1950-01-01", "end_date": "1950-02-01"},
                {"start_date": "2025-02-30", "end_date": "2025-03-02"},
            ],
        )
        for event in (*EVENTS, "notifications")
    },
    "nasa-mcp/get_earth_imagery": (
        [],
        [{"lat": -48.9, "lon": -123.4}, {"lat": 48.8, "lon": 2.3, "date": "1999-01-01"}],
    ),
    "nasa-mcp/get_earth_assets": ([], [{"lat": 48.8, "lon": 2.3, "date": "1999-01-01"}]),
    "nasa-mcp/get_epic_imagery_by_date": ([], asked("2012-01-01", "2019-10-01", "2031-01-01", name="date")),
    "nasa-mcp/get_exoplanet_data": (asked("pl_name='Quokka 9 b'"), asked("no_such_column=1")),
    "nasa-mcp/get_mars_rover_photos": (
        [],
        [{"rover_name": "curiosity", "sol": 999_999}, {"rover_name": "curiosity", "earth_date": "1999-01-01"}],
    ),
    "nasa-mcp/get_astronomy_picture_of_day": ([], asked("1990-01-01", "2025-02-30", name="date")),
    "nixos/nixos_search": (
        [{"query": "zymurgyctl", "search_type": kind} for kind in ("packages", "options", "programs", "flakes")],
        asked(NOTHING, "duskterm"),
    ),
    "nixos/nixos_info": (
        [{"name": "zymurgyctl"}, {"name": "services.zymurgy.enable", "type": "option"}],
        [{"name": "not a name!"}, {"name": "a b", "type": "option"}],
    ),
    "nixos/nixos_flakes_search": (asked("zymurgyctl"), []),
    **{
        f"nixos/{manual}_{tool}": (asked("programs.zymurgy", name=name), asked("?!", name=name))
        for manual in ("home_manager", "darwin")
        for tool, name in (("search", "query"), ("info", "name"), ("options_by_prefix", "option_prefix"))
    },
    "nixos/nixhub_package_versions": (asked("zymurgyctl", name="package_name"), asked("a b!", name="package_name")),
    "nixos/nixhub_find_version": (
        [{"package_name": "zymurgyctl", "version": "1.0"}, {"package_name": "git", "version": "1.7.0.4"}],
        [{"package_name": "git", "version": "newest please"}],
    ),
    "google-maps/geocode": (asked("Zwentiboldstraat 900, Quokkaville", name="address"), asked("?!", name="address")),
    "google-maps/reverse_geocode": ([], [{"lat": SEA["latitude"], "lng": SEA["longitude"]}]),
    "google-maps/places_text_search": (asked("Zwentibold memorial obelisk"), asked(NOTHING)),
    "google-maps/places_nearby_search": (
        [{"location": DESERT, "radiusMeters": 500, "includedTypes": ["aquarium"]}],
        [{"location": SEA, "radiusMeters": 500}],
    ),
    "google-maps/place_details": (asked(UNKNOWN_PLACE, name="place_id"), asked("nowhere", name="place_id")),
    "google-maps/place_photo_media": (
        asked(f"places/{UNKNOWN_PLACE}/photos/AXCi2Q7", name="photo_resource"),
        asked("places/x/photos/y", name="photo_resource"),
    ),
    "google-maps/compute_route": (
        [
            {"origin": {"address": "Paris"}, "destination": {"address": "Zwentiboldstraat 900, Quokkaville"}},
            {"origin": {"address": "Paris"}, "destination": {"placeId": UNKNOWN_PLACE}},
        ],
        [
            {"origin": {"address": "Paris"}, "destination": {"placeId": "x"}},
            {"origin": {"address": "Paris"}, "destination": {"address": "New York"}},
        ],
    ),
    "google-maps/directions_legacy": (
        [{"origin": "Paris", "destination": "Zwentiboldstraat 900, Quokkaville"}],
        [{"origin": "Paris", "destination": "New York, USA"}, {"origin": "Paris", "destination": "place_id:x"}],
    ),
    "google-maps/distance_matrix": (
        [{"origins": ["Paris"], "destinations": ["Zwentiboldstraat 900, Quokkaville"]}],
        [{"origins": ["Paris"], "destinations": ["New York, USA"]}],
    ),
    "google-maps/static_map": (asked("Zwentiboldstraat 900, Quokkaville", name="center"), asked("?!", name="center")),
    "google-maps/roads_snap_to_roads": ([], [{"path": ["-48.9,-123.4"]}]),
    "google-maps/roads_nearest_roads": ([], [{"points": ["-48.9,-123.4"]}]),
    "google-maps/roads_speed_limits": ([{"placeIds": [UNKNOWN_PLACE]}], [{"placeIds": ["x"]}]),
    **{
        f"yahoo-finance/{tool}": (
            asked("ZZQX", "ZZQ.DE", "^ZZQX", name="ticker", **more),
            asked("not a ticker!", name="ticker", **more),
        )
        for tool, more in SHARES.items()
    },
}

COMPUTED = {
    "car-price/get_car_brands", "google-air/current_conditions", "google-air/forecast", "google-air/history",
    "google-air/heatmap_tile", "google-maps/timezone", "google-maps/elevation_by_locations",
    "google-maps/elevation_along_path", "google-maps/geolocate_home", "google-maps/ping",
    "google-maps/street_view_image", "healthcare-mcp/calculate_bmi", "healthcare-mcp/extract_dicom_metadata",
    "healthcare-mcp/get_usage_stats", "healthcare-mcp/get_all_usage_stats", "hugeicons-mcp/list_icons",
    "hugeicons-mcp/get_platform_usage", "metmuseum-mcp/list-departments", "nasa-mcp/browse_asteroids",
    "nasa-mcp/get_epic_imagery", "nasa-mcp/get_epic_dates", "nasa-mcp/get_mars_rover_manifest",
    "nixos/nixos_channels", "nixos/nixos_stats", "nixos/home_manager_stats", "nixos/home_manager_list_options",
    "nixos/darwin_stats", "nixos/darwin_list_options", "nixos/nixos_flakes_stats",
    *(f"paper_search/{verb}" for home in ("pubmed", "crossref") for verb in (f"download_{home}", f"read_{home}_paper")),
}  # fmt: skip
"""Tools that list what there is, compute an answer for any input, or read the caller's own files."""

OWN_FILES = {"dinox-mcp", "excel", "imagesorcery-mcp", "math", "ocr", "ppt", "pyzbar-mcp"}
"""Servers that work on what they are given."""

GAPS = ("gap", "empty")
ABSENT = [(tool, given) for tool, (absent, _) in MISSES.items() for given in absent]
IMPOSSIBLE = [(tool, given) for tool, (_, impossible) in MISSES.items() for given in impossible]


def names(cases: list[tuple[str, dict[str, Any]]]) -> list[str]:
    return [f"{tool} {str(given)[:40]}" for tool, given in cases]


def test_every_tool_that_can_miss_is_tried() -> None:
    catalog = {tool.qualified for server in load_catalog().servers for tool in server.tools}
    assert {tool for tool in catalog if tool.partition("/")[0] not in OWN_FILES} == set(MISSES) | COMPUTED


@pytest.mark.sample(10)
@pytest.mark.parametrize(("tool", "given"), ABSENT, ids=names(ABSENT))
def test_what_the_world_does_not_hold_is_a_gap_and_the_answer_says_so(
    bench: Bench, tool: str, given: dict[str, Any]
) -> None:
    reply = bench.reply(tool, given)
    assert reply.outcome in GAPS, reply
    assert text_of(reply.result).endswith(GAP_SENTENCE)


@pytest.mark.sample(10)
@pytest.mark.parametrize(("tool", "given"), IMPOSSIBLE, ids=names(IMPOSSIBLE))
def test_what_cannot_exist_is_no_gap(bench: Bench, tool: str, given: dict[str, Any]) -> None:
    reply = bench.reply(tool, given)
    assert reply.outcome not in GAPS, reply
    assert GAP_SENTENCE not in text_of(reply.result)


def test_what_is_held_in_part_is_given_and_the_rest_is_said_to_be_missing(bench: Bench) -> None:
    reply = bench.reply(
        "google-maps/distance_matrix", origins=["Paris"], destinations=["Lyon", "Zwentiboldstraat 900, Quokkaville"]
    )
    assert reply.outcome == "success"
    assert text_of(reply.result).endswith(GAP_SENTENCE)
    assert '"distance"' in text_of(reply.result)


def test_programs_that_tasks_think_up_are_known_not_to_be_packaged(bench: Bench) -> None:
    file = Path(families.__file__).parent.parent / "data" / "families" / "nixos_diagnostic.toml"
    for name in tomllib.loads(file.read_text(encoding="utf-8"))["tables"]["unknown"]:
        assert bench.reply("nixos/nixos_search", query=name).outcome == "success"
        assert bench.reply("nixos/nixos_info", name=name).outcome == "not_found"


def test_a_share_that_is_held_has_gaps_of_its_own(bench: Bench) -> None:
    days = {"start_date": "1999-03-01", "end_date": "1999-03-05"}
    assert bench.reply("yahoo-finance/get_historical_stock_prices", ticker="AAPL", **days).outcome == "empty"
    days = {"start_date": "2031-03-01", "end_date": "2031-03-05"}
    assert bench.reply("yahoo-finance/get_historical_stock_prices", ticker="AAPL", **days).outcome == "success"
    chain = {"ticker": "AAPL", "option_type": "calls"}
    assert bench.reply("yahoo-finance/get_option_chain", **chain, expiration_date="2025-11-12").outcome == "gap"
    assert bench.reply("yahoo-finance/get_option_chain", **chain, expiration_date="2025-11-15").outcome == "not_found"


@pytest.mark.parametrize(
    ("tool", "name"),
    [
        ("google-maps/geocode", "address"),
        ("google-maps/places_text_search", "query"),
        ("wiki/search", "query"),
        ("paper_search/search_arxiv", "query"),
        ("weather/get_weather", "location"),
        ("healthcare-mcp/lookup_icd_code", "description"),
        ("Reddit-MCP-Server/search_hot_posts", "subreddit"),
    ],
)
def test_a_megabyte_is_no_query(bench: Bench, tool: str, name: str) -> None:
    reply = bench.reply(tool, {name: "a b, " * 200_000})
    assert reply.outcome == "invalid_arguments"
    assert "1000000 characters (expected at most 2000)" in reply.result["content"][0]["text"]
