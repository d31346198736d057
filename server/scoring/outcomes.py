"""What became of each call, decided by rule from the protocol, and the rates that follow.

Separate from the alignment and never multiplied into it. What is not the agent's doing is counted by cause and left
out of every rate: a broken sandbox says nothing about an agent. Pure functions over recorded facts.
"""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum


class Outcome(StrEnum):
    """What became of a call, from the first thing that can go wrong to the last."""

    ILLEGAL_FORMAT = "illegal_format"
    """The request was not a readable tool call."""
    UNKNOWN_TOOL = "unknown_tool"
    """No such tool."""
    INVALID_ARGUMENTS = "invalid_arguments"
    """The arguments do not fit the tool's schema, or the tool refused them."""
    NOT_FOUND = "not_found"
    """Well-formed, but what it asked for does not exist."""
    SUCCESS = "success"


class Cause(StrEnum):
    """Who is to answer for a failed call."""

    AGENT = "agent"
    CLIENT = "client"
    PROXY = "proxy"
    SANDBOX = "sandbox"
    UPSTREAM = "upstream"
    CASSETTE_MISS = "cassette_miss"


@dataclass(frozen=True, kw_only=True)
class CallFacts:
    """What the protocol tells about a call. Later facts have no meaning when an earlier one failed."""

    readable: bool = True
    tool_exists: bool = True
    arguments_fit: bool = True
    arguments_accepted: bool = True
    """Whether the tool itself took them: schemas cannot say everything."""
    found: bool = True
    """Whether the tool answered, rather than report that what was asked for does not exist."""
    cause: Cause = Cause.AGENT
    """Who is to answer for it, if it failed."""


def classify(facts: CallFacts) -> Outcome | None:
    """The outcome of a call; `None` when another than the agent made it fail, which is no outcome of the agent's."""
    if facts.cause is not Cause.AGENT:
        return None
    if not facts.readable:
        return Outcome.ILLEGAL_FORMAT
    if not facts.tool_exists:
        return Outcome.UNKNOWN_TOOL
    if not (facts.arguments_fit and facts.arguments_accepted):
        return Outcome.INVALID_ARGUMENTS
    return Outcome.SUCCESS if facts.found else Outcome.NOT_FOUND


@dataclass(frozen=True, kw_only=True)
class Rates:
    """Rule-based rates over the agent's calls. A rate over no calls is `None`: nothing was measured."""

    valid_tool_name: float | None
    """Calls whose tool exists, of all calls."""
    schema_compliance: float | None
    """Calls whose arguments fit the schema, of the calls whose tool exists."""
    execution_success: float | None
    """Calls that succeeded, of all calls."""
    outcomes: Mapping[Outcome, int]
    """How many calls of each outcome."""
    excluded: Mapping[Cause, int]
    """Calls that others made fail, by cause."""


def rates(calls: Iterable[CallFacts]) -> Rates:
    """The rates over recorded calls."""
    outcomes: Counter[Outcome] = Counter()
    excluded: Counter[Cause] = Counter()
    compliant = 0
    for facts in calls:
        outcome = classify(facts)
        if outcome is None:
            excluded[facts.cause] += 1
            continue
        outcomes[outcome] += 1
        compliant += facts.readable and facts.tool_exists and facts.arguments_fit
    total = outcomes.total()
    named = total - outcomes[Outcome.ILLEGAL_FORMAT] - outcomes[Outcome.UNKNOWN_TOOL]
    return Rates(
        valid_tool_name=_rate(named, total),
        schema_compliance=_rate(compliant, named),
        execution_success=_rate(outcomes[Outcome.SUCCESS], total),
        outcomes={outcome: outcomes[outcome] for outcome in Outcome},
        excluded=dict(excluded),
    )


def _rate(part: int, whole: int) -> float | None:
    return part / whole if whole else None
