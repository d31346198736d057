"""`m3bench lab ranked`: the secret of a ranked set, made before it is played and opened after."""

from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from hmac import compare_digest
from pathlib import Path
from typing import Annotated

import typer

from m3bench.server.app import App
from m3bench.server.clients.table import KnownClients
from m3bench.server.commands.options import Json, RecordOptions
from m3bench.server.commands.screen import print_json, progress
from m3bench.server.lab.authoring.sets import private_set
from m3bench.server.lab.interchange.event_bundles import Packed, pack_participants
from m3bench.server.runs.event import make_event as write_event
from m3bench.server.runs.event import moment
from m3bench.server.serving import interrupts
from m3bench.server.settings import Settings
from m3bench.tasks.errors import UserError
from m3bench.tasks.profiles import solvable, tools_of
from m3bench.tasks.secret import Secret, SecretLibrary, make_secret, read_secret


@dataclass(frozen=True, kw_only=True)
class SecretOptions:
    """Which secret set it was."""

    secret_file: Annotated[
        Path | None, typer.Option(metavar="FILE", help="File with the secret; by default M3BENCH_SECRET holds it.")
    ] = None
    commitment: Annotated[
        str | None, typer.Option(metavar="HASH", help="The commitment that was published: it must be of this secret.")
    ] = None
    per_family: Annotated[
        int, typer.Option(min=1, metavar="N", help="Tasks of each family, as when it was played.")
    ] = 1
    family: Annotated[
        list[str] | None, typer.Option(metavar="NAME", help="Only tasks of this family, as when it was played.")
    ] = None
    event: Annotated[
        Path | None, typer.Option(metavar="FILE", help="The event that was held, which must have closed.")
    ] = None

    @property
    def secret(self) -> Secret:
        """The secret.

        Raises:
            UserError: There is none, or it is not the one that was committed to.
        """
        secret = read_secret(self.secret_file)
        if secret is None:
            raise UserError("There is no secret: give --secret-file, or set M3BENCH_SECRET.")
        if self.commitment is not None and not compare_digest(secret.commitment, self.commitment.strip()):
            raise UserError("The commitment does not belong to this secret: nothing was opened.")
        return secret


def make(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="The file to write the secret to.")], json: Json = False
) -> None:
    """Make the secret that a ranked set is drawn from.

    \b
    m3bench lab ranked make secret.txt
    m3bench serve --ranked --secret-file secret.txt --http 127.0.0.1:8000

    The file is readable by this account alone. Prints its commitment. Publish it before anybody plays: it reveals
    nothing about the tasks.
    """
    commitment = make_secret(file).commitment
    if json:
        print_json({"file": str(file), "commitment": commitment})
    else:
        typer.echo(commitment)


def make_event(
    file: Annotated[Path, typer.Argument(help="The file to write the event to.")],
    participants: Annotated[list[str], typer.Argument(metavar="NAME...", help="Who may play.")],
    opens: Annotated[str, typer.Option(metavar="TIME", help="When it opens, such as 2026-11-20T09:00+01:00, or now.")],
    closes: Annotated[str, typer.Option(metavar="TIME", help="When it closes.")],
    name: Annotated[str, typer.Option(help="What it is called.")] = "ranked event",
    sign_in: Annotated[
        bool, typer.Option("--sign-in", help="They sign in under these names (`serve --auth`), without tokens.")
    ] = False,
    json: Json = False,
) -> None:
    """Make an event: who may play a ranked set, and when.

    \b
    m3bench lab ranked event event.toml ann bob --opens now --closes 2026-12-01T18:00Z
    m3bench serve --ranked --secret-file secret.txt --event event.toml --http 127.0.0.1:8000

    Prints the token and the name of each participant, a line for each. Send each participant theirs: tokens are not
    kept, and the file has only their hashes.
    """
    times = _moment("--opens", opens), _moment("--closes", closes)
    tokens = write_event(file, name, *times, participants, sign_in=sign_in)
    if json:
        print_json({"file": str(file), "participants": [{"name": who, "token": tokens[who]} for who in tokens]})
        return
    for who, token in tokens.items():
        typer.echo(f"{token}  {who}")


def _moment(option: str, text: str) -> datetime:
    if text == "now":
        return datetime.now(UTC).replace(microsecond=0)
    found: datetime | None = None
    with suppress(ValueError):
        found = datetime.fromisoformat(text)
    if found is None or found.tzinfo is None:
        raise UserError(f"{option} cannot be {text!r}: give a time with its zone, such as 2026-11-20T09:00+01:00.")
    return found


def open_set(
    options: SecretOptions,
    where: RecordOptions,
    out: Annotated[
        Path | None,
        typer.Option("--out", "-o", metavar="FOLDER", help="Write the set there, for `m3bench lab verify --tasks`."),
    ] = None,
    bundles: Annotated[
        Path | None,
        typer.Option(metavar="FOLDER", help="Write a bundle for each participant of an event there, and a tally."),
    ] = None,
    json: Json = False,
) -> None:
    """Score every submitted run of a secret set, once nobody plays it anymore.

    \b
    m3bench lab ranked open --secret-file secret.txt -o opened

    The set is made again first. With -o it is written, with its references: from then on anybody can score the runs
    again. With --bundles each participant of an event gets a bundle, and `m3bench lab board accept` makes a board of
    them. An event that has not closed is not opened. Prints how many runs were scored.
    """
    secret = options.secret
    settings = Settings.of(
        ranked=True,
        per_family=options.per_family,
        family=tuple(options.family or ()),
        event=options.event,
        data=where.data,
        store=where.store,
    )
    library = SecretLibrary.of(private_set(settings, secret.seed, secret))
    app = App(settings, clients=KnownClients(), library=library)
    check_over(app)
    scored, others = interrupts.run(score_all, app)
    if out is not None:
        library.write(out)
    packed = pack(app, bundles) if bundles is not None else []
    if json:
        made = [
            {"name": bundle.name, "runs": dict(bundle.counts), "bundle": bundle.file and str(bundle.file)}
            for bundle in packed
        ]
        print_json({"scored": scored, "left_alone": others, "bundles": made})
        return
    for bundle in packed:
        told = ", ".join(f"{count} {state}" for state, count in bundle.counts.items())
        typer.echo(f"{bundle.name}: {told}: {bundle.file or 'nothing was submitted'}", err=True)
    typer.echo(f"{scored} runs scored, {others} of another set or not submitted left alone.")


def check_over(app: App) -> None:
    """Raise `UserError` while participants of an event can play, or when it is not said which event it was."""
    if app.event is not None and not app.event.closed:
        closes = moment(app.event.plan.closes)
        raise UserError(f"The event closes at {closes}: nothing was opened, because participants are playing.")
    if app.event is None and any("participant" in record.manifest for record in app.store.runs()):
        raise UserError("These are runs of an event: give its file with --event. Nothing was opened.")


def pack(app: App, folder: Path) -> list[Packed]:
    """Write the bundle of each participant; returns what became of their runs."""
    if app.event is None:
        raise UserError("Bundles are for the participants of an event: give its file with --event.")
    # Everybody had the same tools, those of the operator's profile.
    profile = next((str(run.manifest.get("profile")) for run in app.store.runs()), app.settings.profile)
    offered = solvable(tuple(app.library.tasks.values()), tuple(tools_of(profile, app.catalog, app.library)))
    seats = {participant.name: participant.seat for participant in app.event.plan.participants}
    return pack_participants(app.place, seats, [task.id for task in offered], folder)


async def score_all(app: App) -> tuple[int, int]:
    """Score what was submitted of an app's set; how many runs that were, and how many others there are."""
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
