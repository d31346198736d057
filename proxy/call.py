"""One tool call under way, from its request until its answer is on record.

What is said of a call between rooms, its request and its answer, is in `protocol.tool_calls`. Where a call goes is the
router's business; that it is recorded whatever happens there is settled here, for every call in the same way.
"""

import asyncio
import logging
import time
from dataclasses import dataclass, replace
from typing import Protocol

import anyio
import anyio.to_thread

from m3bench.proxy.logs import NAME_CHARACTERS
from m3bench.proxy.protocol.sizes import fitted
from m3bench.proxy.protocol.tool_calls import (
    CUT_OFF,
    AnswerDelivery,
    Journal,
    Relay,
    ToolAnswer,
    ToolRequest,
    error_result,
)
from m3bench.proxy.seat import LARGE_BYTES, MOST_LARGE_BYTES, ActiveRun, Seat
from m3bench.proxy.steps.announced import AnnouncedStep
from m3bench.tasks.eager import in_task
from m3bench.tasks.errors import SandboxError, StoreError, plain

CUT_OFF_SECONDS = 5.0
"""How long it may take to record that a call was cut off."""

CANCELLED = ToolAnswer(outcome="failed", owner="client", error=(-32800, "cut off: the client cancelled or went away"))

STOPPED = ToolAnswer(outcome="failed", owner="proxy", error=CUT_OFF)

TOO_MUCH = (
    f"Your large requests come to {MOST_LARGE_BYTES >> 30} GiB, and no more is recorded: "
    f"send requests of less than {LARGE_BYTES >> 10} KiB."
)

logger = logging.getLogger(__name__)


class Answering(Protocol):
    """Who answers calls: the router."""

    @property
    def journal(self) -> Journal:
        """Where calls are recorded."""
        ...

    @property
    def stopping(self) -> bool:
        """Whether the server is about to end, so that it is not the client who cuts off a call."""
        ...

    async def answer(self, call: "Call") -> ToolAnswer:
        """What a call comes to; may raise whatever breaks."""
        ...

    def most_bytes(self, call: "Call") -> int | None:
        """How large the result of a call may be; None when it passes whatever its size."""
        ...


@dataclass(eq=False, slots=True)
class Call:
    """A call and its life, which `carry_out` leads it through:

    1. *arrived*: the router has made it. Its run is the one under way at that moment, whatever happens meanwhile.
    2. *recorded*: the journal has taken it in, and it has its number. What cannot be recorded is not made.
    3. *sent*: the router takes it to where it is answered: our own tools, the run's sandbox or an upstream server.
    4. *answered*, or *failed*: there is an answer of a size that clients take, whatever broke on the way to it. If the
       client has announced other calls of the same step, the answer waits until all of them have arrived.
    5. *settled*: the answer is on record, and only now may the client see it.

    A call that is cancelled between 2 and 5 is recorded as cut off, and the cancellation goes on.
    """

    seat: Seat
    request: ToolRequest
    """With the name and the arguments of the tool that is meant."""
    tool: str
    """The tool's name on record: the canonical one when there is such a tool, else as it was sent."""
    own: bool
    """Whether it is for one of our own tools, which do not count among the calls of a run."""
    run: ActiveRun | None
    """The run under way on its seat, when it arrived."""
    new_name: str | None = None
    """What the tool is called now, when it was called by a name that it no longer has."""
    step: AnnouncedStep | None = None
    """The step that the client announced for it, when its answer must wait for others."""
    relay: Relay | None = None
    """A way to the client while it is under way."""
    delivery: AnswerDelivery | None = None
    """Takes the answer to the client from the thread that puts it on record, where the transport has such a way."""
    number: int = 0
    """In the journal, once it is recorded."""

    @property
    def name(self) -> str:
        """The exposed name of the tool that is meant; empty when the request has none."""
        return self.request.name if isinstance(self.request.name, str) else ""

    async def carry_out(self, by: Answering) -> ToolAnswer:
        """Record it, have it answered, and return the answer once that is on record; it may have been delivered."""
        if not self.seat.takes(len(self.request.raw)):
            return ToolAnswer(outcome="failed", owner="limit", result=error_result(TOO_MUCH))
        played = self.run if not self.own else None
        if played is not None:
            played.enter()
        try:
            try:
                self.number = await by.journal.received(self.request, self.run.id if self.run else None, self.tool)
            except Exception as error:
                answer = _unrecorded("The call was not made, because it could not be recorded", error)
                if played is not None:
                    # What a run lost must not be forgotten when the record works again.
                    played.lose(self.request, self.tool, answer)
                return answer
            try:
                answer = await self._answered(by)
                if self.step is not None:
                    await in_task()
                    await self.seat.steps.wait(self.step)
            except asyncio.CancelledError:
                await self._cut_off(by)
                raise
            try:
                await by.journal.answered(self.number, answer, self.delivery)
            except Exception as error:
                # What is not on record must not be seen.
                return _unrecorded("The tool answered, but its answer could not be recorded and is withheld", error)
            self._settled(by.journal, answer)
            return answer
        finally:
            if played is not None:
                played.leave()

    async def _answered(self, by: Answering) -> ToolAnswer:
        """An answer, whatever breaks on the way to it, of a size that clients take."""
        try:
            answer = await by.answer(self)
            most = by.most_bytes(self)
            if most is not None and len(answer.result) > most:
                await in_task()
                answer = await anyio.to_thread.run_sync(self._cut_to_size, answer, most)
        except Exception as error:
            logger.exception("A call to %r failed inside the proxy", self.request.name)
            text = f"m3bench failed: {type(error).__name__}. This is a fault of the benchmark, not of your call."
            return ToolAnswer(outcome="failed", owner="proxy", result=error_result(text))
        return answer

    def _cut_to_size(self, answer: ToolAnswer, most: int) -> ToolAnswer:
        """An answer that the client takes, the whole of it kept in the run's workspace where that can be done."""
        if self.own:
            where = "files that it names are whole in the workspace"
        elif self.run is None:
            where = "no run is under way whose workspace could keep the whole of it"
        else:
            try:
                where = f"the whole of it is in {self.run.keep(self.number, answer.result)}"
            except (OSError, SandboxError) as error:
                logger.warning("The whole result of call %d could not be kept: %s", self.number, error)
                where = f"the whole of it could not be kept in the workspace: {plain(error)}"
        return replace(answer, result=fitted(answer.result, where, most), full=answer.result)

    async def _cut_off(self, by: Answering) -> None:
        """Put on record that the client did not wait for its answer, or was not given the time."""
        with anyio.move_on_after(CUT_OFF_SECONDS, shield=True):
            try:
                await by.journal.answered(self.number, STOPPED if by.stopping else CANCELLED)
            except Exception:
                logger.exception("That call %d was cut off is not on record", self.number)

    def _settled(self, journal: Journal, answer: ToolAnswer) -> None:
        """Note when the answer left, and say so."""
        try:
            sent_ns = self.delivery.sent_ns if self.delivery is not None else 0
            journal.sent(self.number, sent_ns or time.monotonic_ns())
        except Exception:
            logger.exception("When the answer to call %d left is not on record", self.number)
        if logger.isEnabledFor(logging.INFO):
            seconds = round((time.monotonic_ns() - self.request.received_ns) / 1e9, 6)
            facts = {
                "tool": self.tool[:NAME_CHARACTERS],
                "outcome": answer.outcome,
                "owner": answer.owner,
                "seconds": seconds,
            }
            logger.info("A call was answered", extra={"facts": facts})


def _unrecorded(what: str, error: Exception) -> ToolAnswer:
    """The answer to a call that is not on record, or whose answer is not."""
    if not isinstance(error, StoreError):
        logger.error("The record failed", exc_info=error)
    elif logger.isEnabledFor(logging.INFO):
        # Lines for people leave it to the client, which is told; whoever collects lines wants to see it among them.
        logger.error("%s: %s", what, error)
    cause = plain(error) if isinstance(error, StoreError) else f"{type(error).__name__}: {plain(error)}"
    return ToolAnswer(outcome="failed", owner="proxy", result=error_result(f"{what}: {cause}"))
