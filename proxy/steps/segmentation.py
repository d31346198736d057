"""From recorded calls to steps: which calls were issued before any of their results was seen?

The wire does not say. Two things prove it, and everything else leaves a boundary open:

    overlap    the call arrived before an earlier answer had left: one step, with all calls between them
    dataflow   its arguments carry what an earlier answer was first to say: a boundary somewhere between the two

Two more may close a boundary that these leave open, never against them:

    client     the client is known to send such calls together, and these two came one after the other; or it is known
               to go through them without a pause and to wait for nobody, and made one; or its habits in this
               conversation tell, once data flow has shown how long a turn takes in it
    hint       the client says so in `_meta`, and neither the times nor the data flow speak against it

How a client sends the calls of one turn is known from the conversation itself, from a probe, or from what other
versions of it did: the last holds until the conversation contradicts it. Time alone closes nothing.

The steps that are scored read every open boundary by one rule, whatever the tools and the reference are. A call begins
a step, with one exception: it came sooner after the last answer than any turn of a model does. Of a client that sends
such calls together this is said only of one that did not wait for a long answer, or had sent as many as it ever does.
How soon that is, the turns tell that data flow proves: half of the shortest, and never more than 0.3 s unless calls are
known to leave as their model writes them. A conversation without any pause for a model to think is no model's, and
nothing in it is too soon, unless the client is known to send calls in a row. Pure, and re-runnable over old logs; every
decision carries its evidence, and what contradicts it is said.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import pairwise
from typing import Literal

from m3bench.proxy.steps.dataflow import Flow
from m3bench.proxy.steps.hints import claim, conversation
from m3bench.tasks.readings import Conversation, Readings, Steps

VERSION = 4

MODEL_NS = 300_000_000
"""A model needs longer than this between two calls; what comes sooner, the client did by itself."""

INSTANT_NS = 100_000_000
"""A client whose turns are faster than this is not a model: its times do not show which calls formed a turn."""

THOUGHT_NS = 1_000_000_000
"""A pause this long is a model's."""

TOGETHER_NS = 1_000_000_000
"""Calls that are sent together arrive within this time, however fast they are answered."""

PROMPT_NS = 50_000_000
"""Calls that are sent together follow each other within this time: a client that waits for a longer answer cannot."""

QUICK_NS = 75_000_000
"""A client that goes through the calls of one turn sends the next within this time of an answer."""

PAUSE_NS = 500_000_000
"""A client that has its whole turn, and asks nobody, does not wait so long within it, however it sends calls: on a
machine with five times as much to do as it could, the longest wait was 165 ms."""

JITTER_NS = 5_000_000
"""What a busy machine adds to a wait."""

SHOWN = 2
"""How often calls of a kind must overlap in a conversation before its client is taken to send them together."""

BACKGROUND_NS = 120_000_000_000
"""A call this old may have been put in the background: a later call says nothing about it by overlapping."""

Sending = Literal["together", "in a row"]
"""How a client sends the calls of one turn."""

Evidence = Literal["first", "overlap", "dataflow", "client", "hint", "arrival"]


@dataclass(frozen=True, kw_only=True)
class ClientSending:
    """How a client sends the calls of one turn, from a probe of that very client or of another version of it.

    Many clients send calls of read-only tools together and others one by one. What was not measured is None, and says
    nothing.
    """

    read_only: Sending | None = None
    others: Sending | None = None
    prior: bool = False
    """Whether it was found of another version, or of one whose number never changes: it holds until contradicted."""
    late: bool = True
    """Whether a call may leave long after others of its turn: a person may have to allow it, or a model to write it."""
    as_written: bool = False
    """Whether each call is known to leave as soon as its model has written it."""

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
    """All the readings that the record allows."""
    begins: tuple[tuple[int, ...], ...]
    """Where steps begin in the reading that is scored, as places in each conversation."""
    decisions: tuple[StepDecision, ...]
    """One per call, in order of arrival."""

    @cached_property
    def steps(self) -> Steps:
        """The reading that is scored: indices of calls, steps in order of their first call."""
        return self.readings.steps(self.begins)

    @property
    def joined(self) -> tuple[int, ...]:
        """The steps, from 0, inside which the record would bear that another one begins."""
        return tuple(
            number for number, step in enumerate(self.steps) if any(self.decisions[index].open for index in step[1:])
        )

    @property
    def evidence(self) -> tuple[Evidence, ...]:
        """Why each step begins."""
        return tuple(self.decisions[step[0]].evidence for step in self.steps)


def segment(calls: Sequence[Timed], known: str = "", sending: ClientSending | None = None) -> Segmentation:
    """Put calls into steps. No calls make no steps.

    Args:
        calls: In order of arrival.
        known: What the client knew from the start, such as the question: a value in it came from no result.
        sending: How this client, or another version of it, was measured to send the calls of one turn.
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


def shown(calls: Sequence[Timed]) -> ClientSending:
    """How a client was seen to send calls: together, where those of a kind overlapped often enough."""
    marks = _Marks(calls, "", ClientSending())
    return marks.sending


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
        self._sizes = list(_sizes(self._joined))
        self._claims = [None, *(_claim(*pair) for pair in pairwise(self.calls))]
        self._seen = list(_sources(self.calls, self.known))
        self._waits = list(_waits(self.calls))
        self._overlapping = {kind: self._overlaps_of(kind) for kind in (True, False)}
        self._known = self.sending
        self._asked = list(self._may_be_asked())
        self.sending = replace(
            self.sending, read_only=self._manner(read_only=True), others=self._manner(read_only=False)
        )
        self._floor = self._floors()
        self.conversation = self._drawn()
        self._join_claimed()
        self._follow_habits()
        self._soon = self._too_soon()
        wanted = [place for place in self.conversation.open if not self._continues(place)]
        self.begins = self.conversation.reading(wanted)

    def decisions(self) -> Iterator[StepDecision]:
        """One for each call."""
        begins, open_ = frozenset(self.begins), frozenset(self.conversation.open)
        for place in range(len(self.calls)):
            yield StepDecision(
                begins=place in begins,
                evidence=self._evidence(place, place in begins, place in open_),
                open=place in open_,
                contradiction=self._contradictions.get(place, "") if self._against(place, place in begins) else "",
            )

    def _against(self, place: int, begins: bool) -> bool:
        """Whether what spoke against a decision still does: a claim that the reading bears out does not."""
        return begins or self._claims[place] != "same"

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
        for place, source in enumerate(self._seen):
            if not self._joined[place]:
                latest = place
            if source is not None and source >= latest:
                self._contradictions[place] = "uses a value from an answer of its own step"
            elif source is not None:
                floor = max(floor, source + 1)
            if place and self._joined[place]:
                if self._claims[place] == "new":
                    self._contradictions[place] = "the client says a new step, but an earlier answer was still to come"
            elif place and (self._not_together(place) or self._paused(place) or self._claims[place] == "new"):
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

    def _follow_habits(self) -> None:
        """Close what the habits of this conversation close, once data flow has shown how long its turns take.

        Calls that keep coming many times sooner are the client going through the calls of one turn. Where it does so,
        a call that it left as long as a turn takes begins one.
        """
        turn = min(self._turns(), default=0)
        if turn < MODEL_NS or any(map(self._may_be_approved, self.conversation.open)):
            return
        for place in self._quick(turn):
            self._closed[place] = "client"
            self._joined[place] = True
        self.conversation = self._drawn()
        for place in self.conversation.open:
            if self._waits[place] >= max(MODEL_NS, turn // 2) and self._would_go_on(place):
                self._closed[place] = "client"
                self._floor[place:] = [max(floor, place) for floor in self._floor[place:]]
        self.conversation = self._drawn()

    def _may_be_approved(self, place: int) -> bool:
        """Whether a call may have waited for a person: the one before it was to the same tool, and nothing was used."""
        return self.calls[place].tool == self.calls[place - 1].tool and self._waits[place] >= MODEL_NS

    def _quick(self, turn: int) -> list[int]:
        """The open places of calls that came too soon for a turn and as soon as others did, where that is a habit."""
        soon = min(QUICK_NS, turn // 4)
        found = [
            place
            for place in self.conversation.open
            if self._waits[place] <= soon and self._claims[place] != "new" and not self._could_overlap(place)
        ]
        if len(found) < SHOWN:
            return [place for place in found if "in a row" in self._sending_at(place)]
        usual = sorted(self._waits[place] for place in found)[len(found) // 2]
        return [place for place in found if self._waits[place] <= 3 * usual + JITTER_NS]

    def _could_overlap(self, place: int) -> bool:
        """Whether the client has sent such calls together, and more of them than before this one."""
        before, call = self.calls[place - 1], self.calls[place]
        return not self._is_full(place) and all(self._overlapping[kind] for kind in (before.read_only, call.read_only))

    def _is_full(self, place: int) -> bool:
        """Whether as many calls as were ever sent together came just before this one: the client may send no more."""
        return self._sizes[place - 1] > 1 and self._sizes[place - 1] >= max(self._sizes)

    def _would_go_on(self, place: int) -> bool:
        """Whether the client sends such calls of one turn without a pause, and nobody had to allow this one.

        People allow a tool once: the first call of each may have waited for them. After as many calls as it ever sent
        together, a client may wait for as long as it likes.
        """
        before, call = self.calls[place - 1], self.calls[place]
        if self._is_full(place):
            return False
        allowed = any(call.tool == earlier.tool for earlier in self.calls[:place])
        kinds = {before.read_only, call.read_only}
        return allowed and all(sum(self._joined[other] for other in self._neighbours(kind)) >= SHOWN for kind in kinds)

    def _turns(self) -> Iterator[int]:
        """For each answer that was used, the longest wait between it and its use: one of those waits was a turn."""
        for place, source in enumerate(self._seen):
            if source is not None and self._floor[place] > source:
                between = (other for other in range(source + 1, place + 1) if not self._joined[other])
                yield max(map(self._waits.__getitem__, between), default=0)

    def _sending_at(self, place: int) -> tuple[str | None, str | None]:
        before, call = self.calls[place - 1], self.calls[place]
        return self.sending.of(before.read_only), self.sending.of(call.read_only)

    def _not_together(self, place: int) -> bool:
        """Whether a client that sends two such calls together sent these apart.

        Clients bound how many they send at a time, and many send more as soon as answers are there: after as many calls
        as were ever sent together a pause says something of a client that is known, and nothing of another.
        """
        before, call = self.calls[place - 1], self.calls[place]
        apart = call.received_ns - before.received_ns > TOGETHER_NS
        full = self._is_full(place) and (self._waits[place] <= TOGETHER_NS or not self._is_known(place))
        # Where a person is asked, or a model still writes, calls that would go together may go out one by one.
        asked = self._known.late and (self._asked[place] or self._waits[place] <= QUICK_NS)
        return apart and not full and not asked and self._sending_at(place) == ("together", "together")

    def _paused(self, place: int) -> bool:
        """Whether a client that goes through the calls of a turn without a pause made one, and waited for nobody."""
        return self._is_known(place) and not self._asked[place] and self._waits[place] > PAUSE_NS

    def _may_be_asked(self) -> Iterator[bool]:
        """For each call, whether a person may have been asked to allow it.

        Not where the client waits for nobody, where an earlier call to the same tool came sooner than anybody allows
        one, or where the first calls to several tools did: people allow a tool once, or all at once.
        """
        firsts: set[str] = set()
        unasked: set[str] = set()
        allowed = 0
        for place, call in enumerate(self.calls):
            yield self._known.late and call.tool not in unasked and allowed < SHOWN
            at_once = place > 0 and call.received_ns - self.calls[place - 1].received_ns < PROMPT_NS
            if place > 0 and (at_once or self._waits[place] <= QUICK_NS):
                unasked.add(call.tool)
                allowed += call.tool not in firsts
            firsts.add(call.tool)

    def _is_known(self, place: int) -> bool:
        """Whether it was known beforehand how two such calls are sent, and nothing here contradicts it."""
        kinds = (self.calls[place - 1].read_only, self.calls[place].read_only)
        return all(self._known.of(kind) == self.sending.of(kind) is not None for kind in kinds)

    def _overlaps_of(self, read_only: bool) -> int:
        """How often a call of a kind overlapped with its neighbour, whatever that one's kind."""
        pairs = enumerate(pairwise(self.calls), 1)
        return sum(
            self._joined[place] and read_only in (before.read_only, call.read_only) for place, (before, call) in pairs
        )

    def _neighbours(self, read_only: bool) -> Iterator[int]:
        """The places of calls of a kind that follow another of it."""
        for place, (before, call) in enumerate(pairwise(self.calls), 1):
            if before.read_only == call.read_only == read_only:
                yield place

    def _manner(self, *, read_only: bool) -> Sending | None:
        """How the client sends calls of a kind: what is known of it, as far as this conversation bears it out."""
        known, overlaps = self.sending.of(read_only), self._overlapping[read_only]
        waited = any(map(self._waited, self._neighbours(read_only)))
        if known == "in a row" and overlaps:
            known = None
        if known == "together" and waited and self.sending.prior:
            return None
        return "together" if known is None and overlaps >= SHOWN and not waited else known

    def _waited(self, place: int) -> bool:
        """Whether a call was sent as soon as the answer before it was there, and not before."""
        before = self.calls[place - 1]
        long = before.sent_ns - before.received_ns > PROMPT_NS
        return long and not self._joined[place] and self._seen[place] is None and self._waits[place] < MODEL_NS

    def _too_soon(self) -> int:
        """Within which time after the last answer no model takes a turn; 0 when the conversation does not tell."""
        turns = list(self._turns())
        shortest = min(turns, default=0)
        if shortest >= MODEL_NS:
            return (shortest if self.sending.as_written else min(shortest, 2 * MODEL_NS)) // 2
        if shortest >= INSTANT_NS:
            return min(shortest // 2, QUICK_NS)
        return MODEL_NS if self._longest_wait >= THOUGHT_NS and not turns else 0

    @cached_property
    def _longest_wait(self) -> int:
        """The longest time from an answer to a call that did not overlap with it."""
        waits = zip(self._waits[1:], self._joined[1:], strict=True)
        return max((wait for wait, joined in waits if not joined), default=0)

    def _continues(self, place: int) -> bool:
        """Whether an open boundary is read as none, because the call came too soon for a turn of a model.

        Half of the shortest turn that is known is too soon. Where none is known, only the calls of a client that is
        known to send them together or in a row can be, or says that it did, or paused as a model does elsewhere: it is
        then too soon for what is many times longer elsewhere.
        """
        if self.sending.as_written and self._soon >= MODEL_NS // 2:
            return self._waits[place] < self._soon
        before, call = self.calls[place - 1], self.calls[place]
        kinds = {before.read_only, call.read_only}
        together = all(self.sending.of(kind) == "together" for kind in kinds)
        if all(self.sending.of(kind) == "together" or self._overlapping[kind] for kind in kinds):
            soon = self._soon or PROMPT_NS * (self._longest_wait >= MODEL_NS)
            at_once = call.received_ns - before.received_ns < PROMPT_NS
            # It may have waited for a long answer, being one that sends no more at a time, or that does not always.
            waited = self._is_full(place) if together or self._soon < MODEL_NS // 2 else True
            return self._waits[place] < soon and (at_once or (self._soon > 0 and waited))
        if self._soon or ("in a row" not in self._sending_at(place) and self._claims[place] != "same"):
            return self._waits[place] < self._soon
        return self._waits[place] < min(max(self._longest_wait // 4, QUICK_NS), MODEL_NS)


def _claim(before: Timed, call: Timed) -> Literal["same", "new"] | None:
    return claim(call.meta, call.arguments, before.meta)


def _overlaps(calls: Sequence[Timed]) -> Iterator[bool]:
    """For each call, whether an answer to an earlier one was still to come when it arrived."""
    waiting: list[Timed] = []
    for call in calls:
        waiting = [earlier for earlier in waiting if earlier.sent_ns > call.received_ns]
        yield any(call.received_ns - earlier.received_ns < BACKGROUND_NS for earlier in waiting)
        waiting.append(call)


def _sizes(joined: Sequence[bool]) -> Iterator[int]:
    """For each call, how many overlap in a row up to it."""
    size = 0
    for is_joined in joined:
        size = size + 1 if is_joined else 1
        yield size


def _waits(calls: Sequence[Timed]) -> Iterator[int]:
    """For each call, how long after the last answer that had left it arrived."""
    latest = 0
    left: list[int] = []
    for call in calls:
        latest = max([latest, *(sent for sent in left if sent <= call.received_ns)])
        left = [sent for sent in left if sent > call.received_ns]
        yield call.received_ns - latest
        left.append(call.sent_ns)


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
