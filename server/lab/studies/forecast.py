"""What a study will take, before it is played: samples, tokens, dollars, hours, and the difference it can show.

Measured where samples of the same model are there already, otherwise as the plan expects. Prices come from the plan or
from what Inspect knows; where neither has one the cost is not known, and is not 0.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from m3bench.server.lab.headless.plan import RunPlan
from m3bench.server.lab.results.resultset import Sample, read_samples
from m3bench.server.lab.studies.cells import Cell
from m3bench.server.lab.studies.plan_file import Expected
from m3bench.server.scoring.statistics.components import Components
from m3bench.server.scoring.statistics.estimates import FEW_FAMILIES
from m3bench.server.scoring.statistics.power import Size, detectable, planned_error
from m3bench.tasks.lazy_modules import LazyModule

# Inspect is an extra, and takes seconds to import.
if TYPE_CHECKING:
    from inspect_ai import model as inspect_model
else:
    inspect_model = LazyModule("inspect_ai.model")

USUAL = Components(family=0.03, task=0.12, repeat=0.10)
"""Of *solved*, for an agent that solves about half: what is assumed before anything is measured."""

_MILLION = 1_000_000


@dataclass(frozen=True, kw_only=True)
class Forecast:
    """What is left to do in a cell, and what that will take."""

    cell: str
    planned: int
    """Samples."""
    left: int
    tokens: int
    """Still to be used."""
    cost: float | None
    """Dollars still to be spent; None when no price is known."""
    seconds: float
    measured: bool
    """Whether tokens and time are those of samples that were played."""

    def to_json(self) -> dict[str, object]:
        """A dict that `json.dumps` takes."""
        return {name: getattr(self, name) for name in self.__dataclass_fields__}


@dataclass(frozen=True, kw_only=True)
class Spent:
    """What was used so far."""

    tokens: int = 0
    cost: float = 0.0

    def and_(self, sample: Sample) -> "Spent":
        """With one more sample."""
        used = sample.usage.input_tokens + sample.usage.output_tokens
        return Spent(tokens=self.tokens + used, cost=self.cost + (sample.usage.cost or 0.0))


def spent(plans: Sequence[RunPlan], before: Spent | None = None) -> Spent:
    """What every sample that is there has used, and what was used before."""
    total = before or Spent()
    for plan in plans:
        for sample in read_samples(plan.folder).values():
            total = total.and_(sample)
    return total


def forecast(cells: Sequence[tuple[Cell, RunPlan]], expected: Expected) -> list[Forecast]:
    """What each cell will take."""
    played = {cell.name: [s for s in read_samples(plan.folder).values() if s.state == "scored"] for cell, plan in cells}
    by_agent: dict[str, list[Sample]] = {}
    for cell, _ in cells:
        by_agent.setdefault(cell.choice.agent, []).extend(played[cell.name])
    return [_of(cell, plan, played[cell.name] or by_agent[cell.choice.agent], expected) for cell, plan in cells]


def _of(cell: Cell, plan: RunPlan, known: Sequence[Sample], expected: Expected) -> Forecast:
    left = len(plan.todo)
    if known:
        count = len(known)
        read = sum(sample.usage.input_tokens for sample in known) / count
        written = sum(sample.usage.output_tokens for sample in known) / count
        seconds = sum(sample.seconds for sample in known) / count
    elif cell.options is None:
        read, written, seconds = 0.0, 0.0, 1.0
    else:
        read, written, seconds = expected.input_tokens, expected.output_tokens, expected.seconds
    price = (0.0, 0.0) if cell.options is None else _price(cell.options.model, cell.options.price)
    return Forecast(
        cell=cell.name,
        planned=plan.total,
        left=left,
        tokens=round(left * (read + written)),
        cost=None if price is None else left * (read * price[0] + written * price[1]) / _MILLION,
        seconds=left * seconds / plan.parallel,
        measured=bool(known),
    )


def _price(model: str, given: str | None) -> tuple[float, float] | None:
    """Dollars for a million tokens, read and written."""
    if given is not None:
        read, written = (float(part) for part in given.split(",")[:2])
        return read, written
    try:
        known = inspect_model.get_model_info(model)
    except ImportError:
        return None
    cost = known.cost if known is not None else None
    return None if cost is None else (cost.input, cost.output)


@dataclass(frozen=True, kw_only=True)
class Resolution:
    """How small a difference between two cells can be found."""

    detectable: float | None
    """The smallest true difference of *solved* that is found four times out of five; None when none can be."""
    caution: str | None
    """Why none can be found."""


def resolution(plan: RunPlan, families: Mapping[str, str]) -> Resolution:
    """How small a difference a plan can show, given the family of each task."""
    tasks = plan.header.tasks
    size = Size(families=len({families[task] for task in tasks}), tasks=len(tasks), repeats=plan.header.repeats)
    if size.families < FEW_FAMILIES:
        noun = "family" if size.families == 1 else "families"
        return Resolution(
            detectable=None,
            caution=f"no difference can be found, because its tasks are of {size.families} {noun}. A test takes at "
            f"least {FEW_FAMILIES}.",
        )
    least = detectable(planned_error(size, USUAL), size.freedom)
    if least > 1:
        return Resolution(detectable=None, caution="even the largest difference would be missed too often.")
    return Resolution(detectable=least, caution=None)
