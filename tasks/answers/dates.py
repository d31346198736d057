"""Dates and times of day.

A date is right when it is the same day, month or year, whichever is asked for; more than asked for must be right too
where it is known. `05/06/2019` is right when one of its two readings is. A weekday beside a date must be its own. A
time with a zone is converted; without one it is taken to be in the zone that is asked for.
"""

import re
from collections.abc import Callable, Iterator
from datetime import date
from typing import Literal

from m3bench.tasks.answers.base import JSON, AnswerContext, Value, as_text, hedge, is_nothing
from m3bench.tasks.answers.spelling import vocabulary
from m3bench.tasks.answers.statements import About, heads, kept
from m3bench.tasks.facts import Fact
from m3bench.tasks.folding import fold

_MONTHS = {
    word: number
    for number, words in enumerate(
        [
            "jan january januar enero janvier gennaio janeiro",
            "feb february februar febrero fevrier febbraio fevereiro",
            "mar march marz maerz marzo mars marco",
            "apr april abril avril aprile",
            "may mai mayo maggio maio",
            "jun june juni junio juin giugno junho",
            "jul july juli julio juillet luglio julho",
            "aug august agosto aout",
            "sep sept september septiembre septembre settembre setembro",
            "oct october oktober octubre octobre ottobre outubro",
            "nov november noviembre novembre novembro",
            "dec december dezember diciembre decembre dicembre dezembro",
        ],
        1,
    )
    for word in words.split()
}
_DAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
_MONTH = "(" + "|".join(sorted(_MONTHS, key=len, reverse=True)) + r")\.?"
_DAY = r"(?:the\s)?(\d{1,2})(?:st|nd|rd|th)?"
_YEAR = r"(\d{4})"
_CLOCK = r"(?:t|\s|,|at)*\d{1,2}:\d{2}(?::\d{2}(?:\.\d+)?)?\s?(?:z|utc|gmt|[ap]\.?m\.?)?(?:[+-]\d{2}:?\d{2})?"
_FORMS = (
    (re.compile(rf"(?<!\d){_YEAR}[-/.]\s?(\d{{1,2}})[-/.]\s?(\d{{1,2}})(?!\d)(?:{_CLOCK})?"), "ymd"),
    (re.compile(r"(?<!\d)(\d{4})(\d{2})(\d{2})(?!\d)"), "ymd"),
    (re.compile(rf"(?<!\d){_DAY}\.?\s*(?:of\s|de\s)?[- ]?{_MONTH}[,]?[- ]?\s*(?:de\s|del\s)?{_YEAR}(?!\d)"), "dMy"),
    (re.compile(rf"\b{_MONTH}[- ]\s*{_DAY}[,]?[- ]\s*{_YEAR}(?!\d)"), "Mdy"),
    (re.compile(rf"(?<!\d)(\d{{1,2}})[-/.]\s?(\d{{1,2}})[-/.]\s?{_YEAR}(?!\d)"), "xxy"),
    (re.compile(rf"(?<!\d){_YEAR}\s+{_MONTH}\s+{_DAY}\b"), "yMd"),
    (re.compile(rf"\b{_MONTH}[,]?\s*(?:of\s)?{_YEAR}(?!\d)"), "My"),
    (re.compile(rf"(?<!\d){_YEAR}[-/](\d{{1,2}})(?![\d/-])"), "ym"),
    (re.compile(rf"(?<![\d/.]){_YEAR}(?![\d/])"), "y"),
)


_UNITS = ["first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth"]
_ORDINALS = {
    word: f"{number}th"
    for words, start in (
        ("first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth thirteenth fourteenth "
         "fifteenth sixteenth seventeenth eighteenth nineteenth twentieth", 1),
        (" ".join(f"twenty-{unit}" for unit in _UNITS) + " thirtieth thirty-first", 21),
    )
    for number, word in enumerate(words.split(), start)
}  # fmt: skip
_SPELLED = re.compile(
    rf"\b(?:{'|'.join(sorted(_ORDINALS, key=len, reverse=True))})\b(?= (?:of )?(?:{'|'.join(_MONTHS)})|,? \d{{4}})"
)


def _unless_explained(text: str, is_wrong: Callable[[str], str | None]) -> str | None:
    """What is wrong with a text, unless it is right without what only explains it."""
    problem = is_wrong(text)
    about = About(asked=frozenset(), unlike=lambda _: False)
    return problem if problem and all(map(is_wrong, heads(text, about))) else None


class Date(Value):
    """A day, a month or a year."""

    SHOWN = ("precision",)

    type: Literal["date"] = "date"
    precision: Literal["day", "month", "year"] = "day"
    """How exact it is asked for."""
    value: str
    """As `2019-05-30`, `2019-05` or `2019`; may be more exact than what is asked for."""

    @property
    def described(self) -> str:
        """The type in words."""
        return "date" if self.precision == "day" else f"date, the {self.precision}"

    def problem(self, given: JSON, asked: AnswerContext) -> str | None:
        """Why it is not the date."""
        if is_nothing(given):
            return "nothing was given"
        said = kept(as_text(given))[0]
        return _unless_explained(said, self._is_wrong)

    def _is_wrong(self, said: str) -> str | None:
        text = _SPELLED.sub(lambda word: _ORDINALS[word[0]], fold(said))
        text = re.sub(r"(?<=[a-z .])['’](?=\d\d(?!\d))", "20", text)
        text = re.sub(r"(\d{4})年(\d{1,2})月(\d{1,2})日", r"\1-\2-\3", text)
        text = re.sub(rf"(?<!\d)(\d{{1,2}})-{_MONTH}-(\d\d)(?!\d)", r"\1 \2 20\3", text)
        found, rest = _dates(text)
        if not found:
            return f"there is no date in {text[:60]!r}"
        bound = _BOUND.search(rest)
        before = re.search(r"\bb\.?\s?c\.?(?:e\.?)?(?!\w)", rest)
        doubt = bound[0] if bound else before[0] if before else hedge(rest)
        if doubt or re.search(r"\d", re.sub(r"\b\d{1,2}:\d{2}\b", "", rest)):
            return f"it is not a plain date: {(doubt or rest.strip())[:40]!r}"
        if not all(any(self._same(reading) for reading in readings) for readings in found):
            return f"{text[:60]!r} is not the date"
        named = [number for number, day in enumerate(_DAYS) if re.search(rf"\b{day[:3]}(?:{day[3:]})?\b", rest)]
        if named and len(self.value) == 10 and named != [date.fromisoformat(self.value).weekday()]:
            return "the weekday is another"
        return None

    def _same(self, reading: tuple[int, ...]) -> bool:
        right = tuple(map(int, self.value.split("-")))
        needed = {"year": 1, "month": 2, "day": 3}[self.precision]
        return len(reading) >= needed and all(one == other for one, other in zip(reading, right, strict=False))

    def given(self) -> JSON:
        """The date, as exact as asked for."""
        return self.value[: {"year": 4, "month": 7, "day": 10}[self.precision]]

    def facts(self) -> Iterator[Fact]:
        """The date as it is written most often, or its year."""
        yield fold(str(self.given())) if self.precision != "year" else float(self.value[:4])


def _dates(text: str) -> tuple[list[list[tuple[int, ...]]], str]:
    """The dates in a folded text, each with its readings as year, month, day; and the rest of the text."""
    found: list[list[tuple[int, ...]]] = []
    for pattern, order in _FORMS:
        while match := pattern.search(text):
            found.append(_readings(match.groups(), order))
            text = f"{text[: match.start()]} {text[match.end() :]}"
    return [readings for readings in found if readings], text


def _readings(parts: tuple[str, ...], order: str) -> list[tuple[int, ...]]:
    if order == "xxy":
        return _readings(parts, "dmy") + _readings(parts, "mdy")
    values = {
        letter.lower(): _MONTHS[part] if letter == "M" else int(part) for letter, part in zip(order, parts, strict=True)
    }
    if not 1 <= values.get("m", 1) <= 12 or not 1 <= values.get("d", 1) <= 31:
        return []
    return [tuple(values[letter] for letter in "ymd" if letter in values)]


class Time(Value):
    """A time of day."""

    SHOWN = ("zone",)

    type: Literal["time"] = "time"
    zone: str = ""
    """The zone that is asked for: `UTC`, `local` or an offset such as `+02:00`; empty when there is but one."""
    value: str
    """As `14:05`, in that zone."""
    within: int = 0
    """Minutes."""

    @property
    def described(self) -> str:
        """The type in words."""
        return f"time, {self.zone}" if self.zone else "time"

    def problem(self, given: JSON, asked: AnswerContext) -> str | None:
        """Why it is not the time."""
        if is_nothing(given):
            return "nothing was given"
        said = kept(as_text(given))[0]
        return _unless_explained(said, self._is_wrong)

    def _is_wrong(self, said: str) -> str | None:
        text = _in_digits(fold(said))
        matches = list(_TIME.finditer(text))
        if not matches:
            return f"there is no time in {text[:60]!r}"
        rest = _TIME.sub(" ", text)
        bound = _BOUND.search(rest)
        doubt = bound[0] if bound else hedge(rest)
        if doubt:
            return f"it is not a plain time: {doubt!r}"
        places = [_zone_behind(text, match.end()) for match in matches]
        plain = [match for match, zone in zip(matches, places, strict=True) if not self._is_elsewhere(match, zone)]
        if not self.zone and any((match["off"] or "").startswith("-") and not match["zone"] for match in matches):
            return "a range is not a time"
        if not plain:
            return f"it is the time of another zone: {text[:60]!r}"
        if not all(self._same(match, _zone_behind(text, match.end())) for match in plain):
            return f"{text[:60]!r} is not the time"
        return None

    def _is_elsewhere(self, match: re.Match[str], zone: str) -> bool:
        """Whether a time is said to be of a zone that cannot be converted into the one asked for."""
        said = f"{match['zone'] or ''}{match['off'] or ''}"
        if self.zone == "local":
            return bool(said) or zone in ("utc", "gmt", *_ABBREVIATED)
        return self.zone != "" and zone not in ("", "utc", "gmt", *_ABBREVIATED)

    def _same(self, match: re.Match[str], place: str) -> bool:
        hours, minutes = int(match["h"]), int(match["m"] or 0)
        half = (match["half"] or "").replace(".", "")
        if half:
            hours = hours % 12 + (12 if half == "pm" else 0)
        total = hours * 60 + minutes
        offset = _offset(f"{match['zone'] or ''}{match['off'] or ''}")
        offset = _ABBREVIATED.get(place) if offset is None and place in _ABBREVIATED else offset
        wanted = _offset(self.zone.casefold())
        if offset is not None and wanted is not None:
            total += wanted - offset
        right, _, rest = self.value.partition(":")
        off = (total - int(right) * 60 - int(rest)) % 1440
        return hours < 24 and minutes < 60 and min(off, 1440 - off) <= self.within

    def given(self) -> JSON:
        """The time and its zone."""
        return f"{self.value} {self.zone}".strip() if self.zone != "local" else self.value

    def facts(self) -> Iterator[Fact]:
        """The time as written."""
        yield self.value


_TIME = re.compile(
    r"(?<![\d:])(?P<h>\d{1,2})(?:(?::|h|\.)\s?(?P<m>\d{2})(?::\d{2}(?:\.\d+)?)?|(?=\s?[ap]\.?m\b|\s?h\b|\suhr\b|\so'clock))h?"
    r"(?:\s?(?P<half>[ap]\.?m)\.?(?!\w))?(?:\s?(?P<zone>z|utc|gmt)?(?P<off>[+-]\d{1,2}(?::?\d{2})?)?(?!\w))?"
)


_ABBREVIATED = {name: round(60 * hours) for names, hours in vocabulary().zones.items() for name in names.split()}
"""Minutes that zones are ahead of UTC, by their abbreviations."""
_ZONE_BEHIND = re.compile(rf"\s*[(,]?\s*(local|{'|'.join(_ABBREVIATED)}|utc|gmt|[a-z]+(?= time\b))\b")
_BOUND = re.compile(
    r"\b(?:before|after|until|till|onwards?|past|(?:since|by|from)(?=\s{2})|prior to|"
    r"(?:later|earlier) than|at the (?:latest|earliest)|post|pre|no later)\b|"
    r"[<>≤≥]"
)


def _zone_behind(text: str, end: int) -> str:
    """The word for a zone behind a time, `local` or the name of a place; empty when there is none."""
    match = _ZONE_BEHIND.match(text, end)
    return "" if match is None or match[1] in ("the", "start", "opening", "closing", "this") else match[1]


_NAMED_HOURS = {
    "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8, "nine": 9, "ten": 10,
    "eleven": 11, "twelve": 12,
}  # fmt: skip
_SPOKEN = re.compile(
    r"\b(?:(?P<part>half past|(?:a )?quarter past|(?:a )?quarter to)\s+)?"
    rf"(?P<hour>{'|'.join(_NAMED_HOURS)}|(?<![\d:])\d{{1,2}}(?![\d:]))\b"
    r"(?P<behind>\s*o'clock|(?=\s*(?:[ap]\.?m\b|in the |at night)))?"
)
"""A time in words: "half past eight", "eleven at night"."""


def _spoken(match: re.Match[str]) -> str:
    """Such a time as clocks show it; a number alone stays as it is."""
    if not match["part"] and (match["behind"] is None or match["hour"].isdigit()):
        return match[0]
    hour = int(match["hour"]) if match["hour"].isdigit() else _NAMED_HOURS[match["hour"]]
    part = (match["part"] or "").removeprefix("a ").partition(" ")[0]
    minutes = {"half": 30, "quarter": 15, "": 0}[part]
    if (match["part"] or "").endswith("to"):
        hour, minutes = hour - 1 or 12, 45
    return f"{hour}:{minutes:02}"


_NAMED = {r"(?:\b12(?::00)?\s+)?\bmidnight\b|\b24:00\b": "00:00", r"(?:\b12(?::00)?\s+)?\b(?:noon|midday)\b": "12:00"}


_PART_OF_DAY = re.compile(
    r"(?<![\d:])((?:0?\d|1[0-2])(?::\d{2})?) (?:o'clock )?(?:in the (morning|afternoon|evening)|at (night))\b"
)


def _half_of_day(match: re.Match[str]) -> str:
    """Whether an hour is before noon: in the morning, or at night from midnight on."""
    hour = int(match[1].partition(":")[0])
    return "am" if match[2] == "morning" or (match[3] and hour < NIGHT_ENDS) else "pm"


NIGHT_ENDS = 6
"""The first hour that nobody calls night."""


def _in_digits(text: str) -> str:
    """A text with noon, midnight and the hours of soldiers as clocks show them."""
    for pattern, time in _NAMED.items():
        text = re.sub(pattern, time, text)
    text = _SPOKEN.sub(_spoken, text)
    text = _PART_OF_DAY.sub(lambda match: f"{match[1]} {_half_of_day(match)}", text)
    text = re.sub(r"^\s*([01]\d|2[0-3])([0-5]\d)\s*(utc|gmt|z)?\s*$", r"\1:\2 \3", text)
    return re.sub(r"\b([01]\d|2[0-3])([0-5]\d)\s?(?:hours|hrs)\b", r"\1:\2", text)


def _offset(zone: str | None) -> int | None:
    """Minutes that a zone is ahead of UTC; None when it does not say."""
    if not zone:
        return None
    match = re.fullmatch(r"(?:z|utc|gmt)?(?:([+-])(\d{1,2}):?(\d{2})?)?", zone)
    if match is None:
        return None
    if match[1] is None:
        return 0
    return (1 if match[1] == "+" else -1) * (int(match[2]) * 60 + int(match[3] or 0))
