"""Archives are unpacked into their folder, whatever they say, and on every Python that m3bench runs on."""

import io
import tarfile
from pathlib import Path

import pytest

from m3bench.server.store.transfer import unpack_files
from m3bench.tasks.errors import StoreError


def archive(*members: tuple[str, bytes, str]) -> tarfile.TarFile:
    file = io.BytesIO()
    with tarfile.open(fileobj=file, mode="w") as written:
        for name, kind, content in members:
            member = tarfile.TarInfo(name)
            member.type = kind
            if kind == tarfile.SYMTYPE:
                member.linkname = content
            member.size = len(content) if kind == tarfile.REGTYPE else 0
            written.addfile(member, io.BytesIO(content.encode()))
    file.seek(0)
    return tarfile.open(fileobj=file)


def test_files_and_folders_are_there_and_links_are_not(tmp_path: Path) -> None:
    with archive(
        ("a", tarfile.DIRTYPE, ""),
        ("a/b.txt", tarfile.REGTYPE, "b"),
        ("c/d/e.txt", tarfile.REGTYPE, "e"),
        ("link", tarfile.SYMTYPE, "/etc/passwd"),
        ("pipe", tarfile.FIFOTYPE, ""),
    ) as opened:
        unpack_files(opened, tmp_path / "to")
    found = {path.relative_to(tmp_path / "to").as_posix() for path in (tmp_path / "to").rglob("*")}
    assert found == {"a", "a/b.txt", "c", "c/d", "c/d/e.txt"}
    assert (tmp_path / "to" / "c" / "d" / "e.txt").read_text() == "e"


@pytest.mark.parametrize("name", ["../up.txt", "a/../../up.txt", "/etc/up.txt", "..\\up.txt"])
def test_what_would_lie_outside_is_refused(tmp_path: Path, name: str) -> None:
    with archive((name, tarfile.REGTYPE, "x")) as opened, pytest.raises(StoreError, match="outside its folder"):
        unpack_files(opened, tmp_path / "to")
    assert list(tmp_path.rglob("*.txt")) == []


def test_a_link_on_the_way_leads_nowhere(tmp_path: Path) -> None:
    with archive(("out", tarfile.SYMTYPE, str(tmp_path / "other")), ("out/a.txt", tarfile.REGTYPE, "x")) as opened:
        unpack_files(opened, tmp_path / "to")
    assert (tmp_path / "to" / "out" / "a.txt").read_text() == "x"
    assert not (tmp_path / "other").exists()
