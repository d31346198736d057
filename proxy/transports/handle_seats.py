"""The seats of HTTP clients: one for each session, one for each handle in an address.

A session's seat ends with the session. A handle has no end of its own, so its seat is freed when it was not used for
a time, or earlier when there are too many: the one that was not used for longest and has no run under way goes
first. Whoever comes back with the handle gets the seat anew, with its runs on record as before.
"""

import logging
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

import anyio

from m3bench.proxy.seat import Seat
from m3bench.tasks.errors import UserError

MAX_SEATS = 256

RESERVED = 8
"""One address has all seats but one in so many under way, so that others find one."""

_BUSY = "have a run under way: try again when one of them has ended."

OpenSeat = Callable[[str, str | None], Seat]
OpenHandle = Callable[[str, str | None], Awaitable[Seat]]
CloseSeat = Callable[[Seat], Awaitable[None]]

logger = logging.getLogger(__name__)


@dataclass(eq=False)
class _Taken:
    seat: Seat
    used: float = field(default_factory=time.monotonic)
    requests: int = 0
    """Under way now."""
    who: str = ""
    """Whose it is."""


class HandleSeats:
    """The seats that handles name.

    Args:
        open_seat: Opens the seat of a handle, with a profile when one was asked for, and finds its run again.
        close_seat: Ends what runs on one.
        idle_seconds: After which a seat that nobody uses is freed.
        most: Seats that there may be.
    """

    def __init__(
        self, open_seat: OpenHandle, close_seat: CloseSeat, *, idle_seconds: float, most: int = MAX_SEATS
    ) -> None:
        self._open_seat = open_seat
        self._close_seat = close_seat
        self._idle_seconds = idle_seconds
        self._most = most
        self._taken: dict[str, _Taken] = {}
        self._opening = anyio.Lock()

    def __len__(self) -> int:
        return len(self._taken)

    def __contains__(self, handle: object) -> bool:
        return handle in self._taken

    async def seat(self, handle: str, profile: str | None, who: str = "") -> Seat:
        """The seat of a handle, opened now if it is not, for whom it is then.

        Raises:
            M3Error: There is no such profile, no room for another seat, or its run cannot be looked up now.
        """
        if handle not in self._taken:
            async with self._opening:
                await self._open(handle, profile, who)
        taken = self._taken[handle]
        taken.used = time.monotonic()
        return taken.seat

    @contextmanager
    def in_use(self, handle: str) -> Iterator[None]:
        """Keep the seat of a handle while a request of its is under way."""
        taken = self._taken.get(handle)
        if taken is None:
            yield
            return
        taken.requests += 1
        try:
            yield
        finally:
            taken.requests -= 1
            taken.used = time.monotonic()

    async def free_idle(self) -> None:
        """Free the seats that were not used for a time."""
        limit = time.monotonic() - self._idle_seconds
        for handle, taken in list(self._taken.items()):
            if taken.used < limit and not taken.requests:
                await self._free(handle)

    async def keep_tidy(self) -> None:
        """Free what is not used, again and again."""
        while True:
            await anyio.sleep(min(self._idle_seconds / 4, 60))
            await self.free_idle()

    async def _open(self, handle: str, profile: str | None, who: str) -> None:
        if handle in self._taken:
            return
        if len(self._taken) >= self._most:
            await self._make_room()
        mine = sum(taken.who == who and taken.seat.run is not None for taken in self._taken.values())
        if mine >= self._most - self._most // RESERVED:
            raise UserError(f"All {mine} seats that one address can have {_BUSY}")
        # Half-way, a run that waited for its client would belong to nobody.
        with anyio.CancelScope(shield=True):
            self._taken[handle] = _Taken(await self._open_seat(handle, profile), who=who)

    async def _make_room(self) -> None:
        """Free the seat that was unused for longest, among those of whoever has the most."""
        held = Counter(taken.who for taken in self._taken.values())
        free = [handle for handle, taken in self._taken.items() if not taken.requests and taken.seat.run is None]
        if not free:
            raise UserError(f"All {self._most} seats {_BUSY}")
        await self._free(min(free, key=lambda handle: (-held[self._taken[handle].who], self._taken[handle].used)))

    async def _free(self, handle: str) -> None:
        taken = self._taken.pop(handle)
        try:
            await self._close_seat(taken.seat)
        except Exception:
            logger.exception("A seat could not be closed cleanly")
