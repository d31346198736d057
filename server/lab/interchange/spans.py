"""Runs as traces: one trace per run, a span for each step and each call, by the GenAI and MCP conventions.

Ids follow from the run's handle, so that the same run is the same trace wherever and however often it is exported.
Written as OTLP JSON without any package, or sent to an OpenTelemetry collector over HTTP in the protobuf form, which
needs the extra `otel`. Headers, certificates and compression then come from the usual `OTEL_EXPORTER_OTLP_…` variables.
"""

import json
import logging
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from hashlib import sha256
from importlib.metadata import version
from typing import Literal
from urllib.parse import urlsplit, urlunsplit

from m3bench.server.lab.interchange.episode import (
    Episode,
    arguments,
    began,
    clean_text,
    ended,
    nanoseconds,
    shown_name,
    text,
)
from m3bench.server.lab.results.resultset import task_set_of
from m3bench.server.store.records import CallRecord
from m3bench.tasks.errors import UserError
from m3bench.tasks.json_types import JsonObject

Value = str | bool | int | float

KINDS = {"internal": 1, "server": 2}
ERROR = 2

SERVICE = "m3bench"

TIMEOUT_SECONDS = 10.0
PATH = "/v1/traces"


@dataclass(frozen=True, kw_only=True)
class TraceSpan:
    """A span: an interval of time with attributes."""

    trace: int
    id: int
    parent: int | None
    name: str
    kind: Literal["internal", "server"]
    start_ns: int
    end_ns: int
    attributes: Mapping[str, Value] = field(default_factory=dict)
    error: str | None = None
    """The description of a failure, maybe empty; None when there was none."""
    link: tuple[int, int] | None = None
    """Trace and span of the client that made the call, when it said so."""


def spans(story: Episode, *, content: bool = True) -> list[TraceSpan]:
    """The trace of a run.

    Args:
        story: The run.
        content: Whether question, arguments, results, answer and error texts go along.
    """
    return list(_spans(story, content))


def otlp_json(story: Episode, *, content: bool = True) -> JsonObject:
    """The trace as an OTLP export request in its JSON form."""
    scope = {"name": SERVICE, "version": version("m3bench")}
    return {
        "resourceSpans": [
            {
                "resource": {"attributes": _attributes(resource())},
                "scopeSpans": [{"scope": scope, "spans": [_json(span) for span in spans(story, content=content)]}],
            }
        ]
    }


def send(stories: Iterable[Episode], url: str, *, content: bool) -> int:
    """Send one trace per run; returns how many were taken.

    Raises:
        UserError: The extra is missing, the address is none, or the collector does not take the traces.
    """
    try:
        # OpenTelemetry is optional.
        from m3bench.server.lab.interchange.otlp_exporter import SpanExporter
    except ImportError:
        raise UserError("Sending traces needs OpenTelemetry: pip install 'm3bench[otel]'") from None
    address = _address(url)
    # What the exporter has to say about a failure is said below, in one line.
    logging.getLogger("opentelemetry").setLevel(logging.CRITICAL)
    exporter = SpanExporter(address, TIMEOUT_SECONDS)
    sent = 0
    try:
        for story in stories:
            if not exporter.send(spans(story, content=content)):
                raise UserError(
                    f"{address} did not accept the trace of run {story.run.id[:12]}; {sent} were sent before."
                )
            sent += 1
    finally:
        exporter.close()
    return sent


def resource() -> dict[str, Value]:
    """The resource that exports: this program."""
    return {"service.name": SERVICE, "service.version": version("m3bench")}


def _spans(story: Episode, content: bool) -> Iterator[TraceSpan]:
    run = story.run
    trace = _number(f"trace {run.id}", 16)
    root = _number(f"run {run.id}", 8)
    start = nanoseconds(run.started)
    end = max([start, nanoseconds(run.ended) if run.ended else start, *map(ended, story.calls)])
    yield TraceSpan(
        trace=trace, id=root, parent=None, name=f"invoke_agent {story.agent}", kind="internal", start_ns=start,
        end_ns=end, attributes=_run_attributes(story, content),
    )  # fmt: skip
    for number, step in enumerate(story.steps, 1):
        place = _number(f"step {run.id} {number}", 8)
        yield TraceSpan(
            trace=trace, id=place, parent=root, name=f"step {number}", kind="internal",
            start_ns=min(map(began, step.calls)), end_ns=max(map(ended, step.calls)),
            attributes={"m3bench.step": number, "m3bench.step.evidence": step.evidence or "not counted"},
        )  # fmt: skip
        for call in step.calls:
            error, attributes = _failure(call)
            yield TraceSpan(
                trace=trace, id=_number(f"call {run.id} {call.id}", 8), parent=place,
                name=f"tools/call {shown_name(call)}", kind="server", start_ns=began(call), end_ns=ended(call),
                attributes={**_call_attributes(call, content), **attributes},
                error=None if error is None else error if content else "", link=_link(call),
            )  # fmt: skip


def _run_attributes(story: Episode, content: bool) -> dict[str, Value]:
    run, manifest = story.run, story.run.manifest
    set_hash = task_set_of(manifest).get("hash")
    found: dict[str, Value | None] = {
        "gen_ai.operation.name": "invoke_agent",
        "gen_ai.provider.name": story.provider,
        "gen_ai.agent.name": story.agent,
        "gen_ai.request.model": None if story.model is None else story.model.partition("/")[2],
        "gen_ai.conversation.id": run.id,
        "m3bench.task": run.task,
        "m3bench.state": run.state,
        "m3bench.mode": run.mode,
        "m3bench.client": story.client,
        "m3bench.profile": manifest.get("profile"),
        "m3bench.tasks.hash": set_hash if isinstance(set_hash, str) else None,
        "m3bench.success": story.success,
        **{f"m3bench.score.{name}": value for name, value in story.metrics.items()},
    }
    if story.sample is not None and story.model is not None:
        found["gen_ai.usage.input_tokens"] = story.sample.usage.input_tokens
        found["gen_ai.usage.output_tokens"] = story.sample.usage.output_tokens
    if content:
        found |= {"m3bench.question": story.question, "m3bench.answer": story.answer}
    return _known(found)


def _call_attributes(call: CallRecord, content: bool) -> dict[str, Value]:
    found: dict[str, Value | None] = {
        "mcp.method.name": "tools/call",
        "mcp.protocol.version": call.revision,
        "jsonrpc.request.id": str(json.loads(call.request_id)),
        "gen_ai.operation.name": "execute_tool",
        "gen_ai.tool.name": shown_name(call),
        "gen_ai.tool.call.id": str(call.id),
        "m3bench.tool": call.tool,
        "m3bench.outcome": call.outcome,
        "m3bench.owner": call.owner,
    }
    if content:
        found["gen_ai.tool.call.arguments"] = json.dumps(arguments(call), ensure_ascii=False)
        if call.result is not None:
            found["gen_ai.tool.call.result"] = call.result.decode(errors="replace")
    return _known(found)


def _known(values: Mapping[str, Value | None]) -> dict[str, Value]:
    """The values that are known, with texts that UTF-8 can encode."""
    known = {name: value for name, value in values.items() if value is not None}
    return {name: clean_text(value) if isinstance(value, str) else value for name, value in known.items()}


def _failure(call: CallRecord) -> tuple[str | None, dict[str, Value]]:
    """What went wrong with a call, and the attributes that say so."""
    if call.error is not None:
        code = str(call.error[0])
        return text(call), {"error.type": code, "rpc.response.status_code": code}
    if call.result_json.get("isError") is True:
        return text(call), {"error.type": "tool_error"}
    if call.outcome not in (None, "success"):
        return "", {"error.type": str(call.outcome)}
    return None, {}


def _link(call: CallRecord) -> tuple[int, int] | None:
    """The client's own span, when it sent one along."""
    parts = str(call.meta.get("traceparent", "")).split("-")
    try:
        trace, span = int(parts[1], 16), int(parts[2], 16)
    except (IndexError, ValueError):
        return None
    fits = len(parts[1]) == 32 and len(parts[2]) == 16 and trace > 0 and span > 0
    return (trace, span) if fits else None


def _number(text: str, size: int) -> int:
    """An id of so many bytes; never 0, which means none."""
    return int.from_bytes(sha256(f"m3bench {text}".encode()).digest()[:size]) or 1


def _json(span: TraceSpan) -> JsonObject:
    status: JsonObject = {} if span.error is None else {"code": ERROR, "message": span.error}
    found: JsonObject = {
        "traceId": f"{span.trace:032x}",
        "spanId": f"{span.id:016x}",
        "name": span.name,
        "kind": KINDS[span.kind],
        "startTimeUnixNano": str(span.start_ns),
        "endTimeUnixNano": str(span.end_ns),
        "attributes": _attributes(span.attributes),
        "status": status,
    }
    if span.parent is not None:
        found["parentSpanId"] = f"{span.parent:016x}"
    if span.link is not None:
        found["links"] = [{"traceId": f"{span.link[0]:032x}", "spanId": f"{span.link[1]:016x}"}]
    return found


def _attributes(values: Mapping[str, Value]) -> list[JsonObject]:
    return [{"key": name, "value": _value(value)} for name, value in values.items()]


def _value(value: Value) -> JsonObject:
    match value:
        case bool():
            return {"boolValue": value}
        case int():
            return {"intValue": str(value)}
        case float():
            return {"doubleValue": value}
        case _:
            return {"stringValue": value}


def _address(url: str) -> str:
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise UserError(f"--otlp needs the address of a collector, such as http://localhost:4318, not {url!r}.")
    return url if parts.path not in ("", "/") else urlunsplit(parts._replace(path=PATH))
