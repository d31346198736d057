"""Sets of tasks go out as public files and come in from them."""

import json
from pathlib import Path
from typing import Any

import pytest

from m3bench.tasks.library import Library
from m3bench.tasks.trajectory_files import read_tasks
from tests.pictures import assert_same_bytes
from tests.server.lab.interchange.conftest import m3bench
from tests.sets import PICTURE


def test_a_set_survives_the_way_out_and_in(played: Path, tmp_path: Path, library: Library) -> None:
    done = m3bench("tasks", "export", "--tasks", played / "set", "-o", tmp_path / "public")
    assert done.returncode == 0, done.stderr
    assert "2 tasks written" in done.stderr
    assert "2 checks" in done.stderr
    tasks = json.loads((tmp_path / "public" / "tasks.json").read_text())
    assert tasks[0].keys() == {"id", "image", "type", "prompt", "question"}
    assert_same_bytes((tmp_path / "public" / tasks[0]["image"]).read_bytes(), PICTURE, "the picture")
    references = read_tasks(tmp_path / "public" / "references.json").tasks
    assert references["survey-1"].trajectories[0] == library.task("survey-1").references[0].trajectory

    files = [tmp_path / "public" / name for name in ("tasks.json", "references.json")]
    done = m3bench("tasks", "import", *files, "-o", tmp_path / "back", "--json")
    assert json.loads(done.stdout) == {"tasks": 2, "skipped": [], "defects": []}
    back = Library(tmp_path / "back")
    for task in library.tasks.values():
        assert back.task(task.id) == task.model_copy(update={"checks": (), "difficulty": "medium"})


def test_what_cannot_be_taken_is_left_out_and_listed(tmp_path: Path) -> None:
    def reference(id: str, name: str, arguments: Any) -> dict[str, Any]:
        return {"id": id, "steps": [{"step": 1, "calls": [{"name": name, "arguments": arguments}]}]}

    asked = {"question": "What is it?", "type": "made"}
    tasks = [
        {"id": "good", "image": "images/note.png", **asked},
        {"id": "good", **asked},
        {"id": "lost", "image": "images/lost.png", **asked},
        {"id": "outside", "image": "../secret.png", **asked},
        {"id": "mute", "type": "made"},
        {"id": "alone", **asked},
        {"id": "foreign", **asked},
        {"id": "bad", "question": 7},
        "nothing",
    ]
    ids = ["good", "lost", "outside", "mute", "bad"]
    references = [reference(id, "math/sum", {"numbers": [1]}) for id in ids]
    references += [reference("foreign", "nowhere/nothing", {}), {"id": "broken", "steps": 3}]
    (tmp_path / "images").mkdir()
    (tmp_path / "images" / "note.png").write_bytes(PICTURE)
    (tmp_path / "tasks.json").write_text(json.dumps(tasks))
    (tmp_path / "references.json").write_text(json.dumps(references))
    files = [tmp_path / name for name in ("tasks.json", "references.json")]
    done = m3bench("tasks", "import", *files, "-o", tmp_path / "set", "--json")
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert list(Library(tmp_path / "set").tasks) == ["good", "foreign"]
    reasons = "\n".join(found["skipped"])
    for expected in (
        "'good': occurs twice", "'lost', image", "'outside', image: is '../secret.png', which leaves its folder",
        "'mute', question: is absent", "'alone': has no reference", "'bad', question: is 7", "tasks[8]", "'broken'",
    ):  # fmt: skip
        assert expected in reasons
    assert len(found["defects"]) == 1
    assert "Unknown tool 'nowhere/nothing'" in found["defects"][0]
    assert m3bench("tasks", "list", "--tasks", tmp_path / "set").returncode == 0


@pytest.mark.sample(2)
@pytest.mark.parametrize("text", ["", "3", "[]", "{}"])
def test_files_without_a_task_are_one_line(tmp_path: Path, text: str) -> None:
    for name in ("tasks.json", "references.json"):
        (tmp_path / name).write_text(text)
    done = m3bench("tasks", "import", tmp_path / "tasks.json", tmp_path / "references.json", "-o", tmp_path / "set")
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    assert not (tmp_path / "set").exists()
