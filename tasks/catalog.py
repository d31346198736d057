"""The 27 servers and 232 tools as data: names, schemas, descriptions, annotations.

Loading reads JSON and imports no server, so that a tool list costs milliseconds and starts nothing. Here too
is the one codec between a tool's canonical name `server/tool` and the name clients see, `server__tool`.
Which servers are built is data as well (`ready`): everything that lists tools asks the catalog. Servers beyond the 27
(`further`) are found by name and listed only for tasks that need them.
"""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cache, cached_property
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any

from m3bench.tasks.coercion import Reading, read_arguments
from m3bench.tasks.errors import InvalidArgumentsError, UnknownToolError
from m3bench.tasks.json_types import Record
from m3bench.tasks.lazy_modules import LazyModule
from m3bench.tasks.schema import Schema, problems

if TYPE_CHECKING:
    from rapidfuzz import fuzz, process, utils
else:
    fuzz = LazyModule("rapidfuzz.fuzz")
    process = LazyModule("rapidfuzz.process")
    utils = LazyModule("rapidfuzz.utils")

SEPARATOR = "__"


@dataclass(frozen=True, kw_only=True)
class Tool:
    """One tool of a server."""

    server: str
    name: str
    description: str
    input_schema: Schema
    annotations: Mapping[str, bool]
    strict: bool
    """Whether undeclared arguments are refused; most servers ignore them."""
    elsewhere: Mapping[str, str] = field(default_factory=dict)
    """Where else an argument may be given: a dotted path into undeclared arguments, read when it is left out."""

    @property
    def qualified(self) -> str:
        """The canonical name, `server/tool`."""
        return f"{self.server}/{self.name}"

    @property
    def exposed(self) -> str:
        """The name clients see, `server__tool`."""
        return f"{self.server}{SEPARATOR}{self.name}"

    @property
    def read_only(self) -> bool:
        """Whether a call changes nothing, so that clients may run it in parallel."""
        return self.annotations["readOnlyHint"]

    def check(self, arguments: object) -> None:
        """Raise `InvalidArgumentsError` when the arguments do not fit the schema."""
        found = problems(self.input_schema, self.filled(arguments), strict=self.strict)
        if found:
            raise InvalidArgumentsError(self.qualified, found)

    def read(self, arguments: object) -> Reading:
        """The arguments as the tool takes them, however a client wrote them.

        Raises:
            InvalidArgumentsError: They do not fit the schema in any way of reading them.
        """
        found = read_arguments(self.input_schema, arguments)
        self.check(found.arguments)
        return found

    def filled(self, arguments: Any) -> Any:
        """The arguments, with those given elsewhere moved to where the schema expects them."""
        if not self.elsewhere or not isinstance(arguments, Mapping):
            return arguments
        found = {name: _dig(arguments, path) for name, path in self.elsewhere.items() if name not in arguments}
        return {**arguments, **{name: value for name, value in found.items() if value is not None}}

    def wire(self) -> dict[str, object]:
        """The entry of this tool in an MCP tool list."""
        return {
            "name": self.exposed,
            "description": self.description,
            "inputSchema": dict(self.input_schema),
            "annotations": dict(self.annotations),
        }


@dataclass(frozen=True, kw_only=True)
class Server:
    """One tool server."""

    name: str
    title: str
    category: str
    ready: bool
    """Whether it is built; one that is not is listed nowhere but in the catalog itself."""
    stateful: bool
    """Whether a call can change what a later call answers."""
    needs: str = ""
    """What must be there for it to do something, beyond m3bench itself; empty when nothing."""
    tools: tuple[Tool, ...]


@dataclass(frozen=True)
class Catalog:
    """The servers, in a fixed order."""

    servers: tuple[Server, ...]
    further: tuple[Server, ...] = ()
    """Servers that are found by name and are no part of any list: what only the tasks of some sets need."""

    @cached_property
    def by_name(self) -> Mapping[str, Server]:
        """Servers by name, further ones at the end."""
        return {server.name: server for server in (*self.servers, *self.further)}

    @cached_property
    def by_tool(self) -> Mapping[str, Tool]:
        """Tools by canonical name, those of further servers at the end."""
        return {tool.qualified: tool for server in self.by_name.values() for tool in server.tools}

    @property
    def tools(self) -> tuple[Tool, ...]:
        """Every tool, server by server."""
        return tuple(tool for server in self.servers for tool in server.tools)

    @cached_property
    def ready(self) -> "Catalog":
        """The part that is built."""
        return Catalog(tuple(server for server in self.servers if server.ready), self.further)

    @cached_property
    def hash(self) -> str:
        """What a manifest says of the tool definitions: any change in name, schema or text changes it."""
        text = json.dumps([tool.wire() for tool in self.tools], sort_keys=True, ensure_ascii=False)
        return sha256(text.encode()).hexdigest()

    def select(self, names: Iterable[str]) -> "Catalog":
        """The named servers, in catalog order; a further one is an ordinary one then."""
        wanted = set(names)
        for name in sorted(wanted - set(self.by_name)):
            raise UnknownToolError(name, nearest(name, self.by_name))
        return Catalog(tuple(server for server in self.by_name.values() if server.name in wanted))

    def tool(self, name: str) -> Tool:
        """The tool of a canonical or exposed name; raises `UnknownToolError` with the nearest names."""
        found = self.by_tool.get(name) or self.by_tool.get(qualify(name))
        if found is None:
            known = [tool.qualified if "/" in name else tool.exposed for tool in self.tools]
            raise UnknownToolError(name, nearest(name, known))
        return found


def _dig(value: object, path: str) -> object:
    for name in path.split("."):
        value = value.get(name) if isinstance(value, Mapping) else None
    return value


def expose(name: str) -> str:
    """`server/tool` as clients see it."""
    return name.replace("/", SEPARATOR, 1)


def qualify(name: str) -> str:
    """The canonical form of an exposed name. Names without the separator come back as they are."""
    return name.replace(SEPARATOR, "/", 1)


_FURTHER = 10


def nearest(name: str, known: Iterable[str], limit: int = 3) -> list[str]:
    """The most similar known names, best first; none that is much further away than the best."""
    found = process.extract(
        name, list(known), scorer=fuzz.WRatio, processor=utils.default_process, limit=limit, score_cutoff=60
    )
    return [match for match, score, _ in found if score >= found[0][1] - _FURTHER]


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """A sentence with the nearest names, to follow another one; empty when none is near."""
    close = nearest(name, known)
    return f" Did you mean {', '.join(close)}?" if close else ""


@cache
def load_catalog() -> Catalog:
    """The catalog that comes with the package."""
    data = Path(__file__).parent / "data"
    return Catalog(_servers(data / "catalog"), _servers(data / "further"))


def _servers(folder: Path) -> tuple[Server, ...]:
    entries = [json.loads(entry.read_bytes()) for entry in folder.glob("*.json")]
    return tuple(_server(entry) for entry in sorted(entries, key=lambda entry: entry["server"].casefold()))


def _server(entry: Record) -> Server:
    return Server(
        name=entry["server"],
        title=entry["title"],
        category=entry["category"],
        ready=entry["ready"],
        stateful=entry["stateful"],
        needs=entry.get("needs", ""),
        tools=tuple(
            Tool(
                server=entry["server"],
                name=tool["name"],
                description=tool["description"],
                input_schema=tool["inputSchema"],
                annotations=tool["annotations"],
                strict=entry["unknown_arguments"] == "reject",
                elsewhere=tool.get("elsewhere", {}),
            )
            for tool in entry["tools"]
        ),
    )
