"""`m3bench runs watch`: runs as they happen, in a terminal."""

from importlib.metadata import version
from pathlib import Path
from typing import Annotated

import typer

from m3bench.server.commands.options import RecordOptions, read_token
from m3bench.server.commands.recorded import place_of
from m3bench.server.commands.screen import console
from m3bench.server.lab.live.watching import follow, record_messages, server_messages, waiting_words
from m3bench.tasks.errors import UserError

URL = "http://127.0.0.1:8000"


def watch(
    where: RecordOptions,
    url: Annotated[
        str | None,
        typer.Argument(metavar="[URL]", help=f"A server that `m3bench serve --http` started; {URL} when left out."),
    ] = None,
    token_file: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="File with the token of the server, or the operator's when there are two, instead of M3BENCH_TOKEN.",
        ),
    ] = None,
) -> None:
    """Watch seats, running tasks and calls as they happen.

    \b
    m3bench runs watch                       # a server on this machine, over HTTP
    m3bench runs watch --data FOLDER         # any server that records there

    Over HTTP it shows what the server's page at / shows in a browser. With --data it follows the record of any server,
    including one that a desktop client started; with --store a PostgreSQL database, and all servers that write there.
    When the output is redirected, there is one line for each call and each run. Watching changes nothing; Ctrl-C ends
    it.
    """
    data, store = where.data, where.store
    if url is not None and (data is not None or store is not None):
        raise UserError("Watch a server or a record, not both: give a URL, or --data or --store.")
    if data is not None and not data.is_dir():
        raise UserError(f"There is no folder {str(data)!r}: give the one that the server has in --data.")
    try:
        if data is not None or store is not None:
            place = place_of(where)
            follow(record_messages(place, version("m3bench")), waiting_words(place), console())
        else:
            follow(server_messages(url or URL, read_token(token_file, "M3BENCH_TOKEN")), url or URL, console())
    except KeyboardInterrupt:
        raise typer.Exit(130) from None
