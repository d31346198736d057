"""Brochures of parks, some of them circled: which a group may visit by the rules of its club, and what entries and sites that means."""

import json
import random
from collections.abc import Sequence

from m3bench.tasks.families import errands
from m3bench.tasks.families.base import Composition, Kit, Script, Solution, call, need, reduced, words
from m3bench.tasks.families.camping import brochure, core, has_brochure, search
from m3bench.tasks.families.errands import CircledThing, DeskFamily, ErrandGoal
from m3bench.tasks.json_types import Record
from m3bench.tasks.render import pen
from m3bench.tasks.render.brochures import rack
from m3bench.tasks.render.canvas import Canvas
from m3bench.tasks.task import ReferenceCall

_BROCHURES = 16
_ENTRANCE = "Entrance - Private Vehicle"


class ParkTour(DeskFamily):
    """Ask, read the rule, find the parks; then add up fees or sites, times a number or divided by one."""

    name = "park_tour"
    servers = ("desk", "nationalparks", "math")
    groups = words()
    seasons = words()
    shelters = words()

    def compose(self, rng: random.Random, kit: Kit) -> Composition:
        """Sixteen brochures in a rack; red is drawn around four or five."""
        parks = [
            park
            for park in kit.world("parks")
            if has_brochure(park) and any(fee["title"] == _ENTRANCE for fee in park["fees"])
        ]
        shown = rng.sample(parks, _BROCHURES)
        canvas = Canvas(kit.art, 1400, 1080)
        boxes = rack(canvas, rng, [brochure(park) for park in shown])
        meant = sorted(rng.sample(range(_BROCHURES), rng.choice((4, 4, 5))))
        canvas.light(rng, 0.6)
        others = [box for number, box in enumerate(boxes) if number not in meant]
        pen.circle(canvas, rng, [boxes[number] for number in meant], others)
        names = [shown[number]["name"] for number in meant]
        season, other = rng.sample(self.seasons, 2)
        return errands.with_desk(
            reduced(Composition.of(canvas, meant=names, shown=[park["name"] for park in shown]), 0.7),
            rng,
            self,
            {
                "cars": errands.changed(rng, range(11, 40)),
                "group": (rng.choice(self.groups),),
                "patrols": (str(rng.randrange(11, 30)),),
                "season": (season, other),
                "nights": errands.changed(rng, range(11, 30)),
                "shelter": (rng.choice(self.shelters),),
            },
            {
                "fees": errands.limits(rng, self.groups, range(21, 35), "${value} for a car"),
                "seasons": {name: ", ".join(sorted(_closed(rng, shown, names))) for name in self.seasons},
                "sites": errands.limits(rng, self.shelters, range(120, 700, 10), "{value} sites"),
            },
        )  # fmt: skip

    async def solve(self, rng: random.Random, composition: Composition, path: str, play: Script) -> Solution:
        """Everything by goal."""
        things = [CircledThing(name, tuple(dict.fromkeys((core(name),)))) for name in composition.facts["meant"]]
        return await errands.run(_ERRANDS[play.goal], things, self, rng, path, play)


def _closed(rng: random.Random, shown: Sequence[Record], meant: Sequence[str]) -> list[str]:
    """The short names of some parks, and one to three of those that are meant among them."""
    others = [park["name"] for park in shown if park["name"] not in meant]
    return [core(name) for name in (*rng.sample(meant, rng.randint(1, 3)), *rng.sample(others, 3))]


def _find(thing: CircledThing) -> ReferenceCall:
    return search(thing.name)


def code_of(text: str) -> str:
    """The code of the one park that a search found."""
    parks = json.loads(text)["parks"]
    need(len(parks) == 1, "it is not found by its name")
    return str(parks[0]["code"])


def _page(thing: CircledThing) -> ReferenceCall:
    return call("nationalparks/getParkDetails", {"parkCode": thing.key})


def campgrounds(code: str) -> ReferenceCall:
    """The list of a park's campgrounds."""
    return call("nationalparks/getCampgrounds", {"parkCode": code, "limit": 50}, free=("limit", "start", "q"))


def _camps(thing: CircledThing) -> ReferenceCall:
    return campgrounds(thing.key)


def _fee(text: str) -> float:
    found = [fee["cost"] for fee in json.loads(text)["entranceFees"] if fee["title"] == _ENTRANCE]
    need(len(found) == 1, "the park has no such fee")
    return float(found[0].lstrip("$"))


def _sites(text: str) -> float:
    camps = json.loads(text)["campgrounds"]
    need(bool(camps), "the park has no campground")
    return float(sum(int(camp["totalSites"]) for camp in camps))


_ERRANDS = {
    "entry": ErrandGoal(
        count="cars",
        case="group",
        paper="fees",
        find=_find,
        key=code_of,
        look_up=_page,
        figure=_fee,
        allowed=errands.at_most(_fee),
        shared=False,
        unit="USD",
        kept=("visited", "the circled parks that the group may visit"),
        total=("one_car", "what one private vehicle pays for all of those"),
        result=("convoy", "what all cars pay"),
        wording="Leave out parks whose entrance fee for a private vehicle is above what the rules allow, add up the fees of the others and multiply the sum by the number of cars.",
    ),
    "camp": ErrandGoal(
        count="patrols",
        case="season",
        paper="seasons",
        find=_find,
        key=code_of,
        look_up=_camps,
        figure=_sites,
        allowed=errands.unnamed,
        by_name=True,
        shared=True,
        unit="sites",
        kept=("open", "the circled parks that the club may go to"),
        total=("sites", "how many sites all campgrounds of those have together"),
        result=("sites_each", "how many of them there are for one patrol"),
        wording="Leave out parks that the rules close in the season, add up the sites of all campgrounds of the others and divide the sum by the number of patrols.",
    ),
    "trek": ErrandGoal(
        count="nights",
        case="shelter",
        paper="sites",
        find=_find,
        key=code_of,
        look_up=_camps,
        figure=_sites,
        allowed=errands.at_least(_sites),
        shared=False,
        unit="sites",
        kept=("chosen", "the circled parks that are large enough"),
        total=("sites", "how many sites all campgrounds of those have together"),
        result=("site_nights", "that number of sites times the nights"),
        wording="Leave out parks with fewer sites on all their campgrounds than the rules ask for, add up the sites of the others and multiply the sum by the number of nights.",
    ),
}
