"""Tasks for training: apart from those for testing, with runs that a learner can copy, and made again byte by byte."""

import json
import subprocess
from pathlib import Path
from runpy import run_path

import pytest

from m3bench.sandboxes.backends.result_cache import SEEN
from m3bench.server.lab.authoring.sets import SetRequest, make_set
from m3bench.server.lab.training.environment import Environment, EnvironmentOptions
from m3bench.server.lab.training.splits import HELD_OUT, asked_for, keep_apart, seeds_of, split_of_seed
from m3bench.server.lab.training.train_set import TrainSetRequest, make_train_set
from m3bench.tasks.errors import UserError
from m3bench.tasks.families.registry import FAMILIES
from m3bench.tasks.library import Library
from m3bench.tasks.render.packages import default_folder
from tests.clients.frameworks.frameworks import NotInstalled, installed
from tests.house import ROOT


def test_the_seeds_of_a_split_follow_each_other() -> None:
    found = [seed for seed, _ in zip(seeds_of("train", 6), range(4), strict=False)]
    assert found == [6, 7, 10, 11]
    assert next(iter(seeds_of("validation", 9))) == 18
    assert {split_of_seed(seed) for seed in found} == {"train"}


def test_what_a_test_asks_for_is_not_asked_for_in_training() -> None:
    tasks = list(Library().tasks.values())
    tested = [task for task in tasks if task.id.endswith("-1")]
    others = [task for task in tasks if not task.id.endswith("-1")]
    found = keep_apart(others, tested)
    held = frozenset(entity for task in tested for entity in asked_for(task))
    assert held
    assert len(found.tasks) + len(found.dropped) == len(others)
    for task in found.tasks:
        assert task.family in found.shared or not asked_for(task) & held
    same = keep_apart(tasks, tasks)
    assert same.tasks == tuple(sorted(same.tasks, key=lambda task: list(FAMILIES).index(task.family)))
    assert all(number > 0 for number in same.shared.values())


def test_families_that_are_held_out_exist() -> None:
    assert set(HELD_OUT) < set(FAMILIES)


@pytest.mark.night
@pytest.mark.slow
def test_rows_are_whole_conversations_and_a_run_goes_on_where_it_stopped(tmp_path: Path) -> None:
    request = TrainSetRequest(
        number=3, seed=3, families=["barcode_lookup"], art=default_folder(), per_family=2, parallel=1
    )
    done: list[str] = []
    report = make_train_set(request, tmp_path, (), done.append)
    assert done == ["seed-3", "seed-4"]
    assert (report.split, report.rows, report.seeds) == ("train", 3, (3, 4))
    lines = (tmp_path / "train.jsonl").read_text("utf-8")
    rows = [json.loads(line) for line in lines.splitlines()]
    for row in rows:
        first, *_, last = row["messages"]
        assert first["role"] == "user"
        assert last["name"] == "submit"
        calls = [call for message in row["messages"] for call in message["tool_calls"]]
        answered = [message["tool_call_id"] for message in row["messages"] if message["role"] == "tool"]
        assert [call["id"] for call in calls] == answered
        assert all(isinstance(json.loads(call["function"]["arguments"]), dict) for call in calls)
        assert all((tmp_path / name).is_file() for name in row["images"])
        assert "reward" not in json.dumps(row["messages"])
    (tmp_path / "shards" / "seed-4.jsonl").unlink()
    (tmp_path / "train.jsonl").unlink()
    made = (tmp_path / "sets" / "seed-4" / "tasks.json").stat().st_mtime_ns
    assert make_train_set(request, tmp_path, ()) == report
    assert (tmp_path / "train.jsonl").read_text("utf-8") == lines
    assert (tmp_path / "sets" / "seed-4" / "tasks.json").stat().st_mtime_ns == made
    with Environment(tmp_path / "sets" / "seed-3", EnvironmentOptions(split="train", workers=1)) as environment:
        assert len(environment.tasks) == 2


@pytest.mark.frameworks
def test_datasets_reads_both_files(tmp_path: Path) -> None:
    try:
        python = installed("datasets", ("trl==1.16.0", "torch==2.13.0"))
    except NotInstalled as error:
        pytest.skip(str(error))
    request = TrainSetRequest(number=2, seed=3, families=["barcode_lookup"], art=default_folder(), per_family=2)
    assert make_train_set(request, tmp_path, ()).files == ("train.jsonl", "train.parquet")
    assert (tmp_path / "answers.jsonl").stat().st_size > 0
    read = (
        "import json, sys; from datasets import load_dataset\n"
        "for kind, name in (('json', 'train.jsonl'), ('parquet', 'train.parquet')):\n"
        "    rows = load_dataset(kind, data_files=name, split='train', cache_dir='cache')\n"
        "    print(json.dumps([{part: row[part] for part in ('id', 'images', 'messages')} for row in rows]))\n"
    )
    done = subprocess.run([python, "-c", read], cwd=tmp_path, capture_output=True, text=True, timeout=600, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    by_lines, by_columns = map(json.loads, done.stdout.splitlines())
    assert by_lines == by_columns
    rows = [json.loads(line) for line in (tmp_path / "train.jsonl").read_text("utf-8").splitlines()]
    assert [(row["id"], row["images"]) for row in by_lines] == [(row["id"], row["images"]) for row in rows]
    calls = [[m["tool_calls"] for m in row["messages"]] for row in by_lines]
    assert calls == [[m["tool_calls"] for m in row["messages"]] for row in rows]


@pytest.mark.night
@pytest.mark.slow
@pytest.mark.parametrize(("held_out", "iterations", "margin"), [(False, 16, 0.2), (True, 24, 0.1)])
def test_a_learner_learns_from_the_rewards_and_not_from_shuffled_ones(
    held_out: bool, iterations: int, margin: float, tmp_path: Path
) -> None:
    """It is tried on the bundled tasks, and on those of a seed that is held out."""
    seeds = {"train": 11, "test": 19} if held_out else {"train": 11}
    for split, seed in seeds.items():
        place = tmp_path / split
        place.mkdir()
        wanted = SetRequest(
            families=["barcode_lookup"], seed=seed, per_family=8, art=default_folder(), name=split, version="1",
            seen=place / SEEN,
        )  # fmt: skip
        make_set(wanted, parallel=1, keep=tmp_path / f"keep-{seed}").write(place)
    test = str(tmp_path / "test") if held_out else "m3"
    trained = run_path(str(ROOT / "bench" / "learner.py"))["trained"]
    for shuffled, least, most in ((False, margin, 1.0), (True, 0.0, 0.05)):
        curve = trained(tmp_path / "train", test, iterations, shuffled=shuffled)["curve"]
        first, *_, last = [at["test"] for at in curve if "test" in at]
        assert first == 0.0
        assert least <= last <= most


def test_without_a_family_nothing_is_made(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="No family is left"):
        make_train_set(TrainSetRequest(number=1, seed=1, families=[], art=tmp_path), tmp_path, ())
