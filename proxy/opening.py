"""The first words of a client over stdio, answered from what was prepared.

A client that connects asks for the same few things, and their answers are known before the program is loaded. They
are given here, byte for byte as the SDK gives them, and only to requests that are in doubt in nothing. The first
message that needs more ends the opening: the SDK is then told what was said, and goes on from there. Nothing but the
standard library is imported.
"""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, TypeGuard

VERSION, CAPABILITIES, CLIENT = (
    f"io.modelcontextprotocol/{name}" for name in ("protocolVersion", "clientCapabilities", "clientInfo")
)
"""Keys of `_meta` in the newest revision; a test holds them against the SDK's."""

MODERN = "2026-07-28"
HANDSHAKE = ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25")

LISTS = ("tools/list", "prompts/list", "resources/list", "resources/templates/list")

MAX_LINE = 1 << 20
"""Longer lines are left to whoever comes after."""

_PLAIN_ID = re.compile(r"[ !#-\[\]-~]{0,128}")
"""Which texts every writer of JSON puts in the same bytes."""

Results = Mapping[str, bytes]
"""Raw results: `initialize REVISION` and `METHOD REVISION`; a list of the older revisions stands under the last one."""


@dataclass
class Opening:
    """What was said before the program was loaded."""

    lines: list[bytes] = field(default_factory=list)
    """What the SDK has to be told, because its state depends on it."""
    said: dict[str | int, bytes] = field(default_factory=dict)
    """The answers that the client has to those lines, by id."""
    rest: bytes = b""
    """What arrived and is not answered."""


class Greeter:
    """Answers the first words of one client.

    Args:
        results: What was prepared.
    """

    def __init__(self, results: Results) -> None:
        self.opening = Opening()
        self.listed = False
        """Whether the client has its tools."""
        self._results = results
        self._revision = ""
        self._buffer = b""

    def feed(self, chunk: bytes) -> tuple[list[bytes], bool]:
        """The answers to what arrived, and whether the opening goes on; if not, `opening` is complete."""
        self._buffer += chunk
        answers: list[bytes] = []
        while (end := self._buffer.find(b"\n")) >= 0:
            line = self._buffer[:end]
            answer = self._answer(line) if line.strip() else b""
            if answer is None:
                self.opening.rest = self._buffer
                return answers, False
            self._buffer = self._buffer[end + 1 :]
            if answer:
                answers.append(answer + b"\n")
        self.opening.rest = self._buffer
        return answers, len(self._buffer) <= MAX_LINE

    def _answer(self, line: bytes) -> bytes | None:
        """The answer to a line, empty when it wants none; None when the line is for somebody else."""
        try:
            message = json.loads(line.decode())
        except (ValueError, RecursionError):
            return None
        if (
            not isinstance(message, dict)
            or message.get("jsonrpc") != "2.0"
            or not isinstance(message.get("method"), str)
        ):
            return None
        method, params, id = message["method"], message.get("params", {}), message.get("id")
        if not isinstance(params, dict) or not message.keys() <= {"jsonrpc", "method", "params", "id"}:
            return None
        if "id" not in message:
            return self._note(method, line)
        if not _is_plain_id(id):
            return None
        if method == "initialize":
            return self._initialize(id, params, line)
        meta = params.get("_meta", {})
        if not isinstance(meta, dict) or not params.keys() <= {"_meta"}:
            return None
        if VERSION in meta:
            return self._modern(id, method, meta, line)
        if self._revision not in HANDSHAKE or (method != "ping" and method not in LISTS):
            return None
        self.listed = self.listed or method == "tools/list"
        return _response(id, b"{}" if method == "ping" else self._results[f"{method} {HANDSHAKE[-1]}"])

    def _note(self, method: str, line: bytes) -> bytes | None:
        if method != "notifications/initialized" or self._revision not in HANDSHAKE:
            return None
        self.opening.lines.append(line)
        return b""

    def _initialize(self, id: str | int, params: Mapping[str, Any], line: bytes) -> bytes | None:
        revision = params.get("protocolVersion")
        if self._revision in HANDSHAKE or revision not in HANDSHAKE:
            return None
        known = {"protocolVersion", "capabilities", "clientInfo"}
        if (
            params.keys() != known
            or not _are_capabilities(params["capabilities"])
            or not _is_info(params["clientInfo"])
        ):
            return None
        # A client may have looked for the newest revision before: that leaves nothing behind.
        self._revision, answer = revision, _response(id, self._results[f"initialize {revision}"])
        self.opening.lines, self.opening.said = [line], {id: answer}
        return answer

    def _modern(self, id: str | int, method: str, meta: Mapping[str, Any], line: bytes) -> bytes | None:
        if self._revision not in ("", MODERN) or meta[VERSION] != MODERN or method not in ("server/discover", *LISTS):
            return None
        if not _are_capabilities(meta.get(CAPABILITIES)) or (CLIENT in meta and not _is_info(meta[CLIENT])):
            return None
        answer = _response(id, self._results[f"{method} {MODERN}"])
        if not self._revision:
            self._revision, self.opening.lines, self.opening.said = MODERN, [line], {id: answer}
        self.listed = self.listed or method == "tools/list"
        return answer


def _is_plain_id(id: object) -> TypeGuard[str | int]:
    if isinstance(id, str):
        return _PLAIN_ID.fullmatch(id) is not None
    return isinstance(id, int) and not isinstance(id, bool) and 0 <= id < 1 << 53


def _are_capabilities(given: object) -> bool:
    return isinstance(given, dict) and all(isinstance(value, dict) for value in given.values())


def _is_info(given: object) -> bool:
    """Whether a client's name and version are as every revision wants them; further fields are texts."""
    if not isinstance(given, dict) or not {"name", "version"} <= given.keys():
        return False
    return all(isinstance(value, str) for name, value in given.items() if name != "icons")


def _response(id: str | int, result: bytes) -> bytes:
    return b'{"jsonrpc":"2.0","id":%b,"result":%b}' % (json.dumps(id).encode(), result)
