"""Draws up a capability card from a probe's notes: a pure function, one small judgement per fact.

A word that the model was asked to type back counts as not seen only if the model did type back the control word, which
every client shows: a model that ignores the probe's questions says nothing about its client.

A report is the card as a file that a person can hand on, with the score of the last run that the client played. It
holds no path, no answer and no person's name.
"""

from collections.abc import Iterator
from datetime import UTC, datetime
from itertools import pairwise
from pathlib import Path
from typing import Any

from mcp_types import CLIENT_CAPABILITIES_META_KEY, CLIENT_INFO_META_KEY, PROTOCOL_VERSION_META_KEY
from mcp_types.version import MODERN_PROTOCOL_VERSIONS

from m3bench.proxy.protocol.tool_calls import input_schema
from m3bench.proxy.steps.segmentation import MODEL_NS
from m3bench.server.clients.probe_notes import NotedCall, Notes, is_among
from m3bench.server.clients.probe_tools import DEFINITIONS, Setup
from m3bench.server.clients.table import by_client_info
from m3bench.server.scorecard.migration import card_of
from m3bench.server.store.capability import VERSION, CapabilityCard, Evidence, Fact, fact
from m3bench.server.store.layout import database
from m3bench.server.store.sqlite import SqliteStore

_ENVELOPE = (PROTOCOL_VERSION_META_KEY, CLIENT_INFO_META_KEY, CLIENT_CAPABILITIES_META_KEY)
"""What the newest revision puts into every request."""

_SCHEMAS = {str(tool["name"]): input_schema(tool) for tool in DEFINITIONS}

Found = Iterator[tuple[str, Fact]]


def draw_up(notes: Notes, setup: Setup, *, transport: str, taken: str, version: str) -> CapabilityCard:
    """The card of a client.

    Args:
        notes: What was seen of it.
        setup: How the probe was set up.
        transport: Over which transport it came.
        taken: When, as an ISO time.
        version: The version of m3bench.
    """
    name, _, number = notes.client.rpartition(" ") if " " in notes.client else (notes.client, "", "")
    name, number = str(notes.info.get("name") or name), str(notes.info.get("version") or number)
    return {
        "version": VERSION,
        "client": {"name": name or "unnamed", "version": number},
        "taken": taken,
        "m3bench": version,
        "complete": notes.said is not None,
        "setup": {"transport": transport, "profile": notes.profile, "long": setup.long, "slow": setup.slow},
        "facts": dict(
            [*_wire(notes), *_tools(notes), *_overlaps(notes), *_sight(notes), *_long(notes), *_slow(notes, setup),
             *_retries(notes), *_requests(notes), *_list_changes(notes)]
        ),
    }  # fmt: skip


def _wire(notes: Notes) -> Found:
    several = f", in {notes.sessions} sessions" if notes.sessions > 1 else ""
    yield "revision", fact(notes.revision, "protocol", f"speaks revision {notes.revision}{several}")
    offers = list(notes.capabilities)
    yield "capabilities", fact(offers, "protocol", f"offers {', '.join(offers) or 'nothing beyond the base protocol'}")


def _tools(notes: Notes) -> Found:
    sizes = {listed.page: listed.tools for listed in notes.listed}
    total = sum(sizes.values())
    pages = {(1, 2): "both pages", (1,): "the first page only, of two"}.get(tuple(sorted(sizes)), "no page")
    yield "tools_listed", fact(total, "protocol", f"fetched {pages}: {total} tools")
    yield "pages", fact(len(sizes), "protocol", f"follows the cursor: {'yes' if 2 in sizes else 'no'}")
    count = (notes.said or {}).get("tools")
    if count is not None:
        yield "tools_seen", fact(count, "model", f"the model counts {count} tools")
    if not _trusted(notes) or not sizes:
        return
    shown = [mark for mark in notes.marks if mark.page in sizes]
    missed = [mark.place for mark in shown if not _typed(notes, mark.word)]
    seen = [mark.place for mark in shown if mark.place not in missed]
    if not seen:
        yield "tools_reached", fact(None, "checked", "the model named no mark of the tool list")
    elif not missed:
        yield "tools_reached", fact(max(seen), "checked", f"the model sees the list to its end, tool {max(seen)}")
    else:
        says = f"the model sees tools {_numbers(seen)} of the list, not {_numbers(missed)}"
        whole = max((place for place in seen if place < min(missed)), default=0)
        yield "tools_reached", fact(whole, "checked", says)


def _overlaps(notes: Notes) -> Found:
    yield from _overlap(notes, "overlap", "probe_pair", "read-only tools")
    yield from _overlap(notes, "overlap_others", "probe_note", "other tools")


def _overlap(notes: Notes, name: str, pair: str, tools: str) -> Found:
    first, second = notes.of(f"{pair}_a")[:1], notes.of(f"{pair}_b")[:1]
    if not first or not second:
        return
    early, late = sorted((first[0], second[0]), key=lambda call: call.request.received_ns)
    gap = late.request.received_ns - (early.sent_ns or early.answered_ns)
    if not early.answered_ns or gap <= 0:
        yield name, fact("together", "protocol", f"sends calls of one turn to {tools} at once")
    elif gap < MODEL_NS:
        says = f"sends calls of one turn to {tools} one by one, {gap / 1e6:.0f} ms apart"
        yield name, fact("in a row", "protocol", says)
    else:
        says = f"sent a pair of calls to {tools} {gap / 1e9:.1f} s apart: one call at a time, or two turns"
        yield name, fact("apart", "protocol", says)


def _sight(notes: Notes) -> Found:
    secrets = notes.secrets
    if secrets is None or notes.said is None or not _trusted(notes):
        return
    images: bool | None = None
    if _answered(notes, "probe_picture"):
        images = _typed(notes, secrets.picture, misread=1)
        says = "pictures reach the model" if images else "pictures do not reach the model"
        yield "images", fact(images, "checked", says)
    if _answered(notes, "probe_mixed"):
        text, data = _typed(notes, secrets.mixed_text), _typed(notes, secrets.mixed_data)
        image = _typed(notes, secrets.mixed_picture, misread=1)
        value = _structured(text, image or images is False, data)
        says = {
            "shown": "structured content is shown beside texts and pictures",
            "ignored": "structured content is ignored",
            "replaces texts": "structured content takes the place of texts",
            "replaces everything": "structured content takes the place of texts and pictures: use --content-only",
            "hides pictures": "structured content hides pictures: use --content-only",
        }.get(value or "", "what happens to structured content is not known")
        yield "structured", fact(value, "checked", says)


def _structured(text: bool, image: bool, data: bool) -> str | None:
    """What becomes of structured content, from which of the three words came through."""
    if data:
        known = {(True, True): "shown", (False, True): "replaces texts", (False, False): "replaces everything"}
        return known.get((text, image), "hides pictures")
    if not text:
        return None
    return "ignored" if image else "hides pictures"


def _long(notes: Notes) -> Found:
    secrets = notes.secrets
    if secrets is None or notes.said is None or not _trusted(notes) or not _answered(notes, "probe_long"):
        return
    markers = secrets.long.markers
    missed = [depth for depth, word in markers if not _typed(notes, word)]
    whole = max((depth for depth, _ in markers if depth < min(missed, default=depth + 1)), default=0)
    if not missed:
        yield "long_text", fact(whole, "checked", f"a text of {_kb(whole)} comes through whole")
    else:
        tail = markers[-1][0] not in missed
        cut = "its middle is left out" if tail else "the rest is cut off"
        says = f"of a text of {_kb(markers[-1][0])}, {_kb(whole) if whole else 'less than 5 kB'} come through; {cut}"
        yield "long_text", fact(whole, "checked", says)
    if (way := notes.said.get("long")) is not None:
        words = {"whole": "whole", "cut": "cut short", "file": "as a file", "nothing": "not at all"}
        yield "long_way", fact(way, "model", f"the model got the long text {words[way]}")


def _slow(notes: Notes, setup: Setup) -> Found:
    slow = notes.of("probe_slow")
    if not slow:
        return
    took = (slow[0].answered_ns - slow[0].request.received_ns) / 1e9
    if slow[0].cancelled:
        yield "call_seconds", fact(round(took, 1), "protocol", f"gave a call up after {took:.1f} s")
    elif slow[0].answered_ns:
        secrets = notes.secrets
        arrived = secrets is not None and _typed(notes, secrets.slow)
        if arrived or not _trusted(notes):
            evidence: Evidence = "checked" if arrived else "protocol"
            says = f"waits {setup.slow:g} s for a call and longer"
            yield "call_seconds", fact(None, evidence, says)
        else:
            says = f"did not pass on an answer that took {setup.slow:g} s"
            yield "call_seconds", fact(setup.slow, "checked", says)
    cancelled = sum(call.cancelled for call in notes.calls[notes.first :])
    yield "cancellations", fact(cancelled, "protocol", f"cancelled {cancelled} of its calls")


def _retries(notes: Notes) -> Found:
    calls = notes.of("probe_flaky")
    if not calls:
        return
    gaps = [later.request.received_ns - (early.sent_ns or early.answered_ns) for early, later in pairwise(calls)]
    if not gaps:
        yield "retries", fact("no", "protocol", "does not repeat a call that failed")
    elif min(gaps) < MODEL_NS:
        yield (
            "retries",
            fact("client", "protocol", f"repeats a call that failed by itself, {min(gaps) / 1e6:.0f} ms later"),
        )
    else:
        says = f"a call that failed was repeated after {min(gaps) / 1e9:.1f} s, by the model or a person"
        yield "retries", fact("model", "protocol", says)


def _requests(notes: Notes) -> Found:
    calls = notes.calls[notes.first :]
    keys = sorted({key for call in calls for key in call.request.meta} - set(_ENVELOPE))
    yield "meta", fact(keys, "protocol", f"sends in _meta: {', '.join(keys) or 'nothing of its own'}")
    tokens = "progressToken" in keys
    yield "progress", fact(tokens, "protocol", f"asks for progress: {'yes' if tokens else 'no'}")
    added = sorted({name for call in calls for name in _added(call)})
    if added:
        yield "added_arguments", fact(added, "protocol", f"adds arguments of its own: {', '.join(added)}")


def _added(call: NotedCall) -> set[str]:
    given = call.request.arguments
    known = _SCHEMAS.get(call.tool, {}).get("properties")
    return set(given) - set(known) if isinstance(given, dict) and isinstance(known, dict) else set()


def _list_changes(notes: Notes) -> Found:
    if not notes.told_ns:
        modern = notes.revision in MODERN_PROTOCOL_VERSIONS
        says = "did not subscribe to changes of the tool list" if modern else "was not told of a changed tool list"
        yield "list_changes", fact("no" if modern else None, "protocol", says)
        return
    again = any(listed.at_ns > notes.told_ns for listed in notes.listed)
    says = "lists its tools again when told that they changed" if again else "told of changed tools, did not list again"
    yield "list_changes", fact("lists again" if again else "no", "protocol", says)


def _answered(notes: Notes, tool: str) -> bool:
    return any(call.sent_ns for call in notes.of(tool))


def _trusted(notes: Notes) -> bool:
    """Whether the model types back what it sees."""
    return notes.secrets is not None and _typed(notes, notes.secrets.control)


def _typed(notes: Notes, word: str, misread: int = 0) -> bool:
    return is_among(word, (notes.said or {}).get("words", ()), misread=misread)


def _numbers(places: list[int]) -> str:
    return ", ".join(str(place) for place in places)


def _kb(size: int) -> str:
    return f"{size / 1000:g} kB"


SCHEMA = 1


def report(data: Path, probed: CapabilityCard, version: str) -> dict[str, Any]:
    """The report on one client.

    Args:
        data: The data folder.
        probed: The client's capability card.
        version: Our own version.
    """
    name, release = probed["client"]["name"], probed["client"]["version"]
    known = by_client_info(name)
    return {
        "schema": SCHEMA,
        "m3bench": version,
        "written": datetime.now(UTC).isoformat(timespec="seconds"),
        "client": {"name": name, "version": release, "title": known.title if known is not None else None},
        "probe": {
            "taken": probed["taken"],
            "complete": probed["complete"],
            "transport": probed["setup"]["transport"],
            "profile": probed["setup"]["profile"],
            "facts": probed["facts"],
        },
        "run": _run(data, f"{name} {release}"),
    }


def _run(data: Path, client: str) -> dict[str, object] | None:
    """The last run that this client played to the end; None when there is none."""
    if not database(data).exists():
        return None
    store = SqliteStore(data)
    try:
        for record in store.runs():
            card = card_of(record)
            if card is None or card.void is not None or card.client is None or card.client.name != client:
                continue
            return {
                "task": record.task,
                "profile": record.setup.profile,
                "solved": card.success,
                "average": card.average,
                "range": list(card.range_of("average")),
                "calls": len(card.alignment.actual_calls),
            }
    finally:
        store.close()
    return None
