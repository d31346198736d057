"""A secret set from beginning to end, made of one real family: committed to, played, opened and scored."""

import json
import os
import subprocess
import sys
from pathlib import Path

import anyio
import pytest
from mcp import Client

from m3bench.proxy.seat import Seat
from m3bench.proxy.transports.sdk_server import sdk_server
from m3bench.server.app import App
from m3bench.server.commands.installed import library_for
from m3bench.server.settings import Settings
from m3bench.tasks.library import Library
from m3bench.tasks.secret import VARIABLE, SecretLibrary, make_secret

COMMAND = [sys.executable, "-m", "m3bench.server.cli"]


def test_a_secret_is_made_and_another_commitment_opens_nothing(tmp_path: Path) -> None:
    done = _run("lab", "ranked", "make", tmp_path / "secret")
    assert (done.returncode, len(done.stdout.strip())) == (0, 64)
    assert (tmp_path / "secret").read_text().strip() not in done.stdout + done.stderr
    other = json.loads(_run("lab", "ranked", "make", tmp_path / "other", "--json").stdout)
    assert (other["file"], len(other["commitment"])) == (str(tmp_path / "other"), 64)
    options = ("--secret-file", tmp_path / "secret", "--data", tmp_path / "data")
    refused = _run("lab", "ranked", "open", *options, "--commitment", "0" * 64)
    assert (refused.returncode, refused.stderr.count("\n")) == (2, 1)
    assert "does not belong to this secret" in refused.stderr
    assert not (tmp_path / "data").exists()
    practice = _run("serve", "--secret-file", tmp_path / "secret")
    assert practice.returncode == 2
    assert "give --ranked" in practice.stderr


def test_the_tokens_of_an_event_are_printed_as_json(tmp_path: Path) -> None:
    times = ("--opens", "now", "--closes", "2999-01-01T00:00+00:00")
    done = _run("lab", "ranked", "event", tmp_path / "event.json", "Ada", "Bo", *times, "--json")
    made = json.loads(done.stdout)
    assert [one["name"] for one in made["participants"]] == ["Ada", "Bo"]
    assert all(len(one["token"]) >= 20 for one in made["participants"])
    assert not [one for one in made["participants"] if one["token"] in (tmp_path / "event.json").read_text()]


@pytest.mark.seeds
def test_a_set_of_one_family_is_played_and_opened(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(VARIABLE, raising=False)
    secret = make_secret(tmp_path / "secret")
    given = {"ranked": True, "secret_file": tmp_path / "secret", "data": tmp_path / "data", "sandbox": "inprocess",
             "family": ("fish",)}  # fmt: skip
    settings = Settings.of(**given)
    app = App(settings, library=library_for(settings))
    assert isinstance(app.library, SecretLibrary)
    (task,) = app.library.tasks
    assert "fish" not in task
    assert app.library.tasks[task].pictures == (f"{task}.png",), "its files have names that tell nothing either"
    anyio.run(_play, app, task)
    reading, writing = os.pipe()
    os.write(writing, secret.raw)
    os.close(writing)
    options = ("--family", "fish", "--data", tmp_path / "data", "-o", tmp_path / "opened", "--json")
    done = _run(
        "lab", "ranked", "open", "--secret-file", f"/dev/fd/{reading}", "--commitment", secret.commitment, *options,
        pass_fds=(reading,),
    )  # fmt: skip
    os.close(reading)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == {"scored": 1, "left_alone": 0, "bundles": []}
    assert Library(tmp_path / "opened").hash == app.library.hash, "the same secret makes the same set"


async def _play(app: App, task: str) -> None:
    async with app.lifespan():
        seat = app.open_seat()

        async def seat_of(context: object) -> Seat:
            return seat

        async with Client(sdk_server(app.front, seat_of), mode="legacy") as client:
            await client.call_tool("start_task", {"task_id": task})
            for _ in range(2):  # an answer without its fields is sent back once
                await client.call_tool("submit", {"answer": "I do not know."})
        assert [run.state for run in app.store.runs()] == ["submitted"]


def _run(*arguments: str | Path, pass_fds: tuple[int, ...] = ()) -> subprocess.CompletedProcess[str]:
    command = [*COMMAND, *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=300, pass_fds=pass_fds)
