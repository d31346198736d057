"""Pairs of calls made from the references of the bundled set: wrong ones do not match, other spellings do.

A wrong call names another thing of the same kind, another amount or another day; an equivalent one writes the same
thing otherwise. Arguments alone decide here, which is harder than with results.
"""

import datetime
import random
import re
from collections.abc import Iterator, Mapping

import pytest

from m3bench.server.scoring.alignment import WEAK
from m3bench.server.scoring.matching.agreement import PATHS, FileNames, MadeCall
from m3bench.server.scoring.matching.effect import compare
from m3bench.server.scoring.signatures import catalog_signatures
from m3bench.tasks.catalog import load_catalog
from m3bench.tasks.kinds import kinds_of
from m3bench.tasks.library import Library
from m3bench.tasks.plan import PlannedCall
from m3bench.tasks.trajectory import JSON, Call

PAIRS = 400
SIGNATURES = catalog_signatures(load_catalog())


@pytest.fixture(scope="module")
def calls() -> list[tuple[Call, frozenset[str]]]:
    found: dict[str, tuple[Call, frozenset[str]]] = {}
    for task in Library().tasks.values():
        for call in task.references[0].trajectory.calls:
            found.setdefault(repr((call.tool, call.arguments)), (call, frozenset(task.pictures)))
    return list(found.values())


def similarity(wanted: Call, asked: Call, pictures: frozenset[str]) -> float:
    made = MadeCall(call=asked, step=0, result=None)
    return compare(wanted, PlannedCall(), made, SIGNATURES(wanted.tool), FileNames(given=pictures)).similarity


def with_argument(call: Call, name: str, value: JSON) -> Call:
    return Call(tool=call.tool, arguments={**call.arguments, name: value})


def counted(call: Call, pictures: frozenset[str]) -> Iterator[str]:
    """The arguments by which a call is told from others.

    Not among them: what its reference leaves free, and files that are made in the run, whose names are free too.
    """
    for name, value in call.arguments.items():
        tolerance = call.tolerances.get(name)
        free = tolerance is not None and tolerance.free
        own = name in PATHS and not any(picture in str(value) for picture in pictures)
        if kinds_of(call.tool).kind(name) in ("identity", "quantity", "place", "text") and not free and not own:
            yield name


def other_day(text: str) -> str | None:
    found = re.fullmatch(r"(\d{4})-(\d\d)-(\d\d)(.*)", text)
    if not found:
        return None
    day = datetime.date(int(found[1]), int(found[2]), int(found[3])) + datetime.timedelta(days=40)
    return f"{day.isoformat()}{found[4]}"


def wrong(call: Call, pictures: frozenset[str], others: Mapping[str, list[Call]], dice: random.Random) -> Call | None:
    """The call on another thing, with another amount, or on another day."""
    names = list(counted(call, pictures))
    if not names:
        return None
    name = dice.choice(names)
    value = call.arguments[name]
    if isinstance(value, bool):
        return with_argument(call, name, not value)
    if isinstance(value, int | float):
        return with_argument(call, name, value + 3)
    if isinstance(value, str) and (day := other_day(value)):
        return with_argument(call, name, day)
    found = [other.arguments[name] for other in others[call.tool] if other.arguments.get(name) not in (None, value)]
    return with_argument(call, name, dice.choice(found)) if found else None


def respelled(call: Call, pictures: frozenset[str], dice: random.Random) -> Call | None:
    """The call with one argument written otherwise."""
    names = [name for name in counted(call, pictures) if not isinstance(call.arguments[name], bool)]
    if not names:
        return None
    name = dice.choice(names)
    value, kind = call.arguments[name], kinds_of(call.tool).kind(name)
    if isinstance(value, Mapping) and isinstance(latitude := value.get("latitude"), float) and "longitude" in value:
        return with_argument(call, name, {**value, "latitude": latitude + 0.0008})
    if kind == "place" and isinstance(value, float):
        return with_argument(call, name, value + 0.0007)
    if isinstance(value, int | float):
        return with_argument(call, name, str(value))
    if isinstance(value, list) and name in SIGNATURES(call.tool).unordered:
        return with_argument(call, name, value[::-1])
    if isinstance(value, str) and not re.fullmatch(r"[\d.,: -]*", value):
        return with_argument(call, name, dice.choice((value.upper(), value.lower(), value.replace("'", "’"))))
    return None


def test_wrong_calls_do_not_match(calls):
    dice, pairs = random.Random(1), []
    others: dict[str, list[Call]] = {}
    for call, _ in calls:
        others.setdefault(call.tool, []).append(call)
    for wanted, pictures in dice.sample(calls, len(calls)):
        asked = wrong(wanted, pictures, others, dice)
        accepted = asked is not None and any(
            tolerance.accepts(wanted.arguments.get(name), asked.arguments.get(name))
            for name, tolerance in wanted.tolerances.items()
            if asked.arguments.get(name) != wanted.arguments.get(name)
        )
        if asked is not None and asked.arguments != wanted.arguments and not accepted:
            pairs.append((wanted, asked, pictures))
    matched = [(one, other) for one, other, pictures in pairs[:PAIRS] if similarity(one, other, pictures) >= WEAK]
    assert len(pairs) >= PAIRS
    assert len(matched) <= PAIRS / 100, matched


def test_other_spellings_of_a_call_match(calls):
    dice, pairs = random.Random(2), []
    for wanted, pictures in dice.sample(calls, len(calls)):
        asked = respelled(wanted, pictures, dice)
        if asked is not None and asked.arguments != wanted.arguments:
            pairs.append((wanted, asked, pictures))
    missed = [(one, other) for one, other, pictures in pairs[:PAIRS] if similarity(one, other, pictures) < WEAK]
    assert len(pairs) >= PAIRS
    assert len(missed) <= PAIRS * 2 / 100, missed
