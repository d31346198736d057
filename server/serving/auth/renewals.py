"""Requests that came with a token which had just run out, and come again with a new one.

A client that sends several calls at a time has each of them refused when its token runs out, gets a new token, and
then sends them one after the other. They count as arrived when they first came, or a turn would fall apart because of
us. What was sent is compared to the byte, so nobody gains time to think: it was settled when it first came. A client
that would send guesses in this way, to keep those that turn out well, has few seconds for few of them with each token.
"""

from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, field
from hashlib import sha256
from time import monotonic_ns

from starlette.datastructures import Headers
from starlette.responses import Response
from starlette.types import Receive, Scope

from m3bench.proxy.transports.http_calls import Bodies, read_body
from m3bench.server.serving.auth.identity import Identity

WITHIN_NS = 10_000_000_000
"""From the first request with a token that ran out: later ones are not remembered, and none of them for longer."""

MOST_EACH, MOST_TOKENS = 16, 256
"""Requests that are remembered for a token, and tokens."""


@dataclass
class _Lapse:
    """What came with one token that had run out."""

    who: tuple[str, str]
    since: int
    requests: dict[bytes, int] = field(default_factory=dict)
    """When each came."""


class Renewals:
    """What was refused because a token had run out.

    Args:
        clock: Gives the time in nanoseconds.
    """

    def __init__(self, clock: Callable[[], int] = monotonic_ns) -> None:
        self._clock = clock
        self._lapses: OrderedDict[bytes, _Lapse] = OrderedDict()
        self._bodies = Bodies(known=False)

    async def refused(self, token: str, who: Identity, scope: Scope, receive: Receive) -> None:
        """Remember a request with a token that this person had, and that has run out."""
        now, key = self._clock(), sha256(token.encode()).digest()
        lapse = self._lapses.get(key)
        if lapse is None:
            lapse = self._lapses[key] = _Lapse((who.issuer, who.subject), now)
            if len(self._lapses) > MOST_TOKENS:
                self._lapses.popitem(last=False)
        if scope["method"] != "POST" or now - lapse.since > WITHIN_NS or len(lapse.requests) >= MOST_EACH:
            return
        body = await read_body(scope, receive, self._bodies)
        if body is not None and not isinstance(body, Response):
            lapse.requests.setdefault(_request(scope, body), now)

    def first_came(self, who: Identity, scope: Scope, body: bytes) -> int:
        """When a request of a person came for the first time; 0 when it is now. It is forgotten by that."""
        mine, now = (who.issuer, who.subject), self._clock()
        lapses = [lapse for lapse in self._lapses.values() if lapse.who == mine and now - lapse.since <= 2 * WITHIN_NS]
        if not lapses:
            return 0
        key = _request(scope, body)
        return next((lapse.requests.pop(key) for lapse in lapses if key in lapse.requests), 0)


def _request(scope: Scope, body: bytes) -> bytes:
    session = Headers(scope=scope).get("mcp-session-id", "")
    return sha256(b"\0".join((session.encode(), body))).digest()
