"""The live view in a terminal, and as plain lines where there is none."""

from collections.abc import Iterator
from datetime import datetime
from threading import Lock
from typing import Literal

from rich.console import Console, ConsoleOptions, Group, RenderableType, RenderResult
from rich.table import Table
from rich.text import Text

from m3bench.server.lab.live.rows import LiveCall, LiveRun, LiveSeat, Standing
from m3bench.server.lab.live.view import LiveView
from m3bench.server.scoring.words import printable

_TONES = {"success": "green", "not_found": "yellow", None: "dim"}
_PAPER = "paper's metric"
_NUMBERS = {_PAPER, "calls", "failed", "time", "took", "average", "runs", "solved"}
_FRAME = 12
"""Lines that headings, blank lines and the foot take."""


class Screen:
    """Draws the live view, as high and wide as the terminal is now.

    Args:
        view: What is known.
        where: What is watched, in words.
        drawing: Held while the view is looked at, which another thread fills.
    """

    def __init__(self, view: LiveView, where: str, drawing: Lock) -> None:
        self._view = view
        self._drawing = drawing
        self._where = where
        self.lost = False
        """Whether the connection is lost."""

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """The tables, as Rich asks for them."""
        with self._drawing:
            yield self._tables(options.height or console.height)

    def _tables(self, height: int) -> RenderableType:
        """The calls get the room that the others leave."""
        room = max(6, height - _FRAME)
        seats = sorted(self._view.seats, key=lambda seat: seat.run is None)[: max(2, room // 4)]
        runs = _finished(self._view)[: max(2, room // 4)]
        standings = self._view.standings[: max(1, room // 8)]
        calls = list(self._view.calls.values())[::-1][: max(2, room - len(seats) - len(runs) - len(standings))]
        state = Text("connection lost, trying again", "red") if self.lost else Text("watching", "green")
        return Group(
            Text.assemble(("m3bench live ", "bold"), printable(self._where), "  ", state, no_wrap=True),
            *_seats(seats, self._view),
            *_calls(calls, self._view),
            *_runs(runs),
            *_standings(standings),
            Text("\nCtrl-C ends this view and nothing else.", "dim"),
        )


def lines(before: LiveView, after: LiveView) -> Iterator[str]:
    """What happened between two moments, a line each."""
    for name, call in after.calls.items():
        if name not in before.calls or before.calls[name].outcome != call.outcome:
            took = "" if call.took_ns is None else f"  {call.took_ns / 1e6:.1f} ms"
            tail = f"  {call.arguments}" if call.arguments and call.outcome is None else ""
            outcome = _words(call.outcome or "called")
            yield printable(f"{_clock(call.wall)}  {call.seat}  {outcome:18} {call.tool}{took}{tail}")
    for name, run in reversed(after.runs.items()):
        if name not in before.runs or before.runs[name].state != run.state:
            score = "" if run.average is None else f"  average {run.average:.3f}, {_solved(run.success)}"
            score = f"  {run.void}" if run.void else score
            moment = run.started if run.state == "working" else run.ended or run.started
            told = "started" if run.state == "working" else run.state
            yield printable(f"{_clock(moment)}  {run.seat}  {told:18} {run.task}  run {run.run[:12]}{score}")


def _table(*columns: tuple[str, int | None]) -> Table:
    """A table as wide as the terminal; numbers are on the right, and names share what room is left."""
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), expand=True, header_style="bold cyan")
    for heading, ratio in columns:
        side: Literal["left", "right"] = "right" if heading in _NUMBERS else "left"
        table.add_column(heading, ratio=ratio, justify=side, no_wrap=True, overflow="ellipsis")
    return table


def _seats(seats: list[LiveSeat], view: LiveView) -> list[RenderableType]:
    if not seats:
        return [Text("\nNobody is connected yet.", "dim")]
    table = _table(("seat", None), ("client", 3), ("profile", 2), ("task", 3), ("calls", None), ("failed", None),
                   ("time", None))  # fmt: skip
    for seat in seats:
        run = view.runs.get(seat.run or "")
        table.add_row(
            seat.seat, _said(seat.client), _said(seat.profile), Text(printable(run.task if run else "–"), "bold"),
            str(run.calls) if run else "", str(run.failed or "") if run else "",
            _lasted(run.started, None) if run else "",
        )  # fmt: skip
    return [Text(), table]


def _calls(calls: list[LiveCall], view: LiveView) -> list[RenderableType]:
    if not calls:
        return [Text("\nNo call was made yet.", "dim")]
    table = _table(("at", None), ("call", 3), ("arguments", 5), ("outcome", None), ("took", None), ("task", 2))
    for call in calls:
        run = view.runs.get(call.run or "")
        table.add_row(
            _clock(call.wall), Text(printable(call.tool), "bold"), _said(call.arguments or ""),
            Text(_words(call.outcome or "under way"), _TONES.get(call.outcome, "red")),
            "" if call.took_ns is None else f"{call.took_ns / 1e6:.1f} ms", _said(run.task if run else "–"),
        )  # fmt: skip
    return [Text(), table]


def _runs(runs: list[LiveRun]) -> list[RenderableType]:
    if not runs:
        return []
    table = _table(("finished run", None), ("task", 3), ("client", 3), ("state", None), ("average", None), ("", None),
                   ("calls", None), ("time", None))  # fmt: skip
    for run in runs:
        table.add_row(
            run.run[:12], Text(printable(run.task), "bold"), _said(run.client), run.state,
            "" if run.average is None else f"{run.average:.3f}",
            Text(_solved(run.success), "green" if run.success else "red"), str(run.calls),
            _lasted(run.started, run.ended) if run.ended else "",
        )  # fmt: skip
    return [Text(), table]


def _standings(standings: list[Standing]) -> list[RenderableType]:
    if not standings:
        return []
    table = _table(("client", 3), ("profile", 2), ("tasks", 2), ("runs", None), ("average", None), ("solved", None),
                   (_PAPER, None))  # fmt: skip
    for line in standings:
        table.add_row(
            _said(line.client), _said(line.profile), _said(line.set), str(line.runs),
            "–" if line.average is None else f"{line.average:.3f}",
            f"{line.solved} of {line.checked}" if line.checked else "–",
            "–" if line.paper is None else f"{line.paper:.3f}",
        )  # fmt: skip
    return [Text(), table]


def _finished(view: LiveView) -> list[LiveRun]:
    ended = [run for run in view.runs.values() if run.state != "working"]
    return sorted(ended, key=lambda run: run.started, reverse=True)


def _said(text: str) -> Text:
    return Text(printable(text))


def _words(name: str) -> str:
    return name.replace("_", " ")


def _solved(success: bool | None) -> str:
    return "" if success is None else "solved" if success else "not solved"


def _clock(wall: str) -> str:
    return datetime.fromisoformat(wall).astimezone().strftime("%H:%M:%S")


def _lasted(start: str, end: str | None) -> str:
    until = datetime.fromisoformat(end) if end else datetime.now().astimezone()
    seconds = max(0, int((until - datetime.fromisoformat(start)).total_seconds()))
    return f"{seconds} s" if seconds < 60 else f"{seconds // 60}:{seconds % 60:02d} min"
