"""Ways to hand in one value: right ones as people and models write them, and wrong ones that look much like them.

Every way is a rule over a typed value, so that it can be applied to every field of every set. The rules are written
from what people write, not from what the comparison does.
"""

import unicodedata
from collections.abc import Callable, Iterator, Sequence
from datetime import date, timedelta
from random import Random
from typing import TypeAlias

from m3bench.tasks.answers.base import JSON, AnswerContext, Value
from m3bench.tasks.answers.codes import Code, Phone, Version
from m3bench.tasks.answers.dates import Date, Time
from m3bench.tasks.answers.fields import Field
from m3bench.tasks.answers.groups import Items, Table
from m3bench.tasks.answers.names import Choice, Name, Text, YesNo
from m3bench.tasks.answers.places import NumberPair
from m3bench.tasks.answers.quantity import Integer, Money, Number

Way: TypeAlias = tuple[str, JSON]
"""The name of a rule, and what it hands in."""

_MONTHS = [date(2000, month, 1).strftime("%B") for month in range(1, 13)]
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


def right_ways(value: Value, rng: Random) -> list[Way]:
    """Right hand-ins of a value."""
    return [way for way in _ways_of(value, rng, _RIGHT) if way[1] is not None]


def wrong_ways(value: Value, rng: Random) -> list[Way]:
    """Wrong hand-ins of a value."""
    return [way for way in _ways_of(value, rng, _WRONG) if way[1] is not None]


def _ways_of(value: Value, rng: Random, rules: dict[type, Callable[..., Iterator[Way]]]) -> list[Way]:
    rule = rules.get(type(value))
    return list(rule(value, rng)) if rule else []


def _dressed(text: str) -> Iterator[Way]:
    """What may be around any text."""
    yield "bold", f"**{text}**"
    yield "code", f"`{text}`"
    yield "quotes", f"“{text}”"
    yield "fence", f"```\n{text}\n```"
    yield "list of one", [text]
    yield "it is", f"It is {text}"
    yield "answer", f"Answer: {text}"
    yield "underline", f"__{text}__"
    yield "bullet", f"- {text}"
    yield "arrow", f"→ {text}"
    yield "i found", f"I found that it is {text}."
    yield "white space", f"  {text}\u00a0\n"


def _unaccented(text: str) -> str:
    return "".join(sign for sign in unicodedata.normalize("NFKD", text) if not unicodedata.combining(sign))


def _changed(text: str, rng: Random) -> str:
    """A name with a word put in, which is the name of another thing."""
    words = text.split()
    return " ".join([*words, rng.choice(("Park", "Annex II", "North", "Junior", "Express"))])


# --- names ---------------------------------------------------------------------------------------------------------


def _right_name(value: Name, rng: Random) -> Iterator[Way]:
    name = value.value
    yield from _dressed(name)
    yield "lower case", name.lower()
    yield "capitals", name.upper()
    yield "no accents", _unaccented(name)
    yield "typographic", name.replace("'", "’").replace("-", "\u2011").replace(" ", "\u00a0")
    yield "sentence", f"That would be {name}."
    yield "explained", f"{name}, because it comes first by the figures I looked up"
    yield "explained in brackets", f"{name} (as the tool reports)"
    yield "explained by a dash", f"{name} — this is what the search returned"
    yield "two sentences", f"{name}. I checked this twice."
    if not name.lower().startswith("the ") and name[:1].isupper() and " " in name:
        yield "with the", f"The {name}"
    for alias in value.aliases:
        if len(alias) > 2:
            yield "alias", alias
            yield "alias in brackets", f"{name} ({alias})"
    yield "corrected", f"{value.others[0] if value.others else 'Atlantis'} — no, wait: {name}"
    if value.others:
        yield "correction", f"{value.others[-1]}. Correction: {name}"
        yield "instead", f"{name}, not {value.others[0]}" if value.others[0] not in name else None
    yield "key", {"name": name}


def _wrong_name(value: Name, rng: Random) -> Iterator[Way]:
    name = value.value
    others = [other for other in value.others if not _alike(other, (name, *value.aliases))]
    for other in rng.sample(others, min(3, len(others))):
        yield "another", other
        yield "another, bold", f"**{other}**"
        yield "two", f"{name} or {other}"
        yield "two with a slash", f"{name} / {other}"
        yield "two in a list", [name, other]
        yield "corrected to another", f"{name} — no, wait: {other}"
        yield "correction to another", f"{name}. Correction: {other}"
        yield "not this but that", f"Not {name} but {other}"
        yield "another instead", f"{other}, not {name}"
        yield "actually", f"{name}... actually, {other}"
        yield "scratch", f"{name}. Scratch that, it is {other}."
    yield "negated", f"not {name}"
    yield "negated in a sentence", f"It is not {name}"
    yield "negated isn't", f"It isn't {name}."
    yield "certainly not", f"certainly not the {name}"
    yield "anything but", f"anything but {name}"
    yield "hedged", f"probably {name}"
    yield "hedged behind", f"{name}, I think"
    yield "question", f"{name}?"
    yield "longer name", _changed(name, rng)
    if " " in name and len(name.split()[0]) > 3 and name.split()[0][0].isupper():
        yield "other first word", f"Green {name.split(' ', 1)[1]}" if not name.startswith("Green") else None
    yield "elsewhere", f"{name}, Atlantis"
    yield "elsewhere in brackets", f"{name} (Atlantis)"
    yield "not asked", f"Everything except {name}"
    yield "other than", f"some place other than {name}"
    yield "nonsense", "Atlantis"
    yield "used to be", f"no longer {name}"


def _alike(other: str, names: tuple[str, ...]) -> bool:
    mine = _bare(other)
    return any(mine in _bare(name) or _bare(name) in mine for name in names)


def _bare(text: str) -> str:
    return "".join(sign for sign in _unaccented(text).lower() if sign.isalnum())


def _right_choice(value: Choice, rng: Random) -> Iterator[Way]:
    yield from _dressed(value.value)
    yield "lower case", value.value.lower()
    yield "sentence", f"It should be {value.value}."
    for alias in value.aliases:
        yield "alias", alias
    other = rng.choice([option for option in value.options if option != value.value])
    if not _alike(other, (value.value,)):
        yield "corrected", f"{other}; sorry, I mean {value.value}"
        yield "instead", f"{value.value}, not {other}"
        yield "rather than", f"{value.value} rather than {other}"


def _wrong_choice(value: Choice, rng: Random) -> Iterator[Way]:
    for other in value.options:
        if other != value.value and not _alike(other, (value.value, *value.aliases)):
            yield "another", other
            yield "two", f"{value.value} or {other}"
            yield "corrected", f"{value.value}; sorry, I mean {other}"
            yield "instead", f"{other}, not {value.value}"
    yield "negated", f"not {value.value}"
    yield "hedged", f"maybe {value.value}"


def _right_yes_no(value: YesNo, rng: Random) -> Iterator[Way]:
    word = "yes" if value.value else "no"
    for said in (word, word.upper(), f"**{word.capitalize()}**", f"{word}.", f"Answer: {word}", value.value,
                 "✓" if value.value else "✗", str(value.value).lower(), str(value.value), [word],
                 f"{word}, by a small margin"):  # fmt: skip
        yield "word", said
    if value.value:
        yield "sentence", "Yes, it is within what was asked."
        yield "sentence", "Yes, that is enough."
    else:
        yield "sentence", "No, it is not."
        yield "sentence", "It isn't, no."
        yield "sentence", "No, that is not enough."


def _wrong_yes_no(value: YesNo, rng: Random) -> Iterator[Way]:
    word, other = ("yes", "no") if value.value else ("no", "yes")
    yield "other", not value.value
    for said in (other, other.upper(), f"**{other}**", f"{word} and {other}", "maybe", f"probably {word}"):
        yield "word", said
    for said in (f"{word}. Correction: {other}", f"{word} — no wait, {other}", f"{word}/{other}", f"{word}?"):
        yield "word", said


# --- numbers -------------------------------------------------------------------------------------------------------


def _grouped(text: str, mark: str, point: str) -> str:
    whole, _, rest = text.partition(".")
    sign, whole = ("-", whole[1:]) if whole.startswith("-") else ("", whole)
    parts: list[str] = []
    while len(whole) > 3:
        parts.insert(0, whole[-3:])
        whole = whole[:-3]
    return f"{sign}{mark.join([whole, *parts])}" + (f"{point}{rest}" if rest else "")


def _figure(value: Number | Integer | Money) -> str:
    if isinstance(value, Money):
        return f"{value.value:.{value.decimals}f}"
    if isinstance(value, Integer):
        return str(value.value)
    return str(value.given())


def _right_number(value: Number | Integer | Money, rng: Random) -> Iterator[Way]:
    text = _figure(value)
    unit = value.unit
    word = unit if not isinstance(value, Money) else ""
    plain_unit = f"{text} {unit}".strip()
    yield "number", value.given()
    yield "text", text
    yield from (way for way in _dressed(plain_unit) if way[0] != "bullet" or not unit.startswith("°"))
    yield "glued", f"{text}{word}" if (word and word[:1].isalpha()) or word in ("%", "°C", "°F") else None
    yield "about", f"approx. {plain_unit}"
    yield "about", f"~{plain_unit}"
    yield "about", f"roughly {plain_unit}"
    yield "explained", f"{plain_unit}, as the tool reports"
    yield "in brackets", f"({plain_unit})"
    yield "total", f"{plain_unit} in total"
    yield "equals", f"= {plain_unit}"
    yield "thin spaces", _grouped(text, "\u202f", ".") + (f"\u202f{word}" if word else "")
    yield "commas", _grouped(text, ",", ".")
    yield "apostrophes", _grouped(text, "'", ".")
    if isinstance(value, Money) or abs(value.value) >= 10000 or not abs(value.value) >= 1000:
        yield "points", _grouped(text, ".", ",") if isinstance(value, Money) and value.decimals else None
    yield "corrected", f"{value.value + 7:g} — no, wait: {plain_unit}"
    yield "correction", f"{value.value + 3:g}. Correction: {plain_unit}"
    yield "object", {"value": value.given(), "unit": unit} if unit else {"value": value.given()}
    if isinstance(value, Number) and unit in _SMALLER and value.value:
        small, factor = _SMALLER[unit]
        yield "smaller unit", f"{value.value * factor:.10g} {small}"
    if isinstance(value, Integer) and abs(value.value) < 1000:
        yield "spelled", _spelled(value.value)
        yield "spelled with unit", f"{_spelled(value.value)} {unit}".strip()
    if isinstance(value, Money) and value.decimals == 2 and unit in _SIGNS:
        yield from _right_money(value, text)


def _right_money(value: Money, text: str) -> Iterator[Way]:
    sign, words = _SIGNS[value.unit], _WORDS.get(value.unit)
    yield "sign before", f"{sign}{_grouped(text, ',', '.')}"
    yield "sign and space", f"{sign} {text}"
    yield "code before", f"{value.unit} {text}"
    yield "code behind", f"{_grouped(text, ',', '.')} {value.unit}"
    yield "sign and code", f"{sign}{text} {value.unit}"
    whole, cents = divmod(round(abs(value.value) * 100), 100)
    if words and value.value > 0:
        yield "words", f"{text} {words}"
        small = _CENTS[value.unit]
        yield "words and cents", f"{whole} {words} and {cents} {small}" if cents else f"{whole} {words}"
        if whole < 1000:
            spelled = f"{_spelled(whole)} {words}"
            yield "spelled", f"{spelled} and {_spelled(cents)} {small}" if cents else spelled
        yield "all in cents", f"{whole * 100 + cents} {small}"
    yield "sentence", f"It comes to {sign}{text} altogether."
    yield "sum", f"{sign}{value.value - 1:.2f} + {sign}1.00 = {sign}{text}" if value.value > 1 else None
    yield "object", {"amount": value.given(), "currency": value.unit}


_WORDS_TO_19 = """
zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen
nineteen"""
_ONES = _WORDS_TO_19.split()
_TENS = ["twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"]


def _spelled(number: int) -> str:
    if number < 0:
        return f"minus {_spelled(-number)}"
    if number < 20:
        return _ONES[number]
    if number < 100:
        tens, ones = divmod(number, 10)
        return _TENS[tens - 2] + (f"-{_ONES[ones]}" if ones else "")
    hundreds, rest = divmod(number, 100)
    return f"{_ONES[hundreds]} hundred" + (f" and {_spelled(rest)}" if rest else "")


def _wrong_number(value: Number | Integer | Money, rng: Random) -> Iterator[Way]:
    text, unit = _figure(value), value.unit
    step = _step(value)
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


def _step(value: Number | Integer | Money) -> float:
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


# --- dates and times -----------------------------------------------------------------------------------------------


def _ordinal(day: int) -> str:
    return f"{day}{'th' if 10 <= day % 100 <= 20 else {1: 'st', 2: 'nd', 3: 'rd'}.get(day % 10, 'th')}"


def _day_forms(day: date) -> Iterator[Way]:
    month = _MONTHS[day.month - 1]
    yield "iso", day.isoformat()
    yield "day month", f"{day.day} {month} {day.year}"
    yield "month day", f"{month} {day.day}, {day.year}"
    yield "ordinal", f"{month} {_ordinal(day.day)}, {day.year}"
    yield "ordinal of", f"the {_ordinal(day.day)} of {month} {day.year}"
    yield "ordinal of", f"{_ordinal(day.day)} of {month}, {day.year}"
    yield "short", f"{day.day} {month[:3]} {day.year}"
    yield "short", f"{month[:3]}. {day.day}, {day.year}"
    yield "dashes", f"{day.day:02}-{month[:3]}-{day.year}"
    yield "points", f"{day.day:02}.{day.month:02}.{day.year}"
    yield "points", f"{day.day}. {month} {day.year}"
    yield "american", f"{day.month}/{day.day}/{day.year}"
    yield "british", f"{day.day:02}/{day.month:02}/{day.year}"
    yield "slashes", f"{day.year}/{day.month:02}/{day.day:02}"
    yield "year first", f"{day.year} {month} {day.day}"
    yield "weekday", f"{day:%A}, {month} {day.day}, {day.year}"
    yield "weekday", f"{day:%a} {day.day} {month[:3]} {day.year}"
    yield "time", f"{day.isoformat()}T00:00:00Z"
    yield "unicode dashes", day.isoformat().replace("-", "\u2011")
    yield "brackets", f"{day.isoformat()} ({day.day} {month} {day.year})"
    yield "sentence", f"It was on {month} {day.day}, {day.year}."
    yield "no comma", f"{month} {day.day} {day.year}"
    yield "capitals", f"{day.day} {month.upper()} {day.year}"
    yield "digits", f"{day:%Y%m%d}"


def _right_date(value: Date, rng: Random) -> Iterator[Way]:
    yield from _dressed(str(value.given()))
    if value.precision == "year":
        year = value.value[:4]
        yield "number", int(year)
        yield "text", f"in {year}"
        yield "text", f"The year {year}"
    elif value.precision == "day":
        day = date.fromisoformat(value.value)
        yield from _day_forms(day)
        yield "corrected", f"{(day + timedelta(days=2)).isoformat()}; correction: {day.isoformat()}"
    if value.precision != "year" and len(value.value) == 10:
        yield "explained", f"{value.given()}, according to the page"


def _wrong_date(value: Date, rng: Random) -> Iterator[Way]:
    if value.precision == "year":
        year = int(value.value[:4])
        for other in (year - 1, year + 1, year + 10):
            yield "another", other
            yield "two", f"{year} or {other}"
            yield "corrected", f"{year} — no, wait: {other}"
        yield "range", f"{year - 3}-{year}"
        yield "negated", f"not {year}"
        yield "bound", f"before {year}"
        yield "bound", f"after {year}"
        yield "hedged", f"perhaps {year}"
        yield "decade", f"the {year // 10 * 10}s"
        return
    if value.precision != "day":
        return
    day = date.fromisoformat(value.value)
    shifted = day + timedelta(days=rng.choice((-1, 1, 7)))
    for name, form in rng.sample(list(_day_forms(shifted)), 6):
        if name not in ("american", "british"):
            yield f"another, {name}", form
    yield "two", f"{day.isoformat()} or {shifted.isoformat()}"
    yield "corrected", f"{day.isoformat()} — no, wait: {shifted.isoformat()}"
    yield "correction", f"{day:%d %B %Y}. Correction: {shifted:%d %B %Y}"
    yield "range", f"{day.isoformat()} to {shifted.isoformat()}"
    yield "negated", f"not {day.isoformat()}"
    yield "bound", f"before {day.isoformat()}"
    yield "bound", f"after {day:%d %B %Y}"
    yield "month only", f"{day:%B %Y}"
    yield "year only", day.year
    yield "other year", f"{day.day} {_MONTHS[day.month - 1]} {day.year - 1}"
    yield "other weekday", f"{day + timedelta(days=1):%A}, {day.day} {_MONTHS[day.month - 1]} {day.year}"
    yield "hedged", f"probably {day.isoformat()}"


def _right_time(value: Time, rng: Random) -> Iterator[Way]:
    hours, minutes = map(int, value.value.split(":"))
    half = "pm" if hours >= 12 else "am"
    twelve = hours % 12 or 12
    yield from _dressed(value.value)
    yield "twelve", f"{twelve}:{minutes:02} {half}"
    yield "twelve", f"{twelve}:{minutes:02}{half.upper()}"
    yield "twelve", f"{twelve}:{minutes:02} {half[0]}.{half[1]}."
    yield "twelve", f"{twelve}.{minutes:02}{half}"
    yield "whole", f"{twelve} {half}" if not minutes else None
    yield "h", f"{hours}h{minutes:02}"
    yield "seconds", f"{value.value}:00"
    yield "no zero", f"{hours}:{minutes:02}"
    yield "hours", f"{hours:02}{minutes:02} hours"
    yield "at", f"at {value.value}"
    yield "corrected", f"{(hours + 1) % 24:02}:{minutes:02} — no, wait: {value.value}"
    if value.zone == "UTC":
        yield "zone", f"{value.value} UTC"
        yield "zone", f"{value.value}Z"
        yield "zone", f"{value.value} GMT"
        yield "other zone", f"{(hours + 2) % 24:02}:{minutes:02}+02:00"
        yield "other zone", f"{(hours + 1) % 24:02}:{minutes:02} CET"
        yield "other zone", f"{(hours - 5) % 24:02}:{minutes:02} EST"
    if value.zone == "local":
        yield "zone", f"{value.value} local time"
        yield "zone", f"{value.value} (local)"


def _wrong_time(value: Time, rng: Random) -> Iterator[Way]:
    hours, minutes = map(int, value.value.split(":"))
    off = max(value.within + 5, 15)
    total = (hours * 60 + minutes + off) % 1440
    other = f"{total // 60:02}:{total % 60:02}"
    later = f"{(hours + 1) % 24:02}:{minutes:02}"
    yield "another", other
    yield "another", later
    yield "half a day", f"{(hours + 12) % 24:02}:{minutes:02}"
    yield "other half", f"{hours % 12 or 12}:{minutes:02} {'am' if hours >= 12 else 'pm'}"
    yield "two", f"{value.value} or {later}"
    yield "range", f"{value.value}-{later}"
    yield "corrected", f"{value.value} — no, wait: {later}"
    yield "correction", f"{value.value}. Correction: {later}"
    yield "negated", f"not {value.value}"
    yield "bound", f"before {value.value}"
    yield "bound", f"after {value.value}"
    yield "hedged", f"perhaps {value.value}"
    if value.zone == "UTC":
        yield "local for utc", f"{value.value} local time"
        yield "local for utc", f"{value.value} CET"
        yield "local for utc", f"{value.value} EST"
        yield "local for utc", f"{value.value} JST"
        yield "local for utc", f"{value.value}+03:00"
        yield "local for utc", f"{value.value} Tokyo time"
    if value.zone == "local" and value.value:
        yield "utc for local", f"{value.value} UTC"
        yield "utc for local", f"{value.value}Z"


# --- codes ---------------------------------------------------------------------------------------------------------


def _right_code(value: Code, rng: Random) -> Iterator[Way]:
    code = value.value
    yield from _dressed(code)
    yield "capitals", code.upper() if value.form not in ("command", "option", "glyph") else None
    yield "found", f"The code is {code}" if value.form != "command" else f"Run `{code}`"
    if value.form == "command":
        yield "prompt", f"$ {code}"
        yield "shell", f"```bash\n{code}\n```"
        yield "short", code.replace("npm install", "npm i") if "npm install" in code else None
        yield "add", code.replace("npm install", "npm add") if "npm install" in code else None
    if value.form.lower() in ("isbn", "barcode") and len(code) == 13:
        yield "hyphens", f"{code[:3]}-{code[3]}-{code[4:9]}-{code[9:12]}-{code[12]}"
        yield "label", f"ISBN {code}" if value.form == "ISBN" else f"EAN {code}"
    if value.form == "arXiv":
        yield "label", f"arXiv:{code}"
        yield "link", f"https://arxiv.org/abs/{code}"
    yield (
        "corrected",
        f"{code[:-1]}{'7' if code[-1] != '7' else '8'} — no, wait: {code}" if value.form != "glyph" else None,
    )


def _wrong_code(value: Code, rng: Random) -> Iterator[Way]:
    code = value.value
    index = next((index for index in range(len(code) - 1, -1, -1) if code[index].isalnum()), 0)
    new = "7" if code[index] != "7" else "8"
    other = f"{code[:index]}{new}{code[index + 1 :]}"
    if value.form == "command":
        other = code.replace("@hugeicons/", "@hugeicons-pro/") if "@hugeicons/" in code else f"{code}-pro"
    yield "one sign off", other
    yield "one sign off, bold", f"**{other}**"
    yield "one sign more", f"{code}9" if value.form not in ("commit", "glyph", "command") else f"{code}-x9"
    yield "two", f"{code} or {other}"
    yield "two in a list", [code, other]
    yield "negated", f"not {code}"
    yield "hedged", f"maybe {code}"
    yield "corrected", f"{code} — no, wait: {other}"
    yield "correction", f"{code}. Correction: {other}"


def _right_version(value: Version, rng: Random) -> Iterator[Way]:
    yield from _dressed(value.value)
    yield "v", f"v{value.value}"
    yield "word", f"version {value.value}"
    yield "corrected", f"{value.value}.9 — no, wait: {value.value}"
    yield "explained", f"{value.value}, from the channel"


def _wrong_version(value: Version, rng: Random) -> Iterator[Way]:
    parts = value.value.split(".")
    number = "".join(sign for sign in parts[-1] if sign.isdigit()) or "0"
    other = ".".join([*parts[:-1], str(int(number) + 1)])
    yield "next", other
    yield "next", f"v{other}"
    yield "two", f"{value.value} or {other}"
    yield "range", f"{value.value} - {other}"
    yield "negated", f"not {value.value}"
    yield "corrected", f"{value.value} — no, wait: {other}"
    yield "bound", f">= {value.value}"
    yield "hedged", f"probably {value.value}"


def _right_phone(value: Phone, rng: Random) -> Iterator[Way]:
    digits = "".join(sign for sign in value.value if sign.isdigit())
    yield from _dressed(value.value)
    yield "digits", f"+{digits}"
    yield "points", value.value.replace(" ", ".").replace("-", ".")
    yield "dashes", value.value.replace(" ", "-")
    yield "unicode", value.value.replace("-", "\u2011").replace(" ", "\u00a0")
    yield "label", f"Tel.: {value.value}"
    yield "label", f"Phone: {value.value}"
    yield "double zero", f"00{digits}"
    yield "sentence", f"Call {value.value}."
    yield "sentence", f"The number is {value.value}"


def _wrong_phone(value: Phone, rng: Random) -> Iterator[Way]:
    last = int(value.value[-1])
    other = f"{value.value[:-1]}{(last + 1) % 10}"
    yield "one digit off", other
    yield "two", f"{value.value} or {other}"
    yield "short", value.value[:-1]
    yield "long", f"{value.value}0"
    yield "negated", f"not {value.value}"
    yield "corrected", f"{value.value} — no, wait: {other}"
    yield "hedged", f"maybe {value.value}"


def _right_pair(value: NumberPair, rng: Random) -> Iterator[Way]:
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


def _wrong_pair(value: NumberPair, rng: Random) -> Iterator[Way]:
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


def _right_text(value: Text, rng: Random) -> Iterator[Way]:
    yield from (
        (rule, given) for rule, given in _dressed(value.value) if rule in ("bold", "quotes", "fence", "white space")
    )
    yield "capitals", value.value.upper()
    yield "source", f"{value.value} (Wikipedia)" if len(value.value.split()) < value.words else None
    yield "no accents", _unaccented(value.value)


def _wrong_text(value: Text, rng: Random) -> Iterator[Way]:
    yield "empty words", "It is described in the encyclopedia."
    yield "negated", f"not {value.value[0].lower()}{value.value[1:]}"
    yield "negated", f"It is not true that it is {value.value}"
    yield "long", f"{value.value} " * 60
    yield "corrected", f"{value.value}. No, wait: it is a kind of weather."


# --- several -------------------------------------------------------------------------------------------------------


def _right_items(value: Items, rng: Random) -> Iterator[Way]:
    said = [item.said() for item in value.items]
    if not said or any(not hasattr(item, "said") or item.kind == "file" for item in value.items):
        return
    mixed = said if value.ordered else rng.sample(said, len(said))
    yield "json", mixed
    yield "bullets", "\n".join(f"- {one}" for one in mixed)
    yield "stars", "\n".join(f"* **{one}**" for one in mixed)
    yield "numbers", "\n".join(f"{number}. {one}" for number, one in enumerate(mixed, 1))
    yield "letters", "\n".join(f"{'abcdefghijklmnop'[number % 16]}) {one}" for number, one in enumerate(mixed))
    yield (
        "letters in brackets",
        "\n".join(f"({'abcdefghijklmnop'[number % 16]}) {one}" for number, one in enumerate(mixed)),
    )
    yield (
        "letters in a line",
        " ".join(f"({'abcdefghijklmnop'[number % 16]}) {one}" for number, one in enumerate(mixed)),
    )
    yield "semicolons", "; ".join(mixed)
    yield "json text", str(mixed).replace("'", '"') if not any("'" in one or '"' in one for one in mixed) else None
    yield "table", "| item |\n|---|\n" + "\n".join(f"| {one} |" for one in mixed)
    yield "lines", "\n".join(mixed)
    yield "pluses", " + ".join(mixed) if not any(sign in one for one in mixed for sign in "+&") else None
    if not any("," in one or " and " in one for one in mixed):
        yield "commas", ", ".join(mixed)
        yield "and", f"{', '.join(mixed[:-1])} and {mixed[-1]}" if len(mixed) > 1 else mixed[0]
        yield "oxford", f"{', '.join(mixed[:-1])}, and {mixed[-1]}" if len(mixed) > 2 else None
        yield "ampersand", f"{', '.join(mixed[:-1])} & {mixed[-1]}" if len(mixed) > 1 else None
        yield "they are", f"They are {', '.join(mixed[:-1])} and {mixed[-1]}." if len(mixed) > 1 else None
        yield "count", f"{len(mixed)} in all: {', '.join(mixed)}"
        yield "count", f"{_spelled(len(mixed))}: {', '.join(mixed)}"
        yield "bold", ", ".join(f"**{one}**" for one in mixed)
    yield "objects", [{"name": one} for one in mixed]
    if value.ordered:
        yield "arrows", " → ".join(mixed)
        yield "arrows", " -> ".join(mixed)
        yield "arrows", " ⇒ ".join(mixed)
        yield "then", ", then ".join(mixed)
        yield "ordinals", "; ".join(f"{_ordinal(number)}: {one}" for number, one in enumerate(mixed, 1))
        yield "prose", f"First {mixed[0]}, " + ", ".join(f"then {one}" for one in mixed[1:])


def _wrong_items(value: Items, rng: Random) -> Iterator[Way]:
    said = [item.said() for item in value.items]
    if not said or any(item.kind == "file" for item in value.items):
        return
    others = [
        other for item in value.items if isinstance(item, Name) for other in item.others
        if not any(_alike(other, (one.value, *one.aliases)) for one in value.items if isinstance(one, Name))
    ]  # fmt: skip
    extra = rng.choice(others) if others else "Atlantis"
    yield "one more", [*said, extra]
    yield "one more", "\n".join(f"- {one}" for one in (*said, extra))
    yield "one more, in prose", f"{'; '.join(said)}; also {extra}"
    yield "one replaced", [*said[:-1], extra]
    yield "empty", []
    yield "hedged", f"{'; '.join(said)}, and maybe {extra}"
    if len(said) > 1:
        yield "one missing", said[:-1]
        yield "one missing", "; ".join(said[1:])
        yield "one missing", "\n".join(f"{number}. {one}" for number, one in enumerate(said[1:], 1))
        yield "all but", f"{'; '.join(said[:-1])}, but not {said[-1]}"
        yield "or", " or ".join(said)
    else:
        yield "negated", f"not {said[0]}"
    if value.ordered and len(said) > 1 and said != said[::-1]:
        yield "backwards", said[::-1]
        yield "backwards", " → ".join(said[::-1])
        yield "backwards arrows", " ← ".join(said)
        yield "backwards, then", ", then ".join(said[::-1])
        yield "two turned", [said[1], said[0], *said[2:]]


def _cell(value: Value) -> str:
    return value.said()


def _right_table(value: Table, rng: Random) -> Iterator[Way]:
    rows = [[_cell(cell) for cell in row] for row in value.rows]
    rows = rng.sample(rows, len(rows))
    names = [name.replace("_", " ") for name in value.columns]
    given = value.given()
    assert isinstance(given, list)
    yield "json", rng.sample(given, len(given))
    yield "lists", rows
    yield (
        "markdown",
        "\n".join([f"| {' | '.join(names)} |", "|" + "---|" * len(names), *(f"| {' | '.join(row)} |" for row in rows)]),
    )
    yield "markdown with numbers", "\n".join(
        [f"| # | {' | '.join(names)} |", "|" + "---|" * (len(names) + 1),
         *(f"| {number} | {' | '.join(row)} |" for number, row in enumerate(rows, 1))]
    )  # fmt: skip
    yield "markdown bold", "\n".join(
        [f"| {' | '.join(map(str.capitalize, names))} |", "|" + ":--|" * len(names),
         *(f"| **{row[0]}** | {' | '.join(row[1:])} |" for row in rows)]
    )  # fmt: skip
    if not any(";" in cell or "|" in cell or "\n" in cell for row in rows for cell in row):
        yield "colons", "\n".join(f"- {row[0]}: {'; '.join(row[1:])}" for row in rows)
        yield (
            "letters",
            "\n".join(
                f"{'abcdefghijkl'[number % 12]}) {row[0]}: {'; '.join(row[1:])}" for number, row in enumerate(rows)
            ),
        )
        yield "arrows", "\n".join(f"{row[0]} → {' → '.join(row[1:])}" for row in rows)
        yield "dashes", "\n".join(f"{row[0]} – {' – '.join(row[1:])}" for row in rows)
        yield (
            "labelled",
            "\n".join(
                f"{row[0]} ({', '.join(f'{name}: {cell}' for name, cell in zip(names[1:], row[1:], strict=True))})"
                for row in rows
            ),
        )
        yield (
            "blocks",
            "\n\n".join("\n".join(f"{name}: {cell}" for name, cell in zip(names, row, strict=True)) for row in rows),
        )
        yield "tabs", "\n".join("\t".join(row) for row in rows)
        yield "semicolon csv", "\n".join([";".join(names), *(";".join(row) for row in rows)])
    if len(names) == 2:
        yield "object", {row[0]: row[1] for row in rows}
    else:
        yield "object", {row[0]: dict(zip(value.columns[1:], row[1:], strict=True)) for row in rows}


def _wrong_table(value: Table, rng: Random) -> Iterator[Way]:
    rows = [[_cell(cell) for cell in row] for row in value.rows]
    if len(rows) > 1:
        yield "row missing", rows[1:]
        yield "row missing", [dict(zip(value.columns, row, strict=True)) for row in rows[:-1]]
        for column in range(1, len(value.columns)):
            cells = [row[column] for row in rows]
            if any(
                value.rows[index][column].problem(cell, _NOWHERE) for index, cell in enumerate([*cells[1:], cells[0]])
            ):
                turned = [[*row[:column], cell, *row[column + 1 :]]
                          for row, cell in zip(rows, [*cells[1:], cells[0]], strict=True)]  # fmt: skip
                yield "column turned", turned
                yield "column turned", "\n".join(f"| {' | '.join(row)} |" for row in turned)
                yield "column turned", "\n".join(f"{row[0]}: {'; '.join(row[1:])}" for row in turned)
    yield "row more", [*rows, ["Atlantis", *rows[0][1:]]]
    for column in range(1, len(value.columns)):
        ways = wrong_ways(value.rows[0][column], rng)
        for rule, given in rng.sample(ways, min(3, len(ways))):
            if isinstance(given, str | int | float):
                yield f"cell, {rule}", [[*rows[0][:column], given, *rows[0][column + 1 :]], *rows[1:]]


_NOWHERE = AnswerContext()

_RIGHT: dict[type, Callable[..., Iterator[Way]]] = {
    Name: _right_name, Choice: _right_choice, YesNo: _right_yes_no, Number: _right_number, Integer: _right_number,
    Money: _right_number, Date: _right_date, Time: _right_time, Code: _right_code, Version: _right_version,
    Phone: _right_phone, NumberPair: _right_pair, Text: _right_text, Items: _right_items, Table: _right_table,
}  # fmt: skip
_WRONG: dict[type, Callable[..., Iterator[Way]]] = {
    Name: _wrong_name, Choice: _wrong_choice, YesNo: _wrong_yes_no, Number: _wrong_number, Integer: _wrong_number,
    Money: _wrong_number, Date: _wrong_date, Time: _wrong_time, Code: _wrong_code, Version: _wrong_version,
    Phone: _wrong_phone, NumberPair: _wrong_pair, Text: _wrong_text, Items: _wrong_items, Table: _wrong_table,
}  # fmt: skip


# --- prose ---------------------------------------------------------------------------------------------------------


def prose_ways(fields: Sequence[Field]) -> Iterator[tuple[str, str, bool]]:
    """Whole answers in prose: the rule, the text, and whether it is right."""
    said = [(field.name.replace("_", " "), field.value.said()) for field in fields]
    letters = "abcdefghijklmnopqrstuvwxyz"
    yield "arrows", "\n".join(f"{name} → {value}" for name, value in said), True
    yield "typed arrows", "\n".join(f"- {name.capitalize()} -> {value}" for name, value in said), True
    lines = [f"{name.capitalize()}: {value}" for name, value in said]
    yield "letters", "\n".join(f"{letter}) {line}" for letter, line in zip(letters, lines, strict=False)), True
    yield "bold labels", "\n".join(f"* **{name.capitalize()}:** {value}" for name, value in said), True
    yield "dashes", "\n".join(f"**{name.capitalize()}** – {value}" for name, value in said), True
    yield "headings", "\n\n".join(f"### {name.capitalize()}\n{value}" for name, value in said), True
    if not any("\n" in value or "|" in value for _, value in said):
        rows = [f"| **{name}** | {value} |" for name, value in said]
        yield "table", "\n".join(["| Field | Value |", "|---|---|", *rows]), True
        numbered = [f"| {number} {row}" for number, row in enumerate(rows, 1)]
        yield "numbered table", "\n".join(["| # | Field | Value |", "|---|---|---|", *numbered]), True
    name = said[-1][0]
    right = "\n".join(lines)
    other = "\n".join([*lines[:-1], f"{name}: Atlantis 999"])
    yield "corrected", f"{other}\nCorrection: {lines[-1]}", True
    yield "corrected to a wrong one", f"{right}\n\nCorrection: {name} is Atlantis 999.", False
    yield "corrected without a label", f"{right}\nCorrection: Atlantis 999", False
    yield "left out", "\n".join(lines[:-1]), False
    yield "negated", "\n".join([*lines[:-1], f"The {name} is not {said[-1][1]}."]), False
