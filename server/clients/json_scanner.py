"""Parses JSON with comments and trailing commas, and locates every value.

`jsontext` uses it for editing; nothing is changed here.
"""

import json
import re
from contextlib import suppress
from dataclasses import dataclass
from json.decoder import scanstring  # type: ignore[attr-defined]
from typing import Any

_BLANKS = re.compile(r"[ \t\r\n]*")
_LITERAL = re.compile(r"true\b|false\b|null\b|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?(?![\w.])")


@dataclass(frozen=True, kw_only=True)
class Node:
    """A value and where it stands."""

    start: int
    end: int
    value: Any
    members: "tuple[Member, ...] | None" = None
    """What an object holds; None for other values."""


@dataclass(frozen=True, kw_only=True)
class Member:
    """A key with its value in an object."""

    key: str
    start: int
    node: Node
    comma: int | None
    """Where the comma after it stands."""


def parse(text: str, depth: int) -> Node | None:
    """The root of a document, with places down to a depth; None when there is none."""
    scanner = _Scanner(text)
    scanner.skip()
    if scanner.at == len(text):
        return None
    try:
        root = scanner.value(depth)
    except RecursionError:
        raise ValueError("it is nested too deeply") from None
    scanner.skip()
    if scanner.at < len(text):
        raise scanner.problem("something follows the end")
    return root


def _refuse(constant: str) -> None:
    raise ValueError(f"{constant} is not JSON")


_PLAIN = json.JSONDecoder(parse_constant=_refuse)


class _Scanner:
    """Reads a document from the front."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0

    def problem(self, says: str) -> ValueError:
        """An error that says where."""
        line = self.text.count("\n", 0, self.at) + 1
        column = self.at - (self.text.rfind("\n", 0, self.at) + 1) + 1
        return ValueError(f"line {line}, column {column}: {says}")

    def skip(self) -> None:
        """Go past blanks and comments."""
        text = self.text
        while self.at < len(text):
            self.at = _BLANKS.match(text, self.at).end()  # type: ignore[union-attr]
            if text.startswith("//", self.at):
                end = text.find("\n", self.at)
                self.at = len(text) if end < 0 else end
            elif text.startswith("/*", self.at):
                end = text.find("*/", self.at + 2)
                if end < 0:
                    raise self.problem("a comment does not end")
                self.at = end + 2
            else:
                return

    def value(self, depth: int) -> Node:
        """The value that begins here, with the places of what is in it down to a depth."""
        start = self.at
        first = self.text[start : start + 1]
        if depth <= 0 and first in ("{", "["):
            # Large files are mostly plain JSON, which the standard library reads much faster.
            with suppress(ValueError):
                value, self.at = _PLAIN.raw_decode(self.text, start)
                return Node(start=start, end=self.at, value=value)
        if first == "{":
            return self._object(depth - 1)
        if first == "[":
            return self._list()
        if first == '"':
            return Node(start=start, value=self._string(), end=self.at)
        found = _LITERAL.match(self.text, start)
        if found is None:
            raise self.problem("a value is missing" if first in ("", ",", "}", "]") else "this is not a value")
        self.at = found.end()
        return Node(start=start, end=self.at, value=json.loads(found[0]))

    def _string(self) -> str:
        try:
            value, self.at = scanstring(self.text, self.at + 1, True)
        except ValueError:
            raise self.problem("a text does not end, or has a forbidden character in it") from None
        return str(value)

    def _object(self, depth: int) -> Node:
        start, members = self.at, []
        self.at += 1
        while not self._ends("}"):
            key_start = self.at
            if self.text[self.at] != '"':
                raise self.problem("a key in quotation marks is missing")
            key = self._string()
            self.skip()
            if not self.text.startswith(":", self.at):
                raise self.problem("a colon is missing")
            self.at += 1
            self.skip()
            node = self.value(depth)
            members.append(Member(key=key, start=key_start, node=node, comma=self._comma("}")))
        value = {member.key: member.node.value for member in members}
        return Node(start=start, end=self.at, value=value, members=tuple(members))

    def _list(self) -> Node:
        start, items = self.at, []
        self.at += 1
        while not self._ends("]"):
            items.append(self.value(0).value)
            self._comma("]")
        return Node(start=start, end=self.at, value=items)

    def _ends(self, mark: str) -> bool:
        self.skip()
        if self.at >= len(self.text):
            raise self.problem(f"{mark} is missing")
        ends = self.text[self.at] == mark
        self.at += ends
        return ends

    def _comma(self, mark: str) -> int | None:
        """Go past a comma, which only the closing mark may replace."""
        self.skip()
        if self.text.startswith(",", self.at):
            self.at += 1
            return self.at - 1
        if not self.text.startswith(mark, self.at):
            raise self.problem(f"a comma or {mark} is missing")
        return None
