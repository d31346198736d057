"""Refuses tasks that would measure nothing: steps that are not needed, answers that can be guessed, near-duplicates.

Rules decide, from what the calls of a task really answered, and the same task is always decided in the same way.
Whether a task can be solved is proved elsewhere. MCP-Bench has a model rate both, from 1 to 10, and throws away what is
below 9 for solvability or below 5 for utility; a model may do so here too, after the rules.

Two tasks are near-duplicates when one of three holds: they ask the same of the same kind of things, whatever stands on
the card; at least half of the calls of one of them are calls of the other; or the questions share at least half of the
runs of three words that either of them has (the Jaccard index of their word trigrams is 0.5 or more).

A question must not name a service or tool, as the catalog has it and as people spell it: whoever asks wants something
done and does not know by which tool. A tool's name of several words counts with blanks between them as well; a name
that is an ordinary word, such as `search`, does not count. What people call the services behind the servers stands in
`words/services.toml`.
"""

import re
import tomllib
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from json import dumps
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from m3bench.server.lab.authoring.curation.model import Asker
from m3bench.server.lab.authoring.synthesis.instance import Instance
from m3bench.tasks.catalog import load_catalog
from m3bench.tasks.facts import MIN_DIGITS, MIN_LETTERS, MIN_ROUNDED, Held, digits
from m3bench.tasks.folding import fold
from m3bench.tasks.task import ReferenceCall, Task


@cache
def forbidden() -> tuple[str, ...]:
    """What a question must not say, in lower case, sorted."""
    folder = files("m3bench.server.lab.authoring.synthesis") / "words"
    services = tomllib.loads((folder / "services.toml").read_text(encoding="utf-8"))
    return tuple(sorted({*_of_tools(), *(name.casefold() for names in services.values() for name in names)}))


def named(text: str) -> str | None:
    """The first service or tool that a text names; None when it names none."""
    found = _pattern().search(" ".join(re.sub(r"[^\w.\s-]", " ", text.casefold()).split()))
    return found[0] if found else None


@cache
def _pattern() -> re.Pattern[str]:
    return re.compile(rf"(?<!\w)(?:{'|'.join(map(re.escape, forbidden()))})(?!\w)")


def _of_tools() -> Iterator[str]:
    for tool in load_catalog().ready.tools:
        for name in (tool.name, tool.server):
            spaced = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", re.sub(r"[_-]+", " ", name)).casefold()
            if " " in spaced:
                yield spaced
            if spaced != name:
                yield name.casefold()
        yield from (tool.qualified.casefold(), tool.exposed.casefold())


MOST_CALLS = 0.5
"""Share of the calls of the shorter task that may not be reached by those that both have."""
MOST_WORDS = 0.5
"""Share of runs of three words that may not be reached by those that both questions have."""
RUN = 3


def trigrams(question: str) -> frozenset[tuple[str, ...]]:
    """The runs of three words of a question."""
    words = re.findall(r"[\w'°.,]*\w", question.casefold())
    return frozenset(zip(*(words[start:] for start in range(RUN)), strict=False))


def same_words(one: str, other: str) -> float:
    """The share of runs of three words that two questions have in common, of all that either has."""
    mine, others = trigrams(one), trigrams(other)
    return len(mine & others) / len(mine | others) if mine or others else 1.0


def same_calls(one: Sequence[Sequence[ReferenceCall]], other: Sequence[Sequence[ReferenceCall]]) -> float:
    """The share of the calls of the shorter of two references that are calls of the other as well."""
    mine, others = _calls(one), _calls(other)
    return len(mine & others) / min(len(mine), len(others)) if mine and others else 0.0


@dataclass
class KeptTasks:
    """The tasks that were kept so far."""

    _shapes: set[str] = field(default_factory=set)
    _tasks: list[Task] = field(default_factory=list)

    def repeats(self, shape: str, steps: Sequence[Sequence[ReferenceCall]]) -> bool:
        """Whether a task that asks this with these calls is a near-duplicate, whatever its words will be."""
        return shape in self._shapes or any(
            same_calls(steps, task.references[0].steps) >= MOST_CALLS for task in self._tasks
        )

    def sounds_like(self, question: str) -> bool:
        """Whether a question is worded nearly as that of a task that was kept."""
        return any(same_words(question, task.question) >= MOST_WORDS for task in self._tasks)

    def keep(self, shape: str, task: Task) -> None:
        """Remember a task."""
        self._shapes.add(shape)
        self._tasks.append(task)


def _calls(steps: Sequence[Sequence[ReferenceCall]]) -> frozenset[str]:
    return frozenset(f"{call.tool} {sorted(call.arguments.items())}" for step in steps for call in step)


Reason = Literal["needless step", "trivial answer", "near-duplicate", "names a service", "rated low"]

REASONS: dict[Reason, str] = {
    "needless step": "a step is asked for nothing that earlier answers or the card do not say already",
    "trivial answer": (
        "all answers of a step say that there is nothing or are numbers of one digit, or the last step answers the "
        "same about others"
    ),
    "near-duplicate": "it asks, calls or sounds like another task of the set",
    "names a service": "the question names a service or a tool",
    "rated low": "a model rated it below 9 of 10 for solvability, or below 5 for utility, or gave no readable rating",
}

EMPTY = frozenset({"", "-", "n/a", "na", "nan", "no", "none", "null", "not available", "other", "unknown", "yes"})
"""Answers that tell nothing, or that one time in two are right when guessed."""


SOLVABLE, USEFUL = 9.0, 5.0
"""Of 10, the least that MCP-Bench keeps."""

_RATING = (
    "You rate a task that was made to test agents, from 1 to 10. Solvability: can it be done with these tools alone,"
    " is everything that is needed in it or on its picture, and is it clear when it is done? 10: all of that without"
    " a gap; 8 or 9: clearly, with a small doubt; 6 or 7: mostly; 4 or 5: with real gaps; 1 to 3: not at all. Utility:"
    " would somebody need this, and could they act on the result? 10: it matters much; 8 or 9: of plain practical"
    " use; 6 or 7: of some; 4 or 5: hardly; 1 to 3: made up or trivial. Give a sentence for each."
)


class TaskRating(BaseModel):
    """What a model says of a task."""

    model_config = ConfigDict(extra="forbid")

    solvability: float = Field(ge=1, le=10)
    utility: float = Field(ge=1, le=10)
    why_solvable: str
    why_useful: str

    @property
    def is_kept(self) -> bool:
        """Whether MCP-Bench would keep the task."""
        return self.solvability >= SOLVABLE and self.utility >= USEFUL


class ModelRater:
    """A model rates tasks.

    Args:
        asker: Asks the model.
    """

    def __init__(self, asker: Asker) -> None:
        self._asker = asker

    async def keeps(self, task: Task) -> bool:
        """Whether the model rates a task highly enough; one that gives no readable rating does not."""
        rating = await self._asker.ask(_RATING, _rated(task), TaskRating)
        return rating is not None and rating.is_kept


def _rated(task: Task) -> str:
    """What a rater reads: both wordings, and the tools with their schemas."""
    tools = [tool for tool in load_catalog().ready.tools if tool.server in task.servers]
    lines = [f"- {tool.qualified}: {tool.description}\n  {dumps(tool.input_schema)}" for tool in tools]
    return "\n".join(
        [f"The task in exact words:\n{task.wording}", f"As the agent reads it:\n{task.question}", "The tools:", *lines]
    )


class Usefulness:
    """Decides on one task after the other, and remembers those that were kept.

    Args:
        rater: Rates what the rules keep; nobody when left out.
    """

    def __init__(self, rater: ModelRater | None = None) -> None:
        self._rater = rater
        self.refused: Counter[Reason] = Counter()
        """Tasks that were refused, by reason."""
        self._kept = KeptTasks()

    def refuse(self, made: Instance, other: Instance | None) -> Reason | None:
        """Why a task is refused before it has words; None when it is useful.

        Args:
            made: The task in the making.
            other: The same errand with other things alone, where there is one.
        """
        reason: Reason | None = None
        if has_needless_step(made):
            reason = "needless step"
        elif is_trivial(made, other):
            reason = "trivial answer"
        elif self._kept.repeats(made.errand.shape, made.steps):
            reason = "near-duplicate"
        return self._counted(reason)

    def refuse_words(self, question: str) -> Reason | None:
        """Why a question is refused; None when it is fit to be asked."""
        if named(question) is not None:
            return self._counted("names a service")
        return self._counted("near-duplicate" if self._kept.sounds_like(question) else None)

    async def refuse_rated(self, task: Task) -> Reason | None:
        """Why a finished task is refused by its rating; None when it is rated highly enough, or not rated."""
        return self._counted("rated low" if self._rater is not None and not await self._rater.keeps(task) else None)

    def keep(self, made: Instance, task: Task) -> None:
        """Remember a task that enters the set."""
        self._kept.keep(made.errand.shape, task)

    def _counted(self, reason: Reason | None) -> Reason | None:
        if reason is not None:
            self.refused[reason] += 1
        return reason


def has_needless_step(made: Instance) -> bool:
    """Whether some step after the first tells nothing new of what is asked.

    Numbers with one or two digits may stand anywhere by chance. They count as new where nothing else is asked, and
    not at all where something is.
    """
    asked = made.asked
    for step in range(1, len(made.steps)):
        before = Held("\n".join([*made.things, *(text for texts in made.heard[:step] for text in texts)]))
        later = [value for at in range(step, len(made.steps)) for value in asked[at]]
        telling = [value for value in later if not _is_short(value)]
        if all(_stands(value, before) for value in telling or later):
            return True
    return False


def is_trivial(made: Instance, other: Instance | None) -> bool:
    """Whether all answers of a step can be guessed, or those of the last one do not depend on what is on the card."""
    if any(values and all(map(_is_guessed, values)) for values in made.asked):
        return True
    if other is None:
        return False
    mine, others = _last(made.asked), _last(other.asked)
    return bool(mine) and sorted(map(str, mine)) == sorted(map(str, others))


def _is_guessed(value: str | float) -> bool:
    """Whether it tells nothing, or is a number of one digit, which stands in many a text by chance."""
    return fold(value) in EMPTY if isinstance(value, str) else digits(value) < MIN_DIGITS


def _stands(value: str | float, text: Held) -> bool:
    if isinstance(value, str):
        return len(value) >= MIN_LETTERS and text.holds(fold(value))
    return not _is_short(value) and (text.holds(value) or text.holds_rounded(value))


def _is_short(value: str | float) -> bool:
    return not isinstance(value, str) and digits(value) < MIN_ROUNDED


def _last(asked: Sequence[Sequence[str | float]]) -> Sequence[str | float]:
    return next((values for values in reversed(asked) if values), ())
