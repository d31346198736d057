"""The journal of episodes: the calls of runs under way, in memory, in the form that a store gives them back.

They are kept by seat, of which every episode has its own: episodes that are told the same have runs of the same name.
"""

from dataclasses import replace
from itertools import count

from m3bench.proxy.protocol.tool_calls import AnswerDelivery, ToolAnswer, ToolRequest
from m3bench.server.store.records import CallRecord


class MemoryJournal:
    """Calls by number, and by seat."""

    def __init__(self) -> None:
        self._numbers = count(1)
        self._seats: dict[str, dict[int, CallRecord]] = {}
        self._seat_of: dict[int, str] = {}

    async def received(self, request: ToolRequest, run: str | None, tool: str) -> int:
        """Take in a call; one that belongs to no run is not kept."""
        number = next(self._numbers)
        if run is not None:
            caller = request.caller
            self._seat_of[number] = caller.seat
            self._seats.setdefault(caller.seat, {})[number] = CallRecord(
                id=number, run=run, seat=caller.seat, tool=tool, request_id=str(request.id), request=request.raw,
                revision=caller.revision, client=caller.client, wall=request.wall, received_ns=request.received_ns,
                outcome=None, owner=None, result=None, error=None, full=None, forwarded_ns=None, returned_ns=None,
                sent_ns=None,
            )  # fmt: skip
        return number

    async def answered(self, call: int, answer: ToolAnswer, delivery: AnswerDelivery | None = None) -> None:
        """Put an answer beside its call."""
        calls = self._seats.get(self._seat_of.get(call, ""), {})
        if call in calls:
            calls[call] = replace(
                calls[call], outcome=answer.outcome, owner=answer.owner, result=answer.result or None,
                error=answer.error, full=answer.full or None, forwarded_ns=answer.forwarded_ns or None,
                returned_ns=answer.returned_ns or None,
            )  # fmt: skip

    def sent(self, call: int, sent_ns: int) -> None:
        """Nothing: an answer leaves with the others of its turn."""

    def deliver(self, seat: str, sent_ns: int) -> None:
        """The answers of a turn left, all of them at the same moment."""
        calls = self._seats.get(seat, {})
        for number, call in calls.items():
            if call.sent_ns is None:
                calls[number] = replace(call, sent_ns=sent_ns)

    def calls(self, seat: str) -> list[CallRecord]:
        """The calls of a seat, in order of arrival."""
        return list(self._seats.get(seat, {}).values())

    def forget(self, seat: str) -> None:
        """Drop the calls of a seat."""
        for number in self._seats.pop(seat, {}):
            self._seat_of.pop(number, None)

    @property
    def held(self) -> int:
        """Calls in memory."""
        return len(self._seat_of)
