"""Works in a gallery, some of them circled: a checklist of these, which of their artists is the oldest, or what else they made."""

import random
import re
from collections import Counter
from collections.abc import Sequence

from m3bench.tasks.answers.fields import Field, File, Integer, Name, Table, Text
from m3bench.tasks.answers.office import WorkbookRows
from m3bench.tasks.families.articles import telling
from m3bench.tasks.families.base import Composition, Family, Kit, Script, Solution, call, need, table, words
from m3bench.tasks.json_types import Record
from m3bench.tasks.render import pen
from m3bench.tasks.render.canvas import Canvas
from m3bench.tasks.render.exhibits import PICTURES, PIECES, exhibit, gallery
from m3bench.tasks.task import ReferenceCall

_LONGEST_TITLE = 62
_UNLIKE = (247020, 322608)
"""A chariot and a winged bull, which look like nothing that is drawn for their kind."""


def eligible(work: Record) -> bool:
    """Whether a work can be drawn, has a short title, and there is an article on who made it."""
    drawn = work.get("kind") in (*PICTURES, *PIECES) and work["id"] not in _UNLIKE
    return drawn and "medium" in work and len(work["title"]) <= _LONGEST_TITLE and bool(subject(work))


def maker(work: Record) -> str:
    """Who or what people made a work, as its card says."""
    artist = _credited(work)
    return artist if artist in Museum.artists else str(work["culture"])


def subject(work: Record) -> str:
    """What to read about: the artist or else the culture; empty when neither is well known."""
    artist = _credited(work)
    if artist in Museum.artists:
        return artist
    if artist and "artist" not in artist:
        return ""
    culture = str(work.get("culture", ""))
    return next(
        (article for beginning, article in Museum.cultures if culture.startswith(beginning) and " or " not in culture),
        "",
    )


def query(work: Record) -> str:
    """What to search the collection for."""
    return f"{work['title']} {maker(work).split(',')[0]}"


def _credited(work: Record) -> str:
    return (
        str(work.get("artist", "")).partition(" (")[0].removeprefix("Workshop of ")
        if "artist(s)" not in work.get("artist", "")
        else "artist"
    )


def distinctive_words(text: str) -> tuple[str, ...]:
    """The two longest words of a text, in its order."""
    words = re.findall(r"\w+", text)
    return tuple(word for word in words if word in sorted(words, key=len)[-2:])


_SIZE = (1600, 1290)
_COLUMNS, _LEDGE = 4, 606
"""Works side by side, and where those of the upper row stand."""
_COUNT = 2 * _COLUMNS
_KNOWN = 6
"""How many of them are by artists of whom the museum has more; the others stand under glass."""
_RED, _BLUE = 3, (2, 3)
"""Works with a loop of a colour. How many are blue differs and no question tells it, so that nobody hits them by chance."""
_BOOK, _SHEET = "./checklist.xlsx", "Works"
_MARGIN = 3
"""Years between the births of the first and the next artist."""
_LONGEST = 48
"""Letters of a title on a card."""
_FOUND = 6
"""What a search for an artist may find."""


class Museum(Family):
    """Search and records; then a workbook, the encyclopedia, or further works of one artist."""

    name = "museum"
    servers = ("metmuseum-mcp", "wiki", "excel")
    cultures = table(tuple[tuple[str, str], ...])
    artists = words()

    def compose(self, rng: random.Random, kit: Kit) -> Composition:
        """Eight works in two rows: three have a red loop around them and two or three a blue one."""
        pool = [work for work in kit.world("met_objects") if eligible(work) and len(work["title"]) <= _LONGEST]
        made = Counter(subject(work) for work in kit.world("met_objects"))
        known = [work for work in pool if maker(work) in self.artists and made[maker(work)] > 1]
        chosen = _apart(rng.sample(known, len(known)), [], _KNOWN)
        pieces = [work for work in pool if work["kind"] in PIECES]
        chosen = _apart(rng.sample(pieces, len(pieces)), chosen, _COUNT)
        rng.shuffle(chosen)
        canvas = Canvas(kit.art, *_SIZE)
        level = gallery(canvas, rng, _LEDGE)
        width = rng.uniform(338, 346)
        gap = (canvas.width - width * _COLUMNS) / (_COLUMNS + 1)
        boxes = []
        for number, work in enumerate(chosen):
            row, column = divmod(number, _COLUMNS)
            kind = "bull" if work["kind"] == "animal" and "bull" in work["title"] else work["kind"]
            heights = (_LEDGE + 62, level) if row else (44, _LEDGE)
            card = (work["title"], maker(work), work["date"])
            x = gap + width / 2 + column * (width + gap)
            boxes.append(exhibit(canvas, rng, kind, work["id"], x, width, heights, card))
        canvas.light(rng, 0.4)
        meant = rng.sample(range(_COUNT), _RED + rng.choice(_BLUE))
        for number in meant:
            pen.loop(canvas, rng, boxes[number], pen.RED if number in meant[:_RED] else pen.BLUE)
        told = telling(kit, self.artists, described=True)
        articles = [(record["title"], *record.get("aliases", ())) for record in kit.world("articles")]
        known_as = {name: names for names in articles for name in names}
        seen = [
            {
                "query": query(work),
                "id": work["id"],
                "title": work["title"],
                "department": work["met_department_id"],
                "subject": subject(work),
                "maker": maker(work),
                "artist": maker(work) if maker(work) in self.artists else "",
                "known_as": known_as.get(maker(work), ()),
                "telling": told.get(subject(work), ()),
            }
            for work in chosen
        ]
        red, blue = ([seen[number] for number in sorted(part)] for part in (meant[:_RED], meant[_RED:]))
        return Composition.of(canvas, seen=seen, red=red, blue=blue)

    async def solve(self, rng: random.Random, composition: Composition, path: str, play: Script) -> Solution:
        """By goal: those with a red loop, or those with a blue one."""
        red, blue = composition.facts["red"], composition.facts["blue"]
        match play.goal:
            case "checklist":
                return await self._checklist(red, path, play)
            case "elder":
                return await self._elder(red, path, play)
            case _:
                return await self._more(blue, path, play)

    async def _checklist(self, seen: Sequence[Record], path: str, play: Script) -> Solution:
        """Number and medium of each, in a workbook."""
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
            (_title(title, [other["title"] for other in seen], work["maker"]), Integer(value=number), medium_of(medium))
            for work, (title, number, medium) in zip(seen, rows, strict=True)
        )
        return Solution(
            wording=f"Find the works with a red loop in {path} in the Met's collection and list title, object ID and medium in a workbook.",
            answer=f"{'; '.join(f'{title} has ID {number}, {medium}' for title, number, medium in rows)}. The list is in {_BOOK}.",
            fields=(
                Field(
                    name="works",
                    meaning="every work with a red loop: title, the Met's object ID, medium",
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

    async def _elder(self, seen: Sequence[Record], path: str, play: Script) -> Solution:
        """The artist who was born first, and the article on them."""
        need(all(work["artist"] for work in seen), "not all of them name an artist")
        records = await _records(seen, play)
        years = [_birth(record.get("Artist Bio", "")) for record in records]
        need(0 not in years, "it is not known when one of them was born")
        (year, elder), (next_year, _), *_ = sorted(
            zip(years, seen, strict=True), key=lambda pair: (pair[0], pair[1]["id"])
        )
        need(next_year - year >= _MARGIN, "two were born at nearly the same time")
        need(len(elder["telling"]) >= 5, "the article says nothing that it alone says")
        name = elder["artist"]
        told = "; ".join(f"{work['artist']} was born in {born}" for work, born in zip(seen, years, strict=True))
        bio = records[seen.index(elder)]["Artist Bio"]
        look = call("wiki/search", {"query": name}, free=("n",), words={"query": distinctive_words(name)[-1:]})
        (text,) = await play.step(look)
        title = text.split("\n")[1].removeprefix("- ")
        (lead,) = await play.step(call("wiki/summary", {"title": title}, either={"title": (title, name)}))
        about = lead.split("\n\n")[1]
        return Solution(
            wording=f"Look up the works with a red loop in {path}, tell when their artists were born, and summarise the encyclopedia article on the oldest of them.",
            answer=f"{told}. {name} is the oldest of them. {about}",
            fields=(
                Field(
                    name="births",
                    meaning="the artist of each work with a red loop, and the year in which that artist was born",
                    value=Table(
                        columns=("artist", "year"),
                        rows=tuple(
                            (_artist(work, seen), Integer(value=born)) for work, born in zip(seen, years, strict=True)
                        ),
                    ),
                ),
                Field(
                    name="earliest_born",
                    meaning="the one of them who was born first",
                    value=_artist(elder, seen, str(year), bio),
                    compared=tuple(float(year) for year in sorted(years)),
                    derived=tuple(float(year) for year in years),
                ),
                Field(
                    name="about",
                    meaning="one or two sentences on the life or work of the one who was born first, from an encyclopedia",
                    value=Text(words=80, value=about, mentions=(_inflected(elder["telling"]),)),
                ),
            ),
            alternatives=(play.varied("The article without a search.", {2: ()}),),
        )

    async def _more(self, marked: Sequence[Record], path: str, play: Script) -> Solution:
        """What else there is by the artists of some of the works, and where it is filed."""
        need(all(work["artist"] for work in marked), "no artist is named there")
        listed = call("metmuseum-mcp/list-departments", {})
        searches = [_search(work["artist"]) for work in marked]
        *texts, departments = await play.step(*searches, listed)
        numbers = {
            name: int(number) for number, name in re.findall(r"Department ID: (\d+), Display Name: (.+)", departments)
        }
        found = [_ids(text) for text in texts]
        for work, ids in zip(marked, found, strict=True):
            need(work["id"] in ids and 2 <= len(ids) <= _FOUND, "there is nothing else, or too much")
        each = [number for ids in found for number in ids]
        need(len(set(each)) == len(each), "two searches find the same")
        records = dict(zip(each, map(_record, await play.step(*map(_get, each))), strict=True))
        others = [
            (work["artist"], records[number]["Title"], number, numbers[records[number]["Department"]])
            for work, ids in zip(marked, found, strict=True)
            for number in ids
            if number != work["id"] and work["artist"] in records[number].get("Artist", "")
        ]
        need({artist for artist, *_ in others} == {work["artist"] for work in marked}, "there is nothing else")
        titles = [title for _, title, _, _ in others] + [work["title"] for work in marked]
        need(len({_short(title).casefold() for title in titles}) == len(titles), "two have one title")
        told = "; ".join(
            f"{title} by {artist}, object {number} in department {kept}" for artist, title, number, kept in others
        )
        return Solution(
            wording=f"Find what else by the artists of the works with a blue loop in {path} the Met has, with object ID and department ID.",
            answer=f"There is also: {told}.",
            fields=(
                Field(
                    name="other_works",
                    meaning="each further work by those artists: title, the Met's object ID, the ID of its department",
                    value=Table(
                        columns=("title", "object_id", "department_id"),
                        rows=tuple(
                            (_title(title, titles, artist), Integer(value=number), Integer(value=kept))
                            for artist, title, number, kept in others
                        ),
                    ),
                ),
            ),
            alternatives=(play.varied("The departments last.", {0: searches, 1: (*play.steps[1], listed)}),),
        )  # fmt: skip


def _apart(pool: Sequence[Record], chosen: Sequence[Record], count: int) -> list[Record]:
    """Works from a pool after those that are chosen, each by somebody else, until there are so many."""
    found = list(chosen)
    for work in pool:
        if len(found) < count and subject(work) not in {subject(other) for other in found}:
            found.append(work)
    return found


def _search(artist: str) -> ReferenceCall:
    return call(
        "metmuseum-mcp/search-museum-objects",
        {"q": artist},
        words={"q": distinctive_words(artist)[-1:]},
        either={"hasImages": (None, False, True), "title": (None, False)},
    )


def _artist(work: Record, seen: Sequence[Record], *said: str) -> Name:
    """The artist of a work, by any of the names that the encyclopedia has; more may be said of them."""
    return Name(
        value=work["artist"],
        aliases=tuple(name for name in work["known_as"] if name != work["artist"] and "(" not in name),
        others=tuple(other["artist"] for other in seen if other is not work),
        context=(*said, work["title"], "born", "artist painter sculptor printmaker"),
    )


async def _records(seen: Sequence[Record], play: Script, *beside: ReferenceCall) -> list[dict[str, str]]:
    """The museum's records of some works, found by what their cards say; the first step may do something beside."""
    texts = await play.step(
        *(
            call(
                "metmuseum-mcp/search-museum-objects",
                {"q": work["query"]},
                words={"q": distinctive_words(work["query"])},
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


def medium_of(medium: str) -> Name:
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
