"""The one folder a run's tools may touch, and the limits on what lies in it.

Every path argument of every tool goes through here. Clients name files relative to the workspace
(`./media/x.png`), by the path they are shown (`/workspace/media/x.png`) or by the real one; anything that
leaves the folder, by whatever way, is refused. Tools show paths in the first two forms only, so that the
same call gives the same bytes wherever the folder lies.
"""

import os
import re
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from m3bench.tasks.errors import LimitError, PathError

MOUNT = "/workspace"
"""Where the workspace is, as tools and clients see it."""

STATE = ".m3bench"
"""Holds what servers must remember; not reachable by path arguments."""

RESULTS = "results"
"""Holds what was too large for a client, put there from outside."""

_URL = re.compile(r"^[A-Za-z][A-Za-z0-9+.-]*:")
_MAX_PATH = 1024
_FOLDER = os.O_RDONLY | getattr(os, "O_DIRECTORY", 0)


@dataclass(frozen=True, kw_only=True)
class WorkspaceLimits:
    """What a workspace may hold and a tool may be given."""

    bytes: int = 256 * 1024 * 1024
    """All files together."""
    files: int = 2000
    file_bytes: int = 64 * 1024 * 1024
    pixels: int = 40_000_000
    """Width times height of a picture."""
    zip_bytes: int = 256 * 1024 * 1024
    """What an office file may unpack to."""
    zip_ratio: int = 100
    """How many times larger an unpacked entry of some size may be than its packed form."""
    zip_entries: int = 5000
    text: int = 5_000_000
    """Characters a tool reads from or writes to a document."""


class Workspace:
    """A run's folder."""

    def __init__(self, root: Path, limits: WorkspaceLimits | None = None) -> None:
        self.root = root.resolve()
        self.limits = limits or WorkspaceLimits()

    def resolve(self, path: str) -> Path:
        """The real place of a path argument; raises `PathError` when it is not inside the workspace."""
        relative = self._relative(path)
        real = Path(os.path.realpath(self.root / relative))
        if real != self.root and self.root not in real.parents:
            raise PathError(f"{_show(path)} leaves the workspace: use a path such as ./media/picture.png")
        if any(part.casefold() == STATE for part in real.relative_to(self.root).parts):
            raise PathError(f"{_show(path)} is reserved: choose another name")
        return real

    def existing(self, path: str) -> Path:
        """The real place of a file that must be there, be a plain file and not be too large."""
        real = self.resolve(path)
        try:
            info = real.stat()
        except OSError as error:
            raise PathError(f"File not found: {_show(path)}") from error
        if not stat.S_ISREG(info.st_mode):
            raise PathError(f"{_show(path)} is not a file")
        if info.st_size > self.limits.file_bytes:
            raise LimitError(
                f"{_show(path)} has {info.st_size} bytes, more than the {self.limits.file_bytes} allowed for a file"
            )
        return real

    @contextmanager
    def writing(self, path: str) -> Iterator[Path]:
        """A place to write a file's new content, moved to `path` when the block ends well.

        Missing folders are made. Nothing is seen of a file until it is complete, and a file over the limits
        never replaces an older one.
        """
        real = self.resolve(path)
        try:
            if real == self.root or real.is_dir():
                raise PathError(f"{_show(path)} is a folder: give a file name")
            real.parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise PathError(f"{_show(path)} cannot be made: {error.strerror}") from error
        draft = real.parent / f".{real.stem[:100]}.draft{real.suffix[:20]}"
        try:
            yield draft
            self._check_quota(draft, real)
            draft.replace(real)
        except OSError as error:
            raise PathError(f"{_show(path)} cannot be written: {error.strerror or error}") from error
        finally:
            draft.unlink(missing_ok=True)

    def put(self, name: str, content: bytes) -> None:
        """Put a file there from outside, while tools may be moving folders about or setting links in their place.

        Args:
            name: Its path, relative to the workspace.
            content: What is in it; what had the name before is gone.
        """
        path = self.resolve(name)
        if os.open not in os.supports_dir_fd:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)
            return
        *folders, last = path.relative_to(self.root).parts
        here = os.open(self.root, _FOLDER)
        try:
            for folder in folders:
                with suppress(FileExistsError):
                    os.mkdir(folder, 0o755, dir_fd=here)
                above, here = here, os.open(folder, _FOLDER | os.O_NOFOLLOW, dir_fd=here)
                os.close(above)
            with suppress(FileNotFoundError):
                os.unlink(last, dir_fd=here)
            with open(os.open(last, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o644, dir_fd=here), "wb") as file:
                file.write(content)
        finally:
            os.close(here)

    def show(self, real: Path) -> str:
        """A real place as tools and clients see it: an absolute path under the mount."""
        return str(PurePosixPath(MOUNT, *real.relative_to(self.root).parts))

    def state(self, server: str) -> Path:
        """A folder in which a server keeps what it must remember; made when missing."""
        folder = self.root / STATE / server
        folder.mkdir(parents=True, exist_ok=True)
        return folder

    def _relative(self, path: str) -> str:
        if not path.strip():
            raise PathError("The path is empty: use a path such as ./media/picture.png")
        if len(path) > _MAX_PATH:
            raise PathError(f"{_show(path)} is too long: at most {_MAX_PATH} characters")
        if any(ord(char) < 32 or 0xD800 <= ord(char) < 0xE000 for char in path) or "\\" in path:
            raise PathError(f"{_show(path)} has characters that no path here has: use letters, digits and /")
        if _URL.match(path):
            raise PathError(f"{_show(path)} is a URL or a drive, not a file of the workspace")
        if path.startswith("~"):
            raise PathError(f"{_show(path)} names a home folder: use a path such as ./media/picture.png")
        if not path.startswith("/"):
            return path
        for base in (str(self.root), MOUNT):
            if path == base or path.startswith(base + "/"):
                return path[len(base) :].lstrip("/") or "."
        raise PathError(f"{_show(path)} leaves the workspace: use a path such as ./media/picture.png")

    def _check_quota(self, draft: Path, target: Path) -> None:
        size = draft.stat().st_size
        if size > self.limits.file_bytes:
            raise LimitError(f"the file would have {size} bytes, more than the {self.limits.file_bytes} allowed")
        total, count = size, 1
        for folder, _, names in os.walk(self.root):
            for name in names:
                file = Path(folder, name)
                if file not in (draft, target):
                    total += file.lstat().st_size
                    count += 1
        if total > self.limits.bytes:
            raise LimitError(f"the workspace would hold {total} bytes, more than the {self.limits.bytes} allowed")
        if count > self.limits.files:
            raise LimitError(f"the workspace would hold {count} files, more than the {self.limits.files} allowed")


def _show(path: str) -> str:
    return repr(path if len(path) <= 200 else path[:200] + "…")
