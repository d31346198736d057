"""Cars at a dealer's, of which cues say which one is meant: its versions in the Brazilian price table, and what they cost in coins, savings or for a fleet."""

import json
import random
import re
from collections.abc import Sequence
from typing import NamedTuple

from m3bench.tasks.answers.fields import Field, Integer, Money, Name
from m3bench.tasks.families.base import Composition, Family, Kit, Script, Solution, call, need, table
from m3bench.tasks.render.canvas import Canvas
from m3bench.tasks.render.cues.cue import Spot
from m3bench.tasks.render.cues.selection import Thing, amount, choose, put
from m3bench.tasks.render.forecourt import COLUMNS, parked
from m3bench.tasks.task import ReferenceCall
from m3bench.tasks.truth import Amount

_PENCILS = range(2, 7)
"""In a pot."""
_PITCH, _CUE = 490, 84


class _Version(NamedTuple):
    """A version of a model in the price table."""

    price: int
    name: str
    year: str


def models() -> list[tuple[str, str, str]]:
    """The shape, brand and model of every car that there is."""
    return [(body, brand, model) for body, listed in FipeCar.models.items() for brand, model in listed]


class FipeCar(Family):
    """Find the versions of the model; then a fleet in coins, the best for some coins, or months of saving."""

    name = "fipe_car"
    servers = ("car-price", "okx", "math")
    models = table(dict[str, tuple[tuple[str, str], ...]])
    coins = table(dict[str, str])
    holdings = table(dict[str, tuple[str, ...]])
    """Amounts of each coin that buy a car."""

    def compose(self, rng: random.Random, kit: Kit) -> Composition:
        """Eight cars under signs, each with a pot of pencils; cues say which one is meant."""
        canvas = Canvas(kit.art, 1500, 1120)
        cars = rng.sample(models(), 2 * COLUMNS)
        boxes = parked(canvas, rng, cars, _PITCH)
        canvas.light(rng, 0.7)
        chosen, pots = rng.randrange(len(cars)), [rng.choice(_PENCILS) for _ in cars]
        things, amounts = [], []
        for number, ((_, brand, model), (left, top, right, bottom), count) in enumerate(
            zip(cars, boxes, pots, strict=True)
        ):
            pot, *spots = (
                Spot(x=(left + right) / 2 + place * _CUE, foot=bottom + _CUE, size=_CUE) for place in (1, -1, 0)
            )
            put(canvas, rng, amount("pencils"), count, pot)
            name = f"{brand} {model}"
            things.append(
                Thing(name=name, label="car", words=(model,), box=(left, top, right, bottom), spots=tuple(spots))
            )
            options = tuple(_PENCILS) if number == chosen else ()
            amounts.append(Amount(name="pencils", skill="counting", value=count, thing=name, options=options))
        _, brand, model = cars[chosen]
        selection = choose(rng, kit.cues(self.name, ("pencils",)), len(cars), [chosen])
        return Composition.shown(
            canvas, rng, selection, things, amounts=amounts, brand=brand, model=model, strokes=pots[chosen]
        )

    async def solve(self, rng: random.Random, composition: Composition, path: str, play: Script) -> Solution:
        """By goal; every one needs the versions of the model on the sign, and how many pencils there are."""
        brand, model, strokes = (composition.facts[name] for name in ("brand", "model", "strokes"))
        search = call("car-price/search_brand_model_price", {"brand_name": brand, "model_keyword": model})
        coin = rng.choice(sorted(self.coins))
        match play.goal:
            case "fleet":
                which = rng.choice(("cheapest", "most expensive"))
                return await self._fleet(search, brand, which, strokes, coin, path, play)
            case "budget":
                return await self._budget(search, brand, coin, rng.choice(self.holdings[coin]), strokes, path, play)
            case _:
                return await self._saving(search, brand, rng.randrange(150, 500, 10), strokes, path, play)

    async def _fleet(
        self, search: ReferenceCall, brand: str, which: str, fleet: int, coin: str, path: str, play: Script
    ) -> Solution:
        """Several of one version, paid in a coin."""
        text, ticker = await play.step(search, _ticker(coin))
        ranked = _versions(text, dearest_first=which != "cheapest")
        chosen = ranked[0]
        (total_text,) = await play.step(
            call("math/multiply", {"firstNumber": chosen.price, "SecondNumber": fleet}),
        )
        total, rate = int(float(total_text)), _rate(ticker)
        (quotient,) = await play.step(call("math/division", {"numerator": total, "denominator": rate}))
        amount = float(quotient)
        return Solution(
            wording=f"Read brand and model of the car that is meant in {path}, find the {which} version in the FIPE table, multiply its price by the number of its pencils ({fleet}), and convert it to {coin}.",
            answer=f"The {which} version is {chosen.name} at R$ {chosen.price:,}. {fleet} of them cost R$ {total:,}, that is {_written(amount)} {coin}.",
            fields=(
                _version_field(f"the {which} version in the table", ranked, brand),
                Field(name="price", meaning="what one of that version costs", value=_reais(chosen.price)),
                Field(name="total", meaning="what all of them cost together", value=_reais(total)),
                Field(
                    name="coins",
                    meaning="that total in the coin asked for, at its latest price",
                    value=Money(unit=coin, decimals=6, value=round(amount, 6), within=float(f"{amount * 0.002:.3g}")),
                    derived=(float(total), rate),
                ),
            ),
            given={"extreme": which, "coin": f"{self.coins[coin]} ({coin})"},
        )

    async def _budget(
        self, search: ReferenceCall, brand: str, coin: str, holding: str, strokes: int, path: str, play: Script
    ) -> Solution:
        """The best version that some coins buy, as many times an amount as there are pencils."""
        text, ticker, held = await play.step(search, _ticker(coin), _times(float(holding), strokes))
        rate, coins = _rate(ticker), round(float(held), 6)
        (worth,) = await play.step(call("math/multiply", {"firstNumber": coins, "SecondNumber": rate}))
        budget = float(worth)
        ranked = _versions(text, dearest_first=True)
        within = [version for version in ranked if version.price <= budget]
        need(0 < len(within) < len(ranked), "all or none can be afforded")
        chosen = within[0]
        need(not any(abs(version.price - budget) < 0.01 * budget for version in ranked), "one is just affordable")
        (rest_text,) = await play.step(call("math/subtract", {"minuend": budget, "subtrahend": chosen.price}))
        rest = float(rest_text)
        return Solution(
            wording=f"Read brand and model of the car that is meant in {path}, convert {holding} {coin} for each of its {strokes} pencils to reais, find the most expensive version in the FIPE table that costs no more, and what is left.",
            answer=f"{strokes} times {holding} {coin} are R$ {budget:,.2f}. That buys {chosen.name} at R$ {chosen.price:,}, and R$ {rest:,.2f} are left.",
            fields=(
                Field(
                    name="budget",
                    meaning="what the coins are worth at their latest price",
                    value=_reais(round(budget, 2), 0.5),
                    derived=(rate,),
                ),
                _version_field("the most expensive version that this pays for", within, brand, ranked),
                Field(
                    name="remainder",
                    meaning="what is left after buying one",
                    value=_reais(round(rest, 2), 0.5),
                    derived=(rate, float(chosen.price)),
                ),
            ),
            given={"holding": f"{holding} {coin}"},
            alternatives=(play.varied("The coins counted without a tool.", {0: play.steps[0][:2]}),),
        )

    async def _saving(
        self, search: ReferenceCall, brand: str, saving: int, strokes: int, path: str, play: Script
    ) -> Solution:
        """How long some people, a pencil each, save for the step from the cheapest to the most expensive."""
        listed, pooled = call("car-price/get_car_brands", {}), _times(saving, strokes)
        text, brands, together = await play.step(search, listed, pooled)
        monthly = int(float(together))
        makers = int(re.findall(r"Total brands: (\d+)", brands)[0])
        ranked = _versions(text, dearest_first=True)
        _versions(text, dearest_first=False)
        dear, cheap = ranked[0], ranked[-1]
        (gap_text,) = await play.step(call("math/subtract", {"minuend": dear.price, "subtrahend": cheap.price}))
        gap = int(float(gap_text))
        (quotient,) = await play.step(call("math/division", {"numerator": gap, "denominator": monthly}))
        need(0.02 < float(quotient) % 1 < 0.98 and float(quotient) > 2, "it is nearly a whole number of months")
        (months_text,) = await play.step(call("math/ceiling", {"number": float(quotient)}))
        months = int(float(months_text))
        need(months not in (makers, len(ranked), strokes), "two numbers are the same")
        return Solution(
            wording=f"Read brand and model of the car that is meant in {path}, find the cheapest and the most expensive version in the FIPE table, how many months of saving "
            f"R$ {saving} for each of its {strokes} pencils the difference takes, and how many brands the table has.",
            answer=f"The cheapest is {cheap.name} at R$ {cheap.price:,}, the most expensive {dear.name} at R$ {dear.price:,}. The difference is R$ {gap:,}, "
            f"which takes {months} months. The table has {makers} brands.",
            fields=(
                _version_field("the cheapest version in the table", ranked[::-1], brand, name="cheapest"),
                _version_field("the most expensive version in the table", ranked, brand, name="most_expensive"),
                Field(
                    name="difference",
                    meaning="by how much the prices of the two differ",
                    value=_reais(gap),
                    derived=(float(dear.price), float(cheap.price)),
                ),
                Field(
                    name="months",
                    meaning="full months of saving until the difference is there",
                    value=Integer(value=months),
                    derived=(float(gap),),
                ),
                Field(name="brands", meaning="how many brands the table covers", value=Integer(value=makers)),
            ),
            given={"saving": f"R$ {saving:,}"},
            alternatives=(
                play.varied("The brands last.", {0: (search, pooled), 3: (*play.steps[3], listed)}),
                play.varied("What is saved in a month counted without a tool.", {0: (search, listed)}),
            ),
        )


def _times(amount: float, strokes: int) -> ReferenceCall:
    return call("math/multiply", {"firstNumber": amount, "SecondNumber": strokes})


def _ticker(coin: str) -> ReferenceCall:
    return call("okx/get_price", {"instrument": f"{coin}-BRL"})


def _rate(text: str) -> float:
    return float(json.loads(text)["lastPrice"])


def _versions(text: str, *, dearest_first: bool) -> list[_Version]:
    """The versions in the table, by price; the first must be clear, and no two may be called the same."""
    found = re.findall(r"\d+\. (.+)\n   Year: (.+)\n.*\n   Price: R\$ ([\d.]+),00", text)
    ranked = sorted(
        (_Version(int(price.replace(".", "")), name, year) for name, year, price in found), reverse=dearest_first
    )
    need(
        len(ranked) > 1 and len({version.name for version in ranked}) == len(ranked), "the versions are not told apart"
    )
    need(
        abs(ranked[0].price - ranked[1].price) > 0.01 * max(ranked[0].price, ranked[1].price),
        "two cost nearly the same",
    )
    return ranked


def _version_field(
    meaning: str, ranked: Sequence[_Version], brand: str, others: Sequence[_Version] = (), name: str = "version"
) -> Field:
    """The first of some versions; `others` are all that it could be mistaken for."""
    chosen = ranked[0]
    first, _, rest = chosen.name.partition(" ")
    return Field(
        name=name,
        meaning=meaning,
        value=Name(
            value=chosen.name,
            aliases=_spellings(chosen.name, rest),
            others=tuple(version.name for version in others or ranked if version is not chosen),
            context=(brand, first, chosen.year, str(chosen.price)),
        ),
        compared=tuple(float(version.price) for version in ranked),
        derived=tuple(float(version.price) for version in ranked),
    )


def _spellings(name: str, rest: str) -> tuple[str, ...]:
    """A version without the model's name, and with its units apart from their numbers."""
    named = (name, rest) if len(rest.split()) > 1 else (name,)
    apart = tuple(re.sub(r"(\d)(cv|p|V)\b", r"\1 \2", model) for model in named)
    return tuple(dict.fromkeys(model for model in (*named[1:], *apart) if model != name))


def _reais(value: float, within: float = 0.0) -> Money:
    return Money(unit="BRL", value=value, within=within)


def _written(amount: float) -> str:
    return f"{amount:,.2f}" if amount >= 100 else f"{amount:.5g}"
