"""Judges what a run handed in: every field of the task, or the checks of a task that has none."""

from m3bench.tasks.answers.fields import judge
from m3bench.tasks.answers.reading import read
from m3bench.tasks.checks import Evidence, Finding
from m3bench.tasks.task import Task


def findings_of(task: Task, evidence: Evidence) -> tuple[Finding, ...]:
    """What is right and what is not; a run is solved when there is something to find and all of it is right."""
    handed_in = read(task.fields, evidence.answer, evidence.fields)
    return (*judge(task.fields, handed_in, evidence), *(check.run(evidence) for check in task.checks))
