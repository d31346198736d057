"""Numerals and units: the numbers in a text, however they are written, and what one unit is in another.

Both traditions of marks (`1,234.5` and `1.234,5`, `3 722`, `1'234`), number words, `3.7 million`, `12k`, halves.
`1.234` can be read in two ways, and both readings are kept. A word may mean several units (`lb` is a weight, `pounds`
also money): which one is meant depends on what is asked for. Currencies never convert into each other. Whether a number
is right is not decided here.
"""

import re
from dataclasses import dataclass
from functools import cache
from typing import NamedTuple

from m3bench.tasks.answers.spelling import vocabulary
from m3bench.tasks.folding import fold


class UnitOfMeasure(NamedTuple):
    """A unit: what it measures, how many of the kind's first unit it is, and where its zero lies in that."""

    kind: str
    factor: float
    offset: float = 0.0


_TEMPERATURES = {
    "c °c celsius|degrees celsius|degrees c|degree celsius|deg c|centigrade": UnitOfMeasure("temperature", 1.0),
    "f °f fahrenheit|degrees fahrenheit|degrees f|degree fahrenheit|deg f": UnitOfMeasure(
        "temperature", 5 / 9, -160 / 9
    ),
    "k kelvin kelvins": UnitOfMeasure("temperature", 1.0, -273.15),
}


@cache
def _monies() -> dict[str, str]:
    """The words for every currency and coin, by its code."""
    return {**vocabulary().currencies, **vocabulary().coins}


@cache
def known() -> dict[str, tuple[UnitOfMeasure, ...]]:
    """Every word for a unit, folded, with the units that it may mean."""
    found: dict[str, list[UnitOfMeasure]] = {}
    for kind, units in vocabulary().units.items():
        for names, factor in units.items():
            for word in _words(names):
                found.setdefault(word, []).append(UnitOfMeasure(kind, factor))
    for names, unit in _TEMPERATURES.items():
        for word in _words(names):
            found.setdefault(word, []).append(unit)
    for code, signs in _monies().items():
        for word in _words(signs):
            found.setdefault(word, []).append(UnitOfMeasure(code, 1.0))
    for code, signs in vocabulary().cents.items():
        for word in _words(signs):
            found.setdefault(word, []).append(UnitOfMeasure(code, 0.01))
    return {word: tuple(dict.fromkeys(units)) for word, units in found.items()}


def unit_of(name: str) -> UnitOfMeasure | None:
    """The unit that a task asks for, by its usual sign or name; None when it is only a word, such as `pages`."""
    if name.upper() in _monies():
        return UnitOfMeasure(name.upper(), 1.0)
    found = known().get(fold(name))
    return found[0] if found else None


def convert(value: float, word: str, asked: UnitOfMeasure) -> float | None:
    """A value with a unit's word in the unit that is asked for; None when the word means something else."""
    for unit in known().get(word, ()):
        if unit.kind == asked.kind:
            return ((value * unit.factor + unit.offset) - asked.offset) / asked.factor
    return None


def _words(text: str) -> list[str]:
    first, *phrases = text.split("|")
    return [fold(word) for word in (*first.split(), *phrases)]


_NUMERAL = re.compile(
    r"(?<![\w.,])(?P<sign>[-+]?)\s?(?P<body>\d{1,3}(?:[ ']\d{3})+(?![\d])(?:[.,]\d+)?|\d[\d.,]*\d|\d|[.,]\d+)"
    r"(?P<power>e[-+]?\d+)?"
)
_SCALE = {
    "dozen": 12.0, "hundred": 1e2, "thousand": 1e3, "k": 1e3,
    "million": 1e6, "mn": 1e6, "mio": 1e6, "m": 1e6, "billion": 1e9,
    "bn": 1e9, "b": 1e9, "bil": 1e9, "mil": 1e6, "trillion": 1e12, "tn": 1e12,
}  # fmt: skip
_ONES = {
    word: number
    for number, word in enumerate(
        [
            "zero",
            "one",
            "two",
            "three",
            "four",
            "five",
            "six",
            "seven",
            "eight",
            "nine",
            "ten",
            "eleven",
            "twelve",
            "thirteen",
            "fourteen",
            "fifteen",
            "sixteen",
            "seventeen",
            "eighteen",
            "nineteen",
        ]
    )
}
_TENS = {
    word: 10 * number
    for number, word in enumerate(["twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"], 2)
}  # fmt: skip
_HUNDREDS = {"hundred": 100, "thousand": 1000, "million": 10**6, "billion": 10**9}
_FRACTIONS = {"½": ".5", "¼": ".25", "¾": ".75"}


@dataclass(frozen=True, kw_only=True)
class Quantity:
    """A number in a text and the unit beside it."""

    readings: tuple[tuple[float, float], ...]
    """What the numeral can mean, each with half of its last digit: how exact it is."""
    unit: str = ""
    """The folded word for its unit, when it is a known one."""
    start: int
    end: int
    joined: bool = False
    """Whether a dash or `to` ties it to the number before it: the two are the ends of a range."""


_TIE = re.compile(r"(?:-|\bto|\bthrough)$")
_WORD = re.compile(r"\s+[a-z]")
_MINUS_BEFORE_MONEY = re.compile(r"(?<![^\s:(|])-([$€£¥₹])(?=\d)")
"""As in `-$5`, which is `$-5`; in `$3-$5` it is a dash."""
_CLOCK = re.compile(r"(?<![\d:])(\d{1,3}):([0-5]\d)\s?min(?:utes?|s)?\b")
"""Minutes and seconds, as a stopwatch shows them."""
_CODE_BEFORE = re.compile(rf"(?<!\w)({'|'.join(code.lower() for code in _monies())})(?=\d)")
"""A currency's code without a space behind it."""
_BARE_CENTS = re.compile(
    r"(?<![\d.,])(\d+) (?:(?:us|american|canadian|australian|singapore|hong kong) )?"
    r"(dollars?|euros?|pounds|reais|usd|eur|gbp|brl|cad|aud|sgd)(?: and)? (\d\d)(?=\s*[.!]?$)"
)
"""As in "six dollars ninety-nine"."""
LONGEST_UNIT = 40
"""Letters of the longest word for money, and room for the space behind it."""


_DURATION = re.compile(
    r"(?<!\w)P(?=[\dT])(?:(?P<d>\d+)D)?(?:T(?:(?P<h>\d+)H)?(?:(?P<min>\d+)M)?(?:(?P<s>\d+)S)?)?(?!\w)"
)
"""A span of time as ISO 8601 has it: `PT38M12S`."""


def _in_units(span: re.Match[str]) -> str:
    """A span of time in units: `38 min 12 s`."""
    return " ".join(f"{value} {unit}" for unit, value in span.groupdict().items() if value)


def plain(text: str) -> str:
    """A text in the form in which `quantities` counts positions: folded, number words as digits."""
    text = _DURATION.sub(_in_units, text)
    for sign, digits in _FRACTIONS.items():
        text = re.sub(rf"(?<!\d){sign}", f"0{digits}", text).replace(sign, digits)
    text = re.sub(r"\b(?:minus|negative) (?=[$€£¥₹]?\d)", "-", _figures(fold(text)))
    text = _CODE_BEFORE.sub(r"\1 ", _CLOCK.sub(r"\1 min \2 s", text))
    text = _BARE_CENTS.sub(r"\1.\3 \2", text)
    return _MINUS_BEFORE_MONEY.sub(r"\1-", text)


def quantities(text: str, *, millions: bool = True) -> list[Quantity]:
    """The numbers in a text that went through `plain`.

    Args:
        text: The text.
        millions: Whether a lone `m` behind a number can mean a million; otherwise it is a metre.
    """
    found: list[Quantity] = []
    for match in _NUMERAL.finditer(text):
        readings = _readings(match["body"])
        if not readings:
            continue
        sign = -1.0 if match["sign"] == "-" else 1.0
        before = match.start()
        while before and text[before - 1].isspace():
            before -= 1
        tied = bool(found) and found[-1].end >= before - 3 and _TIE.search(text, max(0, before - 7), before) is not None
        if found and match["sign"] == "-" and found[-1].end == before:
            sign, tied = 1.0, True
        factor, end = _scale(text, match.end(), millions=millions)
        factor *= 10.0 ** int(match["power"][1:]) if match["power"] and len(match["power"]) <= 4 else 1.0
        unit, end = _unit_behind(text, end)
        start = match.start()
        if not unit:
            unit, start = _unit_before(text, start)
        found.append(
            Quantity(
                readings=tuple((sign * value * factor, half * factor) for value, half in readings),
                unit=unit, start=start, end=end, joined=tied,
            )
        )  # fmt: skip
    return _compound(found, text)


def numbers_in(text: str) -> list[float]:
    """Every reading of every number in a text."""
    return [value for quantity in quantities(plain(text)) for value, _ in quantity.readings]


def _readings(body: str) -> tuple[tuple[float, float], ...]:
    grouped = re.search(r"[ ']", body) is not None
    body = re.sub(r"[ ']", "", body)
    points, commas = body.count("."), body.count(",")
    if points and commas:
        decimal = "." if body.rfind(".") > body.rfind(",") else ","
        other = "," if decimal == "." else "."
        whole, _, rest = body.partition(decimal)
        if decimal in rest or other in rest or not _groups(whole, other):
            return ()
        return (_value(whole.replace(other, ""), rest),)
    mark = "." if points else ","
    if points + commas == 0:
        return (_value(body, ""),)
    whole, _, rest = body.partition(mark)
    if mark in rest:
        return (_value(body.replace(mark, ""), ""),) if _groups(body, mark) and not grouped else ()
    if len(rest) == 3 and 1 <= len(whole) <= 3 and whole != "0" and not whole.startswith("0") and not grouped:
        return (_value(whole, rest), _value(whole + rest, ""))
    return (_value(whole or "0", rest),)


def _groups(text: str, mark: str) -> bool:
    first, *rest = text.split(mark)
    return 1 <= len(first) <= 3 and all(len(part) == 3 for part in rest)


def _value(whole: str, rest: str) -> tuple[float, float]:
    return float(f"{whole}.{rest or '0'}"), 0.5 * 10.0 ** -len(rest)


def _scale(text: str, end: int, *, millions: bool) -> tuple[float, int]:
    match = re.compile(
        r"\s?(dozen|hundred|thousand|million|mn|mil|mio|billion|bil|bn|trillion|tn|k|m|b)\b(?![²2/°])"
    ).match(text, end)
    if match is None or (match[1] == "m" and not millions):
        return 1.0, end
    return _SCALE[match[1]], match.end()


@cache
def _unit_words() -> re.Pattern[str]:
    words = sorted(known(), key=len, reverse=True)
    return re.compile(r"\s?-?\s?(" + "|".join(map(re.escape, words)) + r")\.?(?![\w$])")


@cache
def _money_words() -> re.Pattern[str]:
    words = sorted(
        (word for word, units in known().items() if any(unit.kind.isupper() and unit.factor == 1 for unit in units)),
        key=len,
    )
    return re.compile(r"(?<!\w)(" + "|".join(map(re.escape, reversed(words))) + r")\s?$")


def _unit_behind(text: str, end: int) -> tuple[str, int]:
    match = _unit_words().match(text, end)
    if match is None or (match[1] == "in" and _WORD.match(text, match.end())):
        return "", end
    return match[1], match.end()


def _unit_before(text: str, start: int) -> tuple[str, int]:
    match = _money_words().search(text, max(0, start - LONGEST_UNIT), start)
    return (match[1], match.start()) if match else ("", start)


def _compound(found: list[Quantity], text: str) -> list[Quantity]:
    """`2 h 10 min` and `5 ft 3 in` are one quantity, in the unit of the first."""
    joined: list[Quantity] = []
    for quantity in found:
        last = joined[-1] if joined else None
        pair = (last.unit, quantity.unit) if last else ("", "")
        share = _PARTS.get(pair, _share_of_money(*pair))
        if (
            last is not None
            and share is not None
            and re.fullmatch(r"[\s,]*(?:and\s)?", text[last.end : quantity.start])
        ):
            value = last.readings[0][0] + quantity.readings[0][0] * share
            half = quantity.readings[0][1] * share
            joined[-1] = Quantity(readings=((value, half),), unit=last.unit, start=last.start, end=quantity.end)
        else:
            joined.append(quantity)
    return joined


@cache
def _share_of_money(big: str, small: str) -> float | None:
    """How much of a currency's unit a word for its hundredth part is, where the two words are of one currency."""
    whole = {unit.kind for unit in known().get(big, ()) if unit.kind.isupper() and unit.factor == 1.0}
    parts = {unit.kind for unit in known().get(small, ()) if unit.kind.isupper() and unit.factor == 0.01}
    return 0.01 if whole & parts else None


_PARTS = {
    (big, small): share
    for bigs, smalls, share in (
        ("h hr hrs hour hours", "min mins minute minutes m", 1 / 60),
        ("h hr hrs hour hours", "s sec secs second seconds", 1 / 3600),
        ("yr yrs year years", "month months", 1 / 12),
        ("min mins minute minutes", "s sec secs second seconds", 1 / 60),
        ("wk week weeks", "d day days", 1 / 7),
        ("d day days", "h hr hrs hour hours", 1 / 24),
        ("ft foot feet", "in inch inches", 1 / 12),
    )
    for big in bigs.split()
    for small in smalls.split()
}


def _figures(text: str) -> str:
    """A folded text with its number words as digits."""
    tokens = re.split(r"(\W+)", text)
    out: list[str] = []
    index = 0
    while index < len(tokens):
        value, after = _spelled(tokens, index)
        if value is None:
            out.append(tokens[index])
            index += 1
        else:
            out.append(f"{value:.12g}")
            index = after
    return "".join(out)


def _spelled(tokens: list[str], index: int) -> tuple[float | None, int]:
    """The number that words spell out from a place on, and the place behind them."""
    total, current, after, seen = 0.0, 0.0, index, False
    place = index
    while place < len(tokens):
        word, gap = tokens[place], tokens[place + 1] if place + 1 < len(tokens) else ""
        following = tokens[place + 2] if place + 2 < len(tokens) else ""
        if word in _ONES and not (seen and current % 10 and current % 100 != 0):
            current, seen = current + _ONES[word], True
        elif word in _TENS and current % 100 == 0:
            current, seen = current + _TENS[word], True
        elif word in _HUNDREDS and (seen or (place > index and tokens[place - 2] in ("a", "an"))):
            scale, seen = _HUNDREDS[word], True
            if scale == 100:
                current = max(1.0, current) * 100
            else:
                total, current = total + max(1.0, current) * scale, 0.0
        elif word == "dozen" and (seen or place > index):
            current, seen = max(1.0, current) * 12, True
        elif word in ("a", "an") and not seen and (following in _HUNDREDS or following == "dozen"):
            pass
        elif word == "and" and seen and following == "a" and tokens[place + 4 : place + 5] == ["half"]:
            return total + current + 0.5, place + 5
        elif word == "and" and seen and (following in _ONES or following in _TENS) and (current >= 100 or total):
            place += 2
            continue
        elif word == "point" and seen and following in _ONES:
            digits, place = "", place + 2
            while place < len(tokens) and tokens[place] in _ONES and _ONES[tokens[place]] < 10:
                digits += str(_ONES[tokens[place]])
                after = place + 1
                place += 2
            return total + current + float(f"0.{digits}"), after
        else:
            break
        if seen:
            after = place + 1
        if gap.strip("- ") != "" or not gap:
            break
        place += 2
    return (total + current, after) if seen else (None, index)
