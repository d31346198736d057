"""Names on cards: how many of the first PubMed titles are really about each, counted in a workbook."""

import json
import random
import re

from m3bench.tasks.checks import AnswerNumber, CallMade, FileOpens, WorkbookCells
from m3bench.tasks.families.base import Composition, Kit, Script, Solution, call
from m3bench.tasks.families.texts import Tables, tables
from m3bench.tasks.render.canvas import Canvas
from m3bench.tasks.render.pharmacy import card, cork_board

TITLES = 3
_BOOK = "./media/literature.xlsx"


class _Tables(Tables):
    diseases: tuple[str, ...]
    headings: tuple[str, ...]


_tables = tables("med_excel", _Tables)


class MedExcel:
    """First three titles per name, judged, and a workbook with name and count."""

    name = "med_excel"
    servers = ("healthcare-mcp", "excel", "math")

    def compose(self, rng: random.Random, kit: Kit) -> Composition:
        """Three or four cards on a board."""
        medicines = [one["generic"] for one in kit.world("medicines") if " " not in one["generic"]]
        count = rng.choice((3, 4))
        diseases = rng.sample(_tables().diseases, rng.randint(1, count - 1))
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
            card(canvas, rng, x, y, 500, 290, rng.choice(_tables().headings), name)
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
