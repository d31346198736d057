"""A plan of an exhibition after a sketch with the numbers of exhibits: one mark is in the wrong room, one name is another's, lines may stick out."""

import random
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from m3bench.tasks.answers.fields import Choice, Field, Name
from m3bench.tasks.answers.pages import MarksIn, NoOverlap, PageSays, TextFits
from m3bench.tasks.drawing import fonts
from m3bench.tasks.families import museum, revisions
from m3bench.tasks.families.base import Composition, Kit, Script, Solution, call, need, reduced, words
from m3bench.tasks.families.revisions import SMALLEST, BoxedLine, DraftFamily, Lettering, Work, resized
from m3bench.tasks.json_types import Record
from m3bench.tasks.render import backdrops, pen
from m3bench.tasks.render.canvas import Canvas
from m3bench.tasks.render.shapes import polygon
from m3bench.tasks.studio.page import Element, Page, box, element, page_of, text
from m3bench.tasks.task import ReferenceCall

_UNIT = 37.0
_LEFT, _TOP = 36.0, 118.0
_LEGEND, _ROOM = 222.0, 172.0
"""The width of a line of the legend, and of the name in it."""
_GRID = (12, 9)
_SHOWN, _NUMBERED = 4, 6
_SUITS = (
    ("#f3efe6", "#31465a", "#c8553d"),
    ("#eef2f0", "#2d4f4a", "#b8732e"),
    ("#f4f0f4", "#4b3a5a", "#3d7f8f"),
    ("#f0f2f7", "#2c3e66", "#c0673a"),
)
"""Ground, ink and marks."""

Corner = tuple[float, float]
Exhibit = Record


class _Room(NamedTuple):
    corners: tuple[Corner, ...]
    middle: Corner
    """Where there is room for a mark."""


def _square(left: float, top: float, right: float, bottom: float) -> _Room:
    corners = ((left, top), (right, top), (right, bottom), (left, bottom))
    return _Room(corners, ((left + right) / 2, (top + bottom) / 2))


_PLANS = (
    (
        _square(0, 0, 4, 5), _square(4, 0, 8, 3), _square(8, 0, 12, 4),
        _Room(((4, 3), (8, 3), (8, 4), (12, 4), (12, 6), (4, 6)), (6.2, 4.6)),
        _square(0, 5, 4, 9), _square(4, 6, 8, 9), _square(8, 6, 12, 9),
    ),
    (
        _square(0, 0, 5, 3), _square(5, 0, 9, 4), _square(9, 0, 12, 6),
        _Room(((0, 3), (5, 3), (5, 4), (9, 4), (9, 6), (0, 6)), (2.6, 4.5)),
        _square(0, 6, 3, 9), _square(3, 6, 8, 9), _square(8, 6, 12, 9),
    ),
    (
        _square(0, 0, 3, 4), _square(3, 0, 8, 3), _square(8, 0, 12, 3),
        _square(3, 3, 12, 5.5), _square(0, 4, 3, 9), _square(3, 5.5, 7, 9), _square(7, 5.5, 12, 9),
    ),
)  # fmt: skip


class FloorPlan(DraftFamily):
    """Look the circled exhibits up and the draft over; then move the mark, correct the name and mend the lettering."""

    name = "floor_plan"
    servers = ("studio", "metmuseum-mcp")
    titles = words()
    subtitles = words()
    heads = words()
    notes = words()
    feet = words()

    def compose(self, rng: random.Random, kit: Kit) -> Composition:
        """A sketch of seven rooms with six numbers, four of them circled, and a plan with four marks."""
        pool = [
            exhibit
            for exhibit in kit.world("met_objects")
            if len(exhibit["title"]) <= 26 and exhibit.get("artist") and exhibit.get("medium")
        ]
        titles = [exhibit["title"] for exhibit in pool]
        pool = [exhibit for exhibit in pool if titles.count(exhibit["title"]) == 1]
        chosen = rng.sample(pool, _NUMBERED + 1)
        rooms = _turned(rng, rng.choice(_PLANS))
        places = rng.sample(range(len(rooms)), _NUMBERED)
        composition = reduced(
            _sketch(rng, kit, rooms, [(one["id"], place) for one, place in zip(chosen, places, strict=False)]),
            0.62,
            colours=256,
        )
        shown = rng.sample(range(_SHOWN), _SHOWN)
        exhibits, homes = [chosen[number] for number in shown], [places[number] for number in shown]
        work = _drafted(rng, self, rooms, exhibits, homes, chosen[-1])
        letters = [work.right[f"letter-{number}"].text for number in range(len(rooms))]
        moved = next(number for number in range(_SHOWN) if work.draft[f"mark-{number}"] != work.right[f"mark-{number}"])
        renamed = next(
            number
            for number in range(_SHOWN)
            if work.draft[f"legend-{number}"].text != work.right[f"legend-{number}"].text
        )
        return revisions.with_work(
            composition,
            work,
            exhibits=exhibits,
            stranger=chosen[-1],
            moved=moved,
            renamed=renamed,
            room=letters[homes[moved]],
            letters=tuple(sorted(letters)),
        )

    async def solve(self, rng: random.Random, composition: Composition, path: str, play: Script) -> Solution:
        """What is circled is looked up by its number; what is on the page decides what is changed."""
        facts = composition.facts
        work: Work = facts["work"]
        exhibits: Sequence[Exhibit] = facts["exhibits"]
        told = await revisions.opened(work, play, *(_looked_up(exhibit) for exhibit in exhibits))
        records = [dict(line.split(": ", 1) for line in answer.split("\n") if ": " in line) for answer in told]
        need(
            [record.get("Title") for record in records] == [exhibit["title"] for exhibit in exhibits],
            "the museum says something else",
        )
        await revisions.revised(work, play)
        moved, renamed = exhibits[facts["moved"]], exhibits[facts["renamed"]]
        names = [*exhibits, facts["stranger"]]
        record = records[facts["renamed"]]
        return Solution(
            wording=f"Look up the exhibits whose numbers are circled in red in {path}. Open the draft of the plan, render it, and compare its marks with the rooms of the "
            "sketch and its legend with the titles. Move the mark that is in the wrong room, correct the name that is another's, make lettering smaller that sticks out of "
            f"its box, leave everything else as it is, and render it again. Say the {_GOALS[play.goal].casefold()} of the exhibit that the legend did not name.",
            answer=f"The plan is revised: {moved['title']} belongs into room {facts['room']}, and {renamed['title']} was not named in the legend ({record[_GOALS[play.goal]]}).",
            fields=(
                Field(name="misplaced", meaning="the exhibit whose mark was in the wrong room", value=_title(moved, names)),
                Field(name="room", meaning="the letter of the room that it belongs into", value=Choice(value=facts["room"], options=facts["letters"])),
                Field(name="unnamed", meaning="the circled exhibit that the legend did not name", value=_title(renamed, names)),
                Field(name=play.goal, meaning=f"the {_GOALS[play.goal].casefold()} of the exhibit that the legend did not name", value=_about(play.goal, record)),
                revisions.field_of(work, "plan", "the revised plan"),
            ),
        )  # fmt: skip


_GOALS = {"artist": "Artist", "department": "Department", "medium": "Medium"}
"""By field, what the museum calls it."""


def _about(goal: str, record: Mapping[str, str]) -> Name:
    said = record[_GOALS[goal]]
    if goal == "medium":
        return museum.medium_of(said)
    short = said.partition(" (")[0]
    return Name(value=said, aliases=(short,) if short != said else ())


def _title(one: Exhibit, names: Sequence[Exhibit]) -> Name:
    return Name(value=one["title"], others=tuple(other["title"] for other in names if other is not one))


def _looked_up(exhibit: Exhibit) -> ReferenceCall:
    return call(
        "metmuseum-mcp/get-museum-object", {"objectId": exhibit["id"], "returnImage": False}, free=("returnImage",)
    )


def _turned(rng: random.Random, rooms: Sequence[_Room]) -> list[_Room]:
    """A plan as it is, or seen in a mirror: left and right, above and below."""
    across, down = rng.random() < 0.5, rng.random() < 0.5

    def turn(corner: Corner) -> Corner:
        x, y = corner
        return (_GRID[0] - x if across else x, _GRID[1] - y if down else y)

    return [_Room(tuple(map(turn, room.corners)), turn(room.middle)) for room in rooms]


def _sketch(rng: random.Random, kit: Kit, rooms: Sequence[_Room], numbers: Sequence[tuple[int, int]]) -> Composition:
    """A sheet on a table with the rooms drawn by hand; the first four numbers are circled in red."""
    canvas = Canvas(kit.art, 1360, 1020)
    backdrops.table(canvas, rng)
    backdrops.paper(canvas, rng, (70, 50, 1290, 970))
    unit, left, top = 92.0, 128.0, 96.0
    ink = rng.choice(("#2b2f38", "#28406b", "#3b3b3b"))
    for room in rooms:
        corners = [(left + x * unit + rng.uniform(-3, 3), top + y * unit + rng.uniform(-3, 3)) for x, y in room.corners]
        canvas.draw(polygon(corners, "none", f'stroke="{ink}" stroke-width="5" stroke-linejoin="round"'))
    boxes = []
    for number, place in numbers:
        x, y = rooms[place].middle
        boxes.append(
            canvas.text(f"{number}", left + x * unit, top + y * unit + 18, 56, face="hand", fill=ink, anchor="middle")
        )
    canvas.light(rng, 0.6)
    pen.circle(canvas, rng, boxes[:_SHOWN], boxes[_SHOWN:])
    return Composition.of(canvas)


def _drafted(
    rng: random.Random,
    family: FloorPlan,
    rooms: Sequence[_Room],
    exhibits: Sequence[Exhibit],
    homes: Sequence[int],
    stranger: Exhibit,
) -> Work:
    lettering = Lettering.drawn(
        rng,
        [
            BoxedLine("title", rng.choice(family.titles), "title-box", 688, 700, 48),
            BoxedLine("subtitle", rng.choice(family.subtitles), "subtitle-box", 428, 400, 28),
            BoxedLine("head", rng.choice(family.heads), "head-box", 222, 600, 32),
            BoxedLine("note", rng.choice(family.notes), "note-box", 428, 400, 30),
            BoxedLine("foot", rng.choice(family.feet), "foot-box", 222, 400, 30),
        ],
        at_least=1,
    )  # fmt: skip
    moved, renamed = rng.sample(range(len(exhibits)), 2)
    wrong = list(homes)
    wrong[moved] = rng.choice([place for place in range(len(rooms)) if place not in homes])
    titles = [exhibit["title"] for exhibit in exhibits]
    drafted = list(titles)
    drafted[renamed] = stranger["title"]
    sizes = [_size(title) for title in drafted]
    suit, letters = rng.choice(_SUITS), rng.sample("ABCDEFG", len(rooms))
    page = resized(_page(suit, lettering.lines, rooms, letters, wrong, drafted, sizes), lettering.drafted)
    sizes[renamed] = min(sizes[renamed], _size(titles[renamed]))
    right = resized(_page(suit, lettering.lines, rooms, letters, homes, titles, sizes), lettering.right)
    numbers = range(len(exhibits))
    return Work(
        name=family.file_name(rng),
        title="Plan of an exhibition",
        draft=page,
        right=right,
        holds=(
            PageSays(texts={**{f"legend-{number}": title for number, title in enumerate(titles)}, **lettering.texts}),
            MarksIn(marks={f"mark-{number}": f"room-{home}" for number, home in enumerate(homes)}),
            TextFits(
                boxes={**{f"number-{number}": f"mark-{number}" for number in numbers}, **{f"legend-{number}": f"entry-{number}" for number in numbers}},
                least={**{f"number-{number}": 14.0 for number in numbers}, **{f"legend-{number}": round(sizes[number] * SMALLEST, 1) for number in numbers}},
            ),
            NoOverlap(names=(*(f"mark-{number}" for number in numbers), *(f"letter-{number}" for number in range(len(rooms))))),
            lettering.fits(),
        ),
        asked=frozenset(f"legend-{number}" for number in numbers),
        everything=resized(right, lettering.everything),
        estimated=resized(right, lettering.estimated),
        loose={**lettering.loose(), f"mark-{moved}": ("cx", "cy"), f"number-{moved}": ("x", "y", "text-anchor"), f"legend-{renamed}": ("font-size", "text")},
    )  # fmt: skip


def _size(title: str) -> float:
    return min(20.0, round(0.96 * _ROOM / fonts.width(title, 1.0), 1))


def _page(
    suit: tuple[str, str, str], lines: Sequence[BoxedLine], rooms: Sequence[_Room], letters: Sequence[str], homes: Sequence[int],
    titles: Sequence[str], sizes: Sequence[float],
) -> Page:  # fmt: skip
    ground, ink, accent = suit
    words = {line.name: line.text for line in lines}
    plan: list[Element] = []
    for number, room in enumerate(rooms):
        points = " ".join(f"{_LEFT + x * _UNIT:g},{_TOP + y * _UNIT:g}" for x, y in room.corners)
        plan.append(
            element(
                "polygon", f"room-{number}", {"points": points, "fill": "#ffffff", "stroke": ink, "stroke-width": 3}
            )
        )
    for number, room in enumerate(rooms):
        x, y = min(x for x, _ in room.corners), min(y for x, y in room.corners if x == min(x for x, _ in room.corners))
        plan.append(
            text(
                f"letter-{number}",
                _LEFT + x * _UNIT + 8,
                _TOP + y * _UNIT + 22,
                17,
                letters[number],
                "#8b8f96",
                font_weight=600,
            )
        )
    marks: list[Element] = []
    legend: list[Element] = []
    for number, (home, title, size) in enumerate(zip(homes, titles, sizes, strict=True)):
        x, y = (round(start + place * _UNIT, 1) for start, place in zip((_LEFT, _TOP), rooms[home].middle, strict=True))
        marks += [
            element("circle", f"mark-{number}", {"cx": x, "cy": y, "r": 16, "fill": accent}),
            text(
                f"number-{number}",
                x,
                round(y + 6.5, 1),
                18,
                str(number + 1),
                "#ffffff",
                text_anchor="middle",
                font_weight=700,
            ),
        ]
        top = 174 + 66 * number
        legend += [
            box(f"entry-{number}", 502, top, _LEGEND, 54, "#ffffff", rx=8),
            element("circle", f"key-{number}", {"cx": 526, "cy": top + 27, "r": 15, "fill": accent}),
            text(
                f"key-number-{number}",
                526,
                top + 33,
                17,
                str(number + 1),
                "#ffffff",
                text_anchor="middle",
                font_weight=700,
            ),
            text(f"legend-{number}", 552, top + 33, size, title, ink),
        ]
    return page_of(
        760, 520,
        box("sheet", 0, 0, 760, 520, ground),
        box("title-box", 36, 18, 688, 52, ink, rx=8),
        text("title", 380, 54, 20, words["title"], "#ffffff", text_anchor="middle", font_weight=700),
        box("subtitle-box", 36, 76, 444, 34, "#ffffff", rx=6),
        text("subtitle", 52, 99, 12, words["subtitle"], ink),
        plan, marks,
        box("head-box", 502, 118, _LEGEND, 42, accent, rx=8),
        text("head", 613, 146, 12, words["head"], "#ffffff", text_anchor="middle", font_weight=600),
        legend,
        box("note-box", 36, 464, 444, 38, "#ffffff", rx=6),
        text("note", 52, 489, 12, words["note"], "#4a4d52"),
        box("foot-box", 502, 464, _LEGEND, 38, "#ffffff", rx=6),
        text("foot", 613, 489, 12, words["foot"], "#4a4d52", text_anchor="middle"),
    )  # fmt: skip
