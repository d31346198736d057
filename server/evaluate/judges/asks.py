"""What a judge is asked: three questions about a run, each with its scale and the form of its answer.

Task completion (0 to 10) and information grounding (0 to 1) are one number each. The rubric has six criteria (1 to 10)
and is asked five times with its criteria in another order, because models favour what comes first.
"""

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Literal, TypeAlias

VERSION = 1
"""Version of the wording: votes on another wording are not mixed with these."""

Name: TypeAlias = Literal["completion", "grounding", "rubric"]
NAMES: tuple[Name, ...] = ("completion", "grounding", "rubric")

SCORE = "score"
"""What the one number of an ask is called."""

CRITERIA: Mapping[str, str] = MappingProxyType(
    {
        "fulfilment": "Did the agent do everything that was asked, so that the person needs nothing more?",
        "grounding": "Is every claim of the answer supported by the picture or by a result of a call?",
        "tool_appropriateness": "Was each tool the right one for what it was used for, and was no call superfluous?",
        "parameter_accuracy": "Were the arguments of the calls right, complete and precise?",
        "dependency_awareness": "Did calls that need an earlier result come after it, and use what it said?",
        "parallelism": "Were calls that do not depend on each other made in one step, and only such calls?",
    }
)
"""The rubric: six criteria and what each asks."""

SHUFFLES = 5


@dataclass(frozen=True, kw_only=True)
class Ask:
    """One question to a judge."""

    name: Name
    shuffle: int | None = None
    """Which order of the rubric, from 0; None for the other two."""
    low: float
    high: float
    criteria: Mapping[str, str]
    """What is scored, in the order in which it is asked, and how."""
    introduction: str
    shows_wording: bool
    """Whether the judge reads the task's concrete wording as well as the question the client saw."""

    @property
    def form(self) -> str:
        """The answer's form, for a model to read."""
        number = f"<number from {self.low:g} to {self.high:g}>"
        part = f'{{"reason": "<one sentence>", "score": {number}}}'
        if self.name != "rubric":
            return part
        return "{" + ", ".join(f'"{name}": {part}' for name in self.criteria) + "}"

    @property
    def schema(self) -> dict[str, Any]:
        """The answer's form as a JSON schema."""
        part = _object({"reason": {"type": "string"}, SCORE: {"type": "number"}})
        return part if self.name != "rubric" else _object(dict.fromkeys(self.criteria, part))


def asks(names: Sequence[str], seed: str) -> list[Ask]:
    """The questions of these names, in a fixed order; the seed shuffles the rubric."""
    found = [COMPLETION] if "completion" in names else []
    found += [GROUNDING] if "grounding" in names else []
    if "rubric" in names:
        found += [rubric(order, shuffle) for shuffle, order in enumerate(orders(seed))]
    return found


def orders(seed: str) -> tuple[tuple[str, ...], ...]:
    """Five orders of the criteria in which none stands in the same place twice and no two follow each other twice.

    Rows of a Williams square: balanced for place and for what was read just before. The seed says which criterion
    is which row's first, and which of the six rows is left out.
    """
    dice = random.Random(f"m3bench rubric {seed}")
    names = list(CRITERIA)
    dice.shuffle(names)
    size = len(names)
    first = [place // 2 + 1 if place % 2 else (size - place // 2) % size for place in range(size)]
    square = [tuple(names[(place + row) % size] for place in first) for row in range(size)]
    dice.shuffle(square)
    return tuple(square[:SHUFFLES])


def rubric(order: Sequence[str], shuffle: int) -> Ask:
    """The rubric with its criteria in an order."""
    return Ask(
        name="rubric",
        shuffle=shuffle,
        low=1,
        high=10,
        criteria={name: CRITERIA[name] for name in order},
        introduction="Rate how the agent worked, on each of these criteria by itself. 1 is not at all, 4 is with "
        "serious faults, 7 is with small faults, 10 is without a fault.",
        shows_wording=True,
    )


def _object(properties: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": dict(properties),
        "required": list(properties),
        "additionalProperties": False,
    }


COMPLETION = Ask(
    name="completion",
    low=0,
    high=10,
    criteria={
        SCORE: "How completely did the agent bring about what was asked? 0: nothing of it. 3: a small part. "
        "5: about half. 8: all but a detail. 10: all of it, correctly. A part counts when the calls and their results "
        "show that it was done; that the answer says so is not enough."
    },
    introduction="Rate how completely the task was done.",
    shows_wording=True,
)

GROUNDING = Ask(
    name="grounding",
    low=0,
    high=1,
    criteria={
        SCORE: "Which share of the claims of the answer is supported by the picture or by a result of a call? 0: none "
        "of them, or there is no claim. 0.5: about half. 1: every one. Whether the task was done well is not asked, "
        "nor whether a claim is true: a true claim without support counts as unsupported."
    },
    introduction="Rate how well the answer is grounded in what the agent saw.",
    shows_wording=False,
)
