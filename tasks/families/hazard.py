"""Hazards on a building site among sound things of the same kinds: marked on a slide, the one nearest to the worker, or a list by side."""

import math
import random
from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import NamedTuple

from m3bench.tasks.answers.fields import Choice, Field, File, Integer, Items, Name, Table
from m3bench.tasks.answers.office import DeckShows, WorkbookRows
from m3bench.tasks.checks import DeckHas, PictureChanged, PictureCut
from m3bench.tasks.families.base import Composition, Family, Kit, Script, Solution, call, need, table, words
from m3bench.tasks.families.creatures import crop, grown
from m3bench.tasks.families.tool_answers import Found, centre, read_objects
from m3bench.tasks.render import site
from m3bench.tasks.render.canvas import Canvas
from m3bench.tasks.task import ReferenceCall

Box = tuple[int, int, int, int]

COLOURS = {
    "red": [0, 0, 255],
    "yellow": [0, 255, 255],
    "blue": [255, 0, 0],
    "magenta": [255, 0, 255],
    "white": [255, 255, 255],
}
"""In the order the drawing tools expect: blue, green, red."""


def seen(colour: str) -> tuple[int, int, int]:
    """A colour as a picture has it: red, green, blue."""
    blue, green, red = COLOURS[colour]
    return red, green, blue


def far(one: Box, other: Box) -> float:
    """Pixels between the middles of two boxes."""
    return math.dist(centre(one), centre(other))


def gap(one: Box, other: Box) -> float:
    """Pixels between the edges of two boxes."""
    aside = max(one[0] - other[2], other[0] - one[2], 0)
    above = max(one[1] - other[3], other[1] - one[3], 0)
    return math.hypot(aside, above)


def padded(box: Box, by: int) -> Box:
    """A box with so many pixels around it, or without them."""
    left, top, right, bottom = box
    return max(0, left - by), max(0, top - by), right + by, bottom + by


def _radius(box: Box) -> int:
    return max(box[2] - box[0], box[3] - box[1]) // 2 + 10


def circles(path: str, found: Sequence[Found], colour: list[int], end: str) -> ReferenceCall:
    """Circles around what was found."""
    circles = []
    for item in found:
        x, y = centre(item.box)
        circles.append({"center_x": x, "center_y": y, "radius": _radius(item.box), "color": colour, "thickness": 6})
    return call(
        "imagesorcery-mcp/draw_circles",
        {"input_path": path, "circles": circles, "output_path": end},
        free=["output_path"],
    )


def arrows(path: str, found: Sequence[Found], colour: list[int], end: str) -> ReferenceCall:
    """Arrows from above to what was found."""
    arrows = []
    for item in found:
        x, top = centre(item.box)[0], item.box[1]
        arrows.append(
            {"x1": x, "y1": top - 84, "x2": x, "y2": top + 4, "color": colour, "thickness": 8, "tip_length": 0.3}
        )
    return call(
        "imagesorcery-mcp/draw_arrows", {"input_path": path, "arrows": arrows, "output_path": end}, free=["output_path"]
    )


def boxes(path: str, found: Sequence[Found], colour: list[int], end: str) -> ReferenceCall:
    """Boxes around what was found."""
    lines = []
    for item in found:
        left, top, right, bottom = item.box[0] - 6, item.box[1] - 6, item.box[2] + 6, item.box[3] + 6
        corners = ((left, top), (right, top), (right, bottom), (left, bottom), (left, top))
        for (x1, y1), (x2, y2) in pairwise(corners):
            lines.append({"x1": x1, "y1": y1, "x2": x2, "y2": y2, "color": colour, "thickness": 6})
    return call(
        "imagesorcery-mcp/draw_lines", {"input_path": path, "lines": lines, "output_path": end}, free=["output_path"]
    )


SHAPES: dict[str, Callable[[str, Sequence[Found], list[int], str], ReferenceCall]] = {
    "circle": circles,
    "arrow": arrows,
    "box": boxes,
}


def captions(path: str, found: Sequence[Found], colour: list[int], end: str, size: tuple[int, int]) -> ReferenceCall:
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


_TALL = {"worker": 1.25, "open fire": 1.1, "bricks": 0.8, "bucket": 0.75, "toolbox": 0.75}
_THINGS = 8
_DECK = "site_briefing"
_BOOK, _SHEET = "./hazards.xlsx", "Hazards"
_CLOSER = 1.2
"""How many times as far as the nearest the next must be."""
_MIDDLE = 50
"""Pixels around the middle of the picture in which no hazard may lie when sides are asked for."""
_BLURRED = 0.005
"""The share of the worker's box that a blur changes at least, if only of the face; a dot changes less."""
_LISTS = {"bullets": "a bullet list", "table": "a small table", "caption": "a caption"}


class _Hazard(NamedTuple):
    """What a hazard looks like, what the detector takes it for, and what else it may be called."""

    description: str
    aliases: tuple[str, ...]
    seen: tuple[str, ...]
    """A thing that may be in order or not, under its usual names: whether it is a hazard is for eyes to say."""


class Hazard(Family):
    """Detect hazards; then mark and present them, find the nearest to the worker, or list them by side."""

    name = "hazard"
    servers = ("dinox-mcp", "imagesorcery-mcp", "ppt", "excel")
    hazards = table(dict[str, _Hazard])
    """Hazards by name; an answer must use one of the words for each."""
    harmless = words()
    meetings = words()
    said = table(dict[str, tuple[str, ...]])
    """What else people call a hazard; the detector does not."""
    beside = table(str)
    """Words that may describe a hazard."""

    def compose(self, rng: random.Random, kit: Kit) -> Composition:
        """A site with two to four hazards among what is in order: of five kinds there is always one, broken or sound."""
        hazards = rng.sample(sorted(self.hazards), rng.choice((2, 3, 3, 4)))
        things = [(name, True) for name in hazards] + [(name, False) for name in site.MORE if name not in hazards]
        harmless = rng.sample(self.harmless, _THINGS - 1 - len(things))
        things += [(name, False) for name in (*harmless, "worker")]
        rng.shuffle(things)
        canvas = Canvas(kit.art, 1400, 900)
        level = site.ground(canvas, rng)
        depth = canvas.height - level
        slot = 2 * canvas.width / _THINGS
        for number, (name, hazardous) in enumerate(things):
            row, place = divmod(number, _THINGS // 2)
            x = slot * (place + 0.5) + rng.uniform(-0.08, 0.08) * slot
            foot = level + depth * (rng.uniform(0.86, 0.93) if row else rng.uniform(0.3, 0.36))
            _put(canvas, rng, name, hazardous, x, foot, (178 if row else 140) * rng.uniform(0.95, 1.06))
        canvas.light(rng)
        return Composition.of(canvas, hazards=hazards)

    async def solve(self, rng: random.Random, composition: Composition, path: str, play: Script) -> Solution:
        """By goal; all begin with the detector."""
        colour, shape, kind = rng.choice(sorted(COLOURS)), rng.choice(sorted(SHAPES)), rng.choice(sorted(_LISTS))
        title = f"{rng.choice(self.meetings)}, week {rng.randint(10, 52)}"
        air = rng.choice(range(10, 41, 5))
        wanted = sorted(composition.facts["hazards"])
        size = composition.scene.width, composition.scene.height
        look = call(
            "dinox-mcp/detect-objects-by-text",
            {"imageFileUri": path, "textPrompt": ".".join(wanted), "includeDescription": True},
            free=["textPrompt", "includeDescription"],
        )
        if play.goal == "slide":
            (text,) = await play.step(look)
            found = read_objects(text)
            worker: list[Found] = []
        else:
            person = call(
                "dinox-mcp/detect-objects-by-text",
                {"imageFileUri": path, "textPrompt": "worker", "includeDescription": False},
                free=["includeDescription"], words={"textPrompt": ["worker"]},
            )  # fmt: skip
            text, other = await play.step(look, person)
            found, worker = read_objects(text), read_objects(other)
            need(len(worker) == 1, "there must be one worker")
        need(sorted(item.name for item in found) == wanted, "hazards must be found by name, and nothing else")
        match play.goal:
            case "slide":
                return await self._slide(found, colour, shape, kind, title, size, path, play)
            case "nearest":
                return await self._nearest(found, worker[0], colour, air, size, path, play)
            case _:
                return await self._sides(found, worker[0], size, path, play)

    async def _slide(
        self,
        found: Sequence[Found],
        colour: str,
        shape: str,
        kind: str,
        title: str,
        size: tuple[int, int],
        path: str,
        play: Script,
    ) -> Solution:
        """Mark while a deck is begun; name; put on a slide; save."""
        marked, named = path.replace(".png", "_marked.png"), path.replace(".png", "_named.png")
        await play.step(
            SHAPES[shape](path, found, COLOURS[colour], marked),
            call("ppt/create_presentation", {"id": _DECK}, free=["id"]),
        )
        write = captions(marked, found, COLOURS[colour], named, size)
        layout = {"bullets": 3, "table": 5, "caption": 5}[kind]
        await play.step(write, _deck("add_slide", {"layout_index": layout, "title": title}, "layout_index"))
        await _fill(play, kind, named, found)
        await play.step(_deck("save_presentation", {"file_path": f"{_DECK}.pptx"}, "file_path"))
        names = [item.name for item in found]
        alternatives = [play.varied("Look for everything instead of hazards by name.", {0: [_everything(path)]})]
        if kind == "bullets":
            alternatives.append(
                play.varied("A template makes the slide.", {2: [write], 3: [_template(title, named, names)]})
            )
        return Solution(
            wording=f"Detect the hazards in {path}, mark each with a {colour} {shape} and its name, put the picture on a slide titled {title!r} "
            f"with the hazards as {_LISTS[kind]}, and save the deck.",
            answer=f"There are {len(names)} hazards: {', '.join(names)}. They are marked and named in the picture on the slide {title!r}, saved "
            f"as {_DECK}.pptx.",
            fields=(
                Field(
                    name="hazards",
                    meaning="every hazard in the picture, and nothing that is in order",
                    value=Items(items=tuple(map(_hazard, names))),
                ),
                _presentation(title, found, colour, path),
            ),
            given={"mark": f"a {colour} {shape}", "title": title, "listing": _LISTS[kind]},
            alternatives=tuple(alternatives),
        )

    async def _nearest(
        self,
        found: Sequence[Found],
        worker: Found,
        colour: str,
        air: int,
        size: tuple[int, int],
        path: str,
        play: Script,
    ) -> Solution:
        """The hazard nearest to the worker, circled and cut out."""
        ranked = sorted(found, key=lambda item: far(item.box, worker.box))
        away = [far(item.box, worker.box) for item in ranked]
        need(away[1] > away[0] * _CLOSER, "two are equally near")
        need(min(found, key=lambda item: gap(item.box, worker.box)) is ranked[0], "another one's edge is nearer")
        chosen = ranked[0]
        circled, close = path.replace(".png", "_circled.png"), path.replace(".png", "_close_up.png")
        box = grown(chosen.box, air, size)
        await play.step(circles(path, [chosen], COLOURS[colour], circled), crop(path, box, close))
        source = path.removeprefix("./")
        mark = PictureChanged(
            source=source, pattern="*.png", boxes=(padded(chosen.box, 30),), margin=120,
            kept=tuple(item.box for item in found if item is not chosen and gap(item.box, chosen.box) > 60),
            colour=seen(colour),
        )  # fmt: skip
        cut = PictureCut(
            pattern="*.png", size=(box[2] - box[0], box[3] - box[1]), tolerance=8, what=f"the {chosen.name}",
            source=source, box=box,
        )  # fmt: skip
        edges = tuple(float(edge) for item in (*found, worker) for edge in item.box)
        return Solution(
            wording=f"Count the hazards in {path}, draw a {colour} circle around the one nearest to the worker, and crop it with {air} pixels around it.",
            answer=f"There are {len(found)} hazards. The nearest to the worker is the {chosen.name}; it is circled, and the close-up is cut out.",
            fields=(
                Field(
                    name="hazards", meaning="how many hazards there are", value=Integer(value=len(found)), derived=edges
                ),
                Field(
                    name="nearest",
                    meaning="the hazard that is nearest to the worker in the picture",
                    value=_hazard(chosen.name),
                    compared=tuple(round(distance, 1) for distance in away),
                    derived=edges,
                ),
                Field(
                    name="marked",
                    meaning="the whole picture with the circle",
                    value=File(form="png", value=circled, holds=(mark,)),
                ),
                Field(
                    name="close_up",
                    meaning="the picture of that hazard alone",
                    value=File(form="png", value=close, holds=(cut,)),
                ),
            ),
            given={"colour": colour, "air": str(air)},
            alternatives=(play.varied("Look for everything at once.", {0: [_everything(path)]}),),
        )

    async def _sides(
        self, found: Sequence[Found], worker: Found, size: tuple[int, int], path: str, play: Script
    ) -> Solution:
        """The hazards by half of the picture in a workbook, and the worker blurred."""
        middles = [centre(item.box)[0] - size[0] / 2 for item in found]
        need(all(abs(middle) > _MIDDLE for middle in middles), "a hazard lies in the middle")
        sides = ["left" if middle < 0 else "right" for middle in middles]
        need(len(set(sides)) == 2, "all are on one side")
        blurred = path.replace(".png", "_blurred.png")
        area = dict(zip(("x1", "y1", "x2", "y2"), worker.box, strict=True)) | {"blur_strength": 75}
        blur = call(
            "imagesorcery-mcp/blur", {"input_path": path, "areas": [area], "output_path": blurred}, free=["output_path"]
        )
        book = call("excel/create_workbook", {"filepath": _BOOK}, free=("filepath",))
        await play.step(blur, book)
        names = [item.name for item in found]
        data = [["Hazard", "Half of the picture"], *([name, side] for name, side in zip(names, sides, strict=True))]
        await play.step(
            call(
                "excel/write_data_to_excel",
                {"filepath": _BOOK, "sheet_name": _SHEET, "data": data},
                free=("filepath", "sheet_name", "start_cell"),
            )
        )
        rows = tuple(
            (
                _hazard(name),
                Choice(options=("left", "right"), value=side, aliases=(f"{side} half", f"{side} side", side[0])),
            )
            for name, side in zip(names, sides, strict=True)
        )
        told = ", ".join(f"{name} ({side})" for name, side in zip(names, sides, strict=True))
        edges = tuple(float(edge) for item in found for edge in item.box)
        hidden = PictureChanged(
            source=path.removeprefix("./"), pattern="*.png", boxes=(worker.box,), margin=40, least=_BLURRED
        )
        return Solution(
            wording=f"List the hazards in {path} with the half of the picture each is in, in a workbook, and blur the worker.",
            answer=f"The hazards are: {told}. They are in {_BOOK}, and the worker is blurred in {blurred}.",
            fields=(
                Field(
                    name="hazards",
                    meaning="every hazard, and in which half of the picture it is: left or right",
                    value=Table(columns=("hazard", "half"), rows=rows),
                    derived=edges,
                ),
                Field(
                    name="workbook",
                    meaning="an Excel file with the same list",
                    value=File(form="xlsx", value=_BOOK, holds=(WorkbookRows(rows=rows),)),
                ),
                Field(
                    name="picture",
                    meaning="the picture with the worker blurred",
                    value=File(form="png", value=blurred, holds=(hidden,)),
                ),
            ),
            alternatives=(play.varied("Look for everything at once.", {0: [_everything(path)]}),),
        )


def _everything(path: str) -> ReferenceCall:
    return call(
        "dinox-mcp/detect-all-objects", {"imageFileUri": path, "includeDescription": True}, free=["includeDescription"]
    )


def _names(name: str) -> tuple[str, ...]:
    """What a hazard may be called."""
    return (name, *Hazard.hazards[name].aliases, *Hazard.said[name])


def _presentation(title: str, found: Sequence[Found], colour: str, path: str) -> Field:
    """The field with the deck, whose slide names the hazards and shows them marked."""
    shown = DeckShows(
        source=path.removeprefix("./"),
        boxes=tuple(padded(item.box, 30) for item in found),
        margin=260,
        colour=seen(colour),
    )
    named = DeckHas(texts=(title,), one_of=tuple(_names(item.name) for item in found), pictures=1)
    deck = File(form="pptx", value=f"{_DECK}.pptx", holds=(named, shown))
    return Field(name="presentation", meaning="the file with the slide", value=deck)


def _hazard(name: str) -> Name:
    """A hazard in the words that people use for it."""
    others = [other for other in (*Hazard.hazards, *Hazard.harmless, "worker") if other != name]
    return Name(
        value=name,
        aliases=_names(name)[1:],
        others=tuple(others),
        context=(Hazard.beside, Hazard.hazards[name].description),
    )


def _put(canvas: Canvas, rng: random.Random, name: str, hazardous: bool, x: float, foot: float, size: float) -> None:
    label, *aliases = Hazard.hazards[name].seen if name in Hazard.hazards else (name,)
    score = round(rng.uniform(0.84, 0.97), 2)
    if name in site.DRAWN:
        canvas.thing(label, *site.DRAWN[name](rng, x, foot, size), score=score, aliases=tuple(aliases))
        if name in site.MORE:
            canvas.draw(*site.MORE[name][0 if hazardous else 1](rng, x, foot, size))
    else:
        art = "fire" if name == "open fire" else name
        tall = size * _TALL.get(name, 0.95)
        canvas.place(art, x, foot, tall, label=label, score=score, aliases=tuple(aliases))


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
