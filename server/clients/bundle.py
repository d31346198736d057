"""A bundle for Claude Desktop: one .mcpb file with our code and data, a manifest, and two settings for the user.

There are two kinds: `python` uses the interpreter and libraries of this installation, and so works on this machine
only; `uv` names the libraries and lets uv fetch them, on any machine. The same installation gives the same bytes.
"""

import json
import os
import sys
import tomllib
from collections.abc import Iterator
from importlib.metadata import metadata, requires
from io import BytesIO
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import Any, Literal
from zipfile import ZIP_DEFLATED, ZipFile, ZipInfo

from PIL import Image, ImageDraw
from platformdirs import user_data_path

from m3bench.server.clients.client import NAME
from m3bench.server.runs.tools import DEFINITIONS
from m3bench.tasks.errors import InputFileError
from m3bench.tasks.library import BUNDLED

SIZE = 512

_FINER = 4
"""Drawn so much larger and then reduced, for smooth edges."""
_GROUND, _TRACK, _BAR, _FULL = "#14213d", "#2b3a5c", "#8ecae6", "#ffb703"
_SHARES = (0.45, 0.7, 1.0)


def icon() -> bytes:
    """A square PNG with round corners."""
    size = SIZE * _FINER
    picture = Image.new("RGBA", (size, size), (0, 0, 0, 0))
    draw = ImageDraw.Draw(picture)
    draw.rounded_rectangle((0, 0, size - 1, size - 1), radius=size // 5, fill=_GROUND)
    left, width, height = size * 18 // 100, size * 64 // 100, size * 12 // 100
    for row, share in enumerate(_SHARES):
        top = size * (22 + 22 * row) // 100
        for part, colour in ((1.0, _TRACK), (share, _FULL if share == 1 else _BAR)):
            right = left + int(width * part)
            draw.rounded_rectangle((left, top, right, top + height), radius=height // 2, fill=colour)
    out = BytesIO()
    picture.resize((SIZE, SIZE), Image.Resampling.LANCZOS).save(out, "PNG")
    return out.getvalue()


Shape = Literal["python", "uv"]

ENTRY = "server/main.py"
ICON = "icon.png"

_ROOT = Path(__file__).resolve().parents[2]
_FOLDERS = ("docker", "proxy", "sandboxes", "server", "tasks")
_TIME = (2025, 11, 1, 12, 0, 0)
"""The time of every member: that of the frozen world."""
_MODE = 0o100644 << 16
_UNIX = 3

_MAIN = '''\
"""Starts m3bench out of this bundle."""

import os
import sys
from importlib.util import find_spec
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

# A field that was left empty may arrive as nothing, or as its own placeholder.
if os.environ.get("M3BENCH_DATA", "").startswith("${") or not os.environ.get("M3BENCH_DATA"):
    os.environ.pop("M3BENCH_DATA", None)

# Asked for without importing them: the client is greeted before they are loaded.
for library in ("mcp", "pydantic", "typer"):
    if find_spec(library) is None:
        sys.exit(
            f"m3bench: {library} is missing from {sys.executable}. This bundle needs the libraries of the "
            "installation it was made by: make it again there with `m3bench client bundle`."
        )

if __name__ == "__main__":
    from m3bench.server.cli import main

    main()
'''


def write(path: Path, shape: Shape, profile: str) -> dict[str, Any]:
    """Write the bundle and return its manifest.

    Raises:
        InputFileError: It cannot be written.
    """
    manifest = manifest_of(shape, profile)
    try:
        with NamedTemporaryFile(dir=path.absolute().parent, prefix=f".{path.name}.", delete=False) as draft:
            try:
                _zip(draft.name, manifest, shape)
                draft.close()
                os.chmod(draft.name, 0o644)
                os.replace(draft.name, path)
            except BaseException:
                os.unlink(draft.name)
                raise
    except OSError as error:
        raise InputFileError(path, f"cannot be written ({error.strerror})") from error
    return manifest


def manifest_of(shape: Shape, profile: str) -> dict[str, Any]:
    """What the client reads first: how to start us, and what to ask the person for."""
    about = metadata(NAME)
    mine = shape == "python"
    data = str(user_data_path(NAME)) if mine else "${HOME}/m3bench"
    serve = ["serve", "--profile", "${user_config.profile}"]
    start = (
        {"command": str(Path(sys.executable).absolute()), "args": [f"${{__dirname}}/{ENTRY}", *serve]}
        if mine
        else {"command": "uv", "args": ["run", "--directory", "${__dirname}", ENTRY, *serve]}
    )
    # Child processes find us by the environment alone.
    env = {"PYTHONPATH": "${__dirname}/server", "M3BENCH_DATA": "${user_config.data}"}
    return {
        "manifest_version": "0.3" if mine else "0.4",
        "name": NAME,
        "display_name": NAME,
        "version": about["Version"],
        "description": about["Summary"],
        "icon": ICON,
        "author": {"name": f"The {NAME} authors"},
        "server": {"type": shape, "entry_point": ENTRY, "mcp_config": {**start, "env": env}},
        "tools": [{"name": tool["name"], "description": tool["description"]} for tool in DEFINITIONS],
        "tools_generated": True,
        "prompts_generated": True,
        "keywords": ["benchmark", "evaluation", "tools"],
        "license": about["License-Expression"] or "MIT",
        "compatibility": {
            "platforms": [sys.platform] if mine else ["darwin", "linux", "win32"],
            "runtimes": {"python": about["Requires-Python"]},
        },
        "user_config": {
            "profile": {
                "type": "string",
                "title": "Profile",
                "description": "Which tools are shown: full, wide (120), compact (75), mini (40), retrieve (2, which "
                "find and call the others), or family:NAME.",
                "default": profile,
                "required": True,
            },
            "data": {
                "type": "directory",
                "title": "Data folder",
                "description": "Where runs are recorded; `m3bench runs list --data FOLDER` shows them.",
                "default": data,
                "required": False,
            },
        },
    }


def _zip(path: str, manifest: dict[str, object], shape: Shape) -> None:
    members = dict(_members(manifest, shape))
    with ZipFile(path, "w", ZIP_DEFLATED, compresslevel=9) as archive:
        for name in sorted(members):
            content = members[name]
            entry = ZipInfo(name, _TIME)
            entry.compress_type, entry.external_attr, entry.create_system = ZIP_DEFLATED, _MODE, _UNIX
            archive.writestr(entry, content if isinstance(content, bytes) else content.read_bytes())


def _members(manifest: dict[str, object], shape: Shape) -> Iterator[tuple[str, bytes | Path]]:
    yield "manifest.json", (json.dumps(manifest, indent=2, ensure_ascii=False) + "\n").encode()
    yield ENTRY, _MAIN.encode()
    yield ICON, icon()
    version = manifest["version"]
    about = f"Metadata-Version: 2.1\nName: {NAME}\nVersion: {version}\n"
    yield f"server/{NAME}-{version}.dist-info/METADATA", about.encode()
    if shape == "uv":
        yield "pyproject.toml", _project(manifest).encode()
    for folder in _FOLDERS:
        for path in (_ROOT / folder).rglob("*"):
            hidden = "__pycache__" in path.parts or path.name.startswith(".")
            if path.is_file() and not hidden and not _is_of_another_set(path):
                yield f"server/{NAME}/{path.relative_to(_ROOT).as_posix()}", path


def _is_of_another_set(path: Path) -> bool:
    """Whether a file belongs to a set that a bundle does not play: nothing in its settings chooses one."""
    sets = _ROOT / "tasks" / "data" / "sets"
    return path.is_relative_to(sets) and not path.is_relative_to(sets / BUNDLED.name)


def _project(manifest: dict[str, object]) -> str:
    """What uv installs before it starts us."""
    lines = [
        "[project]",
        f'name = "{NAME}-bundle"',
        f'version = "{manifest["version"]}"',
        f'requires-python = "{metadata(NAME)["Requires-Python"]}"',
        "dependencies = [",
        *(f"    {json.dumps(line)}," for line in _libraries()),
        "]",
        "",
        "[tool.uv]",
        "package = false",
    ]
    return "\n".join(lines) + "\n"


def _libraries() -> list[str]:
    # In a checkout, what is installed may be older than what is written.
    project = _ROOT / "pyproject.toml"
    if project.is_file():
        written: list[str] = tomllib.loads(project.read_text("utf-8"))["project"]["dependencies"]
        return written
    return [line for line in requires(NAME) or () if "extra ==" not in line]
