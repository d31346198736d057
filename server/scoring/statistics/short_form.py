"""A short form of a set of tasks: the few that say most about an agent, and the error of what they say.

Tasks are chosen one by one, each so that the average over all tasks is known best for sets of the abilities at hand
(test information, as in van der Linden's optimal test assembly), and every family has its part. The average over all
tasks is predicted: tasks that were played count as they went, the others as the model expects of that ability. How far
off that is shows cross-validation: for each set in turn, model, choice and prediction do without it.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from m3bench.server.scoring.statistics.clusters import Floats, Places, clusters_of
from m3bench.server.scoring.statistics.items import Answers, ItemModel, Tries, fit, shares
from m3bench.server.scoring.statistics.ranks import rank

ENOUGH = 0.8
"""The part of all tasks that a set must have played for its average to count as one over all tasks."""


@dataclass(frozen=True, kw_only=True)
class ShortFormTrial:
    """What a short form would have said of a set that neither model nor choice knew."""

    set: str
    full: float
    """The average over all tasks."""
    predicted: float

    def to_json(self) -> dict[str, object]:
        """A dict that `json.dumps` takes."""
        return {"set": self.set, "full": self.full, "predicted": self.predicted}


@dataclass(frozen=True, kw_only=True)
class Orders:
    """What predicting does to the order of sets."""

    tau: float
    """Kendall's, between averages over all tasks and predicted ones."""
    pairs: int
    turned: int
    """Pairs whose order changes."""
    clear: int
    """Pairs that a board tells apart by all tasks."""
    clear_turned: int
    """Those of them whose order changes."""

    def to_json(self) -> dict[str, object]:
        """A dict that `json.dumps` takes."""
        return {name: getattr(self, name) for name in self.__dataclass_fields__}


@dataclass(frozen=True, kw_only=True)
class Accuracy:
    """How well a short form does, by sets that were left out in turn."""

    trials: tuple[ShortFormTrial, ...]
    orders: Orders

    @property
    def error(self) -> float:
        """The standard error that predicting adds to an average: root of the mean square."""
        return float(np.mean([(trial.predicted - trial.full) ** 2 for trial in self.trials]) ** 0.5)

    @property
    def worst(self) -> float:
        """The largest error."""
        return max(abs(trial.predicted - trial.full) for trial in self.trials)

    def to_json(self) -> dict[str, object]:
        """A dict that `json.dumps` takes."""
        return {
            "error": self.error,
            "worst": self.worst,
            "orders": self.orders.to_json(),
            "sets": [trial.to_json() for trial in self.trials],
        }


def choose(model: ItemModel, families: Sequence[str | None], count: int) -> list[int]:
    """Numbers of the tasks of a short form, in order.

    A family has its part of the short form, rounded down or up. Tasks that discriminate backwards are not chosen.

    Args:
        model: Fitted with pooled discriminations: by those of single tasks the luckiest would be chosen.
        families: Of the tasks.
        count: How many to choose.
    """
    clusters = clusters_of(families)
    place = clusters.place
    parts = min(count, len(families)) * np.bincount(place) / len(families)
    information, chances = model.information(model.abilities), model.chances(model.abilities)
    # How much the average over all tasks changes with ability.
    steep = (model.slopes * chances * (1 - chances)).mean(axis=1)
    taken, gathered = np.zeros(clusters.count), np.full(len(model.abilities), 1.0)
    chosen: list[int] = []
    while len(chosen) < count:
        allowed = _allowed(place, taken, parts, count) & (model.slopes > 0)
        allowed[chosen] = False
        if not allowed.any():
            break
        gains = steep[:, None] ** 2 * (1 / gathered[:, None] - 1 / (gathered[:, None] + information))
        best = int(np.where(allowed, gains.sum(axis=0), -1.0).argmax())
        chosen.append(best)
        taken[place[best]] += 1
        gathered = gathered + information[:, best]
    return sorted(chosen)


def _allowed(place: Places, taken: Floats, parts: Floats, count: int) -> "np.ndarray[tuple[int], np.dtype[np.bool_]]":
    """Of which families another task may be chosen: each has its part rounded down, some one more."""
    least = np.floor(parts + 1e-9)
    spare = count - least.sum() - np.maximum(0, taken - least).sum()
    free = (taken < least) | ((spare > 0) & (taken < np.ceil(parts - 1e-9)))
    found: np.ndarray[tuple[int], np.dtype[np.bool_]] = free[place]
    return found


def predict(model: ItemModel, chosen: Sequence[int], solved: Floats, tries: Floats) -> float:
    """The average over all tasks of a set, by those of its tries that were at chosen tasks."""
    part = np.zeros_like(tries)
    part[list(chosen)] = tries[list(chosen)]
    ability = model.ability_of(np.where(part > 0, solved, 0.0), part)
    expected = model.chances(np.array([ability]))[0]
    return float(np.where(part > 0, shares(solved, part), expected).mean())


@dataclass(frozen=True, kw_only=True)
class Record:
    """What sets did at tasks, by the numbers that have an average."""

    solved: Answers
    others: Mapping[str, Answers]
    """Further numbers between 0 and 1, of the same sets and tasks."""
    families: Mapping[str, str | None]

    @classmethod
    def of(cls, solved: Tries, others: Mapping[str, Tries], families: Mapping[str, str | None]) -> "Record":
        """Of these sets; the tasks are those that somebody may have solved."""
        first = Answers.of(solved)
        return cls(
            solved=first,
            others={number: Answers.of(tries, first.tasks) for number, tries in others.items()},
            families=families,
        )

    @property
    def family_list(self) -> list[str | None]:
        """The family of each task."""
        return [self.families.get(task) for task in self.solved.tasks]

    @property
    def numbers(self) -> dict[str, Answers]:
        """All of them."""
        return {"solved": self.solved, **self.others}


def models_of(record: Record) -> dict[str, ItemModel]:
    """The model of each number, for choosing and predicting."""
    return {number: fit(answers, pooled=True) for number, answers in record.numbers.items()}


def cross_validated(
    record: Record, models: Mapping[str, ItemModel], *, count: int = 0, fixed: Sequence[int] = ()
) -> dict[str, Accuracy]:
    """How well a short form of so many tasks does, or this fixed one; nothing where fewer than two sets played enough.

    Args:
        record: What sets did.
        models: Of all sets.
        count: Of tasks, chosen again without each set.
        fixed: The tasks of the short form, where it exists already.
    """
    played = (record.solved.tries > 0).mean(axis=1) >= ENOUGH
    rows = [int(row) for row in np.flatnonzero(played)]
    if len(rows) < 2:
        return {}
    trials: dict[str, list[ShortFormTrial]] = {number: [] for number in record.numbers}
    for row in rows:
        left = {
            number: fit(answers.without(row), start=models[number], pooled=True)
            for number, answers in record.numbers.items()
        }
        chosen = fixed or choose(left["solved"], record.family_list, count)
        for number, answers in record.numbers.items():
            solved, tries = answers.solved[row], answers.tries[row]
            full = float(shares(solved, tries)[tries > 0].mean())
            predicted = predict(left[number], chosen, solved, tries)
            trials[number].append(ShortFormTrial(set=answers.sets[row], full=full, predicted=predicted))
    return {
        number: Accuracy(trials=tuple(found), orders=_orders(found, record.numbers[number], record.families))
        for number, found in trials.items()
    }


def _orders(trials: Sequence[ShortFormTrial], answers: Answers, families: Mapping[str, str | None]) -> Orders:
    rows = {name: row for row, name in enumerate(answers.sets)}
    values = {
        trial.set: {
            task: float(answers.solved[rows[trial.set], at] / answers.tries[rows[trial.set], at])
            for at, task in enumerate(answers.tasks)
            if answers.tries[rows[trial.set], at]
        }
        for trial in trials
    }
    clear = {frozenset((pair.first, pair.second)) for pair in rank(values, families).pairs if pair.clear}
    agreeing = turned = clear_turned = pairs = 0
    for number, first in enumerate(trials):
        for second in trials[number + 1 :]:
            pairs += 1
            order = (first.full - second.full) * (first.predicted - second.predicted)
            agreeing += order > 0
            turned += order < 0
            clear_turned += order < 0 and frozenset((first.set, second.set)) in clear
    return Orders(
        tau=(agreeing - turned) / pairs, pairs=pairs, turned=turned, clear=len(clear), clear_turned=clear_turned
    )
