"""The one table of MCP clients: what is known of each, with the source of every quirk.

`CLIENTS` maps a key such as `cursor` to a `Client` (see `client` for the fields; the data is in `apps` and
`terminals`). `find` takes what a person wrote, `by_client_info` what a client says of itself in `clientInfo.name`,
`profile_for` gives the profile that a client can take. Facts were gathered in November 2026; closed programs change
without notice, so a probe of the release at hand beats this table.
"""

from m3bench.server.clients.apps import CLAUDE_DESKTOP, CURSOR, LIBRECHAT, VSCODE, WINDSURF
from m3bench.server.clients.client import Client
from m3bench.server.clients.terminals import CLAUDE_CODE, CODEX, GEMINI, GOOSE
from m3bench.tasks.catalog import did_you_mean
from m3bench.tasks.errors import UserError
from m3bench.tasks.profiles import SIZES

OWN_TOOLS = 4
"""list_tasks, start_task, submit and score come on top of every profile."""

CLIENTS: dict[str, Client] = {
    client.key: client
    for client in (CLAUDE_DESKTOP, CLAUDE_CODE, CURSOR, VSCODE, CODEX, GEMINI, GOOSE, WINDSURF, LIBRECHAT)
}
"""Every client, by its key."""


def find(key: str) -> Client:
    """The client a person named.

    Raises:
        UserError: It is not in the table.
    """
    wanted = key.strip().lower().replace(" ", "-").replace("_", "-")
    for client in CLIENTS.values():
        if wanted in (client.key, client.title.lower().replace(" ", "-")):
            return client
    hint = did_you_mean(wanted, CLIENTS)
    raise UserError(f"There is no client {key!r} in the table: choose one of {', '.join(CLIENTS)}.{hint}")


def by_client_info(name: str) -> Client | None:
    """The client that calls itself so in `clientInfo.name`, if it is known."""
    for client in CLIENTS.values():
        for known in client.client_names:
            if name == known or (known.endswith("*") and name.startswith(known[:-1])):
                return client
    return None


def profile_for(client: Client) -> str:
    """The largest profile that stays within what the client lets through."""
    most = client.most_tools
    if most is None:
        return "full"
    fitting = [name for name, size in SIZES.items() if size + OWN_TOOLS <= most]
    return fitting[0] if fitting else list(SIZES)[-1]
