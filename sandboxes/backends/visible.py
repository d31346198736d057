"""What a host must be able to read outside its workspace: Python, its libraries, and the part of m3bench it runs.

One list for every mechanism that can hold a process to a list. Withheld is the rest of the installation that
happens to lie inside those trees: the proxy, the scorer, and all task data but the definitions of tools.
"""

import os
import sys
from collections.abc import Iterable
from pathlib import Path

_PACKAGE = Path(__file__).resolve().parents[2]

_SYSTEM = (
    "/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/nix/store",
    "/etc/alternatives", "/etc/fonts", "/etc/ld.so.cache", "/etc/localtime", "/etc/mime.types",
)  # fmt: skip


def system() -> tuple[Path, ...]:
    """The places of shared libraries and programs; some may be symbolic links."""
    return tuple(path for path in map(Path, _SYSTEM) if path.exists())


def search_path() -> tuple[str, ...]:
    """Where this interpreter finds modules beyond what it would find by itself."""
    named = os.environ.get("PYTHONPATH", "").split(os.pathsep)
    user = [path for path in sys.path if Path(path).name == "site-packages" and not _inside(Path(path), _prefixes())]
    return tuple(dict.fromkeys(path for path in [*named, *user] if path and os.path.isabs(path)))


def trees() -> tuple[Path, ...]:
    """Interpreter, libraries and our own code, none inside another or inside the system's places."""
    wanted = [*_prefixes(), Path(os.path.realpath(sys.executable)).parent, *map(Path, search_path())]
    wanted += [_PACKAGE / "sandboxes", _PACKAGE / "tasks"]
    found: list[Path] = list(system())
    for path in sorted(wanted, key=lambda path: len(path.parts)):
        if path.exists() and not _inside(path, found):
            found.append(path)
    return tuple(found[len(system()) :])


def withheld() -> tuple[Path, ...]:
    """What stays out of sight although it may lie inside one of the trees."""
    return tuple(
        path for path in (_PACKAGE / "server", _PACKAGE / "proxy", _PACKAGE / "tasks" / "data") if path.exists()
    )


def returned() -> tuple[Path, ...]:
    """What inside the withheld places is needed all the same."""
    data = _PACKAGE / "tasks" / "data"
    return (data / "catalog", data / "further", data / "tables")


def carved(tree: Path, out: Iterable[Path]) -> list[Path]:
    """A tree without some of its parts, as the largest subtrees that hold none of them."""
    # A link such as `lib64` leads to what its target is carved for already.
    inside = [path for path in out if path.is_relative_to(tree.resolve())]
    if not inside:
        return [tree]
    if tree.is_symlink() or tree in inside:
        return []
    return [part for child in sorted(tree.iterdir()) for part in carved(child, inside)]


def _prefixes() -> list[Path]:
    given = [Path(sys.prefix), Path(sys.base_prefix)]
    return list(dict.fromkeys([*given, *(path.resolve() for path in given)]))


def _inside(path: Path, trees: Iterable[Path]) -> bool:
    return any(path.is_relative_to(tree) for tree in trees)
