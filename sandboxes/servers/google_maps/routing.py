"""Tools: routes of the newer and of the legacy service, and matrices of distances.

Where the public server sends what the service refuses (a bare `latLng`), this one does what was meant.
"""

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

from m3bench.sandboxes.gaps import Partial, covered
from m3bench.sandboxes.servers.google_maps import measures, routes, waypoints
from m3bench.sandboxes.servers.google_maps.matches import location
from m3bench.sandboxes.servers.google_maps.routes import Leg, Route, Step
from m3bench.sandboxes.servers.google_maps.waypoints import may_be
from m3bench.sandboxes.servers.google_maps.wire import (
    LEGACY,
    ROUTES,
    envelope,
    http_error,
    mask_problem,
    masked,
    sent,
    server,
    v1_location,
)
from m3bench.sandboxes.world import geo
from m3bench.sandboxes.world.clock import NOW
from m3bench.sandboxes.world.geo import Box, Point

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
    origin: dict[str, Any],
    destination: dict[str, Any],
    travelMode: str = "DRIVE",
    routingPreference: str | None = None,
    avoidTolls: bool | None = None,
    optimizeWaypointOrder: bool | None = None,
    intermediates: list[dict[str, Any]] | None = None,
    fields: str | None = None,
) -> dict[str, Any]:
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
        waypoints.current(origin, "origin"),
        *(waypoints.current(stop, f"intermediates[{index}]") for index, stop in enumerate(intermediates or [])),
        waypoints.current(destination, "destination"),
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
) -> dict[str, Any]:
    stops = list(waypoints or [])
    request = sent(
        origin=origin,
        destination=destination,
        mode=mode,
        waypoints="|".join(stops) if stops else None,
        departure_time=departure_time,
    )
    answer = envelope(DIRECTIONS, _directions(origin, destination, mode, stops, departure_time), request=request)
    absent = answer["response"]["status"] == "NOT_FOUND" and all(map(may_be, (origin, *stops, destination)))
    return covered(answer, not absent)


def _directions(origin: str, destination: str, mode: str, stops: list[str], departure: str | None) -> dict[str, Any]:
    when = _departure(departure)
    if mode not in routes.MODES[:4] or when is None:
        wrong = "'mode'" if mode not in routes.MODES[:4] else "'departure_time'"
        message = f"Invalid request. Invalid {wrong} parameter."
        return {"error_message": message, "geocoded_waypoints": [], "routes": [], "status": "INVALID_REQUEST"}
    optimise = bool(stops) and stops[0].strip().lower() == "optimize:true"
    stops = stops[1:] if optimise else stops
    if len(stops) > MAX_STOPS:
        return {"geocoded_waypoints": [], "routes": [], "status": "MAX_WAYPOINTS_EXCEEDED"}
    found = [waypoints.legacy(text) for text in (origin, *stops, destination)]
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


@server.tool
def distance_matrix(
    origins: list[str], destinations: list[str], mode: str = "driving", departure_time: str | None = None
) -> dict[str, Any] | Partial:
    request = sent(
        origins="|".join(origins), destinations="|".join(destinations), mode=mode, departure_time=departure_time
    )
    answer = envelope(MATRIX, _matrix(origins, destinations, mode, departure_time), request=request)
    cells = {cell["status"] for row in answer["response"]["rows"] for cell in row["elements"]}
    if "NOT_FOUND" not in cells or not all(map(may_be, (*origins, *destinations))):
        return answer
    return Partial(covered(answer, cells != {"NOT_FOUND"}))


def _matrix(origins: list[str], destinations: list[str], mode: str, departure: str | None) -> dict[str, Any]:
    when = _departure(departure)
    empty: dict[str, Any] = {"destination_addresses": [], "origin_addresses": [], "rows": []}
    if mode not in routes.MODES[:4] or when is None or not origins or not destinations:
        return {**empty, "status": "INVALID_REQUEST"}
    if len(origins) * len(destinations) > MAX_ELEMENTS:
        return {**empty, "status": "MAX_ELEMENTS_EXCEEDED"}
    starts = [waypoints.legacy(text) for text in origins]
    ends = [waypoints.legacy(text) for text in destinations]
    rows = []
    for start in starts:
        miles = start is not None and measures.in_miles(start[0])
        row = [
            _element(start[0], end[0], mode, when, miles, traffic=departure is not None)
            if start and end
            else {"status": "NOT_FOUND"}
            for end in ends
        ]
        rows.append({"elements": row})
    return {
        "destination_addresses": [measures.place_text(end[0]) if end else "" for end in ends],
        "origin_addresses": [measures.place_text(start[0]) if start else "" for start in starts],
        "rows": rows,
        "status": "OK",
    }


def _element(a: Point, b: Point, mode: str, when: datetime, miles: bool, *, traffic: bool) -> dict[str, Any]:
    measured = routes.measure(a, b, mode, when)
    if measured is None:
        return {"status": "ZERO_RESULTS"}
    metres, seconds, jam = measured
    element: dict[str, Any] = {"distance": _distance(metres, miles), "duration": _duration(seconds)}
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


def _legacy_route(route: Route, mode: str, *, traffic: bool) -> dict[str, Any]:
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


def _legacy_leg(leg: Leg, mode: str, traffic: bool) -> dict[str, Any]:
    miles = measures.in_miles(leg.start)
    told: dict[str, Any] = {"distance": _distance(leg.metres, miles), "duration": _duration(leg.seconds)}
    if traffic:
        told["duration_in_traffic"] = _duration(leg.traffic_seconds)
    return {
        **told,
        "end_address": measures.place_text(leg.end),
        "end_location": location(leg.end),
        "start_address": measures.place_text(leg.start),
        "start_location": location(leg.start),
        "steps": [_legacy_step(step, mode, miles) for step in leg.steps],
        "traffic_speed_entry": [],
        "via_waypoint": [],
    }


def _legacy_step(step: Step, mode: str, miles: bool) -> dict[str, Any]:
    told: dict[str, Any] = {
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


def _distance(metres: int, miles: bool) -> dict[str, Any]:
    return {"text": measures.distance_text(metres, miles), "value": metres}


def _duration(seconds: int) -> dict[str, Any]:
    return {"text": measures.duration_text(seconds), "value": seconds}


def _current_route(route: Route, mode: str, aware: bool, optimised: bool) -> dict[str, Any]:
    box = Box.of(route.line)
    miles = measures.in_miles(route.legs[0].start)
    told: dict[str, Any] = {
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


def _current_leg(leg: Leg, mode: str, aware: bool, miles: bool) -> dict[str, Any]:
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


def _current_step(step: Step, mode: str, miles: bool) -> dict[str, Any]:
    manoeuvre = step.instruction.manoeuvre.replace("-", "_").upper() or "DEPART"
    return {
        "distanceMeters": step.metres,
        "staticDuration": f"{step.seconds}s",
        "polyline": {"encodedPolyline": geo.encode_polyline(step.line)},
        "startLocation": {"latLng": v1_location(step.line[0])},
        "endLocation": {"latLng": v1_location(step.line[-1])},
        "navigationInstruction": {"maneuver": manoeuvre, "instructions": step.instruction.text},
        "localizedValues": {
            "distance": {"text": measures.distance_text(step.metres, miles)},
            "staticDuration": {"text": measures.duration_text(step.seconds)},
        },
        "travelMode": mode,
    }


def _localized(metres: int, seconds: int, miles: bool) -> dict[str, Any]:
    return {
        "distance": {"text": measures.distance_text(metres, miles)},
        "duration": {"text": measures.duration_text(seconds)},
    }
