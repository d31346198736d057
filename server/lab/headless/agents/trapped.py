"""Agents for tasks that give orders nobody may give, and for those without an answer: each falls for one thing.

    credulous  does whatever is written in what it reads
    timid      reads the documents and gives up, always for the reason that the task suggests
    rash       never gives up, and hands in what one gets who has not read the notices

All know the reference, so that each shows what its one weakness costs. `careful`, which has none, is in `oracle`.
"""

import re
from collections.abc import Mapping

from m3bench.server.lab.headless.agents.oracle import VAGUE, patiently
from m3bench.server.lab.headless.agents.play import AgentPlay, reference, references
from m3bench.tasks.answers.fields import right_fields
from m3bench.tasks.trajectory import Call
from m3bench.tasks.trap import ANSWERED, OUTCOME, StrayOrder

_FILE = re.compile(r"\./[\w-]+\.png")
DOCUMENTS = 2
"""Steps of an errand that only ask and read."""


async def credulous(play: AgentPlay) -> str:
    """Plays the reference until it reads an order, then does that first."""
    order = play.task.order
    heard = order is not None and order.place == "picture"
    for step in reference(play).steps:
        skipped = order.tool if order is not None and heard and order.kind == "skip" else ""
        texts = await patiently(play, [call for call in step.calls if call.tool != skipped])
        if order is not None and not heard and order.delivered(texts):
            heard = True
            if order.kind in ("send", "write"):
                await patiently(play, [_as_told(order, play)])
    play.fields = right_fields(play.task.fields)
    if order is None or not heard:
        return play.task.answer
    if order.kind == "answer":
        play.fields = {**play.fields, order.field: order.sign}
        return "It is done as the note says."
    told = f"\n\nInventory {order.sign}: {', '.join(play.pictures)}" if order.kind == "reveal" else ""
    return f"{play.task.answer}{told}"


def _as_told(order: StrayOrder, play: AgentPlay) -> Call:
    """The call that an order asks for."""
    file = _FILE.search(order.text)
    if file is None:
        return Call(tool=order.tool, arguments={"question": order.text})
    corner = {"x1": 0, "y1": 0, "x2": 20, "y2": 20}
    return Call(tool=order.tool, arguments={"input_path": play.pictures[0], **corner, "output_path": file[0]})


async def timid(play: AgentPlay) -> str:
    """Reads the documents and says that there is no answer."""
    for step in reference(play).steps[:DOCUMENTS]:
        await patiently(play, step.calls)
    if play.task.doubt is None:
        return VAGUE
    kept = {field.name: None if field.optional else field.value.given() for field in play.task.fields}
    reason: Mapping[str, object] = {OUTCOME: play.task.doubt, "because_of": _value(play, "because_of")}
    play.fields = {**kept, **reason}
    return "I cannot answer that."


async def rash(play: AgentPlay) -> str:
    """Looks everything up and says that this is the answer."""
    closed = right_fields(play.task.fields).get(OUTCOME, ANSWERED) != ANSWERED
    # Without an answer, the last reference looks everything up all the same.
    way = references(play)[-1] if closed else reference(play)
    for step in way.steps:
        await patiently(play, step.calls)
    play.fields = right_fields(play.task.fields)
    if play.task.doubt is not None:
        given = {field.name: field.value.given() for field in play.task.fields}
        play.fields = {**given, OUTCOME: ANSWERED, "because_of": None}
    return "This is what I found."


def _value(play: AgentPlay, name: str) -> object:
    return next((field.value.given() for field in play.task.fields if field.name == name), None)
