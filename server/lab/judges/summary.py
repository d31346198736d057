"""Turns votes into numbers, for each run and over many, with how far the judges agree.

Completion and grounding go from 0 to 1, rubric scores from 1 to 10, those of artefacts from 0 to 10. Over runs each is
the plain mean. What judges say stands beside the metrics of a score card and never changes them; two averages alone mix
both. `average_published` is that of M³-Bench: the mean of its six metrics and of grounding as it is asked for there,
over the runs that have all seven. `average_grounded` is the same with our own question about grounding.

Of four judges or more the highest and the lowest value are dropped and the rest averaged; of three the median is taken,
two are averaged, one counts as it is, and none gives no value. Only one value is dropped at each end, however many are
equal to it.
"""

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypedDict

from m3bench.server.lab.judges import mcp_bench
from m3bench.server.lab.judges.judgements import JudgeUsage, RunJudgement
from m3bench.server.lab.judges.questions import (
    COMPLETION,
    EQUIVALENCE,
    GROUNDING,
    M3_COMPLETION,
    M3_GROUNDING,
    RUBRICS,
    SCORE,
    Name,
    shuffles,
)
from m3bench.server.scoring.aggregate import Row, micro
from m3bench.server.scoring.profiles import AVERAGED
from m3bench.server.scoring.statistics.estimates import alpha

FULL = 4
"""Judges of a full ensemble."""


def combine(values: Sequence[float]) -> float | None:
    """One value for all."""
    ordered = sorted(values)
    kept = ordered[1:-1] if len(ordered) >= 3 else ordered
    return math.fsum(kept) / len(kept) if kept else None


def rule(count: int) -> str:
    """How so many values are combined, in words."""
    if count > FULL:
        return f"{count} judges: highest and lowest dropped, mean of the rest"
    return {
        0: "no judge",
        1: "1 judge: its own value",
        2: "2 judges: mean",
        3: "3 judges: median",
        4: "4 judges: mean of the middle two",
    }[count]


def span(values: Sequence[float]) -> float | None:
    """Highest minus lowest; None for fewer than two."""
    return max(values) - min(values) if len(values) >= 2 else None


def deviation(values: Sequence[float]) -> float | None:
    """The standard deviation of these values, as a whole population; None for fewer than two."""
    if len(values) < 2:
        return None
    mean = math.fsum(values) / len(values)
    return math.sqrt(math.fsum((value - mean) ** 2 for value in values) / len(values))


def variation(values: Sequence[float]) -> float | None:
    """The coefficient of variation: deviation over mean; None for fewer than two values or a mean of 0."""
    spread = deviation(values)
    return spread * len(values) / math.fsum(values) if spread is not None and math.fsum(values) else None


AVERAGES: Mapping[str, Name] = {"average_published": "m3-grounding", "average_grounded": "grounding"}
"""Means of the six metrics and of one question about grounding, by name."""

_SCALE = {ask.name: ask.high for ask in (COMPLETION, GROUNDING, M3_COMPLETION, M3_GROUNDING, EQUIVALENCE)}


@dataclass(frozen=True, kw_only=True)
class PanelVotes:
    """What the judges of a panel said about one thing."""

    values: Mapping[str, float]
    """By judge; those whose vote is missing are not in it."""
    asked: tuple[str, ...]
    orders: Mapping[str, tuple[float, ...]] = field(default_factory=dict)
    """What each judge said in each order of a rubric."""

    @property
    def value(self) -> float | None:
        """One value for all."""
        return combine(tuple(self.values.values()))

    def to_json(self) -> dict[str, object]:
        """A dict that `json.dumps` takes."""
        values = tuple(self.values.values())
        return {
            "value": self.value,
            "judges": {name: self.values.get(name) for name in self.asked},
            "rule": rule(len(values)),
            "span": span(values),
            "deviation": deviation(values),
            "variation": variation(values),
        }


class MissingVote(TypedDict):
    """A vote that was to be and is not."""

    ask: Name
    shuffle: int | None
    judge: str
    why: str


@dataclass(frozen=True, kw_only=True)
class JudgedRun:
    """A run's judgement in numbers."""

    judgement: RunJudgement
    row: Row | None
    """The metrics of its score card; None when it was not scored."""
    panels: Mapping[str, PanelVotes]
    """The questions by name and a rubric's criteria as `rubric.NAME`; what was not asked is not in it."""
    outcomes: Mapping[str, int] | None = None
    """How often its calls had each outcome; None when it was not scored."""

    def average(self, name: str) -> float | None:
        """One of `AVERAGES`; None when one of its seven parts is not there."""
        return _seven({} if self.row is None else self.row.metrics, self._value(AVERAGES[name]))

    @property
    def missing(self) -> list[MissingVote]:
        """Votes that were to be and are not, and why."""
        judgement = self.judgement
        lines: list[MissingVote] = []
        for ask, panel in judgement.panels.items():
            votes = {(vote.shuffle, vote.model): vote for vote in judgement.of(ask)}
            for shuffle in shuffles(ask):
                for model in panel:
                    vote = votes.get((shuffle, model))
                    if vote is None or vote.scores is None:
                        why = "not asked yet" if vote is None else vote.missing
                        lines.append({"ask": ask, "shuffle": shuffle, "judge": model, "why": why})
        return lines

    @property
    def usage(self) -> JudgeUsage:
        """What all its votes took."""
        return sum((vote.usage for vote in self.judgement.votes), JudgeUsage())

    def to_json(self) -> dict[str, object]:
        """A dict that `json.dumps` takes."""
        return {
            "run": self.judgement.run,
            "task": self.judgement.task,
            **{name: self.panels[name].to_json() for name in _SCALE if name in self.panels},
            **{name: rubric for name in RUBRICS if (rubric := self._rubric(name)) is not None},
            **({"mcp_bench": self.mcp_bench} if self.mcp_bench is not None else {}),
            **{name: self.average(name) for name in AVERAGES},
            "missing": self.missing,
        }

    @property
    def mcp_bench(self) -> dict[str, float | None] | None:
        """The parts, axes and overall score of MCP-Bench; None when its rubric was not asked."""
        scores = {
            name: self._value(f"mcp-bench.{name}")
            for name in RUBRICS["mcp-bench"]
            if f"mcp-bench.{name}" in self.panels
        }
        if not scores:
            return None
        parts = {**mcp_bench.rates(self.outcomes or {}), **mcp_bench.scaled(scores)}
        return {**parts, **mcp_bench.axes(parts)}

    def _rubric(self, rubric: Name) -> dict[str, object] | None:
        criteria = {
            name: panel for name in RUBRICS[rubric] if (panel := self.panels.get(f"{rubric}.{name}")) is not None
        }
        if not criteria:
            return None
        return {
            "value": mean([panel.value for panel in criteria.values()]),
            "criteria": {name: panel.to_json() for name, panel in criteria.items()},
        }

    def _value(self, name: str) -> float | None:
        panel = self.panels.get(name)
        return None if panel is None else panel.value


def judged(judgement: RunJudgement, row: Row | None, outcomes: Mapping[str, int] | None = None) -> JudgedRun:
    """A judgement in numbers, beside the metrics of its score card and the outcomes of its calls."""
    panels: dict[str, PanelVotes] = {}
    for name, asked in judgement.panels.items():
        for key, orders in _orders(judgement, name).items():
            values = {model: math.fsum(scores) / len(scores) for model, scores in orders.items()}
            panels[key] = PanelVotes(values=values, asked=asked, orders=orders if name in RUBRICS else {})
    return JudgedRun(judgement=judgement, row=row, panels=panels, outcomes=outcomes)


def overall(entries: Sequence[JudgedRun]) -> dict[str, Any]:
    """Many runs: means, agreement, the published average and what it took."""
    names = [*_SCALE, *(f"{rubric}.{name}" for rubric, criteria in RUBRICS.items() for name in criteria)]
    asked = [name for name in names if any(name in entry.panels for entry in entries)]
    values = {name: _over(entries, name) for name in asked}
    used = sum((entry.usage for entry in entries), JudgeUsage())
    rubrics: dict[str, float | None] = {
        rubric: mean([values[name]["value"] for name in asked if name.startswith(f"{rubric}.")])
        for rubric in RUBRICS
        if any(name.startswith(f"{rubric}.") for name in asked)
    }
    return {
        "runs": len(entries),
        **values,
        **rubrics,
        **({"mcp_bench": _mcp_bench(entries)} if "mcp-bench" in rubrics else {}),
        **{name: _average(entries, name) for name in AVERAGES},
        "missing": sum(len(entry.missing) for entry in entries),
        "usage": used.model_dump(mode="json"),
    }


def mean(values: Sequence[float | None]) -> float | None:
    """The plain mean of the values there are."""
    known = [value for value in values if value is not None]
    return math.fsum(known) / len(known) if known else None


def _orders(judgement: RunJudgement, ask: Name) -> dict[str, dict[str, tuple[float, ...]]]:
    """What each judge said, by what is scored: one number, or for a rubric as many as there were orders."""
    votes = [vote for vote in judgement.of(ask) if vote.scores is not None]
    if ask not in RUBRICS:
        return {ask: {vote.model: (vote.scores[SCORE] / _SCALE[ask],) for vote in votes if vote.scores is not None}}
    said: dict[str, dict[str, tuple[float, ...]]] = {f"{ask}.{name}": {} for name in RUBRICS[ask]}
    for vote in votes:
        for name, score in (vote.scores or {}).items():
            by_model = said[f"{ask}.{name}"]
            by_model[vote.model] = (*by_model.get(vote.model, ()), score)
    return said


def _over(entries: Sequence[JudgedRun], name: str) -> dict[str, Any]:
    panels = [entry.panels[name] for entry in entries if name in entry.panels]
    units = [tuple(panel.values.values()) for panel in panels]
    sizes = Counter(len(unit) for unit in units)
    orders = [said for panel in panels for said in panel.orders.values()]
    return {
        "value": mean([panel.value for panel in panels]),
        "runs": sum(size > 0 for size in map(len, units)),
        "rules": {rule(size): count for size, count in sorted(sizes.items(), reverse=True)},
        "span": mean([span(unit) for unit in units]),
        "deviation": mean([deviation(unit) for unit in units]),
        "variation": mean([variation(unit) for unit in units]),
        **({"order_variation": mean([variation(said) for said in orders])} if orders else {}),
        "alpha": alpha(units),
    }


def _mcp_bench(entries: Sequence[JudgedRun]) -> dict[str, float | None]:
    """The score of MCP-Bench over runs: each part is the mean over those that have it.

    A run without calls has no rates; where no scored run has one, the rates are 0, as the paper's runner has it.
    """
    found = [entry.mcp_bench for entry in entries if entry.mcp_bench is not None]
    parts = {name: mean([scores[name] for scores in found]) for name in (*mcp_bench.RATES, *RUBRICS["mcp-bench"])}
    if found and all(entry.outcomes is not None for entry in entries):
        parts |= {name: 0.0 for name in mcp_bench.RATES if parts[name] is None}
    return {**parts, **mcp_bench.axes(parts)}


def _average(entries: Sequence[JudgedRun], name: str) -> dict[str, object]:
    """One of `AVERAGES` over the runs that have it: the mean of seven columns, each over all of them."""
    whole = [entry for entry in entries if entry.average(name) is not None]
    rows = [entry.row for entry in whole if entry.row is not None]
    metrics = micro(rows) if rows else {}
    grounding = mean([entry.panels[AVERAGES[name]].value for entry in whole])
    return {"value": _seven(metrics, grounding), "runs": len(whole), "average": metrics.get("average")}


def _seven(metrics: Mapping[str, float | None], grounding: float | None) -> float | None:
    columns = [*(metrics.get(name) for name in AVERAGED), grounding]
    return None if any(value is None for value in columns) else mean(columns)
