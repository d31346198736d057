"""The `food_nutrition_mcp` server reads portions as people write them and scales what 100 g contain."""

import re

import pytest

from m3bench.sandboxes.servers.food_nutrition_mcp import portions
from m3bench.sandboxes.world import foods
from tests.sandboxes.servers.conftest import Bench
from tests.sandboxes.world.search_quality import Entry, measure, queries

TOOL = "food_nutrition_mcp/get_nutrition"
FOODS = list(foods.all_foods().values())

PER_GRAM = {"protein": 4, "fat": 9, "carbohydrate": 4}
ALCOHOL = 7
FIBER_UNUSED = 2.5
"""Of the four kcal that a gram of fiber has as a carbohydrate, most are never digested."""


def grams(text: str) -> float:
    (found,) = portions(text)
    return round(found.grams, 2)


def name(text: str) -> str | None:
    return " + ".join(found.food.name for found in portions(text)) or None


def test_a_portion_is_a_header_and_ten_lines(bench: Bench) -> None:
    assert bench.text(TOOL, query="2 medium apples").splitlines() == [
        "Nutrition for: 2 medium apples",
        "- Energy: 189.28 kcal",
        "- Protein: 0.95 g",
        "- Total lipid (fat): 0.62 g",
        "- Carbohydrate, by difference: 50.27 g",
        "- Fiber, total dietary: 8.74 g",
        "- Sugars, total: 37.82 g",
        "- Sodium, Na: 3.64 mg",
        "- Calcium, Ca: 21.84 mg",
        "- Iron, Fe: 0.44 mg",
        "- Vitamin C, total ascorbic acid: 16.74 mg",
    ]


def test_food_is_another_name_for_query(bench: Bench) -> None:
    assert bench.text(TOOL, food="1 banana") == bench.text(TOOL, query="1 banana")
    assert bench.text(TOOL, query=" ", food="1 banana") == bench.text(TOOL, query="1 banana")
    assert bench.text(TOOL, query="1 pear", food="1 banana").startswith("Nutrition for: 1 pear\n")


def test_failures_are_sentences_without_the_error_flag(bench: Bench) -> None:
    for arguments, sentence in (
        ({}, "Missing input query. Try something like '1 banana' or '2 eggs'."),
        ({"query": "   "}, "Missing input query. Try something like '1 banana' or '2 eggs'."),
        ({"query": "qwxzvk blorfgan"}, "Could not parse the input. Try using simpler food names."),
        ({"query": "3"}, "Could not parse the input. Try using simpler food names."),
        ({"query": "1 cup"}, "Could not parse the input. Try using simpler food names."),
        ({"query": "5/0 apples"}, "Could not parse the input. Try using simpler food names."),
        ({"query": "½"}, "Could not parse the input. Try using simpler food names."),
        ({"query": "apple " * 5000}, "Could not parse the input. Try using simpler food names."),
        ({"query": "9" * 200 + " apples"}, "Could not parse the input. Try using simpler food names."),
        ({"query": "0 apples"}, "No nutrients found."),
        ({"query": "-5 apples"}, "No nutrients found."),
    ):
        reply = bench.reply(TOOL, arguments)
        assert reply.outcome != "success"
        assert bench.error(TOOL, arguments) == sentence
        assert reply.result["isError"] is False


@pytest.mark.parametrize(
    ("text", "weight"),
    [
        ("1 medium apple", 182),
        ("a small apple", 149),
        ("APPLES", 182),
        ("3 Peaches", 450),
        ("1 whole watermelon", 4518),
        ("half an avocado", 100.5),
        ("1/2 cup rice", 79),
        ("1 1/2 cups cooked white rice", 237),
        ("1½ cups milk", 366),
        ("one and a half cups of milk", 366),
        ("a dozen eggs", 600),
        ("half a dozen large eggs", 300),
        ("100g chicken breast", 100),
        ("chicken breast 150 g", 150),
        ("chicken breast (150 grams)", 150),
        ("0,5 kg potatoes", 500),
        ("1,500 g potatoes", 1500),
        ("1 lb ground beef", 453.59),
        ("8 fl oz orange juice", 248),
        ("1 12-oz can of coke", 340.19),
        ("2 200 g steaks", 400),
        ("2 tbsp peanut butter", 32),
        ("1 teaspoon of butter", 4.73),
        ("3 garlic cloves", 9),
        ("3 cloves of garlic", 9),
        ("10 grapes", 50),
        ("5 walnut halves", 10),
        ("grapes", 151),
        ("1 cauliflower", 588),
        ("sushi 6 pieces", 150),
        ("2 large slices of watermelon", 572),
        ("large french fries", 154),
        ("1 large mango", 420),
        ("a handful of almonds", 30),
        ("1 medium-sized banana", 118),
        ("apple x 3", 546),
        ("2 punnets of strawberries", 500),
        ("how many calories are in 2 bananas", 236),
        ("two hundred and ninety grams of cherries", 290),
        ("a hundred grams of rice", 100),
        ("thirty-five g butter", 35),
    ],
)
def test_amounts_are_read_as_people_write_them(text: str, weight: float) -> None:
    assert grams(text) == weight


@pytest.mark.parametrize(
    ("text", "food"),
    [
        ("2% milk", "Low-fat milk"),
        ("7up", "Lemon-lime soda"),
        ("starfruit", "Carambola"),
        ("kiwis", "Kiwifruit"),
        ("aubergines", "Eggplant"),
        ("fresh ripe strawberries", "Strawberry"),
        ("1 red bell pepper", "Bell pepper"),
        ("bananna", "Banana"),
        ("cherry tomatoes", "Cherry tomato"),
        ("cherries", "Cherry"),
        ("brown rice", "Brown rice"),
        ("brown eggs", "Egg"),
        ("1 cup of blueberries, washed", "Blueberry"),
        ("1 unicorn steak", None),
    ],
)
def test_the_food_meant_is_the_food_found(text: str, food: str | None) -> None:
    assert name(text) == food


@pytest.mark.parametrize(
    ("text", "food"),
    [
        ("2 eggs and 1 slice of toast", "Egg + Toast"),
        ("3 pancakes with syrup", "Pancake + Maple syrup"),
        ("grilled salmon with rice", "Salmon + White rice"),
        ("apple, banana, pear", "Apple + Banana + Pear"),
        ("chicken breast, boneless, grilled", "Chicken breast"),
        ("1 apple, raw, with skin", "Apple"),
        ("2 eggs and 1 unicorn steak", None),
        ("blorfgan with 2 eggs", None),
        ("1 plate of fish and chips", "Fish and chips"),
        ("mac and chese", "Macaroni and cheese"),
        ("1 peanut butter and jelly sandwich", "Peanut butter and jelly sandwich"),
    ],
)
def test_several_foods_are_read_whole_or_not_at_all(text: str, food: str | None) -> None:
    assert name(text) == food


def test_several_foods_are_added_up(bench: Bench) -> None:
    def energy(query: str) -> float:
        return float(re.findall(r"Energy: ([\d.]+)", bench.text(TOOL, query=query))[0])

    both = energy("2 eggs and 1 slice of toast")
    assert both == pytest.approx(energy("2 eggs") + energy("1 slice of toast"), abs=0.02)
    assert bench.reply(TOOL, query="2 eggs and 1 unicorn steak").outcome == "gap"


def test_every_food_is_known_by_all_its_names_and_by_plurals() -> None:
    for food in FOODS:
        plural = f"{food.name[:-1]}ies" if food.name.endswith("y") else f"{food.name.removesuffix('s')}s"
        for spelling in (food.name, *food.aliases, food.name.upper(), plural):
            assert foods.named(spelling) == food, spelling
        assert portions(f"100 g {food.name}")
    plain = [food for food in FOODS if "egg" not in food.id]
    assert [food.name for food in plain if name(f"100 g of {food.name.lower()}") != food.name] == []


def test_names_belong_to_one_food() -> None:
    names = [spelling.lower() for food in FOODS for spelling in (food.name, *food.aliases)]
    assert sorted(spelling for spelling in set(names) if names.count(spelling) > 1) == []


def test_what_is_meant_is_found_and_nonsense_is_not() -> None:
    entries = [Entry(food.id, food.name, food.aliases) for food in FOODS]
    asked = queries(entries, "food_nutrition", 180)
    measure(asked, lambda text: [food.id for food in foods.search(text)]).check()


def test_energy_follows_from_what_the_food_is_made_of() -> None:
    for food in FOODS:
        most = sum(food.nutrients[part] * kcal for part, kcal in PER_GRAM.items()) + ALCOHOL * food.alcohol
        least = most - FIBER_UNUSED * food.nutrients["fiber"]
        assert 0.88 * least - 6 <= food.nutrients["energy"] <= 1.1 * most + 6, food.name


def test_parts_do_not_exceed_the_whole() -> None:
    for food in FOODS:
        known = food.nutrients
        assert known["fiber"] <= known["carbohydrate"], food.name
        assert known["sugars"] <= 1.07 * known["carbohydrate"], food.name
        parts = known["protein"] + known["fat"] + known["carbohydrate"] + food.alcohol
        assert parts <= 101, food.name
        assert min(known.values()) >= 0
        assert known["energy"] <= 902


def test_measures_are_in_order_and_all_can_be_asked_for() -> None:
    for food in FOODS:
        sizes = [food.measures[size] for size in ("small", "medium", "large", "extra large") if size in food.measures]
        assert sizes == sorted(sizes), food.name
        for unit, weight in food.measures.items():
            assert weight > 0
            if unit != "half":
                assert grams(f"1 {unit} {food.name}") == weight, (unit, food.name)


def test_the_table_is_large() -> None:
    assert len(FOODS) >= 500
    assert all(re.fullmatch(r"[a-z0-9-]+", food.id) for food in FOODS)
