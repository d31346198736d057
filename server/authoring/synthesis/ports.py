"""Where a value can go into a call, found from a tool's example arguments without knowing the tool.

A position goes in as two numbers side by side, as an object with latitude and longitude, or as one text; everything
else goes in as it is. A port is a place in the example's arguments, so that filling it leaves the rest as it was.
"""

import copy
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from m3bench.tasks.catalog import Tool

Kind = Literal["value", "pair", "object", "text"]
Place = tuple[float, float]

_LAT = ("lat", "latitude")
_LNG = ("lng", "lon", "longitude")
_TEXT = re.compile(r"-?\d+\.\d+,\s*-?\d+\.\d+")


@dataclass(frozen=True)
class Port:
    """A place in a tool's arguments that takes a value or a position."""

    tool: str
    path: tuple[str | int, ...]
    kind: Kind
    example: Any
    type: str = "string"
    """The type that the schema gives for a value."""

    @property
    def name(self) -> str:
        """The argument it belongs to."""
        return str(self.path[0]) if self.path else ""

    @property
    def takes_place(self) -> bool:
        """Whether a position goes in."""
        return self.kind != "value"


def ports(tool: Tool, example: Mapping[str, Any]) -> list[Port]:
    """The ports of a tool, by its example; only those of arguments that have to be there, when some have to."""
    required = tool.input_schema.get("required") or list(tool.input_schema.get("properties", {}))
    wanted = {name: example[name] for name in example if name in required}
    found = []
    if pair := _pair(wanted):
        found.append(Port(tool.qualified, (), "pair", tuple(wanted[name] for name in pair)))
    for name, value in wanted.items():
        if pair and name in pair:
            continue
        inner = list(_places(tool.qualified, (name,), value))
        kind = str(tool.input_schema["properties"].get(name, {}).get("type") or "string")
        found += inner or ([Port(tool.qualified, (name,), "value", value, kind)] if _is_plain(value) else [])
    return found


def fill(port: Port, arguments: Mapping[str, Any], value: Any) -> dict[str, Any]:
    """Arguments with a value or a position put into a port."""
    if port.kind == "value":
        return {**arguments, port.name: typed(value, port.type)}
    lat, lng = value
    if port.kind == "pair":
        names = _pair(arguments) or ("lat", "lng")
        return {**arguments, names[0]: lat, names[1]: lng}
    made = copy.deepcopy(dict(arguments))
    spot: Any = made
    for part in port.path[:-1]:
        spot = spot[part]
    if port.kind == "text":
        spot[port.path[-1]] = f"{lat},{lng}"
    else:
        names = _pair(spot[port.path[-1]]) or ("latitude", "longitude")
        spot[port.path[-1]] = {names[0]: lat, names[1]: lng}
    return made


def shortened(port: Port, example: Mapping[str, Any]) -> Mapping[str, Any]:
    """The example with lists around a port cut to the one item that the port is."""
    if port.kind == "text" and len(port.path) == 2 and isinstance(example.get(port.name), list):
        return {**example, port.name: [example[port.name][0]]}
    return example


def typed(value: Any, type: str) -> Any:
    """A value as the schema wants it, where it can be."""
    if type in ("number", "integer") and isinstance(value, str):
        try:
            return int(value) if re.fullmatch(r"-?\d+", value) else float(value)
        except ValueError:
            return value
    return str(value) if type == "string" and isinstance(value, int | float) else value


def _places(tool: str, path: tuple[str | int, ...], value: Any) -> Iterator[Port]:
    if isinstance(value, Mapping):
        if _pair(value):
            yield Port(tool, path, "object", value)
            return
        for name, part in value.items():
            yield from _places(tool, (*path, name), part)
    elif isinstance(value, list) and value:
        yield from _places(tool, (*path, 0), value[0])
    elif isinstance(value, str) and _TEXT.fullmatch(value):
        yield Port(tool, path, "text", value)


def _pair(value: Mapping[str, Any]) -> tuple[str, str] | None:
    lat = next((name for name in value if name.casefold() in _LAT), None)
    lng = next((name for name in value if name.casefold() in _LNG), None)
    return (lat, lng) if lat and lng else None


def _is_plain(value: object) -> bool:
    return isinstance(value, str | int | float) and not isinstance(value, bool)
