"""Sends runs as traces to an OpenTelemetry collector, over HTTP in the protobuf form.

Needs the extra `otel`. Headers, certificates and compression come from the usual `OTEL_EXPORTER_OTLP_…` variables.
"""

import logging
from collections.abc import Iterable
from typing import TYPE_CHECKING
from urllib.parse import urlsplit, urlunsplit

from m3bench.server.lab.interchange.episode import Episode
from m3bench.server.lab.interchange.spans import SERVICE, Span, resource, spans
from m3bench.tasks.errors import UserError

if TYPE_CHECKING:
    from opentelemetry.sdk.trace import ReadableSpan

TIMEOUT_SECONDS = 10.0
PATH = "/v1/traces"


def send(stories: Iterable[Episode], url: str, *, content: bool) -> int:
    """Send one trace per run; returns how many were taken.

    Raises:
        UserError: The extra is missing, the address is none, or the collector does not take the traces.
    """
    try:
        from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
        from opentelemetry.sdk.trace.export import SpanExportResult
    except ImportError:
        raise UserError("Sending traces needs OpenTelemetry: pip install 'm3bench[otel]'") from None
    address = _address(url)
    # What the exporter has to say about a failure is said below, in one line.
    logging.getLogger("opentelemetry").setLevel(logging.CRITICAL)
    exporter = OTLPSpanExporter(endpoint=address, timeout=TIMEOUT_SECONDS)
    sent = 0
    try:
        for story in stories:
            batch = [_readable(span) for span in spans(story, content=content)]
            if exporter.export(batch) is not SpanExportResult.SUCCESS:
                raise UserError(
                    f"{address} did not take the trace of run {story.run.id[:12]}; {sent} were sent before."
                )
            sent += 1
    finally:
        exporter.shutdown()  # type: ignore[no-untyped-call]
    return sent


def _address(url: str) -> str:
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise UserError(f"--otlp needs the address of a collector, such as http://localhost:4318, not {url!r}.")
    return url if parts.path not in ("", "/") else urlunsplit(parts._replace(path=PATH))


def _readable(span: Span) -> "ReadableSpan":
    from opentelemetry.sdk.resources import Resource
    from opentelemetry.sdk.trace import ReadableSpan
    from opentelemetry.sdk.util.instrumentation import InstrumentationScope
    from opentelemetry.trace import Link, SpanContext, SpanKind, Status, StatusCode, TraceFlags

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
