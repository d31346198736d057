"""What a server does, as numbers for Prometheus at `/metrics`.

The numbers are gathered in the event loop and written out in a thread with `prometheus_client`, which is imported by
the first who asks. No label holds anything that a client chose, a handle or a task; there are as many as we have words.
"""

import shutil
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, get_args

from m3bench.server.lab.live.state import Served, ServerState
from m3bench.server.lab.live.tally import BOUNDS, Durations, Tally
from m3bench.server.store.records import State
from m3bench.tasks.errors import StoreError

if TYPE_CHECKING:
    from prometheus_client import Metric


@dataclass(frozen=True, kw_only=True)
class Numbers:
    """Everything that is told, at one moment."""

    build: Mapping[str, str]
    calls: Mapping[tuple[str, str], int]
    durations: Mapping[str, Durations]
    under_way: int
    unrecorded: int
    seats: int
    runs: int
    states: Mapping[str, int] | None
    """Runs on record by state; None when the record cannot be read."""
    queue: Mapping[str, int] | None
    """Samples for workers by state; None where there is no queue, or when it cannot be read."""
    sandboxes: int
    spares: int
    writable: bool
    queued: int
    free: int | None
    """Bytes that the disk of the data folder has left; None when nobody knows."""


async def numbers(app: Served, state: ServerState, tally: Tally) -> Numbers:
    """The numbers of a server now."""
    settings, store = app.settings, tally.store
    states = queue = None
    # That the record cannot be read now is a number too.
    with suppress(StoreError):
        states, queue = await state.states(), await state.queue()
    return Numbers(
        build={
            "version": app.front.version,
            "mode": settings.mode,
            "sandbox": settings.sandbox,
            "store": "sqlite" if app.place.url is None else "postgresql",
        },
        calls=dict(tally.calls),
        durations={kind: Durations([*one.counts], one.total) for kind, one in tally.durations.items()},
        under_way=tally.under_way,
        unrecorded=tally.unrecorded,
        seats=len(app.seats),
        runs=sum(seat.run is not None for seat in app.seats.values()),
        states=states,
        queue=queue,
        sandboxes=app.pool.in_use,
        spares=app.pool.waiting,
        writable=store is None or not store.failing,
        queued=store.queued if store is not None else 0,
        free=_free(app),
    )


def exposition(found: Numbers, accept: str) -> tuple[bytes, str]:
    """The text for whoever asked, in the form they accept, and its media type."""
    from prometheus_client import CollectorRegistry, ProcessCollector
    from prometheus_client.exposition import choose_encoder

    registry = CollectorRegistry()
    registry.register(_Collector(found))
    ProcessCollector(registry=registry)
    encode, media_type = choose_encoder(accept)
    return encode(registry), media_type


class _Collector:
    """Gives numbers in the words of `prometheus_client`."""

    def __init__(self, found: Numbers) -> None:
        self._found = found

    def collect(self) -> "Iterable[Metric]":
        """The metrics."""
        yield from self._calls()
        yield from self._gauges()

    def _calls(self) -> "Iterable[Metric]":
        from prometheus_client.core import CounterMetricFamily, HistogramMetricFamily, InfoMetricFamily

        found = self._found
        yield InfoMetricFamily("m3bench_build", "What serves, and how.", value=dict(found.build))
        text = "Calls that were answered, by what they came to and whose doing it was."
        calls = CounterMetricFamily("m3bench_calls", text, labels=("outcome", "owner"))
        for (outcome, owner), count in sorted(found.calls.items()):
            calls.add_metric((outcome, owner), count)
        yield calls
        text = "Seconds from the arrival of a call until its answer was on record."
        took = HistogramMetricFamily("m3bench_call_duration_seconds", text, labels=("kind",))
        for kind, durations in found.durations.items():
            took.add_metric((kind,), _buckets(durations), durations.total)
        yield took
        text = "Calls that were answered with an error because the record could not be written."
        yield CounterMetricFamily("m3bench_calls_unrecorded", text, value=found.unrecorded)

    def _gauges(self) -> "Iterable[Metric]":
        from prometheus_client.core import GaugeMetricFamily as Gauge

        found = self._found
        yield Gauge("m3bench_calls_under_way", "Calls that have no answer yet.", value=found.under_way)
        yield Gauge("m3bench_seats", "Seats that are open.", value=found.seats)
        yield Gauge("m3bench_runs_under_way", "Runs under way in this process.", value=found.runs)
        runs = Gauge("m3bench_runs", "Runs on record, of all processes, by state.", labels=("state",))
        for state in get_args(State) if found.states is not None else ():
            runs.add_metric((state,), (found.states or {}).get(state, 0))
        yield runs
        if found.queue is not None:
            samples = Gauge("m3bench_queue_samples", "Samples that studies put there, by state.", labels=("state",))
            for state, count in sorted(found.queue.items()):
                samples.add_metric((state,), count)
            yield samples
        yield Gauge("m3bench_sandboxes_in_use", "Sandboxes that are up for a run.", value=found.sandboxes)
        yield Gauge("m3bench_sandboxes_spare", "Sandboxes that are up and wait for a run.", value=found.spares)
        text = "Whether what was to be written last is on record."
        yield Gauge("m3bench_record_writable", text, value=found.writable)
        yield Gauge("m3bench_record_readable", "Whether the record could be read now.", value=found.states is not None)
        yield Gauge("m3bench_record_queued", "Writes that wait for the writer of the record.", value=found.queued)
        if found.free is not None:
            yield Gauge("m3bench_data_free_bytes", "What the disk of the data folder has left.", value=found.free)


def _buckets(durations: Durations) -> list[tuple[str, float]]:
    """Ranges as Prometheus counts them: each holds all that are below its end."""
    buckets, below = [], 0
    for end, count in zip((*map(str, BOUNDS), "+Inf"), durations.counts, strict=True):
        below += count
        buckets.append((end, float(below)))
    return buckets


def _free(app: Served) -> int | None:
    """Of the folder, or of where it will be."""
    folder = app.settings.data.absolute()
    try:
        return shutil.disk_usage(next(one for one in (folder, *folder.parents) if one.exists())).free
    except OSError:
        return None
