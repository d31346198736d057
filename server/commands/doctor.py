"""`m3bench doctor`: looks over what m3bench depends on; every line that is not ok says what to do."""

from typing import TYPE_CHECKING, Annotated

import typer

from m3bench.server.commands.record import Data, StoreAt

if TYPE_CHECKING:
    from m3bench.server.commands.checks.findings import Check, Finding


def doctor(
    client: Annotated[
        str | None, typer.Option(metavar="NAME", help="Check a client instead of the engine: cursor, codex, …")
    ] = None,
    sandbox: Annotated[str, typer.Option(help="What must work: process, or docker.")] = "process",
    data: Data = None,
    store: StoreAt = None,
    json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Check the machine, its clients and the Docker engine, and say how to fix what is wrong.

    With --client: whether m3bench is in that client's configuration and starts, and what the client does with the
    names, the number, the pictures and the results of our tools. Reads its files and never writes them.

    The exit code is 1 when something is wrong that the chosen sandbox or the client needs.
    """
    from dataclasses import asdict

    from m3bench.server.commands.screen import print_json
    from m3bench.server.settings import Settings

    settings = Settings.of(sandbox=sandbox, data=data, store=store)
    found = [finding for check in checks(client) for finding in check(settings)]
    if json:
        print_json([{**asdict(finding), "needed": _is_needed(finding, sandbox)} for finding in found])
    else:
        for finding in found:
            _show(finding, sandbox)
    if any(finding.state == "wrong" and _is_needed(finding, sandbox) for finding in found):
        raise typer.Exit(1)


def checks(client: str | None = None) -> "tuple[Check, ...]":
    """What is looked at, in the order of the report."""
    from functools import partial

    from m3bench.server.commands.checks.machine import check_data, check_double_starts, check_encoder, check_walls
    from m3bench.server.commands.checks.record import check_record

    if client is not None:
        from m3bench.server.clients.table import find
        from m3bench.server.commands.checks.clients import check_client

        return (check_data, check_record, check_double_starts, partial(check_client, find(client)))
    from m3bench.server.commands.checks.clients import check_clients
    from m3bench.server.commands.checks.engine import check_engine

    return (check_data, check_record, check_encoder, check_double_starts, check_clients, check_walls, check_engine)


def _is_needed(finding: "Finding", sandbox: str) -> bool:
    return finding.need in ("always", sandbox)


def _show(finding: "Finding", sandbox: str) -> None:
    spare = finding.state == "wrong" and not _is_needed(finding, sandbox)
    state = "note" if spare else finding.state
    aside = f" (Only --sandbox {finding.need} needs it.)" if spare else ""
    typer.echo(f"{state:5}  {finding.subject:14} {finding.says}{aside}")
