"""The image that sandboxes are made of: its name, its labels, and which of our files are in it.

An image belongs to one state of m3bench: results must be the same bytes on every backend, so the code and the world in
the image must be those outside. A hash over the files shows whether they are. What knows the answers (tasks,
references, the scorer) and what only works outside (backends, self-check) is not among them.
"""

import os
from collections.abc import Iterator
from functools import cache
from hashlib import sha256
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

NAME = "m3bench-sandbox"

VARIABLE = "M3BENCH_SANDBOX_IMAGE"
"""The environment variable that names the image where it is in a registry of one's own."""

VERSION_LABEL = "io.m3bench.version"
MANIFEST_LABEL = "io.m3bench.manifest"

USER, GROUP = 10001, 10001
"""The user and group the host runs as; nobody else on a machine is likely to have these numbers."""

MOUNT = "/workspace"
"""Where the run's workspace is in a container."""

PROGRAM = ("-P", "-s", "-X", "utf8", "-m", "m3bench.sandboxes.host")
"""What the image's entry point gives to its Python; the host's own arguments follow."""

_ROOT = Path(__file__).resolve().parents[3]

_OUTSIDE = ("backends", "images", "selfcheck", "pool.py", "link.py", "vision/fetching.py", "world/build")
"""Parts of `sandboxes` that have nothing to do inside, with the exceptions below."""

_INSIDE = (
    "sandboxes/backends/__init__.py", "sandboxes/backends/confinement.py", "sandboxes/backends/landlock.py",
    "sandboxes/backends/privileges.py", "sandboxes/backends/seccomp.py", "sandboxes/backends/visible.py",
    "sandboxes/backends/watch.py",
    "tasks/__init__.py", "tasks/atomic_files.py", "tasks/catalog.py", "tasks/coercion.py", "tasks/desk.py",
    "tasks/errors.py", "tasks/fault.py", "tasks/folding.py", "tasks/foreign_files.py", "tasks/formulas.py",
    "tasks/json_types.py", "tasks/jsonrpc.py", "tasks/lazy_modules.py", "tasks/lines.py", "tasks/outcome.py",
    "tasks/scene.py", "tasks/schema.py", "tasks/table_tools.py",
)  # fmt: skip


def installed_version() -> str:
    """The version of this m3bench."""
    try:
        return version("m3bench")
    except PackageNotFoundError:
        return "0"


def reference() -> str:
    """The image of this version, as the engine knows it, or the one that the environment names."""
    return os.environ.get(VARIABLE) or f"{NAME}:{installed_version()}"


def contents() -> Iterator[tuple[str, Path]]:
    """What of m3bench is in the image: the place below the folder `m3bench` there, and the file here; in order."""
    tree = _ROOT / "sandboxes"
    outside = [tree / part for part in _OUTSIDE]
    found = [
        path
        for path in tree.rglob("*")
        if path.is_file() and "__pycache__" not in path.parts and not any(path.is_relative_to(part) for part in outside)
    ]
    found += [_ROOT / name for name in _INSIDE]
    data = _ROOT / "tasks" / "data"
    found += [path for part in ("catalog", "further", "tables") for path in (data / part).glob("*.json")]
    found.append(data / "office_fonts.json")
    found += [path for part in ("drawing", "office", "studio") for path in (_ROOT / "tasks" / part).glob("*.py")]
    yield from sorted((path.relative_to(_ROOT).as_posix(), path) for path in found)


@cache
def manifest() -> str:
    """The hash of what belongs into the image."""
    total = sha256()
    for place, path in contents():
        total.update(f"{place}\0{sha256(path.read_bytes()).hexdigest()}\n".encode())
    return total.hexdigest()


def labels() -> dict[str, str]:
    """What the image of this m3bench is marked with."""
    return {VERSION_LABEL: installed_version(), MANIFEST_LABEL: manifest()}
