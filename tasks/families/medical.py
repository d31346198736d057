"""A note from the ward: check its diagnosis codes, look up medicines and trials, and price the aids."""

import json
import random

from m3bench.tasks.checks import AnswerNames, AnswerNumber, CallMade
from m3bench.tasks.families import offers
from m3bench.tasks.families.base import Composition, Kit, Script, Solution, call
from m3bench.tasks.render import backdrops
from m3bench.tasks.render.canvas import Canvas
from m3bench.tasks.render.pharmacy import ward_note

_CASES = (
    ("I48.91", "atrial fibrillation", ("Apixaban", "Warfarin", "Metoprolol"), ("blood pressure monitor", "fitness tracker", "pill organizer")),
    ("M32.9", "systemic lupus erythematosus", ("Hydroxychloroquine", "Prednisone", "Belimumab"), ("heating pad", "thermometer", "pill organizer")),
    ("L20.9", "atopic dermatitis", ("Dupilumab", "Hydrocortisone", "Crisaborole"), ("eczema cream", "humidifier", "thermometer")),
    ("E11.9", "type 2 diabetes", ("Metformin", "Empagliflozin", "Semaglutide"), ("glucose meter", "bathroom scale", "fitness tracker")),
    ("I63.9", "stroke", ("Clopidogrel", "Atorvastatin", "Aspirin"), ("walking cane", "blood pressure monitor", "pill organizer")),
    ("G89.4", "chronic pain", ("Gabapentin", "Duloxetine", "Tramadol"), ("heating pad", "walking cane", "yoga mat")),
    ("I50.9", "heart failure", ("Furosemide", "Spironolactone", "Carvedilol"), ("bathroom scale", "compression socks", "pulse oximeter")),
    ("E66.9", "obesity", ("Tirzepatide", "Semaglutide"), ("bathroom scale", "fitness tracker", "yoga mat")),
    ("J30.9", "allergic rhinitis", ("Fexofenadine", "Loratadine", "Montelukast"), ("air purifier", "humidifier")),
    ("I10", "hypertension", ("Lisinopril", "Amlodipine", "Losartan", "Valsartan"), ("blood pressure monitor", "fitness tracker")),
    ("J45.909", "asthma", ("Albuterol", "Montelukast", "Prednisone"), ("nebulizer", "peak flow meter", "air purifier")),
    ("J44.9", "chronic obstructive pulmonary disease", ("Tiotropium", "Albuterol", "Prednisone"), ("pulse oximeter", "nebulizer", "air purifier")),
    ("F32.A", "depression", ("Sertraline", "Escitalopram", "Bupropion", "Fluoxetine"), ("reading lamp", "yoga mat", "pill organizer")),
    ("M81.0", "osteoporosis", ("Alendronate", "Cholecalciferol"), ("walking cane", "yoga mat")),
    ("M54.50", "low back pain", ("Naproxen", "Cyclobenzaprine", "Ibuprofen"), ("heating pad", "yoga mat")),
    ("F41.9", "anxiety", ("Escitalopram", "Lorazepam", "Sertraline"), ("yoga mat", "fitness tracker")),
    ("G47.00", "insomnia", ("Trazodone", "Zolpidem"), ("reading lamp", "humidifier")),
    ("G43.909", "migraine", ("Sumatriptan", "Ibuprofen"), ("humidifier", "pill organizer")),
    ("M19.90", "osteoarthritis", ("Celecoxib", "Meloxicam", "Acetaminophen"), ("knee brace", "walking cane", "heating pad")),
    ("J18.9", "pneumonia", ("Azithromycin", "Levofloxacin", "Amoxicillin"), ("thermometer", "pulse oximeter", "humidifier")),
    ("E78.00", "hypercholesterolemia", ("Rosuvastatin", "Ezetimibe", "Simvastatin"), ("bathroom scale", "blood pressure monitor")),
    ("U09.9", "long covid", ("Acetaminophen", "Famotidine"), ("pulse oximeter", "thermometer")),
)  # fmt: skip
"""Code, condition, medicines that are used for it, aids."""

_CLINICS = (
    "Harbour View Hospital",
    "St Brendan Medical Centre",
    "Lakeside Clinic",
    "Northgate General",
    "Cedar Hill Hospital",
    "Riverside Infirmary",
)
_TOPICS = (
    ("DIAGNOSES", "DIAGNOSIS CODES", "FINDINGS (ICD-10)"),
    ("MEDICATION", "PRESCRIBED", "TAKE HOME"),
    ("AIDS FOR HOME", "EQUIPMENT", "USEFUL AT HOME"),
)


class Medical:
    """Validate codes, then label facts and trials, then products."""

    name = "medical"
    servers = ("healthcare-mcp", "amazon")
    questions = (
        "Mum just came home with this letter and it is all codes. Are they genuine, and what do they stand for? Also tell me "
        "who makes each tablet she got, find a study on each illness (running or done, its number is enough), and what the "
        "first shop result for every gadget on the page costs.",
        "I volunteer as a patient guide. Decode the sheet for me: meaning of both classifications, labeler of the "
        "prescriptions per FDA, one NCT identifier for either disorder regardless of status, and Amazon's top hit price for "
        "the suggested devices.",
        "Please turn this discharge summary into plain English. Verify the classification entries first. Afterwards I need "
        "drug manufacturers, an example from the trials registry per condition (any state of recruitment), plus what we'd "
        "pay for the listed home items going by the leading offer.",
        "Translate the hospital paper! What's the patient suffering from, which companies produce the remedies, is there "
        "research registered about those problems, whatever its stage (quote an ID apiece), and how pricey are the things "
        "recommended at the bottom, taking whatever comes up first in the store?",
        "For our insurance claim: confirm that the diagnostic numbers exist and state their official wording. Add the firms "
        "responsible for the medicines, a trial reference matching every diagnosis no matter how far along, and the cost of "
        "the equipment according to the best-ranked listing.",
        "Hi, second opinion on paperwork wanted. (a) do these codes check out? (b) label owner of what was prescribed (c) "
        "any clinical investigation, open or closed, for each complaint, give the registration (d) retail figure for all "
        "aids, first match only. Short answer is fine.",
        "A neighbour who reads little asked me to explain her release form. Could you look up the illnesses by number, check "
        "who manufactures the pills with the regulator, dig out one study each from the registry with no filter on progress, "
        "and see what the helpful objects sell for (top entry)?",
        "I'm auditing ward documents. Extract the two codings and validate; pull labeler names for all drugs; cite trial "
        "accession numbers, one per finding, covering every status; price the supportive goods at the uppermost search "
        "result. Report compactly.",
        "Grandpa's note confuses everyone here. What did the doctors write down in those codes, where do his new medicines "
        "come from, has anyone run an experiment on such diseases (finished ones count, name it by number), and what should "
        "we budget for the stuff he's meant to buy, judging by the first product shown?",
        "Caregiver question: help me understand the attached page. Official descriptions behind the cryptic letters and "
        "digits, producers on the federal drug labels, a registry entry about both conditions from the complete list, and "
        "dollar amounts for whatever apparatus is advised, using offer number one.",
    )

    def compose(self, rng: random.Random, kit: Kit) -> Composition:
        """A printed note on a table."""
        cases = []
        taken: set[str] = set()
        for code, condition, medicines, aids in rng.sample(_CASES, 2):
            medicine = rng.choice([one for one in medicines if one not in taken])
            aid = rng.choice([one for one in aids if one not in taken] or list(aids))
            taken |= {medicine, aid}
            cases.append({"code": code, "condition": condition, "medicine": medicine, "aid": aid})
        canvas = Canvas(kit.art, 1280, 880)
        backdrops.table(canvas, rng)
        headings = [rng.choice(words) for words in _TOPICS]
        left = rng.uniform(150, 420)
        ward_note(
            canvas, rng, (left, 70, left + 700, 800), rng.choice(_CLINICS),
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
