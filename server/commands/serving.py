"""Starts the benchmark's server, over stdio or HTTP.

What is here needs the MCP library, which takes most of a second to import: commands import this module when they start
a server, so that help and completion do without it.
"""

from dataclasses import replace
from typing import TYPE_CHECKING

from m3bench.proxy.transports.instant import FirstMessages, InstantStart
from m3bench.proxy.transports.prepared import prepare
from m3bench.server.app import App
from m3bench.server.clients.table import KnownClients
from m3bench.server.commands.installed import library_for
from m3bench.server.commands.serve import HttpOptions
from m3bench.server.runs.event import RankedEvent
from m3bench.server.serving.transport import address_of, serve_http_app, serve_stdio_app
from m3bench.server.settings import Settings
from m3bench.tasks.lazy_modules import LazyModule

# A client that starts the server over stdio waits for every import, and sees no pages.
if TYPE_CHECKING:
    from m3bench.server.lab.live import pages
else:
    pages = LazyModule("m3bench.server.lab.live.pages")


def serve_stdio(settings: Settings, opening: FirstMessages | None, start: InstantStart | None) -> None:
    """Serve the benchmark to the client that started this process.

    Args:
        settings: Of the server.
        opening: What the client was told already.
        start: What the first answers depend on, when they can be prepared for the next time.
    """
    serve_stdio_app(lambda: _app(settings), opening, start, settings.seat)


def serve_http(settings: Settings, http: HttpOptions, operator_token: str | None) -> None:
    """Serve the benchmark over HTTP, with its pages."""
    assert http.http is not None
    listen = address_of(
        http.http, http.token, operator_token, allow_hosts=http.allow_host or (), allow_origins=http.allow_origin or ()
    )
    if settings.event is not None:
        # Every client is a participant, and what the pages show is for the operator alone.
        idle = max(listen.idle_seconds, settings.max_minutes * 60)
        listen = replace(listen, guests=RankedEvent.read(settings.event).guests, idle_seconds=idle)
    shown = settings.event is None or operator_token is not None
    serve_http_app(lambda: _app(settings), listen, pages.LivePages if shown else None)


async def prepare_start(profile: str, content_only: bool) -> None:
    """Make the next start with a profile instant."""
    app = App(Settings.of(profile=profile, content_only=content_only))
    await prepare(app.front, app.open_seat(), InstantStart(profile, content_only))


def _app(settings: Settings) -> App:
    return App(settings, clients=KnownClients(), library=library_for(settings))
