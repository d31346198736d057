"""Data flow between calls: values in the arguments of a call that come from an earlier answer.

`distinctive_values` finds the values that may come from an answer: those that could hardly be there by chance, such as
ids, paths, numbers with several digits and long phrases. Plain words are not among them: an article about tigers speaks
of lions.

`Flow` answers a stricter question: which earlier answer must a call have seen? A value in its arguments that an answer
gave, and that nothing gave before (no question, argument or other answer), was read from that answer. Values count by
how many digits and letters would have to be guessed: ids, numbers with many digits, several short numbers from one
answer, sentences. Plain words, years, option names and titles count nothing: a model knows those by itself.
"""

import re
from collections.abc import Iterator, Mapping

from m3bench.tasks.facts import within

_MIN_WORD = 4
_MIN_DIGITS = 3

_LONG = 24
"""From this length on, words repeat by copying only."""

_NUMBER = re.compile(r"-?\d+(?:\.\d+)?")
_YEAR = re.compile(r"(?:19|20)\d\d")
_MARKED = re.compile(r"\d|[/_.:@#]\w")
"""A digit, or a mark inside a word as in paths, ids and addresses."""

PROOF = 5
"""Digits or letters that nobody guesses: what weighs less may be a coincidence."""

_SENTENCE = 40
"""A text this long with this many words is copied; shorter ones may be names."""
_SENTENCE_WORDS = 6
_DECIMAL = re.compile(r"-?\d+\.\d+")
_TOKEN = re.compile(r"[^\W_]+")
_WORDS_AND_NUMBER = re.compile(r"[^\W\d_]{2,}(?:[\W_]+[^\W\d_]{2,})*[\W_]*(\d[\d.]*)")
"""A name with a number or version at its end: only the number would have to be guessed."""


def distinctive_values(value: object) -> Iterator[str]:
    """The values worth looking for: a whole text, and the numbers in it."""
    for text in texts(value):
        folded = text.strip().casefold()
        if _is_distinctive(folded):
            yield folded
        yield from (number for number in _NUMBER.findall(folded) if _is_distinctive(number))


def _is_distinctive(text: str) -> bool:
    """Whether a text could hardly occur in an answer by chance."""
    if _NUMBER.fullmatch(text):
        return len(text.strip("-0.").replace(".", "")) >= _MIN_DIGITS and not _YEAR.fullmatch(text)
    if len(text) >= _LONG:
        return True
    return len(text) >= _MIN_WORD and bool(_MARKED.search(text))


def texts(value: object) -> Iterator[str]:
    """Every text and number in a value, as text."""
    match value:
        case str():
            yield value
        case bool() | None:
            return
        case int() | float():
            yield f"{value:g}" if isinstance(value, float) and value.is_integer() else str(value)
        case Mapping():
            for item in value.values():
                yield from texts(item)
        case list() | tuple():
            for item in value:
                yield from texts(item)


class Flow:
    """What was said so far, in the order in which it was said.

    Args:
        known: What the client knew from the start, such as the question.
    """

    def __init__(self, known: str) -> None:
        self._texts: list[str] = []
        self._answers: dict[int, int] = {}
        """The call of each text that is an answer."""
        self._places: dict[str, list[int]] = {}
        """The texts that hold a word or number, so that long results are not searched for every value."""
        self._add(known)

    def ask(self, arguments: Mapping[str, object]) -> None:
        """Note the arguments of a call."""
        self._add("\n".join(texts(arguments)))

    def answer(self, call: int, text: str) -> None:
        """Note the answer to a call; the calls that came before it arrived could not have used it."""
        self._answers[len(self._texts)] = call
        self._add(text)

    def source(self, arguments: Mapping[str, object]) -> int | None:
        """The latest call whose answer, or that of a later one, these arguments must have been taken from."""
        found = sorted(self._news(arguments).items(), key=lambda item: (-item[1], item[0]))
        weight = 0
        for value, call in found:
            weight += _weight(value)
            if weight >= PROOF:
                return call
        return None

    def _news(self, arguments: Mapping[str, object]) -> dict[str, int]:
        """Values that were first said by an answer, and by which call's."""
        news: dict[str, int] = {}
        for text in texts(arguments):
            whole = text.strip().casefold()
            call = self._first_said(whole) if _weight(whole) else None
            if call is not None:
                news[whole] = call
                continue
            for number in _NUMBER.findall(whole):
                call = self._first_said(number) if _weight(number) else None
                if call is not None:
                    news[number] = call
        return news

    def _first_said(self, value: str) -> int | None:
        """The call whose answer said a value first; None when it was never said, or first by somebody else."""
        tokens = _TOKEN.findall(value)
        if not tokens:
            return None
        holders = min((self._places.get(token, []) for token in tokens), key=len)
        first = next((place for place in holders if within(value, self._texts[place])), None)
        if first is None or first not in self._answers or self._is_rounded(value, first):
            return None
        # Who asked for it since then has used it first, and was compared with the answer.
        asked = (place for place in holders if place > first and place not in self._answers)
        return None if any(within(value, self._texts[place]) for place in asked) else self._answers[first]

    def _is_rounded(self, value: str, before: int) -> bool:
        """Whether a value is a number that was said before with more digits."""
        if not _DECIMAL.fullmatch(value):
            return False
        whole, _, digits = value.lstrip("-").partition(".")
        longer = re.compile(rf"(?<!\d){whole}\.\d{{{len(digits)},}}")
        number = float(f"{whole}.{digits}")
        step = 10.0 ** -len(digits)
        return any(
            abs(float(found) - number) < step
            for place in self._places.get(whole, [])
            if place < before
            for found in longer.findall(self._texts[place])
        )

    def _add(self, text: str) -> None:
        folded = text.casefold()
        for token in set(_TOKEN.findall(folded)):
            self._places.setdefault(token, []).append(len(self._texts))
        self._texts.append(folded)


def _weight(text: str) -> int:
    """How many digits and letters of a text would have to be guessed."""
    if _NUMBER.fullmatch(text):
        return 0 if _YEAR.fullmatch(text) else _digits(text)
    if not any(letter.isdigit() for letter in text):
        return PROOF if len(text) >= _SENTENCE and len(text.split()) >= _SENTENCE_WORDS else 0
    if len(text) >= _LONG:
        return PROOF
    if numbered := _WORDS_AND_NUMBER.fullmatch(text):
        return _digits(numbered[1])
    return sum(map(len, _TOKEN.findall(text)))


def _digits(number: str) -> int:
    """Digits that tell something; a decimal point does too, zeros at either end do not."""
    short = number.lstrip("-")
    short = short.strip("0") if "." in short else short.rstrip("0")
    digits = len(short.replace(".", ""))
    return digits + ("." in short.strip(".")) if digits > 2 else 0
