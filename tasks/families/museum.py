"""Works in a gallery with their cards: find them in the museum's records, and read about who made them."""

import random
import re
from collections.abc import Mapping
from typing import Any

from m3bench.tasks.checks import AnswerNames, AnswerNumber, CallMade
from m3bench.tasks.families.base import Composition, Kit, Script, Solution, call
from m3bench.tasks.families.texts import Tables, tables
from m3bench.tasks.render.canvas import Canvas
from m3bench.tasks.render.exhibits import PICTURES, PIECES, exhibit, gallery

_LONGEST = 62
_COUNT = 3
_UNLIKE = (247020, 322608)
"""A chariot and a winged bull, which look like nothing that is drawn for their kind."""


class _Tables(Tables):
    cultures: tuple[tuple[str, str], ...]
    artists: tuple[str, ...]


_tables = tables("museum", _Tables)


class Museum:
    """Departments, search, record, then the encyclopedia."""

    name = "museum"
    servers = ("metmuseum-mcp", "wiki")

    def compose(self, rng: random.Random, kit: Kit) -> Composition:
        """Three works side by side, at least one of them under glass."""
        departments = {record["id"]: record["name"] for record in kit.world("met_departments")}
        works = [work for work in kit.world("met_objects") if eligible(work)]
        chosen = [rng.choice([work for work in works if work["kind"] in PIECES])]
        for work in rng.sample(works, len(works)):
            if subject(work) not in {subject(other) for other in chosen} and len(chosen) < _COUNT:
                chosen.append(work)
        rng.shuffle(chosen)
        canvas = Canvas(kit.art, 1400, 900)
        level = gallery(canvas, rng)
        width = rng.uniform(388, 412)
        gap = (canvas.width - width * _COUNT) / (_COUNT + 1)
        for number, work in enumerate(chosen):
            department = departments[work["met_department_id"]]
            kind = "bull" if work["kind"] == "animal" and "bull" in work["title"] else work["kind"]
            card = (work["title"], maker(work), work["date"], department)
            exhibit(canvas, rng, kind, gap + width / 2 + number * (width + gap), width, level, card, work["kind"])
        canvas.light(rng, 0.8)
        seen = [
            {
                "query": query(work),
                "id": work["id"],
                "department": departments[work["met_department_id"]],
                "subject": subject(work),
            }
            for work in chosen
        ]
        return Composition.of(canvas, seen=seen)

    async def solve(self, rng: random.Random, composition: Composition, path: str, play: Script) -> Solution:
        """One stage after another, the works of a picture side by side."""
        seen = composition.facts["seen"]
        (text,) = await play.step(call("metmuseum-mcp/list-departments", {}))
        numbers = {name: int(number) for number, name in re.findall(r"Department ID: (\d+), Display Name: (.+)", text)}
        texts = await play.step(
            *(
                call(
                    "metmuseum-mcp/search-museum-objects",
                    {"q": work["query"], "departmentId": numbers[work["department"]]},
                    words={"q": _distinctive_words(work["query"])},
                    either={"hasImages": (None, False, True), "title": (None, False, True)},
                )
                for work in seen
            )
        )
        ids = [_first(text) for text in texts]
        assert ids == [work["id"] for work in seen], "the cards must lead to the works"
        texts = await play.step(
            *(
                call(
                    "metmuseum-mcp/get-museum-object", {"objectId": number, "returnImage": False}, free=("returnImage",)
                )
                for number in ids
            )
        )
        records = [dict(line.split(": ", 1) for line in text.split("\n") if ": " in line) for text in texts]
        texts = await play.step(
            *(
                call(
                    "wiki/search",
                    {"query": work["subject"]},
                    free=("n",),
                    words={"query": _distinctive_words(work["subject"])[-1:]},
                )
                for work in seen
            )
        )
        titles = [text.split("\n")[1].removeprefix("- ") for text in texts]
        leads = await play.step(
            *(
                call("wiki/summary", {"title": title}, either={"title": (title, work["subject"])})
                for title, work in zip(titles, seen, strict=True)
            )
        )
        told = " ".join(
            f"{record['Title']}: object {number}, department {numbers[work['department']]} ({work['department']}), {record['Medium']}. About {title}: {lead.split(chr(10) * 2)[1]}"
            for record, number, work, title, lead in zip(records, ids, seen, titles, leads, strict=True)
        )
        return Solution(
            wording=f"Find the works whose cards are in {path} in the Met's collection, give object number, department number and medium, and "
            "summarise the encyclopedia article on the maker or culture of each.",
            answer=told,
            checks=(
                *(AnswerNumber(value=number, tolerance=0, what="an object number") for number in ids),
                *(AnswerNumber(value=value, tolerance=0, what="a department number") for value in sorted({numbers[work["department"]] for work in seen})),
                AnswerNames(all_of=tuple((record["Medium"], re.split(r"[,;(]", record["Medium"])[0].strip()) for record in records)),
                AnswerNames(all_of=tuple(_spellings(title, work["subject"]) for title, work in zip(titles, seen, strict=True))),
                *(CallMade(tool="metmuseum-mcp/get-museum-object", containing=str(number)) for number in ids),
                CallMade(tool="wiki/summary", times=len(seen)),
            ),
        )  # fmt: skip


def eligible(work: Mapping[str, Any]) -> bool:
    """Whether a work can be drawn, has a short title, and there is an article on who made it."""
    drawn = work.get("kind") in (*PICTURES, *PIECES) and work["id"] not in _UNLIKE
    return drawn and "medium" in work and len(work["title"]) <= _LONGEST and bool(subject(work))


def maker(work: Mapping[str, Any]) -> str:
    """Who or what people made a work, as its card says."""
    artist = _artist(work)
    return artist if artist in _tables().artists else str(work["culture"])


def subject(work: Mapping[str, Any]) -> str:
    """What to read about: the artist or else the culture; empty when neither is well known."""
    artist = _artist(work)
    if artist in _tables().artists:
        return artist
    if artist and "artist" not in artist:
        return ""
    culture = str(work.get("culture", ""))
    return next(
        (
            article
            for beginning, article in _tables().cultures
            if culture.startswith(beginning) and " or " not in culture
        ),
        "",
    )


def query(work: Mapping[str, Any]) -> str:
    """What to search the collection for."""
    return f"{work['title']} {maker(work).split(',')[0]}"


def _artist(work: Mapping[str, Any]) -> str:
    return (
        str(work.get("artist", "")).partition(" (")[0].removeprefix("Workshop of ")
        if "artist(s)" not in work.get("artist", "")
        else "artist"
    )


def _distinctive_words(text: str) -> tuple[str, ...]:
    """The two longest words of a text, in its order."""
    words = re.findall(r"\w+", text)
    return tuple(word for word in words if word in sorted(words, key=len)[-2:])


def _spellings(title: str, name: str) -> tuple[str, ...]:
    short = title.partition(" (")[0]
    return (title, short, name, short.split()[-1], short.split()[0]) if len(short.split()) < 4 else (title, name)


def _first(text: str) -> int:
    found = re.search(r"Object IDs: (\d+)", text)
    assert found, text
    return int(found[1])
