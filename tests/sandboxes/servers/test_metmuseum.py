"""The `metmuseum-mcp` server: every number that a search shows is an object with the facts it was found by."""

from base64 import b64decode
from io import BytesIO
from typing import Any

import pytest
from PIL import Image

from m3bench.sandboxes.servers.metmuseum_mcp.drawing import KINDS, draw
from m3bench.sandboxes.world import tables
from tests.sandboxes.servers.conftest import Bench

OBJECTS = tables.load("met_objects")


def found(bench: Bench, **arguments: Any) -> list[int]:
    text = bench.text("metmuseum-mcp/search-museum-objects", arguments)
    if text == "No objects found":
        return []
    head, numbers = text.split("\n")
    ids = [int(number) for number in numbers.removeprefix("Object IDs: ").split(", ")]
    assert head == f"Total objects found: {len(ids)}"
    return ids


def test_departments_are_listed_with_their_numbers(bench: Bench) -> None:
    lines = bench.text("metmuseum-mcp/list-departments").split("\n")
    assert len(lines) == 19
    assert "Department ID: 10, Display Name: Egyptian Art" in lines
    assert "Department ID: 13, Display Name: Greek and Roman Art" in lines


def test_an_object_is_shown_with_what_is_known_of_it(bench: Bench) -> None:
    assert bench.text("metmuseum-mcp/get-museum-object", objectId=206965, returnImage=False) == (
        "Title: Longcase astronomical regulator\n"
        "Artist: Ferdinand Berthoud\n"
        "Artist Bio: French, 1727–1807\n"
        "Department: European Sculpture and Decorative Arts\n"
        "Credit Line: The Jack and Belle Linsky Collection, 1982\n"
        "Medium: Case: oak veneered with ebony and brass, with gilt-bronze mounts; Dial: white enamel; "
        "Movement: gilded brass and steel\n"
        "Tags: Clocks, Astronomy"
    )


def test_the_picture_comes_as_a_small_jpeg(bench: Bench) -> None:
    text, picture = bench.reply("metmuseum-mcp/get-museum-object", objectId=254896).result["content"]
    assert text["text"].startswith("Title: Terracotta amphora (jar)\n")
    assert picture["mimeType"] == "image/jpeg"
    assert Image.open(BytesIO(b64decode(picture["data"]))).size == (600, 600)


@pytest.mark.parametrize("arguments", [{"objectId": 254896, "returnImage": False}, {"objectId": 488978}])
def test_no_picture_when_none_is_wanted_or_there_is_none(bench: Bench, arguments: dict[str, Any]) -> None:
    content = bench.reply("metmuseum-mcp/get-museum-object", arguments).result["content"]
    assert [block["type"] for block in content] == ["text"]


@pytest.mark.parametrize("number", [1, -5, 206965.5])
def test_an_unknown_number_is_a_404(bench: Bench, number: float) -> None:
    assert bench.error("metmuseum-mcp/get-museum-object", objectId=number) == (
        f"Error getting museum object id {number}: Error: HTTP error! status: 404"
    )


def test_an_empty_search_lists_a_department(bench: Bench) -> None:
    assert 310542 in found(bench, q="", hasImages=True, departmentId=5)
    assert 206965 in found(bench, q="", hasImages=True, departmentId=12, title=False)
    assert found(bench, q="") == sorted(thing["id"] for thing in (*OBJECTS, *tables.load("more_met_objects")))
    assert found(bench, q="", departmentId=2) == []


def test_words_and_filters_go_together(bench: Bench) -> None:
    assert 549236 in found(bench, q="Egyptian", hasImages=True, departmentId=10)
    assert found(bench, q="vermeer")[0] in {437878, 437879, 437880, 437881}
    assert found(bench, q="vermeer", departmentId=4) == []
    assert 488978 in found(bench, q="pollock")
    assert found(bench, q="pollock", hasImages=True) == []


def test_title_searches_compare_titles_only_unless_pictures_are_asked_for(bench: Bench) -> None:
    assert found(bench, q="rembrandt", title=True) == []
    assert 437397 in found(bench, q="rembrandt", title=True, hasImages=True)
    assert found(bench, q="wheat field", title=True)[0] == 436535


def test_every_number_that_a_search_shows_can_be_opened(bench: Bench) -> None:
    for number in found(bench, q="portrait"):
        assert bench.text("metmuseum-mcp/get-museum-object", objectId=number, returnImage=False)


@pytest.mark.sample(6)
@pytest.mark.parametrize("kind", sorted(KINDS))
def test_every_kind_has_a_drawing_that_is_small_and_always_the_same(kind: str) -> None:
    thing = next(thing for thing in OBJECTS if thing.get("kind") == kind)
    assert draw(thing) == draw(thing)
    assert len(draw(thing)) < 80_000


def test_the_collection_is_large_and_its_kinds_are_known() -> None:
    assert len(OBJECTS) >= 120
    assert {thing["kind"] for thing in OBJECTS if "kind" in thing} == KINDS


def test_a_work_without_the_museums_number_says_so_and_has_no_picture(bench: Bench) -> None:
    found = bench.text("metmuseum-mcp/search-museum-objects", q="Fortune-Teller Georges de La Tour")
    number = int(found.partition("Object IDs: ")[2].split(",")[0])
    assert number >= 90_000_000
    text = bench.text("metmuseum-mcp/get-museum-object", objectId=number)
    assert text.startswith("Title: The Fortune-Teller\nArtist: Georges de La Tour")
    assert "Not covered: the museum's number" in text
    with_pictures = bench.text("metmuseum-mcp/search-museum-objects", q="Georges de La Tour", hasImages=True)
    assert str(number) not in with_pictures
