"""A research base with its sign: large flares of a span of days, and the stations around the base, in a workbook."""

import json
import math
import random
import re
from collections.abc import Mapping, Sequence
from datetime import date, timedelta
from typing import Any

from m3bench.tasks.checks import AnswerNames, AnswerNumber, CallMade, WorkbookCells
from m3bench.tasks.families.base import Composition, Kit, Script, Solution, call
from m3bench.tasks.render.canvas import Canvas
from m3bench.tasks.render.outposts import outpost
from m3bench.tasks.task import Reference, ReferenceCall

_KIND = "research_institute"
_BOOK, _SHEET = "./flares_and_stations.xlsx", "Report"
_RADII = (15, 20, 25, 30, 40, 50)
_MOST = 3
"""Stations that are looked at closely."""
_SKY = ("Observatory", "Telescope", "Gemini", "Radar", "ALMA", "Experiment")
_COLD = ("AQ", "SJ", "CH", "SE")
_FIRST, _LAST = date(2024, 2, 1), date(2025, 10, 20)


class ResearchStation:
    """Notifications, then flares and ejections by day, then stations and their details, then a workbook."""

    name = "research_station"
    servers = ("nasa-mcp", "google-maps", "excel")

    def compose(self, rng: random.Random, kit: Kit) -> Composition:
        """A base and its sign."""
        stations = [place for place in kit.world("places") if place["types"][0] == _KIND]
        site = rng.choice(
            [
                place
                for place in stations
                if _remote(place) and sum(_apart(place, other) < _RADII[0] for other in stations) > 1
            ]
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
        flares = sorted(record["peak"][:10] for record in kit.world("solar_flares"))
        return Composition.of(canvas, name=site["name"], flares=flares)

    async def solve(self, rng: random.Random, composition: Composition, path: str, play: Script) -> Solution:
        """The Sun and the map side by side, then the workbook."""
        name = composition.facts["name"]
        start, end = _window(rng, composition.facts["flares"])
        radius = rng.choice(_RADII)
        span = {"start_date": start.isoformat(), "end_date": end.isoformat()}
        notices = call("nasa-mcp/get_notifications", {**span, "notification_type": "FLR"})
        where = call(
            "google-maps/geocode",
            {"address": name},
            words={"address": re.findall(r"\w+", name)},
            free=("region", "language"),
        )
        text, found = await play.step(notices, where)
        days = sorted(set(re.findall(r"start (\d{4}-\d\d-\d\d)T", text)))
        flares = [call("nasa-mcp/get_solar_flare", {"start_date": day, "end_date": day}) for day in days]
        ejections = [call("nasa-mcp/get_coronal_mass_ejection", {"start_date": day, "end_date": day}) for day in days]
        spot = json.loads(found)["response"]["results"][0]["geometry"]["location"]
        around = call(
            "google-maps/places_nearby_search",
            {
                "location": {"latitude": spot["lat"], "longitude": spot["lng"]},
                "radiusMeters": radius * 1000,
                "includedTypes": [_KIND],
            },
            free=("languageCode", "regionCode", "fields"),
        )
        *texts, near = await play.step(*flares, *ejections, around)
        sun = [
            (day, *_strongest(flare), _count(cme))
            for day, flare, cme in zip(days, texts[: len(days)], texts[len(days) :], strict=True)
        ]
        ids = [place["id"] for place in json.loads(near)["response"]["places"][:_MOST]]
        details = [call("google-maps/place_details", {"place_id": number}, free=("fields",)) for number in ids]
        book = call("excel/create_workbook", {"filepath": _BOOK}, free=("filepath",))
        *texts, _ = await play.step(*details, book)
        stations = [json.loads(text)["response"] for text in texts]
        write = _write(sun, stations)
        await play.step(write)
        told = "; ".join(
            f"{day}: {size} peaking at {peak}, {number} coronal mass ejections" for day, size, peak, number in sun
        )
        bases = "; ".join(
            f"{place['displayName']['text']}, {place['formattedAddress']} (rated {place.get('rating')})"
            for place in stations
        )
        return Solution(
            wording=f"Find the flare notifications of {start} to {end}, the strongest flare and the number of coronal mass ejections of each of their "
            f"days, and up to three research stations within {radius} km of the base in {path} with details, and write a workbook.",
            answer=f"Days with announced flares: {told}. Research stations within {radius} km: {bases}. All of it is in {_BOOK}.",
            checks=(
                AnswerNames(all_of=tuple((size,) for _, size, _, _ in sun)),
                AnswerNames(all_of=tuple((place["displayName"]["text"],) for place in stations)),
                AnswerNumber(value=sun[-1][3], tolerance=0, what="the ejections of the last day"),
                WorkbookCells(values=tuple(size for _, size, _, _ in sun)),
                WorkbookCells(values=tuple(place["displayName"]["text"] for place in stations)),
                CallMade(tool="nasa-mcp/get_coronal_mass_ejection", times=len(days)),
                CallMade(tool="google-maps/place_details", times=len(ids)),
            ),
            given={"start": start.isoformat(), "end": end.isoformat(), "radius": str(radius)},
            alternatives=(
                Reference(
                    note="One stage after another.",
                    steps=((notices,), (*flares, *ejections), (where,), (around,), tuple(details), (book,), (write,)),
                ),
            ),
        )


def _remote(place: Mapping[str, Any]) -> bool:
    """Whether a place is a base or an observatory rather than an institute in a town."""
    return not place.get("city_id") or place["city_id"] == "mcmurdo"


def _apart(one: Mapping[str, Any], other: Mapping[str, Any]) -> float:
    """Kilometres between two places."""
    lat, lng, lat2, lng2 = (math.radians(place[key]) for place in (one, other) for key in ("lat", "lng"))
    half = math.sin((lat2 - lat) / 2) ** 2 + math.cos(lat) * math.cos(lat2) * math.sin((lng2 - lng) / 2) ** 2
    return 2 * 6371 * math.asin(math.sqrt(half))


def _window(rng: random.Random, flares: Sequence[str]) -> tuple[date, date]:
    """A span of days in which two or three had large flares, none of them at its edges."""
    days = {date.fromisoformat(day) for day in flares}
    while True:
        start = _FIRST + timedelta(days=rng.randrange((_LAST - _FIRST).days))
        end = start + timedelta(days=rng.randint(4, 13))
        inside = [day for day in sorted(days) if start <= day <= end]
        edges = {start - timedelta(days=1), start, end, end + timedelta(days=1)}
        if 2 <= len(inside) <= 3 and not edges & days:
            return start, end


def _strongest(text: str) -> tuple[str, str]:
    """Class and peak of the largest flare of a day."""
    found = re.findall(r"Peak Time: \S+T(\S+)Z\n.*?Class: (\S+)", text, re.S)
    peak, size = max(found, key=lambda one: ("ABCMX".index(one[1][0]), float(one[1][1:])))
    return size, f"{peak} UTC"


def _count(text: str) -> int:
    found = re.search(r"found: (\d+)", text)
    return int(found[1]) if found else 0


def _write(sun: Sequence[tuple[str, str, str, int]], stations: Sequence[Mapping[str, Any]]) -> ReferenceCall:
    rows: list[list[Any]] = [["Date", "Strongest flare", "Peak", "Coronal mass ejections"], *(list(day) for day in sun)]
    rows += [["Station", "Address", "Rating"]]
    rows += [[place["displayName"]["text"], place["formattedAddress"], place.get("rating")] for place in stations]
    arguments = {"filepath": _BOOK, "sheet_name": _SHEET, "data": rows}
    return call("excel/write_data_to_excel", arguments, free=("filepath", "sheet_name", "start_cell"))
