"""Sets of tasks are found by folder or by name."""

import os
from pathlib import Path

import pytest

from m3bench.tasks import library
from m3bench.tasks.library import DESK, Library
from tests.sets import write_set


def test_a_bundled_set_is_found_by_its_name_beside_a_folder_of_results(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert Library(Path("desk")).folder == DESK
    Path("desk", "missing").mkdir(parents=True)  # as `m3bench run --tasks desk -o desk` makes one
    assert Library(Path("desk")).folder == DESK


def test_a_set_in_a_folder_comes_before_a_bundled_one_of_its_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("desk").mkdir()
    Path("desk", "tasks.json").write_text("{}")
    assert Library(Path("desk")).folder == Path("desk")


def test_a_hash_is_read_again_once_a_file_is_another_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = write_set(tmp_path / "set")
    picture = next((folder / "pictures").iterdir())
    first = Library(folder).hash
    # As if all of it had been there for long.
    monkeypatch.setattr(library, "_SETTLED_SECONDS", -1.0)
    read: list[str] = []

    def reading(self: Library, name: str) -> bytes:
        read.append(name)
        return self._place(name).read_bytes()

    monkeypatch.setattr(Library, "_read", reading)
    assert Library(folder).hash == first
    assert read
    read.clear()
    assert Library(folder).hash == first
    assert not read
    changed = picture.stat().st_mtime_ns
    picture.write_bytes(picture.read_bytes()[:-1] + b"?")
    os.utime(picture, ns=(changed, changed))
    assert Library(folder).hash != first


def test_a_hash_of_files_that_just_changed_is_not_kept(tmp_path: Path) -> None:
    folder = write_set(tmp_path / "set")
    picture = next((folder / "pictures").iterdir())
    first = Library(folder).hash
    picture.write_bytes(picture.read_bytes()[:-1] + b"?")
    assert Library(folder).hash != first
