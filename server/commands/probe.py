"""`m3bench probe`: finds out what an MCP client passes on, and shows what was found before."""

import secrets
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from m3bench.server.commands.record import Data, Json
from m3bench.server.commands.serve import AllowHost, AllowOrigin, Http, Token

if TYPE_CHECKING:
    from m3bench.server.clients.probe_tools import Setup

SERVER = "m3bench-probe"
"""What the probe is called in a client's configuration."""


def probe(
    client: Annotated[
        str | None,
        typer.Argument(
            metavar="[CLIENT]", help="With --show, --print or --report: a client such as cursor, or its own name."
        ),
    ] = None,
    show: Annotated[bool, typer.Option("--show", help="Show the cards of clients probed before.")] = False,
    print_: Annotated[bool, typer.Option("--print", help="Print what to add to the client's configuration.")] = False,
    report: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write what the newest probe found into a file to hand on.")
    ] = None,
    http: Http = None,
    token: Token = None,
    allow_host: AllowHost = None,
    allow_origin: AllowOrigin = None,
    profile: Annotated[
        str | None, typer.Option(help="Profile whose tools pad the list; by default the one that fits the client.")
    ] = None,
    long: Annotated[int, typer.Option(min=1, max=900, help="Size of the long text, in kB.")] = 100,
    slow: Annotated[float, typer.Option(min=0.1, max=3600, help="Seconds that the slow tool takes.")] = 5.0,
    seed: Annotated[int | None, typer.Option(help="Draw the code words from this seed.")] = None,
    data: Data = None,
    json: Json = False,
) -> None:
    """Find out what an MCP client passes on: tools, pictures, long texts, calls at once.

    The probe is a separate MCP server: add it to your client (--print shows how), ask the client to run the probe, and
    view the findings with --show. Score cards and m3bench doctor --client use them.
    """
    from m3bench.server.settings import Settings
    from m3bench.tasks.errors import UserError

    folder = Settings.of(data=data).data
    if report is not None:
        _report(folder, client, report)
    elif show:
        _show(folder, client, json)
    elif print_:
        _print(client, http, json)
    elif client is not None:
        raise UserError(f"To see what is known of {client!r} add --show, to put the probe into it add --print.")
    else:
        from m3bench.server.clients.probe_tools import Setup

        drawn = str(seed) if seed is not None else secrets.token_hex(16)
        setup = Setup(long=long * 1000, slow=slow, seed=drawn, profile=profile)
        _serve(folder, setup, http, token, allow_host or [], allow_origin or [])


def _serve(
    folder: Path, setup: "Setup", http: str | None, token: str | None, allow_host: list[str], allow_origin: list[str]
) -> None:
    from m3bench.server.clients.probe import Probe
    from m3bench.server.serving.transport import address_of, serve_http_app, serve_stdio_app

    if http is not None:
        listen = address_of(http, token, allow_hosts=allow_host, allow_origins=allow_origin)
        serve_http_app(lambda: Probe(folder, setup, "http"), listen)
        return
    if sys.stdin.isatty():
        typer.echo("m3bench: waiting for an MCP client on standard input; --print shows how to connect one.", err=True)
    serve_stdio_app(lambda: Probe(folder, setup, "stdio"))


def _show(folder: Path, client: str | None, json: bool) -> None:
    from m3bench.server.commands.screen import print_json

    found = _cards(folder, client)
    if json:
        print_json(found)
    elif not found:
        typer.echo("No client was probed yet: m3bench probe --print shows how.")
    else:
        _show_cards(found)


def _cards(folder: Path, client: str | None) -> list[dict[str, Any]]:
    """The cards of a client, or all."""
    from m3bench.server.clients.table import clients
    from m3bench.server.store.capability import cards, cards_of
    from m3bench.tasks.errors import UserError

    found = cards(folder) if client is None else cards_of(folder, [client])
    if not found and client is not None and client in clients():
        found = cards_of(folder, clients()[client].client_names)
    if not found and client is not None:
        known = ", ".join(sorted({probed["client"]["name"] for probed in cards(folder)})) or "none yet"
        raise UserError(f"No probe of {client!r} was kept (probed: {known}): m3bench probe --print shows how to do it.")
    return found


def _report(folder: Path, client: str | None, path: Path) -> None:
    """Write what the newest probe found."""
    import json
    from importlib.metadata import version

    from m3bench.server.clients.probe_report import report
    from m3bench.server.commands.record import write_text
    from m3bench.tasks.errors import UserError

    found = _cards(folder, client)
    if not found:
        raise UserError("No client was probed yet: m3bench probe --print shows how.")
    told = report(folder, max(found, key=lambda probed: str(probed["taken"])), version("m3bench"))
    write_text(path, json.dumps(told, indent=2, ensure_ascii=False) + "\n")
    name, release = told["client"]["name"], told["client"]["version"]
    typer.echo(f"{path}: what a probe found of {name} {release}" + (", and its last run" if told["run"] else ""))
    if not told["probe"]["complete"]:
        typer.echo("The probe was broken off: ask the client to run it again for the rest.", err=True)
    if told["run"] is None:
        typer.echo("There is no scored run of this client yet: ask it to start a task.", err=True)


def _show_cards(found: list[dict[str, Any]]) -> None:
    from rich.table import Table

    from m3bench.server.commands.screen import console
    from m3bench.server.scoring.words import printable

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
    import json

    from m3bench.server.clients.client import Launch
    from m3bench.server.clients.documents import LANGUAGES
    from m3bench.server.clients.installation import program, this_machine
    from m3bench.server.clients.table import find
    from m3bench.server.commands.screen import print_json
    from m3bench.tasks.errors import UserError

    command, *args = program()
    launch = Launch(command=command, args=(*args, "probe"))
    url = f"http://{http}/mcp"
    if client is None:
        entry = {"command": command, "args": list(launch.args)} if http is None else {"type": "http", "url": url}
        typer.echo(json.dumps({"mcpServers": {SERVER: entry}}, indent=2))
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
    typer.echo("Then ask it to “run the m3bench probe”, and see the card with m3bench probe --show.", err=True)
