"""What in a record contradicts itself: calls that do not fit their own bytes, and times that no machine gives.

A forger who seals again can still be caught here, because a call is recorded more than once: by its number, by its
times, by the bytes of its request and by what was made of them. Times are the easiest part of a record to invent, and
good inventions pass. What is refused is what no machine does: clocks that contradict each other, answers faster than
any sandbox, runs that a seat had at the same time, and one run's times in another run.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from itertools import pairwise

from m3bench.proxy.names import CALL_TOOL, inner
from m3bench.server.lab.interchange.submission import SubmittedRun
from m3bench.server.lab.interchange.verdict import Odd
from m3bench.server.store.records import OWN_TOOLS, CallRecord, RunRecord
from m3bench.tasks.answers.reading import as_object
from m3bench.tasks.catalog import expose
from m3bench.tasks.outcome import CALL_SECONDS

SLACK = timedelta(seconds=5)
"""How far a machine's two clocks may drift apart, and how far one may be set back meanwhile."""

LEAST_NS = 10_000
"""No call reaches a sandbox and returns in less."""

MOST_NS = int(6 * CALL_SECONDS * 1e9)
"""A call is given up after a sixth of this; a machine may be busy, or asleep for a moment."""

COARSE_NS = 1_000_000
"""Clocks of some systems tick this slowly; nothing can be read from their last digits."""

FIRST_YEAR, LAST_YEAR = 2000, 9000
"""Plausible years: no record of ours is older than the first, and the last is far in the future."""

GIVES = frozenset({"agent", "world"})
"""Who owns a call that succeeded."""

ENDS = frozenset({"client", "limit"})
"""Who ends a call before a tool has it or has answered: such a call is not made again, so it gave nothing."""

MANY = 3
"""With this many calls or more, chance does not make all of them take equally long, to the nanosecond."""


def oddities(run: SubmittedRun, tools: Mapping[str, str], *, upstream: bool, listed: bool = True) -> Iterator[Odd]:
    """Everything in a run's calls that contradicts itself.

    Args:
        run: The run.
        tools: The canonical names of the tools it was shown, by the names they were shown under.
        upstream: Whether third-party servers took part, whose tools nobody here knows.
        listed: Whether the tools were shown as such; if not, they were called by way of `call_tool`.
    """
    before: CallRecord | None = None
    for call in run.calls:
        what = f"call {call.id}"
        if call.run != run.record.id:
            yield f"{what}: run", call.run, run.record.id
        if call.seat != run.record.seat:
            yield f"{what}: seat", call.seat, run.record.seat
        if before is not None and (call.id <= before.id or call.received_ns < before.received_ns):
            yield f"{what}: order", f"after call {before.id}", "before it"
        before = call
        yield from _request(what, call, tools, upstream, listed)
        yield from _result(what, call)
    for answer, fields in _submitted(run):
        if answer != run.record.answer:
            yield "answer", run.record.answer, answer
        if fields != (run.record.fields or None):
            yield "fields", run.record.fields, fields


def _request(what: str, call: CallRecord, tools: Mapping[str, str], upstream: bool, listed: bool) -> Iterator[Odd]:
    message = _parsed(call.request)
    if not isinstance(message, dict):
        yield f"{what}: request", "a JSON-RPC message", "something else"
        return
    if json.dumps(message.get("id")) != call.request_id:
        yield f"{what}: request id", call.request_id, json.dumps(message.get("id"))
    params = message.get("params")
    name = params.get("name") if isinstance(params, dict) else None
    name = name if isinstance(name, str) else ""
    found = inner(params.get("arguments")) if isinstance(params, dict) and name == CALL_TOOL and not listed else None
    if found is not None and found[0] not in {*OWN_TOOLS, CALL_TOOL}:
        name = next((shown for shown in (found[0], expose(found[0])) if shown in tools), found[0])
    elif not listed:
        tools = {}
    expected = tools.get(name, name)
    if call.tool != expected and not (upstream and name not in tools):
        yield f"{what}: tool", call.tool, expected


def _result(what: str, call: CallRecord) -> Iterator[Odd]:
    times = [time for time in (call.received_ns, call.forwarded_ns, call.returned_ns, call.sent_ns) if time]
    if times != sorted(times):
        yield f"{what}: times", "in order", "not in order"
    if call.outcome == "success" and call.owner not in GIVES:
        yield f"{what}: owner", f"success, charged to {call.owner}", "a failure"
    if call.result is None:
        return
    result = _parsed(call.result)
    if call.outcome is None:
        yield f"{what}: result", "that of a call without an answer", "none"
    elif call.owner in ENDS and not (isinstance(result, dict) and result.get("isError") is True):
        yield f"{what}: result", f"that of a call charged to {call.owner}", "an error result"
    if not isinstance(result, dict):
        yield f"{what}: result", "a tool's result", "something else"
    elif call.outcome == "success" and result.get("isError") is True:
        yield f"{what}: outcome", "success", "an error result"


def _submitted(run: SubmittedRun) -> Iterator[tuple[object, object]]:
    """The answers and fields that the run's log says were accepted."""
    for call in run.calls:
        if call.tool == "submit" and call.tool in OWN_TOOLS and call.outcome == "success":
            message = _parsed(call.request)
            params = message.get("params") if isinstance(message, dict) else None
            arguments = params.get("arguments") if isinstance(params, dict) else None
            result = _parsed(call.result or b"")
            if isinstance(arguments, dict) and isinstance(result, dict) and result.get("isError") is not True:
                yield arguments.get("answer", ""), as_object(arguments.get("fields"))


def _parsed(raw: bytes) -> object:
    try:
        return json.loads(raw)
    except (ValueError, RecursionError):
        return None


def odd_times(run: SubmittedRun, began: str) -> Iterator[Odd]:
    """Everything in a run's times that cannot be true.

    Args:
        run: The run.
        began: When its result set began; empty when that is not known.
    """
    record = run.record
    start, end, first = _read(record.started), _read(record.ended), _read(began)
    if start is None or end is None:
        yield "times", f"{record.started} to {record.ended}", "two moments"
        return
    if end < start:
        yield "end", record.ended or "", f"after {record.started}"
    if end > datetime.now(UTC) + timedelta(days=1):
        yield "end", record.ended or "", "in the past"
    if first is not None and start < first - SLACK:
        yield "start", record.started, f"after the set began, {began}"
    yield from _odd_walls(run.calls, start, end)
    yield from _odd_durations(run.calls)


def _odd_walls(calls: Sequence[CallRecord], start: datetime, end: datetime) -> Iterator[Odd]:
    walls = [_read(call.wall) for call in calls]
    for call, wall in zip(calls, walls, strict=True):
        if wall is None:
            yield f"call {call.id}: time", call.wall, "a moment"
        elif call.tool not in OWN_TOOLS and not start - SLACK <= wall <= end + SLACK:
            yield f"call {call.id}: time", call.wall, "during its run"
    for (previous, before), (call, after) in pairwise(zip(calls, walls, strict=True)):
        if before is None or after is None:
            continue
        passed = timedelta(microseconds=(call.received_ns - previous.received_ns) / 1000)
        # A machine that sleeps stops the one clock and not the other, so only one direction is impossible.
        if passed - (after - before) > SLACK:
            yield f"call {call.id}: time", f"{after - before} after the one before", f"{passed} after it"


def _odd_durations(calls: Sequence[CallRecord]) -> Iterator[Odd]:
    made = [call for call in calls if call.forwarded_ns and call.returned_ns]
    for call in calls:
        if call.outcome == "success" and call.tool not in OWN_TOOLS and not (call.forwarded_ns and call.returned_ns):
            yield f"call {call.id}: times", "answered by a tool", "never sent to one"
    if is_coarse(calls):
        return
    taken = [_duration(call) for call in made]
    for call, duration in zip(made, taken, strict=True):
        if not LEAST_NS <= duration <= MOST_NS:
            yield f"call {call.id}: duration", f"{duration / 1e9:g} s", f"{LEAST_NS / 1e9:g} s to {MOST_NS / 1e9:g} s"
    if len(made) >= MANY and len(set(taken)) == 1:
        yield "durations", f"{taken[0] / 1e9:g} s for each of {len(made)} calls", "not all the same"
    if len(calls) > MANY:
        gaps = {after.received_ns - before.received_ns for before, after in pairwise(calls)}
        if len(gaps) == 1:
            yield "spacing of the calls", f"{gaps.pop() / 1e9:g} s each time", "not all the same"


def is_coarse(calls: Sequence[CallRecord]) -> bool:
    """Whether all times come from a clock that ticks slowly, or were rounded."""
    times = [time for call in calls for time in (call.received_ns, call.forwarded_ns, call.returned_ns) if time]
    return bool(times) and all(time % COARSE_NS == 0 for time in times)


class RunTimes:
    """The times of several runs, compared with each other."""

    def __init__(self) -> None:
        self._seats: dict[str, list[tuple[datetime, datetime]]] = {}
        self._prints: dict[tuple[int, ...], str] = {}

    def odd(self, run: SubmittedRun) -> Iterator[Odd]:
        """What cannot be true of a run, given the runs before it."""
        yield from self._odd_seat(run.record)
        made = [call for call in run.calls if call.forwarded_ns and call.returned_ns]
        if is_coarse(run.calls):
            return
        prints: Mapping[str, tuple[int, ...]] = {
            "times": tuple(call.received_ns for call in made),
            "durations": tuple(_duration(call) for call in made) if len(made) >= MANY else (),
        }
        for what, numbers in prints.items():
            if numbers and self._prints.setdefault(numbers, run.record.id) != run.record.id:
                yield what, "its own", f"those of run {self._prints[numbers][:12]}"

    def _odd_seat(self, record: RunRecord) -> Iterator[Odd]:
        start, end = _read(record.started), _read(record.ended)
        if start is None or end is None:
            return
        taken = self._seats.setdefault(record.seat, [])
        if any(start < other_end and other_start < end for other_start, other_end in taken):
            yield "seat", "one run at a time", "two at the same time"
        taken.append((start, end))


def _duration(call: CallRecord) -> int:
    return (call.returned_ns or 0) - (call.forwarded_ns or 0)


def _read(text: str | None) -> datetime | None:
    try:
        found = datetime.fromisoformat(text or "")
    except ValueError:
        return None
    # Beyond these years, sums with a zone or with some seconds are no dates any more.
    return found if found.tzinfo is not None and FIRST_YEAR <= found.year <= LAST_YEAR else None
