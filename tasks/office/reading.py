"""Sheets of a file that somebody else made: how large it may be, and which program's it is."""

from collections.abc import Callable, Mapping
from io import BytesIO
from pathlib import PurePosixPath
from zipfile import BadZipFile, ZipFile

from m3bench.tasks.office import book, deck
from m3bench.tasks.office.marks import OfficeError, Sheet

MOST_BYTES = 24 << 20
MOST_UNPACKED = 96 << 20
MOST_PARTS = 3000
MOST_RATIO = 150
"""How many times larger than its packed form a part may be that is larger than a megabyte."""
MOST_SHEETS = 80
_LARGE = 1 << 20

_FORMS: Mapping[str, Callable[[bytes], list[Sheet]]] = {".pptx": deck.sheets, ".xlsx": book.sheets}


def is_office(name: str) -> bool:
    """Whether a file is called like a presentation or workbook."""
    return PurePosixPath(name).suffix.casefold() in _FORMS


def sheets(name: str, data: bytes) -> list[Sheet]:
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
    except (BadZipFile, ValueError, NotImplementedError) as error:
        raise OfficeError("it is no office file") from error
    if len(entries) > MOST_PARTS or sum(entry.file_size for entry in entries) > MOST_UNPACKED:
        raise OfficeError("it is too large unpacked")
    if any(one.file_size > _LARGE and one.file_size > MOST_RATIO * max(1, one.compress_size) for one in entries):
        raise OfficeError("a part of it is far larger than it looks")
