"""`m3bench lab score` and `m3bench compare`, as a person runs them."""

import csv
import io
import json
import os
import subprocess
import sys
from collections.abc import Callable
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest

from m3bench.server import cli
from m3bench.server.scoring.aggregate import METRICS
from m3bench.tasks.trajectory import Trajectory
from m3bench.tasks.trajectory_files import TaskTrajectories, read_tasks, write_tasks

SAMPLE = Path(str(files("m3bench.tasks") / "data" / "sample"))
REFERENCES, ACTUAL = SAMPLE / "references.json", SAMPLE / "actual.json"

Run = Callable[..., tuple[int, str, str]]


@pytest.fixture(scope="session")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One cache for all tests, so that the sample is embedded once."""
    return tmp_path_factory.mktemp("cache") / "vectors.sqlite"


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, cache: Path) -> Run:
    """Run the command line in this process: exit code, standard output, standard error."""
    monkeypatch.setattr("m3bench.server.scoring.cache.default_path", lambda: cache)

    def command(*arguments: str | Path) -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "argv", ["m3bench", *map(str, arguments)])
        try:
            cli.main()
            code: Any = 0
        except SystemExit as stopped:
            code = stopped.code
        out, err = capsys.readouterr()
        return int(code or 0), out, err

    return command


def test_json_has_the_promised_shape(run: Run) -> None:
    code, out, err = run("lab", "score", REFERENCES, ACTUAL, "--json")
    data = json.loads(out, parse_constant=pytest.fail)
    assert (code, err) == (0, "")
    assert data["profile"] == "m3"
    assert set(data["aggregate"]) == {*METRICS, "average"}
    assert data["tasks"].keys() == read_tasks(REFERENCES).tasks.keys()
    for task in data["tasks"].values():
        assert {*METRICS, "average", "matches"} <= task.keys()
        for reference, actual, similarity in task["matches"]:
            assert 0 <= reference < task["reference_calls"]
            assert 0 <= actual < task["actual_calls"]
            assert 0.6 <= similarity <= 1.0


def test_references_as_runs_score_exactly_one(run: Run) -> None:
    data = json.loads(run("lab", "score", REFERENCES, REFERENCES, "--json", "--no-cache")[1])
    for task in data["tasks"].values():
        assert {task[name] for name in (*METRICS, "average")} == {1.0}
    assert set(data["aggregate"].values()) == {1.0}


def test_the_sample_shows_a_bit_of_everything(run: Run) -> None:
    data = json.loads(run("lab", "score", REFERENCES, ACTUAL, "--json")[1])
    averages = [task["average"] for task in data["tasks"].values()]
    assert max(averages) == 1.0
    assert min(averages) < 0.4
    assert data["tasks"]["novel-barcode"]["reference"] == 1
    assert any(0.6 <= match[2] < 0.8 for task in data["tasks"].values() for match in task["matches"])


def test_against_one_reference_each_no_other_way_counts(run: Run) -> None:
    every = json.loads(run("lab", "score", REFERENCES, ACTUAL, "--metric", "m3", "--json")[1])["tasks"]
    one = json.loads(run("lab", "score", REFERENCES, ACTUAL, "--metric", "m3", "--one-reference", "--json")[1])["tasks"]
    assert every["novel-barcode"]["reference"] == 1, "another than the first fits best"
    assert one["novel-barcode"]["average"] < every["novel-barcode"]["average"]
    assert {task.get("reference", 0) for task in one.values()} == {0}
    for name, task in every.items():
        assert task.get("reference", 0) != 0 or one[name]["average"] == task["average"]


def test_the_table_is_plain_text_when_piped(run: Run) -> None:
    code, out, _ = run("lab", "score", REFERENCES, ACTUAL, "--per-task")
    assert code == 0
    assert "\x1b" not in out
    assert "12 tasks · 50 reference calls" in out
    for word in ("merge purity", "95 % interval", "travel_comparison", "two-cities-air"):
        assert word in out


def test_csv_has_a_line_per_family_or_per_task(run: Run) -> None:
    families = list(csv.DictReader(io.StringIO(run("lab", "score", REFERENCES, ACTUAL, "--csv")[1])))
    tasks = list(csv.DictReader(io.StringIO(run("lab", "score", REFERENCES, ACTUAL, "--csv", "--per-task")[1])))
    assert [line["family"] for line in families][-1] == "(all)"
    assert sum(int(line["reference_calls"]) for line in tasks) == int(families[-1]["reference_calls"]) == 50
    assert {line["task"] for line in tasks} == set(read_tasks(REFERENCES).tasks)
    assert all(0 <= float(line["average"]) <= 1 for line in tasks)


def test_explain_tells_one_task(run: Run) -> None:
    code, out, _ = run("lab", "score", REFERENCES, ACTUAL, "--explain", "canyon-weekend", "--metric", "open-m3-bench")
    assert code == 0
    assert out.startswith("canyon-weekend  (camping)  profile open-m3-bench")
    assert "✗ nationalparks/getAlerts" in out
    assert "+ wiki/summary" in out
    data = json.loads(run("lab", "score", REFERENCES, ACTUAL, "--explain", "vase", "--json")[1])
    assert list(data["tasks"]) == ["vase"]


def test_an_unknown_task_is_answered_with_its_neighbours(run: Run) -> None:
    code, out, err = run("lab", "score", REFERENCES, ACTUAL, "--explain", "vases")
    assert (code, out) == (2, "")
    assert "there is no task 'vases' (did you mean vase?)" in err


def test_tasks_not_run_are_listed_and_not_counted(run: Run, tmp_path: Path) -> None:
    some = list(read_tasks(ACTUAL).tasks.values())[:3]
    write_tasks(tmp_path / "some.json", [*some, TaskTrajectories(id="stranger", trajectories=(Trajectory(),))])
    code, out, err = run("lab", "score", REFERENCES, tmp_path / "some.json", "--json")
    assert code == 0
    assert len(json.loads(out)["tasks"]) == 3
    assert len(json.loads(out)["not_run"]) == 9
    assert "1 task (stranger) without a reference, left out" in err
    assert "Not run, and so not scored: novel-barcode" in run("lab", "score", REFERENCES, tmp_path / "some.json")[1]


def test_repeats_are_scored_each(run: Run, tmp_path: Path) -> None:
    task = read_tasks(ACTUAL).tasks["vase"]
    repeated = TaskTrajectories(id="vase", trajectories=(*task.trajectories, Trajectory()))
    write_tasks(tmp_path / "repeats.json", [repeated])
    tasks = json.loads(run("lab", "score", REFERENCES, tmp_path / "repeats.json", "--json")[1])["tasks"]
    assert list(tasks) == ["vase", "vase#2"]
    assert tasks["vase#2"]["recall"] == 0.0


def test_nothing_in_common_is_an_error(run: Run, tmp_path: Path) -> None:
    write_tasks(tmp_path / "other.json", [TaskTrajectories(id="other", trajectories=(Trajectory(),))])
    code, _, err = run("lab", "score", REFERENCES, tmp_path / "other.json")
    assert code == 2
    assert "no task in common" in err


def test_unreadable_tasks_stop_unless_told_to_keep_going(run: Run, tmp_path: Path) -> None:
    data = json.loads(ACTUAL.read_text("utf-8"))
    data["tasks"][0]["trajectories"][0]["steps"] = "lost"
    path = tmp_path / "actual.json"
    path.write_text(json.dumps(data), "utf-8")
    code, out, err = run("lab", "score", REFERENCES, path, "--json")
    assert (code, out) == (2, "")
    assert (
        err == f"m3bench: {path}, task 'lighthouse', trajectories[0].steps: is the string 'lost' (expected an array)\n"
    )
    code, out, err = run("lab", "score", REFERENCES, path, "--json", "--keep-going")
    assert code == 0
    assert len(json.loads(out)["tasks"]) == 11
    assert len(json.loads(out)["unreadable"]) == 1
    assert "lighthouse" in err


def huge(path: Path) -> None:
    with path.open("w") as file:
        file.write('[{"id": "one", "steps": [{"calls": [{"name": "a/b", "arguments": {"x": "')
        for _ in range(100):
            file.write("x" * 1_000_000)
        file.write('"}}]}]}]')


@pytest.mark.sample(8)
@pytest.mark.parametrize(
    "make",
    [
        lambda path: None,
        lambda path: path.mkdir(),
        lambda path: path.write_text("not json"),
        lambda path: path.write_text("[1, 2"),
        lambda path: path.write_text(
            '[{"id": "one", "steps": [{"calls": [{"name": "a/b", "arguments": {"x": NaN}}]}]}]'
        ),
        lambda path: path.write_text("[" * 200_000),
        lambda path: path.write_text("{}"),
        lambda path: path.write_bytes(b"\xff\xfe\x00"),
        lambda path: path.write_bytes(b'["\x80"]'),
        huge,
    ],
    ids=["missing", "folder", "words", "cut", "nan", "deep", "empty", "utf16", "latin", "huge"],
)
@pytest.mark.parametrize("side", [0, 1], ids=["references", "actual"])
def test_bad_files_are_one_line_and_exit_code_two(
    run: Run, tmp_path: Path, make: Callable[[Path], object], side: int
) -> None:
    path = tmp_path / "bad.json"
    make(path)
    arguments = (path, ACTUAL) if side == 0 else (REFERENCES, path)
    for options in ((), ("--json",)):
        code, out, err = run("lab", "score", *arguments, *options)
        assert (code, out) == (2, "")
        assert err.startswith("m3bench: ")
        assert err.count("\n") == 1
        assert len(err) < 500 + 2 * len(str(path))
        assert "Traceback" not in err


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--json", "--csv"), "Choose one of --json, --csv and --table"),
        (("--cache", "x.sqlite", "--no-cache"), "Choose one of --cache and --no-cache"),
        (("--weights", "nowhere"), "does not hold model.safetensors"),
    ],
)
def test_options_that_cannot_be_used_are_one_line(
    run: Run, options: tuple[str, ...], message: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr("m3bench.server.scoring.cache.default_path", lambda: tmp_path / "fresh.sqlite")
    code, out, err = run("lab", "score", REFERENCES, ACTUAL, *options)
    assert (code, out) == (2, "")
    assert message in err
    assert err.count("\n") == 1


def test_a_cache_that_cannot_be_used_is_a_warning(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "notes.txt"
    path.write_text("no database at all " * 50)
    code, out, err = run("lab", "score", REFERENCES, ACTUAL, "--explain", "poster", "--cache", path)
    assert code == 0
    assert out.startswith("poster")
    assert "Embeddings were not kept" in err


def test_two_results_are_compared(run: Run, tmp_path: Path) -> None:
    paths = tmp_path / "a.json", tmp_path / "b.json"
    for path, actual in zip(paths, (ACTUAL, REFERENCES), strict=True):
        path.write_text(run("lab", "score", REFERENCES, actual, "--json")[1])
    code, out, _ = run("compare", *paths)
    assert code == 0
    assert "12 tasks in both" in out
    data = json.loads(run("compare", *paths, "--json")[1])
    assert data["metrics"]["recall"]["difference"] == pytest.approx(0.177, abs=0.001)
    assert data["metrics"]["recall"]["better"] > data["metrics"]["recall"]["worse"] == 0
    scored_now = json.loads(run("compare", ACTUAL, REFERENCES, "--references", REFERENCES, "--json")[1])
    assert scored_now == data


def test_results_made_in_different_ways_need_an_explicit_wish(run: Run, tmp_path: Path) -> None:
    paths = tmp_path / "a.json", tmp_path / "b.json"
    for path, profile in zip(paths, ("m3", "open-m3-bench"), strict=True):
        path.write_text(run("lab", "score", REFERENCES, ACTUAL, "--json", "--metric", profile)[1])
    code, out, err = run("compare", *paths)
    assert (code, out) == (2, "")
    assert "The profiles differ (m3 and open-m3-bench)" in err
    assert run("compare", *paths, "--anyway")[0] == 0


def test_colours_and_progress_appear_on_a_terminal_only(cache: Path, tmp_path: Path) -> None:
    many = tmp_path / "many.json"
    task = read_tasks(REFERENCES).tasks["vase"]
    write_tasks(many, [TaskTrajectories(id=str(n), trajectories=task.trajectories) for n in range(30)])
    command = [sys.executable, "-m", "m3bench.server.cli", "lab", "score", str(many), str(many), "--cache", str(cache)]
    piped = subprocess.run(command, capture_output=True, text=True, check=True)
    assert "\x1b" not in piped.stdout
    assert piped.stderr == ""
    pty = pytest.importorskip("pty")
    main, side = pty.openpty()
    environment = {name: value for name, value in os.environ.items() if name != "NO_COLOR"} | {"TERM": "xterm"}
    with subprocess.Popen(command, stdout=side, stderr=subprocess.PIPE, env=environment):
        os.close(side)
        shown = b""
        while True:
            try:
                block = os.read(main, 65536)
            except OSError:
                break
            if not block:
                break
            shown += block
        os.close(main)
    assert b"\x1b[" in shown


def test_help_is_cheap() -> None:
    command = [sys.executable, "-X", "importtime", "-m", "m3bench.server.cli", "--help"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    imported = {line.rpartition("|")[2].strip() for line in done.stderr.splitlines() if line.startswith("import time:")}
    heavy = {"torch", "scipy", "fastmcp", "numpy", "sentence_transformers", "m3bench.server.scoring.encoder"}
    assert imported & heavy == set()
    assert "m3bench.server.scoring.minilm" not in imported
    assert "score" in done.stdout


def test_references_of_a_known_set_are_scored_by_effect_and_without_results_by_kinds_alone(
    run: Run, tmp_path: Path
) -> None:
    from m3bench.server.scoring.reasons import KINDS_ALONE
    from m3bench.tasks.library import Library

    one, other = list(Library().tasks.values())[:2]
    for name, task in (("references", one), ("same", one), ("other", other)):
        made = tuple(reference.trajectory for reference in task.references[:1])
        write_tasks(tmp_path / f"{name}.json", [TaskTrajectories(id=one.id, family=one.family, trajectories=made)])
    averages = {}
    for name in ("same", "other"):
        data = json.loads(run("lab", "score", tmp_path / "references.json", tmp_path / f"{name}.json", "--json")[1])
        assert (data["profile"], data["encoder"], data["note"]) == ("effect", "none", KINDS_ALONE)
        averages[name] = data["aggregate"]["average"]
    assert averages["same"] == 1.0
    assert averages["other"] < 0.5
    told = run("lab", "score", tmp_path / "references.json", tmp_path / "other.json", "--explain", one.id)[1]
    assert KINDS_ALONE in told
    assert "wanted" in told
    assert '"profile": "m3"' in run("lab", "score", REFERENCES, ACTUAL, "--json")[1]
