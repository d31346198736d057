"""Starts the benchmark's server, over stdio or HTTP.

What is here needs the MCP library, which takes most of a second to import: commands import this module when they start
a server, so that help and completion do without it.
"""

import secrets
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from m3bench.proxy.transports.http import HttpSettings
from m3bench.proxy.transports.instant import FirstMessages, InstantStart
from m3bench.proxy.transports.prepared import prepare
from m3bench.server.app import App
from m3bench.server.clients.table import KnownClients
from m3bench.server.commands.installed import library_for
from m3bench.server.commands.serve import HttpOptions, SignInOptions
from m3bench.server.runs.event import RankedEvent
from m3bench.server.serving.transport import (
    address_of,
    certificate_of,
    own_address,
    run_alone,
    serve_http_app,
    serve_stdio_app,
    trusted_proxies,
)
from m3bench.server.settings import Settings
from m3bench.server.store.location import RecordLocation
from m3bench.tasks.errors import UserError
from m3bench.tasks.lazy_modules import LazyModule

# A client that starts the server over stdio waits for every import, sees no pages, and nobody signs in there.
if TYPE_CHECKING:
    from m3bench.server.clients import installation
    from m3bench.server.lab.live import pages, person_page, studio
    from m3bench.server.lab.studies.people import PeopleStudy
    from m3bench.server.serving.auth import modes
else:
    installation = LazyModule("m3bench.server.clients.installation")
    modes = LazyModule("m3bench.server.serving.auth.modes")
    pages = LazyModule("m3bench.server.lab.live.pages")
    person_page = LazyModule("m3bench.server.lab.live.person_page")
    studio = LazyModule("m3bench.server.lab.live.studio")


def serve_stdio(settings: Settings, opening: FirstMessages | None, start: InstantStart | None) -> None:
    """Serve the benchmark to the client that started this process.

    Args:
        settings: Of the server.
        opening: What the client was told already.
        start: What the first answers depend on, when they can be prepared for the next time.
    """
    here = KnownClients(lambda client: installation.may_ask(client, installation.this_machine()))
    serve_stdio_app(lambda: _app(settings, here), opening, start, settings.seat)


def serve_http(settings: Settings, http: HttpOptions, sign_in: SignInOptions, operator_token: str | None) -> None:
    """Serve the benchmark over HTTP, with its pages."""
    assert http.http is not None
    listen = address_of(
        http.http, http.token, operator_token, allow_hosts=http.allow_host or (), allow_origins=http.allow_origin or ()
    )
    listen = replace(
        listen,
        proxies=trusted_proxies(sign_in.trust_proxy or ()),
        certificate=certificate_of(sign_in.tls_cert, sign_in.tls_key),
    )
    event = RankedEvent.read(settings.event) if settings.event is not None else None
    if event is not None:
        # Every client is a participant, and what the pages show is for the operator alone.
        listen = replace(listen, idle_seconds=max(listen.idle_seconds, settings.max_minutes * 60))
    if sign_in.auth is not None:
        listen = _protected(settings, listen, sign_in, event)
    elif event is not None:
        if not event.guests:
            raise UserError("Everybody in this event signs in: start the server with --auth own, or --auth oidc=URL.")
        listen = replace(listen, guests=event.guests)
    shown = event is None or operator_token is not None or sign_in.auth is not None
    serve_http_app(lambda: _app(settings, KnownClients()), listen, pages.LivePages if shown else None)


def serve_person(settings: Settings, port: int, show: Callable[[str], None]) -> None:
    """Serve the benchmark to a person on this machine, who plays in a browser.

    Args:
        settings: Of the server.
        port: Where to listen; 0 takes a free one.
        show: Is given the address of the page, to open it.
    """
    listen = address_of(f"127.0.0.1:{port}", secrets.token_urlsafe(32))
    # A person may think for as long as a run lasts.
    listen = replace(listen, idle_seconds=max(listen.idle_seconds, settings.max_minutes * 60))
    serve_http_app(lambda: _app(settings, KnownClients()), listen, partial(person_page.PersonPages, show=show))


def serve_studio(folder: Path, settings: Settings, port: int, show: Callable[[str], None]) -> bool:
    """Serve the studio of a folder to a person on this machine; returns whether Ctrl-C ended it.

    Args:
        folder: Of the set.
        settings: Say where references are played.
        port: Where to listen; 0 takes a free one.
        show: Is given the address of the page, to open it.
    """
    listen = address_of(f"127.0.0.1:{port}")
    pressed = False

    async def main() -> None:
        nonlocal pressed
        pressed = await studio.serve_studio(studio.Studio(folder, settings), listen, show)

    run_alone(main)
    return pressed


def serve_people(study: "PeopleStudy", links: Callable[[str], None]) -> None:
    """Serve the benchmark to people who were sent links.

    Args:
        study: Who may play what.
        links: Is told the address where they come.
    """
    settings = study.settings
    listen = address_of(study.plan.listen, allow_hosts=study.hosts)
    listen = replace(listen, guests=study.guests, idle_seconds=max(listen.idle_seconds, settings.max_minutes * 60))

    serve_http_app(lambda: _study_app(study), listen, partial(person_page.StudyPages, study=study, links=links))


def score_rest(study: "PeopleStudy") -> None:
    """Score what was sealed when a server was killed, before it was scored."""
    app = _study_app(study)

    async def main() -> None:
        async with app.lifespan():
            for record in app.store.runs():
                if record.state == "submitted":
                    await app.score(record)

    run_alone(main)


def _study_app(study: "PeopleStudy") -> App:
    return App(study.settings, clients=KnownClients(), library=study.library, offers=study.tasks_of)


def _protected(
    settings: Settings, listen: HttpSettings, options: SignInOptions, event: RankedEvent | None
) -> HttpSettings:
    """How to listen when people sign in."""
    address = modes.PublicAddress.of(options.public_url or own_address(listen))
    place = RecordLocation(settings.data, settings.store)
    made = modes.protection_of(
        options.auth or "", place, address, groups=options.grant or (), audience=options.audience,
        access_seconds=options.token_minutes * 60, documents=options.documents,
    )  # fmt: skip
    made = replace(
        made,
        seats=None if event is None else event.identities,
        pages_scope=modes.OPERATE if settings.ranked else modes.WATCH,
        idle_seconds=listen.idle_seconds,
    )
    return replace(listen, guard=made, tell=made.refusals.say, allow_hosts=(*listen.allow_hosts, address.host))


async def prepare_start(profile: str, content_only: bool) -> None:
    """Make the next start with a profile instant."""
    app = App(Settings.of(profile=profile, content_only=content_only))
    await prepare(app.front, app.open_seat(), InstantStart(profile, content_only))


def _app(settings: Settings, clients: KnownClients) -> App:
    return App(settings, clients=clients, library=library_for(settings))
