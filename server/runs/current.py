"""A run that is under way: its sandbox, its limits and the calls that are being answered."""

import time
from collections.abc import Callable

import anyio

from m3bench.proxy.call import Answer, ToolRequest
from m3bench.proxy.seat import Seat
from m3bench.sandboxes.pool import Lease
from m3bench.sandboxes.workspace import RESULTS
from m3bench.server.runs.notices import say_once
from m3bench.tasks.errors import PathError, SandboxError
from m3bench.tasks.outcome import Reply
from m3bench.tasks.task import Task

MAX_LOST = 20
"""Calls that could not be recorded which a run remembers: one is enough to make it void."""


class Run:
    """A run that is under way.

    Args:
        id: Its handle.
        task: What is to be solved.
        lease: Its sandbox and workspace.
        max_calls: Calls that it may make, those included that it has made.
        seconds: Time that it may take, that included that it has used.
        calls: Those that it has made in an earlier process.
        used: The seconds since it began there.
        mark: What the pictures that its client is sent carry; empty when there are none.
        shut: Says why nobody can play now, when it is so.
    """

    def __init__(
        self, *, id: str, task: Task, lease: Lease, max_calls: int, seconds: float, calls: int = 0, used: float = 0,
        mark: str = "", shut: Callable[[], str | None] = lambda: None,
    ) -> None:  # fmt: skip
        self.id, self.mark = id, mark
        self.task = task
        self.lease = lease
        self._max_calls = max_calls
        self._shut = shut
        self._seconds = seconds
        self._started = time.monotonic() - used
        self._calls = calls
        self.lost: list[tuple[ToolRequest, str, Answer]] = []
        """Calls that could not be put on record, with what they were answered."""
        self._under_way = 0
        self._idle: anyio.Event | None = None
        """Set when no call is under way any more; there is one while somebody waits for that."""
        self.submitting = False
        """Whether an answer is being put on record at this moment."""
        self.unseen = False
        """Whether its client may not have been told of it, because the server ended right after it began."""
        self.told_of_fields = False
        """Whether an answer was looked through for missing fields: that is done once, and the next one is sealed."""
        self.ended = False
        """Whether its sandbox is gone, so that an answer is all that it can still take."""
        self.seat: Seat | None = None
        """Where it is under way."""

    def enter(self) -> None:
        """A call of this run has arrived."""
        self._under_way += 1
        self.unseen = False

    def leave(self) -> None:
        """That call is answered and on record."""
        self._under_way -= 1
        if self._under_way == 0 and self._idle is not None:
            self._idle.set()
            self._idle = None

    async def settle(self) -> None:
        """Wait until no call is under way; each is bounded in time, so this is too."""
        if self._under_way:
            self._idle = self._idle or anyio.Event()
            await self._idle.wait()

    def admit(self) -> str | None:
        """Count a call; the reason when the run's limits allow no more."""
        if (why := self._shut()) is not None:
            return why
        if self._calls >= self._max_calls:
            return f"This run has made its {self._max_calls} calls: submit what you have."
        if time.monotonic() - self._started > self._seconds:
            return f"This run has used its {self._seconds / 60:g} minutes: submit what you have."
        self._calls += 1
        return None

    def lose(self, request: ToolRequest, tool: str, answer: Answer) -> None:
        """Remember a call that could not be put on record."""
        if len(self.lost) < MAX_LOST:
            self.lost.append((request, tool, answer))

    async def call(self, tool: str, arguments: bytes, seconds: float) -> Reply:
        """Run a tool in the sandbox, which starts now if it has not before."""
        reply = await self.lease.call(tool, arguments, seconds)
        for notice in self.lease.notices:
            say_once(notice)
        return reply

    def keep(self, call: int, result: bytes) -> str:
        """Put a result that is too large for a client into the workspace.

        Raises:
            SandboxError: It cannot be kept there.
        """
        name = f"{RESULTS}/{call:x}.json"
        try:
            self.lease.put(name, result)
        except (OSError, PathError) as error:
            raise SandboxError(f"The whole result could not be kept in the workspace: {error}") from error
        return f"./{name}"
