"""A desk full of things: detect them, and find icons for the large ones, cut out the largest, or add up their size."""

import json
import math
import random
from collections.abc import Sequence

from m3bench.tasks.answers.fields import Code, Field, File, Items, Name, Number, Table
from m3bench.tasks.checks import PictureCut
from m3bench.tasks.families.base import Composition, Kit, Script, Solution, call, need
from m3bench.tasks.families.detections import Found, area_of, read_objects
from m3bench.tasks.families.texts import Tables, tables
from m3bench.tasks.render.canvas import Canvas
from m3bench.tasks.render.desk import desk
from m3bench.tasks.task import ReferenceCall

_WIDTH, _HEIGHT = 1280, 860
LIMIT = 10_000
"""Square pixels above which a box is large."""

_MARGIN = 0.04
"""The share by which the largest must be larger than the next."""
_STYLES = ("solid-rounded", "solid-sharp", "solid-standard", "stroke-rounded", "stroke-sharp", "stroke-standard")
"""Styles that have one glyph for each icon."""
_PLATFORMS = {
    "React": "react",
    "Vue": "vue",
    "Angular": "angular",
    "Svelte": "svelte",
    "React Native": "react-native",
    "Flutter": "flutter",
}


class _Tables(Tables):
    large: tuple[str, ...]
    small: tuple[str, ...]
    also: dict[str, tuple[str, ...]]
    """What else people call some of them."""


_tables = tables("hugeicons", _Tables)


class Hugeicons:
    """Detect and measure; then look up, cut out or add up."""

    name = "hugeicons"
    servers = ("dinox-mcp", "hugeicons-mcp", "imagesorcery-mcp", "math")

    def compose(self, rng: random.Random, kit: Kit) -> Composition:
        """Three or four large things and three or four small ones."""
        canvas = Canvas(kit.art, _WIDTH, _HEIGHT)
        level = desk(canvas, rng)
        large, small = (
            rng.sample(_tables().large, rng.choice((3, 3, 4))),
            rng.sample(_tables().small, rng.choice((4, 5))),
        )
        things = [(name, True) for name in large] + [(name, False) for name in small]
        rng.shuffle(things)
        back = (len(things) + rng.randint(0, 1)) // 2
        for row, foot in ((things[:back], level + 150), (things[back:], canvas.height - 80)):
            for number, (name, big) in enumerate(row):
                x = 110 + (canvas.width - 220) * (number + 0.5) / len(row) + rng.uniform(-8, 8)
                area = rng.uniform(25_000, 36_000) if big else rng.uniform(4_600, 6_600)
                drawn = kit.art.object(name)
                tall = math.sqrt(area * drawn.height / drawn.width)
                box = canvas.place(
                    name, x, foot + rng.uniform(-12, 12), tall, flip=rng.random() < 0.3 and name not in ("book", "notebook"),
                    turn=rng.uniform(-5, 5), score=round(rng.uniform(0.82, 0.97), 3),
                )  # fmt: skip
                assert (area_of(box) > 2 * LIMIT) if big else (area_of(box) < 0.9 * LIMIT), (name, area_of(box))
        canvas.light(rng, 0.9)
        return Composition.of(canvas, large=large)

    async def solve(self, rng: random.Random, composition: Composition, path: str, play: Script) -> Solution:
        """Detect; what follows depends on the goal."""
        (text,) = await play.step(
            call(
                "dinox-mcp/detect-all-objects",
                {"imageFileUri": path, "includeDescription": False},
                free=("includeDescription",),
            )
        )
        things = read_objects(text)
        large = [thing for thing in things if _is_large(thing)]
        assert sorted(thing.name for thing in large) == sorted(composition.facts["large"]), (
            "what is large must be found"
        )
        goals = {"cutout": self._cutout, "coverage": self._coverage, "icons": self._icons}
        return await goals[play.goal](rng, large, [thing.name for thing in things], path, play)

    async def _icons(
        self, rng: random.Random, large: Sequence[Found], names: Sequence[str], path: str, play: Script
    ) -> Solution:
        """An icon and its glyph for each large thing, and how to install the set."""
        style, platform = rng.choice(_STYLES), rng.choice(tuple(_PLATFORMS))
        searches = [_search(thing.name) for thing in large]
        icons = [_first(text) for text in await play.step(*searches)]
        need(len(set(icons)) == len(icons), "two things have one icon")
        glyphs = [_glyph(icon, style) for icon in icons]
        usage = call("hugeicons-mcp/get_platform_usage", {"platform": _PLATFORMS[platform]})
        *marks, use = await play.step(*glyphs, usage)
        entities = [json.loads(mark)["primary"]["glyph"] for mark in marks]
        install = json.loads(use)["installation"]["core"]
        rows = tuple(
            (_name(thing.name, names), _icon(icon), _entity(entity))
            for thing, icon, entity in zip(large, icons, entities, strict=True)
        )
        return Solution(
            wording=f"Detect the objects in {path}, keep those of more than {LIMIT} square pixels, find the first icon and its {style} "
            f"glyph for each, and say how to install the set for {platform}.",
            answer=f"Install the set with {install}.",
            fields=(
                Field(
                    name="icons",
                    meaning="each large thing, the name of the first icon that a search for it finds, and its glyph in the given style",
                    value=Table(columns=("thing", "icon", "glyph"), rows=rows),
                ),
                Field(
                    name="install",
                    meaning="the command that installs the core package for the given platform",
                    value=Code(form="command", value=install),
                ),
            ),
            given={"style": style, "platform": platform},
            alternatives=(
                play.varied("One icon search for all of them.", {1: [_together([thing.name for thing in large])]}),
                play.varied("The usage first.", {1: [*searches, usage], 2: glyphs}),
            ),
        )

    async def _cutout(
        self, rng: random.Random, large: Sequence[Found], names: Sequence[str], path: str, play: Script
    ) -> Solution:
        """The largest thing alone: cut out, with its icon."""
        style = rng.choice(_STYLES)
        order = sorted(large, key=lambda thing: -area_of(thing.box))
        areas = [area_of(thing.box) for thing in order]
        need(areas[0] >= areas[1] * (1 + _MARGIN), "two things are about as large")
        left, top, right, bottom = box = order[0].box
        file = f"./{order[0].name.replace(' ', '_')}.png"
        cut = call(
            "imagesorcery-mcp/crop",
            {"input_path": path, "x1": left, "y1": top, "x2": right, "y2": bottom, "output_path": file},
            near=dict.fromkeys(("x1", "y1", "x2", "y2"), 6.0),
            free=("output_path",),
        )
        text, _ = await play.step(_search(order[0].name), cut)
        icon = _first(text)
        glyph = _glyph(icon, style)
        (mark,) = await play.step(glyph)
        entity = json.loads(mark)["primary"]["glyph"]
        return Solution(
            wording=f"Detect the objects in {path}, cut out the one with the largest box, and find the first icon for it and its {style} glyph.",
            answer=f"The largest is the {order[0].name}, cut out in {file}. Its icon is {icon}.",
            fields=(
                Field(
                    name="largest",
                    meaning="the thing with the largest box",
                    value=_name(order[0].name, names),
                    compared=tuple(areas),
                ),
                Field(name="icon", meaning="the name of the first icon that a search for it finds", value=_icon(icon)),
                Field(name="glyph", meaning="the glyph of that icon in the given style", value=_entity(entity)),
                Field(
                    name="cutout",
                    meaning="the picture of that thing alone, cut out along its box",
                    value=File(
                        form="png",
                        value=file,
                        holds=(
                            PictureCut(
                                pattern="*.png",
                                size=(right - left, bottom - top),
                                what=f"the {order[0].name}",
                                source=path.removeprefix("./"),
                                box=box,
                            ),
                        ),
                    ),
                ),
            ),
            given={"style": style},
            alternatives=(play.varied("The picture at the end.", {1: [play.steps[1][0]], 2: [glyph, cut]}),),
        )

    async def _coverage(
        self, rng: random.Random, large: Sequence[Found], names: Sequence[str], path: str, play: Script
    ) -> Solution:
        """How much of the picture the boxes of the large things cover."""
        sides = [(thing.box[2] - thing.box[0], thing.box[3] - thing.box[1]) for thing in large]
        areas = await play.step(
            *(call("math/multiply", {"firstNumber": wide, "SecondNumber": tall}) for wide, tall in sides)
        )
        (total,) = await play.step(call("math/sum", {"numbers": [float(area) for area in areas]}))
        whole = _WIDTH * _HEIGHT
        (text,) = await play.step(call("math/division", {"numerator": float(total), "denominator": whole}))
        share = 100 * float(text)
        return Solution(
            wording=f"Detect the objects in {path}, keep those of more than {LIMIT} square pixels, and add up their boxes.",
            answer=f"{len(large)} things are large; their boxes cover {float(total):.0f} square pixels, {share:.1f} % of the picture.",
            fields=(
                Field(
                    name="things",
                    meaning="what is large: everything with a box of more than 10,000 square pixels",
                    value=Items(items=tuple(_name(thing.name, names) for thing in large)),
                ),
                Field(
                    name="covered",
                    meaning="how many square pixels their boxes have together",
                    value=Number(unit="px²", value=float(total), within=0.01 * float(total)),
                    derived=tuple(float(area) for area in areas),
                ),
                Field(
                    name="share",
                    meaning="which share of the whole picture that is, in percent, to one decimal",
                    value=Number(unit="%", value=share, decimals=1, within=0.15),
                    derived=tuple(float(area) for area in areas),
                ),
            ),
            alternatives=(
                play.varied("worked out without a tool", {1: (), 2: (), 3: ()}),
                play.varied("the share without a tool", {3: ()}),
            ),
        )


def _search(name: str) -> ReferenceCall:
    return call("hugeicons-mcp/search_icons", {"query": name}, words={"query": name.split()})


def _together(names: list[str]) -> ReferenceCall:
    return call("hugeicons-mcp/search_icons", {"query": ", ".join(names)}, words={"query": names})


def _first(text: str) -> str:
    return str(json.loads(text)[0]["name"])


def _glyph(icon: str, style: str) -> ReferenceCall:
    return call("hugeicons-mcp/get_icon_glyph_by_style", {"icon_name": icon, "style": style})


def _name(name: str, names: Sequence[str]) -> Name:
    """What a thing is called, which is none of the others on the desk."""
    also = _tables().also
    others = tuple(one for other in names if other != name for one in (other, *also.get(other, ())))
    return Name(value=name, aliases=also.get(name, ()), others=others)


def _icon(icon: str) -> Code:
    return Code(form="icon", value=icon, aliases=(f"{icon}-icon",))


def _entity(entity: str) -> Code:
    """A glyph, which people also write as its code point."""
    point = entity.removeprefix("&#x").removesuffix(";")
    return Code(form="glyph", value=entity, aliases=(point, f"U+{point}", f"0x{point}"))


def _is_large(thing: Found) -> bool:
    return area_of(thing.box) > LIMIT
