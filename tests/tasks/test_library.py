"""Sets of tasks are found by folder or by name."""

from pathlib import Path

import pytest

from m3bench.tasks.library import DESK, Library


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
