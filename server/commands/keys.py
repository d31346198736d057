"""`m3bench keys`: the key that a server signs its runs with."""

from pathlib import Path
from typing import Annotated

import typer

from m3bench.server.commands.options import Data, Json
from m3bench.server.commands.screen import print_json
from m3bench.server.runs.attestation.keys import FILE, key_of, make_key
from m3bench.server.settings import Settings
from m3bench.tasks.errors import UserError


def make(
    data: Data = None,
    out: Annotated[
        Path | None, typer.Option("--out", "-o", metavar="FILE", help="Another file, to be named in M3BENCH_KEY.")
    ] = None,
    json: Json = False,
) -> None:
    """Make the key that this account's servers sign runs with.

    \b
    m3bench keys make

    The key is written into the data folder, readable by this account alone; servers sign every run from then on.
    Prints the public key, which others give to `m3bench lab verify --trust`.
    """
    path = out if out is not None else Settings.of(data=data).data / FILE
    public = make_key(path).public
    if json:
        print_json({"file": str(path), "fingerprint": public.fingerprint, "key": public.line})
        return
    typer.echo(f"Made {path}, key {public.fingerprint}. Keep it: what it signed cannot be signed again.", err=True)
    typer.echo(public.line)


def show(data: Data = None, json: Json = False) -> None:
    """Print the public key.

    \b
    m3bench keys show

    It is that of the data folder, or of M3BENCH_KEY.
    """
    key = key_of(Settings.of(data=data).data)
    if key is None:
        raise UserError("There is no key: `m3bench keys make` makes one.")
    if json:
        print_json({"fingerprint": key.public.fingerprint, "key": key.public.line})
    else:
        typer.echo(key.public.line)
