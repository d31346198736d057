"""What makes a task unfair without anything in it being broken.

A tie or a hair's breadth where the best is asked for, two answers that are one, an answer that the question or a field
already gives away, a task that the answer to another one solves. Tasks with fields say what was compared; of those with
checks alone, such as those of version 1, the prose of the answer must do.
"""

import re
from collections import Counter
from collections.abc import Iterator
from itertools import permutations
from pathlib import Path

from m3bench.tasks.answers.dates import Date, Time
from m3bench.tasks.answers.fields import Field, judge, right_fields
from m3bench.tasks.answers.files import File
from m3bench.tasks.answers.groups import Items, Table
from m3bench.tasks.answers.names import Choice, Name, YesNo
from m3bench.tasks.answers.numerals import numbers_in
from m3bench.tasks.answers.quantity import Integer, Money, Number
from m3bench.tasks.answers.reading import absent, read
from m3bench.tasks.answers.spelling import find, words_of
from m3bench.tasks.answers.texts import Text
from m3bench.tasks.checks import AnswerNames, AnswerNumber, Evidence
from m3bench.tasks.facts import same_number
from m3bench.tasks.library import Library
from m3bench.tasks.task import Task

LEAST_MARGIN = 0.005
"""By which share the best must be better than the next, when nothing else says how close is too close."""

_COMPARING = re.compile(
    r"\b(?:best|better|worst|worse|most|least|highest|higher|lowest|lower|largest|larger|biggest|bigger|smallest|smaller|"
    r"oldest|older|newest|newer|cheapest|cheaper|dearest|nearest|nearer|closest|closer|farthest|furthest|longest|longer|"
    r"shortest|shorter|fastest|strongest|cleanest|poorest|finest|earliest|earlier|latest|later|top|winner|like it more|"
    r"hottest|greatest|greater)(?:-\w+)?\b",
    re.IGNORECASE,
)
_NO_THING = (Number, Integer, Money, Date, Time, Text, Items, Table, File)

_SAID = re.compile(r"\b((?:[a-z]+ )?(?:of|at|rated)) (\d+(?:\.\d+)?)\b(?!,\d)")
_OTHER = re.compile(r"\bother\b (?:[\w-]+ ){0,2}(\w+)", re.IGNORECASE)


def unfair(task: Task, library: Library) -> Iterator[str]:
    """What is unfair about a task, one sentence each."""
    yield from (unfair_fields(task) if task.fields else _by_checks(task))
    yield from _own(task, library)


def unfair_together(library: Library) -> Iterator[str]:
    """Tasks of one family of which one's answer solves the other."""
    for one, other in permutations([task for task in library.tasks.values() if task.fields], 2):
        if one.family == other.family and solves(other, one):
            yield f"{one.id}: the answer to {other.id} solves it"


def unfair_fields(task: Task) -> Iterator[str]:
    """What is unfair about the fields of a task."""
    asked = {field.name: field for field in task.fields}
    if len(asked) < len(task.fields):
        yield "two fields have one name"
    if task.checks:
        yield "it has checks beside its fields"
    for field in task.fields:
        yield from _field(field, task.question)
    plain = [
        field
        for field in task.fields
        if not field.absent and not isinstance(field.value, YesNo | Choice | Text | File | Items | Table)
    ]
    for number, field in enumerate(plain):
        for other in plain[number + 1 :]:
            if field.value.given() == other.value.given():
                yield f"{field.name} and {other.name} have one value: {field.value.said()}"
    if absent(task.fields, read(task.fields, task.answer, None)):
        yield "its own answer does not give every field"


def _field(field: Field, question: str) -> Iterator[str]:
    compared = _COMPARING.search(field.meaning)
    # The least of some numbers is one number, however many things have it; which thing it is must not be in doubt.
    if compared and not field.compared and not isinstance(field.value, _NO_THING):
        yield f"{field.name} asks for the {compared[0].lower()} and does not say what was compared"
    if field.compared and not _clear(field.compared):
        yield f"{field.name} is a tie or too close: {', '.join(f'{value:g}' for value in field.compared)}"
    if isinstance(field.value, Choice):
        if len(set(field.value.options)) < 2 or field.value.value not in field.value.options:
            yield f"{field.name} is no choice"
    elif isinstance(field.value, YesNo):
        return
    elif _given_away(field, question):
        yield f"{field.name} can be read off the question: {field.value.said()}"
    elif _given_away(field, f"{field.name} {field.meaning}"):
        yield f"{field.name} says its own value: {field.value.said()}"


def _clear(compared: tuple[float, ...]) -> bool:
    """Whether the first of several numbers is the best, by a margin."""
    first, *others = compared
    above, below = all(first > value for value in others), all(first < value for value in others)
    margin = min((abs(first - value) for value in others), default=1.0)
    return (above or below) and margin >= LEAST_MARGIN * max(abs(value) for value in compared)


def _given_away(field: Field, text: str) -> bool:
    value = field.value
    if isinstance(value, Items | Table | File | Text):
        return False
    if isinstance(value, Name):
        return any(find(words_of(name), words_of(text)) >= 0 for name in (value.value, *value.aliases))
    said = value.given()
    if isinstance(said, int | float):
        return abs(said) >= 10 and any(same_number(float(said), number) for number in numbers_in(text))
    return isinstance(said, str) and find(words_of(said), words_of(text)) >= 0


def solves(other: Task, task: Task) -> bool:
    """Whether the right answer to another task would do for this one, files apart."""
    said = [field for field in task.fields if not isinstance(field.value, File)]
    given = read(task.fields, "", right_fields(other.fields))
    nothing = Evidence(answer="", workspace=Path("nowhere"))
    return bool(said) and all(finding.passed for finding in judge(said, given, nothing))


def _by_checks(task: Task) -> Iterator[str]:
    numbers = [check for check in task.checks if isinstance(check, AnswerNumber)]
    for number, check in enumerate(numbers):
        for other in numbers[number + 1 :]:
            if check.what != other.what and check.value == other.value:
                yield f"{check.what} and {other.what} have one value: {check.value:g}"
    compared = _COMPARING.search(task.question)
    if compared:
        for (what, value), count in Counter(_SAID.findall(task.answer)).items():
            if count > 1:
                yield f"the question asks for the {compared[0].lower()}, and {what} {value} is said of {count} things"


def _own(task: Task, library: Library) -> Iterator[str]:
    """Whoever asks for others does not mean what the picture shows."""
    if not _OTHER.search(task.question):
        return
    written = [text.text for scene in library.scenes(task) for text in scene.texts]
    names = [spelled[0] for check in task.checks if isinstance(check, AnswerNames) for spelled in check.all_of]
    names += [name for field in task.fields for name in _names(field)]
    for name in dict.fromkeys(names):
        if any(words_of(name) == words_of(text) for text in written):
            yield f"the question asks for others than the picture shows, and {name} is one of the answers"


def _names(field: Field) -> Iterator[str]:
    values = [field.value]
    if isinstance(field.value, Items):
        values = list(field.value.items)
    elif isinstance(field.value, Table):
        values = [cell for row in field.value.rows for cell in row]
    yield from (value.value for value in values if isinstance(value, Name))
