"""A message on an answering machine: shares, their tickers spelled out, with how many of each; what they are worth."""

import json
import random
from collections.abc import Callable, Sequence

from m3bench.tasks.families import tally
from m3bench.tasks.families.base import Composition, Family, Kit, Script, Solution, call, need, table, words
from m3bench.tasks.families.stock_growth import spelled
from m3bench.tasks.families.tally import TalliedThing, TallyGoal
from m3bench.tasks.sound_and_film import VOICES, Speech
from m3bench.tasks.task import ReferenceCall

_HOLDINGS = 3
_SHARES = "shares"


class Voicemail(Family):
    """Write the message down, put the tickers together, look up the shares and multiply."""

    name = "voicemail"
    servers = ("recordings", "yahoo-finance", "math")
    letters = table(dict[str, str])
    """The words of a spelling alphabet; tickers with other letters are not spelled."""
    openings = words()

    def compose(self, rng: random.Random, kit: Kit) -> Composition:
        """Three tickers in a spelling alphabet, each with a number of shares."""
        names = {
            company["id"]: spelled(company)
            for company in kit.world("companies")
            if len(company["id"]) in (3, 4) and set(company["id"]) <= set(self.letters)
        }
        tickers = rng.sample(sorted(names), _HOLDINGS)
        counts = [rng.randrange(11, 99) for _ in tickers]
        lines = [rng.choice(self.openings)]
        for ticker, count in zip(tickers, counts, strict=True):
            lines += [*(self.letters[letter] for letter in ticker), f"{tally.in_words(count)} {_SHARES}"]
        speech = Speech(
            lines=tuple(lines), voice=rng.choice(VOICES), words_a_minute=rng.choice((120, 125, 130)), seed=rng.randrange(1000)
        )  # fmt: skip
        return Composition.recorded(speech, tickers=tickers, counts=counts, names=names)

    async def solve(self, rng: random.Random, composition: Composition, path: str, play: Script) -> Solution:
        """The message in writing must be the one that was spoken."""
        names = composition.facts["names"]
        words = [*self.letters.values(), *tally.NUMBER_WORDS, _SHARES, *self.openings]
        (text,) = await play.step(
            call("recordings/transcribe", {"path": path, "words": words}, free=("words", "start", "end"))
        )
        things = [
            TalliedThing(ticker, names[ticker], count)
            for ticker, count in zip(composition.facts["tickers"], composition.facts["counts"], strict=True)
        ]
        passages = [passage["text"] for passage in json.loads(text)["passages"]]
        need(_holdings(passages) == [(thing.name, thing.many) for thing in things], "the message is not understood")
        others = [name for name in names if name not in {thing.name for thing in things}]
        return await tally.run(_TALLIES[play.goal], things, play, others=others)


def _holdings(passages: Sequence[str]) -> list[tuple[str, int]]:
    """Tickers and numbers of a message that was written down."""
    letters = {word: letter for letter, word in Voicemail.letters.items()}
    found: list[tuple[str, int]] = []
    ticker = ""
    for passage in passages:
        words = passage.split()
        if all(word in letters for word in words):
            ticker += "".join(letters[word] for word in words)
        elif words[-1] == _SHARES and (count := tally.number_of(words[:-1])) is not None:
            found.append((ticker, count))
            ticker = ""
        else:
            need(passage in Voicemail.openings and not found and not ticker, "the message is not understood")
    return found


def info(thing: TalliedThing) -> ReferenceCall:
    """What is known of a share."""
    return call("yahoo-finance/get_stock_info", {"ticker": thing.name})


def figure(key: str) -> Callable[[str], float]:
    """Reads one of its figures."""

    def read(text: str) -> float:
        value = json.loads(text).get(key)
        need(isinstance(value, int | float), f"nobody knows its {key}")
        return float(value)

    return read


_TALLIES = {
    "worth": TallyGoal(
        look_up=info,
        figure=figure("currentPrice"),
        multiplied=True,
        unit="USD",
        meant=("tickers", "the tickers that are spelled in the message"),
        most=("largest", "the ticker of the holding that is worth most"),
        total=("worth", "what all those shares are worth at the current price"),
        wording="Write down the message, multiply the current price of each ticker by its number of shares, and add that up.",
    ),
    "peak": TallyGoal(
        look_up=info,
        figure=figure("fiftyTwoWeekHigh"),
        multiplied=True,
        unit="USD",
        meant=("holdings", "the tickers that are spelled in the message"),
        most=("biggest", "the ticker of the holding that would have been worth most"),
        total=("peak", "what all those shares would have been worth at their highest prices of the last 52 weeks"),
        wording="Write down the message, multiply the 52-week high of each ticker by its number of shares, and add that up.",
    ),
}
