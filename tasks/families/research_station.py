"""A signpost to research sites, some of them circled: what the Sun did, what time a storm began there, and who works nearby."""

import json
import math
import random
import re
from collections.abc import Sequence
from datetime import UTC, date, datetime, timedelta

from m3bench.tasks.answers.fields import Code, Date, Field, File, Integer, Items, Name, Number, Table, Time
from m3bench.tasks.answers.office import WorkbookRows
from m3bench.tasks.families import sights
from m3bench.tasks.families.base import Composition, Family, Kit, Script, Solution, call, need, table
from m3bench.tasks.json_types import Record
from m3bench.tasks.render import backdrops, pen
from m3bench.tasks.render.canvas import Canvas
from m3bench.tasks.render.shapes import ellipse, fade, line, mix, on, path, polygon, rect
from m3bench.tasks.scene import Box
from m3bench.tasks.task import ReferenceCall

_CABINS = ("#c0392b", "#2f6f9f", "#d98e2b", "#3f7f5f", "#8a4f9f", "#c9ced3", "#a8442f")


def cabin(canvas: Canvas, rng: random.Random, x: float, foot: float, wide: float) -> None:
    """A cabin on stilts, the middle of its foot at `(x, foot)`."""
    colour, tall = rng.choice(_CABINS), wide * 0.36
    left, top, key = x - wide / 2, foot - tall - 34, f"c{round(x)}"
    stilts = [
        line(left + wide * share, foot - 40, left + wide * share, foot, "#5a6067", 8)
        for share in (0.1, 0.37, 0.63, 0.9)
    ]
    windows = [
        rect(
            left + wide * (0.1 + 0.17 * n),
            top + tall * 0.3,
            wide * 0.1,
            tall * 0.26,
            "#dff1fa",
            6,
            'stroke="#3a4149" stroke-width="3"',
        )
        for n in range(4)
    ]
    canvas.draw(ellipse(x, foot + 2, wide * 0.5, 10, "#00000028"))
    canvas.thing(
        "building", *stilts, fade(key, mix(colour, "#ffffff", 0.25), mix(colour, "#000000", 0.2)),
        rect(left, top, wide, tall, f"url(#{key})", 16), rect(left + wide * 0.04, top - 12, wide * 0.92, 16, "#e9eef1", 6), *windows,
        rect(left + wide * 0.8, top + tall * 0.3, wide * 0.11, tall * 0.7, "#3a4149", 4),
    )  # fmt: skip


def dome(canvas: Canvas, rng: random.Random, x: float, foot: float, radius: float) -> None:
    """A dome with a slit for a telescope."""
    key = f"d{round(x)}"
    slit = rng.uniform(-0.3, 0.2) * radius
    canvas.draw(ellipse(x, foot + 2, radius * 1.1, 10, "#00000028"))
    canvas.thing(
        "observatory", fade(key, "#ffffff", "#dfe4e8", "#a9b2ba", across=True),
        rect(x - radius * 0.92, foot - radius * 0.8, radius * 1.84, radius * 0.8, mix("#c9ced3", "#8f989f", 0.3), 4),
        path(f"M{x - radius:.0f} {foot - radius * 0.78:.0f} A{radius:.0f} {radius:.0f} 0 0 1 {x + radius:.0f} {foot - radius * 0.78:.0f} Z", f"url(#{key})"),
        polygon([(x + slit, foot - radius * 1.72), (x + slit + radius * 0.24, foot - radius * 1.7), (x + slit + radius * 0.26, foot - radius * 0.9), (x + slit, foot - radius * 0.9)], "#2b333b"),
        rect(x - radius, foot - radius * 0.82, radius * 2, 10, "#7d868d"), rect(x - radius * 0.14, foot - radius * 0.42, radius * 0.28, radius * 0.42, "#4a535b", 4),
    )  # fmt: skip


SIZE = (1600, 960)
"""Of a picture."""
ARMS = 9
"""Places that a signpost points to."""
_LANDS = ("snow", "sand", "meadow")
_BOARDS = ("#fdfbf2", "#f6e7b4", "#cfe3ee", "#f3d9c4", "#d5e6cf", "#20435c", "#6a3a26", "#2f5741")
_POSTS = (0.255, 0.745)
"""Where posts stand across a picture."""
_TALL, _STEP, _TOP = 76, 138, 46
"""Height of an arm, from one to the next, and where the first begins."""
_SIZE = 36


def signpost(canvas: Canvas, rng: random.Random, names: Sequence[str]) -> list[Box]:
    """Draw two posts with an arm for each name; returns the boxes of the arms."""
    level = backdrops.outdoors(canvas, rng, rng.choice(_LANDS), horizon=rng.uniform(0.8, 0.84))
    for x in (0.06, 0.5, 0.95):
        if rng.random() < 0.5:
            dome(canvas, rng, canvas.width * x, level + 30, rng.uniform(45, 52))
        else:
            cabin(canvas, rng, canvas.width * x, level + 34, rng.uniform(124, 140))
    foot = canvas.height - 34
    posts = [canvas.width * share for share in _POSTS]
    for x in posts:
        canvas.draw(
            ellipse(x, foot, 90, 13, "#00000038"),
            fade(f"post{round(x)}", "#b08a62", "#8a6845", across=True),
            rect(x - 15, 22, 30, foot - 22, f"url(#post{round(x)})", 6),
        )
    boxes: list[Box] = []
    for number, name in enumerate(names):
        row, column = divmod(number, len(posts))
        top = _TOP + row * _STEP + column * rng.randint(24, 40) + rng.randint(-4, 4)
        boxes.append(_arm(canvas, rng, name, posts[column], top))
    return boxes


def _arm(canvas: Canvas, rng: random.Random, name: str, x: float, top: float) -> Box:
    """A board with a point at one end, and a name on it."""
    board = rng.choice(_BOARDS)
    wide = min(640.0, canvas.art.width(name, _SIZE, "sans bold") + 70)
    middle = x + rng.uniform(-22, 22)
    left, right, bottom = middle - wide / 2, middle + wide / 2, top + _TALL
    points = [(left, top), (right, top), (right + 40, top + _TALL / 2), (right, bottom), (left, bottom)]
    if rng.random() < 0.5:
        points = [(left + right - px, py) for px, py in points]
    ends = [px for px, _ in points]
    canvas.draw(polygon([(px + 6, py + 9) for px, py in points], "#00000038"))
    canvas.thing(
        "sign",
        polygon(points, mix(board, "#000000", 0.45)),
        polygon([(middle + (px - middle) * 0.986, top + _TALL / 2 + (py - top - _TALL / 2) * 0.88) for px, py in points], board),
    )  # fmt: skip
    canvas.text(name, middle, top + 51, _SIZE, face="sans bold", fill=on(board), anchor="middle", width=wide - 50)
    return (round(min(ends)), round(top), round(max(ends)), round(bottom))


_KIND = "research_institute"
_BOOK, _SHEET = "./flare_days.xlsx", "Flares"
_RED, _BLUE = 3, 2
"""Sites with a loop of a colour."""
_FAR = 150
"""Kilometres between any two sites on a signpost."""
_RADII = (5, 8, 12, 15, 20, 25, 30, 40, 50)
_EDGE = 0.5
"""Kilometres around the edge of a circle in which no station may lie."""
_MOST = 9
"""Stations that somebody would list."""
_MARGIN = 0.2
"""Kilometres by which the nearest must be nearer than the next."""
_FIRST, _LAST = date(2024, 2, 1), date(2025, 10, 20)


class ResearchStation(Family):
    """Flares and ejections by day in a workbook; a storm in local time; or the stations around and the nearest of them."""

    name = "research_station"
    servers = ("nasa-mcp", "google-maps", "excel")
    known_as = table(dict[str, tuple[str, ...]])
    """What else research sites are called."""

    def compose(self, rng: random.Random, kit: Kit) -> Composition:
        """A post with arms that point to nine sites, far from each other; three have a red loop and two a blue one."""
        stations = [place for place in kit.world("places") if place["types"][0] == _KIND]
        pool = [
            place for place in stations if _remote(place) and sum(_apart(place, other) < 15 for other in stations) > 1
        ]
        sites: list[Record] = []
        for place in rng.sample(pool, len(pool)):
            if len(sites) < ARMS and all(_apart(place, other) > _FAR for other in sites):
                sites.append(place)
        canvas = Canvas(kit.art, *SIZE)
        boxes = signpost(canvas, rng, [site["name"] for site in sites])
        canvas.light(rng, 0.7)
        meant = rng.sample(range(ARMS), _RED + _BLUE)
        for number in meant:
            pen.loop(canvas, rng, boxes[number], pen.RED if number in meant[:_RED] else pen.BLUE, air=12)
        return Composition.of(
            canvas,
            names=[site["name"] for site in sites],
            red=[sites[number]["name"] for number in sorted(meant[:_RED])],
            blue=[sites[number]["name"] for number in sorted(meant[_RED:])],
            around={
                site["name"]: {place["name"]: _apart(site, place) for place in stations if place is not site}
                for site in sites
            },
            addresses={place["name"]: place["address"] for place in stations},
            flares=sorted(record["peak"][:10] for record in kit.world("solar_flares")),
            storms=sorted(record["start"][:10] for record in kit.world("geomagnetic_storms")),
        )

    async def solve(self, rng: random.Random, composition: Composition, path: str, play: Script) -> Solution:
        """By goal; the sites are found by the names on the signpost."""
        facts = composition.facts
        match play.goal:
            case "flares":
                window, radius = _window(rng, facts["flares"], (2, 3)), rng.choice(_RADII)
                return await self._flares(window, radius, facts, path, play)
            case "storm":
                return await self._storm(_window(rng, facts["storms"], (1, 1)), facts, path, play)
            case _:
                return await self._around(rng.choice(_RADII), facts, path, play)

    async def _flares(
        self,
        window: tuple[date, date],
        radius: int,
        facts: Record,
        path: str,
        play: Script,
    ) -> Solution:
        """The Sun and the neighbours of two sites side by side, then the workbook."""
        span = _span(window)
        notices = call("nasa-mcp/get_notifications", {**span, "notification_type": "FLR"})
        text, *found, _ = await play.step(
            notices, *map(_where, facts["blue"]), call("excel/create_workbook", {"filepath": _BOOK}, free=("filepath",))
        )
        days = sorted(set(re.findall(r"start (\d{4}-\d\d-\d\d)T", text)))
        need(days == sorted(set(re.findall(r"Issue Time: (\S+)T", text))), "one was told of on another day")
        flares = [call("nasa-mcp/get_solar_flare", {"start_date": day, "end_date": day}) for day in days]
        ejections = [call("nasa-mcp/get_coronal_mass_ejection", {"start_date": day, "end_date": day}) for day in days]
        around = [sights.nearby(sights.position(answer), radius * 1000, _KIND) for answer in found]
        texts = await play.step(*flares, *ejections, *around)
        texts, near = texts[: -len(around)], texts[-len(around) :]
        names = sorted(_called(place) for place in _others(near, radius, facts))
        need(not any("... and" in answer for answer in (text, *texts)), "not everything is shown")
        sun = [
            (day, *_strongest(flare, day), _count(cme))
            for day, flare, cme in zip(days, texts[: len(days)], texts[len(days) :], strict=True)
        ]
        await play.step(_write(sun))
        told = "; ".join(f"{day}: {size}, peak {peak} UTC, {many} ejections" for day, size, peak, many in sun)
        rows = tuple(
            (Date(value=day), _class(size), Time(zone="UTC", value=peak), Integer(value=many))
            for day, size, peak, many in sun
        )
        return Solution(
            wording=f"For the days with flare notifications from {window[0]} to {window[1]} write the strongest flare, its peak and the number of coronal "
            f"mass ejections into a workbook, and name the other research sites within {radius} km of those with a blue loop in {path}.",
            answer=f"Days with announced flares: {told}. Within {radius} km of the two there are {', '.join(names)}. The table is in {_BOOK}.",
            fields=(
                Field(
                    name="flare_days",
                    meaning="each day with a flare notification: class of its strongest flare, when that peaked, ejections begun",
                    value=Table(columns=("date", "strongest_class", "peak", "ejections"), rows=rows),
                    derived=tuple(fact for day, size, peak, _ in sun for fact in (f"{day}T{peak}Z", size)),
                ),
                Field(
                    name="stations",
                    meaning="every other research site within the given distance of one of the two circled in blue",
                    value=Items(items=tuple(_site(name, names, facts) for name in names)),
                ),
                Field(
                    name="workbook",
                    meaning="an Excel file with the days",
                    value=File(form="xlsx", value=_BOOK, holds=(WorkbookRows(rows=rows),)),
                ),
            ),
            given={**_given(window), "radius": str(radius)},
        )

    async def _storm(self, window: tuple[date, date], facts: Record, path: str, play: Script) -> Solution:
        """When a storm began, by the clocks of three sites."""
        names = facts["red"]
        storms, *found = await play.step(call("nasa-mcp/get_geomagnetic_storm", _span(window)), *map(_where, names))
        need(re.findall(r"found: (\d+)", storms) == ["1"], "there must be one storm")
        start = datetime.fromisoformat(re.findall(r"Start Time: (\S+)Z", storms)[0]).replace(tzinfo=UTC)
        kp = float(re.findall(r"Index: ([\d.]+)", storms)[0])
        zones = [_zone(sights.position(answer), start) for answer in found]
        ahead = [_ahead(text) for text in await play.step(*zones)]
        need(0 not in ahead and len(set(ahead)) == len(ahead), "a site keeps UTC, or the clocks of another")
        local = {name: f"{start + timedelta(seconds=off):%H:%M}" for name, off in zip(names, ahead, strict=True)}
        moment = start.strftime("%Y-%m-%dT%H:%MZ")
        return Solution(
            wording=f"Find the geomagnetic storm of {window[0]} to {window[1]}, and convert its start to the local time of each site with a red loop in {path}.",
            answer=f"The storm began on {start:%Y-%m-%d} at {start:%H:%M} UTC, which was "
            f"{', '.join(f'{time} at {name}' for name, time in local.items())}. Its first Kp index is {kp:g}.",
            fields=(
                Field(
                    name="storm_date",
                    meaning="the day, in UTC, on which the storm began",
                    value=Date(value=f"{start:%Y-%m-%d}"),
                    derived=(moment,),
                ),
                Field(
                    name="start_utc",
                    meaning="the time at which it began, in UTC",
                    value=Time(zone="UTC", value=f"{start:%H:%M}"),
                    derived=(moment,),
                ),
                Field(
                    name="local_starts",
                    meaning="each site circled in red, and the same moment by its clocks",
                    value=Table(
                        columns=("site", "local_start"),
                        rows=tuple(
                            (_site(name, names, facts), Time(zone="local", value=time)) for name, time in local.items()
                        ),
                    ),
                    derived=(moment, *map(float, ahead)),
                ),
                Field(name="first_kp", meaning="the first Kp index reported for it", value=Number(value=kp)),
            ),
            given=_given(window),
        )

    async def _around(self, radius: int, facts: Record, path: str, play: Script) -> Solution:
        """The other stations around two sites, and where the one is that is nearest to either."""
        found = await play.step(*map(_where, facts["blue"]))
        texts = await play.step(*(sights.nearby(sights.position(answer), radius * 1000, _KIND) for answer in found))
        off = {
            name: min(facts["around"][site][name] for site in facts["blue"])
            for name in facts["addresses"]
            if name not in facts["blue"]
        }
        places = sorted(_others(texts, radius, facts), key=lambda place: off[_called(place)])
        names = [_called(place) for place in places]
        far = [round(off[name], 3) for name in names]
        need(far[1] - far[0] >= max(_MARGIN, 0.1 * far[1]), "two are equally near")
        (details,) = await play.step(sights.details(places[:1]))
        address = json.loads(details)["response"]["formattedAddress"]
        rated = [(_called(place), place["rating"]) for place in places]
        need(len({rating for _, rating in rated}) > 1, "all are rated alike")
        told = ", ".join(f"{name} ({rating})" for name, rating in rated)
        spots = tuple(float(place["location"][key]) for place in places for key in ("latitude", "longitude"))
        return Solution(
            wording=f"List the other research sites within {radius} km of those with a blue loop in {path} with their ratings, and give the one that is nearest to "
            "its site, and its address.",
            answer=f"Within {radius} km of the two there are {told}. The nearest is {names[0]}, {address}.",
            fields=(
                Field(
                    name="stations",
                    meaning="every other research site within that distance of one of the two circled in blue, with its visitors' rating",
                    value=Table(
                        columns=("name", "rating"),
                        rows=tuple(
                            (_site(name, names, facts), Number(value=rating, within=0.049)) for name, rating in rated
                        ),
                    ),
                ),
                Field(
                    name="nearest",
                    meaning="the one of them that is nearest to either of the two as the crow flies",
                    value=_site(names[0], names, facts),
                    compared=tuple(far),
                    derived=spots,
                ),
                Field(name="nearest_address", meaning="the address of that one", value=_address(address)),
            ),
            given={"radius": str(radius)},
            alternatives=(play.varied("The address taken from the search.", {2: ()}),),
        )


def _span(window: tuple[date, date]) -> dict[str, str]:
    return {"start_date": window[0].isoformat(), "end_date": window[1].isoformat()}


def _given(window: tuple[date, date]) -> dict[str, str]:
    return {"start": window[0].isoformat(), "end": window[1].isoformat()}


def _where(name: str) -> ReferenceCall:
    words = re.findall(r"\w+", name)
    return call("google-maps/geocode", {"address": name}, words={"address": words}, free=("region", "language"))


def _zone(spot: tuple[float, float], moment: datetime) -> ReferenceCall:
    return call(
        "google-maps/timezone",
        {"lat": spot[0], "lng": spot[1], "timestamp": int(moment.timestamp())},
        near={"lat": 0.02, "lng": 0.02, "timestamp": 43200.0},
    )


def _ahead(text: str) -> int:
    """Seconds by which the clocks of a place are ahead of UTC."""
    response = json.loads(text)["response"]
    return int(response["rawOffset"] + response["dstOffset"])


def _others(texts: Sequence[str], radius: int, facts: Record) -> list[Record]:
    """The stations around two sites but for these; each has some, and none may lie at an edge."""
    found = []
    for text, site in zip(texts, facts["blue"], strict=True):
        off = facts["around"][site]
        inside = sorted(name for name, km in off.items() if km < radius)
        need(bool(inside), "a site is alone")
        need(not any(abs(km - radius) < _EDGE for km in off.values()), "a station lies on the edge")
        near = [place for place in json.loads(text)["response"]["places"] if _called(place) != site]
        need(sorted(map(_called, near)) == inside, "others are found")
        found += near
    need(3 <= len(found) <= _MOST, "too few or too many stations")
    return found


def _called(place: Record) -> str:
    return str(place["displayName"]["text"])


def _site(name: str, names: Sequence[str], facts: Record) -> Name:
    others = tuple(dict.fromkeys(other for other in (*names, *facts["names"]) if other != name))
    known = ResearchStation.known_as
    return Name(
        value=name,
        aliases=known.get(name, ()),
        others=(*others, *(alias for other in others for alias in known.get(other, ()))),
        context=(
            "research station base observatory telescope institute",
            facts["addresses"][name],
            *known.get(name, ()),
        ),
    )


def _address(text: str) -> Name:
    """An address; whoever knows the place says more of where it is."""
    found = sights.address(text)
    return found.model_copy(update={"context": (*found.context, "region de región province county island")})


def _class(size: str) -> Code:
    """A flare's class, as people say it."""
    short = size.removesuffix(".0")
    said = [
        form.format(spelling) for spelling in (size, short) for form in ("{}", "{} flare", "{}-class flare", "class {}")
    ]
    return Code(form="flare class", value=size, aliases=tuple(dict.fromkeys(said[1:])))


def _remote(place: Record) -> bool:
    """Whether a place is a base or an observatory rather than an institute in a town."""
    return not place.get("city_id") or place["city_id"] == "mcmurdo"


def _apart(one: Record, other: Record) -> float:
    """Kilometres between two places."""
    lat, lng, lat2, lng2 = (math.radians(place[key]) for place in (one, other) for key in ("lat", "lng"))
    half = math.sin((lat2 - lat) / 2) ** 2 + math.cos(lat) * math.cos(lat2) * math.sin((lng2 - lng) / 2) ** 2
    return 2 * 6371 * math.asin(math.sqrt(half))


def _window(rng: random.Random, events: Sequence[str], many: tuple[int, int]) -> tuple[date, date]:
    """A span of days in which so many, at least and at most, had an event, none of them at its edges."""
    days = {date.fromisoformat(day) for day in events}
    while True:
        start = _FIRST + timedelta(days=rng.randrange((_LAST - _FIRST).days))
        end = start + timedelta(days=rng.randint(4, 13))
        inside = [day for day in days if start <= day <= end]
        edges = {start - timedelta(days=1), start, end, end + timedelta(days=1)}
        if many[0] <= len(inside) <= many[1] and not edges & days:
            return start, end


def _strongest(text: str, day: str) -> tuple[str, str]:
    """Class and peak of the largest flare of a day."""
    found = re.findall(r"Peak Time: (\S+)T(\S+)Z\n.*?Class: (\S+)", text, re.S)
    ranked = sorted(("ABCMX".index(size[0]), float(size[1:]), size, peak, peaked) for peaked, peak, size in found)
    need(len(ranked) < 2 or ranked[-1][:2] > ranked[-2][:2], "two flares of a day are equally strong")
    need(ranked[-1][4] == day, "it peaked after midnight")
    return ranked[-1][2], ranked[-1][3]


def _count(text: str) -> int:
    found = re.search(r"found: (\d+)", text)
    return int(found[1]) if found else 0


def _write(sun: Sequence[tuple[str, str, str, int]]) -> ReferenceCall:
    rows = [
        ["Date", "Strongest flare", "Peak (UTC)", "Coronal mass ejections"],
        *([day, size, f"{peak} UTC", many] for day, size, peak, many in sun),
    ]
    arguments = {"filepath": _BOOK, "sheet_name": _SHEET, "data": rows}
    return call("excel/write_data_to_excel", arguments, free=("filepath", "sheet_name", "start_cell"))
