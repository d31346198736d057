"""A client in memory on a seat of a benchmark in this process, for tests."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import anyio
from mcp import Client

from m3bench.proxy.seat import Seat
from m3bench.proxy.transports.sdk_server import sdk_server
from m3bench.server.app import App


@asynccontextmanager
async def seated(app: App, profile: str | None = None) -> AsyncIterator[tuple[Seat, Client]]:
    """Sits down at a benchmark, which lasts as long as the client does."""
    with anyio.fail_after(600):
        async with app.lifespan():
            seat = app.open_seat(profile=profile)

            async def seat_of(context: object) -> Seat:
                return seat

            async with Client(sdk_server(app.front, seat_of), mode="legacy") as client:
                yield seat, client
            await app.close_seat(seat)
