"""What the docs promise has tests: `requirements.toml` names them, and is complete and true."""

import ast
import re
import tomllib
from functools import cache
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parent.parent
PROMISES: list[dict[str, Any]] = tomllib.loads((ROOT / "tests" / "requirements.toml").read_text("utf-8"))["promise"]
PAGES = ("README.md", "docs/proxy.md", "docs/security.md")

TABLES = {"docs/security.md": "| promise |", "docs/proxy.md": "| state |"}
"""Tables whose every row is a promise, by the beginning of their head."""


@cache
def words(page: str) -> str:
    return " ".join((ROOT / page).read_text("utf-8").split())


@cache
def functions_of(file: str) -> set[str]:
    tree = ast.parse((ROOT / file).read_text("utf-8"))
    return {node.name for node in tree.body if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)}


def test_a_promise_has_an_id_of_its_own_and_is_still_made() -> None:
    ids = [promise["id"] for promise in PROMISES]
    assert len(set(ids)) == len(ids)
    assert {promise["source"] for promise in PROMISES} == set(PAGES)
    gone = [promise["id"] for promise in PROMISES if promise["text"] not in words(promise["source"])]
    assert gone == [], "the page no longer says this: change the promise, or take it out"


def test_every_test_that_holds_a_promise_exists() -> None:
    for promise in PROMISES:
        assert promise["tests"], promise["id"]
        for test in promise["tests"]:
            file, _, name = test.partition("::")
            assert (ROOT / file).exists(), f"{promise['id']}: {file} is gone"
            assert name in functions_of(file), f"{promise['id']}: {test} is gone"


def test_every_row_of_the_tables_of_promises_is_held() -> None:
    for page, head in TABLES.items():
        told = [promise["text"] for promise in PROMISES if promise["source"] == page]
        table = (ROOT / page).read_text("utf-8").partition(f"\n{head}")[2].partition("\n\n")[0]
        rows = re.findall(r"^\| ([^|]+) \|", table, re.MULTILINE)
        assert rows, f"there is no table {head} in {page}"
        assert [row for row in rows if not any(row.startswith(text) for text in told)] == [], page
