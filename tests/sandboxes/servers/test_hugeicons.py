"""The `hugeicons-mcp` server shows only icons that are in its list."""

import json
import re
from typing import Any

import pytest

from m3bench.sandboxes.servers.hugeicons_mcp import STYLES
from m3bench.sandboxes.world import tables
from tests.sandboxes.servers.conftest import Bench

ICONS = tables.load("icons")


def found(bench: Bench, query: str) -> list[Any]:
    return list(json.loads(bench.text("hugeicons-mcp/search_icons", query=query)))


def page(bench: Bench, **arguments: int) -> tuple[list[Any], str]:
    icons, note = bench.reply("hugeicons-mcp/list_icons", arguments).result["content"]
    return json.loads(icons["text"]), note["text"]


def test_the_list_comes_in_pages_that_are_whole_together(bench: Bench) -> None:
    listed: list[Any] = []
    for offset in range(0, len(ICONS), 500):
        icons, note = page(bench, offset=offset, limit=500)
        listed += icons
        assert f"of {len(ICONS)}." in note
    assert listed == list(ICONS)
    assert len(ICONS) >= 800
    first, note = page(bench)
    assert first == list(ICONS[:100])
    assert note == f"Icons 1 to 100 of {len(ICONS)}. The next page: list_icons with offset 100."
    assert page(bench, offset=len(ICONS)) == ([], f"There are {len(ICONS)} icons.")
    for wrong in ({"offset": -1}, {"limit": 0}, {"limit": 501}):
        assert bench.reply("hugeicons-mcp/list_icons", wrong).outcome == "invalid_arguments"


@pytest.mark.parametrize(
    ("query", "first"),
    [
        ("tree", "tree-"),
        ("Laptop", "laptop"),
        ("plate", "plate"),
        ("castel", "castle"),
        ("shopping basket", "shopping-basket"),
        ("basket shopping", "shopping-basket"),
        ("pole", "utility-pole"),
        ("twitter", "twitter"),
        ("facebook", "facebook-01"),
        ("youtube", "youtube"),
        ("github", "github"),
        ("coffe", "coffee-"),
    ],
)
def test_a_word_finds_its_icon_first(bench: Bench, query: str, first: str) -> None:
    assert found(bench, query)[0]["name"].startswith(first)


def test_what_a_thing_is_also_called_finds_it(bench: Bench) -> None:
    assert any(icon["name"].startswith("sofa") for icon in found(bench, "couch")[:3])
    assert any(icon["name"].startswith("coffee") for icon in found(bench, "hot drink")[:6])


def test_commas_separate_searches(bench: Bench) -> None:
    names = [icon["name"] for icon in found(bench, "castle, bridge")]
    assert len(names) == len(set(names))
    assert "castle" in names
    assert "bridge" in names


def test_every_icon_that_search_shows_is_in_the_list(bench: Bench) -> None:
    listed = list(ICONS)
    for icon in ICONS[::40]:
        for shown in found(bench, icon["tags"][-1]):
            assert shown in listed


def test_nonsense_finds_nothing_and_an_empty_query_is_an_error(bench: Bench) -> None:
    assert bench.text("hugeicons-mcp/search_icons", query="qwxzvk blorf") == "[]"
    assert bench.error("hugeicons-mcp/search_icons", query=" ") == (
        "MCP error -32600: Search query must be a non-empty string"
    )


def test_tags_say_more_than_the_name_and_are_no_numbers() -> None:
    for icon in ICONS:
        assert len(icon["tags"]) == len(set(icon["tags"])) >= 2, icon
        assert not any(tag.isdigit() for tag in icon["tags"])
        assert set(icon["tags"]) - set(icon["name"].split("-")), icon
        assert re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", icon["name"])


@pytest.mark.parametrize("platform", ["react", "vue", "angular", "svelte", "react-native", "flutter", "html"])
def test_usage_names_packages_and_shows_code(bench: Bench, platform: str) -> None:
    usage = json.loads(bench.text("hugeicons-mcp/get_platform_usage", platform=platform))
    assert usage["platform"] == platform
    assert set(usage) == {"platform", "installation", "basicUsage", "props"}
    assert "home" in usage["basicUsage"].lower()


def test_glyphs_differ_between_icons_and_agree_between_tools(bench: Bench) -> None:
    codes = set()
    for icon in ICONS[::97]:
        glyphs = json.loads(bench.text("hugeicons-mcp/get_icon_glyphs", icon_name=icon["name"]))
        assert [glyph["style"] for glyph in glyphs] == list(STYLES)
        codes.add(glyphs[0]["unicode"])
        assert int(glyphs[0]["unicode"], 16) == glyphs[0]["unicode_decimal"]
        call = {"icon_name": icon["name"], "style": "solid-sharp"}
        single = json.loads(bench.text("hugeicons-mcp/get_icon_glyph_by_style", call))
        assert single == {"primary": {"glyph": f"&#x{glyphs[0]['unicode']};"}, "secondary": None}
    assert len(codes) == len(ICONS[::97])


def test_layered_styles_have_two_glyphs(bench: Bench) -> None:
    text = bench.text("hugeicons-mcp/get_icon_glyph_by_style", icon_name="tree-01", style="bulk-rounded")
    glyph = json.loads(text)
    assert glyph["primary"] != glyph["secondary"]


def test_an_unknown_icon_has_no_glyphs(bench: Bench) -> None:
    assert bench.error("hugeicons-mcp/get_icon_glyphs", icon_name="tree-99") == (
        "MCP error -32603: Failed to get icon glyphs: Icon 'tree-99' not found"
    )
