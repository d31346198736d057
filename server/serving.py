"""Runs an app over a transport until it is told to stop."""

import logging
import sys

import anyio

from m3bench.proxy.http import HttpSettings, http_app
from m3bench.proxy.stdio import serve_stdio
from m3bench.server.app import App
from m3bench.server.settings import Settings
from m3bench.tasks.errors import UserError


def serve_stdio_app(settings: Settings) -> None:
    """Serve standard input and output; the process is the seat."""
    _log_to_stderr()

    async def main() -> None:
        app = App(settings)
        async with app.lifespan():
            await serve_stdio(app.front, app.open_seat())

    anyio.run(main)


def serve_http_app(settings: Settings, address: str, token: str | None) -> None:
    """Serve HTTP at `HOST:PORT`."""
    import uvicorn

    _log_to_stderr()
    host, _, port = address.rpartition(":")
    if not port.isdigit():
        raise UserError(f"{address!r} is not an address: write HOST:PORT, such as 127.0.0.1:8000.")
    listen = HttpSettings(host=host.strip("[]") or "127.0.0.1", port=int(port), token=token)

    async def main() -> None:
        app = App(settings)
        async with app.lifespan():
            asgi = http_app(app.front, listen, app.open_seat, app.close_seat)
            config = uvicorn.Config(asgi, host=listen.host, port=listen.port, log_level="warning", lifespan="on")
            server = uvicorn.Server(config)
            print(f"m3bench serves http://{listen.host}:{listen.port}/mcp", file=sys.stderr, flush=True)
            await server.serve()

    anyio.run(main)


def _log_to_stderr() -> None:
    logging.basicConfig(stream=sys.stderr, level=logging.WARNING, format="m3bench: %(name)s: %(message)s")
