"""From recorded calls to steps: which calls were issued before any of their results was seen?

The wire does not say. Two things prove it, and everything else leaves a boundary open:

    overlap    the call arrived before an earlier answer had left: one step, with all calls between them
    dataflow   its arguments carry what an earlier answer was first to say: a boundary somewhere between the two

Two more may close a boundary that these leave open, never against them:

    client     the client was measured to send such calls together, and these two came one after the other
    hint       the client says so in `_meta`, and neither the times nor the data flow speak against it

Time alone never closes one. The steps that are scored read every open boundary in the same way, whatever the tools,
the gap or the reference are: a call that arrived after all answers had left begins a step. Only a client that was
measured to send calls in a row is read the other way, where the call came too fast for a model. Pure, and re-runnable
over old logs; every decision carries its evidence, and what contradicts it is said.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import pairwise
from typing import Literal

from m3bench.proxy.steps.dataflow import Flow
from m3bench.proxy.steps.hints import claim, conversation
from m3bench.tasks.readings import Conversation, Readings, Steps

VERSION = 2

MODEL_NS = 300_000_000
"""A model needs longer than this between two calls; what comes sooner, the client did by itself."""

TOGETHER_NS = 1_000_000_000
"""Calls that are sent together arrive within this time, however fast they are answered."""

BACKGROUND_NS = 120_000_000_000
"""A call this old may have been put in the background: a later call says nothing about it by overlapping."""

Sending = Literal["together", "in a row"]
"""How a client sends the calls of one turn."""

Evidence = Literal["first", "overlap", "dataflow", "client", "hint", "arrival"]


@dataclass(frozen=True, kw_only=True)
class ClientSending:
    """How a client sends the calls of one turn, from a probe of that very client.

    Many clients send calls of read-only tools together and others one by one. What was not measured is None, and says
    nothing.
    """

    read_only: Sending | None = None
    others: Sending | None = None

    def of(self, read_only: bool) -> Sending | None:
        """How calls to tools of one kind are sent."""
        return self.read_only if read_only else self.others


@dataclass(frozen=True, kw_only=True)
class Timed:
    """A call as segmentation sees it."""

    tool: str
    arguments: Mapping[str, object]
    text: str
    """The text of its result."""
    received_ns: int
    sent_ns: int
    meta: Mapping[str, object]
    read_only: bool = False


@dataclass(frozen=True, kw_only=True)
class StepDecision:
    """Whether a call begins a step, and why."""

    begins: bool
    evidence: Evidence
    open: bool = False
    """Whether the record would bear the other reading as well."""
    contradiction: str = ""
    """What spoke against the decision and was not followed."""


@dataclass(frozen=True, kw_only=True)
class Segmentation:
    """Calls put into steps."""

    readings: Readings
    """All the ways that the record bears."""
    begins: tuple[tuple[int, ...], ...]
    """Where steps begin in the reading that is scored, as places in each conversation."""
    decisions: tuple[StepDecision, ...]
    """One per call, in order of arrival."""

    @cached_property
    def steps(self) -> Steps:
        """The reading that is scored: indices of calls, steps in order of their first call."""
        return self.readings.steps(self.begins)

    @property
    def evidence(self) -> tuple[Evidence, ...]:
        """Why each step begins."""
        return tuple(self.decisions[step[0]].evidence for step in self.steps)


def segment(calls: Sequence[Timed], known: str = "", sending: ClientSending | None = None) -> Segmentation:
    """Put calls into steps. No calls make no steps.

    Args:
        calls: In order of arrival.
        known: What the client knew from the start, such as the question: a value in it came from no result.
        sending: How this client was measured to send the calls of one turn.
    """
    chats: dict[tuple[object, ...], list[int]] = {}
    for index, call in enumerate(calls):
        chats.setdefault(conversation(call.meta), []).append(index)
    decisions: dict[int, StepDecision] = {}
    conversations, begins = [], []
    for chat in chats.values():
        marks = _Marks([calls[index] for index in chat], known, sending or ClientSending())
        conversations.append(replace(marks.conversation, calls=tuple(chat)))
        begins.append(marks.begins)
        decisions |= dict(zip(chat, marks.decisions(), strict=True))
    return Segmentation(
        readings=Readings(conversations=tuple(conversations)),
        begins=tuple(begins),
        decisions=tuple(decisions[index] for index in range(len(calls))),
    )


@dataclass
class _Marks:
    """What is found out about the calls of one conversation, place by place."""

    calls: Sequence[Timed]
    known: str
    sending: ClientSending
    conversation: Conversation = field(init=False)
    begins: tuple[int, ...] = field(init=False)

    def __post_init__(self) -> None:
        self._closed: dict[int, Evidence] = {}
        self._contradictions: dict[int, str] = {}
        self._joined = list(_overlaps(self.calls))
        self._claims = [None, *(_claim(*pair) for pair in pairwise(self.calls))]
        self._floor = self._floors()
        self.conversation = self._drawn()
        self._join_claimed()
        wanted = [place for place in self.conversation.open if not self._in_a_row(place)]
        self.begins = self.conversation.reading(wanted)

    def decisions(self) -> Iterator[StepDecision]:
        """One for each call."""
        begins, open_ = frozenset(self.begins), frozenset(self.conversation.open)
        for place in range(len(self.calls)):
            yield StepDecision(
                begins=place in begins,
                evidence=self._evidence(place, place in begins, place in open_),
                open=place in open_,
                contradiction=self._contradictions.get(place, ""),
            )

    def _evidence(self, place: int, begins: bool, is_open: bool) -> Evidence:
        if place == 0:
            return "first"
        if place in self._closed:
            return self._closed[place]
        if self._joined[place]:
            return "overlap"
        if is_open:
            return "arrival" if begins else "client"
        return "dataflow"

    def _drawn(self) -> Conversation:
        places = tuple(range(len(self.calls)))
        return Conversation(calls=places, joined=tuple(self._joined), floor=tuple(self._floor))

    def _floors(self) -> list[int]:
        """From which place on the step of each call may begin, by data flow, sending and claims of a new step."""
        floors: list[int] = []
        floor = latest = 0
        for place, source in enumerate(_sources(self.calls, self.known)):
            if not self._joined[place]:
                latest = place
            if source is not None and source >= latest:
                self._contradictions[place] = "uses a value from an answer of its own step"
            elif source is not None:
                floor = max(floor, source + 1)
            if place and self._joined[place]:
                if self._claims[place] == "new":
                    self._contradictions[place] = "the client says a new step, but an earlier answer was still to come"
            elif place and (self._not_together(place) or self._claims[place] == "new"):
                self._closed[place] = "hint" if self._claims[place] == "new" else "client"
                floor = place
            floors.append(floor)
        return floors

    def _join_claimed(self) -> None:
        """Join what the client says is one step, where it is known to send such calls one after the other."""
        for place, said in enumerate(self._claims):
            if said != "same" or self._joined[place]:
                continue
            if place in self.conversation.forced:
                self._contradictions[place] = "the client says the same step, but the call uses an earlier answer"
            elif "in a row" not in self._sending_at(place):
                self._contradictions[place] = "the client says the same step, but all answers had left"
            else:
                self._closed[place] = "hint"
                self._joined[place] = True
                self.conversation = self._drawn()

    def _sending_at(self, place: int) -> tuple[str | None, str | None]:
        before, call = self.calls[place - 1], self.calls[place]
        return self.sending.of(before.read_only), self.sending.of(call.read_only)

    def _not_together(self, place: int) -> bool:
        """Whether a client that sends two such calls together sent these apart.

        A step before it that already holds several calls says nothing: clients bound how many they send at a time.
        """
        before, call = self.calls[place - 1], self.calls[place]
        apart = call.received_ns - before.received_ns > TOGETHER_NS
        return apart and not self._joined[place - 1] and self._sending_at(place) == ("together", "together")

    def _in_a_row(self, place: int) -> bool:
        """Whether this client sends such calls one after the other, and sent these faster than a model thinks."""
        call = self.calls[place]
        left = [earlier.sent_ns for earlier in self.calls[:place] if earlier.sent_ns <= call.received_ns]
        return "in a row" in self._sending_at(place) and call.received_ns - max(left, default=0) < MODEL_NS


def _claim(before: Timed, call: Timed) -> Literal["same", "new"] | None:
    return claim(call.meta, call.arguments, before.meta)


def _overlaps(calls: Sequence[Timed]) -> Iterator[bool]:
    """For each call, whether an answer to an earlier one was still to come when it arrived."""
    waiting: list[Timed] = []
    for call in calls:
        waiting = [earlier for earlier in waiting if earlier.sent_ns > call.received_ns]
        yield any(call.received_ns - earlier.received_ns < BACKGROUND_NS for earlier in waiting)
        waiting.append(call)


def _sources(calls: Sequence[Timed], known: str) -> Iterator[int | None]:
    """For each call, the latest one whose answer it must have seen."""
    flow = Flow(known)
    unanswered: list[int] = []
    for place, call in enumerate(calls):
        left = sorted(
            (earlier for earlier in unanswered if calls[earlier].sent_ns <= call.received_ns),
            key=lambda earlier: (calls[earlier].sent_ns, earlier),
        )
        for earlier in left:
            flow.answer(earlier, calls[earlier].text)
            unanswered.remove(earlier)
        yield flow.source(call.arguments)
        flow.ask(call.arguments)
        unanswered.append(place)
