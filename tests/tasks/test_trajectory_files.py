"""Files of trajectories in both formats, and what happens to bad ones."""

import json
from pathlib import Path
from typing import Any

import pytest

from m3bench.tasks.errors import InputFileError
from m3bench.tasks.trajectory import Call, Step, Trajectory
from m3bench.tasks.trajectory_files import TaskTrajectories, read_tasks, write_public_tasks, write_tasks

OWL = Call(tool="wiki/summary", arguments={"title": "Owl — Ωλ"})
BARE = Call(tool="car-price/get_car_brands", bare=True)
SET = (
    TaskTrajectories(
        id="one",
        family="museum",
        trajectories=(Trajectory(steps=(Step(calls=(OWL,)), Step(), Step(calls=(BARE, OWL)))),),
    ),
    TaskTrajectories(id="two", trajectories=(Trajectory(),)),
)


def write(folder: Path, data: Any) -> Path:
    path = folder / "tasks.json"
    path.write_text(data if isinstance(data, str) else json.dumps(data), "utf-8")
    return path


def public(task: str, calls: object, **more: Any) -> dict[str, Any]:
    return {"id": task, "steps": [{"step": 1, "calls": calls}]} | more


@pytest.mark.parametrize("writer", [write_tasks, write_public_tasks])
def test_both_formats_survive_writing_and_reading(tmp_path: Path, writer: Any) -> None:
    path = tmp_path / "tasks.json"
    writer(path, SET)
    assert read_tasks(path).tasks == {task.id: task for task in SET}


def test_our_format_keeps_several_trajectories(tmp_path: Path) -> None:
    task = TaskTrajectories(id="x", trajectories=(Trajectory(), Trajectory(steps=(Step(calls=(OWL,)),))))
    write_tasks(tmp_path / "tasks.json", [task])
    assert read_tasks(tmp_path / "tasks.json").tasks["x"] == task


def test_a_lone_surrogate_survives(tmp_path: Path) -> None:
    trajectory = Trajectory(steps=(Step(calls=(Call(tool="a/b", arguments={"x": "\ud800"}),)),))
    task = TaskTrajectories(id="x", trajectories=(trajectory,))
    write_tasks(tmp_path / "tasks.json", [task])
    assert read_tasks(tmp_path / "tasks.json").tasks["x"] == task


def test_the_public_format_may_be_a_list_or_a_mapping(tmp_path: Path) -> None:
    task = {
        "type": "museum",
        "steps": [{"step": 1, "calls": [{"name": " wiki/summary ", "arguments": {"title": "Owl"}}]}],
    }
    listed = read_tasks(write(tmp_path, [{"id": "one", **task}])).tasks
    mapped = read_tasks(write(tmp_path, {"one": task})).tasks
    assert listed == mapped
    assert listed["one"].trajectories[0].calls == (Call(tool="wiki/summary", arguments={"title": "Owl"}),)
    assert listed["one"].family == "museum"


def test_absent_and_null_arguments_make_a_bare_call(tmp_path: Path) -> None:
    path = write(tmp_path, [public("one", [{"name": "a/b"}, {"name": "a/b", "arguments": None}])])
    assert read_tasks(path).tasks["one"].trajectories[0].calls == (Call(tool="a/b", bare=True),) * 2


def test_empty_and_absent_steps_are_fine(tmp_path: Path) -> None:
    path = write(tmp_path, [{"id": "one", "steps": [{"calls": []}, {"calls": None}, {}]}, {"id": 2}])
    tasks = read_tasks(path).tasks
    assert tasks["one"].trajectories == (Trajectory(steps=(Step(), Step(), Step())),)
    assert tasks["2"].trajectories == (Trajectory(),)


@pytest.mark.parametrize(
    "text",
    [
        json.dumps([public("one", [{"name": "a/b"}]), public("one", [{"name": "c/d"}])]),
        '{"one": {"steps": [{"calls": [{"name": "a/b"}]}]}, "one": {"steps": [{"calls": [{"name": "c/d"}]}]}}',
    ],
    ids=["list", "mapping"],
)
def test_the_last_of_two_equal_ids_counts_with_a_warning(tmp_path: Path, text: str) -> None:
    file = read_tasks(write(tmp_path, text))
    assert file.tasks["one"].trajectories[0].calls == (Call(tool="c/d", bare=True),)
    assert len(file.warnings) == 1
    assert "'one' occurs twice" in file.warnings[0]


def test_a_byte_order_mark_is_ignored(tmp_path: Path) -> None:
    path = tmp_path / "tasks.json"
    path.write_bytes(b"\xef\xbb\xbf" + json.dumps([public("one", [])]).encode())
    assert list(read_tasks(path).tasks) == ["one"]


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ("", "is not JSON (is empty)"),
        ("{'a': 1}", "is not JSON (line 1 column 2"),
        ("3", "holds 3 (expected a list of tasks or an object)"),
        ('"' + "x" * 1000 + '"', "holds a string of 1000 characters"),
        ("[NaN]", "is not strict JSON (NaN is not a JSON number)"),
        ("[1e999]", "is not strict JSON (the number 1e999 is too large)"),
        ("[" + "9" * 5000 + "]", "is not strict JSON"),
        ("[" * 100_000, "is nested too deeply"),
        ([7], "tasks[0].task: is 7 (expected an object)"),
        ([{"steps": []}], "tasks[0].id: is absent or empty"),
        ([{"id": "", "steps": []}], "tasks[0].id: is absent or empty"),
        ([{"id": "one", "steps": 3}], "task 'one', steps: is 3 (expected an array)"),
        ([{"id": "one", "steps": ["x"]}], "task 'one', steps[0]: is the string 'x'"),
        ([{"id": "one", "type": 3}], "task 'one', type: is 3 (expected a string)"),
        ([public("one", "x")], "steps[0].calls: is the string 'x'"),
        ([public("one", [[]])], "steps[0].calls[0]: is an array"),
        ([public("one", [{"arguments": {}}])], "steps[0].calls[0].name: is absent"),
        ([public("one", [{"name": "a/b", "arguments": "x"}])], "steps[0].calls[0].arguments: is the string 'x'"),
        ({"one": 5}, "task 'one', task: is 5"),
        (
            '[{"id": "one", "steps": [{"calls": [{"name": "a/b", "arguments": {"x": 1, "x": 2}}]}]}]',
            "steps[0].calls[0].arguments: has the key the string 'x' twice",
        ),
        ('[{"id": "one", "id": "two"}]', "has the key the string 'id' twice"),
        ({"format": "other"}, "format: is the string 'other' (expected m3bench/trajectories)"),
        ({"format": "m3bench/trajectories", "version": 9}, "version: is 9"),
        ({"format": "m3bench/trajectories", "version": 1}, "tasks: is absent"),
        (
            {"format": "m3bench/trajectories", "version": 1, "tasks": [{"id": "one", "trajectories": []}]},
            "task 'one', trajectories: is empty",
        ),
        (
            {"format": "m3bench/trajectories", "version": 1, "tasks": [{"id": "one", "trajectories": [{"schema": 1}]}]},
            "task 'one', trajectories[0].steps: is absent",
        ),
    ],
)
def test_a_bad_file_is_one_line_with_file_task_and_field(tmp_path: Path, data: Any, message: str) -> None:
    path = write(tmp_path, data)
    with pytest.raises(InputFileError) as caught:
        read_tasks(path)
    text = str(caught.value)
    assert text.startswith(str(path))
    assert message in text
    assert "\n" not in text
    assert len(text) < 400 + len(str(path))


@pytest.mark.parametrize(
    ("raw", "message"),
    [(b"\xff\xfe[\x00]\x00", "UTF-16"), (b'["\xe9"]', "is not UTF-8 (byte 2 is 0xe9)")],
)
def test_other_encodings_are_named(tmp_path: Path, raw: bytes, message: str) -> None:
    path = tmp_path / "tasks.json"
    path.write_bytes(raw)
    with pytest.raises(InputFileError, match=message.replace("(", r"\(").replace(")", r"\)")):
        read_tasks(path)


def test_missing_files_and_folders_are_named(tmp_path: Path) -> None:
    with pytest.raises(InputFileError, match="no such file"):
        read_tasks(tmp_path / "nothing.json")
    with pytest.raises(InputFileError, match="is a folder"):
        read_tasks(tmp_path)
    with pytest.raises(InputFileError, match="cannot be read"):
        read_tasks("a\0b")


def test_a_file_without_permission_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: Any, **__: Any) -> None:
        raise PermissionError

    path = write(tmp_path, [])
    monkeypatch.setattr(Path, "open", refuse)
    with pytest.raises(InputFileError, match="permission denied"):
        read_tasks(path)


def test_good_tasks_are_read_when_asked_to_keep_going(tmp_path: Path) -> None:
    path = write(tmp_path, [public("good", []), public("bad", 5), {"steps": []}, public("fine", [])])
    file = read_tasks(path, keep_going=True)
    assert list(file.tasks) == ["good", "fine"]
    assert [(error.task, error.field) for error in file.errors] == [("bad", "steps[0].calls"), (None, "tasks[2].id")]


def test_writing_to_nowhere_is_one_line(tmp_path: Path) -> None:
    with pytest.raises(InputFileError, match="cannot be written"):
        write_tasks(tmp_path / "no" / "such" / "folder.json", SET)
