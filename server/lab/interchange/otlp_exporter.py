"""Spans as OpenTelemetry's SDK has them, and its exporter; imports both, so `spans` imports it only to send."""

from collections.abc import Sequence

from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import ReadableSpan
from opentelemetry.sdk.trace.export import SpanExportResult
from opentelemetry.sdk.util.instrumentation import InstrumentationScope
from opentelemetry.trace import Link, SpanContext, SpanKind, Status, StatusCode, TraceFlags

from m3bench.server.lab.interchange.spans import SERVICE, TraceSpan, resource


class SpanExporter:
    """Sends spans to a collector.

    Args:
        address: Where it is, with the path.
        seconds: How long a request may take.
    """

    def __init__(self, address: str, seconds: float) -> None:
        self._exporter = OTLPSpanExporter(endpoint=address, timeout=seconds)

    def send(self, spans: Sequence[TraceSpan]) -> bool:
        """Send a trace; returns whether the collector accepted it."""
        return self._exporter.export([_readable(span) for span in spans]) is SpanExportResult.SUCCESS

    def close(self) -> None:
        """Close the connection."""
        self._exporter.shutdown()  # type: ignore[no-untyped-call]


def _readable(span: TraceSpan) -> ReadableSpan:
    def context(trace: int, id: int, *, remote: bool = False) -> SpanContext:
        return SpanContext(trace, id, is_remote=remote, trace_flags=TraceFlags(TraceFlags.SAMPLED))

    own = resource()
    return ReadableSpan(
        name=span.name,
        context=context(span.trace, span.id),
        parent=context(span.trace, span.parent) if span.parent is not None else None,
        resource=Resource(own),
        attributes=dict(span.attributes),
        links=[Link(context(*span.link, remote=True))] if span.link is not None else [],
        kind=SpanKind.SERVER if span.kind == "server" else SpanKind.INTERNAL,
        status=Status(StatusCode.ERROR, span.error) if span.error is not None else Status(),
        start_time=span.start_ns,
        end_time=span.end_ns,
        instrumentation_scope=InstrumentationScope(SERVICE, str(own["service.version"])),
    )
