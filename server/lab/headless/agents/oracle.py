"""Agents that know the reference: one plays it as it stands, one says it in prose, one makes its calls one at a time.

They are the ceiling: the first two must score 1 on everything, or the benchmark is wrong.
"""

from m3bench.server.lab.headless.agents.play import AgentPlay
from m3bench.tasks.answers.fields import right_fields
from m3bench.tasks.trajectory import Trajectory


def references(play: AgentPlay) -> list[Trajectory]:
    """The references that the tools of the seat can play; the first where they can play none."""
    ways = [way.trajectory for way in play.task.references]
    return [way for way in ways if all(call.tool in play.shown for call in way.calls)] or ways[:1]


def reference(play: AgentPlay) -> Trajectory:
    """The first of them."""
    return references(play)[0]


async def oracle(play: AgentPlay) -> str:
    """Plays the reference, independent calls together."""
    for step in reference(play).steps:
        await play.step(step.calls)
    play.fields = right_fields(play.task.fields)
    return play.task.answer


async def oracle_prose(play: AgentPlay) -> str:
    """Plays the reference and hands in prose alone, in which the fields must be found."""
    for step in reference(play).steps:
        await play.step(step.calls)
    return play.task.answer


async def oracle_serial(play: AgentPlay) -> str:
    """Makes the calls of the reference one at a time."""
    for call in reference(play).calls:
        await play.call(call)
    play.fields = right_fields(play.task.fields)
    return play.task.answer
