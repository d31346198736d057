"""What a profile costs and what it is good for: known before a run, so that nobody finds out in the middle of one."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass

from m3bench.server.runs.retrieval import listed
from m3bench.server.runs.tools import DEFINITIONS
from m3bench.tasks.catalog import Catalog, Tool
from m3bench.tasks.library import Library
from m3bench.tasks.profiles import solvable, tools_of

CHARACTERS = 4
"""Of a tool list to a token; the lists of our profiles have 3.9 to 4.1 with the tokenizer o200k."""


@dataclass(frozen=True)
class Budget:
    """What a profile shows, ours included."""

    tools: int
    tokens: int
    """About so many, when a client hands the whole list to its model."""
    tasks: int
    """How many tasks can be solved with it."""
    of: int
    """How many tasks there are."""

    def __str__(self) -> str:
        return (
            f"{self.tools} tools, about {self.tokens / 1000:.1f}k tokens; {self.tasks} of {self.of} tasks can be played"
        )

    def to_json(self) -> dict[str, int]:
        """A dict that `json.dumps` takes."""
        return asdict(self)


def budget_of(profile: str, catalog: Catalog, library: Library) -> Budget:
    """The budget of a profile; raises `UserError` when there is no such profile."""
    tools = tools_of(profile, catalog, library)
    return budget((*DEFINITIONS, *listed(profile, (tool.wire() for tool in tools))), tools, library)


def budget(listing: Iterable[Mapping[str, object]], tools: tuple[Tool, ...], library: Library) -> Budget:
    """The budget of a tool list and the bundled tools that can be reached through it."""
    shown = list(listing)
    size = len(json.dumps(shown, ensure_ascii=False, separators=(",", ":")))
    tasks = tuple(library.tasks.values())
    return Budget(len(shown), size // CHARACTERS, len(solvable(tasks, tools)), len(tasks))
