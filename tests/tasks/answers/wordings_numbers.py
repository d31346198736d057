"""Ways to hand in a number, a sum of money or a pair of numbers: right ones, and wrong ones that look like them."""

from collections.abc import Iterator
from random import Random

from m3bench.tasks.answers.places import NumberPair
from m3bench.tasks.answers.quantity import Integer, Money, Number
from tests.tasks.answers.wordings_base import Way, dressed

_SIGNS = {
    "USD": "$",
    "CAD": "CA$",
    "AUD": "A$",
    "SGD": "S$",
    "GBP": "£",
    "EUR": "€",
    "BRL": "R$",
    "JPY": "¥",
    "INR": "₹",
}
_WORDS = {"USD": "dollars", "CAD": "Canadian dollars", "AUD": "Australian dollars", "SGD": "Singapore dollars",
          "GBP": "pounds", "EUR": "euros", "BRL": "reais"}  # fmt: skip
_CENTS = {
    "USD": "cents",
    "CAD": "cents",
    "AUD": "cents",
    "SGD": "cents",
    "GBP": "pence",
    "EUR": "cents",
    "BRL": "centavos",
}
_SMALLER = {
    "km": ("m", 1000.0),
    "g": ("mg", 1000.0),
    "m": ("cm", 100.0),
    "min": ("s", 60.0),
    "minutes": ("seconds", 60.0),
}


def grouped(text: str, mark: str, point: str) -> str:
    whole, _, rest = text.partition(".")
    sign, whole = ("-", whole[1:]) if whole.startswith("-") else ("", whole)
    parts: list[str] = []
    while len(whole) > 3:
        parts.insert(0, whole[-3:])
        whole = whole[:-3]
    return f"{sign}{mark.join([whole, *parts])}" + (f"{point}{rest}" if rest else "")


def figure(value: Number | Integer | Money) -> str:
    if isinstance(value, Money):
        return f"{value.value:.{value.decimals}f}"
    if isinstance(value, Integer):
        return str(value.value)
    return str(value.given())


def right_number(value: Number | Integer | Money, rng: Random) -> Iterator[Way]:
    text = figure(value)
    unit = value.unit
    word = unit if not isinstance(value, Money) else ""
    plain_unit = f"{text} {unit}".strip()
    yield "number", value.given()
    yield "text", text
    yield from (way for way in dressed(plain_unit) if way[0] != "bullet" or not unit.startswith("°"))
    yield "glued", f"{text}{word}" if (word and word[:1].isalpha()) or word in ("%", "°C", "°F") else None
    yield "about", f"approx. {plain_unit}"
    yield "about", f"~{plain_unit}"
    yield "about", f"roughly {plain_unit}"
    yield "explained", f"{plain_unit}, as the tool reports"
    yield "in brackets", f"({plain_unit})"
    yield "total", f"{plain_unit} in total"
    yield "equals", f"= {plain_unit}"
    yield "thin spaces", grouped(text, "\u202f", ".") + (f"\u202f{word}" if word else "")
    yield "commas", grouped(text, ",", ".")
    yield "apostrophes", grouped(text, "'", ".")
    if isinstance(value, Money) or abs(value.value) >= 10000 or not abs(value.value) >= 1000:
        yield "points", grouped(text, ".", ",") if isinstance(value, Money) and value.decimals else None
    yield "corrected", f"{value.value + 7:g} — no, wait: {plain_unit}"
    yield "correction", f"{value.value + 3:g}. Correction: {plain_unit}"
    yield "object", {"value": value.given(), "unit": unit} if unit else {"value": value.given()}
    if isinstance(value, Number) and unit in _SMALLER and value.value:
        small, factor = _SMALLER[unit]
        yield "smaller unit", f"{value.value * factor:.10g} {small}"
    if isinstance(value, Integer) and abs(value.value) < 1000:
        yield "spelled", spelled(value.value)
        yield "spelled with unit", f"{spelled(value.value)} {unit}".strip()
    if isinstance(value, Money) and value.decimals == 2 and unit in _SIGNS:
        yield from _right_money(value, text)


def _right_money(value: Money, text: str) -> Iterator[Way]:
    sign, words = _SIGNS[value.unit], _WORDS.get(value.unit)
    yield "sign before", f"{sign}{grouped(text, ',', '.')}"
    yield "sign and space", f"{sign} {text}"
    yield "code before", f"{value.unit} {text}"
    yield "code behind", f"{grouped(text, ',', '.')} {value.unit}"
    yield "sign and code", f"{sign}{text} {value.unit}"
    whole, cents = divmod(round(abs(value.value) * 100), 100)
    if words and value.value > 0:
        yield "words", f"{text} {words}"
        small = _CENTS[value.unit]
        yield "words and cents", f"{whole} {words} and {cents} {small}" if cents else f"{whole} {words}"
        if whole < 1000:
            whole_words = f"{spelled(whole)} {words}"
            yield "spelled", f"{whole_words} and {spelled(cents)} {small}" if cents else whole_words
        yield "all in cents", f"{whole * 100 + cents} {small}"
    yield "sentence", f"It comes to {sign}{text} altogether."
    yield "sum", f"{sign}{value.value - 1:.2f} + {sign}1.00 = {sign}{text}" if value.value > 1 else None
    yield "object", {"amount": value.given(), "currency": value.unit}


_WORDS_TO_19 = """
zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen
nineteen"""
_ONES = _WORDS_TO_19.split()
_TENS = ["twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"]


def spelled(number: int) -> str:
    if number < 0:
        return f"minus {spelled(-number)}"
    if number < 20:
        return _ONES[number]
    if number < 100:
        tens, ones = divmod(number, 10)
        return _TENS[tens - 2] + (f"-{_ONES[ones]}" if ones else "")
    hundreds, rest = divmod(number, 100)
    return f"{_ONES[hundreds]} hundred" + (f" and {spelled(rest)}" if rest else "")


def wrong_number(value: Number | Integer | Money, rng: Random) -> Iterator[Way]:
    text, unit = figure(value), value.unit
    step = step_of(value)
    near = value.value + rng.choice((-1, 1)) * step
    shown = f"{near:.2f}" if isinstance(value, Money) else f"{near:.10g}"
    yield "near miss", float(shown)
    yield "near miss", f"{shown} {unit}".strip()
    yield "two", f"{text} or {shown}"
    yield "two with a slash", f"{text} / {shown}"
    yield "range", f"{text}-{value.value + 2 * step:.10g}"
    yield "range", f"between {text} and {value.value + 2 * step:.10g}"
    yield "corrected", f"{text} — no, wait: {shown}"
    yield "correction", f"{text} {unit}. Correction: {shown} {unit}"
    yield "actually", f"{text}, actually {shown}"
    yield "negated", f"not {text}"
    yield "negated", f"it is not {text} {unit}".strip()
    yield "bound", f"more than {text}"
    yield "bound", f"at least {text} {unit}".strip()
    yield "bound", f"under {text}"
    yield "hedged", f"maybe {text}"
    yield "hedged", f"{text}, I guess"
    yield "ten times", f"{value.value * 10:.10g}" if value.value else None
    yield "question", f"{text}?"
    yield "sign", f"{-value.value:.10g}" if abs(value.value) > step else None
    yield "digits turned", _turned(text, value, step)
    yield "two in a list", [value.given(), float(shown)]
    if isinstance(value, Money) and unit in _SIGNS:
        other = "EUR" if unit != "EUR" else "USD"
        yield "other currency", f"{text} {other}"
        yield "other currency", f"{_SIGNS[other]}{text}"
        yield "cents for whole", f"{text} {_CENTS.get(unit, 'cents')}"
        yield "cents for whole", f"{round(value.value)} {_CENTS.get(unit, 'cents')}"
        yield "cut off", int(value.value) if abs(value.value - int(value.value)) > 0.05 else None
        yield "object", {"amount": value.given(), "currency": other}
        yield "thousands", f"{text}k"
    elif isinstance(value, Number | Integer) and unit in _SMALLER and value.value and len(text.partition(".")[2]) != 3:
        yield "other unit", f"{text} {_SMALLER[unit][0]}"
    elif unit in ("°C", "°F"):
        yield "other unit", f"{text} {'°F' if unit == '°C' else '°C'}"
        yield "other unit", f"{text} degrees {'Fahrenheit' if unit == '°C' else 'Celsius'}"
    elif unit == "kcal":
        yield "other unit", f"{text} kJ"


def step_of(value: Number | Integer | Money) -> float:
    """A little more than what may be off."""
    if isinstance(value, Integer):
        return 1.0
    if isinstance(value, Money):
        return max(0.02, 3 * value.within, 0.03)
    asked = 0.0 if value.decimals is None else 0.5 * 10.0**-value.decimals
    return float(f"{max(2.5 * value.within, 3 * asked, 0.012 * abs(value.value), 0.02):.3g}")


def _turned(text: str, value: Number | Integer | Money, step: float) -> str | None:
    for index in range(len(text) - 1):
        if text[index].isdigit() and text[index + 1].isdigit() and text[index] != text[index + 1]:
            turned = f"{text[:index]}{text[index + 1]}{text[index]}{text[index + 2 :]}"
            if abs(float(turned) - value.value) > step:
                return turned
    return None


def right_pair(value: NumberPair, rng: Random) -> Iterator[Way]:
    first, *rest = [f"{part:g}" for part in value.value]
    if len(rest) != 1:
        return
    second = rest[0]
    unit = value.unit
    names = value.parts
    for form in (f"{first}, {second}", f"({first}, {second})", f"{first}/{second}", f"{first} x {second}",
                 f"{first}×{second}", f"{names[0]} = {first}, {names[1]} = {second}",
                 f"{names[0]}: {first}, {names[1]}: {second}", f"{first} by {second}", f"**{first} × {second}** {unit}",
                 f"{names[0]} {first} and {names[1]} {second}", f"It is {first} × {second} {unit}.",
                 f"{first}{unit} x {second}{unit}"):  # fmt: skip
        yield "written", form
    yield "list", list(value.value)
    yield "object", dict(zip(names, value.value, strict=True))
    yield "corrected", f"{second}, {first} — no, wait: {first}, {second}"


def wrong_pair(value: NumberPair, rng: Random) -> Iterator[Way]:
    if len(value.value) != 2:
        return
    first, second = value.value
    far = 3 * value.within + 2
    if abs(first - second) > value.within:
        yield "turned", [second, first]
        yield "turned", f"{second:g} x {first:g}"
        yield "turned", {value.parts[0]: second, value.parts[1]: first}
        yield "corrected", f"{first:g}, {second:g} — no, wait: {second:g}, {first:g}"
    yield "off", [first + far, second]
    yield "off", f"{first:g} x {second - far:g}"
    yield "one", first
    yield "three", [first, second, first]
    yield "negated", f"not {first:g}, {second:g}"
