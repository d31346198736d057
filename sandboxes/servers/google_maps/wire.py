"""The server of the `google-maps` tools, and the envelope its answers come in.

Every answer is one JSON object: the endpoint that the public server would have called, what would have been
sent, and the response. Nothing is sent anywhere, and unlike the public server no API key is ever shown.
"""

import json
from collections.abc import Iterable, Mapping

from m3bench.sandboxes.toolserver import ToolServer
from m3bench.sandboxes.world.geo import Point
from m3bench.tasks.errors import ToolError

server = ToolServer("google-maps")

LEGACY = "https://maps.googleapis.com/maps/api"
PLACES = "https://places.googleapis.com/v1"
ROUTES = "https://routes.googleapis.com/directions/v2:computeRoutes"
ROADS = "https://roads.googleapis.com/v1"
GEOLOCATION = "https://www.googleapis.com/geolocation/v1/geolocate"

_REASONS = {400: "Bad Request", 404: "Not Found"}
_STATUSES = {400: "INVALID_ARGUMENT", 404: "NOT_FOUND"}


def envelope(endpoint: str, response: object, *, request: object = None, mask: str | None = None) -> dict[str, object]:
    """An answer as the public server wraps it."""
    answer: dict[str, object] = {"endpoint": endpoint}
    if mask is not None:
        answer["headers"] = {"X-Goog-FieldMask": mask}
    if request is not None:
        answer["request"] = request
    return {**answer, "response": response}


def sent(**parameters: object) -> dict[str, object]:
    """The parameters that are really sent: those that are not None."""
    return {name: value for name, value in parameters.items() if value is not None}


def http_error(code: int, endpoint: str, message: str, *, possible: bool = False) -> ToolError:
    """The failure of a request that the service refuses; what may be `possible` is a gap of the world."""
    payload = {"error": {"code": code, "message": message, "status": _STATUSES[code]}}
    text = f"HTTP {code} {_REASONS[code]} at {endpoint}: {json.dumps(payload, ensure_ascii=False)}"
    return ToolError(text, outcome="gap" if possible else "not_found" if code == 404 else "invalid_arguments")


def masked(value: object, mask: str, prefix: str = "") -> object:
    """Only the fields that a field mask names, such as `routes.distanceMeters,routes.legs.steps`."""
    paths = [path.strip().removeprefix(prefix) for path in mask.split(",") if path.strip()]
    if any(path in ("*", "") for path in paths):
        return value
    return _keep(value, [path.split(".") for path in paths])


def _keep(value: object, paths: list[list[str]]) -> object:
    if any(not path for path in paths):
        return value
    if isinstance(value, list):
        return [_keep(item, paths) for item in value]
    if not isinstance(value, Mapping):
        return value
    kept: dict[str, object] = {}
    for name, item in value.items():
        below = [path[1:] for path in paths if path[0] in (name, "*")]
        if below:
            kept[name] = _keep(item, below)
    return kept


def mask_problem(mask: str, known: Iterable[str], prefix: str = "") -> str | None:
    """The first field of a mask that does not exist at the top."""
    names = {"*", *known}
    for path in mask.split(","):
        bare = path.strip()
        if bare and (
            (not bare.startswith(prefix) and bare != "*") or bare.removeprefix(prefix).split(".")[0] not in names
        ):
            return bare
    return None


def lat_lng(value: object) -> Point | None:
    """A point given as an object of latitude and longitude, in either spelling; None when it is none."""
    if not isinstance(value, Mapping):
        return None
    lat, lng = value.get("latitude", value.get("lat")), value.get("longitude", value.get("lng"))
    if not isinstance(lat, int | float) or not isinstance(lng, int | float):
        return None
    return Point(float(lat), float(lng)) if -90 <= lat <= 90 and -180 <= lng <= 180 else None


def v1_location(point: Point) -> dict[str, float]:
    """A position in the newer services."""
    return {"latitude": round(point.lat, 7), "longitude": round(point.lng, 7)}
