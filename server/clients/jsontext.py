"""Edits JSON in place: inserts or removes an entry.

Comments and trailing commas are understood, and everything else keeps its bytes: comments, order, indentation, line
ends. A new entry is laid out like its neighbours. A scanner locates every value; `put` and `take` edit the text.
"""

import json
import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from json.decoder import scanstring  # type: ignore[attr-defined]

_BLANKS = re.compile(r"[ \t\r\n]*")
_LITERAL = re.compile(r"true\b|false\b|null\b|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?(?![\w.])")


@dataclass(frozen=True, kw_only=True)
class JsonNode:
    """A value and where it stands."""

    start: int
    end: int
    value: object
    members: "tuple[JsonMember, ...] | None" = None
    """What an object holds; None for other values."""


@dataclass(frozen=True, kw_only=True)
class JsonMember:
    """A key with its value in an object."""

    key: str
    start: int
    node: JsonNode
    comma: int | None
    """Where the comma after it stands."""


def parse(text: str, depth: int) -> JsonNode | None:
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

    def value(self, depth: int) -> JsonNode:
        """The value that begins here, with the places of what is in it down to a depth."""
        start = self.at
        first = self.text[start : start + 1]
        if depth <= 0 and first in ("{", "["):
            # Large files are mostly plain JSON, which the standard library reads much faster.
            with suppress(ValueError):
                value, self.at = _PLAIN.raw_decode(self.text, start)
                return JsonNode(start=start, end=self.at, value=value)
        if first == "{":
            return self._object(depth - 1)
        if first == "[":
            return self._list()
        if first == '"':
            return JsonNode(start=start, value=self._string(), end=self.at)
        found = _LITERAL.match(self.text, start)
        if found is None:
            raise self.problem("a value is missing" if first in ("", ",", "}", "]") else "this is not a value")
        self.at = found.end()
        return JsonNode(start=start, end=self.at, value=json.loads(found[0]))

    def _string(self) -> str:
        try:
            value, self.at = scanstring(self.text, self.at + 1, True)
        except ValueError:
            raise self.problem("a text does not end, or has a forbidden character in it") from None
        return str(value)

    def _object(self, depth: int) -> JsonNode:
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
            members.append(JsonMember(key=key, start=key_start, node=node, comma=self._comma("}")))
        value = {member.key: member.node.value for member in members}
        return JsonNode(start=start, end=self.at, value=value, members=tuple(members))

    def _list(self) -> JsonNode:
        start, items = self.at, []
        self.at += 1
        while not self._ends("]"):
            items.append(self.value(0).value)
            self._comma("]")
        return JsonNode(start=start, end=self.at, value=items)

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


_BLANK = " \t\r\n"
_INDENTED = re.compile(r"\n([ \t]+)[^\s*]")
_WIDEST_INDENT = 8

Edit = tuple[int, int, str]
"""A stretch of text and what takes its place."""


def load(text: str) -> dict[str, object]:
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


def put(text: str, path: Sequence[str], name: str, entry: Mapping[str, object]) -> str:
    """The text with an entry at the end of the object a path leads to, or in place of the one that is there.

    Raises:
        ValueError: It is not JSON, or something on the path is not an object.
    """
    root = parse(text, len(path) + 1)
    style = _Style(text)
    if root is None:
        whole: dict[str, object] = {name: dict(entry)}
        for key in reversed(path):
            whole = {key: whole}
        gap = "" if not text or text[-1] == "\n" else style.newline
        return text + gap + style.render(whole, "") + style.newline
    node, rest = _walk(root, path)
    if rest:
        inner: dict[str, object] = {name: dict(entry)}
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

    def render(self, value: object, indent: str) -> str:
        """Objects over several lines, everything else on one."""
        if not isinstance(value, dict) or not value:
            return self.inline(value)
        inner = indent + self.unit
        lines = [f"{inner}{_dump(key)}: {self.render(item, inner)}" for key, item in value.items()]
        return "{" + self.newline + ("," + self.newline).join(lines) + self.newline + indent + "}"

    def inline(self, value: object) -> str:
        """On one line."""
        return _dump(value) if self._spaced else json.dumps(value, ensure_ascii=False, separators=(",", ":"))

    def pair(self, key: str, value: object, indent: str | None) -> str:
        """A key with its value; on one line without an indent."""
        if indent is not None:
            return f"{_dump(key)}: {self.render(value, indent)}"
        return f"{_dump(key)}{': ' if self._spaced else ':'}{self.inline(value)}"

    @property
    def gap(self) -> str:
        """What stands between two members on one line."""
        return " " if self._spaced else ""


def _dump(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)


def _addition(text: str, node: JsonNode, key: str, value: object, style: _Style) -> list[Edit]:
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


def _first(text: str, node: JsonNode, key: str, value: object, style: _Style) -> Edit:
    """The first member of an object, behind the comments in it."""
    outer = _indent(text, node.start)
    place = node.start + 1
    while (found := _comment_end(text, place, node.end)) is not None:
        place = found
    rest = text[place : node.end - 1]
    tail = "" if "\n" in rest else style.newline + outer
    inner = outer + style.unit
    return (place, place, style.newline + inner + style.pair(key, value, inner) + tail)


def _removal(text: str, node: JsonNode, member: JsonMember) -> list[Edit]:
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


def _walk(root: JsonNode, path: Sequence[str]) -> tuple[JsonNode, Sequence[str]]:
    """The object furthest along a path, and what of the path is not there."""
    node = _object(root, ())
    for depth, key in enumerate(path):
        found = _member(node, key)
        if found is None:
            return node, path[depth:]
        node = _object(found.node, path[: depth + 1])
    return node, ()


def _object(node: JsonNode, path: Sequence[str]) -> JsonNode:
    if node.members is None:
        raise _no_object(node, path)
    return node


def _no_object(node: JsonNode, path: Sequence[str]) -> ValueError:
    where = ".".join(path) or "the top level"
    kinds = {list: "a list", str: "a text", bool: "true or false", type(None): "null"}
    return ValueError(f"{where} is {kinds.get(type(node.value), 'a number')}, not an object")


def _member(node: JsonNode, key: str) -> JsonMember | None:
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
    # From the end, so that earlier positions stay valid; two edits at one place keep their order.
    for start, end, new in sorted(edits, key=lambda edit: edit[:2])[::-1]:
        text = text[:start] + new + text[end:]
    return text
