"""Conditions on rows, in the small part of SQL that the exoplanet archive's `where` takes.

Comparisons, `like`, `between`, `in`, `is null`, joined by `and`, `or`, `not` and brackets. A condition becomes a
function of a row; nothing is evaluated as code. Comparisons with an absent value are false.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from typing import TypeAlias

Value: TypeAlias = str | float | int
Row: TypeAlias = Mapping[str, Value | None]
Condition: TypeAlias = Callable[[Row], bool]

_TOKEN = re.compile(
    r"\s*(?:(?P<number>[-+]?\d+(?:\.\d*)?(?:[eE][-+]?\d+)?|[-+]?\.\d+)|(?P<text>'[^']*'|\"[^\"]*\")"
    r"|(?P<sign><=|>=|<>|!=|=|<|>|\(|\)|,)|(?P<word>[A-Za-z_]\w*))"
)
_MOST_LETTERS = 2000


class ConditionError(ValueError):
    """The condition cannot be read."""


def parse(text: str, columns: Mapping[str, str]) -> Condition:
    """A condition over rows.

    Args:
        text: The condition.
        columns: Names that may be used, in lower case, and the row's key of each.
    """
    if len(text) > _MOST_LETTERS:
        raise ConditionError(f"the condition is longer than {_MOST_LETTERS} characters")
    parser = _Parser(_tokens(text), columns)
    condition = parser.either()
    if parser.rest:
        raise ConditionError(f"{parser.rest[0]!r} was not expected")
    return condition


def _tokens(text: str) -> list[str]:
    tokens: list[str] = []
    position = 0
    stripped = text.rstrip()
    while position < len(stripped):
        match = _TOKEN.match(stripped, position)
        if match is None:
            raise ConditionError(f"{stripped[position:].strip()[:20]!r} cannot be read")
        tokens.append(match[match.lastgroup or 0])
        position = match.end()
    return tokens


class _Parser:
    """Recursive descent over the tokens that are left."""

    def __init__(self, tokens: Sequence[str], columns: Mapping[str, str]) -> None:
        self.rest = list(tokens)
        self._columns = columns
        self._depth = 0

    def either(self) -> Condition:
        found = [self._all()]
        while self._take("or"):
            found.append(self._all())
        return lambda row: any(condition(row) for condition in found)

    def _all(self) -> Condition:
        found = [self._one()]
        while self._take("and"):
            found.append(self._one())
        return lambda row: all(condition(row) for condition in found)

    def _one(self) -> Condition:
        if self._take("not"):
            inner = self._one()
            return lambda row: not inner(row)
        if self._take("("):
            self._depth += 1
            if self._depth > 50:
                raise ConditionError("too many brackets")
            inner = self.either()
            self._need(")")
            return inner
        return self._comparison()

    def _comparison(self) -> Condition:
        column = self._column()
        if self._take("is"):
            absent = not self._take("not")
            self._need("null")
            return lambda row: (row[column] is None) == absent
        wanted = not self._take("not")
        if self._take("like"):
            pattern = _pattern(str(self._value()))
            return lambda row: (pattern.fullmatch(str(row[column])) is not None) == wanted
        if self._take("between"):
            low = self._value()
            self._need("and")
            high = self._value()
            return lambda row: (_compare(row[column], ">=", low) and _compare(row[column], "<=", high)) == wanted
        if self._take("in"):
            self._need("(")
            options = [self._value()]
            while self._take(","):
                options.append(self._value())
            self._need(")")
            return lambda row: any(_compare(row[column], "=", option) for option in options) == wanted
        sign = self.rest.pop(0) if self.rest else ""
        if not wanted or sign not in ("<", "<=", ">", ">=", "=", "<>", "!="):
            raise ConditionError(f"{sign or 'the end'!r} stands where a comparison was expected")
        value = self._value()
        return lambda row: _compare(row[column], sign, value)

    def _column(self) -> str:
        name = self.rest.pop(0) if self.rest else "the end"
        if name.lower() not in self._columns:
            raise ConditionError(f"{name!r} is no column (there are {', '.join(self._columns)})")
        return self._columns[name.lower()]

    def _value(self) -> Value:
        token = self.rest.pop(0) if self.rest else ""
        if token[:1] in ("'", '"'):
            return token[1:-1]
        try:
            return float(token)
        except ValueError:
            raise ConditionError(f"{token or 'the end'!r} stands where a value was expected") from None

    def _take(self, word: str) -> bool:
        if self.rest and self.rest[0].lower() == word:
            del self.rest[0]
            return True
        return False

    def _need(self, word: str) -> None:
        if not self._take(word):
            raise ConditionError(f"{word!r} is missing")


def _compare(left: Value | None, sign: str, right: Value) -> bool:
    if left is None:
        return False
    if isinstance(left, str) or isinstance(right, str):
        one, other = str(left).casefold(), str(right).casefold()
        order = (one > other) - (one < other)
    else:
        order = (left > right) - (left < right)
    return {
        "<": order < 0,
        "<=": order <= 0,
        ">": order > 0,
        ">=": order >= 0,
        "=": order == 0,
        "<>": order != 0,
        "!=": order != 0,
    }[sign]


def _pattern(text: str) -> re.Pattern[str]:
    parts = ["." if letter == "_" else ".*" if letter == "%" else re.escape(letter) for letter in text]
    return re.compile(re.sub(r"(\.\*)+", ".*", "".join(parts)), re.IGNORECASE)
