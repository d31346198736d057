"""What a file that somebody else made must be before a library opens it here, outside of any sandbox.

Only a few formats of pictures are read: a library that reads them all starts another program for one, Ghostscript, and
goes by a file's content and not by its name. Files that are far larger than they look are not opened at all.
"""

from functools import lru_cache
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any
from zipfile import BadZipFile, ZipFile

from m3bench.tasks.lazy_modules import LazyModule

if TYPE_CHECKING:
    import openpyxl
    from PIL import Image
else:
    openpyxl = LazyModule("openpyxl")
    Image = LazyModule("PIL.Image")

READABLE = ("PNG", "JPEG", "WEBP", "GIF", "BMP", "TIFF")
"""Formats of pictures."""

MOST_BYTES = 64 << 20
MOST_PIXELS = 40_000_000
MOST_UNPACKED = 256 << 20
MOST_ENTRIES = 5000
"""Parts of an office file."""
KEPT_BYTES = 4 << 20
KEPT_PIXELS = 8_000_000
"""Of a picture that is remembered."""
KEPT_BOOK_BYTES = 64 << 10
"""Of a workbook that is remembered; opened it takes some hundred times as much memory."""

_OFFICE = (".xlsx", ".pptx", ".docx")
_PICTURES = (".png", ".jpg", ".jpeg", ".webp", ".gif", ".bmp", ".tif", ".tiff")


def is_bearable(path: Path) -> bool:
    """Whether a file is no larger than it may be, unpacked as well; one that is broken is, and is refused later."""
    if path.stat().st_size > MOST_BYTES:
        return False
    try:
        if path.suffix.lower() in _OFFICE:
            with ZipFile(path) as archive:
                entries = archive.infolist()
            # What a directory says too little of is not unpacked any further.
            return len(entries) <= MOST_ENTRIES and sum(entry.file_size for entry in entries) <= MOST_UNPACKED
        if path.suffix.lower() in _PICTURES:
            with Image.open(path, formats=READABLE) as picture:
                return picture.width * picture.height <= MOST_PIXELS
    except (Image.DecompressionBombError, Image.DecompressionBombWarning):
        return False
    except (BadZipFile, OSError, ValueError, NotImplementedError):
        return True
    return True


def picture_in(path: Path) -> "Image.Image":
    """The picture in a file; see `picture_of`."""
    return picture_of(path.read_bytes())


def picture_of(content: bytes) -> "Image.Image":
    """The picture that a file's content is, not to be changed; what has been read before is not decoded again.

    Several checks look at the same file, and many runs at the same task's picture.

    Raises:
        OSError: It is no picture, or broken.
    """
    if len(content) <= KEPT_BYTES:
        with Image.open(BytesIO(content), formats=READABLE) as file:
            small = file.width * file.height <= KEPT_PIXELS
        if small:
            return _remembered(content)
    return _decoded(content)


@lru_cache(6)
def _remembered(content: bytes) -> "Image.Image":
    return _decoded(content)


def _decoded(content: bytes) -> "Image.Image":
    with Image.open(BytesIO(content), formats=READABLE) as file:
        file.load()
        return file.copy()


def workbook_in(path: Path, *, data_only: bool = False) -> Any:
    """The workbook in a file, not to be changed; what has been read before is not read again.

    Args:
        path: The file.
        data_only: Whether formulas are given by the values that were saved with them.
    """
    content = path.read_bytes()
    if len(content) <= KEPT_BOOK_BYTES and path.suffix.lower() == ".xlsx":
        return _remembered_book(content, data_only)
    return openpyxl.load_workbook(path, data_only=data_only)


@lru_cache(4)
def _remembered_book(content: bytes, data_only: bool) -> Any:
    return openpyxl.load_workbook(BytesIO(content), data_only=data_only)
