"""Living things, and people of whom some are circled and should not be recognised: the food chain, the one outside it, or a slide of all."""

import math
import random
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from m3bench.tasks.answers.drawings import PictureMarked
from m3bench.tasks.answers.fields import Choice, Field, File, Integer, Items, Name
from m3bench.tasks.answers.office import DeckShows
from m3bench.tasks.checks import DeckHas, PictureChanged
from m3bench.tasks.families import creatures
from m3bench.tasks.families.articles import telling
from m3bench.tasks.families.base import Composition, Family, Kit, Script, Solution, call, need, table, words
from m3bench.tasks.families.creatures import Box
from m3bench.tasks.families.tool_answers import Found, centre, gap, read_objects
from m3bench.tasks.render import pen, wildlife
from m3bench.tasks.render.canvas import Canvas
from m3bench.tasks.render.wildlife import Actor
from m3bench.tasks.task import ReferenceCall

_LABELS = {"rice plant": "rice", "herb": "leaf"}
_WALKERS = tuple(
    f"{way} {who}" for way in ("walking", "standing", "running") for who in ("woman", "man", "lady", "youth")
)
_VISITORS = ("graduate", "gardener", "chemist", "chef", "lecturer", "policewoman", "repairer", "physician")
_CONFUSING = ({"goose", "swan"}, {"fox", "eagle"}), ({"crab", "lobster", "turtle"}, {"seal", "shark", "dolphin"})
"""Strangers that some hunters would eat, so that there would be a second chain."""
_CLEAR = 20
"""Pixels around the stranger that nothing is drawn in."""
_AROUND = 40
"""Pixels around somebody that may be blurred as well."""
_PEOPLE = 5
_COLOURS = {
    "red": (255, 0, 0),
    "yellow": (255, 255, 0),
    "white": (255, 255, 255),
    "blue": (0, 0, 255),
    "orange": (255, 140, 0),
}


@dataclass(frozen=True, kw_only=True)
class _Seen:
    """What there is in a picture."""

    path: str
    people: tuple[Box, ...]
    """Those who are circled."""
    bystanders: tuple[Box, ...]
    """Those who are not."""
    living: tuple[Found, ...]
    chain: tuple[str, ...]
    other: tuple[ReferenceCall, ...]
    """How one could have looked as well."""

    @property
    def names(self) -> list[str]:
        return sorted(found.name for found in self.living)

    @property
    def stranger(self) -> Found:
        (alone,) = [found for found in self.living if found.name not in self.chain]
        return alone

    def box(self, name: str) -> Box:
        return next(found.box for found in self.living if found.name == name)

    @property
    def counted(self) -> Field:
        """The field for the people."""
        return Field(name="people", meaning="how many people were blurred", value=Integer(value=len(self.people)))

    @property
    def blurred(self) -> str:
        """The file in which people are blurred."""
        return self.path.replace(".png", "_blurred.png")


class BiologyChain(Family):
    """Detect organisms; then blur and draw arrows, cut one out and look it up, or put the picture on a slide."""

    name = "biology_chain"
    servers = ("dinox-mcp", "imagesorcery-mcp", "wiki", "ppt")
    chains = table(dict[str, tuple[tuple[str, ...], ...]])
    """Food chains, from the bottom up."""
    strangers = table(dict[str, tuple[str, ...]])
    """None of them eats another, nor is eaten by those of the chains; with plants or in the sea, few leave the chain alone."""
    plants = words()
    titles = table(tuple[tuple[str, str], ...])
    """What a slide may be called: with a chain, and without."""
    aliases = table(dict[str, tuple[str, ...]])
    """What else people call them."""

    def compose(self, rng: random.Random, kit: Kit) -> Composition:
        """A chain with a stranger, or strangers alone; and five people, of whom two or three are circled."""
        place = rng.choice(("meadow", "meadow", "sea"))
        chain = rng.choice(self.chains[place]) if rng.random() < 0.7 else ()
        beside = self.strangers[_company(place, chain)]
        names = [*chain, *rng.sample(beside, 1 if chain else 3)]
        actors = [
            Actor(
                name,
                label=_LABELS.get(name, name),
                aliases=("plant",) if name in self.plants else (),
            )
            for name in names
        ]
        canvas = Canvas(kit.art, 1600, 980)
        if place == "sea":
            guests = [Actor(art, label="person") for art in rng.sample(_VISITORS, _PEOPLE)]
            _, people = wildlife.aquarium(canvas, rng, actors, guests)
        else:
            guests = [Actor(rng.choice(_WALKERS), label="person") for _ in range(_PEOPLE)]
            found = wildlife.land(canvas, rng, [*actors, *guests], rng.choice(("meadow", "forest")))
            people = found[len(actors) :]
        canvas.light(rng)
        circled = rng.sample(people, rng.choice((2, 3)))
        pen.circle(canvas, rng, circled, [box for box in people if box not in circled])
        return Composition.of(
            canvas,
            names=[actor.name for actor in actors],
            chain=[_LABELS.get(name, name) for name in chain],
            people=people,
            circled=circled,
            telling=telling(kit, _everything(), figures=True),
        )

    async def solve(self, rng: random.Random, composition: Composition, path: str, play: Script) -> Solution:
        """Detect, then by goal."""
        facts = composition.facts
        together, apart = (
            (creatures.look(path),),
            (creatures.look_for(path, ["person"]), creatures.look_for(path, facts["names"])),
        )
        way, other = (together, apart) if rng.random() < 0.5 else (apart, together)
        found = [thing for text in await play.step(*way) for thing in read_objects(text)]
        people = [thing.box for thing in found if thing.name == "person"]
        need(len(people) == len(facts["people"]), "all people must be found")
        circled = {min(people, key=lambda one: math.dist(one, box)) for box in facts["circled"]}
        seen = _Seen(
            path=path,
            people=tuple(box for box in people if box in circled),
            bystanders=tuple(box for box in people if box not in circled),
            living=tuple(thing for thing in found if thing.name != "person"),
            chain=tuple(facts["chain"]),
            other=other,
        )
        need(seen.names == sorted(facts["names"]), "everything alive must be found")
        need("leaf" not in facts["names"], "a leaf is not told from a herb")
        if play.goal == "slide":
            return await self._slide(seen, rng.choice(self.titles), play)
        names = set(facts["names"])
        need(bool(seen.chain), "there is no chain")
        need(not any(names & prey and names & hunters for prey, hunters in _CONFUSING), "there are two chains")
        if play.goal == "arrows":
            return await self._arrows(seen, rng.choice(sorted(_COLOURS)), play)
        return await self._odd(seen, composition, rng.choice(range(6, 41, 2)), play)

    async def _arrows(self, seen: _Seen, colour: str, play: Script) -> Solution:
        """Blur the people, and draw who eats whom."""
        members, alone = [seen.box(name) for name in seen.chain], seen.stranger.box
        need(not any(_crosses(pair, alone) for pair in pairwise(members)), "an arrow runs over the stranger")
        need(all(gap(alone, box) > _CLEAR for box in seen.people), "somebody stands at the stranger")
        await play.step(creatures.blur(seen.path, seen.people, seen.blurred))
        arrows = _arrows(seen.blurred, members, _COLOURS[colour])
        await play.step(arrows)
        source, ends = seen.path.removeprefix("./"), list(pairwise(members))
        kept = (alone, *(box for box in seen.bystanders if not any(_crosses(pair, box) for pair in ends)))
        holds = (
            PictureChanged(source=source, pattern="*.png", boxes=seen.people, margin=2000, kept=kept),
            PictureMarked(source=source, colour=_COLOURS[colour], lines=tuple(ends), hidden=seen.people),
        )
        return Solution(
            wording=f"Detect people and other organisms in {seen.path}, blur the people circled in red, and draw {colour} arrows along the food chain "
            "on the blurred picture.",
            answer=f"The chain runs {' → '.join(seen.chain)}. I blurred {len(seen.people)} people.",
            fields=(
                Field(
                    name="food_chain",
                    meaning="the members of the chain, from the one that is eaten first up to the one that nobody eats",
                    value=Items(ordered=True, items=tuple(_named(name, seen) for name in seen.chain)),
                ),
                seen.counted,
                Field(
                    name="picture",
                    meaning="the picture with arrows in which the people circled in red are blurred",
                    value=File(form="png", value=str(arrows.arguments["output_path"]), holds=holds),
                ),
            ),
            given={"colour": colour},
            alternatives=(play.varied("Look for the things in another way.", {0: seen.other}),),
        )

    async def _odd(self, seen: _Seen, composition: Composition, air: int, play: Script) -> Solution:
        """The one that is not part of the chain: cut out, and looked up; and the circled people blurred."""
        odd, told = seen.stranger, composition.facts["telling"].get(seen.stranger.name, ())
        need(len(told) >= 5, "its article says nothing that it alone says")
        cut = Found(odd.name, creatures.grown(odd.box, air, (composition.scene.width, composition.scene.height)))
        file = seen.path.replace(".png", "_portrait.png")
        crop = creatures.crop(seen.path, cut.box, file)
        blur = creatures.blur(seen.path, seen.people, seen.blurred)
        _, _, text = await play.step(crop, blur, creatures.search(odd.name))
        (lead,) = await play.step(creatures.summary(text, odd.name))
        about = lead.split("\n\n")[1]
        return Solution(
            wording=f"Find the organism in {seen.path} that is no part of the food chain, cut it out with {air} pixels around it, "
            "summarise the article on it, and blur the people circled in red.",
            answer=f"The {odd.name} is not part of the food chain. {about} I blurred {len(seen.people)} people.",
            fields=(
                Field(
                    name="left_out",
                    meaning="the plant or animal that does not belong to the food chain",
                    value=_named(odd.name, seen),
                ),
                creatures.about_field(about, told),
                creatures.cut_field("cut_out", "the picture of it alone", cut, seen.path, file),
                seen.counted,
                Field(
                    name="picture",
                    meaning="the whole picture in which the people circled in red are blurred",
                    value=File(form="png", value=seen.blurred, holds=(_hidden(seen),)),
                ),
            ),
            given={"air": str(air)},
            alternatives=(
                play.varied("Look for the things in another way.", {0: seen.other}),
                play.varied("The article without a search.", {1: (crop, blur)}),
            ),
        )

    async def _slide(self, seen: _Seen, titles: tuple[str, str], play: Script) -> Solution:
        """The blurred picture and the names on a slide, whose title depends on whether there is a chain."""
        title = titles[0 if seen.chain else 1]
        deck = "_".join(seen.names[:3])
        blur = creatures.blur(seen.path, seen.people, seen.blurred)
        await play.step(blur, call("ppt/create_presentation", {"id": deck}, free=["id"]))
        await play.step(_deck(deck, "add_slide", {"layout_index": 3, "title": title}, "layout_index"))
        picture = {
            "slide_index": 0,
            "operation": "add",
            "image_source": seen.blurred,
            "left": 4.9,
            "top": 2.2,
            "width": 4.7,
        }
        points = {"slide_index": 0, "placeholder_idx": 1, "bullet_points": seen.names}
        await play.step(
            _deck(deck, "manage_image", picture, "image_source", "source_type", "left", "top", "width", "height"),
            _deck(deck, "add_bullet_points", points, "placeholder_idx"),
        )
        await play.step(_deck(deck, "save_presentation", {"file_path": f"{deck}.pptx"}, "file_path"))
        spelled = tuple((name, *self.aliases.get(name, ())) for name in seen.names)
        holds = (
            DeckHas(texts=(title,), one_of=spelled, pictures=1),
            DeckShows(source=seen.path.removeprefix("./"), boxes=seen.people, margin=_AROUND),
        )
        return Solution(
            wording=f"Blur the people circled in red in {seen.path}, put it on a slide that lists the other organisms, titled {titles[0]!r} when three or "
            f"more form a food chain, else {titles[1]!r}.",
            answer=f"The slide is called {title!r}, lists {', '.join(seen.names)}, and shows the picture with {len(seen.people)} people "
            f"blurred. It is in {deck}.pptx.",
            fields=(
                Field(
                    name="slide_title",
                    meaning="the title of the slide",
                    value=Choice(options=titles, value=title, aliases=("Neighbors",) if title == "Neighbours" else ()),
                ),
                Field(
                    name="living_things",
                    meaning="all plants and animals in the picture",
                    value=Items(items=tuple(_named(name, seen) for name in seen.names)),
                ),
                seen.counted,
                Field(
                    name="presentation",
                    meaning="the file with the slide",
                    value=File(form="pptx", value=f"{deck}.pptx", holds=holds),
                ),
            ),
            given={"chained": titles[0], "unchained": titles[1]},
            alternatives=(play.varied("Look for the things in another way.", {0: seen.other}),),
        )


def _company(place: str, chain: Sequence[str]) -> str:
    """Which strangers may stand beside a chain."""
    if not chain:
        return place
    return "tank" if place == "sea" else "garden" if chain[0] in BiologyChain.plants else place


def _everything() -> set[str]:
    """All that may be in a picture."""
    return {
        _LABELS.get(name, name)
        for group in (
            *BiologyChain.strangers.values(),
            *(chain for some in BiologyChain.chains.values() for chain in some),
        )
        for name in group
    }


def _named(name: str, seen: _Seen) -> Name:
    return creatures.named(name, seen.names, BiologyChain.aliases)


def _hidden(seen: _Seen) -> PictureChanged:
    """That those who are circled are blurred, and nobody else."""
    source = seen.path.removeprefix("./")
    return PictureChanged(source=source, pattern="*.png", boxes=seen.people, margin=_AROUND, kept=seen.bystanders)


def _deck(deck: str, tool: str, arguments: dict[str, object], *free: str) -> ReferenceCall:
    return call(f"ppt/{tool}", {**arguments, "presentation_id": deck}, free=["presentation_id", *free])


def _arrows(path: str, members: Sequence[Box], colour: tuple[int, int, int]) -> ReferenceCall:
    arrows = []
    for eaten, eater in pairwise(members):
        (x1, y1), (x2, y2) = centre(eaten), centre(eater)
        ends = {"x1": x1, "y1": y1, "x2": x2, "y2": y2}
        arrows.append({**ends, "color": creatures.brush(colour), "thickness": 8, "tip_length": 0.08})
    return call(
        "imagesorcery-mcp/draw_arrows",
        {"input_path": path, "arrows": arrows, "output_path": path.replace("_blurred", "_chain")},
        free=["input_path", "output_path"],
    )


def _crosses(ends: tuple[Box, Box], box: Box) -> bool:
    """Whether an arrow between two boxes comes near a third."""
    (x1, y1), (x2, y2) = centre(ends[0]), centre(ends[1])
    points = [(round(x1 + (x2 - x1) * step / 60), round(y1 + (y2 - y1) * step / 60)) for step in range(61)]
    return any(gap((x, y, x, y), box) < _CLEAR for x, y in points)
