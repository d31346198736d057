"""Drafts of pages that are to be revised: what the families of the set `studio` have in common.

A family states the page as it should be and the same page with faults; what the reference changes, what the checks let
nobody touch, and what careless agents would do follow from the two. When played, a draft is opened and rendered, then
revised by what was seen and looked up, and rendered again. Some lines of text are too long for their boxes, which nobody
knows without the metrics of the font (`Lettering`).
"""

import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Generic, NamedTuple, ParamSpec

from m3bench.tasks.answers.fields import Field, File
from m3bench.tasks.answers.files import Content
from m3bench.tasks.answers.pages import PageKept, TextFits
from m3bench.tasks.drawing import fonts
from m3bench.tasks.families.base import Composition, Family, Script, call, need, table
from m3bench.tasks.scene import Draft
from m3bench.tasks.studio.page import Attribute, Element, Page
from m3bench.tasks.task import ReferenceCall

FULL, OVER = (0.93, 0.975), (1.035, 1.08)
"""How much of its box a line takes that fits, and one that does not: nobody knows which it is without looking."""
SMALLEST = 0.8
"""How much smaller than need be lettering may become that was made to fit."""
OUT = {True: 0.7, False: 0.2}
"""How often a line is too long for its box: more often where its letters are wider than most, as it is in life."""


class BoxedLine(NamedTuple):
    """A line of writing that belongs into a box."""

    name: str
    text: str
    box: str
    """The name of the box."""
    width: float
    """How wide it may be at most: from where it begins to the edge of the box, or from edge to edge in the middle."""
    weight: int = 400
    most: float = 60.0
    """The size of letters that the box has room for in height."""

    @property
    def wide(self) -> bool:
        """Whether its letters are wider than most."""
        return fonts.width(self.text, 1.0, self.weight) > len(self.text) * _LETTER[self.weight]


@dataclass(frozen=True)
class Lettering:
    """Sizes of lines in their boxes: as drafted, as they should be, and as careless people would have them."""

    lines: tuple[BoxedLine, ...]
    drafted: Mapping[str, float]
    right: Mapping[str, float]

    @classmethod
    def drawn(cls, rng: random.Random, lines: Sequence[BoxedLine], at_least: int = 0) -> "Lettering":
        """Sizes for some lines, of which half are written in capitals, and some are too long, and never all.

        Args:
            rng: Chooses.
            lines: What is to be written.
            at_least: How many are too long at least.
        """
        capitals = set(rng.sample([line.name for line in lines], len(lines) // 2))
        lines = [line._replace(text=line.text.upper()) if line.name in capitals else line for line in lines]
        out = {line.name for line in lines if rng.random() < OUT[line.wide]}
        names = rng.sample([line.name for line in lines], len(lines))
        out |= set(names[:at_least])
        if len(out) == len(lines):
            out.discard(names[-1])
        drafted, right = {}, {}
        for line in lines:
            fits = _size(line, rng.uniform(*FULL))
            right[line.name] = fits
            drafted[line.name] = _size(line, rng.uniform(*OVER)) if line.name in out else fits
            need(drafted[line.name] <= line.most, f"{line.name} would be too high for its box")
        return cls(tuple(lines), drafted, right)

    @property
    def everything(self) -> dict[str, float]:
        """Every line made smaller."""
        return {line.name: round(self.drafted[line.name] * 0.88, 1) for line in self.lines}

    @property
    def estimated(self) -> dict[str, float]:
        """Lines made smaller that have too many letters for their box, by what a letter takes on average."""
        found = {}
        for line in self.lines:
            size = self.drafted[line.name]
            guess = len(line.text) * size * _LETTER[line.weight]
            found[line.name] = size if guess <= line.width else round(size * 0.88, 1)
        return found

    @property
    def texts(self) -> dict[str, str]:
        """What is written, by the name of the line."""
        return {line.name: line.text for line in self.lines}

    def fits(self) -> TextFits:
        """What the finished page must keep to."""
        return TextFits(
            boxes={line.name: line.box for line in self.lines},
            least={line.name: round(self.right[line.name] * SMALLEST, 1) for line in self.lines},
        )

    def loose(self) -> dict[str, tuple[str, ...]]:
        """How lines that are too long may be mended."""
        return {
            name: ("font-size", "font-weight", "x", "y", "text-anchor")
            for name, size in self.drafted.items()
            if size != self.right[name]
        }


_LETTER = {400: 0.415, 600: 0.45, 700: 0.435}
"""The mean width of a letter in English text, for size 1."""


def _size(line: BoxedLine, share: float) -> float:
    """The size at which a line takes a share of its box."""
    return round(share * line.width / fonts.width(line.text, 1.0, line.weight), 1)


def resized(page: Page, sizes: Mapping[str, float]) -> Page:
    """A page with lines in other sizes."""
    for name, size in sizes.items():
        page = page.with_element(page[name].changed({"font-size": size}))
    return page


P = ParamSpec("P")


@dataclass(frozen=True)
class Goal(Generic[P]):
    """What is worked out of the right page."""

    meaning: str
    worked_out: Callable[P, ReferenceCall]
    key: str = ""
    """By which the figures stand in a record, where there are several."""
    numbers: Sequence[int] = ()
    """What the number in the question may be."""


def added_up(figures: Sequence[float]) -> ReferenceCall:
    """The sum of figures."""
    return call("math/sum", {"numbers": list(figures)})


def averaged(figures: Sequence[float]) -> ReferenceCall:
    """The mean of figures."""
    return call("math/mean", {"numbers": list(figures)})


def spread(figures: Sequence[float]) -> ReferenceCall:
    """By how much the largest figure exceeds the smallest."""
    return call("math/subtract", {"minuend": max(figures), "subtrahend": min(figures)})


class DraftFamily(Family):
    """A family whose tasks have a draft that is to be revised."""

    words = table(tuple[str, ...])
    """What the file of a draft may be called."""

    def file_name(self, rng: random.Random) -> str:
        """A name for the draft's file."""
        return f"{rng.choice(self.words)}-{rng.randrange(11, 99)}.svg"


@dataclass(frozen=True, kw_only=True)
class Work:
    """A draft, and what it is to become."""

    name: str
    """Of its file."""
    title: str
    draft: Page
    right: Page
    holds: tuple[Content, ...]
    """What the finished file must have, besides what was right in the draft."""
    asked: frozenset[str]
    """Elements that are changed by what somebody looks up, rendered or not."""
    everything: Page
    """The right page with every mending that the family knows, needed or not: what somebody gets who never looks."""
    estimated: Page
    """The right page with the mendings of somebody who guesses how wide a line is by counting letters."""
    loose: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """By element, attributes that may be mended in more ways than by those that the reference changes."""


def with_work(composition: Composition, work: Work, **facts: object) -> Composition:
    """A composition whose scene has the draft, and which knows what it is to become, and further facts."""
    draft = Draft(name=work.name, title=work.title, data=work.draft.svg().encode())
    scene = replace(composition.scene, drafts=(draft,))
    return replace(composition, scene=scene, facts={**composition.facts, "work": work, **facts})


async def opened(work: Work, play: Script, *lookups: ReferenceCall) -> list[str]:
    """Find the draft while things are looked up, open it and look at it; returns what the lookups told."""
    listing, *told = await play.step(call("studio/list_drafts", {}), *lookups)
    need(work.name in listing, "the draft is not there")
    await play.step(call("studio/open_draft", {"name": work.name}))
    await play.step(*_looks(work))
    return told


async def revised(work: Work, play: Script) -> None:
    """Change what is wrong, and look again."""
    await play.step(*edits(work))
    await play.step(*_looks(work))


def _looks(work: Work) -> list[ReferenceCall]:
    """Every sheet is rendered."""
    first = call("studio/render_page", {"path": _path(work)}, free=("scale",), either={"page": (1, None)})
    others = range(2, work.draft.sheets + 1)
    return [
        first,
        *(call("studio/render_page", {"path": _path(work), "page": sheet}, free=("scale",)) for sheet in others),
    ]


def _path(work: Work) -> str:
    return f"./{work.name}"


def edits(work: Work) -> list[ReferenceCall]:
    """The changes that make a draft what it should be, one for each element."""
    made = []
    for element in work.draft.elements:
        given: dict[str, object] = {"path": _path(work), "element": element.name}
        if element.name not in work.right:
            made.append(call("studio/remove_element", given))
            continue
        attributes, text = difference(element, work.right[element.name])
        if attributes:
            given["attributes"] = attributes
        if text is not None:
            given["text"] = text
        if len(given) > 2:
            made.append(call("studio/change_element", given))
    for new in work.right.elements:
        if new.name not in work.draft:
            given = {"path": _path(work), "element": new.name, "kind": new.kind, "attributes": dict(new.attributes)}
            made.append(call("studio/add_element", given | ({"text": new.text} if new.text else {}), free=("element",)))
    return made


def difference(one: Element, other: Element) -> tuple[dict[str, Attribute | None], str | None]:
    """The attributes and the text that make an element another one of its kind."""
    names = dict.fromkeys((*one.attributes, *other.attributes))
    changed = {
        name: other.attributes.get(name) for name in names if one.attributes.get(name) != other.attributes.get(name)
    }
    return changed, None if one.text == other.text else other.text


def field_of(work: Work, name: str, meaning: str) -> Field:
    """The field with the revised file."""
    return Field(name=name, meaning=meaning, value=File(form="svg", value=_path(work), holds=(kept(work), *work.holds)))


def kept(work: Work) -> PageKept:
    """What nobody may touch: all that is in the draft as it should be."""
    digests: dict[str, str] = {}
    free: dict[str, tuple[str, ...]] = {}
    new = [element.name for element in work.right.elements if element.name not in work.draft]
    for element in work.draft.elements:
        if element.name not in work.right:
            continue
        attributes, text = difference(element, work.right[element.name])
        wrong = (*attributes, *(("text",) if text is not None else ()))
        if wrong:
            free[element.name] = tuple(sorted({*wrong, *work.loose.get(element.name, ())}))
        digests[element.name] = element.digest(free.get(element.name, ()))
    return PageKept(kept=digests, free=free, open=tuple(new))
