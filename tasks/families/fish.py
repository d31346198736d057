"""Catches on piers: what the circled fish are, and a day at the place in New Jersey that is circled on the board."""

import json
import random
import re
from collections.abc import Sequence
from typing import NamedTuple

from m3bench.tasks.answers.fields import Choice, Field, Name, Number, Phone, Table
from m3bench.tasks.families import sights
from m3bench.tasks.families.base import Composition, Family, Kit, Script, Solution, call, need, table, words
from m3bench.tasks.json_types import Record
from m3bench.tasks.render import backdrops, pen
from m3bench.tasks.render.canvas import Canvas
from m3bench.tasks.render.drawings import sheet
from m3bench.tasks.render.shapes import ellipse, line, mix, rect
from m3bench.tasks.scene import Box
from m3bench.tasks.task import ReferenceCall

_PROPS = ("bucket", "anchor", "fishing pole", "ice", "worm", "shell")
_PLANKS = ("#e0c8a6", "#dcc7aa", "#e2cfb4", "#d9cab5")
_WIDE, _TALL, _BOARD = 690.0, 150.0, 460.0
"""Of a fish with its tag, and how much of the width its board takes."""
_SCALE, _CENTIMETRE = 100, 4.2
"""What a board measures, and how wide a centimetre is on it."""


def catch(
    canvas: Canvas, rng: random.Random, fish: Sequence[tuple[str, int]], places: Sequence[str]
) -> tuple[list[Box], list[Box]]:
    """Fill a canvas of 1500 × 1080 with a catch; returns the boxes of the fish and of the places on the board.

    Args:
        canvas: Where.
        rng: Chooses colours, sizes and what lies around.
        fish: Name and length in centimetres of each, six at most.
        places: Where one may land, six at most.
    """
    _pier(canvas, rng)
    boxes: list[Box] = []
    for number, (name, length) in enumerate(fish):
        x, y = 46 + number % 2 * 734 + rng.uniform(-9, 9), 168 + number // 2 * 202 + rng.uniform(-5, 5)
        _measured(canvas, rng, x, y, name, length)
        boxes.append((round(x), round(y), round(x + _WIDE), round(y + _TALL)))
    lines = _notice(canvas, rng, 46, 800, 1130, 246, places)
    for number, prop in enumerate(rng.sample(_PROPS, 2)):
        canvas.place(
            prop, 1272 + number * 140 + rng.uniform(-8, 8), 1046, rng.uniform(120, 140), flip=rng.random() < 0.5
        )
    return boxes, lines


def _pier(canvas: Canvas, rng: random.Random) -> None:
    level = backdrops.water(canvas, rng, horizon=0.07)
    edge = level + 66
    plank = rng.choice(_PLANKS)
    canvas.draw(rect(0, edge, canvas.width, canvas.height - edge, plank))
    y, number = edge, 0
    while y < canvas.height:
        shade = mix(plank, "#ffffff" if number % 2 else "#000000", rng.uniform(0.02, 0.06))
        canvas.draw(rect(0, y, canvas.width, 74, shade), line(0, y, canvas.width, y, mix(plank, "#000000", 0.22), 3))
        for x in (40, canvas.width - 40):
            canvas.draw(ellipse(x, y + 38, 6, 6, mix(plank, "#000000", 0.3)))
        y, number = y + 76, number + 1


def _measured(canvas: Canvas, rng: random.Random, x: float, y: float, name: str, length: int) -> None:
    """A fish on its board, beside the scale that it is as long as, and its tag to the right."""
    wide, tall = _BOARD, _TALL
    canvas.draw(
        rect(x + 7, y + 9, wide, tall, "#00000040", 8),
        rect(x, y, wide, tall, "#f6f3e6", 8),
        rect(x, y, 16, tall, "#3d5a74", 6),
    )
    nose = x + 24
    for centimetres in range(0, _SCALE + 1, 2):
        place = nose + centimetres * _CENTIMETRE
        mark = 20 if centimetres % 10 == 0 else 10
        canvas.draw(line(place, y + tall, place, y + tall - mark, "#3d4a5c", 2))
        if 0 < centimetres < _SCALE and centimetres % 10 == 0:
            canvas.text(f"{centimetres}", place + 3, y + tall - 12, 15, fill="#3d4a5c", note=False)
    drawn = sheet("fish")[name.lower().replace(" ", "-")]
    long = length * _CENTIMETRE
    deep = long * drawn.height / drawn.width
    canvas.thing("fish", *drawn.fitted(nose, y + 62 - deep / 2, long, deep))
    tag, room = x + wide + 18, _WIDE - wide - 18
    canvas.draw(
        line(x + wide - 6, y + tall * 0.5, tag + 24, y + tall * 0.5, "#7a6a52", 4),
        rect(tag + 4, y + 14, room, tall - 20, "#0000000d", 12),
        rect(tag, y + 10, room, tall - 20, rng.choice(("#fff3c9", "#ffffff", "#e9f4ea", "#fde6d8")), 12),
        ellipse(tag + 24, y + tall * 0.5, 9, 9, "#7a6a52"),
    )
    size = 30 if len(canvas.lines(name, room - 58, 30, "sans bold")) < 3 else 25
    base = y + 84
    lines = canvas.lines(name, room - 58, size, "sans bold")
    for number, text in enumerate([*lines, f"{length} cm"]):
        down = base + (number - len(lines) / 2) * (size + 3)
        canvas.text(
            text, tag + 46, down, size, face="sans bold", fill="#1f2a36", width=room - 54, extra='word-spacing="5"'
        )


def _notice(
    canvas: Canvas, rng: random.Random, x: float, y: float, wide: float, tall: float, places: Sequence[str]
) -> list[Box]:
    """A board with places in two columns; returns their boxes."""
    frame, ink = rng.choice((("#7a5636", "#26303f"), ("#3d5a74", "#1d2f45"), ("#5c6b4a", "#26361f")))
    canvas.draw(
        rect(x + 5, y + 6, wide, tall, "#0000000d", 10),
        rect(x, y, wide, tall, "#fdfbf2", 10),
        rect(x, y, wide, 14, mix(frame, "#ffffff", 0.72), 7),
    )
    canvas.text("Where we land", x + 36, y + 52, 30, face="sans bold", fill=mix(ink, "#ffffff", 0.25))
    boxes = []
    for number, place in enumerate(places):
        column, row = number % 2, number // 2
        left, base = x + 44 + column * (wide / 2 - 12), y + 108 + row * 54
        boxes.append(canvas.text(place, left, base, 31, face="sans bold", fill=ink, width=wide / 2 - 76))
    return boxes


_SPOTS = (
    "Sandy Hook", "Gunnison Beach", "Atlantic Highlands Municipal Harbor", "Belmar Marina", "Shark River Inlet", "Manasquan Inlet",
    "Lighthouse Marina", "Barnegat Lighthouse State Park", "Hartshorne Woods Park", "Mount Mitchill Scenic Overlook",
)  # fmt: skip
_CAUGHT = 6
"""Fish on the pier, and places on the board."""
_METRES = range(5000, 12001, 500)
_LIMITS = (42, 44, 50, 52, 54)
"""Degrees Fahrenheit above which one sits outside."""
_BETTER = 0.1
"""By how much the best-rated must be better than the next."""


class _Species(NamedTuple):
    """How long a fish may be, in centimetres."""

    shortest: int
    longest: int


class Fish(Family):
    """Species, the spot and its weather, the way there, and where to eat and to buy bait."""

    name = "fish"
    servers = ("wiki", "google-maps", "weather")
    species = table(dict[str, _Species])
    starts = words()

    def compose(self, rng: random.Random, kit: Kit) -> Composition:
        """Six fish on boards, of which two or three are circled, and six places on a board, of which one is."""
        species = self.species
        caught = rng.sample(sorted(species), _CAUGHT)
        names = rng.sample(caught, rng.choice((2, 3, 3)))
        lengths = {name: rng.randint(*species[name]) for name in caught}
        spots = rng.sample(_SPOTS, _CAUGHT)
        spot = rng.choice(spots)
        canvas = Canvas(kit.art, 1500, 1080)
        fish = [(name, lengths[name]) for name in caught]
        found, lines = catch(canvas, rng, fish, [f"{spot}, NJ" for spot in spots])
        canvas.light(rng, 0.6)
        boxes, places = dict(zip(caught, found, strict=True)), dict(zip(spots, lines, strict=True))
        pen.circle(canvas, rng, [boxes[name] for name in names], [boxes[name] for name in caught if name not in names])
        pen.loop(canvas, rng, places[spot], air=10, width=6)
        return Composition.of(canvas, names=names, lengths=[lengths[name] for name in names], spot=spot)

    async def solve(self, rng: random.Random, composition: Composition, path: str, play: Script) -> Solution:
        """The spot's position and address, from the search, lead to everything else."""
        goals = {"bait": self._bait, "supper": self._supper, "cars": self._cars}
        return await goals[play.goal](rng, composition, path, play)

    async def _bait(self, rng: random.Random, composition: Composition, path: str, play: Script) -> Solution:
        """What the fish are called, and the best shop for bait around the spot."""
        names, spot = composition.facts["names"], composition.facts["spot"]
        metres = rng.choice(_METRES)
        *texts, found = await play.step(*map(_article, names), _search(spot))
        latin = [_latin(text) for text in texts]
        near = sights.nearby(_position(_place(found, spot)), metres, "fishing_store")
        shops = _ranked((await play.step(near))[0])
        (card,) = await play.step(_details(shops[0]))
        address = json.loads(card)["response"]["formattedAddress"]
        told = "; ".join(f"{name} is {known}" for name, known in zip(names, latin, strict=True))
        return Solution(
            given={"metres": str(metres)},
            wording=f"Look up the fish circled in red in {path}, and the best-rated bait shop within {metres} m of the place circled on the board.",
            answer=f"{told}. The best-rated bait shop around {spot} is {_named(shops[0])}, {address}.",
            fields=(
                Field(
                    name="latin_names",
                    meaning="each fish with a red circle and its scientific name",
                    value=Table(
                        columns=("fish", "latin_name"),
                        rows=tuple(
                            (_fish(name, names), _species(known, name, latin))
                            for name, known in zip(names, latin, strict=True)
                        ),
                    ),
                ),
                _best_field("bait_shop", "the best-rated bait shop in the given distance", shops, address),
                Field(name="bait_shop_address", meaning="its street address", value=sights.address(address)),
            ),
            alternatives=(
                play.varied("the spot as an address", {0: [*map(_article, names), _geocoded(spot)]}),
                play.varied("the fish at the end", {0: [_search(spot)], 2: [*play.steps[2], *map(_article, names)]}),
                play.varied("the address taken from the search", {2: ()}),
            ),
        )  # fmt: skip

    async def _supper(self, rng: random.Random, composition: Composition, path: str, play: Script) -> Solution:
        """How warm it is decides where to eat."""
        spot, longest = composition.facts["spot"], _longest(composition)
        metres, limit = rng.choice(_METRES), rng.choice(_LIMITS)
        known, found = await play.step(_article(longest), _search(spot))
        place = _place(found, spot)
        *_, town, state, _ = (part.strip() for part in place["formatted_address"].split(","))
        spelled = (f"{town}, NJ", f"{town}, New Jersey", state.split()[-1])
        sky = call("weather/get_weather", {"location": f"{town}, NJ"}, either={"location": spelled})
        (weather,) = await play.step(sky)
        warm = float(re.findall(r"(-?\d+(?:\.\d+)?)°F", weather)[0])
        need(abs(warm - limit) >= 1.5, "it is neither warm nor cold")
        kind = "cafe" if warm > limit else "restaurant"
        houses = _ranked((await play.step(sights.nearby(_position(place), metres, kind)))[0])
        (card,) = await play.step(_details(houses[0]))
        phone = json.loads(card)["response"].get("internationalPhoneNumber")
        need(phone is not None, "it has no telephone")
        latin = _latin(known)
        return Solution(
            given={"metres": str(metres), "limit": str(limit)},
            wording=f"Find the place circled on the board in {path} and its temperature; above {limit} °F take the best-rated cafe within {metres} m, "
            "else the best-rated restaurant; and look up the longest of the fish circled in red.",
            answer=f"It is {warm} °F at {spot}. Go to {_named(houses[0])}, phone {phone}. The longest of the circled fish is {latin}.",
            fields=(
                Field(name="temperature", meaning="how warm it is there now", value=Number(value=warm, within=0.6, unit="°F")),
                _best_field("place_to_eat", "the best-rated cafe or restaurant, whichever it is to be", houses, ""),
                Field(name="phone", meaning="its telephone number", value=Phone(value=phone)),
                Field(name="longest_fish", meaning="the scientific name of the longest fish with a red circle", value=_species(latin, longest), compared=_lengths(composition)),
            ),
            alternatives=(
                play.varied("the spot as an address", {0: [_article(longest), _geocoded(spot)]}),
                play.varied("the fish at the end", {0: [_search(spot)], 3: [*play.steps[3], _article(longest)]}),
            ),
        )  # fmt: skip

    async def _cars(self, rng: random.Random, composition: Composition, path: str, play: Script) -> Solution:
        """Two ways to the spot, and how many more kilometres one has."""
        names, spot = composition.facts["names"], composition.facts["spot"]
        starts = rng.sample(self.starts, 2)
        need(len(set(composition.facts["lengths"])) == len(names), "two fish are equally long")
        longest = _longest(composition)
        known, found = await play.step(_article(longest), _search(spot))
        lat, lng = _position(_place(found, spot))
        there = {"location": {"latLng": {"latitude": lat, "longitude": lng}}}
        ways = [
            call(
                "google-maps/compute_route", {"origin": {"address": start}, "destination": there, "fields": "routes.distanceMeters,routes.duration"},
                either={"destination": (there, {"placeId": _place(found, spot)["place_id"]})}, free=("fields", "routingPreference"),
            )
            for start in starts
        ]  # fmt: skip
        routes = [json.loads(text)["response"]["routes"][0] for text in await play.step(*ways)]
        kilometres = [round(route["distanceMeters"] / 1000, 1) for route in routes]
        near, far = sorted(kilometres)
        need(far - near >= 8, "both ways are equally long")
        nearer = starts[kilometres.index(near)]
        return Solution(
            given={"start": starts[0], "other": starts[1]},
            wording=f"Compare the ways by car from {starts[0]} and {starts[1]} to the place circled on the board in {path}, and look up the longest of the fish circled in red.",
            answer=f"It is {kilometres[0]} km to {spot} from {starts[0]} and {kilometres[1]} km from {starts[1]}, so {nearer} is nearer. "
            f"The longest of the circled fish is {_latin(known)}.",
            fields=(
                Field(
                    name="distances",
                    meaning="each starting point and its kilometres by road to where the fish were landed",
                    value=Table(
                        columns=("start", "distance"),
                        rows=tuple((_start(start, starts), Number(value=km, within=1.5, unit="km")) for start, km in zip(starts, kilometres, strict=True)),
                    ),
                ),
                Field(
                    name="shorter_drive",
                    meaning="the starting point with the shorter way",
                    value=Choice(options=tuple(starts), value=nearer, aliases=(nearer.partition(",")[0],)),
                    compared=(near, far),
                ),
                Field(name="longest_fish", meaning="the scientific name of the longest fish with a red circle", value=_species(_latin(known), longest), compared=_lengths(composition)),
            ),
            alternatives=(
                play.varied("the spot as an address", {0: [_article(longest), _geocoded(spot)]}),
                play.varied("the fish at the end", {0: [_search(spot)], 1: [*ways, _article(longest)]}),
            ),
        )  # fmt: skip


def _article(name: str) -> ReferenceCall:
    return call("wiki/summary", {"title": name}, either={"title": (name, name.replace(" ", "_"))})


def _search(spot: str) -> ReferenceCall:
    free = ("languageCode", "regionCode", "maxResultCount", "fields")
    return call("google-maps/places_text_search", {"query": f"{spot}, NJ"}, words={"query": [spot]}, free=free)


def _geocoded(spot: str) -> ReferenceCall:
    free = ("region", "language")
    return call("google-maps/geocode", {"address": f"{spot}, NJ"}, words={"address": [spot]}, free=free)


def _details(place: Record) -> ReferenceCall:
    return call("google-maps/place_details", {"place_id": place["id"]}, free=("fields",))


def _place(text: str, spot: str) -> Record:
    """The spot among what a search found."""
    return next(place for place in json.loads(text)["response"]["results"] if place["name"] == spot)


def _position(place: Record) -> tuple[float, float]:
    return place["geometry"]["location"]["lat"], place["geometry"]["location"]["lng"]


def _latin(text: str) -> str:
    """The scientific name in an article."""
    return str(re.findall(r"\(([A-Z][a-z]+ [a-z]+)\)", text)[0])


def _ranked(text: str) -> list[Record]:
    """The places of a search, the best-rated first, which must be clear."""
    places = sorted(json.loads(text)["response"]["places"], key=lambda place: -place["rating"])
    need(len(places) > 1 and places[0]["rating"] - places[1]["rating"] >= _BETTER, "two are rated alike")
    return places


def _longest(composition: Composition) -> str:
    names, lengths = composition.facts["names"], composition.facts["lengths"]
    return str(names[lengths.index(max(lengths))])


def _lengths(composition: Composition) -> tuple[float, ...]:
    return tuple(sorted(map(float, composition.facts["lengths"]), reverse=True))


def _named(place: Record) -> str:
    return str(place["displayName"]["text"])


def _best_field(name: str, meaning: str, places: Sequence[Record], address: str) -> Field:
    return Field(
        name=name,
        meaning=meaning,
        value=Name(
            value=_named(places[0]),
            others=tuple(map(_named, places[1:])),
            context=(address or places[0]["formattedAddress"], "New Jersey bait tackle shop"),
        ),
        compared=tuple(place["rating"] for place in places),
    )


def _fish(name: str, names: Sequence[str]) -> Name:
    return Name(value=name, others=tuple(other for other in names if other != name), context=("fish",))


def _species(latin: str, fish: str, others: Sequence[str] = ()) -> Name:
    """A scientific name; the genus may be shortened to its letter, and the fish named beside it."""
    genus, _, rest = latin.partition(" ")
    wrong = tuple(other for other in others if other != latin)
    return Name(value=latin, aliases=(f"{genus[0]}. {rest}",), others=wrong, context=(fish,))


def _start(name: str, names: Sequence[str]) -> Name:
    return Name(value=name, aliases=(name.partition(",")[0],), others=tuple(other for other in names if other != name))
