"""What is known of an MCP client: where its configuration is, what an entry looks like, and what it does with tool
names, numbers of tools, large results, slow calls and pictures. The clients themselves are in `clients.toml`.

Nothing here reads or writes a file: a place is a function of a `Machine`, an entry a function of a `Launch`.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from m3bench.server.store.capability import ToolLoading

NAME = "m3bench"
"""What our server is called in every configuration."""

System = Literal["linux", "macos", "windows"]
SYSTEMS: tuple[System, ...] = ("linux", "macos", "windows")

Format = Literal["json", "jsonc", "toml", "yaml", "yaml list"]
"""The last is YAML where the servers are a list of mappings that have a name."""

Unit = Literal["bytes", "characters", "tokens"]

Overflow = Literal["hides the whole server", "drops the tool", "cuts the name", "puts a hash at the end", "not known"]
"""What becomes of a tool whose name is too long."""

Images = Literal["shown", "shown, with reports of failure", "lost", "not known"]
"""Whether the model gets to see the pictures in a result."""

Turns = Literal["whole", "as written", "not known"]

Structured = Literal["shown", "ignored", "replaces texts", "replaces everything", "not known"]
"""What becomes of structured content: `replaces everything` means that pictures beside it are lost."""

Entry = dict[str, object]


@dataclass(frozen=True, kw_only=True)
class Machine:
    """What the place of a configuration file depends on."""

    system: System
    home: Path
    env: Mapping[str, str]
    folder: Path
    """The folder a command is run in."""

    def settings(self) -> Path:
        """Where programs of this system keep what a person has set."""
        if self.system == "windows":
            return Path(self.env.get("APPDATA") or self.home / "AppData" / "Roaming")
        if self.system == "macos":
            return self.home / "Library" / "Application Support"
        return self.xdg()

    def xdg(self) -> Path:
        """The folder that many programs use on Linux, and some on macOS too."""
        return Path(self.env.get("XDG_CONFIG_HOME") or self.home / ".config")


@dataclass(frozen=True, kw_only=True)
class Launch:
    """How the client starts us: a program and its arguments."""

    command: str
    args: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class Cap:
    """How much of a result gets through."""

    amount: int
    unit: Unit
    then: str
    """What happens to the rest."""


@dataclass(frozen=True, kw_only=True)
class Naming:
    """How a client names our tools to the model, and what it does with long names."""

    shown: Callable[[str, str], str]
    """The name the model sees, of a server's name and a tool's name; cut where the client cuts."""
    counted: Callable[[str, str], int]
    """The length that the limit is about."""
    limit: int | None
    overflow: Overflow

    def fits(self, server: str, tool: str) -> bool:
        """Whether the tool reaches the model under its whole name."""
        return self.limit is None or self.counted(server, tool) <= self.limit


@dataclass(frozen=True, kw_only=True)
class Note:
    """Something worth knowing that has no field of its own."""

    says: str
    source: str


@dataclass(frozen=True, kw_only=True)
class McpClient:
    """What is known of one client. None means: no limit is known."""

    key: str
    """Its name on the command line."""
    title: str

    place: Callable[[Machine], Path]
    """The configuration file of a person."""
    project: str | None
    """The configuration file of a project, below the project's folder; None where there is none."""
    format: Format
    servers: tuple[str, ...]
    """The keys that lead to the servers in the file."""
    stdio: Callable[[Launch], Entry]
    """The entry of a server that the client starts."""
    http: Callable[[str], Entry] | None
    """The entry of a server at an address; None where the file takes none."""
    approval: Mapping[str, object]
    """Fields of the entry that let calls run without a question to the person."""
    approval_by_hand: str
    """How to get the same in the client itself, where no field does it."""
    link: Callable[[str, Entry], str | None] | None
    """A link that installs the entry with one click, of its name and itself; None where that entry has none."""
    after: str
    """What to do in the client once the file is written."""

    asks_by_default: bool = True
    """Whether it asks before a call where nothing in its configuration says otherwise."""
    asks_with: tuple[str, ...] = ()
    """What a person sets to have it ask: keys of the file, or variables of the environment."""
    turns: Turns = "not known"
    """Whether it sends no call before its model has written the whole turn, or each as soon as it is written."""
    must_exist: bool = False
    """Whether a file with nothing but our entry would be of no use to it."""

    tool_cap: int | None
    """Tools that it passes to the model, of all servers together."""
    advised_tools: int | None = None
    """A smaller number above which trouble is known."""
    naming: Naming
    description_cap: int | None
    """Characters of a tool's description that get through."""
    result_cap: Cap | None
    call_timeout: float | None
    """Seconds after which it abandons a call (or, where a note says so, sets it aside)."""
    images: Images
    structured: Structured
    tools: ToolLoading = "not known"
    """Whether its model has all tools at hand, or must search for them first."""
    client_names: tuple[str, ...]
    """What it calls itself in `clientInfo.name`; a name that ends in `*` is a beginning."""
    parallel: str
    """Whether it sends the calls of one turn together."""

    notes: tuple[Note, ...] = ()
    sources: Mapping[str, str] = field(default_factory=dict)
    """Where each quirk is known from, by the name of its field."""

    @property
    def most_tools(self) -> int | None:
        """The number of tools to stay within."""
        known = [number for number in (self.tool_cap, self.advised_tools) if number is not None]
        return min(known, default=None)

    @property
    def asks(self) -> bool:
        """Whether a person may be asked before a call, though the entry is as we write it."""
        return self.asks_by_default and not self.approval

    @property
    def content_only(self) -> bool:
        """Whether structured content must be left out for pictures to be seen."""
        return self.structured == "replaces everything"
