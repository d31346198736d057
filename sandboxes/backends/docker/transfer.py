"""Workspaces as archives: how files get to an engine that does not see our file system, and back.

Only plain files and folders travel. What comes back was written by tools, so nothing in it is trusted: names
that lead out are dropped, links and devices too, and there is an end to how much it may be.
"""

import os
import shutil
import tarfile
from collections.abc import Iterable
from pathlib import Path, PurePosixPath
from tempfile import TemporaryFile, mkdtemp
from typing import IO

from m3bench.sandboxes.backends.docker import image
from m3bench.tasks.errors import SandboxError

MAX_BYTES = 1024**3
"""Four times what tools may write into a workspace."""


def pack(workspace: Path, names: Iterable[str] | None = None) -> IO[bytes]:
    """An archive of a workspace, or of some of its files with the folders that lead there."""
    chosen = _everything(workspace) if names is None else _with_parents(names)
    archive = TemporaryFile()  # noqa: SIM115 - closed by whoever asked for it
    with tarfile.open(fileobj=archive, mode="w") as tar:
        for name in chosen:
            path = workspace / name
            if path.is_symlink() or not (path.is_dir() or path.is_file()):
                continue
            entry = tarfile.TarInfo(name)
            entry.uid, entry.gid = image.USER, image.GROUP
            if path.is_dir():
                entry.type, entry.mode = tarfile.DIRTYPE, 0o700
                tar.addfile(entry)
            else:
                entry.mode, entry.size = 0o600, path.stat().st_size
                with path.open("rb") as file:
                    tar.addfile(entry, file)
    archive.seek(0)
    return archive


def unpack(chunks: Iterable[bytes], workspace: Path, keep: str | None = None) -> None:
    """Make a workspace what an archive says it is.

    Args:
        chunks: The archive.
        workspace: The folder.
        keep: A folder in there whose files stay where the archive has none of their name.

    Raises:
        SandboxError: The archive cannot be read or is beyond measure; the workspace is as it was.
    """
    draft = Path(mkdtemp(prefix=f"{workspace.name}-", dir=workspace.parent))
    try:
        with TemporaryFile() as archive:
            _gather(chunks, archive)
            with tarfile.open(fileobj=archive) as tar:
                for entry in tar:
                    _extract(tar, entry, draft)
        if keep is not None:
            _save(workspace / keep, draft / keep)
        for path in workspace.iterdir():
            shutil.rmtree(path) if path.is_dir() and not path.is_symlink() else path.unlink()
        for path in draft.iterdir():
            path.rename(workspace / path.name)
    except (tarfile.TarError, OSError) as error:
        raise SandboxError(f"The files of the sandbox cannot be taken back: {error}.") from error
    finally:
        shutil.rmtree(draft, ignore_errors=True)


def _save(folder: Path, draft: Path) -> None:
    """Move files to a draft that has none of their name."""
    for path in sorted(folder.glob("*")):
        if path.is_file() and not path.is_symlink() and not (draft / path.name).exists():
            draft.mkdir(parents=True, exist_ok=True)
            path.rename(draft / path.name)


def _gather(chunks: Iterable[bytes], archive: IO[bytes]) -> None:
    for chunk in chunks:
        archive.write(chunk)
        if archive.tell() > MAX_BYTES:
            raise SandboxError(f"The files of the sandbox are more than {MAX_BYTES} bytes: they are not taken back.")
    archive.seek(0)


def _extract(tar: tarfile.TarFile, entry: tarfile.TarInfo, folder: Path) -> None:
    parts = PurePosixPath(entry.name).parts[1:]
    if not parts or ".." in parts:
        return
    place = folder.joinpath(*parts)
    if entry.isdir():
        place.mkdir(parents=True, exist_ok=True)
    elif entry.isreg():
        source = tar.extractfile(entry)
        assert source is not None
        place.parent.mkdir(parents=True, exist_ok=True)
        with source, place.open("wb") as target:
            shutil.copyfileobj(source, target)


def _everything(workspace: Path) -> list[str]:
    names = ["."]
    for folder, folders, files in os.walk(workspace):
        names += [Path(folder, name).relative_to(workspace).as_posix() for name in sorted(folders + files)]
    return names


def _with_parents(names: Iterable[str]) -> list[str]:
    wanted: dict[str, None] = {}
    for name in names:
        path = PurePosixPath(name)
        for place in (*reversed(path.parents[:-1]), path):
            wanted[place.as_posix()] = None
    return list(wanted)
