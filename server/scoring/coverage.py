"""Calls that ask for more than a reference call does: a range of days for one of them, several places for one.

A call covers another of the same tool when it differs from it only in asking for more, and a journey on the map when it
asks for the same way, whichever tool finds it. Arguments alone decide; whether what was wanted came back is for the
caller to see.
"""

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from m3bench.server.scoring.agreement import Agreement, same_place
from m3bench.tasks.facts import number
from m3bench.tasks.trajectory import JSON, Call

_RANGES = (("start_date", "end_date"), ("startTime", "endTime"), ("dateStart", "dateEnd"))
"""Pairs of arguments that are the ends of a time."""
_REACH = frozenset({"hours", "limit", "max_results", "months_back", "n", "radiusMeters"})
"""Arguments of which more brings more."""
_MODES = {"drive": "driving", "walk": "walking", "bicycle": "bicycling"}


class Journey(NamedTuple):
    """One way from a place to another."""

    origin: JSON
    destination: JSON
    mode: str


def covers(wanted: Call, asked: Call, agreement: Agreement | None) -> bool:
    """Whether a call asks for all that another asks for.

    Args:
        wanted: The reference call.
        asked: The actual call.
        agreement: Of their arguments, when the tool is the same.
    """
    if agreement is not None and agreement.wrong and not agreement.reworded and agreement.share == 1:
        names = {found.argument for found in agreement.wrong}
        ends = {name for pair in _RANGES if names & {*pair} and _contains(wanted, asked, *pair) for name in pair}
        if all(found.argument in ends or _more(found.argument, found.wanted, found.asked) for found in agreement.wrong):
            return True
    journeys = [*_journeys(asked)]
    return bool(journeys) and any(
        all(any(_same(one, other) for other in journeys) for one in found) for found in [[*_journeys(wanted)]] if found
    )


def _contains(wanted: Call, asked: Call, start: str, end: str) -> bool:
    """Whether the time that was asked for contains the wanted one; days and times are written so that they sort."""
    inner, outer = ([str(call.arguments.get(name, "")) for name in (start, end)] for call in (wanted, asked))
    return all(inner) and all(outer) and outer[0] <= inner[0] and inner[1] <= outer[1]


def _more(name: str, wanted: JSON, asked: JSON) -> bool:
    if name in _REACH:
        less, more = number(wanted), number(asked)
        return less is not None and more is not None and more >= less
    one, other = _list(wanted), _list(asked)
    return bool(one) and len(other) > len(one) and all(any(_equal(item, found) for found in other) for item in one)


def _list(value: JSON) -> list[JSON]:
    if isinstance(value, list | tuple):
        return [*value]
    return [*value.split("|")] if isinstance(value, str) and "|" in value else [value] if value is not None else []


def _equal(one: JSON, other: JSON) -> bool:
    return one == other or same_place(one, other)


def _journeys(call: Call) -> Iterator[Journey]:
    """The ways that a call of the map asks for."""
    given = call.arguments
    mode = str(given.get("travelMode") or given.get("mode") or "driving").casefold()
    mode = _MODES.get(mode, mode)
    name = call.tool.removeprefix("google-maps/")
    if name == "distance_matrix":
        for origin in _list(given.get("origins")):
            for destination in _list(given.get("destinations")):
                yield Journey(origin, destination, mode)
    elif (
        name in ("compute_route", "directions_legacy") and not given.get("intermediates") and not given.get("waypoints")
    ):
        yield Journey(_end(given.get("origin")), _end(given.get("destination")), mode)


def _end(value: JSON) -> JSON:
    """The place at an end of a route, without the names of the fields around it."""
    while isinstance(value, Mapping) and len(value) == 1:
        value = next(iter(value.values()))
    return value


def _same(one: Journey, other: Journey) -> bool:
    return (
        one.mode == other.mode
        and same_place(one.origin, other.origin)
        and same_place(one.destination, other.destination)
    )
