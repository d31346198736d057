"""Calls by way of `call_tool`: what a seat that lists only `find_tools` and `call_tool` is asked.

Such a call is the call of the tool that it names, with the arguments inside it; the router and everyone who reads the
record sees it as that. The request on record keeps the bytes that came.
"""

import json
from collections.abc import Mapping
from typing import Any

from m3bench.proxy.names import understood

FIND_TOOLS, CALL_TOOL = "find_tools", "call_tool"

INJECTED = frozenset({"wait_for_previous"})
"""Arguments that clients add to every call: Gemini CLI marks the order inside a turn with one."""


def inner(arguments: object) -> tuple[str, dict[str, Any]] | None:
    """The name and the arguments inside those of `call_tool`; None when they are not well-formed.

    What clients add to every call stands outside and is carried over.
    """
    if not isinstance(arguments, Mapping) or set(arguments) - INJECTED - {"name", "arguments"}:
        return None
    name, given = arguments.get("name"), _object(arguments.get("arguments"))
    if not isinstance(name, str) or not isinstance(given, dict | None):
        return None
    return name, {**(given or {}), **{key: arguments[key] for key in INJECTED & set(arguments)}}


def meant(tool: str, params: Mapping[str, Any]) -> object:
    """The arguments of a recorded call, as sent to the tool that was meant.

    Args:
        tool: The tool's name on record; `call_tool` when what came was no call of another tool.
        params: The parameters of the request.
    """
    arguments = params.get("arguments")
    name = params.get("name")
    if not isinstance(name, str) or understood(name, (CALL_TOOL,)) != CALL_TOOL or tool == CALL_TOOL:
        return arguments
    found = inner(arguments)
    return found[1] if found is not None else arguments


def _object(given: object) -> object:
    """An object that was sent as text."""
    if not isinstance(given, str):
        return given
    try:
        found = json.loads(given)
    except (ValueError, RecursionError):
        return given
    return found if isinstance(found, dict) else given
