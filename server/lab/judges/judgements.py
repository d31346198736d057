"""The record of what judges said of a run: `judges/<run>.json` next to the store.

It holds every prompt in full, every reply as it came and what was read from it, so that a number can be traced to its
words. Combined numbers are not stored but computed from the votes (`summary`); score cards are never touched.
"""

import json
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from m3bench.server.lab.judges.questions import RUBRICS, SCORE, Name
from m3bench.server.store.layout import judgement as judgement_of
from m3bench.tasks.atomic_files import write_atomically
from m3bench.tasks.errors import InputFileError


class _Model(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class KeptPicture(_Model):
    """A picture that a prompt showed."""

    name: str
    sha256: str


class KeptPrompt(_Model):
    """What was sent at first."""

    system: str
    user: str
    pictures: tuple[KeptPicture, ...] = ()


class JudgeUsage(_Model):
    """What a reply took."""

    input_tokens: int = 0
    output_tokens: int = 0
    cost: float | None = None
    """US dollars; None when Inspect knows no price for the model."""

    def __add__(self, other: "JudgeUsage") -> "JudgeUsage":
        costs = [cost for cost in (self.cost, other.cost) if cost is not None]
        return JudgeUsage(
            input_tokens=self.input_tokens + other.input_tokens,
            output_tokens=self.output_tokens + other.output_tokens,
            cost=sum(costs) if costs else None,
        )


class Try(_Model):
    """One reply, or the lack of one."""

    reply: str | None
    """As it came; None when there was none."""
    problem: str = ""
    """Why it could not be used; also what the correction before the next try says."""
    stop: str = ""
    """Why the model stopped, as its provider says."""
    seconds: float
    usage: JudgeUsage = JudgeUsage()


class Vote(_Model):
    """What one judge said to one question."""

    ask: Name
    shuffle: int | None = None
    """Which order of the rubric; None for the other questions."""
    model: str
    prompt: str
    """The hash of the prompt, under which it is kept."""
    scores: dict[str, float] | None
    """On the question's own scale; None when the vote is missing."""
    reasons: dict[str, str] = Field(default_factory=dict)
    missing: str = ""
    """Why the vote is missing."""
    tries: tuple[Try, ...] = ()

    @model_validator(mode="after")
    def _scores_are_those_asked_for(self) -> "Vote":
        wanted = set(RUBRICS.get(self.ask, (SCORE,)))
        if self.scores is not None and set(self.scores) != wanted:
            raise ValueError(f"the scores of {self.ask} are {', '.join(sorted(wanted))}")
        return self

    @property
    def key(self) -> tuple[str, int, str]:
        """Of two votes with the same key the later one counts."""
        return self.ask, -1 if self.shuffle is None else self.shuffle, self.model

    @property
    def usage(self) -> JudgeUsage:
        """What its tries took together."""
        return sum((attempt.usage for attempt in self.tries), JudgeUsage())


class RunJudgement(_Model):
    """What judges said of a run."""

    schema_: Literal[1] = Field(default=1, alias="schema")
    run: str
    task: str
    seal: str | None
    """The seal of the run that was judged."""
    wording: int
    """Version of the questions."""
    panels: dict[Name, tuple[str, ...]]
    """Who was last asked each question; votes of others are kept and do not count."""
    votes: tuple[Vote, ...] = ()
    prompts: dict[str, KeptPrompt] = Field(default_factory=dict)

    def of(self, ask: Name) -> tuple[Vote, ...]:
        """The votes that count for a question."""
        panel = self.panels.get(ask, ())
        return tuple(vote for vote in self.votes if vote.ask == ask and vote.model in panel)

    def with_vote(self, vote: Vote, prompt: KeptPrompt) -> "RunJudgement":
        """With one more vote, in place of an earlier one with the same key."""
        votes = sorted([*(old for old in self.votes if old.key != vote.key), vote], key=lambda one: one.key)
        used = {vote.prompt for vote in votes}
        prompts = {**self.prompts, vote.prompt: prompt}
        return self.model_copy(
            update={"votes": tuple(votes), "prompts": {hash: prompts[hash] for hash in sorted(used & set(prompts))}}
        )


def read_judgement(folder: Path, run: str) -> RunJudgement | None:
    """What judges said of a run; None when they were not asked.

    Raises:
        InputFileError: The file is there and cannot be read.
    """
    path = judgement_of(folder, run)
    try:
        return RunJudgement.model_validate_json(path.read_bytes())
    except FileNotFoundError:
        return None
    except OSError as error:
        raise InputFileError(path, f"cannot be read ({error.strerror})") from error
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        field = ".".join(map(str, first["loc"]))
        raise InputFileError(path, f"{first['msg']}: move it away and judge again", field=field) from error


def write_judgement(folder: Path, judgement: RunJudgement) -> None:
    """Write a judgement atomically."""
    path = judgement_of(folder, judgement.run)
    text = json.dumps(judgement.model_dump(mode="json", by_alias=True), ensure_ascii=False, indent=1)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        write_atomically(path, f"{text}\n".encode())
    except OSError as error:
        raise InputFileError(path, f"cannot be written ({error.strerror})") from error
