"""What a call was about is read from what the world made of its words."""

import json

import pytest

from m3bench.tasks.catalog import load_catalog
from m3bench.tasks.kinds import kinds_of
from m3bench.tasks.things import is_part, rules, same_thing, thing_of

PORTION = "Nutrition for: {}\n- Energy: {} kcal\n- Protein: {} g"
BOOK = '{{"metadata": {{"isbn": "{}"}}}}'


def place(latitude: float, longitude: float) -> str:
    found = {"geometry": {"location": {"lat": latitude, "lng": longitude}}}
    return json.dumps({"response": {"results": [found]}})


@pytest.mark.parametrize(
    ("tool", "one", "other", "same"),
    [
        ("food_nutrition_mcp/get_nutrition", PORTION.format("360 g pear", 205.2, 1.3),
         PORTION.format("0.36 kg pear", 205.2, 1.3), True),
        ("food_nutrition_mcp/get_nutrition", PORTION.format("360 g pear", 205.2, 1.3),
         PORTION.format("12.7 oz pear", 205.22, 1.3), True),
        ("food_nutrition_mcp/get_nutrition", PORTION.format("360 g pear", 205.2, 1.3),
         PORTION.format("1360 g pear", 775.2, 4.9), False),
        ("openlibrary_mcp/get_book_info", BOOK.format("9780141439518"), BOOK.format("0141439513"), True),
        ("openlibrary_mcp/get_book_info", BOOK.format("9780141439518"), BOOK.format("9780141439600"), False),
        ("google-maps/geocode", place(52.35997, 4.88522), place(52.3601, 4.8861), True),
        ("google-maps/geocode", place(37.1028, -8.6742), place(6.5244, 3.3792), False),
        ("weather/get_weather", "Current weather in Durham, NC: 52.3°F, wind 8 mph, code 0.",
         "Current weather in Durham, NC: 11.3°C, wind 13 km/h, code 0.", True),
        ("weather/get_weather", "Current weather in Durham, NC: 52.3°F, wind 8 mph, code 0.",
         "Current weather in Durham, United Kingdom: 52.3°F, wind 8 mph, code 0.", False),
        ("amazon/search_products", "- Laptop\n  https://www.amazon.com/laptop/dp/B0Z3NRL495",
         "- Stand\n  https://www.amazon.com/stand/dp/B0ZDHXR8VL\n- Laptop\n  https://www.amazon.com/laptop/dp/B0Z3NRL495",
         False),
        ("nationalparks/findParks", '{"parks": [{"code": "glac"}]}', '{"parks": [{"code": "glba"}, {"code": "glac"}]}',
         False),
    ],
    ids=["another unit", "rounded in another unit", "a digit before", "a short number of a book", "another edition",
         "the entrance", "the same name elsewhere", "another unit of warmth", "another town of the name",
         "what the first is for", "a longer name"],
)  # fmt: skip
def test_things_are_compared_and_not_words(tool: str, one: str, other: str, same: bool) -> None:
    wanted, found = thing_of(tool, one), thing_of(tool, other)
    assert wanted
    assert found
    assert same_thing(tool, wanted, found) is same
    assert same_thing(tool, found, wanted) is same


def test_a_list_may_be_a_part_of_another() -> None:
    tool = "hugeicons-mcp/search_icons"
    several = thing_of(tool, '[{"name": "mirror"}, {"name": "mouse-01"}]')
    assert is_part(tool, thing_of(tool, '[{"name": "mouse-01"}]'), several)
    assert not is_part(tool, thing_of(tool, '[{"name": "cat"}]'), several)


@pytest.mark.parametrize("result", ["", "Error", "[]", "{}", '{"parks": 1}', '{"parks": [null]}'])
def test_where_a_result_says_nothing_no_thing_is_known(result: str) -> None:
    assert thing_of("nationalparks/findParks", result) == ()
    assert thing_of("elsewhere/tool", result) == ()


@pytest.mark.parametrize("tool", rules())
def test_every_rule_is_about_arguments_of_a_tool_that_asks_the_world(tool: str) -> None:
    known = load_catalog().tool(tool).input_schema["properties"]
    assert set(rules()[tool].decides) <= set(known)
    assert kinds_of(tool).role == "knowledge"
