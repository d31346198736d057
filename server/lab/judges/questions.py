"""What a judge is asked: questions about a run, each with its scale and the form of its answer.

Three are ours. Task completion (0 to 10) and information grounding (0 to 1) are one number each. The rubric has six
criteria (1 to 10) and is asked five times with its criteria in another order, because models favour what comes first.
The others are what papers ask, under the paper's name; each shows the judge what the paper shows it. One of them is
answered by looking: four criteria (0 to 10) for the pages and pictures that a run left, in four orders.
"""

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Literal, TypeAlias

from m3bench.server.lab.judges import mcp_bench

VERSION = 2
"""Version of the wording: votes on another wording are not mixed with these."""

Name: TypeAlias = Literal[
    "completion", "grounding", "rubric", "m3-completion", "m3-grounding", "mcp-bench", "equivalence", "artefact"
]
OURS: tuple[Name, ...] = ("completion", "grounding", "rubric")
NAMES: tuple[Name, ...] = (*OURS, "m3-completion", "m3-grounding", "mcp-bench", "equivalence", "artefact")

MODES: Mapping[str, tuple[Name, ...]] = MappingProxyType(
    {
        "m3bench": OURS,
        "m3-bench": ("m3-completion", "m3-grounding"),
        "mcp-bench": ("mcp-bench",),
        "mcpverse": ("equivalence",),
        "tobench": ("artefact",),
    }
)
"""What is asked together: by us, and by the judges of each paper."""

Part: TypeAlias = Literal["wording", "reference", "dependencies", "truth", "execution", "tools"]
"""What a question may show beside the question that the client saw, the calls and the answer."""

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

LOOKS: Mapping[str, str] = MappingProxyType(
    {
        "legibility": "Can everything on it be read at this size: large enough, clear against its ground, not blurred?",
        "placement": "Is everything whole and in its place, so that nothing overlaps, sticks out or is cut off?",
        "content": "Does it say and show what was asked for, with nothing missing, superfluous or wrong?",
        "tidiness": "Is it tidy: aligned, evenly spaced, one style throughout, without leftovers?",
    }
)
"""The rubric for what a run left to look at: four criteria and what each asks."""

RUBRICS: Mapping[Name, Mapping[str, str]] = MappingProxyType(
    {"rubric": CRITERIA, "mcp-bench": mcp_bench.CRITERIA, "artefact": LOOKS}
)
"""The criteria of the questions that have a score for each of several, asked in several orders."""

SHUFFLES = 5
"""Orders of a rubric; one with fewer criteria has as many orders as criteria."""


@dataclass(frozen=True, kw_only=True)
class JudgeQuestion:
    """One question to a judge."""

    name: Name
    shuffle: int | None = None
    """Which order of the rubric, from 0; None for questions with one score."""
    low: float
    high: float
    criteria: Mapping[str, str]
    """What is scored, in the order in which it is asked, and how."""
    introduction: str
    headings: Mapping[str, str] = field(default_factory=dict)
    """By the criterion before which it stands."""
    rules: str = ""
    """How to score, said after the criteria."""
    shows: tuple[Part, ...] = ()
    """What the judge reads beside the question the client saw, the calls and the answer."""
    answer_only: bool = False
    """Whether the judge reads neither calls nor pictures."""
    looks: bool = False
    """Whether the judge sees what the run left, and reads neither its calls nor its answer."""
    whole: bool = False
    """Whether nothing between two whole numbers is a score."""

    @property
    def is_rubric(self) -> bool:
        """Whether there is a score for each of several criteria, and not one for all."""
        return self.name in RUBRICS

    @property
    def form(self) -> str:
        """The answer's form, for a model to read."""
        number = "<0 or 1>" if self.whole else f"<number from {self.low:g} to {self.high:g}>"
        part = f'{{"reason": "<one sentence>", "score": {number}}}'
        if not self.is_rubric:
            return part
        return "{" + ", ".join(f'"{name}": {part}' for name in self.criteria) + "}"

    @property
    def schema(self) -> dict[str, object]:
        """The answer's form as a JSON schema."""
        part = _object({"reason": {"type": "string"}, SCORE: {"type": "number"}})
        return _object(dict.fromkeys(self.criteria, part)) if self.is_rubric else part


def questions_of(names: Sequence[str], seed: str) -> list[JudgeQuestion]:
    """The questions of these names, in a fixed order; the seed shuffles the rubric."""
    found = [ask for ask in (COMPLETION, GROUNDING) if ask.name in names]
    for name in RUBRICS:
        if name in names:
            found += [rubric(order, shuffle, name) for shuffle, order in enumerate(_orders(name, seed))]
    return [*found, *(ask for ask in (M3_COMPLETION, M3_GROUNDING, EQUIVALENCE) if ask.name in names)]


def _orders(name: Name, seed: str) -> tuple[tuple[str, ...], ...]:
    return mcp_bench.shuffled(seed, SHUFFLES) if name == "mcp-bench" else orders(seed, RUBRICS[name])


def orders(seed: str, criteria: Mapping[str, str] = CRITERIA) -> tuple[tuple[str, ...], ...]:
    """Orders of the criteria in which none stands in the same place twice and no two follow each other twice.

    Rows of a Williams square: balanced for place and for what was read just before. The seed says which criterion
    is which row's first, and which of the rows is left out when there are more than five.
    """
    dice = random.Random(f"m3bench rubric {seed}")
    names = list(criteria)
    dice.shuffle(names)
    size = len(names)
    first = [place // 2 + 1 if place % 2 else (size - place // 2) % size for place in range(size)]
    square = [tuple(names[(place + row) % size] for place in first) for row in range(size)]
    dice.shuffle(square)
    return tuple(square[:SHUFFLES])


def shuffles(name: Name) -> tuple[int | None, ...]:
    """The numbers of the orders in which a question is asked; None alone when it has one score."""
    return tuple(range(min(SHUFFLES, len(RUBRICS[name])))) if name in RUBRICS else (None,)


def rubric(order: Sequence[str], shuffle: int, name: Name = "rubric") -> JudgeQuestion:
    """A rubric with its criteria in an order."""
    if name == "mcp-bench":
        return JudgeQuestion(
            name=name,
            shuffle=shuffle,
            low=1,
            high=10,
            criteria=mcp_bench.criteria(order),
            introduction="Rate how the agent worked, strictly and by what the record shows alone: neither style nor "
            "length earns anything.",
            headings=mcp_bench.headings(order),
            rules=mcp_bench.RULES,
            shows=("wording", "dependencies", "execution", "tools"),
        )
    if name == "artefact":
        return JudgeQuestion(
            name=name,
            shuffle=shuffle,
            low=0,
            high=10,
            criteria={name: LOOKS[name] for name in order},
            introduction="Look at what the agent left, and rate how it looks and what it shows, on each of these "
            "criteria by itself. 0 is not at all, 4 is with serious faults, 7 is with small faults, 10 is without a "
            "fault. Where there are several pictures of it, rate them as one piece of work.",
            shows=("wording",),
            looks=True,
        )
    return JudgeQuestion(
        name=name,
        shuffle=shuffle,
        low=1,
        high=10,
        criteria={name: CRITERIA[name] for name in order},
        introduction="Rate how the agent worked, on each of these criteria by itself. 1 is not at all, 4 is with "
        "serious faults, 7 is with small faults, 10 is without a fault.",
        shows=("wording",),
    )


def _object(properties: Mapping[str, object]) -> dict[str, object]:
    return {
        "type": "object",
        "properties": dict(properties),
        "required": list(properties),
        "additionalProperties": False,
    }


COMPLETION = JudgeQuestion(
    name="completion",
    low=0,
    high=10,
    criteria={
        SCORE: "How completely did the agent bring about what was asked? 0: nothing of it. 3: a small part. "
        "5: about half. 8: all but a detail. 10: all of it, correctly. A part counts when the calls and their results "
        "show that it was done; that the answer says so is not enough."
    },
    introduction="Rate how completely the task was done.",
    shows=("wording",),
)

GROUNDING = JudgeQuestion(
    name="grounding",
    low=0,
    high=1,
    criteria={
        SCORE: "Which share of the claims of the answer is supported by the picture or by a result of a call? 0: none "
        "of them, or there is no claim. 0.5: about half. 1: every one. Whether the task was done well is not asked, "
        "nor whether a claim is true: a true claim without support counts as unsupported."
    },
    introduction="Rate how well the answer is grounded in what the agent saw.",
)

M3_COMPLETION = JudgeQuestion(
    name="m3-completion",
    low=0,
    high=10,
    criteria={
        SCORE: "Add up three parts. Plan, 0 to 3: do the calls follow a plan that is whole and in good order? Work, "
        "0 to 3: did the calls bring what they were made for? Result, 0 to 4: how much of what was asked does the "
        "answer give? A part that was done halfway gets half of it."
    },
    introduction="Rate how completely the task was done, by the three parts below; the score is their sum.",
)
"""Task completion as M³-Bench asks for it: three parts, and no sight of the reference."""

M3_GROUNDING = JudgeQuestion(
    name="m3-grounding",
    low=0,
    high=1,
    criteria={
        SCORE: "Which share of the steps of the reference did the agent cover? A step is covered when the agent's "
        "calls get what it gets, even with other words, other calls or in a slightly different order; a step that is "
        "missing or plainly went elsewhere is not. Count the steps that are covered and divide by all steps of the "
        "reference. What the agent did beyond the reference costs nothing."
    },
    introduction="Compare what the agent did with the reference, which solves the task, step by step.",
    shows=("reference",),
)
"""Information grounding as M³-Bench asks for it: the covered share of the reference's steps."""

EQUIVALENCE = JudgeQuestion(
    name="equivalence",
    low=0,
    high=1,
    criteria={
        SCORE: "1 when the answer says what the correct answer says, 0 when it does not. Words, order, language, "
        "rounding and what is said beyond it do not matter, as long as nothing of the correct answer is missing or "
        "contradicted."
    },
    introduction="Compare the answer with the correct answer.",
    shows=("truth",),
    answer_only=True,
    whole=True,
)
"""The question of MCPVerse: does the answer mean the same as the ground truth."""
