"""The page on clients: how to install m3bench into each, and what each does with tools and results.

The text is in `guide.md`, and what differs from client to client comes from the table. `m3bench install --markdown`
prints the page; the part on the probe follows it in the docs and is written by hand.
"""

import json
from collections.abc import Sequence
from importlib.resources import files
from pathlib import Path

from m3bench.server.clients.client import SYSTEMS, Machine, McpClient, System
from m3bench.server.clients.documents import snippet
from m3bench.server.clients.installation import local
from m3bench.server.clients.table import OWN_TOOLS, clients, profile_for
from m3bench.server.clients.trial.measured import Framework, frameworks, measured, newest

PROGRAM = "/path/to/m3bench"
URL = "http://127.0.0.1:8700/mcp"

_SYSTEM_NAMES = {"linux": "Linux", "macos": "macOS", "windows": "Windows"}
_FENCES = {"json": "json", "jsonc": "json", "toml": "toml", "yaml": "yaml", "yaml list": "yaml"}

_HEADINGS = (
    "client", "tools at most", "profile", "name the model sees", "longest name", "result at most", "call at most",
    "pictures", "structured content",
)  # fmt: skip


def page() -> str:
    """The page without its last part."""
    head = f"| {' | '.join(_HEADINGS)} |\n|{'---|' * len(_HEADINGS)}\n"
    text = (files("m3bench.server.clients") / "guide.md").read_text(encoding="utf-8")
    return (
        text.replace("{own_tools}", str(OWN_TOOLS))
        .replace("{table}", head + "".join(_row(client) for client in clients().values()))
        .replace("{measured}", _measured())
        .replace("{frameworks}", _frameworks())
        .replace("{parts}", "".join(_part(client) for client in clients().values()))
    )


def _measured() -> str:
    """The table of what trials found."""
    head = ("client", "as it calls itself", "tools", "picture", "score card", "calls to read-only tools", "to others")
    rows: list[tuple[str, ...]] = [(*head, "newest version", "at 1.000", "widest range")]
    for key, client in clients().items():
        if (found := measured().get(key)) is not None:
            sent = (found.reading or "–", found.writing or "–")
            rows.append((client.title, found.client, found.tools, found.picture, found.card, *sent, *_newest(key)))
    return _table(rows)


def _newest(key: str) -> tuple[str, str, str]:
    """What came of eight tasks with the newest version of a client."""
    found = newest().get(key)
    if found is None:
        return "–", "–", "–"
    return found.version, f"{found.perfect} of {found.tasks}", f"{found.widest:.3f}"


def _frameworks() -> str:
    """The table of what trials found of frameworks."""
    rows: list[tuple[str, ...]] = [
        ("framework", "packages", "picture", "score card", "calls to read-only tools", "to others")
    ]
    for name, framework in frameworks().items():
        packages = ", ".join(framework.packages).replace("==", " ") or "as m3bench needs it"
        facts = (_over_both(framework, fact) for fact in ("picture", "card", "reading", "writing"))
        rows.append((name, packages, *facts))
    return _table(rows)


def _over_both(framework: Framework, fact: str) -> str:
    """A fact of a framework, and what it is over HTTP where that differs."""
    stdio, http = (str(getattr(found, fact) or "–") for found in (framework.stdio, framework.http))
    return stdio if stdio == http else f"{stdio}; over HTTP {http}"


def _table(rows: Sequence[Sequence[str]]) -> str:
    head, *lines = (f"| {' | '.join(row)} |\n" for row in rows)
    return "".join([head, f"|{'---|' * len(rows[0])}\n", *lines])


def _row(client: McpClient) -> str:
    naming, result = client.naming, client.result_cap
    most = " or ".join(str(number) for number in (client.advised_tools, client.tool_cap) if number is not None)
    cells = [
        f"[{client.title}](#{client.title.lower().replace(' ', '-')})",
        most or "–",
        f"`{profile_for(client)}`",
        f"`{naming.shown('m3bench', 'wiki__search')}`",
        f"{naming.limit}, else {naming.overflow}" if naming.limit else "–",
        f"{result.amount:,} {result.unit}, else {result.then}" if result else "–",
        f"{client.call_timeout:g} s" if client.call_timeout else "–",
        client.images,
        client.structured,
    ]
    return f"| {' | '.join(cells)} |\n"


def _part(client: McpClient) -> str:
    """How to install into one client, and what is known of it."""
    lines = [f"## {client.title}", "", _places(client), ""]
    lines += [_fenced(client), ""]
    if client.http is not None:
        lines += [f"For a server at an address: {_code(client.http(URL))}", ""]
    lines += [f"- {client.after}"]
    if client.approval:
        lines.append(f"- Approval: {_code(dict(client.approval))} lets tools run without asking.")
    else:
        lines.append(f"- Approval: {client.approval_by_hand}")
    lines += [f"- {note.says} ({note.source})" for note in client.notes]
    calls = ", ".join(f"`{name}`" for name in client.client_names)
    lines.append(f"- Identifies itself as {calls}. Sends the calls of one turn together: {client.parallel}.")
    told = "; ".join(f"{field.replace('_', ' ')}: {source}" for field, source in client.sources.items())
    lines += [f"- Sources: {told}.", ""]
    return "\n".join(lines) + "\n"


def local_snippet(client: McpClient) -> str:
    """The entry as a file of its own, with a path that stands for any."""
    return snippet(client, local(client, Path(), None, (PROGRAM,)).entry)


def _fenced(client: McpClient) -> str:
    return f"```{_FENCES[client.format]}\n{local_snippet(client).rstrip()}\n```"


def _places(client: McpClient) -> str:
    project = f"; of a project, `{client.project}`" if client.project and not client.must_exist else ""
    return f"`m3bench install {client.key}` edits {_where(client)}{project}:"


def _where(client: McpClient) -> str:
    """The file on each system."""
    found = {system: _place(client, system) for system in SYSTEMS}
    if client.must_exist and not found["linux"].startswith("~"):
        return f"`{Path(found['linux']).name}` in the folder it runs in"
    if len(set(found.values())) == 1 or found["windows"] == _windows(found["linux"]):
        return f"`{found['linux']}`"
    places: dict[str, list[str]] = {}
    for system, place in found.items():
        places.setdefault(place, []).append(_SYSTEM_NAMES[system])
    return " · ".join(f"`{place}` ({', '.join(names)})" for place, names in places.items())


def _place(client: McpClient, system: System) -> str:
    env = {"APPDATA": "%APPDATA%"} if system == "windows" else {}
    place = client.place(Machine(system=system, home=Path("~"), env=env, folder=Path())).as_posix()
    return _windows(place) if system == "windows" else place


def _windows(place: str) -> str:
    return place.replace("~", "%USERPROFILE%").replace("/", "\\")


def _code(data: dict[str, object]) -> str:
    return f"`{json.dumps(data, ensure_ascii=False)}`"
