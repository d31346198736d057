"""Bubblewrap: a host sees its workspace, Python and nothing else; no network, no other processes.

Needs the `bwrap` program and a system that lets it make namespaces, which is found out by trying once.
"""

import shutil
import subprocess
import sys
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

from m3bench.sandboxes.backends import visible
from m3bench.sandboxes.backends.ownership import is_superuser

TEMPORARY = "/tmp"
"""A file system in memory, gone with the host."""

_FOR_BECOMING_NOBODY = ("CAP_SETUID", "CAP_SETGID", "CAP_DAC_READ_SEARCH")
"""What a host that root started needs in order to be somebody else; gone when it is."""

_TEMPORARY_BYTES = 256 * 1024 * 1024
_PROBE_SECONDS = 20.0


def command(workspace: Path) -> tuple[str, ...]:
    """What to put before a program's own command line."""
    program = shutil.which("bwrap") or "bwrap"
    place = str(workspace.resolve())
    way = _way_to(workspace.resolve())
    return (program, *_walls(), *way, "--bind", place, place, "--chdir", place, "--remount-ro", "/", "--")


def _way_to(place: Path) -> list[str]:
    """Folders that lead to a place, and that anybody may pass through."""
    return [word for folder in reversed(place.parents[:-1]) for word in ("--perms", "0755", "--dir", str(folder))]


@cache
def problem() -> str | None:
    """Why it cannot be used here, in a few words; None when it can. Tried once per process."""
    if sys.platform != "linux":
        return "bubblewrap is for Linux only"
    if shutil.which("bwrap") is None:
        return "bubblewrap is not installed"
    with TemporaryDirectory(prefix="m3bench-probe-") as folder:
        try:
            subprocess.run(
                [*command(Path(folder)), sys.executable, "-I", "-S", "-c", "pass"],
                env={}, stdin=subprocess.DEVNULL, capture_output=True, timeout=_PROBE_SECONDS, check=True,
            )  # fmt: skip
        except subprocess.CalledProcessError as error:
            words = error.stderr.decode(errors="replace").strip().splitlines()
            return f"bubblewrap does not work here ({words[-1] if words else f'exit code {error.returncode}'})"
        except (OSError, subprocess.TimeoutExpired) as error:
            return f"bubblewrap does not work here ({error})"
    return None


@cache
def _walls() -> tuple[str, ...]:
    # Root has no use for a user namespace: it would be root outside of it as well, and have nobody to become.
    separate = ["ipc", "pid", "net", "uts", "cgroup-try"] if is_superuser() else ["all"]
    walls = [f"--unshare-{kind}" for kind in separate]
    walls += ["--die-with-parent", "--new-session", "--hostname", "sandbox", "--cap-drop", "ALL"]
    for capability in _FOR_BECOMING_NOBODY if is_superuser() else ():
        walls += ["--cap-add", capability]
    # Before the trees, because an installation may lie below /tmp.
    walls += ["--perms", "1777", "--size", str(_TEMPORARY_BYTES), "--tmpfs", TEMPORARY]
    walls += ["--proc", "/proc", "--remount-ro", "/proc", "--dev", "/dev", "--remount-ro", "/dev"]
    for path in visible.system():
        if path.is_symlink():
            walls += ["--symlink", str(path.readlink()), str(path)]
        else:
            walls += ["--ro-bind", str(path), str(path)]
    trees = visible.trees()
    for tree in trees:
        walls += [*_way_to(tree), "--ro-bind", str(tree), str(tree)]
    shown = (*visible.system(), *trees)
    for path in visible.withheld():
        if any(path.is_relative_to(tree) for tree in shown):
            walls += ["--tmpfs", str(path)]
            for back in visible.returned():
                if back.is_relative_to(path):
                    walls += ["--ro-bind", str(back), str(back)]
            walls += ["--remount-ro", str(path)]
    return tuple(walls)
