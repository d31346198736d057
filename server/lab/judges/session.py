"""A judging session: every judge is asked every question about every run, several at a time.

Each vote is on disk before the next one is counted, so an interrupted session loses only what was in progress, and a
later one can continue it.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from hashlib import sha256

import anyio

from m3bench.server.lab.judges.cases import Case
from m3bench.server.lab.judges.judge import BudgetReached, Judge, JudgeGone
from m3bench.server.lab.judges.judgements import (
    KeptPicture,
    KeptPrompt,
    RunJudgement,
    Vote,
    read_judgement,
    write_judgement,
)
from m3bench.server.lab.judges.material import JudgeMaterial
from m3bench.server.lab.judges.prompts import Prompt, prompt
from m3bench.server.lab.judges.questions import OURS, VERSION, JudgeQuestion, Name, questions_of
from m3bench.tasks.errors import UserError

Told = Callable[[Case, Vote], None]


@dataclass(frozen=True, kw_only=True)
class PendingVote:
    """One thing to ask one judge."""

    case: Case
    ask: JudgeQuestion
    judge: Judge
    prompt: Prompt
    unasked: str = ""
    """Why it cannot be put to this judge; empty when it can."""

    async def vote(self) -> Vote:
        """What the judge says; a missing vote when there is nothing to ask."""
        if self.unasked:
            return _blank(self).model_copy(update={"missing": self.unasked})
        return await self.judge.vote(self.ask, self.prompt)


@dataclass(kw_only=True)
class JudgingSession:
    """What is to be asked, and what was said so far.

    Args:
        cases: The runs.
        judges: The panel.
        what: The names of the questions.
        resume: Keep the votes that are there, as far as the same prompt was put to the same judge.
    """

    cases: Sequence[Case]
    judges: Sequence[Judge]
    what: Sequence[Name] = OURS
    resume: bool = False
    judgements: dict[tuple[str, str], RunJudgement] = field(init=False)
    """By store and run."""
    questions: list[PendingVote] = field(init=False)
    """What is left to ask."""
    kept: int = field(init=False, default=0)
    """Votes that were there."""
    gone: dict[str, str] = field(init=False, default_factory=dict)
    """Judges whose provider no longer answers, each with what it said; they are not asked again."""
    unasked: int = field(init=False, default=0)
    """Questions that were left, because the budget was used up."""

    def __post_init__(self) -> None:
        self.judgements = {_key(case): self._begin(case) for case in self.cases}
        self.questions = []
        for case in self.cases:
            votes = {vote.key: vote for vote in self.judgements[_key(case)].votes}
            for question in self._all(case):
                old = votes.get(_blank(question).key)
                if self.resume and old is not None and old.scores is not None and old.prompt == question.prompt.hash:
                    self.kept += 1
                else:
                    self.questions.append(question)

    def judgement(self, case: Case) -> RunJudgement:
        """What was said of a run."""
        return self.judgements[_key(case)]

    async def run(self, parallel: int, told: Told) -> None:
        """Ask what is left.

        Args:
            parallel: Questions under way at a time.
            told: Called with each vote that is kept.
        """
        waiting = iter(self.questions)

        async def work() -> None:
            for question in waiting:
                try:
                    vote = await self._vote(question)
                except BudgetReached:
                    self.unasked += 1
                else:
                    self._keep(question, vote)
                    told(question.case, vote)

        async with anyio.create_task_group() as tasks:
            for _ in range(min(parallel, len(self.questions))):
                tasks.start_soon(work)

    async def _vote(self, question: PendingVote) -> Vote:
        """What a judge says; one that is gone is asked once."""
        name = question.judge.name
        if name in self.gone:
            return _blank(question).model_copy(update={"missing": f"not asked: {self.gone[name]}"})
        try:
            return await question.vote()
        except JudgeGone as error:
            self.gone.setdefault(name, str(error))
            return error.vote

    def _keep(self, question: PendingVote, vote: Vote) -> None:
        key = _key(question.case)
        self.judgements[key] = self.judgements[key].with_vote(vote, _kept(question.prompt))
        write_judgement(question.case.folder, self.judgements[key])

    def _begin(self, case: Case) -> RunJudgement:
        """What is known of a run, with this panel; votes on other words or on another record do not stay."""
        panel = tuple(judge.name for judge in self.judges)
        old = read_judgement(case.folder, case.run.id)
        fresh = RunJudgement(run=case.run.id, task=case.task.id, seal=case.run.seal, wording=VERSION, panels={})
        if old is None or (old.seal, old.wording) != (case.run.seal, VERSION):
            old = fresh
        return old.model_copy(update={"panels": {**old.panels, **dict.fromkeys(self.what, panel)}})

    def _all(self, case: Case) -> Iterator[PendingVote]:
        for ask in questions_of(self.what, case.task.id):
            if "truth" in ask.shows and not case.material.truth:
                raise UserError(
                    f"The task {case.task.id!r} states no answer to compare with: leave out {ask.name!r}, or judge "
                    "runs of tasks with an answer or fields."
                )
            material = case.looked_at if ask.looks else case.material
            prompts = {
                sighted: prompt(ask, material, case.run.id, pictures=sighted)
                for sighted in {judge.sighted for judge in self.judges}
            }
            for judge in self.judges:
                unasked = _unasked(ask, material, judge)
                yield PendingVote(case=case, ask=ask, judge=judge, prompt=prompts[judge.sighted], unasked=unasked)


def _unasked(ask: JudgeQuestion, material: JudgeMaterial, judge: Judge) -> str:
    if not ask.looks:
        return ""
    if not material.left:
        return "the run left no page or picture that can be shown"
    return "" if judge.sighted else "it is shown no pictures, and there is nothing to rate without them"


def _key(case: Case) -> tuple[str, str]:
    return str(case.folder), case.run.id


def _blank(question: PendingVote) -> Vote:
    ask = question.ask
    return Vote(ask=ask.name, shuffle=ask.shuffle, model=question.judge.name, prompt=question.prompt.hash, scores=None)


def _kept(asked: Prompt) -> KeptPrompt:
    pictures = [KeptPicture(name=picture.name, sha256=sha256(picture.data).hexdigest()) for picture in asked.pictures]
    return KeptPrompt(system=asked.system, user=asked.user, pictures=tuple(pictures))
