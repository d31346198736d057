"""Episodes for a trainer in an environment of its own: over OpenEnv's protocol, with nothing but Python.

    m3bench serve --openenv 127.0.0.1:8000 --tasks mine --split train

    episode = Episode("http://127.0.0.1:8000", "barcode_lookup-1")
    turn = episode.say('<tool_call>{"name": "math__sum", "arguments": {"numbers": [1, 2]}}</tool_call>')
    episode.close()

What a model writes is read as most chat templates write it: each call as JSON between `<tool_call>` tags. A text
without a call is handed in as the answer.
"""

import json
import re
from dataclasses import dataclass
from typing import Any
from urllib.request import Request, urlopen

SECONDS = 600.0
CALL = re.compile(r"<tool_call>\s*(.*?)\s*(?:</tool_call>|$)", re.DOTALL)


@dataclass(frozen=True, kw_only=True)
class Turn:
    """What a turn came to."""

    texts: tuple[str, ...]
    """The answer to each call."""
    reward: float | None
    """None when the episode is void: it is to be left out of the batch."""
    parts: dict[str, float]
    done: bool
    void: str = ""


class Episode:
    """One attempt at a task.

    Args:
        url: The server.
        task: The id of its task.
        attempt: Those of the same number are told the same bytes, as the members of a group have to be.
        tools: The profile of tools, where it is not the server's.
    """

    def __init__(self, url: str, task: str, *, attempt: int = 0, tools: str | None = None) -> None:
        self._url = url
        asked = {"task": task, "attempt": attempt, "list_tools": True} | ({"tools": tools} if tools else {})
        began = asked_of(url, "reset", asked)
        self._session = began["metadata"]["session_id"]
        self.content: list[dict[str, Any]] = began["observation"]["content"]
        """Text and pictures, as MCP has them."""
        self.text: str = began["observation"]["text"]
        self.facts: dict[str, Any] = began["observation"]["task"]
        self.tools: list[dict[str, Any]] = began["observation"]["tools"]

    def say(self, text: str) -> Turn:
        """Take what a model said as its turn."""
        calls = calls_in(text)
        return self.act({"calls": calls} if calls else {"answer": text})

    def act(self, action: dict[str, Any]) -> Turn:
        """Carry out an action: `calls`, or an `answer` with `fields`."""
        found = asked_of(self._url, "step", {"session_id": self._session, "action": action})
        about = found["metadata"]
        return Turn(
            texts=tuple(_text(result) for result in found["observation"]["results"]),
            reward=found["reward"],
            parts=about["reward_parts"],
            done=found["done"],
            void=about.get("void", ""),
        )

    def close(self) -> None:
        """Let go of it."""
        asked_of(self._url, "close", {"session_id": self._session})


def calls_in(text: str) -> list[dict[str, Any]]:
    """The calls in what a model said; what cannot be read is a call that no tool takes."""
    found: list[dict[str, Any]] = []
    for written in CALL.findall(text):
        try:
            call = json.loads(written)
        except ValueError:
            call = None
        if isinstance(call, dict) and isinstance(call.get("name"), str):
            found.append({"name": call["name"], "arguments": call.get("arguments", {})})
        else:
            found.append({"name": written[:64], "arguments": {}})
    return found


def asked_of(url: str, path: str, data: dict[str, Any]) -> dict[str, Any]:
    """What a server answers."""
    asked = Request(f"{url}/{path}", json.dumps(data).encode(), {"Content-Type": "application/json"})
    with urlopen(asked, timeout=SECONDS) as answer:
        found: dict[str, Any] = json.load(answer)
        return found


def _text(answer: dict[str, Any]) -> str:
    if "error" in answer:
        return str(answer["error"].get("message", ""))
    return "\n".join(block["text"] for block in answer["result"]["content"] if block["type"] == "text")
