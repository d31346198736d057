"""A note from the ward: what its codes mean, who makes the medicines, which study is open, and what the aids cost."""

import json
import random
import re
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from m3bench.tasks.answers.fields import Code, Field, Money, Name, Number, Table
from m3bench.tasks.families import medicines, offers
from m3bench.tasks.families.base import Composition, Kit, Script, Solution, call, need
from m3bench.tasks.families.texts import Tables, tables
from m3bench.tasks.render import backdrops
from m3bench.tasks.render.canvas import Canvas
from m3bench.tasks.render.pharmacy import ward_note
from m3bench.tasks.task import ReferenceCall

_SHOPS = {
    "amazon.com": "USD", "amazon.co.uk": "GBP", "amazon.ca": "CAD", "amazon.com.au": "AUD", "amazon.sg": "SGD",
}  # fmt: skip
_CLOSE = 0.05
"""The share by which two prices must differ."""


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
    """What codes mean, who makes the medicines, which study is recruiting, and what the aids cost."""

    name = "medical"
    servers = ("healthcare-mcp", "amazon", "math")

    def compose(self, rng: random.Random, kit: Kit) -> Composition:
        """A printed note on a table."""
        cases = []
        taken: set[str] = set()
        for code, condition, drugs, aids in rng.sample(_tables().cases, 2):
            medicine = rng.choice([one for one in drugs if one not in taken])
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
        """Each goal needs another part of the note."""
        goals = {"decode": self._decode, "study": self._study, "aids": self._aids}
        return await goals[play.goal](rng, composition, path, play)

    async def _decode(self, rng: random.Random, composition: Composition, path: str, play: Script) -> Solution:
        """All that the note names at once."""
        cases = composition.facts["cases"]
        texts = await play.step(*map(_code, cases), *(_label(case["medicine"]) for case in cases))
        meanings, makers = [_meaning(text) for text in texts[:2]], [_maker(text) for text in texts[2:]]
        told = "; ".join(
            f"{case['code']} is {meaning}, {case['medicine']} is made by {firm}"
            for case, meaning, firm in zip(cases, meanings, makers, strict=True)
        )
        drugs = [case["medicine"] for case in cases]
        return Solution(
            wording=f"Look up the ICD-10 codes in {path} and who makes the medicines.",
            answer=f"{told}.",
            fields=(
                Field(
                    name="diagnoses",
                    meaning="each code on the note and what it means",
                    value=Table(
                        columns=("code", "meaning"),
                        rows=tuple((Code(value=case["code"]), _illness(case, meaning, cases, meanings)) for case, meaning in zip(cases, meanings, strict=True)),
                    ),
                ),
                Field(
                    name="makers",
                    meaning="each medicine on the note and the company on its US label",
                    value=Table(
                        columns=("medicine", "company"),
                        rows=tuple(
                            (Name(value=drug, others=tuple(one for one in drugs if one != drug)), medicines.maker(firm, makers))
                            for drug, firm in zip(drugs, makers, strict=True)
                        ),
                    ),
                ),
            ),
        )  # fmt: skip

    async def _study(self, rng: random.Random, composition: Composition, path: str, play: Script) -> Solution:
        """The upper diagnosis first; the lower one when nobody is recruiting for it."""
        cases = composition.facts["cases"]
        upper, lower = cases
        code, label = await play.step(_code(upper), _label(upper["medicine"]))
        (found,) = await play.step(_trials(upper))
        case, meaning, trials = upper, _meaning(code), json.loads(found)["trials"]
        if not trials:
            (known,) = await play.play([_trials(upper, "all")])
            need(bool(json.loads(known)["trials"]), "nothing is known of studies of it")
            (code,) = await play.step(_code(lower))
            (found,) = await play.step(_trials(lower))
            case, meaning, trials = lower, _meaning(code), json.loads(found)["trials"]
        need(len(trials) == 1, "not one study alone is recruiting")
        trial, firm = trials[0], _maker(label)
        return Solution(
            wording=f"Look up the upper code in {path} and a study that is recruiting for it; when there is none, the same for the lower code; and "
            "who makes the upper medicine.",
            answer=f"{case['code']} is {meaning}. {trial['nct_id']} by {trial['sponsor']} is recruiting. {upper['medicine']} is made by {firm}.",
            fields=(
                Field(name="illness", meaning="the illness that the study is about, as its code says", value=_illness(case, meaning, cases, ())),
                Field(name="study", meaning="the registry number of the study that is recruiting", value=Code(value=trial["nct_id"])),
                Field(name="sponsor", meaning="who sponsors that study", value=medicines.maker(trial["sponsor"])),
                Field(name="maker", meaning="the company on the US label of the upper medicine", value=medicines.maker(firm)),
            ),
            alternatives=(
                play.varied("the medicine at the end", {0: play.steps[0][:1], len(play.steps) - 1: [*play.steps[-1], play.steps[0][1]]}),
                play.varied("both diagnoses at once", {0: [*map(_code, cases), play.steps[0][1]], 1: [*map(_trials, cases)], 2: (), 3: ()}),
            ),
        )  # fmt: skip

    async def _aids(self, rng: random.Random, composition: Composition, path: str, play: Script) -> Solution:
        """The first offers for both aids, and what buyers say of the cheaper one."""
        aids = list(dict.fromkeys(case["aid"] for case in composition.facts["cases"]))
        need(len(aids) == 2, "there is one aid alone")
        shop = rng.choice(tuple(_SHOPS))
        sold = await play.step(
            *(
                call("amazon/search_products", {"keywords": aid, "n": 1, "amazon_domain": shop}, free=("n",), words={"keywords": aid.split()})
                for aid in aids
            )
        )  # fmt: skip
        prices = [offers.prices(text)[0] for text in sold]
        low, high = sorted(prices)
        need(high - low >= _CLOSE * high, "both cost nearly the same")
        cheaper = aids[prices.index(low)]
        found = re.search(r"/dp/(\w+)", sold[prices.index(low)])
        assert found
        total, page = await play.step(
            call("math/sum", {"numbers": prices}),
            call("amazon/get_product", {"asin": found[1], "amazon_domain": shop}, free=("amazon_domain",)),
        )
        rated = re.search(r"Rated ([\d.]+) out of 5", page)
        need(rated is not None, "nobody has rated it")
        assert rated
        cost, stars = round(float(total), 2), float(rated[1])
        told = "; ".join(f"{aid}: {price:.2f}" for aid, price in zip(aids, prices, strict=True))
        return Solution(
            given={"shop": shop, "currency": _SHOPS[shop]},
            wording=f"Price the aids in {path} by the first offer on {shop}, add them up, and find the rating of the cheaper one.",
            answer=f"{told}, {cost:.2f} together. The cheaper one, the {cheaper}, is rated {stars}.",
            fields=(
                Field(
                    name="prices",
                    meaning="each aid on the note and the price of its first offer",
                    value=Table(
                        columns=("aid", "price"),
                        rows=tuple(
                            (Name(value=aid, others=tuple(one for one in aids if one != aid)), Money(value=price, unit=_SHOPS[shop]))
                            for aid, price in zip(aids, prices, strict=True)
                        ),
                    ),
                ),
                Field(name="total", meaning="what both cost together", value=Money(value=cost, unit=_SHOPS[shop]), derived=tuple(prices)),
                Field(name="rating", meaning="the stars of the cheaper offer", value=Number(value=stars, within=0.05), compared=(low, high)),
            ),
            alternatives=(play.varied("added up without a tool", {1: play.steps[1][1:]}),),
        )  # fmt: skip


def _code(case: Mapping[str, str]) -> ReferenceCall:
    return call("healthcare-mcp/lookup_icd_code", {"code": case["code"]}, free=("max_results",))


def _label(medicine: str) -> ReferenceCall:
    return call(
        "healthcare-mcp/fda_drug_lookup", {"drug_name": medicine, "search_type": "label"}, either={"search_type": ("label", "general", None)}
    )  # fmt: skip


def _trials(case: Mapping[str, str], status: str = "recruiting") -> ReferenceCall:
    return call(
        "healthcare-mcp/clinical_trials_search", {"condition": case["condition"], "status": status},
        words={"condition": case["condition"].split()[-1:]}, either={"status": ("recruiting", "all", None)}, free=("max_results",),
    )  # fmt: skip


def _meaning(text: str) -> str:
    return str(json.loads(text)["codes"][0]["description"])


def _maker(text: str) -> str:
    """The only firm that a search for a medicine finds."""
    drugs = json.loads(text)["drugs"]
    need(len(drugs) == 1, "several medicines have this name")
    return str(drugs[0]["labeler_name"])


def _illness(
    case: Mapping[str, str], meaning: str, cases: Sequence[Mapping[str, str]], meanings: Sequence[str]
) -> Name:
    """What a code means, in its official words or as people say it."""
    wrong = (*(one["condition"] for one in cases if one is not case), *(one for one in meanings if one != meaning))
    return Name(
        value=meaning,
        aliases=(case["condition"], meaning.partition(",")[0]),
        others=wrong,
        context=(meaning, case["condition"], case["code"], "disorder disease unspecified ICD-10"),
    )
