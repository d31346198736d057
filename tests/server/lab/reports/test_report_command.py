"""`m3bench report` as a person types it: page, picture and JSON, the same bytes every time."""

import io
import json
import re
from pathlib import Path

import pytest
from PIL import Image

from m3bench.server.lab.reports import page as lab
from m3bench.server.scorecard.pages.page import ASSETS, inert
from tests.pictures import assert_same_bytes
from tests.server.lab.reports.conftest import Played, m3bench
from tests.server.pipes import Pipe
from tests.sets import write_set


def test_the_same_run_gives_the_same_bytes(sloppy: Played, tmp_path: Path) -> None:
    for name in ("one", "two"):
        done = sloppy.m3bench(
            "report", sloppy.document["run"]["id"][:8], "-o", tmp_path / name, "--png", tmp_path / f"{name}.png"
        )
        assert done.returncode == 0, done.stderr
    for name in ("one", "two"):
        assert_same_bytes((tmp_path / name).read_bytes(), sloppy.page.read_bytes(), name)
    assert_same_bytes((tmp_path / "one.png").read_bytes(), (tmp_path / "two.png").read_bytes(), "the picture")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["one", "one.png", "two", "two.png"]


@pytest.mark.parametrize("which", ["sloppy", pytest.param("hostile", marks=pytest.mark.slow)])
def test_the_picture_is_1200_pixels_wide_and_of_bounded_height(
    which: str, request: pytest.FixtureRequest, tmp_path: Path
) -> None:
    played: Played = request.getfixturevalue(which)
    done = played.m3bench("report", "--png", tmp_path / "card.png")
    assert (done.returncode, done.stdout) == (0, ""), done.stderr
    picture = Image.open(io.BytesIO((tmp_path / "card.png").read_bytes()))
    assert picture.width == 1200
    assert 600 < picture.height < 1500
    assert len(picture.convert("RGB").getcolors(1 << 24) or ()) > 50
    assert [path.name for path in tmp_path.iterdir()] == ["card.png"]


def test_without_a_set_at_hand_the_page_says_so(sloppy: Played) -> None:
    done = m3bench("report", "--json", "--data", sloppy.data)
    document = json.loads(done.stdout)
    assert document["task"] is None
    assert document["card"]["metrics"] == sloppy.document["card"]["metrics"]


def test_a_file_that_cannot_be_written_and_a_run_that_is_not_there_are_one_line(sloppy: Played, tmp_path: Path) -> None:
    for arguments in (("report", "zzz"), ("report", "-o", tmp_path / "no" / "card.html")):
        done = sloppy.m3bench(*arguments)
        assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1)
        assert done.stderr.startswith("m3bench: ")


def test_a_run_without_a_score_card_has_a_page_and_no_picture(tmp_path: Path) -> None:
    from m3bench.server.store.records import RunRecord
    from m3bench.server.store.sqlite import SqliteStore

    store = SqliteStore(tmp_path / "data")
    store.add_run(
        RunRecord(
            id="a" * 40, seat="s", task="sum-1", state="abandoned", mode="practice",
            started="2026-01-01T00:00:00+00:00", ended=None, answer=None, seal=None, manifest={}, scorecard=None,
        )
    )  # fmt: skip
    store.close()
    played = Played(data=tmp_path / "data", tasks=write_set(tmp_path / "set"), page=tmp_path / "x", document={})
    assert played.m3bench("report", "-o", tmp_path / "card.html").returncode == 0
    done = played.m3bench("report", "--png", tmp_path / "card.png")
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    assert "no score card" in done.stderr


def test_an_answer_with_half_a_character_is_taken_and_shown(tmp_path: Path) -> None:
    tasks = write_set(tmp_path / "set")
    pipe = Pipe(["--tasks", str(tasks), "--data", str(tmp_path / "data")])
    pipe.open()
    pipe.ask(1, "start_task", {"task_id": "sum-1"})
    pipe.ask(2, "submit", {"answer": "108 \ud800"})
    assert "solved" in pipe.ask(3, "score", {})["result"]["content"][0]["text"]
    pipe.close()
    done = m3bench("report", "--json", "--data", tmp_path / "data", "--tasks", tasks)
    assert json.loads(done.stdout)["answer"]["text"] == "108 ?"


SCRIPTS = sorted([*ASSETS.glob("*.js"), *lab.ASSETS.glob("*.js")])


def test_scripts_share_one_scope_without_clashes() -> None:
    found = [
        name
        for path in SCRIPTS
        for name in re.findall(r"^(?:async )?(?:function|const|let|class) (\w+)", path.read_text("utf-8"), re.MULTILINE)
    ]
    assert sorted(found) == sorted(set(found))


def test_scripts_build_nodes_and_never_markup() -> None:
    for path in SCRIPTS:
        text = path.read_text("utf-8")
        assert not re.search(r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(|new Function", text), (
            path
        )


def test_data_in_a_page_is_no_markup() -> None:
    text = inert({"a": "</script><!--&\u2028\u2029\ud800 é"})
    assert not re.search("[<>&\u2028\u2029\ud800]", text)
    assert json.loads(text) == {"a": "</script><!--&\u2028\u2029\ud800 é"}
