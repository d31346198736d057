"""What is made up does not go by an identifier that something real may have, and what is real keeps its own."""

import json
import re
from collections.abc import Iterator

import pytest

from m3bench.sandboxes.identifiers import is_isbn
from m3bench.sandboxes.world import shop, tables
from tests.sandboxes.servers.conftest import Bench
from tests.sandboxes.servers.manifest import read

MADE_UP = {
    "arXiv": r"\b\d{4}\.9\d{4}\b",
    "PubMed": r"\b9\d{7}\b",
    "DOI": r"10\.(?:5555/\S+|1101/2025\.10\.\d\d\.99\d{6}\S*|48550/arxiv\.\d{4}\.9\d{4}\S*)",
    "ePrint": r"\b\d{4}/9\d{3}\b",
    "trial": r"NCT079\d{5}",
    "Bookshelf": r"NBK9\d{6}",
    "article of the shop": r"B0Z[0-9A-Z]{7}",
    "post": r"\b9[0-9a-z]{6}\b",
    "asteroid": r"59\d{6}",
    "designation": r"\(\d{4} [A-HJ-Z]{2}9\d{3}\)",
}
"""Ranges that nothing real has reached, as docs/world.md lists them."""

FORMS = {
    "arXiv": r"(?<![\d./])\d{4}\.\d{5}(?=v\d|\b)(?!\d)",
    "DOI": r"\b10\.\d{4,9}/[^\s\"'\\;,)\]}]+",
    "trial": r"\bNCT\d{8}\b",
    "Bookshelf": r"\bNBK\d+\b",
    "article of the shop": r"\bB0[0-9A-Z]{8}\b",
}
"""Forms that give an identifier away wherever it stands."""


def _of(table: str, key: str = "id") -> list[str]:
    return [str(record[key]) for record in tables.load(table)]


def test_posts_articles_and_books_of_health_that_are_made_up_have_numbers_of_their_own() -> None:
    assert all(re.fullmatch(MADE_UP["post"], id) for id in _of("threads"))
    goods = [product.asin for product in shop.products().values() if product.kind != "book"]
    assert goods
    assert all(re.fullmatch(MADE_UP["article of the shop"], number) for number in goods)
    assert all(is_isbn(product.asin) for product in shop.products().values() if product.kind == "book")
    made_up = [record for record in tables.load("health_books") if re.fullmatch(MADE_UP["Bookshelf"], record["id"])]
    assert len(made_up) == 28


def test_asteroids_that_are_made_up_have_numbers_of_their_own_and_say_so(bench: Bench) -> None:
    text = bench.text("nasa-mcp/get_asteroids_feed", start_date="2025-10-28", end_date="2025-10-31")
    entries = [dict(re.findall(r"^  ([^:]+): (.+)$", entry, re.MULTILINE)) for entry in text.split("\n\n  ID")[1:]]
    assert len(entries) > 10
    for id, entry in zip(re.findall(r"  ID: (\d+)", text), entries, strict=True):
        if entry.get("Synthetic") == "object and approach":
            assert re.fullmatch(MADE_UP["asteroid"], id)
            assert re.fullmatch(MADE_UP["designation"], entry["Name"])
        else:
            assert int(id) < 3_000_000
    apophis = bench.text("nasa-mcp/get_asteroid_lookup", asteroid_id="2099942")
    assert "Synthetic: approach" in apophis
    assert re.search(r"Date: 2029-Apr-13 .*\n.*\n.*\n.*velocity.*\n\n", apophis), "that one is true"


@pytest.mark.slow
def test_no_two_places_have_one_id() -> None:
    """The second half of an id is drawn from 64 bits: it meets no other, here or elsewhere."""
    ids = _of("places")
    assert len(set(ids)) == len(ids)


def _identifiers(text: str) -> Iterator[tuple[str, str]]:
    for kind, form in FORMS.items():
        for found in re.findall(form, text):
            yield kind, found.rstrip(".").lower() if kind == "DOI" else found


def _known() -> set[str]:
    """Identifiers of real things that the tables hold as such."""
    known = {str(record[key]) for record in tables.load("known_papers") for key in ("id", "doi") if key in record}
    known |= {f"10.48550/arXiv.{record['id']}" for record in tables.load("known_papers")}
    known |= {*_of("trials"), *_of("health_books")}
    return known | {name.lower() for name in known}


@pytest.mark.slow
@pytest.mark.parametrize("server", ["paper_search", "healthcare-mcp", "amazon", "Reddit-MCP-Server", "wiki"])
def test_no_answer_shows_an_identifier_that_looks_real_and_is_not(bench: Bench, server: str) -> None:
    """Every call of the manifest to servers that show such identifiers."""
    known = _known()
    for call in read():
        if call["tool"].startswith(f"{server}/"):
            text = json.dumps(bench.reply(call["tool"], call["arguments"]).result, ensure_ascii=False)
            asked = json.dumps(call["arguments"])
            for kind, found in _identifiers(text):
                real = found in known or found in asked
                assert real or re.fullmatch(MADE_UP[kind], found), (call, kind, found)
