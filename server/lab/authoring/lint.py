"""What can be wrong with a task without running it.

A question must not be open to two readings: where a tour starts, what an area is of, which side counts, which unit. An
order from left to right or from top to bottom is played in both readings, by the edges and by the centres of what the
picture holds, an amount in every unit that its word stands for, and a day in figures as day and month and as month and
day. Where the readings agree, nothing is said. For starts, areas and degrees the question itself must decide: its
words are looked at, and nothing is played.
"""

import io
import json
import re
from collections import Counter
from collections.abc import Collection, Iterator, Sequence

from PIL import Image

from m3bench.server.lab.authoring.planning import loose_facts
from m3bench.tasks.answers.files import File
from m3bench.tasks.answers.groups import Items
from m3bench.tasks.answers.names import Choice, YesNo
from m3bench.tasks.answers.spelling import words_of
from m3bench.tasks.catalog import Catalog
from m3bench.tasks.checks import CallMade
from m3bench.tasks.errors import InvalidArgumentsError, UnknownToolError
from m3bench.tasks.facts import Held, facts_of
from m3bench.tasks.families.base import DISTRACTORS
from m3bench.tasks.foreign_files import READABLE
from m3bench.tasks.kinds import kinds_of
from m3bench.tasks.library import Library
from m3bench.tasks.plan import Plan
from m3bench.tasks.scene import Scene
from m3bench.tasks.task import Reference, Task
from m3bench.tasks.trajectory import Call

_TOUR = re.compile(r"\b(?:dotted|tour|his route|her route)\b", re.IGNORECASE)
_START = re.compile(r"\b(?:from|house|starting|starts?|begins?|leaves?|in this order|arrows?)\b", re.IGNORECASE)
_AREA = re.compile(
    r"\b(?:largest|smallest|biggest|tiniest|most)\b[^.?!]{0,40}\b(?:area|space)\b|"
    r"\barea\b[^.?!]{0,40}\b(?:largest|smallest|biggest|tiniest|most)\b",
    re.IGNORECASE,
)
_OF_WHAT = re.compile(r"\b(?:box|boxes|pixels|hectares|square)\b", re.IGNORECASE)
_ACROSS = re.compile(r"\bleft to right\b|\bleftmost\s+first\b", re.IGNORECASE)
_DOWN = re.compile(r"\btop to bottom\b|\btopmost\s+first\b|\bfrom above\b", re.IGNORECASE)
_AMOUNT = re.compile(
    r"(?P<amount>\d+(?:[.,]\d+)?)\s*(?P<which>us|u\.s\.|imperial|uk|fluid|fl\.?|troy|metric|short|long)?\s*"
    r"(?P<word>gallon|pint|quart|ounce|oz|ton|tonne)s?\b",
    re.IGNORECASE,
)
_SIZES = {
    "gallon": (3.785411784, 4.54609),
    "pint": (0.473176473, 0.56826125),
    "quart": (0.946352946, 1.1365225),
    "ounce": (28.349523125, 31.1034768, 29.5735295625),
    "oz": (28.349523125, 31.1034768, 29.5735295625),
    "ton": (1000.0, 907.18474, 1016.0469088),
}
"""What one of a unit is in litres, grams or kilograms, in each of its readings."""
_FIGURES = re.compile(r"(?<![\d/])(\d{1,2})/(\d{1,2})/(\d{4})(?![\d/])")
_DOLLARS = re.compile(r"\b(?:(us|american|canadian|australian|hong kong|singapore)\s+)?dollars?\b", re.IGNORECASE)
_OTHER_DOLLARS = frozenset({"AUD", "CAD", "HKD", "NZD", "SGD", "TWD"})
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
    yield from _units(question, units)
    for way, words, edge in (("left to right", _ACROSS, 0), ("top to bottom", _DOWN, 1)):
        if words.search(question) and len(scenes) == 1:
            yield from _orders(task, scenes[0], way, edge)


def _units(question: str, units: Collection[str]) -> Iterator[str]:
    """Amounts and days that come to something else in another reading."""
    for found in _AMOUNT.finditer(question):
        sizes = _SIZES.get(found["word"].casefold(), ())
        amount = float(found["amount"].replace(",", "."))
        if not found["which"] and len({amount * size for size in sizes}) > 1:
            yield f"{found[0]!r} has {len(sizes)} readings: say which unit it is, or give it in another one"
    for found in _FIGURES.finditer(question):
        one, other = int(found[1]), int(found[2])
        if one != other and max(one, other) <= 12:
            yield f"{found[0]!r} is a day in two readings: write the month as a word"
    named = _DOLLARS.search(question)
    if named and not named[1] and _OTHER_DOLLARS & {*units}:
        yield "the question does not say whose dollars it means"


def _orders(task: Task, scene: Scene, way: str, edge: int) -> Iterator[str]:
    for field in task.fields:
        if not isinstance(field.value, Items) or not field.value.ordered:
            continue
        forms = [
            {words_of(name) for name in (item.said(), *getattr(item, "aliases", ()))} for item in field.value.items
        ]
        boxes = [thing.box for some in forms for thing in scene.objects if words_of(thing.label) in some]
        by_edge = sorted(range(len(boxes)), key=lambda number: boxes[number][edge])
        by_centre = sorted(range(len(boxes)), key=lambda number: boxes[number][edge] + boxes[number][edge + 2])
        if by_edge != by_centre:
            yield f"the order of {field.name} from {way} differs between edges and centres"


LEAST_CHECKS = 3
NEEDLESS = "nobody needs its picture or recording: the question and what the tools answer tell everything"
SIDES = (800, 1600)
"""Pixels of a picture's longer side."""
MAX_PICTURE_BYTES = 400_000
MAX_RECORDING_BYTES = 200_000


def lint_set(library: Library) -> Iterator[str]:
    """What is wrong with a set as a whole."""
    for id, count in Counter(task.id for task in library.set.tasks).items():
        if count > 1:
            yield f"{id}: {count} tasks have this id"


def lint(task: Task, library: Library, catalog: Catalog) -> Iterator[str]:
    """What is wrong with a task, one sentence each."""
    leaked = sorted(name for name in _names(catalog) if re.search(rf"(?<!\w){re.escape(name)}(?!\w)", task.question))
    if leaked:
        yield f"the question names {leaked[0]}"
    if not task.fields:
        if len(task.checks) < LEAST_CHECKS:
            yield f"{len(task.checks)} checks, at least {LEAST_CHECKS} are wanted"
        if all(isinstance(check, CallMade) for check in task.checks):
            yield "no check looks at the outcome"
    if needless(task, library.plans(task)):
        yield NEEDLESS
    yield from ambiguities(task, library.scenes(task))
    used = {tool.partition("/")[0] for tool in task.tools}
    for server in sorted(used - set(task.servers)):
        yield f"references use {server}, which the task does not name"
    for server in sorted(set(task.servers) - used):
        yield f"no reference uses {server}"
    yield from _distractors(task, catalog)
    for reference in task.references:
        yield from _calls(reference, catalog)
    for name in task.pictures:
        yield from _picture(name, library.picture(name))
    for name in task.recordings:
        size = len(library.recording(name))
        if size > MAX_RECORDING_BYTES:
            yield f"{name} has {size} bytes, at most {MAX_RECORDING_BYTES} are wanted"


def needless(task: Task, plans: Sequence[Plan]) -> bool:
    """Whether nobody needs a task's pictures and recordings: what a reference asks and hands in, the question says.

    No argument has anything that neither the question nor an earlier result tells, and no field asks for such a thing.
    A call that looks at them, and what follows from it, tells nothing here; where an answer is a file, a choice, or yes
    or no, such a call is enough to need them. Of a reference that nobody has played, nothing is said.
    """
    media = (*task.pictures, *task.recordings)
    known = ((reference, plan) for reference, plan in zip(task.references, plans, strict=True) if plan.played)
    return bool(media) and any(_without_eyes(task, reference, plan, media) for reference, plan in known)


def _without_eyes(task: Task, reference: Reference, plan: Plan, media: Collection[str]) -> bool:
    asked = Held(task.question)
    told: list[Held] = []
    looks: set[int] = set()
    place = 0
    for step in reference.steps:
        before = list(told)
        for call in step:
            looked = any(name in json.dumps(call.arguments, ensure_ascii=False) for name in media)
            if looked or looks.intersection(plan.calls[place].needs):
                looks.add(place)
            elif loose_facts(Call(tool=call.tool, arguments=call.arguments), before, asked):
                return False
            else:
                told.append(Held(json.dumps(plan.calls[place].gives, ensure_ascii=False)))
            place += 1
    said = [field.value for field in task.fields if not isinstance(field.value, YesNo | Choice | File)]
    if looks and (len(said) < len(task.fields) or task.checks):
        return False
    known = [asked, *told]
    return all(any(each.holds(fact) for each in known) for fact in facts_of([value.given() for value in said]))


def _names(catalog: Catalog) -> set[str]:
    """Names of tools that are not ordinary words."""
    return {
        word
        for tool in catalog.tools
        for word in (tool.name, tool.exposed, tool.qualified)
        if "_" in word or "-" in word
    }


def _distractors(task: Task, catalog: Catalog) -> Iterator[str]:
    known = {tool.server for tool in catalog.tools}
    if len(set(task.distractors)) != DISTRACTORS:
        yield f"{len(set(task.distractors))} distractors, {DISTRACTORS} are wanted"
    for server in sorted(set(task.distractors) & set(task.servers)):
        yield f"the distractor {server} is needed"
    for server in sorted(set(task.distractors) - known):
        yield f"the distractor {server} does not exist"


def _calls(reference: Reference, catalog: Catalog) -> Iterator[str]:
    made = Counter()  # type: Counter[tuple[str, int]]
    acted = Counter()  # type: Counter[str]
    for step in reference.steps:
        for call in step:
            # A second look after a change sees something else.
            server = call.tool.partition("/")[0]
            made[f"{call.tool} {sorted(call.arguments.items())}", acted[server]] += 1
            try:
                catalog.tool(call.tool).check(call.arguments)
            except (InvalidArgumentsError, UnknownToolError) as error:
                yield f"{call.tool}: {error}"
        changed = {call.tool.partition("/")[0] for call in step if kinds_of(call.tool).role == "action"}
        acted.update(changed)
    for (text, _), count in made.items():
        if count > 1:
            yield f"the reference is longer than needed: {text[:120]} is called {count} times"


def _picture(name: str, data: bytes) -> Iterator[str]:
    if len(data) > MAX_PICTURE_BYTES:
        yield f"{name} has {len(data)} bytes, at most {MAX_PICTURE_BYTES} are wanted"
    with Image.open(io.BytesIO(data), formats=READABLE) as picture:
        side = max(picture.size)
    if not SIDES[0] <= side <= SIDES[1]:
        yield f"{name} has a side of {side} pixels, {SIDES[0]} to {SIDES[1]} are wanted"
