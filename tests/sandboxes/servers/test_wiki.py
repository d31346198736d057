"""The `wiki` server finds articles under any spelling and follows redirects."""

import re

import pytest

from m3bench.sandboxes.world import fact_articles, gazetteer_articles, tables
from tests.sandboxes.servers.conftest import Bench

ARTICLES = tables.load("articles")
TITLES = {article["title"] for article in ARTICLES}


def titles(bench: Bench, query: str, n: int = 3) -> list[str]:
    return re.findall(r"^- (.+)$", bench.text("wiki/search", query=query, n=n), re.M)


def test_results_are_a_heading_and_a_dash_list(bench: Bench) -> None:
    assert bench.text("wiki/search", query="striped bass", n=2).startswith("Top results:\n- Striped bass\n- ")


@pytest.mark.parametrize(("n", "shown"), [(-4, 1), (0, 1), (4, 4), (99, 10)])
def test_the_number_of_titles_is_clamped(bench: Bench, n: int, shown: int) -> None:
    assert len(titles(bench, "London", n)) == shown


@pytest.mark.parametrize(
    ("query", "first"),
    [
        ("longcase astronomical regulator", "Longcase clock"),
        ("fluke fishing sandy hook", "Sandy Hook"),
        ("tallest building dubai", "Burj Khalifa"),
        ("guido van rossum language", "Python (programming language)"),
        ("Elétrico", "Trams in Lisbon"),
        ("cristo redentor rio", "Christ the Redeemer (statue)"),
        ("München", "Munich"),
    ],
)
def test_other_words_for_a_thing_find_it_first(bench: Bench, query: str, first: str) -> None:
    assert titles(bench, query)[0] == first


def test_nothing_found_is_said_in_two_words(bench: Bench) -> None:
    assert bench.text("wiki/search", query="qwxzvk blorfgan") == "No results."
    assert bench.text("wiki/search", query="") == "No results."


def test_a_summary_has_title_description_and_text(bench: Bench) -> None:
    title, description, blank, text = bench.text("wiki/summary", title="Tautog").split("\n")
    assert (title, description, blank) == ("**Tautog**", "Wrasse of the American Atlantic coast", "")
    assert text.startswith("The tautog (Tautoga onitis)")


@pytest.mark.parametrize("title", ["Domestic cat", "domestic_cat", "FELIS CATUS", "  House  cat "])
def test_redirects_and_spellings_lead_to_the_article(bench: Bench, title: str) -> None:
    assert bench.text("wiki/summary", title=title).startswith("**Cat**\n")


def test_a_disambiguation_page_shows_its_choices(bench: Bench) -> None:
    assert "may refer to" in bench.text("wiki/summary", title="Flex")


def test_a_missing_page_is_a_404(bench: Bench) -> None:
    assert bench.error("wiki/summary", title="No such / page") == (
        "Error executing tool summary: 404 Client Error: Not Found for url: "
        "https://en.wikipedia.org/api/rest_v1/page/summary/No_such_%2F_page"
    )
    assert "404 Client Error" in bench.error("wiki/summary", title="")


def test_every_article_and_every_redirect_can_be_opened(bench: Bench) -> None:
    for article in ARTICLES[::9]:
        for name in (article["title"], *article.get("aliases", ())):
            assert bench.text("wiki/summary", title=name).startswith(f"**{article['title']}**\n")


def test_redirects_are_clear_and_links_lead_somewhere() -> None:
    aliases = [alias.casefold() for article in ARTICLES for alias in article.get("aliases", ())]
    assert len(aliases) == len(set(aliases))
    assert not set(aliases) & {title.casefold() for title in TITLES}
    for article in ARTICLES:
        assert set(article.get("links", ())) <= TITLES - {article["title"]}, article["title"]


def test_the_encyclopedia_is_large_and_no_text_is_like_another() -> None:
    assert len(ARTICLES) >= 700
    assert len({article["extract"] for article in ARTICLES}) == len(ARTICLES)
    for article in ARTICLES:
        sentences = len(re.findall(r"[.!?](?= |$)", article["extract"]))
        assert article.get("disambiguation") or 2 <= sentences <= 6, article["title"]
        assert len(article["description"]) <= 70, article["title"]
        assert article["extract"][-1] == ".", article["title"]


CLOSED = {
    "country_facts": [
        record["name"].strip() for record in tables.load("countries") if record["id"] not in ("AN", "CS")
    ],
    "state_facts": [record["name"] for record in tables.load("states") if record["id"].startswith("US-")],
    "presidents": [record["name"] for record in tables.load("presidents")],
    "element_facts": [record["title"] for record in tables.load("element_facts")],
    "solar_system": [record["title"] for record in tables.load("solar_system")],
}


@pytest.mark.parametrize("table", CLOSED)
def test_everything_on_a_closed_list_has_an_article(bench: Bench, table: str) -> None:
    for name in CLOSED[table]:
        text = bench.text("wiki/summary", title=name)
        assert len(text.split("\n\n", 1)[1]) > 100, name
        assert bench.text("wiki/search", query=name, n=1) != "No results."


@pytest.mark.parametrize(
    ("title", "facts"),
    [
        ("Kazakhstan", ["Astana", "Kazakhstani tenge", "Uzbekistan"]),
        ("France", ["revolution of 1789", "Paris", "euro", "547,030 square kilometres"]),
        ("Ivory Coast", ["Yamoussoukro", "West African CFA franc"]),
        ("Burma", ["**Myanmar**", "Naypyidaw"]),
        ("Greenland", ["Territory of Denmark", "Nuuk"]),
        ("Texas", ["Austin", "Houston", "29 December 1845", "Lone Star State"]),
        ("Georgia (U.S. state)", ["Atlanta", "Peach State"]),
        ("JD Vance", ["1984", "vice president"]),
        ("FDR", ["32nd president", "Harry S. Truman"]),
        ("Donald Trump", ["45th and 47th president", "since 20 January 2025"]),
        ("Cesium", ["**Caesium**", "atomic number 55", "28.5 °C"]),
        ("Mercury (element)", ["symbol Hg", "−38.8 °C"]),
        ("Titan (moon)", ["moon of Saturn", "Christiaan Huygens discovered it in 1655"]),
    ],
)
def test_composed_articles_say_what_is_true(bench: Bench, title: str, facts: list[str]) -> None:
    reply = bench.reply("wiki/summary", title=title)
    text = reply.result["content"][0]["text"]
    assert reply.outcome == ("success" if facts else "gap")
    for fact in facts:
        assert fact in text


def test_composed_articles_are_whole_and_lead_to_one_another() -> None:
    articles = fact_articles.articles()
    assert fact_articles.count() >= 410
    titles = [article["title"].casefold() for article in articles]
    names = [alias.casefold() for article in articles for alias in article.get("aliases", ())]
    assert len({*titles, *names}) == len(titles) + len(names)
    for article in articles[len(ARTICLES) :]:
        assert 3 <= len(re.findall(r"[.!?](?= |$)", article["extract"])) <= 12, article["title"]
        assert "  " not in article["extract"]
        assert len(article["description"]) <= 70, article["title"]


def test_neighbours_are_neighbours_of_each_other() -> None:
    near = {record["id"]: set(record["neighbours"]) for record in tables.load("state_facts")}
    assert all(state in near[other] for state, others in near.items() for other in others if other in near)


@pytest.mark.parametrize(
    ("query", "first"),
    [
        ("population of Brazil", "Brazil"),
        ("moons of Jupiter", "Io (moon)"),
        ("element 79", "Gold"),
        ("Washington state", "Washington (state)"),
        ("Georgia", "Georgia"),
        ("Obama", "Barack Obama"),
    ],
)
def test_closed_lists_are_found_by_usual_names(bench: Bench, query: str, first: str) -> None:
    assert titles(bench, query)[0] == first


def test_towns_and_airports_have_articles_that_say_what_the_tables_say(bench: Bench) -> None:
    assert gazetteer_articles.count() >= 20_000
    assert bench.text("wiki/search", query="Ulm", n=1) == "Top results:\n- Ulm"
    said = bench.text("wiki/summary", title="Fort Collins, Colorado")
    assert said.startswith("**Fort Collins**\nCity in Colorado, United States")
    assert "America/Denver" in said
    assert "NRT" in bench.text("wiki/summary", title="Narita International Airport")
    assert bench.text("wiki/search", query="Springfield", n=3).count("Springfield, ") == 3
    assert bench.reply("wiki/summary", {"title": "Quokkaville Heights"}).outcome == "gap"
