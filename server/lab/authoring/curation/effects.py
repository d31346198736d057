"""What calls do to things that outlast them: files and open documents.

A call that changes something is never put into one step with another that touches the same thing. What a call changes
follows from its arguments: the place it is asked to write to or, if there is none, everything it names.
"""

from collections.abc import Iterator, Mapping
from pathlib import PurePosixPath
from typing import Any

from m3bench.proxy.dataflow import distinctive_values, texts
from m3bench.server.lab.authoring.curation.material import Act, path_of
from m3bench.server.lab.authoring.curation.provenance import is_path
from m3bench.tasks.catalog import Tool

_TARGETS = ("output", "save", "dest", "target")
_HANDLES = ("id", "presentation_id", "document_id", "session_id")


def touched(act: Act, tool: Tool | None) -> tuple[frozenset[str], frozenset[str]]:
    """What a call reads and what it writes, by name."""
    named = frozenset(_named(act.arguments, act.arguments))
    if tool is None or tool.read_only:
        return named, frozenset()
    targets = {
        name: value for name, value in act.arguments.items() if any(word in name.casefold() for word in _TARGETS)
    }
    written = frozenset(_named(targets, act.arguments))
    return (named - written, written) if written else (frozenset(), named)


def is_bound(earlier: Act, later: Act, tools: Mapping[str, Tool]) -> bool:
    """Whether the order of two calls may matter because of what they leave behind."""
    first_reads, first_writes = touched(earlier, tools.get(earlier.tool))
    then_reads, then_writes = touched(later, tools.get(later.tool))
    return bool(_shared(first_writes, then_reads | then_writes) or _shared(first_reads, then_writes))


def _shared(one: frozenset[str], other: frozenset[str]) -> bool:
    """Whether some thing is in both, or inside a folder that is."""
    return any(a == b or a.startswith(f"{b}/") or b.startswith(f"{a}/") for a in one for b in other)


def _named(arguments: Mapping[str, Any], all_arguments: Mapping[str, Any]) -> Iterator[str]:
    for name, value in arguments.items():
        for text in texts(value):
            if isinstance(value, str) and name in _HANDLES:
                yield text
            elif is_path(text):
                path = path_of(text).rstrip("/")
                # Two calls may fill one folder at a time; what they put there goes by what they are about.
                yield from [path] if PurePosixPath(path).suffix else [f"{path}/{one}" for one in _topics(all_arguments)]


def _topics(arguments: Mapping[str, Any]) -> list[str]:
    return [value for value in distinctive_values(arguments) if not is_path(value)] or [""]
