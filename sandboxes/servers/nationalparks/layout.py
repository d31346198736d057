"""How the `nationalparks` server shows a park, an alert, a visitor center, a campground and an event."""

from datetime import date
from typing import Any

from m3bench.sandboxes.world.tables import Record

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


def park_summary(park: Record) -> dict[str, Any]:
    """A park in a list."""
    return _summary(
        park,
        activities=park["activities"],
        weather=park["weather"],
        fees=park["fees"],
        hours=[_park_hours(park)],
        contacts=_contacts(park["phone"], park["id"]),
    )


def park_details(park: Record) -> dict[str, Any]:
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


def unit_summary(unit: Record) -> dict[str, Any]:
    """A unit of which no more than name, kind, place and a sentence is known, in a list."""
    nobody: dict[str, Any] = {"phoneNumbers": [], "emailAddresses": []}
    return _summary(unit, activities=[], weather="", fees=[], hours=[], contacts=nobody)


def _summary(
    record: Record, *, activities: Any, weather: str, fees: Any, hours: list[Any], contacts: dict[str, Any]
) -> dict[str, Any]:
    return {
        "name": record["name"],
        "code": record["id"],
        "description": record["description"],
        "states": record["states"],
        "url": _url(record["id"], "index.htm"),
        "designation": record["designation"],
        "activities": activities,
        "weatherInfo": weather,
        "location": {"latitude": _degrees(record["lat"]), "longitude": _degrees(record["lng"])},
        "entranceFees": fees,
        "operatingHours": hours,
        "contacts": contacts,
        "images": [],
    }


def unit_details(unit: Record) -> dict[str, Any]:
    """The same by its code."""
    shown = unit_summary(unit)
    more = {
        "directionsInfo": "",
        "directionsUrl": _url(unit["id"], "planyourvisit/directions.htm"),
        "entrancePasses": [],
        "topics": [],
    }
    return shown | more


def alert(record: Record) -> dict[str, Any]:
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


def visitor_center(center: Record, park: Record) -> dict[str, Any]:
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


def campground(record: Record, park: Record) -> dict[str, Any]:
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


def event(record: Record, park: Record) -> dict[str, Any]:
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


def _amenities(amenities: dict[str, Any]) -> list[str]:
    shown: list[str] = []
    for key, label in _AMENITIES.items():
        value = amenities.get(key)
        if value is not None:
            detail = ", ".join(value) if isinstance(value, list) else value
            shown.append(label if detail == "Yes" else f"{label} ({detail})")
    return shown


def _park_hours(park: Record) -> dict[str, Any]:
    note = "The park is open every day and hour of the year; roads and buildings keep seasons of their own."
    return {"name": park["name"], "description": note, "standardHours": _week("All Day")}


def _week(hours: str) -> list[str]:
    return [f"{day}: {hours}" for day in _DAYS]


def _location(record: Record, park: Record) -> dict[str, Any]:
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


def _contacts(phone: str, code: str) -> dict[str, Any]:
    return {
        "phoneNumbers": [{"type": "Voice", "number": f"({phone[:3]}) {phone[3:6]}-{phone[6:]}", "description": ""}],
        "emailAddresses": [{"address": f"{code}_information@nps.example", "description": ""}],
    }


def _degrees(value: float) -> str:
    return f"{value:.4f}"


def _url(code: str, page: str) -> str:
    return f"https://www.nps.gov/{code}/{page}"
