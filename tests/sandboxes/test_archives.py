"""The guard before office files, and the stamp after them."""

import io
import struct
from contextlib import suppress
from pathlib import Path
from zipfile import ZIP_DEFLATED, ZIP_LZMA, ZIP_STORED, ZipFile, ZipInfo

import pytest
from openpyxl import Workbook, load_workbook
from pptx import Presentation

from m3bench.sandboxes.archives import check, pieces, stamp
from m3bench.sandboxes.workspace import WorkspaceLimits
from m3bench.tasks.errors import LimitError, ToolError
from tests.pictures import assert_same_bytes


def _zip(path: Path, entries: dict[str, bytes], method: int = ZIP_DEFLATED) -> Path:
    with ZipFile(path, "w", method) as archive:
        for name, content in entries.items():
            archive.writestr(name, content)
    return path


def test_pieces_are_the_entries_in_order(tmp_path: Path) -> None:
    big = bytes(range(256)) * 4096
    path = _zip(tmp_path / "a.xlsx", {"one": b"1", "two": big, "empty": b""}, ZIP_STORED)
    found: dict[str, bytes] = {}
    for name, piece in pieces(path, WorkspaceLimits()):
        assert len(piece) <= 512 * 1024
        found[name] = found.get(name, b"") + piece
    assert found == {"one": b"1", "two": big}


def test_what_the_office_libraries_write_passes(tmp_path: Path) -> None:
    Workbook().save(tmp_path / "a.xlsx")
    Presentation().save(str(tmp_path / "a.pptx"))
    check(tmp_path / "a.xlsx", WorkspaceLimits())
    check(tmp_path / "a.pptx", WorkspaceLimits())


def test_a_bomb_is_refused_by_ratio_before_it_is_unpacked(tmp_path: Path) -> None:
    path = _zip(tmp_path / "a.xlsx", {"xl/sheet.xml": bytes(50_000_000)})
    with pytest.raises(LimitError, match="zip bomb"):
        check(path, WorkspaceLimits())


def test_small_entries_may_have_any_ratio(tmp_path: Path) -> None:
    check(_zip(tmp_path / "a.xlsx", {"xl/sheet.xml": bytes(1_000_000)}), WorkspaceLimits())


def test_the_sum_of_all_entries_is_bounded(tmp_path: Path) -> None:
    path = _zip(tmp_path / "a.xlsx", {f"part{index}": bytes(900) for index in range(10)})
    with pytest.raises(LimitError, match=r"'a\.xlsx' unpacks to 9000 bytes, more than the 8999 allowed"):
        check(path, WorkspaceLimits(zip_bytes=8999))


def test_the_number_of_entries_is_bounded(tmp_path: Path) -> None:
    path = _zip(tmp_path / "a.xlsx", {f"part{index}": b"" for index in range(11)})
    with pytest.raises(LimitError, match="holds 11 entries, more than the 10 allowed"):
        check(path, WorkspaceLimits(zip_entries=10))


def test_a_directory_that_promises_too_little_is_found_out_while_reading(tmp_path: Path) -> None:
    path = _zip(tmp_path / "a.xlsx", {"xl/sheet.xml": bytes(5_000_000)})
    with ZipFile(path) as archive:
        entry = archive.infolist()[0]
    true, false = struct.pack("<LL", entry.compress_size, entry.file_size), struct.pack("<LL", entry.compress_size, 100)
    path.write_bytes(path.read_bytes().replace(true, false))
    with pytest.raises(ToolError, match="not a readable office file"):
        check(path, WorkspaceLimits())


def test_a_directory_that_promises_too_much_is_found_out_while_reading(tmp_path: Path) -> None:
    path = _zip(tmp_path / "a.xlsx", {"xl/sheet.xml": b"x" * 500})
    with ZipFile(path) as archive:
        packed = archive.infolist()[0].compress_size
    path.write_bytes(path.read_bytes().replace(struct.pack("<LL", packed, 500), struct.pack("<LL", packed, 501)))
    with pytest.raises(ToolError, match="an entry ends too early"):
        check(path, WorkspaceLimits())


def test_an_entry_that_occurs_twice_is_refused(tmp_path: Path) -> None:
    path = _zip(tmp_path / "a.xlsx", {"sheet1": b"x", "sheet2": b"y"})
    path.write_bytes(path.read_bytes().replace(b"sheet2", b"sheet1"))
    with pytest.raises(ToolError, match="occurs twice"):
        check(path, WorkspaceLimits())


def test_rare_packing_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ToolError, match="packed in a way"):
        check(_zip(tmp_path / "a.xlsx", {"sheet1": b"x"}, ZIP_LZMA), WorkspaceLimits())


def test_passwords_are_named(tmp_path: Path) -> None:
    path = _zip(tmp_path / "a.xlsx", {"sheet1": b"x"})
    data = bytearray(path.read_bytes())
    data[data.index(b"PK\x01\x02") + 8] |= 1
    path.write_bytes(data)
    with pytest.raises(ToolError, match=r"'a\.xlsx' is encrypted"):
        check(path, WorkspaceLimits())


def test_old_office_files_are_named(tmp_path: Path) -> None:
    path = tmp_path / "a.xls"
    path.write_bytes(b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(504))
    with pytest.raises(ToolError, match="old binary office format"):
        check(path, WorkspaceLimits())


@pytest.mark.parametrize("cut", [0, 1, 100, 0.5, -1])
def test_a_truncated_file_is_refused(tmp_path: Path, cut: float) -> None:
    path = tmp_path / "a.xlsx"
    Workbook().save(path)
    data = path.read_bytes()
    path.write_bytes(data[: int(len(data) * cut) if isinstance(cut, float) else cut])
    with pytest.raises(ToolError, match=r"'a\.xlsx' is not a readable office file"):
        check(path, WorkspaceLimits())


def test_damage_anywhere_never_escapes_as_another_error(tmp_path: Path) -> None:
    path = _zip(tmp_path / "a.xlsx", {"sheet1": b"hello " * 40, "sheet2": bytes(range(200))})
    good = path.read_bytes()
    for position in range(len(good)):
        path.write_bytes(good[:position] + bytes([good[position] ^ 0xFF]) + good[position + 1 :])
        with suppress(ToolError):
            check(path, WorkspaceLimits())


def test_a_stamped_workbook_has_the_same_bytes_whenever_it_was_saved(tmp_path: Path) -> None:
    files = []
    for name, year in (("a.xlsx", 2001), ("b.xlsx", 2031)):
        path = tmp_path / name
        Workbook().save(path)
        _redate(path, year)
        stamp(path)
        files.append(path.read_bytes())
    assert files[0] != files[1], "a creation in the past is kept"
    assert load_workbook(tmp_path / "a.xlsx").properties.created.year == 2001
    properties = load_workbook(tmp_path / "b.xlsx").properties
    assert properties.created.isoformat() == properties.modified.isoformat() == "2025-11-01T12:00:00"
    _redate(tmp_path / "a.xlsx", 2040)
    stamp(tmp_path / "a.xlsx")
    assert_same_bytes((tmp_path / "a.xlsx").read_bytes(), files[1], "a.xlsx")


def test_a_stamped_presentation_still_opens(tmp_path: Path) -> None:
    path = tmp_path / "a.pptx"
    Presentation().save(str(path))
    with ZipFile(path) as archive:
        names = archive.namelist()
    stamp(path)
    with ZipFile(path) as archive:
        assert archive.namelist() == names
        assert {entry.date_time for entry in archive.infolist()} == {(2025, 11, 1, 12, 0, 0)}
    assert Presentation(str(path)).core_properties.modified.isoformat().startswith("2025-11-01T12:00:00")


def _redate(path: Path, year: int) -> None:
    """Give every entry and both document dates another year."""
    packed = io.BytesIO()
    with ZipFile(path) as source, ZipFile(packed, "w") as target:
        for entry in source.infolist():
            content = source.read(entry)
            if entry.filename == "docProps/core.xml":
                workbook = load_workbook(path)
                for date in (workbook.properties.created, workbook.properties.modified):
                    content = content.replace(date.isoformat().encode(), f"{year}-05-06T07:08:09".encode())
            target.writestr(ZipInfo(entry.filename, (year, 5, 6, 7, 8, 10)), content)
    path.write_bytes(packed.getvalue())
