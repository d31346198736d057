"""Which calls the manifest of results holds, by rule: the tools' examples, their variations, and the world.

Each tool's example is made as it is, without each optional argument, with each other choice of an enum and each
truth value turned round. Then the columns below replace arguments of the example by values out of the world's
tables, so that the calls grow with the world and a new server needs only its lines here.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from hashlib import sha256
from itertools import pairwise
from typing import Any

from m3bench.sandboxes.world import shop, tables
from m3bench.tasks.catalog import Tool, load_catalog
from m3bench.tasks.examples import load_examples

Arguments = Mapping[str, Any]
Columns = Mapping[str, Sequence[Any]]
"""Argument to its values; columns of one rule are read side by side, and `...` leaves the argument out."""

_NAMES = ("id", "name", "title", "attribute", "word", "designation")
"""What records are called by."""


def calls(server: str) -> Iterator[tuple[str, Arguments]]:
    """Every call of the rule to a server: canonical tool name and arguments, none of them twice."""
    examples = load_examples(server)
    for tool in load_catalog().by_name[server].tools:
        made: list[Arguments] = []
        for arguments in _variations(tool, dict(examples.calls[tool.name])):
            if arguments not in made:
                made.append(arguments)
                yield tool.qualified, arguments


def _variations(tool: Tool, example: dict[str, Any]) -> Iterator[Arguments]:
    yield example
    required = tool.input_schema.get("required", ())
    for name, schema in tool.input_schema.get("properties", {}).items():
        if name in example and name not in required:
            yield {other: value for other, value in example.items() if other != name}
        for choice in schema.get("enum", ()):
            yield {**example, name: choice}
        if schema.get("type") == "boolean":
            yield {**example, name: not example.get(name, schema.get("default", False))}
    columns = WORLD[tool.qualified]() if tool.qualified in WORLD else {}
    for row in zip(*columns.values(), strict=True):
        arguments = {**example, **dict(zip(columns, row, strict=True))}
        yield {name: value for name, value in arguments.items() if value is not ...}


def column(table: str, key: str, count: int) -> list[Any]:
    """The values of a column of a table, of some of the records that have one.

    Which ones is drawn by what the records are called: other columns give the same records, and a record that is
    added to a table leaves nearly all calls as they were.
    """
    records = [record for record in tables.load(table) if record.get(key) not in (None, "")]
    return [record[key] for record in _drawn(records, count)]


def spoiled(words: Sequence[str]) -> list[str]:
    """The words as a hasty person types them: in lower case and without the letter in the middle."""
    return [word.lower()[: len(word) // 2] + word.lower()[len(word) // 2 + 1 :] for word in words]


def _drawn(values: Sequence[Any], count: int) -> list[Any]:
    return sorted(values, key=_lot)[:count]


def _lot(value: object) -> str:
    names = [value[key] for key in _NAMES if key in value] if isinstance(value, Mapping) else [value]
    return sha256(str(names[0]).encode()).hexdigest()


def _points(table: str, count: int) -> list[str]:
    lats, lngs = column(table, "lat", count), column(table, "lng", count)
    return [f"{lat},{lng}" for lat, lng in zip(lats, lngs, strict=True)]


def _both(words: Sequence[str]) -> list[str]:
    return [*words, *spoiled(words[::2])]


def _places(count: int) -> list[dict[str, float]]:
    lats, lngs = column("landmarks", "lat", count), column("landmarks", "lng", count)
    return [{"latitude": lat, "longitude": lng} for lat, lng in zip(lats, lngs, strict=True)]


def _journeys(count: int) -> list[tuple[str, str]]:
    """From one landmark to the next of the same country."""
    found = [
        (first["name"], second["name"])
        for first, second in pairwise(sorted(tables.load("landmarks"), key=lambda record: record["country"]))
        if first["country"] == second["country"]
    ]
    return _drawn(found, count)


def _papers(platform: str, count: int, key: str = "id") -> list[str]:
    found = [record for record in tables.load("papers") if record["platform"] == platform]
    return [record[key] for record in _drawn(found, count)]


def _days(count: int) -> Columns:
    """Days on which the sun did something, and the days after."""
    days = sorted({record["peak"][:10] for record in tables.load("solar_flares")})
    chosen = _drawn(list(pairwise(days)), count)
    return {"start_date": [day for day, _ in chosen], "end_date": [day for _, day in chosen]}


def _pairs(count: int) -> list[str]:
    """Coins in what they are traded for."""
    return _drawn([f"{coin['id']}-{quote}" for coin in tables.load("coins") for quote in coin["pairs"]], count)


def _cars() -> Columns:
    """Makers with the first word of one of their cars."""
    brands = {brand["id"]: brand["name"] for brand in tables.load("car_brands")}
    chosen = _drawn(tables.load("cars"), 20)
    return {
        "brand_name": [*(brands[car["car_brand_id"]] for car in chosen), "Zeppelin"],
        "model_keyword": [*(car["name"].split()[0] for car in chosen), "LZ"],
    }


BARS = ["1m", "3m", "5m", "15m", "30m", "1H", "2H", "4H", "6H", "12H", "1D", "1W", "1M"]

STATEMENTS = ["income_stmt", "balance_sheet", "cashflow"]

HOLDERS = [
    "major_holders",
    "institutional_holders",
    "mutualfund_holders",
    "insider_transactions",
    "insider_purchases",
    "insider_roster_holders",
]

WORLD: dict[str, Callable[[], Columns]] = {
    "Reddit-MCP-Server/get_post_content": lambda: {"post_id": [*column("threads", "id", 15), "zzzzzzz"]},
    "Reddit-MCP-Server/search_hot_posts": lambda: {"subreddit": [*column("communities", "name", 15), "nosuchplace"]},
    "amazon/get_product": lambda: {"asin": [*_drawn(list(shop.products()), 15), "B000000000"]},
    "amazon/search_products": lambda: {"keywords": _both(column("products", "title", 20))},
    "car-price/search_brand_model_price": _cars,
    "dinox-mcp/detect-objects-by-text": lambda: {"textPrompt": ["person", "helmet.gloves", "dog"]},
    "food_nutrition_mcp/get_nutrition": lambda: {
        "query": [
            *(f"100 g {name}" for name in _both(column("foods", "name", 12))),
            *(
                f"2 {next(iter(measures))} {name}"
                for measures, name in zip(column("foods", "measures", 8), column("foods", "name", 8), strict=True)
            ),
            "1 cup of nothing at all",
        ]
    },
    "google-air/current_conditions": lambda: {"lat": column("cities", "lat", 12), "lng": column("cities", "lng", 12)},
    "google-air/forecast": lambda: {"lat": column("towns", "lat", 5), "lng": column("towns", "lng", 5)},
    "google-air/history": lambda: {"lat": column("peaks", "lat", 5), "lng": column("peaks", "lng", 5)},
    "google-air/heatmap_tile": lambda: {"z": [2, 5, 7], "x": [1, 16, 66], "y": [1, 11, 44]},
    "google-maps/geocode": lambda: {"address": _both(column("landmarks", "name", 12)) + column("places", "address", 8)},
    "google-maps/reverse_geocode": lambda: {"lat": column("places", "lat", 8), "lng": column("places", "lng", 8)},
    "google-maps/places_text_search": lambda: {"query": _both(column("places", "name", 8))},
    "google-maps/places_nearby_search": lambda: {"location": _places(6), "includedTypes": [["restaurant"]] * 6},
    "google-maps/place_details": lambda: {"place_id": column("places", "id", 10)},
    "google-maps/directions_legacy": lambda: dict(
        zip(("origin", "destination"), zip(*_journeys(6), strict=True), strict=True)
    ),
    "google-maps/distance_matrix": lambda: {"origins": [[origin] for origin, _ in _journeys(5)]},
    "google-maps/timezone": lambda: {"lat": column("towns", "lat", 8), "lng": column("towns", "lng", 8)},
    "google-maps/elevation_by_locations": lambda: {"locations": [[point] for point in _points("peaks", 8)]},
    "google-maps/roads_nearest_roads": lambda: {"points": [[point] for point in _points("streets", 5)]},
    "google-maps/static_map": lambda: {"center": column("cities", "name", 3), "zoom": [3, 9, 14]},
    "healthcare-mcp/calculate_bmi": lambda: {"height_meters": [1.5, 1.68, 1.9, 0], "weight_kg": [40, 82.5, 120, 70]},
    "healthcare-mcp/clinical_trials_search": lambda: {
        "condition": [conditions[0] for conditions in column("trials", "conditions", 10)],
        "status": ["all"] * 10,
    },
    "healthcare-mcp/fda_drug_lookup": lambda: {
        "drug_name": [*_both(column("medicines", "generic", 12)), "unobtainium"],
        "search_type": ["general", "label", "adverse_events"] * 6 + ["label"],
    },
    "healthcare-mcp/health_topics": lambda: {"topic": _both(column("health_topics", "title", 10))},
    "healthcare-mcp/lookup_icd_code": lambda: {
        "code": [*column("diagnoses", "id", 12), "ZZZ", *[...] * 9],
        "description": [*[...] * 13, *_both(column("diagnoses", "name", 6))],
    },
    "healthcare-mcp/medrxiv_search": lambda: {"query": _papers("medrxiv", 4, "title")},
    "healthcare-mcp/ncbi_bookshelf_search": lambda: {"query": column("health_books", "title", 6)},
    "healthcare-mcp/pubmed_search": lambda: {"query": _both(_papers("pubmed", 6, "title"))},
    "hugeicons-mcp/search_icons": lambda: {"query": _both(column("icon_words", "word", 8))},
    "hugeicons-mcp/get_icon_glyphs": lambda: {"icon_name": column("icons", "name", 6)},
    "imagesorcery-mcp/crop": lambda: {"x1": [0, 10, 300], "y1": [0, 20, 5]},
    "linkimage-mcp/fetch_unsplash_image": lambda: {
        "url": [
            f"https://unsplash.com/photos/{slug}-{id}"
            for slug, id in zip(column("links", "slug", 4), column("links", "id", 4), strict=True)
        ]
    },
    "math/division": lambda: {"numerator": [1, 10, -7.5], "denominator": [3, 4, 0.1]},
    "math/mean": lambda: {"numbers": [[1], [0.1, 0.2], [1e9, -1e9, 3]]},
    "math/mode": lambda: {"numbers": [[1, 2, 3], [2, 2, 3, 3], [7.5]]},
    "metmuseum-mcp/search-museum-objects": lambda: {"q": _both(column("met_objects", "title", 6))},
    "metmuseum-mcp/get-museum-object": lambda: {"objectId": column("met_objects", "id", 6)},
    "nasa-mcp/get_astronomy_picture_of_day": lambda: {"date": ["2025-02-14", "2025-07-04", "2024-12-25"]},
    "nasa-mcp/get_asteroid_lookup": lambda: {
        "asteroid_id": [f"{2000000 + number}" for number in column("asteroids", "number", 6)]
    },
    "nasa-mcp/get_coronal_mass_ejection": lambda: _days(6),
    "nasa-mcp/get_solar_flare": lambda: _days(6),
    "nasa-mcp/get_notifications": lambda: _days(3),
    "nasa-mcp/get_exoplanet_data": lambda: {
        "query": [f"hostname = '{host}'" for host in column("exoplanets", "host", 4)]
    },
    "nasa-mcp/get_mars_rover_manifest": lambda: {"rover_name": column("mars_rovers", "id", 3)},
    "nationalparks/findParks": lambda: {"q": _both(column("parks", "name", 5))},
    "nationalparks/getParkDetails": lambda: {"parkCode": column("parks", "id", 6)},
    "nationalparks/getAlerts": lambda: {"parkCode": column("park_alerts", "park_id", 5)},
    "nationalparks/getCampgrounds": lambda: {"parkCode": column("park_campgrounds", "park_id", 5)},
    "nixos/nixos_search": lambda: {"query": _both(column("nix_packages", "name", 6))},
    "nixos/nixos_info": lambda: {"name": column("nix_options", "name", 6)},
    "nixos/home_manager_info": lambda: {"name": column("home_manager_options", "name", 5)},
    "nixos/home_manager_search": lambda: {"query": ["git", "terminal", "zsh history"]},
    "nixos/darwin_info": lambda: {"name": column("darwin_options", "name", 5)},
    "nixos/nixos_flakes_search": lambda: {"query": column("nix_flakes", "name", 4)},
    "nixos/nixhub_package_versions": lambda: {"package_name": column("nix_releases", "attribute", 5)},
    "okx/get_candlesticks": lambda: {"instrument": _pairs(len(BARS)), "bar": BARS},
    "okx/get_price": lambda: {"instrument": [*_pairs(12), "XYZ-USDT"]},
    "openlibrary_mcp/get_book_info": lambda: {"isbn": [*column("books", "id", 10), "9780000000002"]},
    "paper_search/search_arxiv": lambda: {"query": _both(_papers("arxiv", 5, "title"))},
    "paper_search/search_pubmed": lambda: {"query": _both(_papers("pubmed", 4, "title"))},
    "paper_search/search_iacr": lambda: {"query": _papers("iacr", 3, "title")},
    "paper_search/read_arxiv_paper": lambda: {"paper_id": _papers("arxiv", 4)},
    "paper_search/get_crossref_paper_by_doi": lambda: {"doi": _papers("journal", 4)},
    "ppt/create_slide_from_template": lambda: {
        "color_scheme": ["modern_blue", "elegant_green", "warm_red", "no_such_scheme"]
    },
    "tmdb/search_movies": lambda: {
        "query": [*column("films", "title", 12), *spoiled(column("films", "title", 12))],
        "year": [int(day[:4]) for day in column("films", "released", 12)] * 2,
    },
    "weather/get_weather": lambda: {
        "location": [*_both(column("cities", "name", 10)), *column("towns", "name", 4)],
    },
    "wiki/search": lambda: {"query": _both(column("articles", "title", 12))},
    "wiki/summary": lambda: {"title": [*_both(column("articles", "title", 14)), "Xqzv Blorfgan"]},
    "yahoo-finance/get_financial_statement": lambda: {
        "ticker": column("companies", "id", 6),
        "financial_type": [f"{often}{name}" for often in ("", "quarterly_") for name in STATEMENTS],
    },
    "yahoo-finance/get_historical_stock_prices": lambda: {
        "ticker": column("companies", "id", 8),
        "interval": ["1d", "5d", "1wk", "1mo", "3mo", "1d", "1wk", "1mo"],
    },
    "yahoo-finance/get_holder_info": lambda: {"ticker": column("companies", "id", 6), "holder_type": HOLDERS},
    "yahoo-finance/get_option_chain": lambda: {
        "ticker": column("companies", "id", 6),
        "option_type": ["calls", "puts"] * 3,
    },
    "yahoo-finance/get_option_expiration_dates": lambda: {"ticker": column("companies", "id", 3)},
    "yahoo-finance/get_recommendations": lambda: {
        "ticker": column("companies", "id", 8),
        "recommendation_type": ["recommendations", "upgrades_downgrades"] * 4,
    },
    "yahoo-finance/get_stock_actions": lambda: {"ticker": column("companies", "id", 4)},
    "yahoo-finance/get_stock_info": lambda: {"ticker": [*column("companies", "id", 15), "NOSUCH"]},
    "yahoo-finance/get_yahoo_finance_news": lambda: {"ticker": column("companies", "id", 4)},
}
"""Tool to its columns out of the world."""
