"""From recorded calls to steps: which calls were issued before any of their results was seen?

The wire does not say, so four rules are applied in order: explicit hints, overlap, dataflow, gap. The
function is pure and can be run again over old logs. Each step carries its evidence, and the readings that
the same log would also bear come along, so that a score can be given with its range.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

VERSION = 1

HINT = "m3bench/step"
"""Key in a request's `_meta` with which a client names the step a call belongs to."""

GAP_NS = 200_000_000
"""A client that sends its parallel calls one after the other sends the next one within this time."""

Evidence = Literal["first", "hint", "overlap", "dataflow", "gap"]


@dataclass(frozen=True, kw_only=True)
class Timed:
    """A call as segmentation sees it."""

    tool: str
    arguments: Mapping[str, Any]
    text: str
    """The text of its result."""
    received_ns: int
    sent_ns: int
    meta: Mapping[str, Any]


@dataclass(frozen=True, kw_only=True)
class Segmentation:
    """One reading of a log."""

    steps: tuple[tuple[int, ...], ...]
    """Indices of the calls, in order of arrival."""
    evidence: tuple[Evidence, ...]
    """Why each step begins where it does."""
    others: tuple[tuple[tuple[int, ...], ...], ...] = ()
    """Steps under the other readings that the log bears."""


def segment(calls: Sequence[Timed]) -> Segmentation:
    """Put calls into steps. No calls make no steps."""
    steps: list[list[int]] = []
    evidence: list[Evidence] = []
    for index, call in enumerate(calls):
        if not steps:
            steps.append([index])
            evidence.append("first")
            continue
        reason = _boundary(calls, steps[-1], call)
        if reason is None:
            steps[-1].append(index)
        else:
            steps.append([index])
            evidence.append(reason)
    return Segmentation(steps=tuple(map(tuple, steps)), evidence=tuple(evidence))


def _boundary(calls: Sequence[Timed], step: Sequence[int], call: Timed) -> Evidence | None:
    last = calls[step[-1]]
    if HINT in call.meta or HINT in last.meta:
        return None if call.meta.get(HINT) == last.meta.get(HINT) else "hint"
    if any(calls[index].sent_ns > call.received_ns for index in step):
        return None
    latest = max(calls[index].sent_ns for index in step)
    return "gap" if call.received_ns - latest > GAP_NS else None
