"""Plays references in episodes: the ceiling of a reward, and the trajectories that a learner may copy."""

from m3bench.server.lab.training.episodes import LearnerCall
from m3bench.tasks.answers.fields import right_fields
from m3bench.tasks.catalog import expose
from m3bench.tasks.task import Task


def oracle_turns(task: Task, reference: int = 0) -> list[list[LearnerCall]]:
    """The calls of a reference, turn by turn."""
    return [
        [LearnerCall(name=expose(call.tool), arguments=dict(call.arguments)) for call in step.calls]
        for step in task.references[reference].trajectory.steps
    ]


def oracle_answer(task: Task) -> dict[str, object]:
    """What is handed in by who knows everything."""
    fields = right_fields(task.fields)
    return {"answer": task.answer, **({"fields": fields} if fields else {})}
