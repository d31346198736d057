"""Edits JSON in place: inserts or removes an entry.

Comments and trailing commas are understood, and everything else keeps its bytes: comments, order, indentation, line
ends. A new entry is laid out like its neighbours.
"""

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

from m3bench.server.clients.json_scanner import Member, Node, parse

_BLANK = " \t\r\n"
_INDENTED = re.compile(r"\n([ \t]+)[^\s*]")
_WIDEST_INDENT = 8

Edit = tuple[int, int, str]
"""A stretch of text and what takes its place."""


def load(text: str) -> dict[str, Any]:
    """The document as plain data; empty when there is nothing but blanks and comments.

    Raises:
        ValueError: It is not JSON, or not an object.
    """
    root = parse(text, 0)
    if root is None:
        return {}
    if not isinstance(root.value, dict):
        raise _no_object(root, ())
    return root.value


def put(text: str, path: Sequence[str], name: str, entry: Mapping[str, Any]) -> str:
    """The text with an entry at the end of the object a path leads to, or in place of the one that is there.

    Raises:
        ValueError: It is not JSON, or something on the path is not an object.
    """
    root = parse(text, len(path) + 1)
    style = _Style(text)
    if root is None:
        whole: dict[str, Any] = {name: dict(entry)}
        for key in reversed(path):
            whole = {key: whole}
        gap = "" if not text or text[-1] == "\n" else style.newline
        return text + gap + style.render(whole, "") + style.newline
    node, rest = _walk(root, path)
    if rest:
        inner: dict[str, Any] = {name: dict(entry)}
        for key in reversed(rest[1:]):
            inner = {key: inner}
        return _apply(text, _addition(text, node, rest[0], inner, style))
    found = _member(node, name)
    if found is None:
        return _apply(text, _addition(text, node, name, dict(entry), style))
    if _leads_line(text, found.start):
        written = style.render(dict(entry), _indent(text, found.start))
    else:
        written = style.inline(dict(entry))
    return _apply(text, [(found.node.start, found.node.end, written)])


def take(text: str, path: Sequence[str], name: str) -> str:
    """The text without an entry; the object that held it stays.

    Raises:
        ValueError: It is not JSON, or something on the path is not an object.
    """
    while True:
        root = parse(text, len(path) + 1)
        if root is None:
            return text
        node, rest = _walk(root, path)
        found = None if rest else _member(node, name)
        if found is None:
            return text
        text = _apply(text, _removal(text, node, found))


class _Style:
    """How a text is laid out."""

    def __init__(self, text: str) -> None:
        first = text.find("\n")
        self.newline = "\r\n" if first > 0 and text[first - 1] == "\r" else "\n"
        found = _INDENTED.search(text)
        indent = found[1] if found else "  "
        self.unit = "\t" if indent[0] == "\t" else "  " if len(indent) > _WIDEST_INDENT else indent
        self._spaced = not text.strip() or ": " in text or "\n" in text

    def render(self, value: Any, indent: str) -> str:
        """Objects over several lines, everything else on one."""
        if not isinstance(value, dict) or not value:
            return self.inline(value)
        inner = indent + self.unit
        lines = [f"{inner}{_dump(key)}: {self.render(item, inner)}" for key, item in value.items()]
        return "{" + self.newline + ("," + self.newline).join(lines) + self.newline + indent + "}"

    def inline(self, value: Any) -> str:
        """On one line."""
        return _dump(value) if self._spaced else json.dumps(value, ensure_ascii=False, separators=(",", ":"))

    def pair(self, key: str, value: Any, indent: str | None) -> str:
        """A key with its value; on one line without an indent."""
        if indent is not None:
            return f"{_dump(key)}: {self.render(value, indent)}"
        return f"{_dump(key)}{': ' if self._spaced else ':'}{self.inline(value)}"

    @property
    def gap(self) -> str:
        """What stands between two members on one line."""
        return " " if self._spaced else ""


def _dump(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


def _addition(text: str, node: Node, key: str, value: Any, style: _Style) -> list[Edit]:
    """A new member at the end of an object."""
    assert node.members is not None
    if not node.members:
        return [_first(text, node, key, value, style)]
    last = node.members[-1]
    after = last.node.end if last.comma is None else last.comma + 1
    place, line_comment = _past_comments(text, after)
    if _leads_line(text, last.start):
        indent = _indent(text, last.start)
        piece = style.newline + indent + style.pair(key, value, indent)
    elif line_comment:
        indent = _indent(text, last.start) + style.unit
        piece = style.newline + indent + style.pair(key, value, indent)
    else:
        piece = style.gap + style.pair(key, value, None)
    if last.comma is not None:
        return [(place, place, piece + ",")]
    return [(last.node.end, last.node.end, ","), (place, place, piece)]


def _first(text: str, node: Node, key: str, value: Any, style: _Style) -> Edit:
    """The first member of an object, behind the comments in it."""
    outer = _indent(text, node.start)
    place = node.start + 1
    while (found := _comment_end(text, place, node.end)) is not None:
        place = found
    rest = text[place : node.end - 1]
    tail = "" if "\n" in rest else style.newline + outer
    inner = outer + style.unit
    return (place, place, style.newline + inner + style.pair(key, value, inner) + tail)


def _removal(text: str, node: Node, member: Member) -> list[Edit]:
    assert node.members is not None
    start, end = member.start, member.node.end if member.comma is None else member.comma + 1
    if len(node.members) == 1 and not (text[node.start + 1 : start] + text[end : node.end - 1]).strip():
        return [(node.start + 1, node.end - 1, "")]
    blank = re.compile(r"[ \t]*").match(text, end)
    assert blank is not None
    if _leads_line(text, start) and text.startswith(("\n", "\r\n"), blank.end()):
        # The line goes, and the break before it.
        start -= len(_indent(text, start)) + 1
        start -= text.startswith("\r", start - 1)
        end = blank.end()
    elif member is node.members[-1] and not _leads_line(text, start):
        start = len(text[:start].rstrip(" \t"))
    else:
        end = blank.end()
    index = node.members.index(member)
    if index == 0 or member.comma is not None:
        return [(start, end, "")]
    # The comma of the one before would be left over.
    comma = node.members[index - 1].comma
    assert comma is not None
    return [(comma, comma + 1, ""), (max(start, comma + 1), end, "")]


def _walk(root: Node, path: Sequence[str]) -> tuple[Node, Sequence[str]]:
    """The object furthest along a path, and what of the path is not there."""
    node = _object(root, ())
    for depth, key in enumerate(path):
        found = _member(node, key)
        if found is None:
            return node, path[depth:]
        node = _object(found.node, path[: depth + 1])
    return node, ()


def _object(node: Node, path: Sequence[str]) -> Node:
    if node.members is None:
        raise _no_object(node, path)
    return node


def _no_object(node: Node, path: Sequence[str]) -> ValueError:
    where = ".".join(path) or "the top level"
    kinds = {list: "a list", str: "a text", bool: "true or false", type(None): "null"}
    return ValueError(f"{where} is {kinds.get(type(node.value), 'a number')}, not an object")


def _member(node: Node, key: str) -> Member | None:
    """The member that counts: of two with the same key, the last."""
    assert node.members is not None
    return next((member for member in reversed(node.members) if member.key == key), None)


def _leads_line(text: str, position: int) -> bool:
    """Whether nothing but blanks stands before it on its line, and there is a line before."""
    line = text.rfind("\n", 0, position)
    return line >= 0 and not text[line + 1 : position].strip(" \t")


def _indent(text: str, position: int) -> str:
    """The blanks at the beginning of its line."""
    line = text.rfind("\n", 0, position) + 1
    found = re.compile(r"([ \t]*)").match(text, line)
    assert found is not None
    return found[1]


def _past_comments(text: str, position: int) -> tuple[int, bool]:
    """Behind the comments that follow on the line, and whether the last of them takes the rest of it."""
    while True:
        at = position
        while text[at] in " \t":
            at += 1
        if text.startswith("//", at):
            return _line_end(text, at), True
        if not text.startswith("/*", at):
            return position, False
        position = text.index("*/", at + 2) + 2


def _comment_end(text: str, position: int, end: int) -> int | None:
    """Where the comment ends that follows next, if only blanks are before it."""
    while position < end and text[position] in _BLANK:
        position += 1
    if text.startswith("//", position):
        return _line_end(text, position)
    return text.index("*/", position + 2) + 2 if text.startswith("/*", position) else None


def _line_end(text: str, position: int) -> int:
    end = text.find("\n", position)
    end = len(text) if end < 0 else end
    return end - 1 if text[end - 1] == "\r" else end


def _apply(text: str, edits: Sequence[Edit]) -> str:
    # From the back; two at one place stay in their order.
    for start, end, new in sorted(edits, key=lambda edit: edit[:2])[::-1]:
        text = text[:start] + new + text[end:]
    return text
