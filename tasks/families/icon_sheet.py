"""A sheet of icons after hand-drawn masters: one does not belong there, some are mirrored or off in colour, one is filed wrongly, lines may stick out."""

import json
import random
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from m3bench.tasks.answers.fields import Field, Items, Name, Version
from m3bench.tasks.answers.pages import PageLooks, PageSays
from m3bench.tasks.families import revisions
from m3bench.tasks.families.base import Composition, Kit, Script, Solution, call, need, reduced, table, words
from m3bench.tasks.families.revisions import BoxedLine, DraftFamily, Lettering, Work, resized
from m3bench.tasks.json_types import Record
from m3bench.tasks.render import backdrops, pen
from m3bench.tasks.render.canvas import Canvas
from m3bench.tasks.render.shapes import path
from m3bench.tasks.studio.page import Attribute, Element, Page, box, element, page_of, text

_SIDE = 24
"""Icons are drawn on a square of so many units."""
_SCALE = 3.6
_CIRCLED = 6
_CELL = (36.0, 92.0, 164.0, 172.0)
"""Corner of the first cell, and its size."""
_SUITS = (
    ("#f3f1ea", "#2b4c7e", "#d9822b"),
    ("#eef3ef", "#2f6b4f", "#8a3f7a"),
    ("#f3eff5", "#6a4a8c", "#2f8f6f"),
    ("#f6f0ea", "#8a4b2d", "#2f6fae"),
)
"""Ground, the colour of the icons, and the one that somebody took by mistake."""
_ORDER = {"M": "xy", "L": "xy", "H": "x", "V": "y", "C": "xyxyxy", "A": "rrt01xy", "Z": ""}
"""What the numbers after each command of an outline are."""


class _Icon(NamedTuple):
    name: str
    outline: str
    """As the master shows it."""
    category: str


class IconSheet(DraftFamily):
    """Look the circled icons up and the draft over; then take out, turn round, recolour and file again."""

    name = "icon_sheet"
    servers = ("studio", "hugeicons-mcp")
    icons = table(dict[str, str])
    """By the name in the catalogue of icons, an outline of absolute commands."""
    titles = words()
    tags = words()
    notes = words()
    feet = words()

    def compose(self, rng: random.Random, kit: Kit) -> Composition:
        """Masters of twelve icons, six of them circled, and a sheet with seven."""
        filed = {icon["name"]: icon["category"] for icon in kit.world("icons")}
        icons = []
        for name, drawn in rng.sample(sorted(self.icons.items()), len(self.icons)):
            icons.append(_Icon(name, mirrored(drawn) if rng.random() < 0.5 else drawn, filed[name]))
        suit = rng.choice(_SUITS)
        composition = reduced(_masters(rng, kit, icons, suit[1]), 0.62, colours=256)
        meant, stray = icons[:_CIRCLED], icons[_CIRCLED]
        wrong = rng.choice(meant)
        other = rng.choice(sorted({*filed.values()} - {wrong.category}))
        flipped = {icon.name for icon in rng.sample(meant, rng.choice((1, 1, 2)))}
        tinted = rng.choice(meant).name if rng.random() < 0.5 else ""
        shown = rng.sample([*meant, stray], _CIRCLED + 1)
        work = _drafted(rng, self, suit, shown, stray, wrong._replace(category=other), flipped, tinted)
        return revisions.with_work(composition, work, meant=meant, stray=stray, wrong=wrong, flipped=flipped)

    async def solve(self, rng: random.Random, composition: Composition, path: str, play: Script) -> Solution:
        """What is circled is looked up by name; what is on the page decides what is changed."""
        facts = composition.facts
        work: Work = facts["work"]
        meant: Sequence[_Icon] = facts["meant"]
        told = await revisions.opened(
            work, play, *(call("hugeicons-mcp/search_icons", {"query": icon.name}) for icon in meant)
        )
        found = [_record(icon, one) for icon, one in zip(meant, told, strict=True)]
        await revisions.revised(work, play)
        wrong: _Icon = facts["wrong"]
        names = [*meant, facts["stray"]]
        record = found[meant.index(wrong)]
        flipped = [icon for icon in meant if icon.name in facts["flipped"]]
        return Solution(
            wording=f"Open the draft of the icon sheet, render it, and compare it with the masters circled in red in {path} and with the catalogue of icons. Remove the icon "
            "that is not circled with its cell, turn icons round that are mirrored, give the colour of the others to one that has another, correct the category that is "
            "wrong, make lettering smaller that sticks out of its box, leave everything else as it is, and render it again.",
            answer=f"The sheet is revised: {facts['stray'].name} was removed, {', '.join(icon.name for icon in flipped)} turned round, and {wrong.name} is filed under {wrong.category}.",
            fields=(
                Field(name="removed", meaning="the icon on the draft that is not circled", value=_name(facts["stray"], names)),
                Field(name="mirrored", meaning="the icons that were the wrong way round", value=Items(items=tuple(_name(icon, names) for icon in flipped))),
                Field(name="misfiled", meaning="the icon with the wrong category", value=_name(wrong, names),
                      derived=tuple(dict.fromkeys(str(icon["category"]) for icon in found))),
                *_asked(play.goal, record),
                revisions.field_of(work, "sheet", "the revised sheet"),
            ),
        )  # fmt: skip


def _asked(goal: str, record: Record) -> Iterator[Field]:
    if goal == "category":
        yield Field(name="category", meaning="its right category", value=Name(value=record["category"]))
    elif goal == "version":
        yield Field(
            name="version",
            meaning="the version of the catalogue in which it came",
            value=Version(value=record["version"]),
        )


def _record(icon: _Icon, answer: str) -> Record:
    found = json.loads(answer)
    need(
        bool(found) and found[0]["name"] == icon.name and found[0]["category"] == icon.category, "another icon is found"
    )
    record: Record = found[0]
    return record


def _name(icon: _Icon, names: Sequence[_Icon]) -> Name:
    return Name(value=icon.name, others=tuple(other.name for other in names if other.name != icon.name))


def mirrored(outline: str) -> str:
    """An outline of absolute commands, left and right exchanged."""
    words: list[str] = []
    order: list[str] = []
    for word in outline.split():
        if word in _ORDER:
            order = list(_ORDER[word])
            words.append(word)
            continue
        part, *order = order
        number = float(word)
        changed = {"x": _SIDE - number, "1": 1 - number}.get(part, number)
        words.append(f"{changed:g}")
    return " ".join(words)


def _masters(rng: random.Random, kit: Kit, icons: Sequence[_Icon], ink: str) -> Composition:
    """A sheet on a table with the icons in rows of four, in any order; the first six are circled in red."""
    canvas = Canvas(kit.art, 1360, 1000)
    backdrops.table(canvas, rng)
    backdrops.paper(canvas, rng, (60, 40, 1300, 960))
    slots = rng.sample(range(len(icons)), len(icons))
    boxes = []
    for icon, slot in zip(icons, slots, strict=True):
        row, column = divmod(slot, 4)
        x, y = 140 + column * 296 + rng.uniform(-10, 10), 84 + row * 296 + rng.uniform(-10, 10)
        canvas.draw(
            path(
                icon.outline,
                more=f'transform="translate({x:.1f} {y:.1f}) rotate({rng.uniform(-3, 3):.1f} 12 12) scale(8)" stroke="{ink}" '
                'stroke-width="1.8" stroke-linecap="round" stroke-linejoin="round"',
            )
        )
        boxes.append((round(x), round(y), round(x + 192), round(y + 192)))
    canvas.light(rng, 0.6)
    pen.circle(canvas, rng, boxes[:_CIRCLED], boxes[_CIRCLED:])
    return Composition.of(canvas)


def _drafted(
    rng: random.Random,
    family: IconSheet,
    suit: tuple[str, str, str],
    shown: Sequence[_Icon],
    stray: _Icon,
    wrong: _Icon,
    flipped: set[str],
    tinted: str,
) -> Work:
    lettering = Lettering.drawn(
        rng,
        [
            BoxedLine("title", rng.choice(family.titles), "title-box", 500, 700, 46),
            BoxedLine("tag", rng.choice(family.tags), "tag-box", 176, 600, 40),
            BoxedLine("note", rng.choice(family.notes), "note-box", 428, 400, 30),
            BoxedLine("foot", rng.choice(family.feet), "foot-box", 222, 400, 30),
        ],
    )
    slots = sorted(rng.sample(range(8), len(shown)))
    cells = [
        part for slot, icon in zip(slots, shown, strict=True) for part in _cell(suit, slot, icon, icon.name in flipped)
    ]
    right = resized(_page(suit, lettering.lines, cells), lettering.right)
    draft = resized(right, lettering.drafted)
    everything, loose = resized(right, lettering.everything), {**lettering.loose()}
    for slot, icon in zip(slots, shown, strict=True):
        draft = draft.with_element(draft[f"icon-{slot}"].changed({"transform": _place(slot)}))
        if icon.name == tinted:
            draft = draft.with_element(draft[f"icon-{slot}"].changed({"stroke": suit[2]}))
        if icon.name == wrong.name:
            draft = draft.with_element(draft[f"category-{slot}"].changed({}, wrong.category))
        if icon.name in flipped:
            loose[f"icon-{slot}"] = ("transform", "d")
        everything = everything.with_element(
            everything[f"icon-{slot}"].changed({"transform": _place(slot, turned=True)})
        )
    gone = slots[list(shown).index(stray)]
    names = (f"cell-{gone}", f"icon-{gone}", f"name-{gone}", f"category-{gone}")
    right = right.without(names)
    texts = {
        f"{part}-{slot}": said
        for slot, icon in zip(slots, shown, strict=True) if icon is not stray
        for part, said in (("name", icon.name), ("category", icon.category))
    }  # fmt: skip
    return Work(
        name=family.file_name(rng),
        title="Sheet of icons",
        draft=draft,
        right=right,
        holds=(
            PageSays(texts={**texts, **lettering.texts}),
            PageLooks(svg=right.svg(), parts=tuple(_part(slot) for slot in slots)),
            lettering.fits(),
        ),
        asked=frozenset({*names, *texts}),
        everything=everything.without(names),
        estimated=resized(right, lettering.estimated),
        loose=loose,
    )  # fmt: skip


def _corner(slot: int) -> tuple[float, float]:
    row, column = divmod(slot, 4)
    return _CELL[0] + column * (_CELL[2] + 10.67), _CELL[1] + row * (_CELL[3] + 10)


def _part(slot: int) -> tuple[float, float, float, float]:
    """Where the icon of a cell is."""
    x, y = _corner(slot)
    return round(x + 30, 1), round(y + 10, 1), round(x + 134, 1), round(y + 114, 1)


def _place(slot: int, *, turned: bool = False) -> str:
    x, y = _corner(slot)
    left, top = x + (_CELL[2] - _SIDE * _SCALE) / 2, y + 18
    if turned:
        return f"translate({left + _SIDE * _SCALE:.1f} {top:.1f}) scale(-{_SCALE} {_SCALE})"
    return f"translate({left:.1f} {top:.1f}) scale({_SCALE} {_SCALE})"


def _cell(suit: tuple[str, str, str], slot: int, icon: _Icon, flipped: bool) -> list[Element]:
    """A cell as it should be; an icon that was drafted the wrong way round is turned."""
    x, y = _corner(slot)
    drawn: dict[str, Attribute] = {
        "d": mirrored(icon.outline) if flipped else icon.outline, "transform": _place(slot, turned=flipped), "fill": "none", "stroke": suit[1],
        "stroke-width": 2, "stroke-linecap": "round", "stroke-linejoin": "round",
    }  # fmt: skip
    middle = round(x + _CELL[2] / 2, 1)
    return [
        box(f"cell-{slot}", round(x, 1), y, _CELL[2], _CELL[3], "#ffffff", rx=12),
        element("path", f"icon-{slot}", drawn),
        text(f"name-{slot}", middle, y + 138, 18, icon.name, "#2a2d33", text_anchor="middle", font_weight=700),
        text(f"category-{slot}", middle, y + 158, 13, icon.category, "#6b7078", text_anchor="middle"),
    ]


def _page(suit: tuple[str, str, str], lines: Sequence[BoxedLine], cells: Sequence[Element]) -> Page:
    words = {line.name: line.text for line in lines}
    return page_of(
        760, 520,
        box("sheet", 0, 0, 760, 520, suit[0]),
        box("title-box", 36, 18, 500, 56, suit[1], rx=10),
        text("title", 286, 58, 20, words["title"], "#ffffff", text_anchor="middle", font_weight=700),
        box("tag-box", 548, 18, 176, 56, "#ffffff", rx=28),
        text("tag", 636, 53, 12, words["tag"], suit[1], text_anchor="middle", font_weight=600),
        cells,
        box("note-box", 36, 462, 444, 40, "#ffffff", rx=8),
        text("note", 52, 488, 12, words["note"], "#4a4d52"),
        box("foot-box", 502, 462, 222, 40, "#ffffff", rx=8),
        text("foot", 613, 488, 12, words["foot"], "#4a4d52", text_anchor="middle"),
    )  # fmt: skip
