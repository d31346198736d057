"""Reads a tool's answer as rows of named values, whatever form the text has.

In JSON the lists of objects are found; labelled lines (`Title: …`) and bulleted lists are parsed. Nothing here is
specific to a tool. A row is what a person would call one result; a value keeps the path it was found under.
"""

import json
import re
from collections.abc import Iterator, Mapping
from typing import TypeAlias, TypeGuard

Scalar: TypeAlias = "str | int | float"
Row: TypeAlias = "dict[str, Scalar]"

MOST_ROWS = 60
MOST_TEXT = 400_000
"""Characters of an answer that are read."""
_FULL = 3
"""A row with this many fields or more is a thing; beside such rows, those with one are headings and remarks."""
_ENVELOPE = {"endpoint", "request", "headers", "status"}
"""Fields in which servers repeat what they were asked."""
_LABEL = re.compile(r"^\s*(?:[-•*]\s*)?(?P<name>[A-Za-z][\w ()/,-]{1,40}?):\s+(?P<value>\S.*)$")
_BULLET = re.compile(r"^[-•*]\s+(?P<value>\S.*)$")
_NUMBERED = re.compile(r"^\d+\.\s+(?P<value>\S.*)$")
_NUMBER = re.compile(r"-?(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?")


def rows(text: str) -> list[Row]:
    """The rows of an answer, in its order; one row when it is about one thing."""
    text = text[:MOST_TEXT]
    values = list(_json_values(text))
    found = [row for value in values for row in _json_rows(value)] if values else _text_rows(text)
    return [row for row in found if row][:MOST_ROWS]


def number(value: object) -> float | None:
    """A value as a number, with or without a unit or a currency around it."""
    if isinstance(value, bool) or value is None:
        return None
    if isinstance(value, int | float):
        return float(value)
    if not isinstance(value, str):
        return None
    found = _NUMBER.findall(value)
    bare = re.sub(r"[\s$€£°%a-zA-Z/]", "", value)
    return float(found[0].replace(",", "")) if len(found) == 1 and _NUMBER.fullmatch(bare) else None


def _json_values(text: str) -> Iterator[object]:
    """The JSON values that a text consists of, one after another; none when it is not JSON."""
    decoder, at = json.JSONDecoder(), 0
    found = []
    while at < len(text):
        try:
            value, at = decoder.raw_decode(text, at)
        except (json.JSONDecodeError, RecursionError):
            return
        if not isinstance(value, dict | list):
            return
        found.append(value)
        while at < len(text) and text[at].isspace():
            at += 1
    yield from found


def _json_rows(value: object) -> list[Row]:
    if isinstance(value, list):
        if value and not any(isinstance(item, dict | list) for item in value):
            return [{"value": item} for item in value if _is_scalar(item)]
        return [_flat(item) for item in value if isinstance(item, dict)]
    inner = value
    while isinstance(inner, dict):
        inner = {name: part for name, part in inner.items() if name not in _ENVELOPE}
        lists = {name: part for name, part in inner.items() if isinstance(part, list) and part
                 and isinstance(part[0], dict)}  # fmt: skip
        plain = [name for name, part in inner.items() if _is_scalar(part)]
        if len(lists) == 1 and len(plain) <= 6 and _is_wrapper(inner):
            return [_flat(item) for item in next(iter(lists.values())) if isinstance(item, dict)]
        wrapped = [part for part in inner.values() if isinstance(part, dict)]
        if len(wrapped) == 1 and not plain and not lists:
            inner = wrapped[0]
            continue
        break
    return [_flat(inner)] if isinstance(inner, dict) else []


def _is_wrapper(value: Mapping[str, object]) -> bool:
    """Whether an object is only a list with counts around it."""
    names = {"total", "limit", "start", "page", "total_results", "total_pages", "query", "search_type", "search_term"}
    others = [
        name for name, part in value.items()
        if name not in names and not isinstance(part, list) and part not in ("", None) and not isinstance(part, bool)
    ]  # fmt: skip
    return len(others) <= 2


def _flat(value: Mapping[str, object], prefix: str = "") -> Row:
    row: Row = {}
    for name, part in value.items():
        path = f"{prefix}{name}"
        if _is_scalar(part):
            row[path] = part
        elif isinstance(part, dict):
            row |= _flat(part, f"{path}.")
        elif isinstance(part, list) and part and _is_scalar(part[0]):
            row[f"{path}.0"] = part[0]
        elif isinstance(part, list) and len(part) == 1 and isinstance(part[0], dict):
            row |= _flat(part[0], f"{path}.0.")
    return row


def _is_scalar(value: object) -> TypeGuard[Scalar]:
    return isinstance(value, str | int | float) and not isinstance(value, bool) and value != ""


def _text_rows(text: str) -> list[Row]:
    found: list[Row] = [{}]
    for line in text.splitlines():
        label, bullet, counted = _LABEL.match(line), _BULLET.match(line), _NUMBERED.match(line)
        if not line.strip() or set(line.strip()) <= set("-=_"):
            if found[-1]:
                found.append({})
        elif bullet and not (label and line.startswith(" ")) and not _LABEL.match(line):
            found.append({"name": bullet["value"].strip()})
        elif counted:
            found.append({"name": counted["value"].strip()})
        elif label:
            for part in re.split(r" \| |(?<=\d), (?=[A-Z])", line):
                one = _LABEL.match(part)
                if one is not None and one["name"] not in found[-1]:
                    found[-1][one["name"]] = _scalar(one["value"])
        elif line.startswith("**") and line.rstrip().endswith("**"):
            found[-1]["title"] = line.strip().strip("*").strip()
        elif (url := re.search(r"https?://\S+", line)) is not None and "url" not in found[-1]:
            found[-1]["url"] = url[0]
    kept = [row for row in found if row]
    # A heading above a list, or loose lines below a thing, are no rows of their own.
    most = max(map(len, kept), default=0)
    return [row for row in kept if len(row) > 1] if most >= _FULL else kept


def _scalar(text: str) -> Scalar:
    bare = text.strip()
    if re.fullmatch(r"-?(?:0|[1-9]\d{0,14})", bare):
        return int(bare)
    return float(bare) if re.fullmatch(r"-?\d+\.\d+", bare) else bare
