"""Sets, lists and tables of values.

Each item is compared as its own type is; nothing may be missing and nothing may be added. A list has an order, a set
has none. The rows of a table are told apart by their first column. They come as JSON, or as text: lines, bullets,
commas, a Markdown table, `key: value` lines.
"""

import json
import re
from collections.abc import Iterator, Sequence
from typing import Annotated, Literal, TypeAlias

from pydantic import Field as Setting

from m3bench.tasks.answers.base import JSON, AnswerContext, Value, hedge, is_nothing
from m3bench.tasks.answers.codes import Code, Phone, Version
from m3bench.tasks.answers.dates import Date, Time
from m3bench.tasks.answers.names import Choice, Name, YesNo
from m3bench.tasks.answers.places import Coordinate, NumberPair
from m3bench.tasks.answers.quantity import Integer, Money, Number
from m3bench.tasks.answers.spelling import find, words_of
from m3bench.tasks.answers.statements import denied_behind, kept, settled, unfenced, without_lead
from m3bench.tasks.answers.text_tables import BULLET as _BULLET
from m3bench.tasks.answers.text_tables import (
    LINES,
    loose_row,
    loose_tables,
    order_of_names,
    rows_by_name,
    separated_tables,
    turned,
    unlettered,
)
from m3bench.tasks.answers.text_tables import cells as _cells
from m3bench.tasks.answers.texts import Text
from m3bench.tasks.facts import Fact
from m3bench.tasks.folding import fold

Single: TypeAlias = (
    Number
    | Integer
    | Money
    | Date
    | Time
    | Version
    | Phone
    | Code
    | NumberPair
    | Coordinate
    | Name
    | Choice
    | YesNo
    | Text
)

Item: TypeAlias = Annotated[Single, Setting(discriminator="type")]


_AGAIN = re.compile(r"(?<![\d.,])(?P<number>\d+(?:[.,]\d+)*)\b(?P<between>\D+)(?P=number)(?![.,]?\d)")

_SAYS = frozenset({"is", "are", "was", "were", "has", "had", "no", "not", "without", "too", "except"})
_PREDICATE = re.compile(r"\s+(?:is|are|was|were)\s+(?P<said>[\w\s]+?)$")
"""What is said of all items at the end: "A and B are new"."""

MOST = 200
"""Items that are looked at."""


class Items(Value):
    """Several values of one type."""

    SHOWN = ("ordered",)

    type: Literal["items"] = "items"
    ordered: bool = False
    """Whether the order is asked for."""
    items: tuple[Item, ...]

    @property
    def kind(self) -> str:
        """A list when the order counts, else a set."""
        return "list" if self.ordered else "set"

    def shown(self) -> dict[str, object]:
        """What a client is told: what the items are, not how many."""
        return {"type": self.kind, "of": self.items[0].shown() if self.items else {"type": "text"}}

    @property
    def described(self) -> str:
        """The type in words."""
        return f"{'ordered list' if self.ordered else 'list'} of {self.items[0].described if self.items else 'texts'}"

    def problem(self, given: JSON, asked: AnswerContext) -> str | None:
        """What is missing, wrong or too much."""
        if not self.items:
            return None if is_nothing(given) else "there is none"
        if is_nothing(given):
            unnamed = all(item.kind == "file" for item in self.items)
            return self._compare([None] * len(self.items), asked) if unnamed else "nothing was given"
        given = self._of_these_alone(_bare_list(given, asked.words), asked)
        turned_round = self.ordered and isinstance(given, str) and _is_turned_round(given, asked.words)
        ways = _split(given, asked.words)
        reasons = [self._compare(parts[::-1] if turned_round else parts, asked) for parts in ways]
        if None in reasons or self._named_one_by_one(given):
            return None
        return next((reason for reason in reasons if reason), "it is not a list")

    def _of_these_alone(self, given: JSON, asked: AnswerContext) -> JSON:
        """A text without a last sentence that says of others that they are none, and without what is said of all."""
        if not isinstance(given, str):
            return given
        text, others = denied_behind(self._without_asides(given))
        if any(find(words_of(name), words_of(others)) >= 0 for item in self.items for name in _names(item)):
            return given
        predicate = _PREDICATE.search(text) if others else None
        if predicate and set(words_of(predicate["said"])) <= set(words_of(asked.words)):
            text = text[: predicate.start()]
        return text

    def _without_asides(self, text: str) -> str:
        """A text without brackets that say something of things that are no items."""

        def kept(aside: re.Match[str]) -> str:
            said = words_of(aside[1])
            mine = any(find(words_of(name), said) >= 0 for item in self.items for name in _names(item))
            return aside[0] if mine or not set(said) & _SAYS or hedge(aside[1]) not in (None, "no", "not") else ""

        return re.sub(r"\s*\(([^()]*)\)", kept, text)

    def _named_one_by_one(self, given: JSON) -> bool:
        """Whether a text names the items and nothing else; their names may have commas and the word "and" in them."""
        if (
            not isinstance(given, str)
            or _BACKWARDS.search(given)
            or "?" in given
            or len(self.items) < 2
            or not all(item.kind == "name" for item in self.items)
        ):
            return False
        order = order_of_names(given, [_names(item) for item in self.items])
        return order == list(range(len(self.items))) if self.ordered else order is not None

    def _compare(self, parts: Sequence[JSON], asked: AnswerContext) -> str | None:
        if len(parts) > MOST:
            return "it has too many items"
        if self.ordered and len(parts) == len(self.items):
            wrong = [
                number
                for number, (item, part) in enumerate(zip(self.items, parts, strict=True), 1)
                if item.problem(part, asked)
            ]
            return f"item {wrong[0]} is not right" if wrong else None
        left = list(parts)
        missing = []
        for item in self.items:
            found = next((index for index, part in enumerate(left) if item.problem(part, asked) is None), None)
            if found is None:
                missing.append(item.said())
            else:
                left.pop(found)
        if missing:
            return f"{len(missing)} of {len(self.items)} items are missing or not right"
        if left:
            return f"{len(left)} item{'' if len(left) == 1 else 's'} too many"
        return "the order is another" if self.ordered else None

    def given(self) -> JSON:
        """The items."""
        return [item.given() for item in self.items]

    def facts(self) -> Iterator[Fact]:
        """Those of the items."""
        for item in self.items:
            yield from item.facts()


class Table(Value):
    """Rows of values; the first column tells the rows apart."""

    type: Literal["table"] = "table"
    columns: tuple[str, ...]
    """What the columns are called."""
    rows: tuple[tuple[Item, ...], ...]

    def shown(self) -> dict[str, object]:
        """What a client is told: the columns and their types, not how many rows there are."""
        types: list[dict[str, object]] = (
            [cell.shown() for cell in self.rows[0]] if self.rows else [{"type": "text"}] * len(self.columns)
        )
        return {
            "type": "table",
            "columns": [{"name": name, **kind} for name, kind in zip(self.columns, types, strict=True)],
        }

    @property
    def described(self) -> str:
        """The type in words."""
        kinds = [cell.described for cell in self.rows[0]] if self.rows else ["text"] * len(self.columns)
        return f"table with {', '.join(f'{name} ({kind})' for name, kind in zip(self.columns, kinds, strict=True))}"

    def problem(self, given: JSON, asked: AnswerContext) -> str | None:
        """Which row is missing, wrong or too much."""
        if is_nothing(given):
            return "nothing was given"
        given = unlettered(given) if isinstance(given, str) else given
        words = AnswerContext(words=f"{asked.words} {' '.join(self.columns)}", evidence=asked.evidence)
        reasons = [self._compare(rows, words) for rows in self._readings(given)]
        if None in reasons:
            return None
        names = [_names(row[0]) for row in self.rows]
        by_name = rows_by_name(_as_text(given), names, self.columns, words.words)
        if any(self._compare(rows, words) is None for rows in by_name):
            return None
        return next(iter(reasons), f"it is not a table with the columns {', '.join(self.columns)}")

    def _compare(self, rows: Sequence[Sequence[JSON]], asked: AnswerContext) -> str | None:
        left = list(rows[:MOST])
        for right in self.rows:
            found = [index for index, row in enumerate(left) if right[0].problem(row[0], asked) is None]
            if not found:
                return f"the row of {right[0].said()!r} is missing"
            row = left.pop(found[0])
            for name, cell, part in zip(self.columns, right, row, strict=True):
                reason = cell.problem(part, asked) or _further_row(part, asked)
                if reason:
                    return f"{name} of {right[0].said()!r}: {reason}"
        return f"{len(left)} rows too many" if left else None

    def _readings(self, given: JSON) -> Iterator[list[list[JSON]]]:
        """The tables that a value may be: as it stands, as loose lines, or by the values of a second column."""
        many = len(self.columns)
        rows = self._read(given)
        if rows is not None:
            yield rows
        if isinstance(given, str):
            yield from separated_tables(given, self.columns)
            lettered = [loose_row(str(row), many) for row in _by_letters(given)]
            yield from [[row for row in lettered if row]] if lettered and all(lettered) else []
            sentences = {key: rest for key, mark, rest in (part.partition(": ") for part in given.split(". ")) if mark}
            yield from turned(sentences) if many == 2 and len(sentences) > 1 else ()
            yield from loose_tables(given, many)
        elif isinstance(given, list | tuple) and given and all(isinstance(row, str) for row in given):
            lines = [loose_row(row, many) for row in given]
            yield from [[line for line in lines if line]] if all(lines) else []
        if many == 2:
            yield from turned(given if isinstance(given, dict) else {str(one): other for one, other in rows or ()})

    def _read(self, given: JSON) -> list[list[JSON]] | None:
        if isinstance(given, str):
            given = _table_text(given, self.columns)
        if isinstance(given, dict):
            given = _whole(given, self.columns)
        if isinstance(given, dict):
            if {fold(str(name)) for name in given} >= {fold(name) for name in self.columns}:
                given = [given]
            else:
                given = [
                    {self.columns[0]: key, **value} if isinstance(value, dict) else [key, *_as_list(value)]
                    for key, value in given.items()
                ]
        if not isinstance(given, list | tuple):
            return None
        rows = [self._row(row) for row in given]
        return [row for row in rows if row is not None] if all(row is not None for row in rows) else None

    def _row(self, row: JSON) -> list[JSON] | None:
        if isinstance(row, dict):
            named = {_plain(str(name)): value for name, value in row.items()}
            known = [_plain(name) for name in self.columns]
            if len(named) == len(known) and known[0] in named:  # the others may be called otherwise, in the same order
                unknown = iter([value for name, value in named.items() if name not in known])
                return [named[name] if name in named else next(unknown) for name in known]
            cells = [named.get(name) for name in known]
            return cells if any(cell is not None for cell in cells) else None
        if isinstance(row, str):
            found = _table_text(row, self.columns)
            row = found[0] if isinstance(found, list) and len(found) == 1 else None
        return list(row) if isinstance(row, list | tuple) and len(row) == len(self.columns) else None

    def given(self) -> JSON:
        """The rows as objects."""
        return [{name: cell.given() for name, cell in zip(self.columns, row, strict=True)} for row in self.rows]

    def facts(self) -> Iterator[Fact]:
        """Those of the cells."""
        for row in self.rows:
            for cell in row:
                yield from cell.facts()


_ONE_OF_EACH = re.compile(r"(?:(?<=\w)\s*(?:×|\bx)\s?1|(?<![\w.])1\s?(?:×|x)\s+(?=\w))(?=\s*(?:[,;.\n]|and\b|\w|$))")
_SOLELY = re.compile(r"^(?:only|just|solely|exclusively)\s+(?=\S)", re.IGNORECASE)
_TITLES = re.compile(r"\b(?:Mr|Mrs|Ms|Miss|Dr)\.?\s+(?=[A-Z])")
_STATE = re.compile(r"\s*\((?:[A-Z]{2}|[A-Z]{2}[/,&]\s?[A-Z]{2})\)")
_NONE_FOR = re.compile(
    r"^(?:there (?:is|are|was|were) (?:no|none) (?:[a-z]+ ){0,2}?(?:for|of|in)\s+|"
    r"no (?:[a-z]+ ){1,2}?(?:for|in)\s+|neither\s+)"
    r"(?P<items>\S.*?)(?:\s+(?:has|have|had|is|are|comes|come|offers?)\b[^,;]*)?[.!]?$",
    re.IGNORECASE,
)
_LACKING = re.compile(r"\bwithout\b|(?:^|_)(?:without|no)_|\bha(?:s|ve) no(?:ne)?\b|\black(?:s|ing)?\b")


def _bare_list(given: JSON, asked: str) -> JSON:
    """A list in a text without titles, states and numbers of one; of what is without something, the things alone."""
    if isinstance(given, list | tuple):
        return [_bare_list(part, asked) if isinstance(part, str) else part for part in given]
    if not isinstance(given, str):
        return given
    said, out = kept(given.strip())
    given = said if out and re.match(r"not\b", given.strip()[len(said) :].lstrip(" ,;(–—-")) else given
    text = _STATE.sub("", _TITLES.sub("", _ONE_OF_EACH.sub("", _SOLELY.sub("", given.strip()))))
    none = _NONE_FOR.match(text) if _LACKING.search(asked.lower()) else None
    return re.sub(r"\s+(?:n?or)\s+", " and ", none["items"]) if none else text


def _is_turned_round(text: str, asked: str) -> bool:
    """Whether a list says that it goes the other way than was asked: "from right to left"."""
    ways = re.findall(r"\b(right|left|top|bottom) to (right|left|top|bottom)\b", fold(text))
    ways += re.findall(r"\bfrom (\w+) to (\w+)\b", fold(text))
    return any(f"from {end} to {start}" in fold(asked) for start, end in ways)


def _names(item: Item) -> list[str]:
    """What an item may be called."""
    return [item.said(), *getattr(item, "aliases", ())]


def _further_row(cell: JSON, asked: AnswerContext) -> str | None:
    """Why a cell is more than one: it says its number again, of something that the question does not name."""
    if isinstance(cell, str) and (again := _AGAIN.search(cell)):
        others = set(words_of(again["between"])) - {"", *words_of(asked.words)}
        return f"there is more behind {again['number']}" if others else None
    return None


def _as_text(given: JSON) -> str:
    """A table as lines of text; empty when it is more than that."""
    if isinstance(given, dict) and all(isinstance(value, str) for value in given.values()):
        given = [f"{key}: {value}" for key, value in given.items()]
    if isinstance(given, list | tuple) and all(isinstance(line, str) for line in given):
        given = "\n".join(given)
    return given if isinstance(given, str) else ""


def _plain(name: str) -> str:
    return re.sub(r"[^\w]", "", fold(name)).replace("_", "")


def _as_list(value: JSON) -> list[JSON]:
    return list(value) if isinstance(value, list | tuple) else [value]


def _split(given: JSON, asked: str) -> list[list[JSON]]:
    """The ways to take what was given as a list."""
    if isinstance(given, list | tuple):
        parts = list(given)
        inside = _split_text(parts[0], asked) if len(parts) == 1 and isinstance(parts[0], str) else []
        return [parts, *inside]
    if isinstance(given, dict):
        only = next(iter(given.values())) if len(given) == 1 else None
        return [list(only)] if isinstance(only, list | tuple) else [list(given.values()), list(given)]
    if isinstance(given, str):
        return _split_text(given, asked)
    return [[given]]


_FIRST = re.compile(r"^(?:first(?:ly)?|start(?:ing|s)? with|begins? with)\b[\s,:]*", re.IGNORECASE)
_STEP = re.compile(r"^(?:first|second|third|then|next|finally|last)(?:ly)?\s*[,:]\s+", re.IGNORECASE)
_THEN = r"\s*[,;.]?\s*\b(?:and\s+)?(?:then|next|followed by|after that|finally|lastly)\b[\s,:]*"
_ORDINAL = r"(?:^|(?<=[\s;,]))\d{1,2}(?:st|nd|rd|th)\b\s*[:.)–—-]?\s*"
_SEPARATORS = (
    r"\s*;\s*(?:and\s+)?",
    r"\s*,\s*(?:and\s+|&\s+)?|\s+and\s+|\s+&\s+",
    r"\s*,\s+(?:and\s+)?",
    r"\s*,\s*(?:and\s+)?(?:plus\s+|as well as\s+)?|\s+(?:plus|as well as|and(?: also)?)\s+",
    r"\s*(?:→|⇒|➜|➔|⟶|->|=>|>|\|)\s*",
    r"\s+and\s+|\s+&\s+",
    r"\s+\+\s+|\s*•\s*",
    rf"{_THEN}|\s*,\s*(?:and\s+)?",
    r"\s+[–—]\s+",
)
_BACKWARDS = re.compile(r"\s*(?:←|⇐|⟵|<-)\s*")


def _split_text(text: str, asked: str) -> list[list[JSON]]:
    text = settled(unfenced(text.strip())).strip()
    try:
        found = json.loads(text)
        if isinstance(found, list | dict):
            return _split(found, asked)
    except ValueError:
        pass
    if _BACKWARDS.search(text):
        return [_BACKWARDS.split(text)[::-1]]
    lines = [_STEP.sub("", _BULLET.sub("", line)).strip() for line in text.splitlines() if line.strip()]
    ways: list[list[JSON]] = [list(lines)] if len(lines) > 1 else []
    if len(lines) > 1 and lines[0].endswith(":"):
        ways.append(list(lines[1:]))
    if lines and all(line.count("|") >= 2 for line in lines):
        cells = [[cell.strip() for cell in line.strip().strip("|").split("|")] for line in lines]
        rule = next((number for number, row in enumerate(cells) if _is_rule(row)), None)
        below = cells[rule + 1 :] if rule is not None else cells
        ways.append([row[0] if len(row) == 1 or not row[0].strip("# .").isdigit() else row[1] for row in below])
    flat = without_lead(re.sub(r"^\[(.*)\]$", r"\1", " ".join(lines)), asked)
    lettered = _by_letters(text)
    ways += [lettered] if lettered else []
    flat = re.sub(r"(?:^|(?<=[\s;,]))\(?\d{1,2}[.)]\s+(?=\S)", "", flat)
    circled = [part.strip(" ,;") for part in re.split(r"[①-⑳]", flat) if part.strip(" ,;")]
    ways += [list(circled)] if len(circled) > 1 else []
    flat = re.sub(r"(?:^|(?<=[\s;,]))#\d{1,2}[.):]?\s+", "", flat)
    flat = re.sub(r"^both\s+(?=.*\sand\s)", "", _FIRST.sub("", re.sub(_ORDINAL, "", flat)), flags=re.IGNORECASE)
    numbered = [part.strip(" ,;") for part in re.split(r"(?:^|\s)\(?\d{1,2}[.)]\s+", text) if part.strip(" ,;")]
    ways += [list(numbered)] if len(numbered) > 1 else []
    ways += [[part.strip() for part in re.split(mark, flat) if part.strip()] for mark in _SEPARATORS]
    return ways


def _is_rule(row: Sequence[str]) -> bool:
    """Whether a row of a Markdown table is the line below its head."""
    return all(re.fullmatch(r":?-+:?", cell) for cell in row)


def _by_letters(text: str) -> list[JSON]:
    """The items of a list with letters, in one line or several: `(a) pit (b) ladder`."""
    parts = re.split(r"(?:^|\s)(?:\(([a-z])\)|([a-z])[.)])\s+", text, flags=re.IGNORECASE)
    letters = [first or second for first, second in zip(parts[1::3], parts[2::3], strict=True)]
    alphabet = [chr(ord("a") + number) for number in range(len(letters))]
    if len(letters) < 2 or [letter.lower() for letter in letters] != alphabet or len(letters) > 26:
        return []
    return [part.strip(" ,;\n") for part in parts[3::3]]


def _whole(given: dict[str, JSON], names: Sequence[str]) -> JSON:
    """A table that stands below a word of its own, or that was handed in by columns, as a list of rows."""
    only = next(iter(given.values())) if len(given) == 1 else None
    if isinstance(only, list | tuple) and only and all(isinstance(row, list | tuple | dict) for row in only):
        return list(only)
    by_name = {_plain(str(name)): value for name, value in given.items()}
    columns = [by_name.get(_plain(name)) for name in names]
    lists = [list(column) for column in columns if isinstance(column, list | tuple)]
    if len(lists) == len(columns) == len(given) and len(set(map(len, lists))) == 1:
        return [list(row) for row in zip(*lists, strict=True)]
    return given


def _in_order(rows: list[list[str]], head: Sequence[str], names: Sequence[str]) -> list[list[str]]:
    """Rows in the order of the columns that are asked for, where their head has the same names in another one."""
    mine, wanted = [_plain(cell) for cell in head], [_plain(name) for name in names]
    if sorted(mine) != sorted(wanted) or any(len(row) != len(mine) for row in rows):
        return rows
    return [[row[mine.index(name)] for name in wanted] for row in rows]


def _table_text(text: str, names: Sequence[str]) -> JSON:
    """The rows of a table that was written as text; the text as it is when it is none."""
    text, columns = unfenced(text.strip()), len(names)
    try:
        return json.loads(text)
    except ValueError:
        pass
    lines = [line.strip() for line in LINES.split(text) if line.strip()]
    if len(lines) > 2 and lines[0].endswith(":") and all("|" in line for line in lines[1:]):
        lines = lines[1:]
    marked = [line for line in lines if line.count("|") >= columns - 1]
    if len(marked) == len(lines) and lines:
        rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]
        rule = next((number for number, row in enumerate(rows) if _is_rule(row)), None)
        below = rows[rule + 1 :] if rule is not None else rows
        numbered = all(len(row) == columns + 1 and re.fullmatch(r"#?\d{1,2}[.)]?", row[0]) for row in below)
        if rule == 1 and not numbered:
            return _in_order(below, [re.sub(r"\*\*|`", "", cell) for cell in rows[0]], names)
        return [row[1:] for row in below] if numbered else below
    found = []
    for line in lines:
        cells = _cells(_BULLET.sub("", line), columns)
        if cells is None:
            return text
        found.append(cells)
    return found
