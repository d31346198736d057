"""Plays the reference through the m3bench server: solve.py REFERENCE URL. Needs nothing but Python."""

import itertools
import json
import sys
from concurrent.futures import ThreadPoolExecutor
from typing import Any
from urllib.request import Request, urlopen


class Session:
    """An MCP session over Streamable HTTP."""

    def __init__(self, url: str) -> None:
        self._url, self._numbers = url, itertools.count(1)
        self._headers = {"content-type": "application/json", "accept": "application/json, text/event-stream"}
        client = {"name": "m3bench-oracle", "version": "1"}
        revision = "2025-06-18"
        self._ask("initialize", {"protocolVersion": revision, "capabilities": {}, "clientInfo": client})
        self._headers["mcp-protocol-version"] = revision
        self._post({"method": "notifications/initialized"})

    def call(self, name: str, arguments: dict[str, Any]) -> dict[str, Any]:
        """The result of a tool."""
        return self._ask("tools/call", {"name": name, "arguments": arguments})

    def _ask(self, method: str, params: dict[str, Any]) -> dict[str, Any]:
        number = next(self._numbers)
        for message in self._post({"id": number, "method": method, "params": params}):
            if message.get("id") == number:
                if "error" in message:
                    raise SystemExit(f"{method}: {message['error']['message']}")
                result: dict[str, Any] = message["result"]
                return result
        raise SystemExit(f"{method}: no answer")

    def _post(self, message: dict[str, Any]) -> list[dict[str, Any]]:
        body = json.dumps({"jsonrpc": "2.0", **message}).encode()
        with urlopen(Request(self._url, body, self._headers), timeout=120) as response:
            if session := response.headers.get("mcp-session-id"):
                self._headers["mcp-session-id"] = session
            text = response.read().decode()
        if response.headers.get_content_type() == "text/event-stream":
            return [json.loads(line[5:]) for line in text.splitlines() if line.startswith("data:") and line[5:].strip()]
        return [json.loads(text)] if text.strip() else []


def main(path: str, url: str) -> int:
    """Play the reference of a file; 0 when an answer was taken."""
    with open(path, encoding="utf-8") as file:
        reference = json.load(file)
    session = Session(url)
    print(text_of(session.call("start_task", {})))
    for step in reference["steps"]:
        with ThreadPoolExecutor(len(step)) as together:
            results = together.map(lambda call: session.call(call["name"], call["arguments"]), step)
            for call, result in zip(step, results, strict=True):
                print(f"{call['name']}: {text_of(result)[:200]}")
    handed_in = {"answer": reference["answer"], "fields": reference["fields"]}
    result = session.call("submit", handed_in)
    if result.get("isError"):  # an answer without all of its fields is sent back once
        result = session.call("submit", handed_in)
    print(text_of(result))
    return int(bool(result.get("isError")))


def text_of(result: dict[str, Any]) -> str:
    """The text of a result."""
    return "\n".join(block.get("text", "") for block in result["content"])


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
