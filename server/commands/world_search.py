"""`m3bench world search` without the machinery of a command line, which takes longer to import than to search.

What is typed as usual is read here; help, mistakes and everything unusual are left to the full command.
"""

import json
import os
import sys
from collections.abc import Sequence

from m3bench.sandboxes.world import catalogue, tables
from m3bench.tasks.errors import UserError

LIMIT = 10


def at_once(typed: Sequence[str]) -> int | None:
    """Search for what was typed after `world search`.

    Returns:
        The exit code; None when the full command has to read it.
    """
    words: list[str] = []
    table, limit, as_json = None, LIMIT, False
    left = list(typed)
    while left:
        word = left.pop(0)
        name, equals, value = word.partition("=")
        if word == "--json":
            as_json = True
        elif name in ("--table", "--limit"):
            if not equals and not left:
                return None
            value = value if equals else left.pop(0)
            if name == "--table" and value in tables.names():
                table = value
            elif name == "--limit" and value.isascii() and value.isdecimal() and int(value) > 0:
                limit = int(value)
            else:
                return None
        elif word.startswith("-"):
            return None
        else:
            words.append(word)
    return search(words, table, limit, as_json=as_json) if words else None


def search(words: Sequence[str], table: str | None, limit: int, *, as_json: bool) -> int:
    """Print what is found; returns the exit code.

    Raises:
        UserError: There is no such table.
    """
    if table is not None and table not in tables.names():
        raise UserError(f"There is no table {table!r}. Tables: {', '.join(tables.names())}.")
    found = catalogue.search(" ".join(words), [table] if table else tables.names(), limit)
    if as_json:
        answer = [{"score": score, "table": name, "record": record} for score, name, record in found]
        lines = [json.dumps(answer, ensure_ascii=False, indent=2)]
    else:
        lines = [f"{score:.2f}  {name:14} {catalogue.label(record)}" for score, name, record in found]
    _write(lines)
    if not found:
        print(f"Nothing in the world answers to {' '.join(words)!r}.", file=sys.stderr)
        return 1
    return 0


def _write(lines: Sequence[str]) -> None:
    """Print lines, with ? for what the terminal cannot show; a reader that stops, as `| head` does, is no failure."""
    encoding = sys.stdout.encoding or "utf-8"
    text = "".join(f"{line}\n" for line in lines).encode(encoding, "replace").decode(encoding)
    try:
        sys.stdout.write(text)
        sys.stdout.flush()
    except BrokenPipeError:
        # Python flushes once more at the end, and would complain then.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
