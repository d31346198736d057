"""The page on which a person reads a set."""

from html.parser import HTMLParser
from pathlib import Path

import pytest

from m3bench.server.lab.authoring.reading_page import write_page
from m3bench.tasks.library import Library


class Outside(HTMLParser):
    """The text that is seen before anything is opened, and the pictures."""

    def __init__(self) -> None:
        super().__init__()
        self.folded, self.seen, self.pictures = 0, "", list[str]()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.folded += tag == "details"
        if tag == "img":
            self.pictures.append(dict(attrs)["src"] or "")

    def handle_endtag(self, tag: str) -> None:
        self.folded -= tag == "details"

    def handle_data(self, data: str) -> None:
        if not self.folded:
            self.seen += data


@pytest.fixture(scope="module")
def library() -> Library:
    return Library()


def test_a_reader_sees_picture_question_and_fields_and_opens_what_is_right(library: Library, tmp_path: Path) -> None:
    tasks = [library.task("movies-1"), library.task("museum-1")]
    text = write_page(tmp_path, "a set", tasks).read_text("utf-8")
    page = Outside()
    page.feed(text)
    assert page.pictures == [f"pictures/{name}" for task in tasks for name in task.pictures]
    for task in tasks:
        assert task.question in page.seen
        for field in task.fields:
            assert field.name in page.seen
            assert field.meaning in page.seen
        assert task.answer not in page.seen
        assert task.wording not in page.seen


def test_what_a_set_says_is_text_and_never_markup(library: Library, tmp_path: Path) -> None:
    evil = "<script>alert(1)</script>"
    task = library.task("movies-1").model_copy(update={"question": evil, "answer": evil, "id": evil, "family": evil})
    assert "<script" not in write_page(tmp_path, evil, [task]).read_text("utf-8")
