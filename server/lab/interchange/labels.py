"""Labels that people gave to pairs of calls: whether they are the same. Read from CSV or JSON.

Several people may label one pair: then most of them decide, and pairs on which they are divided are left out. Pairs of
calls of different tools are left out too, because alignment never matches these.
"""

import csv
import io
import json
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from m3bench.tasks.errors import InputFileError, TrajectoryError
from m3bench.tasks.trajectory import Call

COLUMNS = ("first_tool", "first_arguments", "second_tool", "second_arguments", "same")
_WORDS = {"1": True, "true": True, "yes": True, "same": True, "0": False, "false": False, "no": False,
          "different": False}  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class _LabelledPair:
    """A label as it stands in a file; the calls are not read yet."""

    where: str
    first: object
    second: object
    same: bool


@dataclass(frozen=True, kw_only=True)
class Labels:
    """Pairs that have a label, and what was left out."""

    pairs: tuple[tuple[Call, Call], ...]
    same: tuple[bool, ...]
    """Whether people call each pair the same."""
    votes: int
    """Labels in the file."""
    other_tools: int
    """Pairs of calls of different tools, left out."""
    divided: int
    """Pairs on which votes are tied, left out."""
    agreement: float | None
    """Of the pairs with several labels, the mean share of the majority's labels; None without such pairs."""


def read_labels(path: Path) -> Labels:
    """The labels in a file.

    Raises:
        InputFileError: It cannot be read, or is not what it should be.
    """
    votes: dict[str, tuple[tuple[Call, Call], Counter[bool]]] = {}
    for row in _rows(path):
        try:
            first, second = Call.from_json(row.first, "first"), Call.from_json(row.second, "second")
        except TrajectoryError as error:
            raise InputFileError(path, f"{row.where}: {error}") from error
        key = json.dumps([first.to_json(), second.to_json()], sort_keys=True, ensure_ascii=False)
        votes.setdefault(key, ((first, second), Counter()))[1][row.same] += 1
    if not votes:
        raise InputFileError(path, "has no labels")
    alike = [(pair, counts) for pair, counts in votes.values() if pair[0].tool == pair[1].tool]
    decided = [(pair, counts) for pair, counts in alike if counts[True] != counts[False]]
    several = [max(counts.values()) / counts.total() for _, counts in votes.values() if counts.total() > 1]
    return Labels(
        pairs=tuple(pair for pair, _ in decided),
        same=tuple(counts[True] > counts[False] for _, counts in decided),
        votes=sum(counts.total() for _, counts in votes.values()),
        other_tools=len(votes) - len(alike),
        divided=len(alike) - len(decided),
        agreement=sum(several) / len(several) if several else None,
    )


def _rows(path: Path) -> Iterator[_LabelledPair]:
    try:
        text = path.read_text("utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise InputFileError(path, f"cannot be read ({error})") from error
    if path.suffix.casefold() == ".csv":
        yield from _csv(path, text)
        return
    try:
        entries = json.loads(text)
    except ValueError as error:
        raise InputFileError(path, f"is not named .csv, and is not JSON ({error})") from error
    if not isinstance(entries, list):
        raise InputFileError(path, "must be a list of pairs with first, second and same")
    for number, entry in enumerate(entries, 1):
        where = f"pair {number}"
        if not isinstance(entry, Mapping) or not {"first", "second", "same"} <= set(entry):
            raise InputFileError(path, f"{where} must have first, second and same")
        label = _label(path, where, entry["same"])
        yield _LabelledPair(where=where, first=entry["first"], second=entry["second"], same=label)


def _csv(path: Path, text: str) -> Iterator[_LabelledPair]:
    table = csv.DictReader(io.StringIO(text))
    missing = [name for name in COLUMNS if name not in (table.fieldnames or ())]
    if missing:
        raise InputFileError(path, f"has no column {', '.join(missing)}: the columns are {', '.join(COLUMNS)}")
    for row in table:
        where = f"line {table.line_num}"
        calls: dict[str, object] = {}
        for name in ("first", "second"):
            try:
                calls[name] = {"tool": row[f"{name}_tool"], "arguments": json.loads(row[f"{name}_arguments"] or "{}")}
            except ValueError as error:
                raise InputFileError(path, f"{where}: {name}_arguments is not JSON ({error})") from error
        label = _label(path, where, row["same"])
        yield _LabelledPair(where=where, first=calls["first"], second=calls["second"], same=label)


def _label(path: Path, where: str, value: object) -> bool:
    found = value if isinstance(value, bool) else _WORDS.get(str(value).strip().casefold())
    if found is None:
        raise InputFileError(path, f"{where}: same is {value!r} (expected yes or no, true or false, 1 or 0)")
    return found
