"""Which tool a call means: names as clients write them, and calls by way of `call_tool`.

Clients put the server's name before a tool's, and some turn hyphens into underscores. They undo that before they call,
but models and frameworks also write such names themselves. A name that is a tool's own is never read otherwise.

A seat that lists only `find_tools` and `call_tool` is asked for every tool by way of `call_tool`. Such a call is the
call of the tool that it names, with the arguments inside it; the router and everyone who reads the record sees it as
that. The request on record keeps the bytes that came.
"""

import json
import re
from collections.abc import Collection, Iterator, Mapping

FIND_TOOLS, CALL_TOOL = "find_tools", "call_tool"

INJECTED = frozenset({"wait_for_previous"})
"""Arguments that clients add to every call: Gemini CLI marks the order inside a turn with one."""

_PREFIX = re.compile(r"(?:mcp(__|_|-))?m3bench(?:__|[_\-.:/])")
_ANY_SERVER = re.compile(r"mcp__[A-Za-z0-9-]+?__|mcp_[A-Za-z0-9-]+?_")
"""Whatever the person called this server in the client's configuration."""
_SUFFIX = re.compile(r"_mcp_[A-Za-z0-9-]+$")


def understood(name: str, known: Collection[str]) -> str:
    """The known tool that a name means; the name itself when it means none or could mean several."""
    if name in known:
        return name
    for plain in _bare(name):
        if plain in known:
            return plain
        alike = [tool for tool in known if tool.replace("-", "_") == plain.replace("-", "_")]
        if len(alike) == 1:
            return alike[0]
    return name


def inner(arguments: object) -> tuple[str, dict[str, object]] | None:
    """The name and the arguments inside those of `call_tool`; None when they are not well-formed.

    What clients add to every call stands outside and is carried over.
    """
    if not isinstance(arguments, Mapping) or set(arguments) - INJECTED - {"name", "arguments"}:
        return None
    name, given = arguments.get("name"), _object(arguments.get("arguments"))
    if not isinstance(name, str) or not isinstance(given, dict | None):
        return None
    return name, {**(given or {}), **{key: arguments[key] for key in INJECTED & set(arguments)}}


def meant(tool: str, params: Mapping[str, object]) -> object:
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


def without_injected(arguments: Mapping[str, object]) -> dict[str, object]:
    """Arguments without what clients add to every call."""
    return {name: value for name, value in arguments.items() if name not in INJECTED}


def _bare(name: str) -> Iterator[str]:
    """The name, and what is left of it without what a client adds."""
    yield name
    for prefix in (_PREFIX, _ANY_SERVER):
        if found := prefix.match(name):
            yield name[found.end() :]
    if found := _SUFFIX.search(name):
        yield name[: found.start()]


def _object(given: object) -> object:
    """An object that was sent as text."""
    if not isinstance(given, str):
        return given
    try:
        found = json.loads(given)
    except (ValueError, RecursionError):
        return given
    return found if isinstance(found, dict) else given
