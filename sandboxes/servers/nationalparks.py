"""The `nationalparks` server: parks of the United States with alerts, visitor centers, campgrounds and events.

First how each of these is shown, then the tools. Failures are ordinary results with an `error` field, as on the public
server. Two things are done sensibly where the public one is not: `activities` really filters, and an amenity that a
campground does not have is not listed.
"""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import date
from functools import cache

from m3bench.sandboxes.gaps import covered
from m3bench.sandboxes.toolserver import ToolServer
from m3bench.sandboxes.world import tables
from m3bench.sandboxes.world.clock import NOW
from m3bench.sandboxes.world.search import SearchIndex, words
from m3bench.sandboxes.world.tables import Record
from m3bench.tasks.errors import SoftError

STATE_NAMES = {
    "AK": "Alaska",
    "AZ": "Arizona",
    "CA": "California",
    "CO": "Colorado",
    "FL": "Florida",
    "HI": "Hawaii",
    "ID": "Idaho",
    "IN": "Indiana",
    "KY": "Kentucky",
    "ME": "Maine",
    "MT": "Montana",
    "NC": "North Carolina",
    "NM": "New Mexico",
    "NV": "Nevada",
    "OH": "Ohio",
    "OR": "Oregon",
    "SD": "South Dakota",
    "TN": "Tennessee",
    "TX": "Texas",
    "UT": "Utah",
    "VA": "Virginia",
    "WA": "Washington",
    "WY": "Wyoming",
}

_DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")

_ALERT_TYPES = {
    "Information": "Information (non-emergency)",
    "Caution": "Caution (potential hazard)",
    "Danger": "Danger (significant hazard)",
    "Park Closure": "Park Closure (area inaccessible)",
}

_AMENITIES = {
    "toilets": "Toilets",
    "potableWater": "Potable water",
    "showers": "Showers",
    "dumpStation": "Dump station",
    "foodStorageLockers": "Food storage lockers",
    "trashRecyclingCollection": "Trash and recycling collection",
    "amphitheater": "Amphitheater",
    "staffOrVolunteerHostOnsite": "Staff or volunteer host on site",
    "campStore": "Camp store",
    "firewoodForSale": "Firewood for sale",
    "iceAvailableForSale": "Ice for sale",
    "laundry": "Laundry",
    "cellPhoneReception": "Cell phone reception",
}


def park_summary(park: Record) -> dict[str, object]:
    """A park in a list."""
    return _summary(
        park,
        activities=park["activities"],
        weather=park["weather"],
        fees=park["fees"],
        hours=[_park_hours(park)],
        contacts=_contacts(park["phone"], park["id"]),
    )


def park_details(park: Record) -> dict[str, object]:
    """A park in full."""
    return {
        "name": park["name"],
        "code": park["id"],
        "url": _url(park["id"], "index.htm"),
        "description": park["description"],
        "designation": park["designation"],
        "states": park["states"],
        "weatherInfo": park["weather"],
        "directionsInfo": park["directions"],
        "directionsUrl": _url(park["id"], "planyourvisit/directions.htm"),
        "location": _location(park, park),
        "contacts": _contacts(park["phone"], park["id"]),
        "entranceFees": [{**fee, "cost": f"${fee['cost']}"} for fee in park["fees"]],
        "entrancePasses": [{**fee, "cost": f"${fee['cost']}"} for fee in park["passes"]],
        "operatingHours": [_park_hours(park)],
        "topics": park["topics"],
        "activities": park["activities"],
        "images": [],
    }


def unit_summary(unit: Record) -> dict[str, object]:
    """A list entry for a unit of which only name, kind, place and one sentence are known."""
    nobody: dict[str, object] = {"phoneNumbers": [], "emailAddresses": []}
    return _summary(unit, activities=[], weather="", fees=[], hours=[], contacts=nobody)


def _summary(
    record: Record, *, activities: object, weather: str, fees: object, hours: list[object], contacts: dict[str, object]
) -> dict[str, object]:
    return {
        "name": record["name"],
        "code": record["id"],
        "description": record["description"],
        "states": record["states"],
        "url": _url(record["id"], "index.htm"),
        "designation": record["designation"],
        "activities": activities,
        "weatherInfo": weather,
        "location": {"latitude": _degrees(record.get("lat")), "longitude": _degrees(record.get("lng"))},
        "entranceFees": fees,
        "operatingHours": hours,
        "contacts": contacts,
        "images": [],
    }


def unit_details(unit: Record) -> dict[str, object]:
    """The same by its code."""
    shown = unit_summary(unit)
    more = {
        "directionsInfo": "",
        "directionsUrl": _url(unit["id"], "planyourvisit/directions.htm"),
        "entrancePasses": [],
        "topics": [],
    }
    return shown | more


def alert_entry(record: Record) -> dict[str, object]:
    """An alert with the long name of its kind and a date as Americans write it."""
    day = date.fromisoformat(record["date"])
    return {
        "title": record["title"],
        "description": record["description"],
        "parkCode": record["park_id"],
        "type": _ALERT_TYPES[record["category"]],
        "url": _url(record["park_id"], "planyourvisit/conditions.htm"),
        "lastUpdated": f"{day.month}/{day.day}/{day.year}",
    }


def visitor_center_entry(center: Record, park: Record) -> dict[str, object]:
    """A visitor center of a park."""
    closed = center["hours"] == "Closed"
    note = "Closed at this time of the year." if closed else "Open daily except on Thanksgiving and 25 December."
    return {
        "name": center["name"],
        "parkCode": center["park_id"],
        "description": center["description"],
        "url": _url(center["park_id"], "planyourvisit/visitorcenters.htm"),
        "directionsInfo": park["directions"],
        "directionsUrl": _url(center["park_id"], "planyourvisit/directions.htm"),
        "location": _location(center, park),
        "operatingHours": [{"name": center["name"], "description": note, "standardHours": _week(center["hours"])}],
        "contacts": _contacts(center["phone"], park["id"]),
    }


def campground_entry(record: Record, park: Record) -> dict[str, object]:
    """A campground of a park."""
    code, fee, season = record["park_id"], record["fee"], record["season"]
    reserved = record["reservable"] > 0
    return {
        "name": record["name"],
        "parkCode": code,
        "description": record["description"],
        "url": _url(code, "planyourvisit/campgrounds.htm"),
        "reservationInfo": _reservation(record),
        "reservationUrl": "https://www.recreation.gov" if reserved else "",
        "regulations": "Stay in a numbered site, keep quiet from 10PM to 6AM and make fires in the grates only.",
        "regulationsUrl": _url(code, "learn/management/lawsandpolicies.htm"),
        "weatherOverview": park["weather"],
        "location": _location(record, park),
        "operatingHours": [
            {
                "name": record["name"],
                "description": "Closed until further notice." if season == "Closed" else f"Season: {season}.",
                "standardHours": _week("Closed" if season == "Closed" else "All Day"),
            }
        ],
        "fees": [
            {
                "cost": f"${fee}.00",
                "title": "Camping Fee" if fee else "No Fee",
                "description": "Per site and night." if fee else "Camping here is free.",
            }
        ],
        "totalSites": str(record["sites"]),
        "sitesReservable": str(record["reservable"]),
        "sitesFirstComeFirstServe": str(record["first_come"]),
        "campsiteTypes": _site_types(record),
        "amenities": _amenities(record["amenities"]),
        "accessibility": {
            "wheelchairAccess": "Some sites and toilets are level and paved."
            if "Flush toilets" in record["amenities"].get("toilets", ())
            else "The ground is uneven and there are no paved paths.",
            "rvAllowed": "Yes" if "dumpStation" in record["amenities"] else "Small vehicles only",
        },
        "contacts": _contacts(record["phone"], park["id"]),
    }


def event_entry(record: Record, park: Record) -> dict[str, object]:
    """An event of a park."""
    begin, end = record["time"].split("-")
    dates = record["dates"]
    return {
        "title": record["title"],
        "parkCode": record["park_id"],
        "parkName": park["name"],
        "description": record["description"],
        "category": "Regular Event",
        "subcategory": record["category"],
        "tags": [record["category"].lower(), *(topic.lower() for topic in park["topics"][:2])],
        "location": record["place"],
        "coordinates": {"latitude": _degrees(park["lat"]), "longitude": _degrees(park["lng"])},
        "dateTime": {
            "dates": dates,
            "times": [{"timeStart": begin, "timeEnd": end}],
            "dateStart": dates[0],
            "dateEnd": dates[-1],
            "isAllDay": False,
            "isRecurring": len(dates) > 1,
        },
        "feeInfo": {"isFree": record["fee"].startswith("free"), "info": record["fee"]},
        "contactInfo": _contacts(park["phone"], park["id"]),
        "infoUrl": _url(record["park_id"], "planyourvisit/calendar.htm"),
        "lastUpdated": "10/27/2025",
    }


def _reservation(record: Record) -> str:
    if record["season"] == "Closed":
        return "This campground is closed; no sites can be reserved."
    if not record["reservable"]:
        return "Sites cannot be reserved: first come, first served."
    if not record["first_come"]:
        return "A reservation is needed while the campground is in season; sites are released up to six months ahead."
    return (
        f"{record['reservable']} sites can be reserved up to six months ahead, the rest are first come, first served."
    )


def _site_types(record: Record) -> dict[str, str]:
    """How the sites divide; only a place with a dump station takes large vehicles."""
    large = record["sites"] * 2 // 5 if "dumpStation" in record["amenities"] else 0
    group = record["sites"] // 60
    return {
        "group": str(group),
        "rvOnly": str(record["sites"] if "RV Park" in record["name"] else 0),
        "tentOnly": str(0 if "RV Park" in record["name"] else record["sites"] - large - group),
        "electricalHookups": str(record["sites"] if "RV Park" in record["name"] else 0),
        "walkBoatTo": "0",
    }


def _amenities(amenities: dict[str, object]) -> list[str]:
    shown: list[str] = []
    for key, label in _AMENITIES.items():
        value = amenities.get(key)
        if value is not None:
            detail = ", ".join(value) if isinstance(value, list) else value
            shown.append(label if detail == "Yes" else f"{label} ({detail})")
    return shown


def _park_hours(park: Record) -> dict[str, object]:
    note = "The park is open every day and hour of the year; roads and buildings keep seasons of their own."
    return {"name": park["name"], "description": note, "standardHours": _week("All Day")}


def _week(hours: str) -> list[str]:
    return [f"{day}: {hours}" for day in _DAYS]


def _location(record: Record, park: Record) -> dict[str, object]:
    address = park["address"]
    return {
        "latitude": _degrees(record["lat"]),
        "longitude": _degrees(record["lng"]),
        "address": {
            "line1": address["line1"],
            "city": address["city"],
            "stateCode": address["state"],
            "postalCode": address["zip"],
        },
    }


def _contacts(phone: str, code: str) -> dict[str, object]:
    return {
        "phoneNumbers": [{"type": "Voice", "number": f"({phone[:3]}) {phone[3:6]}-{phone[6:]}", "description": ""}],
        "emailAddresses": [{"address": f"{code}_information@nps.example", "description": ""}],
    }


def _degrees(value: float | None) -> str:
    """As text; empty where the position is not known, as in the public lists."""
    return "" if value is None else f"{value:.4f}"


def _url(code: str, page: str) -> str:
    return f"https://www.nps.gov/{code}/{page}"


server = ToolServer("nationalparks")

DEFAULT_LIMIT = 10

_STATE_CODES = (
    "AL AK AZ AR CA CO CT DE FL GA HI ID IL IN IA KS KY LA ME MD MA MI MN MS MO MT NE NV NH NJ NM NY NC ND OH OK "
    "OR PA RI SC SD TN TX UT VT VA WA WV WI WY DC AS GU MP PR VI UM"
)
STATES = tuple(_STATE_CODES.split())

_FIELDS: Mapping[str, Mapping[str, float]] = {
    "parks": {"name": 3.0, "code": 3.0, "topics": 1.5, "activities": 1.5, "state_names": 1.5, "description": 1.2},
    "park_units": {"name": 3.0, "id": 3.0, "designation": 1.5, "description": 1.2},
    "park_alerts": {"title": 3.0, "category": 1.5, "description": 1.5, "park": 1.5},
    "park_visitor_centers": {"name": 3.0, "park": 1.5, "description": 1.2},
    "park_campgrounds": {"name": 3.0, "park": 1.5, "description": 1.2},
    "park_events": {"title": 3.0, "category": 1.5, "place": 1.5, "description": 1.2, "park": 1.2},
}


def _is_called(park: Record, q: str) -> bool:
    """Whether all words of a search stand in a park's name."""
    return set(words(q)) <= set(words(park["name"]))


@server.tool
async def findParks(
    stateCode: str | None = None,
    q: str | None = None,
    limit: float | None = None,
    start: float | None = None,
    activities: str | None = None,
) -> dict[str, object]:
    states = {code.upper() for code in _parts(stateCode)}
    unknown = [code for code in _parts(stateCode) if code.upper() not in STATES]
    if unknown:
        raise SoftError(
            {"error": f"Invalid state code(s): {', '.join(unknown)}", "validStateCodes": list(STATES)},
            outcome="invalid_arguments",
        )
    wanted = {name.casefold() for name in _parts(activities)}

    def fits(park: Record) -> bool:
        offered = {name.casefold() for name in park.get("activities", ())}
        return (not states or bool(states & set(park["states"]))) and wanted <= offered

    def show(park: Record) -> dict[str, object]:
        return park_summary(park) if park["id"] in _parks() else unit_summary(park)

    size, offset = _count("limit", limit, DEFAULT_LIMIT), _count("start", start, 0)
    found = _found("parks", q, fits)
    # Whoever names a park means it; a list of all that fits has the smaller units too.
    if not (q and q.strip() and found):
        found += _found("park_units", q, fits)
    elif not _is_called(found[0], q):
        found = [*(unit for unit in _found("park_units", q, fits) if _is_called(unit, q)), *found]
    page = [show(park) for park in found[offset : offset + size]]
    answer = {"total": len(found), "limit": size, "start": offset, "parks": page}
    return covered(answer, found, q if q and q.strip() else "any")


@server.tool
async def getParkDetails(parkCode: str) -> dict[str, object]:
    code = parkCode.strip().lower()
    if code in _units():
        return unit_details(_units()[code])
    park = _parks().get(code)
    if park is None:
        raise SoftError(
            {"error": "Park not found", "message": f"No park found with park code: {parkCode}"},
            outcome="gap" if _is_code(parkCode.strip()) else "not_found",
        )
    return park_details(park)


@server.tool
async def getAlerts(
    parkCode: str | None = None, limit: float | None = None, start: float | None = None, q: str | None = None
) -> dict[str, object]:
    return _page(
        "park_alerts", q, _in_parks(parkCode), limit, start, alert_entry, "alerts", possible=_possible(parkCode)
    )


@server.tool
async def getVisitorCenters(
    parkCode: str | None = None, limit: float | None = None, start: float | None = None, q: str | None = None
) -> dict[str, object]:
    def show(center: Record) -> dict[str, object]:
        return visitor_center_entry(center, _parks()[center["park_id"]])

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
) -> dict[str, object]:
    def show(campground: Record) -> dict[str, object]:
        return campground_entry(campground, _parks()[campground["park_id"]])

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
) -> dict[str, object]:
    first = _day("dateStart", dateStart) or NOW.date().isoformat()
    last = _day("dateEnd", dateEnd) or "9999-12-31"
    in_parks = _in_parks(parkCode)

    def fits(event: Record) -> bool:
        return in_parks(event) and any(first <= day <= last for day in event["dates"])

    def show(event: Record) -> dict[str, object]:
        return event_entry(event, _parks()[event["park_id"]])

    return _page("park_events", q, fits, limit, start, show, "events", possible=_possible(parkCode) and first <= last)


def _page(
    table: str,
    query: str | None,
    keep: Callable[[Record], bool],
    limit: float | None,
    start: float | None,
    show: Callable[[Record], dict[str, object]],
    name: str,
    *,
    possible: bool = True,
) -> dict[str, object]:
    """One page of what fits, as a list and by park code.

    Nothing at all is a gap of the world where it is `possible` that there is something.
    """
    size, offset = _count("limit", limit, DEFAULT_LIMIT), _count("start", start, 0)
    found = _found(table, query, keep)
    page = [show(record) for record in found[offset : offset + size]]
    answer: dict[str, object] = {"total": len(found), "limit": size, "start": offset, name: page}
    answer[f"{name}ByPark"] = _by_park(page)
    return covered(answer, found or not possible, query if query and query.strip() else "any")


_NP = re.compile(r"\bNP\b")


def _found(table: str, query: str | None, keep: Callable[[Record], bool]) -> list[Record]:
    """The records of a table that fit: those that a query means, best first, or all."""
    records = _rows(table)
    query = _NP.sub("National Park", query) if query else query
    if query and query.strip():
        return [record for _, record in _index(table).search(query, len(records), keep=keep)]
    return [record for record in records if keep(record)]


def _by_park(page: Iterable[dict[str, object]]) -> dict[str, list[dict[str, object]]]:
    grouped: dict[str, list[dict[str, object]]] = {}
    for item in page:
        grouped.setdefault(str(item["parkCode"]), []).append(item)
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
def _rows(table: str) -> Sequence[Record]:
    """The records of a table with what the search also looks at, in the order of the public lists."""
    rows: list[Record] = []
    for record in tables.load(table):
        if table == "park_units":
            rows.append(record)
        elif table == "parks":
            rows.append({**record, "code": record["id"], "state_names": [STATE_NAMES[s] for s in record["states"]]})
        else:
            rows.append({**record, "park": _parks()[record["park_id"]]["name"]})
    if table == "park_alerts":
        rows.sort(key=lambda alert: str(alert["date"]), reverse=True)
    elif table == "park_events":
        rows.sort(key=lambda event: str(event["dates"][0]))
    return rows


@cache
def _index(table: str) -> SearchIndex[Record]:
    return SearchIndex(_rows(table), _FIELDS[table], coverage=0.7 if table == "park_units" else 0.5)
