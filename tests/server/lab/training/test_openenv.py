"""Trainers that speak OpenEnv play episodes: over its WebSocket, by POST, and with its own client and validator."""

import json
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.error import HTTPError
from urllib.request import Request, urlopen

import pytest
from websockets.exceptions import InvalidStatus
from websockets.sync.client import ClientConnection, connect
from websockets.typing import Origin

from m3bench.server.commands.training_environment import serve_openenv, split_named, weights_of
from m3bench.server.lab.training.environment import EpisodeTurn
from m3bench.server.lab.training.openenv_forms import openapi, turn_data
from m3bench.server.lab.training.rewards import Reward
from m3bench.server.lab.training.train_set import oracle_answer, oracle_turns
from m3bench.server.settings import Settings
from m3bench.tasks.errors import UserError
from m3bench.tasks.library import Library
from tests.clients.frameworks.frameworks import NotInstalled, installed
from tests.house import ROOT
from tests.server.lab.training.playing import serving_openenv

TASK = "barcode_lookup-1"
PACKAGES = ("openenv==0.10.0",)


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    with serving_openenv() as url:
        yield url


def actions() -> list[dict[str, Any]]:
    """Every action of a perfect episode."""
    task = Library().task(TASK)
    turns = [[{"name": call.name, "arguments": call.arguments} for call in calls] for calls in oracle_turns(task)]
    return [*({"calls": calls} for calls in turns), oracle_answer(task)]


def ask(socket: ClientConnection, kind: str, **data: Any) -> dict[str, Any]:
    """What a message is answered with."""
    socket.send(json.dumps({"type": kind, "data": data}))
    found: dict[str, Any] = json.loads(socket.recv(120))
    return found


def post(url: str, **data: Any) -> dict[str, Any]:
    """What a request is answered with."""
    asked = Request(url, json.dumps(data).encode(), {"Content-Type": "application/json"})
    with urlopen(asked, timeout=60) as answer:
        found: dict[str, Any] = json.load(answer)
        return found


@pytest.mark.slow
def test_an_episode_over_the_websocket(server: str) -> None:
    with connect(f"{server.replace('http', 'ws')}/ws", max_size=None) as socket:
        assert ask(socket, "step", calls=[])["data"]["code"] == "EXECUTION_ERROR"
        began = ask(socket, "reset", task=TASK)["data"]
        assert [block["type"] for block in began["observation"]["content"]] == ["text", "image"]
        assert (began["reward"], began["done"]) == (None, False)
        for action in actions():
            turn = ask(socket, "step", **action)["data"]
        assert (turn["reward"], turn["done"]) == (1.0, True)
        assert turn["metadata"]["reward_parts"] == {"solved": 1.0}
        state = ask(socket, "state")["data"]
        assert (state["done"], state["reward"], state["reward_parts"]) == (True, 1.0, {"solved": 1.0})
        assert ask(socket, "step", answer="again")["data"]["code"] == "EXECUTION_ERROR"
        assert ask(socket, "step", calls=[{}])["type"] == "error"
        assert ask(socket, "reset", task="no_such_task")["data"]["code"] == "VALIDATION_ERROR"
        assert ask(socket, "dance")["data"]["code"] == "UNKNOWN_TYPE"
        socket.send("{")
        assert json.loads(socket.recv())["data"]["code"] == "INVALID_JSON"


@pytest.mark.slow
def test_the_agents_side_has_tools_and_no_reward(server: str) -> None:
    with connect(f"{server.replace('http', 'ws')}/ws", max_size=None) as socket:
        session = ask(socket, "reset", task=TASK)["data"]["metadata"]["agent_session_id"]
        where = f"{server}/mcp?session_id={session}"
        with pytest.raises(HTTPError, match="422"):
            post(f"{server}/step", session_id=session, action={"calls": []})
        with urlopen(f"{server}/state?session_id={session}", timeout=60) as answer:
            assert json.load(answer)["task"] is None
        listed = post(where, jsonrpc="2.0", id=1, method="tools/list")["result"]["tools"]
        assert listed[0]["name"] == "submit"
        said = [
            post(where, jsonrpc="2.0", id=2, method="tools/call", params=call)
            for action in actions()[:-1]
            for call in action["calls"]
        ]
        said.append(
            post(where, jsonrpc="2.0", id=3, method="tools/call", params={"name": "submit", "arguments": actions()[-1]})
        )
        assert "reward" not in json.dumps(said)
        assert ask(socket, "state")["data"]["done"] is True
    assert post(f"{server}/mcp", jsonrpc="2.0", id=4, method="tools/call", params={})["error"]["code"] == -32602


@pytest.mark.slow
def test_by_post_and_the_list_of_tasks(server: str) -> None:
    began = post(f"{server}/reset", index=5)
    session = began["metadata"]["session_id"]
    assert post(f"{server}/step", session_id=session, action={"calls": []})["done"] is False
    assert post(f"{server}/close", session_id=session) == {"closed": True}
    assert post(f"{server}/m3bench/num_tasks", split="test") == {"num_tasks": 224}
    assert post(f"{server}/m3bench/num_tasks", split="train") == {"num_tasks": 0}
    assert post(f"{server}/m3bench/task", split="test", index=5)["task"]["id"] == began["observation"]["task"]["task"]
    site = Origin("http://example.com")
    with pytest.raises(InvalidStatus), connect(f"{server.replace('http', 'ws')}/ws", origin=site):
        raise AssertionError


def test_a_void_turn_has_no_reward_and_says_why() -> None:
    turn = EpisodeTurn(results=(), reward=Reward(total=None, void="the sandbox failed"), done=True)
    found = turn_data(turn, 3)
    assert found["reward"] is None
    assert found["metadata"] == {"reward_parts": {}, "step": 3, "void": "the sandbox failed"}
    assert {"/reset", "/step", "/state"} <= openapi()["paths"].keys()


def test_options_are_checked() -> None:
    assert weights_of(["shaping=0.5"]) == {"shaping": 0.5}
    with pytest.raises(UserError, match="PART=WEIGHT"):
        weights_of(["shaping"])
    with pytest.raises(UserError, match="There is no split"):
        split_named("exam")
    with pytest.raises(UserError, match="leave --ranked"):
        serve_openenv(Settings(ranked=True), "127.0.0.1:0", "test", ())


@pytest.mark.frameworks
def test_openenvs_own_client_and_validator(server: str) -> None:
    try:
        python = os.environ.get("M3BENCH_OPENENV_PYTHON") or installed("openenv", PACKAGES)
    except NotInstalled as error:
        pytest.skip(str(error))
    validate = [str(Path(python).with_name("openenv")), "validate"]
    folder = ROOT / "trainers" / "openenv"
    for target in (["--url", server, "--timeout", "60"], [str(folder), "--level", "static", "--skip-build"]):
        said = subprocess.run([*validate, *target], capture_output=True, text=True, timeout=300, check=False)
        assert said.returncode == 0, said.stdout + said.stderr
        assert "FAIL" not in said.stdout
    asked = {"url": server, "task": TASK, "turns": actions()}
    player = Path(__file__).with_name("openenv_player.py")
    done = subprocess.run(
        [str(python), str(player)], input=json.dumps(asked), capture_output=True, text=True, timeout=300, check=False
    )
    assert done.returncode == 0, done.stderr[-2000:]
    found = json.loads(done.stdout.splitlines()[-1])
    assert found["failed"] == []
    assert found["passed"]
    assert [played["reward"] for played in found["played"]] == [1.0] * 8
    assert all(played["done"] and played["pictures"] == ["89504e47"] for played in found["played"])
