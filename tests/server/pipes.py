"""A client that writes and reads raw lines: for what no well-behaved client does."""

import json
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any

from tests.server.conftest import SERVE


class Pipe:
    """A server process over stdio."""

    def __init__(
        self,
        arguments: list[str],
        env: dict[str, str] | None = None,
        *,
        command: list[str] = SERVE,
        cwd: Path | None = None,
    ) -> None:
        pipe = subprocess.PIPE
        self.process = subprocess.Popen(
            [*command, *arguments], stdin=pipe, stdout=pipe, stderr=subprocess.DEVNULL, env=env, cwd=cwd
        )
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.stdin: IO[bytes] = self.process.stdin
        self._stdout: IO[bytes] = self.process.stdout

    def send(self, id: int | None, method: str, params: dict[str, Any]) -> None:
        """Write a message."""
        message = {"jsonrpc": "2.0", "method": method, "params": params} | ({"id": id} if id is not None else {})
        self.stdin.write(json.dumps(message).encode() + b"\n")
        self.stdin.flush()

    def call(self, id: int, name: str, arguments: dict[str, Any]) -> None:
        """Call a tool without waiting."""
        self.send(id, "tools/call", {"name": name, "arguments": arguments})

    def ask(self, id: int, name: str, arguments: dict[str, Any]) -> dict[str, Any]:
        """Call a tool and wait for its answer."""
        self.call(id, name, arguments)
        message = self.read()
        assert message["id"] == id
        return message

    def read(self) -> dict[str, Any]:
        """The next message."""
        line = self._stdout.readline()
        assert line, "the server closed its output"
        message: dict[str, Any] = json.loads(line)
        return message

    def rest(self) -> Iterator[dict[str, Any]]:
        """Whole lines that were still in the pipe."""
        for line in self._stdout:
            if line.endswith(b"\n"):
                yield json.loads(line)

    def open(self, revision: str = "2025-11-25") -> dict[str, Any]:
        """Shake hands; returns the server's answer."""
        info = {"name": "pipe", "version": "1"}
        self.send(0, "initialize", {"protocolVersion": revision, "capabilities": {}, "clientInfo": info})
        answer = self.read()
        self.send(None, "notifications/initialized", {})
        return answer

    def close(self) -> None:
        """Close both ends and wait for the server to finish."""
        self.stdin.close()
        self._stdout.close()
        self.process.wait(timeout=120)


def text(message: dict[str, Any]) -> str:
    """The text of a call's answer."""
    blocks = message["result"]["content"]
    return "\n".join(block["text"] for block in blocks if block["type"] == "text")
