"""Which tool's answers fit which tool's arguments, learned by making calls.

Every tool's example is played and its answer read. A field becomes an edge to an argument when names, types or the
shape of the value fit, and when the second call, made with the value that the first one really gave, succeeds and
returns something else than for the example. Only what was executed is in the graph.
"""

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from m3bench.server.authoring.synthesis.ports import Place, Port, fill, ports, shortened
from m3bench.server.authoring.synthesis.rows import Row, number
from m3bench.server.authoring.synthesis.trial_sandbox import TrialSandbox

TRIALS = 3
"""Rows whose values are tried before an edge is given up."""
_KIN = {"title": {"artist", "author"}}
"""Words that name the same kind of thing as an argument's name."""
_LAT, _LNG = ("lat", "latitude"), ("lng", "lon", "longitude")


@dataclass(frozen=True)
class Edge:
    """A field of one tool's answer that goes into another tool's argument."""

    producer: str
    field: str
    consumer: str
    port: Port
    part: str = ""
    """Which part of a longer value is meant, as a regular expression."""

    def value(self, row: Row) -> Any:
        """What goes into the port, from a row; None when the row does not have it."""
        if self.port.takes_place:
            return place(row)
        found = row.get(self.field)
        if found is None or not self.part:
            return found
        match = re.search(self.part, str(found))
        return match[1] if match else None


@dataclass(frozen=True)
class Graph:
    """What was learned."""

    edges: tuple[Edge, ...]
    ports: Mapping[str, tuple[Port, ...]]
    examples: Mapping[str, Mapping[str, Any]]
    """Arguments of each tool's example, by canonical name."""

    def after(self, tool: str) -> list[Edge]:
        """The edges that leave a tool."""
        return [edge for edge in self.edges if edge.producer == tool]


async def learn(trial: TrialSandbox, servers: Sequence[str], only: Collection[str] | None = None) -> Graph:
    """Learn the graph of some servers.

    Args:
        trial: Where calls are made.
        servers: Names.
        only: Canonical names of the tools that matter; all when left out.
    """
    examples: dict[str, Mapping[str, Any]] = {}
    for server in servers:
        calls = await trial.prepare(server)
        found = {f"{server}/{name}": arguments for name, arguments in calls.items()}
        examples |= {tool: arguments for tool, arguments in found.items() if only is None or tool in only}
    found_ports = {tool: tuple(ports(trial.catalog.tool(tool), example)) for tool, example in examples.items()}
    answers = {tool: await trial.rows(tool, example) for tool, example in examples.items()}
    edges = []
    for producer, rows in answers.items():
        for consumer in examples:
            for port in found_ports[consumer]:
                edges += [
                    edge
                    for edge in _candidates(producer, rows, port)
                    if await _holds(trial, edge, rows, examples[consumer])
                ][:1]
    return Graph(tuple(edges), found_ports, examples)


async def _holds(trial: TrialSandbox, edge: Edge, rows: list[Row], example: Mapping[str, Any]) -> bool:
    """Whether the second call succeeds with what the first one gave."""
    if edge.producer == edge.consumer:
        return False
    base = shortened(edge.port, required_of(trial, edge.consumer, example))
    usual = await trial.text(edge.consumer, base)
    for row in rows[:TRIALS]:
        value = edge.value(row)
        if value is None:
            continue
        answer = await trial.text(edge.consumer, fill(edge.port, base, value))
        # A search finds something for any word: it has to be about the very thing.
        about = edge.port.takes_place or _is_code(value) or str(value).casefold() in (answer or "").casefold()
        if answer and about and (answer != usual or str(value) == str(edge.port.example)):
            return True
    return False


def required_of(trial: TrialSandbox, tool: str, example: Mapping[str, Any]) -> dict[str, Any]:
    """The part of an example that a call cannot do without."""
    schema = trial.catalog.tool(tool).input_schema
    required = schema.get("required") or list(example)[:1]
    return {name: example[name] for name in example if name in required}


def place(row: Row) -> Place | None:
    """The position that a row gives of its thing; bounds and viewports are not it."""
    for path, value in row.items():
        head, _, tail = path.rpartition(".")
        if tail.casefold() in _LAT and not re.search(r"viewport|bounds|bias", head):
            for name in _LNG:
                other = row.get(f"{head}.{name}" if head else name)
                lat, lng = number(value), number(other)
                if lat is not None and lng is not None:
                    return lat, lng
    return None


def _candidates(producer: str, rows: list[Row], port: Port) -> Iterator[Edge]:
    if port.takes_place:
        if any(place(row) for row in rows):
            yield Edge(producer, "", port.tool, port)
        return
    wanted = _tokens(port.name)
    about = set(_tokens(producer.partition("/")[2]))
    for field in dict.fromkeys(name for row in rows[:TRIALS] for name in row):
        value = next(row[field] for row in rows if field in row)
        if _fits(_tokens(field), about, wanted) and _same_type(value, port):
            several = re.fullmatch(r"\S+(?:, \S+)+", str(value)) is not None
            yield Edge(producer, field, port.tool, port, r"^([^,\s]+)" if several else "")
        elif str(value).startswith("http") and (part := _url_part(str(value), port)):
            yield Edge(producer, field, port.tool, port, part)


def _fits(field: list[str], about: set[str], wanted: list[str]) -> bool:
    """Whether a field's name, with what its tool is about, says what an argument's name says."""
    if field == ["value"]:
        return set(wanted) <= about
    if field and field[-1] in _KIN.get(wanted[-1], set()):
        return len(wanted) == 1
    return bool(field) and field[-1] == wanted[-1] and set(wanted) <= {*field, *about} and _is_distinctive(wanted)


def _is_distinctive(wanted: list[str]) -> bool:
    """Whether a name says what it is for: `query` and `type` stand for anything."""
    return wanted not in (["query"], ["q"], ["type"], ["name"], ["limit"], ["date"], ["title"], ["location"], ["code"])


def _same_type(value: object, port: Port) -> bool:
    return port.type not in ("number", "integer") or number(value) is not None or "," in str(value)


def _url_part(url: str, port: Port) -> str | None:
    """Where a code of the example's shape is in an address: a segment of the same length and kind of letters."""
    example = str(port.example)
    if not _is_code(example) or not example.isalnum() or not 5 <= len(example) <= 24:
        return None
    letters = "a-z0-9" if example.lower() == example and not example.isdigit() else "A-Z0-9"
    pattern = rf"/((?=[A-Za-z]*\d)[{letters}]{{{len(example)}}})(?=/|$|\?)"
    return pattern if re.search(pattern, url) else None


def _is_code(value: object) -> bool:
    return " " not in str(value) and any(letter.isdigit() for letter in str(value))


def _tokens(name: str) -> list[str]:
    """The words of a name, in the singular."""
    spaced = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", re.sub(r"[._\d/()-]+", " ", name))
    return [
        word[:-1] if len(word) > 2 and word.endswith("s") and not word.endswith("ss") else word
        for word in spaced.casefold().split()
    ]
