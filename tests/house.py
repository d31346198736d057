"""What the code weighs: modules, lines, and what makes code hard to carry. `python -m tests.house [FOLDER ...]`

The limits are in `tests/test_architecture.py`; this counts and names what is counted. Each file is read once.
"""

import ast
import sys
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TypeAlias

ROOT = Path(__file__).parent.parent
PACKAGES = ("server", "proxy", "sandboxes", "tasks")
LONG, MANY = 60, 8
"""Lines of a function, and parameters."""

Function: TypeAlias = ast.FunctionDef | ast.AsyncFunctionDef
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_BLOCKS = ("body", "orelse", "finalbody", "handlers", "cases")
"""Where the statements of a statement are."""


@dataclass(frozen=True)
class ImportLine:
    """An import statement."""

    line: int
    modules: tuple[str, ...]
    relative: bool
    inner: bool
    """Whether it is inside a function."""


@dataclass(frozen=True)
class FunctionSize:
    """A function, also one inside another."""

    name: str
    line: int
    lines: int
    parameters: int
    is_tool: bool
    """Whether its parameters are those of a tool's schema, which the catalog fixes."""


@dataclass(frozen=True)
class SourceFile:
    """What is known of a file."""

    path: Path
    lines: int
    is_documented: bool
    """Whether it begins by saying what it is, or is empty."""
    imports: tuple[ImportLine, ...]
    functions: tuple[FunctionSize, ...]
    public_classes: tuple[str, ...]
    """Those at the top of the module."""
    any_count: int
    """How often `Any` stands in annotations or elsewhere, its imports left out."""
    ones: int
    """How often a loop calls what it takes `one`."""

    @property
    def place(self) -> str:
        """The path in the repository."""
        return self.path.relative_to(ROOT).as_posix()

    @property
    def long_functions(self) -> list[FunctionSize]:
        """Functions with more than `LONG` lines."""
        return [function for function in self.functions if function.lines > LONG]

    @property
    def wide_functions(self) -> list[FunctionSize]:
        """Functions with more than `MANY` parameters that nothing outside asks for."""
        return [function for function in self.functions if function.parameters > MANY and not function.is_tool]

    @property
    def inner_imports(self) -> list[ImportLine]:
        """Imports inside functions."""
        return [line for line in self.imports if line.inner]


def modules(*folders: str) -> list[Path]:
    """The modules below these folders, in order."""
    return sorted(path for folder in folders or PACKAGES for path in (ROOT / folder).rglob("*.py"))


def sources(*folders: str) -> list[SourceFile]:
    """What is known of the modules below these folders."""
    return [source(path) for path in modules(*folders)]


@cache
def source(path: Path) -> SourceFile:
    """What is known of a file."""
    text = path.read_text("utf-8")
    tree = ast.parse(text)
    imports, functions, has_any = [], [], False
    for node, inner in _statements(tree):
        match node:
            case ast.Import():
                imports.append(ImportLine(node.lineno, tuple(name.name for name in node.names), False, inner))
            case ast.ImportFrom():
                imports.append(ImportLine(node.lineno, (node.module or "",), node.level > 0, inner))
                has_any = has_any or any(name.name == "Any" for name in node.names)
            case ast.FunctionDef() | ast.AsyncFunctionDef():
                lines = (node.end_lineno or 0) - node.lineno + 1
                functions.append(FunctionSize(node.name, node.lineno, lines, _parameters(node), _is_tool(path, node)))
    return SourceFile(
        path=path,
        lines=text.count("\n"),
        is_documented=not tree.body or ast.get_docstring(tree) is not None,
        imports=tuple(sorted(imports, key=lambda line: line.line)),
        functions=tuple(sorted(functions, key=lambda function: function.line)),
        public_classes=tuple(
            node.name for node in tree.body if isinstance(node, ast.ClassDef) and not node.name.startswith("_")
        ),
        any_count=_uses_of_any(tree) if has_any else 0,
        ones=text.count("for one in "),
    )


def _statements(tree: ast.Module) -> Iterator[tuple[ast.AST, bool]]:
    """Every statement, and whether it is inside a function. Expressions, which are most of a tree, are left out."""
    waiting: list[tuple[ast.AST, bool]] = [(tree, False)]
    while waiting:
        node, inner = waiting.pop()
        inner = inner or type(node) in _FUNCTIONS
        for field in _BLOCKS:
            below = getattr(node, field, None)
            if type(below) is list:
                found = [(statement, inner) for statement in below]
                yield from found
                waiting += found


def _parameters(function: Function) -> int:
    """How many parameters a caller may give."""
    names = [argument.arg for argument in (*function.args.posonlyargs, *function.args.args)]
    return len(names) - (names[:1] in (["self"], ["cls"])) + len(function.args.kwonlyargs)


def _is_tool(path: Path, function: Function) -> bool:
    return path.relative_to(ROOT).parts[:2] == ("sandboxes", "servers") and not function.name.startswith("_")


def _uses_of_any(tree: ast.AST) -> int:
    return sum(isinstance(node, ast.Name) and node.id == "Any" for node in ast.walk(tree))


def clashes(*folders: str) -> dict[str, list[str]]:
    """Public class names that more than one module defines, and where."""
    found = defaultdict(list)
    for file in sources(*folders):
        for name in file.public_classes:
            found[name].append(file.place)
    return {name: places for name, places in sorted(found.items()) if len(places) > 1}


def main(folders: list[str]) -> None:
    """Print what is counted, with places."""
    files = sources(*folders)
    for file in files:
        if file.any_count > 8:
            print(f"{file.place}: Any {file.any_count} times")
        for line in file.inner_imports:
            print(f"{file.place}:{line.line} imports {', '.join(line.modules)} inside a function")
        for function in file.long_functions:
            print(f"{file.place}:{function.line} {function.name} has {function.lines} lines")
        for function in file.wide_functions:
            print(f"{file.place}:{function.line} {function.name} has {function.parameters} parameters")
    clashing = {name: places for name, places in clashes().items() if any(p.startswith(tuple(folders)) for p in places)}
    for name, places in clashing.items():
        print(f"{name}: {', '.join(places)}")
    print(
        f"{len(files)} modules, {sum(file.lines for file in files)} lines; "
        f"functions over {LONG} lines: {sum(len(file.long_functions) for file in files)}; "
        f"over {MANY} parameters: {sum(len(file.wide_functions) for file in files)}; "
        f"imports inside functions: {sum(len(file.inner_imports) for file in files)}; "
        f"Any: {sum(file.any_count for file in files)}; clashing class names: {len(clashing)}; "
        f"`for one in`: {sum(file.ones for file in files)}"
    )


if __name__ == "__main__":
    main(sys.argv[1:] or list(PACKAGES))
