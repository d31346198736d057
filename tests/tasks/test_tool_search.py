"""Tools are found by what they do, in the same order every time."""

import time

import pytest

from m3bench.tasks.catalog import load_catalog
from m3bench.tasks.tool_search import MAX_QUERY, ToolSearch

TOOLS = [tool.wire() for tool in load_catalog().tools]
SEARCH = ToolSearch(TOOLS)


def names(query: str, limit: int = 5) -> list[str]:
    return [tool["name"] for tool in SEARCH.find(query, limit)]


@pytest.mark.parametrize(
    ("query", "wanted"),
    [
        ("search wikipedia for an article", "wiki__search"),
        ("what is the weather forecast", "weather__get_weather"),
        ("weathr forcast", "weather__get_weather"),
        ("detect objects in a picture", "dinox-mcp__detect-all-objects"),
        ("read the text in an image", "ocr__perform_ocr"),
        ("scan a QR code", "pyzbar-mcp__scan_barcode"),
        ("add a slide to a presentation", "ppt__add_slide"),
        ("make a new excel workbook", "excel__create_workbook"),
        ("write cells to a spreadsheet", "excel__write_data_to_excel"),
        ("calories and nutrition of food", "food_nutrition_mcp__get_nutrition"),
        ("distance between two cities", "google-maps__distance_matrix"),
        ("time zone of a place", "google-maps__timezone"),
        ("how to drive from A to B", "google-maps__compute_route"),
        ("coordinates of an address", "google-maps__geocode"),
        ("air quality now", "google-air__current_conditions"),
        ("past stock prices", "yahoo-finance__get_historical_stock_prices"),
        ("price of bitcoin", "okx__get_price"),
        ("book by ISBN", "openlibrary_mcp__get_book_info"),
        ("average of numbers", "math__mean"),
        ("museum paintings", "metmuseum-mcp__search-museum-objects"),
        ("NASA astronomy picture of the day", "nasa-mcp__get_astronomy_picture_of_day"),
        ("photos from mars", "nasa-mcp__get_mars_rover_photos"),
        ("crop an image", "imagesorcery-mcp__crop"),
        ("blur part of a photo", "imagesorcery-mcp__blur"),
        ("national park campsites", "nationalparks__getCampgrounds"),
        ("information on a film", "tmdb__search_movies"),
        ("drug side effects", "healthcare-mcp__fda_drug_lookup"),
        ("body mass index", "healthcare-mcp__calculate_bmi"),
        ("arxiv papers", "paper_search__search_arxiv"),
        ("hot posts of a subreddit", "Reddit-MCP-Server__search_hot_posts"),
        ("what a car costs", "car-price__search_brand_model_price"),
        ("search products to buy", "amazon__search_products"),
    ],
)
def test_a_tool_is_found_by_what_it_does(query: str, wanted: str) -> None:
    assert wanted in names(query)


def test_a_description_finds_its_own_tool_first() -> None:
    found = [tool for tool in TOOLS if names(str(tool["description"]), 1) == [tool["name"]]]
    assert len(found) > 0.97 * len(TOOLS)


@pytest.mark.parametrize("tool", TOOLS[::11], ids=lambda tool: str(tool["name"]))
def test_a_name_finds_its_own_tool_first(tool: dict[str, str]) -> None:
    assert names(tool["name"], 1) == [tool["name"]]
    assert names(tool["name"].replace("__", "/", 1), 1) == [tool["name"]]


def test_the_same_question_has_the_same_answer() -> None:
    other = ToolSearch(TOOLS)
    for query in ("map", "search", "get image of place", "stock"):
        assert other.find(query, 25) == SEARCH.find(query, 25)
        assert names(query, 3) == names(query, 25)[:3]


@pytest.mark.parametrize("query", ["", " ", "the of and", "???", "Wettervorhersage", "\x00\u202e", "🙂"])
def test_what_fits_nothing_finds_nothing(query: str) -> None:
    assert names(query) == []


def test_a_huge_question_is_read_to_a_bound() -> None:
    begin = time.process_time()
    assert names("weather " + "x" * 5_000_000) == names("weather " + "x" * MAX_QUERY)
    assert time.process_time() - begin < 5


def test_no_tools_are_searched_in_vain() -> None:
    assert ToolSearch([]).find("weather", 5) == []
