"""Tools: routes of the newer and of the legacy service, and distance matrices.

A waypoint may be coordinates, an address, a name or a place id. Where the public server sends what the service refuses
(a bare `latLng`), this one does what was meant.
"""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, TypedDict

from m3bench.sandboxes.gaps import Partial, covered
from m3bench.sandboxes.identifiers import is_place_id
from m3bench.sandboxes.servers.google_maps import geocoder, routes
from m3bench.sandboxes.servers.google_maps.details import resolve
from m3bench.sandboxes.servers.google_maps.geocoder import reverse
from m3bench.sandboxes.servers.google_maps.matches import GeocodeMatch, location
from m3bench.sandboxes.servers.google_maps.routes import Leg, Route, RouteStep
from m3bench.sandboxes.servers.google_maps.wire import (
    LEGACY,
    ROUTES,
    envelope,
    http_error,
    lat_lng,
    mask_problem,
    masked,
    sent,
    server,
    v1_location,
)
from m3bench.sandboxes.world import geo, settlements
from m3bench.sandboxes.world.clock import NOW
from m3bench.sandboxes.world.geo import Box, Point

MILE_COUNTRIES = frozenset(("US", "GB", "LR", "MM"))


def in_miles(point: Point) -> bool:
    """Whether people at a point measure in miles."""
    place = settlements.nearest(point, 400_000)
    return place is not None and place.country in MILE_COUNTRIES


def distance_text(metres: float, miles: bool) -> str:
    """`1.2 km`, `350 m`, `0.7 mi`, `420 ft`."""
    if miles:
        feet = metres / 0.3048
        return f"{round(feet)} ft" if feet < 528 else _short(metres / 1609.344, "mi")
    return f"{round(metres)} m" if metres < 1000 else _short(metres / 1000, "km")


def duration_text(seconds: int) -> str:
    """`1 min`, `25 mins`, `2 hours 5 mins`, `1 day 3 hours`."""
    minutes = max(1, round(seconds / 60))
    days, rest = divmod(minutes, 24 * 60)
    hours, minutes = divmod(rest, 60)
    if days:
        parts = [_count(days, "day"), _count(hours, "hour") if hours else ""]
    else:
        parts = [_count(hours, "hour") if hours else "", _count(minutes, "min") if minutes or not hours else ""]
    return " ".join(part for part in parts if part)


def place_text(point: Point) -> str:
    """The address of a position, or its coordinates where there is none."""
    found = reverse(point)
    return found[0].address if found else f"{point.lat:.6f},{point.lng:.6f}"


def _short(value: float, unit: str) -> str:
    return f"{value:.1f} {unit}" if value < 100 else f"{round(value):,} {unit}"


def _count(number: int, word: str) -> str:
    return f"{number} {word}" if number == 1 else f"{number} {word}s"


def legacy_waypoint(text: str) -> tuple[Point, str, list[str]] | None:
    """Position, place id and types of a waypoint written as text; None when nothing answers to it."""
    text = text.strip().removeprefix("via:")
    if text.startswith("place_id:"):
        found = resolve(text.removeprefix("place_id:").strip())
        return (found.point, found.id, list(found.types)) if found else None
    point = geocoder.coordinates(text)
    if point is not None:
        there = reverse(point)
        return (point, there[0].id, list(there[0].types)) if there else (point, "", [])
    matched: tuple[GeocodeMatch, ...] = geocoder.geocode(text) if text else ()
    return (matched[0].point, matched[0].id, list(matched[0].types)) if matched else None


def may_be_waypoint(text: str) -> bool:
    """Whether a waypoint that nothing here answers to may be one all the same."""
    _, is_id, name = text.strip().removeprefix("via:").partition("place_id:")
    return is_place_id(name.strip()) if is_id else any(character.isalnum() for character in text)


def current_waypoint(waypoint: Mapping[str, Any], field: str) -> Point:
    """Position of a waypoint given as an object; raises a `ToolError` like the service's refusal.

    The service knows `location.latLng`, `placeId` and `address`; a bare `latLng`, which it refuses, is taken
    as what it plainly means.
    """
    if isinstance(waypoint.get("placeId"), str):
        found = resolve(waypoint["placeId"])
        if found is None:
            message = f"{field}.placeId: The provided Place ID is invalid."
            raise http_error(400, ROUTES, message, possible=is_place_id(waypoint["placeId"]))
        return found.point
    location = waypoint.get("location")
    for value in ((location or {}).get("latLng") if isinstance(location, Mapping) else None, waypoint.get("latLng")):
        if value is not None:
            point = lat_lng(value)
            if point is None:
                raise http_error(400, ROUTES, f"{field}: latLng needs a latitude and a longitude on the globe.")
            return point
    if isinstance(waypoint.get("address"), str):
        there = legacy_waypoint(waypoint["address"])
        if there is None:
            message = f"{field}.address: no place answers to {waypoint['address']!r}."
            raise http_error(400, ROUTES, message, possible=may_be_waypoint(waypoint["address"]))
        return there[0]
    raise http_error(400, ROUTES, f"{field} must have one of location.latLng, placeId or address.")


DIRECTIONS = f"{LEGACY}/directions/json"
MATRIX = f"{LEGACY}/distancematrix/json"
ROUTE_MASK = "routes.distanceMeters,routes.duration,routes.polyline.encodedPolyline,routes.legs,routes.travelAdvisory"
ROUTE_FIELDS = ("routes", "fallbackInfo", "geocodingResults")
V2_MODES = {
    "DRIVE": "driving",
    "WALK": "walking",
    "BICYCLE": "bicycling",
    "TRANSIT": "transit",
    "TWO_WHEELER": "two_wheeler",
}
PREFERENCES = ("TRAFFIC_UNAWARE", "TRAFFIC_AWARE", "TRAFFIC_AWARE_OPTIMAL")
MAX_STOPS = 25
MAX_ELEMENTS = 100
ALTERNATIVE_M = 10_000
"""On ways shorter than this the legacy service has no second route to offer."""


@server.tool
def compute_route(
    origin: dict[str, object],
    destination: dict[str, object],
    travelMode: str = "DRIVE",
    routingPreference: str | None = None,
    avoidTolls: bool | None = None,
    optimizeWaypointOrder: bool | None = None,
    intermediates: list[dict[str, object]] | None = None,
    fields: str | None = None,
) -> dict[str, object]:
    mask = fields or ROUTE_MASK
    _check_route(travelMode, routingPreference, intermediates or [], mask)
    request = sent(
        origin=origin,
        destination=destination,
        travelMode=travelMode,
        routingPreference=routingPreference,
        routeModifiers=None if avoidTolls is None else {"avoidTolls": avoidTolls},
        optimizeWaypointOrder=optimizeWaypointOrder,
        intermediates=intermediates,
    )
    stops = [
        current_waypoint(origin, "origin"),
        *(current_waypoint(stop, f"intermediates[{index}]") for index, stop in enumerate(intermediates or [])),
        current_waypoint(destination, "destination"),
    ]
    mode = V2_MODES[travelMode]
    # The other road is a little longer.
    variant = int(bool(avoidTolls) and routes.has_tolls(stops, mode))
    route = routes.plan(stops, mode, NOW, optimise=bool(optimizeWaypointOrder), variant=variant)
    aware = routingPreference in PREFERENCES[1:]
    response = {"routes": [_current_route(route, travelMode, aware, bool(optimizeWaypointOrder))]} if route else {}
    return envelope(ROUTES, masked(response, mask), request=request, mask=mask)


def _check_route(mode: str, preference: str | None, stops: Sequence[object], mask: str) -> None:
    if mode not in V2_MODES:
        raise http_error(400, ROUTES, f"Invalid value at 'travel_mode': {mode!r}. Use one of {', '.join(V2_MODES)}.")
    if preference is not None and preference not in PREFERENCES:
        raise http_error(
            400, ROUTES, f"Invalid value at 'routing_preference': {preference!r}. Use one of {', '.join(PREFERENCES)}."
        )
    if preference is not None and mode not in ("DRIVE", "TWO_WHEELER"):
        raise http_error(400, ROUTES, f"Routing preference cannot be set for travel mode {mode}.")
    if len(stops) > MAX_STOPS:
        raise http_error(400, ROUTES, f"Too many intermediates: {len(stops)} of at most {MAX_STOPS}.")
    unknown = mask_problem(mask, ROUTE_FIELDS)
    if unknown is not None:
        raise http_error(400, ROUTES, f"Cannot find matching fields for path '{unknown}'.")


@server.tool
def directions_legacy(
    origin: str,
    destination: str,
    mode: str = "driving",
    waypoints: list[str] | None = None,
    departure_time: str | None = None,
) -> dict[str, object]:
    stops = list(waypoints or [])
    request = sent(
        origin=origin,
        destination=destination,
        mode=mode,
        waypoints="|".join(stops) if stops else None,
        departure_time=departure_time,
    )
    response = _directions(origin, destination, mode, stops, departure_time)
    answer = envelope(DIRECTIONS, response, request=request)
    absent = response["status"] == "NOT_FOUND" and all(map(may_be_waypoint, (origin, *stops, destination)))
    return covered(answer, not absent)


def _directions(origin: str, destination: str, mode: str, stops: list[str], departure: str | None) -> dict[str, object]:
    when = _departure(departure)
    if mode not in routes.MODES[:4] or when is None:
        wrong = "'mode'" if mode not in routes.MODES[:4] else "'departure_time'"
        message = f"Invalid request. Invalid {wrong} parameter."
        return {"error_message": message, "geocoded_waypoints": [], "routes": [], "status": "INVALID_REQUEST"}
    optimise = bool(stops) and stops[0].strip().lower() == "optimize:true"
    stops = stops[1:] if optimise else stops
    if len(stops) > MAX_STOPS:
        return {"geocoded_waypoints": [], "routes": [], "status": "MAX_WAYPOINTS_EXCEEDED"}
    found = [legacy_waypoint(text) for text in (origin, *stops, destination)]
    told = [
        {"geocoder_status": "OK", "place_id": there[1], "types": there[2]}
        if there
        else {"geocoder_status": "ZERO_RESULTS"}
        for there in found
    ]
    points = [there[0] for there in found if there]
    if len(points) < len(found):
        return {"geocoded_waypoints": told, "routes": [], "status": "NOT_FOUND"}
    best = routes.plan(points, mode, when, optimise=optimise)
    if best is None:
        return {"geocoded_waypoints": told, "routes": [], "status": "ZERO_RESULTS"}
    plans = [best]
    if mode == "driving" and not stops and best.metres > ALTERNATIVE_M:
        plans += [plan for plan in [routes.plan(points, mode, when, variant=1)] if plan]
    listed = [_legacy_route(plan, mode, traffic=departure is not None) for plan in plans]
    return {"geocoded_waypoints": told, "routes": listed, "status": "OK"}


class _Row(TypedDict):
    elements: list[dict[str, object]]


class _Matrix(TypedDict):
    """The response of the distance matrix service."""

    destination_addresses: list[str]
    origin_addresses: list[str]
    rows: list[_Row]
    status: str


@server.tool
def distance_matrix(
    origins: list[str], destinations: list[str], mode: str = "driving", departure_time: str | None = None
) -> dict[str, object] | Partial:
    request = sent(
        origins="|".join(origins), destinations="|".join(destinations), mode=mode, departure_time=departure_time
    )
    response = _matrix(origins, destinations, mode, departure_time)
    answer = envelope(MATRIX, response, request=request)
    cells = {cell["status"] for row in response["rows"] for cell in row["elements"]}
    if "NOT_FOUND" not in cells or not all(map(may_be_waypoint, (*origins, *destinations))):
        return answer
    return Partial(covered(answer, cells != {"NOT_FOUND"}))


def _matrix(origins: list[str], destinations: list[str], mode: str, departure: str | None) -> _Matrix:
    when = _departure(departure)
    if mode not in routes.MODES[:4] or when is None or not origins or not destinations:
        return {"destination_addresses": [], "origin_addresses": [], "rows": [], "status": "INVALID_REQUEST"}
    if len(origins) * len(destinations) > MAX_ELEMENTS:
        return {"destination_addresses": [], "origin_addresses": [], "rows": [], "status": "MAX_ELEMENTS_EXCEEDED"}
    starts = [legacy_waypoint(text) for text in origins]
    ends = [legacy_waypoint(text) for text in destinations]
    rows: list[_Row] = []
    for start in starts:
        miles = start is not None and in_miles(start[0])
        row: list[dict[str, object]] = [
            _element(start[0], end[0], mode, when, miles, traffic=departure is not None)
            if start and end
            else {"status": "NOT_FOUND"}
            for end in ends
        ]
        rows.append({"elements": row})
    return {
        "destination_addresses": [place_text(end[0]) if end else "" for end in ends],
        "origin_addresses": [place_text(start[0]) if start else "" for start in starts],
        "rows": rows,
        "status": "OK",
    }


def _element(a: Point, b: Point, mode: str, when: datetime, miles: bool, *, traffic: bool) -> dict[str, object]:
    measured = routes.measure(a, b, mode, when)
    if measured is None:
        return {"status": "ZERO_RESULTS"}
    metres, seconds, jam = measured
    element: dict[str, object] = {"distance": _distance(metres, miles), "duration": _duration(seconds)}
    if traffic and mode == "driving":
        element["duration_in_traffic"] = _duration(jam)
    return {**element, "status": "OK"}


def _departure(text: str | None) -> datetime | None:
    """The moment of departure; None when the text is none. Past times are as good as future ones here."""
    if text is None or text.strip() == "now":
        return NOW
    try:
        return datetime.fromtimestamp(int(text), UTC)
    except (ValueError, OverflowError, OSError):
        return None


def _legacy_route(route: Route, mode: str, *, traffic: bool) -> dict[str, object]:
    box = Box.of(route.line)
    return {
        "bounds": {
            "northeast": location(Point(box.north, box.east)),
            "southwest": location(Point(box.south, box.west)),
        },
        "copyrights": "Drawn from the m3bench world",
        "legs": [_legacy_leg(leg, mode, traffic and mode == "driving") for leg in route.legs],
        "overview_polyline": {"points": geo.encode_polyline(route.line)},
        "summary": route.summary,
        "warnings": ["Walking directions may be missing sidewalks."] if mode == "walking" else [],
        "waypoint_order": list(route.order),
    }


def _legacy_leg(leg: Leg, mode: str, traffic: bool) -> dict[str, object]:
    miles = in_miles(leg.start)
    told: dict[str, object] = {"distance": _distance(leg.metres, miles), "duration": _duration(leg.seconds)}
    if traffic:
        told["duration_in_traffic"] = _duration(leg.traffic_seconds)
    return {
        **told,
        "end_address": place_text(leg.end),
        "end_location": location(leg.end),
        "start_address": place_text(leg.start),
        "start_location": location(leg.start),
        "steps": [_legacy_step(step, mode, miles) for step in leg.steps],
        "traffic_speed_entry": [],
        "via_waypoint": [],
    }


def _legacy_step(step: RouteStep, mode: str, miles: bool) -> dict[str, object]:
    told: dict[str, object] = {
        "distance": _distance(step.metres, miles),
        "duration": _duration(step.seconds),
        "end_location": location(step.line[-1]),
        "html_instructions": step.instruction.html,
    }
    if step.instruction.manoeuvre:
        told["maneuver"] = step.instruction.manoeuvre
    return {
        **told,
        "polyline": {"points": geo.encode_polyline(step.line)},
        "start_location": location(step.line[0]),
        "travel_mode": mode.upper(),
    }


def _distance(metres: int, miles: bool) -> dict[str, object]:
    return {"text": distance_text(metres, miles), "value": metres}


def _duration(seconds: int) -> dict[str, object]:
    return {"text": duration_text(seconds), "value": seconds}


def _current_route(route: Route, mode: str, aware: bool, optimised: bool) -> dict[str, object]:
    box = Box.of(route.line)
    miles = in_miles(route.legs[0].start)
    told: dict[str, object] = {
        "routeLabels": ["DEFAULT_ROUTE"],
        "legs": [_current_leg(leg, mode, aware, miles) for leg in route.legs],
        "distanceMeters": route.metres,
        "duration": f"{route.traffic_seconds if aware else route.seconds}s",
        "staticDuration": f"{route.seconds}s",
        "polyline": {"encodedPolyline": geo.encode_polyline(route.line)},
        "description": route.summary,
        "viewport": {"low": v1_location(Point(box.south, box.west)), "high": v1_location(Point(box.north, box.east))},
        "travelAdvisory": {},
        "localizedValues": _localized(route.metres, route.traffic_seconds if aware else route.seconds, miles),
    }
    if optimised and route.order:
        told["optimizedIntermediateWaypointIndex"] = list(route.order)
    return told


def _current_leg(leg: Leg, mode: str, aware: bool, miles: bool) -> dict[str, object]:
    seconds = leg.traffic_seconds if aware else leg.seconds
    return {
        "distanceMeters": leg.metres,
        "duration": f"{seconds}s",
        "staticDuration": f"{leg.seconds}s",
        "polyline": {"encodedPolyline": geo.encode_polyline(leg.line)},
        "startLocation": {"latLng": v1_location(leg.start)},
        "endLocation": {"latLng": v1_location(leg.end)},
        "steps": [_current_step(step, mode, miles) for step in leg.steps],
        "localizedValues": _localized(leg.metres, seconds, miles),
    }


def _current_step(step: RouteStep, mode: str, miles: bool) -> dict[str, object]:
    manoeuvre = step.instruction.manoeuvre.replace("-", "_").upper() or "DEPART"
    return {
        "distanceMeters": step.metres,
        "staticDuration": f"{step.seconds}s",
        "polyline": {"encodedPolyline": geo.encode_polyline(step.line)},
        "startLocation": {"latLng": v1_location(step.line[0])},
        "endLocation": {"latLng": v1_location(step.line[-1])},
        "navigationInstruction": {"maneuver": manoeuvre, "instructions": step.instruction.text},
        "localizedValues": {
            "distance": {"text": distance_text(step.metres, miles)},
            "staticDuration": {"text": duration_text(step.seconds)},
        },
        "travelMode": mode,
    }


def _localized(metres: int, seconds: int, miles: bool) -> dict[str, object]:
    return {
        "distance": {"text": distance_text(metres, miles)},
        "duration": {"text": duration_text(seconds)},
    }
