"""`m3bench client probe`: finds out what an MCP client passes on, and shows what was found before."""

import json
import secrets
import sys
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.table import Table

from m3bench.server.clients.client import Launch
from m3bench.server.clients.documents import LANGUAGES
from m3bench.server.clients.installation import program, this_machine
from m3bench.server.clients.probe_findings import report
from m3bench.server.clients.probe_tools import Setup
from m3bench.server.clients.table import clients, find
from m3bench.server.commands.options import Data, Json
from m3bench.server.commands.screen import console, print_json, write_file
from m3bench.server.commands.serve import HttpOptions
from m3bench.server.scoring.words import printable
from m3bench.server.settings import Settings
from m3bench.server.store.capability import CapabilityCard, cards, cards_of
from m3bench.tasks.errors import UserError
from m3bench.tasks.lazy_modules import LazyModule

# The MCP library takes most of a second to import: nothing but the server itself needs it.
if TYPE_CHECKING:
    from m3bench.server.clients import probe as probe_server
    from m3bench.server.serving import transport
else:
    probe_server = LazyModule("m3bench.server.clients.probe")
    transport = LazyModule("m3bench.server.serving.transport")

SERVER = "m3bench-probe"
"""What the probe is called in a client's configuration."""

HOW = "`m3bench client probe --print` shows how"


@dataclass(frozen=True, kw_only=True)
class ProbeOptions:
    """What the probe tries."""

    profile: Annotated[
        str | None, typer.Option(help="Profile whose tools pad the list; by default the one that fits the client.")
    ] = None
    long: Annotated[int, typer.Option(min=1, max=900, metavar="KB", help="Size of the long text, in kB.")] = 100
    slow: Annotated[
        float, typer.Option(min=0.1, max=3600, metavar="SECONDS", help="Time that the slow tool takes.")
    ] = 5.0
    seed: Annotated[int | None, typer.Option(help="Draw the code words from this seed.")] = None

    @property
    def setup(self) -> Setup:
        """What the probe is set up with; code words of its own unless a seed draws them."""
        drawn = str(self.seed) if self.seed is not None else secrets.token_hex(16)
        return Setup(long=self.long * 1000, slow=self.slow, seed=drawn, profile=self.profile)


def probe(
    options: ProbeOptions,
    http: HttpOptions,
    client: Annotated[
        str | None,
        typer.Argument(
            metavar="[CLIENT]", help="With --show, --print or --report: a client such as cursor, or its own name."
        ),
    ] = None,
    show: Annotated[bool, typer.Option("--show", help="Show the cards of clients probed before.")] = False,
    print_: Annotated[bool, typer.Option("--print", help="Print what to add to the client's configuration.")] = False,
    report_to: Annotated[
        Path | None,
        typer.Option("--report", metavar="FILE", help="Write what the newest probe found into a file to share."),
    ] = None,
    data: Data = None,
    json: Json = False,
) -> None:
    """Find out what an MCP client passes on to its model.

    The probe is a separate MCP server. Add it to your client, ask the client to “run the m3bench probe”, and look at
    what was found: whether tools, pictures, long texts and parallel calls get through.

    \b
    m3bench client probe --print cursor      # what to add to its configuration
    m3bench client probe --show cursor       # the card, after the client ran the probe

    Cards are kept in the data folder. Score cards and `m3bench doctor --client` use them.
    """
    folder = Settings.of(data=data).data
    if report_to is not None:
        _report(folder, client, report_to)
    elif show:
        _show(folder, client, json)
    elif print_:
        _print(client, http.http, json)
    elif client is not None:
        raise UserError(f"Add --show to see what is known about {client!r}, or --print to put the probe into it.")
    else:
        _serve(folder, options.setup, http)


def _serve(folder: Path, setup: Setup, http: HttpOptions) -> None:
    if http.http is not None:
        listen = transport.address_of(
            http.http, http.token, allow_hosts=http.allow_host or (), allow_origins=http.allow_origin or ()
        )
        transport.serve_http_app(lambda: probe_server.Probe(folder, setup, "http"), listen)
        return
    if sys.stdin.isatty():
        typer.echo("m3bench: waiting for an MCP client on standard input; --print shows how to connect one.", err=True)
    transport.serve_stdio_app(lambda: probe_server.Probe(folder, setup, "stdio"))


def _show(folder: Path, client: str | None, json: bool) -> None:
    found = _cards(folder, client)
    if json:
        print_json(found)
    elif not found:
        typer.echo(f"No client was probed yet: {HOW}.")
    else:
        _show_cards(found)


def _cards(folder: Path, client: str | None) -> "list[CapabilityCard]":
    """The cards of a client, or all."""
    found = cards(folder) if client is None else cards_of(folder, [client])
    if not found and client is not None and client in clients():
        found = cards_of(folder, clients()[client].client_names)
    if not found and client is not None:
        known = ", ".join(sorted({probed["client"]["name"] for probed in cards(folder)})) or "none yet"
        raise UserError(f"No probe of {client!r} was kept (probed: {known}): {HOW} to do it.")
    return found


def _report(folder: Path, client: str | None, path: Path) -> None:
    """Write what the newest probe found."""
    found = _cards(folder, client)
    if not found:
        raise UserError(f"No client was probed yet: {HOW}.")
    told = report(folder, max(found, key=lambda probed: str(probed["taken"])), version("m3bench"))
    write_file(path, json.dumps(told, indent=2, ensure_ascii=False) + "\n")
    name, release = told["client"]["name"], told["client"]["version"]
    typer.echo(f"{path}: what a probe found of {name} {release}" + (", and its last run" if told["run"] else ""))
    if not told["probe"]["complete"]:
        typer.echo("The probe was interrupted: ask the client to run it again for the rest.", err=True)
    if told["run"] is None:
        typer.echo("There is no scored run of this client yet: ask it to start a task.", err=True)


def _show_cards(found: "list[CapabilityCard]") -> None:
    out = console()
    for number, probed in enumerate(found):
        if number:
            out.print()
        client, setup = probed["client"], probed["setup"]
        state = "" if probed["complete"] else ", broken off"
        out.print(printable(f"{client['name']} {client['version']}"), style="bold")
        about = f"probed {probed['taken']} over {setup['transport']}, tools of {setup['profile']} as padding{state}"
        out.print(printable(about), style="dim")
        table = Table(box=None, show_header=False, pad_edge=False, padding=(0, 2, 0, 0))
        table.add_column(style="cyan", no_wrap=True)
        table.add_column(overflow="fold")
        table.add_column(style="dim", no_wrap=True)
        for name, fact in probed["facts"].items():
            table.add_row(name.replace("_", " "), printable(fact["says"]), fact["evidence"])
        out.print(table)


def _print(client: str | None, http: str | None, as_json: bool) -> None:
    """The entry for a client's configuration on standard output, and what to do with it beside it."""
    command, *args = program()
    launch = Launch(command=command, args=(*args, "client", "probe"))
    url = f"http://{http}/mcp"
    if client is None:
        plain = {"command": command, "args": list(launch.args)} if http is None else {"type": "http", "url": url}
        typer.echo(json.dumps({"mcpServers": {SERVER: plain}}, indent=2))
        typer.echo("Put this into your client's list of MCP servers and ask it to “run the m3bench probe”.", err=True)
        return
    known = find(client)
    path = known.place(this_machine())
    if http is not None and known.http is None:
        raise UserError(f"{known.title} takes no addresses in its configuration: leave --http out.")
    entry = known.http(url) if http is not None and known.http is not None else known.stdio(launch)
    entry |= {"name": SERVER} if "name" in entry else {}
    snippet = LANGUAGES[known.format].put("", known.servers, SERVER, entry)
    if as_json:
        print_json({"client": known.key, "path": str(path), "entry": entry, "snippet": snippet, "after": known.after})
        return
    typer.echo(snippet.rstrip("\n"))
    typer.echo(f"Put this into {path}. {known.after}", err=True)
    typer.echo("Then ask it to “run the m3bench probe”, and see the card with `m3bench client probe --show`.", err=True)
