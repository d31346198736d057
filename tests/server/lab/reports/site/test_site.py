"""The site of a leaderboard as files: every link leads somewhere, nothing secret is in it, names are only names."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from m3bench.server.lab.reports.site import files as site_files
from m3bench.server.lab.reports.site.files import site, write_site
from m3bench.server.lab.reports.standings import leaderboard_document
from m3bench.server.lab.reports.summary import SetDocument, Slices, set_document
from m3bench.server.lab.results.documents import file_name
from m3bench.server.lab.results.resultset import ResultSet, read_resultset
from m3bench.tasks.library import Library
from tests.server.lab.reports.forge import MARKUP, ODD
from tests.server.lab.reports.made_sets import made_set
from tests.server.lab.reports.site.stored import stored_set


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small site: two sets with a record, of three tasks each, one of them with repeats."""
    folder = tmp_path_factory.mktemp("site")
    sets = [stored_set(folder, "one", 6, repeats=2), stored_set(folder, "two", 3, skill=0.9)]
    write_site(folder / "out", [read_resultset(one) for one in sets], libraries=[Library()])
    return folder / "out"


def data_of(page: Path) -> Any:
    """The document inside a page."""
    found = re.search(r'id="data">(.*?)</script>', page.read_text("utf-8"), re.DOTALL)
    assert found is not None
    return json.loads(found[1])


def addresses(document: Any) -> list[str]:
    """Every address that a document's links and downloads name."""
    links = document["links"]
    named = [address for part in ("set", "run", "task") for address in links[part].values()]
    return [*named, *filter(None, (links["home"], links["board"], links["tasks"])), *document.get("downloads", ())]


@pytest.mark.slow
def test_every_address_on_every_page_is_a_file_of_the_site(written: Path) -> None:
    pages = sorted(written.rglob("*.html"))
    assert len(pages) == 3 + 2 + 9 + 3
    for page in pages:
        for address in addresses(data_of(page)):
            assert (page.parent / address).is_file(), (page, address)


def test_a_task_has_its_question_picture_and_fields_and_every_run_of_it(written: Path) -> None:
    pages = {data_of(page)["task"]["id"]: data_of(page) for page in (written / "tasks").iterdir()}
    for id, document in pages.items():
        task = Library().task(id)
        assert document["task"]["question"] == task.question
        assert len(document["task"]["fields"]) == len(task.fields)
        assert document["task"]["pictures"][0]["url"].startswith("data:image/")
        assert sorted((run["set"], run["repeat"]) for run in document["runs"]) == [("one", 1), ("one", 2), ("two", 1)]


def test_no_page_of_a_task_tells_what_is_right(written: Path) -> None:
    for page in (written / "tasks").iterdir():
        document = data_of(page)
        task = Library().task(document["task"]["id"])
        assert set(document["task"]) == {
            "id", "family", "difficulty", "question", "wording", "references", "fields", "pictures",
        }  # fmt: skip
        assert document["task"]["fields"] == [field.line for field in task.fields]


def test_the_pages_of_a_set_and_its_files_have_the_same_numbers(written: Path) -> None:
    for page in (written / "sets").glob("*.html"):
        document = data_of(page)
        beside = json.loads(page.with_suffix(".json").read_text("utf-8"))
        assert {name: document[name] for name in beside} == beside
        assert len(page.with_suffix(".csv").read_text("utf-8").splitlines()) == 1 + len(document["runs"])


def test_nothing_on_the_site_tells_where_the_sets_lie(written: Path) -> None:
    place = str(written.parent).encode()
    assert [path.name for path in written.rglob("*") if path.is_file() and place in path.read_bytes()] == []


def test_ranked_runs_have_no_page_and_are_on_none(tmp_path: Path) -> None:
    secret = read_resultset(stored_set(tmp_path, "secret", 3, ranked=True))
    files = dict(site([secret], leaderboard_document([secret]), [Library()]))
    assert not [name for name in files if name.startswith(("runs/", "tasks/")) or name == "tasks.html"]
    for name, data in files.items():
        if name.endswith(".html"):
            assert b"reference_steps" not in data, name


@pytest.mark.slow
def test_the_same_sets_give_the_same_bytes(tmp_path: Path) -> None:
    sets = [read_resultset(stored_set(tmp_path, "one", 3))]
    document = leaderboard_document(sets)
    assert dict(site(sets, document, [Library()])) == dict(site(sets, document, [Library()]))


@pytest.mark.parametrize("name", ["../../etc/passwd", "CON", "a/b", MARKUP, ODD, "", ".", "ä" * 300])
def test_a_name_never_leaves_its_folder(name: str) -> None:
    assert re.fullmatch(r"[a-z0-9_-]{1,90}", file_name(name))


def test_names_that_look_alike_have_files_of_their_own() -> None:
    names = ["gpt 5", "gpt-5", "GPT-5", "gpt/5", "gpt.5"]
    # Somebody may call a set what the file of another one is called.
    names += [file_name(name) for name in names if name != "gpt-5"]
    assert len({file_name(name) for name in names}) == len(names)


def test_sets_without_a_record_have_a_page_without_links_to_runs() -> None:
    sets = [made_set("one", 6)]
    files = dict(site(sets, leaderboard_document(sets)))
    assert not [name for name in files if name.startswith(("runs/", "tasks"))]


def test_the_numbers_of_a_set_are_computed_once_and_every_set_is_told_of_twice(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sets = [made_set(name, 4) for name in ("one", "other")]
    computed: list[str] = []

    def counted(results: ResultSet, slices: Slices) -> SetDocument:
        computed.append(results.header.name)
        return set_document(results, slices)

    monkeypatch.setattr(site_files, "set_document", counted)
    told: list[str] = []
    site_files.write_site(tmp_path / "out", sets, tell=told.append)
    assert sorted(computed) == ["one", "other"]
    assert sorted(told) == ["one", "one", "other", "other"]
