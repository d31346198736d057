"""A desk full of things: detect them, keep the large ones, and find an article, an icon and a glyph for each."""

import json
import math
import random

from m3bench.tasks.checks import AnswerNames, AnswerNumber, BackedByCall, CallMade
from m3bench.tasks.families.base import Composition, Kit, Script, Solution, call
from m3bench.tasks.families.detections import Found, area_of, read_objects
from m3bench.tasks.families.texts import Tables, tables
from m3bench.tasks.render.canvas import Canvas
from m3bench.tasks.render.desk import desk
from m3bench.tasks.task import ReferenceCall

LIMIT = 10_000
"""Square pixels above which a box is large."""

_STYLES = (
    "bulk-rounded", "duotone-rounded", "solid-rounded", "solid-sharp", "solid-standard", "stroke-rounded", "stroke-sharp",
    "stroke-standard", "twotone-rounded",
)  # fmt: skip
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


_tables = tables("hugeicons", _Tables)


class Hugeicons:
    """Detect, measure, look up, and answer in JSON."""

    name = "hugeicons"
    servers = ("dinox-mcp", "wiki", "hugeicons-mcp")

    def compose(self, rng: random.Random, kit: Kit) -> Composition:
        """Three or four large things and three or four small ones."""
        canvas = Canvas(kit.art, 1280, 860)
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
                    turn=rng.uniform(-5, 5), score=round(rng.uniform(0.82, 0.97), 3), description=f"a {name} on a desk",
                )  # fmt: skip
                assert (area_of(box) > 2 * LIMIT) if big else (area_of(box) < 0.9 * LIMIT), (name, area_of(box))
        canvas.light(rng, 0.9)
        return Composition.of(canvas, large=large)

    async def solve(self, rng: random.Random, composition: Composition, path: str, play: Script) -> Solution:
        """Detect; search both and list; then the glyphs and how to install."""
        style, platform = rng.choice(_STYLES), rng.choice(tuple(_PLATFORMS))
        (text,) = await play.step(
            call(
                "dinox-mcp/detect-all-objects",
                {"imageFileUri": path, "includeDescription": False},
                free=("includeDescription",),
            )
        )
        found = [thing.name for thing in read_objects(text) if _is_large(thing)]
        assert sorted(found) == sorted(composition.facts["large"]), "the detector must find what is large"
        articles = [
            call("wiki/search", {"query": name, "n": 1}, free=("n",), words={"query": name.split()}) for name in found
        ]
        searches = [
            call("hugeicons-mcp/search_icons", {"query": name}, words={"query": name.split()}) for name in found
        ]
        listing = call("hugeicons-mcp/list_icons", {})
        texts = await play.step(*articles, *searches, listing)
        titles = [text.split("\n")[1].removeprefix("- ") for text in texts[: len(found)]]
        icons = [json.loads(text)[0]["name"] for text in texts[len(found) : -1]]
        total = len(json.loads(texts[-1]))
        glyphs = [call("hugeicons-mcp/get_icon_glyph_by_style", {"icon_name": icon, "style": style}) for icon in icons]
        usage = call("hugeicons-mcp/get_platform_usage", {"platform": _PLATFORMS[platform]})
        *marks, use = await play.step(*glyphs, usage)
        entities = [json.loads(mark)["primary"]["glyph"] for mark in marks]
        install = json.loads(use)["installation"]["core"]
        rows = [
            {"object": name, "article": title, "icon": icon, "glyph": entity}
            for name, title, icon, entity in zip(found, titles, icons, entities, strict=True)
        ]
        return Solution(
            wording=f"Detect the objects in {path}, keep those of more than {LIMIT} square pixels, find the encyclopedia title, the "
            f"first icon and its {style} glyph for each, count all icons, say how to install them for {platform}; JSON.",
            answer=json.dumps({"objects": rows, "icons_in_all": total, "install": install}, ensure_ascii=False),
            checks=(
                AnswerNames(all_of=tuple((icon,) for icon in icons)),
                AnswerNames(all_of=tuple((entity, entity.strip("&#;"), entity[3:-1]) for entity in entities)),
                AnswerNames(all_of=tuple((title, title.partition(" (")[0]) for title in titles)),
                AnswerNumber(value=total, tolerance=0, what="the icons in all"),
                BackedByCall(any_of=(install,)),
                CallMade(tool="dinox-mcp/detect-all-objects"),
            ),
            given={"style": style, "platform": platform},
            alternatives=(
                play.varied("One icon search for all of them.", {1: [*articles, _together(found), listing]}),
                play.varied("The list and the usage first.", {1: [*articles, *searches, listing, usage], 2: glyphs}),
            ),
        )


def _together(names: list[str]) -> ReferenceCall:
    return call("hugeicons-mcp/search_icons", {"query": ", ".join(names)}, words={"query": names})


def _is_large(thing: Found) -> bool:
    return area_of(thing.box) > LIMIT
