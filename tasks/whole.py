"""Files that are whole at any moment: written beside their place and moved into it, or lengthened by one write.

Raises `OSError` as it comes; whoever writes knows what to say about it.
"""

import errno
import os
from contextlib import suppress
from pathlib import Path


def write_whole(path: Path, data: bytes) -> None:
    """Put a file in place of the one that is there, if any; a kill or a full disk leaves the old one."""
    if path.exists() and not path.is_file():
        # A device or a pipe takes what is written to it and must not be replaced; a folder says what it is.
        path.write_bytes(data)
        return
    draft = path.with_name(f".{path.name}.{os.getpid()}.draft")
    try:
        draft.write_bytes(data)
        draft.replace(path)
    finally:
        with suppress(OSError):
            draft.unlink()


def append_line(path: Path, line: str) -> None:
    """Lengthen a file by a line, in one write: a kill at any moment leaves at most one torn last line."""
    data = f"{line}\n".encode(errors="replace")
    file = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)
    try:
        if os.write(file, data) < len(data):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
    finally:
        os.close(file)
