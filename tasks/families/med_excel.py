"""Names on cards: medicines and illnesses, what is published on them, who makes them, and which health page covers them."""

import json
import random
import re
from collections.abc import Sequence
from datetime import date, datetime
from typing import Any

from m3bench.tasks.answers.fields import Date, Field, File, Integer, Name, Table
from m3bench.tasks.answers.sheets import WorkbookRows
from m3bench.tasks.families import medicines
from m3bench.tasks.families.base import Composition, Kit, Script, Solution, call, need
from m3bench.tasks.families.texts import Tables, tables
from m3bench.tasks.render.canvas import Canvas
from m3bench.tasks.render.pharmacy import card, cork_board
from m3bench.tasks.task import ReferenceCall

TITLES = 3
_RECENT = 5
"""Results that are looked at for each name when the newest is wanted."""
_DAYS = 30
"""By how much the newest must be newer than the next."""


class _Tables(Tables):
    diseases: tuple[str, ...]
    medicines: tuple[str, ...]
    headings: tuple[str, ...]


_tables = tables("med_excel", _Tables)


class MedExcel:
    """Papers counted in a workbook, the newest paper, or makers and health pages."""

    name = "med_excel"
    servers = ("healthcare-mcp", "excel", "math")

    def compose(self, rng: random.Random, kit: Kit) -> Composition:
        """Three or four cards on a board."""
        count = rng.choice((3, 4, 4))
        diseases = rng.sample(_tables().diseases, rng.randint(1, count - 1))
        drugs = rng.sample(_tables().medicines, count - len(diseases))
        names = [*(name.capitalize() for name in diseases), *drugs]
        rng.shuffle(names)
        canvas = Canvas(kit.art, 1360, 880)
        cork_board(canvas, rng)
        columns = 2
        for number, name in enumerate(names):
            x = 365 + number % columns * 630 + rng.uniform(-26, 26)
            y = 245 + number // columns * 390 + rng.uniform(-18, 18)
            if count == 3 and number == 2:
                x = 680 + rng.uniform(-220, 220)
            card(canvas, rng, x, y, 500, 290, rng.choice(_tables().headings), name)
        canvas.light(rng)
        pages = [topic["title"] for topic in kit.world("health_topics")]
        return Composition.of(canvas, names=names, drugs=drugs, pages=pages)

    async def solve(self, rng: random.Random, composition: Composition, path: str, play: Script) -> Solution:
        """What is looked up depends on the goal."""
        goals = {"count": self._count, "newest": self._newest, "kinds": self._kinds}
        return await goals[play.goal](composition, path, play)

    async def _count(self, composition: Composition, path: str, play: Script) -> Solution:
        """Searches and an empty workbook together, the sum, then the rows."""
        names = composition.facts["names"]
        book = path.replace(".png", ".xlsx")
        texts = await play.step(
            *(_papers(name, TITLES) for name in names),
            call("excel/create_workbook", {"filepath": book}, free=("filepath",)),
        )
        counts = [_named(name, _articles(text)) for name, text in zip(names, texts[: len(names)], strict=True)]
        need(len(set(counts)) > 1, "all counts are the same")
        found = [len(_articles(text)) for text in texts[: len(names)]]
        need(sum(counts) != sum(found), "every title has its word")
        rows = [["Name", "Relevant titles"], *([name, count] for name, count in zip(names, counts, strict=True))]
        writing = call(
            "excel/write_data_to_excel", {"filepath": book, "sheet_name": "Sheet1", "data": rows, "start_cell": "A1"},
            free=("filepath", "sheet_name", "start_cell", "data"),
        )  # fmt: skip
        await play.step(call("math/sum", {"numbers": counts}), writing)
        told = ", ".join(f"{name}: {count}" for name, count in zip(names, counts, strict=True))
        return Solution(
            wording=f"Search PubMed for each name in {path}, count the titles among the first three that contain it, write them into a workbook.",
            answer=f"{told}. In total {sum(counts)} titles name their subject. The table is in {book}.",
            fields=(
                Field(
                    name="workbook",
                    meaning="each word on the cards with the number of titles that contain it",
                    value=File(
                        form="xlsx",
                        value=book,
                        holds=(WorkbookRows(rows=tuple((_name(name, names), Integer(value=count)) for name, count in zip(names, counts, strict=True))),),
                    ),
                ),
                Field(name="total", meaning="all such titles together", value=Integer(value=sum(counts)), derived=tuple(_titles(texts[: len(names)]))),
            ),
            alternatives=(play.varied("added up without a tool", {1: [writing]}),),
        )  # fmt: skip

    async def _newest(self, composition: Composition, path: str, play: Script) -> Solution:
        """The newest of all papers that the searches find."""
        names = composition.facts["names"]
        texts = await play.step(*(_papers(name, _RECENT) for name in names))
        papers = [
            (_day(article), name, article)
            for name, text in zip(names, texts, strict=True)
            for article in _articles(text)
        ]
        papers.sort(key=lambda paper: paper[0], reverse=True)
        (day, topic, paper), *others = papers
        need(bool(others) and (day - others[0][0]).days >= _DAYS, "two papers are about as new")
        days = [float((one[0] - date(2000, 1, 1)).days) for one in papers]
        need(len({one[1] for one in papers}) > 1, "there are papers on one name alone")
        return Solution(
            wording=f"Search PubMed for each name in {path} and find the newest of the first five articles of all.",
            answer=f'The newest is "{paper["title"]}" in {paper["journal"]}, published on {day.isoformat()}, found under {topic}.',
            fields=(
                Field(
                    name="topic",
                    meaning="the card under which the newest article was found",
                    value=_name(topic, names),
                    compared=(days[0], *(value for value, one in zip(days, papers, strict=True) if one[1] != topic)),
                ),
                Field(name="title", meaning="the title of that article", value=Name(value=paper["title"], others=tuple(one[2]["title"] for one in others))),
                Field(name="journal", meaning="the journal it is in", value=Name(value=paper["journal"], others=tuple(one[2]["journal"] for one in others if one[2]["journal"] != paper["journal"]))),
                Field(name="published", meaning="the day of its publication", value=Date(value=day.isoformat()), derived=(paper["publication_date"],)),
            ),
        )  # fmt: skip

    async def _kinds(self, composition: Composition, path: str, play: Script) -> Solution:
        """Labels of the medicines and health pages of the illnesses, all at once."""
        drugs = composition.facts["drugs"]
        ills = [name for name in composition.facts["names"] if name not in drugs]
        labels = [call("healthcare-mcp/fda_drug_lookup", {"drug_name": drug}, free=("search_type",)) for drug in drugs]
        topics = [
            call("healthcare-mcp/health_topics", {"topic": ill.lower()}, words={"topic": [ill]}, free=("language",)) for ill in ills
        ]  # fmt: skip
        texts = await play.step(*labels, *topics)
        makers = [json.loads(text)["drugs"][0]["labeler_name"] for text in texts[: len(drugs)]]
        found = [json.loads(text)["health_topics"] for text in texts[len(drugs) :]]
        need(all(len(one) == 1 for one in found), "an illness has no page or several")
        pages = [one[0] for one in found]
        firms = "; ".join(f"{drug} is made by {firm}" for drug, firm in zip(drugs, makers, strict=True))
        read = "; ".join(
            f'{ill}: "{page["title"]}", last updated on {page["last_updated"]}'
            for ill, page in zip(ills, pages, strict=True)
        )
        return Solution(
            wording=f"For the medicines in {path} find who makes them, for the illnesses the health page and when it was last updated.",
            answer=f"{firms}. {read}.",
            fields=(
                Field(
                    name="medicines",
                    meaning="each medicine and the company on its US label",
                    value=Table(
                        columns=("medicine", "company"),
                        rows=tuple((_name(drug, drugs), medicines.maker(firm, makers)) for drug, firm in zip(drugs, makers, strict=True)),
                    ),
                ),
                Field(
                    name="illnesses",
                    meaning="each illness, the title of the health page on it, and the day that page was last updated",
                    value=Table(
                        columns=("illness", "page", "updated"),
                        rows=tuple(
                            (
                                _name(ill, ills),
                                Name(value=page["title"], others=tuple(one for one in composition.facts["pages"] if one != page["title"])),
                                Date(value=page["last_updated"]),
                            )
                            for ill, page in zip(ills, pages, strict=True)
                        ),
                    ),
                ),
            ),
        )  # fmt: skip


def _papers(name: str, count: int) -> ReferenceCall:
    return call(
        "healthcare-mcp/pubmed_search", {"query": name, "max_results": count}, either={"query": (name,)}, free=("open_access",)
    )  # fmt: skip


def _articles(text: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(text)["articles"]
    need(bool(found), "nothing is published on it")
    return found


def _named(name: str, articles: Sequence[dict[str, Any]]) -> int:
    """How many titles contain a word."""
    return sum(
        re.search(rf"\b{re.escape(name)}\b", article["title"], re.IGNORECASE) is not None for article in articles
    )


def _titles(texts: Sequence[str]) -> list[str]:
    return [article["title"] for text in texts for article in _articles(text)]


def _day(article: dict[str, Any]) -> date:
    """The day of publication, which must be known."""
    written = article["publication_date"]
    need(len(written.split()) == 3, "the day is not known")
    return datetime.strptime(written, "%Y %b %d").date()


def _name(name: str, names: Sequence[str]) -> Name:
    return Name(value=name, others=tuple(one for one in names if one != name), context=("card topic medicine illness",))
