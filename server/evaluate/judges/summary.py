"""Turns votes into numbers, for each run and over many, with how far the judges agree.

Completion and grounding go from 0 to 1, rubric scores from 1 to 10. Over runs each is the plain mean. What judges say
stands beside the metrics of a score card and never changes them; `average_published` alone mixes both: the mean of
the six metrics and grounding, over the runs that have all seven, as published figures have it.
"""

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from m3bench.server.evaluate.judges.asks import COMPLETION, CRITERIA, GROUNDING, SCORE, SHUFFLES, Name
from m3bench.server.evaluate.judges.ensemble import alpha, combine, deviation, rule, span
from m3bench.server.evaluate.judges.record import Judgement, Usage
from m3bench.server.scoring.aggregate import Row, micro
from m3bench.server.scoring.profiles import AVERAGED

PUBLISHED = "average_published"

_SCALE = {"completion": COMPLETION.high, "grounding": GROUNDING.high}


@dataclass(frozen=True, kw_only=True)
class Panel:
    """What the judges of a panel said about one thing."""

    values: Mapping[str, float]
    """By judge; those whose vote is missing are not in it."""
    asked: tuple[str, ...]

    @property
    def value(self) -> float | None:
        """One value for all."""
        return combine(tuple(self.values.values()))

    def to_json(self) -> dict[str, Any]:
        """A dict that `json.dumps` takes."""
        values = tuple(self.values.values())
        return {
            "value": self.value,
            "judges": {name: self.values.get(name) for name in self.asked},
            "rule": rule(len(values)),
            "span": span(values),
            "deviation": deviation(values),
        }


@dataclass(frozen=True, kw_only=True)
class Judged:
    """A run's judgement in numbers."""

    judgement: Judgement
    row: Row | None
    """The metrics of its score card; None when it was not scored."""
    panels: Mapping[str, Panel]
    """`completion`, `grounding` and the rubric's criteria as `rubric.NAME`; what was not asked is not in it."""

    @property
    def published(self) -> float | None:
        """The mean of the six metrics and grounding; None when one of the seven is not there."""
        return _published({} if self.row is None else self.row.metrics, self._value("grounding"))

    @property
    def missing(self) -> list[dict[str, Any]]:
        """Votes that were to be and are not, and why."""
        judgement = self.judgement
        lines = []
        for ask, panel in judgement.panels.items():
            votes = {(vote.shuffle, vote.model): vote for vote in judgement.of(ask)}
            for shuffle in range(SHUFFLES) if ask == "rubric" else (None,):
                for model in panel:
                    vote = votes.get((shuffle, model))
                    if vote is None or vote.scores is None:
                        why = "not asked yet" if vote is None else vote.missing
                        lines.append({"ask": ask, "shuffle": shuffle, "judge": model, "why": why})
        return lines

    @property
    def usage(self) -> Usage:
        """What all its votes took."""
        return sum((vote.usage for vote in self.judgement.votes), Usage())

    def to_json(self) -> dict[str, Any]:
        """A dict that `json.dumps` takes."""
        criteria = {name: panel for name in CRITERIA if (panel := self.panels.get(f"rubric.{name}")) is not None}
        rubric = {
            "value": mean([panel.value for panel in criteria.values()]),
            "criteria": {name: panel.to_json() for name, panel in criteria.items()},
        }
        return {
            "run": self.judgement.run,
            "task": self.judgement.task,
            **{name: self.panels[name].to_json() for name in _SCALE if name in self.panels},
            **({"rubric": rubric} if criteria else {}),
            PUBLISHED: self.published,
            "missing": self.missing,
        }

    def _value(self, name: str) -> float | None:
        panel = self.panels.get(name)
        return None if panel is None else panel.value


def judged(judgement: Judgement, row: Row | None) -> Judged:
    """A judgement in numbers."""
    panels: dict[str, Panel] = {}
    for name, asked in judgement.panels.items():
        for key, values in _values(judgement, name).items():
            panels[key] = Panel(values=values, asked=asked)
    return Judged(judgement=judgement, row=row, panels=panels)


def overall(entries: Sequence[Judged]) -> dict[str, Any]:
    """Many runs: means, agreement, the published average and what it took."""
    names = [*_SCALE, *(f"rubric.{name}" for name in CRITERIA)]
    asked = [name for name in names if any(name in entry.panels for entry in entries)]
    values = {name: _over(entries, name) for name in asked}
    whole = [entry for entry in entries if entry.published is not None]
    rows = [entry.row for entry in whole if entry.row is not None]
    grounding = mean([entry.panels["grounding"].value for entry in whole])
    metrics = micro(rows) if rows else {}
    used = sum((entry.usage for entry in entries), Usage())
    rubric = [values[name]["value"] for name in asked if name.startswith("rubric.")]
    return {
        "runs": len(entries),
        **values,
        **({"rubric": mean(rubric)} if rubric else {}),
        PUBLISHED: {"value": _published(metrics, grounding), "runs": len(whole), "average": metrics.get("average")},
        "missing": sum(len(entry.missing) for entry in entries),
        "usage": used.model_dump(mode="json"),
    }


def mean(values: Sequence[float | None]) -> float | None:
    """The plain mean of the values there are."""
    known = [value for value in values if value is not None]
    return math.fsum(known) / len(known) if known else None


def _values(judgement: Judgement, ask: Name) -> dict[str, dict[str, float]]:
    """The value of each judge; a rubric's is the mean over the orders that it answered."""
    if ask == "rubric":
        said: dict[str, dict[str, list[float]]] = {name: {} for name in CRITERIA}
        for vote in judgement.of(ask):
            for name, score in (vote.scores or {}).items():
                said[name].setdefault(vote.model, []).append(score)
        return {
            f"rubric.{name}": {model: math.fsum(scores) / len(scores) for model, scores in by_model.items()}
            for name, by_model in said.items()
        }
    given = {vote.model: vote.scores[SCORE] / _SCALE[ask] for vote in judgement.of(ask) if vote.scores is not None}
    return {ask: given}


def _over(entries: Sequence[Judged], name: str) -> dict[str, Any]:
    panels = [entry.panels[name] for entry in entries if name in entry.panels]
    units = [tuple(panel.values.values()) for panel in panels]
    sizes = Counter(len(unit) for unit in units)
    return {
        "value": mean([panel.value for panel in panels]),
        "runs": sum(size > 0 for size in map(len, units)),
        "rules": {rule(size): count for size, count in sorted(sizes.items(), reverse=True)},
        "span": mean([span(unit) for unit in units]),
        "deviation": mean([deviation(unit) for unit in units]),
        "alpha": alpha(units),
    }


def _published(metrics: Mapping[str, float | None], grounding: float | None) -> float | None:
    columns = [*(metrics.get(name) for name in AVERAGED), grounding]
    return None if any(value is None for value in columns) else mean(columns)
