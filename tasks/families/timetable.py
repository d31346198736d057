"""A timetable of courses after a list with circled ones: one is another, one is in the wrong room, one at the wrong time over another, writing sticks out."""

import random
from collections.abc import Mapping, Sequence
from itertools import permutations
from typing import NamedTuple

from m3bench.tasks.answers.fields import Choice, Field, Name, Number
from m3bench.tasks.answers.pages import BlocksAt, NoOverlap, PageSays, TextFits
from m3bench.tasks.drawing import fonts
from m3bench.tasks.families import revisions
from m3bench.tasks.families.base import Composition, Kit, Script, Solution, call, need, reduced, words
from m3bench.tasks.families.revisions import SMALLEST, BoxedLine, DraftFamily, Goal, Lettering, Work, resized
from m3bench.tasks.render import backdrops, pen
from m3bench.tasks.render.canvas import Canvas
from m3bench.tasks.studio.page import Element, Page, box, line, page_of, text

_ROOMS = ("Hall", "Studio", "Kitchen", "Attic")
_FIRST, _LAST = 9, 17
"""Hours of the day."""
_LEFT, _TOP, _COLUMN, _HOUR = 96.0, 156.0, 154.0, 44.0
"""Where the rooms and the hours begin, how wide a room and how high an hour is."""
_LISTED, _CIRCLED = 9, 6
_LENGTHS = (60, 90, 120)
_SUITS = (
    ("#f6f3ea", "#31465a", "#e9c9a6"),
    ("#f1f5f2", "#2d4f4a", "#cfe0b4"),
    ("#f5f1f6", "#4b3a5a", "#d7c6e6"),
    ("#f0f3f8", "#2c3e66", "#bcd3ec"),
)
"""Ground, ink and blocks."""  # fmt: skip


class _Course(NamedTuple):
    """A course that is on the list."""

    name: str
    room: int
    start: int
    """In minutes of the day."""
    minutes: int

    @property
    def end(self) -> int:
        """In minutes of the day."""
        return self.start + self.minutes

    def meets(self, other: "_Course") -> bool:
        """Whether both take place in one room at one time."""
        return self.room == other.room and self.start < other.end and other.start < self.end

    @property
    def box(self) -> tuple[float, float, float, float]:
        """Where its block is."""
        x, y = _LEFT + _COLUMN * self.room + 4, _TOP + _HOUR * (self.start / 60 - _FIRST) + 2
        return x, round(y, 1), x + _COLUMN - 8, round(y + _HOUR * self.minutes / 60 - 4, 1)


class Timetable(DraftFamily):
    """Compare the timetable with the list, block by block and as a page; then move, rename and resize what is wrong."""

    name = "timetable"
    servers = ("studio", "math")
    courses = words()
    heads = words()
    titles = words()
    subtitles = words()
    tags = words()
    notes = words()
    feet = words()

    def compose(self, rng: random.Random, kit: Kit) -> Composition:
        """A list of nine courses of which six are circled, and a timetable of six."""
        courses = _planned(rng, rng.sample(self.courses, _LISTED))
        meant, others = courses[:_CIRCLED], courses[_CIRCLED:]
        listed = rng.sample(courses, _LISTED)
        composition = reduced(_list(rng, kit, rng.choice(self.heads), listed, meant), 0.7, colours=256)
        drafted, missing, moved, late = _confused(rng, meant, others[0].name)
        work = _drafted(rng, self, meant, drafted, missing, moved, late)
        return revisions.with_work(
            composition, work, listed=listed, meant=meant, missing=missing, moved=moved, late=late
        )

    async def solve(self, rng: random.Random, composition: Composition, path: str, play: Script) -> Solution:
        """What is circled on the list, and what the page looks like, decide what is changed."""
        facts, goal = composition.facts, _GOALS[play.goal]
        work: Work = facts["work"]
        meant: Sequence[_Course] = facts["meant"]
        await revisions.opened(work, play)
        await revisions.revised(work, play)
        minutes = [course.minutes for course in meant]
        (told,) = await play.step(goal.worked_out(minutes))
        result = round(float(told), 2)
        missing, moved, late = (meant[facts[name]] for name in ("missing", "moved", "late"))
        names = facts["listed"]
        return Solution(
            wording=f"Open the draft of the timetable, render it, and compare it with the six courses circled in red on the list in {path}. Put right what is wrong (the name of a "
            "course that is not circled, a block in the wrong room, a block at the wrong time, which lies over another, lettering that sticks out of its box), leave everything "
            f"else as it is, and render it again. Then work out {goal.meaning}.",
            answer=f"The timetable is revised: {missing.name} was missing, {moved.name} belongs into the {_ROOMS[moved.room]}, {late.name} begins at {_clock(late.start)}, and "
            f"{goal.meaning}: {result:g}.",
            fields=(
                Field(name="missing", meaning="the circled course that was not on the timetable", value=_name(missing, names)),
                Field(name="misplaced", meaning="the circled course that stood in the wrong room", value=_name(moved, names)),
                Field(name="room", meaning="the room that it belongs into", value=Choice(value=_ROOMS[moved.room], options=_ROOMS)),
                Field(name="mistimed", meaning="the circled course that stood at the wrong time", value=_name(late, names)),
                Field(name=play.goal, meaning=goal.meaning, value=Number(value=result), derived=tuple(map(float, minutes))),
                revisions.field_of(work, "timetable", "the revised timetable; a block and its name are in the room and at the time of the list, and as high as the course is long"),
            ),
            alternatives=(play.varied("worked out without a tool", {len(play.steps) - 1: ()}),),
        )  # fmt: skip


def _clock(minutes: int) -> str:
    return f"{minutes // 60}:{minutes % 60:02}"


def _name(course: _Course, listed: Sequence[_Course]) -> Name:
    return Name(value=course.name, others=tuple(other.name for other in listed if other.name != course.name))


def _planned(rng: random.Random, names: Sequence[str]) -> list[_Course]:
    """Courses at times and in rooms in which nothing else takes place."""
    found: list[_Course] = []
    for name in names:
        for _ in range(60):
            minutes = rng.choice(_LENGTHS)
            start = rng.randrange(_FIRST * 60, _LAST * 60 - minutes + 1, 30)
            one = _Course(name, rng.randrange(len(_ROOMS)), start, minutes)
            if not any(one.meets(other) for other in found):
                found.append(one)
                break
    need(len(found) == len(names), "there is no room for all of them")
    return found


def _confused(rng: random.Random, meant: Sequence[_Course], stray: str) -> tuple[list[_Course], int, int, int]:
    """The courses with one renamed, one in a free room that is not its own, and one over another; and which they are."""
    for missing, moved, late in rng.sample(list(permutations(range(len(meant)), 3)), 60):
        rest = [one for number, one in enumerate(meant) if number not in (moved, late)]
        rooms = [meant[moved]._replace(room=room) for room in range(len(_ROOMS)) if room != meant[moved].room]
        free = [course for course in rooms if not any(course.meets(other) for other in rest)]
        last = _LAST * 60 - meant[late].minutes
        times = [meant[late]._replace(start=start) for start in range(_FIRST * 60, last + 1, 30)]
        over = [
            course for course in times if any(course.meets(other) and course.start != other.start for other in rest)
        ]
        if free and over:
            drafted = list(meant)
            drafted[missing] = meant[missing]._replace(name=stray)
            drafted[moved], drafted[late] = rng.choice(free), rng.choice(over)
            return drafted, missing, moved, late
    need(False, "nothing is there to lie over")
    raise AssertionError


def _list(rng: random.Random, kit: Kit, head: str, listed: Sequence[_Course], meant: Sequence[_Course]) -> Composition:
    """A sheet with a line by hand for every course; red is drawn around those that take place."""
    canvas = Canvas(kit.art, 1160, 1100)
    backdrops.table(canvas, rng)
    backdrops.paper(canvas, rng, (70, 20, 1090, 1080))
    ink = rng.choice(("#2b2f38", "#28406b", "#3b3b3b"))
    canvas.text(head, 130, 108, 58, face="hand", fill=ink)
    boxes = {}
    for number, one in enumerate(listed):
        y = 210 + 98 * number
        left = canvas.text(one.name, 140, y, 46, face="hand", fill=ink, width=430)
        canvas.text(f"{_clock(one.start)} to {_clock(one.end)}", 590, y, 46, face="hand", fill=ink)
        right = canvas.text(_ROOMS[one.room], 900, y, 46, face="hand", fill=ink)
        boxes[one.name] = (left[0], left[1], right[2], right[3])
    canvas.light(rng, 0.6)
    names = [course.name for course in meant]
    pen.circle(
        canvas, rng, [boxes[name] for name in names], [found for name, found in boxes.items() if name not in names]
    )
    return Composition.of(canvas)


def _drafted(
    rng: random.Random,
    family: Timetable,
    meant: Sequence[_Course],
    drafted: Sequence[_Course],
    missing: int,
    moved: int,
    late: int,
) -> Work:
    lines = [
        BoxedLine("title", rng.choice(family.titles), "title-box", 672, 700, 49),
        BoxedLine("subtitle", rng.choice(family.subtitles), "subtitle-box", 472, 400, 34),
        BoxedLine("tag", rng.choice(family.tags), "tag-box", 176, 600, 34),
        BoxedLine("note", rng.choice(family.notes), "note-box", 408, 400, 34),
        BoxedLine("foot", rng.choice(family.feet), "foot-box", 232, 400, 34),
    ]
    lettering = Lettering.drawn(rng, lines, 1)
    suit = rng.choice(_SUITS)
    written = lettering.texts
    order = rng.sample(range(len(meant)), len(meant))
    sizes = [_size(course.name) for course in drafted]
    page = _page(suit, written, [drafted[place] for place in order], [sizes[place] for place in order])
    sizes[missing] = min(sizes[missing], _size(meant[missing].name))
    right = _page(suit, written, [meant[place] for place in order], [sizes[place] for place in order])
    right = resized(right, lettering.right)
    numbers = range(1, len(meant) + 1)
    names = [f"course-{number}-name" for number in numbers]
    parts = {place: number for number, place in enumerate(order, 1)}
    loose = {f"course-{parts[place]}{part}": ("x", "y") for part in ("", "-name", "-time") for place in (moved, late)}
    return Work(
        name=family.file_name(rng),
        title="Timetable of courses",
        draft=resized(page, lettering.drafted),
        right=right,
        holds=(
            PageSays(texts={**written, **{name: right[name].text for name in (*names, *(f"course-{number}-time" for number in numbers))}}),
            BlocksAt(boxes={f"course-{number}": meant[place].box for number, place in enumerate(order, 1)}),
            NoOverlap(names=tuple(f"course-{number}" for number in numbers)),
            NoOverlap(names=tuple(f"course-{number}-{kind}" for kind in ("name", "time") for number in numbers)),
            TextFits(
                boxes={f"course-{number}-{kind}": f"course-{number}" for kind in ("name", "time") for number in numbers},
                least={f"course-{number}-name": round(sizes[place] * SMALLEST, 1) for number, place in enumerate(order, 1)},
            ),
            lettering.fits(),
        ),
        asked=frozenset(names),
        everything=resized(right, lettering.everything),
        estimated=resized(right, lettering.estimated),
        loose={**lettering.loose(), **loose, f"course-{parts[missing]}-name": ("font-size", "text")},
    )  # fmt: skip


def _size(name: str) -> float:
    return min(16.0, round(0.95 * (_COLUMN - 24) / fonts.width(name, 1.0, 700), 1))


def _page(
    suit: tuple[str, str, str], written: Mapping[str, str], courses: Sequence[_Course], sizes: Sequence[float]
) -> Page:
    ground, ink, fill = suit
    foot = _TOP + _HOUR * (_LAST - _FIRST)
    grid: list[Element] = []
    for number, room in enumerate(_ROOMS):
        x = _LEFT + _COLUMN * number
        grid += [
            box(f"column-{number}", x, _TOP, _COLUMN, foot - _TOP, "#ffffff" if number % 2 else "#fbfbf8"),
            box(f"head-{number}", x, _TOP - 30, _COLUMN, 30, ink),
            text(f"room-{number}", x + _COLUMN / 2, _TOP - 9, 16, room, "#ffffff", text_anchor="middle", font_weight=600),
        ]  # fmt: skip
    for hour in range(_FIRST, _LAST + 1):
        y = _TOP + _HOUR * (hour - _FIRST)
        grid += [
            line(f"rule-{hour}", _LEFT, y, _LEFT + _COLUMN * len(_ROOMS), y, "#c9ccd2", stroke_width=1),
            text(f"hour-{hour}", _LEFT - 10, y + 5, 14, f"{hour}:00", "#54575d", text_anchor="end"),
        ]
    blocks: list[Element] = []
    for number, (one, size) in enumerate(zip(courses, sizes, strict=True), 1):
        left, top, right, bottom = one.box
        blocks += [
            box(f"course-{number}", left, top, right - left, round(bottom - top, 1), fill, stroke=ink, stroke_width=1, rx=5),
            text(f"course-{number}-name", left + 8, top + 17, size, one.name, ink, font_weight=700),
            text(f"course-{number}-time", left + 8, top + 34, 13, f"{one.minutes} minutes", "#3c3f45"),
        ]  # fmt: skip
    return page_of(
        760, 590,
        box("sheet", 0, 0, 760, 590, ground),
        box("title-box", 44, 16, 672, 50, ink, rx=6),
        text("title", 380, 51, 20, written["title"], "#ffffff", text_anchor="middle", font_weight=700),
        box("subtitle-box", 44, 74, 480, 36, "#ffffff", rx=6),
        text("subtitle", 52, 99, 12, written["subtitle"], ink),
        box("tag-box", 540, 74, 176, 36, fill, rx=18),
        text("tag", 628, 99, 12, written["tag"], ink, text_anchor="middle", font_weight=600),
        grid, blocks,
        box("note-box", 44, 532, 416, 40, "#ffffff", rx=6),
        text("note", 52, 558, 12, written["note"], "#4a4d52"),
        box("foot-box", 484, 532, 232, 40, "#ffffff", rx=6),
        text("foot", 600, 558, 12, written["foot"], "#4a4d52", text_anchor="middle"),
    )  # fmt: skip


_GOALS: Mapping[str, Goal[[Sequence[float]]]] = {
    "total": Goal(
        "how many minutes the six circled courses take together",
        revisions.added_up,
    ),
    "mean": Goal(
        "how many minutes the six circled courses take on average",
        revisions.averaged,
    ),
    "hours": Goal(
        "how many hours the six circled courses take together",
        lambda minutes: call("math/division", {"numerator": sum(minutes), "denominator": 60}),
    ),
}
