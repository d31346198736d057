"""`m3bench curate` and `m3bench synthesize` as a person at a terminal, and a program, use them."""

import json
import os
import pty
import select
import subprocess
import sys
import time
from pathlib import Path

import anyio
import pytest

from m3bench.tasks.library import Library
from tests.server.lab.authoring.curation.recording import own_calls, record

CLI = [sys.executable, "-m", "m3bench.server.cli"]


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A record with one good run and one that guessed."""
    folder = tmp_path_factory.mktemp("curate") / "data"
    scan, *rest = own_calls(Library().task("barcode_lookup-1"))
    anyio.run(record, folder, "barcode_lookup-1", [*rest, scan])
    anyio.run(record, folder, "barcode_lookup-1", [scan, scan, *rest])
    return folder


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([*CLI, *arguments], capture_output=True, text=True, timeout=240, check=False)


@pytest.mark.slow
def test_without_a_terminal_proved_candidates_are_accepted_when_asked_for(data: Path, tmp_path: Path) -> None:
    folder = tmp_path / "set"
    done = run("lab", "curate", "all", "--data", str(data), "--accept-verified", "--json", "--by", "Ada",
               "-o", str(folder), "--sandbox", "inprocess")  # fmt: skip
    assert done.returncode == 0, done.stderr
    rows = json.loads(done.stdout)["runs"]
    assert [row["decision"] for row in rows] == ["rejected by the judge", "accepted"]
    lines = [json.loads(line) for line in (folder / "curation.jsonl").read_text().splitlines()]
    assert [line["by"] for line in lines] == ["rules", "Ada"]
    assert list(Library(folder).tasks) == ["barcode_lookup-1"]
    hash = Library(folder).hash
    run(
        "lab", "curate", "latest", "--data", str(data), "--accept-verified", "-o", str(folder), "--sandbox", "inprocess"
    )
    assert Library(folder).hash == hash
    assert len((folder / "curation.jsonl").read_text().splitlines()) == 3


@pytest.mark.slow
def test_looking_only_writes_nothing(data: Path, tmp_path: Path) -> None:
    done = run("lab", "curate", "latest", "--data", str(data), "--json", "--sandbox", "inprocess")
    (row,) = json.loads(done.stdout)["runs"]
    assert (row["decision"], len(row["reference"]["steps"])) == ("skipped", 3)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.slow
@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["latest", "-o", "new"], "not a terminal"),
        (["latest", "--accept-verified"], "-o FOLDER"),
        (["nosuchrun", "--accept-verified", "-o", "new"], "There is no run"),
        (["latest", "--accept-verified", "-o", "."], "not a set of tasks"),
        (["latest", "--accept-verified", "-o", "new", "--task-set", "nowhere"], "cannot be read"),
        (["latest", "--accept-verified", "-o", "new", "--model", "nobody/x"], "cannot be opened"),
    ],
)
def test_what_cannot_be_used_is_one_line_and_exit_code_2(data: Path, tmp_path: Path, arguments: list[str], says: str):
    (tmp_path / "mine.txt").write_text("mine")
    done = subprocess.run(
        [*CLI, "lab", "curate", *arguments, "--data", str(data), "--sandbox", "inprocess"],
        capture_output=True, text=True, timeout=120, check=False, cwd=tmp_path, stdin=subprocess.DEVNULL,
    )  # fmt: skip
    assert done.returncode == 2
    assert says in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1
    assert [path.name for path in tmp_path.iterdir()] == ["mine.txt"]


@pytest.mark.slow
def test_a_person_sees_both_sides_and_says_yes(data: Path, tmp_path: Path) -> None:
    folder = tmp_path / "set"
    shown = typed(
        ["lab", "curate", "latest", "--data", str(data), "--by", "Grace", "-o", str(folder), "--sandbox", "inprocess"],
        {"[s]kip? ": "a\n", "Why? ": "short and right\n"},
    )
    assert "what the run did" in shown
    assert "the candidate, proved" in shown
    assert "repeats an earlier call" in shown
    (line,) = [json.loads(line) for line in (folder / "curation.jsonl").read_text().splitlines()]
    assert (line["decision"], line["by"], line["reason"]) == ("accepted", "Grace", "short and right")


@pytest.mark.slow
def test_nobody_is_asked_about_a_run_that_is_rejected(data: Path, tmp_path: Path) -> None:
    listed = json.loads(run("runs", "list", "--data", str(data), "--json").stdout)["runs"]
    arguments = [
        "curate",
        listed[-1]["run"],
        "--data",
        str(data),
        "-o",
        str(tmp_path / "set"),
        "--sandbox",
        "inprocess",
    ]
    shown = typed(arguments, {})
    assert "[a]ccept" not in shown
    assert "rejected by the judge" in shown


def typed(arguments: list[str], answers: dict[str, str]) -> str:
    """What a terminal shows while somebody answers its prompts, in any order."""
    main, side = pty.openpty()
    process = subprocess.Popen(
        [*CLI, *arguments], stdin=side, stdout=side, stderr=side, env={**os.environ, "COLUMNS": "160"}
    )
    os.close(side)
    shown, waiting, deadline = "", dict(answers), time.monotonic() + 120
    while time.monotonic() < deadline:
        if select.select([main], [], [], 1.0)[0]:
            try:
                shown += os.read(main, 65536).decode(errors="replace")
            except OSError:
                break
            for prompt, text in list(waiting.items()):
                if shown.rstrip(" ").endswith(prompt.rstrip(" ")):
                    os.write(main, text.encode())
                    del waiting[prompt]
        elif process.poll() is not None:
            break
    process.wait(timeout=30)
    os.close(main)
    return shown


@pytest.mark.slow
def test_synthesis_writes_a_set_that_verifies(tmp_path: Path) -> None:
    folder = tmp_path / "set"
    done = run(
        "lab", "synthesize", "--servers", "nasa-mcp,tmdb", "--count", "2", "--seed", "9", "--json", "-o", str(folder)
    )
    assert done.returncode == 0, done.stderr
    assert len(json.loads(done.stdout)["tasks"]) == 2
    assert run("tasks", "verify", "--tasks", str(folder), "--sandbox", "inprocess").returncode == 0


@pytest.mark.sample(1)
@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["--servers", "nowhere"], "There is no server"),
        (["--servers", "ppt"], "No task can be made about ppt"),
        (["--servers", "openlibrary_mcp", "--count", "3"], "name more servers"),
    ],
)
def test_synthesis_says_what_cannot_be_made(tmp_path: Path, arguments: list[str], says: str) -> None:
    done = run("lab", "synthesize", *arguments, "-o", str(tmp_path / "set"))
    assert done.returncode == 2
    assert says in done.stderr
    assert not (tmp_path / "set").exists()
