"""The tools a probe shows: its own, those of a benchmark profile as padding, and marks between them.

Padding makes the list as long as it will be in the benchmark. A mark is a tool with a code word in its name: a model
that types the word back sees the list at least that far. The list has two pages, the second with one mark alone. It is
the same in every process, because some clients keep tool lists from one day to the next.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from m3bench.server.clients.probe_notes import Mark
from m3bench.server.clients.probe_words import Words

PLACES = (40, 80, 128, 200)
"""Where marks are, besides the ends of the pages: near the points at which clients are known to stop."""

MARK = "probe_mark_"
SECOND = "page-2"
"""The cursor of the second page."""

_HINTS = {"readOnlyHint": True, "idempotentHint": True, "openWorldHint": False}
_WRITING = {**_HINTS, "readOnlyHint": False, "destructiveHint": False}
_EMPTY = {"type": "object", "properties": {}}


def _tool(name: str, description: str, schema: dict[str, Any] | None = None) -> dict[str, Any]:
    return {"name": name, "description": description, "inputSchema": schema or _EMPTY, "annotations": _HINTS}


def _writing(name: str, description: str) -> dict[str, Any]:
    """A tool that says of itself that it is not read-only: many clients send those one by one."""
    return {**_tool(name, description), "annotations": _WRITING}


_FINISH = {
    "type": "object",
    "properties": {
        "words": {
            "type": "array",
            "items": {"type": "string"},
            "description": "Every code word that you saw yourself, in any order; no guesses",
        },
        "tools": {
            "type": "integer",
            "minimum": 0,
            "description": "How many tools of this server you can see, counted as well as you can",
        },
        "long": {
            "type": "string",
            "enum": ["whole", "cut", "file", "nothing"],
            "description": "How the text of probe_long reached you: whole, cut short, as a file to be read, or not",
        },
    },
    "required": ["words"],
}

DEFINITIONS = (
    _tool(
        "probe_start",
        "Begin the probe of this client: what it passes on between you and a server. Call this first, then do what it "
        "says; it takes about eleven calls.",
    ),
    _tool("probe_picture", "Step 1 of the probe: a picture with a code word in it."),
    _tool("probe_mixed", "Step 2 of the probe: a text, a picture and data in one result."),
    _tool("probe_long", "Step 3 of the probe: a long text with markers in it."),
    _tool("probe_pair_a", "Step 4 of the probe: call it together with probe_pair_b, both in one turn."),
    _tool("probe_pair_b", "Step 4 of the probe: call it together with probe_pair_a, both in one turn."),
    _writing(
        "probe_note_a", "Step 5 of the probe: keeps a note. Call it together with probe_note_b, both in one turn."
    ),
    _writing(
        "probe_note_b", "Step 5 of the probe: keeps a note. Call it together with probe_note_a, both in one turn."
    ),
    _tool("probe_slow", "Step 6 of the probe: takes some seconds to answer."),
    _tool("probe_flaky", "Step 7 of the probe: fails on purpose. Call it once and do not repeat it."),
    _tool("probe_finish", "Last step of the probe: tell what you saw, and get the result.", _FINISH),
)

OWN = frozenset(tool["name"] for tool in DEFINITIONS)


@dataclass(frozen=True, kw_only=True)
class Listing:
    """The two pages."""

    pages: tuple[tuple[dict[str, Any], ...], tuple[dict[str, Any], ...]]
    marks: tuple[Mark, ...]

    @property
    def names(self) -> frozenset[str]:
        """Every tool that is shown."""
        return frozenset(tool["name"] for page in self.pages for tool in page)


def listing(padding: Sequence[dict[str, Any]]) -> Listing:
    """The list with these tools as padding."""
    words = Words("marks")
    tools = [*DEFINITIONS, *padding]
    marks: list[Mark] = []
    for place in (*(place for place in PLACES if place <= len(tools)), None):
        marks.append(Mark(word=words.next(), place=place or len(tools) + 1, page=1))
        tools.insert(marks[-1].place - 1, _mark(marks[-1]))
    marks.append(Mark(word=words.next(), place=len(tools) + 1, page=2))
    return Listing(pages=(tuple(tools), (_mark(marks[-1]),)), marks=tuple(marks))


def _mark(mark: Mark) -> dict[str, Any]:
    return _tool(f"{MARK}{mark.word.lower()}", "Need not be called: whoever sees its name sees the list this far.")
