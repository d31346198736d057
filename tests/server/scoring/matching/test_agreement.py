"""Two calls of one tool agree by the kinds of their arguments."""

import pytest

from m3bench.server.scoring.matching.agreement import FileNames, agree
from m3bench.server.scoring.signatures import catalog_signatures
from m3bench.tasks.catalog import load_catalog
from m3bench.tasks.trajectory import Call

SIGNATURES = catalog_signatures(load_catalog())


def compared(tool, wanted, asked):
    files = FileNames(given=frozenset({"shelf.png"}))
    return agree(Call(tool=tool, arguments=wanted), Call(tool=tool, arguments=asked), SIGNATURES(tool), files)


SAME = [
    ("openlibrary_mcp/get_book_info", {"isbn": "978-0-14-032872-1"}, {"isbn": "9780140328721"}),
    ("okx/get_price", {"instrument": "BTC-USDT"}, {"instrument": "btc-usdt"}),
    ("google-air/current_conditions", {"lat": 40.7484, "lng": -73.9857}, {"lat": 40.7488, "lng": -73.9851}),
    ("google-maps/geocode", {"address": "Sensō-ji, Tokyo, Japan"}, {"address": "Senso-ji, Tokyo"}),
    ("weather/get_weather", {"location": "Bath, United Kingdom"}, {"location": "bath,  united kingdom", "units": "us"}),
    ("math/sum", {"numbers": [1, 2.5, 3]}, {"numbers": [3.0, 1, 2.5]}),
    ("google-maps/places_nearby_search", {"location": {"latitude": 1, "longitude": 2}, "radiusMeters": 500},
     {"location": {"latitude": 1.0005, "longitude": 2}, "radiusMeters": "500", "languageCode": "fr"}),
    ("wiki/search", {"query": "alarm clocks", "n": 1}, {"query": "the Alarm clock", "n": 9}),
    ("ocr/perform_ocr", {"input_data": "./media/shelf.png"}, {"input_data": "media/shelf.png", "language": None}),
    ("excel/create_workbook", {"filepath": "./a.xlsx"}, {"filepath": "prices.xlsx"}),
    ("imagesorcery-mcp/change_color", {"input_path": "media/cut1.png", "palette": "sepia"},
     {"input_path": "media/other.png", "palette": "Sepia"}),
    ("imagesorcery-mcp/draw_circles",
     {"input_path": "shelf.png", "circles": [{"center_x": 100, "center_y": 200, "radius": 40}]},
     {"input_path": "shelf.png", "circles": [{"center_x": 108, "center_y": 195, "radius": 41, "color": [1, 2, 3]}]}),
]  # fmt: skip
OTHER = [
    ("openlibrary_mcp/get_book_info", {"isbn": "9780140328721"}, {"isbn": "9780140328738"}, "isbn"),
    ("google-air/current_conditions", {"lat": 40.7, "lng": -73.9}, {"lat": 48.8, "lng": 2.3}, "position"),
    ("nasa-mcp/get_solar_flare", {"start_date": "2024-10-26"}, {"start_date": "2023-10-26"}, "start_date"),
    ("math/division", {"numerator": 599, "denominator": 3.218}, {"numerator": 1599, "denominator": 3.218}, "numerator"),
    ("google-maps/geocode", {"address": "Springfield, IL"}, {"address": "Springfield, MA"}, "address"),
    ("google-maps/place_details", {"place_id": "ChIJk5w1619"}, {"place_id": "ChIJSxtMaRa"}, "place_id"),
    ("metmuseum-mcp/get-museum-object", {"objectId": 436535}, {"objectId": 436532}, "objectId"),
    ("yahoo-finance/get_stock_info", {"ticker": "CRM"}, {"ticker": "COST"}, "ticker"),
    ("ocr/perform_ocr", {"input_data": "media/shelf.png"}, {"input_data": "media/cut.png"}, "input_data"),
]


@pytest.mark.parametrize(("tool", "wanted", "asked"), SAME)
def test_spellings_of_one_call_agree(tool, wanted, asked):
    assert compared(tool, wanted, asked).equal
    assert compared(tool, asked, wanted).equal


@pytest.mark.parametrize(("tool", "wanted", "asked", "argument"), OTHER)
def test_another_thing_is_named_with_what_was_wanted(tool, wanted, asked, argument):
    found = compared(tool, wanted, asked)
    assert not found.equal
    assert [wrong.argument for wrong in found.wrong] == [argument]


def test_text_agrees_by_the_words_in_common():
    found = compared("tmdb/search_movies", {"query": "In the Mood for Love"}, {"query": "something else"})
    assert (found.share, len(found.reworded), found.wrong) == (0, 1, ())
    assert 0 < compared("wiki/search", {"query": "fish shell"}, {"query": "fish"}).share < 1


def test_content_agrees_by_the_share_that_was_put_in():
    wanted = {"filepath": "a", "sheet_name": "s", "data": [["Apple", 1.5], ["Pear", 2.0]]}
    asked = {"filepath": "b", "sheet_name": "t", "data": [["pear", "2"], ["Plum", 9]]}
    assert compared("excel/write_data_to_excel", wanted, asked).share == 0.5
