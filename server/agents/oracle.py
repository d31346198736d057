"""Agents that know the reference: one plays it as it stands, one makes the same calls one at a time.

They are the ceiling: the first must score 1 on everything, or the benchmark is wrong.
"""

from m3bench.server.agents.play import Made, Play
from m3bench.tasks.catalog import expose


def reference(play: Play) -> list[list[Made]]:
    """The calls of the first reference, step by step."""
    return [[Made(expose(call.tool), call.arguments) for call in step] for step in play.task.references[0].steps]


async def oracle(play: Play) -> str:
    """Plays the reference, independent calls together."""
    for step in reference(play):
        await play.step(step)
    return play.task.answer


async def oracle_serial(play: Play) -> str:
    """Makes the calls of the reference one at a time."""
    for step in reference(play):
        for call in step:
            await play.call(*call)
    return play.task.answer
