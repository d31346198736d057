"""The commands around runs and tasks, as a person would type them."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from m3bench.server import cli
from tests.art import art
from tests.server.lab.reports.site.stored import stored_set
from tests.server.pipes import Pipe
from tests.sets import write_set

PUBLIC = [
    {
        "id": "1",
        "steps": [
            {
                "calls": [
                    {"name": "math/sum", "arguments": {"numbers": [1, 2]}},
                    {"name": "math/summ", "arguments": {}},
                    {"name": "math/sum", "arguments": {"numbers": "x"}},
                    {"name": "excel/read_data_from_excel", "arguments": {"filepath": "none.xlsx", "sheet_name": "S"}},
                ]
            }
        ],
    }
]


def m3bench(*arguments: str | Path, data: Path | None = None) -> subprocess.CompletedProcess[str]:
    env = {**os.environ, **({"M3BENCH_DATA": str(data)} if data is not None else {})}
    command = [sys.executable, "-m", "m3bench.server.cli", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=120, env=env)


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A data folder with one scored run."""
    folder = tmp_path_factory.mktemp("recorded")
    tasks = write_set(folder / "set")
    pipe = Pipe(["--tasks", str(tasks), "--data", str(folder / "data")])
    pipe.open()
    pipe.ask(1, "start_task", {"task_id": "sum-1"})
    pipe.ask(2, "math__sum", {"numbers": [4, 8, 15, 16, 23, 42]})
    pipe.ask(3, "submit", {"answer": "108"})
    pipe.ask(4, "score", {})
    pipe.close()
    return folder / "data"


def test_runs_are_listed_shown_and_exported(recorded: Path, tmp_path: Path) -> None:
    (run,) = json.loads(m3bench("runs", "list", "--json", data=recorded).stdout)["runs"]
    assert (run["task"], run["state"], run["average"], run["success"]) == ("sum-1", "scored", 1.0, True)
    assert "sum-1" in m3bench("runs", data=recorded).stdout
    shown = json.loads(m3bench("runs", "show", run["run"][:8], "--json", data=recorded).stdout)
    assert [call["tool"] for call in shown["calls"]] == ["math/sum", "submit"]
    read = m3bench("runs", "show", run["run"], data=recorded).stdout
    assert read.index("average 1.000") < read.index("ms  math/sum")
    public = json.loads(m3bench("runs", "export", "--format", "open-m3-bench", data=recorded).stdout)
    assert public[0]["steps"][0]["calls"][0]["name"] == "math/sum"
    raw = [
        json.loads(line) for line in m3bench("runs", "export", "--format", "jsonl", data=recorded).stdout.splitlines()
    ]
    assert [line["tool"] for line in raw] == ["math/sum", "submit"]
    ours = tmp_path / "ours.json"
    assert m3bench("runs", "export", "-o", ours, data=recorded).returncode == 0
    again = m3bench("lab", "score", ours, ours, "--json")
    assert json.loads(again.stdout)["tasks"]["sum-1"]["average"] == 1


def test_an_unknown_run_is_one_line_and_exit_code_2(recorded: Path) -> None:
    done = m3bench("runs", "show", "zzz", data=recorded)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("m3bench: There is no run 'zzz'")
    assert done.stderr.count("\n") == 1


@pytest.mark.slow
def test_replay_sorts_every_call_into_its_outcome(tmp_path: Path) -> None:
    path = tmp_path / "public.json"
    path.write_text(json.dumps(PUBLIC))
    done = m3bench("tools", "replay", path, "--json")
    found = json.loads(done.stdout)
    assert done.returncode == 1
    assert found["calls"] == 4
    assert found["outcomes"] == {"invalid_arguments": 1, "not_found": 1, "success": 1, "unknown_tool": 1}
    assert found["by_tool"]["math/sum"] == {"invalid_arguments": 1, "success": 1}
    assert [failure["outcome"] for failure in found["failures"]] == ["unknown_tool", "invalid_arguments", "not_found"]
    assert m3bench("tools", "replay", path, "--server", "nothing").returncode == 0


def test_runs_are_deleted_by_their_beginnings_and_told_as_json(tmp_path: Path) -> None:
    data = stored_set(tmp_path, "one", 2) / "data"
    first, second = (row["run"] for row in json.loads(m3bench("runs", "--data", data, "--json").stdout)["runs"])
    done = m3bench("runs", "--data", data, "--json", "delete", first[:12], "--yes")
    assert json.loads(done.stdout) == {"deleted": [first]}
    assert [row["run"] for row in json.loads(m3bench("runs", "--data", data, "--json").stdout)["runs"]] == [second]


@pytest.mark.slow
def test_a_set_is_made_shown_counted_and_proven(tmp_path: Path) -> None:
    art()
    folder = tmp_path / "set"
    made = m3bench(
        "tasks", "generate", "--family", "barcode_lookup", "--per-family", "2", "--seed", "5", "--out", folder, "--json"
    )
    assert made.returncode == 0, made.stderr
    assert json.loads(made.stdout)["tasks"] == ["barcode_lookup-1", "barcode_lookup-2"]
    assert m3bench("tasks", "verify", "--tasks", folder).returncode == 0
    rows = json.loads(m3bench("tasks", "list", "--tasks", folder, "--json").stdout)["tasks"]
    assert [row["id"] for row in rows] == ["barcode_lookup-1", "barcode_lookup-2"]
    numbers = json.loads(m3bench("tasks", "stats", "--tasks", folder, "--json").stdout)
    assert set(numbers) == {
        "tasks", "families", "servers", "steps", "calls", "tools", "multi_hop", "multi_threaded",
        "plan_shapes", "max_shared_calls", "hash",
    }  # fmt: skip
    assert (numbers["tasks"], numbers["plan_shapes"]) == (2, {"barcode_lookup": 2})
    shown = m3bench("tasks", "show", "barcode_lookup-2", "--tasks", folder).stdout
    assert Path(shown.splitlines()[-1]).is_file()
    assert m3bench("tasks", "render", "--tasks", folder, "--out", tmp_path / "look").returncode == 0
    assert (tmp_path / "look" / "contact.png").read_bytes().startswith(b"\x89PNG")
    assert "barcode_lookup-1" in (tmp_path / "look" / "tasks.html").read_text("utf-8")


@pytest.mark.slow
def test_tasks_are_listed_by_level_and_setting() -> None:
    def listed(*options: str) -> list[dict[str, object]]:
        rows: list[dict[str, object]] = json.loads(m3bench("tasks", "list", *options, "--json").stdout)["tasks"]
        return rows

    levels = {level: listed("--level", level) for level in ("L1", "L2", "L3")}
    assert {level: {row["level"] for row in rows} for level, rows in levels.items()} == {one: {one} for one in levels}
    assert sum(map(len, levels.values())) == len(listed())
    assert len(listed("--level", "L1", "--level", "L3")) == len(levels["L1"]) + len(levels["L3"])
    assert {row["setting"] for row in listed("--setting", "single", "--level", "L2")} == {"single"}
    assert "choose L1, L2, L3" in m3bench("tasks", "list", "--level", "hard").stderr


@pytest.mark.slow
def test_a_set_that_is_not_right_does_not_verify(tmp_path: Path) -> None:
    done = m3bench("tasks", "verify", "--tasks", write_set(tmp_path / "set"), "--json")
    assert done.returncode == 1
    found = json.loads(done.stdout)["problems"]
    assert "sum-1: 0 distractors, 10 are wanted" in found
    assert "survey-1: 1 checks, at least 3 are wanted" in found


def test_an_unknown_family_is_told_what_there_is(tmp_path: Path) -> None:
    done = m3bench("tasks", "generate", "--family", "nonsense", "--out", tmp_path / "set")
    assert done.returncode == 2
    assert "choose from" in done.stderr


@pytest.mark.slow
def test_the_demo_tells_right_from_sloppy_from_idle() -> None:
    done = m3bench("demo", "--json")
    assert done.returncode == 0, done.stderr
    told = done.stderr.splitlines()
    assert len(told) == len(set(told)), "what is to be said of a machine is said once"
    cards = json.loads(done.stdout)
    assert cards["right"]["metrics"]["average"] == 1
    assert cards["right"]["success"] is True
    assert 0.3 < cards["sloppy"]["metrics"]["average"] < 0.95
    assert cards["idle"]["metrics"]["average"] == 0
    assert not cards["sloppy"]["success"]
    assert not cards["idle"]["success"]


@pytest.mark.parametrize(
    "arguments",
    [
        ["serve", "--profile", "huge"],
        ["serve", "--sandbox", "cloud"],
        ["serve", "--http", "nowhere"],
        ["serve", "--http", "0.0.0.0:0"],
        ["serve", "--servers", "/no/such/file.json"],
        ["serve", "--record", "a.json", "--replay", "b.json"],
        ["serve", "--tasks", "/no/such/set"],
        ["tools", "replay", "/no/such/file.json"],
        ["demo", "--task", "nothing"],
        ["tasks", "show", "nothing"],
    ],
)
def test_what_cannot_be_used_is_one_line_and_exit_code_2(
    arguments: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("M3BENCH_DATA", str(tmp_path / "data"))
    monkeypatch.setattr(sys, "argv", ["m3bench", *arguments])
    with pytest.raises(SystemExit) as end:
        cli.main()
    said = capsys.readouterr().err
    assert end.value.code == 2, said
    assert said.startswith("m3bench: ")
    assert said.count("\n") == 1, said
