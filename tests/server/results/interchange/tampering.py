"""Changes to a bundle, as somebody with an archive program and some patience would make them."""

import json
import zipfile
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path
from typing import Any

from m3bench.server.results.interchange.archive import Archive
from m3bench.server.results.interchange.bundle import NAMES
from m3bench.server.results.interchange.submission import Submission
from m3bench.server.store.records import OWN_TOOLS
from m3bench.server.store.seal import seal

Members = dict[str, bytes]


def unpacked(path: Path) -> Members:
    with zipfile.ZipFile(path) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def packed(members: Members, path: Path) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return path


def change_json(members: Members, name: str, change: Callable[[Any], None]) -> None:
    data = json.loads(members[name])
    change(data)
    members[name] = json.dumps(data).encode()


def change_lines(members: Members, name: str, change: Callable[[list[Any]], None]) -> None:
    lines = [json.loads(line) for line in members[name].splitlines()]
    change(lines)
    members[name] = b"".join(json.dumps(line).encode() + b"\n" for line in lines)


def run_of(members: Members, task: str) -> str:
    """The folder of a task's run."""
    return next(
        name.removesuffix("/run.json")
        for name in sorted(members)
        if name.endswith("/run.json") and json.loads(members[name])["task"] == task
    )


def put_value(members: Members, content: bytes) -> str:
    digest = sha256(content).hexdigest()
    members[f"values/{digest}"] = content
    return digest


def index_again(members: Members) -> None:
    """Make the hashes of the index fit."""
    hashes = {name: sha256(content).hexdigest() for name, content in members.items() if name != "bundle.json"}
    change_json(members, "bundle.json", lambda index: index.update(members=hashes))


def seal_again(members: Members, run: str, folder: Path) -> None:
    """Make the seal of a run fit."""
    with Archive(packed(members, folder / "sealing.m3run"), NAMES) as archive:
        found = Submission(archive).run(run.removeprefix("runs/"))
    files = {file.path: file.value for file in found.files}
    calls = [call for call in found.calls if call.tool not in OWN_TOOLS]
    made = seal(found.record, calls, files, found.record.answer or "", found.record.fields)
    change_json(members, f"{run}/run.json", lambda record: record.update(seal=made))
