"""Questions that can be read in two ways: where a tour starts, what an area is of, which side counts, which degrees.

An order from left to right is played in both readings, by the left edges and by the centres of what the picture holds.
For starts, areas and degrees the question itself must decide: its words are looked at, and nothing is played.
"""

import re
from collections.abc import Iterator, Sequence

from m3bench.tasks.answers.groups import Items
from m3bench.tasks.answers.spelling import words_of
from m3bench.tasks.scene import Scene
from m3bench.tasks.task import Task

_TOUR = re.compile(r"\b(?:dotted|tour|his route|her route)\b", re.IGNORECASE)
_START = re.compile(r"\b(?:from|house|starting|starts?|begins?|leaves?|in this order|arrows?)\b", re.IGNORECASE)
_AREA = re.compile(
    r"\b(?:largest|smallest|biggest|tiniest|most)\b[^.?!]{0,40}\b(?:area|space)\b|"
    r"\barea\b[^.?!]{0,40}\b(?:largest|smallest|biggest|tiniest|most)\b",
    re.IGNORECASE,
)
_OF_WHAT = re.compile(r"\b(?:box|boxes|pixels|hectares|square)\b", re.IGNORECASE)
_ACROSS = re.compile(r"\bleft to right\b|\bleftmost\s+first\b", re.IGNORECASE)
_DEGREES = re.compile(
    r"\d\s*(?:degrees?\b|°)(?!\s*\(?(?:celsius|fahrenheit|[cf]\b|north|south|east|west))", re.IGNORECASE
)


def ambiguities(task: Task, scenes: Sequence[Scene]) -> Iterator[str]:
    """What a question leaves open, one sentence each."""
    question = " ".join(task.question.split())
    units = {str(getattr(field.value, "unit", "")) for field in task.fields}
    if _TOUR.search(question) and units & {"km", "min"} and not _START.search(question):
        yield "the question does not say where the tour starts: name its first stop"
    if _AREA.search(question) and not _OF_WHAT.search(question):
        yield "the question does not say which area is meant: that of the body, or that of the box around it"
    if units & {"°C", "°F"} and _DEGREES.search(question):
        yield "the question has degrees that are neither Celsius nor Fahrenheit"
    if _ACROSS.search(question) and len(scenes) == 1:
        yield from _orders(task, scenes[0])


def _orders(task: Task, scene: Scene) -> Iterator[str]:
    for field in task.fields:
        if not isinstance(field.value, Items) or not field.value.ordered:
            continue
        forms = [
            {words_of(name) for name in (item.said(), *getattr(item, "aliases", ()))} for item in field.value.items
        ]
        boxes = [thing.box for some in forms for thing in scene.objects if words_of(thing.label) in some]
        by_edge = sorted(range(len(boxes)), key=lambda number: boxes[number][0])
        by_centre = sorted(range(len(boxes)), key=lambda number: boxes[number][0] + boxes[number][2])
        if by_edge != by_centre:
            yield f"the order of {field.name} from left to right differs between left edges and centres"
