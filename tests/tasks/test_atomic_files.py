"""Writing files that are complete at any moment."""

import os
from pathlib import Path

import pytest

from m3bench.tasks.atomic_files import append_line, write_atomically


def test_a_file_takes_the_place_of_the_old_one_and_leaves_no_draft(tmp_path: Path) -> None:
    path = tmp_path / "file"
    for data in (b"old", b"new"):
        write_atomically(path, data)
    assert path.read_bytes() == b"new"
    assert os.listdir(tmp_path) == ["file"]


def test_what_cannot_be_put_in_place_leaves_everything_as_it_was(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"old")

    def full(self: Path, target: Path) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "replace", full)
    with pytest.raises(OSError, match="No space"):
        write_atomically(path, b"new")
    assert path.read_bytes() == b"old"
    assert os.listdir(tmp_path) == ["file"]


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no pipes with names here")
def test_a_pipe_is_written_to_and_stays_a_pipe(tmp_path: Path) -> None:
    path = tmp_path / "pipe"
    os.mkfifo(path)
    reader = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    try:
        write_atomically(path, b"text")
        assert os.read(reader, 10) == b"text"
    finally:
        os.close(reader)
    assert path.is_fifo()


def test_a_folder_is_not_replaced(tmp_path: Path) -> None:
    with pytest.raises(IsADirectoryError):
        write_atomically(tmp_path, b"text")


def test_lines_are_added_at_the_end(tmp_path: Path) -> None:
    path = tmp_path / "lines"
    append_line(path, "one")
    append_line(path, "half a character: \ud800")
    assert path.read_bytes() == b"one\nhalf a character: ?\n"
