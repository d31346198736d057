"""What keeps the codebase in shape: one direction of imports, modules that are nouns, nothing bare."""

import ast
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
FOLDERS = ("proxy", "sandboxes", "server", "tasks")
MODULES = sorted(path for folder in FOLDERS for path in (ROOT / folder).rglob("*.py"))

MAX_LINES, MAX_SERVER_LINES = 400, 500
ATTIC = {"utils", "util", "common", "helpers", "helper", "core", "misc"}


def name(path: Path) -> str:
    return str(path.relative_to(ROOT))


def test_imports_go_in_one_direction() -> None:
    command = [str(Path(sys.executable).with_name("lint-imports")), "--no-logo"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout


def test_the_map_for_contributors_has_every_room_in_the_order_of_the_contracts() -> None:
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]["contracts"]
    (layers,) = (contract["layers"] for contract in contracts if contract["name"] == "rooms of the server")
    floors = [sorted(re.split(r"\W+", layer)) for layer in layers]
    page = (ROOT / "CONTRIBUTING.md").read_text("utf-8")
    drawing = page.split("─ server ─")[1].split("─ proxy ─")[0]
    lines = [re.match(r"│  ((?:\w+ · )*\w+) ", line) for line in drawing.splitlines()]
    rooms = [room for line in lines if line for room in line[1].split(" · ")]
    for floor in floors:
        assert sorted(rooms[: len(floor)]) == floor, "draw the rooms as pyproject.toml has them"
        del rooms[: len(floor)]
    assert not rooms


def test_the_package_list_is_that_of_the_folders() -> None:
    listed = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["setuptools"]["packages"]
    # The recipes of images are no code: a package there would stand in the way of the SDK of the same name.
    folders = {ROOT / "docker", *(path.parent for path in MODULES if path.name == "__init__.py")}
    assert listed == sorted("m3bench." + ".".join(folder.relative_to(ROOT).parts) for folder in folders)


@pytest.mark.parametrize("path", MODULES, ids=name)
def test_a_module_is_a_noun_of_bounded_length_that_says_what_it_is(path: Path) -> None:
    text = path.read_text()
    limit = MAX_SERVER_LINES if "servers" in path.parts else MAX_LINES
    assert text.count("\n") <= limit
    assert not ATTIC & {path.stem, *path.relative_to(ROOT).parts}
    if text.strip():
        assert ast.get_docstring(ast.parse(text)), "a module begins by saying what it is"


@pytest.mark.parametrize("path", MODULES, ids=name)
def test_imports_of_ours_are_absolute_and_by_import_name(path: Path) -> None:
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom):
            assert node.level == 0, ast.unparse(node)
            assert (node.module or "").partition(".")[0] not in FOLDERS, ast.unparse(node)
        elif isinstance(node, ast.Import):
            assert not {alias.name.partition(".")[0] for alias in node.names} & set(FOLDERS), ast.unparse(node)


@pytest.mark.parametrize("module", ["m3bench.tasks.catalog", "m3bench.server.scoring", "m3bench.sandboxes.host"])
def test_light_modules_stay_light(module: str) -> None:
    code = f"import sys, {module}; print(*sorted(set(sys.modules) & set({HEAVY!r})))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == []


def test_help_imports_nothing_heavy() -> None:
    command = [sys.executable, "-X", "importtime", "-m", "m3bench.server.cli", "--help"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    loaded = {line.rpartition("|")[2].strip().partition(".")[0] for line in done.stderr.splitlines()}
    assert not loaded & set(HEAVY)
    assert "serve" in done.stdout


HEAVY = ("fastmcp", "mcp", "numpy", "openpyxl", "PIL", "pptx", "scipy", "sentence_transformers", "torch")
