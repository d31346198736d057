"""Checks pass what was asked for, fail everything else with a reason, and never raise."""

from pathlib import Path

import pytest
from openpyxl import Workbook
from PIL import Image, ImageDraw
from pptx import Presentation
from pptx.util import Inches

from m3bench.tasks.checks import (
    AnswerIsNotTheQuestion,
    AnswerNames,
    AnswerNumber,
    BackedByCall,
    CallMade,
    DeckHas,
    Evidence,
    FileOpens,
    LoggedCall,
    PictureChanged,
    PictureCut,
    WorkbookCells,
)


def answer(text: str, folder: Path = Path("/nowhere"), *calls: LoggedCall) -> Evidence:
    return Evidence(answer=text, workspace=folder, calls=calls)


@pytest.mark.parametrize(
    ("text", "passed"),
    [("A lion and a ZEBRA.", True), ("lions and zebras", False), ("a lion", False), ("the big cat and a zebra", True)],
)
def test_names_are_words_in_any_case_and_spelling(text: str, passed: bool) -> None:
    assert AnswerNames(all_of=(("lion", "big cat"), ("zebra",))).run(answer(text)).passed == passed


@pytest.mark.parametrize(
    ("text", "value", "passed"),
    [
        ("It is 12.5 km", 12.5, True),
        ("about 12.504", 12.5, True),
        ("12.6", 12.5, False),
        ("1,250 people", 1250, True),
        ("minus -3", -3, True),
        ("version 112.5", 12.5, False),
        ("none", 1, False),
    ],
)
def test_numbers_are_read_as_people_write_them(text: str, value: float, passed: bool) -> None:
    assert AnswerNumber(value=value).run(answer(text)).passed == passed


def test_the_question_itself_is_no_answer() -> None:
    check = AnswerIsNotTheQuestion(question="Which animals are there?")
    assert not check.run(answer("Which animals are there? animals!")).passed
    assert check.run(answer("A lion and a zebra")).passed


def test_a_call_counts_when_it_succeeded() -> None:
    good = LoggedCall(tool="math/sum", arguments={"numbers": [1]}, outcome="success", text="1")
    bad = LoggedCall(tool="math/sum", arguments={}, outcome="invalid_arguments", text="")
    assert CallMade(tool="math/sum").run(answer("", Path(), bad, good)).passed
    assert CallMade(tool="math/sum", times=2).run(answer("", Path(), bad, good)).reason == "only 1 call did so"


def test_a_claim_must_come_from_a_tool() -> None:
    call = LoggedCall(tool="wiki/summary", arguments={}, outcome="success", text="Panthera leo")
    assert BackedByCall(any_of=("panthera leo",)).run(answer("It is Panthera leo", Path(), call)).passed
    assert not BackedByCall(any_of=("panthera leo",)).run(answer("It is Panthera leo")).passed


def test_cells_are_found_wherever_they_stand(tmp_path: Path) -> None:
    book = Workbook()
    book.create_sheet("More")["C7"] = "ISBN 9780140449136"
    book["More"]["D9"] = 12.499
    book.save(tmp_path / "book.xlsx")
    assert WorkbookCells(values=("9780140449136", 12.5)).run(answer("", tmp_path)).passed
    assert WorkbookCells(values=("none",)).run(answer("", tmp_path)).reason == "none not in it"
    assert FileOpens(pattern="*.xlsx").run(answer("", tmp_path)).passed


def test_a_deck_has_texts_and_pictures(tmp_path: Path) -> None:
    Image.new("RGB", (8, 8)).save(tmp_path / "p.png")
    deck = Presentation()
    slide = deck.slides.add_slide(deck.slide_layouts[5])
    slide.shapes.title.text = "Rivers in Glass"
    slide.shapes.add_picture(str(tmp_path / "p.png"), Inches(1), Inches(1))
    deck.save(str(tmp_path / "talk.pptx"))
    assert DeckHas(texts=("rivers in glass",), pictures=1).run(answer("", tmp_path)).passed
    assert not DeckHas(pictures=2).run(answer("", tmp_path)).passed


def test_only_the_boxes_may_change(tmp_path: Path) -> None:
    source = Image.new("RGB", (200, 200), "white")
    (tmp_path / "media").mkdir()
    source.save(tmp_path / "media" / "a.png")
    check = PictureChanged(source="media/a.png", pattern="*.png", boxes=((50, 50, 90, 90),))
    assert not check.run(answer("", tmp_path)).passed
    copy = source.copy()
    ImageDraw.Draw(copy).rectangle((50, 50, 90, 90), fill="black")
    copy.save(tmp_path / "media" / "b.png")
    assert check.run(answer("", tmp_path)).passed
    ImageDraw.Draw(copy).rectangle((150, 150, 190, 190), fill="black")
    copy.save(tmp_path / "media" / "b.png")
    assert check.run(answer("", tmp_path)).reason == "something else is changed too"


def test_a_cut_has_about_the_right_size(tmp_path: Path) -> None:
    Image.new("RGB", (100, 60)).save(tmp_path / "cut.png")
    assert PictureCut(pattern="*.png", size=(104, 55)).run(answer("", tmp_path)).passed
    assert not PictureCut(pattern="*.png", size=(160, 55)).run(answer("", tmp_path)).passed


def test_broken_files_fail_with_a_reason(tmp_path: Path) -> None:
    for name in ("a.xlsx", "a.pptx", "a.png"):
        (tmp_path / name).write_bytes(b"PK\x03\x04 nonsense")
    for check in (WorkbookCells(values=(1,)), DeckHas(pictures=1), PictureCut(pattern="*.png", size=(1, 1))):
        found = check.run(answer("", tmp_path))
        assert not found.passed
        assert found.reason
    assert not FileOpens(pattern="a.*").run(answer("", tmp_path)).passed
