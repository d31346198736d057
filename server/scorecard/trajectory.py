"""From a run's record to what it did: the calls that count, put into steps.

A call that failed through no fault of the agent, because a sandbox, an upstream or the client broke, is left
out: it is counted, never scored. Trajectories are derived each time; the record alone is kept.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from m3bench.proxy.habits import Habit, Habits
from m3bench.proxy.steps import Segmentation, Timed, segment
from m3bench.server.scorecard.model import Client
from m3bench.server.scorecard.restarts import without_restarts
from m3bench.server.store.records import CallRecord
from m3bench.tasks.outcome import text_of
from m3bench.tasks.table_tools import find_tool
from m3bench.tasks.trajectory import Call, Step, Trajectory


@dataclass(frozen=True, kw_only=True)
class PlayedRun:
    """What was done in a run: the calls that count, in steps."""

    calls: tuple[CallRecord, ...]
    """The calls that count, in order of arrival."""
    segmentation: Segmentation
    excluded: tuple[CallRecord, ...]
    """Calls that failed through no fault of the agent."""

    @property
    def trajectory(self) -> Trajectory:
        """The calls that count, as a value that can be scored."""
        return Trajectory(
            steps=tuple(
                Step(calls=tuple(_call(self.calls[index]) for index in step)) for step in self.segmentation.steps
            )
        )

    @property
    def order(self) -> tuple[int, ...]:
        """Which call stands at each place of the flattened trajectory."""
        return tuple(index for step in self.segmentation.steps for index in step)


def played_run(records: Sequence[CallRecord], known: str = "", client: Client | None = None) -> PlayedRun:
    """What was done in a run, from its recorded calls.

    Args:
        records: The run's calls, without those to the benchmark's own tools.
        known: What the client was told when the run began.
        client: Who played it: what a probe measured of this client says something about its steps.
    """
    records = without_restarts(records)
    counted = tuple(record for record in records if _counts(record))
    excluded = tuple(record for record in records if not _counts(record))
    segmentation = segment([_timed(record) for record in counted], known, habits_of(client))
    return PlayedRun(calls=counted, segmentation=segmentation, excluded=excluded)


def _counts(record: CallRecord) -> bool:
    """Whether a call is the agent's doing; an answer that is empty through a gap of the world is one that it asked for.

    A reference may ask in vain too, and its call must then be found in the run.
    """
    return record.owner == "agent" or (record.owner == "world" and record.outcome == "success")


def habits_of(client: Client | None) -> Habits:
    """How a client sends the calls of one turn, when this very version of it was probed."""
    found = (client.capabilities if client is not None else None) or {}
    if client is None or not client.name.endswith(f" {found.get('probed')}"):
        return Habits()
    return Habits(read_only=_habit(found.get("overlap")), others=_habit(found.get("overlap_others")))


def _habit(measured: object) -> Habit | None:
    match measured:
        case "together" | "in a row":
            return measured
    return None


def result_text(record: CallRecord) -> str:
    """The text blocks of a result."""
    return text_of(record.result_json)


def _call(record: CallRecord) -> Call:
    return Call(tool=record.tool, arguments=record.taken.arguments, failed=record.outcome != "success")


def _timed(record: CallRecord) -> Timed:
    return Timed(
        tool=record.tool,
        arguments=record.arguments,
        text=result_text(record),
        received_ns=record.received_ns,
        sent_ns=record.sent_ns or record.returned_ns or record.received_ns,
        meta=record.meta,
        read_only=_is_read_only(record.tool),
    )


def _is_read_only(tool: str) -> bool:
    """Whether a tool says that it changes nothing; of a third-party tool that is not known here."""
    found = find_tool(tool)
    return found is not None and found.read_only
