"""The live view as a program holds it: a state, and the news that are put into it as the page does."""

from collections.abc import Sequence
from dataclasses import replace

from m3bench.server.lab.live.record import CALLS
from m3bench.server.lab.live.rows import (
    CallNews,
    LiveAnswer,
    LiveCall,
    LiveNews,
    LiveRun,
    LiveSeat,
    LiveState,
    RunNews,
    SeatsNews,
    Standing,
    StandingsNews,
)
from m3bench.server.store.records import OWN_TOOLS


class LiveView:
    """What is known of a server; empty before the first state."""

    def __init__(self) -> None:
        self.seats: list[LiveSeat] = []
        self.runs: dict[str, LiveRun] = {}
        self.calls: dict[str, LiveCall] = {}
        self.standings: list[Standing] = []

    def copy(self) -> "LiveView":
        """A copy of the view; rows are never changed, only replaced."""
        made = LiveView()
        made.seats, made.runs = self.seats.copy(), self.runs.copy()
        made.calls, made.standings = self.calls.copy(), self.standings.copy()
        return made

    def adopt(self, state: LiveState) -> None:
        """Replace everything with a state."""
        self.seats, self.standings = list(state.seats), list(state.standings)
        self.runs = {run.run: run for run in state.runs}
        self.calls = {call.call: call for call in state.calls}

    def apply(self, news: Sequence[LiveNews]) -> None:
        """Apply news to the view."""
        for message in news:
            match message:
                case CallNews(row=row):
                    self._put_call(row)
                case RunNews(row=row):
                    known = self.runs.get(row.run) if row.state == "working" else None
                    counted = row if known is None else replace(row, calls=known.calls, failed=known.failed)
                    self.runs[row.run] = counted
                case StandingsNews(standings=standings):
                    self.standings = list(standings)
                case SeatsNews(seats=seats):
                    clients = {seat.seat: seat.client for seat in self.seats}
                    self.seats = [replace(seat, client=seat.client or clients.get(seat.seat, "")) for seat in seats]
        for name in list(self.calls)[: max(0, len(self.calls) - CALLS)]:
            del self.calls[name]

    def _put_call(self, row: LiveCall | LiveAnswer) -> None:
        before = self.calls.get(row.call)
        if isinstance(row, LiveCall):
            call = row
        elif before is not None:
            call = replace(before, outcome=row.outcome, owner=row.owner, took_ns=row.took_ns)
        else:
            return
        self.calls[call.call] = call
        run = self.runs.get(call.run or "")
        if run is not None and run.state == "working" and call.tool not in OWN_TOOLS:
            failed = call.outcome not in (None, "success") and (before is None or before.outcome is None)
            self.runs[run.run] = replace(
                run,
                calls=run.calls + (before is None),
                failed=run.failed + failed,
                client=run.client or call.client,
            )
        if call.client:
            self.seats = [
                replace(seat, client=call.client) if seat.seat == call.seat else seat for seat in self.seats
            ]  # fmt: skip
