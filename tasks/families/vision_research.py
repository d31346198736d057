"""Title pages of papers on a board, some of them circled: save these, put them in order, or see what else their authors wrote."""

import json
import random
import re
from collections import Counter
from collections.abc import Sequence
from datetime import date

from m3bench.tasks.answers.fields import Code, Date, Field, File, Integer, Items, Name, Number, Table
from m3bench.tasks.answers.files import FolderHas
from m3bench.tasks.families.base import Composition, Family, Kit, Script, Solution, call, need, table
from m3bench.tasks.json_types import Record
from m3bench.tasks.render import pen
from m3bench.tasks.render.canvas import Canvas
from m3bench.tasks.render.shapes import ellipse, mix, rect
from m3bench.tasks.scene import Box
from m3bench.tasks.task import ReferenceCall

SIZE = (1240, 845)
"""Of a picture."""
_COLUMNS = 4
_WIDE, _TALL = 245, 325
"""Of a sheet."""
_LETTERS = 26
_PINS = ("#8f969d", "#b9bec4", "#b08d3f", "#3b3f45")
"""Steel, tin, brass and black: no colour that a pen has."""
_PAPERS = ("#fdfcf8", "#faf8f0", "#f7fafc")


def pinboard(canvas: Canvas, rng: random.Random, titles: Sequence[str]) -> list[Box]:
    """Sheets on cork, each with a title; returns their boxes."""
    width, height = canvas.width, canvas.height
    cork = rng.choice(("#c89b6a", "#bf9468", "#d0a878", "#b98d5f"))
    canvas.draw(rect(0, 0, width, height, cork))
    for _ in range(300):
        x, y, size = rng.uniform(0, width), rng.uniform(0, height), rng.uniform(1.5, 3.5)
        canvas.draw(
            ellipse(x, y, size, size * 0.7, mix(cork, rng.choice(("#000000", "#ffffff")), 0.22), 'opacity="0.6"')
        )
    frame = rng.choice(("#6b4a2f", "#3f3a36", "#8a6a4a", "#e7e2d8"))
    for x, y, w, h in ((0, 0, width, 20), (0, height - 20, width, 20), (0, 0, 20, height), (width - 20, 0, 20, height)):
        canvas.draw(rect(x, y, w, h, frame))
    slot, row = (width - 62) / _COLUMNS, (height - 62) / 2
    boxes: list[Box] = []
    for number, title in enumerate(titles):
        down, across = divmod(number, _COLUMNS)
        left = round(31 + slot * across + (slot - _WIDE) / 2 + rng.uniform(-5, 5))
        top = round(31 + row * down + (row - _TALL) / 2 + rng.uniform(-6, 6))
        _sheet(canvas, rng, title, left, top)
        boxes.append((left, top, left + _WIDE, top + _TALL))
    return boxes


def _sheet(canvas: Canvas, rng: random.Random, title: str, left: float, top: float) -> None:
    """A title page: the title, and below it grey lines where the text would be."""
    wide, tall, pin = _WIDE, _TALL, rng.choice(_PINS)
    canvas.draw(
        rect(left + 5, top + 7, wide, tall, "#00000040", 3), rect(left, top, wide, tall, rng.choice(_PAPERS), 3)
    )
    y = canvas.paragraph(title, left + 20, top + 64, wide - 40, _LETTERS, face="sans bold", fill="#1d2026") + 8
    canvas.draw(rect(left + 20, y - 11, wide * rng.uniform(0.4, 0.6), 8, "#b9bdc4", 4))
    while (y := y + 23) < top + tall - 30:
        canvas.draw(rect(left + 20, y, wide - 40 - rng.uniform(0, 24), 6, "#d9dce1", 3))
    x = left + wide / 2 + rng.uniform(-24, 24)
    canvas.draw(
        ellipse(x + 3, top + 15, 13, 10, "#00000040"),
        ellipse(x, top + 9, 13, 13, pin),
        ellipse(x - 4, top + 5, 5, 3, "#ffffff99"),
    )


_SHEETS = 8
_BUSY = 6
"""How many of them have a last author with some other papers, but not too many."""
_RED, _BLUE = 3, 2
"""Sheets with a loop of a colour."""
_LONGEST, _MOST_AUTHORS = 58, 9
_PLAIN = re.compile(r"[A-Za-z][A-Za-z -]+[a-z]")
"""Titles that are read off a picture without doubt."""
_DAYS = 20
"""How far apart the papers must be."""
_MOST_OTHERS = 6

Paper = Record


class VisionResearch(Family):
    """Read titles, and look for the papers and for those who wrote them."""

    name = "vision_research"
    servers = ("ocr", "paper_search", "math")
    folders = table(tuple[tuple[str, ...], ...])

    def compose(self, rng: random.Random, kit: Kit) -> Composition:
        """The title pages of real papers whose day is known, on a board; three have a red loop and two a blue one."""
        known = [paper for paper in kit.world("known_papers") if paper["platform"] == "arxiv"]
        written = Counter(name for paper in known for name in paper["authors"])
        pool = [paper for paper in known if _fits(paper)]
        pool = rng.sample(pool, len(pool))
        busy = [paper for paper in pool if 1 < written[paper["authors"][-1]] <= _MOST_OTHERS + 1]
        chosen = _apart(busy, [], _BUSY)
        chosen = _apart(pool, chosen, _SHEETS)
        rng.shuffle(chosen)
        titles = [paper["title"] for paper in chosen]
        canvas = Canvas(kit.art, *SIZE)
        boxes = pinboard(canvas, rng, titles)
        canvas.light(rng, 0.4)
        meant = rng.sample(range(_SHEETS), _RED + _BLUE)
        for number in meant:
            colour = pen.RED if number in meant[:_RED] else pen.BLUE
            pen.loop(canvas, rng, boxes[number], colour, air=11, width=7)
        return Composition.of(
            canvas,
            titles=titles,
            red=[titles[number] for number in sorted(meant[:_RED])],
            blue=[titles[number] for number in sorted(meant[_RED:])],
            known={paper["id"]: len(paper["published"]) == 10 for paper in known},
        )

    async def solve(self, rng: random.Random, composition: Composition, path: str, play: Script) -> Solution:
        """Read the titles, then go for what is asked."""
        titles = composition.facts["blue" if play.goal == "author" else "red"]
        (text,) = await play.step(
            call("ocr/perform_ocr", {"input_data": path, "config": "--oem 3 --psm 11"}, free=("config", "language"))
        )
        read = " ".join(text.split()).casefold()
        need(all(word.casefold() in read for title in titles for word in title.split()), f"{titles} are not legible")
        papers = [
            _of(found, title) for found, title in zip(await play.step(*map(_search, titles)), titles, strict=True)
        ]
        match play.goal:
            case "author":
                return await self._author(papers, composition.facts, path, play)
            case "keep":
                return await self._keep(papers, "-".join(map(rng.choice, self.folders)), path, play)
            case _:
                return await self._order(papers, path, play)

    async def _keep(self, papers: Sequence[Paper], folder: str, path: str, play: Script) -> Solution:
        """Every paper found and saved."""
        need(len({paper["authors"][0] for paper in papers}) == len(papers), "two papers have one author")
        await play.step(*(_download(paper["paper_id"], folder) for paper in papers))
        rows = tuple(
            (
                _title(paper, papers),
                Code(form="arXiv", value=_number(paper), aliases=(str(paper["paper_id"]),)),
                _person(paper["authors"][0], paper, papers),
                Date(value=_day(paper).isoformat()),
            )
            for paper in papers
        )
        told = "; ".join(
            f"{paper['title']} is {_number(paper)}, by {paper['authors'][0]}, {_day(paper)}" for paper in papers
        )
        held = FolderHas(folder=folder, names=tuple(map(_number, papers)))
        return Solution(
            wording=f"Read the titles with a red loop in {path}, find each paper on arXiv, and download it to ./{folder}.",
            answer=f"{told}. I saved them in {folder}.",
            given={"folder": folder},
            fields=(
                Field(
                    name="papers",
                    meaning="each paper circled in red: title, arXiv number, first author, day of submission",
                    value=Table(columns=("title", "arxiv_number", "first_author", "date"), rows=rows),
                ),
                Field(
                    name="files",
                    meaning="the folder with a PDF of each",
                    value=File(form="pdf", value=f"./{folder}", holds=(held,)),
                ),
            ),
            alternatives=(play.varied("The titles are read by eye.", {0: ()}),),
        )

    async def _order(self, papers: Sequence[Paper], path: str, play: Script) -> Solution:
        """Which is the oldest, how far apart they are, and how many authors they have on average."""
        ranked = sorted(papers, key=_day)
        days = [_day(paper).toordinal() for paper in ranked]
        need(min(days[1] - days[0], days[2] - days[1]) >= _DAYS, "two are from the same weeks")
        counts = [len(paper["authors"]) for paper in papers]
        need(len(set(counts)) > 1 and sum(counts) % len(papers) > 0, "the average is no news")
        (mean,) = await play.step(_mean(counts))
        average = round(float(mean), 1)
        span, since = days[-1] - days[0], days[0] - 366
        return Solution(
            wording=f"Read the titles with a red loop in {path}, find each paper on arXiv, and compare the days of submission and the numbers of authors.",
            answer=f"{ranked[0]['title']} is the oldest, and {ranked[-1]['title']} came {span} days later. They have {average} authors on average.",
            fields=(
                Field(
                    name="oldest",
                    meaning="the title of the paper circled in red that was submitted first",
                    value=_title(ranked[0], papers),
                    compared=tuple(float(day - since) for day in days),
                ),
                Field(
                    name="newest",
                    meaning="the title of the paper circled in red that was submitted last",
                    value=_title(ranked[-1], papers),
                    compared=tuple(float(day - since) for day in reversed(days)),
                ),
                Field(
                    name="days",
                    meaning="days from the one to the other",
                    value=Integer(value=span),
                    derived=tuple(_day(paper).isoformat() for paper in (ranked[0], ranked[-1])),
                ),
                Field(
                    name="average_authors",
                    meaning="how many authors those circled in red have on average, to one decimal",
                    value=Number(value=average, decimals=1),
                    derived=tuple(name for paper in papers for name in paper["authors"]),
                ),
            ),
            alternatives=(
                play.varied("The titles are read by eye.", {0: ()}),
                play.varied("The average is worked out in one's head.", {2: ()}),
            ),
        )

    async def _author(self, papers: Sequence[Paper], facts: Record, path: str, play: Script) -> Solution:
        """The last authors of some of the papers, and what else they have on arXiv."""
        names = [paper["authors"][-1] for paper in papers]
        need(len(set(names)) == len(names), "both have one last author")
        others: list[Paper] = []
        for name, paper, listed in zip(names, papers, await play.step(*map(_by, names)), strict=True):
            found = _papers(listed)
            mine = [other for other in found if name in other["authors"] and other["title"] != paper["title"]]
            need(len(mine) == len(found) - 1, "somebody else has that name")
            need(0 < len(mine) <= _MOST_OTHERS, "there are too few papers, or too many")
            need(any(facts["known"].get(_number(paper)) for paper in mine), "none of them is well known")
            others += mine
        need(all(_number(paper) in facts["known"] for paper in others), "a paper is made up")
        titles = [paper["title"] for paper in others]
        need(len(set(titles)) == len(titles), "they wrote one of them together")
        need(not set(titles) & set(facts["titles"]), "another one is on the board")
        told = "; ".join(f"{name} of {paper['title']}" for name, paper in zip(names, papers, strict=True))
        return Solution(
            wording=f"Read the titles with a blue loop in {path}, find the last author of each paper on arXiv, and all other papers by these.",
            answer=f"The last authors are {told}. They also wrote: {'; '.join(titles)}.",
            fields=(
                Field(
                    name="last_authors",
                    meaning="each paper circled in blue, and its last author",
                    value=Table(
                        columns=("title", "last_author"),
                        rows=tuple(
                            (_title(paper, papers), _person(name, paper, papers))
                            for name, paper in zip(names, papers, strict=True)
                        ),
                    ),
                ),
                Field(
                    name="other_papers",
                    meaning="the titles of all other papers on arXiv by these last authors",
                    value=Items(items=tuple(_title(paper, [*papers, *others]) for paper in others)),
                ),
            ),
            alternatives=(play.varied("The titles are read by eye.", {0: ()}),),
        )


def _apart(pool: Sequence[Paper], chosen: Sequence[Paper], count: int) -> list[Paper]:
    """Papers from a pool after those that are chosen, each with another last author, until there are so many."""
    found = list(chosen)
    for paper in pool:
        if len(found) < count and paper["authors"][-1] not in {other["authors"][-1] for other in found}:
            found.append(paper)
    return found


def _fits(paper: Paper) -> bool:
    """Whether a paper can be read off a board, and its day and all its authors are known."""
    authors = paper["authors"]
    return (
        len(paper["published"]) == 10
        and bool(re.fullmatch(r"\d{4}\.\d{4,5}", paper["id"]))
        and 12 <= len(paper["title"]) <= _LONGEST
        and bool(_PLAIN.fullmatch(paper["title"]))
        and 2 <= len(authors) <= _MOST_AUTHORS
        and not any("et al" in name or "Team" in name for name in authors)
    )


def _search(title: str) -> ReferenceCall:
    words = sorted(re.findall(r"[A-Za-z]{4,}", title), key=len)[-2:]
    arguments = {"query": title, "max_results": 5}
    return call("paper_search/search_arxiv", arguments, free=["max_results"], words={"query": words})


def _by(name: str) -> ReferenceCall:
    arguments = {"query": f'au:"{name}"', "max_results": 20}
    return call(
        "paper_search/search_arxiv", arguments, free=["max_results"], words={"query": [name.split()[-1].strip('"')]}
    )


def _download(key: str, folder: str) -> ReferenceCall:
    places = [f"{start}{folder}{end}" for start in ("./", "", "/workspace/", "./media/", "media/") for end in ("", "/")]
    return call(
        "paper_search/download_arxiv", {"paper_id": key, "save_path": f"./{folder}"},
        either={"paper_id": [key, key.partition("v")[0]], "save_path": places},
    )  # fmt: skip


def _mean(counts: Sequence[int]) -> ReferenceCall:
    return call("math/mean", {"numbers": list(counts)})


def _papers(text: str) -> list[Record]:
    """The papers of a list, with their authors one by one."""
    found: list[Record] = []
    decoder, start = json.JSONDecoder(), text.find("{")
    while start >= 0:
        paper, end = decoder.raw_decode(text, start)
        found.append({**paper, "authors": paper["authors"].split("; ")})
        start = text.find("{", end)
    return found


def _of(text: str, title: str) -> Paper:
    """The paper with a title; there must be one."""
    found = [paper for paper in _papers(text) if paper["title"] == title]
    need(len(found) == 1, f"{title} is not found")
    return found[0]


def _number(paper: Paper) -> str:
    return str(paper["paper_id"]).partition("v")[0]


def _day(paper: Paper) -> date:
    return date.fromisoformat(paper["published_date"][:10])


def _title(paper: Paper, papers: Sequence[Paper]) -> Name:
    """A paper by its title, whole or up to its colon."""
    whole = paper["title"]
    others = tuple(other["title"] for other in papers if other["title"] != whole)
    short = whole.partition(":")[0]
    alone = ":" in whole and len(short) > 3 and not any(other.startswith(short) for other in others)
    numbered = ("arXiv", _number(paper), str(_day(paper).year), *paper["authors"])
    return Name(value=whole, aliases=(short,) if alone else (), others=others, context=numbered)


def _person(name: str, paper: Paper, papers: Sequence[Paper]) -> Name:
    """Somebody by name, whole or with an initial, and none of the other authors."""
    first, *middle, last = name.split()
    others = [author for other in (paper, *papers) for author in other["authors"] if author != name]
    known = {author.split()[-1] for author in others}
    aliases = (f"{first[0]}. {last}", f"{first} {last}", *(() if last in known else (last,)))
    return Name(value=name, aliases=aliases if middle or first else (), others=tuple(dict.fromkeys(others)))
