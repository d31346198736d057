"""What classical vision notes of a picture, family by family: its facts, in the form in which the family keeps them.

Each function looks for what its family's questions are about, and nothing else. Names come from the tables that the
family composes its pictures from.
"""

import re
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence

from m3bench.server.lab.headless.agents.cue_reader import counted
from m3bench.server.lab.headless.agents.drawing_match import is_hazard, shape_at
from m3bench.server.lab.headless.agents.evidence import words_of
from m3bench.server.lab.headless.agents.pen_marks import (
    PenMark,
    arrow_tips,
    count_strokes,
    dashed_frame,
    is_cross,
    lines,
    ticked_squares,
)
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
from m3bench.tasks.families import (
    biology_chain,
    generate_powerpoint,
    items_price,
    museum,
    research_station,
    routine,
    sights,
)
from m3bench.tasks.families.articles import telling
from m3bench.tasks.families.biology_chain import BiologyChain
from m3bench.tasks.families.biology_cut import BiologyCut
from m3bench.tasks.families.camping import brochure, has_brochure
from m3bench.tasks.families.class_demand import ClassDemand
from m3bench.tasks.families.crypto_purchase import _LEAST_VALUE, CryptoPurchase
from m3bench.tasks.families.fipe_car import models
from m3bench.tasks.families.fish import _SPOTS, Fish
from m3bench.tasks.families.food_reddit_wiki_excel import FoodRedditWikiExcel
from m3bench.tasks.families.fruit_cal import FruitCal
from m3bench.tasks.families.generate_powerpoint import GeneratePowerpoint
from m3bench.tasks.families.hazard import Hazard
from m3bench.tasks.families.hugeicons import Hugeicons
from m3bench.tasks.families.med_excel import MedExcel
from m3bench.tasks.families.medical import Medical
from m3bench.tasks.families.nixos_diagnostic import NixosDiagnostic
from m3bench.tasks.json_types import Record
from m3bench.tasks.render.canvas import Canvas
from m3bench.tasks.render.site import MORE
from m3bench.tasks.scene import Box

See = Callable[[PictureLook], Awaitable[Record]]


def _from_left(marks: Sequence[PenMark]) -> list[PenMark]:
    return sorted(marks, key=lambda mark: mark.middle[0])


async def _texts(look: PictureLook, marks: Sequence[PenMark], *, psm: Sequence[int] = (6, 11)) -> list[str]:
    """What is written in loops: as one block of text, and on a second look in other ways too."""
    return await look.read([mark.box for mark in marks], psm=psm if look.again else psm[:1])


async def _by_colour(
    look: PictureLook, names: Iterable[str], psm: Sequence[int] = (6, 11), alike: Mapping[int, int] | None = None
) -> tuple[list[str], list[str]]:
    """The names in red loops, and those in blue ones, where some letters may be read as others."""
    alike = alike or {}
    known = list(names)
    red = [closest_name(text.translate(alike), known) for text in await _texts(look, look.loops("red"), psm=psm)]
    blue = [closest_name(text.translate(alike), known) for text in await _texts(look, look.loops("blue"), psm=psm)]
    return red, blue


async def items(look: PictureLook) -> Record:
    """The packs in red loops, by shelf."""
    marks = look.loops()
    goods = items_price._goods(Canvas(look.kit.art, 1440, 980), look.kit)
    middle = look.image.shape[0] / 2
    shelves: dict[str, list[tuple[str, str, str]]] = {"upper": [], "lower": []}
    for mark, text in zip(marks, await _texts(look, marks), strict=True):
        item = closest(text, goods, lambda item: (item["brand"], item["name"], item["size"]))
        shelf = "upper" if mark.middle[1] < middle else "lower"
        shelves[shelf].append((item["brand"], item["name"], item["size"]))
    return dict(**shelves, rest=[])


async def sights_pair(look: PictureLook) -> Record:
    """The sights on the photographs in red loops."""
    known = [sight for sight in look.kit.world("landmarks") if sight.get("city_id")]
    towns = {sight["id"]: sights.city_of(look.kit, sight) for sight in known}
    marks = look.loops()
    found = [
        closest(text, known, lambda sight: (sight["name"], towns[sight["id"]]["name"]))
        for text in await _texts(look, marks)
    ]
    return {
        "landmarks": [dict(sight) for sight in found],
        "towns": [sights.town_line(look.kit, towns[sight["id"]]) for sight in found],
        "dated": True,
    }


async def films(look: PictureLook) -> Record:
    """The titles of the posters in red loops, from left to right."""
    titles = [film["title"] for film in look.kit.world("films")]
    marks = _from_left(look.loops())
    return {"films": [closest_name(text, titles) for text in await _texts(look, marks)]}


async def papers(look: PictureLook) -> Record:
    """The titles of the sheets in red and in blue loops."""
    papers = [paper for paper in look.kit.world("known_papers") if paper["platform"] == "arxiv"]
    titles = [paper["title"] for paper in papers]
    red, blue = await _by_colour(look, titles)
    known = {paper["id"]: len(paper["published"]) == 10 for paper in papers}
    return {"titles": [*red, *blue], "red": red, "blue": blue, "known": known}


async def parks(look: PictureLook) -> Record:
    """The park whose brochure is in the red loop."""
    known = [park for park in look.kit.world("parks") if has_brochure(park)]
    (text,) = await _texts(look, look.loops()[:1])
    park = closest(text, known, lambda park: (brochure(park)[0],))
    return {"park": park["name"]}


_LINE = 90
"""Pixels that a loop around one line of writing is high at most."""


async def catches(look: PictureLook) -> Record:
    """The fish in red loops with their lengths, and the landing place in one."""
    marks = look.loops()
    # The tag of a fish hangs at the right end of its board.
    tags = [grown(mark.box, left=-0.72 * mark.size[0]) if mark.size[1] > _LINE else mark.box for mark in marks]
    texts = await look.read(tags, psm=(6, 11) if look.again else (6,))
    places = [max(likeness(spot, words_of(text)) for spot in _SPOTS) for text in texts]
    which = max(range(len(marks)), key=lambda number: places[number])
    names, lengths = [], []
    for number, text in enumerate(texts):
        if number != which:
            names.append(closest_name(text, Fish.species))
            lengths.append(first_number(text, r"\d+(?=\s*cm)"))
    return {"names": names, "lengths": lengths, "spot": closest_name(texts[which], _SPOTS)}


async def medicines(look: PictureLook) -> Record:
    """The cartons in red loops, from left to right."""
    known: list[tuple[str, str, Sequence[str]]] = [
        (brand, medicine["generic"], medicine.get("aliases", ()))
        for medicine in look.kit.world("medicines")
        if medicine["access"] == "OTC"
        for brand in medicine["brands"]
    ]
    found = [closest(text, known, lambda sold: sold[:2]) for text in await _texts(look, _from_left(look.loops()))]
    return {"medicines": [dict(zip(("brand", "generic", "aliases"), sold, strict=True)) for sold in found]}


async def dishes(look: PictureLook) -> Record:
    """The communities on the cards in red loops, from left to right."""
    texts = await _texts(look, _from_left(look.loops()))
    found = [closest(text, FoodRedditWikiExcel.dishes, lambda dish: (f"r/{dish.community}",)) for text in texts]
    articles = {article["title"]: article for article in look.kit.world("articles")}
    titles = {dish.article: [dish.article, *articles[dish.article].get("aliases", ())] for dish in found}
    return {"dishes": found, "titles": titles}


async def ills_and_drugs(look: PictureLook) -> Record:
    """The names on the cards in red loops."""
    drugs = list(MedExcel.medicines)
    known = [*drugs, *(name.capitalize() for name in MedExcel.diseases)]
    names = [closest_name(text, known) for text in await _texts(look, look.loops())]
    pages = [topic["title"] for topic in look.kit.world("health_topics")]
    return {"names": names, "drugs": [name for name in names if name in drugs], "pages": pages}


async def books(look: PictureLook) -> Record:
    """The numbers of all books, and of those in red loops."""
    codes, marks = await look.codes(), look.loops()
    meant = [data for data, at in codes if any(within(mark.box, at) for mark in marks)]
    return {"numbers": [data for data, _ in codes], "meant": meant}


async def posters(look: PictureLook) -> Record:
    """The pages that the codes in red loops and in the blue one lead to."""
    codes = [(data[-11:], at) for data, at in await look.codes()]
    red, blue = (
        [page for mark in look.loops(colour) for page, at in codes if within(mark.box, at)]
        for colour in ("red", "blue")
    )
    if not red or not blue:
        raise NotSeen("no code is in a loop")
    landmarks = {landmark["id"]: landmark for landmark in look.kit.world("landmarks")}
    pages = {page["id"]: page for page in look.kit.world("links")}
    places = {}
    for name, _ in codes:
        page = pages[name]
        place = landmarks[page["landmark_id"]]
        places[name] = {
            **place,
            **{key: page[key] for key in ("title", "subtitle")},
            "page": name,
            "where": sights.country_of(look.kit, place["country"]),
        }
    return {"places": places, "red": red, "blue": blue[0]}


async def animals(look: PictureLook) -> Record:
    """The animals in red loops, and where the others are."""
    known = {name for some in BiologyCut.lands.values() for name in some}
    seen = [thing for thing in await look.objects() if thing.name in known]
    meant = looped(seen, look.loops())
    told = telling(look.kit, known, figures=True)
    return {
        "names": [thing.name for thing in meant],
        "others": tuple(thing.box for thing in seen if thing not in meant),
        "telling": {thing.name: told.get(thing.name, ()) for thing in meant},
    }


async def food_chain(look: PictureLook) -> Record:
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
        "people": [thing.box for thing in people],
        "circled": [thing.box for thing in circled],
        "telling": telling(look.kit, biology_chain._everything(), figures=True),
    }


async def fruits(look: PictureLook) -> Record:
    """The fruits in red loops and their weights."""
    marks, seen = look.loops(), await look.objects()
    known = {fruit.name: fruit for fruit in FruitCal.fruits}
    names, weights = [], []
    # A card with the weight leans against the plate, in the lower part of the loop.
    cards = [grown(mark.box, up=-0.62 * mark.size[1]) for mark in marks]
    for mark, text in zip(marks, await look.read(cards, psm=(7, 6)), strict=True):
        inside = [thing.name for thing in seen if overlap(thing.box, mark.box) > 0.6 and thing.name in known]
        if not inside:
            raise NotSeen("a loop has no fruit in it")
        names.append(known[max(set(inside), key=inside.count)])
        weights.append(first_number(text, r"\d+(?=\s*gr)"))
    pages = [topic["title"] for topic in look.kit.world("health_topics")]
    return {"fruits": names, "weights": weights, "pages": pages}


async def ward_notes(look: PictureLook) -> Record:
    """What is ticked on a form: codes, medicines and aids, in their order."""
    # Every form has its entries at these heights; only how far left it lies differs.
    rows = [242 + part * 322 + number * 43 for part in range(3) for number in range(6)]
    left, ticked = ticked_squares(look.image, rows)
    boxes = [(left + 44, y - 36, left + 600, y + 14) for y in ticked]
    texts = await look.read(boxes, psm=(7,), pens=())
    codes = {case.code: "code" for case in Medical.cases}
    drugs = {drug: "medicine" for case in Medical.cases for drug in case.medicines}
    aids = {aid: "aid" for case in Medical.cases for aid in case.aids}
    found: dict[str, list[str]] = {"code": [], "medicine": [], "aid": []}
    for text, y in zip(texts, ticked, strict=True):
        kinds = (codes, drugs, aids)[min(2, (y - 242) // 322)]
        name = closest_name(text, kinds)
        found[kinds[name]].append(name)
    named = {case.code: case.condition for case in Medical.cases}
    return {
        "cases": [
            {"code": code, "condition": named[code], "medicine": medicine, "aid": aid}
            for code, medicine, aid in zip(found["code"], found["medicine"], found["aid"] * 2, strict=False)
        ]
    }


async def talks(look: PictureLook) -> Record:
    """The slides in the red loop and in the blue one."""
    return {colour: await _talk(look, look.loops(colour)[0].box) for colour in ("red", "blue")}


async def _talk(look: PictureLook, box: Box) -> Record:
    (text,) = await look.read([box], psm=(6, 11) if look.again else (6,))
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


async def cities(look: PictureLook) -> Record:
    """The cities in red loops."""
    pool = [city for city in look.kit.world("cities") if city["people"] >= 100_000]
    found = [
        closest(text, pool, lambda city: (city["name"], sights.land_line(look.kit, city)))
        for text in await _texts(look, look.loops())
    ]
    return {
        "cities": [sights.town_line(look.kit, city) for city in found],
        "names": [(city["name"], *city["aliases"]) for city in found],
    }


async def works(look: PictureLook) -> Record:
    """The works in red loops and in blue ones, by their cards."""
    pool = [work for work in look.kit.world("met_objects") if museum.eligible(work)]
    told = telling(look.kit, museum.Museum.artists, described=True)
    noted: dict[str, list[Record]] = {}
    for colour in ("red", "blue"):
        marks = look.loops(colour)
        boxes = [(mark.box[0], mark.box[3] - mark.size[1] * 0.45, *mark.box[2:]) for mark in marks]
        texts = await look.read(boxes, psm=(6,))
        found = [closest(text, pool, lambda work: (work["title"], museum.maker(work), work["date"])) for text in texts]
        noted[colour] = [{**_work(look, work), "telling": told.get(museum.subject(work), ())} for work in found]
    return {"seen": noted["red"] + noted["blue"], **noted}


def _work(look: PictureLook, work: Record) -> Record:
    """A work as its family keeps it, but for the words that tell of its subject."""
    maker, artists = museum.maker(work), museum.Museum.artists
    names = ((record["title"], *record.get("aliases", ())) for record in look.kit.world("articles"))
    return {
        "query": museum.query(work),
        "id": work["id"],
        "title": work["title"],
        "department": work["met_department_id"],
        "subject": museum.subject(work),
        "maker": maker,
        "artist": maker if maker in artists else "",
        "known_as": next((spelled for spelled in names if maker in spelled), ()),
    }


async def stations(look: PictureLook) -> Record:
    """The sites on the arms in red loops and in blue ones."""
    kit, there = look.kit, research_station
    places = {place["name"]: place for place in kit.world("places") if place["types"][0] == there._KIND}
    red, blue = await _by_colour(look, places, psm=(6, 7))
    return {
        "names": [*red, *blue],
        "red": red,
        "blue": blue,
        "around": {
            site: {name: there._apart(places[site], place) for name, place in places.items() if name != site}
            for site in blue
        },
        "addresses": {name: place["address"] for name, place in places.items()},
        "flares": sorted(record["peak"][:10] for record in kit.world("solar_flares")),
        "storms": sorted(record["start"][:10] for record in kit.world("geomagnetic_storms")),
    }


async def icons(look: PictureLook) -> Record:
    """The things in red loops, and the one that the arrow points at."""
    seen = [thing for thing in await look.objects() if thing.name in Hugeicons.things]
    meant = [thing.name for thing in looped(seen, look.loops())]
    tips = arrow_tips(look.image)
    pointed = [min(seen, key=lambda thing: _off(thing.box, tip)).name for tip in tips]
    if look.goal == "cutout" and not pointed:
        raise NotSeen("there is no arrow")
    return {"meant": meant, "pointed": (pointed or meant)[0]}


def _off(box: Box, point: tuple[float, float]) -> float:
    """How far a point is from a box; less than 0 inside it."""
    across = max(box[0] - point[0], point[0] - box[2])
    down = max(box[1] - point[1], point[1] - box[3])
    return max(across, down)


async def purchases(look: PictureLook) -> Record:
    """All things, and those in red loops from left to right."""
    seen = [thing for thing in await look.objects() if thing.name in CryptoPurchase.things]
    meant = looped(seen, _from_left(look.loops()))
    coins = [coin for coin in look.kit.world("coins") if coin["kind"] == "coin" and "USDT" in coin["pairs"]]
    return {
        "things": [thing.name for thing in seen],
        "meant": [thing.name for thing in meant],
        "coins": [(coin["id"], coin["name"], coin["value"]) for coin in coins if coin["value"] >= _LEAST_VALUE],
    }


_ALIKE = str.maketrans("J1l|058", "IIIIOSB")
"""Letters of short names that a reader takes for each other."""


async def shares(look: PictureLook) -> Record:
    """The tickers in red loops and in blue ones, and the empty field."""
    known = [company["id"] for company in look.kit.world("companies") if re.fullmatch(r"[A-Z]{3,5}", company["id"])]
    forms = {ticker.translate(_ALIKE): ticker for ticker in known}
    red, blue = await _by_colour(look, forms, (7, 8), _ALIKE)
    red, blue = [forms[form] for form in red], [forms[form] for form in blue]
    companies = {company["id"]: company["name"] for company in look.kit.world("companies")}
    frame = dashed_frame(look.image)
    if look.goal == "growth" and frame is None:
        raise NotSeen("there is no empty field")
    field, ink = frame or ((0, 0, 1, 1), (0, 0, 0))
    return {
        "names": {ticker: companies[ticker] for ticker in (*red, *blue)},
        "red": red,
        "blue": blue,
        "field": tuple(map(round, field)),
        "ink": "#{:02x}{:02x}{:02x}".format(*ink),
    }


async def cars(look: PictureLook) -> Record:
    """The car that is meant, and how many pencils stand beside it."""
    (mark,) = look.loops()
    (text,) = await _texts(look, [mark])
    _, brand, model = closest(text, models(), lambda car: (car[1], car[2]))
    left, _, right, bottom = mark.box
    middle, side = (left + right) / 2, (right - left) * 0.32
    pot = (middle + side * 0.5, bottom, middle + side * 1.5, bottom + side)
    return {"brand": brand, "model": model, "strokes": counted("pencils", look.image, pot)}


async def votes(look: PictureLook) -> Record:
    """The rows of a board: a word, a figure, and strokes behind it."""
    left, top, right, bottom = 170, 46, 1230, 566
    step, end = (bottom - top - 142) / 6, left + (right - left) * 0.74
    heights = [top + 130 + step * (number + 0.42) for number in range(6)]
    start = left + (right - left) * 0.2 - 20
    boxes: list[Box] = [(left + 20, top + 100, end + 14, bottom), *((start, y - 40, end + 14, y + 14) for y in heights)]
    board, *single = await look.read(boxes if look.again else boxes[:1], psm=(6,), pens=())
    known = [wish for some in (ClassDemand.cheap, ClassDemand.dear, ClassDemand.others) for wish in some]
    read = single or [line for line in board.splitlines() if re.search(r"[A-Za-z]{3}", line)]
    if len(read) != len(heights):
        raise NotSeen("a row of the board cannot be read")
    rows = []
    for y, line in zip(heights, read, strict=True):
        area = (end + 24, y - 42, right - 10, y + 14)
        late = max(count_strokes(look.image, pen, area) for pen in ("yellow", "blue"))
        wish = closest(line, known, lambda wish: (wish.word,))
        rows.append((wish, first_number(_as_digits(line.split()[-1])), late))
    articles = {record["title"]: record for record in look.kit.world("articles")}
    return {
        "rows": rows,
        "articles": {
            wish.article: [wish.article, *articles[wish.article].get("aliases", ())]
            for wish, *_ in rows
            if wish.article
        },
    }


def _as_digits(text: str) -> str:
    """Letters that a reader takes digits for, as digits."""
    return text.translate(str.maketrans("OoIl|SsBZzgq", "001115582299"))


async def packages(look: PictureLook) -> Record:
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
    exist = [name for name in ticked if name in NixosDiagnostic.known]
    return {"listed": names, "ticked": ticked, "known": exist, "circled": circled}


async def dangers(look: PictureLook) -> Record:
    """The hazards of a building site: what is always one, and what matches the drawing of its broken state."""
    names = {hazard.seen[0]: name for name, hazard in Hazard.hazards.items()}
    found = []
    for thing in await look.objects():
        name = names.get(thing.name)
        if name is not None and (name not in MORE or is_hazard(look.image, name, thing.box)):
            found.append(name)
    return {"hazards": found}


_ROOF, _STAR, _FLAG = (224, 122, 95), (242, 193, 78), (129, 178, 154)
"""The colours of the marks on a plan."""


async def stops(look: PictureLook) -> Record:
    """The places at the house, the star and the flag of a plan, and its city."""
    house = shape_at(look.image, _ROOF, (66, 29), 0.5)
    star = shape_at(look.image, _STAR, (82, 76), 0.42)
    flag = shape_at(look.image, _FLAG, (48, 31), 0.5)
    if house is None or star is None or flag is None:
        raise NotSeen("the plan lacks a mark")
    middles = (
        ((house[0] + house[2]) / 2, house[1] + 42),
        ((star[0] + star[2]) / 2, star[1] + 46),
        (flag[0] + 14, flag[1] + 42),
    )
    names = [(x - 152, y + 58, x + 152, y + 162) for x, y in middles]
    title, *labels = await look.read([(60, 40, 1380, 190), *names], psm=(6, 11), pens=())
    towns = routine._towns(look.kit)
    city = closest(
        title, [city for city in look.kit.world("cities") if city["id"] in towns], lambda city: (city["name"],)
    )
    found = [closest(label, towns[city["id"]], lambda place: (place["name"],)) for label in labels]
    return {
        "city": city["name"],
        "town": sights.town_line(look.kit, city),
        "stops": [{key: place[key] for key in ("name", "lat", "lng")} for place in found],
    }


SEEN: dict[str, See] = {
    "hazard": dangers,
    "routine": stops,
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
