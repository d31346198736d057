"""How many steps a backtracking matcher takes over a text: what `re` takes, by count and not by the clock.

Written after the parsed form of a pattern. It counts and does not capture, so that a reference back to a group is taken
to match nothing: the few patterns with one are counted as if they ended there.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from re import _constants as codes, _parser as parser  # type: ignore[attr-defined]  # isort: skip

MOST_STEPS = 60_000

Next = Callable[[int], bool]
Part = tuple[Any, Any]
"""A code of the parsed form and what belongs to it."""


class TooManySteps(Exception):
    """A text took more steps than are counted."""


REPEATS = {codes.MAX_REPEAT: True, codes.MIN_REPEAT: False, codes.POSSESSIVE_REPEAT: True}
"""Whether each kind of repeat tries more of it first."""

SINGLE = {codes.LITERAL, codes.NOT_LITERAL, codes.IN, codes.ANY, codes.CATEGORY}
"""What matches one character."""


class Steps:
    """Counts for one pattern.

    Args:
        pattern: The pattern.
        flags: As `re.compile` takes them.
        whole: Whether it is only tried at the beginning (`match`, `fullmatch`).
    """

    def __init__(self, pattern: str, flags: int = 0, *, whole: bool = False) -> None:
        parsed = parser.parse(pattern, flags)
        self.parts: Sequence[Part] = list(parsed)
        self._whole = whole
        self._flags = int(parsed.state.flags)
        self._text = ""
        self._taken = 0

    def over(self, text: str) -> int:
        """Steps over a text, as `finditer` goes over it, or `fullmatch` when it is only tried at the beginning.

        Raises:
            TooManySteps: There are more than are counted.
        """
        self._text, self._taken = text, 0
        ends: list[int] = []

        def end(at: int) -> bool:
            ends.append(at)
            return not self._whole or at == len(text)

        start = 0
        while start <= len(text):
            found = self._match(self.parts, 0, start, end)
            if self._whole:
                break
            start = max(ends[-1], start + 1) if found else start + 1
        return self._taken

    def found(self, text: str) -> bool:
        """Whether the pattern is found somewhere in a text."""
        self._text, self._taken = text, 0
        return any(self._match(self.parts, 0, start, lambda place: True) for start in range(len(text) + 1))

    def _match(self, parts: Sequence[Part], index: int, at: int, then: Next) -> bool:
        self._taken += 1
        if self._taken > MOST_STEPS:
            raise TooManySteps
        if index == len(parts):
            return then(at)
        code, value = parts[index]

        def rest(place: int) -> bool:
            return self._match(parts, index + 1, place, then)

        if code in SINGLE:
            return at < len(self._text) and self.fits(code, value, self._text[at]) and rest(at + 1)
        if code in REPEATS:
            return self._repeat(value, at, rest, eager=REPEATS[code], final=code is codes.POSSESSIVE_REPEAT)
        if code is codes.SUBPATTERN:
            return self._match(list(value[3]), 0, at, rest)
        if code is codes.BRANCH:
            return any(self._match(list(branch), 0, at, rest) for branch in value[1])
        return self._aside(code, value, at, rest)

    def _aside(self, code: Any, value: Any, at: int, rest: Next) -> bool:
        """What looks at a place and takes nothing, or takes it once and for all."""
        if code is codes.AT:
            return self._stands(value, at) and rest(at)
        if code in (codes.ASSERT, codes.ASSERT_NOT):
            direction, inside = value
            width = inside.getwidth()[0] if direction < 0 else 0
            there = at >= width and self._match(list(inside), 0, at - width, lambda place: True)
            return there is (code is codes.ASSERT) and rest(at)
        if code is codes.ATOMIC_GROUP:
            place = self._once(list(value), at)
            return place is not None and rest(place)
        return False

    def _once(self, parts: Sequence[Part], at: int) -> int | None:
        places: list[int] = []

        def first(place: int) -> bool:
            places.append(place)
            return True

        return places[0] if self._match(parts, 0, at, first) else None

    def _repeat(self, value: Any, at: int, rest: Next, *, eager: bool, final: bool) -> bool:
        least, most, inside = value
        body = list(inside)
        if len(body) == 1 and body[0][0] in SINGLE:
            return self._run(body[0], least, most, at, rest, eager=eager, final=final)

        def again(place: int, count: int) -> bool:
            def more(after: int) -> bool:
                return (after > place or count < least) and again(after, count + 1)

            if count < least:
                return self._match(body, 0, place, more)
            if eager:
                return (count < most and self._match(body, 0, place, more)) or rest(place)
            return rest(place) or (count < most and self._match(body, 0, place, more))

        return again(at, 0)

    def _run(self, part: Part, least: int, most: int, at: int, rest: Next, *, eager: bool, final: bool) -> bool:
        """A repeat of single characters, which needs no recursion."""
        longest, stop = at, min(len(self._text), at + int(min(most, len(self._text))))
        while longest < stop and self.fits(*part, self._text[longest]):
            longest += 1
            self._taken += 1
        if longest - at < least:
            return False
        if final:
            return rest(longest)
        places = range(longest, at + least - 1, -1) if eager else range(at + least, longest + 1)
        return any(rest(place) for place in places)

    def _stands(self, what: Any, at: int) -> bool:
        text = self._text
        lined = bool(self._flags & re.MULTILINE)
        if what in (codes.AT_BEGINNING, codes.AT_BEGINNING_STRING):
            return at == 0 or (lined and what is codes.AT_BEGINNING and text[at - 1] == "\n")
        if what in (codes.AT_END, codes.AT_END_STRING):
            return at == len(text) or (what is codes.AT_END and (text[at:] == "\n" or (lined and text[at] == "\n")))
        before, after = (0 <= place < len(text) and _is_word(text[place]) for place in (at - 1, at))
        return (before != after) is (what is codes.AT_BOUNDARY)

    def fits(self, code: Any, value: Any, letter: str) -> bool:
        """Whether a part matches a character."""
        if code is codes.LITERAL:
            return self._same(value, letter)
        if code is codes.NOT_LITERAL:
            return not self._same(value, letter)
        if code is codes.ANY:
            return letter != "\n" or bool(self._flags & re.DOTALL)
        if code is codes.CATEGORY:
            return _is_in(value, letter)
        negated = bool(value) and value[0][0] is codes.NEGATE
        return any(self._member(kind, one, letter) for kind, one in value[negated:]) is not negated

    def _member(self, code: Any, value: Any, letter: str) -> bool:
        if code is codes.RANGE:
            low, high = value
            return any(low <= ord(form) <= high for form in self._forms(letter))
        return _is_in(value, letter) if code is codes.CATEGORY else self._same(value, letter)

    def _same(self, value: int, letter: str) -> bool:
        return any(ord(form) == value for form in self._forms(letter))

    def _forms(self, letter: str) -> Sequence[str]:
        if not self._flags & re.IGNORECASE:
            return letter
        return [form for form in (letter, letter.lower(), letter.upper()) if len(form) == 1]


def _is_word(letter: str) -> bool:
    return letter.isalnum() or letter == "_"


def _is_in(category: Any, letter: str) -> bool:
    name = str(category)
    test = str.isspace if name.endswith("SPACE") else str.isdecimal if name.endswith("DIGIT") else _is_word
    return test(letter) is ("NOT" not in name)


def repeats(parts: Sequence[Part]) -> int:
    """How many repeats without an end there are in a pattern."""
    return sum(
        int(code in REPEATS and value[1] is codes.MAXREPEAT)
        + sum(repeats(list(inside)) for inside in insides(code, value))
        for code, value in parts
    )


def insides(code: Any, value: Any) -> Iterator[Any]:
    """The patterns within a part of one."""
    if code in REPEATS:
        yield value[2]
    elif code is codes.SUBPATTERN:
        yield value[3]
    elif code is codes.BRANCH:
        yield from value[1]
    elif code in (codes.ASSERT, codes.ASSERT_NOT):
        yield value[1]
    elif code is codes.ATOMIC_GROUP:
        yield value


ALPHABET = "a1 .,\n-\"'(\u00e9Z:/=<|*"
"""Some of each kind of character."""


def letters(parts: Sequence[Part], steps: Steps) -> set[str]:
    """Some characters that parts of a pattern match."""
    found: set[str] = set()
    for code, value in parts:
        if code is codes.LITERAL:
            found.add(chr(value))
        elif code in SINGLE:
            found |= set([letter for letter in ALPHABET if steps.fits(code, value, letter)][:3])
            for kind, one in value if code is codes.IN else ():
                found |= {chr(one)} if kind is codes.LITERAL else {chr(one[0])} if kind is codes.RANGE else set()
        for inside in insides(code, value):
            found |= letters(list(inside), steps)
    return found


def example(parts: Sequence[Part], steps: Steps) -> str:
    """A short text that a pattern matches, or nearly."""
    text = ""
    for code, value in parts:
        if code is codes.LITERAL:
            text += chr(value)
        elif code in SINGLE:
            text += next((letter for letter in "a1 .,-\n\u00e9" if steps.fits(code, value, letter)), "")
        elif code in REPEATS:
            text += example(list(value[2]), steps) * max(1, min(value[0], 20))
        elif code is codes.BRANCH:
            text += example(list(value[1][0]), steps)
        elif code in (codes.SUBPATTERN, codes.ATOMIC_GROUP):
            text += "".join(example(list(inside), steps) for inside in insides(code, value))
    return text


def hostile(steps: Steps) -> Iterator[tuple[str, str, str]]:
    """What may take a pattern long: a beginning, something that comes again and again, and an end that does not fit."""
    some = sorted(letters(steps.parts, steps))[:10]
    bodies = {body for body in _bodies(steps.parts, steps) if 0 < len(body) < 12}
    pairs = {one + other for one in some[:4] for other in some[:4] if one != other}
    heads = {"", *(example(steps.parts[:place], steps)[:80] for place in range(1, min(len(steps.parts), 8)))}
    for pump in sorted({*some, *bodies, *pairs}):
        for head in sorted(heads):
            yield head, pump, "\0"


def _bodies(parts: Sequence[Part], steps: Steps) -> Iterator[str]:
    for code, value in parts:
        if code in REPEATS:
            yield example(list(value[2]), steps)
        for inside in insides(code, value):
            yield from _bodies(list(inside), steps)


def growth(steps: Steps, length: int) -> tuple[float, str]:
    """How many times as long the worst of some texts takes when it is twice as long, and which one that is."""
    worst = (0.0, "")
    for head, pump, tail in hostile(steps):
        taken = []
        for size in (length, 2 * length):
            try:
                taken.append(steps.over(f"{head}{(pump * size)[:size]}{tail}"))
            except (TooManySteps, RecursionError):
                return 1000.0, pump
        if taken[1] > 8 * length:
            worst = max(worst, (taken[1] / taken[0], pump))
    return worst
