"""Grounding: whether what was handed in can be traced to what the run saw.

A value is traced when it stands in a result or in the picture, or follows from two numbers there by one operation, or
when every fact stands there that the task says it is computed from. This says how an answer came about, and never
whether it is right.
"""

from collections.abc import Iterable, Mapping, Sequence

from m3bench.tasks.answers.base import JSON, Value
from m3bench.tasks.answers.fields import Field, Items, Table
from m3bench.tasks.answers.names import Name
from m3bench.tasks.answers.numerals import numbers_in
from m3bench.tasks.answers.quantity import Integer, Money, Number
from m3bench.tasks.answers.spelling import words_of
from m3bench.tasks.facts import Fact, facts_of, numbers, same_number
from m3bench.tasks.scene import Scene

_FACTORS = (60.0, 3600.0, 100.0, 1000.0, 0.3048, 1.609344, 1609.344)
"""Between units of time, length and weight."""
MOST_NUMBERS = 1500
"""Numbers of the results that are combined with each other."""


def seen_in(scenes: Iterable[Scene]) -> list[str]:
    """What there is to see in pictures: writing, what things are called, and how many there are of each."""
    found: list[str] = []
    for scene in scenes:
        found.append(" ".join(text.text for text in scene.texts))
        found += [text.text for text in scene.texts]
        for thing in scene.objects:
            found += [thing.label, *thing.aliases]
        labels = [thing.label for thing in scene.objects]
        found += [str(labels.count(label)) for label in sorted(set(labels))]
        found.append(str(len(labels)))
    return found


class SeenFacts:
    """Everything that a run saw, asked for facts."""

    def __init__(self, texts: Sequence[str]) -> None:
        self._words = "  ".join(f" {' '.join(words_of(text))} " for text in texts)
        self._numbers = sorted({value for text in texts for value in numbers(text)})

    def holds(self, fact: Fact) -> bool:
        """Whether a text or a number stands somewhere."""
        if isinstance(fact, str):
            words = words_of(fact)
            return bool(words) and f" {' '.join(words)} " in self._words
        return any(same_number(fact, value) for value in self._numbers)

    def holds_in_other_units(self, value: float) -> bool:
        """Whether a number that was seen is this one in another unit, rounded as this one is: 1037 s are 17.3 min."""
        half = 0.5 * 10.0 ** -len(f"{value:.12g}".partition(".")[2])
        converted = (
            *(number * factor for number in self._numbers for factor in _FACTORS),
            *(number / factor for number in self._numbers for factor in _FACTORS),
            *((number - 32) / 1.8 for number in self._numbers),
        )
        return any(abs(one - value) <= half for one in converted)

    def leads_to(self, value: float) -> bool:
        """Whether a number follows from two others that were seen, or is a part or a multiple of one in percent."""
        near = [number for number in self._numbers if number][:MOST_NUMBERS]
        have = {f"{number:.6g}" for number in near}
        wanted = (
            *(value - number for number in near),
            *(value + number for number in near),
            *(number - value for number in near),
            *(value / number for number in near),
            *(value * number for number in near),
            *((number / value for number in near) if value else ()),
        )
        return any(f"{number:.6g}" in have for number in wanted)


def ungrounded(
    fields: Sequence[Field], handed_in: Mapping[str, Sequence[JSON]], right: Iterable[str], seen: SeenFacts
) -> list[str]:
    """The names of the fields whose values cannot be traced.

    Args:
        fields: The task's fields.
        handed_in: What was handed in for each.
        right: The names of the fields that are right.
        seen: What the run saw.
    """
    fine = set(right)
    return [
        field.name
        for field in fields
        if field.name in handed_in and not _traced(field, handed_in[field.name], field.name in fine, seen)
    ]


def _traced(field: Field, values: Sequence[JSON], right: bool, seen: SeenFacts) -> bool:
    if right and field.derived and all(seen.holds(fact) for fact in field.derived):
        return True
    if right and isinstance(field.value, Name | Table | Items):
        return all(_is_seen(part, seen) for part in _parts(field.value))
    if isinstance(field.value, Number | Integer | Money):
        mine = [field.value.value] if right else [number for given in values for number in numbers_in(str(given))]
        units = right and isinstance(field.value, Number)
        return all(
            seen.holds(float(value))
            or seen.leads_to(float(value))
            or (units and seen.holds_in_other_units(float(value)))
            for value in mine
        )
    facts = list(field.value.facts()) if right else [fact for given in values for fact in facts_of(given)]
    return all(seen.holds(fact) or (not isinstance(fact, str) and seen.leads_to(fact)) for fact in facts)


def _parts(value: Value) -> list[Value]:
    """The single values that one consists of."""
    if isinstance(value, Table):
        return [cell for row in value.rows for cell in row]
    return list(value.items) if isinstance(value, Items) else [value]


def _is_seen(part: Value, seen: SeenFacts) -> bool:
    """Whether a right value stands somewhere, under any of its names or in another unit, or follows from what does."""
    if isinstance(part, Name):
        return any(seen.holds(name) for name in (part.value, *part.aliases))
    return all(
        seen.holds(fact)
        or (
            not isinstance(fact, str)
            and (seen.leads_to(fact) or (isinstance(part, Number) and seen.holds_in_other_units(fact)))
        )
        for fact in part.facts()
    )
