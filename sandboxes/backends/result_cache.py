"""Remembers what tools answered that read and never write: the same call on the same files gives the same bytes.

A key has everything that an answer can depend on: the tool, its arguments, the content of every file that an argument
names, and what is known of the pictures. Tools that write, and servers that keep something between calls, are never
remembered. What was seen in pictures, which takes longest, can be kept in a file for later processes.
"""

import json
import os
from collections import OrderedDict
from collections.abc import Iterator
from hashlib import sha256
from importlib.metadata import version
from pathlib import Path
from typing import cast

from m3bench.sandboxes.backends.base import SandboxSpec
from m3bench.sandboxes.wire import decode, dump
from m3bench.sandboxes.workspace import Workspace
from m3bench.tasks.catalog import load_catalog
from m3bench.tasks.errors import LimitError, PathError
from m3bench.tasks.outcome import Reply, ToolOutcome

MAX_BYTES = 256 * 1024 * 1024
"""Of all answers together; the ones that were not asked for longest go first."""

STATEFUL = frozenset({"desk", "excel", "ppt", "probe", "recordings", "studio"})
"""Servers whose answers depend on earlier calls, or on files that no argument names."""


SEEN = "answers.jsonl"
"""The file beside a set with what tools saw in its pictures when it was made."""

PERCEPTION = frozenset({"dinox-mcp", "imagesorcery-mcp", "ocr", "pyzbar-mcp"})
"""Servers that look at pictures: what they see depends on the picture, and not on the world."""

MOST_KEPT = 64 * 1024
"""Bytes of an answer in the file."""


def known_of(spec: SandboxSpec) -> bytes:
    """A digest of what a sandbox knows of its pictures."""
    digest = sha256(dump([scene.to_json() for scene in spec.scenes]))
    for page, picture in sorted(spec.links.items()):
        digest.update(page.encode() + b"\0" + sha256(picture).digest())
    return digest.digest()


def is_pure(tool: str) -> bool:
    """Whether the answer of a tool follows from its arguments and the files that they name."""
    found = load_catalog().by_tool.get(tool)
    return found is not None and found.read_only and found.server not in STATEFUL


def is_perception(tool: str) -> bool:
    """Whether a tool, by its canonical name, looks at pictures."""
    return tool.partition("/")[0] in PERCEPTION


def key_of(tool: str, arguments: bytes, workspace: Path, known: bytes) -> bytes | None:
    """What the answer to a call depends on; None where that cannot be said.

    Args:
        tool: The tool's canonical name.
        arguments: A JSON object, raw.
        workspace: The folder that the tool works in.
        known: What is known of the pictures there.
    """
    if not is_pure(tool):
        return None
    try:
        values = decode(arguments)
    except ValueError:
        return None
    digest = sha256(dump([tool, values]) + known)
    place = Workspace(workspace)
    for text in _texts(values):
        try:
            file = place.resolve(text)
            if file.is_dir():
                return None
            if file.exists():
                digest.update(text.encode(errors="replace") + sha256(place.existing(text).read_bytes()).digest())
        except (PathError, LimitError, OSError, ValueError):
            continue
    return digest.digest()


def _texts(value: object) -> Iterator[str]:
    match value:
        case str():
            if value and value not in (".", "/"):
                yield value
        case dict():
            for item in value.values():
                yield from _texts(item)
        case list():
            for item in value:
                yield from _texts(item)


class ResultCache:
    """Answers by key.

    Args:
        most: Bytes of all answers together.
        kept: A file in which what was seen in pictures is kept; what is there already is known.
        known: Another such file, which is only read.
    """

    def __init__(self, most: int = MAX_BYTES, kept: Path | None = None, *, known: Path | None = None) -> None:
        self._most = most
        self._used = 0
        self._found: OrderedDict[bytes, Reply] = OrderedDict()
        self._file: Path | None = None
        self.hits = 0
        self.misses = 0
        for file in (known, kept):
            for key, reply in _kept(file) if file is not None else ():
                self.put(key, reply)
        self._file = kept

    def get(self, key: bytes) -> Reply | None:
        """The answer that is known."""
        reply = self._found.get(key)
        if reply is None:
            self.misses += 1
            return None
        self.hits += 1
        self._found.move_to_end(key)
        return reply

    def put(self, key: bytes, reply: Reply, tool: str = "") -> None:
        """Remember an answer, and keep it if it is one about a picture."""
        if key in self._found or len(reply.result) > self._most // 8:
            return
        self._found[key] = reply
        self._used += len(reply.result)
        while self._used > self._most:
            _, gone = self._found.popitem(last=False)
            self._used -= len(gone.result)
        if self._file is not None and is_perception(tool) and len(reply.result) <= MOST_KEPT:
            _keep(self._file, key, reply)


def _keep(file: Path, key: bytes, reply: Reply) -> None:
    """Add a line in one piece: several processes write the same file."""
    line = {"m3bench": version("m3bench"), "key": key.hex(), "outcome": reply.outcome, "result": reply.result.decode()}
    descriptor = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)
    try:
        os.write(descriptor, f"{json.dumps(line)}\n".encode())
    finally:
        os.close(descriptor)


def _kept(file: Path) -> Iterator[tuple[bytes, Reply]]:
    """What this version of m3bench kept; a line that is not whole is passed over."""
    try:
        lines = file.read_bytes().splitlines()
    except FileNotFoundError:
        return
    for line in lines:
        try:
            found = json.loads(line)
        except ValueError:
            continue
        if found["m3bench"] == version("m3bench"):
            outcome = cast("ToolOutcome", found["outcome"])
            yield bytes.fromhex(found["key"]), Reply(outcome=outcome, result=found["result"].encode())
