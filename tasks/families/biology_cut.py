"""Every animal of a picture on a card of its own: detect, cut them out together, then finish the cards."""

import random
from collections.abc import Sequence

from m3bench.tasks.checks import AnswerNames, AnswerNumber, CallMade, Check, PictureChanged, PictureCut
from m3bench.tasks.families.base import Composition, Kit, Script, Solution, call
from m3bench.tasks.families.detections import Found, read_objects
from m3bench.tasks.families.texts import Tables, tables
from m3bench.tasks.render import wildlife
from m3bench.tasks.render.canvas import Canvas
from m3bench.tasks.render.wildlife import Actor
from m3bench.tasks.task import ReferenceCall

_TONES = {"": "in colour", "grayscale": "black and white", "sepia": "sepia-toned"}
_COLOURS = {
    "red": [0, 0, 255],
    "blue": [255, 0, 0],
    "green": [0, 160, 0],
    "yellow": [0, 255, 255],
    "white": [255, 255, 255],
    "black": [0, 0, 0],
}
"""In the order the drawing tools expect: blue, green, red."""


class _Tables(Tables):
    lands: dict[str, tuple[str, ...]]
    things: tuple[str, ...]
    sunk: tuple[str, ...]


_tables = tables("biology_cut", _Tables)


class BiologyCut:
    """Detect animals, one crop each."""

    name = "biology_cut"
    servers = ("dinox-mcp", "imagesorcery-mcp")

    def compose(self, rng: random.Random, kit: Kit) -> Composition:
        """Three or four animals and a thing that is none, of which one animal is clearly the largest."""
        while True:
            land = rng.choice(sorted(_tables().lands))
            names = rng.sample(_tables().lands[land], rng.choice((3, 3, 4)))
            thing = rng.choice(_tables().sunk if land == "sea" else _tables().things)
            actors = [Actor(name, description=f"A {name}.") for name in (*names, thing)]
            canvas = Canvas(kit.art, 1280, 860)
            boxes = wildlife.sea(canvas, rng, actors) if land == "sea" else wildlife.land(canvas, rng, actors, land)
            areas = sorted((right - left) * (bottom - top) for left, top, right, bottom in boxes[:-1])
            if areas[-1] > areas[-2] * 1.12:
                break
        canvas.light(rng)
        return Composition.of(canvas, names=names)

    async def solve(self, rng: random.Random, composition: Composition, path: str, play: Script) -> Solution:
        """Detect; cut and draw an overview; then tone, then mark the cuttings, all of them together."""
        air = rng.choice(range(4, 41, 2))
        tone = rng.choice(sorted(_TONES))
        colour = rng.choice(sorted(_COLOURS))
        mark = rng.choice(("name", "frame") if not tone else ("", "name", "frame"))
        named, everything = _detections(path, composition.facts["names"])
        (text,) = await play.step(named)
        animals = read_objects(text)
        assert sorted(animal.name for animal in animals) == sorted(composition.facts["names"])
        size = composition.scene.width, composition.scene.height
        cuts = [_grown(animal, air, size) for animal in animals]
        stem = path.removesuffix(".png")
        files = [f"{stem}_{cut.name.replace(' ', '_')}.png" for cut in cuts]
        await play.step(
            *(_crop(path, cut, file) for cut, file in zip(cuts, files, strict=True)), _overview(path, animals)
        )
        if tone:
            toned = [file.replace(".png", f"_{tone}.png") for file in files]
            await play.step(
                *(_tone(file, tone, end, cut.name) for file, end, cut in zip(files, toned, cuts, strict=True))
            )
            files = toned
        if mark:
            await play.step(*(_mark(file, cut, mark, colour) for file, cut in zip(files, cuts, strict=True)))
        marked = {
            "": "",
            "name": f" with the animal's name written on it in {colour}",
            "frame": f" with a {colour} frame along the edge",
        }
        largest = max(cuts, key=lambda cut: _width(cut) * _height(cut))
        listed = ", ".join(f"{cut.name} ({_width(cut)} × {_height(cut)} pixels)" for cut in cuts)
        return Solution(
            wording=f"Detect the animals in {path}, crop each with a margin of {air} pixels to its own file, draw all boxes with names on "
            f"one copy, make the crops {_TONES[tone]}{marked[mark]}, and give the pixel size of the largest crop.",
            answer=f"I cut out {len(cuts)} animals: {listed}. The largest is the {largest.name}, {_width(largest)} pixels wide and "
            f"{_height(largest)} pixels tall. The overview has a named box around each.",
            given={"air": str(air), "finish": _TONES[tone] + marked[mark]},
            checks=tuple(_checks(path, animals, cuts, tone, mark, largest)),
            alternatives=(play.varied("Look for everything instead of the animals by name.", {0: [everything]}),),
        )


def _detections(path: str, names: Sequence[str]) -> tuple[ReferenceCall, ReferenceCall]:
    return (
        call(
            "dinox-mcp/detect-objects-by-text",
            {"imageFileUri": path, "textPrompt": ".".join(sorted(names)), "includeDescription": False},
            free=["includeDescription"], words={"textPrompt": sorted(names)},
        ),
        call(
            "dinox-mcp/detect-all-objects", {"imageFileUri": path, "includeDescription": False},
            free=["includeDescription"],
        ),
    )  # fmt: skip


def _grown(animal: Found, air: int, size: tuple[int, int]) -> Found:
    left, top, right, bottom = animal.box
    return Found(
        animal.name, (max(0, left - air), max(0, top - air), min(size[0], right + air), min(size[1], bottom + air))
    )


def _crop(path: str, cut: Found, file: str) -> ReferenceCall:
    corners = dict(zip(("x1", "y1", "x2", "y2"), cut.box, strict=True))
    return call(
        "imagesorcery-mcp/crop", {"input_path": path, **corners, "output_path": file},
        free=["output_path"], near=dict.fromkeys(corners, 2.0),
    )  # fmt: skip


def _overview(path: str, animals: Sequence[Found]) -> ReferenceCall:
    found = [
        {"name": animal.name, "bbox": dict(zip(("xmin", "ymin", "xmax", "ymax"), animal.box, strict=True))}
        for animal in animals
    ]
    return call(
        "dinox-mcp/visualize-detection-result",
        {"imageFileUri": path, "detections": found, "fontSize": 24, "boxThickness": 4, "showLabels": True},
        free=["fontSize", "boxThickness"],
    )  # fmt: skip


def _tone(file: str, tone: str, end: str, name: str) -> ReferenceCall:
    return call(
        "imagesorcery-mcp/change_color", {"input_path": file, "palette": tone, "output_path": end},
        free=["output_path"], words={"input_path": name.split()},
    )  # fmt: skip


def _mark(file: str, cut: Found, mark: str, colour: str) -> ReferenceCall:
    end = file.replace(".png", f"_{mark}.png")
    paint = _COLOURS[colour]
    if mark == "name":
        text = {"text": cut.name, "x": 8, "y": 30, "font_scale": 1.0, "color": paint, "thickness": 2}
        return call(
            "imagesorcery-mcp/draw_texts", {"input_path": file, "texts": [text], "output_path": end},
            free=["input_path", "output_path"],
        )  # fmt: skip
    right, bottom = _width(cut) - 1, _height(cut) - 1
    edges = ((0, 0, right, 0), (right, 0, right, bottom), (right, bottom, 0, bottom), (0, bottom, 0, 0))
    lines = [{"x1": x1, "y1": y1, "x2": x2, "y2": y2, "color": paint, "thickness": 8} for x1, y1, x2, y2 in edges]
    return call(
        "imagesorcery-mcp/draw_lines", {"input_path": file, "lines": lines, "output_path": end},
        free=["input_path", "output_path"],
    )  # fmt: skip


def _checks(
    path: str, animals: Sequence[Found], cuts: Sequence[Found], tone: str, mark: str, largest: Found
) -> list[Check]:
    checks: list[Check] = [
        AnswerNames(all_of=tuple((animal.name, f"{animal.name}s") for animal in animals)),
        AnswerNumber(value=_width(largest), tolerance=4, what="the width of the largest cutting"),
        AnswerNumber(value=_height(largest), tolerance=4, what="the height of the largest cutting"),
        *(
            PictureCut(pattern="*.png", size=(_width(cut), _height(cut)), tolerance=5, what=f"the {cut.name}")
            for cut in cuts
        ),
        PictureChanged(
            source=path.removeprefix("./"), pattern="*.png", boxes=tuple(animal.box for animal in animals), margin=90
        ),
    ]
    if tone:
        checks.append(CallMade(tool="imagesorcery-mcp/change_color", containing=tone, times=len(cuts)))
    if mark:
        tool = "draw_texts" if mark == "name" else "draw_lines"
        checks.append(CallMade(tool=f"imagesorcery-mcp/{tool}", times=len(cuts)))
    return checks


def _width(cut: Found) -> int:
    return cut.box[2] - cut.box[0]


def _height(cut: Found) -> int:
    return cut.box[3] - cut.box[1]
