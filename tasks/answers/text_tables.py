"""Tables and lists in plain text: lines whose cells are separated by brackets, colons, commas or a space alone.

Where "City Palace, Udaipur (49), Ribeira (75)" divides into rows is clear only to somebody who knows the names, so
such text is read by the names that must be in it. What stands between them is compared like any other value, so
nothing wrong or additional gets through.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from m3bench.tasks.answers.base import JSON, LONGEST, hedge
from m3bench.tasks.answers.spelling import Words, find, spellings, words_of

BULLET = re.compile(
    r"^\s*(?:[-*•·–▪◦‣]|\(?\d{1,2}[.):]|(?:#|step\s)\d{1,2}[.):]?|[①-⑳]|\(?(?:[a-z]|[ivx]{1,4})\)|[ivx]{1,4}\.)\s+",
    re.IGNORECASE,
)
"""What a line of a list begins with."""

LINES = re.compile(r"\n|(?<!&#x[0-9a-f]{4});\s", re.IGNORECASE)
"""What divides the rows of a table: a semicolon too, unless it ends a character code."""

_JOINED = re.compile(r",?\s+(?:(?:which\s+)?peak(?:ed|ing)?\s+at|at|with)\s+")
_BETWEEN = re.compile(r"(?:\s*[,;]\s+(?:and\s+)?|\s+and\s+)(?![^()]*\))")


def unlettered(text: str) -> str:
    """Lines without the letters before them, where those are `a.`, `b.` and so on."""
    lines = [line for line in text.splitlines() if line.strip()]
    letters = [line.lstrip()[:2].lower() for line in lines]
    if len(lines) < 2 or letters != [f"{chr(ord('a') + number)}." for number in range(len(lines))]:
        return text
    return "\n".join(line.lstrip()[2:].strip() for line in lines)


def loose_tables(text: str, columns: int) -> Iterator[list[list[JSON]]]:
    """The tables that a text may be: a row in each line, or all rows in one."""
    if len(text) > LONGEST:
        return
    lines = [line for line in LINES.split(text) if line.strip()]
    for parts in (lines, _BETWEEN.split(" ".join(lines))):
        rows = [loose_row(part, columns) for part in parts]
        if rows and all(rows):
            yield [row for row in rows if row]


def separated_tables(text: str, columns: Sequence[str]) -> Iterator[list[list[JSON]]]:
    """The tables that lines are whose cells have one mark between them; their head may stand first."""
    if len(text) > LONGEST:
        return
    lines = [BULLET.sub("", line).strip() for line in text.splitlines() if line.strip()]
    for mark in (
        r"\s*;\s*",
        r"\s*\t\s*",
        r"\s*(?:→|⇒|->|=>)\s*",
        r"\s+[–—-]\s+",
        r"\s*\|\s*",
        r"\s*,\s+",
        r"\s*:\s+|\s*;\s*",
        r"\s*,\s*",
    ):
        rows = [[re.sub(r"\*\*|`", "", cell).strip() for cell in re.split(mark, line)] for line in lines]
        if rows and all(len(row) == len(columns) for row in rows):
            head = [words_of(cell) for cell in rows[0]] == [words_of(name) for name in columns]
            yield [list(row) for row in rows[1:]] if head else [list(row) for row in rows]


def loose_row(text: str, columns: int) -> list[JSON] | None:
    """The cells of a line such as `fish 4.0.2`, `fish (4.0.2, MIT)` or `fish: 4.0.2 (MIT)`."""
    if len(text) > LONGEST:
        return None
    line = re.sub(r"\*\*|`", "", BULLET.sub("", text)).strip(" .,;")
    bracketed = re.fullmatch(r"(.+?)\s*\(([^()]+)\)", line)
    if bracketed:
        inside = re.split(r"\s*[,;]\s+", bracketed[2])
        head = [bracketed[1]] if len(inside) == columns - 1 else cells(bracketed[1], columns - len(inside))
        if head:
            return [*head, *inside]
    last = re.fullmatch(r"(.*\S)\s+(v?\d\S*)", line)
    if columns == 2 and last:
        return [last[1].rstrip(" :-–—,"), last[2]]
    return list(cells(_JOINED.sub(", ", line), columns) or ()) or None


def turned(given: Mapping[str, JSON]) -> Iterator[list[list[JSON]]]:
    """A table of two columns that was told by its second one: `left: ladder, pit`."""
    rows: list[list[JSON]] = []
    for key, value in given.items():
        if isinstance(value, str) and len(value) <= LONGEST:
            value = _BETWEEN.split(value)
        rows += [[part, key] for part in value] if isinstance(value, list | tuple) else []
    if rows:
        yield rows


def cells(line: str, columns: int) -> list[str] | None:
    """The cells of a line: a key, a mark, and the others with commas between them."""
    line = re.sub(r"\*\*|`", "", line)
    for mark in (r"\s*\t\s*", r"\s*:\s+", r"\s+[-–—]+\s+", r"\s*(?:→|->|=>|=)\s*", r"\s*,\s+"):
        key, *rest = re.split(mark, line, maxsplit=1)
        if not rest:
            continue
        if columns == 2:
            return [key.strip(), rest[0].strip()]
        others = re.split(r"\s*[,;|]\s+|\s*\t\s*|\s*\|\s*", rest[0])
        if len(others) == columns - 1:
            return [key.strip(), *(part.strip() for part in others)]
    return None


_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)*")
_BEFORE = re.compile(
    r"^(?:(?!>=|<=)[\s:(=→>|,;.*`\"”’\]\[]|[–—-](?=\s)|->|(?:it\s+is|it's|it\s+takes|(?:(?:is|was)\s+)?(?:made|dates|dated|opened|built|rated|sold)\s+(?:by|from|in|at|for)|is|was|has|have|with|at|by|in|from|costs?)(?=\s))+",
    re.IGNORECASE,
)
_AFTER = re.compile(r"(?:[\s|,;.*`\"“‘•·\[–—-]|(?<=\s)(?:and|from|in|for))+$", re.IGNORECASE)
_BEFORE_NAME = re.compile(
    r"^\W*(?:and\s+)?|(?:\s+(?:for|from|at|is|of|to|makes?|made|wrote|painted|directed|publishes|published|sells?|"
    r"produces?|manufactures?|labels?|is behind|stands for|means)(?:\s+the)?)?[\s(]*$",
    re.IGNORECASE,
)
_NUMBER_OF_THE_NEXT = re.compile(r"(?<=[\s,;])\(?\d{1,2}[.)]\s*[*`\"“]*$")
_ARTICLE = re.compile(r"(?<=\W)(?:the|an?)\s+$", re.IGNORECASE)
_BETWEEN_CELLS = (r"\n", r";\s+", r"\s+[–—-]+\s+", r"\s*\|\s*", r"\t", r",\s+", r"\s*[(),;]\s+|\s*[()]\s*")
_LABEL = re.compile(r"^([^:=]{1,40}?)\s*[:=]\s+|^([a-z_]+)\s+", re.IGNORECASE)


class _Place(NamedTuple):
    """Where a name stands in a text."""

    start: int
    end: int
    which: int


def rows_by_name(
    text: str, names: Sequence[Sequence[str]], columns: Sequence[str], said: str
) -> Iterator[list[list[JSON]]]:
    """The tables that a text may be, each row beginning with its name.

    Args:
        text: What was handed in.
        names: For each row what its first cell may be called.
        columns: What the columns are called.
        said: The words of the question: they may stand before the first row.
    """
    places = _places(text, names)
    if places and len(columns) == 2 and not _WORD.search(text[places[-1].end :]):
        # The value stands before the name: "12 m (bridge), 3 m (tower)".
        starts = [0, *(place.end for place in places)]
        before = [
            _BEFORE_NAME.sub("", _stripped(text[start : place.start]))
            for start, place in zip(starts, places, strict=False)
        ]
        yield [[text[place.start : place.end], part] for place, part in zip(places, before, strict=True)]
    if not places or _says_something(text[: places[0].start], said):
        return
    ends = [place.start for place in places[1:]]
    label = re.compile(rf"(?<=\W){re.escape(columns[0]).replace('_', '[ _]')}\W*$", re.IGNORECASE)
    between = [
        _NUMBER_OF_THE_NEXT.sub("", label.sub("", _ARTICLE.sub("", text[place.end : end])))
        for place, end in zip(places, ends, strict=False)
    ]
    between = [_stripped(part) for part in (*between, text[places[-1].end :])]
    keys = [text[place.start : place.end] for place in places]
    if len(columns) == 2:
        yield [[key, part] for key, part in zip(keys, between, strict=True)]
        return
    for mark in _BETWEEN_CELLS:
        rows = [_cells(re.split(mark, part), columns[1:]) for part in between]
        if all(rows):
            yield [[key, *row] for key, row in zip(keys, rows, strict=True) if row]


def order_of_names(text: str, names: Sequence[Sequence[str]]) -> list[int] | None:
    """In which order things are named by a text that names nothing else; None when one is missing or there is more."""
    places = _places(text, names)
    if not places:
        return None
    rest = text
    for place in reversed(places):
        rest = rest[: place.start] + "\n" + rest[place.end :]
    parts = [BULLET.sub("", part) for part in rest.splitlines()]
    if any(word.lower() not in ("and", "the", "a", "an") for part in parts for word in _WORD.findall(part)):
        return None
    return [place.which for place in places]


def _places(text: str, names: Sequence[Sequence[str]]) -> list[_Place] | None:
    """Where each of the names stands, in the text's order; None when one does not."""
    if len(text) > LONGEST:
        return None
    tokens = [(word, match) for match in _WORD.finditer(text) for word in words_of(match[0]) or ("",)]
    words = [word for word, _ in tokens]
    forms = [(form, which) for which, some in enumerate(names) for name in some for form in spellings(name)]
    found: dict[int, _Place] = {}
    for form, which in sorted(forms, key=lambda pair: (-len(pair[0]), pair)):
        if which in found:
            continue
        kept, numbers = _without_articles(words)
        start = find(form, kept)
        if start < 0:
            continue
        taken = range(numbers[start], numbers[start + len(form) - 1] + 1)
        found[which] = _Place(tokens[taken[0]][1].start(), tokens[taken[-1]][1].end(), which)
        for number in taken:
            words[number] = "|"
    return sorted(found.values()) if len(found) == len(names) else None


def _without_articles(words: Sequence[str]) -> tuple[Words, list[int]]:
    """Words that count in a name, and their numbers."""
    numbers = [number for number, word in enumerate(words) if word not in ("", "the", "a", "an", "and")]
    return tuple(words[number] for number in numbers), numbers


def _says_something(text: str, said: str) -> bool:
    """Whether there is more before the first row than words of the question."""
    words = set(words_of(BULLET.sub("", text.strip() + " "))) - {
        "",
        "the",
        "and",
        "are",
        "is",
        "from",
        "at",
        "in",
        "for",
        "to",
        "of",
        "on",
    }
    return bool(words - set(words_of(said))) or hedge(text) is not None


def _stripped(part: str) -> str:
    """What stands behind a name without the marks around it."""
    part = _AFTER.sub("", _BEFORE.sub("", part))
    return _AFTER.sub("", part[:-1]) if part.endswith(")") and part.count(")") > part.count("(") else part


def _cells(parts: Sequence[str], columns: Sequence[str]) -> list[JSON] | None:
    """The cells of a row in the order of the columns; where their names stand before them, in any order."""
    texts = [text for part in parts if (text := _stripped(BULLET.sub("", part)))]
    if len(texts) != len(columns):
        return None
    labelled = [_label(text, columns) for text in texts]
    if sorted(column for column, _ in labelled) == list(range(len(columns))):
        return [value for _, value in sorted(labelled)]
    return [
        value if column == number else text
        for number, (text, (column, value)) in enumerate(zip(texts, labelled, strict=True))
    ]


def _label(text: str, columns: Sequence[str]) -> tuple[int, str]:
    """The column whose name stands before a value, -1 when none does, and the value."""
    found = _LABEL.match(text)
    if found is None:
        return -1, text
    mine = set(words_of(found[1] or found[2]))
    shared = [len(mine & set(words_of(column))) for column in columns]
    return (shared.index(max(shared)), text[found.end() :]) if any(shared) else (-1, text)
