"""Names on cards: medicines and illnesses, what is published on them, who makes them, and which health page covers them."""

import json
import random
import re
from collections.abc import Sequence
from datetime import date, datetime

from m3bench.tasks.answers.fields import Date, Field, File, Integer, Name, Table
from m3bench.tasks.answers.office import WorkbookRows
from m3bench.tasks.families import medicines
from m3bench.tasks.families.base import Composition, Family, Kit, Script, Solution, call, need, words
from m3bench.tasks.families.medicines import card, cork_board
from m3bench.tasks.json_types import Record
from m3bench.tasks.render import pen
from m3bench.tasks.render.canvas import Canvas
from m3bench.tasks.task import ReferenceCall

TITLES = 3
_CARDS = 12
_RECENT = 5
"""Results that are looked at for each name when the newest is wanted."""
_DAYS = 30
"""By how much the newest must be newer than the next."""


class MedExcel(Family):
    """Papers counted in a workbook, the newest paper, or makers and health pages."""

    name = "med_excel"
    servers = ("healthcare-mcp", "excel", "math")
    diseases = words()
    medicines = words()
    headings = words()

    def compose(self, rng: random.Random, kit: Kit) -> Composition:
        """Twelve cards on a board; three or four are circled."""
        count = rng.choice((3, 4, 4))
        diseases = rng.sample(self.diseases, rng.randint(1, count - 1))
        drugs = rng.sample(self.medicines, count - len(diseases))
        names = [*(name.capitalize() for name in diseases), *drugs]
        rng.shuffle(names)
        rest = [*(name.capitalize() for name in self.diseases), *self.medicines]
        cards = [*names, *rng.sample([name for name in rest if name not in names], _CARDS - count)]
        rng.shuffle(cards)
        canvas = Canvas(kit.art, 1480, 900)
        cork_board(canvas, rng)
        boxes = {}
        for number, name in enumerate(cards):
            x = 206 + number % 4 * 356 + rng.uniform(-8, 8)
            y = 166 + number // 4 * 284 + rng.uniform(-6, 6)
            boxes[name] = card(canvas, rng, x, y, 296, 200, rng.choice(self.headings), name)
        canvas.light(rng, 0.7)
        pen.circle(canvas, rng, [boxes[name] for name in names], [boxes[name] for name in cards if name not in names])
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
            wording=f"Search PubMed for each name circled in red in {path}, count the titles among the first three that contain it, write them into a workbook.",
            answer=f"{told}. In total {sum(counts)} titles name their subject. The table is in {book}.",
            fields=(
                Field(
                    name="workbook",
                    meaning="each word on the circled cards with the number of titles that contain it",
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
        """The newest of all papers that the searches find, and the card that has waited longest for a new one."""
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
        days = [float((paper[0] - date(2000, 1, 1)).days) for paper in papers]
        latest = {name: max(paper[0] for paper in papers if paper[1] == name) for name in names}
        order = sorted(names, key=latest.__getitem__)
        need((latest[order[1]] - latest[order[0]]).days >= _DAYS, "two cards have waited about as long")
        return Solution(
            wording=f"Search PubMed for each name circled in red in {path} and find the newest of the first five articles of all, and the name whose newest article is the oldest.",
            answer=f'The newest is "{paper["title"]}" in {paper["journal"]}, published on {day.isoformat()}, found under {topic}. The longest without a new article is {order[0]}.',
            fields=(
                Field(
                    name="topic",
                    meaning="the card under which the newest article was found",
                    value=_name(topic, names),
                    compared=(days[0], *(value for value, one in zip(days, papers, strict=True) if one[1] != topic)),
                ),
                Field(name="title", meaning="the title of that article", value=Name(value=paper["title"], others=tuple(other[2]["title"] for other in others))),
                Field(name="journal", meaning="the journal it is in", value=Name(value=paper["journal"], others=tuple(other[2]["journal"] for other in others if other[2]["journal"] != paper["journal"]))),
                Field(name="published", meaning="the day of its publication", value=Date(value=day.isoformat()), derived=(paper["publication_date"],)),
                Field(
                    name="longest_without",
                    meaning="the circled card whose own newest article, of its first five, is the oldest",
                    value=_name(order[0], names),
                    compared=tuple(float((latest[name] - date(2000, 1, 1)).days) for name in order),
                ),
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
        need(all(len(pages) == 1 for pages in found), "an illness has no page or several")
        pages = [pages[0] for pages in found]
        firms = "; ".join(f"{drug} is made by {firm}" for drug, firm in zip(drugs, makers, strict=True))
        read = "; ".join(
            f'{ill}: "{page["title"]}", last updated on {page["last_updated"]}'
            for ill, page in zip(ills, pages, strict=True)
        )
        return Solution(
            wording=f"For the medicines circled in red in {path} find who makes them, for the illnesses the health page and when it was last updated.",
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
                                Name(value=page["title"], others=tuple(title for title in composition.facts["pages"] if title != page["title"])),
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


def _articles(text: str) -> list[Record]:
    found: list[Record] = json.loads(text)["articles"]
    need(bool(found), "nothing is published on it")
    return found


def _named(name: str, articles: Sequence[Record]) -> int:
    """How many titles contain a word."""
    return sum(
        re.search(rf"\b{re.escape(name)}\b", article["title"], re.IGNORECASE) is not None for article in articles
    )


def _titles(texts: Sequence[str]) -> list[str]:
    return [article["title"] for text in texts for article in _articles(text)]


def _day(article: Record) -> date:
    """The day of publication, which must be known."""
    written = article["publication_date"]
    need(len(written.split()) == 3, "the day is not known")
    return datetime.strptime(written, "%Y %b %d").date()


def _name(name: str, names: Sequence[str]) -> Name:
    return Name(
        value=name, others=tuple(other for other in names if other != name), context=("card topic medicine illness",)
    )
