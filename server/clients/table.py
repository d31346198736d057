"""The table of MCP clients: what is known of each, with the source of every quirk.

`clients` reads it from `clients.toml` (see `client` for the fields); `find` takes what a person wrote, `by_client_info`
what a client says of itself in `clientInfo.name`, and `profile_for` gives the profile that a client can take. Rules
that take more than a line of the table are here as well: how a client names tools to the model, where it keeps its
configuration file, and links that install a server with one click. The facts were gathered in November 2026; closed
programs change without notice, so a probe of the release at hand is better evidence than this table.
"""

import json
import re
import tomllib
from base64 import b64encode
from collections.abc import Callable, Mapping
from copy import deepcopy
from functools import cache, lru_cache
from importlib.resources import files
from pathlib import Path
from urllib.parse import quote, urlencode

from pydantic import BaseModel, ConfigDict

from m3bench.proxy.protocol.tool_calls import MAX_RESULT_BYTES
from m3bench.server.clients.client import (
    Cap,
    Entry,
    Format,
    Images,
    Launch,
    Machine,
    McpClient,
    Naming,
    Note,
    Overflow,
    Structured,
    Turns,
)
from m3bench.server.store.capability import ToolLoading, same_family
from m3bench.tasks.catalog import did_you_mean
from m3bench.tasks.errors import UserError
from m3bench.tasks.profiles import SIZES

_VSCODE_PREFIX = 18
_GEMINI_KEPT = 30


def _joined(pattern: str, limit: int | None, overflow: Overflow) -> Naming:
    """A pattern with {server} and {tool}."""

    def shown(server: str, tool: str) -> str:
        return pattern.format(server=server, tool=tool)

    return Naming(shown=shown, counted=lambda server, tool: len(shown(server, tool)), limit=limit, overflow=overflow)


def _cursor_naming() -> Naming:
    """A prefix that the limit leaves out: server and tool together are counted."""
    return Naming(
        shown=lambda server, tool: f"mcp_{server}_{tool}",
        counted=lambda server, tool: len(server) + len(tool) + 1,
        limit=60,
        overflow="drops the tool",
    )


def _vscode_naming() -> Naming:
    """A short prefix made of the server's label; the whole is cut at 64, other characters become underscores."""

    def whole(server: str, tool: str) -> str:
        label = re.sub(r"[^a-z0-9_.-]+", "_", server.lower())[: _VSCODE_PREFIX - len("mcp__")]
        return re.sub(r"[^A-Za-z0-9_-]", "_", f"mcp_{label}_{tool}")

    return Naming(
        shown=lambda server, tool: whole(server, tool)[:64],
        counted=lambda server, tool: len(whole(server, tool)),
        limit=64,
        overflow="cuts the name",
    )


def _gemini_naming() -> Naming:
    """Above 63 characters, the first and the last thirty with dots between."""

    def whole(server: str, tool: str) -> str:
        return f"mcp_{server}_{tool}"

    def shown(server: str, tool: str) -> str:
        name = whole(server, tool)
        return name if len(name) <= 63 else f"{name[:_GEMINI_KEPT]}...{name[-_GEMINI_KEPT:]}"

    return Naming(
        shown=shown, counted=lambda server, tool: len(whole(server, tool)), limit=63, overflow="cuts the name"
    )


_NAMING_RULES: dict[str, Callable[[], Naming]] = {
    "cursor": _cursor_naming,
    "vscode": _vscode_naming,
    "gemini": _gemini_naming,
}
"""Clients whose naming is more than a pattern."""


def _cursor_link(name: str, entry: Mapping[str, object]) -> str:
    """Opens Cursor, which shows the entry and asks."""
    config = b64encode(_json(entry).encode()).decode()
    return "cursor://anysphere.cursor-deeplink/mcp/install?" + urlencode(
        {"name": name, "config": config}, quote_via=quote
    )


def _vscode_link(name: str, entry: Mapping[str, object]) -> str:
    """Opens VS Code, which shows the entry and asks."""
    return "vscode:mcp/install?" + quote(_json({"name": name, **entry}), safe="")


def _goose_link(name: str, entry: Mapping[str, object]) -> str | None:
    """Opens Goose; for addresses alone, since it refuses programs it does not know in links."""
    if "uri" not in entry:
        return None
    fields = {
        "url": entry["uri"],
        "type": entry["type"],
        "id": name,
        "name": entry["name"],
        "description": entry["description"],
        "timeout": entry["timeout"],
    }
    return "goose://extension?" + urlencode(fields, quote_via=quote)


def _json(data: Mapping[str, object]) -> str:
    return json.dumps(data, separators=(",", ":"), ensure_ascii=False)


_LINKS: dict[str, Callable[[str, Mapping[str, object]], str | None]] = {
    "cursor": _cursor_link,
    "vscode": _vscode_link,
    "goose": _goose_link,
}


def _place(text: str) -> Callable[[Machine], Path]:
    """What the table says of a place: `{home}/…` or `{settings}/…`, else the name of a rule."""
    if text in _PLACE_RULES:
        return _PLACE_RULES[text]
    return lambda machine: Path(text.format(home=machine.home, settings=machine.settings()))


def _claude_code_place(machine: Machine) -> Path:
    return Path(machine.env.get("CLAUDE_CONFIG_DIR") or machine.home) / ".claude.json"


def _codex_place(machine: Machine) -> Path:
    return Path(machine.env.get("CODEX_HOME") or machine.home / ".codex") / "config.toml"


def _continue_place(machine: Machine) -> Path:
    return Path(machine.env.get("CONTINUE_GLOBAL_DIR") or machine.home / ".continue") / "config.yaml"


def _goose_place(machine: Machine) -> Path:
    """The same folder on Linux and macOS."""
    if root := machine.env.get("GOOSE_PATH_ROOT"):
        return Path(root) / "config" / "config.yaml"
    if machine.system == "windows":
        return machine.settings() / "Block" / "goose" / "config" / "config.yaml"
    return machine.xdg() / "goose" / "config.yaml"


def _kilo_place(machine: Machine) -> Path:
    """The same folder on every system; a file that is named in the environment goes before it."""
    if named := machine.env.get("KILO_CONFIG"):
        return Path(named)
    return machine.xdg() / "kilo" / "kilo.json"


def _librechat_place(machine: Machine) -> Path:
    """The folder LibreChat runs in; it may be given another file, or an address, which cannot be edited."""
    named = machine.env.get("CONFIG_PATH") or ""
    return machine.folder / (named if named and "://" not in named else "librechat.yaml")


def _opencode_place(machine: Machine) -> Path:
    """The same folder on every system; a file that is named in the environment goes before it."""
    if named := machine.env.get("OPENCODE_CONFIG"):
        return Path(named)
    return machine.xdg() / "opencode" / "opencode.json"


_PLACE_RULES: dict[str, Callable[[Machine], Path]] = {
    "claude-code": _claude_code_place,
    "codex": _codex_place,
    "continue": _continue_place,
    "goose": _goose_place,
    "kilo": _kilo_place,
    "librechat": _librechat_place,
    "opencode": _opencode_place,
}


OWN_TOOLS = 4
"""list_tasks, start_task, submit and score come on top of every profile."""


class _Pattern(BaseModel):
    """A client that names tools by a pattern with `{server}` and `{tool}`."""

    model_config = ConfigDict(extra="forbid")

    pattern: str
    limit: int | None = None
    overflow: Overflow = "not known"


class _Record(BaseModel):
    """A client as the file has it."""

    model_config = ConfigDict(extra="forbid")

    title: str
    place: str
    project: str | None = None
    must_exist: bool = False
    format: Format
    servers: tuple[str, ...]
    stdio: Entry
    """The entry with `{command}` and `{args}` where these go, or with `{line}` where both go as one list."""
    http: Entry | None = None
    """The entry with `{url}` where that goes."""
    approval: dict[str, object] = {}
    approval_by_hand: str = ""
    asks_by_default: bool = True
    asks_with: tuple[str, ...] = ()
    turns: Turns = "not known"
    link: str | None = None
    after: str
    tool_cap: int | None = None
    advised_tools: int | None = None
    naming: _Pattern | str
    """A pattern, or a key of `_NAMING_RULES`."""
    description_cap: int | None = None
    result_cap: Cap | None = None
    call_timeout: int | float | None = None
    images: Images = "not known"
    structured: Structured = "not known"
    tools: ToolLoading = "not known"
    client_names: tuple[str, ...]
    parallel: str = "not known"
    notes: tuple[Note, ...] = ()
    sources: dict[str, str] = {}

    def client(self, key: str) -> McpClient:
        """The client that this describes."""
        plain = {name: getattr(self, name) for name in type(self).model_fields}
        named, http = self.naming, self.http
        return McpClient(
            **plain
            | {
                "key": key,
                "place": _place(self.place),
                "stdio": lambda launch: _filled(self.stdio, _placed(launch)),
                "http": None if http is None else lambda url: _filled(http, {"{url}": url}),
                "link": None if self.link is None else _LINKS[self.link],
                "naming": _NAMING_RULES[named]()
                if isinstance(named, str)
                else _joined(named.pattern, named.limit, named.overflow),
            }
        )


@cache
def clients() -> Mapping[str, McpClient]:
    """Every client, by its key."""
    text = (files("m3bench.server.clients") / "clients.toml").read_text(encoding="utf-8")
    return {key: _Record.model_validate(entry).client(key) for key, entry in tomllib.loads(text).items()}


def find(key: str) -> McpClient:
    """The client a person named.

    Raises:
        UserError: It is not in the table.
    """
    wanted = key.strip().lower().replace(" ", "-").replace("_", "-")
    for client in clients().values():
        if wanted in (client.key, client.title.lower().replace(" ", "-")):
            return client
    hint = did_you_mean(wanted, clients())
    raise UserError(f"There is no client {key!r} in the table: choose one of {', '.join(clients())}.{hint}")


@lru_cache(maxsize=256)
def by_client_info(name: str) -> McpClient | None:
    """The client that uses this `clientInfo.name`, if it is known."""
    for client in clients().values():
        for known in client.client_names:
            if name == known or (known.endswith("*") and name.startswith(known[:-1])):
                return client
    return None


class KnownClients:
    """What the table and the trials say of a client, for whoever has only what it calls itself.

    Args:
        asks: Whether a client may ask a person before a call, where its configuration can be read.
    """

    def __init__(self, asks: Callable[[McpClient], bool] = lambda client: True) -> None:
        self._asks = asks

    def structured(self, name: str) -> str:
        """What a client does with structured content; empty when it is not known."""
        client = by_client_info(name)
        return client.structured if client is not None else ""

    def most_bytes(self, name: str) -> int | None:
        """How many bytes a client is sent at a time: none that is listed more than the one with the lowest limit."""
        client = by_client_info(name)
        if client is None:
            return None
        cap = client.result_cap
        return min(MAX_RESULT_BYTES, cap.amount if cap is not None and cap.unit == "bytes" else MAX_RESULT_BYTES)

    def loading(self, name: str) -> ToolLoading:
        """How a client's model comes by the tools."""
        client = by_client_info(name)
        return client.tools if client is not None else "not known"

    def late(self, name: str) -> bool:
        """Whether a call may wait for a person, or for its model to write it."""
        client = by_client_info(name)
        return client is None or client.turns != "whole" or self._asks(client)

    def as_written(self, name: str) -> bool:
        """Whether each call is known to leave as soon as its model has written it."""
        client = by_client_info(name)
        return client is not None and client.turns == "as written"

    def measured(self, name: str, version: str) -> dict[str, object] | None:
        """What a trial found of this version or of another of its family, in the short form of a capability card."""
        from m3bench.server.clients.trial.measured import measured

        client = by_client_info(name)
        found = measured().get(client.key) if client is not None else None
        tried = found.client.rpartition(" ")[2] if found is not None else ""
        return found.short(tried) if found is not None and same_family(tried, version) else None


def profile_for(client: McpClient) -> str:
    """The largest profile that stays within what the client lets through."""
    most = client.most_tools
    if most is None:
        return "full"
    fitting = [name for name, size in SIZES.items() if size + OWN_TOOLS <= most]
    return fitting[0] if fitting else list(SIZES)[-1]


def _placed(launch: Launch) -> dict[str, object]:
    line = [launch.command, *launch.args]
    return {"{command}": launch.command, "{args}": line[1:], "{line}": line}


def _filled(template: Entry, values: Mapping[str, object]) -> Entry:
    """An entry with values in the places of their names; only a whole string is a place."""
    return {name: deepcopy(values.get(str(value), value)) for name, value in template.items()}
