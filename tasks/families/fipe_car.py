"""A car at a dealer's: its variants in the Brazilian price table, what a fleet costs in coins, and its fuel."""

import json
import random
import re
from typing import NamedTuple

from m3bench.tasks.checks import AnswerNames, AnswerNumber, BackedByCall
from m3bench.tasks.families.base import Composition, Kit, Script, Solution, call
from m3bench.tasks.families.texts import Tables, tables
from m3bench.tasks.render import backdrops
from m3bench.tasks.render.canvas import Canvas
from m3bench.tasks.render.cars import PAINTS, car
from m3bench.tasks.render.shapes import ellipse, fade, line, mix, polygon, rect


class _Fuel(NamedTuple):
    """A fuel as the encyclopedia knows it."""

    title: str
    spellings: tuple[str, ...]
    others: tuple[str, ...]


class _Tables(Tables):
    models: dict[str, tuple[tuple[str, str], ...]]
    fuels: dict[str, _Fuel]
    coins: dict[str, str]


_tables = tables("fipe_car", _Tables)


class FipeCar:
    """List brands and rates, find the variants of the model, multiply, convert, and read up on the fuel."""

    name = "fipe_car"
    servers = ("car-price", "okx", "math", "wiki")

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
        """Brands and rates together, then the variants, then fuel and total, then the coins."""
        brand, model = composition.facts["brand"], composition.facts["model"]
        which, fleet = rng.choice(("cheapest", "most expensive")), rng.randint(2, 15)
        coins = rng.sample(tuple(_tables().coins), 2)
        brands, *tickers = await play.step(
            call("car-price/get_car_brands", {}),
            *(call("okx/get_price", {"instrument": f"{coin}-BRL"}) for coin in coins),
        )
        makers = int(re.findall(r"Total brands: (\d+)", brands)[0])
        rates = [float(json.loads(text)["lastPrice"]) for text in tickers]
        (text,) = await play.step(
            call("car-price/search_brand_model_price", {"brand_name": brand, "model_keyword": model})
        )
        variants = [
            (int(price.replace(".", "")), name, fuel)
            for name, fuel, price in re.findall(r"\d+\. (.+)\n.*\n   Fuel: (.+)\n   Price: R\$ ([\d.]+),00", text)
        ]
        price, name, fuel = min(variants) if which == "cheapest" else max(variants)
        title, spellings, others = _tables().fuels[fuel]
        total_text, article = await play.step(
            call("math/multiply", {"firstNumber": price, "SecondNumber": fleet}),
            call("wiki/summary", {"title": title}, either={"title": (title, *others)}),
        )
        total = int(float(total_text))
        quotients = await play.step(
            *(call("math/division", {"numerator": total, "denominator": rate}) for rate in rates)
        )
        amounts = [float(quotient) for quotient in quotients]
        extract = article.strip().split("\n")[-1]
        converted = " or ".join(f"{_written(amount)} {coin}" for amount, coin in zip(amounts, coins, strict=True))
        return Solution(
            wording=f"Read brand and model in {path}, list the FIPE brands and the {' and '.join(coins)} rates in BRL, find the {which} "
            f"variant of the model, multiply its price by {fleet}, convert it, and read the article on its fuel.",
            answer=f"It is a {brand} {model}. The {which} variant is {name} at R$ {price:,} ({fuel}). {fleet} of them cost R$ {total:,}, that "
            f"is {converted}. FIPE lists {makers} brands. On the fuel ({spellings[0]}): {extract}",
            checks=(
                AnswerNames(all_of=((name, name.removeprefix(f"{model} ")), spellings)),
                AnswerNames(all_of=(_spelled(price), _spelled(total))),
                *(
                    AnswerNumber(value=amount, tolerance=float(f"{amount * 0.008:.3g}"), what=f"the total in {coin}")
                    for amount, coin in zip(amounts, coins, strict=True)
                ),
                AnswerNumber(value=makers, tolerance=0, what="how many brands there are"),
                BackedByCall(
                    any_of=tuple(
                        sorted(set(re.findall(r"[a-z]{6,}", extract)) - {"vehicle", "electric", "hybrid", "diesel"})
                    )
                ),
            ),
            given={
                "which": which,
                "fleet": str(fleet),
                "coins": " and ".join(f"{_tables().coins[coin]} ({coin})" for coin in coins),
            },
        )


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


def _spelled(value: int) -> tuple[str, ...]:
    """A whole number as people write it."""
    return (f"{value:,}", f"{value:,}".replace(",", "."), f"{value:,}".replace(",", " "), str(value))


def _written(amount: float) -> str:
    return f"{amount:,.2f}" if amount >= 100 else f"{amount:.5g}"
