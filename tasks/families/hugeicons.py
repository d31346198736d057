"""A desk full of things: detect them, and find icons for those that are circled, cut one out, or add up their size."""

import json
import math
import random
from collections.abc import Sequence

from m3bench.tasks.answers.fields import Code, Field, File, Items, Name, Number, Table
from m3bench.tasks.checks import PictureCut
from m3bench.tasks.families.base import Composition, Family, Kit, Script, Solution, call, need, table, words
from m3bench.tasks.families.tool_answers import Found, read_objects
from m3bench.tasks.render import pen
from m3bench.tasks.render.canvas import Canvas
from m3bench.tasks.render.shapes import ellipse, fade, line, mix, rect
from m3bench.tasks.task import ReferenceCall

_WALLS = ("#dfe6e3", "#e8e0d3", "#d5dfe8", "#e6dbe0", "#dfe3ce", "#e9e4ea", "#cfdad8")
_TOPS = ("#b98a5e", "#c9a376", "#8d633f", "#d8c1a0", "#9c8470", "#e4dfd6")
_NOTES = ("#f6e27a", "#f3b6c0", "#b9dcf2", "#c6e6b5", "#fbd3a2")


def desk(canvas: Canvas, rng: random.Random, edge: float = 0.42) -> float:
    """A wall with something on it and the top of a desk below; returns where the top begins, in pixels."""
    width, height = canvas.width, canvas.height
    level = height * edge
    wall, top = rng.choice(_WALLS), rng.choice(_TOPS)
    canvas.draw(fade("wall", mix(wall, "#ffffff", 0.4), wall), rect(0, 0, width, level, "url(#wall)"))
    rng.choice((_window, _pinboard, _prints))(canvas, rng, level)
    canvas.draw(
        rect(0, level - 12, width, 12, mix(wall, "#000000", 0.12)),
        fade("top", mix(top, "#000000", 0.06), mix(top, "#ffffff", 0.28), top),
        rect(0, level, width, height - level, "url(#top)"),
    )
    for number in range(1, 9):
        y = level + (height - level) * (number / 9) ** 1.5
        canvas.draw(line(0, y, width, y + rng.uniform(-4, 4), mix(top, "#000000", 0.2), 2, 'opacity="0.3"'))
    canvas.draw(rect(0, height - 26, width, 26, mix(top, "#000000", 0.32)))
    return level


def _window(canvas: Canvas, rng: random.Random, level: float) -> None:
    wide, tall = 420.0, level - 60
    left = rng.uniform(80, canvas.width - wide - 80)
    sky = rng.choice((("#8ec9ef", "#e6f4fb"), ("#f3b98a", "#fde7cc"), ("#2c3a5e", "#6f7fa8")))
    canvas.draw(
        rect(left - 14, 16, wide + 28, tall + 28, "#f7f5f0", 4),
        fade("pane", *sky),
        rect(left, 30, wide, tall, "url(#pane)"),
        ellipse(left + wide * rng.uniform(0.2, 0.8), 30 + tall * 0.35, 30, 30, "#fff6d8", 'opacity="0.85"'),
        rect(left + wide / 2 - 6, 30, 12, tall, "#f7f5f0"),
        rect(left, 30 + tall * 0.5 - 5, wide, 10, "#f7f5f0"),
    )


def _pinboard(canvas: Canvas, rng: random.Random, level: float) -> None:
    wide, tall = 560.0, level - 70
    left = rng.uniform(80, canvas.width - wide - 80)
    canvas.draw(rect(left - 12, 18, wide + 24, tall + 24, "#8a6a48", 6), rect(left, 30, wide, tall, "#cfa97a"))
    for number in range(6):
        x, y = left + 26 + number * 88, 30 + tall * rng.uniform(0.1, 0.5)
        canvas.draw(
            rect(x + 3, y + 4, 72, 72, "#00000022"),
            rect(x, y, 72, 72, rng.choice(_NOTES), 2),
            line(x + 12, y + 30, x + 58, y + 30, "#6b6456", 3, 'opacity="0.5"'),
            line(x + 12, y + 46, x + 46, y + 46, "#6b6456", 3, 'opacity="0.5"'),
            ellipse(x + 36, y + 8, 5, 5, "#c0392b"),
        )


def _prints(canvas: Canvas, rng: random.Random, level: float) -> None:
    left = rng.uniform(120, 260)
    for number in range(3):
        x, wide, tall = left + number * 320, rng.uniform(170, 230), level - rng.uniform(90, 120)
        one, other = rng.sample(("#4f7a8c", "#d9a441", "#b65a4a", "#6c8f5c", "#83618f", "#e9d8b4"), 2)
        canvas.draw(
            rect(x + 6, 44, wide, tall, "#00000022"),
            rect(x, 36, wide, tall, "#3d352e"),
            rect(x + 12, 48, wide - 24, tall - 24, one),
            ellipse(x + wide / 2, 36 + tall * 0.5, wide * 0.26, wide * 0.26, other),
            rect(x + 12, 36 + tall * 0.66, wide - 24, tall * 0.34 - 12, mix(one, "#000000", 0.25)),
        )


_WIDTH, _HEIGHT = 1280, 860
_COLUMNS = 5
_ARROW = 30
"""How far from the sides of the picture an arrow begins at least."""
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


class Hugeicons(Family):
    """Detect and measure; then look up, cut out or add up."""

    name = "hugeicons"
    servers = ("dinox-mcp", "hugeicons-mcp", "imagesorcery-mcp", "math")
    things = words()
    also = table(dict[str, tuple[str, ...]])
    """What else people call some of them."""

    def compose(self, rng: random.Random, kit: Kit) -> Composition:
        """Ten things; three or four are circled, and an arrow points at one."""
        canvas = Canvas(kit.art, _WIDTH, _HEIGHT)
        level = desk(canvas, rng, 0.32)
        meant = rng.sample(self.things, rng.choice((3, 3, 4)))
        others = rng.sample([name for name in self.things if name not in meant], 2 * _COLUMNS - len(meant))
        things = rng.sample([*meant, *others], 2 * _COLUMNS)
        boxes = {}
        for number, name in enumerate(things):
            x = _WIDTH * (number % _COLUMNS + 0.5) / _COLUMNS + rng.uniform(-8, 8)
            foot = level + 176 + number // _COLUMNS * 296 + rng.uniform(-8, 8)
            drawn = kit.art.object(name)
            tall = math.sqrt(rng.uniform(19_000, 25_000) * drawn.height / drawn.width)
            boxes[name] = canvas.place(
                name, x, foot, min(tall, 204), flip=rng.random() < 0.3 and name not in ("book", "notebook"),
                turn=rng.uniform(-5, 5), score=round(rng.uniform(0.82, 0.97), 3),
            )  # fmt: skip
        canvas.light(rng, 0.8)
        pen.circle(canvas, rng, [boxes[name] for name in meant], [boxes[name] for name in others])
        pointed = rng.choice(things)
        (left, _, right, bottom), aside = boxes[pointed], rng.choice((-1, 1))
        if not _ARROW < (left if aside < 0 else right) + 84 * aside < _WIDTH - _ARROW:
            aside = -aside
        tip = ((right if aside > 0 else left) - 16 * aside, bottom - 16)
        pen.arrow(canvas, rng, tip, (tip[0] + 84 * aside, tip[1] + 74))
        return Composition.of(canvas, meant=meant, pointed=pointed)

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
        wanted = [composition.facts["pointed"]] if play.goal == "cutout" else composition.facts["meant"]
        meant = [thing for thing in things if thing.name in wanted]
        need(len(meant) == len(wanted), "what is meant must be found")
        goals = {"cutout": self._cutout, "coverage": self._coverage, "icons": self._icons}
        return await goals[play.goal](rng, meant, [thing.name for thing in things], path, play)

    async def _icons(
        self, rng: random.Random, meant: Sequence[Found], names: Sequence[str], path: str, play: Script
    ) -> Solution:
        """An icon and its glyph for each circled thing, and how to install the set."""
        style, platform = rng.choice(_STYLES), rng.choice(tuple(_PLATFORMS))
        searches = [_search(thing.name) for thing in meant]
        icons = [_first(text) for text in await play.step(*searches)]
        need(len(set(icons)) == len(icons), "two things have one icon")
        glyphs = [_glyph(icon, style) for icon in icons]
        usage = call("hugeicons-mcp/get_platform_usage", {"platform": _PLATFORMS[platform]})
        *marks, use = await play.step(*glyphs, usage)
        entities = [json.loads(mark)["primary"]["glyph"] for mark in marks]
        install = json.loads(use)["installation"]["core"]
        rows = tuple(
            (_name(thing.name, names), _icon(icon), _entity(entity))
            for thing, icon, entity in zip(meant, icons, entities, strict=True)
        )
        return Solution(
            wording=f"Detect the objects in {path}, keep those circled in red, find the first icon and its {style} "
            f"glyph for each, and say how to install the set for {platform}.",
            answer=f"Install the set with {install}.",
            fields=(
                Field(
                    name="icons",
                    meaning="each circled thing, the name of the first icon that a search for it finds, and its glyph in the given style",
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
                play.varied("One icon search for all of them.", {1: [_together([thing.name for thing in meant])]}),
                play.varied("The usage first.", {1: [*searches, usage], 2: glyphs}),
            ),
        )

    async def _cutout(
        self, rng: random.Random, meant: Sequence[Found], names: Sequence[str], path: str, play: Script
    ) -> Solution:
        """One thing alone: cut out, with its icon."""
        style = rng.choice(_STYLES)
        (thing,) = meant
        left, top, right, bottom = box = thing.box
        file = f"./{thing.name.replace(' ', '_')}.png"
        cut = call(
            "imagesorcery-mcp/crop",
            {"input_path": path, "x1": left, "y1": top, "x2": right, "y2": bottom, "output_path": file},
            near=dict.fromkeys(("x1", "y1", "x2", "y2"), 6.0),
            free=("output_path",),
        )
        text, _ = await play.step(_search(thing.name), cut)
        icon = _first(text)
        glyph = _glyph(icon, style)
        (mark,) = await play.step(glyph)
        entity = json.loads(mark)["primary"]["glyph"]
        return Solution(
            wording=f"Detect the objects in {path}, cut out the one that the arrow points at, and find the first icon for it and its {style} glyph.",
            answer=f"The arrow points at the {thing.name}, cut out in {file}. Its icon is {icon}.",
            fields=(
                Field(name="thing", meaning="what the arrow points at", value=_name(thing.name, names)),
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
                                what=f"the {thing.name}",
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
        self, rng: random.Random, meant: Sequence[Found], names: Sequence[str], path: str, play: Script
    ) -> Solution:
        """How much of the picture the boxes of the circled things cover."""
        sides = [(thing.box[2] - thing.box[0], thing.box[3] - thing.box[1]) for thing in meant]
        areas = await play.step(
            *(call("math/multiply", {"firstNumber": wide, "SecondNumber": tall}) for wide, tall in sides)
        )
        (total,) = await play.step(call("math/sum", {"numbers": [float(area) for area in areas]}))
        whole = _WIDTH * _HEIGHT
        (text,) = await play.step(call("math/division", {"numerator": float(total), "denominator": whole}))
        share = 100 * float(text)
        return Solution(
            wording=f"Detect the objects in {path}, keep those circled in red, and add up their boxes.",
            answer=f"{len(meant)} things are circled; their boxes cover {float(total):.0f} square pixels, {share:.1f} % of the picture.",
            fields=(
                Field(
                    name="things",
                    meaning="what is circled in red",
                    value=Items(items=tuple(_name(thing.name, names) for thing in meant)),
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
            alternatives=(play.varied("the share without a tool", {3: ()}),),
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
    also = Hugeicons.also
    others = tuple(spelling for other in names if other != name for spelling in (other, *also.get(other, ())))
    return Name(value=name, aliases=also.get(name, ()), others=others)


def _icon(icon: str) -> Code:
    return Code(form="icon", value=icon, aliases=(f"{icon}-icon",))


def _entity(entity: str) -> Code:
    """A glyph, which people also write as its code point."""
    point = entity.removeprefix("&#x").removesuffix(";")
    return Code(form="glyph", value=entity, aliases=(point, f"U+{point}", f"0x{point}"))
