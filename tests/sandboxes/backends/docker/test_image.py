"""What is in the image is what its programs import."""

import ast
from pathlib import Path

from m3bench.sandboxes.backends.docker import image

INSTALLED = Path(image.__file__).resolve().parents[3]


def test_whatever_a_module_in_the_image_imports_of_ours_is_in_the_image() -> None:
    inside = dict(image.contents())
    missing = {
        f"{place} imports {module}"
        for place, path in inside.items()
        if path.suffix == ".py"
        for module in _imports(path)
        if not _is_there(module, inside)
    }
    assert sorted(missing) == []


def _is_there(module: str, inside: dict[str, Path]) -> bool:
    place = "/".join(module.split(".")[1:])
    return f"{place}.py" in inside or any(name.startswith(f"{place}/") for name in inside)


def _imports(path: Path) -> set[str]:
    """The modules of m3bench that a file imports, wherever in it; names that are not modules are left out."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names if alias.name.startswith("m3bench.")}
        elif isinstance(node, ast.ImportFrom) and (node.module or "").startswith("m3bench."):
            assert node.module is not None
            below = {f"{node.module}.{alias.name}" for alias in node.names}
            modules = {name for name in below if _exists(name)}
            found |= modules or {node.module}
    return found


def _exists(module: str) -> bool:
    place = INSTALLED.joinpath(*module.split(".")[1:])
    return place.with_suffix(".py").exists() or place.is_dir()
