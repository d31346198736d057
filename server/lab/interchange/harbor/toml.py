"""Plain data as TOML, for files that other programs read: the standard library reads TOML and does not write it."""

import json
from collections.abc import Iterator, Mapping
from typing import Any


def written(data: Mapping[str, Any]) -> str:
    """Tables, lists of tables, and texts, numbers, truth values and lists of them, in the order they are given.

    Tables come after the values of the table that they are in, as TOML wants it.
    """
    return "\n".join(_lines(data, ())) + "\n"


def _lines(table: Mapping[str, Any], place: tuple[str, ...]) -> Iterator[str]:
    for name, value in table.items():
        if not _holds_tables(value):
            yield f"{name} = {_value(value)}"
    for name, value in table.items():
        if isinstance(value, Mapping):
            yield from ("", f"[{'.'.join((*place, name))}]")
            yield from _lines(value, (*place, name))
        elif _holds_tables(value):
            for one in value:
                yield from ("", f"[[{'.'.join((*place, name))}]]")
                yield from _lines(one, (*place, name))


def _holds_tables(value: Any) -> bool:
    return isinstance(value, Mapping) or (isinstance(value, list) and any(isinstance(one, Mapping) for one in value))


def _value(value: Any) -> str:
    if isinstance(value, list):
        return f"[{', '.join(map(_value, value))}]"
    # What JSON escapes, TOML reads alike; the one control character that JSON lets through is escaped by hand.
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
