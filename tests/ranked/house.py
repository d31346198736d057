"""A ranked event for tests: its files, its server, and participants that speak plain JSON-RPC over HTTP."""

import json
import re
import subprocess
import sys
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import httpx2

from m3bench.server.runs.event import make_event
from m3bench.tasks.secret import Secret, make_secret
from tests.server.conftest import serving

PROGRAM = [sys.executable, str(Path(__file__).with_name("small_set.py"))]
REAL = [sys.executable, "-m", "m3bench.server.cli"]

HEADERS = {"accept": "application/json, text/event-stream", "content-type": "application/json"}
OPERATOR = "that-of-the-operator"


@dataclass(kw_only=True)
class House:
    """Where an event is held: a data folder with a key, a secret, and the event's file."""

    folder: Path
    names: tuple[str, ...]
    program: list[str] = field(default_factory=lambda: PROGRAM)
    options: tuple[str, ...] = ()
    """Those that the set depends on."""
    sign_in: bool = False
    """Whether participants sign in, in place of bringing tokens."""

    def __post_init__(self) -> None:
        self.data, self.event, self.secret_file = (self.folder / name for name in ("data", "event.toml", "secret"))
        self.secret: Secret = make_secret(self.secret_file)
        now = datetime.now(UTC)
        hour = timedelta(hours=1)
        self.tokens = make_event(self.event, "round one", now - hour, now + 24 * hour, self.names, sign_in=self.sign_in)
        self.key = self.run("keys", "make", "--data", self.data).stdout.strip()

    def serving(self, *more: str) -> "Serving":
        """The event's server; gives its address."""
        given = ("--ranked", "--secret-file", self.secret_file, "--event", self.event, "--data", self.data)
        arguments = [*map(str, given), *self.options, *more]
        return Serving(arguments, command=[*self.program, "serve"])

    def close(self) -> None:
        """Have the event be over."""
        text = self.event.read_text()
        gone = (datetime.now(UTC) - timedelta(minutes=1)).isoformat()
        self.event.write_text(re.sub(r"closes = \S+", f"closes = {gone}", text))

    def open(self) -> subprocess.CompletedProcess[str]:
        """`ranked open`, with everything it can write."""
        return self.run(
            "ranked", "open", "--secret-file", self.secret_file, "--commitment", self.secret.commitment, "--event",
            self.event, "--data", self.data, "-o", self.folder / "opened", "--bundles", self.folder / "bundles",
            *self.options,
        )  # fmt: skip

    def run(self, *arguments: str | Path) -> subprocess.CompletedProcess[str]:
        """Run a command."""
        command = [*self.program, *map(str, arguments)]
        return subprocess.run(command, capture_output=True, text=True, check=False, timeout=600)


class Serving(serving):
    """A server whose last words are kept."""

    printed = ""

    def __exit__(self, *_: object) -> None:
        self.process.terminate()
        self.printed = self.process.communicate(timeout=120)[1]


class Player:
    """Somebody with a token, in a session of their own."""

    def __init__(self, url: str, token: str) -> None:
        self._url = url
        self._number = 0
        self.http = httpx2.AsyncClient(headers={**HEADERS, "authorization": f"Bearer {token}"}, timeout=300)

    async def __aenter__(self) -> "Player":
        info = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "scripted", "version": "1"}}
        self.told = await self.ask("initialize", info)
        await self.http.post(self._url, json={"jsonrpc": "2.0", "method": "notifications/initialized"})
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.http.aclose()

    async def ask(self, method: str, params: dict[str, Any]) -> Any:
        """The response to a request."""
        self._number += 1
        body = {"jsonrpc": "2.0", "id": self._number, "method": method, "params": params}
        response = await self.http.post(self._url, json=body)
        assert response.status_code == 200, (response.status_code, response.text)
        if session := response.headers.get("mcp-session-id"):
            self.http.headers["mcp-session-id"] = session
        if "event-stream" not in response.headers["content-type"]:
            return response.json()
        lines = [line[6:] for line in response.text.splitlines() if line.startswith("data: ")]
        return next(message for message in map(json.loads, filter(None, lines)) if message.get("id") == self._number)

    async def call(self, name: str, /, **arguments: Any) -> str:
        """The text of a tool's result."""
        answer = await self.ask("tools/call", {"name": name, "arguments": arguments})
        return "\n".join(block.get("text", "") for block in answer["result"]["content"])

    async def tasks(self) -> list[str]:
        """The tasks that are offered."""
        return re.findall(r"^- (\S+)", await self.call("list_tasks"), re.MULTILINE)

    async def start(self, task: str, **more: Any) -> str:
        """Start a task; its run's handle."""
        text = await self.call("start_task", task_id=task, **more)
        found = re.search(r"Run handle: (\w+)", text)
        assert found is not None, text
        return found[1]

    async def hand_in(self, answer: str, **more: Any) -> str:
        """Submit; an answer without its fields is sent back once."""
        text = await self.call("submit", answer=answer, **more)
        return text if text.startswith("Submitted") else await self.call("submit", answer=answer, **more)
