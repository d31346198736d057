"""A tune of a doorbell: each note stands for a coin, and the question says for which; what those coins cost."""

import json
import random

from m3bench.tasks.families import tally
from m3bench.tasks.families.base import Composition, Family, Kit, Script, Solution, call, need
from m3bench.tasks.families.tally import TalliedThing, TallyGoal
from m3bench.tasks.sound_and_film import NOTES, Melody
from m3bench.tasks.task import ReferenceCall

_COINS = 4
_TONES = 7
_LEAST_VALUE = 2.0
"""Dollars."""


class Chimes(Family):
    """Find the tones, read the key, look up the coins and add up."""

    name = "chimes"
    servers = ("recordings", "okx", "math")

    def compose(self, rng: random.Random, kit: Kit) -> Composition:
        """Seven tones of four notes."""
        used = rng.sample(NOTES, _COINS)
        tones = rng.sample([*used, *(rng.choice(used) for _ in range(_TONES - _COINS))], _TONES)
        melody = Melody(
            notes=tuple(f"{note}{rng.choice((4, 5))}" for note in tones), seconds=rng.choice((0.35, 0.4, 0.45)),
            pause=rng.choice((0.28, 0.32)),
        )  # fmt: skip
        coins = [
            (coin["id"], coin["name"])
            for coin in kit.world("coins")
            if coin["kind"] == "coin" and "USDT" in coin["pairs"] and coin["value"] >= _LEAST_VALUE
        ]
        return Composition.recorded(melody, tones=tones, coins=coins)

    async def solve(self, rng: random.Random, composition: Composition, path: str, play: Script) -> Solution:
        """The notes that are found must be those that were played."""
        coins = dict(zip(NOTES, rng.sample(composition.facts["coins"], len(NOTES)), strict=True))
        (text,) = await play.step(call("recordings/find_tones", {"path": path}, free=("start", "end")))
        tones = [tone["note"][:-1] for tone in json.loads(text)["tones"]]
        need(tones == composition.facts["tones"], "the tones are not found")
        heard = dict.fromkeys(tones)
        things = [TalliedThing(coins[note][1], (coins[note][0],), tones.count(note), coins[note][0]) for note in heard]
        need(len({thing.many for thing in things}) > 1, "every tone is heard as often")
        others = [name for note in NOTES if note not in heard for name in coins[note]]
        options = [name for _, name in coins.values()]
        solution = await tally.run(_TALLIES[play.goal], things, play, others=others, options=options)
        legend = ", ".join(f"{note} is {coins[note][1]}" for note in NOTES)
        return Solution(
            wording=f"{solution.wording} {legend}.",
            answer=solution.answer,
            fields=solution.fields,
            given={"legend": legend},
            alternatives=solution.alternatives,
        )


def _price(thing: TalliedThing) -> ReferenceCall:
    return call("okx/get_price", {"instrument": f"{thing.key}-USDT"})


def _last(text: str) -> float:
    return float(json.loads(text)["lastPrice"])


_TALLIES = {
    "each": TallyGoal(
        look_up=_price,
        figure=_last,
        unit="USD",
        meant=("coins", "the coins whose notes are in the tune, each once"),
        most=("dearest", "the one of those with the highest price"),
        total=("price", "what one of each of those costs together, in USDT at the last price"),
        wording="Find the notes of the tune, and add up the last prices in USDT of the coins that they stand for, one of each.",
    ),
    "often": TallyGoal(
        look_up=_price,
        figure=_last,
        multiplied=True,
        unit="USD",
        meant=("bought", "the coins whose notes are in the tune, each once"),
        most=("largest", "the one of those on which most money is spent"),
        total=("spent", "what is spent altogether, in USDT at the last price"),
        wording="Find the notes of the tune; a coin is bought as often as its note is heard. Add up what that costs in USDT at the last prices.",
    ),
}
