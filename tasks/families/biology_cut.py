"""Animals that are circled in a picture: the largest and the smallest on cards, all of them named, or kept sharp."""

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, pairwise
from typing import Literal

from m3bench.tasks.answers.drawings import PictureMarked, PictureToned
from m3bench.tasks.answers.fields import Field, File, Items, Name, NumberPair
from m3bench.tasks.checks import PictureChanged
from m3bench.tasks.families import creatures
from m3bench.tasks.families.articles import telling
from m3bench.tasks.families.base import Composition, Family, Kit, Script, Solution, call, need, table, words
from m3bench.tasks.families.creatures import Box
from m3bench.tasks.families.tool_answers import Found, area_of, centre, gap, read_objects
from m3bench.tasks.render import pen, wildlife
from m3bench.tasks.render.canvas import Canvas
from m3bench.tasks.render.wildlife import Actor
from m3bench.tasks.task import ReferenceCall

_TONES: dict[Literal["grayscale", "sepia"], str] = {"grayscale": "black and white", "sepia": "sepia"}
_SIDES = {"left": "the far left", "right": "the far right"}
_ANIMALS = 7
_MARGIN = 1.12
"""How many times as large as the next the largest and the next to the smallest must be."""
_SQUARE = 12
"""Pixels by which width and height of a card must differ, and the cards' sizes."""
_APART = 60
"""Pixels between the middles of two animals that stand side by side."""
_COLOURS = {
    "red": (255, 0, 0),
    "blue": (0, 0, 255),
    "yellow": (255, 255, 0),
    "magenta": (255, 0, 255),
    "white": (255, 255, 255),
    "black": (0, 0, 0),
}


@dataclass(frozen=True, kw_only=True)
class _Seen:
    """What there is in a picture."""

    path: str
    size: tuple[int, int]
    animals: tuple[Found, ...]
    """Those that are circled."""
    others: tuple[Box, ...]
    """Where the rest are."""
    everything: ReferenceCall
    """How one could have looked as well."""

    @property
    def edges(self) -> tuple[float, ...]:
        """What sizes and places follow from."""
        return tuple(float(edge) for animal in self.animals for edge in animal.box)

    def named(self, name: str) -> Name:
        """The name of one of the animals."""
        return creatures.named(name, [animal.name for animal in self.animals], BiologyCut.aliases)

    def by_size(self) -> list[Found]:
        """The largest first; it must be clear which that is, and which is the smallest."""
        ranked = sorted(self.animals, key=lambda animal: -area_of(animal.box))
        areas = [area_of(animal.box) for animal in ranked]
        need(areas[0] > areas[1] * _MARGIN and areas[-2] > areas[-1] * _MARGIN, "two are equally large")
        return ranked

    def by_place(self) -> list[Found]:
        """From left to right; it must be clear who stands left of whom."""
        ranked = sorted(self.animals, key=lambda animal: centre(animal.box)[0])
        for one, next in pairwise(ranked):
            need(centre(next.box)[0] - centre(one.box)[0] >= _APART, "one stands above another")
            need(one.box[0] < next.box[0] and one.box[2] < next.box[2], "one reaches over another")
        return ranked

    def extreme(self, name: str, ranked: Sequence[Found]) -> Field:
        """The field for the first of the animals in an order by size."""
        return Field(
            name=name,
            meaning=f"the circled animal with the {name} box around it in the picture",
            value=self.named(ranked[0].name),
            compared=tuple(float(area_of(animal.box)) for animal in ranked),
            derived=self.edges,
        )


class BiologyCut(Family):
    """Detect the circled animals; then cut two out, name them in the picture, or blur all else and look one up."""

    name = "biology_cut"
    servers = ("dinox-mcp", "imagesorcery-mcp", "wiki")
    aliases = table(dict[str, tuple[str, ...]])
    """What else people call them."""
    lands = table(dict[str, tuple[str, ...]])
    things = words()
    sunk = words()

    def compose(self, rng: random.Random, kit: Kit) -> Composition:
        """Six or seven animals and a thing that is not one; three or four animals are circled."""
        land = rng.choice(sorted(self.lands))
        animals = rng.sample(self.lands[land], min(_ANIMALS, len(self.lands[land])))
        thing = rng.choice(self.sunk if land == "sea" else self.things)
        actors = [Actor(name) for name in (*animals, thing)]
        canvas = Canvas(kit.art, 1500, 940)
        boxes = wildlife.sea(canvas, rng, actors) if land == "sea" else wildlife.land(canvas, rng, actors, land)
        canvas.light(rng)
        found: dict[str, Box] = {}
        for name, (left, top, right, bottom) in zip(animals, boxes, strict=False):
            found[name] = round(left), round(top), round(right), round(bottom)
        fair = [
            some for some in combinations(animals, rng.choice((3, 3, 4))) if _differ([found[name] for name in some])
        ]
        need(bool(fair), "no three are told apart by size and place")
        names = _spread(rng, fair, found)
        pen.circle(canvas, rng, [found[name] for name in names], [found[name] for name in animals if name not in names])
        told = telling(kit, {name for some in self.lands.values() for name in some}, figures=True)
        others = tuple(found[name] for name in animals if name not in names)
        return Composition.of(
            canvas, names=list(names), others=others, telling={name: told.get(name, ()) for name in names}
        )

    async def solve(self, rng: random.Random, composition: Composition, path: str, play: Script) -> Solution:
        """Detect, then by goal."""
        (text,) = await play.step(creatures.look_for(path, composition.facts["names"]))
        animals = tuple(read_objects(text))
        need(sorted(animal.name for animal in animals) == sorted(composition.facts["names"]), "all must be found")
        size = composition.scene.width, composition.scene.height
        others = composition.facts["others"]
        seen = _Seen(path=path, size=size, animals=animals, others=others, everything=creatures.look(path))
        match play.goal:
            case "cards":
                return await self._cards(seen, rng.choice(range(4, 41, 2)), rng.choice(tuple(_TONES)), play)
            case "line_up":
                return await self._line_up(seen, rng.choice(sorted(_COLOURS)), play)
            case _:
                return await self._spotlight(seen, rng.choice(sorted(_SIDES)), composition.facts["telling"], play)

    async def _cards(self, seen: _Seen, air: int, tone: Literal["grayscale", "sepia"], play: Script) -> Solution:
        """The largest and the smallest, cut out and toned."""
        ranked = seen.by_size()
        cuts = [Found(animal.name, creatures.grown(animal.box, air, seen.size)) for animal in (ranked[0], ranked[-1])]
        strangers = [[animal.box for animal in seen.animals if animal.name != cut.name] for cut in cuts]
        need(
            all(gap(cut.box, box) > 0 for cut, others in zip(cuts, strangers, strict=True) for box in others),
            "two share a card",
        )
        sizes = [_size(cut.box) for cut in cuts]
        need(all(abs(wide - tall) > _SQUARE for wide, tall in sizes), "a card is square: width and height are one")
        need(any(abs(one - other) > _SQUARE for one, other in zip(*sizes, strict=True)), "the cards are one size")
        files = [seen.path.replace(".png", f"_{part}.png") for part in ("largest", "smallest")]
        await play.step(*(creatures.crop(seen.path, cut.box, file) for cut, file in zip(cuts, files, strict=True)))
        toned = [file.replace(".png", f"_{tone}.png") for file in files]
        await play.step(*(_tone(file, tone, end) for file, end in zip(files, toned, strict=True)))
        whole = seen.path.replace(".png", f"_{tone}.png")
        cut_last = [creatures.crop(whole, cut.box, file) for cut, file in zip(cuts, toned, strict=True)]
        fields: list[Field] = []
        toned_as = PictureToned(tone=tone)
        for word, cut, file, order in zip(("largest", "smallest"), cuts, toned, (ranked, ranked[::-1]), strict=True):
            fields += [
                seen.extreme(word, order),
                Field(
                    name=f"{word}_size",
                    meaning="width and height of its card in pixels",
                    value=NumberPair(parts=("width", "height"), unit="px", value=_size(cut.box), within=4),
                    derived=seen.edges,
                ),
                creatures.cut_field(f"{word}_card", "the picture of it alone", cut, seen.path, file, toned_as),
            ]
        told = " and ".join(
            f"the {cut.name}, {wide} × {tall} pixels" for cut, (wide, tall) in zip(cuts, sizes, strict=True)
        )
        return Solution(
            wording=f"Find the largest and the smallest of the animals circled in red in {seen.path}, crop each with {air} pixels around it, and make the crops "
            f"{_TONES[tone]}.",
            answer=f"I cut out the largest and the smallest of the circled animals: {told}.",
            fields=tuple(fields),
            given={"air": str(air), "tone": _TONES[tone]},
            alternatives=(
                play.varied("Look for everything instead of the animals by name.", {0: [seen.everything]}),
                play.varied("The colour taken out before cutting.", {1: [_tone(seen.path, tone, whole)], 2: cut_last}),
            ),
        )

    async def _line_up(self, seen: _Seen, colour: str, play: Script) -> Solution:
        """The circled animals named in the picture, and a ring around the largest of them."""
        placed, sized = seen.by_place(), seen.by_size()
        ring = _ring(sized[0].box)
        need(all(gap(ring, animal.box) > 0 for animal in sized[1:]), "the circle goes around two")
        named, marked = (seen.path.replace(".png", f"_{end}.png") for end in ("named", "circled"))
        await play.step(_write(seen.path, placed, _COLOURS[colour], named))
        x, y = centre(sized[0].box)
        circle = {
            "center_x": x, "center_y": y, "radius": (ring[2] - ring[0]) // 2,
            "color": creatures.brush(_COLOURS[colour]), "thickness": 6,
        }  # fmt: skip
        await play.step(
            call(
                "imagesorcery-mcp/draw_circles", {"input_path": named, "circles": [circle], "output_path": marked},
                free=["input_path", "output_path"],
            )
        )  # fmt: skip
        names = [animal.name for animal in placed]
        held = PictureMarked(
            source=seen.path.removeprefix("./"), colour=_COLOURS[colour], rings=(sized[0].box,),
            bare=tuple(animal.box for animal in sized[1:]), labels=tuple(animal.box for animal in placed),
        )  # fmt: skip
        return Solution(
            wording=f"Name every animal circled in red in {seen.path} in {colour} letters, draw a {colour} circle around the largest of them, and list them from left to right.",
            answer=f"From left to right: {', '.join(names)}. The largest is the {sized[0].name}, which has a {colour} circle.",
            fields=(
                Field(
                    name="animals",
                    meaning="the animals circled in red, from left to right",
                    value=Items(ordered=True, items=tuple(seen.named(name) for name in names)),
                    derived=seen.edges,
                ),
                seen.extreme("largest", sized),
                Field(
                    name="picture",
                    meaning="the picture with the names and the circle",
                    value=File(form="png", value=marked, holds=(held,)),
                ),
            ),
            given={"colour": colour},
            alternatives=(play.varied("Look for everything instead of the animals by name.", {0: [seen.everything]}),),
        )

    async def _spotlight(self, seen: _Seen, side: str, told: dict[str, tuple[str, ...]], play: Script) -> Solution:
        """All but the circled animals blurred, and what an encyclopedia says about the one at a side."""
        ranked = seen.by_place()
        chosen = ranked[0 if side == "left" else -1]
        need(len(told[chosen.name]) >= 5, "its article says nothing that it alone says")
        need(all(gap(animal.box, other) > 0 for animal in ranked for other in seen.others), "two overlap")
        end = seen.path.replace(".png", "_spotlight.png")
        blur = creatures.blur(seen.path, [animal.box for animal in ranked], end, around=True)
        _, text = await play.step(blur, creatures.search(chosen.name))
        (lead,) = await play.step(creatures.summary(text, chosen.name))
        about, source = lead.split("\n\n")[1], seen.path.removeprefix("./")
        sharp = tuple((x1 + 6, y1 + 6, x2 - 6, y2 - 6) for x1, y1, x2, y2 in (animal.box for animal in ranked))
        holds = (
            PictureChanged(source=source, pattern="*.png", margin=2000, boxes=seen.others, kept=sharp),
            PictureMarked(source=source, colour=_COLOURS["black"], hidden=seen.others),
        )
        return Solution(
            wording=f"Blur everything in {seen.path} but the animals circled in red, and summarise the article on the one of them on {_SIDES[side]}.",
            answer=f"Sharp are: {', '.join(animal.name for animal in ranked)}. The one on {_SIDES[side]} is the {chosen.name}. {about}",
            fields=(
                Field(
                    name="animals",
                    meaning="all animals that stay sharp",
                    value=Items(items=tuple(seen.named(animal.name) for animal in ranked)),
                ),
                Field(
                    name="animal",
                    meaning="the one of them that the sentences are about",
                    value=seen.named(chosen.name),
                    derived=seen.edges,
                ),
                creatures.about_field(about, told[chosen.name]),
                Field(
                    name="picture",
                    meaning="the picture in which all but the circled animals is blurred",
                    value=File(form="png", value=end, holds=holds),
                ),
            ),
            given={"side": _SIDES[side]},
            alternatives=(
                play.varied("Look for everything instead of the animals by name.", {0: [seen.everything]}),
                play.varied("The article without a search.", {1: (blur,)}),
            ),
        )


def _differ(boxes: Sequence[Box]) -> bool:
    """Whether it is clear which is the largest, which the smallest, and who stands left of whom."""
    placed, areas = sorted(boxes, key=lambda box: centre(box)[0]), sorted(map(area_of, boxes))
    return areas[-1] > areas[-2] * _MARGIN and areas[1] > areas[0] * _MARGIN and all(
        centre(next)[0] - centre(one)[0] >= _APART and one[0] < next[0] and one[2] < next[2]
        for one, next in pairwise(placed)
    )  # fmt: skip


def _spread(rng: random.Random, fair: Sequence[tuple[str, ...]], found: Mapping[str, Box]) -> tuple[str, ...]:
    """Some of the animals that are told apart: every pair of a largest and a smallest comes as often as any other.

    Otherwise those that are the largest and the smallest of all would be meant so often that one need not look.
    """
    pairs: dict[tuple[str, str], list[tuple[str, ...]]] = {}
    for some in fair:
        ranked = sorted(some, key=lambda name: area_of(found[name]))
        pairs.setdefault((ranked[-1], ranked[0]), []).append(some)
    return rng.choice(pairs[rng.choice(sorted(pairs))])


def _size(box: Box) -> tuple[int, int]:
    return box[2] - box[0], box[3] - box[1]


def _ring(box: Box) -> Box:
    """The square around a circle around a box."""
    (x, y), radius = centre(box), max(_size(box)) // 2 + 12
    return x - radius, y - radius, x + radius, y + radius


def _tone(file: str, tone: str, end: str) -> ReferenceCall:
    return call(
        "imagesorcery-mcp/change_color", {"input_path": file, "palette": tone, "output_path": end},
        free=["input_path", "output_path"],
    )  # fmt: skip


def _write(path: str, animals: Sequence[Found], colour: tuple[int, int, int], end: str) -> ReferenceCall:
    texts = [
        {"text": animal.name, "x": max(8, centre(animal.box)[0] - 9 * len(animal.name)), "y": animal.box[3] - 8,
         "font_scale": 1.0, "color": creatures.brush(colour), "thickness": 2}
        for animal in animals
    ]  # fmt: skip
    return call(
        "imagesorcery-mcp/draw_texts", {"input_path": path, "texts": texts, "output_path": end}, free=["output_path"]
    )
