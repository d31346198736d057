"""Paths stay inside the workspace, whoever asks; limits hold."""

import os
import socket
from hashlib import sha256
from pathlib import Path

import pytest

from m3bench.sandboxes.workspace import STATE, Workspace, WorkspaceLimits
from m3bench.tasks.errors import LimitError, PathError
from tests.hostile import HOSTILE, set_traps, surroundings


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    folder = tmp_path / "workspace"
    folder.mkdir()
    return Workspace(folder)


@pytest.mark.parametrize("path", HOSTILE, ids=lambda path: ascii(path)[:40])
def test_a_path_that_leaves_the_workspace_is_refused(workspace: Workspace, path: str) -> None:
    (workspace.root.parent / "outside.txt").write_text("outside")
    set_traps(workspace.root)
    with pytest.raises(PathError):
        workspace.existing(path)
    if path != "loop-a":
        with pytest.raises(PathError), workspace.writing(path) as draft:
            draft.write_text("x")
    assert surroundings(workspace.root.parent) == {"outside.txt": sha256(b"outside").hexdigest()}


@pytest.mark.parametrize(
    "path",
    [
        "media/x.png",
        "./media/x.png",
        "media/../media/./x.png",
        "media//x.png",
        "/workspace/media/x.png",
        "/workspace//media/x.png",
        "inside-link/x.png",
        "{root}/media/x.png",
    ],
)
def test_the_ways_to_name_a_file_of_the_workspace_agree(workspace: Workspace, path: str) -> None:
    with workspace.writing("media/x.png") as draft:
        draft.write_bytes(b"x")
    (workspace.root / "inside-link").symlink_to("media")
    found = workspace.existing(path.format(root=workspace.root))
    assert found == workspace.root / "media" / "x.png"
    assert workspace.show(found) == "/workspace/media/x.png"


@pytest.mark.parametrize("name", ["Größe ü.png", "数据.xlsx", "a b'c\".png", "...png", "~x.png", "x" * 200 + ".png"])
def test_unusual_names_are_fine(workspace: Workspace, name: str) -> None:
    with workspace.writing(f"./{name}") as draft:
        draft.write_bytes(b"x")
    assert workspace.existing(f"./{name}").name == name


def test_a_name_longer_than_the_system_takes_is_an_error_of_the_path(workspace: Workspace) -> None:
    with pytest.raises(PathError):
        workspace.existing("x" * 300)
    with pytest.raises(PathError), workspace.writing("x" * 300) as draft:
        draft.write_text("x")


def test_what_is_not_a_plain_file_is_refused(workspace: Workspace) -> None:
    (workspace.root / "folder").mkdir()
    with pytest.raises(PathError, match="not a file"):
        workspace.existing("folder")
    with pytest.raises(PathError, match="is a folder"), workspace.writing("folder"):
        pass
    with pytest.raises(PathError, match="is a folder"), workspace.writing("."):
        pass


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no pipes with names here")
def test_pipes_and_sockets_are_refused_at_once(workspace: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    os.mkfifo(workspace.root / "pipe")
    monkeypatch.chdir(workspace.root)
    with socket.socket(socket.AF_UNIX) as line:
        line.bind("socket")
        for name in ("pipe", "socket"):
            with pytest.raises(PathError, match="not a file"):
                workspace.existing(name)


def test_a_file_where_a_folder_is_needed_is_an_error_of_the_path(workspace: Workspace) -> None:
    (workspace.root / "file").write_text("x")
    with pytest.raises(PathError), workspace.writing("file/x.png") as draft:
        draft.write_text("x")


def test_nothing_is_seen_of_a_file_that_was_not_finished(workspace: Workspace) -> None:
    with workspace.writing("a/x.txt") as draft:
        draft.write_text("old")
    with pytest.raises(ZeroDivisionError), workspace.writing("a/x.txt") as draft:
        draft.write_text(f"new {1 / 0}")
    assert [path.name for path in (workspace.root / "a").iterdir()] == ["x.txt"]
    assert (workspace.root / "a" / "x.txt").read_text() == "old"


@pytest.mark.parametrize(
    ("limits", "message"),
    [
        (WorkspaceLimits(file_bytes=10), "more than the 10 allowed"),
        (WorkspaceLimits(bytes=25), "the workspace would hold 30 bytes"),
        (WorkspaceLimits(files=2), "the workspace would hold 3 files"),
    ],
)
def test_a_file_over_a_limit_never_comes_to_be(tmp_path: Path, limits: WorkspaceLimits, message: str) -> None:
    (tmp_path / "one").write_bytes(b"x" * 5)
    (tmp_path / "two").write_bytes(b"x" * 5)
    with pytest.raises(LimitError, match=message), Workspace(tmp_path, limits).writing("three") as draft:
        draft.write_bytes(b"x" * 20)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["one", "two"]


def test_a_file_grown_too_large_is_not_read(tmp_path: Path) -> None:
    with (tmp_path / "big").open("wb") as file:
        file.truncate(11)
    with pytest.raises(LimitError, match="11 bytes"):
        Workspace(tmp_path, WorkspaceLimits(file_bytes=10)).existing("big")


def test_a_servers_own_state_is_no_file_of_the_run(workspace: Workspace) -> None:
    (workspace.state("ppt") / "open.json").write_text("{}")
    with pytest.raises(PathError, match="reserved"):
        workspace.existing(f"{STATE}/ppt/open.json")
