"""Ways to hand in what a field asks for that depend on the question: sums and shares, clauses, strikes, units, ranks.

These rules take the whole field and not its value alone: "9,669 each" is wrong where a total is asked for and right
where a share is. As the others, they are written from what people write.
"""

import re
from collections.abc import Iterator
from datetime import date
from random import Random

from m3bench.tasks.answers.codes import Code, Phone
from m3bench.tasks.answers.dates import Date, Time
from m3bench.tasks.answers.fields import Field
from m3bench.tasks.answers.names import Choice, Name, YesNo
from m3bench.tasks.answers.quantity import Integer, Money, Number
from tests.tasks.answers.wordings_base import Way
from tests.tasks.answers.wordings_codes import ordinal
from tests.tasks.answers.wordings_names import alike
from tests.tasks.answers.wordings_numbers import figure, grouped, spelled, step_of

_TOTAL = re.compile(r"\b(?:together|all|total|both|altogether)\b")
_SHARE = re.compile(r"\b(?:each|every|per|one|single|a person|share|average|mean)\b")
_APART = re.compile(r"more|differ|apart|left|missing|higher|between")
_LARGE = ["", "thousand", "million"]


def right_spoken(field: Field, rng: Random) -> list[Way]:
    """Right hand-ins of a field."""
    return [way for way in _right(field, rng) if way[1] is not None]


def wrong_spoken(field: Field, rng: Random) -> list[Way]:
    """Wrong hand-ins of a field."""
    return [way for way in _wrong(field, rng) if way[1] is not None]


def _right(field: Field, rng: Random) -> Iterator[Way]:
    value = field.value
    if isinstance(value, Number | Integer | Money):
        yield from _right_figure(field, value)
    elif isinstance(value, Name | Choice):
        yield from _right_called(field, value, rng)
    elif isinstance(value, YesNo):
        yield from _right_yes_no(value)
    elif isinstance(value, Date) and value.precision == "day":
        yield from _right_day(date.fromisoformat(value.value[:10]))
    elif isinstance(value, Time):
        yield from _right_clock(value)
    elif isinstance(value, Code | Phone):
        yield from _shown(value.value)
        yield "key", {field.name: value.value}


def _wrong(field: Field, rng: Random) -> Iterator[Way]:
    value = field.value
    if isinstance(value, Number | Integer | Money):
        yield from _wrong_figure(field, value)
    elif isinstance(value, Name | Choice):
        yield from _wrong_called(value, rng)
    elif isinstance(value, YesNo):
        yield from _right_yes_no(YesNo(value=not value.value))
        yield "both", "Yes and no"
        yield "it depends", "It depends"
    elif isinstance(value, Date) and value.precision == "day":
        yield from _wrong_day(date.fromisoformat(value.value[:10]))
    elif isinstance(value, Time):
        yield from _wrong_clock(value)
    elif isinstance(value, Code | Phone):
        yield "struck", f"~~{value.value}~~"
        yield "not, but", f"It was said to be {value.value}, which is wrong"


def _shown(text: str) -> Iterator[Way]:
    """How interfaces and models set off a value."""
    yield "html", f"<b>{text}</b>"
    yield "html", f"<answer>{text}</answer>"
    yield "latex", f"\\boxed{{{text}}}"
    yield "latex", f"\\text{{{text}}}"
    yield "check mark", f"✅ {text}"
    yield "quoted json", f'"{text}"'
    yield "low quotes", f"„{text}“"
    yield "single quotes", f"'{text}'"
    yield "block quote", f"> {text}"
    yield "highlighted", f"=={text}=="
    yield "final", f"Final answer: **{text}**"
    yield "final", f"**Final answer:** {text}"
    yield "so", f"So the answer is {text}."
    yield "key", f'{{"answer": "{text}"}}' if '"' not in text else None


# --- figures -------------------------------------------------------------------------------------------------------


def _is_total(field: Field) -> bool:
    return bool(_TOTAL.search(field.meaning)) and not _is_share(field)


def _is_share(field: Field) -> bool:
    return bool(_SHARE.search(field.meaning)) or bool(re.search(r"each|per|average|share", field.name))


def _with_unit(value: Number | Integer | Money) -> str:
    return f"{figure(value)} {value.unit}".strip()


def _thousands(number: int) -> str:
    """A number in words, up to millions."""
    parts = []
    for scale in (2, 1, 0):
        part, number = divmod(number, 1000**scale)
        parts += [f"{spelled(part)} {_LARGE[scale]}".strip()] if part else []
    return " ".join(parts) or "zero"


def _right_figure(field: Field, value: Number | Integer | Money) -> Iterator[Way]:
    text, shown = figure(value), _with_unit(value)
    yield from (way for way in _shown(shown) if way[0] != "block quote")  # "> 5" is a bound
    yield "struck", f"~~{value.value + 3 * step_of(value):g}~~ {shown}"
    yield "exactly", f"exactly {shown}"
    yield "rounded", f"{shown} (rounded)"
    yield "rounded", f"{shown}, rounded as asked"
    yield "it comes to", f"It comes to {shown}."
    yield "there", f"That makes {shown}"
    yield "instead", f"{shown} instead of {value.value + 7 * step_of(value):g}"
    yield "wide digits", text.translate({ord("0") + digit: chr(0xFF10 + digit) for digit in range(10)})
    yield "minus", text.replace("-", "\u2212") if value.value < 0 else None
    yield "comma", text.replace(".", ",") if "." in text and len(text.partition(".")[2]) != 3 else None
    yield "answer is", f"{field.name.replace('_', ' ').capitalize()}: {shown}"
    yield "is", f"The {field.name.replace('_', ' ')} is {shown}."
    if _is_total(field) and value.value > 0:
        yield "together", f"The two have {shown} together"
        yield "together", f"{shown} together"
        yield "together", f"{shown} altogether"
        yield "together", f"{shown} combined"
        yield "together", f"{shown} in all"
        yield "together", f"a total of {shown}"
        yield "together", f"All together: {shown}"
        yield "together", f"They add up to {shown}."
    if re.search(r"\beach\b", f"{field.meaning} {field.name}"):
        yield "each", f"{shown} each"
    if isinstance(value, Integer) and 1000 <= value.value < 10**6:
        yield "spelled", _thousands(value.value)
    if isinstance(value, Number):
        yield from _other_units(value)
    if isinstance(value, Money) and value.decimals == 2:
        yield "code glued", f"{value.unit}{text}"
        yield "code in brackets", f"{text} ({value.unit})"
        yield "dash", f"{grouped(text.removesuffix('.00'), ',', '.')}.– {value.unit}" if text.endswith(".00") else None


def _other_units(value: Number) -> Iterator[Way]:
    number, unit = value.value, value.unit
    if unit == "km":
        yield "miles", f"{number / 1.609344:.4f} miles"
        yield "both", f"{value.given()} km ({number / 1.609344:.2f} mi)"
    elif unit == "°C":
        yield "fahrenheit", f"{number * 1.8 + 32:.2f} °F"
        yield "both", f"{value.given()} °C ({number * 1.8 + 32:.1f} °F)"
    elif unit == "°F":
        yield "celsius", f"{(number - 32) / 1.8:.2f} °C"
        yield "both", f"{value.given()} °F / {(number - 32) / 1.8:.1f} °C"
    elif unit == "kcal" and number > 0:
        yield "joule", f"{number * 4.184:.1f} kJ"
        yield "calories", f"{value.given()} calories"
        yield "calories", f"{value.given()} Cal"
    elif unit in ("min", "minutes") and number > 1:
        minutes, seconds = divmod(round(number * 60), 60)
        yield "minutes and seconds", f"{minutes} min {seconds} s"
        yield "minutes and seconds", f"{minutes} minutes and {seconds} seconds"
        yield "clock", f"{minutes}:{seconds:02} min"
        yield "hours", f"{number / 60:.4f} hours"
    elif unit in ("g", "mg"):
        yield "other weight", f"{number * 1000:.10g} mg" if unit == "g" else f"{number / 1000:.10g} g"


def _wrong_figure(field: Field, value: Number | Integer | Money) -> Iterator[Way]:
    shown, step = _with_unit(value), step_of(value)
    other = f"{value.value + 3 * step:.10g}" if not isinstance(value, Money) else f"{value.value + 3 * step:.2f}"
    yield "struck", f"~~{shown}~~ {other} {value.unit}".strip()
    yield "struck out", f"~~{shown}~~"
    yield "instead", f"{other} instead of {shown}"
    yield "other and this", f"{other}, up from {shown}"
    yield "was", f"It was {shown} and is {other} now"
    if value.value > 0:
        yield "twice", f"twice {shown}"
        yield "half of", f"half of {shown}"
        yield "double", f"double {shown}"
        yield "times", f"2 × {shown}"
        yield "times", f"{shown} times two" if value.value != 2 else None
        yield "more", f"{shown} more" if not _APART.search(f"{field.meaning} {field.name}") else None
        yield "above", f"a bit over {shown}"
        yield "short of", f"just short of {shown}"
        yield "million", f"{shown} million" if not value.unit else f"{figure(value)} million {value.unit}"
        yield "a range", f"from {figure(value)} to {other}"
        yield "plus minus", f"{figure(value)} ± {2 * step:.3g}"
        yield "and", f"{figure(value)} and {other}"
        yield "sum to another", f"{figure(value)} + 1 = {value.value + 1:.10g}" if step < 0.9 else None
    if _is_total(field) and value.value > 0:
        yield "each", f"{shown} each"
        yield "each", f"{shown} apiece"
        yield "each", f"{shown} per person"
        yield "each", f"each has {shown}"
        yield "each", f"{shown} for each of them"
        yield "on average", f"{shown} on average"
    if isinstance(value, Number) and value.unit == "km":
        yield "miles", f"{value.given()} miles"
        yield "both, one wrong", f"{value.given()} km ({value.value / 2.2:.2f} mi)"
    if isinstance(value, Number) and value.unit in ("min", "minutes"):
        yield "hours", f"{value.given()} hours"
        yield "seconds", f"{value.given()} seconds"
    if isinstance(value, Number) and value.unit == "kcal":
        yield "per", f"{value.given()} kcal per 100 g"


# --- names ---------------------------------------------------------------------------------------------------------


_VERBS = {"by car": ("He drives", "They drive", "They take the car", "She goes by car", "It's a drive", "driving"),
          "on foot": ("He walks", "They walk", "Walking", "They go on foot", "It's a walk")}  # fmt: skip


def _right_called(field: Field, value: Name | Choice, rng: Random) -> Iterator[Way]:
    name = value.value
    yield from _shown(name)
    label = field.name.replace("_", " ")
    yield "label", f"{label.capitalize()}: {name}"
    yield "is", f"The {label} is {name}."
    yield "it is", f"{name} it is"
    yield "it is", f"{name}, that is the one"
    yield "wins", f"My answer: {name}"
    yield "exclaimed", f"{name}!"
    yield "link", f"[{name}](https://example.org/1)"
    yield "footnote", f"{name} [1]"
    yield "footnote", f"{name}¹"
    yield "key", {field.name: name}
    yield "clause", f"I looked it up: {name}"
    yield "clause", f"As far as the tools say, it is {name}"
    yield "clause", f"After comparing them, it is {name}"
    yield "clause", f"It turns out to be {name}"
    yield "ampersand", name.replace(" and ", " & ") if " and " in name else None
    yield "street", re.sub(r"\bRd\b", "Road", re.sub(r"\bSt\b", "Street", name)) if re.search(r"\d", name) else None
    yield from ((f"clause of {name}", said) for said in _VERBS.get(name, ()))
    others = value.others if isinstance(value, Name) else [option for option in value.options if option != name]
    aliases = value.aliases
    others = [other for other in others if not alike(other, (name, *aliases))]
    for other in rng.sample(list(others), min(2, len(others))):
        yield "struck", f"~~{other}~~ {name}"
        yield "instead of", f"{name} instead of {other}"
        yield "rather", f"not {other}, but {name}"
        yield "first thought", f"At first I thought {other}, but it is {name}."
    if isinstance(value, Name) and (user := next((one for one in (name, *aliases) if one.startswith("u/")), "")):
        yield "user", f"https://www.reddit.com/user/{user[2:]}"
        yield "user", f"the user {user[2:]}"
        yield "user", f"user {user}"
    for alias in aliases:
        if re.fullmatch(r"[A-Z]{2,5}", alias) or re.fullmatch(r"[A-Z]{2,5}", name):
            yield "ticker", f"{name} ({alias})"
            yield "ticker", f"{name} / {alias}"
            yield "ticker", f"${alias}" if alias.isupper() else f"${name}"
            yield "ticker", f"{alias} – {name}"


def _wrong_called(value: Name | Choice, rng: Random) -> Iterator[Way]:
    name = value.value
    others = value.others if isinstance(value, Name) else [option for option in value.options if option != name]
    others = [other for other in others if not alike(other, (name, *value.aliases))]
    yield "struck out", f"~~{name}~~"
    yield "anywhere but", f"any of them but {name}"
    yield "could be", f"It could be {name}"
    yield "second", f"{name} comes second"
    yield "not the one", f"{name} is not the one"
    yield "wrong", f"{name} is wrong"
    yield "ruled out", f"I ruled out {name}"
    yield "none", f"none, as {name} does not fit"
    for other in rng.sample(list(others), min(3, len(others))):
        yield "struck", f"~~{name}~~ {other}"
        yield "instead of", f"{other} instead of {name}"
        yield "rather", f"not {name}, but {other}"
        yield "first thought", f"At first I thought {name}, but it is {other}."
        yield "ahead of", f"{other}, ahead of {name}"
        yield "and", f"{name} and {other}"
        yield "closely", f"{other}, closely followed by {name}"
        yield "correct", f"{name} (correction: {other})"
        yield "neither", f"neither {name} nor {other}"
        yield "verb", next(iter(_VERBS.get(other, ())), None)


def _right_yes_no(value: YesNo) -> Iterator[Way]:
    if value.value:
        forms = (
            "Yes.",
            "Yes!",
            "yep",
            "Yeah",
            "Affirmative",
            "TRUE",
            "Yes — it does",
            "It is.",
            "It does.",
            "👍",
            "Y",
            "yes ✅",
        )
    else:
        forms = (
            "No.",
            "No!",
            "nope",
            "Nah",
            "Negative",
            "FALSE",
            "No — it does not",
            "It is not.",
            "It does not.",
            "👎",
            "N",
            "no ❌",
        )
    for form in forms:
        yield "said", form
    yield "shown", f"\\boxed{{{'yes' if value.value else 'no'}}}"
    yield "shown", f"Final answer: **{'Yes' if value.value else 'No'}**"


# --- days and times ------------------------------------------------------------------------------------------------


def _right_day(day: date) -> Iterator[Way]:
    yield from (way for way in _shown(day.isoformat()) if way[0] != "block quote")
    yield "struck", f"~~{day.replace(day=day.day % 28 + 1).isoformat()}~~ {day.isoformat()}"
    yield "the", f"{day:%B} the {ordinal(day.day)}, {day.year}"
    yield "on", f"on {day:%A} the {ordinal(day.day)} of {day:%B} {day.year}"
    yield "short year", f"{day.day} {day:%b} ’{day:%y}"
    yield "weekday behind", f"{day.isoformat()} ({day:%A})"
    yield "weekday behind", f"{day.day} {day:%B} {day.year}, a {day:%A}"
    yield "starts", f"It starts on {day.day} {day:%B} {day.year}"
    yield "time", f"{day.isoformat()} 00:00:00"
    yield "points", f"{day.year}.{day.month:02}.{day.day:02}"


def _wrong_day(day: date) -> Iterator[Way]:
    for said in (
        "until",
        "by",
        "since",
        "on or after",
        "no later than",
        "the day after",
        "the day before",
        "a week after",
    ):
        yield "bound", f"{said} {day.isoformat()}"
    other = day.replace(day=day.day % 28 + 1)
    yield "struck", f"~~{day.isoformat()}~~ {other.isoformat()}"
    yield "two", f"{day.isoformat()} and {other.isoformat()}"
    yield "instead", f"{other.isoformat()} instead of {day.isoformat()}"
    yield "onwards", f"from {day.isoformat()} onwards"


def _right_clock(value: Time) -> Iterator[Way]:
    hours, minutes = map(int, value.value.split(":"))
    yield from (way for way in _shown(value.value) if way[0] != "block quote")
    yield "at about", f"at {value.value} sharp"
    half = "in the morning" if hours < 12 else "in the afternoon" if hours < 18 else "in the evening"
    yield "day", f"{hours % 12 or 12}:{minutes:02} {half}" if hours else None
    names = {30: "half past", 0: "", 15: "quarter past", 45: "quarter to"}
    if minutes in names and hours and value.zone != "UTC":
        hour = hours + 1 if minutes == 45 else hours
        yield "spoken", f"{names[minutes]} {spelled(hour % 12 or 12)} {half}".strip() if minutes else None
    if value.zone == "UTC":
        yield "utc before", f"UTC {value.value}"
        yield "utc", f"{value.value} (UTC)"
        yield "utc", f"{value.value} UTC+0"
        yield "zulu", f"{value.value} Zulu"
        yield "offset", f"{(hours + 2) % 24:02}:{minutes:02} UTC+2"
        yield "offset", f"{(hours + 9) % 24:02}:{minutes:02} JST"
        yield "offset", f"{(hours - 4) % 24:02}:{minutes:02} EDT"


def _wrong_clock(value: Time) -> Iterator[Way]:
    hours, minutes = map(int, value.value.split(":"))
    yield "struck", f"~~{value.value}~~ {(hours + 1) % 24:02}:{minutes:02}"
    for said in (
        "by",
        "until",
        "since",
        "no later than",
        "an hour before",
        "an hour after",
        "ten minutes past",
        "from",
    ):
        yield "bound", f"{said} {value.value}"
    if value.zone == "UTC":
        yield "zone", f"{value.value} UTC+2"
        yield "zone", f"{value.value} PST"
        yield "zone", f"{value.value} Berlin time"
        yield "offset", f"{(hours + 2) % 24:02}:{minutes:02} UTC-2"
