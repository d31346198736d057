"""One index for all runs: what clients played, and every result set that was written on this machine."""

import json
import shutil
from dataclasses import replace
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from m3bench.server.commands.program import app
from m3bench.server.lab.results.recorded_runs import INDEX, Records, register, registered
from m3bench.server.lab.results.resultset import DATA
from m3bench.server.store.location import RecordLocation
from m3bench.server.store.records import RunRecord
from m3bench.server.store.sqlite import SqliteStore
from m3bench.tasks.errors import UserError
from tests.server.lab.reports.site.stored import stored_set

CLIENTS = RunRecord(
    id="c0ffee" + "0" * 34, seat="s", task="movies-1", state="working", mode="practice",
    started="2025-06-01T00:00:00+00:00", ended=None, answer=None, seal=None, manifest={}, scorecard=None,
)  # fmt: skip


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A data folder with an older run of a client, and a study of two sets in its index."""
    folder = tmp_path_factory.mktemp("home")
    store = SqliteStore(folder / "data")
    store.add_run(CLIENTS)
    store.close()
    for name, skill in (("weak", 0.3), ("strong", 0.9)):
        register(stored_set(folder / "study", name, 6, skill=skill), folder / "data")
    return folder


@pytest.fixture
def typed(home: Path, monkeypatch: pytest.MonkeyPatch) -> CliRunner:
    monkeypatch.setenv("M3BENCH_DATA", str(home / "data"))
    monkeypatch.chdir(home)
    return CliRunner()


def ok(result: Result) -> Result:
    assert result.exit_code == 0, result.output
    return result


def test_a_set_is_in_the_index_once_and_only_while_it_is_there(tmp_path: Path) -> None:
    folder, data = stored_set(tmp_path, "one", 1), tmp_path / "data"
    for _ in range(2):
        register(folder, data)
    assert registered(data) == [folder]
    assert (data / INDEX).read_text("utf-8") == f"{folder}\n"
    assert (data.stat().st_mode & 0o777, (data / INDEX).stat().st_mode & 0o777) == (0o700, 0o600)
    shutil.rmtree(folder)
    assert registered(data) == []


def test_runs_of_clients_and_of_result_sets_are_listed_together(typed: CliRunner, home: Path) -> None:
    runs = json.loads(ok(typed.invoke(app, ["runs", "list", "--json"])).stdout)["runs"]
    assert len(runs) == 13
    assert {run["set"] and Path(run["set"]).name for run in runs} == {None, "weak", "strong"}
    assert runs[-1]["run"] == CLIENTS.id, "newest first"
    shown = ok(typed.invoke(app, ["runs", "list"])).stdout
    assert "weak" in shown.splitlines()[1]
    alone = json.loads(ok(typed.invoke(app, ["runs", "list", "--json", "--data", "study/weak"])).stdout)["runs"]
    assert len(alone) == 6


def test_a_run_is_found_wherever_it_is(typed: CliRunner, home: Path) -> None:
    ok(typed.invoke(app, ["report", "latest", "-o", "latest.html"]))
    assert "math/sum" in (home / "latest.html").read_text("utf-8")
    inner = next(run["run"] for run in json.loads(typed.invoke(app, ["runs", "list", "--json"]).stdout)["runs"])
    assert json.loads(ok(typed.invoke(app, ["runs", "show", inner[:12], "--json"])).stdout)["run"] == inner
    assert f"run {CLIENTS.id}" in ok(typed.invoke(app, ["runs", "show", "c0ffee"])).stdout
    exported = ok(typed.invoke(app, ["runs", "export", inner[:12], "--format", "jsonl"])).stdout
    assert {json.loads(line)["run"] for line in exported.splitlines()} == {inner}


def test_the_beginning_of_two_handles_in_two_places_means_neither(tmp_path: Path) -> None:
    places = []
    for name, handle in (("a", "ab1"), ("b", "ab2"), ("c", "ab2")):
        store = SqliteStore(tmp_path / name)
        store.add_run(replace(CLIENTS, id=handle))
        store.close()
        places.append(RecordLocation(tmp_path / name))
    with Records(places) as records:
        assert records.find("ab1")[1].id == "ab1"
        assert records.find("ab2")[0].place == places[1], "the same run in two places is one run"
        assert len(records.runs()) == 2
        with pytest.raises(UserError, match="more than one run that begins with 'ab'"):
            records.find("ab")
        with pytest.raises(UserError, match="There is no run 'x'"):
            records.find("x")


def test_a_set_that_cannot_be_read_is_left_out_with_a_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("M3BENCH_DATA", str(tmp_path / "data"))
    for name in ("sound", "torn"):
        register(stored_set(tmp_path, name, 1), tmp_path / "data")
    (tmp_path / "torn" / DATA / "m3bench.sqlite").write_bytes(b"no database" * 500)
    result = ok(CliRunner().invoke(app, ["runs", "list", "--json"]))
    assert len(json.loads(result.stdout)["runs"]) == 1
    assert f"left out: {tmp_path / 'torn' / DATA}" in result.stderr
    assert ok(CliRunner().invoke(app, ["runs", "show", "latest"])).stdout.startswith("run ")


def test_a_folder_of_result_sets_is_a_leaderboard_and_a_comparison(typed: CliRunner) -> None:
    board = json.loads(ok(typed.invoke(app, ["leaderboard", "study", "--json"])).stdout)
    named = json.loads(ok(typed.invoke(app, ["leaderboard", "study/strong", "study/weak", "--json"])).stdout)
    assert [entry["name"] for entry in board["entries"]] == [entry["name"] for entry in named["entries"]]
    compared = json.loads(ok(typed.invoke(app, ["compare", "study", "--json"])).stdout)
    assert compared == json.loads(ok(typed.invoke(app, ["compare", "study/strong", "study/weak", "--json"])).stdout)


@pytest.mark.slow
def test_groups_that_do_not_compare_are_leaderboards_of_their_own(tmp_path: Path) -> None:
    for name, runs in (("one", 2), ("two", 2), ("other", 3)):
        stored_set(tmp_path / "study", name, runs)
    boards = json.loads(ok(CliRunner().invoke(app, ["leaderboard", str(tmp_path / "study"), "--json"])).stdout)
    assert [len(board["entries"]) for board in boards["groups"].values()] == [2, 1]
    told = ok(CliRunner().invoke(app, ["leaderboard", str(tmp_path / "study"), "-o", str(tmp_path / "site")]))
    assert 'not comparable, and so on boards of their own: task list is "2 tasks' in told.stderr
    for name in boards["groups"]:
        assert f"{name}:" in told.stdout
        assert (tmp_path / "site" / name / "index.html").is_file()
    refused = CliRunner().invoke(app, ["leaderboard", *(str(tmp_path / "study" / name) for name in ("one", "other"))])
    assert isinstance(refused.exception, UserError)
    several = CliRunner().invoke(app, ["compare", str(tmp_path / "study")])
    assert "Name two of these 3 result sets" in str(several.exception)


def test_results_are_kept_when_the_index_cannot_be_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from m3bench.server.commands.recorded import remember

    (tmp_path / "file").write_text("")
    monkeypatch.setenv("M3BENCH_DATA", str(tmp_path / "file"))
    remember([tmp_path / "set"])
    assert "name these results by their folder" in capsys.readouterr().err
