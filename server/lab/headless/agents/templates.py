"""Agents that know how such tasks are solved and not this one: each plays a template in the place of a solution.

They show what a score is worth. One replays another task of the family, one uses the right tools on other things, one
calls everything there is, and one looks around, gives up and begins anew. Only the last may score, because the run
that counts is a whole one.
"""

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from m3bench.server.lab.headless.agents.play import AgentPlay, reference, references
from m3bench.tasks.answers.fields import right_fields
from m3bench.tasks.examples import load_examples
from m3bench.tasks.task import MEDIA, Task
from m3bench.tasks.trajectory import JSON, Call

TOGETHER = 8
"""Calls that the one who calls everything makes in a step."""
MAX_ANSWER = 60_000
"""Letters that it hands in."""


async def sibling(play: AgentPlay) -> str:
    """Plays a reference of the likest task of the family on this task's picture, and gives that task's answer.

    The first sample of a task has the first reference, the second sample the second, and so on in rotation.
    """
    other = likest_task(play)
    ways = references(replace(play, task=other))
    for step in ways[(play.repeat - 1) % len(ways)].steps:
        await play.step([on_this_picture(call, other, play) for call in step.calls])
    play.fields = right_fields(other.fields)
    return other.answer


async def generic(play: AgentPlay) -> str:
    """Makes the reference's calls with the arguments that other tasks give the same tools."""
    values = _others(play)
    for step in reference(play).steps:
        await play.step([_with_other_values(call, values.get(call.tool, []), play) for call in step.calls])
    play.fields = right_fields(next_task(play).fields)
    return next_task(play).answer


async def dump(play: AgentPlay) -> str:
    """Calls every tool of the seat with an example, and hands in everything that came back."""
    calls = [call for tool in await play.tools() for call in example(tool.qualified, play)]
    found = []
    for start in range(0, len(calls), TOGETHER):
        found += await play.step(calls[start : start + TOGETHER])
    return "\n".join(found)[:MAX_ANSWER]


async def rehearse(play: AgentPlay) -> str:
    """Plays the reference, gives the run up, begins the task anew and plays it again."""
    for step in reference(play).steps:
        await play.step(step.calls)
    await play.restart()
    for step in reference(play).steps:
        await play.step(step.calls)
    play.fields = right_fields(play.task.fields)
    return play.task.answer


def next_task(play: AgentPlay) -> Task:
    """The task of the same family that comes next in the set; of another family where there is no other."""
    return _after(play)[0]


def likest_task(play: AgentPlay) -> Task:
    """The task of the same family that is most like this one, in its goal, its tools and the calls that both share."""
    own = _traits(play.task, play.task, play)
    return max(_after(play), key=lambda other: _shared(own, _traits(other, play.task, play)))


def _after(play: AgentPlay) -> list[Task]:
    """The other tasks of the family in the order of the set, from this one on; of all where there is no other."""
    tasks = list(play.library.tasks.values())
    family = [task for task in tasks if task.family == play.task.family]
    ring = family if len(family) > 1 else tasks
    place = ring.index(play.task)
    return [*ring[place + 1 :], *ring[:place]]


def _traits(task: Task, own: Task, play: AgentPlay) -> tuple[Counter[str], ...]:
    """What a task asks for, which tools its reference uses, and the very calls."""
    calls = task.references[0].trajectory.calls
    here = calls if task is own else [on_this_picture(call, task, play) for call in calls]
    return (
        Counter(field.name for field in task.fields),
        Counter(call.tool for call in calls),
        Counter(f"{call.tool} {json.dumps(call.arguments, sort_keys=True)}" for call in here),
    )


def _shared(own: Sequence[Counter[str]], other: Sequence[Counter[str]]) -> float:
    """How much two tasks have in common: the sum of the shares of their traits."""
    pairs = zip(own, other, strict=True)
    return sum((mine & theirs).total() / max(1, (mine | theirs).total()) for mine, theirs in pairs)


def _others(play: AgentPlay) -> Mapping[str, list[Mapping[str, JSON]]]:
    """The arguments of all other tasks' references, by tool."""
    found: dict[str, list[Mapping[str, JSON]]] = {}
    for task in play.library.tasks.values():
        if task.id != play.task.id:
            for call in task.references[0].trajectory.calls:
                found.setdefault(call.tool, []).append(on_this_picture(call, task, play).arguments)
    return found


def _with_other_values(call: Call, values: Sequence[Mapping[str, JSON]], play: AgentPlay) -> Call:
    wanted = json.dumps(call.arguments, sort_keys=True)
    other = [value for value in values if json.dumps(value, sort_keys=True) != wanted]
    return Call(tool=call.tool, arguments=play.dice.choice(other) if other else {})


def on_this_picture(call: Call, other: Task, play: AgentPlay) -> Call:
    """A call of another task, with this task's picture in the place of that one's."""
    text = json.dumps(call.arguments)
    own = (*play.task.pictures, *play.task.recordings)
    for name in (*other.pictures, *other.recordings):
        text = text.replace(f"{MEDIA}/{name}", f"{MEDIA}/{own[0]}")
    return Call(tool=call.tool, arguments=json.loads(text))


def example(tool: str, play: AgentPlay) -> Iterator[Call]:
    server, _, name = tool.partition("/")
    arguments = load_examples(server).calls.get(name)
    if arguments is None:
        return
    paths = {key: play.pictures[0] for key in ("imageFileUri", "input_path", "input_data") if key in arguments}
    listed = {"image_paths": [play.pictures[0]]} if "image_paths" in arguments else {}
    yield Call(tool=tool, arguments={**arguments, **paths, **listed})
