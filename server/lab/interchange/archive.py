"""Zip archives: written so that equal content gives equal bytes, and read without trust.

Written with fixed times, modes and order, so that the same content makes the same bytes. Read by name into memory:
nothing is ever extracted to where an archive says, names are from a known pattern, and counts and sizes are bounded
before anything is unpacked.
"""

import re
import zipfile
from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Self

from m3bench.tasks.errors import InputFileError

MAX_MEMBERS = 200_000
MAX_MEMBER_BYTES = 256 << 20
MAX_BYTES = 8 << 30
"""All members together, unpacked."""
MAX_RATIO = 200
"""How many times its own size an archive may unpack to, beyond `FREE_BYTES`."""
FREE_BYTES = 64 << 20

_TIME = (1980, 1, 1, 0, 0, 0)
_MODE = 0o100644 << 16
_UNIX = 3
_ENCRYPTED = 1


def write_archive(path: Path, members: Iterable[tuple[str, Callable[[], bytes]]]) -> None:
    """Write members, which must come in the order of their names, replacing the file if it exists.

    Raises:
        InputFileError: The file cannot be written.
    """
    draft = path.with_name(f".{path.name}.draft")
    try:
        with zipfile.ZipFile(draft, "w") as archive:
            for name, content in members:
                entry = zipfile.ZipInfo(name, _TIME)
                entry.compress_type = zipfile.ZIP_DEFLATED
                entry.create_system = _UNIX
                entry.external_attr = _MODE
                archive.writestr(entry, content(), compresslevel=6)
        draft.replace(path)
    except OSError as error:
        raise InputFileError(path, f"cannot be written ({error.strerror})") from error
    finally:
        with suppress(OSError):
            draft.unlink()


class Archive:
    """An archive that may have been made by anybody.

    Args:
        path: The file.
        names: What a member may be called.

    Raises:
        InputFileError: It is not a zip file, it is cut off, or it holds what none of our archives holds.
    """

    def __init__(self, path: Path, names: re.Pattern[str]) -> None:
        self.path = path
        try:
            self._size = path.stat().st_size
            self._zip = zipfile.ZipFile(path)
        except FileNotFoundError:
            raise InputFileError(path, "there is no such file") from None
        except IsADirectoryError:
            raise InputFileError(path, "is a folder, not a file") from None
        except OSError as error:
            raise InputFileError(path, f"cannot be read ({error.strerror})") from error
        except Exception as error:  # on a directory that was made up the reader raises nearly anything
            raise InputFileError(path, f"is not a complete zip archive ({error})") from None
        try:
            self._members = self._checked(names)
        except BaseException:
            self._zip.close()
            raise

    @property
    def names(self) -> tuple[str, ...]:
        """The members, sorted."""
        return tuple(sorted(self._members))

    def __contains__(self, name: object) -> bool:
        return name in self._members

    def read(self, name: str) -> bytes:
        """A member's content.

        Raises:
            InputFileError: It is not there, or it is damaged.
        """
        if name not in self._members:
            raise InputFileError(self.path, f"has no member {name!r}")
        try:
            return self._zip.read(self._members[name])
        except Exception as error:  # likewise, such as for a place beyond any file
            raise InputFileError(self.path, f"is damaged: {name} cannot be unpacked ({error})") from None

    def size(self, name: str) -> int:
        """How many bytes a member has, unpacked; 0 when it is not there."""
        return self._members[name].file_size if name in self._members else 0

    def close(self) -> None:
        """Close the file."""
        self._zip.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()

    def _checked(self, names: re.Pattern[str]) -> dict[str, zipfile.ZipInfo]:
        entries = self._zip.infolist()
        if len(entries) > MAX_MEMBERS:
            self._refuse(f"holds {len(entries)} members (at most {MAX_MEMBERS} are read)")
        members: dict[str, zipfile.ZipInfo] = {}
        for entry in entries:
            name = entry.filename
            if not names.fullmatch(name):
                self._refuse(f"holds a member named {name[:80]!r}, which no such archive has")
            if name in members:
                self._refuse(f"holds {name!r} twice")
            if entry.flag_bits & _ENCRYPTED or entry.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
                self._refuse(f"holds {name!r} encrypted or packed in an unknown way")
            if entry.file_size > MAX_MEMBER_BYTES:
                self._refuse(f"unpacks {name!r} to {entry.file_size} bytes (at most {MAX_MEMBER_BYTES} are read)")
            members[name] = entry
        if self._zip.comment or (entries and min(entry.header_offset for entry in entries) != 0):
            self._refuse("holds more than its members, which no such archive does")
        total = sum(entry.file_size for entry in entries)
        if total > min(MAX_BYTES, FREE_BYTES + MAX_RATIO * self._size):
            self._refuse(f"would unpack from {self._size} to {total} bytes: that is not an archive of recorded runs")
        return members

    def _refuse(self, problem: str) -> None:
        raise InputFileError(self.path, problem)
