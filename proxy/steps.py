"""From recorded calls to steps: which calls were issued before any of their results was seen?

The wire does not say, so each call is compared with the step before it, by four rules in order:

    hint       the client says so: a step id in `_meta`, a conversation or turn id, `wait_for_previous`
    overlap    the call arrived before an answer of that step was sent, so it cannot depend on it
    dataflow   its arguments carry a value that first appeared in an answer of that step
    gap        a client that serialises its parallel calls sends the next one at once; a model takes longer

Pure, and re-runnable over old logs. Every decision carries its evidence. Where only the gap speaks, and the
log never shows how fast this client sends calls of one turn, both readings are possible: such a decision is
open, and a score is given with the range over all of them.
"""

import itertools
import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from m3bench.proxy.dataflow import Ledger

VERSION = 1

HINT = "m3bench/step"
"""Key in a request's `_meta` with which a client names the step a call belongs to."""

CONVERSATION = (
    "vscode.conversationId",
    "threadId",
    "agent-session-id",
    "ai.opencode/sessionID",
    "antigravity.google/conversation_id",
)
"""Keys of `_meta` that tell one chat from another: calls of two chats are never in one step."""

TURN = ("vscode.requestId",)
"""Keys of `_meta` that change with every turn of the person: a step never crosses it."""

WAIT = "wait_for_previous"
"""Gemini CLI's argument: true says that a call of the same turn must wait for the one before it."""

GAP_NS = 200_000_000
"""Where nothing else is known, calls closer than this belong together."""
BATCH_NS = 80_000_000
"""No model takes a turn this fast, so a gap this small shows a client that serialises."""
STANDS_APART = 3.0
"""Two groups of gaps are told apart when the larger ones are this many times the smaller ones."""
BACKGROUND_NS = 120_000_000_000
"""A call this old may have been put in the background: a later call says nothing about it by overlapping."""

MAX_READINGS = 1024

Evidence = Literal["first", "hint", "overlap", "dataflow", "gap"]


@dataclass(frozen=True, kw_only=True)
class Timed:
    """A call as segmentation sees it."""

    tool: str
    arguments: Mapping[str, Any]
    text: str
    """The text of its result."""
    received_ns: int
    sent_ns: int
    meta: Mapping[str, Any]


@dataclass(frozen=True, kw_only=True)
class Decision:
    """Whether a call begins a step, and why."""

    begins: bool
    evidence: Evidence
    open: bool = False
    """Whether the log would bear the other reading as well."""


@dataclass(frozen=True, kw_only=True)
class Segmentation:
    """Calls put into steps."""

    chats: tuple[tuple[int, ...], ...]
    """Indices of the calls by conversation; nearly always there is one."""
    decisions: tuple[Decision, ...]
    """One per call, in order of arrival."""

    @property
    def steps(self) -> tuple[tuple[int, ...], ...]:
        """The most likely reading: indices of calls, steps in order of their first call."""
        return self._steps([decision.begins for decision in self.decisions])

    @property
    def evidence(self) -> tuple[Evidence, ...]:
        """Why each step begins."""
        return tuple(self.decisions[step[0]].evidence for step in self.steps)

    def readings(self) -> Iterator[tuple[tuple[int, ...], ...]]:
        """Every reading the log bears, the most likely first; a seeded sample when there are very many."""
        likely = [decision.begins for decision in self.decisions]
        yield self._steps(likely)
        undecided = [index for index, decision in enumerate(self.decisions) if decision.open]
        if 2 ** len(undecided) <= MAX_READINGS:
            choices: Iterator[tuple[bool, ...]] = itertools.product((True, False), repeat=len(undecided))
        else:
            choices = _sample(len(undecided))
        for choice in choices:
            begins = list(likely)
            for index, value in zip(undecided, choice, strict=True):
                begins[index] = value
            if begins != likely:
                yield self._steps(begins)

    def _steps(self, begins: Sequence[bool]) -> tuple[tuple[int, ...], ...]:
        steps: list[list[int]] = []
        for chat in self.chats:
            for place, index in enumerate(chat):
                if place == 0 or begins[index]:
                    steps.append([])
                steps[-1].append(index)
        return tuple(sorted(map(tuple, steps)))


def segment(calls: Sequence[Timed], known: str = "") -> Segmentation:
    """Put calls into steps. No calls make no steps.

    Args:
        calls: In order of arrival.
        known: What the client knew from the start, such as the question: a value in it came from no result.
    """
    chats: dict[tuple[object, ...], list[int]] = {}
    for index, call in enumerate(calls):
        chats.setdefault(tuple(call.meta.get(key) for key in CONVERSATION), []).append(index)
    decisions: dict[int, Decision] = {}
    for chat in chats.values():
        decisions |= dict(zip(chat, _decide([calls[index] for index in chat], known), strict=True))
    return Segmentation(
        chats=tuple(map(tuple, chats.values())), decisions=tuple(decisions[index] for index in range(len(calls)))
    )


def _decide(calls: Sequence[Timed], known: str) -> Iterator[Decision]:
    """A decision for each call of one conversation."""
    limit, sure = _limit(calls)
    ledger = Ledger(known)
    step: list[Timed] = []
    for call in calls:
        decision = _compare(call, step, ledger, limit, sure) if step else Decision(begins=True, evidence="first")
        yield decision
        if decision.begins:
            ledger.close_step()
            step = []
        step.append(call)
        ledger.add(call.arguments, call.text)


def _compare(call: Timed, step: Sequence[Timed], ledger: Ledger, limit: int, sure: bool) -> Decision:
    last = step[-1]
    hinted = _hint(call, last)
    if hinted is not None:
        return Decision(begins=hinted, evidence="hint")
    if any(_overlap(earlier, call) for earlier in step):
        return Decision(begins=False, evidence="overlap")
    if ledger.feeds(call.arguments):
        return Decision(begins=True, evidence="dataflow")
    gap = call.received_ns - max((e.sent_ns for e in step if e.sent_ns <= call.received_ns), default=last.received_ns)
    return Decision(begins=gap > limit, evidence="gap", open=not sure)


def _hint(call: Timed, last: Timed) -> bool | None:
    """Whether the client says that a step begins; None when it says nothing."""
    if HINT in call.meta and HINT in last.meta:
        return bool(call.meta[HINT] != last.meta[HINT])
    if any(call.meta.get(key) != last.meta.get(key) for key in TURN):
        return True
    return False if call.arguments.get(WAIT) is True else None


def _overlap(earlier: Timed, call: Timed) -> bool:
    return earlier.sent_ns > call.received_ns and call.received_ns - earlier.received_ns < BACKGROUND_NS


def _limit(calls: Sequence[Timed]) -> tuple[int, bool]:
    """From which gap on a step begins, and whether this log shows it.

    It does when calls overlap, because a client that sends calls together does so always, or when some gaps
    are too small for any model and the others stand apart from them.
    """
    gaps: list[int] = []
    latest, overlapping = calls[0].sent_ns, False
    for call in calls[1:]:
        if call.received_ns < latest:
            overlapping = True
        else:
            gaps.append(call.received_ns - latest)
        latest = max(latest, call.sent_ns)
    small = [gap for gap in gaps if gap <= BATCH_NS]
    large = [gap for gap in gaps if gap > BATCH_NS]
    if small and large and min(large) >= STANDS_APART * max(small):
        return (max(small) + min(large)) // 2, True
    return GAP_NS, overlapping or bool(small and not large)


def _sample(count: int) -> Iterator[tuple[bool, ...]]:
    yield (True,) * count
    yield (False,) * count
    choose = random.Random(count)
    for _ in range(MAX_READINGS - 2):
        yield tuple(choose.random() < 0.5 for _ in range(count))
