"""The third-party servers that work for one run, or for a seat while no run is under way on it.

Nothing that a server remembers reaches another run. What its servers tell and ask beside their answers goes to the
client of the seat, as far as that client can be asked. Who is hired and when is the fleet's business.
"""

import asyncio
import logging
from collections.abc import Callable, Mapping
from typing import Any

import anyio

from m3bench.proxy.call import Relay
from m3bench.proxy.cassette import Take
from m3bench.proxy.messages import Json
from m3bench.proxy.seat import Seat
from m3bench.proxy.upstream import Upstream
from m3bench.tasks.jsonrpc import INTERNAL_ERROR, METHOD_NOT_FOUND

ASK_SECONDS = 600.0
"""How long a client, and the person in front of it, may take to answer what a server asks."""

ASKED = {"sampling/createMessage": "sampling", "elicitation/create": "elicitation", "roots/list": "roots"}
"""What servers may ask of clients, and the capability that it takes."""

logger = logging.getLogger(__name__)

News = Callable[[Upstream, str, Json], None]


class Shared:
    """The home of servers that hold no state and work for everybody: nobody in particular can be asked."""

    shared = True

    def __init__(self, news: News) -> None:
        self.news = news

    @property
    def capabilities(self) -> Json:
        """None: it would have to be known whose call the question belongs to."""
        return {}

    async def asked(self, method: str, params: Json, relay: Relay | None) -> Json:
        """Refused."""
        return _error(METHOD_NOT_FOUND, f"{method}: a server that is shared by several clients can ask none of them")


class Crew:
    """The servers of one run or seat.

    Args:
        seat: Whose client it is.
        news: Is told what servers tell beside their answers.
        take: The way through a cassette, when there is one.
    """

    shared = False

    def __init__(self, seat: Seat, news: News, take: Take | None) -> None:
        self.seat = seat
        self.news = news
        self.take = take
        self.capabilities: Json = dict(seat.client)
        self.members: dict[str, Upstream] = {}
        """Those that were started, by name."""
        self.lists: dict[tuple[str, str], list[Json]] = {}
        """Lists that this crew's servers gave, by server and method."""
        self.used = False
        """Whether anything was asked that can leave a trace."""
        self.preparing = False
        """Whether its lists are being made complete for a client that asks for them just now."""

    async def asked(self, method: str, params: Json, relay: Relay | None) -> Json:
        """The client's answer to what a server asks, if the client declared that it can be asked for that."""
        if ASKED.get(method) not in self.capabilities:
            return _error(METHOD_NOT_FOUND, f"The client does not support {method}.")
        with anyio.move_on_after(ASK_SECONDS):
            return await (relay or self.seat).request(method, params)
        return _error(INTERNAL_ERROR, f"The client gave no answer to {method} within {ASK_SECONDS:g} s.")

    def close(self) -> None:
        """End its servers."""
        for member in self.members.values():
            member.close()


class Patient:
    """A relay that stops the clock of a call while the client is asked something.

    Args:
        relay: The relay.
        clock: What ends the call when it takes too long.
    """

    def __init__(self, relay: Relay, clock: asyncio.Timeout) -> None:
        self._relay = relay
        self._clock = clock

    async def notify(self, method: str, params: Mapping[str, Any]) -> None:
        """Send a notification."""
        await self._relay.notify(method, params)

    async def request(self, method: str, params: Mapping[str, Any]) -> Json:
        """Ask the client."""
        begun = asyncio.get_running_loop().time()
        self._put_off(ASK_SECONDS)
        try:
            return await self._relay.request(method, params)
        finally:
            self._put_off(asyncio.get_running_loop().time() - begun - ASK_SECONDS)

    def _put_off(self, seconds: float) -> None:
        due = self._clock.when()
        if due is not None and not self._clock.expired():
            self._clock.reschedule(due + seconds)


def _error(code: int, message: str) -> Json:
    return {"error": {"code": code, "message": message}}
