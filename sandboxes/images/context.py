"""What is sent to the engine to build an image: a recipe, our files and wheels, as one archive.

The same files give the same bytes: names in order, one time, one owner. Nothing lies around in a context that
does not belong into the image, so there is nothing to ignore.
"""

import tarfile
from collections.abc import Iterable
from hashlib import sha256
from importlib.metadata import metadata
from io import BytesIO
from pathlib import Path
from typing import IO

from m3bench.sandboxes.backends.docker import image

EPOCH = 1761998400
"""The time of every file in an image: that of the frozen world, 2025-11-01T12:00:00Z."""

_ROOT = Path(__file__).resolve().parents[2]
RECIPES = _ROOT / "docker"
_FOLDERS = ("proxy", "sandboxes", "server", "tasks")


def write(file: IO[bytes], recipe: str, members: Iterable[tuple[str, Path | bytes]]) -> None:
    """Write the archive of a recipe and what it copies."""
    with tarfile.open(fileobj=file, mode="w", format=tarfile.GNU_FORMAT) as archive:
        for name, content in sorted([("Dockerfile", RECIPES / recipe), *members], key=lambda member: member[0]):
            _add(archive, name, content)


def sandbox(wheels: Path) -> list[tuple[str, Path | bytes]]:
    """The members of the sandbox's context."""
    code: list[tuple[str, Path | bytes]] = [(f"m3bench/{place}", path) for place, path in image.contents()]
    return [*code, *_scripts("bare.py", "sbom.py"), *_wheels(wheels)]


def service(wheels: Path) -> list[tuple[str, Path | bytes]]:
    """The members of the service's context: what the sandbox image has not got."""
    inside = {path for _, path in image.contents()}
    code: list[tuple[str, Path | bytes]] = [
        (f"m3bench/{place}", path) for place, path in _everything() if path not in inside
    ]
    about = metadata("m3bench")
    text = f"Metadata-Version: 2.1\nName: m3bench\nVersion: {about['Version']}\n"
    place = f"metadata/m3bench-{about['Version']}.dist-info/METADATA"
    return [*code, (place, text.encode()), *_scripts("sbom.py"), *_wheels(wheels)]


def worker(wheels: Path) -> list[tuple[str, Path | bytes]]:
    """The members of the workers' context: only libraries."""
    return [*_scripts("sbom.py"), *_wheels(wheels)]


def service_manifest() -> str:
    """The hash of all of m3bench."""
    total = sha256()
    for place, path in _everything():
        total.update(f"{place}\0{sha256(path.read_bytes()).hexdigest()}\n".encode())
    return total.hexdigest()


def _everything() -> list[tuple[str, Path]]:
    found = [path for folder in _FOLDERS for path in (_ROOT / folder).rglob("*") if path.is_file()]
    kept = [path for path in found if "__pycache__" not in path.parts]
    return sorted((path.relative_to(_ROOT).as_posix(), path) for path in kept)


def _scripts(*names: str) -> list[tuple[str, Path | bytes]]:
    return [(name, RECIPES / name) for name in names]


def _wheels(folder: Path) -> list[tuple[str, Path | bytes]]:
    return [(f"wheels/{path.name}", path) for path in folder.glob("*.whl")]


def _add(archive: tarfile.TarFile, name: str, content: Path | bytes) -> None:
    data = content if isinstance(content, bytes) else content.read_bytes()
    entry = tarfile.TarInfo(name)
    entry.size, entry.mtime, entry.mode = len(data), EPOCH, 0o644
    archive.addfile(entry, BytesIO(data))
