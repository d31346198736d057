"""What is told of seats, runs, calls and standings: small rows, bounded, and without what only some may see.

A seat is named by a hash, because the handle itself would let others sit down on it. Numbers of a score are in a row
only when the run is sealed and the watcher may see them. A state holds all rows; news are what changed since.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal

from m3bench.proxy.logs import seat_name
from m3bench.proxy.protocol.tool_calls import ToolAnswer, ToolRequest
from m3bench.server.lab.results.documents import JsonDocument
from m3bench.server.scorecard.pages.plain import cut, shown
from m3bench.tasks.json_types import JsonObject

SCHEMA = 1

NAME, ARGUMENTS = 120, 240
"""Characters of a name and of arguments in a row."""

SEALED = ("submitted", "scored")


@dataclass(frozen=True, kw_only=True)
class LiveSeat(JsonDocument):
    """A seat that is open."""

    seat: str
    profile: str
    run: str | None
    """The run under way on it."""
    client: str
    """The client's name from its last call; empty when there was none."""


@dataclass(frozen=True, kw_only=True)
class LiveRun(JsonDocument):
    """A run; its numbers are None where they are not to be seen."""

    run: str
    seat: str
    client: str
    task: str
    state: str
    mode: str
    profile: str | None
    started: str
    ended: str | None
    calls: int
    failed: int
    average: float | None
    paper: float | None = None
    """The average of the paper's metric."""
    success: bool | None
    void: str
    """Why it is void; empty when it is not."""
    hidden: bool
    """Whether there are numbers that the watcher may not see."""


@dataclass(frozen=True, kw_only=True)
class LiveCall(JsonDocument):
    """A call, under way or answered."""

    call: str
    run: str | None
    seat: str
    client: str
    tool: str
    arguments: str | None
    """On one line; None where they are not to be seen."""
    wall: str
    outcome: str | None
    owner: str | None
    took_ns: int | None


@dataclass(frozen=True, kw_only=True)
class LiveAnswer(JsonDocument):
    """What a call came to."""

    call: str
    outcome: str | None
    owner: str | None
    took_ns: int | None


@dataclass(frozen=True, kw_only=True)
class Standing(JsonDocument):
    """The scored runs of a client with one profile and one set of tasks."""

    client: str
    profile: str
    set: str
    runs: int
    scored: int
    void: int
    average: float | None
    paper: float | None = None
    """The average of the paper's metric."""
    solved: int
    checked: int


@dataclass(frozen=True, kw_only=True)
class LiveState(JsonDocument):
    """Everything the live view shows."""

    left_out: ClassVar[frozenset[str]] = frozenset({"legend", "links"})

    schema: int = SCHEMA
    kind: Literal["live"] = "live"
    version: str
    at: str
    mode: str
    details: bool
    """Whether arguments may be seen."""
    seats: tuple[LiveSeat, ...]
    runs: tuple[LiveRun, ...]
    calls: tuple[LiveCall, ...]
    standings: tuple[Standing, ...]
    legend: Sequence[Mapping[str, object]] | None = None
    links: JsonDocument | None = None
    """To other pages, on the page of a state."""


@dataclass(frozen=True, kw_only=True)
class CallNews:
    """A call arrived, or an earlier one was answered."""

    row: LiveCall | LiveAnswer

    def to_json(self) -> JsonObject:
        """The row's entries, and what it is."""
        return {"type": "call", "new": isinstance(self.row, LiveCall), **self.row.to_json()}


@dataclass(frozen=True, kw_only=True)
class RunNews:
    """A run began or came further."""

    row: LiveRun

    def to_json(self) -> JsonObject:
        """The row's entries, and what it is."""
        return {"type": "run", **self.row.to_json()}


@dataclass(frozen=True, kw_only=True)
class StandingsNews(JsonDocument):
    """The standings may have changed."""

    type: Literal["standings"] = "standings"
    standings: tuple[Standing, ...]


@dataclass(frozen=True, kw_only=True)
class SeatsNews(JsonDocument):
    """A seat was opened or closed, or has another run."""

    type: Literal["seats"] = "seats"
    seats: tuple[LiveSeat, ...]


LiveNews = CallNews | RunNews | StandingsNews | SeatsNews


def call_name(call: int) -> str:
    """A call's number as text: it is too large for a number in JavaScript."""
    return f"{call:x}"


def argument_text(arguments: object) -> str:
    """Arguments on one line, bounded before they are written out."""
    if not isinstance(arguments, Mapping) or not arguments:
        return ""
    bounded: JsonObject = shown(arguments, text=NAME, items=12, depth=3)
    parts = (
        f"{name} {value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)}"
        for name, value in bounded.items()
    )
    text = " · ".join(parts).encode(errors="replace").decode()
    return text if len(text) <= ARGUMENTS else text[:ARGUMENTS] + "…"


def name_text(name: str) -> str:
    """A name from outside, bounded and encodable as UTF-8."""
    return cut(name, NAME).encode(errors="replace").decode()


def received_row(call: int, request: ToolRequest, run: str | None, tool: str, *, details: bool) -> LiveCall:
    """A call that has just arrived."""
    return LiveCall(
        call=call_name(call),
        run=run,
        seat=seat_name(request.caller.seat),
        client=name_text(request.caller.client),
        tool=name_text(tool),
        arguments=argument_text(request.arguments) if details else None,
        wall=request.wall,
        outcome=None,
        owner=None,
        took_ns=None,
    )


def answer_row(call: int, answer: ToolAnswer, received_ns: int | None) -> LiveAnswer:
    """What a call came to."""
    return LiveAnswer(
        call=call_name(call),
        outcome=answer.outcome,
        owner=answer.owner,
        took_ns=took(received_ns, answer.returned_ns),
    )


def took(received_ns: int | None, returned_ns: int | None) -> int | None:
    """How long a tool took; None when the call never reached one."""
    return returned_ns - received_ns if received_ns is not None and returned_ns else None
