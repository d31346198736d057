"""What lies behind the numbers of result sets, as tables and figures show it and `numbers.json` holds it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from m3bench.server.lab.reports.slices import Efficiency, efficiency, set_at_hand, slices, success_rate
from m3bench.server.lab.reports.standings import Leaderboard
from m3bench.server.lab.reports.summary import Slices
from m3bench.server.lab.results.analyses.confusion import argument_errors, confusion
from m3bench.server.lab.results.analyses.failures import FailureClass, classes
from m3bench.server.lab.results.analyses.perception import PerceptionFacts, perception_facts
from m3bench.server.lab.results.analyses.taxonomy import GROUPS, ErrorName, errors
from m3bench.server.lab.results.comparability import distinct_names
from m3bench.server.lab.results.documents import JsonDocument, plain
from m3bench.server.lab.results.resultset import ResultSet
from m3bench.tasks.json_types import JsonObject
from m3bench.tasks.library import Library


@dataclass(frozen=True, kw_only=True)
class ArgumentCount(JsonDocument):
    """How often arguments were wrong in one way."""

    error: str
    kind: str
    count: int


@dataclass(frozen=True, kw_only=True)
class ToolCount(JsonDocument):
    """How often one tool was called where one was wanted."""

    wanted: str
    called: str
    answered: bool
    count: int


@dataclass(frozen=True, kw_only=True)
class ErrorOfRuns(JsonDocument):
    """How common an error in TOBench's groups is."""

    group: str
    error: ErrorName
    runs: int
    times: int


@dataclass(frozen=True, kw_only=True)
class SetAnalysis(JsonDocument):
    """What lies behind the numbers of a set."""

    failures: Mapping[FailureClass, int]
    efficiency: Efficiency
    slices: Slices
    success_rate: float | None
    """MCPVerse's SR."""
    errors: tuple[ErrorOfRuns, ...]
    arguments: tuple[ArgumentCount, ...]
    tools: tuple[ToolCount, ...]
    perception: PerceptionFacts | None = None

    def to_json(self) -> JsonObject:
        """The slices stand beside the others, each under what it is cut by."""
        return {
            "failures": plain(self.failures),
            "efficiency": self.efficiency.to_json(),
            **{cut: plain(parts) for cut, parts in self.slices.items()},
            "success_rate": self.success_rate,
            "errors": plain(self.errors),
            "arguments": plain(self.arguments),
            "tools": plain(self.tools),
            **({"perception": self.perception.to_json()} if self.perception is not None else {}),
        }


@dataclass(frozen=True, kw_only=True)
class GroupNumbers(JsonDocument):
    """Every number of a group of result sets."""

    name: str
    folders: tuple[str, ...]
    leaderboard: Leaderboard
    analyses: Mapping[str, SetAnalysis]
    """By the set's name."""


def analyses_of(sets: Sequence[ResultSet], libraries: Sequence[Library]) -> dict[str, SetAnalysis]:
    """What lies behind the numbers of some sets, by their names."""
    named = zip(distinct_names(sets), sets, strict=True)
    return {name: _analysis(results, set_at_hand(results, libraries)) for name, results in named}


def _analysis(results: ResultSet, library: Library | None) -> SetAnalysis:
    wrong, cuts = errors(results.results), slices(results.results, library)
    return SetAnalysis(
        failures=classes(results),
        efficiency=efficiency(results.results),
        slices=cuts,
        success_rate=success_rate(cuts["level"]),
        errors=tuple(
            ErrorOfRuns(group=group, error=name, runs=wrong[name].runs, times=wrong[name].times)
            for group, names in GROUPS.items()
            for name in names
            if name in wrong
        ),
        arguments=tuple(
            ArgumentCount(error=error.error, kind=error.kind, count=count)
            for error, count in argument_errors(results.results).items()
        ),
        tools=tuple(
            ToolCount(wanted=pair.wanted, called=pair.called, answered=pair.answered, count=count)
            for pair, count in confusion(results.results).items()
        ),
        perception=perception_facts(results.results),
    )
