"""Ordinary mistakes at the shell: one line that says what happened and what to do, exit code 2, nothing left behind."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from m3bench.server import cli


def environment(folder: Path, data: str = "") -> dict[str, str]:
    return {"M3BENCH_DATA": data, "HOME": str(folder), "XDG_DATA_HOME": str(folder / "share")}


def m3bench(*arguments: str, folder: Path, data: str = "") -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "m3bench.server.cli", *arguments]
    env = {**os.environ, **environment(folder, data)}
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=120, env=env, cwd=folder)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with a file, an empty folder and a folder of result sets."""
    (tmp_path / "file").write_text("{")
    (tmp_path / "empty").mkdir()
    for name in ("one", "two"):
        (tmp_path / "runs" / name).mkdir(parents=True)
        (tmp_path / "runs" / name / "set.json").write_text("{}")
    return tmp_path


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("install cursr", "Did you mean cursor?"),
        ("run --agent orcle", "Did you mean oracle"),
        ("run --agent null --profile fulll", "Did you mean full?"),
        ("tasks show musem-1", "There is no task 'musem-1'. Did you mean museum-1"),
        ("tasks generate -o out --family moves", "Did you mean movies?"),
        ("tasks generate -o file", "file: is a file: name a folder"),
        ("tasks render -o file", "file: is a file: name a folder"),
        ("leaderboard nowhere", "nowhere: there is no such folder"),
        ("leaderboard file", "file: is a file"),
        ("leaderboard runs", "these are result sets: runs/one runs/two"),
        ("report empty", "empty: holds no recorded runs"),
        ("report latest", "`m3bench install` puts m3bench into one"),
        ("runs list --data nowhere", "nowhere: there is no such folder"),
        ("runs list --data file", "because a file is where a folder should be: name a folder with --data"),
        ("compare runs/one file", "name two folders of result sets, or two files"),
    ],
)
def test_a_mistake_is_one_line_that_leads_on(
    line: str, says: str, folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    before = sorted(path for path in folder.iterdir() if path.name != "share")
    monkeypatch.chdir(folder)
    for name, value in environment(folder).items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(sys, "argv", ["m3bench", *line.split()])
    with pytest.raises(SystemExit) as end:
        cli.main()
    said = capsys.readouterr()
    assert (end.value.code, said.out, said.err.count("\n")) == (2, "", 1), said.err
    assert says in said.err
    assert sorted(path for path in folder.iterdir() if path.name != "share") == before


def test_the_program_ends_with_the_same_line(folder: Path) -> None:
    done = m3bench("serve", "--data", "file", folder=folder)
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1), done.stderr
    assert "file: is a file: name a folder for the record of runs" in done.stderr


@pytest.mark.parametrize("client", ["cursor", "codex", "goose"])
def test_what_the_probe_prints_for_a_client_is_json_when_asked_for(client: str, folder: Path) -> None:
    printed = json.loads(m3bench("client", "probe", "--print", client, "--json", folder=folder).stdout)
    assert printed["client"] == client
    assert "m3bench-probe" in printed["snippet"]
    assert str(folder) in printed["path"]


@pytest.mark.parametrize(
    "line", ["run --agent null --limit 1 -o set --sandbox docker", "tools call math/sum {} --sandbox docker"]
)
def test_an_engine_that_does_not_answer_is_said_before_anything_is_played(
    line: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DOCKER_HOST", f"unix://{tmp_path}/none.sock")
    done = m3bench(*line.replace("{}", '{"numbers":[1]}').split(), folder=tmp_path)
    assert done.returncode == 2
    assert done.stderr.startswith("m3bench: No Docker engine answers")
    assert not (tmp_path / "set").exists()


def test_before_the_first_run_the_list_is_empty_and_tells_how_to_begin(folder: Path) -> None:
    assert "m3bench install CLIENT" in m3bench("runs", "list", folder=folder).stdout
    done = m3bench("runs", "list", "--json", folder=folder, data=str(folder / "new"))
    assert json.loads(done.stdout) == {"runs": []}
