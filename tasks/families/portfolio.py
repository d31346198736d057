"""A board with tickers, some of them circled: what a client may buy of them by the rules of the bank, and what that costs."""

import json
import random
from collections.abc import Callable

from m3bench.tasks.families import errands
from m3bench.tasks.families.base import Composition, Kit, Script, Solution, call, need, reduced, words
from m3bench.tasks.families.errands import CircledThing, DeskFamily, ErrandGoal
from m3bench.tasks.families.stock_growth import StockGrowth
from m3bench.tasks.task import ReferenceCall


class Portfolio(DeskFamily):
    """Ask, read the rule, look the shares up; then add up what may be bought, times a number or divided by one."""

    name = "portfolio"
    servers = ("desk", "ocr", "yahoo-finance", "math")
    clients = words()
    accounts = words()
    risks = words()

    def compose(self, rng: random.Random, kit: Kit) -> Composition:
        """A board with nine tickers; red is drawn around three or four."""
        composition = reduced(StockGrowth().compose(rng, kit), 0.86)
        listed = list(composition.facts["names"])
        account, other = rng.sample(self.accounts, 2)
        return errands.with_desk(
            composition,
            rng,
            self,
            {
                "shares": errands.changed(rng, range(12, 90)),
                "client": (rng.choice(self.clients),),
                "lots": (str(rng.randrange(11, 60)),),
                "account": (account, other),
                "investors": errands.changed(rng, range(11, 40)),
                "risk": (rng.choice(self.risks),),
            },
            {
                "restricted": {name: ", ".join(sorted(rng.sample(listed, rng.choice((3, 4))))) for name in self.clients},
                "prices": errands.limits(rng, self.accounts, range(60, 420, 5), "${value} a share"),
                "risks": errands.limits(rng, self.risks, range(60, 190, 5), "beta of {value}", 100),
            },
        )  # fmt: skip

    async def solve(self, rng: random.Random, composition: Composition, path: str, play: Script) -> Solution:
        """Everything by goal."""
        spelled = composition.facts["spelled"]
        things = [CircledThing(ticker, spelled[ticker]) for ticker in composition.facts["red"]]
        read = call("ocr/perform_ocr", {"input_data": path}, free=("config", "language"))
        return await errands.run(_ERRANDS[play.goal], things, self, rng, path, play, read=read)


def _info(thing: CircledThing) -> ReferenceCall:
    return call("yahoo-finance/get_stock_info", {"ticker": thing.name})


def _figure(key: str) -> Callable[[str], float]:
    def figure(text: str) -> float:
        value = json.loads(text).get(key)
        need(isinstance(value, int | float), f"nobody knows its {key}")
        return float(value)

    return figure


_PRICE = _figure("currentPrice")
_ERRANDS = {
    "buy": ErrandGoal(
        count="shares",
        case="client",
        paper="restricted",
        look_up=_info,
        figure=_PRICE,
        allowed=errands.unnamed,
        by_name=True,
        shared=False,
        unit="USD",
        kept=("bought", "the tickers circled in red that may be bought"),
        total=("one_of_each", "what one share of each of those costs together, at the current price"),
        result=("cost", "what the whole purchase costs"),
        wording="Leave out what is on the restricted list of the client, add up the current prices of the other shares, and multiply the sum by the number of shares.",
    ),
    "lots": ErrandGoal(
        count="lots",
        case="account",
        paper="prices",
        look_up=_info,
        figure=_PRICE,
        allowed=errands.at_most(_PRICE),
        shared=False,
        unit="USD",
        kept=("chosen", "the tickers circled in red that the account may hold"),
        total=("per_round", "what one share of each of those costs together, at the current price"),
        result=("outlay", "what all rounds cost together"),
        wording="Leave out shares whose current price is above the limit of the account, add up the others, and multiply the sum by the number of rounds.",
    ),
    "club": ErrandGoal(
        count="investors",
        case="risk",
        paper="risks",
        look_up=_info,
        figure=_PRICE,
        allowed=errands.at_most(_figure("beta")),
        shared=True,
        unit="USD",
        kept=("suitable", "the tickers circled in red that suit the risk class"),
        total=("basket", "what one share of each of those costs together, at the current price"),
        result=("contribution", "what each member pays of that"),
        wording="Leave out shares whose beta is above the limit of the risk class, add up the current prices of the others, and divide the sum by the number of members.",
    ),
}
