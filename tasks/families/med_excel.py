"""Names on cards: how many of the first PubMed titles are really about each, counted in a workbook."""

import json
import random
import re

from m3bench.tasks.checks import AnswerNumber, CallMade, FileOpens, WorkbookCells
from m3bench.tasks.families.base import Composition, Kit, Script, Solution, call
from m3bench.tasks.render.canvas import Canvas
from m3bench.tasks.render.pharmacy import card, cork_board

TITLES = 3
_BOOK = "./media/literature.xlsx"
_DISEASES = (
    "asthma", "migraine", "hypertension", "obesity", "depression", "insomnia", "osteoporosis", "stroke", "psoriasis", "gout",
    "anemia", "pneumonia", "influenza", "dementia", "epilepsy", "sepsis", "tuberculosis", "malaria", "glaucoma", "eczema",
    "diabetes", "arthritis", "cirrhosis", "hepatitis", "endometriosis", "tinnitus", "vertigo", "fibromyalgia", "lupus", "measles",
)  # fmt: skip
_HEADINGS = (
    "journal club",
    "to read up",
    "next week",
    "topic",
    "please review",
    "for the seminar",
    "watch list",
    "open question",
)


class MedExcel:
    """First three titles per name, judged, and a workbook with name and count."""

    name = "med_excel"
    servers = ("healthcare-mcp", "excel", "math")
    questions = (
        "Our noticeboard lists what we want to read about. Per card, fetch the first three PubMed titles and count how many "
        "of them actually contain the word on it. Names and counts go into a spreadsheet please, and give me the total "
        "over everything.",
        "Quick literature sanity check: does searching medical papers for the terms pinned up here return things that "
        "mention them? Only the leading three per term matter. Record term plus hits in an Excel workbook; what's the "
        "overall sum?",
        "I teach search skills and need an example. Use the words in my photo as queries, look at three headlines each, "
        "judge a headline relevant when the query appears in it, and hand me an .xlsx with both columns. Finish by adding "
        "up the relevant ones.",
        "Could somebody tally this for the seminar? Query PubMed with every note's keyword (limit three), note down whether "
        "the article names mention it, build a two-column table file, and say how many mentions there were altogether.",
        "For each thing written on the pinboard: how often does it show up in the top three article titles about it? "
        "Please store your findings as a workbook, one line apiece, then tell us the grand total.",
        "Preparing a slide on retrieval precision. Take my snapshot's entries, run them against the biomedical index keeping "
        "just three records, call a record good if its title says the entry verbatim, save entry/good-count pairs to "
        "Excel, quote me the accumulated number.",
        "The librarian wants proof that these subjects are covered. Look each one up, top 3, and mark titles in which the "
        "subject is spelled out. I need the marks per subject in a sheet and the aggregate in your message.",
        "hey can u go through the little papers in the pic, search pubmed for what they say, 3 results each, count the ones "
        "whose title has that word and put it all in a new excel? also how many in total, thanks!",
        "We are choosing themes for journal club by how well they're represented. Relevance rule: theme named in the title. "
        "Depth: three publications per theme. Wanted: workbook listing themes with their scores, and the scores summed.",
        "Please audit the planning wall. What do the three best PubMed matches for every posted item look like, i.e. is the "
        "item literally in the heading or not? Put item and number of yeses in a fresh spreadsheet file and mention the "
        "combined figure.",
    )

    def compose(self, rng: random.Random, kit: Kit) -> Composition:
        """Three or four cards on a board."""
        medicines = [one["generic"] for one in kit.world("medicines") if " " not in one["generic"]]
        count = rng.choice((3, 4))
        diseases = rng.sample(_DISEASES, rng.randint(1, count - 1))
        names = [*(name.capitalize() for name in diseases), *rng.sample(medicines, count - len(diseases))]
        rng.shuffle(names)
        canvas = Canvas(kit.art, 1360, 880)
        cork_board(canvas, rng)
        columns = 2
        for number, name in enumerate(names):
            x = 365 + number % columns * 630 + rng.uniform(-26, 26)
            y = 245 + number // columns * 390 + rng.uniform(-18, 18)
            if count == 3 and number == 2:
                x = 680 + rng.uniform(-220, 220)
            card(canvas, rng, x, y, 500, 290, rng.choice(_HEADINGS), name)
        canvas.light(rng)
        return Composition.of(canvas, names=names)

    async def solve(self, rng: random.Random, composition: Composition, path: str, play: Script) -> Solution:
        """Searches and an empty workbook together, the sum, then the rows."""
        names = composition.facts["names"]
        texts = await play.step(
            *(
                call("healthcare-mcp/pubmed_search", {"query": name, "max_results": TITLES}, either={"query": (name,)})
                for name in names
            ),
            call("excel/create_workbook", {"filepath": _BOOK}, free=("filepath",)),
        )
        counts = [
            sum(
                re.search(rf"\b{re.escape(name)}\b", article["title"], re.IGNORECASE) is not None
                for article in json.loads(text)["articles"]
            )
            for name, text in zip(names, texts[: len(names)], strict=True)
        ]
        rows = [["Name", "Relevant titles"], *([name, count] for name, count in zip(names, counts, strict=True))]
        await play.step(
            call("math/sum", {"numbers": counts}),
            call(
                "excel/write_data_to_excel", {"filepath": _BOOK, "sheet_name": "Sheet1", "data": rows, "start_cell": "A1"},
                free=("filepath", "sheet_name", "start_cell", "data"),
            ),
        )  # fmt: skip
        told = ", ".join(f"{name}: {count}" for name, count in zip(names, counts, strict=True))
        return Solution(
            wording=f"Search PubMed for each name in {path}, count relevant titles among the first three, write them into a workbook.",
            answer=f"{told}. In total {sum(counts)} titles name their subject. The table is in {_BOOK}.",
            checks=(
                WorkbookCells(values=tuple(names)),
                WorkbookCells(values=tuple(float(count) for count in sorted(set(counts)))),
                AnswerNumber(value=sum(counts), tolerance=0, what="the total"),
                FileOpens(pattern="*.xlsx"),
                CallMade(tool="healthcare-mcp/pubmed_search", times=len(names)),
            ),
            alternatives=(play.varied("added up without a tool", {1: play.steps[1][1:]}),),
        )
