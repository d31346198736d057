"""Numbers, counts and sums of money.

Tolerance: a number may differ by `within`; it may be rounded to the decimals that are asked for; and whoever rounds
further on their own is right as long as the value is correctly rounded and not off by more than half a percent. Counts
are exact. Money is exact to the cent unless other decimals are asked for. Units convert; currencies do not. When a
value is given twice, in two units, both must be right. A range is no number.
"""

import math
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import lru_cache
from math import fsum, prod
from operator import eq
from typing import Literal, TypeAlias

from m3bench.tasks.answers.base import JSON, AnswerContext, Value, as_text, hedge, is_nothing
from m3bench.tasks.answers.numerals import Quantity, UnitOfMeasure, convert, known, plain, quantities, unit_of
from m3bench.tasks.answers.places import one_coordinate
from m3bench.tasks.answers.spelling import vocabulary, words_of
from m3bench.tasks.answers.statements import About, answered, concluded, heads, kept, opposites, without_lead
from m3bench.tasks.facts import Fact
from m3bench.tasks.folding import fold

Near: TypeAlias = Callable[[float, float], bool]
"""Whether a value, known to half of its last digit, is the right one."""

ROUNDED = 0.005
"""The share by which a value that was rounded without being asked to may differ."""

_BOUNDS = re.compile(
    r"\b(?:less|more|fewer|greater|lower|higher) than\b|^\s*(?:starting )?from\s*(?:$|.*\bup(?:wards)?$)|"
    r"(?<!add )(?<!adds )\bup to\b|"
    r"\b(?:under|over|below|above|between|at least|at most|"
    r"upwards|minimum of|maximum of|almost|nearly)\b|[<>≤≥±]|^\s*\+"
)
_SEA_LEVEL = re.compile(r"\babove (?:mean )?sea level\b|\b(?:a\.s\.l\.|asl|amsl)(?!\w)")
_OPPOSITE = re.compile(r"\b(?:short|off|too (?:much|many|few|little)|overdrawn|in debt|in the red)\b")
"""Words of somebody who says that it is the other way round."""
_LEFT_OVER = re.compile(r"\b(?:left(?: over)?|surplus|over|too much|to spare|remaining)\b")
_EITHER_WAY = re.compile(r"\bleft(?: over)? or missing|missing or left\b")
_OF_ALL = re.compile(r"\b(?:in all|in total|all told)\b")
_FOR_EACH_ASKED = re.compile(r"\b(?:what each|each of|for each|share|apiece)\b")
_FOR_ALL, _ALL_ASKED = (
    re.compile(r"\bfor (?:all|the lot|everyone|everybody)\b"),
    re.compile(r"\b(?:all|total|together)\b"),
)
_OF_ONE = re.compile(r"\b(?:for|of) the (?:first|second|third|last|other|former|latter)\b(?!\s+(?:time|of all))")
_OF_WHAT = re.compile(r"^\W*(?:\w+\s+){0,2}?(?:for|of)\s+(?:the\s+)?(?P<what>[^,;()]+)")
_A_TIME = re.compile(
    r"(?<!of )(?<!half )\b(?:a|an|per|every|each) (?:second|minute|hour|day|night|week|month|year)\b|"
    r"\bper (?:ounce|oz|pound|lb|kilo|kg|gram|g|litre|liter|100 g)\b"
)
_REPLIES, _SCORES = re.compile(r"\b(?:comment|repl(?:y|ie))s?\b"), re.compile(r"\b(?:score|point|(?:up)?vote)s?\b")
"""What people leave under a post, and what they give it: a number is of the one or of the other."""
_TIMES_AS_MUCH = re.compile(
    r"\b(?:again|each way|one way|both ways|twice(?=\s{2}|\s(?:as|the|that|of)\b)|double|thrice|triple|"
    r"half (?:of|as)|short of|less than|factor of|a fraction of|almost|nearly)\b"
)
"""What makes another number of the one behind it."""
_OF_EACH = re.compile(
    r"\b(?:each|apiece|per (?!the |google|our |its |this |these |my |request|wikipedia)\w+|"
    r"for (?:each|every)|a (?:share|person|piece|head|night|day|month|year))\b"
)
_ON_AVERAGE = re.compile(r"\b(?:on average|average|mean|median)\b")
_MORE = re.compile(r"\b(?:more|less|fewer|extra|additional)\s*[.!]?$")
_TOGETHER = re.compile(r"\b(?:together|all|total|both|altogether|sum)\b")
_ONE_OF_MANY = re.compile(
    r"\b(?:each|every|per|one|single|average|mean|share|a (?:person|piece|head|night|day|month|year))\b"
)
_APART = re.compile(r"\b(?:more|less|difference|apart|left|missing|over|under|extra|than|longer|higher|further)\b")
_SO_MANY = re.compile(
    r"\b(?:the|these|those|all|both)\s+(?:two|three|four|five|six|seven|eight|nine|ten|\d{1,2})\b"
    r"(?=\s+(?:[a-z]+\s+){0,2}(?:have|has|had|cost|weigh|are|were|come|add|make|take|get|got)\b)",
    re.IGNORECASE,
)
"""How many things a sum is of: no part of the sum."""
_ASIDE = re.compile(r"\s*\((?:[^()\d]*\b(?:tax|vat|shipping|postage|delivery|fees?|tips?)\b[^()\d]*)\)\s*$")
"""What a price goes without or comes with."""
_WORKINGS = re.compile(r"^(?P<head>[^()]*\w[^()]*?)\s*\((?P<aside>[^()]*)\)\.?$")
_COMPARED = re.compile(
    r"(?<=\w)\s*[,;(–—-]\s*(?:(?:so|which is|thus|and so|that is|hence)\s+)?(?:no more than|not more than|not over|"
    r"over|under|above|below|more than|less than|within|beyond)\s+(?:the\s+(?:limit|budget)\s+of\s+)?"
    r"[$€£]?\d[\d.,]*\s*\w*\)?\.?$",
    re.IGNORECASE,
)
"""What a number behind which it stands is compared with."""
_BEFORE_THAT = re.compile(
    r"\s*\((?:(?:down|reduced|up) from|over|under|above|below|within) [^()]*\)\.?$|"
    r"\s*\((?:was|instead of|formerly|before:?) [^()]*\d[^()]*\)\.?$",
    re.IGNORECASE,
)
"""What something cost before, and what it is compared with."""
_SUMMED = re.compile(r"(?:\b|_)(?:together|altogether|total|added up|that many|whole)\b")
_SHARED_OUT = re.compile(r"\b(?:pays?|part|divided)\b|(?:\b|_)per(?:\b|_)")
_FOR_ONE = re.compile(r"(?<!of )(?<!for )\b(?:each|apiece|per (?:pack|share|piece|item|unit|book|copy|head))\W*$")
"""What makes a number that of one thing where a sum was asked for."""
_ALL_OF_IT = re.compile(r"\b(?:all (?:the|of|those|these)|whole|entire)\b")
_OF_EACH_ASKED = re.compile(
    r"\b(?:each|every|per|share|average|mean|apiece|one|a (?:person|piece|head|night|day|month|year))\b"
)
_OF_SO_MANY = re.compile(
    r"\bof (?:the|all|these|those) (?:two|three|four|five|six|seven|eight|nine|ten|\d{1,2})\b", re.IGNORECASE
)
_WOULD_NOT = re.compile(
    r"^(?:and )?not \S+$|\d\S* (?:would|will|is|was|are|were|does|do)(?:n't| not|.*\btoo \w+)\b", re.IGNORECASE
)
_LESS = re.compile(
    r"\d\s*\w*\s+(?:less|minus|before|without)\s+(?:the\s+)?(?:tax|vat|shipping|postage|fees?|discount)\b"
)
"""What makes another sum of the one before it."""
_PERIODS = re.compile(r"\b(?:second|minute|hour|day|evening|meal|dai|night|week|month|year)(?:ly|s)?\b")
_AND_A_PART = re.compile(r"\b(\d+) (hours?|days?|weeks?|months?|years?) and a (half|quarter)\b")
_MINUTES = {"a quarter of": 15, "quarter of": 15, "half": 30, "half of": 30, "3 quarters of": 45}
_OF_AN_HOUR = re.compile(rf"\b({'|'.join(sorted(_MINUTES, key=len, reverse=True))}) an hour\b")
_PART_OF_ONE = {"half": "5", "quarter": "25"}
_SCALE = re.compile(r"\bout of (\d+)\b")
_OUT_OF = re.compile(r"(?:/|\bout of|\bof)\s?(?P<scale>5|10|100)(?:\.0)?(?:\s?(?:stars?|points?))?\b(?!\d| \d{3}\b)")


class Number(Value):
    """A number."""

    SHOWN = ("unit", "decimals")

    type: Literal["number"] = "number"
    unit: str = ""
    """What it is counted in: `km`, `°C`, `%`, `kcal`; any word."""
    decimals: int | None = None
    """The decimals that are asked for."""
    value: float
    within: float = 0.0

    @property
    def described(self) -> str:
        """The type in words."""
        rounded = "" if self.decimals is None else f"{self.decimals} decimals" if self.decimals else "whole"
        return ", ".join(part for part in (self.kind, self.unit, rounded) if part)

    def problem(self, given: JSON, asked: AnswerContext) -> str | None:
        """Why it is not the number."""
        return _problem(given, self.unit, self._near, asked, self.value)

    def _near(self, value: float, half: float) -> bool:
        off = abs(value - self.value)
        slack = 1e-9 * max(1.0, abs(self.value))
        asked = 0.0 if self.decimals is None else 0.5 * 10.0**-self.decimals
        return off <= max(self.within, asked, min(half, ROUNDED * abs(self.value))) + slack

    def given(self) -> JSON:
        """The number, rounded as asked."""
        shown = self.value if self.decimals is None else round(self.value, self.decimals)
        return int(shown) if shown == int(shown) else float(f"{shown:.10g}")

    def said(self) -> str:
        """The number and its unit."""
        return f"{self.given()} {self.unit}".strip()

    def facts(self) -> Iterator[Fact]:
        """The number itself."""
        yield self.value


class Integer(Value):
    """A count or another whole number."""

    SHOWN = ("unit",)

    type: Literal["integer"] = "integer"
    unit: str = ""
    value: int

    @property
    def described(self) -> str:
        """The type in words."""
        return f"integer, {self.unit}" if self.unit else "integer"

    def problem(self, given: JSON, asked: AnswerContext) -> str | None:
        """Why it is not the number."""
        return _problem(
            given,
            self.unit,
            lambda value, _: abs(value - self.value) <= 1e-9 * max(1, abs(self.value)),
            asked,
            self.value,
        )

    def given(self) -> JSON:
        """The number."""
        return self.value

    def said(self) -> str:
        """The number and its unit."""
        return f"{self.value} {self.unit}".strip()

    def facts(self) -> Iterator[Fact]:
        """The number itself."""
        yield float(self.value)


class Money(Value):
    """A sum of money, or an amount of a coin."""

    SHOWN = ("unit", "decimals")

    type: Literal["money"] = "money"
    unit: str
    """The currency's code."""
    decimals: int = 2
    value: float
    within: float = 0.0

    @property
    def described(self) -> str:
        """The type in words."""
        return f"money, {self.unit}"

    def problem(self, given: JSON, asked: AnswerContext) -> str | None:
        """Why it is not the sum."""
        return _problem(given, self.unit, self._near, asked, self.value)

    def _near(self, value: float, half: float) -> bool:
        return abs(value - self.value) <= max(self.within, 0.5 * 10.0**-self.decimals) + 1e-9 * max(
            1.0, abs(self.value)
        )

    def given(self) -> JSON:
        """The sum."""
        return round(self.value, self.decimals)

    def said(self) -> str:
        """The sum and its currency."""
        return f"{self.value:.{self.decimals}f} {self.unit}"

    def facts(self) -> Iterator[Fact]:
        """The number itself."""
        yield self.value


def _problem(given: JSON, unit: str, near: Near, asked_for: AnswerContext, value: float) -> str | None:
    if is_nothing(given):
        return "nothing was given"
    if isinstance(given, int | float) and not isinstance(given, bool):
        if not math.isfinite(given):
            return "it is not a number"
        half = 0.5 * 10.0 ** -len(repr(given).partition(".")[2]) if isinstance(given, float) else 0.5
        return None if near(float(given), half) else f"{given} is not right"
    answer = answered(as_text(given))
    said = kept(concluded(answer) if quantities(plain(concluded(answer))) else answer)[0]
    problem = _said_problem(said, unit, near, asked_for, value)
    if problem is None:
        return None
    asked = unit_of(unit) or _counted_in(asked_for.words)
    about = _about(asked_for.words, asked, whole=value == int(value))
    said = plain(said)
    for head in heads(said, about):
        beside = said[len(head) :]
        if (
            not _BOUND_BEHIND.search(beside)
            and not (_A_TIME.search(head) and quantities(beside))
            and _said_problem(head, unit, near, asked_for, value) is None
            and not any(_of_another(rest, asked_for) for rest in (beside, _NUMERALS.sub(" ", beside)))
        ):
            return None
    return problem


_BOUND_BEHIND = re.compile(
    r"\b(?:at (?:least|most)|(?:or|and) (?:more|less|up|above|below)|minimum|maximum|only|upwards)\b|\d\s*\+|"
    r"^\W*(?:out )?of \d|^\W*(?:than|less|more|fewer|lower|higher)\b"
)
_LEADS_TO = re.compile(r"=>?|≈|→|⇒|->|\b(?:makes?|gives?|equals?|totals)\b")
_COMPARES = re.compile(r"(?:so )?(?:not )?(?:above|below|over|under|more than|less than)\b")
_A_CURRENCY = re.compile(r"\d ?([A-Z]{3})\b|\b([A-Z]{3}) ?\d")
_JUST = re.compile(r"\bjust (?:under|over|below|above)\b")
_NUMERALS = re.compile(r"[$€£]?\d[\d.,]*")


@lru_cache(maxsize=64)
def _about(words: str, asked: UnitOfMeasure | None, *, whole: bool) -> About:
    """What is known of a number when what is said around it is read."""

    def unlike(text: str) -> bool:
        found = quantities(plain(text))
        if (
            whole
            and asked is None
            and found
            and all(value != int(value) for quantity in found for value, _ in quantity.readings)
        ):
            return True
        kinds = [{unit.kind for unit in known().get(quantity.unit, ())} for quantity in found]
        return bool(found) and all(kind and (asked is None or asked.kind not in kind) for kind in kinds)

    name = words.partition(" ")[0]
    return About(
        asked=frozenset(words_of(words.replace("_", " "))),
        known=frozenset(words_of(name.replace("_", " "))),
        unlike=unlike,
    )


def _said_problem(said: str, unit: str, near: Near, asked_for: AnswerContext, value: float) -> str | None:
    """Why a text is not the number; None when it is, and says nothing else."""
    said = _SO_MANY.sub(" ", said)
    said = _BEFORE_THAT.sub("", _COMPARED.sub("", _without_workings(said, value)))
    led = without_lead(said, asked_for.words)
    text = plain(said if re.search(r"\d", said[: -len(led) or None]) else led)
    if not quantities(text):
        # "two people were …" leads to no number: it is in the lead.
        text = plain(said)
    if not text:
        return "it is not a single number"
    parts = [part.strip() for part in _LEADS_TO.split(text)]
    text = next((part for part in reversed(parts) if re.search(r"\d", part) and not _COMPARES.match(part)), text)
    if any(fold(code) not in known() for pair in _A_CURRENCY.findall(said) for code in pair if code and value):
        return "it is another currency"
    if near(value * 1.009, 0.0):
        text = _JUST.sub(" ", text)
    asked = unit_of(unit) or _counted_in(asked_for.words)
    text = _in_its_form(_SEA_LEVEL.sub(" ", _ASIDE.sub("", text)), asked, asked_for.words.lower())
    if value > 0 and (asked is None or asked.kind != "temperature"):
        text = re.sub(r"^-\s+(?=\S)", "", text)
    if unit == "USD" and "usdt" in asked_for.words.lower():
        text = re.sub(r"\b(?:usdt|tether)\b", "usd", text)
    found = quantities(text, millions=asked is None or asked.kind != "length")
    if asked is not None and asked.kind.isupper():
        found = [_in_thousands(quantity, text) for quantity in found]
    if not found:
        return f"there is no number in {said[:60]!r}"
    rest = _rest(text, found)
    if asked is not None and asked.kind.isupper() and _LESS.search(text):
        return "it is not the whole sum"
    if any(quantity.joined for quantity in found):
        return "a range is not a number"
    other = _of_another(rest, asked_for) or (
        _counts_others(text, found, unit, asked_for.words.lower()) if unit and unit_of(unit) is None else None
    )
    if other or (asked is None and (other := _of_another_kind(found, asked_for.words.lower()))):
        return f"it is another amount: {other!r}"
    bound = _BOUNDS.search(rest)
    doubt = bound[0] if bound else hedge(re.sub(r"\bno\b\.?", "", rest))
    if doubt:
        return f"it is not a plain number: {doubt!r}"
    if re.search(r"\d", rest):
        return "it is more than one number"
    if _FELL.search(rest) and _CHANGE.search(asked_for.words.lower().replace("_", " ")):
        if value > 0:
            return "it is a fall"
        found = [
            replace(quantity, readings=tuple((-abs(each), half) for each, half in quantity.readings))
            for quantity in found
        ]
    if {rival.lower() for rival in asked_for.rivals} & {quantity.unit for quantity in found if quantity.unit}:
        return "it is of another one"
    right = [_right(quantity, asked, near) for quantity in found]
    for quantity, fits in zip(found, right, strict=True):
        if not fits and not (any(right) and _is_rounded(quantity, asked, value)):
            return f"{text[quantity.start : quantity.end].strip()!r} is not right"
    return None


_PARTS = {
    "half": 2, "third": 3, "quarter": 4, "fourth": 4, "fifth": 5, "sixth": 6, "seventh": 7, "eighth": 8, "ninth": 9,
    "tenth": 10,
}  # fmt: skip
_PART_OF = re.compile(rf"\b(?:a|one|1)\s+({'|'.join(_PARTS)})\s+of\b|\bhalf\s+of\b", re.IGNORECASE)


def _without_workings(text: str, value: float) -> str:
    """A text without a bracket behind the number that says how it came about, or which other number it is not."""
    match = _WORKINGS.match(text)
    if match is None:
        return text
    aside = _OF_SO_MANY.sub(" ", match["aside"])
    found = quantities(plain(aside))
    parts = [quantity.readings[-1][0] for quantity in found]  # as thousands where a mark may be either
    if hedge(re.sub(r"\bnot\b|n't\b", "", aside)) or _BOUNDS.search(aside.lower()):
        return text
    if not parts:
        return match["head"] if aside != match["aside"] else text
    share = _PART_OF.search(aside)
    if (
        share
        and len(parts) == 1
        and abs(parts[0] / _PARTS[(share[1] or "half").lower()] - value) <= 0.005 * max(1.0, abs(value))
    ):
        return match["head"]
    results = [fsum(parts), prod(parts), fsum(quantity.readings[0][0] for quantity in found)]
    if len(parts) == 2:
        results += [parts[0] - parts[1], parts[1] - parts[0], *([parts[0] / parts[1]] if parts[1] else [])]
    came = len(parts) > 1 and any(abs(result - value) <= 0.005 * max(1.0, abs(value)) for result in results)
    return match["head"] if came or (_WOULD_NOT.search(aside) and value not in parts) else text


def _of_another(rest: str, asked_for: AnswerContext) -> str | None:
    """The words beside a number that say that it is not of what was asked for, but of a part or a multiple of it."""
    asked, beside = _OF_EACH_OF_THOSE.sub(" ", asked_for.words.lower()), words_of(rest)
    known_asked = set(words_of(asked.replace("_", " ")))
    apart = {"more", "less", "fewer"} if _APART.search(asked) else set()
    other = next((word for word in beside if word in opposites(known_asked) - apart), None) or _of_a_rival(
        rest, asked_for
    )
    if other:
        return other
    if _EITHER_WAY.search(asked):
        wrong_way = _OPPOSITE if asked_for.enough else _LEFT_OVER
        found = None if asked_for.enough is None else wrong_way.search(rest)
        return found[0] if found else None
    if beside and beside[-1].endswith("er") and opposites({beside[-1]}) and not _APART.search(asked):
        return beside[-1]
    found = _OF_ALL.search(rest) if _FOR_EACH_ASKED.search(asked) and not _TOGETHER.search(asked) else None
    found = found or (None if _ALL_ASKED.search(asked) else _FOR_ALL.search(rest)) or _OF_ONE.search(rest)
    if found and found[0] not in asked:
        return found[0]
    found = _TIMES_AS_MUCH.search(rest) or _OPPOSITE.search(rest)
    if found is None and _ALL_OF_IT.search(asked) and not _OF_EACH_ASKED.search(asked):
        found = _OF_EACH.search(rest)
    if found is None and _SUMMED.search(asked) and not _SHARED_OUT.search(asked):
        found = _FOR_ONE.search(rest)
        if found:
            return found[0]
    period = _A_TIME.search(rest)
    if found is None and period and not _ONE_OF_MANY.search(asked):
        found = period
    if found is None and period and _PERIODS.search(asked) and period[0].split()[-1] not in asked:
        return period[0]
    for mine, others in ((_REPLIES, _SCORES), (_SCORES, _REPLIES)):
        if found is None and mine.search(asked) and not others.search(asked) and not mine.search(rest):
            found = others.search(rest)
    if found is None and not _ONE_OF_MANY.search(asked):
        found = _OF_EACH.search(rest) if _TOGETHER.search(asked) else None
        found = found or _ON_AVERAGE.search(rest)
    if found is None and not _APART.search(asked):
        found = _MORE.search(rest.strip())
    return found[0] if found and found[0] not in asked else None


_OF_EACH_OF_THOSE = re.compile(r"\b(?:of|for|from) each of (?:those|these|them)\b(?=[^.]*\btogether\b)")
"""What a sum is of."""
_COUNTED = frozenset({"words", "lines", "chapters", "reams", "nights", "people"})
"""What is counted, and seldom asked for."""


def _counts_others(text: str, found: Sequence[Quantity], unit: str, asked: str) -> str | None:
    """Another of the question's nouns behind a number than what it is counted in: pages where sheets are asked for."""
    nouns = _COUNTED | {word for word in words_of(asked) if len(word) > 4 and word.endswith("s")}
    for quantity in found:
        noun = re.match(r"\s*([a-z]+)\b", text[quantity.end :])
        if noun and noun[1] in nouns and not noun[1].startswith(unit.rstrip("s")) and unit not in ("", noun[1]):
            return noun[1]
    return None


def _of_a_rival(rest: str, asked_for: AnswerContext) -> str | None:
    """Another thing of the task that a number is said to be of: "3 shares of DIS"."""
    of = _OF_WHAT.search(rest)
    if of is None or not asked_for.rivals:
        return None
    words = words_of(of["what"])
    return next((name for name in asked_for.rivals if all(map(eq, words_of(name), words))), None) if words else None


def _in_its_form(text: str, asked: UnitOfMeasure | None, words: str) -> str:
    """A text as numbers with units: what it is out of, minutes on a stopwatch, kelvins and the sides of the globe."""
    told = _SCALE.search(words)
    scale = told[1] if told else "5" if "stars" in words else None
    text = _OUT_OF.sub(lambda found: " " if scale is None or found["scale"] == scale else found[0], text)
    if asked is None:
        return text
    if asked.kind == "time":
        text = re.sub(r"^(\d{1,3}):([0-5]\d)$", r"\1 min \2 s", text.strip())
        text = re.sub(r"^(\d{1,2}):([0-5]\d) ?h(?:ours)?$", r"\1 h \2 min", text)
        text = re.sub(r"^(\d{1,2}):([0-5]\d):([0-5]\d)(?: ?h)?$", r"\1 h \2 min \3 s", text)
        text = re.sub(r"(?:^|(?<=\band )|(?<=\babout ))an? (?=(?:hour|minute|day|week|month|year)\b)", "1 ", text)
        text = _OF_AN_HOUR.sub(lambda found: f"{_MINUTES[found[1]]} min", text)
        text = _AND_A_PART.sub(lambda found: f"{found[1]}.{_PART_OF_ONE[found[3]]} {found[2]}", text)
    if asked.kind in vocabulary().currencies:
        text = re.sub(r"^(\d{1,3}) (\d\d)(?=$| [a-z(])", r"\1.\2", text)
    if asked.kind == "temperature":
        text = re.sub(r"^\+(?=\d)", "", text.strip())
        text = re.sub(r"(?<=\d)\s?k\b", " kelvin", text)
    if asked.kind == "angle" and (axis := next((name for name in ("latitude", "longitude") if name in words), None)):
        text = one_coordinate(text, axis) or text
    return text


def _counted_in(words: str) -> UnitOfMeasure | None:
    """The unit of time that a question without a unit names: `days`, "how many hours"."""
    name = re.match(r"[a-z]+(?=[_ ])", words)
    many = re.search(r"\bhow many (?:full |whole )?([a-z]+)\b", words)
    for found in (name and name[0], many and many[1]):
        unit = unit_of(found) if found else None
        if found and found.endswith("s") and len(found) > 3 and unit is not None and unit.kind == "time":
            return unit
    return None


_SIGNS_OF_MONEY = frozenset("$€£¥₹")
_OF_MONEY = re.compile(r"\b(?:price|prices|cost|costs|money|dollars?|euros?|pounds|worth|sum|spent|paid|usd|value)\b")
_CHANGE = re.compile(r"\b(?:growth|grew|change|changed|rise|rose|gain|gained|return)\b")
_FELL = re.compile(r"\b(?:fell|fallen|dropped|declined|decreased|lost|shrank|sank|down)\b")


def _of_another_kind(found: list[Quantity], words: str) -> str | None:
    """A unit beside a number that is to have none of its kind: a currency where coins are counted."""
    for quantity in found:
        kinds = {unit.kind for unit in known().get(quantity.unit, ())}
        if (
            (len(quantity.unit) < 2 and quantity.unit not in _SIGNS_OF_MONEY)
            or quantity.unit in words
            or kinds & {"share", *vocabulary().coins}
        ):
            continue
        if kinds and not (quantity.unit in _SIGNS_OF_MONEY and _OF_MONEY.search(words)):
            return quantity.unit
    return None


def _right(one: Quantity, asked: UnitOfMeasure | None, near: Near) -> bool:
    if asked is None and one.unit in ("%", "percent", "pct", "per cent"):
        return any(near(value / 100, half / 100) for value, half in one.readings)
    if asked is None or not one.unit or (asked.kind == "temperature" and one.unit in ("deg", "degree", "degrees", "°")):
        return any(near(value, half) for value, half in one.readings)
    for value, half in one.readings:
        inside = convert(value, one.unit, asked)
        spread = convert(value + half, one.unit, asked)
        if inside is not None and spread is not None and near(inside, abs(spread - inside)):
            return True
    return False


def _is_rounded(one: Quantity, asked: UnitOfMeasure | None, value: float) -> bool:
    """Whether a quantity beside the right one says the same in another unit, as exactly as it is written."""
    if asked is None or asked in known().get(one.unit, ()):
        return False
    for said, half in one.readings:
        inside, spread = convert(said, one.unit, asked), convert(said + half, one.unit, asked)
        if inside is not None and spread is not None and abs(inside - value) <= abs(spread - inside):
            return True
    return False


def _in_thousands(one: Quantity, text: str) -> Quantity:
    """A sum of money in which three digits behind a comma are thousands: nobody gives tenths of a cent with one."""
    written = text[one.start : one.end]
    return replace(one, readings=one.readings[-1:]) if len(one.readings) > 1 and "," in written else one


def _rest(text: str, found: list[Quantity]) -> str:
    parts, last = [], 0
    for quantity in found:
        parts.append(text[last : quantity.start])
        last = quantity.end
    return " ".join([*parts, text[last:]])
