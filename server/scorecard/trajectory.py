"""From a run's record to what it did: the calls that count, read once and put into steps.

A call that failed through no fault of the agent, because a sandbox, an upstream or the client broke, is left
out: it is counted, never scored. A call that the server cut off by ending is nobody's fault either, and whoever makes
it again has lost nothing: the second one takes the place of the first. So it is with a call that the weather took.
Trajectories are derived each time; the record alone is kept.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from m3bench.proxy.protocol.tool_calls import CUT_OFF
from m3bench.proxy.steps.segmentation import ClientSending, Segmentation, Sending, Timed, segment, shown
from m3bench.server.scorecard.model import Client
from m3bench.server.store.capability import AS_WRITTEN, LATE, UNCHANGING, same_family
from m3bench.server.store.records import CallRecord
from m3bench.tasks.outcome import text_of
from m3bench.tasks.table_tools import find_tool
from m3bench.tasks.trajectory import JSON, Call, Step, Trajectory

SLACK_NS = 1_000_000_000
"""Calls that come at the same time may be numbered in another order than they arrived in, by no more than this."""


@dataclass(frozen=True, kw_only=True)
class PlayedCall:
    """A call that counts, with what was read from its record."""

    record: CallRecord
    arguments: dict[str, JSON]
    """As the tool took them."""
    coerced: tuple[str, ...]
    """Arguments that were sent as text and read as what the schema asks for."""
    text: str
    """The text blocks of its result."""

    @property
    def tool(self) -> str:
        """Canonical name where the tool is known, else the name as sent."""
        return self.record.tool

    @property
    def outcome(self) -> str | None:
        """How it ended; None when it is under way."""
        return self.record.outcome


@dataclass(frozen=True, kw_only=True)
class PlayedRun:
    """What was done in a run: the calls that count, in steps."""

    calls: tuple[PlayedCall, ...]
    """The calls that count, in order of arrival."""
    segmentation: Segmentation
    excluded: tuple[CallRecord, ...]
    """Calls that failed through no fault of the agent."""
    recorded: tuple[CallRecord, ...]
    """All calls as they were recorded, also those that were cut off and made again."""

    @cached_property
    def trajectory(self) -> Trajectory:
        """The calls that count, as a value that can be scored."""
        calls = [
            Call(tool=call.tool, arguments=call.arguments, failed=call.outcome != "success") for call in self.calls
        ]
        return Trajectory(
            steps=tuple(Step(calls=tuple(calls[index] for index in step)) for step in self.segmentation.steps)
        )

    @property
    def order(self) -> tuple[int, ...]:
        """Which call stands at each place of the flattened trajectory."""
        return tuple(index for step in self.segmentation.steps for index in step)

    @property
    def gaps(self) -> int:
        """How many calls, counted or not, asked for something that the world does not hold."""
        return sum(record.owner == "world" for record in self.recorded)

    @property
    def contradictions(self) -> tuple[str, ...]:
        """What spoke against how calls were put into steps and was not followed."""
        return tuple(
            f"{call.tool}: {decision.contradiction}"
            for call, decision in zip(self.calls, self.segmentation.decisions, strict=True)
            if decision.contradiction
        )

    def tools_given(self, files: Iterable[str]) -> frozenset[str]:
        """The tools that were given one of these files and succeeded."""
        names = [name.encode() for name in files]
        return frozenset(
            record.tool
            for record in self.recorded
            if record.outcome == "success" and any(name in record.request for name in names)
        )


def played_run(records: Sequence[CallRecord], known: str = "", client: Client | None = None) -> PlayedRun:
    """What was done in a run, from its recorded calls.

    Args:
        records: The run's calls, without those to the benchmark's own tools.
        known: What the client was told when the run began.
        client: Who played it: what a probe measured of this client says something about its steps.
    """
    cleaned = without_repetitions(records)
    calls = tuple(_read(record) for record in cleaned if _counts(record))
    return PlayedRun(
        calls=calls,
        segmentation=segment([_timed(call) for call in calls], known, sending_of(client)),
        excluded=tuple(
            record
            for record in (*(record for record in records if record.owner == "weather"), *cleaned)
            if not _counts(record)
        ),
        recorded=tuple(records),
    )


def _counts(record: CallRecord) -> bool:
    """Whether a call is the agent's doing; an answer that is empty through a gap of the world is one that it asked for.

    A reference may ask in vain too, and its call must then be found in the run.
    """
    return record.owner == "agent" or (record.owner == "world" and record.outcome == "success")


def sending_of(client: Client | None) -> ClientSending:
    """How a client sends the calls of one turn, when it or another version of its family was probed.

    What was found of another version, of one whose number never changes, or in earlier runs is a prior.
    """
    found = (client.capabilities if client is not None else None) or {}
    version, probed = client.name.rpartition(" ")[2] if client is not None else "", str(found.get("probed"))
    if not found or not same_family(version, probed):
        return ClientSending()
    certain = version == probed and version not in UNCHANGING and not found.get(SEEN)
    return ClientSending(
        read_only=_sending(found.get("overlap")),
        others=_sending(found.get("overlap_others")),
        prior=not certain,
        late=found.get(LATE) is not False,
        as_written=found.get(AS_WRITTEN) is True,
    )


SEEN = "seen"
"""Among the capabilities of a client: nobody probed it, and this is what earlier runs on its seat showed."""


def seen_before(version: str, runs: Iterable[Sequence[CallRecord]]) -> dict[str, object] | None:
    """What earlier runs show of how a client sends calls, in the short form of a capability card.

    Args:
        version: Of the client.
        runs: The calls of each.
    """
    found = [shown([_timed(_read(record)) for record in _on_one_clock(calls)]) for calls in runs]
    reading = "together" if any(each.read_only for each in found) else None
    writing = "together" if any(each.others for each in found) else None
    if reading is None and writing is None:
        return None
    return {"probed": version, "overlap": reading, "overlap_others": writing, SEEN: True}


def _sending(measured: object) -> Sending | None:
    match measured:
        case "together" | "in a row":
            return measured
    return None


def result_text(record: CallRecord) -> str:
    """The text blocks of a result."""
    return text_of(record.result_json)


def _read(record: CallRecord) -> PlayedCall:
    taken = record.taken
    return PlayedCall(record=record, arguments=taken.arguments, coerced=tuple(taken.coerced), text=result_text(record))


def _timed(call: PlayedCall) -> Timed:
    record = call.record
    return Timed(
        tool=record.tool,
        arguments=record.arguments,
        text=call.text,
        received_ns=record.received_ns,
        sent_ns=record.sent_ns or record.returned_ns or record.received_ns,
        meta=record.meta,
        read_only=_is_read_only(record.tool),
    )


def _is_read_only(tool: str) -> bool:
    """Whether a tool says that it changes nothing; of a third-party tool that is not known here."""
    found = find_tool(tool)
    return found is not None and found.read_only


def without_repetitions(records: Sequence[CallRecord]) -> list[CallRecord]:
    """The calls of a run, on one clock, each that was cut off or lost to the weather and made again only once.

    What counts is the call that was answered, at the time of the first that was not. Those that the weather took are
    left out also where nobody made them again.

    Args:
        records: In order of arrival.
    """
    calls = _on_one_clock(records)
    if not any(map(_is_lost, calls)):
        return calls
    first: dict[int, CallRecord] = {}
    """By place of a call that was made again: the one of which it is the repetition."""
    left_out: set[int] = set()
    for place, lost in enumerate(calls):
        if not _is_lost(lost):
            continue
        later = next((at for at in range(place + 1, len(calls)) if at not in first and _repeats(calls[at], lost)), None)
        if later is not None and lost.error == calls[later].error == CUT_OFF:
            later = None  # Nobody knows how often it was done.
        if later is not None:
            first[later] = first.get(place, lost)
        if later is not None or lost.owner == "weather":
            left_out.add(place)
    again_of = {lost.id: calls[later] for later, lost in first.items() if not _is_lost(calls[later])}
    found: list[CallRecord] = []
    offset, old_end, end = 0, calls[0].received_ns, calls[0].received_ns
    waited = any(call.owner == "weather" for call in calls)
    for place, call in enumerate(calls):
        if waited and call.received_ns > old_end:
            # What it took to make calls again is no pause in which anybody thought.
            offset = old_end - end
        old_end = max(old_end, _end(call))
        if call.id in again_of:
            again = again_of[call.id]
            found.append(_shifted(again, call.received_ns - offset - again.received_ns))
        elif place not in left_out and (place not in first or _is_lost(call)):
            found.append(_shifted(call, -offset))
        end = max([end, *map(_end, found[-1:])])
    return found


def _end(call: CallRecord) -> int:
    return max(call.received_ns, call.returned_ns or 0, call.sent_ns or 0)


def _is_lost(call: CallRecord) -> bool:
    """Whether a call was lost in such a way that who makes it again has done it once."""
    return call.error == CUT_OFF or call.owner == "weather"


def _repeats(later: CallRecord, lost: CallRecord) -> bool:
    """Whether a later call is a lost one made again: by whoever had been told of the loss."""
    if (later.tool, later.arguments) != (lost.tool, lost.arguments):
        return False
    return lost.error == CUT_OFF or later.received_ns >= (lost.returned_ns or lost.received_ns)


def _on_one_clock(records: Sequence[CallRecord]) -> list[CallRecord]:
    calls: list[CallRecord] = []
    offset = latest = end = 0
    for record in records:
        if record.received_ns + offset < latest - SLACK_NS:
            offset = end + 1 - record.received_ns
        call = _shifted(record, offset)
        latest = max(latest, call.received_ns)
        end = max(end, _end(call))
        calls.append(call)
    return calls


def _shifted(call: CallRecord, by: int) -> CallRecord:
    if by == 0:
        return call
    return replace(
        call,
        received_ns=call.received_ns + by,
        forwarded_ns=call.forwarded_ns and call.forwarded_ns + by,
        returned_ns=call.returned_ns and call.returned_ns + by,
        sent_ns=call.sent_ns and call.sent_ns + by,
    )
