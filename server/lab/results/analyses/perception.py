"""What runs got right and wrong about pictures: how many failed for which perceptual fault, and a rate for each skill.

Only tasks count of which it is written down what is to be seen. Nothing is judged here: score cards say it of each run.
"""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from m3bench.server.lab.results.documents import JsonDocument
from m3bench.server.lab.results.resultset import Result
from m3bench.server.scorecard.misperception import PERCEPTION_CLASSES
from m3bench.server.scorecard.model import PerceptionClass


@dataclass(frozen=True, kw_only=True)
class SkillRate(JsonDocument):
    """How well a skill of the eyes was done."""

    right: int
    wrong: int
    not_told: int
    """Runs that were not solved and whose record does not tell."""

    @property
    def rate(self) -> float | None:
        """The share of runs that did it right among those that tell."""
        told = self.right + self.wrong
        return self.right / told if told else None


@dataclass(frozen=True, kw_only=True)
class PerceptionFacts(JsonDocument):
    """What the runs of a set saw."""

    runs: int
    """Runs of tasks of which it is known what is to be seen."""
    failed: int
    """Those of them that were not solved."""
    classes: Mapping[PerceptionClass, int] = field(default_factory=dict)
    """Failed runs by their perceptual fault; the others went wrong elsewhere, or the record does not tell."""
    skills: Mapping[str, SkillRate] = field(default_factory=dict)


def perception_facts(results: Iterable[Result]) -> PerceptionFacts | None:
    """What some runs got right and wrong about pictures; None where none of them can tell."""
    cards = [result.card for result in results if result.card.perception is not None]
    if not cards:
        return None
    found, right, wrong, asked = Counter[PerceptionClass](), Counter[str](), Counter[str](), Counter[str]()
    for card in cards:
        assert card.perception is not None
        asked.update(card.perception.skills)
        right.update(card.perception.right)
        wrong.update([card.perception.wrong] if card.perception.wrong else [])
        found.update([card.perception.found] if card.perception.found else [])
    return PerceptionFacts(
        runs=len(cards),
        failed=sum(card.success is False for card in cards),
        classes={name: found[name] for name in PERCEPTION_CLASSES if found[name]},
        skills={
            skill: SkillRate(
                right=right[skill], wrong=wrong[skill], not_told=asked[skill] - right[skill] - wrong[skill]
            )
            for skill in sorted(asked)
        },
    )
