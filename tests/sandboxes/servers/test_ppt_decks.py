"""Decks of the `ppt` server: opened, kept, switched, saved, and the same after a restart."""

import json
import zipfile
from collections.abc import Callable
from datetime import datetime
from hashlib import sha256
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest
from pptx import Presentation

from tests.pictures import assert_same_bytes
from tests.sandboxes.servers.conftest import Bench
from tests.sandboxes.servers.slideshow import call, deck_with, picture, refused, restarted, saved, titles


def test_a_new_deck_is_empty_and_the_current_one(bench: Bench) -> None:
    assert call(bench, "create_presentation", id="report") == {
        "presentation_id": "report",
        "message": "Created new presentation with ID: report",
        "slide_count": 0,
    }
    assert call(bench, "add_slide", layout_index=5, title="Hello") == {
        "message": "Added slide 0 with layout 5",
        "slide_index": 0,
        "layout_name": "Title Only",
    }
    assert titles(saved(bench, "report")) == ["Hello"]


def test_decks_without_an_id_are_numbered_and_never_replace_one_another(bench: Bench) -> None:
    call(bench, "create_presentation", id="presentation_2")
    made = [call(bench, "create_presentation")["presentation_id"] for _ in range(3)]
    assert made == ["presentation_1", "presentation_3", "presentation_4"]


def test_an_id_used_again_starts_over(bench: Bench) -> None:
    deck_with(bench, 1, 1)
    call(bench, "create_presentation", id="deck")
    assert call(bench, "get_presentation_info")["slide_count"] == 0


def test_undeclared_arguments_are_ignored(bench: Bench) -> None:
    answer, note = bench.reply("ppt/create_presentation", presentation_id="mine").result["content"]
    assert json.loads(answer["text"])["presentation_id"] == "presentation_1"
    assert note["text"] == "Ignored: create_presentation has no argument 'presentation_id'. Its arguments: id."


def test_several_decks_are_open_at_once_over_restarts(bench: Bench) -> None:
    for id in ("first", "second", "third"):
        call(bench, "create_presentation", id=id)
        call(bench, "add_slide", layout_index=0, title=f"The {id}")
        bench = restarted(bench)
    assert call(bench, "switch_presentation", presentation_id="first") == {
        "message": "Switched from presentation 'third' to 'first'",
        "previous_presentation_id": "third",
        "current_presentation_id": "first",
    }
    bench = restarted(bench)
    call(bench, "add_slide", layout_index=5, title="More of the first")
    call(bench, "add_slide", layout_index=5, title="More of the second", presentation_id="second")
    bench = restarted(bench)
    assert call(bench, "list_presentations") == {
        "presentations": [
            {"id": "first", "slide_count": 2, "is_current": True},
            {"id": "second", "slide_count": 2, "is_current": False},
            {"id": "third", "slide_count": 1, "is_current": False},
        ],
        "current_presentation_id": "first",
        "total_presentations": 3,
    }
    assert titles(saved(bench)) == ["The first", "More of the first"]
    assert titles(saved(bench, "second")) == ["The second", "More of the second"]


def test_a_restart_at_any_moment_gives_the_same_file(bench: Bench, tmp_path: Path) -> None:
    other = Bench(tmp_path / "other")
    picture(bench)
    picture(other)
    calls: list[tuple[str, dict[str, Any]]] = [
        ("create_presentation", {"id": "deck"}),
        ("add_slide", {"layout_index": 1, "title": "One", "background_type": "gradient"}),
        ("manage_image", {"slide_index": 0, "operation": "add", "image_source": "media/photo.png"}),
        (
            "add_chart",
            {
                "slide_index": 0,
                "chart_type": "pie",
                "left": 1,
                "top": 1,
                "width": 3,
                "height": 3,
                "categories": ["a", "b"],
                "series_names": ["s"],
                "series_values": [[1, 2]],
            },
        ),
        ("create_slide_from_template", {"template_id": "timeline_slide"}),
        ("apply_professional_design", {"operation": "theme", "apply_to_existing": False}),
        ("manage_slide_transitions", {"slide_index": 1, "operation": "set", "transition_type": "wipe"}),
        ("save_presentation", {"file_path": "deck.pptx"}),
    ]
    for tool, arguments in calls:
        assert call(bench, tool, **arguments) == call(other, tool, **arguments)
        other = restarted(other)
        if tool != "create_presentation":
            for look in ({"tool": "extract_slide_text"}, {"tool": "manage_hyperlinks", "operation": "list"}):
                call(bench, **look, slide_index=0)
    made, kept = ((place.folder / "media/deck.pptx").read_bytes() for place in (bench, other))
    assert_same_bytes(made, kept, "deck.pptx")


def test_a_failing_call_leaves_the_deck_as_it_was(bench: Bench) -> None:
    deck_with(bench, 5)
    before = _state(bench)
    refused(bench, "create_slide_from_template", template_id="title_slide", content_mapping={"title": "x" * 40_000})
    refused(bench, "create_slide_from_template", template_id="no_such_template")
    refused(bench, "add_table", slide_index=0, rows=2, cols=2, left=1, top=1, width=-4, height=2)
    assert _state(bench) == before
    assert call(bench, "get_presentation_info")["slide_count"] == 1
    assert _state(restarted(bench)) == before


@pytest.mark.parametrize(
    ("asked", "place"),
    [
        ("report.pptx", "media/report.pptx"),
        ("./media/report.pptx", "media/report.pptx"),
        ("media/report.pptx", "media/report.pptx"),
        ("/workspace/media/report.pptx", "media/report.pptx"),
        ("reports/may/report.pptx", "media/reports/may/report.pptx"),
        ("report", "media/report.pptx"),
        ("REPORT.PPTX", "media/REPORT.PPTX"),
    ],
)
def test_decks_are_saved_under_media(bench: Bench, asked: str, place: str) -> None:
    deck_with(bench, 6)
    shown = f"/workspace/{place}"
    assert call(bench, "save_presentation", file_path=asked, presentation_id="deck") == {
        "message": f"Presentation saved to {shown}",
        "file_path": shown,
        "abs_path": shown,
        "uri": f"file://{shown}",
    }
    assert len(Presentation(str(bench.folder / place)).slides) == 1


def test_saving_never_replaces_a_file(bench: Bench) -> None:
    deck_with(bench, 6)
    paths = [call(bench, "save_presentation", file_path="./media/a.pptx")["file_path"] for _ in range(3)]
    assert paths == ["/workspace/media/a.pptx", "/workspace/media/a-1.pptx", "/workspace/media/a-2.pptx"]


@pytest.mark.parametrize("path", ["../a.pptx", "/workspace/a.pptx", "./media/../a.pptx"])
def test_saving_outside_media_is_refused(bench: Bench, path: str) -> None:
    deck_with(bench, 6)
    assert "Saving outside enforced output directory is not allowed" in refused(
        bench, "save_presentation", file_path=path
    )


@pytest.mark.parametrize("path", ["a.exe", "", "..", "/etc/a.pptx", "../../a.pptx", "C:\\a.pptx", "media/"])
def test_a_deck_is_saved_to_a_pptx_file_of_the_workspace_only(bench: Bench, path: str) -> None:
    deck_with(bench, 6)
    files = sorted(bench.folder.rglob("*.*"))
    if path != "media/":
        assert refused(bench, "save_presentation", file_path=path).startswith("Failed to save presentation: ")
        assert sorted(bench.folder.rglob("*.*")) == files


def test_a_saved_deck_is_opened_again(bench: Bench) -> None:
    deck_with(bench, 0, title="Round trip")
    call(bench, "save_presentation", file_path="a.pptx")
    assert call(bench, "open_presentation", file_path="./media/a.pptx", id="again") == {
        "presentation_id": "again",
        "message": "Opened presentation from ./media/a.pptx with ID: again",
        "slide_count": 1,
    }
    call(bench, "add_slide", layout_index=5, title="Added")
    assert titles(saved(bench)) == ["Round trip", "Added"]
    assert titles(Presentation(str(bench.folder / "media/a.pptx"))) == ["Round trip"]


def test_templates_are_found_by_name(prepared: Callable[[str], Bench]) -> None:
    bench = prepared("ppt")
    made = call(bench, "create_presentation_from_template", template_path="house_style.pptx", id="news")
    assert made["template_path"] == "./templates/house_style.pptx"
    assert (made["slide_count"], made["layout_count"]) == (1, 4)
    info = call(bench, "get_template_file_info", template_path="/workspace/templates/house_style.pptx")
    assert info["core_properties"]["title"] == "House style"
    assert info["file_size_bytes"] == (bench.folder / "templates/house_style.pptx").stat().st_size
    assert refused(bench, "get_template_file_info", template_path="nothing.potx") == (
        "Template file not found: nothing.potx. Searched in ., ./templates, ./assets, ./resources"
    )


def test_a_potx_template_becomes_a_deck(bench: Bench) -> None:
    source = BytesIO()
    Presentation().save(source)
    template = bench.folder / "assets/style.potx"
    template.parent.mkdir()
    with zipfile.ZipFile(source) as old, zipfile.ZipFile(template, "w") as new:
        for name in old.namelist():
            new.writestr(name, old.read(name).replace(b"presentation.main+xml", b"template.main+xml"))
    call(bench, "create_presentation_from_template", template_path="style.potx")
    call(bench, "add_slide", layout_index=0, title="From a template")
    assert titles(saved(bench)) == ["From a template"]


def test_a_deck_is_described(bench: Bench) -> None:
    deck_with(bench, 0)
    call(bench, "set_core_properties", title="Plan", author="Ada", subject="S", keywords="a, b", comments="None yet")
    info = call(bench, "get_presentation_info", presentation_id="deck")
    assert info["core_properties"] == {
        "title": "Plan",
        "subject": "S",
        "author": "Ada",
        "keywords": "a, b",
        "comments": "None yet",
        "category": "",
        "created": "2025-11-01 12:00:00",
        "modified": "2025-11-01 12:00:00",
        "last_modified_by": "",
    }
    assert (info["slide_width"], info["slide_height"], info["layout_count"]) == (9144000, 6858000, 11)
    assert [info["slide_layouts"][index]["name"] for index in (0, 1, 5, 6)] == [
        "Title Slide",
        "Title and Content",
        "Title Only",
        "Blank",
    ]
    assert saved(bench).core_properties.author == "Ada"


def test_files_carry_the_frozen_clock_and_nothing_of_the_machine(bench: Bench) -> None:
    deck_with(bench, 6)
    call(
        bench,
        "add_chart",
        slide_index=0,
        chart_type="line",
        left=1,
        top=1,
        width=4,
        height=3,
        categories=["a"],
        series_names=["s"],
        series_values=[[1]],
    )
    deck = saved(bench)
    assert deck.core_properties.modified == datetime(2025, 11, 1, 12, 0)
    with zipfile.ZipFile(bench.folder / "media/check.pptx") as archive:
        assert {entry.date_time for entry in archive.infolist()} == {(2025, 11, 1, 12, 0, 0)}
        sheet = next(name for name in archive.namelist() if name.endswith(".xlsx"))
        with zipfile.ZipFile(BytesIO(archive.read(sheet))) as workbook:
            assert b"2025-11-01T12:00:00Z" in workbook.read("docProps/core.xml")
        assert not [name for name in archive.namelist() if "thumbnail" in name or "printer" in name]


def test_the_server_describes_itself(bench: Bench) -> None:
    info = call(bench, "get_server_info")
    assert (info["version"], info["total_tools"], info["loaded_presentations"]) == ("2.1.0", 37, 0)
    deck_with(bench)
    assert call(bench, "get_server_info")["current_presentation"] == "deck"


def test_unknown_decks_are_told_with_those_that_are_open(bench: Bench) -> None:
    assert refused(bench, "add_slide") == (
        "No presentation is currently loaded or the specified ID is invalid: "
        "none is open, call create_presentation or open_presentation first"
    )
    deck_with(bench, 6)
    assert refused(bench, "get_slide_info", slide_index=0, presentation_id="other") == (
        "No presentation is currently loaded or the specified ID is invalid: 'other' is not among ['deck']"
    )
    assert refused(bench, "manage_slide_masters", operation="list", presentation_id="other").startswith(
        "Presentation not found"
    )
    assert refused(bench, "switch_presentation", presentation_id="other") == (
        "Presentation 'other' not found. Available presentations: ['deck']"
    )


def _state(bench: Bench) -> dict[str, str]:
    return {
        str(file.relative_to(bench.folder)): sha256(file.read_bytes()).hexdigest()
        for file in sorted(bench.folder.rglob("*"))
        if file.is_file()
    }
