"""The page on clients, made from the table: how to install into each, and what each does with what we send it.

`m3bench install --markdown` prints it; the part on the probe is written by hand behind it.
"""

import json
from pathlib import Path

from m3bench.server.clients.client import SYSTEMS, Client, Machine, System
from m3bench.server.clients.documents import snippet
from m3bench.server.clients.installation import local
from m3bench.server.clients.table import OWN_TOOLS, clients, profile_for

PROGRAM = "/path/to/m3bench"
URL = "http://127.0.0.1:8700/mcp"

_SYSTEM_NAMES = {"linux": "Linux", "macos": "macOS", "windows": "Windows"}
_FENCES = {"json": "json", "jsonc": "json", "toml": "toml", "yaml": "yaml"}

_OPENING = """\
# Clients

Any MCP client can be measured as it is. For nine of them m3bench knows where their configuration lies and what they do
with names, counts, sizes and pictures; [others](#another-client) take three lines by hand. This page is made from that
table by `m3bench install --markdown`, up to the part on the probe.

## Install

```console
$ m3bench install                       # the clients, and where m3bench is already
$ m3bench install cursor --print        # what would go where, and a link that does it with one click
$ m3bench install cursor                # do it
$ m3bench install cursor --profile mini # change it
$ m3bench install cursor --remove       # undo it
$ m3bench install vscode --project .    # into the configuration of a project
```

- **Your file stays yours.** The entry is spliced into the text: comments, order, indentation and line ends elsewhere
  keep their bytes. What the file held before is beside it as `FILE.m3bench-backup`, and `--remove` puts exactly that
  back; if you changed the file in between, only our entry goes. A second `m3bench install` changes nothing.
- **A file that cannot be edited is not touched**: one line says why, and the lines to paste are printed.
- **The profile** is the largest whose tools the client lets through ({own} tools of our own come on top). `--profile`
  chooses another; every score says which one it was made with.
- **The program** is written by its absolute path, because clients start it from any folder and with any `PATH`.
- **Approval.** A question before every call distorts the measured times. Where an entry can say that tools run
  without asking, it does; elsewhere the line below says how.

Then start the client anew and ask it: *start a task*. `m3bench doctor --client cursor` says whether all is well.

"""

_TABLE = """\
## What they do

What happens to a tool or a result on its way to the model differs from client to client. The proxy records what it
sent, not what the model read. A dash means that no limit is known; where two numbers of tools are given, trouble was
seen above the smaller one.

"""

_HEADINGS = (
    "client", "tools at most", "profile", "name the model sees", "longest name", "result at most", "call at most",
    "pictures", "structured content",
)  # fmt: skip

_CLOSING = """\
## Over HTTP

One server for several clients, or for a client in a container:

```console
$ m3bench serve --http 127.0.0.1:8700 --profile compact
$ m3bench install gemini --http http://127.0.0.1:8700/mcp
$ m3bench install goose --http http://127.0.0.1:8700/mcp --print
```

The profile, and `--content-only` where a client needs it, are then chosen where the server is started. With `--token`,
add the header `Authorization: Bearer …` to the entry by hand: m3bench writes no secrets into files. Claude Desktop
takes no addresses in its file; its connectors are dialled from the vendor's cloud and cannot reach your machine.

## Links

`--print` shows a link for Cursor and VS Code that opens the client, shows the entry and asks; for Goose there is one
with `--http`, since in links it takes only programs from a short list of its own. A link holds the path of your program
or your address, and nothing else.

## A bundle for Claude Desktop

```console
$ m3bench bundle -o m3bench.mcpb
```

Open the file with Claude Desktop, or drag it into Settings → Extensions; it asks for the profile and the data folder.
The bundle (about 40 MB) holds m3bench with its tasks and its world, but neither Python nor the libraries:

- By default it starts with the Python of the installation that made it and uses the libraries there. It is for this
  machine, and needs that installation to stay where it is.
- With `--uv` it is for any machine with [uv](https://docs.astral.sh/uv/): the libraries are fetched at the first start,
  which needs a network and takes a minute. The type `uv` is new in the bundle format and not in every release of Claude
  Desktop. The encoder's weights are not among the libraries; the first score fetches them once.

The same installation gives the same bytes.

## Another client

Whatever takes a command and its arguments: `m3bench serve --profile compact`, with the absolute path of the program.
Whatever takes an address: the one that `m3bench serve --http 127.0.0.1:8700` prints. `m3bench probe` finds out what the
client does with tools, pictures and results.
"""


def page() -> str:
    """The page without its last part."""
    rows = "".join(_row(client) for client in clients().values())
    parts = "".join(_part(client) for client in clients().values())
    head = f"| {' | '.join(_HEADINGS)} |\n|{'---|' * len(_HEADINGS)}\n"
    return _OPENING.replace("{own}", str(OWN_TOOLS)) + _TABLE + head + rows + "\n" + parts + _CLOSING


def entries() -> str:
    """What goes where by hand, client by client, as the README shows it."""
    parts = (f"**{client.title}**: {_where(client)}\n\n{_fenced(client)}\n" for client in clients().values())
    return "\n".join(parts)


def _row(client: Client) -> str:
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


def _part(client: Client) -> str:
    """How to install into one client, and what is known of it."""
    lines = [f"## {client.title}", "", _places(client), ""]
    lines += [_fenced(client), ""]
    if client.http is not None:
        lines += [f"At an address: {_code(client.http(URL))}", ""]
    lines += [f"- {client.after}"]
    if client.approval:
        lines.append(f"- Approval: {_code(dict(client.approval))} lets tools run without asking.")
    else:
        lines.append(f"- Approval: {client.approval_by_hand}")
    lines += [f"- {note.says} ({note.source})" for note in client.notes]
    calls = ", ".join(f"`{name}`" for name in client.client_names)
    lines.append(f"- Calls itself {calls}. Calls of one turn sent together: {client.parallel}.")
    told = "; ".join(f"{field.replace('_', ' ')}: {source}" for field, source in client.sources.items())
    lines += [f"- Sources: {told}.", ""]
    return "\n".join(lines) + "\n"


def local_snippet(client: Client) -> str:
    """The entry as a file of its own, with a path that stands for any."""
    return snippet(client, local(client, Path(), None, (PROGRAM,)).entry)


def _fenced(client: Client) -> str:
    return f"```{_FENCES[client.format]}\n{local_snippet(client).rstrip()}\n```"


def _places(client: Client) -> str:
    project = f"; of a project, `{client.project}`" if client.project and not client.must_exist else ""
    return f"`m3bench install {client.key}` edits {_where(client)}{project}:"


def _where(client: Client) -> str:
    """The file on each system."""
    found = {system: _place(client, system) for system in SYSTEMS}
    if client.must_exist:
        return f"`{Path(found['linux']).name}` in the folder it runs in"
    if len(set(found.values())) == 1 or found["windows"] == _windows(found["linux"]):
        return f"`{found['linux']}`"
    places: dict[str, list[str]] = {}
    for system, place in found.items():
        places.setdefault(place, []).append(_SYSTEM_NAMES[system])
    return " · ".join(f"`{place}` ({', '.join(names)})" for place, names in places.items())


def _place(client: Client, system: System) -> str:
    env = {"APPDATA": "%APPDATA%"} if system == "windows" else {}
    place = client.place(Machine(system=system, home=Path("~"), env=env, folder=Path())).as_posix()
    return _windows(place) if system == "windows" else place


def _windows(place: str) -> str:
    return place.replace("~", "%USERPROFILE%").replace("/", "\\")


def _code(data: dict[str, object]) -> str:
    return f"`{json.dumps(data, ensure_ascii=False)}`"
