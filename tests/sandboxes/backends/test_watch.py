"""A look at a sandbox from outside: what it has too much of, and what is removed then."""

import mmap
import os
from pathlib import Path

from m3bench.sandboxes.backends.watch import ResourceWatch
from m3bench.sandboxes.workspace import WorkspaceLimits

SMALL = WorkspaceLimits(bytes=100_000, files=5)


def test_a_workspace_within_its_limits_is_left_alone(tmp_path: Path) -> None:
    for number in range(5):
        (tmp_path / f"{number}.txt").write_bytes(b"x")
    watch = ResourceWatch(workspace=tmp_path, limits=SMALL)
    assert watch.problem() is None
    watch.trim()
    assert len(list(tmp_path.iterdir())) == 5


def test_what_was_written_last_is_removed_until_the_rest_fits(tmp_path: Path) -> None:
    watch = ResourceWatch(workspace=tmp_path, limits=SMALL)
    (tmp_path / "first.txt").write_bytes(b"x" * 50_000)
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "second.txt").write_bytes(b"x" * 90_000)
    # The time that a program can set for itself has no say.
    os.utime(tmp_path / "folder" / "second.txt", (0, 0))
    assert "0 MB, 2 files and 1 folders, and may hold" in str(watch.problem())
    watch.trim()
    assert watch.problem() is None
    assert (tmp_path / "first.txt").exists()
    assert not (tmp_path / "folder" / "second.txt").exists()


def test_folders_are_counted_even_where_they_were_made_unreadable(tmp_path: Path) -> None:
    hidden = tmp_path / "hidden"
    for number in range(6):
        (hidden / str(number)).mkdir(parents=True)
    hidden.chmod(0o300)
    watch = ResourceWatch(workspace=tmp_path, limits=SMALL)
    assert "7 folders" in str(watch.problem())
    watch.trim()
    assert watch.problem() is None


def test_a_file_without_a_name_counts_as_long_as_it_is_open(tmp_path: Path) -> None:
    with (tmp_path / "gone.bin").open("wb") as file:
        file.write(b"x" * 200_000)
        file.flush()
        (tmp_path / "gone.bin").unlink()
        watch = ResourceWatch(workspace=tmp_path, limits=SMALL, pid=os.getpid())
        assert "its workspace held" in str(watch.problem())
    assert watch.problem() is None


def test_a_file_without_a_name_counts_once_also_when_it_is_only_mapped(tmp_path: Path) -> None:
    watch = ResourceWatch(workspace=tmp_path, limits=SMALL, pid=os.getpid())
    with (tmp_path / "gone.bin").open("w+b") as file, (tmp_path / "gone.bin").open("rb"):
        file.write(b"x" * 60_000)
        file.flush()
        mapped = mmap.mmap(file.fileno(), 60_000)
        (tmp_path / "gone.bin").unlink()
        assert watch.problem() is None, "twice it would be too much"
        file.write(b"x" * 140_000)
        file.flush()
        assert "its workspace held" in str(watch.problem())
        mapped.resize(200_000)
    assert "its workspace held" in str(watch.problem())
    mapped.close()
    assert watch.problem() is None


def test_memory_and_processes_of_a_tree_are_summed() -> None:
    assert ResourceWatch(pid=os.getpid(), memory=1024**4, processes=10_000).problem() is None
    assert "MB of memory" in str(ResourceWatch(pid=os.getpid(), memory=1).problem())
