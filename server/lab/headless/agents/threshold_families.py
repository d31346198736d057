"""What classical vision notes of a picture, family by family: the facts that the family's plan needs.

Each function looks for what its family's questions are about, and nothing else. Names come from the tables that the
family composes its pictures from.
"""

import re
from collections.abc import Awaitable, Callable, Sequence
from typing import Any

from m3bench.server.lab.headless.agents.evidence import words_of
from m3bench.server.lab.headless.agents.pen_marks import PenMark, arrow_tips, count_strokes, is_cross, lines
from m3bench.server.lab.headless.agents.picture_look import (
    NotSeen,
    PictureLook,
    closest,
    closest_name,
    first_number,
    grown,
    likeness,
    looped,
    overlap,
    within,
)
from m3bench.server.lab.headless.agents.recollection import Noted
from m3bench.tasks.families import generate_powerpoint, items_price, museum, research_station, sights
from m3bench.tasks.families.biology_chain import BiologyChain
from m3bench.tasks.families.biology_cut import BiologyCut
from m3bench.tasks.families.camping import brochure, has_brochure
from m3bench.tasks.families.class_demand import ClassDemand
from m3bench.tasks.families.crypto_purchase import CryptoPurchase
from m3bench.tasks.families.fipe_car import models
from m3bench.tasks.families.fish import _SPOTS, Fish
from m3bench.tasks.families.food_reddit_wiki_excel import FoodRedditWikiExcel
from m3bench.tasks.families.fruit_cal import FruitCal
from m3bench.tasks.families.generate_powerpoint import GeneratePowerpoint
from m3bench.tasks.families.hugeicons import Hugeicons
from m3bench.tasks.families.med_excel import MedExcel
from m3bench.tasks.families.medical import Medical
from m3bench.tasks.families.nixos_diagnostic import NixosDiagnostic
from m3bench.tasks.json_types import Record
from m3bench.tasks.render.canvas import Canvas
from m3bench.tasks.scene import Box

See = Callable[[PictureLook], Awaitable[Noted]]


def _from_left(marks: Sequence[PenMark]) -> list[PenMark]:
    return sorted(marks, key=lambda mark: mark.middle[0])


async def _texts(look: PictureLook, marks: Sequence[PenMark], *, psm: Sequence[int] = (6, 11)) -> list[str]:
    return await look.read([mark.box for mark in marks], psm=psm)


async def items(look: PictureLook) -> Noted:
    """The packs in red loops, by shelf."""
    marks = look.loops()
    goods = items_price._goods(Canvas(look.kit.art, 1440, 980), look.kit)
    middle = look.image.shape[0] / 2
    shelves: dict[str, list[list[str]]] = {"upper": [], "lower": []}
    for mark, text in zip(marks, await _texts(look, marks), strict=True):
        item = closest(text, goods, lambda item: (item["brand"], item["name"], item["size"]))
        shelf = "upper" if mark.middle[1] < middle else "lower"
        shelves[shelf].append([item["brand"], item["name"], item["size"]])
    return {**shelves, "rest": []}


async def sights_pair(look: PictureLook) -> Noted:
    """The sights on the photographs in red loops."""
    known = [sight for sight in look.kit.world("landmarks") if sight.get("city_id")]
    towns = {sight["id"]: sights.city_of(look.kit, sight) for sight in known}
    marks = look.loops()
    found = [
        closest(text, known, lambda sight: (sight["name"], towns[sight["id"]]["name"]))
        for text in await _texts(look, marks)
    ]
    return {
        "landmarks": [sight["name"] for sight in found],
        "towns": [sights.town_line(look.kit, towns[sight["id"]]) for sight in found],
    }


async def films(look: PictureLook) -> Noted:
    """The titles of the posters in red loops, from left to right."""
    titles = [film["title"] for film in look.kit.world("films")]
    marks = _from_left(look.loops())
    return {"films": [closest_name(text, titles) for text in await _texts(look, marks)]}


async def papers(look: PictureLook) -> Noted:
    """The titles of the sheets in red and in blue loops."""
    known = [paper["title"] for paper in look.kit.world("known_papers") if paper["platform"] == "arxiv"]
    noted = {}
    for colour in ("red", "blue"):
        noted[colour] = [closest_name(text, known) for text in await _texts(look, look.loops(colour))]
    return {"titles": noted["red"] + noted["blue"], **noted}


async def parks(look: PictureLook) -> Noted:
    """The park whose brochure is in the red loop."""
    known = [park for park in look.kit.world("parks") if has_brochure(park)]
    (text,) = await _texts(look, look.loops()[:1])
    park = closest(text, known, lambda park: (brochure(park)[0],))
    return {"park": park["name"]}


async def catches(look: PictureLook) -> Noted:
    """The fish in red loops with their lengths, and the landing place in one."""
    marks = look.loops()
    texts = await _texts(look, marks)
    places = [max(likeness(spot, words_of(text)) for spot in _SPOTS) for text in texts]
    which = max(range(len(marks)), key=lambda number: places[number])
    names, lengths = [], []
    for number, text in enumerate(texts):
        if number != which:
            names.append(closest_name(text, Fish.species))
            lengths.append(first_number(text, r"\d+(?=\s*cm)"))
    return {"names": names, "lengths": lengths, "spot": closest_name(texts[which], _SPOTS)}


async def medicines(look: PictureLook) -> Noted:
    """The cartons in red loops, from left to right."""
    known = [
        (brand, medicine["generic"])
        for medicine in look.kit.world("medicines")
        if medicine["access"] == "OTC"
        for brand in medicine["brands"]
    ]
    found = [closest(text, known, lambda pair: pair) for text in await _texts(look, _from_left(look.loops()))]
    return {"medicines": [{"brand": brand, "generic": generic} for brand, generic in found]}


async def dishes(look: PictureLook) -> Noted:
    """The communities on the cards in red loops, from left to right."""
    known = [dish.community for dish in FoodRedditWikiExcel.dishes]
    texts = await _texts(look, _from_left(look.loops()))
    return {"dishes": [closest_name(re.sub(r".*?[rf]/", "", text), known) for text in texts]}


async def ills_and_drugs(look: PictureLook) -> Noted:
    """The names on the cards in red loops."""
    drugs = list(MedExcel.medicines)
    known = [*drugs, *(name.capitalize() for name in MedExcel.diseases)]
    names = [closest_name(text, known) for text in await _texts(look, look.loops())]
    return {"names": names, "drugs": [name for name in names if name in drugs]}


async def books(look: PictureLook) -> Noted:
    """The numbers of all books, and of those in red loops."""
    codes, marks = await look.codes(), look.loops()
    meant = [data for data, at in codes if any(within(mark.box, at) for mark in marks)]
    return {"numbers": [data for data, _ in codes], "meant": meant}


async def posters(look: PictureLook) -> Noted:
    """The pages that the codes in red loops and in the blue one lead to."""
    codes = [(data[-11:], at) for data, at in await look.codes()]
    red, blue = (
        [page for mark in look.loops(colour) for page, at in codes if within(mark.box, at)]
        for colour in ("red", "blue")
    )
    if not red or not blue:
        raise NotSeen("no code is in a loop")
    return {"places": [page for page, _ in codes], "red": red, "blue": blue[0]}


async def animals(look: PictureLook) -> Noted:
    """The animals in red loops, and where the others are."""
    known = {name for some in BiologyCut.lands.values() for name in some}
    seen = [thing for thing in await look.objects() if thing.name in known]
    meant = looped(seen, look.loops())
    return {
        "names": [thing.name for thing in meant],
        "others": [list(thing.box) for thing in seen if thing not in meant],
    }


async def food_chain(look: PictureLook) -> Noted:
    """Everything alive, the chain that it makes, and the people in red loops."""
    seen = await look.objects()
    people = [thing for thing in seen if thing.name == "person"]
    circled = looped(people, look.loops())
    names = [thing.name for thing in seen if thing.name != "person"]
    there = set(names)
    labels = {"rice plant": "rice", "herb": "leaf"}
    chains = [[labels.get(name, name) for name in chain] for some in BiologyChain.chains.values() for chain in some]
    fitting = [chain for chain in chains if there.issuperset(chain)]
    return {
        "names": names,
        "chain": max(fitting, key=len, default=[]),
        "people": [list(thing.box) for thing in people],
        "circled": [list(thing.box) for thing in circled],
    }


async def fruits(look: PictureLook) -> Noted:
    """The fruits in red loops and their weights."""
    marks, seen = look.loops(), await look.objects()
    known = {fruit.name: fruit for fruit in FruitCal.fruits}
    names, weights = [], []
    for mark, text in zip(marks, await _texts(look, marks), strict=True):
        inside = [thing.name for thing in seen if overlap(thing.box, mark.box) > 0.6 and thing.name in known]
        if not inside:
            raise NotSeen("a loop has no fruit in it")
        names.append(max(set(inside), key=inside.count))
        weights.append(first_number(text, r"\d+(?=\s*gr)"))
    return {"fruits": names, "weights": weights}


async def ward_notes(look: PictureLook) -> Noted:
    """What is ticked on a form: codes, medicines and aids, in their order."""
    pens = ("ink", "dark", "dark red")
    ticks: list[PenMark] = []
    for pen in pens:
        small = [mark for mark in lines(look.image, pen) if 14 < mark.size[0] < 44 and 14 < mark.size[1] < 44]
        column = max(
            (mark.middle[0] for mark in small),
            key=lambda x: sum(abs(one.middle[0] - x) < 9 for one in small),
            default=0.0,
        )
        lined = [mark for mark in small if abs(mark.middle[0] - column) < 9]
        if len(lined) >= 3 and len(lined) <= 8:
            ticks = sorted(lined, key=lambda mark: mark.middle[1])
            break
    if not ticks:
        raise NotSeen("nothing is ticked")
    boxes = [(mark.box[2] + 14, mark.middle[1] - 22, mark.box[2] + 560, mark.middle[1] + 24) for mark in ticks]
    texts = await look.read(boxes, psm=(7,), pens=())
    codes = {case.code for case in Medical.cases}
    drugs = {drug for case in Medical.cases for drug in case.medicines}
    aids = {aid for case in Medical.cases for aid in case.aids}
    kinds = {**dict.fromkeys(aids, "aid"), **dict.fromkeys(drugs, "medicine"), **dict.fromkeys(codes, "code")}
    found: dict[str, list[str]] = {"code": [], "medicine": [], "aid": []}
    for text in texts:
        name = closest_name(text, kinds)
        found[kinds[name]].append(name)
    if len(found["code"]) != 2 or len(found["medicine"]) != 2 or not found["aid"]:
        raise NotSeen("the ticks are not those of two cases")
    aids_in_order = found["aid"] * (2 if len(found["aid"]) == 1 else 1)
    return {
        "cases": [
            {"code": code, "medicine": medicine, "aid": aid}
            for code, medicine, aid in zip(found["code"], found["medicine"], aids_in_order, strict=True)
        ]
    }


async def talks(look: PictureLook) -> Noted:
    """The slides in the red loop and in the blue one."""
    return {colour: await _talk(look, look.loops(colour)[0].box) for colour in ("red", "blue")}


async def _talk(look: PictureLook, box: Box) -> Noted:
    (text,) = await look.read([box], psm=(6, 11))
    pool = GeneratePowerpoint.talks
    asked = [(community, question) for community in pool for question in GeneratePowerpoint.questions]
    community, question = closest(text, asked, lambda pair: (pair[1].format(pair[0]), pool[pair[0]]))
    names = [(first, last) for first in GeneratePowerpoint.first for last in GeneratePowerpoint.last]
    first, last = closest(text, names, lambda pair: (" ".join(pair),))
    events = [(event, city) for event in GeneratePowerpoint.events for city in GeneratePowerpoint.cities]
    event, city = closest(text, events, lambda pair: (" ".join(pair),))
    return {
        "title": pool[community],
        "speaker": f"{first} {last}",
        "asked": question.format(community),
        "event": f"{event} {city}",
        "picture": GeneratePowerpoint.pictures.get(community, "magnifying glass"),
        "community": community,
        "city": city,
        **generate_powerpoint._place(look.kit, city),
    }


async def cities(look: PictureLook) -> Noted:
    """The cities in red loops."""
    pool = [city for city in look.kit.world("cities") if city["people"] >= 100_000]
    found = [
        closest(text, pool, lambda city: (city["name"], sights.land_line(look.kit, city)))
        for text in await _texts(look, look.loops())
    ]
    return {
        "cities": [sights.town_line(look.kit, city) for city in found],
        "names": [[city["name"], *city["aliases"]] for city in found],
    }


async def works(look: PictureLook) -> Noted:
    """The works in red loops and in blue ones, by their cards."""
    pool = [work for work in look.kit.world("met_objects") if museum.eligible(work)]
    noted: dict[str, list[Record]] = {}
    for colour in ("red", "blue"):
        marks = look.loops(colour)
        boxes = [(*mark.box[:1], mark.box[3] - mark.size[1] * 0.45, *mark.box[2:]) for mark in marks]
        texts = await look.read(boxes, psm=(6,))
        found = [closest(text, pool, lambda work: (work["title"], museum.maker(work), work["date"])) for text in texts]
        noted[colour] = [{"title": work["title"], "maker": museum.maker(work)} for work in found]
    return noted


async def stations(look: PictureLook) -> Noted:
    """The sites on the arms in red loops and in blue ones."""
    known = [place["name"] for place in look.kit.world("places") if place["types"][0] == research_station._KIND]
    noted = {}
    for colour in ("red", "blue"):
        noted[colour] = [closest_name(text, known) for text in await _texts(look, look.loops(colour), psm=(6, 7))]
    return {"names": noted["red"] + noted["blue"], **noted}


async def icons(look: PictureLook) -> Noted:
    """The things in red loops, and the one that the arrow points at."""
    seen = [thing for thing in await look.objects() if thing.name in Hugeicons.things]
    meant = [thing.name for thing in looped(seen, look.loops())]
    noted: dict[str, Any] = {"meant": meant, "pointed": meant[0]}
    tips = arrow_tips(look.image)
    if tips:
        noted["pointed"] = min(seen, key=lambda thing: _off(thing.box, tips[0])).name
    return noted


def _off(box: Box, point: tuple[float, float]) -> float:
    """How far a point is from a box; less than 0 inside it."""
    across = max(box[0] - point[0], point[0] - box[2])
    down = max(box[1] - point[1], point[1] - box[3])
    return max(across, down)


async def purchases(look: PictureLook) -> Noted:
    """All things, and those in red loops from left to right."""
    seen = [thing for thing in await look.objects() if thing.name in CryptoPurchase.things]
    meant = looped(seen, _from_left(look.loops()))
    return {"things": [thing.name for thing in seen], "meant": [thing.name for thing in meant]}


async def shares(look: PictureLook) -> Noted:
    """The tickers in red loops and in blue ones, and the empty field."""
    known = [company["id"] for company in look.kit.world("companies") if re.fullmatch(r"[A-Z]{3,5}", company["id"])]
    noted = {}
    for colour in ("red", "blue"):
        noted[colour] = [closest_name(text, known) for text in await _texts(look, look.loops(colour), psm=(7, 8))]
    return {"names": noted["red"] + noted["blue"], **noted}


async def cars(look: PictureLook) -> Noted:
    """The car in the red loop, and the strokes below it."""
    mark = max(look.loops(), key=lambda mark: mark.size[0] * mark.size[1])
    (text,) = await look.read([mark.box], psm=(6, 11))
    _, brand, model = closest(text, models(), lambda car: (car[1], car[2]))
    left, _, right, bottom = mark.box
    strokes = count_strokes(look.image, "red", (left - 60, bottom + 16, right + 60, bottom + 100))
    return {"brand": brand, "model": model, "strokes": strokes}


async def votes(look: PictureLook) -> Noted:
    """The rows of a board: a word, a figure, and strokes behind it."""
    left, top, right, bottom = 170, 46, 1230, 566
    step, end = (bottom - top - 142) / 6, left + (right - left) * 0.74
    heights = [top + 130 + step * (number + 0.42) for number in range(6)]
    start = left + (right - left) * 0.2 - 20
    words = await look.read([(start, y - 40, end - 90, y + 14) for y in heights], psm=(7,), pens=())
    figures = await look.read([(end - 84, y - 38, end + 14, y + 12) for y in heights], psm=(7, 8, 10), pens=())
    known = [wish.word for some in (ClassDemand.cheap, ClassDemand.dear, ClassDemand.others) for wish in some]
    rows = []
    for y, word, figure in zip(heights, words, figures, strict=True):
        area = (end + 24, y - 42, right - 10, y + 14)
        late = max(count_strokes(look.image, pen, area) for pen in ("yellow", "blue"))
        rows.append([closest_name(word, known), first_number(_as_digits(figure)), late])
    return {"rows": rows}


def _as_digits(text: str) -> str:
    """Letters that a reader takes digits for, as digits."""
    return text.translate(str.maketrans("OoIl|SsBZzgq", "001115582299"))


async def packages(look: PictureLook) -> Noted:
    """The names in a list with their marks: ticked, crossed, or in a loop."""
    known = [*NixosDiagnostic.known, *NixosDiagnostic.unknown, *NixosDiagnostic.later]
    loop = look.loops()[0]
    small = [mark for mark in lines(look.image, "red") if 16 < mark.size[0] < 60 and 16 < mark.size[1] < 60]
    marks = sorted((mark for mark in small if not within(loop.box, mark.middle)), key=lambda mark: mark.middle[1])
    rows = [(mark.middle[1], mark) for mark in marks] + [(loop.middle[1], None)]
    rows.sort(key=lambda row: row[0])
    start = loop.box[0] - 20
    boxes: list[Box] = [
        grown(loop.box, left=2, right=2) if mark is None else (start, y - 27, mark.box[0] - 8, y + 27)
        for y, mark in rows
    ]
    names = [closest_name(text, known) for text in await look.read(boxes, psm=(7, 8))]
    ticked = [name for name, (_, mark) in zip(names, rows, strict=True) if mark is not None and not is_cross(mark.mask)]
    circled = next(name for name, (_, mark) in zip(names, rows, strict=True) if mark is None)
    return {"listed": names, "ticked": ticked, "circled": circled}


SEEN: dict[str, See] = {
    "items_price": items,
    "attraction": sights_pair,
    "movies": films,
    "vision_research": papers,
    "camping": parks,
    "fish": catches,
    "drug": medicines,
    "food_reddit_wiki_excel": dishes,
    "med_excel": ills_and_drugs,
    "barcode_lookup": books,
    "biology_cut": animals,
    "fruit_cal": fruits,
    "medical": ward_notes,
    "qr_attraction": posters,
    "biology_chain": food_chain,
    "generate_powerpoint": talks,
    "travel_comparison": sights_pair,
    "heatmap": cities,
    "museum": works,
    "research_station": stations,
    "hugeicons": icons,
    "crypto_purchase": purchases,
    "stock_growth": shares,
    "fipe_car": cars,
    "class_demand": votes,
    "nixos_diagnostic": packages,
}
"""By family: what to note of its pictures."""
