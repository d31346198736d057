"""Tables in plain text: lines whose cells are told apart by brackets, colons, commas or nothing but a space."""

import re
from collections.abc import Iterator, Mapping

from m3bench.tasks.answers.base import JSON, LONGEST

BULLET = re.compile(r"^\s*(?:[-*•·–]|\(?\d{1,2}[.):]|[a-z]\))\s+", re.IGNORECASE)
"""What a line of a list begins with."""

_JOINED = re.compile(r",?\s+(?:(?:which\s+)?peak(?:ed|ing)?\s+at|at|with)\s+")
_BETWEEN = re.compile(r"(?:\s*[,;]\s+(?:and\s+)?|\s+and\s+)(?![^()]*\))")


def loose_tables(text: str, columns: int) -> Iterator[list[list[JSON]]]:
    """The tables that a text may be: a row in each line, or all rows in one."""
    if len(text) > LONGEST:
        return
    lines = [line for line in re.split(r"\n|;\s", text) if line.strip()]
    for parts in (lines, _BETWEEN.split(" ".join(lines))):
        rows = [loose_row(part, columns) for part in parts]
        if rows and all(rows):
            yield [row for row in rows if row]


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
