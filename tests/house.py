"""What the code weighs: modules, lines, and what makes code hard to carry. `python -m tests.house [FOLDER ...]`

The limits are in `tests/test_architecture.py`; this counts and names what is counted.
"""

import ast
import sys
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parent.parent
PACKAGES = ("server", "proxy", "sandboxes", "tasks")
LONG, MANY = 60, 8
"""Lines of a function, and parameters."""


def modules(*folders: str) -> list[Path]:
    """The modules below these folders, in order."""
    return sorted(path for folder in folders or PACKAGES for path in (ROOT / folder).rglob("*.py"))


def functions(tree: ast.AST) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    """Every function of a module, also those inside others."""
    return (node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef))


def parameters(function: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    """How many parameters a caller may give."""
    names = [argument.arg for argument in (*function.args.posonlyargs, *function.args.args)]
    return len(names) - (names[:1] in (["self"], ["cls"])) + len(function.args.kwonlyargs)


def is_tool(path: Path, function: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    """Whether parameters are those of a tool's schema, which the catalog fixes."""
    return path.relative_to(ROOT).parts[:2] == ("sandboxes", "servers") and not function.name.startswith("_")


def inner_imports(tree: ast.AST) -> list[int]:
    """The lines of imports inside functions."""
    found = {
        node.lineno
        for function in functions(tree)
        for node in ast.walk(function)
        if isinstance(node, ast.Import | ast.ImportFrom)
    }
    return sorted(found)


def uses_of_any(tree: ast.AST) -> int:
    """How often `Any` stands in annotations or elsewhere, its imports left out."""
    return sum(isinstance(node, ast.Name) and node.id == "Any" for node in ast.walk(tree))


def public_classes(*folders: str) -> dict[str, list[str]]:
    """Where each public class name is defined at the top of a module."""
    found = defaultdict(list)
    for path in modules(*folders):
        for node in ast.parse(path.read_text("utf-8")).body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                found[node.name].append(str(path.relative_to(ROOT)))
    return dict(sorted(found.items()))


def clashes(*folders: str) -> dict[str, list[str]]:
    """Public class names that more than one module defines."""
    return {name: places for name, places in public_classes(*folders).items() if len(places) > 1}


def main(folders: list[str]) -> None:
    """Print what is counted, with places."""
    paths = modules(*folders)
    lines = long = many = inner = any_ = ones = 0
    for path in paths:
        text = path.read_text("utf-8")
        tree = ast.parse(text)
        place = path.relative_to(ROOT)
        lines += text.count("\n")
        ones += text.count("for one in ")
        any_ += (here := uses_of_any(tree))
        if here > 8:
            print(f"{place}: Any {here} times")
        inside = inner_imports(tree)
        inner += len(inside)
        for function in functions(tree):
            length = (function.end_lineno or 0) - function.lineno + 1
            if length > LONG:
                long += 1
                print(f"{place}:{function.lineno} {function.name} has {length} lines")
            if parameters(function) > MANY and not is_tool(path, function):
                many += 1
                print(f"{place}:{function.lineno} {function.name} has {parameters(function)} parameters")
    clashing = {name: places for name, places in clashes().items() if any(p.startswith(tuple(folders)) for p in places)}
    for name, places in clashing.items():
        print(f"{name}: {', '.join(places)}")
    print(
        f"{len(paths)} modules, {lines} lines; functions over {LONG} lines: {long}; over {MANY} parameters: {many}; "
        f"imports inside functions: {inner}; Any: {any_}; clashing class names: {len(clashing)}; `for one in`: {ones}"
    )


if __name__ == "__main__":
    main(sys.argv[1:] or list(PACKAGES))
