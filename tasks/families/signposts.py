"""A film of a drive: six signs with tickers, one after the other; the question is about some of them by their order."""

import random
import re
from dataclasses import replace

from m3bench.tasks.families import tally, tool_answers
from m3bench.tasks.families.base import Composition, Family, Kit, Script, Solution, need
from m3bench.tasks.families.stock_growth import spelled
from m3bench.tasks.families.tally import TallyGoal
from m3bench.tasks.families.voicemail import figure, info
from m3bench.tasks.sound_and_film import PER_SECOND, FilmSign, SilentFilm

_SIGNS = 6
_ASKED = 3
_PLACES = ("first", "second", "third", "fourth", "fifth", "sixth")


class Signposts(Family):
    """Watch, count the signs, read those that are asked for, look up the shares and add up."""

    name = "signposts"
    servers = ("recordings", "yahoo-finance", "math")

    def compose(self, rng: random.Random, kit: Kit) -> Composition:
        """Six signs, shown for about a second each."""
        names = {
            company["id"]: spelled(company)
            for company in kit.world("companies")
            if re.fullmatch(r"[A-Z]{3,5}", company["id"]) and company["id"] != "GOOG"
        }
        tickers = rng.sample(sorted(names), _SIGNS)
        at, signs = rng.randrange(4, 9), []
        for ticker in tickers:
            last = at + rng.randrange(8, 13)
            signs.append(FilmSign(ticker, at, last))
            at = last + rng.randrange(3, 7)
        film = SilentFilm(signs=tuple(signs), pictures=at + PER_SECOND // 2, seed=rng.randrange(10_000))
        return Composition.recorded(film, tickers=tickers, names=names, signs=signs)

    async def solve(self, rng: random.Random, composition: Composition, path: str, play: Script) -> Solution:
        """The tickers at the places that the question names."""
        places = sorted(rng.sample(range(_SIGNS), _ASKED))
        names, tickers = composition.facts["names"], [composition.facts["tickers"][place] for place in places]
        texts = await tool_answers.read_signs(path, [composition.facts["signs"][place] for place in places], play)
        for ticker, text in zip(tickers, texts, strict=True):
            need(ticker in text.split(), "a sign cannot be read")
        things = [tally.TalliedThing(ticker, names[ticker]) for ticker in tickers]
        others = [name for name in names if name not in tickers]
        solution = await tally.run(_TALLIES[play.goal], things, play, others=others)
        one, two, three = (_PLACES[place] for place in places)
        wording = f"{solution.wording} Asked for are the {one}, the {two} and the {three} sign."
        return replace(solution, wording=wording, given={"one": one, "two": two, "three": three})


_TALLIES = {
    "price": TallyGoal(
        look_up=info,
        figure=figure("currentPrice"),
        unit="USD",
        meant=("tickers", "the tickers on those three signs"),
        most=("dearest", "the one of those with the highest current price"),
        total=("price", "what one share of each of those costs together, at the current price"),
        wording="Read the signs of the film in their order, and add up the current prices of some tickers.",
    ),
    "low": TallyGoal(
        look_up=info,
        figure=figure("fiftyTwoWeekLow"),
        unit="USD",
        meant=("shown", "the tickers on those three signs"),
        most=("highest", "the one of those with the highest 52-week low"),
        total=("lows", "the lowest prices of the last 52 weeks of those, added up"),
        wording="Read the signs of the film in their order, and add up the 52-week lows of some tickers.",
    ),
}
