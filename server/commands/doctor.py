"""`m3bench doctor`: looks over what m3bench depends on; every line that is not ok says what to do."""

from dataclasses import asdict
from functools import partial
from typing import Annotated

import typer

from m3bench.server.clients.table import find
from m3bench.server.commands.checks.address import check_address, check_exposure
from m3bench.server.commands.checks.clients import check_client, check_clients
from m3bench.server.commands.checks.diagnostics import Check, Diagnostic
from m3bench.server.commands.checks.engine import check_engine
from m3bench.server.commands.checks.machine import check_data, check_double_starts, check_encoder, check_walls
from m3bench.server.commands.checks.store import check_record
from m3bench.server.commands.options import Data, Json, StoreAt
from m3bench.server.commands.screen import print_json
from m3bench.server.settings import Settings


def doctor(
    client: Annotated[
        str | None, typer.Option(metavar="NAME", help="Check a client instead of the engine: cursor, codex, …")
    ] = None,
    url: Annotated[
        str | None, typer.Option(metavar="URL", help="Check what strangers find at a server's address instead.")
    ] = None,
    sandbox: Annotated[str, typer.Option(metavar="process|docker", help="What must work.")] = "process",
    data: Data = None,
    store: StoreAt = None,
    json: Json = False,
) -> None:
    """Check this machine, its clients and the Docker engine.

    \b
    m3bench doctor
    m3bench doctor --client cursor
    m3bench doctor --url https://bench.example

    Prints a line for each thing: ok, note or wrong, and for the last two what to do about it. With --client it says
    whether m3bench is in that client's configuration and starts, and what the client does with the names, the number,
    the pictures and the results of our tools. Files of clients are read and never written. With --url it says how the
    server there is encrypted, and what it lets strangers do.

    The exit code is 1 when something is wrong that the chosen sandbox or the client needs.
    """
    settings = Settings.of(sandbox=sandbox, data=data, store=store)
    found = [diagnostic for check in checks(client, url) for diagnostic in check(settings)]
    if json:
        print_json([{**asdict(diagnostic), "needed": _is_needed(diagnostic, sandbox)} for diagnostic in found])
    else:
        for diagnostic in found:
            _show(diagnostic, sandbox)
    if any(diagnostic.state == "wrong" and _is_needed(diagnostic, sandbox) for diagnostic in found):
        raise typer.Exit(1)


def checks(client: str | None = None, url: str | None = None) -> tuple[Check, ...]:
    """What is looked at, in the order of the report."""
    if url is not None:
        return (partial(check_address, url), check_exposure)
    if client is not None:
        return (check_data, check_record, check_double_starts, partial(check_client, find(client)))
    here = (check_data, check_record, check_exposure, check_encoder, check_double_starts)
    return (*here, check_clients, check_walls, check_engine)


def _is_needed(diagnostic: Diagnostic, sandbox: str) -> bool:
    return diagnostic.need in ("always", sandbox)


def _show(diagnostic: Diagnostic, sandbox: str) -> None:
    spare = diagnostic.state == "wrong" and not _is_needed(diagnostic, sandbox)
    state = "note" if spare else diagnostic.state
    aside = f" (Only --sandbox {diagnostic.need} needs it.)" if spare else ""
    typer.echo(f"{state:5}  {diagnostic.subject:14} {diagnostic.says}{aside}")
