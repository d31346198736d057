"""An order form with ticks and a photograph of what came: what is missing, or came unasked, is looked up in a shop."""

import random
from collections.abc import Collection, Sequence

from m3bench.tasks.answers.fields import Field, Items, Money, Name, Number
from m3bench.tasks.families import tool_answers
from m3bench.tasks.families.base import Composition, Family, Kit, Script, Solution, call, need, table, words
from m3bench.tasks.render import pen
from m3bench.tasks.render.backdrops import folded_paper, tabletop
from m3bench.tasks.render.canvas import Canvas
from m3bench.tasks.render.phone import snapshot
from m3bench.tasks.render.shapes import line, mix, on, path, polygon, rect
from m3bench.tasks.task import ReferenceCall

SIZE = 1000, 1240
"""Of a canvas for a form."""
_COLOURS = ("#1f5a8a", "#8a2f2b", "#2f6b46", "#5a3f7d", "#a65a1f", "#30424f")
_INKS = ("#1d3f8f", "#22262e", "#3a2a78", "#0d6b54")
_MARGIN, _HEAD, _STEP = 92, 330, 84


def order_form(canvas: Canvas, rng: random.Random, shop: str, things: Sequence[str], ticked: Collection[str]) -> None:
    """Fill a canvas of `SIZE` with a form of two columns; what is ticked is not noted.

    Args:
        canvas: Where.
        rng: Chooses colours and moves the hand.
        shop: Stands in the head.
        things: What can be ordered.
        ticked: Which of them have a tick.
    """
    tabletop(canvas, rng)
    width, height = canvas.width, canvas.height
    colour, ink = rng.choice(_COLOURS), rng.choice(_INKS)
    left, right = _MARGIN, width - _MARGIN
    folded_paper(canvas, rng, (left - 26, 74, right + 26, height - 74))
    canvas.draw(rect(left, 104, right - left, 84, colour, 4))
    canvas.text(shop, left + 26, 160, 44, face="sans bold", fill=on(colour), width=right - left - 52)
    canvas.text("Order by post", left, 240, 38, face="sans bold", fill=mix(colour, "#000000", 0.25))
    canvas.text(f"No. {rng.randrange(10000, 99999)}", right, 240, 30, fill="#54575d", anchor="end")
    canvas.text("Please tick what you would like to have, one piece of each.", left, 282, 25, fill="#54575d")
    rows = (len(things) + 1) // 2
    for number, thing in enumerate(things):
        column, row = divmod(number, rows)
        x, y = left + 10 + column * (right - left) / 2, _HEAD + 34 + row * _STEP
        canvas.draw(
            rect(x, y - 31, 38, 38, "#ffffff", 4, 'stroke="#555b64" stroke-width="3"'),
            line(x, y + 28, x + (right - left) / 2 - 40, y + 28, "#c9c8c0", 1.5),
        )
        canvas.text(thing.capitalize(), x + 62, y + 2, 33, width=(right - left) / 2 - 110)
        if thing in ticked:
            pen.tick(canvas, rng, x + 17 + rng.uniform(-3, 3), y + rng.uniform(-1, 5), rng.uniform(36, 48), ink)
    canvas.text("Signature", left, height - 130, 22, fill="#54575d")
    canvas.draw(line(left + 110, height - 126, left + 470, height - 126, "#555b64", 2))
    x, y, moves = left + 150, height - 140, []
    for _ in range(7):
        moves.append(
            f"q{rng.uniform(4, 14):.0f} {-rng.uniform(16, 50):.0f} {rng.uniform(18, 34):.0f} {rng.uniform(-6, 6):.0f}"
        )
    canvas.draw(path(f"M{x} {y} {' '.join(moves)}", more=f'stroke="{ink}" stroke-width="4" stroke-linecap="round"'))
    canvas.text("Thank you for your order!", right, height - 130, 25, face="script", fill=colour, anchor="end")


def delivered(canvas: Canvas, rng: random.Random, things: Sequence[str]) -> None:
    """Things in two rows before an open carton; the detector sees that something is there, and not what."""
    tabletop(canvas, rng)
    width, height = canvas.width, canvas.height
    _carton(canvas, rng)
    split = (len(things) + rng.randint(0, 1)) // 2
    for foot, row in ((height * 0.6, things[:split]), (height * 0.92, things[split:])):
        slot = width * 0.86 / len(row)
        for number, thing in enumerate(row):
            x = width * 0.07 + slot * (number + 0.5) + rng.uniform(-0.1, 0.1) * slot
            score, flip = round(rng.uniform(0.7, 0.95), 2), rng.random() < 0.4
            canvas.place(
                thing, x, foot + rng.uniform(-18, 18), rng.uniform(170, 212), label="item", flip=flip,
                turn=rng.uniform(-14, 14), score=score,
            )  # fmt: skip


def _carton(canvas: Canvas, rng: random.Random) -> None:
    board = rng.choice(("#b98d5c", "#c79b69", "#a87c4e"))
    left, right, foot = (
        canvas.width * rng.uniform(0.2, 0.28),
        canvas.width * rng.uniform(0.7, 0.8),
        canvas.height * 0.35,
    )
    dark, light = mix(board, "#000000", 0.4), mix(board, "#ffffff", 0.25)
    canvas.thing(
        "box",
        polygon([(left + 50, 60), (right - 50, 60), (right, 175), (left, 175)], dark),
        polygon([(left + 50, 60), (left - 70, 100), (left - 120, 200), (left, 175)], light),
        polygon([(right - 50, 60), (right + 70, 100), (right + 120, 200), (right, 175)], light),
        rect(left, 175, right - left, foot - 175, board),
        rect((left + right) / 2 - 26, 175, 52, foot - 175, mix(board, "#fff4d8", 0.45)),
        shadow=True,
        score=round(rng.uniform(0.8, 0.95), 2),
    )
    for _ in range(14):
        x, y = rng.uniform(left + 40, right - 40), rng.uniform(80, 160)
        canvas.draw(
            line(
                x, y, x + rng.uniform(-50, 50), y + rng.uniform(-16, 16), "#f2efe6", rng.uniform(5, 10), 'opacity="0.8"'
            )
        )


_LISTED, _TICKED, _UNASKED = 18, 9, 2


class DeliveryFamily(Family):
    """Compare ticks with things; then offers and their pages, and sums."""

    name = "delivery"
    servers = ("amazon", "math")
    things = table(dict[str, tuple[str, ...]])
    """What can be ordered, each with what else people call it."""
    shops = words()

    def compose(self, rng: random.Random, kit: Kit) -> Composition:
        """Nine of eighteen things are ticked; three or four of them did not come, and two others did."""
        listed = rng.sample(tuple(self.things), _LISTED)
        ticked = rng.sample(listed, _TICKED)
        form = Canvas(kit.art, *SIZE)
        order_form(form, rng, rng.choice(self.shops), listed, ticked)
        first = snapshot(form, rng)
        missing = rng.sample(ticked, rng.choice((3, 3, 4)))
        unasked = rng.sample([thing for thing in listed if thing not in ticked], _UNASKED)
        came = [thing for thing in ticked if thing not in missing] + unasked
        table = Canvas(kit.art, 1200, 900)
        delivered(table, rng, rng.sample(came, len(came)))
        second = snapshot(table, rng)
        return Composition.taken(first, second, meant=sorted(missing), unasked=sorted(unasked), listed=sorted(listed))

    async def solve(self, rng: random.Random, composition: Composition, path: str, play: Script) -> Solution:
        """What is missing is looked up; the goal says how."""
        goals = {"swap": self._swap, "replace": self._replace}
        return await goals[play.goal](rng, composition, path, play)

    async def _swap(self, rng: random.Random, composition: Composition, path: str, play: Script) -> Solution:
        """What the missing things cost, against what those cost that came unasked."""
        missing, unasked = composition.facts["meant"], composition.facts["unasked"]
        shop = rng.choice(tuple(tool_answers.SHOPS))
        domain, unit = tool_answers.SHOPS[shop]
        texts = await play.step(*(_search(thing, domain) for thing in (*missing, *unasked)))
        prices = [_price(text) for text in texts]
        parts = prices[: len(missing)], prices[len(missing) :]
        owed, extra = (
            round(float(text), 2)
            for text in await play.step(*(call("math/sum", {"numbers": list(part)}) for part in parts))
        )
        need(max(owed, extra) >= 1.05 * min(owed, extra), "both are worth the same")
        (text,) = await play.step(call("math/subtract", {"minuend": max(owed, extra), "subtrahend": min(owed, extra)}))
        difference = round(float(text), 2)
        need(len({*prices, owed, extra, difference}) == len(prices) + 3, "two sums are one")
        return Solution(
            wording=f"Find out what is ticked on the form in {path} and not in the second photograph, and what is there without a tick; add up the first offers on {domain} of both and subtract.",
            answer=f"Missing are {', '.join(missing)} for {owed:.2f} {unit}; {' and '.join(unasked)} came unasked, worth {extra:.2f} {unit}: a difference of {difference:.2f} {unit}.",
            fields=(
                _names("unordered", "what came without a tick", unasked, composition),
                Field(name="missing_value", meaning="what the first offers for all that is missing cost together", value=Money(value=owed, unit=unit), derived=tuple(parts[0])),
                Field(name="unordered_value", meaning="what the first offers for all that came without a tick cost together", value=Money(value=extra, unit=unit), derived=tuple(parts[1])),
                Field(name="difference", meaning="how far the two are apart", value=Money(value=difference, unit=unit), derived=tuple(prices)),
            ),
            given={"shop": shop},
            alternatives=(
                play.varied("subtracted without a tool", {2: ()}),
                play.varied("added up and subtracted without a tool", {1: (), 2: ()}),
            ),
        )  # fmt: skip

    async def _replace(self, rng: random.Random, composition: Composition, path: str, play: Script) -> Solution:
        """Which of the missing things is rated best, by the pages of the first offers, and what they cost."""
        missing, shop = composition.facts["meant"], rng.choice(tuple(tool_answers.SHOPS))
        domain, unit = tool_answers.SHOPS[shop]
        texts = await play.step(*(_search(thing, domain) for thing in missing))
        prices, numbers = [_price(text) for text in texts], [tool_answers.asin(text) for text in texts]
        *pages, total_text = await play.step(
            *(_page(number, domain) for number in numbers), call("math/sum", {"numbers": prices})
        )
        rated, total = [tool_answers.rated(page) for page in pages], round(float(total_text), 2)
        order = sorted(range(len(missing)), key=lambda number: -rated[number][0])
        best = order[0]
        need(rated[best][0] >= rated[order[1]][0] + 0.1, "two are rated alike")
        return Solution(
            wording=f"Find out what is ticked on the form in {path} and not in the second photograph; open the first offer of each on {domain}, add up the prices, and tell which is rated best.",
            answer=f"Missing are {', '.join(missing)}, {total:.2f} {unit} together. The best rated of the first offers is the {missing[best]}, {rated[best][0]} of 5, for {prices[best]:.2f} {unit}.",
            fields=(
                _names("missing", "what is ticked and did not come", missing, composition),
                Field(name="total", meaning="what the first offers for all that is missing cost together", value=Money(value=total, unit=unit), derived=tuple(prices)),
                Field(name="best_rated", meaning="for which of what is missing the first offer is rated best", value=_name(missing[best], composition), compared=tuple(rated[number][0] for number in order)),
                Field(name="rating", meaning="that rating, out of 5", value=Number(value=rated[best][0], within=0.04)),
                Field(name="price", meaning="what that offer costs", value=Money(value=prices[best], unit=unit)),
            ),
            given={"shop": shop},
            alternatives=(play.varied("added up without a tool", {1: play.steps[1][:-1]}),),
        )  # fmt: skip


def _search(thing: str, domain: str) -> ReferenceCall:
    return call(
        "amazon/search_products",
        {"keywords": thing, "n": 1, "amazon_domain": domain},
        words={"keywords": (thing,)},
        either={"n": (None, *range(1, 11)), "amazon_domain": tool_answers.hosts(domain)},
    )


def _page(asin: str, domain: str) -> ReferenceCall:
    arguments = {"asin": asin, "amazon_domain": domain}
    return call("amazon/get_product", arguments, either={"amazon_domain": tool_answers.hosts(domain)})


def _price(text: str) -> float:
    found = tool_answers.prices(text)
    need(bool(found), "something is not sold")
    return found[0]


def _name(thing: str, composition: Composition) -> Name:
    """One of the things on the form, and none of the others."""
    known = DeliveryFamily.things
    others = [name for other in composition.facts["listed"] if other != thing for name in (other, *known[other])]
    return Name(value=thing, aliases=known[thing], others=tuple(others))


def _names(name: str, meaning: str, things: Sequence[str], composition: Composition) -> Field:
    return Field(name=name, meaning=meaning, value=Items(items=tuple(_name(thing, composition) for thing in things)))
