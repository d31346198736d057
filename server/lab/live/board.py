"""The live view as a program holds it: a state, and the news that are put into it as the page does."""

from collections.abc import Mapping, Sequence
from typing import Any

from m3bench.server.lab.live.record import CALLS
from m3bench.server.store.records import OWN_TOOLS

Row = dict[str, Any]


class Board:
    """What is known of a server; empty before the first state."""

    def __init__(self) -> None:
        self.seats: list[Row] = []
        self.runs: dict[str, Row] = {}
        self.calls: dict[str, Row] = {}
        self.standings: list[Row] = []
        self.mode = "practice"
        self.details = True

    def copy(self) -> "Board":
        """The board as it is now; rows are never changed, but replaced."""
        made = Board()
        made.__dict__.update({name: value.copy() if isinstance(value, dict | list) else value
                              for name, value in vars(self).items()})  # fmt: skip
        return made

    def adopt(self, state: Mapping[str, Any]) -> None:
        """Take over a whole state."""
        self.seats, self.standings = list(state["seats"]), list(state["standings"])
        self.runs = {run["run"]: run for run in state["runs"]}
        self.calls = {call["call"]: call for call in state["calls"]}
        self.mode, self.details = state["mode"], state["details"]

    def apply(self, news: Sequence[Mapping[str, Any]]) -> None:
        """Put news in."""
        for one in news:
            match one["type"]:
                case "call":
                    self._call(one)
                case "run":
                    had = self.runs.get(one["run"]) if one["state"] == "working" else None
                    counted = {"calls": had["calls"], "failed": had["failed"]} if had is not None else {}
                    self.runs[one["run"]] = {**one, **counted}
                case "standings":
                    self.standings = list(one["standings"])
                case "seats":
                    known = {seat["seat"]: seat["client"] for seat in self.seats}
                    self.seats = [
                        {**seat, "client": seat["client"] or known.get(seat["seat"], "")} for seat in one["seats"]
                    ]
        for name in list(self.calls)[: max(0, len(self.calls) - CALLS)]:
            del self.calls[name]

    def _call(self, news: Mapping[str, Any]) -> None:
        before = self.calls.get(news["call"])
        if before is None and not news["new"]:
            return
        call = {**(before or {}), **news}
        self.calls[news["call"]] = call
        run = self.runs.get(call["run"] or "")
        if run is not None and run["state"] == "working" and call["tool"] not in OWN_TOOLS:
            failed = call["outcome"] not in (None, "success") and (before is None or before["outcome"] is None)
            counts = {"calls": run["calls"] + (before is None), "failed": run["failed"] + failed}
            self.runs[run["run"]] = {**run, **counts, "client": run["client"] or call["client"]}
        if call["client"]:
            named = {"client": call["client"]}
            self.seats = [{**seat, **named} if seat["seat"] == call["seat"] else seat for seat in self.seats]
