"""Title pages of papers on a board: save them all, put them in order, or see what else somebody has written."""

import json
import random
import re
from collections.abc import Mapping, Sequence
from datetime import date
from typing import Any

from m3bench.tasks.answers.fields import Code, Date, Field, File, Integer, Items, Name, Number, Table
from m3bench.tasks.answers.files import FolderHas
from m3bench.tasks.families.base import Composition, Kit, Script, Solution, call, need
from m3bench.tasks.families.texts import Tables, tables
from m3bench.tasks.render.canvas import Canvas
from m3bench.tasks.render.pinboard import PINS, pinboard
from m3bench.tasks.task import ReferenceCall

_SHEETS = 3
_LONGEST, _MOST_AUTHORS = 58, 9
_PLAIN = re.compile(r"[A-Za-z][A-Za-z -]+[a-z]")
"""Titles that are read off a picture without doubt."""
_DAYS = 20
"""How far apart the papers must be."""
_MOST_OTHERS = 6

Paper = Mapping[str, Any]


class _Tables(Tables):
    folders: tuple[tuple[str, ...], ...]


_tables = tables("vision_research", _Tables)


class VisionResearch:
    """Read titles, and look for the papers and for those who wrote them."""

    name = "vision_research"
    servers = ("ocr", "paper_search", "math")

    def compose(self, rng: random.Random, kit: Kit) -> Composition:
        """The title pages of real papers whose day is known, on a board."""
        known = [paper for paper in kit.world("known_papers") if paper["platform"] == "arxiv"]
        chosen = rng.sample([paper for paper in known if _fits(paper)], _SHEETS)
        pins = rng.sample(sorted(PINS), _SHEETS)
        titles = [paper["title"] for paper in chosen]
        canvas = Canvas(kit.art, 1380, 720)
        pinboard(canvas, rng, list(zip(titles, pins, strict=True)))
        canvas.light(rng, 0.7)
        return Composition.of(
            canvas, titles=titles, pins=pins, known={paper["id"]: len(paper["published"]) == 10 for paper in known}
        )

    async def solve(self, rng: random.Random, composition: Composition, path: str, play: Script) -> Solution:
        """Read the titles, then go for what is asked."""
        titles = composition.facts["titles"]
        (text,) = await play.step(
            call("ocr/perform_ocr", {"input_data": path, "config": "--oem 3 --psm 11"}, free=("config", "language"))
        )
        read = " ".join(text.split()).casefold()
        need(all(word.casefold() in read for title in titles for word in title.split()), f"{titles} are not legible")
        if play.goal == "author":
            return await self._author(composition, rng.choice(sorted(PINS)), path, play)
        papers = [
            _of(found, title) for found, title in zip(await play.step(*map(_search, titles)), titles, strict=True)
        ]
        if play.goal == "keep":
            return await self._keep(papers, "-".join(map(rng.choice, _tables().folders)), path, play)
        return await self._order(papers, path, play)

    async def _keep(self, papers: Sequence[Paper], folder: str, path: str, play: Script) -> Solution:
        """Every paper found and saved."""
        need(len({paper["authors"][0] for paper in papers}) == _SHEETS, "two papers have one author")
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
            wording=f"Read the titles in {path}, find each paper on arXiv, and download it to ./{folder}.",
            answer=f"{told}. I saved them in {folder}.",
            given={"folder": folder},
            fields=(
                Field(
                    name="papers",
                    meaning="each paper: title, arXiv number, first author, day of submission",
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
        need(len(set(counts)) > 1 and sum(counts) % _SHEETS > 0, "the average is no news")
        (mean,) = await play.step(_mean(counts))
        average = round(float(mean), 1)
        span, since = days[-1] - days[0], days[0] - 366
        return Solution(
            wording=f"Read the titles in {path}, find each paper on arXiv, and compare the days of submission and the numbers of authors.",
            answer=f"{ranked[0]['title']} is the oldest, and {ranked[-1]['title']} came {span} days later. They have {average} authors on average.",
            fields=(
                Field(
                    name="oldest",
                    meaning="the title of the paper that was submitted first",
                    value=_title(ranked[0], papers),
                    compared=tuple(float(day - since) for day in days),
                ),
                Field(
                    name="newest",
                    meaning="the title of the paper that was submitted last",
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
                    meaning="how many authors the papers have on average, to one decimal",
                    value=Number(value=average, decimals=1),
                    derived=tuple(name for paper in papers for name in paper["authors"]),
                ),
            ),
            alternatives=(
                play.varied("The titles are read by eye.", {0: ()}),
                play.varied("The average is worked out in one's head.", {2: ()}),
            ),
        )

    async def _author(self, composition: Composition, pin: str, path: str, play: Script) -> Solution:
        """The last author of one of the papers, and what else he or she has on arXiv."""
        facts = composition.facts
        title = facts["titles"][facts["pins"].index(pin)]
        (found,) = await play.step(_search(title))
        paper = _of(found, title)
        name = paper["authors"][-1]
        (listed,) = await play.step(_by(name))
        others = [one for one in _papers(listed) if name in one["authors"] and one["title"] != title]
        need(len(others) == len(_papers(listed)) - 1, "somebody else has that name")
        need(0 < len(others) <= _MOST_OTHERS, "there are too few papers, or too many")
        need(all(_number(one) in facts["known"] for one in others), "a paper is made up")
        need(any(facts["known"][_number(one)] for one in others), "none of them is well known")
        need(not {one["title"] for one in others} & set(facts["titles"]), "another one is on the board")
        names = "; ".join(one["title"] for one in others)
        return Solution(
            wording=f"Read the title at the {pin} pin in {path}, find the paper's last author on arXiv, and all other papers by that person.",
            answer=f"The last author of {title} is {name}, who also wrote: {names}.",
            given={"pin": pin},
            fields=(
                Field(
                    name="last_author",
                    meaning="the last author of that paper",
                    value=_person(name, paper, ()),
                ),
                Field(
                    name="other_papers",
                    meaning="the titles of that person's other papers on arXiv",
                    value=Items(items=tuple(_title(one, [paper, *others]) for one in others)),
                ),
            ),
            alternatives=(play.varied("The title is read by eye.", {0: ()}),),
        )


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


def _papers(text: str) -> list[dict[str, Any]]:
    """The papers of a list, with their authors one by one."""
    decoder, found, start = json.JSONDecoder(), [], text.find("{")
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
    others = [one for other in (paper, *papers) for one in other["authors"] if one != name]
    known = {one.split()[-1] for one in others}
    aliases = (f"{first[0]}. {last}", f"{first} {last}", *(() if last in known else (last,)))
    return Name(value=name, aliases=aliases if middle or first else (), others=tuple(dict.fromkeys(others)))
