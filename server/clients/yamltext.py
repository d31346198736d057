"""Edits YAML in place: ruamel locates everything, and our entry is a range of lines or a part of a flow mapping.

Comments, order and indentation elsewhere keep their bytes. Servers are pairs of a mapping, by name, or items of a list
that have their name in them; `load_items`, `put_item` and `take_item` are for the latter.
"""

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from ruamel.yaml import YAML
from ruamel.yaml.error import YAMLError

_PLAIN = re.compile(r"[A-Za-z/][A-Za-z0-9_./-]*")
_RESERVED = {"true", "false", "null", "yes", "no", "on", "off", "y", "n"}
_UNIT = "  "

ITEMS = "mcpServers"
"""The list whose items have names."""


class _Mark(Protocol):
    """A place in the text, as ruamel gives it."""

    index: int
    column: int


class _Node(Protocol):
    """A value with its place, as ruamel composes it."""

    id: str
    value: Any
    """A text, a list of nodes, or a list of pairs of nodes; `id` says which."""
    flow_style: bool | None
    start_mark: _Mark
    end_mark: _Mark


_Pair = tuple[_Node, _Node]


def load(text: str) -> dict[str, object]:
    """The document as plain data; empty when there is nothing in it.

    Raises:
        ValueError: It is not YAML, or not a mapping.
    """
    try:
        data = YAML(typ="safe", pure=True).load(text)
    except (YAMLError, ValueError, RecursionError) as error:
        raise ValueError(_says(error)) from error
    if data is None:
        return {}
    if not isinstance(data, dict):
        raise ValueError("the top level is not a mapping")
    return data


def put(text: str, path: Sequence[str], name: str, entry: Mapping[str, object] | list[object]) -> str:
    """The text with an entry at the end of the mapping a path leads to, or in place of the one that is there.

    Raises:
        ValueError: It is not YAML, or something on the path is not a mapping.
    """
    load(text)
    root = _root(text)
    newline = "\r\n" if "\r\n" in text else "\n"
    if root is None:
        return _ended(text, newline) + _block(_nested((*path, name), entry), "", newline)
    node, key, rest = _walk(root, path)
    if rest:
        addition = _nested((*rest[1:], name), entry)
        return _added(text, node, key, rest[0], addition, newline)
    found = _pair(node, name) if node.id == "mapping" else None
    if found is None:
        return _added(text, node, key, name, entry, newline)
    key_node, value = found
    if node.flow_style or value.flow_style:
        return text[: value.start_mark.index] + json.dumps(entry, ensure_ascii=False) + text[value.end_mark.index :]
    start = _line_start(text, key_node.start_mark.index)
    end = _lines_end(text, _end(value))
    return text[:start] + _block({name: entry}, " " * key_node.start_mark.column, newline) + text[end:]


def take(text: str, path: Sequence[str], name: str) -> str:
    """The text without an entry; a mapping that is left empty is written as such.

    Raises:
        ValueError: It is not YAML, or something on the path is not a mapping.
    """
    load(text)
    root = _root(text)
    if root is None:
        return text
    node, key, rest = _walk(root, path)
    found = None if rest or node.id != "mapping" else _pair(node, name)
    if found is None:
        return text
    key_node, value = found
    if node.flow_style:
        return _taken_from_flow(text, node, found)
    start = _line_start(text, key_node.start_mark.index)
    end = _lines_end(text, _end(value))
    left = text[:start] + text[end:]
    if len(node.value) == 1 and key is not None:
        colon = text.index(":", key.end_mark.index) + 1
        return left[:colon] + " {}" + left[colon:]
    return left


def load_items(text: str) -> dict[str, object]:
    """The document as plain data, with the items of the list by name; an item without one is known by what it says.

    Raises:
        ValueError: It is not YAML, not a mapping, or has no list of mappings where one should be.
    """
    data = load(text)
    items = data.get(ITEMS)
    if items is None:
        return data
    if not isinstance(items, list) or not all(isinstance(item, dict) for item in items):
        raise ValueError(f"{ITEMS} is not a list of servers")
    named: dict[str, object] = {}
    for item in items:
        name = str(item.get("name") or json.dumps(item, sort_keys=True, default=str))
        if name in named:
            raise ValueError(f"{ITEMS} has two servers {name}")
        named[name] = item
    return {**data, ITEMS: named}


def put_item(text: str, path: Sequence[str], name: str, entry: Mapping[str, object]) -> str:
    """The text with an entry at the end of the list a path leads to, or in place of the one that has the name.

    Raises:
        ValueError: It is not YAML, or there is something else than a list.
    """
    load_items(text)
    if not path:
        return put(text, path, name, entry)
    newline = "\r\n" if "\r\n" in text else "\n"
    found, items = {"name": name, **entry}, _items(text, path)
    if items is None:
        return put(text, path[:-1], path[-1], [found])
    key, node = items
    if node.id == "scalar":
        place = _lines_end(text, text.index(":", key.end_mark.index) + 1)
        lines = _lines(_item_lines(found, " " * key.start_mark.column + _UNIT), newline)
        return _ended(text[:place], newline) + lines + text[place:]
    ours = _item(node, name)
    written = json.dumps(found, ensure_ascii=False)
    if ours is not None and (node.flow_style or ours.flow_style):
        return text[: ours.start_mark.index] + written + text[ours.end_mark.index :]
    if node.flow_style:
        place = node.value[-1].end_mark.index if node.value else node.start_mark.index + 1
        return text[:place] + (", " if node.value else "") + written + text[place:]
    lines = _lines(_item_lines(found, " " * node.start_mark.column), newline)
    start, end = _item_range(text, ours) if ours is not None else (_lines_end(text, _end(node)),) * 2
    return _ended(text[:start], newline) + lines + text[end:]


def take_item(text: str, path: Sequence[str], name: str) -> str:
    """The text without an entry of a list, or without the list itself; one that is left empty is written as such.

    Raises:
        ValueError: It is not YAML, or there is something else than a list.
    """
    load_items(text)
    if not path:
        return take(text, path, name)
    items = _items(text, path)
    ours = _item(items[1], name) if items is not None and items[1].id == "sequence" else None
    if items is None or ours is None:
        return text
    key, node = items
    if node.flow_style:
        index = node.value.index(ours)
        start, end = ours.start_mark.index, ours.end_mark.index
        if index:
            start = node.value[index - 1].end_mark.index
        elif len(node.value) > 1:
            end = node.value[1].start_mark.index
        return text[:start] + text[end:]
    start, end = _item_range(text, ours)
    left = text[:start] + text[end:]
    if len(node.value) > 1:
        return left
    colon = text.index(":", key.end_mark.index) + 1
    return left[:colon] + " []" + left[colon:]


def _items(text: str, path: Sequence[str]) -> _Pair | None:
    """The list a path leads to, with its key before it; None when it is not there."""
    root = _root(text)
    if root is None:
        return None
    node, _, rest = _walk(root, path[:-1])
    return None if rest else _pair(node, path[-1])


def _item(node: _Node, name: str) -> _Node | None:
    """The item of a list that has a name; None when there is none."""
    items: list[_Node] = node.value
    for item in items:
        if item.id == "mapping" and (found := _pair(item, "name")) is not None and found[1].value == name:
            return item
    return None


def _item_range(text: str, item: _Node) -> tuple[int, int]:
    """The lines of an item of a block, from its dash on."""
    return _line_start(text, text.rindex("-", 0, item.start_mark.index)), _lines_end(text, _end(item))


def _root(text: str) -> _Node | None:
    """The root node, with its place in the text; None when there is none."""
    return YAML(typ="rt", pure=True).compose(text) if text.strip() else None


def _walk(root: _Node, path: Sequence[str]) -> tuple[_Node, _Node | None, Sequence[str]]:
    """The mapping furthest along a path, the key it is under, and what of the path is not there."""
    node: _Node = root
    above: _Node | None = None
    for depth, key in enumerate(path):
        found = _pair(node, key)
        if found is None:
            return node, above, path[depth:]
        above, node = found
        if node.id == "scalar" and node.start_mark.index == node.end_mark.index and depth + 1 == len(path):
            return node, above, ()
        if node.id != "mapping":
            raise ValueError(f"{'.'.join(path[: depth + 1])} is not a mapping")
    return node, above, ()


def _pair(node: _Node, key: str) -> _Pair | None:
    return next(((name, value) for name, value in node.value if name.value == key), None)


def _added(text: str, node: _Node, above: _Node | None, key: str, value: object, newline: str) -> str:
    """A new pair at the end of a mapping; `above` is the key the mapping is under."""
    if node.id == "mapping" and node.flow_style:
        pair = f"{json.dumps(key)}: {json.dumps(value, ensure_ascii=False)}"
        if not node.value:
            place = node.start_mark.index + 1
            return text[:place] + pair + text[place:]
        place = node.value[-1][1].end_mark.index
        return text[:place] + f", {pair}" + text[place:]
    if node.id == "mapping":
        indent = " " * node.value[0][0].start_mark.column
        place = _lines_end(text, _end(node))
    else:
        assert above is not None
        indent = " " * above.start_mark.column + _UNIT
        place = _lines_end(text, text.index(":", above.end_mark.index) + 1)
    return _ended(text[:place], newline) + _block({key: value}, indent, newline) + text[place:]


def _taken_from_flow(text: str, node: _Node, found: _Pair) -> str:
    index = next(index for index, pair in enumerate(node.value) if pair[0] is found[0])
    pairs: list[_Pair] = node.value
    start, end = found[0].start_mark.index, found[1].end_mark.index
    if index:
        start = pairs[index - 1][1].end_mark.index
    elif len(pairs) > 1:
        end = pairs[1][0].start_mark.index
    return text[:start] + text[end:]


def _end(node: _Node) -> int:
    """Where a node's own text ends; the end of a block as ruamel has it lies behind the comments that follow."""
    if node.id == "scalar" or node.flow_style or not node.value:
        return int(node.end_mark.index)
    last = node.value[-1]
    value = last[1] if node.id == "mapping" else last
    end = _end(value)
    # Of a key without a value, only the key has a place.
    return max(end, int(last[0].end_mark.index) + 1) if node.id == "mapping" and end <= last[0].end_mark.index else end


def _line_start(text: str, index: int) -> int:
    return text.rfind("\n", 0, index) + 1


def _lines_end(text: str, index: int) -> int:
    """Behind the line in which something ends; a text of several lines ends at the beginning of the next."""
    if index and text[index - 1] == "\n":
        return index
    end = text.find("\n", index)
    return len(text) if end < 0 else end + 1


def _ended(text: str, newline: str) -> str:
    """The text with its last line ended."""
    return text if not text or text.endswith("\n") else text + newline


def _nested(keys: Sequence[str], value: object) -> dict[str, object]:
    """A value below keys, of which there is at least one."""
    for key in reversed(keys[1:]):
        value = {key: value}
    return {keys[0]: value}


def _block(data: Mapping[str, object], indent: str, newline: str) -> str:
    return _lines(_block_lines(data, indent), newline)


def _lines(lines: Sequence[str], newline: str) -> str:
    return "".join(f"{line}{newline}" for line in lines)


def _block_lines(data: Mapping[str, object], indent: str) -> list[str]:
    lines = []
    for key, value in data.items():
        if isinstance(value, Mapping) and value:
            lines += [f"{indent}{_scalar(key)}:", *_block_lines(value, indent + _UNIT)]
        elif isinstance(value, list) and value:
            lines.append(f"{indent}{_scalar(key)}:")
            for item in value:
                lines += _item_lines(item, indent + _UNIT)
        else:
            lines.append(f"{indent}{_scalar(key)}: {_scalar(value)}")
    return lines


def _item_lines(item: object, indent: str) -> list[str]:
    """An item of a list, with its dash."""
    if not isinstance(item, Mapping):
        return [f"{indent}- {_scalar(item)}"]
    first, *others = _block_lines(item, indent + _UNIT)
    return [f"{indent}- {first.strip()}", *others]


def _scalar(value: object) -> str:
    if isinstance(value, str) and _PLAIN.fullmatch(value) and value.lower() not in _RESERVED:
        return value
    return json.dumps(value, ensure_ascii=False)


def _says(error: Exception) -> str:
    """The problem of a YAML error on one line, with its place."""
    mark = getattr(error, "problem_mark", None)
    problem = getattr(error, "problem", None) or str(error).partition("\n")[0]
    return f"line {mark.line + 1}, column {mark.column + 1}: {problem}" if mark is not None else str(problem)
