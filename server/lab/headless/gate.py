"""The release gate of a set of tasks: is a score on it worth anything?

Five things must hold. Perfect play gets 1 and solves every task. Perfect play with one call about another thing gets
less, and of all such calls hardly one matches, while honest variants do. Agents that know how such tasks are solved,
and not this one, stay below the floors and solve nothing. An agent that has every tool and never looks at the picture
solves next to nothing. Agents that know the task and fall short of it come out in the order in which they fall short,
in every family. What an agent with classical vision in place of eyes solves is counted by family beside this, without a
limit.
This module judges results that are there; it plays nothing.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from math import fsum
from typing import NamedTuple

from m3bench.server.lab.authoring.identity import IdentityVerdict
from m3bench.server.lab.authoring.lookalikes import lookalikes
from m3bench.server.lab.results.resultset import ResultSet
from m3bench.server.scorecard.model import ScoreCard
from m3bench.tasks.task import Task


class Floor(NamedTuple):
    """What an agent that does not know the task may reach at most."""

    agent: str
    mean: float
    """Over all tasks."""
    family: float = 1.0
    """Over the tasks of any one family."""


SIBLING = "sibling"
"""Replays the likest task of the family: one sample for each of that task's references, and the best one counts."""
FLOORS = (
    Floor(SIBLING, mean=0.25, family=0.40),
    Floor("generic", mean=0.20),
    Floor("dump", mean=0.15),
)
BLIND = "blind"
"""The agent without eyes. It is played with every tool there is."""
BLIND_SHARE = 0.05
"""Of all tasks, as many may be solved without the picture."""
BLIND_IN_EIGHT = 1
"""Of eight tasks of a family, as many; of fewer than eight as well."""
THRESHOLD = "threshold"
"""The agent that looks with thresholds, shapes and OCR; what it solves is counted."""
EVERY_TOOL = (BLIND, THRESHOLD)
"""Agents that may ask any tool about the picture, not only those that the task needs."""
GRADES = ("oracle", "retry", "oracle-serial", "missing", "half", "wrong-entity", "wrong-tools", "null")
"""From the best to the worst."""
LOOKALIKE = "lookalike"
"""Perfect but for one call about another thing: below perfect and not below `missing` in any family.

One wrong call is one mistake, as one that is left out. How it stands to the others is open: in a wide plan it costs
less than playing serially."""
MISSING = "missing"
SHOWN = (LOOKALIKE, "rehearse", "sloppy", "injector", "copycat", "random", "canary")
"""Their scores are shown and not judged."""
PLAYED = (*GRADES, *(floor.agent for floor in FLOORS), *EVERY_TOOL, *SHOWN)

ONE_IN = 28
"""So many families may have one whose plans are too wide for the order to hold; a smaller set may have one too."""
_SAME = 1e-9


def average(card: ScoreCard) -> float:
    """What a run is judged by; one in which nothing was needed counts as nothing."""
    return card.average or 0.0


@dataclass(frozen=True, kw_only=True)
class Scores:
    """What one agent got."""

    agent: str
    averages: Mapping[str, Sequence[float]]
    """By family."""
    solved_in: Mapping[str, int]
    """Tasks that were solved, by family."""
    imperfect: tuple[str, ...]
    """Tasks that were not solved with 1."""
    unplayed: int
    """Samples that are void or were not made."""

    @property
    def mean(self) -> float:
        """Over all tasks."""
        values = [value for family in self.averages.values() for value in family]
        return fsum(values) / len(values) if values else 0.0

    @property
    def solved(self) -> int:
        """How many tasks were solved."""
        return sum(self.solved_in.values())

    @cached_property
    def families(self) -> dict[str, float]:
        """The mean of each family."""
        return {family: fsum(values) / len(values) for family, values in self.averages.items()}

    @property
    def highest(self) -> tuple[str, float]:
        """The family with the highest mean."""
        return max(self.families.items(), key=lambda item: item[1], default=("", 0.0))


def scores_of(results: ResultSet) -> Scores:
    """What the agent of a result set got; of several samples of a task the best one counts."""
    cards: dict[str, list[ScoreCard]] = {}
    for result in results.results:
        cards.setdefault(result.sample.task, []).append(result.card)
    averages: dict[str, list[float]] = {}
    solved: Counter[str] = Counter()
    for own in cards.values():
        averages.setdefault(own[0].family, []).append(max(map(average, own)))
        solved[own[0].family] += any(card.success for card in own)
    return Scores(
        agent=results.header.agent,
        averages=averages,
        solved_in=solved,
        imperfect=tuple(
            task for task, own in cards.items() if not any(card.success and average(card) >= 1 - _SAME for card in own)
        ),
        unplayed=len(results.void) + len(results.missing),
    )


@dataclass(frozen=True, kw_only=True)
class GateVerdict:
    """Whether a set passes."""

    scores: Mapping[str, Scores]
    problems: tuple[str, ...]
    exceptions: Mapping[str, str]
    """Families in which the order does not hold because it cannot, and why."""
    identity: IdentityVerdict | None = None
    """What calls about other things, and honest variants, came to."""

    @property
    def passed(self) -> bool:
        """Whether everything holds."""
        return not self.problems

    def to_json(self) -> dict[str, object]:
        """A dict that `json.dumps` takes."""
        limits = {floor.agent: {"mean": floor.mean, "family": floor.family} for floor in FLOORS}
        limits[BLIND] = {"solved": BLIND_SHARE, "solved_in_eight": BLIND_IN_EIGHT}
        return {
            "passed": self.passed,
            "problems": list(self.problems),
            "exceptions": dict(self.exceptions),
            "identity": self.identity.to_json() if self.identity else None,
            "agents": [
                {
                    "agent": agent.agent, "average": agent.mean, "solved": agent.solved,
                    "limits": limits.get(agent.agent), "families": agent.families,
                    "solved_in": {family: agent.solved_in.get(family, 0) for family in agent.families},
                }
                for agent in self.scores.values()
            ],
        }  # fmt: skip


def judge(
    tasks: Sequence[Task], found: Sequence[Scores], *, whole: bool, identity: IdentityVerdict | None = None
) -> GateVerdict:
    """Hold what the agents got against the gate.

    Args:
        tasks: What was played.
        found: What every agent of `PLAYED` got.
        whole: Every family of the set was played. Means over all tasks are judged only then: families differ.
        identity: What calls about other things, and honest variants, came to.
    """
    scores = {agent.agent: agent for agent in found}
    out_of_order = dict(_out_of_order(scores))
    reasons = {
        family: reason for family, pairs in out_of_order.items() if (reason := _too_wide(family, pairs, scores, tasks))
    }
    families = len({task.family for task in tasks})
    exceptions = dict(list(reasons.items())[: max(1, families // ONE_IN)])
    problems = [
        *_ceiling(scores["oracle"]),
        *(problem for floor in FLOORS for problem in _above(floor, scores[floor.agent], whole=whole)),
        *_misplaced(scores["oracle"], scores[LOOKALIKE], scores[MISSING], tasks),
        *(identity.problems(whole=whole) if identity else ()),
        *_needs_no_eyes(scores[BLIND], whole=whole),
        *(
            f"{family}: {_pair(better, worse, family, scores)}"
            for family, pairs in out_of_order.items()
            if family not in exceptions
            for better, worse in pairs
        ),
        *(
            f"{agent.agent}: {agent.unplayed} tasks could not be played; run the gate again to retry them"
            for agent in scores.values()
            if agent.unplayed
        ),
    ]
    return GateVerdict(scores=scores, problems=tuple(problems), exceptions=exceptions, identity=identity)


def _ceiling(oracle: Scores) -> Iterator[str]:
    if oracle.imperfect:
        shown = ", ".join(oracle.imperfect[:5]) + (" …" if len(oracle.imperfect) > 5 else "")
        yield f"oracle: perfect play does not get 1 and solve the task in {shown}"


def _above(floor: Floor, scores: Scores, *, whole: bool) -> Iterator[str]:
    if whole and scores.mean > floor.mean:
        yield f"{floor.agent}: {scores.mean:.3f} on average, at most {floor.mean:.2f} is allowed"
    for family, value in scores.families.items():
        if value > floor.family:
            yield f"{floor.agent}: {value:.3f} in {family}, at most {floor.family:.2f} is allowed"
    if scores.solved:
        yield f"{floor.agent}: solved {scores.solved} tasks, none is allowed"


def _misplaced(oracle: Scores, lookalike: Scores, missing: Scores, tasks: Sequence[Task]) -> Iterator[str]:
    """The families in which one call about another thing costs nothing, or more than leaving out a call."""
    for family, value in lookalike.families.items():
        own = [task for task in tasks if task.family == family]
        if not any(map(_has_lookalikes, own)):
            continue
        less = missing.families.get(family, 0.0)
        if value > oracle.families.get(family, 0.0) - _SAME:
            yield f"{LOOKALIKE}: {value:.3f} in {family}, as much as perfect play: a call about another thing matches"
        elif value < less - _SAME:
            yield f"{LOOKALIKE}: {value:.3f} in {family}, less than {MISSING} with {less:.3f}: one slip counts twice"


def _has_lookalikes(task: Task) -> bool:
    """Whether any call of the first reference may be mistaken for one about another thing."""
    return any(True for call in task.references[0].trajectory.calls for _ in lookalikes(call))


def _needs_no_eyes(blind: Scores, *, whole: bool) -> Iterator[str]:
    for family, solved in blind.solved_in.items():
        tasks = len(blind.averages[family])
        most = max(BLIND_IN_EIGHT, BLIND_IN_EIGHT * tasks // 8)
        if solved > most:
            yield f"{BLIND}: solved {solved} of {tasks} tasks in {family}, at most {most} may need no eyes"
    tasks = sum(map(len, blind.averages.values()))
    most = max(1, int(BLIND_SHARE * tasks))
    if whole and blind.solved > most:
        yield f"{BLIND}: solved {blind.solved} of {tasks} tasks, at most {most} may need no eyes"


def _out_of_order(scores: Mapping[str, Scores]) -> Iterator[tuple[str, list[tuple[str, str]]]]:
    """The families in which a worse grade is not below a better one, with the neighbours that are not."""
    for family in scores[GRADES[0]].families:
        value = {agent: scores[agent].families.get(family, 0.0) for agent in GRADES}
        pairs = [(better, worse) for better, worse in pairwise(GRADES) if value[worse] > value[better] - _SAME]
        if pairs:
            yield family, pairs


def _too_wide(
    family: str, pairs: Sequence[tuple[str, str]], scores: Mapping[str, Scores], tasks: Sequence[Task]
) -> str:
    """Why the order cannot hold in a family; empty when it could.

    Step coherence is a sixth of the average. Where very many calls belong into few steps, making them one at a time
    costs nearly all of it, and one call of many costs less.
    """
    if list(pairs) != [("oracle-serial", "missing")]:
        return ""
    sizes = [task.references[0].steps for task in tasks if task.family == family]
    calls = fsum(len(step) for steps in sizes for step in steps) / len(sizes)
    steps = fsum(map(len, sizes)) / len(sizes)
    if scores["oracle-serial"].families[family] < 1 - (calls - steps) / calls / 6 - 0.01:
        return ""
    return (
        f"{calls:.0f} calls in {steps:.0f} steps: playing them one at a time costs more than leaving out one call "
        f"and what needs it ({_pair(*pairs[0], family, scores)})"
    )


def _pair(better: str, worse: str, family: str, scores: Mapping[str, Scores]) -> str:
    high, low = scores[better].families[family], scores[worse].families[family]
    return f"{worse} gets {low:.3f}, {better} {high:.3f}"
