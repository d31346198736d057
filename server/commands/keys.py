"""`m3bench keys`: the key that a server signs its runs with."""

from typing import Annotated

import typer

from m3bench.server.commands.record import Data, Json

commands = typer.Typer(
    name="keys", help="Make and show the key that sealed runs are signed with.", no_args_is_help=True
)


@commands.command()
def make(
    data: Data = None,
    file: Annotated[str | None, typer.Option("--file", help="Another file, to be named in M3BENCH_KEY.")] = None,
    json: Json = False,
) -> None:
    """Make a key in the data folder, for this account alone: its servers sign every run from then on.

    Prints the public key, which others give to `m3bench verify-bundle --trust`.
    """
    from pathlib import Path

    from m3bench.server.commands.screen import print_json
    from m3bench.server.runs.attestation.keys import FILE, make_key
    from m3bench.server.settings import Settings

    path = Path(file) if file is not None else Settings.of(data=data).data / FILE
    public = make_key(path).public
    if json:
        print_json({"file": str(path), "fingerprint": public.fingerprint, "key": public.line})
        return
    typer.echo(f"Made {path}, key {public.fingerprint}. Keep it: what it signed cannot be signed again.", err=True)
    typer.echo(public.line)


@commands.command()
def show(data: Data = None, json: Json = False) -> None:
    """Print the public key of a data folder, or of M3BENCH_KEY."""
    from m3bench.server.commands.screen import print_json
    from m3bench.server.runs.attestation.keys import key_of
    from m3bench.server.settings import Settings
    from m3bench.tasks.errors import UserError

    key = key_of(Settings.of(data=data).data)
    if key is None:
        raise UserError("There is no key: `m3bench keys make` makes one.")
    if json:
        print_json({"fingerprint": key.public.fingerprint, "key": key.public.line})
    else:
        typer.echo(key.public.line)
