"""Medicines for the families about health: boxes, cards and notes as drawn, and names of ingredients and makers."""

import random
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from m3bench.tasks.answers.fields import Name
from m3bench.tasks.render import pen
from m3bench.tasks.render.canvas import Canvas
from m3bench.tasks.render.shapes import ellipse, line, mix, on, rect
from m3bench.tasks.scene import Box

_STRIPES = ("#1f6fb2", "#c0392b", "#2e8b57", "#8e44ad", "#d35400", "#16857f", "#b03a6b", "#34507a")
_CARDS = ("#fff6c9", "#dff1ff", "#ffe3e3", "#e4f7df", "#f3e6ff", "#fdebd3")


class Medicine(NamedTuple):
    """What is written on a carton."""

    brand: str
    generic: str
    """The active ingredient."""
    form: str


def medicine_box(
    canvas: Canvas, rng: random.Random, x: float, foot: float, width: float, height: float, medicine: Medicine
) -> Box:
    """A carton, the middle of its foot at `(x, foot)`."""
    brand, generic, form = medicine
    left, top = x - width / 2, foot - height
    colour = rng.choice(_STRIPES)
    inner, small = width * 0.84, width * 0.082
    forms = canvas.lines(form, inner, small, "sans bold")
    band = max(rng.choice((0.18, 0.24, 0.3)), (len(forms) * small * 1.2 + 18) / height)
    box = canvas.thing(
        "box",
        rect(left, top, width, height, "#fbfbf8", 6, 'stroke="#c8ccd0" stroke-width="2"'),
        rect(left, foot - height * band, width, height * band, colour, 4),
        rect(left, top, width * 0.035, height, colour),
        ellipse(left + width * 0.88, top + height * 0.18, width * 0.055, width * 0.055, mix(colour, "#ffffff", 0.35)),
        shadow=True, score=round(rng.uniform(0.86, 0.96), 2), aliases=("carton",),
    )  # fmt: skip
    brands = _brand(canvas, brand, inner * 0.9, width)
    large = width * (0.165, 0.14, 0.12)[len(brands) - 1]
    y = top + height * (0.3 + 0.03 * len(brands))
    for number, words in enumerate(reversed(brands)):
        canvas.text(
            words,
            left + width * 0.08,
            y - number * large * 1.05,
            large,
            face="sans black",
            fill=mix(colour, "#000000", 0.25),
            width=inner * 0.9,
        )
    y += height * 0.13
    size = width * 0.1
    for words in canvas.lines(generic, inner, size, "sans bold")[:2]:
        canvas.text(words, left + width * 0.08, y, size, face="sans bold", width=inner)
        y += size * 1.14
    y = foot - height * band / 2 - (len(forms) / 2 - 0.82) * small * 1.2
    for words in forms:
        canvas.text(words, left + width * 0.08, y, small, face="sans bold", fill=on(colour), width=inner)
        y += small * 1.2
    return box


def _brand(canvas: Canvas, brand: str, room: float, width: float) -> list[str]:
    """A brand in one line, or in two or three where one would be too small to read."""
    if canvas.art.width(brand, width * 0.165, "sans black") <= room * 1.25:
        return [brand]
    return canvas.lines(brand, room, width * 0.14, "sans black")[:3]


def cork_board(canvas: Canvas, rng: random.Random) -> None:
    """A framed board to pin cards to."""
    width, height = canvas.width, canvas.height
    canvas.draw(rect(0, 0, width, height, "#6e4a2c"), rect(26, 26, width - 52, height - 52, "#c99a63", 6))
    for _ in range(260):
        x, y = rng.uniform(34, width - 34), rng.uniform(34, height - 34)
        canvas.draw(
            ellipse(
                x,
                y,
                rng.uniform(2, 6),
                rng.uniform(2, 4),
                rng.choice(("#b88650", "#d9ae78", "#a97642")),
                'opacity="0.6"',
            )
        )


def card(
    canvas: Canvas, rng: random.Random, x: float, y: float, width: float, height: float, heading: str, words: str
) -> Box:
    """A card pinned at its upper edge, its middle at `(x, y)`; returns its box."""
    left, top = x - width / 2, y - height / 2
    paper = rng.choice(_CARDS)
    canvas.draw(
        rect(left + 7, top + 9, width, height, "#00000033", 4), rect(left, top, width, height, paper, 4),
        rect(left, top, width, 12, mix(paper, "#000000", 0.08)), ellipse(x, top + 17, 12, 12, rng.choice(_STRIPES)),
        ellipse(x - 4, top + 13, 4, 4, "#ffffff", 'opacity="0.8"'),
    )  # fmt: skip
    canvas.text(heading, x, top + 66, 25, fill="#5c6470", anchor="middle", width=width - 40)
    canvas.text(words, x, y + 36, 42, face="sans bold", anchor="middle", width=width - 44)
    return (round(left), round(top), round(left + width), round(top + height))


def ward_note(
    canvas: Canvas,
    rng: random.Random,
    box: tuple[float, float, float, float],
    clinic: str,
    parts: Sequence[tuple[str, Sequence[tuple[str, bool]]]],
) -> None:
    """A printed form with headings and, below them, entries with a square before each; some are ticked by hand."""
    left, top, right, bottom = box
    colour, ink = rng.choice(_STRIPES), rng.choice(("#1d3f8f", "#22262e", "#a01c2c"))
    canvas.draw(
        rect(left + 9, top + 12, right - left, bottom - top, "#00000038", 4),
        rect(left, top, right - left, bottom - top, "#fdfdfa", 4), rect(left, top, right - left, 92, colour, 4),
    )  # fmt: skip
    canvas.text(clinic, left + 40, top + 60, 40, face="sans bold", fill=on(colour), width=right - left - 80)
    y = top + 142
    for heading, entries in parts:
        canvas.text(heading, left + 40, y, 27, face="sans bold", fill=mix(colour, "#000000", 0.2))
        canvas.draw(line(left + 40, y + 12, right - 40, y + 12, mix(colour, "#ffffff", 0.5), 2))
        y += 50
        for entry, ticked in entries:
            size, face = (38, "serif bold") if entry[1:3].isdigit() else (34, "sans")
            canvas.draw(rect(left + 46, y - 27, 30, 30, "#ffffff", 3, 'stroke="#6b7280" stroke-width="2.5"'))
            canvas.text(entry, left + 104, y, size, face=face, width=right - left - 150)
            if ticked:
                pen.tick(canvas, rng, left + 59, y - 3, 27, ink)
            y += 43
        y += 14


_SALTS = frozenset({"hydrochloride", "topical", "nasal", "polacrilex", "3350", "sodium", "sulfate"})
"""Words of a generic name that shops and people leave out."""
_FIRM = frozenset(
    (
        "llc", "lp", "inc", "inc.", "limited", "brands", "us", "usa", "holdings", "healthcare", "consumer", "pharmaceuticals",
        "pharmaceutical", "pharma", "industries", "laboratories", "therapeutics", "and", "company", "america", "medicines",
        "sciences", "health", "specialty", "devices",
    )
)  # fmt: skip
"""Words at the end of a firm's name that people leave out."""


def substance(generic: str) -> str:
    """A generic name without the salt or the form."""
    return " ".join(word for word in generic.split() if word not in _SALTS)


def ingredient(generic: str, aliases: Iterable[str] = (), others: Iterable[str] = ()) -> Name:
    """An active ingredient; its salt may be left out."""
    wrong = tuple(other for other in others if other != generic)
    return Name(value=generic, aliases=(substance(generic), *aliases), others=wrong, context=("active ingredient",))


def maker(name: str, others: Iterable[str] = ()) -> Name:
    """A firm; what only says that it is one may be left out."""
    words = name.split()
    while len(words) > 1 and words[-1].casefold().strip(",") in _FIRM:
        words.pop()
    wrong = tuple(other for other in dict.fromkeys(others) if other != name)
    return Name(value=name, aliases=(" ".join(words),), others=wrong, context=(name, "pharmaceuticals company US USA"))
