"""A public file of predictions is scored as far as it can be, and everything else is listed."""

import json
from pathlib import Path
from typing import Any

import pytest

from m3bench.tasks.trajectory_files import NAMELESS, UNREADABLE, read_tasks
from tests.server.lab.interchange.conftest import m3bench


def call(name: Any, arguments: Any = None) -> dict[str, Any]:
    return {"name": name, "arguments": arguments}


def task(id: Any, *steps: Any) -> dict[str, Any]:
    return {"id": id, "type": "made", "steps": [{"step": n, "calls": calls} for n, calls in enumerate(steps, 1)]}


OWL, LYNX = call("wiki/summary", {"title": "Owl"}), call("wiki/summary", {"title": "Lynx"})

REFERENCES = [task(id, [OWL, LYNX]) for id in ("good", "malformed", "text", "unknown", "twice", "shapeless", "absent")]

PREDICTIONS = [
    task("good", [OWL, LYNX]),
    task("malformed", [OWL, call("wiki/summary", ["Lynx"]), call(None, {}), call(7), "wiki/summary"]),
    task("text", [OWL, call("wiki/summary", '{"title": "Lynx"}')]),
    task("unknown", [OWL, call("wiki/sumary", {"title": "Lynx"})]),
    task("twice", [call("math/add", {"firstNumber": 1, "secondNumber": 2})]),
    task("twice", [OWL, LYNX]),
    {"id": "shapeless", "steps": "none"},
    task("stranger", [OWL]),
    {"steps": []},
    17,
    {"id": "good steps", "steps": [None]},
]


@pytest.fixture
def files(tmp_path: Path) -> tuple[Path, Path]:
    paths = tmp_path / "references.json", tmp_path / "predictions.json"
    for path, data in zip(paths, (REFERENCES, PREDICTIONS), strict=True):
        path.write_text(json.dumps(data))
    return paths


def scored(files: tuple[Path, Path], *options: str) -> tuple[dict[str, Any], str]:
    done = m3bench("lab", "score", *files, "--json", "--no-cache", *options)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout), done.stderr


@pytest.mark.sample(1)
@pytest.mark.parametrize("profile", ["m3", "open-m3-bench"])
def test_what_can_be_read_is_scored_and_the_rest_is_listed(files: tuple[Path, Path], profile: str) -> None:
    data, err = scored(files, "--profile", profile)
    assert list(data["tasks"]) == ["good", "malformed", "text", "unknown", "twice"]
    assert (data["tasks"]["good"]["recall"], data["tasks"]["good"]["precision"]) == (1, 1)
    # A malformed call was made: it matches nothing, and it counts.
    assert (data["tasks"]["malformed"]["recall"], data["tasks"]["malformed"]["precision"]) == (0.5, 0.2)
    assert (data["tasks"]["text"]["recall"], data["tasks"]["text"]["precision"]) == (1, 1)
    assert (data["tasks"]["unknown"]["recall"], data["tasks"]["unknown"]["precision"]) == (0.5, 0.5)
    assert data["tasks"]["twice"]["recall"] == 1
    assert data["not_run"] == ["shapeless", "absent"]
    listed = {(one["kind"], one["task"]): one["why"] for one in data["skipped"]}
    assert set(listed) == {
        ("not_run", "shapeless"), ("not_run", "absent"), ("no_reference", "stranger"), ("no_reference", "good steps"),
        ("duplicate", "twice"), ("task", "shapeless"), ("task", "tasks[8]"), ("task", "tasks[9]"),
        ("step", "good steps"), ("call", "malformed"), ("call", "text"), ("unknown_tool", "unknown"),
    }  # fmt: skip
    assert sum(one["kind"] == "call" for one in data["skipped"]) == 5
    assert "did you mean wiki/summary?" in listed["unknown_tool", "unknown"]
    assert "task 'malformed', steps[0].calls[1].arguments: is an array (expected an object)" in err
    assert err.splitlines()[-1] == (
        "m3bench: in all 2 tasks were not run, 2 tasks have no reference, 1 id occurs twice, 3 tasks cannot be read, "
        "1 step cannot be read, 5 calls are malformed, 1 call names an unknown tool"
    )


def test_what_a_malformed_call_became_is_shown(files: tuple[Path, Path]) -> None:
    found = read_tasks(files[1], predictions=True).tasks["malformed"].trajectories[0]
    assert [one.tool for one in found.calls] == [
        "wiki/summary", f"wiki/summary {UNREADABLE}", NAMELESS, NAMELESS, NAMELESS,
    ]  # fmt: skip
    done = m3bench("lab", "score", *files, "--explain", "malformed", "--no-cache")
    assert f"+ wiki/summary {UNREADABLE}" in done.stdout
    assert "stranger" not in done.stderr


def test_a_defect_in_references_still_stops(files: tuple[Path, Path]) -> None:
    done = m3bench("lab", "score", files[1], files[1], "--json")
    assert done.returncode == 2
    assert done.stderr.count("\n") == 1


def test_nothing_that_can_be_scored_is_one_line_with_the_first_reason(files: tuple[Path, Path]) -> None:
    files[1].write_text(json.dumps([{"id": "good", "steps": "none"}]))
    done = m3bench("lab", "score", *files, "--json")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.count("\n") == 1
    assert "task 'good', steps: is the string 'none'" in done.stderr


def test_a_flood_of_defects_is_cut_short(files: tuple[Path, Path]) -> None:
    files[1].write_text(json.dumps([task("good", [OWL, *[call(None)] * 500])]))
    data, err = scored(files)
    assert len([one for one in data["skipped"] if one["kind"] == "call"]) == 500
    assert len(err.splitlines()) < 30
    assert "and 480 more; --json lists them under skipped" in err
