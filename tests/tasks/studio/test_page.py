"""Pages: read from files that an agent may have written, changed element by element, and always written alike."""

import pytest

from m3bench.tasks.scene import Draft
from m3bench.tasks.studio.page import (
    MOST_ELEMENTS,
    Page,
    PageError,
    box,
    described,
    element,
    line,
    page_of,
    pages,
    read,
    text,
)

CARD = page_of(
    200, 120, box("card", 10, 10, 180, 100, "#dde8f4"),
    text("name", 100, 66, 20, "Ada & co <3", "#203040", text_anchor="middle"),
    line("rule", 20, 80, 180, 80, "#203040"), element("polygon", "roof", {"points": "10,10 50,10 30,2"}),
    element("path", "curve", {"d": "M0 0 C10 10 20 10 30 0", "transform": "translate(5 5)"}),
    element("circle", "dot", {"cx": 5, "cy": 6, "r": 2}),
)  # fmt: skip


def test_a_page_survives_being_written_and_is_written_in_one_way() -> None:
    assert read(CARD.svg().encode()) == CARD
    assert read(read(CARD.svg().encode()).svg().encode()).svg() == CARD.svg()
    shuffled = CARD["card"].changed({"fill": None}).changed({"fill": "#dde8f4"})
    assert shuffled.digest() == CARD["card"].digest()


def test_a_digest_leaves_out_what_is_free() -> None:
    name = CARD["name"]
    assert name.changed({"font-size": 18}).digest() != name.digest()
    assert name.changed({"font-size": 18}, "Bob").digest(("font-size", "text")) == name.digest(("font-size", "text"))


@pytest.mark.parametrize("name", [one.name for one in CARD.elements])
def test_everything_can_be_moved_there_and_back(name: str) -> None:
    from m3bench.tasks.studio.rendering import box_of

    before, after = box_of(CARD[name], CARD), box_of(CARD[name].moved(12, 7), CARD)
    assert after == pytest.approx([before[0] + 12, before[1] + 7, before[2] + 12, before[3] + 7], abs=1)
    assert box_of(CARD[name].moved(12, 7).moved(-12, -7), CARD) == pytest.approx(before, abs=0.01)


@pytest.mark.parametrize(
    "body",
    [
        '<image href="file:///etc/passwd" width="9" height="9"/>',
        '<use href="#a"/>',
        "<style>text{fill:red}</style>",
        "<script>1</script>",
        "<g><rect width='1' height='1'/></g>",
        '<rect width="10" height="10" fill="url(#x)"/>',
        '<rect width="1e9" height="1"/>',
        '<rect width="nan" height="1"/>',
        '<rect width="5" height="1" onclick="x"/>',
        '<rect width="5"/>',
        '<rect id="1a" width="5" height="5"/>',
        '<rect id="a" width="5" height="5"/><rect id="a" width="5" height="5"/>',
        '<text font-size="10" font-weight="850">x</text>',
        '<polygon points="1,2"/>',
        "".join('<circle r="1"/>' for _ in range(MOST_ELEMENTS + 1)),
        f'<text font-size="10">{"x" * 500}</text>',
        "<?xml-stylesheet href='http://x'?>",
    ],
)
def test_what_is_no_part_of_a_page_is_refused(body: str) -> None:
    with pytest.raises(PageError):
        read(f'<svg xmlns="http://www.w3.org/2000/svg" width="20" height="20">{body}</svg>'.encode())


@pytest.mark.parametrize("data", [b"", b"PNG", b"<html/>", b"<svg/>", b"\xff\xfe", b'<svg width="0" height="4"/>'])
def test_what_is_no_page_is_refused(data: bytes) -> None:
    with pytest.raises(PageError):
        read(data)


def test_an_entity_is_not_expanded() -> None:
    bomb = b'<!DOCTYPE svg [<!ENTITY a "aaaa">]><svg width="9" height="9"><text font-size="9">&a;</text></svg>'
    with pytest.raises(PageError):
        read(bomb)


def test_an_element_is_described_with_all_that_it_has() -> None:
    assert described(CARD["name"]) == (
        "name (text) x=100 y=66 font-size=20 text-anchor=middle fill=#203040 “Ada & co <3”"
    )


def test_a_kind_of_artefact_goes_by_the_ending() -> None:
    assert pages("a/CARD.SVG", CARD.svg().encode()) == (CARD,)
    with pytest.raises(PageError, match="cannot be shown"):
        pages("card.docx", b"")


def test_drafts_survive_json_as_text_and_as_bytes() -> None:
    for data in (CARD.svg().encode(), b"PK\xff\xfe"):
        draft = Draft(name="a.svg", title="A card", data=data)
        assert Draft.from_json(draft.to_json()) == draft
    assert "text" in Draft(name="a.svg", title="", data=b"<svg/>").to_json()


def test_a_page_without_an_element_says_so() -> None:
    with pytest.raises(KeyError):
        Page(width=1, height=1)["x"]
