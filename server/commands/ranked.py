"""`m3bench ranked`: the secret of a ranked set, made before it is played and opened after."""

from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from m3bench.server.commands.record import Data, Json, StoreAt

if TYPE_CHECKING:
    from m3bench.server.app import App
    from m3bench.server.lab.interchange.event_bundles import Packed

commands = typer.Typer(name="ranked", help="Make the secret of a ranked set, and open the set.", no_args_is_help=True)


@commands.command()
def make(file: Annotated[Path, typer.Argument(help="The file to write the secret to.")], json: Json = False) -> None:
    """Make a secret for `m3bench serve --ranked --secret-file FILE`, readable by this account alone.

    Prints its commitment. Publish it before anybody plays: it tells nothing of the tasks.
    """
    from m3bench.server.commands.screen import print_json
    from m3bench.tasks.secret import make_secret

    commitment = make_secret(file).commitment
    if json:
        print_json({"file": str(file), "commitment": commitment})
    else:
        typer.echo(commitment)


@commands.command("event")
def make_event(
    file: Annotated[Path, typer.Argument(help="The file to write the event to.")],
    participants: Annotated[list[str], typer.Argument(metavar="NAME...", help="Who may play.")],
    opens: Annotated[str, typer.Option(metavar="TIME", help="When it opens, such as 2026-11-20T09:00+01:00, or now.")],
    closes: Annotated[str, typer.Option(metavar="TIME", help="When it closes.")],
    name: Annotated[str, typer.Option(help="What it is called.")] = "ranked event",
    json: Json = False,
) -> None:
    """Make an event for `m3bench serve --ranked --event FILE`: who may play, from when until when.

    Prints the token and the name of each participant, a line for each. Send
    each of them theirs: tokens are kept nowhere, the file has their hashes.
    """
    from m3bench.server.commands.screen import print_json
    from m3bench.server.runs import event

    tokens = event.make_event(file, name, _moment("--opens", opens), _moment("--closes", closes), participants)
    if json:
        print_json({"file": str(file), "participants": [{"name": who, "token": tokens[who]} for who in tokens]})
        return
    for who, token in tokens.items():
        typer.echo(f"{token}  {who}")


def _moment(option: str, text: str) -> datetime:
    from m3bench.tasks.errors import UserError

    if text == "now":
        return datetime.now(UTC).replace(microsecond=0)
    found: datetime | None = None
    with suppress(ValueError):
        found = datetime.fromisoformat(text)
    if found is None or found.tzinfo is None:
        raise UserError(f"{option} cannot be {text!r}: give a time with its zone, such as 2026-11-20T09:00+01:00.")
    return found


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
    event: Annotated[
        Path | None, typer.Option("--event", help="The file of the event that was held, which must have closed.")
    ] = None,
    bundles: Annotated[
        Path | None, typer.Option(help="Write a bundle for each participant of an event there, and a tally.")
    ] = None,
    data: Data = None,
    store: StoreAt = None,
    json: Json = False,
) -> None:
    """Score every submitted run of a secret set, once nobody plays it any more. The set is made again first.

    With -o the set is written down, with its references: everybody can score
    the runs again from then on. With --bundles each participant of an event gets
    a bundle, and `m3bench board accept` makes a board of them. An event that has
    not closed is not opened.
    """
    from hmac import compare_digest

    from m3bench.server.app import App
    from m3bench.server.clients.table import KnownClients
    from m3bench.server.commands.screen import print_json
    from m3bench.server.lab.authoring.sets import private_set
    from m3bench.server.serving import interrupts
    from m3bench.server.settings import Settings
    from m3bench.tasks.errors import UserError
    from m3bench.tasks.secret import SecretLibrary, read_secret

    secret = read_secret(secret_file)
    if secret is None:
        raise UserError("There is no secret: give --secret-file, or set M3BENCH_SECRET.")
    if commitment is not None and not compare_digest(secret.commitment, commitment.strip()):
        raise UserError("The commitment is not of this secret: nothing was opened.")
    chosen = tuple(family or ())
    settings = Settings.of(ranked=True, per_family=per_family, family=chosen, event=event, data=data, store=store)
    library = SecretLibrary.of(private_set(settings, secret.seed, secret))
    app = App(settings, clients=KnownClients(), library=library)
    check_over(app)
    scored, others = interrupts.run(score_all, app)
    if output is not None:
        library.write(output)
    packed = pack(app, bundles) if bundles is not None else []
    if json:
        made = [{"name": one.name, "runs": dict(one.counts), "bundle": one.file and str(one.file)} for one in packed]
        print_json({"scored": scored, "left_alone": others, "bundles": made})
        return
    for one in packed:
        told = ", ".join(f"{count} {state}" for state, count in one.counts.items())
        typer.echo(f"{one.name}: {told}: {one.file or 'nothing was submitted'}", err=True)
    typer.echo(f"{scored} runs scored, {others} of another set or not submitted left alone.")


def check_over(app: "App") -> None:
    """Raise `UserError` while participants of an event can play, or when it is not said which event it was."""
    from m3bench.server.runs.event import moment
    from m3bench.tasks.errors import UserError

    if app.event is not None and not app.event.closed:
        closes = moment(app.event.plan.closes)
        raise UserError(f"The event closes at {closes}: nothing was opened, because participants are playing.")
    if app.event is None and any("participant" in record.manifest for record in app.store.runs()):
        raise UserError("These are runs of an event: give its file with --event. Nothing was opened.")


def pack(app: "App", folder: Path) -> "list[Packed]":
    """Write the bundle of each participant; returns what became of their runs."""
    from m3bench.server.lab.interchange.event_bundles import pack_participants
    from m3bench.tasks.errors import UserError
    from m3bench.tasks.profiles import solvable, tools_of

    if app.event is None:
        raise UserError("Bundles are for the participants of an event: give its file with --event.")
    # Everybody had the same tools, those of the operator's profile.
    profile = next((str(run.manifest.get("profile")) for run in app.store.runs()), app.settings.profile)
    offered = solvable(tuple(app.library.tasks.values()), tuple(tools_of(profile, app.catalog, app.library)))
    seats = {one.name: one.seat for one in app.event.plan.participants}
    return pack_participants(app.place, seats, [task.id for task in offered], folder)


async def score_all(app: "App") -> tuple[int, int]:
    """Score what was submitted of an app's set; how many runs that were, and how many others there are."""
    from m3bench.server.commands.screen import progress

    scored = others = 0
    async with app.lifespan():
        records = app.store.runs()
        for record in progress(records, len(records)):
            tasks = record.manifest.get("tasks") or {}
            if record.state in ("submitted", "scored") and tasks.get("hash") == app.library.hash:
                await app.score(record)
                scored += 1
            else:
                others += 1
    return scored, others
