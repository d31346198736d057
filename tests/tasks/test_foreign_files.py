"""Files from outside are opened here only in known formats, and never when they unpack to far more than they are."""

import ast
import subprocess
import sys
from io import BytesIO
from pathlib import Path
from zipfile import ZIP_DEFLATED, ZipFile

import pytest
from openpyxl import Workbook
from PIL import EpsImagePlugin, Image, UnidentifiedImageError

from m3bench.proxy.protocol.sizes import smaller
from m3bench.tasks.checks import BaseCheck, DeckHas, Evidence, FileOpens, PictureCut, WorkbookCells
from m3bench.tasks.foreign_files import MOST_ENTRIES, READABLE, is_bearable, workbook_in

ROOT = Path(__file__).parents[2]
POSTSCRIPT = b"%!PS-Adobe-3.0 EPSF-3.0\n%%BoundingBox: 0 0 50 50\n%%EndComments\n(hello) print\n%%EOF\n"


def evidence(folder: Path) -> Evidence:
    return Evidence(answer="", workspace=folder)


@pytest.mark.parametrize("suffix", ["png", "jpg", "webp"])
def test_no_picture_has_another_program_started(suffix: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    started: list[object] = []
    monkeypatch.setattr(EpsImagePlugin, "gs_binary", "gs")
    monkeypatch.setattr(subprocess, "check_call", lambda *command, **_: started.append(command))
    monkeypatch.setattr(subprocess, "Popen", lambda *command, **_: started.append(command))
    Image.new("RGB", (60, 60)).save(tmp_path / "source.gif")
    (tmp_path / f"cut.{suffix}").write_bytes(POSTSCRIPT)
    cut = PictureCut(pattern=f"cut.{suffix}", size=(50, 50), source="source.gif", box=(0, 0, 50, 50))
    assert not cut.run(evidence(tmp_path)).passed
    assert not FileOpens(pattern=f"cut.{suffix}").run(evidence(tmp_path)).passed
    assert smaller(POSTSCRIPT, 10) is None
    with pytest.raises(UnidentifiedImageError):
        Image.open(BytesIO(POSTSCRIPT), formats=READABLE)
    assert started == []


def test_every_picture_is_opened_in_the_known_formats_only() -> None:
    unnamed: list[str] = []
    for path in (path for room in ("proxy", "sandboxes", "server", "tasks") for path in (ROOT / room).rglob("*.py")):
        text = path.read_text("utf-8")
        for node in ast.walk(ast.parse(text)) if "Image.open(" in text else ():
            if isinstance(node, ast.Call) and ast.unparse(node.func) == "Image.open":
                formats = [ast.unparse(word.value) for word in node.keywords if word.arg == "formats"]
                unnamed += [] if formats == ["READABLE"] else [f"{path.relative_to(ROOT)}:{node.lineno}"]
    assert unnamed == []


def packed(path: Path, parts: int, unpacked: int) -> Path:
    """An archive whose directory says how large its parts are."""
    with ZipFile(path, "w", ZIP_DEFLATED) as archive:
        for number in range(parts):
            archive.writestr(f"part{number}", b"")
        for entry in archive.filelist:
            entry.file_size = unpacked
    return path


def test_a_file_that_unpacks_to_far_more_is_not_opened(tmp_path: Path) -> None:
    packed(tmp_path / "bomb.xlsx", 3, 90 << 20)
    packed(tmp_path / "parts.pptx", MOST_ENTRIES + 1, 0)
    Image.new("1", (9000, 9000)).save(tmp_path / "bomb.png")
    Image.new("1", (20_000, 9_000)).save(tmp_path / "vast.png")
    for bomb in tmp_path.iterdir():
        assert bomb.stat().st_size < 1 << 20, "it does not look large"
        assert not is_bearable(bomb), bomb.name
        checks: tuple[BaseCheck, ...] = (
            FileOpens(pattern=bomb.name),
            WorkbookCells(pattern=bomb.name, values=(1,)),
            DeckHas(pattern=bomb.name),
            PictureCut(pattern=bomb.name, size=(9, 9)),
        )
        for check in checks:
            found = check.run(evidence(tmp_path))
            assert not found.passed
            assert "could not be checked" not in found.reason, "it was opened"


def test_honest_and_broken_files_are_tried(tmp_path: Path) -> None:
    Workbook().save(tmp_path / "a.xlsx")
    Image.new("RGB", (800, 600)).save(tmp_path / "a.png")
    (tmp_path / "broken.xlsx").write_bytes(b"PK\x03\x04")
    (tmp_path / "broken.png").write_bytes(b"\x89PNG")
    (tmp_path / "words.txt").write_bytes(b"words")
    assert all(is_bearable(path) for path in tmp_path.iterdir())


def test_what_is_larger_than_a_file_may_be_is_not_read(tmp_path: Path) -> None:
    with (tmp_path / "hole.txt").open("wb") as file:
        file.truncate((64 << 20) + 1)
    assert not is_bearable(tmp_path / "hole.txt")
    assert not FileOpens(pattern="*.txt").run(evidence(tmp_path)).passed


if sys.platform == "win32":
    pytestmark = pytest.mark.skip(reason="files with holes take their whole room there")


def test_a_workbook_is_read_again_once_it_is_another(tmp_path: Path) -> None:
    file = tmp_path / "a.xlsx"
    for value in ("one", "two"):
        book = Workbook()
        book.active["A1"] = value
        book.save(file)
        assert workbook_in(file) is workbook_in(file)
        assert workbook_in(file).active["A1"].value == value
    assert workbook_in(file, data_only=True) is not workbook_in(file)
