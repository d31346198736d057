"""Errands: what is circled in a picture, less what the rules of the house forbid, added up and shared out.

A family states for each goal which two things the person must be asked, which document has the rule, what is looked up
for each thing, and what it is to be compared with. Played, an errand asks first, then reads the rule and has what was
said confirmed, and only then looks things up. Everything is decided by what was really answered.
"""

import random
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from m3bench.tasks.answers.fields import Field, Integer, Items, Money, Name, Number
from m3bench.tasks.families import talk
from m3bench.tasks.families.base import Script, Solution, call, need
from m3bench.tasks.families.talk import TalkTables
from m3bench.tasks.task import ReferenceCall

CLOSE = 0.02
"""By which share a figure must differ from a limit."""


class Thing(NamedTuple):
    """Something that is circled."""

    name: str
    spellings: tuple[str, ...] = ()
    weight: int = 0
    """Grams, where that is written beside it."""
    key: str = ""
    """By which it is looked up, where that is not its name."""


class Looked(NamedTuple):
    """A thing with what was found about it."""

    thing: Thing
    text: str


Rule = Callable[[Looked, str], bool]
"""Whether a thing may be taken, by what a document says of the case."""


@dataclass(frozen=True, kw_only=True)
class Errand:
    """A goal of a family."""

    count: str
    """The topic of the number."""
    case: str
    """The topic that says which line of the rules holds."""
    paper: str
    """The document with the rules."""
    look_up: Callable[[Thing], ReferenceCall]
    figure: Callable[[str], float]
    """What is added up."""
    find: Callable[[Thing], ReferenceCall] | None = None
    """Brings what a thing is looked up by, where its name is not enough."""
    key: Callable[[str], str] = str
    """Reads that."""
    allowed: Rule
    shared: bool
    """Whether the sum is divided by the number, or multiplied."""
    unit: str
    kept: tuple[str, str]
    """Name and meaning of the field with what may be taken."""
    total: tuple[str, str]
    """Of the sum."""
    result: tuple[str, str]
    """Of the sum divided or multiplied."""
    wording: str
    """The task in concrete words, after what is circled."""
    by_name: bool = False
    """Whether the rule needs nothing that is looked up."""
    within: float = 0.0
    """How far off the sum may be; money is exact."""


def unnamed(looked: Looked, rule: str) -> bool:
    """A thing may be taken that the rule does not name."""
    named = {word.strip().casefold() for word in rule.split(",")}
    return not named & {name.casefold() for name in (looked.thing.name, *looked.thing.spellings)}


def at_most(measure: Callable[[str], float]) -> Rule:
    """A thing may be taken whose figure is not above the limit of the rule."""
    return lambda looked, rule: _below(measure(looked.text), rule)


def at_least(measure: Callable[[str], float], close: float | None = None) -> Rule:
    """A thing may be taken whose figure is not below the limit of the rule.

    Args:
        measure: Reads the figure.
        close: By how much it must differ from the limit; a share of the limit when left out.
    """
    return lambda looked, rule: not _below(measure(looked.text), rule, close)


def _below(figure: float, rule: str, close: float | None = None) -> bool:
    limit = float(re.findall(r"\d+(?:\.\d+)?", rule)[0])
    margin = CLOSE * limit if close is None else close
    need(abs(figure - limit) >= margin, "a limit is hardly kept, or hardly broken")
    return figure < limit


async def run(
    errand: Errand,
    things: Sequence[Thing],
    tables: TalkTables,
    rng: random.Random,
    path: str,
    play: Script,
    *,
    read: ReferenceCall | None = None,
) -> Solution:
    """Play an errand.

    Args:
        errand: What is to be done.
        things: What is circled.
        tables: The family's texts.
        rng: Where wordings come from.
        path: The picture.
        play: Makes the calls.
        read: A call that reads the picture, which eyes can do without.
    """
    asks = [rng.choice(tables.topics[name].ask) for name in (errand.count, errand.case)]
    listing, many, which = await play.step(talk.documents(), *map(talk.question, asks))
    confirm = talk.question(rng.choice(tables.confirm).format(said=f"{many} {which}"))
    text, final = await play.step(talk.document(listing, tables.papers[errand.paper]), confirm)
    count, rule, before = _number(many, final), _rule(talk.rules(text), which, final), _rule(talk.rules(text), which)
    looked = await _looked(errand, things, rule, play)
    kept = [one for one in looked if errand.allowed(one, rule)]
    need(0 < len(kept) < len(things), "the rule forbids nothing, or everything")
    others = [Looked(thing, "") for thing in things] if errand.by_name else looked
    names = [one.thing.name for one in others if errand.allowed(one, before)]
    need(rule == before or names != [one.thing.name for one in kept], "the change changes nothing")
    figures = [errand.figure(one.text) for one in kept]
    money = len(errand.unit) == 3 and errand.unit.isupper()
    total = figures[0]
    if len(figures) > 1:
        (added,) = await play.step(call("math/sum", {"numbers": figures}))
        total = round(float(added), 2)
    (worked_out,) = await play.step(_worked_out(errand, total, count))
    result, first = round(float(worked_out), 2), _number(many)
    was = total / first if errand.shared else total * first
    need(
        count == first or abs(was - result) > max(2 * _slack(errand, result, count), 0.03), "the change changes nothing"
    )
    need(abs(total - result) > max(2 * errand.within, 0.02), "two answers are one")
    by_head = {number: () for number, step in enumerate(play.steps) if step[0].tool.startswith("math/")}
    both = [talk.documents(), talk.question(" ".join(asks))]
    names = [one.thing.name for one in kept]
    return Solution(
        wording=f"{errand.wording} What is meant is circled in red in {path}; ask the person for what is missing, have it "
        "confirmed, and keep to the rules in the documents.",
        answer=f"By the rules that leaves {', '.join(names)}: {total:.2f} {errand.unit} together, and {result:.2f} {errand.unit} "
        f"for {count}.",
        fields=(
            Field(name=errand.kept[0], meaning=errand.kept[1], value=_names([one.thing for one in kept], things)),
            Field(name=errand.total[0], meaning=errand.total[1], value=_value(errand, total, money, errand.within), derived=tuple(figures)),
            Field(name=errand.result[0], meaning=errand.result[1], value=_value(errand, result, money, _slack(errand, result, count)), derived=(*figures, float(count))),
        ),
        alternatives=(
            play.varied("worked out without a tool", by_head),
            play.varied("both facts asked for at once", {0: both}),
            *((play.varied("read with a tool", {0: (*play.steps[0], read)}),) if read else ()),
            *((play.varied("knows what they are looked up by", {2: ()}),) if errand.find else ()),
        ),
    )  # fmt: skip


async def _looked(errand: Errand, things: Sequence[Thing], rule: str, play: Script) -> list[Looked]:
    """What is found about each thing; what a rule forbids by name is not even looked up."""
    if errand.by_name:
        things = [thing for thing in things if errand.allowed(Looked(thing, ""), rule)]
        need(bool(things), "the rule forbids everything")
    if errand.find is not None:
        found = await play.step(*map(errand.find, things))
        things = [thing._replace(key=errand.key(text)) for thing, text in zip(things, found, strict=True)]
    texts = await play.step(*map(errand.look_up, things))
    return [Looked(thing, text) for thing, text in zip(things, texts, strict=True)]


def _worked_out(errand: Errand, total: float, count: int) -> ReferenceCall:
    if errand.shared:
        near = {"numerator": errand.within} if errand.within else None
        return call("math/division", {"numerator": total, "denominator": count}, near=near)
    return call(
        "math/multiply",
        {"firstNumber": total, "SecondNumber": count},
        either={"firstNumber": (total, count), "SecondNumber": (count, total)},
    )


def _number(said: str, final: str = "") -> int:
    """The number that the person gave, or the one that took its place."""
    found = re.findall(r"\d+", final) or re.findall(r"\d+", said)
    need(len(found) == 1, "the person did not give one number")
    return int(found[0])


def _rule(rules: Mapping[str, str], said: str, final: str = "") -> str:
    """What holds in the case that the person named, or in the one that took its place."""
    for text in (final, said):
        named = [case for case in rules if re.search(rf"\b{re.escape(case)}\b", text, re.IGNORECASE)]
        if len(named) == 1:
            return rules[named[0]]
    need(False, "the document does not know the case")
    raise AssertionError


def _names(kept: Sequence[Thing], things: Sequence[Thing]) -> Items:
    return Items(
        items=tuple(
            Name(
                value=one.name,
                aliases=one.spellings,
                others=tuple(name for other in things if other != one for name in (other.name, *other.spellings)),
            )
            for one in kept
        )
    )


def _value(errand: Errand, value: float, money: bool, within: float) -> Number | Money | Integer:
    if money:
        return Money(value=value, unit=errand.unit)
    return Number(value=value, within=within, unit=errand.unit)


def _slack(errand: Errand, result: float, count: int) -> float:
    """How far off the result may be when the sum is as far off as it may be."""
    return round(max(errand.within / count, 0.006 * abs(result), 0.02) if errand.shared else errand.within * count, 3)
