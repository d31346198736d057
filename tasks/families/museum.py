"""Works in a gallery with their cards: a checklist of them, who made the oldest, or what else one of the makers made."""

import random
import re
from collections.abc import Mapping, Sequence
from typing import Any

from m3bench.tasks.answers.fields import Field, File, Integer, Name, Table, Text
from m3bench.tasks.answers.sheets import WorkbookRows
from m3bench.tasks.families import works
from m3bench.tasks.families.articles import telling
from m3bench.tasks.families.base import Composition, Kit, Script, Solution, call, need
from m3bench.tasks.families.works import museum_tables as _tables
from m3bench.tasks.render.canvas import Canvas
from m3bench.tasks.render.exhibits import PIECES, exhibit, gallery
from m3bench.tasks.task import ReferenceCall

_COUNT = 3
_PLACES = ("on the left", "in the middle", "on the right")
_BOOK, _SHEET = "./checklist.xlsx", "Works"
_MARGIN = 3
"""Years between the births of the first and the next artist."""


class Museum:
    """Search and records; then a workbook, the encyclopedia, or further works of one artist."""

    name = "museum"
    servers = ("metmuseum-mcp", "wiki", "excel")

    def compose(self, rng: random.Random, kit: Kit) -> Composition:
        """Three works side by side, at least one of them under glass."""
        departments = {record["id"]: record["name"] for record in kit.world("met_departments")}
        pool = [work for work in kit.world("met_objects") if works.eligible(work)]
        chosen = [rng.choice([work for work in pool if work["kind"] in PIECES])]
        for work in rng.sample(pool, len(pool)):
            if works.subject(work) not in {works.subject(other) for other in chosen} and len(chosen) < _COUNT:
                chosen.append(work)
        rng.shuffle(chosen)
        canvas = Canvas(kit.art, 1400, 900)
        level = gallery(canvas, rng)
        width = rng.uniform(388, 412)
        gap = (canvas.width - width * _COUNT) / (_COUNT + 1)
        for number, work in enumerate(chosen):
            department = departments[work["met_department_id"]]
            kind = "bull" if work["kind"] == "animal" and "bull" in work["title"] else work["kind"]
            card = (work["title"], works.maker(work), work["date"], department)
            exhibit(canvas, rng, kind, gap + width / 2 + number * (width + gap), width, level, card)
        canvas.light(rng, 0.8)
        told = telling(kit, _tables().artists, described=True)
        seen = [
            {
                "query": works.query(work),
                "id": work["id"],
                "title": work["title"],
                "department": work["met_department_id"],
                "subject": works.subject(work),
                "maker": works.maker(work),
                "artist": works.maker(work) if works.maker(work) in _tables().artists else "",
                "telling": told.get(works.subject(work), ()),
            }
            for work in chosen
        ]
        return Composition.of(canvas, seen=seen)

    async def solve(self, rng: random.Random, composition: Composition, path: str, play: Script) -> Solution:
        """By goal."""
        seen = composition.facts["seen"]
        match play.goal:
            case "checklist":
                return await self._checklist(seen, path, play)
            case "elder":
                return await self._elder(seen, path, play)
            case _:
                place = rng.randrange(_COUNT)
                return await self._more(seen[place], _PLACES[place], path, play)

    async def _checklist(self, seen: Sequence[Mapping[str, Any]], path: str, play: Script) -> Solution:
        """All works: number and medium, in a workbook."""
        book = call("excel/create_workbook", {"filepath": _BOOK}, free=("filepath",))
        records = await _records(seen, play, book)
        media = [record["Medium"] for record in records]
        need(not any(re.search("[,;:]", medium) for medium in media), "a medium is a list of its own")
        need(len({medium.casefold() for medium in media}) > 1, "all are made of the same")
        rows = [(work["title"], work["id"], medium) for work, medium in zip(seen, media, strict=True)]
        data = [["Work", "Object ID", "Medium"], *(list(row) for row in rows)]
        write = call(
            "excel/write_data_to_excel",
            {"filepath": _BOOK, "sheet_name": _SHEET, "data": data},
            free=("filepath", "sheet_name", "start_cell"),
        )
        await play.step(write)
        lines = tuple(
            (_title(title, [one["title"] for one in seen], work["maker"]), Integer(value=number), _medium(medium))
            for work, (title, number, medium) in zip(seen, rows, strict=True)
        )
        return Solution(
            wording=f"Find the works whose cards are in {path} in the Met's collection and list title, object ID and medium in a workbook.",
            answer=f"{'; '.join(f'{title} has ID {number}, {medium}' for title, number, medium in rows)}. The list is in {_BOOK}.",
            fields=(
                Field(
                    name="works",
                    meaning="every work shown: title, the Met's object ID, medium",
                    value=Table(
                        columns=("title", "object_id", "medium"),
                        rows=lines,
                    ),
                ),
                Field(
                    name="workbook",
                    meaning="an Excel file with the same list",
                    value=File(form="xlsx", value=_BOOK, holds=(WorkbookRows(rows=lines),)),
                ),
            ),
            alternatives=(play.varied("The workbook made later.", {0: play.steps[0][:-1], 1: (*play.steps[1], book)}),),
        )

    async def _elder(self, seen: Sequence[Mapping[str, Any]], path: str, play: Script) -> Solution:
        """The artist who was born first, and the article on them."""
        named = [work for work in seen if work["artist"]]
        need(len(named) > 1, "fewer than two artists are named")
        records = await _records(named, play)
        years = [_birth(record.get("Artist Bio", "")) for record in records]
        need(0 not in years, "it is not known when one of them was born")
        (year, elder), (next_year, _), *_ = sorted(
            zip(years, named, strict=True), key=lambda pair: (pair[0], pair[1]["id"])
        )
        need(next_year - year >= _MARGIN, "two were born at nearly the same time")
        need(len(elder["telling"]) >= 5, "the article says nothing that it alone says")
        name = elder["artist"]
        bio = records[named.index(elder)]["Artist Bio"]
        look = call("wiki/search", {"query": name}, free=("n",), words={"query": works.distinctive_words(name)[-1:]})
        (text,) = await play.step(look)
        title = text.split("\n")[1].removeprefix("- ")
        (lead,) = await play.step(call("wiki/summary", {"title": title}, either={"title": (title, name)}))
        about = lead.split("\n\n")[1]
        return Solution(
            wording=f"Look up the works in {path} whose cards name an artist, find the artist who was born first, and summarise the encyclopedia article on them.",
            answer=f"{name}, born in {year}, is the oldest of the artists. {about}",
            fields=(
                Field(
                    name="artist",
                    meaning="the artist who was born first",
                    value=Name(
                        value=name,
                        aliases=(title,),
                        others=tuple(work["artist"] for work in named if work is not elder),
                        context=(str(year), elder["title"], bio, "born", "artist painter sculptor printmaker"),
                    ),
                    compared=tuple(float(one) for one in sorted(years)),
                    derived=tuple(float(one) for one in years),
                ),
                Field(name="birth_year", meaning="the year in which that artist was born", value=Integer(value=year)),
                Field(
                    name="about",
                    meaning="one or two sentences on the life or work of that artist, from an encyclopedia",
                    value=Text(words=80, value=about, mentions=(_inflected(elder["telling"]),)),
                ),
            ),
            alternatives=(play.varied("The article without a search.", {2: ()}),),
        )

    async def _more(self, work: Mapping[str, Any], where: str, path: str, play: Script) -> Solution:
        """What else there is by the artist of one of the works, and where it is filed."""
        artist = work["artist"]
        need(bool(artist), "no artist is named there")
        listed = call("metmuseum-mcp/list-departments", {})
        search = call(
            "metmuseum-mcp/search-museum-objects",
            {"q": artist},
            words={"q": works.distinctive_words(artist)[-1:]},
            either={"hasImages": (None, False, True), "title": (None, False)},
        )
        text, departments = await play.step(search, listed)
        numbers = {
            name: int(number) for number, name in re.findall(r"Department ID: (\d+), Display Name: (.+)", departments)
        }
        found = _ids(text)
        need(work["id"] in found and 2 <= len(found) <= 7, "there is nothing else, or too much")
        records = [_record(text) for text in await play.step(*map(_get, found))]
        others = [
            (record["Title"], number, numbers[record["Department"]])
            for number, record in zip(found, records, strict=True)
            if number != work["id"] and artist in record.get("Artist", "")
        ]
        need(bool(others), "there is nothing else")
        titles = [title for title, _, _ in others] + [work["title"]]
        need(len({_short(title).casefold() for title in titles}) == len(titles), "two have one title")
        told = "; ".join(f"{title}, object {number} in department {department}" for title, number, department in others)
        return Solution(
            wording=f"Find what else by the artist of the work {where} in {path} the Met has, with object ID and department ID.",
            answer=f"By {artist} there is also: {told}.",
            fields=(
                Field(
                    name="other_works",
                    meaning="each further work by that artist: title, the Met's object ID, the ID of its department",
                    value=Table(
                        columns=("title", "object_id", "department_id"),
                        rows=tuple(
                            (_title(title, titles, artist), Integer(value=number), Integer(value=department))
                            for title, number, department in others
                        ),
                    ),
                ),
            ),
            given={"where": where},
            alternatives=(play.varied("The departments last.", {0: (search,), 1: (*play.steps[1], listed)}),),
        )


async def _records(seen: Sequence[Mapping[str, Any]], play: Script, *beside: ReferenceCall) -> list[dict[str, str]]:
    """The museum's records of some works, found by what their cards say; the first step may do something beside."""
    texts = await play.step(
        *(
            call(
                "metmuseum-mcp/search-museum-objects",
                {"q": work["query"]},
                words={"q": works.distinctive_words(work["query"])},
                either={
                    "hasImages": (None, False, True), "title": (None, False, True),
                    "departmentId": (None, work["department"]),
                },
            )
            for work in seen
        ),
        *beside,
    )  # fmt: skip
    need(
        [_ids(text)[:1] for text in texts[: len(seen)]] == [[work["id"]] for work in seen],
        "a card does not lead to its work",
    )
    return [_record(text) for text in await play.step(*(_get(work["id"]) for work in seen))]


def _get(number: int) -> ReferenceCall:
    return call("metmuseum-mcp/get-museum-object", {"objectId": number, "returnImage": False}, free=("returnImage",))


def _record(text: str) -> dict[str, str]:
    return dict(line.split(": ", 1) for line in text.split("\n") if ": " in line)


def _ids(text: str) -> list[int]:
    found = re.search(r"Object IDs: ([\d, ]+)", text)
    return [int(number) for number in found[1].split(",")] if found else []


def _birth(bio: str) -> int:
    """The year of birth in what the museum says of an artist; 0 when it is not certain."""
    found = re.search(r"(?<!ca\. )\b(\d{4})(?:–\d{4}|/)", bio)
    return int(found[1]) if found and "active" not in bio and "ca." not in bio and "/" not in bio else 0


def _short(title: str) -> str:
    """A title without what is in brackets."""
    return title.partition(" (")[0]


def _title(title: str, titles: Sequence[str], maker: str) -> Name:
    """The title of a work; who made it may be said with it."""
    others = tuple(other for other in titles if other != title)
    return Name(value=title, aliases=(_short(title),), others=others, context=(maker,))


def _medium(medium: str) -> Name:
    """A medium; oil is a paint, oak a wood, and a kind of marble is marble."""
    plain = medium.partition(" (")[0]
    loose = re.sub(r"^[\w-]+ (?=(?:marble|alabaster)$)", "", plain.removesuffix(" panel"))
    forms = (plain, loose, loose.replace("oak", "wood"), loose.replace("oak", "oak wood"))
    said = [
        re.sub(r"\bOil on\b", oil, form)
        for form in forms
        for oil in ("Oil on", "Oil paint on", "Oil painting on", "Oil,")
    ]
    beside = "paint painting painted carved made from of material technique sculpture statue panel cast piece"
    return Name(value=medium, aliases=tuple(dict.fromkeys(said)), context=(medium, beside))


def _inflected(words: Sequence[str]) -> tuple[str, ...]:
    """Words, also as one or several."""
    return tuple(dict.fromkeys(form for word in words for form in (word, f"{word}s", word.removesuffix("s"))))
