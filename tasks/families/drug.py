"""Boxes of medicine: what they are, what a shop offers instead, and both in a workbook."""

import json
import random

from m3bench.tasks.checks import AnswerNames, CallMade, FileOpens, WorkbookCells
from m3bench.tasks.families import offers
from m3bench.tasks.families.base import Composition, Kit, Script, Solution, call
from m3bench.tasks.render import backdrops
from m3bench.tasks.render.canvas import Canvas
from m3bench.tasks.render.pharmacy import medicine_box

OFFERS = 3
_SHOPS = ("amazon.com", "amazon.co.uk", "amazon.ca", "amazon.com.au", "amazon.sg")
_NOT_SOLD = {
    "Naloxone hydrochloride",
    "Levonorgestrel",
    "Cholecalciferol",
    "Ferrous sulfate",
    "Pseudoephedrine hydrochloride",
}
_SALTS = {"hydrochloride", "topical", "nasal", "polacrilex", "3350"}
"""Words of a generic name that shops leave out."""
_BOOK = "./media/medicines.xlsx"


class Drug:
    """Label facts and shop offers for each medicine, compared in a workbook."""

    name = "drug"
    servers = ("healthcare-mcp", "amazon", "excel")

    def compose(self, rng: random.Random, kit: Kit) -> Composition:
        """Three or four cartons on a shelf."""
        medicines = [
            one for one in kit.world("medicines") if one["access"] == "OTC" and one["generic"] not in _NOT_SOLD
        ]
        chosen = rng.sample(medicines, rng.choice((3, 4)))
        canvas = Canvas(kit.art, 1480, 860)
        edges = backdrops.shelves(canvas, rng, 2)
        wide = 330
        gap = (canvas.width - wide * len(chosen)) / (len(chosen) + 1)
        facts = []
        for number, medicine in enumerate(chosen):
            brand, form = rng.choice(medicine["brands"]), _form(medicine["forms"])
            x = gap + wide / 2 + number * (wide + gap) + rng.uniform(-14, 14)
            medicine_box(
                canvas,
                rng,
                x,
                edges[1],
                wide,
                rng.uniform(290, 340),
                brand=brand,
                generic=medicine["generic"],
                form=form,
            )
            facts.append({"brand": brand, "generic": medicine["generic"]})
        for number, name in enumerate(
            rng.sample(
                [
                    "lotion bottle",
                    "potted plant",
                    "toilet paper",
                    "candle",
                    "soap",
                    "jar",
                    "baby bottle",
                    "alarm clock",
                ],
                3,
            )
        ):
            canvas.place(name, 260 + number * 420 + rng.uniform(-60, 60), edges[0] + 2, rng.uniform(130, 190), turn=0)
        canvas.light(rng)
        return Composition.of(canvas, medicines=facts)

    async def solve(self, rng: random.Random, composition: Composition, path: str, play: Script) -> Solution:
        """Labels, offers and an empty workbook at once; then the rows."""
        medicines = composition.facts["medicines"]
        shop = rng.choice(_SHOPS)
        count = len(medicines)
        texts = await play.step(
            *(
                call(
                    "healthcare-mcp/fda_drug_lookup", {"drug_name": one["brand"], "search_type": "label"},
                    either={"drug_name": (one["brand"], one["generic"]), "search_type": ("label", "general", None)},
                )
                for one in medicines
            ),
            *(
                call(
                    "amazon/search_products", {"keywords": _substance(one["generic"]), "n": OFFERS, "amazon_domain": shop},
                    words={"keywords": one["generic"].split()[:1]},
                )
                for one in medicines
            ),
            call("excel/create_workbook", {"filepath": _BOOK}, free=("filepath",)),
        )  # fmt: skip
        rows: list[list[str | float]] = []
        for one, label, found_offers in zip(medicines, texts[:count], texts[count : 2 * count], strict=True):
            found = json.loads(label)["drugs"][0]
            cheapest_offer = min(offers.prices(found_offers))
            rows.append([one["brand"], found["generic_name"], found["labeler_name"], cheapest_offer])
        data = [["Brand", "Active ingredient", "Manufacturer", "Lowest price"], *rows]
        await play.step(
            call(
                "excel/write_data_to_excel", {"filepath": _BOOK, "sheet_name": "Sheet1", "data": data, "start_cell": "A1"},
                free=("filepath", "sheet_name", "start_cell", "data"),
            )
        )  # fmt: skip
        cheapest = min(rows, key=lambda row: float(row[3]))
        listed = "; ".join(f"{brand}: {generic} by {maker}, from {price:.2f}" for brand, generic, maker, price in rows)
        return Solution(
            given={"shop": shop},
            wording=f"Look up every medicine in {path} at the FDA, search {shop} for its active ingredient, compare in a workbook.",
            answer=f"{listed}. The cheapest substitute is the one for {cheapest[0]} at {cheapest[3]:.2f}. The table is in {_BOOK}.",
            checks=(
                WorkbookCells(values=tuple(str(row[1]).split()[0] for row in rows)),
                WorkbookCells(values=tuple(float(row[3]) for row in rows)),
                WorkbookCells(values=tuple(str(row[2]).split()[0] for row in rows)),
                AnswerNames(all_of=((str(cheapest[0]), str(cheapest[1]), str(cheapest[1]).split()[0]),)),
                FileOpens(pattern="*.xlsx"),
                CallMade(tool="amazon/search_products", times=count),
            ),
        )


def _form(forms: str) -> str:
    """The first form and strength on the label."""
    return forms.split(";")[0].split(",")[0]


def _substance(generic: str) -> str:
    return " ".join(word for word in generic.split() if word not in _SALTS)
