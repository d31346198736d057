"""The table of MCP clients: what is known of each, with the source of every quirk.

`clients` reads it from `clients.toml` (see `client` for the fields); `find` takes what a person wrote, `by_client_info`
what a client says of itself in `clientInfo.name`, and `profile_for` gives the profile that a client can take. The facts
were gathered in November 2026; closed programs change without notice, so a probe of the release at hand is better
evidence than this table.
"""

import tomllib
from collections.abc import Mapping
from copy import deepcopy
from functools import cache
from importlib.resources import files
from typing import Any

from pydantic import BaseModel, ConfigDict

from m3bench.server.clients import links, naming, places
from m3bench.server.clients.client import Cap, Client, Entry, Format, Images, Launch, Note, Overflow, Structured
from m3bench.server.store.capability import ToolLoading
from m3bench.tasks.catalog import did_you_mean
from m3bench.tasks.errors import UserError
from m3bench.tasks.profiles import SIZES

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
    approval: dict[str, Any] = {}
    approval_by_hand: str = ""
    link: str | None = None
    after: str
    tool_cap: int | None = None
    advised_tools: int | None = None
    naming: _Pattern | str
    """A pattern, or the name of a rule in `naming`."""
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

    def client(self, key: str) -> Client:
        """The client that this describes."""
        plain = {name: getattr(self, name) for name in type(self).model_fields}
        named, http = self.naming, self.http
        return Client(
            **plain
            | {
                "key": key,
                "place": places.place(self.place),
                "stdio": lambda launch: _filled(self.stdio, _placed(launch)),
                "http": None if http is None else lambda url: _filled(http, {"{url}": url}),
                "link": None if self.link is None else links.LINKS[self.link],
                "naming": naming.RULES[named]()
                if isinstance(named, str)
                else naming.joined(named.pattern, named.limit, named.overflow),
            }
        )


@cache
def clients() -> Mapping[str, Client]:
    """Every client, by its key."""
    text = (files("m3bench.server.clients") / "clients.toml").read_text(encoding="utf-8")
    return {key: _Record.model_validate(entry).client(key) for key, entry in tomllib.loads(text).items()}


def find(key: str) -> Client:
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


def by_client_info(name: str) -> Client | None:
    """The client that uses this `clientInfo.name`, if it is known."""
    for client in clients().values():
        for known in client.client_names:
            if name == known or (known.endswith("*") and name.startswith(known[:-1])):
                return client
    return None


class KnownClients:
    """What the table and the trials say of a client, for whoever has only what it calls itself."""

    def structured(self, name: str) -> str:
        """What a client does with structured content; empty when it is not known."""
        client = by_client_info(name)
        return client.structured if client is not None else ""

    def loading(self, name: str) -> ToolLoading:
        """How a client's model comes by the tools."""
        client = by_client_info(name)
        return client.tools if client is not None else "not known"

    def measured(self, name: str, version: str) -> dict[str, Any] | None:
        """What a trial found of this very version, in the short form of a capability card."""
        from m3bench.server.clients.trial.measured import measured

        called = f"{name} {version}"
        return next((found.short(version) for found in measured().values() if found.client == called), None)


def profile_for(client: Client) -> str:
    """The largest profile that stays within what the client lets through."""
    most = client.most_tools
    if most is None:
        return "full"
    fitting = [name for name, size in SIZES.items() if size + OWN_TOOLS <= most]
    return fitting[0] if fitting else list(SIZES)[-1]


def _placed(launch: Launch) -> dict[str, Any]:
    line = [launch.command, *launch.args]
    return {"{command}": launch.command, "{args}": line[1:], "{line}": line}


def _filled(template: Entry, values: Mapping[str, Any]) -> Entry:
    """An entry with values in the places of their names; only a whole string is a place."""
    return {name: deepcopy(values.get(str(value), value)) for name, value in template.items()}
