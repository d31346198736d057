"""The 23 slide templates by id, read from the table `slide_templates`."""

from collections.abc import Mapping
from functools import cache
from typing import Any

from m3bench.sandboxes.servers.ppt.blueprints import Blueprint, Grid, Panel, Picture, Plot, Repeat, Text
from m3bench.sandboxes.servers.ppt.registry import failure
from m3bench.sandboxes.world import tables

_ELEMENTS: Mapping[str, Any] = {kind.__name__.lower(): kind for kind in (Text, Panel, Picture, Grid, Plot, Repeat)}


@cache
def templates() -> Mapping[str, Blueprint]:
    """All templates, in the order they are listed."""
    return {
        record["id"]: Blueprint(**{**record, "elements": tuple(map(_element, record["elements"]))})
        for record in tables.load("slide_templates")
    }


def template(id: str) -> Blueprint:
    """The template of an id."""
    if id not in templates():
        raise failure(f"Template '{id[:60]}' not found", available_templates=list(templates()))
    return templates()[id]


def _element(record: Mapping[str, Any]) -> Any:
    values = {key: value for key, value in record.items() if key != "element"}
    values["box"] = tuple(values["box"])
    if "parts" in values:
        values["parts"] = tuple(map(_element, values["parts"]))
    return _ELEMENTS[record["element"]](**values)
