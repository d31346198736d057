"""`m3bench ranked`: the secret of a ranked set, made before it is played and opened after."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from m3bench.server.commands.record import Data

if TYPE_CHECKING:
    from m3bench.server.app import App

commands = typer.Typer(name="ranked", help="Make the secret of a ranked set, and open the set.", no_args_is_help=True)


@commands.command()
def make(file: Annotated[Path, typer.Argument(help="The file to write the secret to.")]) -> None:
    """Make a secret for `m3bench serve --ranked --secret-file FILE`, readable by this account alone.

    Prints its commitment. Publish it before anybody plays: it tells nothing of the tasks.
    """
    from m3bench.tasks.secret import make_secret

    typer.echo(make_secret(file).commitment)


@commands.command("open")
def open_set(
    secret_file: Annotated[Path | None, typer.Option(help="The secret; M3BENCH_SECRET when left out.")] = None,
    commitment: Annotated[
        str | None, typer.Option(help="What was published before: it must be of this secret.")
    ] = None,
    per_family: Annotated[int, typer.Option(min=1, help="Tasks of each family, as when it was played.")] = 1,
    family: Annotated[
        list[str] | None, typer.Option(metavar="NAME", help="Only tasks of this family, as when it was played.")
    ] = None,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="Write the set there, for `m3bench verify-bundle --tasks`.")
    ] = None,
    data: Data = None,
) -> None:
    """Score every submitted run of a secret set, once nobody plays it any more. Takes a minute or two.

    With -o the set is written down, with its references: everybody can score
    the runs again from then on.
    """
    from hmac import compare_digest

    import anyio

    from m3bench.server.app import App
    from m3bench.server.authoring.sets import private_set
    from m3bench.server.clients.table import KnownClients
    from m3bench.server.settings import Settings
    from m3bench.tasks.errors import UserError
    from m3bench.tasks.secret import SecretLibrary, read_secret

    secret = read_secret(secret_file)
    if secret is None:
        raise UserError("There is no secret: give --secret-file, or set M3BENCH_SECRET.")
    if commitment is not None and not compare_digest(secret.commitment, commitment.strip()):
        raise UserError("The commitment is not of this secret: nothing was opened.")
    settings = Settings.of(ranked=True, per_family=per_family, family=tuple(family or ()), data=data)
    library = SecretLibrary.of(private_set(settings, secret.seed, secret))
    app = App(settings, clients=KnownClients(), library=library)
    scored, others = anyio.run(score_all, app)
    if output is not None:
        library.write(output)
    typer.echo(f"{scored} runs scored, {others} of another set or not submitted left alone.")


async def score_all(app: "App") -> tuple[int, int]:
    """Score what was submitted of an app's set; how many runs that were, and how many others there are."""
    scored = others = 0
    async with app.lifespan():
        for record in app.store.runs():
            tasks = record.manifest.get("tasks") or {}
            if record.state in ("submitted", "scored") and tasks.get("hash") == app.library.hash:
                await app.score(record)
                scored += 1
            else:
                others += 1
    return scored, others
