"""An announcement in a noisy hall: which parks are open today and which are closed; where there is room to camp."""

import json
import random
from collections.abc import Sequence

from m3bench.tasks.families import tally
from m3bench.tasks.families.base import Composition, Family, Kit, Script, Solution, call, need, words
from m3bench.tasks.families.camping import core, search
from m3bench.tasks.families.park_tour import campgrounds, code_of
from m3bench.tasks.families.tally import TalliedThing, TallyGoal
from m3bench.tasks.sound_and_film import VOICES, Speech
from m3bench.tasks.task import ReferenceCall

_PARKS = 5
_OPEN = 3


class Announcement(Family):
    """Take out the noise, write down what is said, look up the parks that are open and add up."""

    name = "announcement"
    servers = ("recordings", "nationalparks", "math")
    parks = words()
    """Names that can be told apart by ear, as they are said."""
    openings = words()
    is_open = words()
    is_closed = words()

    def compose(self, rng: random.Random, kit: Kit) -> Composition:
        """Five parks, of which three are open."""
        parks = {core(park["name"]): park["name"] for park in kit.world("parks") if core(park["name"]) in self.parks}
        said = rng.sample(sorted(parks), _PARKS)
        is_open = sorted(rng.sample(range(_PARKS), _OPEN))
        lines = [rng.choice(self.openings)]
        for number, name in enumerate(said):
            lines += [name, rng.choice(self.is_open if number in is_open else self.is_closed)]
        speech = Speech(
            lines=tuple(lines), voice=rng.choice(VOICES), words_a_minute=rng.choice((125, 130)),
            noise=rng.choice((0.25, 0.3, 0.35)), seed=rng.randrange(1000),
        )  # fmt: skip
        return Composition.recorded(
            speech, said=said, names=[parks[said[number]] for number in is_open], parks=sorted(parks.values())
        )

    async def solve(self, rng: random.Random, composition: Composition, path: str, play: Script) -> Solution:
        """What is written down must be what was announced."""
        names = composition.facts["names"]
        words = [*self.parks, *self.is_open, *self.is_closed, *self.openings]
        # A step that cleans the sound first would be right in every task, whatever is said in it.
        (text,) = await play.step(
            call(
                "recordings/transcribe", {"path": path, "words": words, "reduce_noise": True},
                free=("words", "start", "end", "reduce_noise"),
            )
        )  # fmt: skip
        passages = [passage["text"] for passage in json.loads(text)["passages"]]
        need(_open(passages) == [core(name).lower() for name in names], "the announcement is not understood")
        things = [TalliedThing(name, (core(name),)) for name in names]
        others = [other for name in composition.facts["parks"] if name not in names for other in (name, core(name))]
        return await tally.run(_TALLIES[play.goal], things, play, others=others)


def _open(passages: Sequence[str]) -> list[str]:
    """The parks of an announcement that was written down which are open."""
    found: list[str] = []
    parks = {name.lower() for name in Announcement.parks}
    name = ""
    for passage in passages:
        if passage in parks:
            name = passage
        elif passage in Announcement.is_open:
            found.append(name)
        else:
            need(
                passage in Announcement.is_closed or passage in Announcement.openings,
                "the announcement is not understood",
            )
    return found


def _find(thing: TalliedThing) -> ReferenceCall:
    return search(thing.name)


def _camps(thing: TalliedThing) -> ReferenceCall:
    return campgrounds(thing.key)


def _sites(text: str) -> list[int]:
    found = [int(camp["totalSites"]) for camp in json.loads(text)["campgrounds"]]
    need(len(found) > 1, "the park has no choice of campgrounds")
    return found


_TALLIES = {
    "camp": TallyGoal(
        find=_find,
        key=code_of,
        look_up=_camps,
        figure=lambda text: float(sum(_sites(text))),
        unit="sites",
        meant=("open", "the parks that are open, as announced"),
        most=("roomiest", "the one of those with the most sites on all its campgrounds"),
        total=("sites", "how many sites all campgrounds of those have together"),
        wording="Write down the announcement, look up the campgrounds of the parks that are open, and add up their sites.",
    ),
    "largest": TallyGoal(
        find=_find,
        key=code_of,
        look_up=_camps,
        figure=lambda text: float(max(_sites(text))),
        unit="sites",
        meant=("reachable", "the parks that are open, as announced"),
        most=("biggest", "the one of those that has the campground with the most sites"),
        total=("sites", "the sites of the largest campground of each of those, together"),
        wording="Write down the announcement, look up the campgrounds of the parks that are open, and add up the sites of the largest of each park.",
    ),
}
