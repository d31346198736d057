"""What people did in a study: how many solve what, how far they agree, how long it took them, and how many it takes.

People and tasks are both drawn from more, so the interval of what people solve is a bootstrap over both at once. A
person is a seat: there is nothing else to know them by.
"""

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from random import Random
from statistics import median, quantiles

from m3bench.server.lab.results.documents import JsonDocument
from m3bench.server.lab.results.resultset import Result, ResultSet
from m3bench.server.scoring.statistics.estimates import Interval, alpha

ROUNDS = 2000
"""Of the bootstrap."""

PEOPLE_SPREAD, TASK_SPREAD, REST = 0.02, 0.05, 0.09
"""How the variance of solved (0.16 where people solve 80 %) is divided before anything was measured."""

FEW = 2
"""People or tasks without whom there is no interval."""


@dataclass(frozen=True, kw_only=True)
class TaskOfPeople(JsonDocument):
    """What people did on a task."""

    task: str
    people: int
    solved: float | None
    """The share of those who solved it; None where it cannot be solved by rule."""
    seconds: float
    """The median time at work, without breaks."""
    quartiles: tuple[float, float] | None


@dataclass(frozen=True, kw_only=True)
class PeopleFacts(JsonDocument):
    """What people did in a study."""

    people: int
    runs: int
    solved: float | None
    interval: Interval | None
    """Of what they solve: for other people and other tasks."""
    agreement: float | None
    """Krippendorff's α of solved; None where there is nothing to agree about."""
    seconds: float
    """The median time at work on a task."""
    tasks: tuple[TaskOfPeople, ...]


def people_facts(results: ResultSet) -> PeopleFacts | None:
    """What people did; None where nobody played or others did."""
    if results.header.kind != "people" or not results.results:
        return None
    by_task: dict[str, list[Result]] = defaultdict(list)
    for result in results.results:
        by_task[result.sample.task].append(result)
    solved = {
        (result.run.seat, result.sample.task): float(result.card.success)
        for result in results.results
        if result.card.success is not None
    }
    units = [[value for (_, name), value in solved.items() if name == task] for task in by_task]
    return PeopleFacts(
        people=len({result.run.seat for result in results.results}),
        runs=len(results.results),
        solved=math.fsum(solved.values()) / len(solved) if solved else None,
        interval=_interval(solved),
        agreement=alpha(units),
        seconds=median(result.sample.seconds for result in results.results),
        tasks=tuple(_task(task, members) for task, members in by_task.items()),
    )


def half_width(people: int, each: int, tasks: int) -> float:
    """Half of the 95 % interval that so many people give, by the spread that is usual.

    Args:
        people: How many there are.
        each: The tasks of each.
        tasks: Different tasks of them all.
    """
    return 1.96 * math.sqrt(PEOPLE_SPREAD / people + TASK_SPREAD / tasks + REST / (people * each))


def _task(task: str, members: Sequence[Result]) -> TaskOfPeople:
    judged = [result.card.success for result in members if result.card.success is not None]
    seconds = [result.sample.seconds for result in members]
    ends = quantiles(seconds, n=4) if len(seconds) > FEW else None
    return TaskOfPeople(
        task=task,
        people=len(members),
        solved=sum(judged) / len(judged) if judged else None,
        seconds=median(seconds),
        quartiles=None if ends is None else (ends[0], ends[2]),
    )


def _interval(solved: Mapping[tuple[str, str], float]) -> Interval | None:
    """By drawing people and tasks anew, each as often as there are of them."""
    people, tasks = sorted({who for who, _ in solved}), sorted({task for _, task in solved})
    if len(people) < FEW or len(tasks) < FEW:
        return None
    random, means = Random(0), []
    for _ in range(ROUNDS):
        drawn, given = random.choices(people, k=len(people)), random.choices(tasks, k=len(tasks))
        weights = {task: given.count(task) for task in set(given)}
        pairs = [
            (solved[who, task], often) for who in drawn for task, often in weights.items() if (who, task) in solved
        ]
        if pairs:
            means.append(math.fsum(value * often for value, often in pairs) / sum(often for _, often in pairs))
    means.sort()
    last = len(means) - 1
    return Interval(low=means[round(0.025 * last)], high=means[round(0.975 * last)])
