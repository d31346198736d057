"""One valid call for every tool, with whatever has to be there first.

The documentation shows these examples, a server check plays them, and the tests start from them. A
server's file holds the files its tools expect in a fresh workspace, the calls that prepare it, what the
detector knows of the pictures, and then a call per tool, each made after the preparation alone.
"""

import json
from base64 import b64decode
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from m3bench.tasks.json_types import Record
from m3bench.tasks.scene import Scene

_FOLDER = Path(__file__).parent / "data" / "examples"


@dataclass(frozen=True, kw_only=True)
class Examples:
    """The examples of one server."""

    server: str
    files: Mapping[str, bytes]
    """Path in the workspace to content."""
    scenes: tuple[Scene, ...]
    setup: tuple[tuple[str, Record], ...]
    """Canonical tool names and arguments, to be called in order."""
    calls: Mapping[str, Record]
    """Bare tool name to arguments."""

    def write_files(self, workspace: Path) -> None:
        """Put the files into a workspace."""
        for name, content in self.files.items():
            target = workspace / name
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(content)


def load_examples(server: str) -> Examples:
    """The examples of a server that is ready."""
    data = json.loads((_FOLDER / f"{server}.json").read_bytes())
    return Examples(
        server=server,
        files={name: b64decode(content) for name, content in data.get("files", {}).items()},
        scenes=tuple(Scene.from_json(scene) for scene in data.get("scenes", ())),
        setup=tuple((tool, arguments) for tool, arguments in data.get("setup", ())),
        calls=data["calls"],
    )
