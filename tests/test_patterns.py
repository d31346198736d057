"""No pattern in the code takes more than the square of a text's length, whatever the text: what is read is bounded."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.backtracking import Steps, growth, repeats

ROOT = Path(__file__).parents[1]
ROOMS = ("proxy", "sandboxes", "server", "tasks")

SQUARE = 4.6
"""A text twice as long takes four times as long, and at these lengths a little more."""

LENGTH = 24

WHOLE = frozenset({"match", "fullmatch"})
METHODS = WHOLE | {"search", "sub", "subn", "findall", "finditer", "split"}
FLAGS_AT = {"compile": 1, "sub": 4, "subn": 4, "split": 3}
"""The place of the flags among the arguments; elsewhere they are the third."""


class Pattern(NamedTuple):
    """A pattern of the code."""

    text: str
    flags: int
    whole: bool
    """Whether it is only tried at the beginning."""


BOUNDED: dict[str, int] = {}
"""Patterns that take longer, each with the most characters that it is ever held against."""


def patterns_of(source: str) -> Iterator[Pattern]:
    """All patterns of a module whose text can be read off the code."""
    tree = ast.parse(source)
    names: dict[str, str] = {}
    compiled: dict[str, ast.Call] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign | ast.AnnAssign) and node.value is not None:
            target = ast.unparse(node.targets[0] if isinstance(node, ast.Assign) else node.target)
            if isinstance(node.value, ast.Call) and ast.unparse(node.value.func) == "re.compile":
                compiled[target] = node.value
            elif (text := _text(node.value, names)) is not None:
                names[target] = text
    used: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in METHODS:
            base = ast.unparse(node.func.value)
            made = node if base == "re" else compiled.get(base)
            if made is not None:
                used.add(base)
                yield from _pattern(made, names, node.func.attr)
    for name, made in compiled.items():
        if name not in used:
            yield from _pattern(made, names, "search")


def _pattern(made: ast.Call, names: dict[str, str], method: str) -> Iterator[Pattern]:
    text = _text(made.args[0], names) if made.args else None
    if text is None:
        return
    place = FLAGS_AT.get(made.func.attr if isinstance(made.func, ast.Attribute) else "", 2)
    flags = 0
    for node in (*made.args[place : place + 1], *(word.value for word in made.keywords if word.arg == "flags")):
        for part in ast.walk(node):
            if isinstance(part, ast.Attribute) and hasattr(re, part.attr):
                flags |= int(getattr(re, part.attr))
    yield Pattern(text, flags, method in WHOLE)


def _text(node: ast.expr, names: dict[str, str]) -> str | None:
    """The text of an expression; what is put into it is a word."""
    match node:
        case ast.Constant(value=str() as text):
            return text
        case ast.Name(id=name):
            return names.get(name)
        case ast.BinOp(left=left, op=ast.Add(), right=right):
            one, other = _text(left, names), _text(right, names)
            return one + other if one is not None and other is not None else None
        case ast.JoinedStr(values=values):
            return "".join(
                part.value
                if isinstance(part, ast.Constant) and isinstance(part.value, str)
                else (_text(part.value, names) if isinstance(part, ast.FormattedValue) else None) or "word"
                for part in values
            )
    return None


def all_patterns() -> dict[Pattern, str]:
    """The patterns of the code, each with a module that has it."""
    found: dict[Pattern, str] = {}
    for room in ROOMS:
        for path in sorted((ROOT / room).rglob("*.py")):
            source = path.read_text("utf-8")
            if "re." in source:
                found |= dict.fromkeys(patterns_of(source), path.relative_to(ROOT).as_posix())
    return found


@pytest.mark.slow
@pytest.mark.parametrize(
    "third", [0, pytest.param(1, marks=pytest.mark.night), pytest.param(2, marks=pytest.mark.night)]
)
def test_no_pattern_takes_more_than_the_square_of_a_texts_length(third: int) -> None:
    found = all_patterns()
    assert len(found) > 300
    slow: list[str] = []
    for pattern, where in list(found.items())[third::3]:
        steps = Steps(pattern.text, pattern.flags, whole=pattern.whole)
        if repeats(steps.parts) < 2 or pattern.text in BOUNDED:
            continue
        times, pump = growth(steps, LENGTH)
        if times > SQUARE:
            slow.append(f"{where}: {pattern.text[:120]!r}: {times:.1f} times with {pump!r}")
    assert slow == []


@pytest.mark.parametrize(
    ("text", "least", "most"),
    [
        (r"(a+)+b", 100, 10_000),
        (r"(?:a|aa)+b", 100, 10_000),
        (r"a*a*a*b", 6, 10_000),
        (r"\s+$", 3, SQUARE),
        (r"\s*,\s*x", 3, SQUARE),
        (r"(?:[a-z]+,)*[a-z]+;", 3, SQUARE),
        (r"^\d+\.\d+$", 0, 2.5),
    ],
)
def test_what_takes_long_is_told_from_what_does_not(text: str, least: float, most: float) -> None:
    times, _ = growth(Steps(text), LENGTH)
    assert least <= times <= most


@pytest.mark.parametrize(
    "text", [r"a+?b|c{2,3}d", r"(?i)x[^y]*Y", r"(?<=a)b\b", r"(?:\w+\s*)*;", r"a*+b", r"^(?=\d)\S+$"]
)
def test_the_steps_are_those_of_a_matcher_that_finds_what_re_finds(text: str) -> None:
    for said in ("aab ccd", "xzzY", "ab b", "one two;", "aaab", "1x", ""):
        assert Steps(text).found(said) == (re.search(text, said) is not None), said
