"""An order form with ticks and a photograph of what came: what is missing, or came unasked, is looked up in a shop."""

import random
from collections.abc import Sequence

from m3bench.tasks.answers.fields import Field, Items, Money, Name, Number
from m3bench.tasks.families import offers
from m3bench.tasks.families.base import Composition, Kit, Script, Solution, call, need
from m3bench.tasks.families.texts import Tables, tables
from m3bench.tasks.render.canvas import Canvas
from m3bench.tasks.render.order_form import SIZE, delivered, order_form
from m3bench.tasks.render.phone import snapshot
from m3bench.tasks.task import ReferenceCall

_LISTED, _TICKED, _UNASKED = 18, 9, 2


class _Tables(Tables):
    things: dict[str, tuple[str, ...]]
    """What can be ordered, each with what else people call it."""
    shops: tuple[str, ...]


_tables = tables("delivery", _Tables)


class Delivery:
    """Compare ticks with things; then offers and their pages, and sums."""

    name = "delivery"
    servers = ("amazon", "math")

    def compose(self, rng: random.Random, kit: Kit) -> Composition:
        """Nine of eighteen things are ticked; three or four of them did not come, and two others did."""
        listed = rng.sample(tuple(_tables().things), _LISTED)
        ticked = rng.sample(listed, _TICKED)
        form = Canvas(kit.art, *SIZE)
        order_form(form, rng, rng.choice(_tables().shops), listed, ticked)
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
        shop = rng.choice(tuple(offers.SHOPS))
        domain, unit = offers.SHOPS[shop]
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
        missing, shop = composition.facts["meant"], rng.choice(tuple(offers.SHOPS))
        domain, unit = offers.SHOPS[shop]
        texts = await play.step(*(_search(thing, domain) for thing in missing))
        prices, numbers = [_price(text) for text in texts], [offers.asin(text) for text in texts]
        *pages, total_text = await play.step(
            *(_page(number, domain) for number in numbers), call("math/sum", {"numbers": prices})
        )
        rated, total = [offers.rated(page) for page in pages], round(float(total_text), 2)
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
        either={"n": (None, *range(1, 11)), "amazon_domain": offers.hosts(domain)},
    )


def _page(asin: str, domain: str) -> ReferenceCall:
    arguments = {"asin": asin, "amazon_domain": domain}
    return call("amazon/get_product", arguments, either={"amazon_domain": offers.hosts(domain)})


def _price(text: str) -> float:
    found = offers.prices(text)
    need(bool(found), "something is not sold")
    return found[0]


def _name(thing: str, composition: Composition) -> Name:
    """One of the things on the form, and none of the others."""
    known = _tables().things
    others = [name for other in composition.facts["listed"] if other != thing for name in (other, *known[other])]
    return Name(value=thing, aliases=known[thing], others=tuple(others))


def _names(name: str, meaning: str, things: Sequence[str], composition: Composition) -> Field:
    return Field(name=name, meaning=meaning, value=Items(items=tuple(_name(thing, composition) for thing in things)))
