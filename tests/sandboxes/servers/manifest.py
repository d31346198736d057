"""The manifest of results: what every call of the rule came to, by hash.

    python -m tests.sandboxes.servers.manifest [SERVER ...]

writes `manifest.json` anew, all of it or the named servers' part; look at the change before it is committed.

The hash is that of what a result means, not of how it happens to be packed, so that it is the same on every
machine: JSON with sorted keys, pictures by their pixels, office files by their unpacked parts. It covers the
outcome, the result and the files that the call changed.
"""

import json
import re
import shutil
import sys
from base64 import b64decode
from collections.abc import Callable, Iterable, Mapping, Sequence
from hashlib import sha256
from io import BytesIO
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from zipfile import ZipFile, is_zipfile

import anyio
from PIL import Image, UnidentifiedImageError

from m3bench.sandboxes.backends.base import Sandbox, SandboxSpec
from m3bench.sandboxes.backends.inprocess import InProcessBackend
from m3bench.sandboxes.wire import dump
from m3bench.tasks.catalog import Tool, load_catalog
from m3bench.tasks.examples import load_examples
from tests.sandboxes.servers.rule import calls

FILE = Path(__file__).with_name("manifest.json")

Entry = dict[str, Any]
"""Tool, arguments, outcome and hash of a call."""

Before = Sequence[tuple[str, Mapping[str, Any]]]
"""Calls by tool and arguments."""

_DATA_URL = re.compile(r"data:image/\w+;base64,([A-Za-z0-9+/=]+)")


def read() -> list[Entry]:
    """The manifest as it is committed."""
    found: list[Entry] = json.loads(FILE.read_bytes())
    return found


def write(entries: Iterable[Entry]) -> None:
    """Commit to a manifest: one call per line, in the order of the catalog."""
    lines = ",\n".join(json.dumps(entry, ensure_ascii=False) for entry in entries)
    FILE.write_text(f"[\n{lines}\n]\n", encoding="utf-8")


def play(server: str, wanted: Iterable[tuple[str, Mapping[str, Any]]]) -> list[Entry]:
    """Make calls to a server, each in a workspace prepared as its examples ask."""
    with TemporaryDirectory(prefix="m3bench-") as folder:
        return anyio.run(_play, server, list(wanted), Path(folder))


async def _play(server: str, wanted: list[tuple[str, Mapping[str, Any]]], folder: Path) -> list[Entry]:
    bench = Bench(server, folder)
    await bench.prepare()
    entries = []
    for tool, arguments in wanted:
        found = await bench.call(load_catalog().tool(tool), arguments)
        text = json.dumps(found, ensure_ascii=False, sort_keys=True)
        digested = sha256(text.encode()).hexdigest()[:32]
        entries.append({"tool": tool, "arguments": arguments, "outcome": found["outcome"], "sha256": digested})
    return entries


class Bench:
    """A server whose tools are called, each call in a workspace prepared as the examples ask.

    Args:
        server: Its name.
        folder: An empty one.
    """

    def __init__(self, server: str, folder: Path) -> None:
        self.examples = load_examples(server)
        self._backend = InProcessBackend()
        self._prepared, self._scratch = folder / "prepared", folder / "scratch"

    async def prepare(self) -> None:
        """Make the workspace."""
        self._prepared.mkdir()
        self.examples.write_files(self._prepared)
        place = await self._open(self._prepared)
        for tool, arguments in self.examples.setup:
            await place.call(tool, dump(arguments))
        self._before = files_of(self._prepared)

    async def call(self, tool: Tool, arguments: Mapping[str, Any], before: Before = ()) -> dict[str, Any]:
        """Outcome, result and the files that were written, by hash.

        Args:
            tool: What is called.
            arguments: With what.
            before: Calls that are made in the same workspace first.
        """
        where = self._prepared if tool.read_only else self._scratch
        if not tool.read_only:
            shutil.copytree(self._prepared, self._scratch)
        place = await self._open(where)
        for other, given in before:
            await place.call(other, dump(given))
        reply = await place.call(tool.qualified, dump(arguments))
        written = changed_files(where, self._before)
        shutil.rmtree(self._scratch, ignore_errors=True)
        return {"outcome": reply.outcome, "result": meaning(json.loads(reply.result)), "files": written}

    async def _open(self, workspace: Path) -> Sandbox:
        return await self._backend.open(SandboxSpec(workspace=workspace, scenes=self.examples.scenes))


def changed_files(folder: Path, before: Mapping[str, bytes]) -> dict[str, str]:
    """The hashes of the files in a folder that are new or not as they were."""
    return {name: digest(data) for name, data in files_of(folder).items() if before.get(name) != data}


def files_of(folder: Path) -> dict[str, bytes]:
    """Every file below a folder."""
    return {
        path.relative_to(folder).as_posix(): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()
    }


def digest(data: bytes) -> str:
    """The hash of what a file holds, however it is compressed."""
    if is_zipfile(BytesIO(data)):
        with ZipFile(BytesIO(data)) as archive:
            parts = [f"{name} {digest(archive.read(name))}" for name in sorted(archive.namelist())]
        return sha256("\n".join(parts).encode()).hexdigest()
    try:
        with Image.open(BytesIO(data)) as picture:
            pixels = picture.convert("RGBA")
    except UnidentifiedImageError:
        return sha256(data).hexdigest()
    return sha256(f"{pixels.size}".encode() + pixels.tobytes()).hexdigest()


def meaning(value: Any) -> Any:
    """A result with its pictures by digest."""
    match value:
        case {"type": "image", "data": data}:
            return {**value, "data": digest(b64decode(data))}
        case dict():
            return {name: meaning(part) for name, part in value.items()}
        case list():
            return [meaning(part) for part in value]
        case str():
            return _DATA_URL.sub(lambda found: digest(b64decode(found[1])), value)
        case _:
            return value


def renew(servers: Iterable[str], say: Callable[[str], object]) -> None:
    """Play the rule's calls to the servers and put them in the place of what was there."""
    chosen = set(servers)
    kept = read() if FILE.exists() else []
    entries: list[Entry] = []
    for server in load_catalog().ready.servers:
        if server.name in chosen:
            entries += play(server.name, calls(server.name))
        else:
            entries += [entry for entry in kept if entry["tool"].startswith(f"{server.name}/")]
        say(f"{server.name}: {sum(entry['tool'].startswith(server.name + '/') for entry in entries)} calls")
    write(entries)
    say(f"{len(entries)} calls in {FILE.name}")


if __name__ == "__main__":
    renew(sys.argv[1:] or [server.name for server in load_catalog().ready.servers], print)
