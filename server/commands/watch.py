"""`m3bench watch`: runs as they happen, in a terminal."""

from pathlib import Path
from typing import Annotated

import typer

URL = "http://127.0.0.1:8000"


def watch(
    url: Annotated[
        str | None,
        typer.Argument(metavar="URL", help=f"A server that `m3bench serve --http` started; {URL} when left out."),
    ] = None,
    token: Annotated[
        str | None,
        typer.Option(
            envvar="M3BENCH_TOKEN", help="The token of the server, when it has one; the operator's, when there are two."
        ),
    ] = None,
    data: Annotated[
        Path | None, typer.Option(help="Follow the record in this folder, whatever kind of server writes there.")
    ] = None,
    store: Annotated[
        str | None, typer.Option(metavar="URL", help="Follow the record in this database, or in this folder.")
    ] = None,
) -> None:
    """Watch seats, running tasks and calls as they happen.

    Follows a server over HTTP, whose page at / shows the same in a browser, or
    with --data the record of any server, including one that a desktop client started.
    With --store it follows a PostgreSQL database, and all servers that write there.
    When the output is redirected, there is one line for each call and each run.
    Watching changes nothing; Ctrl-C ends it.
    """
    from importlib.metadata import version

    from m3bench.server.commands.record import place_of
    from m3bench.server.commands.screen import console
    from m3bench.server.lab.live.stream import messages
    from m3bench.server.lab.live.watching import follow, record_messages, waiting_words
    from m3bench.tasks.errors import UserError

    if url is not None and (data is not None or store is not None):
        raise UserError("Watch a server or a record, not both: give a URL, or --data or --store.")
    if data is not None and not data.is_dir():
        raise UserError(f"There is no folder {str(data)!r}: give the one that the server has in --data.")
    try:
        if data is not None or store is not None:
            place = place_of(data, store)
            follow(record_messages(place, version("m3bench")), waiting_words(place), console())
        else:
            follow(messages(url or URL, token), url or URL, console())
    except KeyboardInterrupt:
        raise typer.Exit(130) from None
