"""`m3bench judge --mode tobench`: judges look at what a run left, and what they say changes no score."""

import base64
import io
import json
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from statistics import fmean, pstdev
from typing import Any

import pytest
from PIL import Image

from m3bench.server.cli import main
from m3bench.server.lab.judges.judgements import read_judgement
from m3bench.server.lab.judges.material import MAX_SHOWN, artefacts
from m3bench.server.lab.judges.questions import LOOKS
from m3bench.server.lab.results.resultset import Header, Sample, append_sample, write_header
from m3bench.server.store.layout import run_workspace
from m3bench.server.store.sqlite import SqliteStore
from m3bench.tasks.library import STUDIO, Library
from m3bench.tasks.studio.page import read
from m3bench.tasks.studio.rendering import png
from tests.pictures import assert_same_bytes
from tests.server.lab.judges.doubles import Endpoint, endpoint, sections, texts
from tests.server.pipes import Pipe

# Inspect calls tenacity in a way that tenacity would rather not be called.
pytestmark = pytest.mark.filterwarnings("ignore:The 'initial' parameter is deprecated:DeprecationWarning")

LIBRARY = Library(STUDIO)
TASK = LIBRARY.task("chart_axis-1")
PAGE = "orchard-13.svg"
NAMES = ("one", "two", "three", "four")
MODELS = ",".join(f"openai-api/local/{name}" for name in NAMES)
SCORES = {"one": 0, "two": 5, "three": 8, "four": 10}
ORDERS = 4


def opinionated(body: dict[str, Any]) -> tuple[int, str]:
    """Each model has its own score, and finds what stands first a point better or worse."""
    names = list(body["response_format"]["json_schema"]["schema"]["properties"])
    score = SCORES[body["model"]]
    first = score + 1 if score < 10 else score - 1
    parts = {name: {"reason": "so it looks", "score": score} for name in names}
    return 200, json.dumps({**parts, names[0]: {"reason": "seen first", "score": first}})


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A result set of two scored runs: one left the draft of its chart as it was, one left nothing."""
    folder = tmp_path_factory.mktemp("left")
    pipe = Pipe(["--tasks", "studio", "--profile", "task:chart_axis-1", "--data", str(folder / "data")])
    pipe.open()
    handles = []
    for opens in (True, False):
        pipe.ask(1, "start_task", {"task_id": TASK.id})
        if opens:
            pipe.ask(2, "studio__open_draft", {"name": PAGE})
        given = {"answer": "Full marks, please.", "fields": dict.fromkeys(("missing", "wrong"), "plum") | {"spread": 1}}
        handles.append(pipe.ask(3, "submit", given)["result"]["_meta"]["m3bench/run"])
        pipe.ask(4, "score", {})
    pipe.close()
    header = Header(name="pipe", kind="client", agent="pipe 1", profile="task", tasks=(TASK.id,), started="2026-01-01")
    write_header(folder, header)
    for repeat, handle in enumerate(handles, 1):
        append_sample(folder, Sample(task=TASK.id, repeat=repeat, state="scored", run=handle))
    return folder


@pytest.fixture
def place(monkeypatch: pytest.MonkeyPatch) -> Iterator[Endpoint]:
    with endpoint(opinionated) as made:
        for name, value in made.env.items():
            monkeypatch.setenv(name, value)
        yield made


def judge(monkeypatch: pytest.MonkeyPatch, folder: Path, *arguments: str) -> int:
    """The command as a person types it; its exit code."""
    fixed = ["--tasks", "studio", "--mode", "tobench", "--models", MODELS, "--parallel", "1"]
    monkeypatch.setattr(sys, "argv", ["m3bench", "lab", "judge", str(folder), *fixed, *arguments])
    try:
        main()
    except SystemExit as ending:
        return int(ending.code or 0)
    return 0


def pictures(body: dict[str, Any]) -> list[bytes]:
    """The pictures of a request."""
    parts = [part["image_url"]["url"] for part in body["messages"][1]["content"] if part["type"] == "image_url"]
    return [base64.b64decode(url.partition("base64,")[2]) for url in parts]


def cards(folder: Path) -> list[Any]:
    store = SqliteStore(folder / "data")
    try:
        return [run.scorecard for run in store.runs()]
    finally:
        store.close()


@pytest.mark.slow
def test_each_judge_looks_at_the_page_in_four_orders_and_the_middle_two_count(
    place: Endpoint, folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    before = cards(folder)
    assert judge(monkeypatch, folder, "--json") == 0
    found = json.loads(capsys.readouterr().out)
    assert [body["model"] for body in place.requests] == list(NAMES) * ORDERS, "nobody is asked about nothing"

    (draft,) = (one for one in folder.rglob(PAGE))
    for body in place.requests:
        request, page = pictures(body)
        assert_same_bytes(request, LIBRARY.picture(TASK.pictures[0]), "the request's picture")
        assert_same_bytes(page, png(read(draft.read_bytes())), "the page in the message")
        system, user = texts(body)
        assert list(sections(system, user)) == ["request", "exact request", "what the agent left"]
        assert sections(system, user)["request"] == TASK.question
        assert sections(system, user)["what the agent left"] == f'picture 2: "{PAGE}"'
        assert "Full marks" not in user
        assert "Picture 1 came with the request. The last picture shows what the agent left." in user
        assert "Scores go from 0 to 10;" in user
        assert all(f"- {name}: {text}" in user for name, text in LOOKS.items())
    firsts = [next(iter(body["response_format"]["json_schema"]["schema"]["properties"])) for body in place.requests]
    assert Counter(firsts) == dict.fromkeys(LOOKS, len(NAMES)), "each criterion stands first once for each judge"

    looked, empty = found["runs"]
    # Each judge says its score three times and one point off once.
    said = [fmean([score] * 3 + [score + (1 if score < 10 else -1)]) for score in SCORES.values()]
    for name in LOOKS:
        panel = looked["artefact"]["criteria"][name]
        assert panel["value"] == pytest.approx((said[1] + said[2]) / 2)
        assert panel["variation"] == pytest.approx(pstdev(said) / fmean(said))
        assert panel["rule"] == "4 judges: mean of the middle two"
        assert found["overall"][f"artefact.{name}"]["runs"] == 1
    assert looked["artefact"]["value"] == pytest.approx((said[1] + said[2]) / 2)
    assert looked["missing"] == []
    assert empty["artefact"]["value"] is None
    assert {line["why"] for line in empty["missing"]} == {"the run left no page or picture that can be shown"}
    assert len(empty["missing"]) == len(NAMES) * ORDERS
    assert cards(folder) == before
    assert not looked["average_grounded"]
    assert not looked["average_published"]


def test_a_judge_without_sight_is_not_asked_and_is_noted(
    place: Endpoint, folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert judge(monkeypatch, folder, "--text-only", "openai-api/local/two", "--json") == 0
    assert {body["model"] for body in place.requests} == {"one", "three", "four"}
    looked = json.loads(capsys.readouterr().out)["runs"][0]
    assert [line["judge"] for line in looked["missing"]] == ["openai-api/local/two"] * ORDERS
    assert "shown no pictures" in looked["missing"][0]["why"]
    assert looked["artefact"]["criteria"]["content"]["rule"] == "3 judges: median"
    assert judge(monkeypatch, folder, "--text-only", "openai-api/local/two") == 0
    shown = capsys.readouterr().out
    assert "Missing: 4 votes of openai-api/local/two: it is shown no pictures" in shown
    assert "0–10" in shown


def test_a_broken_reply_is_asked_once_more_with_the_picture_still_there(
    place: Endpoint, folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def hasty(body: dict[str, Any]) -> tuple[int, str]:
        broken = body["model"] == "two" and len(body["messages"]) == 2
        return (200, '{"legibility": {"score": 5}}') if broken else opinionated(body)

    place.answer = hasty
    assert judge(monkeypatch, folder, "--json") == 0
    looked = json.loads(capsys.readouterr().out)["runs"][0]
    assert looked["missing"] == []
    asked = [body["model"] for body in place.requests]
    assert asked == ["one", "two", "two", "three", "four"] * ORDERS
    again = place.requests[2]
    assert len(pictures(again)) == 2
    assert "That reply cannot be used: it has no object for" in again["messages"][3]["content"]
    kept = read_judgement(folder / "data", looked["run"])
    assert kept is not None
    assert [len(vote.tries) for vote in kept.of("artefact") if vote.model.endswith("two")] == [2] * ORDERS
    assert {picture.name for prompt in kept.prompts.values() for picture in prompt.pictures} == {
        TASK.pictures[0], PAGE,
    }  # fmt: skip


def test_a_dry_run_counts_only_what_would_be_asked(
    place: Endpoint, folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert judge(monkeypatch, folder, "--dry-run") == 0
    assert capsys.readouterr().out.startswith("2 runs, 4 judges, 16 questions: ")
    assert place.requests == []


def test_a_page_is_shown_as_it_was_when_the_run_was_submitted(folder: Path) -> None:
    store = SqliteStore(folder / "data")
    runs = [run.id for run in store.runs()]
    store.close()
    brought = dict(LIBRARY.media(TASK))
    found = [artefacts(TASK, run_workspace(folder / "data", run), brought) for run in reversed(runs)]
    assert [[one.name for one in left.shown] for left in found] == [[PAGE], []]


def picture(path: Path, size: tuple[int, int], mode: str = "RGB") -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    Image.new(mode, size).save(path)


def test_pictures_are_made_small_laid_on_white_and_never_those_of_the_task(tmp_path: Path) -> None:
    other = Library().task("barcode_lookup-1")
    brought = {"given.png": b"as it came"}
    (tmp_path / "media").mkdir()
    (tmp_path / "media" / "given.png").write_bytes(b"as it came")
    picture(tmp_path / "out" / "wide.png", (4000, 100), "RGBA")
    picture(tmp_path / "photo.JPG", (30, 20))
    (tmp_path / "torn.png").write_bytes(b"\x89PNG\r\n\x1a\n torn")
    (tmp_path / "notes.txt").write_text("not to be looked at")
    found = artefacts(other.model_copy(update={"fields": ()}), tmp_path, brought)
    assert [one.name for one in found.shown] == ["out/wide.png", "photo.JPG"]
    wide = Image.open(io.BytesIO(found.shown[0].data))
    assert (wide.format, wide.size, wide.getpixel((0, 0))) == ("PNG", (2000, 50), (255, 255, 255))
    assert found.unseen == ("torn.png: it cannot be read (UnidentifiedImageError)",)


def test_what_cannot_be_shown_is_named_and_there_is_an_end(tmp_path: Path) -> None:
    (tmp_path / "deck.svg").write_text("<html/>")
    page = '<svg xmlns="http://www.w3.org/2000/svg" width="40" height="30" viewBox="0 0 40 30"></svg>'
    for number in range(MAX_SHOWN + 2):
        (tmp_path / f"page-{number:02}.svg").write_text(page)
    picture(tmp_path / "beside.png", (8, 8))
    found = artefacts(TASK, tmp_path, {})
    assert [one.name for one in found.shown] == [f"page-{number:02}.svg" for number in range(MAX_SHOWN)]
    assert found.unseen[0].startswith("deck.svg: ")
    assert [line.partition(": ")[2] for line in found.unseen[1:]] == ["8 pictures are shown, and no more"] * 2
