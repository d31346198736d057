"""Result sets: what is written is read back, whatever happened in between."""

import dataclasses
from pathlib import Path
from typing import Any

import pytest

from m3bench.server.lab.results.resultset import (
    DATA,
    HEADER,
    SAMPLES,
    Header,
    Sample,
    SampleUsage,
    append_sample,
    comparable,
    mend_samples,
    read_header,
    read_resultset,
    read_samples,
    store_folder,
    write_header,
)
from m3bench.server.store.records import RunRecord
from m3bench.server.store.sqlite import SqliteStore
from m3bench.tasks.errors import InputFileError, StoreError
from tests.pictures import assert_same_bytes
from tests.server.scorecard.cards import made_card

HEADING = Header(name="oracle", kind="baseline", agent="oracle", profile="full", tasks=("a-1", "b-1"), started="now")

CARD = made_card()


def sample(task: str = "a-1", repeat: int = 1, **fields: Any) -> Sample:
    return Sample(**{"task": task, "repeat": repeat, "state": "scored", **fields})


def record(id: str, task: str, profile: str = "full", **fields: Any) -> RunRecord:
    given: dict[str, Any] = {
        "id": id, "seat": "s", "task": task, "state": "scored", "mode": "practice", "started": id, "ended": None,
        "answer": "", "seal": None, "manifest": {"profile": profile, "tools": 3}, "scorecard": CARD.to_json(), **fields,
    }  # fmt: skip
    return RunRecord(**given)


def fill(folder: Path, *runs: RunRecord) -> None:
    store = SqliteStore(folder)
    for run in runs:
        store.add_run(run)
    store.close()


def test_a_header_is_read_back_as_it_was_written(tmp_path: Path) -> None:
    header = HEADING.model_copy(update={"options": {"seed": 3}, "set_hash": "abc", "repeats": 2})
    write_header(tmp_path / "new", header)
    assert read_header(tmp_path / "new") == header
    assert [path.name for path in (tmp_path / "new").iterdir()] == [HEADER]


def test_a_header_that_is_none_says_what_is_wrong(tmp_path: Path) -> None:
    (tmp_path / HEADER).write_text('{"schema": 1, "name": "x", "kind": "robot"}')
    with pytest.raises(InputFileError, match="kind"):
        read_header(tmp_path)
    with pytest.raises(InputFileError, match="cannot be read"):
        read_header(tmp_path / "nowhere")


def test_a_folder_that_cannot_be_written_is_said_plainly(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(InputFileError, match="cannot be written"):
        write_header(tmp_path / "file" / "set", HEADING)
    with pytest.raises(StoreError, match="resume"):
        append_sample(tmp_path / "nowhere", sample())


def test_samples_are_read_back_in_the_order_they_ended(tmp_path: Path) -> None:
    samples = [
        sample("b-1", run="r1", seconds=1.5),
        sample("a-1", run="r2", usage=SampleUsage(input_tokens=5, output_tokens=7, cost=0.25)),
        sample("a-1", repeat=2, state="void", reason="no \u202e disk \ud83d"),
    ]
    for one in samples:
        append_sample(tmp_path, one)
    found = read_samples(tmp_path)
    assert list(found) == [("b-1", 1), ("a-1", 1), ("a-1", 2)]
    assert list(found.values())[:2] == samples[:2]


def test_the_first_scored_attempt_counts_and_a_void_one_only_without_another(tmp_path: Path) -> None:
    for state, run in (("void", "r1"), ("scored", "r2"), ("scored", "r3"), ("void", "r4")):
        append_sample(tmp_path, sample(state=state, run=run))
    assert read_samples(tmp_path)["a-1", 1].run == "r2"


def test_a_torn_last_line_is_passed_over_and_cut_before_more_is_written(tmp_path: Path) -> None:
    append_sample(tmp_path, sample("a-1"))
    append_sample(tmp_path, sample("b-1"))
    path = tmp_path / SAMPLES
    path.write_bytes(path.read_bytes()[:-20])
    assert set(read_samples(tmp_path)) == {("a-1", 1)}
    mend_samples(tmp_path)
    append_sample(tmp_path, sample("c-1"))
    assert set(read_samples(tmp_path)) == {("a-1", 1), ("c-1", 1)}


def test_a_last_line_that_lacks_only_its_end_is_kept(tmp_path: Path) -> None:
    append_sample(tmp_path, sample("a-1"))
    path = tmp_path / SAMPLES
    path.write_bytes(path.read_bytes()[:-1])
    mend_samples(tmp_path)
    append_sample(tmp_path, sample("b-1"))
    assert set(read_samples(tmp_path)) == {("a-1", 1), ("b-1", 1)}


def test_mending_leaves_whole_files_and_absent_ones_alone(tmp_path: Path) -> None:
    mend_samples(tmp_path)
    assert list(tmp_path.iterdir()) == []
    append_sample(tmp_path, sample())
    before = (tmp_path / SAMPLES).read_bytes()
    mend_samples(tmp_path)
    assert_same_bytes((tmp_path / SAMPLES).read_bytes(), before, SAMPLES)


def test_a_broken_line_in_the_middle_is_an_error_with_its_number(tmp_path: Path) -> None:
    append_sample(tmp_path, sample())
    with (tmp_path / SAMPLES).open("ab") as file:
        file.write(b"<html>\n")
    append_sample(tmp_path, sample("b-1"))
    with pytest.raises(InputFileError, match="line 2"):
        read_samples(tmp_path)


def test_a_set_joins_samples_with_their_runs_and_knows_what_is_missing(tmp_path: Path) -> None:
    write_header(tmp_path, HEADING.model_copy(update={"repeats": 2}))
    fill(tmp_path / DATA, record("r1", "a-1"), record("r9", "a-1"))
    append_sample(tmp_path, sample("a-1", run="r1"))
    append_sample(tmp_path, sample("a-1", repeat=2, state="void", reason="broke"))
    found = read_resultset(tmp_path)
    assert [result.run.id for result in found.results] == ["r1"], "a run that no sample names does not count"
    assert [one.reason for one in found.void] == ["broke"]
    assert found.missing == (("b-1", 1), ("b-1", 2))
    assert [(row.id, row.matched) for row in found.rows] == [("a-1", 1)]
    assert store_folder(tmp_path) == tmp_path / DATA


def test_results_stand_in_the_order_of_the_tasks_however_they_ended(tmp_path: Path) -> None:
    write_header(tmp_path, HEADING.model_copy(update={"repeats": 2, "tasks": ("b-1", "a-1")}))
    ended = [("a-1", 2), ("b-1", 2), ("a-1", 1), ("b-1", 1)]
    fill(tmp_path / DATA, *(record(f"{task}.{repeat}", task) for task, repeat in ended))
    for task, repeat in ended:
        append_sample(tmp_path, sample(task, repeat, run=f"{task}.{repeat}"))
    assert [result.run.id for result in read_resultset(tmp_path).results] == ["b-1.1", "b-1.2", "a-1.1", "a-1.2"]


def test_a_plain_data_folder_is_a_set_of_its_scored_runs(tmp_path: Path) -> None:
    fill(tmp_path, record("r1", "a-1"), record("r2", "a-1"), record("r3", "b-1", scorecard=None, state="abandoned"))
    found = read_resultset(tmp_path)
    assert [(one.sample.task, one.sample.repeat, one.run.id) for one in found.results] == [
        ("a-1", 1, "r1"),
        ("a-1", 2, "r2"),
    ]
    assert found.header.kind == "client"
    assert store_folder(tmp_path) == tmp_path


def test_a_folder_without_runs_is_no_set(tmp_path: Path) -> None:
    with pytest.raises(InputFileError, match="no recorded runs"):
        read_resultset(tmp_path)


def test_runs_on_their_own_tasks_profiles_belong_together(tmp_path: Path) -> None:
    write_header(tmp_path, HEADING)
    fill(tmp_path / DATA, record("r1", "a-1", "standard:a-1"), record("r2", "b-1", "standard:b-1"))
    append_sample(tmp_path, sample("a-1", run="r1"))
    append_sample(tmp_path, sample("b-1", run="r2"))
    assert read_resultset(tmp_path).manifests == ({"profile": "standard"},)
    assert comparable(record("r3", "b-1", "standard:a-1"), CARD)["profile"] == "standard:a-1"
    assert comparable(record("r4", "a-1", "family:a"), CARD) == {"profile": "family"}
    assert comparable(record("r4", "a-1", "family:b"), CARD)["profile"] == "family:b"


def test_what_sandboxes_lacked_keeps_no_runs_apart() -> None:
    run = record("r1", "a-1", "full")
    poorer = dataclasses.replace(run, manifest={**run.manifest, "lacking": ["others"]})
    assert comparable(poorer, CARD) == comparable(run, CARD)
