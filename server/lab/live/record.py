"""What is on record, as the live view shows it: runs, calls, seats and standings as rows.

Reads with `store.reader` and adds who may see what. Score cards are parsed once and their numbers kept.
"""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from m3bench.proxy.logs import seat_name
from m3bench.proxy.names import meant
from m3bench.server.lab.live.rows import (
    SEALED,
    LiveCall,
    LiveRun,
    LiveSeat,
    Standing,
    argument_text,
    call_name,
    name_text,
    took,
)
from m3bench.server.scorecard.migration import read_card
from m3bench.server.scorecard.pages.plain import cut
from m3bench.server.scoring.aggregate import Row, overall
from m3bench.server.store.factory import open_reader
from m3bench.server.store.location import RecordLocation
from m3bench.server.store.reader import CallRow, RunRow

RUNS, CALLS = 60, 100
"""How many are shown, the newest."""

VOID = 200
"""Characters of why a run is void."""

Visible = Callable[[str], bool]
"""Whether scores of runs in a mode may be seen."""


@dataclass(frozen=True, kw_only=True)
class CardNumbers:
    """What is kept of a score card."""

    row: Row
    paper: Row
    """For the paper's metric."""
    success: bool | None
    void: str
    """Why the run is void; empty when it is not."""


class LiveRecord:
    """A record; empty until there is one.

    Args:
        place: Where it is.
        visible: Whether scores and arguments of runs in a mode may be seen.
    """

    def __init__(self, place: RecordLocation, visible: Visible) -> None:
        self.visible = visible
        self._reader = open_reader(place)
        self._cards: dict[str, CardNumbers] = {}

    def close(self) -> None:
        """Close it."""
        self._reader.close()

    def changed(self) -> bool:
        """Whether anything was written since the last time this was called."""
        return self._reader.changed()

    def wait(self, seconds: float) -> None:
        """Wait until something may have been written, for at most this long."""
        self._reader.wait(seconds)

    def runs(self, only: Sequence[str] | None = None) -> list[LiveRun]:
        """Runs as rows, newest first: those named, or the newest and all under way."""
        found = self._reader.newest_runs(RUNS) if only is None else self._reader.runs(only)
        counts = self._reader.counts([run.id for run in found])
        return [self._run(run, *counts.get(run.id, (0, 0))) for run in found]

    def queue(self) -> dict[str, int] | None:
        """How many samples for workers are in each state; None where there is no queue."""
        return self._reader.queue()

    def states(self) -> dict[str, int]:
        """How many runs are in each state."""
        return self._reader.states()

    def calls(self, runs: Sequence[str]) -> list[LiveCall]:
        """The newest calls of these runs and those without a run, oldest first."""
        modes = self._reader.modes(runs)
        return [self._call(call, modes.get(call.run or "")) for call in self._reader.calls(runs, CALLS)]

    def under_way(self) -> dict[int, int]:
        """When the calls that have no answer yet were received, by number."""
        return self._reader.under_way()

    def seats(self) -> list[LiveSeat]:
        """The seats of processes that live, which have a run under way or were the last to have one."""
        found = self._reader.seats()
        newest = {seat.owner: seat for seat in reversed(found)}
        return [
            LiveSeat(seat=seat_name(seat.id), profile=seat.profile, run=seat.run, client="")
            for seat in found
            if seat.run is not None or newest[seat.owner] is seat
        ]

    def standings(self) -> list[Standing]:
        """One line for each combination of client, profile and set of tasks."""
        groups: dict[tuple[str, str, str, str], list[CardNumbers | None]] = {}
        for run in self._reader.submitted_runs():
            key = (name_text(run.client or ""), run.profile or "", run.set_name or "", run.set_hash or "")
            groups.setdefault(key, []).append(self._numbers(run.id) if self.visible(run.mode) else None)
        lines = [_line(key, numbers) for key, numbers in groups.items()]
        return sorted(lines, key=lambda line: (-(line.average or 0.0), -line.runs, line.client, line.profile))

    def _run(self, run: RunRow, calls: int, failed: int) -> LiveRun:
        open_to_see = run.state in SEALED and self.visible(run.mode)
        numbers = self._numbers(run.id) if open_to_see else None
        counted = numbers if numbers is not None and not numbers.void else None
        return LiveRun(
            run=run.id,
            seat=seat_name(run.seat),
            client=name_text(run.client or ""),
            task=name_text(run.task),
            state="void" if numbers is not None and numbers.void else run.state,
            mode=run.mode,
            profile=run.profile,
            started=run.started,
            ended=run.ended,
            calls=calls,
            failed=failed,
            average=counted.row.metrics.get("average") if counted is not None else None,
            paper=counted.paper.metrics.get("average") if counted is not None else None,
            success=counted.success if counted is not None else None,
            void=cut(numbers.void, VOID) if numbers is not None else "",
            hidden=run.state in SEALED and not open_to_see,
        )

    def _call(self, call: CallRow, mode: str | None) -> LiveCall:
        return LiveCall(
            call=call_name(call.id),
            run=call.run,
            seat=seat_name(call.seat),
            client=name_text(call.client),
            tool=name_text(call.tool),
            arguments=argument_text(self._arguments(call)) if self.visible(mode or "practice") else None,
            wall=call.wall,
            outcome=call.outcome,
            owner=call.owner,
            took_ns=took(call.received_ns, call.returned_ns),
        )

    def _arguments(self, call: CallRow) -> object:
        try:
            return meant(call.tool, json.loads(self._reader.request(call))["params"])
        except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
            return None

    def _numbers(self, run: str) -> CardNumbers | None:
        if run not in self._cards:
            found = self._reader.scorecard(run)
            if found is None:
                return None
            card = read_card(found)
            self._cards[run] = CardNumbers(
                row=card.row, paper=card.paper_row, success=card.success, void=card.void_reason
            )
        return self._cards[run]


def _line(key: tuple[str, str, str, str], cards: Sequence[CardNumbers | None]) -> Standing:
    scored = [card for card in cards if card is not None and not card.void]
    checked = [card.success for card in scored if card.success is not None]
    return Standing(
        client=key[0],
        profile=key[1],
        set=key[2],
        runs=len(cards),
        scored=len(scored),
        void=sum(bool(card and card.void) for card in cards),
        average=overall([card.row for card in scored])["average"] if scored else None,
        paper=overall([card.paper for card in scored])["average"] if scored else None,
        solved=sum(checked),
        checked=len(checked),
    )
