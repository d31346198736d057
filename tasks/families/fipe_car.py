"""A car at a dealer's: its versions in the Brazilian price table, and what they cost in coins, savings or for a fleet."""

import json
import random
import re
from collections.abc import Sequence
from typing import NamedTuple

from m3bench.tasks.answers.fields import Field, Integer, Money, Name
from m3bench.tasks.families.base import Composition, Kit, Script, Solution, call, need
from m3bench.tasks.families.texts import Tables, tables
from m3bench.tasks.render import backdrops
from m3bench.tasks.render.canvas import Canvas
from m3bench.tasks.render.cars import PAINTS, car
from m3bench.tasks.render.shapes import ellipse, fade, line, mix, polygon, rect
from m3bench.tasks.task import ReferenceCall


class _Version(NamedTuple):
    """A version of a model in the price table."""

    price: int
    name: str
    year: str


class _Tables(Tables):
    models: dict[str, tuple[tuple[str, str], ...]]
    coins: dict[str, str]
    holdings: dict[str, tuple[str, ...]]
    """Amounts of each coin that buy a car."""


_tables = tables("fipe_car", _Tables)


class FipeCar:
    """Find the versions of the model; then a fleet in coins, the best for some coins, or months of saving."""

    name = "fipe_car"
    servers = ("car-price", "okx", "math")

    def compose(self, rng: random.Random, kit: Kit) -> Composition:
        """A car under a sign with its name, in a showroom or in the yard."""
        canvas = Canvas(kit.art, 1340, 880)
        body = rng.choice(tuple(body for body, models in _tables().models.items() for _ in models))
        brand, model = rng.choice(_tables().models[body])
        paint = rng.choice(PAINTS)
        (_showroom if rng.random() < 0.6 else _yard)(canvas, rng)
        x = canvas.width / 2 + rng.uniform(-110, 110)
        _sign(canvas, rng, brand, model)
        car(
            canvas,
            x,
            canvas.height - rng.uniform(80, 110),
            rng.uniform(760, 860),
            body=body,
            paint=paint,
            flip=rng.random() < 0.5,
        )
        canvas.light(rng)
        return Composition.of(canvas, brand=brand, model=model)

    async def solve(self, rng: random.Random, composition: Composition, path: str, play: Script) -> Solution:
        """By goal; every one needs the versions of the model on the sign."""
        brand, model = composition.facts["brand"], composition.facts["model"]
        search = call("car-price/search_brand_model_price", {"brand_name": brand, "model_keyword": model})
        coin = rng.choice(sorted(_tables().coins))
        match play.goal:
            case "fleet":
                which, fleet = rng.choice(("cheapest", "most expensive")), rng.randint(3, 19)
                return await self._fleet(search, brand, which, fleet, coin, path, play)
            case "budget":
                return await self._budget(search, brand, coin, rng.choice(_tables().holdings[coin]), path, play)
            case _:
                return await self._saving(search, brand, rng.randrange(700, 3000, 50), path, play)

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
            wording=f"Read brand and model in {path}, find the {which} version in the FIPE table, multiply its price by {fleet}, and convert it to {coin}.",
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
            given={"which": which, "fleet": str(fleet), "coin": f"{_tables().coins[coin]} ({coin})"},
        )

    async def _budget(
        self, search: ReferenceCall, brand: str, coin: str, holding: str, path: str, play: Script
    ) -> Solution:
        """The best version that some coins buy."""
        text, ticker = await play.step(search, _ticker(coin))
        rate = _rate(ticker)
        (worth,) = await play.step(call("math/multiply", {"firstNumber": float(holding), "SecondNumber": rate}))
        budget = float(worth)
        ranked = _versions(text, dearest_first=True)
        within = [version for version in ranked if version.price <= budget]
        need(0 < len(within) < len(ranked), "all or none can be afforded")
        chosen = within[0]
        need(not any(abs(version.price - budget) < 0.01 * budget for version in ranked), "one is just affordable")
        (rest_text,) = await play.step(call("math/subtract", {"minuend": budget, "subtrahend": chosen.price}))
        rest = float(rest_text)
        return Solution(
            wording=f"Read brand and model in {path}, convert {holding} {coin} to reais, find the most expensive version in the FIPE table that costs no more, and what is left.",
            answer=f"{holding} {coin} are R$ {budget:,.2f}. That buys {chosen.name} at R$ {chosen.price:,}, and R$ {rest:,.2f} are left.",
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
        )

    async def _saving(self, search: ReferenceCall, brand: str, saving: int, path: str, play: Script) -> Solution:
        """How long somebody saves for the step from the cheapest to the most expensive."""
        listed = call("car-price/get_car_brands", {})
        text, brands = await play.step(search, listed)
        makers = int(re.findall(r"Total brands: (\d+)", brands)[0])
        ranked = _versions(text, dearest_first=True)
        _versions(text, dearest_first=False)
        dear, cheap = ranked[0], ranked[-1]
        (gap_text,) = await play.step(call("math/subtract", {"minuend": dear.price, "subtrahend": cheap.price}))
        gap = int(float(gap_text))
        (quotient,) = await play.step(call("math/division", {"numerator": gap, "denominator": saving}))
        need(0.02 < float(quotient) % 1 < 0.98 and float(quotient) > 2, "it is nearly a whole number of months")
        (months_text,) = await play.step(call("math/ceiling", {"number": float(quotient)}))
        months = int(float(months_text))
        need(months not in (makers, len(ranked)), "two numbers are the same")
        return Solution(
            wording=f"Read brand and model in {path}, find the cheapest and the most expensive version in the FIPE table, how many months of saving R$ {saving} "
            "the difference takes, and how many brands the table has.",
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
            alternatives=(play.varied("The brands last.", {0: (search,), 3: (*play.steps[3], listed)}),),
        )


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
    apart = tuple(re.sub(r"(\d)(cv|p|V)\b", r"\1 \2", one) for one in named)
    return tuple(dict.fromkeys(one for one in (*named[1:], *apart) if one != name))


def _reais(value: float, within: float = 0.0) -> Money:
    return Money(unit="BRL", value=value, within=within)


def _showroom(canvas: Canvas, rng: random.Random) -> float:
    """A hall with a window front; returns where its floor begins."""
    width, height = canvas.width, canvas.height
    level = backdrops.room(canvas, rng, 0.72)
    top, bottom = 250, level - 40
    canvas.draw(fade("outside", "#bfe0f2", "#e9f4ee"))
    for number in range(4):
        left = 60 + number * (width - 120) / 4
        canvas.draw(
            rect(left + 8, top, (width - 120) / 4 - 16, bottom - top, "url(#outside)", 4),
            polygon(
                [(left + 60, bottom), (left + 130, top), (left + 190, top), (left + 120, bottom)],
                "#ffffff",
                'opacity="0.35"',
            ),
            rect(left + 8, top, (width - 120) / 4 - 16, bottom - top, "none", 4, 'stroke="#5d6670" stroke-width="8"'),
        )
    canvas.draw(ellipse(width / 2, height - 84, width * 0.46, 72, "#ffffff", 'opacity="0.55"'))
    canvas.place("potted plant", rng.choice((88, width - 88)), level + 60, 200)
    return level


def _yard(canvas: Canvas, rng: random.Random) -> float:
    """The forecourt of a dealer out of doors; returns where the asphalt begins."""
    width, height = canvas.width, canvas.height
    level = backdrops.outdoors(canvas, rng, rng.choice(("meadow", "forest", "sand")), 0.5)
    top = level + 70
    canvas.draw(
        fade("asphalt", "#9aa0a6", "#6d737a"),
        rect(0, top, width, height - top, "url(#asphalt)"),
        line(0, top, width, top, "#d9dcdf", 8),
    )
    for number in range(6):
        canvas.draw(
            line(
                width * (number + 0.5) / 6,
                top + 30,
                width * (number * 1.3 - 0.4) / 6.5,
                height,
                "#e8eaec",
                6,
                'opacity="0.6"',
            )
        )
    for share in (0.09, 0.9):
        canvas.place(rng.choice(("tree", "palm", "evergreen")), width * share, top + 14, rng.uniform(210, 270))
    return level


def _sign(canvas: Canvas, rng: random.Random, brand: str, model: str) -> None:
    """A light sign with the brand and the model, on two posts or ropes."""
    colour = rng.choice(("#8f1d24", "#123f73", "#1d5a3c", "#2f3640"))
    wide, middle = 620, canvas.width / 2 + rng.uniform(-60, 60)
    for side in (-0.36, 0.36):
        canvas.draw(line(middle + side * wide, 0, middle + side * wide, 40, "#50565e", 8))
    canvas.draw(
        rect(middle - wide / 2 + 8, 46, wide, 190, "#00000033", 16), rect(middle - wide / 2, 36, wide, 190, "#fcfbf6", 16),
        rect(middle - wide / 2 + 40, 108, wide - 80, 7, colour, 3),
        rect(middle - wide / 2, 36, wide, 190, "none", 16, f'stroke="{mix(colour, "#000000", 0.3)}" stroke-width="5"'),
    )  # fmt: skip
    canvas.text(brand, middle, 92, 54, face="sans bold", fill=colour, anchor="middle", width=wide - 60)
    canvas.text(model, middle, 200, 88, face="sans black", fill="#22262e", anchor="middle", width=wide - 60)


def _written(amount: float) -> str:
    return f"{amount:,.2f}" if amount >= 100 else f"{amount:.5g}"
