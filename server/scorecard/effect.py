"""Scores a run by what its calls brought about: the part of a score card that profile `effect` makes.

Takes the record, where every call has its result, and the plans of the task's references. The best of the references
by average counts.
"""

from collections.abc import Sequence

from m3bench.server.scorecard.model import AnsweredCall, EffectScore, MissedCall
from m3bench.server.scorecard.trajectory import PlayedRun, result_text
from m3bench.server.scoring.effect import Answers, Made, find_answers
from m3bench.server.scoring.effect_metrics import measure
from m3bench.server.scoring.effect_reasons import answer_note, miss_note, reasons
from m3bench.server.scoring.signatures import catalog_signatures
from m3bench.tasks.catalog import load_catalog
from m3bench.tasks.plan import Plan
from m3bench.tasks.task import Task


def score_by_effect(played: PlayedRun, task: Task, plans: Sequence[Plan], answer: str, *, solved: bool) -> EffectScore:
    """What a run amounts to by effect.

    Args:
        played: The calls that count, in steps.
        task: The task.
        plans: What the calls of each of its references give and need.
        answer: What the client handed in.
        solved: Whether it was right: then what it says was known.
    """
    made = _made(played)
    signatures = catalog_signatures(load_catalog())
    found = [
        find_answers(
            reference.trajectory,
            plan,
            made,
            said=answer if solved else "",
            pictures=frozenset(task.pictures),
            signatures=signatures,
        )
        for reference, plan in zip(task.references, plans, strict=True)
    ]
    values = [measure(answers) for answers in found]
    best = max(range(len(found)), key=lambda number: (values[number]["average"] or 0.0, -number))
    return _score(task, best, found[best], values[best], made)


def _made(played: PlayedRun) -> list[Made]:
    """The calls as they stand in the trajectory, each with its result."""
    trajectory = played.trajectory
    steps = (number for number, step in enumerate(trajectory.steps) for _ in step.calls)
    return [
        Made(call=call, step=step, result=result_text(played.calls[index]))
        for index, step, call in zip(played.order, steps, trajectory.calls, strict=True)
    ]


def _score(task: Task, best: int, found: Answers, values: dict[str, float | None], made: Sequence[Made]) -> EffectScore:
    calls = task.references[best].trajectory.calls
    missed = sorted(set(range(len(calls))) - found.answers.keys() - found.dropped)
    return EffectScore(
        metrics=values,
        reference=best,
        reasons=reasons(found),
        answered=tuple(
            AnsweredCall(
                reference=place,
                actual=answer.actual,
                way=answer.way,
                similarity=answer.similarity,
                note=answer_note(answer, [made[index].call.tool for index in answer.actual]),
            )
            for place, answer in found.answers.items()
        ),
        missed=tuple(
            MissedCall(
                reference=place,
                tool=calls[place].tool,
                note=miss_note(found.rejected[place][1]) if place in found.rejected else "",
            )
            for place in missed
        ),
        not_needed=tuple(sorted(found.dropped)),
    )
