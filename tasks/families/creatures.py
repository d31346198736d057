"""Plants, animals and people in a picture: what they are called, and how they are cut out, blurred and looked up."""

import re
from collections.abc import Mapping, Sequence

from m3bench.tasks.answers.drawings import PictureToned
from m3bench.tasks.answers.fields import Field, File, Name, Text
from m3bench.tasks.checks import PictureCut
from m3bench.tasks.families.base import call
from m3bench.tasks.families.tool_answers import Found
from m3bench.tasks.task import ReferenceCall

Box = tuple[int, int, int, int]


def named(name: str, names: Sequence[str], aliases: Mapping[str, Sequence[str]]) -> Name:
    """What somebody may call one of several creatures, one or many of them."""
    spelled = tuple(form for spelling in (name, *aliases.get(name, ())) for form in (spelling, f"{spelling}s"))[1:]
    return Name(value=name, aliases=spelled, others=tuple(other for other in names if other != name))


def look(path: str) -> ReferenceCall:
    """A search for everything in a picture."""
    arguments = {"imageFileUri": path, "includeDescription": False}
    return call("dinox-mcp/detect-all-objects", arguments, free=["includeDescription"])


def look_for(path: str, names: Sequence[str]) -> ReferenceCall:
    """A search for creatures by name."""
    arguments = {"imageFileUri": path, "includeDescription": False, "textPrompt": ".".join(sorted(names))}
    return call(
        "dinox-mcp/detect-objects-by-text",
        arguments,
        free=["includeDescription"],
        words={"textPrompt": sorted(names)},
    )


def blur(path: str, boxes: Sequence[Box], end: str, *, around: bool = False) -> ReferenceCall:
    """Blur boxes of a picture, or everything around them."""
    areas = [{"x1": x1, "y1": y1, "x2": x2, "y2": y2, "blur_strength": 75} for x1, y1, x2, y2 in boxes]
    arguments: dict[str, object] = {"input_path": path, "areas": areas, "output_path": end}
    if around:
        arguments["invert_areas"] = True
    return call("imagesorcery-mcp/blur", arguments, free=["output_path"])


def grown(box: Box, air: int, size: tuple[int, int]) -> Box:
    """A box with so many pixels around it, as far as the picture reaches."""
    left, top, right, bottom = box
    return max(0, left - air), max(0, top - air), min(size[0], right + air), min(size[1], bottom + air)


def crop(path: str, box: Box, file: str) -> ReferenceCall:
    """Cut a box out."""
    corners = dict(zip(("x1", "y1", "x2", "y2"), box, strict=True))
    return call(
        "imagesorcery-mcp/crop", {"input_path": path, **corners, "output_path": file},
        free=["output_path"], near=dict.fromkeys(corners, 2.0),
    )  # fmt: skip


def cut_field(name: str, meaning: str, cut: Found, path: str, file: str, *more: PictureToned) -> Field:
    """The field for a picture of one creature alone, and what else must be true of it."""
    left, top, right, bottom = cut.box
    held = PictureCut(
        pattern="*.png", size=(right - left, bottom - top), tolerance=5, what=f"the {cut.name}",
        source=path.removeprefix("./"), box=cut.box,
    )  # fmt: skip
    return Field(name=name, meaning=meaning, value=File(form="png", value=file, holds=(held, *more)))


def search(name: str) -> ReferenceCall:
    """A search for the article on a creature."""
    return call("wiki/search", {"query": name, "n": 3}, free=["n"], words={"query": name.split()})


def summary(found: str, name: str) -> ReferenceCall:
    """The beginning of the first article that a search found."""
    first = re.search(r"^- (.+)$", found, re.MULTILINE)
    assert first, found
    return call("wiki/summary", {"title": first[1]}, either={"title": [first[1], name, f"{name}s"]})


def about_field(text: str, telling: Sequence[str]) -> Field:
    """The field for what an encyclopedia says; it must have a word that articles on other creatures do not have."""
    return Field(
        name="about",
        meaning="one or two sentences about it from an encyclopedia",
        value=Text(words=80, value=text, mentions=(tuple(telling),)),
    )


def brush(colour: tuple[int, int, int]) -> list[int]:
    """A colour as the drawing tools expect it: blue, green, red."""
    return list(reversed(colour))
