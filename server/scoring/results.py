"""A set of scored tasks, and its JSON form.

What `m3bench lab score --json` prints and `m3bench compare` reads. The form carries `SCHEMA`, the profile and the
encoder, because numbers made in different ways must not be compared by accident. It never holds NaN: what has no
value is `null`, with the reason beside it.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from statistics import fmean

from m3bench.server.scoring import aggregate
from m3bench.server.scoring.aggregate import METRICS, Row
from m3bench.server.scoring.profiles import OPEN_M3_BENCH
from m3bench.server.scoring.reasons import KINDS_ALONE
from m3bench.server.scoring.trajectory_score import TrajectoryScore
from m3bench.tasks.errors import InputFileError
from m3bench.tasks.json_types import JsonObject
from m3bench.tasks.strict_json import read_json
from m3bench.tasks.trajectory import show
from m3bench.tasks.trajectory_files import Defect

SCHEMA = 1

_PERCEPTION = re.compile(
    r"(?:ocr/perform_ocr|dinox-mcp/detect-all-objects|dinox-mcp/detect-objects-by-text|pyzbar-mcp/scan_barcode"
    r"|imagesorcery-mcp/.*)"
)
_GROUNDING = re.compile(
    r"(?:amazon/search_products|google-maps/places_text_search|wiki/search|car-price/.*|food_nutrition_mcp/.*)"
)
"""The tools of the public evaluator of vision: those that look, and those that look up what was seen."""

_SIGHT = 0.4
"""Mean similarity that calls of vision must exceed to pass."""


def vision(cards: Sequence[TrajectoryScore]) -> dict[str, float | None]:
    """What the public repository of M³-Bench measures of vision, each over the tasks that have such calls.

    Perception recall is the share of looks that were matched; grounding similarity is the mean similarity of look-ups
    of what was seen, 0 for those that nothing matched. Visual reasoning is the share of tasks whose calls of both kinds
    are on average at least as similar as the others, and above 0.4; tasks without others have no part in it.
    """
    perception: list[float] = []
    grounding: list[float] = []
    reasoning: list[float] = []
    for card in cards:
        found = [(match.reference.call.tool, match.similarity) for match in card.matches]
        found += [(placed.call.tool, 0.0) for placed in card.missed]
        looks = [value for tool, value in found if _PERCEPTION.fullmatch(tool)]
        look_ups = [value for tool, value in found if _GROUNDING.fullmatch(tool)]
        others = [value for tool, value in found if not _PERCEPTION.fullmatch(tool) and not _GROUNDING.fullmatch(tool)]
        if looks:
            perception.append(sum(value > 0 for value in looks) / len(looks))
        if look_ups:
            grounding.append(fmean(look_ups))
        if (looks or look_ups) and others:
            sight = fmean([*looks, *look_ups])
            reasoning.append(float(sight >= fmean(others) and sight > _SIGHT))
    values = {
        "perception_recall": perception,
        "grounding_similarity": grounding,
        "visual_reasoning": reasoning,
    }
    return {name: fmean(each) if each else None for name, each in values.items()}


@dataclass(frozen=True, kw_only=True)
class Scored:
    """A task and the score of its trajectory."""

    task: str
    family: str | None
    card: TrajectoryScore


@dataclass(frozen=True, kw_only=True)
class Results:
    """A set of scored tasks."""

    profile: str
    encoder: str
    scored: tuple[Scored, ...]
    not_run: tuple[str, ...] = ()
    """Tasks with a reference and no run: unscored, which is not 0."""
    unreadable: tuple[str, ...] = ()
    """What could not be read and was left out."""
    skipped: tuple[Defect, ...] = ()
    """Everything that was not scored as it stands, and why."""

    @cached_property
    def rows(self) -> tuple[Row, ...]:
        """For aggregation."""
        return tuple(Row.from_score(entry.task, entry.family, entry.card) for entry in self.scored)

    @property
    def results_known(self) -> bool:
        """Whether what calls gave was known, which only profile `effect` asks for."""
        return all(entry.card.alignment.results_known for entry in self.scored)

    def to_json(self) -> JsonObject:
        """A dict that `json.dumps` takes."""
        data: JsonObject = {
            "schema": SCHEMA,
            "profile": self.profile,
            "encoder": self.encoder,
            **({} if self.results_known else {"note": KINDS_ALONE}),
            "aggregate": aggregate.overall(self.rows),
            "intervals": {
                name: [interval.low, interval.high] for name, interval in aggregate.intervals(self.rows).items()
            },
            "mean": aggregate.mean(self.rows),
            **({"vision": vision([entry.card for entry in self.scored])} if self.profile == OPEN_M3_BENCH.name else {}),
            "families": {
                name: {"tasks": len(rows), **aggregate.overall(rows)}
                for name, rows in aggregate.by_family(self.rows).items()
                if name
            },
            "tasks": {entry.task: _task(entry) for entry in self.scored},
        }
        if self.not_run:
            data["not_run"] = list(self.not_run)
        if self.unreadable:
            data["unreadable"] = list(self.unreadable)
        if self.skipped:
            data["skipped"] = [defect.to_json() for defect in self.skipped]
        return data


def _task(entry: Scored) -> JsonObject:
    return ({"family": entry.family} if entry.family else {}) | entry.card.to_json()


@dataclass(frozen=True, kw_only=True)
class ResultFile:
    """A result set read back: the rows, without the alignments."""

    path: Path
    profile: str
    encoder: str
    rows: tuple[Row, ...]


def read_results(path: Path | str) -> ResultFile:
    """Read what `m3bench lab score --json` printed.

    Raises:
        InputFileError: The file cannot be read, or is not a result file.
    """
    path = Path(path)
    data = read_json(path)
    if not isinstance(data, Mapping) or not isinstance(data.get("tasks"), Mapping) or "profile" not in data:
        raise InputFileError(path, "is not a result file (make one with `m3bench lab score --json`)")
    if data.get("schema") != SCHEMA:
        raise InputFileError(path, f"is {show(data.get('schema'))} (this version reads {SCHEMA})", field="schema")
    for name in ("profile", "encoder"):
        if not isinstance(data.get(name), str):
            raise InputFileError(path, f"is {show(data.get(name))} (expected a string)", field=name)
    rows = tuple(_row(path, task, entry, data["profile"]) for task, entry in data["tasks"].items())
    return ResultFile(path=path, profile=data["profile"], encoder=data["encoder"], rows=rows)


def _row(path: Path, task: str, entry: object, profile: str) -> Row:
    if not isinstance(entry, Mapping):
        raise InputFileError(path, f"is {show(entry)} (expected an object)", task=task)
    values: dict[str, float | None] = {}
    for name in (*METRICS, "average"):
        number = entry.get(name)
        if number is not None and (isinstance(number, bool) or not isinstance(number, int | float)):
            raise InputFileError(path, f"is {show(number)} (expected a number)", task=task, field=name)
        values[name] = None if number is None else float(number)
    counts: dict[str, int] = {}
    for name in ("reference_calls", "actual_calls", "matched"):
        number = entry.get(name)
        if isinstance(number, bool) or not isinstance(number, int) or number < 0:
            raise InputFileError(path, f"is {show(number)} (expected a count)", task=task, field=name)
        counts[name] = number
    family = entry.get("family")
    return Row(
        id=task,
        family=family if isinstance(family, str) else None,
        metrics=values,
        reference_calls=counts["reference_calls"],
        actual_calls=counts["actual_calls"],
        matched=counts["matched"],
        profile=profile,
    )
