"""Office files as zip archives: what may be opened, and what makes two of them equal.

The guard runs before any library reads a file: it judges the zip directory, then unpacks every entry once to
see that the directory told the truth, in bounded memory. It knows zips, not spreadsheets or slides; servers
add their own limits on what `pieces` hands out. `stamp` is for files just saved: it replaces every trace of
the real time by the frozen clock, so that the same content is the same bytes.
"""

import io
import re
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from struct import error as StructError
from zipfile import ZIP_DEFLATED, ZIP_STORED, BadZipFile, ZipFile, ZipInfo

from m3bench.sandboxes.workspace import WorkspaceLimits
from m3bench.sandboxes.world.clock import NOW
from m3bench.tasks.errors import LimitError, ToolError

RATIO_FLOOR = 1024 * 1024
"""Entries that unpack to fewer bytes may have any ratio."""

_CHUNK = 256 * 1024
_DIRECTORY_ENTRY = b"PK\x01\x02"
_COMPOUND_FILE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
_ENCRYPTED = 0x1
_PROPERTIES = "docProps/core.xml"
_DATE = re.compile(rb"(<dcterms:(created|modified)\b[^>]*>)([^<]*)(?=</dcterms:)")


def check(path: Path, limits: WorkspaceLimits, name: str | None = None) -> None:
    """Raise `LimitError` when the archive is too large, `ToolError` when it is not an archive or is broken.

    Args:
        path: The file.
        limits: Those of the workspace.
        name: What messages call the file; its own name when left out.
    """
    for _ in pieces(path, limits, name):
        pass


def pieces(path: Path, limits: WorkspaceLimits, name: str | None = None) -> Iterator[tuple[str, bytes]]:
    """Every entry's name and content, in pieces of bounded size, checked on the way.

    Entries come whole and one after the other. Raises as `check` does; what was handed out before is then
    not to be trusted.
    """
    name = repr(name or path.name)
    with path.open("rb") as stream:
        if stream.read(len(_COMPOUND_FILE)) == _COMPOUND_FILE:
            raise ToolError(
                f"{name} is encrypted or in an old binary office format: only .xlsx and .pptx without a password work",
                outcome="invalid_arguments",
            )
    _check_count(name, path, limits)
    with _problems_named(name), ZipFile(path) as archive:
        entries = archive.infolist()
        _check_directory(name, entries, limits)
        for entry in entries:
            yield from _unpack(name, archive, entry)


def stamp(path: Path) -> None:
    """Rewrite an archive that was just saved so that its bytes follow from its content alone.

    Entry dates and the document's date of modification become the frozen clock; the date of creation stays
    unless it lies after it. Order and content of all other entries are kept.
    """
    packed = io.BytesIO()
    with ZipFile(path) as source, ZipFile(packed, "w", ZIP_DEFLATED) as target:
        for entry in source.infolist():
            content = source.read(entry)
            if entry.filename == _PROPERTIES:
                content = _DATE.sub(_frozen, content)
            fixed = ZipInfo(entry.filename, date_time=NOW.timetuple()[:6])
            fixed.compress_type = ZIP_DEFLATED
            fixed.create_system = 0
            target.writestr(fixed, content)
    path.write_bytes(packed.getvalue())


def _frozen(match: re.Match[bytes]) -> bytes:
    now = NOW.strftime("%Y-%m-%dT%H:%M:%SZ").encode()
    opening, field, value = match.groups()
    return bytes(opening) + (min(value, now) if field == b"created" else now)


def _check_count(name: str, path: Path, limits: WorkspaceLimits) -> None:
    """Count directory entries without building them: the directory of a small file can name millions."""
    count, tail = 0, b""
    with path.open("rb") as stream:
        while chunk := stream.read(_CHUNK):
            window = tail + chunk
            count += window.count(_DIRECTORY_ENTRY)
            tail = window[1 - len(_DIRECTORY_ENTRY) :]
    if count > limits.zip_entries:
        raise LimitError(f"{name} holds {count} entries, more than the {limits.zip_entries} allowed")


def _check_directory(name: str, entries: list[ZipInfo], limits: WorkspaceLimits) -> None:
    if len({entry.filename for entry in entries}) < len(entries):
        raise ToolError(f"{name} is damaged: an entry occurs twice", outcome="invalid_arguments")
    total = sum(entry.file_size for entry in entries)
    if total > limits.zip_bytes:
        raise LimitError(f"{name} unpacks to {total} bytes, more than the {limits.zip_bytes} allowed")
    for entry in entries:
        if entry.file_size > RATIO_FLOOR and entry.file_size > limits.zip_ratio * entry.compress_size:
            raise LimitError(
                f"{name} is packed more than {limits.zip_ratio} times smaller than its content, as a zip bomb is"
            )
        if entry.flag_bits & _ENCRYPTED:
            raise ToolError(f"{name} is encrypted: remove the password first", outcome="invalid_arguments")
        if entry.compress_type not in (ZIP_STORED, ZIP_DEFLATED):
            raise ToolError(f"{name} is packed in a way no office program uses", outcome="invalid_arguments")


def _unpack(name: str, archive: ZipFile, entry: ZipInfo) -> Iterator[tuple[str, bytes]]:
    size = 0
    with archive.open(entry) as stream:
        # The library hands out no more bytes than the directory promised, whatever the stream holds.
        while chunk := stream.read(_CHUNK):
            size += len(chunk)
            yield entry.filename, chunk
    if size != entry.file_size:
        raise ToolError(f"{name} is damaged: an entry ends too early", outcome="invalid_arguments")


@contextmanager
def _problems_named(name: str) -> Iterator[None]:
    try:
        yield
    except (BadZipFile, zlib.error, StructError, EOFError, OSError, RuntimeError, ValueError) as error:
        raise ToolError(
            f"{name} is not a readable office file (a complete .xlsx or .pptx is a zip archive): {error}",
            outcome="invalid_arguments",
        ) from error
