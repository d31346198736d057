"""What a run's calls say against each other: a record that was really made never does.

A forger who seals again can still be caught here, because a call is recorded more than once: by its number, by its
times, by the bytes of its request and by what was made of them.
"""

import json
from collections.abc import Iterator, Mapping
from typing import Any

from m3bench.proxy.indirect import CALL_TOOL, inner
from m3bench.server.lab.interchange.submission import SubmittedRun
from m3bench.server.store.records import OWN_TOOLS, CallRecord
from m3bench.tasks.answers.reading import as_object
from m3bench.tasks.catalog import expose

Odd = tuple[str, Any, Any]
"""What is odd, what the record claims, what it must be."""


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
        name = next((one for one in (found[0], expose(found[0])) if one in tools), found[0])
    elif not listed:
        tools = {}
    expected = tools.get(name, name)
    if call.tool != expected and not (upstream and name not in tools):
        yield f"{what}: tool", call.tool, expected


def _result(what: str, call: CallRecord) -> Iterator[Odd]:
    times = [time for time in (call.received_ns, call.forwarded_ns, call.returned_ns, call.sent_ns) if time]
    if times != sorted(times):
        yield f"{what}: times", "in order", "not in order"
    if call.result is None:
        return
    result = _parsed(call.result)
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


def _parsed(raw: bytes) -> Any:
    try:
        return json.loads(raw)
    except (ValueError, RecursionError):
        return None
