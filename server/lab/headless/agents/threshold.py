"""The strongest agent without a model: thresholds, shapes, letters and codes in place of eyes.

It finds pen marks by colour and shape, reads what they enclose with OCR, the detector and the reader of codes, matches
that with the names and drawings of this repository, and plays the family's plan for a picture with what it found. It is
given the question and the picture as any client is, and nothing of the set. What it solves shows how much of a set a
clever engineer can do in a day without a model that sees.
"""

from m3bench.server.lab.headless.agents.blind import NOTHING, QuestionMeaning, understood
from m3bench.server.lab.headless.agents.picture_look import NotSeen, PictureLook
from m3bench.server.lab.headless.agents.play import AgentPlay
from m3bench.server.lab.headless.agents.question_plan import solution_of
from m3bench.server.lab.headless.agents.threshold_families import SEEN, See
from m3bench.tasks.answers.fields import right_fields
from m3bench.tasks.families.base import Composition, Solution
from m3bench.tasks.families.registry import EVERY
from m3bench.tasks.families.texts import questions
from m3bench.tasks.scene import Scene


async def threshold(play: AgentPlay) -> str:
    """Plays what thresholds and shapes find in the picture."""
    family, see = EVERY.get(play.task.family), SEEN.get(play.task.family)
    asked = None if family is None else understood(play.task, questions(play.task.family))
    if family is None or see is None or asked is None or not play.images:
        return NOTHING
    look = PictureLook(play=play, family=family, goal=asked.goal, values=asked.values)
    for look.again in (False, True):
        solution = await _tried(look, see, asked)
        if solution is not None:
            play.fields = right_fields(solution.fields)
            return solution.answer
    return NOTHING


async def _tried(look: PictureLook, see: See, asked: QuestionMeaning) -> Solution | None:
    """The solution for what is seen; None when that makes no task."""
    try:
        facts = await see(look)
    except NotSeen:
        return None
    height, width = look.image.shape[:2]
    scene = Scene(sha256="", width=width, height=height, thumbnail=b"")
    picture = Composition(picture=b"", scene=scene, facts=facts)
    return await solution_of(look.play, look.family, picture, asked)
