"""The tools of `nationalparks`: parks of the United States with alerts, visitor centers, campgrounds and events.

Failures are ordinary results with an `error` field, as on the public server. Two things are done sensibly where the
public one is not: `activities` really filters, and an amenity that a campground does not have is not listed.
"""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import date
from functools import cache
from typing import Any

from m3bench.sandboxes.gaps import covered
from m3bench.sandboxes.servers.nationalparks import layout
from m3bench.sandboxes.toolserver import ToolServer
from m3bench.sandboxes.world import tables
from m3bench.sandboxes.world.clock import NOW
from m3bench.sandboxes.world.search import Index
from m3bench.sandboxes.world.tables import Record
from m3bench.tasks.errors import SoftError

server = ToolServer("nationalparks")

DEFAULT_LIMIT = 10

_STATE_CODES = (
    "AL AK AZ AR CA CO CT DE FL GA HI ID IL IN IA KS KY LA ME MD MA MI MN MS MO MT NE NV NH NJ NM NY NC ND OH OK "
    "OR PA RI SC SD TN TX UT VT VA WA WV WI WY DC AS GU MP PR VI UM"
)
STATES = tuple(_STATE_CODES.split())

_FIELDS: Mapping[str, Mapping[str, float]] = {
    "parks": {"name": 3.0, "code": 3.0, "topics": 1.5, "activities": 1.5, "state_names": 1.5, "description": 1.2},
    "park_alerts": {"title": 3.0, "category": 1.5, "description": 1.5, "park": 1.5},
    "park_visitor_centers": {"name": 3.0, "park": 1.5, "description": 1.2},
    "park_campgrounds": {"name": 3.0, "park": 1.5, "description": 1.2},
    "park_events": {"title": 3.0, "category": 1.5, "place": 1.5, "description": 1.2, "park": 1.2},
}


@server.tool
async def findParks(
    stateCode: str | None = None,
    q: str | None = None,
    limit: float | None = None,
    start: float | None = None,
    activities: str | None = None,
) -> dict[str, Any]:
    states = {code.upper() for code in _parts(stateCode)}
    unknown = [code for code in _parts(stateCode) if code.upper() not in STATES]
    if unknown:
        raise SoftError(
            {"error": f"Invalid state code(s): {', '.join(unknown)}", "validStateCodes": list(STATES)},
            outcome="invalid_arguments",
        )
    wanted = {name.casefold() for name in _parts(activities)}

    def fits(park: Record) -> bool:
        offered = {name.casefold() for name in park["activities"]}
        return (not states or bool(states & set(park["states"]))) and wanted <= offered

    if q and q.strip() and not wanted and not _index("parks").search(q, 1, keep=fits):
        in_states = [unit for unit in _units().values() if not states or states & set(unit["states"])]
        named = [unit for _, unit in _unit_index().search(q, len(in_states)) if unit in in_states]
        size, offset = _count("limit", limit, DEFAULT_LIMIT), _count("start", start, 0)
        page = [layout.unit_summary(unit) for unit in named[offset : offset + size]]
        if named:
            return {"total": len(named), "limit": size, "start": offset, "parks": page}
    return _page("parks", q, fits, limit, start, layout.park_summary, "parks")


@server.tool
async def getParkDetails(parkCode: str) -> dict[str, Any]:
    code = parkCode.strip().lower()
    if code in _units():
        return layout.unit_details(_units()[code])
    park = _parks().get(code)
    if park is None:
        raise SoftError(
            {"error": "Park not found", "message": f"No park found with park code: {parkCode}"},
            outcome="gap" if _is_code(parkCode.strip()) else "not_found",
        )
    return layout.park_details(park)


@server.tool
async def getAlerts(
    parkCode: str | None = None, limit: float | None = None, start: float | None = None, q: str | None = None
) -> dict[str, Any]:
    return _page(
        "park_alerts", q, _in_parks(parkCode), limit, start, layout.alert, "alerts", possible=_possible(parkCode)
    )


@server.tool
async def getVisitorCenters(
    parkCode: str | None = None, limit: float | None = None, start: float | None = None, q: str | None = None
) -> dict[str, Any]:
    def show(center: Record) -> dict[str, Any]:
        return layout.visitor_center(center, _parks()[center["park_id"]])

    return _page(
        "park_visitor_centers",
        q,
        _in_parks(parkCode),
        limit,
        start,
        show,
        "visitorCenters",
        possible=_possible(parkCode),
    )


@server.tool
async def getCampgrounds(
    parkCode: str | None = None, limit: float | None = None, start: float | None = None, q: str | None = None
) -> dict[str, Any]:
    def show(campground: Record) -> dict[str, Any]:
        return layout.campground(campground, _parks()[campground["park_id"]])

    return _page(
        "park_campgrounds", q, _in_parks(parkCode), limit, start, show, "campgrounds", possible=_possible(parkCode)
    )


@server.tool
async def getEvents(
    parkCode: str | None = None,
    limit: float | None = None,
    start: float | None = None,
    dateStart: str | None = None,
    dateEnd: str | None = None,
    q: str | None = None,
) -> dict[str, Any]:
    first = _day("dateStart", dateStart) or NOW.date().isoformat()
    last = _day("dateEnd", dateEnd) or "9999-12-31"
    in_parks = _in_parks(parkCode)

    def fits(event: Record) -> bool:
        return in_parks(event) and any(first <= day <= last for day in event["dates"])

    def show(event: Record) -> dict[str, Any]:
        return layout.event(event, _parks()[event["park_id"]])

    return _page("park_events", q, fits, limit, start, show, "events", possible=_possible(parkCode) and first <= last)


def _page(
    table: str,
    query: str | None,
    keep: Callable[[Record], bool],
    limit: float | None,
    start: float | None,
    show: Callable[[Record], dict[str, Any]],
    name: str,
    *,
    possible: bool = True,
) -> dict[str, Any]:
    """One page of what fits, as a list and (but for parks) by park code.

    Nothing at all is a gap of the world where it is `possible` that there is something.
    """
    size, offset = _count("limit", limit, DEFAULT_LIMIT), _count("start", start, 0)
    records = _rows(table)
    if query and query.strip():
        found = [record for _, record in _index(table).search(query, len(records), keep=keep)]
    else:
        found = [record for record in records if keep(record)]
    page = [show(record) for record in found[offset : offset + size]]
    answer: dict[str, Any] = {"total": len(found), "limit": size, "start": offset, name: page}
    if table != "parks":
        answer[f"{name}ByPark"] = _by_park(page)
    return covered(answer, found or not possible, query if query and query.strip() else "any")


def _by_park(page: Iterable[dict[str, Any]]) -> dict[str, list[dict[str, Any]]]:
    grouped: dict[str, list[dict[str, Any]]] = {}
    for item in page:
        grouped.setdefault(item["parkCode"], []).append(item)
    return grouped


def _count(field: str, value: float | None, default: int) -> int:
    if value is None:
        return default
    if value < 0 or value != int(value):
        code = "too_small" if value < 0 else "invalid_type"
        message = "Number must be greater than or equal to 0" if value < 0 else "Expected integer, received float"
        raise _invalid(field, code, message)
    return int(value)


def _day(field: str, value: str | None) -> str | None:
    if value is None or not value.strip():
        return None
    try:
        return date.fromisoformat(value.strip()).isoformat()
    except ValueError as error:
        raise _invalid(field, "invalid_string", "Invalid date: expected YYYY-MM-DD") from error


def _invalid(field: str, code: str, message: str) -> SoftError:
    details = [{"code": code, "path": [field], "message": message}]
    return SoftError({"error": "Validation error", "details": details}, outcome="invalid_arguments")


def _in_parks(codes: str | None) -> Callable[[Record], bool]:
    wanted = {code.lower() for code in _parts(codes)}
    return lambda record: not wanted or record["park_id"] in wanted


def _possible(codes: str | None) -> bool:
    return not _parts(codes) or any(map(_is_code, _parts(codes)))


def _is_code(text: str) -> bool:
    return re.fullmatch(r"[a-z]{4}", text, re.IGNORECASE) is not None


def _parts(value: str | None) -> list[str]:
    return [part.strip() for part in (value or "").split(",") if part.strip()]


@cache
def _parks() -> Mapping[str, Record]:
    return {park["id"]: park for park in tables.load("parks")}


@cache
def _units() -> Mapping[str, Record]:
    """Units of the park system beside the parks that are described in full."""
    return {unit["id"]: unit for unit in tables.load("park_units")}


@cache
def _unit_index() -> Index[Record]:
    fields = {"name": 3.0, "id": 3.0, "designation": 1.5, "description": 1.2}
    return Index(list(_units().values()), fields, coverage=0.7)


@cache
def _rows(table: str) -> Sequence[Record]:
    """The records of a table with what the search also looks at, in the order of the public lists."""
    rows: list[Record] = []
    for record in tables.load(table):
        if table == "parks":
            rows.append(
                {**record, "code": record["id"], "state_names": [layout.STATE_NAMES[s] for s in record["states"]]}
            )
        else:
            rows.append({**record, "park": _parks()[record["park_id"]]["name"]})
    if table == "park_alerts":
        rows.sort(key=lambda alert: str(alert["date"]), reverse=True)
    elif table == "park_events":
        rows.sort(key=lambda event: str(event["dates"][0]))
    return rows


@cache
def _index(table: str) -> Index[Record]:
    return Index(_rows(table), _FIELDS[table])
