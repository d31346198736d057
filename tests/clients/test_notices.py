"""What an upstream server says beside its results reaches the client that asked for it, and nobody else."""

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.server.pipes import Pipe

MODERN = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientCapabilities": {},
}


pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def arguments(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """The options of a server that fronts the one with everything."""
    folder = tmp_path_factory.mktemp("everything")
    entry = {"command": sys.executable, "args": [str(Path(__file__).with_name("everything.py"))]}
    (folder / "servers.json").write_text(json.dumps({"everything": entry}))
    return ["--servers", str(folder / "servers.json"), "--data", str(folder / "data")]


@pytest.fixture(scope="module")
def handshake(arguments: list[str]) -> Iterator[Pipe]:
    """A client of the handshake revisions."""
    pipe = Pipe(arguments)
    pipe.open()
    yield pipe
    pipe.close()


@pytest.fixture(scope="module")
def modern(arguments: list[str]) -> Iterator[Pipe]:
    """A client of the newest revision."""
    pipe = Pipe(arguments)
    pipe.send(0, "server/discover", {"_meta": MODERN})
    pipe.read()
    yield pipe
    pipe.close()


def heard(pipe: Pipe, tool: str, meta: dict[str, Any]) -> list[dict[str, Any]]:
    """All messages that a call brings, the answer last."""
    pipe.send(1, "tools/call", {"name": f"everything__{tool}", "arguments": {}, "_meta": meta})
    messages = [pipe.read()]
    while "id" not in messages[-1]:
        messages.append(pipe.read())
    return messages


LOGGED = ["Tool execution started", "Tool processing data", "Tool execution completed"]


def test_log_messages_reach_clients_of_the_handshake_revisions(handshake: Pipe) -> None:
    *messages, answer = heard(handshake, "test_logging_tool", {})
    assert [message["params"]["data"] for message in messages] == LOGGED
    assert answer["result"]["content"][0]["text"] == "Logged three messages."


@pytest.mark.sample(2)
@pytest.mark.parametrize(("level", "count"), [(None, 0), ("error", 0), ("info", 3), ("debug", 3)])
def test_log_messages_reach_calls_of_the_newest_revision_that_ask_for_them(
    modern: Pipe, level: str | None, count: int
) -> None:
    meta = MODERN | ({"io.modelcontextprotocol/logLevel": level} if level is not None else {})
    *messages, answer = heard(modern, "test_logging_tool", meta)
    assert [message["params"]["data"] for message in messages] == LOGGED[:count]
    assert answer["result"]["resultType"] == "complete"


@pytest.mark.parametrize("token", [7, "a token"])
def test_progress_carries_the_token_of_the_client(handshake: Pipe, token: int | str) -> None:
    *messages, _ = heard(handshake, "test_tool_with_progress", {"progressToken": token})
    assert [(message["params"]["progressToken"], message["params"]["progress"]) for message in messages] == [
        (token, 0),
        (token, 50),
        (token, 100),
    ]


def test_an_error_comes_with_its_data(handshake: Pipe) -> None:
    (answer,) = heard(handshake, "test_missing_capability", {})
    assert answer["error"] == {
        "code": -32021,
        "message": "This tool needs a client that samples.",
        "data": {"requiredCapabilities": {"sampling": {}}},
    }


def test_completion_is_passed_on(handshake: Pipe) -> None:
    prompt = {"type": "ref/prompt", "name": "test_prompt_with_arguments"}
    handshake.send(2, "completion/complete", {"ref": prompt, "argument": {"name": "arg1", "value": "par"}})
    assert handshake.read()["result"]["completion"]["values"] == ["paris", "park", "party"]
