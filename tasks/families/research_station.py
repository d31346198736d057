"""A research base with its sign: what the Sun did to it, what time a storm began there, and who works nearby."""

import json
import math
import random
import re
from collections.abc import Mapping, Sequence
from datetime import UTC, date, datetime, timedelta
from typing import Any

from m3bench.tasks.answers.fields import Code, Date, Field, File, Integer, Items, Name, Number, Table, Time
from m3bench.tasks.answers.sheets import WorkbookRows
from m3bench.tasks.families import sights
from m3bench.tasks.families.base import Composition, Kit, Script, Solution, call, need
from m3bench.tasks.families.texts import Tables, tables
from m3bench.tasks.render.canvas import Canvas
from m3bench.tasks.render.outposts import outpost
from m3bench.tasks.task import ReferenceCall

_KIND = "research_institute"
_BOOK, _SHEET = "./flare_days.xlsx", "Flares"
_RADII = (5, 8, 12, 15, 20, 25, 30, 40, 50)
_EDGE = 0.5
"""Kilometres around the edge of a circle in which no station may lie."""
_MOST = 8
"""Stations that somebody would list."""
_MARGIN = 0.2
"""Kilometres by which the nearest must be nearer than the next."""
_SKY = ("Observatory", "Telescope", "Gemini", "Radar", "ALMA", "Experiment")
_COLD = ("AQ", "SJ", "CH", "SE")
_FIRST, _LAST = date(2024, 2, 1), date(2025, 10, 20)


class _Tables(Tables):
    known_as: dict[str, tuple[str, ...]]
    """What else research sites are called."""


_tables = tables("research_station", _Tables)


class ResearchStation:
    """Flares and ejections by day in a workbook; a storm in local time; or the stations around and the nearest of them."""

    name = "research_station"
    servers = ("nasa-mcp", "google-maps", "excel")

    def compose(self, rng: random.Random, kit: Kit) -> Composition:
        """A base and its sign."""
        stations = [place for place in kit.world("places") if place["types"][0] == _KIND]
        site = rng.choice(
            [place for place in stations if _remote(place) and sum(_apart(place, other) < 15 for other in stations) > 1]
        )
        canvas = Canvas(kit.art, 1280, 860)
        cold = site["country"] in _COLD or "AK" in site["address"]
        land = "snow" if cold else "meadow" if re.search(r", (MA|OR) ", site["address"]) else "sand"
        below = [part.strip() for part in site["address"].split(",")][-2:]
        sky = any(word in site["name"] for word in _SKY)
        outpost(
            canvas,
            rng,
            land,
            site["name"],
            [re.sub(r"\b[A-Z]{2} \d{5}\b|\d{4,}", "", ", ".join(below)).strip(" ,")],
            domes=sky,
            beings=site["country"] in ("AQ", "CL"),
        )
        canvas.light(rng, 0.8)
        return Composition.of(
            canvas,
            name=site["name"],
            around={place["name"]: _apart(site, place) for place in stations if place is not site},
            addresses={place["name"]: place["address"] for place in stations},
            flares=sorted(record["peak"][:10] for record in kit.world("solar_flares")),
            storms=sorted(record["start"][:10] for record in kit.world("geomagnetic_storms")),
        )

    async def solve(self, rng: random.Random, composition: Composition, path: str, play: Script) -> Solution:
        """By goal; the base is found by the name on its sign."""
        facts = composition.facts
        words = re.findall(r"\w+", facts["name"])
        where = call(
            "google-maps/geocode", {"address": facts["name"]}, words={"address": words}, free=("region", "language")
        )
        match play.goal:
            case "flares":
                window, radius = _window(rng, facts["flares"], (2, 3)), rng.choice(_RADII)
                return await self._flares(window, radius, facts, where, path, play)
            case "storm":
                return await self._storm(_window(rng, facts["storms"], (1, 1)), where, path, play)
            case _:
                return await self._around(rng.choice(_RADII), facts, where, path, play)

    async def _flares(
        self,
        window: tuple[date, date],
        radius: int,
        facts: Mapping[str, Any],
        where: ReferenceCall,
        path: str,
        play: Script,
    ) -> Solution:
        """The Sun and the neighbours of the base side by side, then the workbook."""
        span = _span(window)
        notices = call("nasa-mcp/get_notifications", {**span, "notification_type": "FLR"})
        text, found, _ = await play.step(
            notices, where, call("excel/create_workbook", {"filepath": _BOOK}, free=("filepath",))
        )
        days = sorted(set(re.findall(r"start (\d{4}-\d\d-\d\d)T", text)))
        need(days == sorted(set(re.findall(r"Issue Time: (\S+)T", text))), "one was told of on another day")
        flares = [call("nasa-mcp/get_solar_flare", {"start_date": day, "end_date": day}) for day in days]
        ejections = [call("nasa-mcp/get_coronal_mass_ejection", {"start_date": day, "end_date": day}) for day in days]
        around = sights.nearby(sights.position(found), radius * 1000, _KIND)
        *texts, near = await play.step(*flares, *ejections, around)
        names = sorted(_called(place) for place in _others(near, radius, facts))
        need(not any("... and" in one for one in (text, *texts)), "not everything is shown")
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
            f"mass ejections into a workbook, and name the other research sites within {radius} km of the base in {path}.",
            answer=f"Days with announced flares: {told}. Within {radius} km there are {', '.join(names)}. The table is in {_BOOK}.",
            fields=(
                Field(
                    name="flare_days",
                    meaning="each day with a flare notification: class of its strongest flare, when that peaked, ejections begun",
                    value=Table(columns=("date", "strongest_class", "peak", "ejections"), rows=rows),
                    derived=tuple(fact for day, size, peak, _ in sun for fact in (f"{day}T{peak}Z", size)),
                ),
                Field(
                    name="stations",
                    meaning="every other research site within the given distance",
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

    async def _storm(self, window: tuple[date, date], where: ReferenceCall, path: str, play: Script) -> Solution:
        """When a storm began, by the clocks of the base."""
        storms, found = await play.step(call("nasa-mcp/get_geomagnetic_storm", _span(window)), where)
        need(re.findall(r"found: (\d+)", storms) == ["1"], "there must be one storm")
        start = datetime.fromisoformat(re.findall(r"Start Time: (\S+)Z", storms)[0]).replace(tzinfo=UTC)
        kp = float(re.findall(r"Index: ([\d.]+)", storms)[0])
        lat, lng = sights.position(found)
        zone = call(
            "google-maps/timezone",
            {"lat": lat, "lng": lng, "timestamp": int(start.timestamp())},
            near={"lat": 0.02, "lng": 0.02, "timestamp": 43200.0},
        )
        (text,) = await play.step(zone)
        response = json.loads(text)["response"]
        ahead = response["rawOffset"] + response["dstOffset"]
        need(ahead != 0, "the base keeps UTC")
        local = start + timedelta(seconds=ahead)
        moment = start.strftime("%Y-%m-%dT%H:%MZ")
        return Solution(
            wording=f"Find the geomagnetic storm of {window[0]} to {window[1]}, and convert its start to the local time of the base in {path}.",
            answer=f"The storm began on {start:%Y-%m-%d} at {start:%H:%M} UTC, which was {local:%H:%M} at the base. Its first Kp index is {kp:g}.",
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
                    name="local_start",
                    meaning="the same moment by the clocks of the pictured site",
                    value=Time(zone="local", value=f"{local:%H:%M}"),
                    derived=(moment, float(response["rawOffset"])),
                ),
                Field(name="first_kp", meaning="the first Kp index reported for it", value=Number(value=kp)),
            ),
            given=_given(window),
        )

    async def _around(
        self, radius: int, facts: Mapping[str, Any], where: ReferenceCall, path: str, play: Script
    ) -> Solution:
        """The other stations in a circle, and where the nearest of them is."""
        (found,) = await play.step(where)
        (text,) = await play.step(sights.nearby(sights.position(found), radius * 1000, _KIND))
        places = sorted(_others(text, radius, facts), key=lambda place: facts["around"][_called(place)])
        names = [_called(place) for place in places]
        far = [round(facts["around"][name], 3) for name in names]
        need(far[1] - far[0] >= max(_MARGIN, 0.1 * far[1]), "two are equally near")
        (details,) = await play.step(sights.details(places[:1]))
        address = json.loads(details)["response"]["formattedAddress"]
        rated = [(_called(place), place["rating"]) for place in places]
        need(len({rating for _, rating in rated}) > 1, "all are rated alike")
        told = ", ".join(f"{name} ({rating})" for name, rating in rated)
        spots = tuple(float(place["location"][key]) for place in places for key in ("latitude", "longitude"))
        return Solution(
            wording=f"List the other research sites within {radius} km of the base in {path} with their ratings, and give the nearest of them and its address.",
            answer=f"Within {radius} km there are {told}. The nearest is {names[0]}, {address}.",
            fields=(
                Field(
                    name="stations",
                    meaning="every other research site within that distance, with its visitors' rating",
                    value=Table(
                        columns=("name", "rating"),
                        rows=tuple(
                            (_site(name, names, facts), Number(value=rating, within=0.049)) for name, rating in rated
                        ),
                    ),
                ),
                Field(
                    name="nearest",
                    meaning="the one of them that is nearest as the crow flies",
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


def _others(text: str, radius: int, facts: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The stations in a circle but for the base itself; none may lie at its edge."""
    inside = [name for name, km in facts["around"].items() if km < radius]
    need(2 <= len(inside) <= _MOST, "too few or too many stations")
    need(not any(abs(km - radius) < _EDGE for km in facts["around"].values()), "a station lies on the edge")
    found = [place for place in json.loads(text)["response"]["places"] if _called(place) != facts["name"]]
    need(sorted(map(_called, found)) == sorted(inside), "others are found")
    return found


def _called(place: Mapping[str, Any]) -> str:
    return str(place["displayName"]["text"])


def _site(name: str, names: Sequence[str], facts: Mapping[str, Any]) -> Name:
    others = (*(other for other in names if other != name), facts["name"])
    known = _tables().known_as
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
    said = [form.format(one) for one in (size, short) for form in ("{}", "{} flare", "{}-class flare", "class {}")]
    return Code(form="flare class", value=size, aliases=tuple(dict.fromkeys(said[1:])))


def _remote(place: Mapping[str, Any]) -> bool:
    """Whether a place is a base or an observatory rather than an institute in a town."""
    return not place.get("city_id") or place["city_id"] == "mcmurdo"


def _apart(one: Mapping[str, Any], other: Mapping[str, Any]) -> float:
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
