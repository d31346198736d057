"""Works in a gallery with their cards: find them in the museum's records, and read about who made them."""

import random
import re
from collections.abc import Mapping
from typing import Any

from m3bench.tasks.checks import AnswerNames, AnswerNumber, CallMade
from m3bench.tasks.families.base import Composition, Kit, Script, Solution, call
from m3bench.tasks.render.canvas import Canvas
from m3bench.tasks.render.exhibits import PICTURES, PIECES, exhibit, gallery

_CULTURES = (
    ("Egyptian", "Ancient Egypt"), ("Roman", "Ancient Rome"), ("Greek, Attic", "Ancient Greece"), ("Greek", "Ancient Greece"),
    ("Etruscan", "Etruscan civilization"), ("Assyrian", "Assyria"), ("Maya", "Maya civilization"), ("Toltec", "Toltec"),
    ("Diné/Navajo", "Navajo"), ("Chimú", "Chimú culture"), ("Cycladic", "Cycladic culture"), ("Edo peoples", "Kingdom of Benin"),
    ("Proto-Elamite", "Proto-Elamite period"), ("Frankish", "Franks"),
)  # fmt: skip
_ARTISTS = (
    "Albert Bierstadt", "Frederic Edwin Church", "Thomas Cole", "Winslow Homer", "Emanuel Leutze", "John Singer Sargent",
    "Sanford Robinson Gifford", "Henry Kirke Brown", "Filippo Negroli", "Gong Xian", "Ogata Kōrin", "Han Gan", "Katsushika Hokusai",
    "Wu Bin", "Edgar Degas", "Antonio Canova", "Jean-Baptiste Carpeaux", "Ferdinand Berthoud", "Berlin Painter",
    "Edward J. Steichen", "Albrecht Dürer", "Michelangelo Buonarroti", "Bachiacca", "Rosa Bonheur", "Pieter Bruegel the Elder",
    "Caravaggio", "Paul Cézanne", "John Constable", "Gustave Courbet", "Jacques Louis David", "Jan van Eyck", "Paul Gauguin",
    "Vincent van Gogh", "Goya", "El Greco", "Angelica Kauffmann", "Gerard de Lairesse", "Édouard Manet", "Claude Monet",
    "Camille Pissarro", "Nicolas Poussin", "Pierre Puvis de Chavannes", "Raphael", "Rembrandt", "Guido Reni", "Auguste Renoir",
    "Georges Seurat", "Giovanni Battista Tiepolo", "Joseph Mallord William Turner", "Velázquez", "Johannes Vermeer",
    "Henri de Toulouse-Lautrec", "Ludovico Carracci", "Théodore Rousseau", "Jean Auguste Dominique Ingres", "Petrus Christus",
    "Robert Campin", "The Limbourg Brothers", "Egon Schiele", "Pablo Picasso", "Jackson Pollock", "Bartolomeo Cristofori",
    "Gustave Caillebotte", "Edmonia Lewis", "Jules Dupré",
)  # fmt: skip
_LONGEST = 62
_COUNT = 3
_UNLIKE = (247020, 322608)
"""A chariot and a winged bull, which look like nothing that is drawn for their kind."""


class Museum:
    """Departments, search, record, then the encyclopedia."""

    name = "museum"
    servers = ("metmuseum-mcp", "wiki")
    questions = (
        "I photographed this corner of the Met and forgot my notes. For each work on view, tell me its object number in the "
        "museum's records, its department's id, what it is made of, and something about the artist, or the culture when no "
        "artist is named.",
        "Art history homework, help! Every piece shown: object number, material, number of the curatorial department. Then "
        "look the makers up in an encyclopedia (if nobody's known, take the civilisation instead) and give me two lines apiece.",
        "Could you prepare an audio-guide draft from my snapshot? I need the Met identifiers of these exhibits along with "
        "their departments' codes, the medium, plus a brief introduction of the people behind them, individual or ancient "
        "nation.",
        "We're checking loans against the Metropolitan Museum database. Please retrieve ID and medium of all items displayed "
        "here, state under which department (numeric) each is filed, and append encyclopedic context on creator or, failing "
        "that, on the originating culture.",
        "grandpa asks what he's looking at in this gallery :) can u find the things in the met collection, say the object id "
        "+ dept id + what stuff they're made from, and who those painters/sculptors/peoples were?",
        "Trivia night material wanted. Using whatever the cards in this picture say, dig out: object record numbers at the "
        "Met, technique, department numbers. For colour, a wiki portrait of whoever made it; anonymous things get their "
        "culture's portrait.",
        "My blog post needs captions for the exhibits you see. A caption consists of record number, department number and "
        "medium as the Metropolitan lists them, followed by background about its author (or its society, for unsigned objects).",
        "Let's verify the labels in this room. What does the Met hold under those names, that is: object number, department "
        "id, materials? Afterwards summarise an encyclopedia article on every maker; where a label gives just a culture, "
        "summarise that.",
        "Planning a school visit around these! Kids will ask who created them and out of what. Look each one up at the Met "
        "(tell me ids, both of object and department), read about the originator or the ancient people in question, and "
        "report back.",
        "Museum intern here, first day, slightly lost. Someone wants a sheet on the works before me: numbers used by the Met "
        "for work and department, physical medium, short biography of the artist; for nameless makers, history of their "
        "people will do.",
    )

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
                    words={"q": _telling(work["query"])},
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
                    words={"query": _telling(work["subject"])[-1:]},
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
    return artist if artist in _ARTISTS else str(work["culture"])


def subject(work: Mapping[str, Any]) -> str:
    """What to read about: the artist or, if there is none, the culture; empty when neither is known well."""
    artist = _artist(work)
    if artist in _ARTISTS:
        return artist
    if artist and "artist" not in artist:
        return ""
    culture = str(work.get("culture", ""))
    return next(
        (article for beginning, article in _CULTURES if culture.startswith(beginning) and " or " not in culture), ""
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


def _telling(text: str) -> tuple[str, ...]:
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
