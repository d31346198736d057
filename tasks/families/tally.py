"""A tally: things that were heard or seen are looked up, added up and compared.

A family says how its things are found in a recording or in pictures, and for each goal what is looked up for a thing and which
figure counts. Everything is decided by what was really answered. Numbers that are spoken are said as people say them.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from m3bench.tasks.answers.fields import Choice, Field, Items, Money, Name, Number
from m3bench.tasks.families.base import UNAIDED, Script, Solution, call, need, product
from m3bench.tasks.task import Reference, ReferenceCall

CLOSE = 0.02
"""By which share the largest figure must be larger than the next."""


class TalliedThing(NamedTuple):
    """Something that is meant."""

    name: str
    spellings: tuple[str, ...] = ()
    many: int = 1
    """How many of it, or how much."""
    key: str = ""
    """By which it is looked up, where that is not its name."""


@dataclass(frozen=True, kw_only=True)
class TallyGoal:
    """A goal of a family."""

    look_up: Callable[[TalliedThing], ReferenceCall]
    figure: Callable[[str], float]
    """What is added up."""
    find: Callable[[TalliedThing], ReferenceCall] | None = None
    """Brings what a thing is looked up by, where its name is not enough."""
    key: Callable[[str], str] = str
    """Reads that."""
    multiplied: bool = False
    """Whether a figure counts as many times as there are of the thing."""
    unit: str
    meant: tuple[str, str]
    """Name and meaning of the field with the things."""
    most: tuple[str, str]
    """Of the one with the largest figure."""
    total: tuple[str, str]
    """Of the sum."""
    wording: str
    """The task in concrete words."""
    within: float = 0.0
    """How far off the sum may be; money is exact."""


async def run(
    tally: TallyGoal,
    things: Sequence[TalliedThing],
    play: Script,
    *,
    others: Sequence[str] = (),
    options: Sequence[str] = (),
) -> Solution:
    """Play a tally, after the steps that heard or saw what is meant.

    Args:
        tally: What is to be done.
        things: What is meant.
        play: Makes the calls.
        others: Names that are not meant and might be handed in.
        options: What the question names, so that the one with the largest figure is a choice.
    """
    sensed = len(play.steps)
    if tally.find is not None:
        found = await play.step(*map(tally.find, things))
        things = [thing._replace(key=tally.key(text)) for thing, text in zip(things, found, strict=True)]
    figures = [tally.figure(text) for text in await play.step(*map(tally.look_up, things))]
    if tally.multiplied:
        products = await play.step(
            *(product(figure, thing.many) for figure, thing in zip(figures, things, strict=True))
        )
        figures = [round(float(text), 2) for text in products]
    (added,) = await play.step(call("math/sum", {"numbers": figures}))
    total = round(float(added), 2)
    ranked = sorted(zip(figures, things, strict=True), key=lambda pair: -pair[0])
    (most, top), (second, _) = ranked[:2]
    need(most - second >= CLOSE * abs(most), "it is hardly the largest")
    need(total - most > max(2 * tally.within, 0.02), "two answers are one")
    by_head = {at: () for at, step in enumerate(play.steps) if step[0].tool.startswith("math/")}
    names = [thing.name for thing in things]
    return Solution(
        wording=tally.wording,
        answer=f"That is {', '.join(names)}: {total:.2f} {tally.unit} together, most of it {top.name} with {most:.2f}.",
        fields=(
            Field(
                name=tally.meant[0],
                meaning=tally.meant[1],
                value=Items(items=tuple(_name(thing, things, others) for thing in things)),
            ),
            Field(
                name=tally.most[0],
                meaning=tally.most[1],
                value=Choice(value=top.name, aliases=top.spellings, options=tuple(options))
                if options
                else _name(top, things, others),
                compared=tuple(figure for figure, _ in ranked),
            ),
            Field(name=tally.total[0], meaning=tally.total[1], value=_value(tally, total), derived=tuple(figures)),
        ),
        alternatives=(
            play.varied("worked out without a tool", by_head),
            *((without_tools(play, sensed),) if sensed else ()),
        ),
    )


def without_tools(play: Script, sensed: int) -> Reference:
    """The same by somebody who hears and sees for themselves: without the first steps."""
    return play.varied(UNAIDED, dict.fromkeys(range(sensed), ()))


def _name(thing: TalliedThing, things: Sequence[TalliedThing], others: Sequence[str]) -> Name:
    known = (thing.name, *thing.spellings)
    more = [name for other in things if other != thing for name in (other.name, *other.spellings)]
    return Name(
        value=thing.name,
        aliases=thing.spellings,
        others=tuple(dict.fromkeys(name for name in (*more, *others) if name not in known)),
    )


def _value(tally: TallyGoal, total: float) -> Number | Money:
    if len(tally.unit) == 3 and tally.unit.isupper():
        return Money(value=total, unit=tally.unit)
    return Number(value=total, within=tally.within, unit=tally.unit)


_SMALL = (
    "zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve", "thirteen",
    "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen",
)  # fmt: skip
_TENS = ("twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety")

NUMBER_WORDS = (*_SMALL, *_TENS, "hundred")
"""Every word that a number below a thousand is said with."""


def in_words(number: int) -> str:
    """A number from 0 to 999 in words."""
    if number >= 100:
        rest = f" {in_words(number % 100)}" if number % 100 else ""
        return f"{_SMALL[number // 100]} hundred{rest}"
    if number < 20:
        return _SMALL[number]
    return f"{_TENS[number // 10 - 2]} {_SMALL[number % 10]}" if number % 10 else _TENS[number // 10 - 2]


def number_of(words: Sequence[str]) -> int | None:
    """The number that words say; None when they say none."""
    text = " ".join(words)
    return next((number for number in range(1000) if in_words(number) == text), None)
