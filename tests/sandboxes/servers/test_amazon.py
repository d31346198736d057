"""The `amazon` server finds goods by their words and tells one price everywhere."""

import re
from collections import Counter

import pytest

from m3bench.sandboxes.world import shop, tables
from tests.sandboxes.servers.conftest import Bench
from tests.sandboxes.world.search_quality import Entry, measure, queries

SEARCH, PRODUCT = "amazon/search_products", "amazon/get_product"
PRODUCTS = list(shop.products().values())

OBJECTS = """
bicycle, car, bench, backpack, umbrella, handbag, tie, suitcase, frisbee, skis, snowboard, sports ball, kite, baseball
bat, baseball glove, skateboard, surfboard, tennis racket, bottle, wine glass, cup, fork, knife, spoon, bowl, banana,
apple, sandwich, orange, broccoli, carrot, hot dog, pizza, donut, cake, chair, couch, potted plant, bed, dining table,
toilet, tv, laptop, mouse, remote, keyboard, cell phone, microwave, oven, toaster, sink, refrigerator, book, clock,
vase, scissors, teddy bear, hair drier, toothbrush, hard hat, safety vest, ladder, fire extinguisher, whiteboard,
projector, globe, microscope, guitar, camera, tent, watch, sofa, football, mug, desk lamp, headphones, monitor
"""


def titles(bench: Bench, keywords: str, n: int = 3, page: int = 1) -> list[str]:
    return re.findall(r"^- (.+)$", bench.text(SEARCH, keywords=keywords, n=n, page=page), re.M)


def problem(bench: Bench, tool: str, **arguments: object) -> str:
    reply = bench.reply(tool, arguments)
    assert reply.outcome != "success"
    assert reply.result["isError"] is False
    return bench.error(tool, arguments)


def test_a_product_of_a_search_has_title_address_picture_and_price(bench: Bench) -> None:
    lines = bench.text(SEARCH, keywords="pepsi zero sugar 20 oz bottle").split("\n")
    assert lines[0] == "- Pepsi Zero Sugar Cola, 20 fl oz Bottle"
    assert re.fullmatch(r"  https://www\.amazon\.com/pepsi-zero-sugar-cola-20-fl-oz-bottle/dp/B0[0-9A-Z]{8}", lines[1])
    assert re.fullmatch(r"  https://m\.media-amazon\.com/images/I/\w+\._AC_UL320_\.jpg", lines[2])
    assert lines[3:] == ["  Price: $2.29"]


def test_the_number_in_the_address_leads_to_the_same_price(bench: Bench) -> None:
    found = bench.text(SEARCH, keywords="desk lamp").split("\n")
    address, price = found[1].strip(), found[3].strip()
    number = address.rpartition("/")[2]
    page = bench.text(PRODUCT, asin=number)
    assert page.split("\n")[:6] == [f"**{found[0][2:]}**", address, found[2].strip(), price, "", "Features:"]
    assert re.search(r"^- Rated \d\.\d out of 5 by [\d,]+ customers$", page, re.M)
    assert bench.text(PRODUCT, asin=address) == bench.text(PRODUCT, asin=f" {number.lower()} ") == page


def test_a_book_is_sold_under_its_ten_digit_number(bench: Bench) -> None:
    for book in tables.load("books")[::20]:
        assert bench.text(PRODUCT, asin=book["isbn10"]).startswith(f"**{book['title']} by {book['authors'][0]}")


@pytest.mark.parametrize(
    ("keywords", "first"),
    [
        ("20oz pepsi", "Pepsi Cola, 20 fl oz Bottle"),
        ("chips lays classic party size", "Lay's Classic Potato Chips, Party Size, 13 oz Bag"),
        ("ibuprofin 200mg advil", "Advil Ibuprofen 200 mg Coated Tablets, 100 Count"),
        ("colgate toothpast cavity", "Colgate Cavity Protection Toothpaste, 6 oz Tube"),
        ("bicycle helmet", "Schwinn Thrasher Bicycle Helmet, Adult, Black"),
        ("9780441172719", "Dune by Frank Herbert"),
    ],
)
def test_brand_and_size_are_found_in_any_order_and_spelling(bench: Bench, keywords: str, first: str) -> None:
    assert titles(bench, keywords, 1) == [first]


@pytest.mark.parametrize("number", ["9781400052189", "1400052181", "978-1-4000-5218-9", "978 1 4000 5218 9"])
def test_a_book_is_found_by_either_of_its_numbers_however_it_is_written(number: str) -> None:
    assert [product.asin for product in shop.find(number, 1)] == ["1400052181"]


@pytest.mark.parametrize("kind", ["laptop", "tv", "tea", "cereal", "tent", "desk", "sofa", "backpack", "toothpaste"])
def test_a_bare_noun_finds_things_of_that_kind_most_popular_first(bench: Bench, kind: str) -> None:
    by_title = {product.title: product for product in PRODUCTS}
    count = min(3, sum(product.kind == kind for product in PRODUCTS))
    found = [by_title[title] for title in titles(bench, kind, count)]
    assert {product.kind for product in found} == {kind}
    assert [product.reviews for product in found] == sorted((p.reviews for p in found), reverse=True)


@pytest.mark.sample(12)
@pytest.mark.parametrize("name", [" ".join(name.split()) for name in OBJECTS.split(",")])
def test_an_everyday_object_of_a_picture_can_be_bought(name: str) -> None:
    product = shop.find(name, 1)[0]
    assert name in (product.kind, *product.terms)


def test_the_number_of_products_stays_between_one_and_ten(bench: Bench) -> None:
    assert [len(titles(bench, "soft drink", n)) for n in (-5, 0, 1, 4, 10, 99)] == [1, 1, 1, 4, 10, 10]


def test_pages_follow_each_other_without_overlap_to_the_end(bench: Bench) -> None:
    first, second = titles(bench, "cereal", 10, 1), titles(bench, "cereal", 10, 2)
    assert len(first) == 10
    assert second
    assert not set(first) & set(second)
    assert titles(bench, "cereal", 10, 0) == first
    assert bench.text(SEARCH, keywords="cereal", page=10**9) == "No results."


def test_other_countries_show_the_same_goods_in_their_own_money(bench: Bench) -> None:
    prices = {
        domain: bench.text(SEARCH, keywords="macbook air", amazon_domain=domain).split("Price: ")[1]
        for domain in ("amazon.com", "https://www.amazon.co.uk/", "AMAZON.DE", "amazon.co.jp")
    }
    assert list(prices.values()) == ["$899.00", "£683.69", "779,16\u00a0€", "￥138,446"]
    assert "www.amazon.de/" in bench.text(SEARCH, keywords="macbook air", amazon_domain="AMAZON.DE")


def test_failures_are_plain_texts_without_the_error_flag(bench: Bench) -> None:
    assert problem(bench, SEARCH, keywords="  ") == "Missing 'keywords'."
    assert problem(bench, PRODUCT, asin="") == "Missing 'asin'."
    assert problem(bench, PRODUCT, asin="B000000000") == "No product found."
    for tool, arguments in ((SEARCH, {"keywords": "tea"}), (PRODUCT, {"asin": "0140714847"})):
        assert problem(bench, tool, **arguments, amazon_domain="amazon.moon").startswith("Error: 400 ")
    assert bench.text(SEARCH, keywords="qwxzvk blorfgan") == "No results."


def test_a_flood_of_keywords_is_refused(bench: Bench) -> None:
    assert "use fewer words" in bench.error(SEARCH, keywords="tea " * 1000)


def test_every_kind_of_query_finds_what_was_meant(bench: Bench) -> None:
    entries = [Entry(product.title, product.title) for product in PRODUCTS]
    asked = [query for query in queries(entries, SEARCH, 120) if query.kind != "foreign"]
    measure(asked, lambda text: titles(bench, text)).check()


def test_the_shop_is_large_and_its_facts_are_whole() -> None:
    assert len(PRODUCTS) >= 520
    assert len(PRODUCTS) == len(tables.load("products"))
    assert len({product.title for product in PRODUCTS if product.kind != "book"}) >= 900
    categories = Counter(product.category for product in PRODUCTS)
    assert len(categories) >= 40
    assert min(categories.values()) >= 5
    for product in PRODUCTS:
        assert 0.5 < product.price < 5000, product
        assert round(product.price, 2) == product.price, product
        assert 1 <= product.rating <= 5, product
        assert product.reviews > 0, product
        assert product.brand, product
        assert len(product.features) >= 2, product
