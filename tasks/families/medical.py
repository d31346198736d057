"""A note from the ward: check its diagnosis codes, look up medicines and trials, and price the aids."""

import json
import random
from typing import NamedTuple

from m3bench.tasks.checks import AnswerNames, AnswerNumber, CallMade
from m3bench.tasks.families import offers
from m3bench.tasks.families.base import Composition, Kit, Script, Solution, call
from m3bench.tasks.families.texts import Tables, tables
from m3bench.tasks.render import backdrops
from m3bench.tasks.render.canvas import Canvas
from m3bench.tasks.render.pharmacy import ward_note


class _Case(NamedTuple):
    """A diagnosis, the medicines used for it, and helpful aids."""

    code: str
    condition: str
    medicines: tuple[str, ...]
    aids: tuple[str, ...]


class _Tables(Tables):
    cases: tuple[_Case, ...]
    clinics: tuple[str, ...]
    topics: tuple[tuple[str, ...], ...]


_tables = tables("medical", _Tables)


class Medical:
    """Validate codes, then label facts and trials, then products."""

    name = "medical"
    servers = ("healthcare-mcp", "amazon")

    def compose(self, rng: random.Random, kit: Kit) -> Composition:
        """A printed note on a table."""
        cases = []
        taken: set[str] = set()
        for code, condition, medicines, aids in rng.sample(_tables().cases, 2):
            medicine = rng.choice([one for one in medicines if one not in taken])
            aid = rng.choice([one for one in aids if one not in taken] or list(aids))
            taken |= {medicine, aid}
            cases.append({"code": code, "condition": condition, "medicine": medicine, "aid": aid})
        canvas = Canvas(kit.art, 1280, 880)
        backdrops.table(canvas, rng)
        headings = [rng.choice(words) for words in _tables().topics]
        left = rng.uniform(150, 420)
        ward_note(
            canvas, rng, (left, 70, left + 700, 800), rng.choice(_tables().clinics),
            (
                (headings[0], [case["code"] for case in cases]),
                (headings[1], [case["medicine"] for case in cases]),
                (headings[2], list(dict.fromkeys(case["aid"] for case in cases))),
            ),
        )  # fmt: skip
        side = left + 830 if left < 300 else left - 130
        for number, name in enumerate(
            rng.sample(["pill", "stethoscope", "glasses", "coffee", "pen", "bandage", "key"], 2)
        ):
            canvas.place(
                name, side + rng.uniform(-24, 24), 330 + number * 330, rng.uniform(130, 170), turn=rng.uniform(-20, 20)
            )
        canvas.light(rng)
        return Composition.of(canvas, cases=cases)

    async def solve(self, rng: random.Random, composition: Composition, path: str, play: Script) -> Solution:
        """Codes first: what they mean is what trials are searched for."""
        cases = composition.facts["cases"]
        looked_up = await play.step(
            *(call("healthcare-mcp/lookup_icd_code", {"code": case["code"]}, free=("max_results",)) for case in cases)
        )
        meanings = [json.loads(text)["codes"][0]["description"] for text in looked_up]
        texts = await play.step(
            *(
                call("healthcare-mcp/fda_drug_lookup", {"drug_name": case["medicine"], "search_type": "label"}, either={"search_type": ("label", "general", None)})
                for case in cases
            ),
            *(
                call(
                    "healthcare-mcp/clinical_trials_search", {"condition": case["condition"], "status": "all", "max_results": 5},
                    words={"condition": case["condition"].split()[:1]}, free=("max_results",),
                )
                for case in cases
            ),
        )  # fmt: skip
        makers = [json.loads(text)["drugs"][0]["labeler_name"] for text in texts[:2]]
        trials = [[trial["nct_id"] for trial in json.loads(text)["trials"]] for text in texts[2:]]
        aids = list(dict.fromkeys(case["aid"] for case in cases))
        sold = await play.step(
            *(
                call("amazon/search_products", {"keywords": aid, "n": 1}, free=("n",), words={"keywords": aid.split()})
                for aid in aids
            )
        )
        prices = [offers.prices(text)[0] for text in sold]
        told = "; ".join(
            f"{case['code']} is {meaning}, {case['medicine']} is labelled by {maker}, a trial is {found[0]}"
            for case, meaning, maker, found in zip(cases, meanings, makers, trials, strict=True)
        )
        return Solution(
            wording=f"Validate the ICD-10 codes in {path}, look up the medicines and trials, and price the aids.",
            answer=f"{told}. " + "; ".join(f"{aid}: ${price:.2f}" for aid, price in zip(aids, prices, strict=True)) + ".",
            checks=(
                AnswerNames(all_of=tuple((meaning, meaning.split(",")[0], case["condition"]) for case, meaning in zip(cases, meanings, strict=True))),
                AnswerNames(all_of=tuple((maker, " ".join(maker.split()[:2]), maker.split()[0]) for maker in makers)),
                AnswerNames(all_of=tuple(tuple(found) for found in trials)),
                *(AnswerNumber(value=price, what=f"the price of the {aid}") for aid, price in zip(aids, prices, strict=True)),
                CallMade(tool="healthcare-mcp/lookup_icd_code", times=2),
            ),
            alternatives=(
                play.varied("the aids are priced with the rest", {1: (*play.steps[1], *play.steps[2]), 2: ()}),
                play.varied(
                    "everything that the note names is looked up at once",
                    {0: (*play.steps[0], *play.steps[1][:2], *play.steps[2]), 1: play.steps[1][2:], 2: ()},
                ),
            ),
        )  # fmt: skip
