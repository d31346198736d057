"""The studio: drafts come with the run, are revised element by element, and are seen as pictures."""

import io
from base64 import b64decode
from dataclasses import replace
from pathlib import Path
from typing import Any

import anyio
import pytest
from PIL import Image
from pptx import Presentation
from pptx.enum.shapes import MSO_SHAPE

from m3bench.sandboxes.backends.base import SandboxSpec
from m3bench.sandboxes.backends.process import ProcessBackend
from m3bench.sandboxes.offer import offer
from m3bench.server.lab.authoring.replay import play_call
from m3bench.tasks.catalog import load_catalog
from m3bench.tasks.scene import Draft, Scene
from m3bench.tasks.studio.page import box, page_of, read, text
from tests.sandboxes.servers.conftest import Bench

PAGE = page_of(200, 120, box("card", 10, 10, 180, 100, "#dde8f4"), text("name", 20, 66, 20, "Ada", "#203040"))
SCENE = Scene(
    sha256="0" * 64,
    width=10,
    height=10,
    thumbnail=b"",
    drafts=(Draft(name="card.svg", title="A place card", data=PAGE.svg().encode()),),
)
PATH = "./card.svg"


@pytest.fixture
def cards(tmp_path: Path) -> Bench:
    bench = Bench(tmp_path / "workspace", (SCENE,))
    bench.text("studio/open_draft", name="card.svg")
    return bench


def test_drafts_are_listed_and_opened_and_opening_again_starts_anew(cards: Bench) -> None:
    assert cards.text("studio/list_drafts") == "card.svg: A place card"
    cards.text("studio/remove_element", path=PATH, element="name")
    opened = cards.text("studio/open_draft", name="A place card")
    assert opened.splitlines()[-1] == "name (text) x=20 y=66 font-size=20 fill=#203040 “Ada”"
    assert (cards.folder / "card.svg").read_text() == PAGE.svg()
    assert "card.svg" in cards.error("studio/open_draft", name="cart.svg")


def test_elements_are_changed_moved_added_and_removed(cards: Bench) -> None:
    cards.text("studio/change_element", path=PATH, element="name", attributes={"font-size": 18}, text="Grace")
    assert cards.text("studio/move_element", path=PATH, element="name", dx=5, dy=-6).startswith("name (text) x=25 y=60")
    cards.text(
        "studio/add_element",
        path=PATH,
        element="dot",
        kind="circle",
        attributes={"cx": 9, "cy": 9, "r": 3, "fill": "red"},
    )
    cards.text("studio/remove_element", path=PATH, element="card")
    page = read((cards.folder / "card.svg").read_bytes())
    assert [one.name for one in page.elements] == ["name", "dot"]
    assert (page["name"].text, page["name"].number("font-size")) == ("Grace", 18)
    assert cards.text("studio/read_page", path=PATH).count("\n") == 2


def test_a_page_is_seen_as_it_is_now(cards: Bench) -> None:
    def seen() -> Image.Image:
        content = cards.reply("studio/render_page", path=PATH, scale=2).result["content"]
        assert [block["type"] for block in content] == ["text", "image"]
        assert content[1]["mimeType"] == "image/png"
        return Image.open(io.BytesIO(b64decode(content[1]["data"]))).convert("RGB")

    before = seen()
    assert before.size == (400, 240)
    assert before.getpixel((200, 60)) == (0xDD, 0xE8, 0xF4)
    cards.text("studio/change_element", path=PATH, element="card", attributes={"fill": "#ff0000"})
    assert seen().getpixel((200, 60)) == (255, 0, 0)


@pytest.mark.parametrize(
    ("tool", "given", "said"),
    [
        ("change_element", {"element": "nam", "text": "x"}, "Did you mean name"),
        ("change_element", {"element": "name"}, "Nothing is to be changed"),
        ("change_element", {"element": "name", "attributes": {"href": "x"}}, "has no 'href'"),
        ("change_element", {"element": "card", "text": "x"}, "has no text"),
        ("add_element", {"element": "name", "kind": "rect", "attributes": {}}, "already"),
        ("add_element", {"element": "z", "kind": "rect", "attributes": {"width": 1}}, "needs 'height'"),
        ("render_page", {"page": 2}, "has 1"),
        ("render_page", {"scale": 30}, "at most 3"),
    ],
)
def test_what_cannot_be_done_is_said_and_changes_nothing(
    cards: Bench, tool: str, given: dict[str, Any], said: str
) -> None:
    assert said in cards.error(f"studio/{tool}", path=PATH, **given)
    assert (cards.folder / "card.svg").read_text() == PAGE.svg()


def test_files_of_other_kinds_are_refused(cards: Bench) -> None:
    (cards.folder / "notes.txt").write_text("hello")
    (cards.folder / "bad.svg").write_text("<svg><image/></svg>")
    assert "cannot be shown" in cards.error("studio/render_page", path="./notes.txt")
    assert "only .svg is" in cards.error("studio/move_element", path="./notes.txt", element="a", dx=1, dy=1)
    assert "cannot be used" in cards.error("studio/remove_element", path="./bad.svg", element="a")
    assert "leaves the workspace" in cards.error("studio/render_page", path="../../etc/passwd")


def test_without_a_draft_the_studio_is_empty_and_it_is_offered_to_those_who_name_it_alone(bench: Bench) -> None:
    assert "The studio is empty" in bench.error("studio/list_drafts")
    assert "studio" not in offer(None).by_name
    assert (len(load_catalog().servers), len(load_catalog().tools)) == (27, 232)


def test_a_sandbox_in_a_process_of_its_own_renders(tmp_path: Path) -> None:
    async def main() -> list[str]:
        with anyio.fail_after(60):
            async with ProcessBackend() as backend:
                spec = SandboxSpec(workspace=tmp_path, servers=("studio",), scenes=(SCENE,))
                sandbox = await backend.open(spec)
                try:
                    calls = [("open_draft", {"name": "card.svg"}), ("render_page", {"path": PATH})]
                    return [
                        (await play_call(f"studio/{tool}", given, sandbox, load_catalog()))[2] for tool, given in calls
                    ]
                finally:
                    await sandbox.aclose()

    assert anyio.run(main)[1].startswith("Rendered at 200 × 120 pixels")


def test_sheets_are_pages_that_are_seen_one_at_a_time_and_told_by_places_in_the_whole_file(tmp_path: Path) -> None:
    deck = page_of(
        200,
        200,
        box("upper", 0, 0, 200, 100, "#ff0000"),
        box("lower", 0, 100, 200, 100, "#0000ff"),
        text("end", 20, 166, 20, "Fin", "#ffffff"),
        sheets=2,
    )
    draft = Draft(name="deck.svg", title="A deck", data=deck.svg().encode())
    bench = Bench(tmp_path / "workspace", (replace(SCENE, drafts=(draft,)),))
    opened = bench.text("studio/open_draft", name="deck.svg")
    assert "2 pages of 100 pixels one below the other" in opened
    assert opened.splitlines()[-1].startswith("end (text) x=20 y=166")
    path = "./deck.svg"
    assert [line.split()[0] for line in bench.text("studio/read_page", path=path, page=2).splitlines()[1:]] == [
        "lower",
        "end",
    ]
    for number, colour in ((1, (255, 0, 0)), (2, (0, 0, 255))):
        content = bench.reply("studio/render_page", path=path, page=number).result["content"]
        seen = Image.open(io.BytesIO(b64decode(content[1]["data"]))).convert("RGB")
        assert seen.size == (200, 100)
        assert seen.getpixel((190, 50)) == colour
    bench.text("studio/move_element", path=path, element="end", dx=0, dy=-100)
    assert "end" not in bench.text("studio/read_page", path=path, page=2)
    assert read((bench.folder / "deck.svg").read_bytes()).sheets == 2
    assert "There is no page 3" in bench.error("studio/render_page", path=path, page=3)


def test_slides_and_worksheets_are_read_and_rendered_and_what_is_not_drawn_is_named(bench: Bench) -> None:
    deck = Presentation()
    slide = deck.slides.add_slide(deck.slide_layouts[5])
    slide.shapes.title.text = "Before noon"
    slide.shapes.add_shape(MSO_SHAPE.SMILEY_FACE, 0, 0, 900_000, 900_000)
    deck.save(str(bench.folder / "day.pptx"))
    assert "Title 1: x=48 y=29 width=864 height=120 “Before noon”" in bench.text("studio/read_page", path="./day.pptx")
    text_block, image = bench.reply("studio/render_page", path="./day.pptx", scale=0.5).result["content"]
    assert text_block["text"].startswith("Rendered slide 1 at 480 × 360 pixels; not drawn as in the file: a shape of")
    assert Image.open(io.BytesIO(b64decode(image["data"]))).size == (480, 360)
    assert "has 1" in bench.error("studio/render_page", path="./day.pptx", page=2)
    bench.text("excel/create_workbook", filepath="sums.xlsx")
    bench.text("excel/write_data_to_excel", filepath="sums.xlsx", sheet_name="Sheet1", data=[["Pears", 3]])
    assert "A1: x=0 y=0 width=64 height=20 “Pears”" in bench.text("studio/read_page", path="./sums.xlsx")
    (bench.folder / "broken.xlsx").write_bytes(b"PK no")
    assert "cannot be shown: it is no office file" in bench.error("studio/render_page", path="./broken.xlsx")
