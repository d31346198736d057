"""`m3bench people`: who may sign in on a server that runs with `--auth own`."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from datetime import UTC, datetime
from typing import Annotated
from urllib.parse import urlencode

import typer

from m3bench.server.commands.options import Json, RecordOptions
from m3bench.server.commands.screen import print_json
from m3bench.server.serving.auth.address import PublicAddress
from m3bench.server.serving.auth.clients import OAuthClients
from m3bench.server.serving.auth.people import People
from m3bench.server.settings import Settings
from m3bench.server.store.location import RecordLocation
from m3bench.server.store.sign_ins import SignInTables, open_sign_ins

Name = Annotated[str, typer.Argument(metavar="NAME", help="What the person is called.")]


@contextmanager
def _tables(where: RecordOptions) -> Iterator[SignInTables]:
    settings = Settings.of(data=where.data, store=where.store)
    tables = open_sign_ins(RecordLocation(settings.data, settings.store))
    try:
        yield tables
    finally:
        tables.close()


def invite(
    name: Name,
    where: RecordOptions,
    scopes: Annotated[
        str, typer.Option(metavar="SCOPES", help="What they may do: play, watch, operate, separated by spaces.")
    ] = "play watch",
    days: Annotated[float, typer.Option(min=0.01, max=365, metavar="N", help="Days until the invitation expires.")] = 7,
    url: Annotated[
        str | None,
        typer.Option(
            envvar="M3BENCH_PUBLIC_URL", metavar="URL", help="The server's address: prints a link in place of a code."
        ),
    ] = None,
    json: Json = False,
) -> None:
    """Invite a person to a server with sign-in.

    \b
    m3bench people invite ann --url https://bench.example

    Prints a code, or a link with it, which works once and is not kept: send it to them. A person who has already signed
    in gets a code for another device, and these scopes from now on.
    """
    address = PublicAddress.of(url) if url is not None else None
    with _tables(where) as tables:
        code = People(tables).invite(name, scopes, days)
    link = None if address is None else f"{address.origin}/auth/invitation?{urlencode({'code': code})}"
    if json:
        print_json({"name": name, "code": code, "link": link})
    else:
        typer.echo(link or code)


def list_people(where: RecordOptions, json: Json = False) -> None:
    """List people with their invitations, devices and clients.

    \b
    m3bench people list
    """
    with _tables(where) as tables:
        people = People(tables).overview()
    if json:
        print_json([asdict(person) for person in people])
        return
    for person in people:
        typer.echo(f"{person.name}: {person.scopes}")
        for expires in person.invited:
            typer.echo(f"  invitation, not used yet, good until {_day(expires)}")
        for device in person.devices:
            typer.echo(f"  device since {_day(device.made)}: {_plain(device.agent)}")
        for app in person.apps:
            typer.echo(f"  client since {_day(app.made)}: {_plain(app.name)} ({_plain(app.client)}), {app.scopes}")


def end(
    name: Name,
    where: RecordOptions,
    invitations: Annotated[bool, typer.Option("--invitations", help="Only revoke unused invitations.")] = False,
    forget: Annotated[bool, typer.Option("--forget", help="Forget the person too; their runs stay on record.")] = False,
    json: Json = False,
) -> None:
    """End a person's devices, clients and invitations.

    \b
    m3bench people end ann

    It takes effect with the next request. They can be invited again.
    """
    with _tables(where) as tables:
        people = People(tables)
        if invitations:
            people.revoke_invitations(name)
        else:
            people.end(name, forget=forget)
    if json:
        print_json({"name": name, "invitations_only": invitations, "forgotten": forget and not invitations})


def make_client(
    name: Annotated[str, typer.Argument(metavar="NAME", help="The name that people are shown.")],
    where: RecordOptions,
    redirect_uri: Annotated[
        list[str], typer.Option(metavar="URI", help="Where the client has people sent back; may be repeated.")
    ],
    public: Annotated[bool, typer.Option("--public", help="The client cannot keep a secret: it gets none.")] = False,
    json: Json = False,
) -> None:
    """Make a fixed client, for a service that cannot register.

    \b
    m3bench people client "Copilot Studio" --redirect-uri https://service.example/callback

    Prints the client's ID and, in a second line, its secret, which is kept nowhere. Enter both where the service asks.
    """
    with _tables(where) as tables:
        client, secret = OAuthClients(tables, None).fix(name, redirect_uri, public=public)
    if json:
        print_json({"client_id": client.id, "client_secret": secret})
    else:
        typer.echo(client.id + (f"\n{secret}" if secret else ""))


def _day(when: float) -> str:
    return datetime.fromtimestamp(when, UTC).strftime("%Y-%m-%d %H:%M UTC")


def _plain(text: str) -> str:
    return "".join(letter if letter.isprintable() else "?" for letter in text)
