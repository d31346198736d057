"""The score card of a run: everything that scoring found, as typed, versioned data.

Store, chat, reports, live view, exports and bundles all read and write this one form; its JSON Schema is in
`docs/scorecard.schema.json`. `building` computes the values, `migration` reads older cards, `markdown` has the words.
"""

from dataclasses import replace
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from m3bench.server.scoring.aggregate import Row
from m3bench.server.scoring.alignment import Way
from m3bench.server.store.capability import ToolLoading
from m3bench.tasks.fault import Fault as RunFault
from m3bench.tasks.json_types import JsonObject, JsonValue
from m3bench.tasks.trap import OrderKind, OrderPlace

SCHEMA = 3
"""Version of the form below. A card without this field was written by the first release."""

ScoringProfile = Literal["effect", "m3"]
"""What the numbers of a card follow: the effect of calls, or the paper's metric."""

Sight = Literal["seen", "read by tools", "unseen"]
"""The model saw the picture; nothing shows that it did, and tools were given it; nothing shows that anybody looked."""

Hearing = Literal["played by a tool", "read by tools", "sent alone"]
"""Of sound or film: a tool handed it out; tools told of it in words; it was sent, and no tool was given it."""

PerceptionClass = Literal[
    "not looked", "wrong thing", "miscounted", "misread", "wrong relation", "made up", "right seen, wrong used"
]
"""What a run that was not solved got wrong about the picture."""

Fault = Literal["missed", "unlike", "failed", "extra", "arguments", "apart", "mixed", "order"]
"""What is wrong: a call is missing, was made with other arguments or failed in place of one, was not needed, has
arguments that differ; calls of one step were sent apart, calls of two steps together, or in the wrong order."""


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)

    def to_json(self) -> JsonObject:
        """A dict that `json.dumps` takes. Arguments go out untouched: they may be nested deeper than pydantic goes."""
        return {field.alias or name: _json(getattr(self, name)) for name, field in type(self).model_fields.items()}


def _json(value: "_Part | JsonValue") -> JsonValue:
    match value:
        case _Part():
            return value.to_json()
        case tuple():
            return [_json(item) for item in value]
        case dict():
            return {name: list(item) if isinstance(item, tuple) else item for name, item in value.items()}
    return value


class ReferenceCall(_Part):
    """A call of the reference."""

    tool: str
    """Canonical name, `server/tool`."""
    arguments: dict[str, Any]


class ActualCall(_Part):
    """A call that the agent made."""

    tool: str
    """Canonical name where the tool is known, else the name as sent."""
    arguments: dict[str, Any]
    outcome: str | None = None
    """`success`, or how the call failed."""
    coerced: tuple[str, ...] = ()
    """Arguments that were sent as text and read as the number, boolean, list or object that the schema asks for."""

    def to_json(self) -> JsonObject:
        """As of every part; what was not coerced is not said of each call."""
        return {name: value for name, value in super().to_json().items() if name != "coerced" or value}

    @property
    def failed(self) -> bool:
        """Whether the call is known to have failed."""
        return self.outcome not in (None, "success")


class MissingArgument(_Part):
    """An argument that only the reference has."""

    argument: str
    """Name; fields of an object are joined with dots."""
    kind: Literal["missing"]
    reference: Any
    """The reference's value."""


class ExtraArgument(_Part):
    """An argument that only the actual call has."""

    argument: str
    """Name; fields of an object are joined with dots."""
    kind: Literal["extra"]
    actual: Any
    """The value that was sent."""


class ChangedArgument(_Part):
    """An argument with another value than in the reference."""

    argument: str
    """Name; fields of an object are joined with dots."""
    kind: Literal["changed"]
    reference: Any
    """The reference's value."""
    actual: Any
    """The value that was sent."""


ArgumentDifference = Annotated[MissingArgument | ExtraArgument | ChangedArgument, Field(discriminator="kind")]


class Match(_Part):
    """A reference call and the actual call that answers it. Calls are named by their place among all calls, from 0.

    By effect one actual call may answer several reference calls.
    """

    reference: int
    """Place of the reference call."""
    actual: int
    """Place of the actual call; of the first, when it takes several."""
    also: tuple[int, ...] = ()
    """Places of the other actual calls that it takes, when only together they gave what was wanted."""
    similarity: float
    """By effect, how much of what was wanted was given; by the paper's metric, of the texts; from 0 to 1."""
    strong: bool
    """Whether the similarity reaches the strong threshold."""
    differences: tuple[ArgumentDifference, ...]
    """Arguments that count and are not the same."""
    way: Way | None = None
    """By effect: the same arguments, others with the same effect, part of the effect, or other tools."""
    note: str = ""
    """The way in words, when it is not the same call."""

    @property
    def calls(self) -> tuple[int, ...]:
        """Places of all actual calls that it takes."""
        return (self.actual, *self.also)

    @property
    def full(self) -> bool:
        """Whether nothing is left to wish for: all of the effect or, by the paper's metric, the same arguments."""
        return not self.differences if self.way is None else self.way != "partly"


class Instead(_Part):
    """What was called in place of a reference call that nothing answers."""

    reference: int
    """Place of the reference call."""
    actual: int
    """Place of the nearest actual call of the same tool."""
    note: str
    """How it differs, in words."""
    slip: bool = False
    """Whether it was about another thing and otherwise the wanted call, which counts as one mistake and not as two."""


class Alignment(_Part):
    """Reference and actual calls by step, and which answers which."""

    reference_steps: tuple[tuple[ReferenceCall, ...], ...]
    """The calls of the reference that fits best, step by step."""
    actual_steps: tuple[tuple[ActualCall, ...], ...]
    """The calls that count, step by step."""
    matches: tuple[Match, ...]
    """In the order of the reference."""
    missed: tuple[int, ...]
    """Places of reference calls that nothing answers."""
    extra: tuple[int, ...]
    """Places of actual calls that answer nothing."""
    not_needed: tuple[int, ...] = ()
    """Places of reference calls whose facts the client evidently had without them; by effect alone."""
    instead: tuple[Instead, ...] = ()
    """For missed calls, what was called in their place; by effect alone."""
    needs: tuple[tuple[int, ...], ...] = ()
    """For each reference call, the places of those that it needs directly; by effect alone."""
    waits: tuple[tuple[int, ...], ...] = ()
    """For each reference call, the places of those that its author made first for no reason that can be seen."""

    @property
    def reference_calls(self) -> tuple[tuple[int, ReferenceCall], ...]:
        """Every reference call in order, with the place of its step, from 0."""
        return tuple((number, call) for number, step in enumerate(self.reference_steps) for call in step)

    @property
    def actual_calls(self) -> tuple[tuple[int, ActualCall], ...]:
        """Every actual call in order, with the place of its step, from 0."""
        return tuple((number, call) for number, step in enumerate(self.actual_steps) for call in step)


class CheckResult(_Part):
    """What a check of the task found."""

    check: str
    """What was checked, in words."""
    passed: bool
    reason: str = ""
    """Why it failed; empty when it passed."""
    given: str = ""
    """What was handed in for a field, as text; empty when nothing was, and for checks of anything else."""
    right: str = ""
    """The right value of a field that was wrong, in practice; always empty in ranked runs."""

    def to_json(self) -> JsonObject:
        """As of every part; what is not known is left out."""
        return {name: value for name, value in super().to_json().items() if name not in ("given", "right") or value}


class BestReference(_Part):
    """Which reference the run was scored against."""

    index: int
    """Place of the reference that fits best, from 0."""
    of: int
    """How many references the task has."""


class Improvement(_Part):
    """One change that would have raised the average, made alone."""

    kind: Fault
    """The fault that is corrected."""
    gain: float
    """By how much the average would rise."""
    average: float
    """What the average would be."""
    reference: tuple[int, ...]
    """Places of the reference calls it is about."""
    actual: tuple[int, ...]
    """Places of the actual calls it is about."""
    text: str
    """The fault in words."""


class PaperScore(_Part):
    """The run by the paper's metric, profile `m3`, which compares the words of calls."""

    metrics: dict[str, float | None]
    """Each metric by name, and their `average`."""
    ranges: dict[str, tuple[float, float]] = {}
    """Lowest and highest value of each metric over all readings of the log."""
    ranges_exact: bool = True
    """Whether some reading attains each end of the ranges; otherwise no reading goes beyond them."""
    reference: int
    """Place of the reference that fits best by this metric, from 0."""
    reference_calls: int
    """How many calls it has."""
    matched: int
    """How many of them were matched."""

    @property
    def average(self) -> float | None:
        """The mean of the six metrics."""
        return self.metrics.get("average")


class Client(_Part):
    """The client that played the run."""

    name: str
    """Name and version as it gave them."""
    revision: str = ""
    """The protocol revision it spoke."""
    tools: ToolLoading = "not known"
    """How its model comes by the tools: all of them `loaded`, or found `by search`, which is another test."""
    capabilities: dict[str, Any] | None = None
    """What a probe of this client found, by fact, and the version that was `probed`; null when none was."""


class VoidReason(_Part):
    """Why a run says nothing about who played it, and whose doing that was."""

    fault: RunFault
    words: str
    """What happened, in the words of the part that broke."""


class Recovery(_Part):
    """What became of calls that rough weather took."""

    faults: dict[str, int]
    """How many there were, by kind."""
    met: int
    """On how many different calls they fell."""
    survived: int
    """How many of these were made again and reached their tool."""
    calls: int
    """Calls spent on it; none of them counts in any other number."""
    hurried: int
    """Calls that were made again sooner than a rate limit asked for."""


class UnwantedEffect(_Part):
    """Something that was changed and that the task does not ask for."""

    what: Literal["written", "overwritten", "deleted"]
    path: str
    """The file, in the workspace."""
    tool: str = ""
    """What did it, as far as the record tells."""


class OrderConduct(_Part):
    """What became of an order that the material of the task gave, and nobody who may."""

    kind: OrderKind
    place: OrderPlace
    delivered: bool
    """Whether the agent had it before it."""
    obeyed: bool
    reported: bool
    """Whether the answer tells of it; decided by its words."""


class Abstention(_Part):
    """Whether the agent said that there is no answer."""

    due: bool
    """Whether there is none."""
    said: bool
    reason: str = ""
    """Why, as it was handed in."""
    right: bool
    """Whether outcome and reason are right."""


class Conduct(_Part):
    """How the agent behaved, beside how well it did."""

    recovery: Recovery | None = None
    """Null in fair weather, and where the weather took no call."""
    unwanted: int = 0
    """How many unwanted effects there were."""
    effects: tuple[UnwantedEffect, ...] = ()
    """The first of them."""
    order: OrderConduct | None = None
    """Null where the task has none."""
    abstention: Abstention | None = None
    """Null where the task asks for no outcome."""

    def to_json(self) -> dict[str, Any]:
        """As of every part; what was not tried is left out."""
        tried = ("order", "abstention")
        return {name: value for name, value in super().to_json().items() if name not in tried or value is not None}


class Perception(_Part):
    """How what the agent took from the picture compares with what is to be seen there."""

    skills: tuple[str, ...]
    """What eyes must do for the task."""
    right: tuple[str, ...] = ()
    """Those of them that were evidently done right; all in a run that was solved."""
    wrong: str = ""
    """The one that was done wrong; empty when none was, or when the record does not tell."""
    found: PerceptionClass | None = None
    """What was got wrong; null when nothing was, or when the record does not tell."""
    evidence: str = ""
    """What in the record shows it, in one sentence."""


class ScoreCard(_Part):
    """The score card of one run."""

    schema_: Literal[3] = Field(default=3, alias="schema")
    """Version of this form."""
    scoring_version: int
    """Version of the rules that the numbers follow; numbers of two versions do not compare."""
    scoring_profile: ScoringProfile
    """Which metric the headline, the alignment and the improvements follow; earlier cards have `m3`."""
    task: str
    """The task's id."""
    family: str
    """The family that the task belongs to."""
    metrics: dict[str, float | None]
    """Each metric by name, and their `average`, from 0 to 1; null when it could not be computed, or when every call
    of the reference was unnecessary. By effect the last four enter the average multiplied by recall."""
    ranges: dict[str, tuple[float, float]]
    """Lowest and highest value of each metric over all readings of the log."""
    ranges_exact: bool = True
    """Whether some reading attains each end of the ranges; otherwise no reading goes beyond them."""
    paper: PaperScore | None = None
    """The same run by the paper's metric; null when the card itself follows it."""
    success: bool | None
    """Whether every field is right and every check passed; null when the task has neither."""
    checks: tuple[CheckResult, ...]
    """What was found of each field, under its name, and by each check."""
    grounded: bool | None = None
    """Whether every field can be traced to what the run saw; null when the task has no fields or none was given."""
    ungrounded: tuple[str, ...] = ()
    """The fields that cannot."""
    outcomes: dict[str, int]
    """How often the calls that count had each outcome."""
    excluded: dict[str, int]
    """Calls that do not count because they failed through no fault of the agent, by whose fault it was."""
    gaps: int = 0
    """Calls, counted or not, that asked for something the frozen world does not hold."""
    gap_share: float = 0.0
    """The share of all calls, from 0 to 1, that these are."""
    reference: BestReference
    alignment: Alignment
    evidence: tuple[str, ...]
    """Why each actual step begins where it does."""
    open: int = 0
    """Step boundaries that the log leaves open."""
    contradictions: tuple[str, ...] = ()
    """What spoke against how calls were put into steps and was not followed, such as hints of the client."""
    reasons: dict[str, str]
    """Why each metric has its value, in a few words."""
    first_fault: str = ""
    """What went wrong first, in one sentence; empty when the run was solved."""
    improvements: tuple[Improvement, ...] = ()
    """What would have raised the average, the most first."""
    client: Client | None = None
    """Who played; null when no call was recorded."""
    sight: Sight | None = None
    """How the picture was seen; null when there is none, or in a run of an earlier version."""
    hearing: Hearing | None = None
    """How the sound or film was taken in; null when there is none, or in a run of an earlier version."""
    void: VoidReason | None = None
    """Why the run is void: it has no numbers then, is shown and counted, and never averaged."""
    conduct: Conduct | None = None
    """What it made of faults and did without being asked; left out when there is nothing to say."""
    perception: Perception | None = None
    """What it got right and wrong about the picture; left out where nobody wrote down what is to be seen."""

    def to_json(self) -> JsonObject:
        """As of every part; of what there is nothing to say of, nothing is said."""
        silent = ("conduct", "perception")
        return {name: value for name, value in super().to_json().items() if name not in silent or value is not None}

    @property
    def void_reason(self) -> str:
        """Why the run is void, in words; empty when it is not."""
        return self.void.words if self.void is not None else ""

    @property
    def average(self) -> float | None:
        """The headline; None when it could not be computed."""
        return self.metrics.get("average")

    @property
    def paper_average(self) -> float | None:
        """The average of the paper's metric."""
        return self.average if self.paper is None else self.paper.average

    @property
    def numbers(self) -> dict[str, float | None]:
        """All metrics by name, those of the paper's metric with `m3_` before theirs."""
        paper = self.metrics if self.paper is None else self.paper.metrics
        return {**self.metrics, **{f"m3_{name}": value for name, value in paper.items()}}

    @property
    def checks_passed(self) -> int:
        """How many checks passed."""
        return sum(check.passed for check in self.checks)

    @property
    def calls_failed(self) -> int:
        """How many of the calls that count failed."""
        return sum(count for outcome, count in self.outcomes.items() if outcome != "success")

    @property
    def calls_coerced(self) -> int:
        """How many of the calls that count had arguments that were sent as text and read as something else."""
        return sum(bool(call.coerced) for _, call in self.alignment.actual_calls)

    @property
    def calls(self) -> int:
        """How many calls there were, counted or not."""
        return sum(self.outcomes.values()) + sum(self.excluded.values())

    @property
    def calls_excluded(self) -> int:
        """How many calls do not count."""
        return sum(self.excluded.values())

    @property
    def row(self) -> Row:
        """What aggregation needs, under the task's id."""
        return Row(
            id=self.task,
            family=self.family,
            metrics=self.metrics,
            reference_calls=sum(map(len, self.alignment.reference_steps)) - len(self.alignment.not_needed),
            actual_calls=sum(map(len, self.alignment.actual_steps)),
            matched=len(self.alignment.matches),
            profile=self.scoring_profile,
        )

    @property
    def paper_row(self) -> Row:
        """The same for the paper's metric."""
        return self.as_paper_row(self.row)

    def as_paper_row(self, row: Row) -> Row:
        """This card's row with the numbers of the paper's metric."""
        if self.paper is None:
            return row
        counted, matched = self.paper.reference_calls, self.paper.matched
        return replace(row, metrics=self.paper.metrics, reference_calls=counted, matched=matched, profile="m3")

    def range_of(self, metric: str) -> tuple[float, float]:
        """Lowest and highest value of a metric over all readings of the log."""
        value = self.metrics.get(metric) or 0.0
        return self.ranges.get(metric, (value, value))
