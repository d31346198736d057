"""Sheets of a file that somebody else made: how large it may be, and which program's it is."""

import re
from collections.abc import Callable, Mapping, Sequence
from io import BytesIO
from pathlib import PurePosixPath
from zipfile import BadZipFile, ZipFile, ZipInfo

from m3bench.tasks.office import book, deck
from m3bench.tasks.office.marks import OfficeError, PrintedSheet

MOST_BYTES = 24 << 20
MOST_UNPACKED = 64 << 20
MOST_MARKUP = 12 << 20
"""Bytes of all parts that are XML."""
MOST_MERGED = 20_000
"""Cells of one merged range: the library makes every one of them."""
MOST_PARTS = 3000
MOST_RATIO = 150
"""How many times larger than its packed form a part may be that is larger than a megabyte."""
MOST_SHEETS = 80
_LARGE = 1 << 20
_MERGED = re.compile(rb"<(?:\w+:)?mergeCell\s[^>]*?ref=\"\$?([A-Z]{1,3})\$?(\d{1,7}):\$?([A-Z]{1,3})\$?(\d{1,7})\"")

_FORMS: Mapping[str, Callable[[bytes], list[PrintedSheet]]] = {".pptx": deck.sheets, ".xlsx": book.sheets}


def is_office(name: str) -> bool:
    """Whether a file is called like a presentation or workbook."""
    return PurePosixPath(name).suffix.casefold() in _FORMS


def sheets(name: str, data: bytes) -> list[PrintedSheet]:
    """The slides or worksheets of a file.

    Raises:
        OfficeError: It is none that can be shown, or larger than any may be.
    """
    form = PurePosixPath(name).suffix.casefold()
    if form not in _FORMS:
        raise OfficeError(f"only {', '.join(_FORMS)} are read")
    _check(data)
    found = _FORMS[form](data)
    if len(found) > MOST_SHEETS:
        raise OfficeError(f"it has {len(found)} slides or worksheets, more than {MOST_SHEETS}")
    return found


def _check(data: bytes) -> None:
    if len(data) > MOST_BYTES:
        raise OfficeError("it is too large")
    try:
        with ZipFile(BytesIO(data)) as archive:
            entries = archive.infolist()
            _check_entries(entries)
            for entry in entries:
                if entry.filename.startswith("xl/worksheets/") and entry.filename.endswith(".xml"):
                    _check_merged(archive.read(entry))
    except (BadZipFile, ValueError, NotImplementedError, RuntimeError, EOFError) as error:
        raise OfficeError("it is no office file") from error


def _check_entries(entries: Sequence[ZipInfo]) -> None:
    if len(entries) > MOST_PARTS or sum(entry.file_size for entry in entries) > MOST_UNPACKED:
        raise OfficeError("it is too large unpacked")
    if any(part.file_size > _LARGE and part.file_size > MOST_RATIO * max(1, part.compress_size) for part in entries):
        raise OfficeError("a part of it is far larger than it looks")
    if sum(entry.file_size for entry in entries if entry.filename.endswith((".xml", ".rels"))) > MOST_MARKUP:
        raise OfficeError("there is too much in it to be shown")


def _check_merged(data: bytes) -> None:
    for first, top, last, bottom in _MERGED.findall(data):
        across = _column(last) - _column(first) + 1
        if across * (int(bottom) - int(top) + 1) > MOST_MERGED:
            raise OfficeError("it merges too many cells")


def _column(letters: bytes) -> int:
    number = 0
    for letter in letters:
        number = 26 * number + letter - 64
    return number
