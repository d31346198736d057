"""Articles composed from facts: each can be opened, says what is true, and takes nobody's name."""

import re

import pytest

from m3bench.sandboxes.world import entities, sentence_plans, tables
from m3bench.sandboxes.world.search import fold
from tests.sandboxes.servers.conftest import Bench

ASKED = {
    "people": "Albert Einstein;Gandhi;Mozart;Picasso;Tolstoy;Pelé;Cleopatra;Alan Turing;Bob Marley;Lionel Messi;Kant",
    "rulers": "Margaret Thatcher;Helmut Kohl;Charles de Gaulle;Narendra Modi;Queen Victoria;Louis XIV;Nero;Lula",
    "provinces": "Bavaria;Kerala;Bahia;Ontario;Queensland;Jalisco;Sichuan;Osaka Prefecture;Brittany;Tuscany;Scotland",
    "geography": "Danube;Mekong;K2;Matterhorn;Lake Baikal;Black Sea;Borneo;Sahara;Andes;Suez Canal;Great Barrier Reef",
    "languages": "Spanish language;Mandarin;Swahili;Zulu language;Basque language;Esperanto;Tamil language",
    "sky": "Sirius;Betelgeuse;Ursa Major;Southern Cross;Cassiopeia;Polaris",
    "school": "Mitosis;French Revolution;WWII;Pythagoras' theorem;Plate tectonics;Water cycle;Inflation;Metaphor;pH",
    "sport": "2014 FIFA World Cup;2012 Summer Olympics;1994 Winter Olympics;Tennis;Tour de France",
}


@pytest.mark.parametrize("kind", ASKED)
def test_what_everybody_knows_is_held_by_its_usual_name(bench: Bench, kind: str) -> None:
    for name in ASKED[kind].split(";"):
        assert bench.reply("wiki/summary", {"title": name}).outcome == "success", name
        assert bench.text("wiki/search", query=name, n=1) != "No results.", name


@pytest.mark.parametrize(
    ("title", "facts"),
    [
        ("Bavaria", ["federal state of Germany", "Munich"]),
        ("Danube", ["Black Sea", "Budapest"]),
        ("2014 FIFA World Cup", ["Brazil", "Germany", "Argentina", "1–0 after extra time"]),
        ("Angela Merkel", ["born 1954", "chancellor of Germany from 2005 to 2021"]),
        ("Narendra Modi", ["has been prime minister of India since 2014"]),
        ("Swahili", ["Bantu", "Tanzania"]),
        ("Annapurna", ["8,091 metres", "1950"]),
        ("Epicurus", ["341 BC", "philosopher"]),
        ("Flow", ["Gints Zilbalodis", "85 minutes"]),
        ("Punic Wars", ["264 BC", "Carthage"]),
    ],
)
def test_they_say_what_is_true(bench: Bench, title: str, facts: list[str]) -> None:
    text = bench.text("wiki/summary", title=title)
    for fact in facts:
        assert fact in text


def test_every_entity_has_an_article_that_is_whole() -> None:
    assert entities.count() >= 5500
    for article in entities.articles():
        assert re.search(r"""[.!?]["”)]?$""", article["extract"]), article["title"]
        assert not re.search(r"[{}]|  | the the ", article["extract"]), article["title"]
        assert 0 < len(article["description"]) <= sentence_plans.LONGEST, article["title"]


def test_no_name_leads_to_two_articles_and_every_plan_is_used() -> None:
    titles = [fold(article["title"]) for article in entities.articles()]
    assert len(titles) == len(set(titles))
    written = {fold(article["title"]) for article in tables.load("articles")}
    assert not written & set(titles)
    known = {record["kind"] for record in tables.load("entities")}
    assert known <= sentence_plans.plans().keys()


def test_a_stranger_finds_nothing(bench: Bench) -> None:
    for query in ("qwxzvk blorfgan", "Quokkaville Heights", "zzyzzx prime", "lia", "poto"):
        assert bench.text("wiki/search", query=query, n=3) == "No results.", query
