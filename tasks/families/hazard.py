"""Hazards on a building site: find them, mark and name them in the picture, and present it."""

import random
from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import NamedTuple

from m3bench.tasks.checks import AnswerNames, AnswerNumber, CallMade, Check, DeckHas, PictureChanged
from m3bench.tasks.families.base import Composition, Kit, Script, Solution, call
from m3bench.tasks.families.detections import Found, centre, read_objects
from m3bench.tasks.families.texts import Tables, tables
from m3bench.tasks.render import site
from m3bench.tasks.render.canvas import Canvas
from m3bench.tasks.task import Reference, ReferenceCall

_DRAWN = {
    "open pit": site.pit,
    "torn cable": site.cable,
    "oil spill": site.spill,
    "plank with nails": site.nails,
    "leaking gas cylinder": site.cylinder,
    "broken ladder": site.broken_ladder,
    "traffic cone": site.cone,
    "wheelbarrow": site.barrow,
    "stack of pipes": site.pipes,
}
_COLOURS = {
    "red": [0, 0, 255],
    "yellow": [0, 255, 255],
    "blue": [255, 0, 0],
    "magenta": [255, 0, 255],
    "white": [255, 255, 255],
}
_DECK = "site_briefing"
_LISTS = {"bullets": "bullet points", "table": "a small table", "caption": "a caption"}


class _Hazard(NamedTuple):
    """How the detector describes a hazard, and what else it may be called."""

    description: str
    aliases: tuple[str, ...]


class _Tables(Tables):
    hazards: dict[str, _Hazard]
    """Hazards by name; an answer must use one of the words for each."""
    harmless: tuple[str, ...]
    meetings: tuple[str, ...]


_tables = tables("hazard", _Tables)


class Hazard:
    """Detect hazards, annotate, present."""

    name = "hazard"
    servers = ("dinox-mcp", "imagesorcery-mcp", "ppt")

    def compose(self, rng: random.Random, kit: Kit) -> Composition:
        """A site with two to four hazards among what belongs there."""
        hazards = rng.sample(sorted(_tables().hazards), rng.choice((2, 3, 3, 4)))
        things = [*hazards, "worker", *rng.sample(_tables().harmless, 6 - len(hazards))]
        rng.shuffle(things)
        canvas = Canvas(kit.art, 1400, 900)
        level = site.ground(canvas, rng)
        depth = canvas.height - level
        for row, names in enumerate((things[:3], things[3:])):
            slot = canvas.width / len(names)
            for place, name in enumerate(names):
                x = slot * (place + 0.5) + rng.uniform(-0.08, 0.08) * slot
                foot = level + depth * (rng.uniform(0.86, 0.93) if row else rng.uniform(0.3, 0.36))
                _put(canvas, rng, name, x, foot, (188 if row else 146) * rng.uniform(0.95, 1.06))
        canvas.light(rng)
        return Composition.of(canvas, hazards=hazards)

    async def solve(self, rng: random.Random, composition: Composition, path: str, play: Script) -> Solution:
        """Detect; mark while a deck is begun; name; put on a slide; save."""
        colour, shape, kind = rng.choice(sorted(_COLOURS)), rng.choice(sorted(_SHAPES)), rng.choice(sorted(_LISTS))
        title = f"{rng.choice(_tables().meetings)}, week {rng.randint(10, 52)}"
        wanted = sorted(composition.facts["hazards"])
        (text,) = await play.step(
            call(
                "dinox-mcp/detect-objects-by-text",
                {"imageFileUri": path, "textPrompt": ".".join(wanted), "includeDescription": True},
                free=["textPrompt", "includeDescription"],
            )
        )
        found = read_objects(text)
        assert sorted(item.name for item in found) == wanted, "hazards must be found by name, and nothing else"
        marked, named = path.replace(".png", "_marked.png"), path.replace(".png", "_named.png")
        size = composition.scene.width, composition.scene.height
        await play.step(
            _SHAPES[shape](path, found, _COLOURS[colour], marked),
            call("ppt/create_presentation", {"id": _DECK}, free=["id"]),
        )
        texts = _texts(marked, found, _COLOURS[colour], named, size)
        layout = {"bullets": 3, "table": 5, "caption": 5}[kind]
        await play.step(texts, _deck("add_slide", {"layout_index": layout, "title": title}, "layout_index"))
        await _fill(play, kind, named, found)
        await play.step(_deck("save_presentation", {"file_path": f"{_DECK}.pptx"}, "file_path"))
        names = [item.name for item in found]
        everything = call(
            "dinox-mcp/detect-all-objects",
            {"imageFileUri": path, "includeDescription": True},
            free=["includeDescription"],
        )
        alternatives: list[Reference] = [
            play.varied("Look for everything instead of hazards by name.", {0: [everything]})
        ]
        if kind == "bullets":
            alternatives.append(
                play.varied("A template makes the slide.", {2: [texts], 3: [_template(title, named, names)]})
            )
        return Solution(
            wording=f"Detect the hazards in {path}, mark each with a {colour} {shape} and its name, put the picture on a slide titled {title!r} "
            f"with the hazards as {_LISTS[kind]}, and save the deck.",
            answer=f"There are {len(names)} hazards: {', '.join(names)}. They are marked and named in the picture on the slide {title!r}, saved "
            f"as {_DECK}.pptx.",
            given={"mark": f"a {colour} {shape}", "title": title, "listing": _LISTS[kind]},
            checks=tuple(_checks(path, found, title, shape, kind)),
            alternatives=tuple(alternatives),
        )


def _put(canvas: Canvas, rng: random.Random, name: str, x: float, foot: float, size: float) -> None:
    description, aliases = _tables().hazards.get(name, (f"A {name} in its place.", ()))
    known = (*aliases, "hazard", "danger") if aliases else ()
    score = round(rng.uniform(0.84, 0.97), 2)
    if name in _DRAWN:
        canvas.thing(name, *_DRAWN[name](rng, x, foot, size), score=score, description=description, aliases=known)
    else:
        tall = {"worker": 1.25, "open fire": 1.1, "bricks": 0.8, "bucket": 0.75, "toolbox": 0.75}.get(name, 0.95)
        art = "fire" if name == "open fire" else name
        canvas.place(art, x, foot, size * tall, label=name, score=score, description=description, aliases=known)


def _radius(box: tuple[int, int, int, int]) -> int:
    return max(box[2] - box[0], box[3] - box[1]) // 2 + 10


def _circles(path: str, found: Sequence[Found], colour: list[int], end: str) -> ReferenceCall:
    circles = []
    for item in found:
        x, y = centre(item.box)
        circles.append({"center_x": x, "center_y": y, "radius": _radius(item.box), "color": colour, "thickness": 6})
    return call(
        "imagesorcery-mcp/draw_circles",
        {"input_path": path, "circles": circles, "output_path": end},
        free=["output_path"],
    )


def _arrows(path: str, found: Sequence[Found], colour: list[int], end: str) -> ReferenceCall:
    arrows = []
    for item in found:
        x, top = centre(item.box)[0], item.box[1]
        arrows.append(
            {"x1": x, "y1": top - 84, "x2": x, "y2": top + 4, "color": colour, "thickness": 8, "tip_length": 0.3}
        )
    return call(
        "imagesorcery-mcp/draw_arrows", {"input_path": path, "arrows": arrows, "output_path": end}, free=["output_path"]
    )


def _boxes(path: str, found: Sequence[Found], colour: list[int], end: str) -> ReferenceCall:
    lines = []
    for item in found:
        left, top, right, bottom = item.box[0] - 6, item.box[1] - 6, item.box[2] + 6, item.box[3] + 6
        corners = ((left, top), (right, top), (right, bottom), (left, bottom), (left, top))
        for (x1, y1), (x2, y2) in pairwise(corners):
            lines.append({"x1": x1, "y1": y1, "x2": x2, "y2": y2, "color": colour, "thickness": 6})
    return call(
        "imagesorcery-mcp/draw_lines", {"input_path": path, "lines": lines, "output_path": end}, free=["output_path"]
    )


_SHAPES: dict[str, Callable[[str, Sequence[Found], list[int], str], ReferenceCall]] = {
    "circle": _circles,
    "arrow": _arrows,
    "box": _boxes,
}
_TOOLS = {"circle": "draw_circles", "arrow": "draw_arrows", "box": "draw_lines"}


def _texts(path: str, found: Sequence[Found], colour: list[int], end: str, size: tuple[int, int]) -> ReferenceCall:
    """Names below what they name, or above it at the foot of the picture."""
    texts = []
    for item in found:
        x, _ = centre(item.box)
        wide = 17 * len(item.name)
        below = item.box[3] + 40
        y = below if below < size[1] - 10 else item.box[1] - 100
        left = max(8, min(size[0] - wide - 8, x - wide // 2))
        texts.append({"text": item.name, "x": left, "y": y, "font_scale": 1.0, "color": colour, "thickness": 2})
    return call(
        "imagesorcery-mcp/draw_texts",
        {"input_path": path, "texts": texts, "output_path": end},
        free=["input_path", "output_path"],
    )


def _deck(tool: str, arguments: dict[str, object], *free: str) -> ReferenceCall:
    return call(f"ppt/{tool}", {**arguments, "presentation_id": _DECK}, free=["presentation_id", *free])


async def _fill(play: Script, kind: str, picture: str, found: Sequence[Found]) -> None:
    """Put the picture and the list on the slide."""
    places = {
        "bullets": {"left": 4.9, "top": 2.2, "width": 4.7},
        "table": {"left": 1.6, "top": 1.4, "width": 6.8},
        "caption": {"left": 1.0, "top": 1.4, "width": 8.0},
    }
    image = _deck(
        "manage_image", {"slide_index": 0, "operation": "add", "image_source": picture, **places[kind]},
        "image_source", "source_type", "left", "top", "width", "height",
    )  # fmt: skip
    names = [item.name for item in found]
    if kind == "bullets":
        bullets = {"slide_index": 0, "placeholder_idx": 1, "bullet_points": names}
        await play.step(image, _deck("add_bullet_points", bullets))
        return
    await play.step(image)
    area = {"left": 1.0, "width": 8.0}
    if kind == "table":
        rows = [["No.", "Hazard"], *([str(number), name] for number, name in enumerate(names, 1))]
        table = {"slide_index": 0, "rows": len(rows), "cols": 2, **area, "top": 5.9, "height": 1.3, "data": rows}
        await play.step(_deck("add_table", table, "left", "top", "width", "height"))
    else:
        text = {
            "slide_index": 0,
            "operation": "add",
            "text": ", ".join(names),
            **area,
            "top": 6.6,
            "height": 0.7,
            "font_size": 20,
        }
        await play.step(_deck("manage_text", text, "left", "top", "width", "height", "font_size"))


def _template(title: str, picture: str, names: Sequence[str]) -> ReferenceCall:
    return _deck(
        "create_slide_from_template",
        {
            "template_id": "text_with_image",
            "content_mapping": {"title": title, "content": "\n".join(names)},
            "image_paths": {"image": picture},
        },
        "color_scheme", "layout_index",
    )  # fmt: skip


def _checks(path: str, found: Sequence[Found], title: str, shape: str, kind: str) -> list[Check]:
    regions = tuple(
        (max(0, left - 30), max(0, top - 30), right + 30, bottom + 30)
        for left, top, right, bottom in (item.box for item in found)
    )
    return [
        AnswerNames(all_of=tuple((item.name, *_tables().hazards[item.name][1]) for item in found)),
        AnswerNumber(value=len(found), tolerance=0, what="the number of hazards"),
        PictureChanged(source=path.removeprefix("./"), pattern="*.png", boxes=regions, margin=260),
        DeckHas(texts=(title,), pictures=1),
        CallMade(tool=f"imagesorcery-mcp/{_TOOLS[shape]}"),
        CallMade(tool="imagesorcery-mcp/draw_texts"),
        *([CallMade(tool="ppt/add_table")] if kind == "table" else []),
    ]
