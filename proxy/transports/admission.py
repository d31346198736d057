"""Whose a request is, and how much of the server one of them may hold at a time.

Whoever brings the token of a guest is that guest, wherever they connect from; everybody else is their address. Nobody
may hold more of anything than they leave free for those who come later, so that one who takes all they can get turns
nobody else away. Whose processor time is far above the others' waits when the processor is short. What a request asks
for is no matter of this module.
"""

import time
from collections import Counter
from collections.abc import Awaitable, Callable, Coroutine, Generator, Iterable, Mapping
from hashlib import sha256
from ipaddress import IPv6Address
from typing import Any

import anyio
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from m3bench.proxy.transports.access import refusal

IDENTITY = "m3bench.identity"
"""Where the scope has whose a request is."""

HEALTH = "/health"

RETRY_SECONDS = 1
"""When to come again, as a refusal says it."""

Headers = Iterable[tuple[bytes, bytes]]


class Identities:
    """Tells whose a request is.

    Args:
        guests: Those who may come in, by the SHA-256 of their token; empty where all have one token or none.
        known: Whether they were told apart before, by sign-in.
    """

    def __init__(self, guests: Mapping[str, str], *, known: bool = False) -> None:
        self._guests = guests
        self.known = known or bool(guests)
        """Whether everybody can be told from everybody else."""

    def of(self, headers: Headers, client: tuple[str, int] | None) -> str:
        """Whose a request with these headers is."""
        for name, value in headers if self._guests else ():
            if name == b"authorization":
                seat = self._guests.get(sha256(value.partition(b" ")[2].strip()).hexdigest())
                if seat is not None:
                    return f"guest {seat}"
        return of_address(client)


def of_address(client: tuple[str, int] | None) -> str:
    """Who is at an address; with IPv6, in a network, of which anybody has as many addresses as they like."""
    host = client[0] if client is not None else ""
    if ":" not in host:
        return f"address {host}"
    try:
        address = IPv6Address(host.partition("%")[0])
    except ValueError:
        return f"address {host}"
    return f"address {address.ipv4_mapped or hex(int(address) >> 64)}"


class Share:
    """A thing of which there is only so much, and how much of it everybody holds.

    Args:
        most: How much there is.
        known: Whether everybody can be told from everybody else. Then one may hold as much as is left free, which is
            half when nobody else holds any; behind an address there may be many, so it may hold seven eighths.
    """

    def __init__(self, most: int, *, known: bool) -> None:
        self.most = most
        self._times = 1 if known else 7
        self.held: Counter[str] = Counter()
        self.total = 0

    def admits(self, who: str, amount: int = 1) -> bool:
        """Whether somebody may hold more; who holds nothing may whenever there is enough."""
        free = self.most - self.total - amount
        return free >= 0 and (not self.held[who] or self.held[who] + amount <= self._times * free)

    def take(self, who: str, amount: int = 1) -> None:
        """Somebody holds more."""
        self.held[who] += amount
        self.total += amount

    def give_back(self, who: str, amount: int = 1) -> None:
        """Somebody holds less."""
        self.total -= amount
        self.held[who] -= amount
        if self.held[who] <= 0:
            del self.held[who]


def come_again(message: str, status: int = 429) -> JSONResponse:
    """A refusal that holds for now."""
    response = refusal(message, status)
    response.headers["retry-after"] = str(RETRY_SECONDS)
    return response


class Admission:
    """Refuses a request when its sender has as many under way as one may have, and has it wait when others would.

    Args:
        app: Answers requests.
        identities: Tells whose they are.
        most: Requests that may be under way at a time.
    """

    def __init__(self, app: ASGIApp, identities: Identities, most: int) -> None:
        self._app = app
        self._identities = identities
        self._share = Share(most, known=identities.known)
        self._pace = Pace()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or scope["path"] == HEALTH:
            await self._app(scope, receive, send)
            return
        who = (self._identities.known and scope.get(IDENTITY)) or self._identities.of(
            scope["headers"], scope.get("client")
        )
        if not self._share.admits(who):
            text = "You have too many requests under way: wait for some of their answers"
            await come_again(text)(scope, receive, send)
            return
        self._share.take(who)
        try:
            while (seconds := self._pace.wait(who)) > 0:  # noqa: ASYNC110 - time is what is waited for
                await anyio.sleep(seconds)
            # Before it is read, so that others of the same sender count it.
            self._pace.use(who, _declared(scope["headers"]) * SECONDS_PER_BYTE)
            given = {**scope, IDENTITY: who}
            await _Metered(self._app(given, receive, send), lambda used: self._pace.use(who, used))
        finally:
            self._share.give_back(who)


SECONDS_PER_BYTE = 1e-8
"""What reading a body as JSON costs at least."""

BUSY = 0.5
"""The part of a second that requests keep the processor, from which on it is short."""

FAIR = 2.0
"""How many times the mean somebody may use then."""

MOST_WAIT = 1.0


def _declared(headers: Headers) -> int:
    """How long a body says that it is; longer ones than are taken are refused unread."""
    length = next((value for name, value in headers if name == b"content-length"), b"")
    return min(int(length), 1 << 24) if length.isdigit() and len(length) < 20 else 0


class Pace:
    """How much of the processor everybody used in the last second or so.

    Args:
        clock: The time, in seconds.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._used: dict[str, float] = {}
        self._since = clock()

    def use(self, who: str, seconds: float) -> None:
        """Somebody used the processor."""
        self._decay()
        self._used[who] = self._used.get(who, 0.0) + seconds

    def wait(self, who: str) -> float:
        """How long somebody must wait before they use more; 0 unless the processor is short and they use too much."""
        self._decay()
        total = sum(self._used.values())
        if total <= BUSY:
            return 0.0
        fair = FAIR * total / len(self._used)
        mine = self._used.get(who, 0.0)
        return min(MOST_WAIT, (mine - fair) / fair) if mine > fair else 0.0

    def _decay(self) -> None:
        """What was used longer ago counts less: half of it after each second."""
        now = self._clock()
        passed = now - self._since
        if passed < 0.05:
            return
        self._since = now
        left = 0.5**passed
        self._used = {who: used * left for who, used in self._used.items() if used * left > 1e-4}


class _Metered:
    """Has a coroutine run, and tells how long it kept the processor at each of its turns."""

    def __init__(self, work: Awaitable[None], used: Callable[[float], None]) -> None:
        self._work = work
        self._used = used

    def __await__(self) -> Generator[Any, Any, None]:
        work = self._work
        assert isinstance(work, Coroutine)
        step: Callable[[Any], Any] = work.send
        given: Any = None
        while True:
            begun = time.thread_time()
            try:
                wanted = step(given)
            except StopIteration:
                return
            finally:
                self._used(time.thread_time() - begun)
            try:
                given, step = (yield wanted), work.send
            except BaseException as error:
                given, step = error, work.throw
