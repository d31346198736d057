"""A form from the ward with ticks on it: what the codes mean, who makes the medicines, which study is open, and what the aids cost."""

import json
import random
import re
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from m3bench.tasks.answers.fields import Code, Field, Money, Name, Number, Table
from m3bench.tasks.families import medicines, tool_answers
from m3bench.tasks.families.base import Composition, Family, Kit, Script, Solution, call, need, table, words
from m3bench.tasks.families.medicines import ward_note
from m3bench.tasks.render import backdrops
from m3bench.tasks.render.canvas import Canvas
from m3bench.tasks.task import ReferenceCall

_SHOPS = {
    "amazon.com": "USD", "amazon.co.uk": "GBP", "amazon.ca": "CAD", "amazon.com.au": "AUD", "amazon.sg": "SGD",
}  # fmt: skip
_OTHERS = 4
"""Entries of each part of the form that are not ticked."""
_CLOSE = 0.05
"""The share by which two prices must differ."""


class _Case(NamedTuple):
    """A diagnosis, the medicines used for it, and helpful aids."""

    code: str
    condition: str
    medicines: tuple[str, ...]
    aids: tuple[str, ...]


class Medical(Family):
    """What codes mean, who makes the medicines, which study is recruiting, and what the aids cost."""

    name = "medical"
    servers = ("healthcare-mcp", "amazon", "math")
    cases = table(tuple[_Case, ...])
    clinics = words()
    topics = table(tuple[tuple[str, ...], ...])

    def compose(self, rng: random.Random, kit: Kit) -> Composition:
        """A printed form on a table, on which somebody has ticked what applies."""
        cases = []
        taken: set[str] = set()
        for code, condition, drugs, aids in rng.sample(self.cases, 2):
            medicine = rng.choice([drug for drug in drugs if drug not in taken])
            aid = rng.choice([aid for aid in aids if aid not in taken] or list(aids))
            taken |= {medicine, aid}
            cases.append({"code": code, "condition": condition, "medicine": medicine, "aid": aid})
        others = _others(rng, cases, taken)
        canvas = Canvas(kit.art, 1280, 1200)
        backdrops.table(canvas, rng)
        headings = [rng.choice(words) for words in self.topics]
        left = rng.uniform(150, 420)
        parts = [
            (heading, _filled(rng, [case[part] for case in cases], [case[part] for case in others]))
            for heading, part in zip(headings, ("code", "medicine", "aid"), strict=True)
        ]
        ward_note(canvas, rng, (left, 50, left + 700, 1150), rng.choice(self.clinics), parts)
        side = left + 830 if left < 300 else left - 130
        for number, name in enumerate(rng.sample(["pill", "stethoscope", "coffee", "pen", "bandage", "key"], 2)):
            canvas.place(
                name, side + rng.uniform(-24, 24), 430 + number * 380, rng.uniform(130, 170), turn=rng.uniform(-20, 20)
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
            wording=f"Look up the ICD-10 codes ticked in {path} and who makes the ticked medicines.",
            answer=f"{told}.",
            fields=(
                _diagnoses(cases, meanings),
                Field(
                    name="makers",
                    meaning="each ticked medicine and the company on its US label",
                    value=Table(
                        columns=("medicine", "company"),
                        rows=tuple(
                            (Name(value=drug, others=tuple(other for other in drugs if other != drug)), medicines.maker(firm, makers))
                            for drug, firm in zip(drugs, makers, strict=True)
                        ),
                    ),
                ),
            ),
        )  # fmt: skip

    async def _study(self, rng: random.Random, composition: Composition, path: str, play: Script) -> Solution:
        """Both diagnoses in words; then the upper one first, and the lower one when nobody is recruiting for it."""
        cases = composition.facts["cases"]
        upper, lower = cases
        *codes, label = await play.step(*map(_code, cases), _label(upper["medicine"]))
        meanings = [_meaning(text) for text in codes]
        (found,) = await play.step(_trials(upper))
        case, meaning, trials = upper, meanings[0], json.loads(found)["trials"]
        if not trials:
            (known,) = await play.play([_trials(upper, "all")])
            need(bool(json.loads(known)["trials"]), "nothing is known of studies of it")
            (found,) = await play.step(_trials(lower))
            case, meaning, trials = lower, meanings[1], json.loads(found)["trials"]
        need(len(trials) == 1, "not one study alone is recruiting")
        trial, firm = trials[0], _maker(label)
        return Solution(
            wording=f"Look up the ticked codes in {path} and a study that is recruiting for the upper one; when there is none, for the lower one; and "
            "who makes the upper one of the ticked medicines.",
            answer=f"{upper['code']} is {meanings[0]}, {lower['code']} is {meanings[1]}. For {meaning}, {trial['nct_id']} by {trial['sponsor']} is recruiting. {upper['medicine']} is made by {firm}.",
            fields=(
                _diagnoses(cases, meanings),
                Field(name="illness", meaning="the illness that the study is about, as its code says", value=_illness(case, meaning, cases, ())),
                Field(name="study", meaning="the registry number of the study that is recruiting", value=Code(value=trial["nct_id"])),
                Field(name="sponsor", meaning="who sponsors that study", value=medicines.maker(trial["sponsor"])),
                Field(name="maker", meaning="the company on the US label of the upper one of the ticked medicines", value=medicines.maker(firm)),
            ),
            alternatives=(
                play.varied("the medicine at the end", {0: play.steps[0][:2], len(play.steps) - 1: [*play.steps[-1], play.steps[0][2]]}),
                play.varied("studies of both at once", {1: [*map(_trials, cases)], 2: ()}),
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
        prices = [tool_answers.prices(text)[0] for text in sold]
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
            wording=f"Price the aids ticked in {path} by the first offer on {shop}, add them up, and find the rating of the cheaper one.",
            answer=f"{told}, {cost:.2f} together. The cheaper one, the {cheaper}, is rated {stars}.",
            fields=(
                Field(
                    name="prices",
                    meaning="each ticked aid and the price of its first offer",
                    value=Table(
                        columns=("aid", "price"),
                        rows=tuple(
                            (Name(value=aid, others=tuple(other for other in aids if other != aid)), Money(value=price, unit=_SHOPS[shop]))
                            for aid, price in zip(aids, prices, strict=True)
                        ),
                    ),
                ),
                Field(name="total", meaning="what both cost together", value=Money(value=cost, unit=_SHOPS[shop]), derived=tuple(prices)),
                Field(name="rating", meaning="the stars of the cheaper offer", value=Number(value=stars, within=0.05), compared=(low, high)),
            ),
            alternatives=(play.varied("added up without a tool", {1: play.steps[1][1:]}),),
        )  # fmt: skip


def _others(rng: random.Random, cases: Sequence[Mapping[str, str]], taken: set[str]) -> list[dict[str, str]]:
    """Cases that are on the form and not ticked: whole ones, so that what belongs together gives nothing away."""
    known, found = {case["code"] for case in cases}, list[dict[str, str]]()
    pool = [case for case in Medical.cases if case.code not in known]
    for code, condition, drugs, aids in rng.sample(pool, len(pool)):
        medicine, aid = ([thing for thing in some if thing not in taken] for some in (drugs, aids))
        if medicine and aid and len(found) < _OTHERS:
            found.append(
                {"code": code, "condition": condition, "medicine": rng.choice(medicine), "aid": rng.choice(aid)}
            )
            taken |= {found[-1]["medicine"], found[-1]["aid"]}
    return found


def _filled(rng: random.Random, meant: Sequence[str], others: Sequence[str]) -> list[tuple[str, bool]]:
    """Lines of a form: what is ticked, in its order, among others that are not."""
    meant = list(dict.fromkeys(meant))
    count = len(meant) + len(others)
    places = rng.sample(range(count), len(meant))
    ticked, free = iter(meant), iter(rng.sample(others, len(others)))
    return [(next(ticked), True) if number in places else (next(free), False) for number in range(count)]


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


def _diagnoses(cases: Sequence[Mapping[str, str]], meanings: Sequence[str]) -> Field:
    """What asks for the meaning of both codes."""
    rows = tuple(
        (Code(value=case["code"]), _illness(case, meaning, cases, meanings))
        for case, meaning in zip(cases, meanings, strict=True)
    )
    return Field(
        name="diagnoses",
        meaning="each ticked code and what it means",
        value=Table(columns=("code", "meaning"), rows=rows),
    )


def _illness(
    case: Mapping[str, str], meaning: str, cases: Sequence[Mapping[str, str]], meanings: Sequence[str]
) -> Name:
    """What a code means, in its official words or as people say it."""
    wrong = (
        *(other["condition"] for other in cases if other is not case),
        *(other for other in meanings if other != meaning),
    )
    return Name(
        value=meaning,
        aliases=(case["condition"], meaning.partition(",")[0]),
        others=wrong,
        context=(meaning, case["condition"], case["code"], "disorder disease unspecified ICD-10"),
    )
