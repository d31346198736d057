"""Edits TOML in place: our table occupies its own lines, and everything else keeps its bytes.

Tables written inline (`mcp_servers = {…}`) cannot be extended by lines; those go through tomlkit. tomlkit does not do
the rest: it puts a new table between another one and its comment, with line ends of its own, and removing it leaves an
empty line.
"""

import re
import tomllib
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import tomlkit

_HEADER = re.compile(r"[ \t]*\[[^\n]*")
_QUOTES = ('"""', "'''")


class _Line(NamedTuple):
    """A line at which something begins: not the inside of a text or a list."""

    start: int
    header: tuple[str, ...] | None
    """The keys of a header; None for any other line."""
    blank: bool
    """Nothing, or a comment alone."""


def load(text: str) -> dict[str, object]:
    """The document as plain data.

    Raises:
        ValueError: It is not TOML.
    """
    try:
        return tomllib.loads(text.replace("\r\n", "\n"))
    except tomllib.TOMLDecodeError as error:
        raise ValueError(str(error)) from error


def put(text: str, path: Sequence[str], name: str, entry: Mapping[str, object]) -> str:
    """The text with a table for the entry, in place of the old one or at the end.

    Raises:
        ValueError: It is not TOML, or something on the path is not a table.
    """
    _check(load(text), path)
    newline = "\r\n" if "\r\n" in text else "\n"
    keys = (*path, name)
    section = newline.join(_section(keys, entry)) + newline
    span = _span(text, keys)
    if span is not None:
        return text[: span[0]] + section + text[span[1] :]
    if _written_inline(text, keys):
        return _rewritten(text, path, name, entry)
    gap = "" if not text.strip() else newline if text.endswith("\n") else newline * 2
    return text + gap + section


def take(text: str, path: Sequence[str], name: str) -> str:
    """The text without the table of an entry.

    Raises:
        ValueError: It is not TOML.
    """
    keys = (*path, name)
    if _dig(load(text), keys) is None:
        return text
    span = _span(text, keys)
    if span is None:
        return _rewritten(text, path, name, None)
    before, after = text[: span[0]], text[span[1] :]
    if not after.strip():
        # The empty line that set it off goes with it.
        cut = re.search(r"(?<=\n)\r?\n\Z", before)
        before = before[: cut.start()] if cut else before
    elif before.endswith(("\n\n", "\n\r\n")) or not before.strip():
        after = re.sub(r"^(\r?\n)+", "", after)
    return before + after


def _section(keys: Sequence[str], entry: Mapping[str, object]) -> list[str]:
    def header(names: Sequence[str]) -> str:
        return f"[{'.'.join(tomlkit.key(name).as_string() for name in names)}]"

    lines = [header(keys)]
    lines += [
        f"{tomlkit.key(name).as_string()} = {tomlkit.item(value).as_string()}"
        for name, value in entry.items()
        if not isinstance(value, Mapping)
    ]
    for name, value in entry.items():
        if isinstance(value, Mapping):
            lines += ["", *_section((*keys, name), value)]
    return lines


def _span(text: str, keys: tuple[str, ...]) -> tuple[int, int] | None:
    """From the header of a table to where the next one's comments and header begin."""
    lines = _lines(text)
    begin = next((index for index, line in enumerate(lines) if line.header == keys), None)
    if begin is None:
        return None
    last = begin
    for index in range(begin + 1, len(lines)):
        header = lines[index].header
        if header is not None and header[: len(keys)] != keys:
            break
        if not lines[index].blank:
            last = index
    end = lines[last + 1].start if last + 1 < len(lines) else len(text)
    return lines[begin].start, end


def _lines(text: str) -> list[_Line]:
    """The lines at which something begins, with those that are blank."""
    found, at, depth = [], 0, 0
    while at < len(text):
        start = at
        header = None
        if depth == 0 and (match := _HEADER.match(text, at)):
            header = _keys(match[0].rstrip())
        blank = text[at : _line_end(text, at)].strip()
        at, depth = _past_line(text, at, depth if header is None else 0, is_header=header is not None)
        found.append(_Line(start, header, not blank or blank.startswith("#")))
    return found


def _keys(header: str) -> tuple[str, ...]:
    try:
        data: object = tomllib.loads(header)
    except tomllib.TOMLDecodeError:
        return ()
    keys = []
    while isinstance(data, dict) and data:
        [(key, data)] = data.items()
        keys.append(key)
    return tuple(keys)


def _past_line(text: str, at: int, depth: int, *, is_header: bool) -> tuple[int, int]:
    """Behind the line break that ends what begins here, and how many brackets are still open."""
    if is_header:
        return _line_end(text, at) + 1, 0
    while at < len(text):
        mark = text[at]
        if mark == "\n":
            at += 1
            if depth == 0:
                break
        elif mark == "#":
            at = _line_end(text, at)
        elif text.startswith(_QUOTES, at):
            at = _past_long(text, at)
        elif mark in "\"'":
            at = _past_short(text, at)
        else:
            depth += (mark in "[{") - (mark in "]}")
            at += 1
    return at, depth


def _past_long(text: str, at: int) -> int:
    quotes = text[at : at + 3]
    at += 3
    while not text.startswith(quotes, at):
        at += 2 if text[at] == "\\" and quotes[0] == '"' else 1
    at += 3
    # Up to two more quotation marks belong to the text.
    while text.startswith(quotes[0], at):
        at += 1
    return at


def _past_short(text: str, at: int) -> int:
    quote = text[at]
    at += 1
    while text[at] != quote:
        at += 2 if text[at] == "\\" and quote == '"' else 1
    return at + 1


def _line_end(text: str, at: int) -> int:
    end = text.find("\n", at)
    return len(text) if end < 0 else end


def _written_inline(text: str, keys: tuple[str, ...]) -> bool:
    """Whether lines at the end would not be taken: something on the path is written inline."""
    try:
        tomllib.loads(text.replace("\r\n", "\n") + f"\n[{'.'.join(keys)}]\n")
    except tomllib.TOMLDecodeError:
        return True
    return False


def _rewritten(text: str, path: Sequence[str], name: str, entry: Mapping[str, object] | None) -> str:
    document: Any = tomlkit.parse(text)
    table = document
    for key in path:
        table = table[key]
    if entry is None:
        del table[name]
    else:
        new = tomlkit.inline_table()
        new.update(entry)
        table[name] = new
    return tomlkit.dumps(document)


def _check(data: object, path: Sequence[str]) -> None:
    for depth, key in enumerate(path):
        if not isinstance(data, dict) or key not in data:
            return
        data = data[key]
        if not isinstance(data, dict):
            raise ValueError(f"{'.'.join(path[: depth + 1])} is not a table")


def _dig(data: object, keys: Sequence[str]) -> object:
    for key in keys:
        if not isinstance(data, dict) or key not in data:
            return None
        data = data[key]
    return data
