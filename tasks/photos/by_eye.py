"""Further recipes for photographs: what is asked for has a name, and only eyes tell where it is or how many there are.

A part that is to be cut out, hidden or circled is judged by its place in the photograph, roughly, as people point at
things. Numbers that are counted go into sums, so that a number that was guessed right is not enough.
"""

import json
import random
from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations

from m3bench.tasks.answers.drawings import Box, PictureMarked, PicturePart
from m3bench.tasks.answers.fields import Code, Field, File, Name, Number, Table
from m3bench.tasks.checks import PictureChanged
from m3bench.tasks.families.base import Script, Solution, call, need
from m3bench.tasks.photos.facts import Detail, Photo
from m3bench.tasks.task import ReferenceCall

_LARGEST = 0.35
"""The share of a photograph that a part may take: of more, the whole photograph would have half in common with it."""
_COLOURS = {"red": (255, 0, 0), "green": (0, 255, 0), "blue": (0, 0, 255), "yellow": (255, 255, 0)}
_STYLES = ("solid-rounded", "solid-sharp", "solid-standard", "stroke-rounded", "stroke-sharp", "stroke-standard")
"""Styles that have one glyph for each icon."""


class Cut:
    """Two parts, of two photographs, cut out."""

    name = "cut"
    servers = ("imagesorcery-mcp",)

    def choices(self, photos: Mapping[str, Photo]) -> Iterator[tuple[str, ...]]:
        """Two photographs with parts."""
        return combinations(_having(photos, "parts"), 2)

    async def solve(self, rng: random.Random, photos: Sequence[Photo], paths: Sequence[str], play: Script) -> Solution:
        """Two crops, by eye."""
        parts = [rng.choice(photo.parts) for photo in photos]
        boxes = [_box(part) for part in parts]
        need(parts[0].what != parts[1].what, "both are called the same")
        files = [f"./cut_{number}.png" for number in (1, 2)]
        await play.step(*(_crop(path, box, file) for path, box, file in zip(paths, boxes, files, strict=True)))
        return Solution(
            wording=f"Crop {parts[0].what} out of {paths[0]} and {parts[1].what} out of {paths[1]}.",
            answer=f"{parts[0].what.capitalize()} is in {files[0]}, {parts[1].what} in {files[1]}.",
            fields=tuple(
                Field(name=name, meaning=f"the picture of {part.what} alone, from edge to edge", value=File(
                    form="png", value=file,
                    holds=(PicturePart(source=path.removeprefix("./"), box=box),),
                ))
                for name, part, path, box, file in zip(("first_cut", "second_cut"), parts, paths, boxes, files, strict=True)
            ),
            given={"first": parts[0].what, "second": parts[1].what},
        )  # fmt: skip


class Hide:
    """One part made unrecognisable, and another left as it is."""

    name = "hide"
    servers = ("imagesorcery-mcp",)

    def choices(self, photos: Mapping[str, Photo]) -> Iterator[tuple[str, ...]]:
        """A photograph with two parts or more."""
        return ((name,) for name in _having(photos, "parts") if len(photos[name].parts) > 1)

    async def solve(self, rng: random.Random, photos: Sequence[Photo], paths: Sequence[str], play: Script) -> Solution:
        """One part is blurred, with a little around it."""
        hidden, kept = rng.sample(photos[0].parts, 2)
        (path,), source, end = paths, paths[0].removeprefix("./"), "./hidden.png"
        box = _box(hidden)
        others = tuple(_shrunk(_box(part)) for part in photos[0].parts if part is not hidden)
        corners = dict(zip(("x1", "y1", "x2", "y2"), box, strict=True))
        await play.step(
            call("imagesorcery-mcp/blur", {"input_path": path, "areas": [{**corners, "blur_strength": 75}], "output_path": end},
                 free=("areas", "output_path"))
        )  # fmt: skip
        reach = max(40, max(box[2] - box[0], box[3] - box[1]) // 3)
        return Solution(
            wording=f"Blur {hidden.what} in {path} and leave {kept.what} as it is.",
            answer=f"In {end}, {hidden.what} cannot be made out any more; the rest is as it was.",
            fields=(
                Field(name="picture", meaning=f"the picture, with {hidden.what} hidden and nothing else changed", value=File(
                    form="png", value=end, holds=(
                        PictureChanged(source=source, pattern="*.png", boxes=(box,), margin=reach, kept=others),
                        PictureMarked(source=source, colour=(0, 0, 0), hidden=(_shrunk(box),)),
                    ),
                )),
            ),
            given={"hidden": hidden.what, "kept": kept.what},
        )  # fmt: skip


class Ring:
    """A circle around one part, in a colour."""

    name = "ring"
    servers = ("imagesorcery-mcp",)

    def choices(self, photos: Mapping[str, Photo]) -> Iterator[tuple[str, ...]]:
        """A photograph with a part."""
        return ((name,) for name in _having(photos, "parts"))

    async def solve(self, rng: random.Random, photos: Sequence[Photo], paths: Sequence[str], play: Script) -> Solution:
        """One circle, by eye."""
        part, colour = rng.choice(photos[0].parts), rng.choice(sorted(_COLOURS))
        (path,), source, end = paths, paths[0].removeprefix("./"), "./circled.png"
        left, top, right, bottom = box = _box(part)
        radius = max(right - left, bottom - top) // 2 + 10
        red, green, blue = _COLOURS[colour]
        circle = {"center_x": (left + right) // 2, "center_y": (top + bottom) // 2, "radius": radius,
                  "color": [blue, green, red], "thickness": 8}  # fmt: skip
        await play.step(
            call("imagesorcery-mcp/draw_circles", {"input_path": path, "circles": [circle], "output_path": end},
                 free=("circles", "output_path"))
        )  # fmt: skip
        others = tuple(_box(one) for one in photos[0].parts if one is not part)
        return Solution(
            wording=f"Draw a {colour} circle around {part.what} in {path}.",
            answer=f"In {end} there is a {colour} circle around {part.what}.",
            fields=(
                Field(name="picture", meaning=f"the picture with a {colour} circle around {part.what}, and nothing else drawn", value=File(
                    form="png", value=end, holds=(
                        PictureChanged(source=source, pattern="*.png", boxes=(_grown(box, 20),), margin=radius + 40),
                        PictureMarked(source=source, colour=_COLOURS[colour], rings=(box,), bare=others),
                    ),
                )),
            ),
            given={"part": part.what, "colour": colour},
        )  # fmt: skip


class Tally:
    """What is counted in three photographs, each at a price, and the sum."""

    name = "tally"
    servers = ("math",)

    def choices(self, photos: Mapping[str, Photo]) -> Iterator[tuple[str, ...]]:
        """Three photographs with something to count."""
        return combinations(_having(photos, "counts"), 3)

    async def solve(self, rng: random.Random, photos: Sequence[Photo], paths: Sequence[str], play: Script) -> Solution:
        """Three products and their sum."""
        counted = [rng.choice(sorted(photo.counts.items())) for photo in photos]
        names = [name for name, _ in counted]
        need(len(set(names)) == len(names), "two are called the same")
        prices = rng.sample(range(13, 98), len(names))
        texts = await play.step(
            *(
                call("math/multiply", {"firstNumber": count, "SecondNumber": price})
                for (_, count), price in zip(counted, prices, strict=True)
            )
        )
        costs = [round(float(text), 2) for text in texts]
        (text,) = await play.step(call("math/sum", {"numbers": costs}))
        total = round(float(text), 2)
        need(len({*costs, total}) == len(costs) + 1, "two sums are alike")
        rows = tuple(
            (Name(value=name, others=tuple(other for other in names if other != name)), Number(value=cost, within=0.005))
            for name, cost in zip(names, costs, strict=True)
        )  # fmt: skip
        told = "; ".join(
            f"{count} {name} at {price} points make {cost:g}"
            for (name, count), price, cost in zip(counted, prices, costs, strict=True)
        )
        return Solution(
            wording=f"Count {', '.join(names)} in {', '.join(paths)}, multiply by {', '.join(map(str, prices))}, and add up.",
            answer=f"{told}; {total:g} in all.",
            fields=(
                Field(name="kinds", meaning="each kind of thing that is counted, as the question calls it, and the points that all of it gives",
                      value=Table(columns=("kind", "points"), rows=rows)),
                Field(name="total", meaning="all points together", value=Number(value=total, within=0.005), derived=tuple(costs)),
            ),
            given={f"{place}_{part}": str(value) for place, name, price in zip(("first", "second", "third"), names, prices, strict=True)
                   for part, value in (("things", name), ("points", price))},
            alternatives=(play.varied("added up without a tool", {1: ()}),),
        )  # fmt: skip


class Icons:
    """An icon for what each of two photographs shows."""

    name = "icons"
    servers = ("hugeicons-mcp",)

    def choices(self, photos: Mapping[str, Photo]) -> Iterator[tuple[str, ...]]:
        """Two photographs of two subjects."""
        named = _having(photos, "subject")
        return ((one, other) for one, other in combinations(named, 2) if photos[one].subject != photos[other].subject)

    async def solve(self, rng: random.Random, photos: Sequence[Photo], paths: Sequence[str], play: Script) -> Solution:
        """The first icon that a search for each finds, and its glyph."""
        style = rng.choice(_STYLES)
        subjects = [photo.subject for photo in photos]
        texts = await play.step(
            *(
                call("hugeicons-mcp/search_icons", {"query": subject}, words={"query": [subject]})
                for subject in subjects
            )
        )
        found = [json.loads(text) for text in texts]
        need(all(found), "there is no icon of it")
        icons = [str(some[0]["name"]) for some in found]
        need(
            all(subject in icon for subject, icon in zip(subjects, icons, strict=True)),
            "the first icon shows something else",
        )
        texts = await play.step(
            *(call("hugeicons-mcp/get_icon_glyph_by_style", {"icon_name": icon, "style": style}) for icon in icons)
        )
        glyphs = [str(json.loads(text)["primary"]["glyph"]) for text in texts]
        names = [
            Name(value=photo.subject, aliases=(*photo.also, f"{photo.subject}s"), others=(other.subject,))
            for photo, other in zip(photos, reversed(photos), strict=True)
        ]
        rows = tuple(
            (name, Code(form="icon", value=icon, aliases=(f"{icon}-icon",)), _glyph(glyph))
            for name, icon, glyph in zip(names, icons, glyphs, strict=True)
        )
        return Solution(
            wording=f"Find the first icon for what {' and '.join(paths)} show, and the {style} glyph of each.",
            answer="; ".join(f"{name.value}: {icon}, {glyph}" for name, icon, glyph in zip(names, icons, glyphs, strict=True)),
            fields=(
                Field(name="icons", meaning="what each picture shows, the name of the first icon that a search for it finds, and its glyph in the given style",
                      value=Table(columns=("subject", "icon", "glyph"), rows=rows)),
            ),
            given={"style": style},
        )  # fmt: skip


BY_EYE = (Cut(), Hide(), Ring(), Tally(), Icons())


def _having(photos: Mapping[str, Photo], fact: str) -> list[str]:
    return [name for name, photo in sorted(photos.items()) if getattr(photo, fact)]


def _box(part: Detail) -> Box:
    left, top, right, bottom = (round(edge) for edge in part.box)
    return left, top, right, bottom


def _shrunk(box: Box) -> Box:
    """The middle of a box: where its edges are is a matter of opinion."""
    across, down = (box[2] - box[0]) // 5, (box[3] - box[1]) // 5
    return box[0] + across, box[1] + down, box[2] - across, box[3] - down


def _grown(box: Box, by: int) -> Box:
    return max(0, box[0] - by), max(0, box[1] - by), box[2] + by, box[3] + by


def _crop(path: str, box: Box, file: str) -> ReferenceCall:
    """A part cut out; its edges may be off by a quarter of its size."""
    left, top, right, bottom = box
    across, down = (right - left) / 4, (bottom - top) / 4
    return call(
        "imagesorcery-mcp/crop",
        {"input_path": path, "x1": left, "y1": top, "x2": right, "y2": bottom, "output_path": file},
        near={"x1": across, "x2": across, "y1": down, "y2": down},
        free=("output_path",),
    )


def _glyph(entity: str) -> Code:
    """A glyph, which people also write as its code point."""
    point = entity.removeprefix("&#x").removesuffix(";")
    return Code(form="glyph", value=entity, aliases=(point, f"U+{point}", f"0x{point}"))
