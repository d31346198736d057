"""What result sets say about tasks: how hard each is, how well it discriminates, and which few would do for most.

The mathematics is in `scoring.statistics` (`items`, `short_form`); here samples become what it takes, and notes say
what so few sets cannot tell.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from m3bench.server.lab.reports.uncertainty import averages_of, families_of, solved_of
from m3bench.server.lab.results.comparability import differences, distinct_names
from m3bench.server.lab.results.documents import JsonDocument
from m3bench.server.lab.results.resultset import ResultSet
from m3bench.server.scoring.statistics.clusters import critical
from m3bench.server.scoring.statistics.estimates import Interval
from m3bench.server.scoring.statistics.items import (
    FEW_SETS,
    FEWEST_SETS,
    Answers,
    ItemFit,
    ItemModel,
    ItemValue,
    fit,
    items,
)
from m3bench.server.scoring.statistics.short_form import (
    Accuracy,
    Record,
    ShortFormTrial,
    choose,
    cross_validated,
    models_of,
    predict,
)
from m3bench.tasks.errors import UserError

SHORT = 40
_UNRELIABLE = 0.5
"""Part of the variance of abilities that must not be chance."""


@dataclass(frozen=True, kw_only=True)
class SetAbility(JsonDocument):
    """A result set."""

    name: str
    ability: ItemValue | None
    """In standard deviations of the sets at hand; None where it cannot be told."""


@dataclass(frozen=True, kw_only=True)
class ShortForm(JsonDocument):
    """The tasks that say most, and how much less they say than all."""

    tasks: tuple[str, ...]
    families: int
    accuracy: dict[str, Accuracy]
    """By number; empty where too few sets played enough tasks to tell."""


@dataclass(frozen=True, kw_only=True)
class SetPlacement(JsonDocument):
    """Where a set belongs that played some of the tasks."""

    name: str
    number: str
    tasks: int
    """Those of the tasks at hand that it played."""
    predicted: float
    """Its average over all tasks."""
    interval: Interval
    places: tuple[int, int]
    """Its place among the sets at hand, at best and at worst."""


@dataclass(frozen=True, kw_only=True)
class ItemAnalysis(JsonDocument):
    """Tasks as items of a test."""

    sets: tuple[SetAbility, ...]
    items: tuple[ItemFit, ...]
    backwards: tuple[str, ...]
    """Tasks that abler sets clearly solve less often."""
    doubtful: tuple[str, ...]
    """Tasks that abler sets seem to solve less often, which chance may have done."""
    short: ShortForm | None
    placed: tuple[SetPlacement, ...]
    notes: tuple[str, ...]
    """What cannot be told, and why."""


def analyse(sets: Sequence[ResultSet], short: int = SHORT, newcomers: Sequence[ResultSet] = ()) -> ItemAnalysis:
    """What result sets say about their tasks.

    Args:
        sets: The sets to learn from.
        short: How many tasks a short form has.
        newcomers: Sets that played some of these tasks and are to be placed among the others.

    Raises:
        UserError: In no set it is decided whether a task is solved, or newcomers cannot be placed.
    """
    names = distinct_names([*sets, *newcomers])
    record = _record(names, sets)
    answers = record.solved
    if not answers.tasks:
        raise UserError(
            "Nothing says whether a task of these sets is solved: their tasks have neither fields nor checks."
        )
    enough = len(sets) >= FEWEST_SETS
    if newcomers and not enough:
        raise UserError(f"Placing a set takes at least {FEWEST_SETS} others that played all tasks, not {len(sets)}.")
    own, models = (fit(answers), models_of(record)) if enough else (None, {})
    found = items(answers, own, models.get("solved"))
    return ItemAnalysis(
        sets=tuple(
            SetAbility(name=name, ability=_ability(models.get("solved"), row)) for row, name in enumerate(answers.sets)
        ),
        items=tuple(found),
        backwards=tuple(item.task for item in found if item.backwards),
        doubtful=tuple(item.task for item in found if item.doubtful),
        short=_short(record, models, short) if enough and short < len(answers.tasks) else None,
        placed=tuple(
            placement
            for name, newcomer in zip(names[len(sets) :], newcomers, strict=True)
            for placement in _placed(name, newcomer, record, models)
        ),
        notes=(*_notes(answers, models.get("solved"), short), *_unlike(sets, names)),
    )


def _record(names: Sequence[str], sets: Sequence[ResultSet]) -> Record:
    named = dict(zip(names, sets, strict=False))
    return Record.of(
        {name: solved_of(results.results) for name, results in named.items()},
        {"average": {name: averages_of(results.results) for name, results in named.items()}},
        {task: family for results in sets for task, family in families_of(results.results).items()},
    )


def _ability(model: ItemModel | None, row: int) -> ItemValue | None:
    if model is None:
        return None
    scaled = model.scaled()
    return ItemValue(value=float(scaled.abilities[row]), error=float(scaled.ability_errors[row]))


def _short(record: Record, models: dict[str, ItemModel], count: int) -> ShortForm:
    chosen = choose(models["solved"], record.family_list, count)
    tasks = tuple(record.solved.tasks[number] for number in chosen)
    return ShortForm(
        tasks=tasks,
        families=len({record.families.get(task) for task in tasks}),
        accuracy=cross_validated(record, models, count=count),
    )


def _placed(name: str, results: ResultSet, record: Record, models: dict[str, ItemModel]) -> list[SetPlacement]:
    alone = {"solved": {name: solved_of(results.results)}, "average": {name: averages_of(results.results)}}
    played = {number: Answers.of(tries, record.solved.tasks) for number, tries in alone.items()}
    fixed = [number for number, count in enumerate(played["solved"].tries[0]) if count]
    if not fixed:
        raise UserError(f"{results.folder} cannot be placed: it played none of the tasks of the other sets.")
    accuracy = cross_validated(record, models, fixed=fixed)
    return [
        _placement(name, number, len(fixed), predict(models[number], fixed, found.solved[0], found.tries[0]), accuracy)
        for number, found in played.items()
        if number in accuracy
    ]


def _placement(name: str, number: str, tasks: int, value: float, accuracy: dict[str, Accuracy]) -> SetPlacement:
    trials: tuple[ShortFormTrial, ...] = accuracy[number].trials
    half = critical(len(trials), 0.95) * accuracy[number].error
    interval = Interval(low=max(0.0, value - half), high=min(1.0, value + half))
    return SetPlacement(
        name=name,
        number=number,
        tasks=tasks,
        predicted=value,
        interval=interval,
        places=(
            1 + sum(trial.full > interval.high for trial in trials),
            1 + sum(trial.full >= interval.low for trial in trials),
        ),
    )


def _notes(answers: Answers, model: ItemModel | None, short: int) -> list[str]:
    """What cannot be told, and why."""
    count, notes = len(answers.sets), []
    if model is None:
        noun = "result set" if count == 1 else "result sets"
        return [
            f"From {count} {noun} neither difficulty nor discrimination can be estimated: a hard task cannot be told "
            f"from weak sets. The shares are what these sets solve. It takes at least {FEWEST_SETS} sets of agents "
            f"that differ, better {FEW_SETS} or more."
        ]
    if count < FEW_SETS:
        notes.append(
            f"With {count} sets much of a discrimination is what is assumed of any task; {FEW_SETS} or more say more."
        )
    spread = float(model.abilities.var())
    if spread <= 0 or 1 - float((model.ability_errors**2).mean()) / spread < _UNRELIABLE:
        notes.append("The sets hardly differ in ability, so the discriminations rest on little.")
    if alike := int((~answers.varied).sum()):
        notes.append(
            f"Of {alike} of {len(answers.tasks)} tasks every attempt ended alike: nothing more is known of them."
        )
    if short >= len(answers.tasks):
        notes.append(f"There is no short form: the sets have {len(answers.tasks)} tasks, and it would have {short}.")
    return notes


def _unlike(sets: Sequence[ResultSet], names: Sequence[str]) -> list[str]:
    return [f"Made under different conditions: {line}" for line in differences(sets, names[: len(sets)])]
