"""What tools told of a picture that nobody looked at: writing, codes, and the detector's labels and boxes.

It says how well a name fits what was read, forgiving an error of the reader in a longer word, and how well a picture
that somebody imagines agrees with all of it. Nothing here looks at a picture.
"""

import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from difflib import SequenceMatcher
from functools import cached_property
from itertools import zip_longest
from math import hypot

from m3bench.tasks.families.tool_answers import Found, area_of
from m3bench.tasks.folding import fold
from m3bench.tasks.scene import Box, Scene, SceneText, lowered

_LONG_WORD = 5
"""In a word of this many letters or more, one may be wrong."""
_TELLING = 8
"""Letters of a phrase that does not stand in a code by chance."""
_LONGEST = 90
"""Letters of a phrase that may name something."""


def words_of(text: str) -> list[str]:
    """The words and numbers of a text in the form they are compared in."""
    return re.findall(r"[a-z0-9]+", fold(text))


def phrases_of(thing: object) -> Iterator[str]:
    """Every short text and number in a record, however deep."""
    if isinstance(thing, str):
        if len(thing) <= _LONGEST:
            yield thing
    elif isinstance(thing, Mapping):
        for value in thing.values():
            yield from phrases_of(value)
    elif isinstance(thing, list | tuple | set | frozenset):
        for value in thing:
            yield from phrases_of(value)
    elif isinstance(thing, int) and not isinstance(thing, bool):
        yield str(thing)


@dataclass(frozen=True, kw_only=True)
class PictureEvidence:
    """What there is to go by."""

    readings: tuple[str, ...] = ()
    """The writing, once for each way of reading it."""
    codes: tuple[str, ...] = ()
    objects: tuple[Found, ...] = ()
    hints: tuple[str, ...] = ()
    """Other words: what the detector says of an object, or what a question names."""
    _known: dict[object, tuple[object, float]] = field(default_factory=dict, compare=False)

    @cached_property
    def numbers(self) -> tuple[int, ...]:
        """Every whole number that was read, as often as it occurs in one reading."""
        found: Counter[int] = Counter()
        for text in (*self.readings, *self.hints):
            found |= Counter(int(word) for word in re.findall(r"\d+", text) if len(word) < 10)
        return tuple(found.elements())

    def weight(self, thing: object) -> float:
        """How well a thing fits what was read: the letters of its names that occur there."""
        key = id(thing) if isinstance(thing, dict | list) else thing
        try:
            known = self._known.get(key)
        except TypeError:
            return self._weigh(thing)
        if known is None:
            # The thing is kept with its weight, so that no other one gets its identity.
            known = self._known[key] = (thing, self._weigh(thing))
        return known[1]

    def tells(self, phrase: str) -> bool:
        """Whether a code says a phrase."""
        plain = "".join(words_of(phrase))
        return len(plain) >= _TELLING and any(plain in "".join(words_of(code)) for code in self.codes)

    def agreement(self, scene: Scene, chosen: Collection[str]) -> float:
        """How well an imagined picture agrees with everything; 3 at most.

        Args:
            scene: What would be seen in it.
            chosen: What it was made from.
        """
        return self._writing(scene.texts) + self._things(scene) + self._coded(chosen)

    def _weigh(self, thing: object) -> float:
        return sum(self._said(phrase) for phrase in set(phrases_of(thing)))

    def _said(self, phrase: str) -> float:
        words = words_of(phrase)
        letters = sum(map(len, words))
        if not letters:
            return 0.0
        there = sum(len(word) for word in words if self._has(word)) / letters
        told = self.tells(phrase)
        return letters * (1.0 if told else there**3 if there > 0.5 else 0.0)

    def _has(self, word: str) -> bool:
        return word in self._words or (len(word) >= _LONG_WORD and not self._blurred.isdisjoint(_with_one_less(word)))

    @cached_property
    def _words(self) -> frozenset[str]:
        labels = [item.name for item in self.objects]
        return frozenset(
            word for text in (*self.readings, *self.codes, *self.hints, *labels) for word in words_of(text)
        )

    @cached_property
    def _blurred(self) -> frozenset[str]:
        return frozenset(form for word in self._words if len(word) >= _LONG_WORD for form in _with_one_less(word))

    @cached_property
    def _tokens(self) -> list[list[str]]:
        return [words_of(text) for text in self.readings]

    def _writing(self, texts: Sequence[SceneText]) -> float:
        expected = [word for line in _in_reading_order(texts) for word in words_of(line.text)]
        if not expected and not any(self._tokens):
            return 1.0
        best = 0.0
        for seen in self._tokens:
            common = sum((Counter(expected) & Counter(seen)).values())
            bag = 2 * common / max(1, len(expected) + len(seen))
            order = SequenceMatcher(None, expected, seen, autojunk=False).ratio()
            best = max(best, 0.7 * bag + 0.3 * order)
        return best

    def _things(self, scene: Scene) -> float:
        if not scene.objects and not self.objects:
            return 1.0
        left, credit = list(scene.objects), 0.0
        for seen in self.objects:
            same = [item for item in left if fold(item.label) == fold(seen.name)]
            if same:
                nearest = min(same, key=lambda item: _far(item.box, seen.box))
                left.remove(nearest)
                near = 1 - min(1.0, 1.5 * _far(nearest.box, seen.box) / hypot(scene.width, scene.height))
                large, larger = sorted((area_of(nearest.box), area_of(seen.box)))
                credit += 0.4 + 0.3 * near + 0.3 * large / max(1.0, larger)
        return 2 * credit / (len(scene.objects) + len(self.objects))

    def _coded(self, chosen: Collection[str]) -> float:
        if not self.codes:
            return 1.0
        plain = ["".join(words_of(code)) for code in self.codes]
        forms = {form for phrase in chosen if len(form := "".join(words_of(phrase))) >= _TELLING}
        return sum(any(form in code for form in forms) for code in plain) / len(plain)


def put_together(seen: Sequence[PictureEvidence]) -> PictureEvidence:
    """What was told of several pictures, as of one in which each is below the one before it."""
    return PictureEvidence(
        readings=tuple(
            "\n".join(texts) for texts in zip_longest(*(picture.readings for picture in seen), fillvalue="")
        ),
        codes=tuple(code for picture in seen for code in picture.codes),
        objects=tuple(
            Found(item.name, _whole(lowered(item.box, number)))
            for number, one in enumerate(seen)
            for item in one.objects
        ),
        hints=tuple(hint for picture in seen for hint in picture.hints),
    )


def _whole(box: Box) -> tuple[int, int, int, int]:
    left, top, right, bottom = map(round, box)
    return left, top, right, bottom


def _far(one: Sequence[float], other: Sequence[float]) -> float:
    """How far the corners of two boxes are apart."""
    return hypot(*(a - b for a, b in zip(one, other, strict=True))) / 2


def _in_reading_order(texts: Sequence[SceneText]) -> list[SceneText]:
    """Line by line: what begins in the upper half of a line belongs to it."""
    waiting = sorted(texts, key=lambda text: (text.box[1] + text.box[3]) / 2)
    found: list[SceneText] = []
    while waiting:
        edge = waiting[0].box[3]
        row = [text for text in waiting if (text.box[1] + text.box[3]) / 2 <= edge]
        found += sorted(row, key=lambda text: text.box[0])
        waiting = [text for text in waiting if text not in row]
    return found


def _with_one_less(word: str) -> set[str]:
    return {word[:place] + word[place + 1 :] for place in range(len(word))} | {word}
