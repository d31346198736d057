"""Paths that no tool may follow, and the traps some of them need."""

from hashlib import sha256
from pathlib import Path

HOSTILE = [
    "",
    " ",
    "..",
    "../outside.txt",
    "../../../../../../etc/passwd",
    "./../outside.txt",
    "media/../../outside.txt",
    "media/../../workspace-2/x.png",
    "/etc/passwd",
    "//etc/passwd",
    "/",
    "/tmp/x.png",
    "/workspace/../outside.txt",
    "/workspace/../../etc/passwd",
    "/workspaces/x.png",
    "/workspace2",
    "/dev/zero",
    "/dev/stdin",
    "/proc/self/environ",
    "/proc/self/cwd/../outside.txt",
    "/proc/self/root/etc/passwd",
    "~",
    "~/.ssh/id_rsa",
    "~root/.bashrc",
    "file:///etc/passwd",
    "file:x.png",
    "http://127.0.0.1/x.png",
    "https://example.com/x.png",
    "ftp://example.com/x.png",
    "data:image/png;base64,iVBORw0KGgo=",
    "C:\\Windows\\win.ini",
    "c:/windows/win.ini",
    "\\\\server\\share\\x.png",
    "..\\..\\outside.txt",
    "media\\x.png",
    "x.png\x00.txt",
    "x\n.png",
    "\ud800.png",
    "a/" * 600 + "x.png",
    "out-link/passwd",
    "out-file",
    "loop-a",
    ".m3bench/ppt/state.json",
    "./media/../.m3bench/x",
    ".M3Bench/x",
]
"""45 ways out, or to what is not a file of the run. The links are made by `set_traps`."""


def set_traps(workspace: Path) -> None:
    """Links that lead out, as a client with other tools might plant them."""
    (workspace / "media").mkdir(exist_ok=True)
    (workspace / "out-link").symlink_to("/etc")
    (workspace / "out-file").symlink_to(workspace.parent / "outside.txt")
    (workspace / "loop-a").symlink_to("loop-b")
    (workspace / "loop-b").symlink_to("loop-a")


def surroundings(folder: Path) -> dict[str, str]:
    """Everything below a folder but the workspaces in it, by content."""
    return {
        str(path.relative_to(folder)): sha256(path.read_bytes()).hexdigest() if path.is_file() else ""
        for path in sorted(folder.rglob("*"))
        if not path.relative_to(folder).parts[0].startswith("workspace")
    }
