"""How much of what everybody knows is held: lists of names, asked of the tools one by one.

    python -m tests.sandboxes.servers.closed_lists [LIST ...] [--missing]

The lists are in `closed_lists.txt`. Every second name of a list is held out: the world was not extended by it.
`--missing` names what is not held of the other half.
"""

import json
import re
import sys
from collections.abc import AsyncIterator, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

import anyio

from m3bench.sandboxes.context import Context
from m3bench.sandboxes.dispatcher import Dispatcher, ToolResult
from m3bench.sandboxes.workspace import Workspace
from m3bench.sandboxes.world.search import fold, words
from m3bench.tasks.catalog import load_catalog
from m3bench.tasks.outcome import text_of

PATH = Path(__file__).with_suffix(".txt")
COMMON = frozenset(
    ("the", "of", "a", "and", "in", "at", "de", "la", "hotel", "hotels", "hostel", "near", "grand", "park", "with")
)
"""Words of a name that do not say which thing is meant."""
_KIND = re.compile(r"(?:hotels?|hostel) (?:in|near) ")
"""A search for a kind of place: where the results lie is asked in `judged_searches.txt`."""
_FIELDS = {"film": r'"title": "([^"]*)"', "book": r'"title": "([^"]*)"', "park": r'"name": "([^"]*)"'}
"""Where an answer says what was found first."""


@dataclass(frozen=True, kw_only=True)
class ClosedList:
    """Names of one kind and the tool to ask for each."""

    name: str
    tool: str
    argument: str
    how: str
    """How an answer is told to be about the name: see `_holds`."""
    further: Mapping[str, str]
    names: tuple[str, ...]

    @property
    def tuned(self) -> tuple[str, ...]:
        """The half that the world may be extended by."""
        return self.names[::2]

    @property
    def held_out(self) -> tuple[str, ...]:
        """The half that nobody looked at."""
        return self.names[1::2]

    def arguments(self, name: str) -> dict[str, object]:
        """The call for one of the names."""
        given = {self.argument: name, **self.further}
        return {key: _typed(value.replace("*", name)) for key, value in given.items()}


def _typed(value: str) -> object:
    return int(value) if value.isdigit() and len(value) < 3 else value


def read() -> Iterator[ClosedList]:
    """All lists, in the order of the file."""
    heading: list[str] = []
    for line in PATH.read_text(encoding="utf-8").splitlines():
        if line.startswith("@"):
            heading = line.split()[1:]
        elif line and not line.startswith("#"):
            name, tool, argument, how, *further = heading
            pairs = dict(part.split("=", 1) for part in further)
            names = tuple(dict.fromkeys(part.strip() for part in line.split(";")))
            yield ClosedList(name=name, tool=tool, argument=argument, how=how, further=pairs, names=names)


def _holds(how: str, name: str, reply: ToolResult) -> bool:
    """Whether an answer is about the thing: there is one, and where it names what it found, that bears the name."""
    if reply.outcome != "success":
        return False
    text = text_of(reply.result)
    meant = set(words(name)) - COMMON or set(words(name))
    if how == "spot":
        said = set(words(" ".join(re.findall(r'"(?:name|formatted_address)": "([^"]*)"', text)[:2])))
        return bool(_KIND.match(name)) or 2 * len(meant & said) >= len(meant)
    if how in _FIELDS:
        found = re.search(_FIELDS[how], text)
        title = json.loads(f'"{found[1]}"') if found else ""
        return bool(found) and (meant <= set(words(title)) or fold(name) in fold(title))
    return True


async def missing(lists: Iterable[ClosedList], *, names: str) -> AsyncIterator[tuple[ClosedList, Sequence[str]]]:
    """The names of each list that are not held, of those that its attribute `names` has."""
    with TemporaryDirectory(prefix="m3bench-") as folder:
        dispatcher = Dispatcher(load_catalog().ready, Context(workspace=Workspace(Path(folder))))
        for asked in lists:
            replies = {name: await dispatcher.call(asked.tool, asked.arguments(name)) for name in getattr(asked, names)}
            yield asked, [name for name, reply in replies.items() if not _holds(asked.how, name, reply)]


async def _print(chosen: Sequence[str], *, named: bool) -> None:
    lists = [asked for asked in read() if not chosen or asked.name in chosen]
    out = {asked.name: gone async for asked, gone in missing(lists, names="held_out")}
    async for asked, gone in missing(lists, names="tuned"):
        held, all_held = len(asked.tuned) - len(gone), len(asked.held_out) - len(out[asked.name])
        print(f"{asked.name:24} tuned {held:3} of {len(asked.tuned):3} ({held / len(asked.tuned):4.0%})", end="  ")
        print(f"held out {all_held:3} of {len(asked.held_out):3} ({all_held / len(asked.held_out):4.0%})", flush=True)
        if named and gone:
            print("   ", "; ".join(gone))


if __name__ == "__main__":
    options = [word for word in sys.argv[1:] if not word.startswith("--")]
    anyio.run(lambda: _print(options, named="--missing" in sys.argv))
