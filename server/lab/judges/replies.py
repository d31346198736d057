"""Reads a judge's reply: JSON of the form that was asked for, and nothing that has to be guessed.

Code fences and prose around the object are ignored, and a number may be a string. If there is no object, or several
that differ, the judge is asked again; a number off the scale is a missing vote.
"""

import json
import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from m3bench.server.lab.judges.asks import SCORE, Ask
from m3bench.server.lab.judges.material import readable

MAX_REASON = 600
MAX_REPLY = 50_000

_NUMBER = re.compile(r"\s*([+-]?\d+(?:\.\d+)?|\.\d+)\s*(?:(?:/|out of)\s*(\d+(?:\.0+)?))?\s*")


@dataclass(frozen=True, kw_only=True)
class Verdict:
    """What a reply says: a score and a sentence for each thing that was asked."""

    scores: Mapping[str, float]
    reasons: Mapping[str, str]


class Unreadable(Exception):
    """The reply is not of the form; worth asking again."""


class OffScale(Exception):
    """The reply is of the form, and a number in it is not on the scale."""


def read(ask: Ask, reply: str) -> Verdict:
    """What a reply says.

    Raises:
        Unreadable: It holds no object of the form or several that differ, or it is endless.
        OffScale: A score is not on the scale.
    """
    if len(reply) > MAX_REPLY:
        raise Unreadable(f"it is longer than {MAX_REPLY} characters")
    problems: list[str] = []
    found: list[Verdict] = []
    for item in _objects(reply):
        try:
            found.append(_verdict(ask, item))
        except Unreadable as error:
            problems.append(str(error))
    if not found:
        raise Unreadable(problems[0] if problems else "there is no JSON object in it")
    if any(other.scores != found[0].scores for other in found):
        raise Unreadable("it holds several JSON objects with different scores")
    for name, score in found[0].scores.items():
        if not ask.low <= score <= ask.high:
            raise OffScale(f"{name} is {score:g}, and the scale goes from {ask.low:g} to {ask.high:g}")
        if ask.whole and not score.is_integer():
            raise OffScale(f"{name} is {score:g}, and only {ask.low:g} or {ask.high:g} can be given")
    return found[0]


def _objects(text: str) -> Iterator[dict[str, Any]]:
    """The JSON objects in a text that are not part of another one."""
    decoder = json.JSONDecoder()
    place = text.find("{")
    while place >= 0:
        try:
            value, end = decoder.raw_decode(text, place)
        except (ValueError, RecursionError):
            end = place + 1
        else:
            if isinstance(value, dict):
                yield value
        place = text.find("{", end)


def _verdict(ask: Ask, item: Mapping[str, Any]) -> Verdict:
    if not ask.is_rubric:
        return Verdict(scores={SCORE: _score(item, "", ask)}, reasons={SCORE: _reason(item)})
    missing = [name for name in ask.criteria if not isinstance(item.get(name), dict)]
    if missing:
        raise Unreadable(f"it has no object for {', '.join(missing)}")
    return Verdict(
        scores={name: _score(item[name], f" of {name}", ask) for name in ask.criteria},
        reasons={name: _reason(item[name]) for name in ask.criteria},
    )


def _score(item: Mapping[str, Any], of: str, ask: Ask) -> float:
    if SCORE not in item:
        raise Unreadable(f"the score{of} is missing")
    value = item[SCORE]
    if isinstance(value, str):
        match = _NUMBER.fullmatch(value)
        if match is None or (match[2] is not None and float(match[2]) != ask.high):
            raise Unreadable(f"the score{of} is not a number")
        value = float(match[1])
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise Unreadable(f"the score{of} is not a number")
    try:
        number = float(value)
    except OverflowError:
        number = math.inf
    if math.isnan(number):
        raise Unreadable(f"the score{of} is not a number")
    return number


def _reason(item: Mapping[str, Any]) -> str:
    reason = item.get("reason")
    return readable(reason, MAX_REASON) if isinstance(reason, str) else ""
