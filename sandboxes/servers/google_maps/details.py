"""Tools: one place by its id, and its photos.

A photo is a drawing of ours, the same every time: sky, ground and a silhouette in the manner of the place's kind, with
its name below.
"""

from base64 import b64encode
from random import Random

from PIL import Image

from m3bench.sandboxes.identifiers import is_place_id
from m3bench.sandboxes.servers.google_maps import cards, geocoder, matches, pluscodes
from m3bench.sandboxes.servers.google_maps.matches import GeocodeMatch
from m3bench.sandboxes.servers.google_maps.searching import FIELDS
from m3bench.sandboxes.servers.google_maps.wire import PLACES, envelope, http_error, mask_problem, masked, sent, server
from m3bench.sandboxes.world import noise, placeids, places, settlements
from m3bench.sandboxes.world.places import Place
from m3bench.tasks.drawing.files import jpeg
from m3bench.tasks.drawing.fonts import plain_font, writable
from m3bench.tasks.drawing.sheet import Colour, Sheet

_SKIES: tuple[tuple[Colour, Colour], ...] = (
    ((92, 150, 214), (214, 232, 246)),
    ((64, 112, 178), (246, 206, 170)),
    ((120, 170, 220), (240, 244, 248)),
    ((52, 72, 122), (238, 152, 112)),
)
_NATURE = frozenset(("natural_feature", "mountain_peak", "waterfall", "park", "beach", "inlet", "scenic_point"))


def draw_photo(place: Place, reference: str, width: int, height: int) -> bytes:
    """A JPEG of the given size."""
    random = noise.generator_of("drawing", reference)
    sheet = Sheet(Image.new("RGB", (width, height)))
    horizon = int(height * random.uniform(0.55, 0.68))
    _sky(sheet, width, horizon, random)
    kinds = set(place.types)
    if kinds & _NATURE:
        _hills(sheet, width, height, horizon, random, water=bool(kinds & {"beach", "inlet", "waterfall"}))
    elif kinds & {"tower", "lighthouse"}:
        _ground(sheet, width, height, horizon, (124, 130, 120))
        _skyline(sheet, width, horizon, random, 0.18)
        _tower(sheet, width, horizon, random)
    elif "bridge" in kinds:
        _ground(sheet, width, height, horizon, (70, 110, 146))
        _bridge(sheet, width, horizon, random)
    else:
        _ground(sheet, width, height, horizon, (118, 116, 112))
        _skyline(sheet, width, horizon, random, 0.2)
        _house(sheet, width, height, horizon, random)
    _caption(sheet, width, height, place.name)
    return jpeg(sheet.image, 82)


def _sky(sheet: Sheet, width: int, horizon: int, random: Random) -> None:
    high, low = random.choice(_SKIES)
    for y in range(horizon):
        sheet.box(0, y, width, y, _blend(high, low, y / max(1, horizon)))
    radius = width // 18
    x, y = int(width * random.uniform(0.1, 0.9)), int(horizon * random.uniform(0.15, 0.5))
    sheet.oval(x, y, radius, radius, (255, 246, 214))


def _ground(sheet: Sheet, width: int, height: int, horizon: int, colour: Colour) -> None:
    for y in range(horizon, height):
        sheet.box(0, y, width, y, _blend(colour, (60, 62, 64), (y - horizon) / max(1, height - horizon)))


def _skyline(sheet: Sheet, width: int, horizon: int, random: Random, share: float) -> None:
    x = 0
    while x < width:
        wide = int(width * random.uniform(0.05, 0.12)) + 1
        high = int(horizon * random.uniform(share / 3, share))
        grey = random.randint(130, 170)
        sheet.box(x, horizon - high, x + wide, horizon, (grey, grey + 4, grey + 12))
        x += wide


def _hills(sheet: Sheet, width: int, height: int, horizon: int, random: Random, *, water: bool) -> None:
    for layer, colour in enumerate(((140, 158, 170), (98, 128, 112), (66, 102, 74))):
        base = horizon + int((height - horizon) * layer * 0.18)
        step = max(4, width // 12)
        line = [
            (x, base - int(horizon * random.uniform(0.04, 0.5 - 0.14 * layer))) for x in range(0, width + step, step)
        ]
        sheet.polygon([(0, height), *line, (width, height)], colour)
    if water:
        _ground(sheet, width, height, int(height * 0.78), (74, 128, 168))


def _tower(sheet: Sheet, width: int, horizon: int, random: Random) -> None:
    middle, foot, top = width // 2, max(6, width // 9), int(horizon * random.uniform(0.06, 0.16))
    colour = random.choice(((106, 90, 76), (150, 148, 146), (168, 78, 60)))
    sheet.polygon(
        [(middle - foot, horizon), (middle - foot // 8, top), (middle + foot // 8, top), (middle + foot, horizon)],
        colour,
    )
    for share in (0.35, 0.62, 0.84):
        y = int(top + (horizon - top) * share)
        half = int(foot * share)
        sheet.box(middle - half, y, middle + half, y + max(2, horizon // 60), _blend(colour, (40, 40, 40), 0.4))


def _bridge(sheet: Sheet, width: int, horizon: int, random: Random) -> None:
    colour = random.choice(((176, 74, 54), (96, 104, 116), (142, 132, 118)))
    deck, top = horizon - max(3, horizon // 22), int(horizon * 0.28)
    thick = max(2, width // 140)
    left, right = width // 4, 3 * width // 4
    for x in (left, right):
        sheet.box(x - 2 * thick, top, x + 2 * thick, horizon + horizon // 8, colour)
    for start, end in ((-width // 4, left), (left, right), (right, 5 * width // 4)):
        points = []
        for part in range(21):
            share = part / 20
            sag = 4 * share * (1 - share)
            points.append((start + (end - start) * share, top + (deck - top) * 0.9 * sag))
        sheet.line(points, colour, thick)
    sheet.box(0, deck, width, deck + 2 * thick, colour)


def _house(sheet: Sheet, width: int, height: int, horizon: int, random: Random) -> None:
    left, right = int(width * 0.18), int(width * 0.82)
    top, bottom = int(horizon * random.uniform(0.28, 0.45)), int(horizon + (height - horizon) * 0.3)
    wall = random.choice(((206, 186, 158), (184, 120, 96), (222, 214, 198), (150, 166, 176), (196, 160, 110)))
    sheet.box(left, top, right, bottom, wall)
    sheet.box(left - 4, top - max(3, height // 60), right + 4, top, _blend(wall, (50, 40, 36), 0.5))
    columns, rows = random.randint(4, 7), random.randint(2, 3)
    cell_wide, cell_high = (right - left) / columns, (bottom - top) * 0.66 / rows
    for row in range(rows):
        for column in range(columns):
            x, y = left + (column + 0.28) * cell_wide, top + (row + 0.25) * cell_high
            lit = random.random() < 0.3
            sheet.box(x, y, x + cell_wide * 0.44, y + cell_high * 0.55, (250, 226, 150) if lit else (78, 98, 116))
    awning = random.choice(((164, 44, 44), (38, 92, 70), (36, 62, 110), (196, 146, 40)))
    shop = top + int((bottom - top) * 0.72)
    sheet.box(left, shop, right, shop + max(4, (bottom - top) // 14), awning)
    door = (left + right) // 2
    sheet.box(door - cell_wide * 0.3, shop + (bottom - top) // 12, door + cell_wide * 0.3, bottom, (58, 44, 38))


def _caption(sheet: Sheet, width: int, height: int, name: str) -> None:
    size, name = max(10, min(28, width // 26)), writable(name)
    font = plain_font(size)
    left, top, right, bottom = font.getbbox(name)
    wide, high = right - left, bottom - top
    x, y = max(6, (width - wide) // 2), height - high - size
    sheet.box(x - 8, y - 6, x + wide + 8, y + high + 10, (250, 248, 242))
    sheet.text(x, y, name, font, (40, 40, 44))


def _blend(start: Colour, end: Colour, share: float) -> Colour:
    return (
        int(start[0] + (end[0] - start[0]) * share),
        int(start[1] + (end[1] - start[1]) * share),
        int(start[2] + (end[2] - start[2]) * share),
    )


MASK = ",".join(
    (
        *("id", "displayName", "formattedAddress", "location", "primaryType", "primaryTypeDisplayName", "rating"),
        *("userRatingCount", "internationalPhoneNumber", "websiteUri", "currentOpeningHours", "photos.name"),
    )
)
MAX_PHOTO_PX = 4800


@server.tool
def place_details(place_id: str, fields: str | None = None) -> dict[str, object]:
    endpoint = f"{PLACES}/places/{place_id}"
    mask = fields or MASK
    unknown = mask_problem(mask, FIELDS)
    if unknown is not None:
        raise http_error(400, endpoint, f"Cannot find matching fields for path '{unknown}'.")
    found = resolve(place_id)
    if found is None:
        message = "The Place ID is no longer valid. Please refresh cached Place IDs."
        raise http_error(404, endpoint, message, possible=is_place_id(place_id))
    card = cards.current(found) if isinstance(found, Place) else cards.current_match(found)
    return envelope(endpoint, masked(card, mask), mask=mask)


@server.tool
def place_photo_media(
    photo_resource: str, maxWidthPx: int | None = None, maxHeightPx: int | None = None
) -> dict[str, object]:
    endpoint = f"{PLACES}/{photo_resource}/media"
    request = sent(maxWidthPx=maxWidthPx, maxHeightPx=maxHeightPx)
    for limit in (maxWidthPx, maxHeightPx):
        if limit is not None and not 1 <= limit <= MAX_PHOTO_PX:
            raise http_error(400, endpoint, f"maxWidthPx and maxHeightPx must be between 1 and {MAX_PHOTO_PX}.")
    parts = photo_resource.split("/")
    found = places.by_id().get(parts[1]) if len(parts) == 4 and parts[0] == "places" and parts[2] == "photos" else None
    if found is None or photo_resource not in cards.photo_names(found.id, found.ratings):
        message = "The photo resource is not known. Take one from photos[].name of a place."
        possible = found is None and len(parts) == 4 and is_place_id(parts[1])
        raise http_error(404, endpoint, message, possible=possible)
    width, height = cards.photo_size(parts[3])
    data = draw_photo(found, parts[3], *_fitted(width, height, maxWidthPx, maxHeightPx))
    url = f"data:image/jpeg;base64,{b64encode(data).decode()}"
    return envelope(endpoint, {"content_type": "image/jpeg", "data_url": url}, request=request)


def resolve(identifier: str) -> Place | GeocodeMatch | None:
    """What a place id stands for; None when it was never given out."""
    place = places.by_id().get(identifier)
    if place is not None:
        return place
    point = placeids.position(identifier, "town")
    if point is not None:
        return matches.of_town(settlements.around(point, 1)[0])
    for kind, row in (("country", -1), ("region", -2)):
        point = placeids.position(identifier, kind)
        if point is not None:
            found = geocoder.reverse(point)
            return found[row] if found else None
    point = placeids.position(identifier, "address")
    if point is None:
        return None
    for match in geocoder.reverse(point):
        if match.types[0] in ("street_address", "route"):
            return match
    return matches.of_code(pluscodes.encode(point)[4:], point, settlements.nearest(point, 50_000))


def _fitted(width: int, height: int, most_wide: int | None, most_high: int | None) -> tuple[int, int]:
    """The size within both limits; a photo is never larger than a picture of a screen."""
    scale = min(1.0, (most_wide or 800) / width, (most_high or 800) / height, 800 / max(width, height))
    return max(1, round(width * scale)), max(1, round(height * scale))
