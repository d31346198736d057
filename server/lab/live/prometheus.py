"""The numbers of a server in the form that Prometheus reads; imports `prometheus_client`."""

from collections.abc import Iterable
from typing import get_args

from prometheus_client import CollectorRegistry, Metric, ProcessCollector
from prometheus_client.core import CounterMetricFamily, HistogramMetricFamily, InfoMetricFamily
from prometheus_client.core import GaugeMetricFamily as Gauge
from prometheus_client.exposition import choose_encoder

from m3bench.server.lab.live.metrics import BOUNDS, Durations, ServerNumbers
from m3bench.server.store.records import State


def exposition(found: ServerNumbers, accept: str) -> tuple[bytes, str]:
    """The numbers as text, in the format that the client accepts, and its media type."""
    registry = CollectorRegistry()
    registry.register(_Collector(found))
    ProcessCollector(registry=registry)
    encode, media_type = choose_encoder(accept)
    return encode(registry), media_type


class _Collector:
    """The numbers as metric families of `prometheus_client`."""

    def __init__(self, found: ServerNumbers) -> None:
        self._found = found

    def collect(self) -> Iterable[Metric]:
        """The metrics."""
        yield from self._calls()
        yield from self._gauges()

    def _calls(self) -> Iterable[Metric]:
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

    def _gauges(self) -> Iterable[Metric]:
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
    """Cumulative buckets, as Prometheus counts them."""
    buckets, below = [], 0
    for end, count in zip((*map(str, BOUNDS), "+Inf"), durations.counts, strict=True):
        below += count
        buckets.append((end, float(below)))
    return buckets
