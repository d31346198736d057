"""The reward of an episode: named parts with weights, made so that only a solved task gives anything.

`solved` is 1 or 0, at the end. `shaping` is the difference of a potential, the recall by effect so far, which is 0
before the first call and counts as 0 at the end: over an episode it adds up to nothing, so it leaves the best policy as
it is, and no loop earns by it (potential-based shaping, discount 1). `format`, `budget` and `grounding` are penalties
between -1 and 0. An episode that broke through no fault of the learner is void: it has no reward, and is to be masked.
"""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field, fields

from m3bench.server.scorecard.model import ScoreCard
from m3bench.tasks.errors import UserError

REFUSED = ("illegal_format", "invalid_arguments", "unknown_tool")
"""Outcomes of calls that no tool took."""


@dataclass(frozen=True, kw_only=True)
class RewardWeights:
    """What each part counts. A weight of 0 leaves a part out."""

    solved: float = 1.0
    shaping: float = 0.0
    format: float = 0.0
    budget: float = 0.0
    grounding: float = 0.0

    def __post_init__(self) -> None:
        for each in fields(self):
            value = getattr(self, each.name)
            if not 0 <= value < float("inf"):
                raise UserError(f"The weight of {each.name} is {value!r}: give a number that is not below 0.")
        if self.solved == 0:
            raise UserError("The weight of solved is 0: then nothing that a learner does is worth anything.")

    @classmethod
    def of(cls, given: Mapping[str, float]) -> "RewardWeights":
        """Weights by name.

        Raises:
            UserError: There is no part of that name, or a weight cannot be.
        """
        known = [each.name for each in fields(cls)]
        strange = [name for name in given if name not in known]
        if strange:
            raise UserError(f"There is no part {strange[0]!r} of the reward: choose from {', '.join(known)}.")
        return cls(**dict(given))


@dataclass(frozen=True, kw_only=True)
class Reward:
    """What a turn, or the end of an episode, is worth."""

    parts: Mapping[str, float] = field(default_factory=dict)
    """Each part before it is weighted."""
    total: float | None = 0.0
    """Their weighted sum; None when the episode is void."""
    void: str = ""
    """Why the episode counts for nothing; empty when it counts."""

    def to_json(self) -> dict[str, object]:
        """A dict that `json.dumps` takes."""
        return {"total": self.total, "parts": dict(self.parts), "void": self.void}

    @classmethod
    def from_json(cls, data: Mapping[str, object]) -> "Reward":
        """What `to_json` gave."""
        parts, total = data["parts"], data["total"]
        assert isinstance(parts, Mapping)
        assert total is None or isinstance(total, int | float)
        return cls(parts=dict(parts), total=total, void=str(data["void"]))


def weighted(parts: Mapping[str, float], weights: RewardWeights) -> Reward:
    """A reward of these parts; those without a weight are left out."""
    counted = {name: value for name, value in parts.items() if getattr(weights, name)}
    return Reward(parts=counted, total=sum(getattr(weights, name) * value for name, value in counted.items()))


def added(before: Reward, turn: Reward) -> Reward:
    """What an episode has earned with another turn; a void one has earned nothing."""
    if before.total is None or turn.total is None:
        return turn if turn.total is None else before
    parts = Counter(before.parts)
    parts.update(turn.parts)
    return Reward(parts=dict(parts), total=before.total + turn.total)


def final_parts(card: ScoreCard, potential: float, calls: int, most: int) -> dict[str, float]:
    """The parts of the reward at the end of an episode that is not void.

    Args:
        card: Its score card.
        potential: The potential before the end; at the end it is 0.
        calls: How many calls were made.
        most: How many could have been.
    """
    refused = sum(card.outcomes.get(name, 0) for name in REFUSED)
    needed = sum(map(len, card.alignment.reference_steps))
    extra = max(0, calls - needed)
    handed_in = [check for check in card.checks if check.given]
    return {
        "solved": 1.0 if card.success else 0.0,
        "shaping": 0.0 - potential,
        "format": -min(1.0, refused / max(1, calls)),
        "budget": -min(1.0, extra / max(1, most - needed)),
        "grounding": -min(1.0, len(card.ungrounded) / max(1, len(handed_in))),
    }
