"""Errands: what is circled in a picture, minus what the rules of the house forbid, added up and shared out.

A family states for each goal which two things the person must be asked, which document has the rule, what is looked up
for each thing, and what it is to be compared with. When played, an errand asks first, then reads the rule and has what
was said confirmed, and only then looks things up. What is said, asked and written stands in the family's file, in several
wordings each. The family draws the values; whoever solves a task takes them from what was really answered.
"""

import random
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from m3bench.tasks.answers.fields import Field, Integer, Items, Money, Name, Number
from m3bench.tasks.desk import Desk, DeskRefusal, Document, Known
from m3bench.tasks.families.base import (
    Composition,
    Family,
    Script,
    Solution,
    TableRow,
    call,
    need,
    product,
    table,
    words,
)
from m3bench.tasks.task import Reference, ReferenceCall

_CODES = ("HB", "OP", "RX", "DK", "GL", "MN", "QS", "TV")
"""What the names of documents begin with."""


class Topic(TableRow):
    """Something that a person can be asked about."""

    asked: tuple[str, ...]
    """Beginnings of words, and phrases, that a question about it has."""
    ask: tuple[str, ...]
    """Ways to ask."""
    said: tuple[str, ...]
    """Ways to answer, with the value."""
    change: tuple[str, ...] = ()
    """Ways to announce another value."""


class Denial(TableRow):
    """Something that the rules do not allow the person."""

    about: tuple[str, ...]
    wants: tuple[str, ...]
    said: tuple[str, ...]


class DocumentTexts(TableRow):
    """A document."""

    titles: tuple[str, ...]
    texts: tuple[str, ...]
    """With `{rows}`: a line for each case."""


class DeskFamily(Family):
    """A family whose tasks have a person to ask and documents with rules."""

    topics = table(dict[str, Topic])
    denials = table(tuple[Denial, ...])
    papers = table(dict[str, DocumentTexts])
    confirm = words()
    """Ways to have confirmed what the person said, with `{said}`."""


def with_desk(
    composition: Composition,
    rng: random.Random,
    family: DeskFamily,
    values: Mapping[str, tuple[str, ...]],
    rows: Mapping[str, Mapping[str, str]],
) -> Composition:
    """A composition whose scene has a person and documents.

    Args:
        composition: The picture.
        rng: Where wordings come from.
        family: Has the texts.
        values: What the person knows by topic, and after it what that becomes when they change their mind.
        rows: By document, what holds in each case.
    """
    facts = [_known(rng, family.topics[name], *said) for name, said in values.items()]
    numbers = rng.sample(range(11, 99), len(family.papers))
    code = rng.choice(_CODES)
    papers = [
        Document(
            name=f"{code}-{number}",
            title=rng.choice(paper.titles),
            text=paragraphs(rng.choice(paper.texts)).format(
                rows="\n".join(f"- {case}: {rule}" for case, rule in rows.get(key, {}).items())
            ),
        )
        for number, (key, paper) in zip(numbers, family.papers.items(), strict=True)
    ]
    desk = Desk(
        facts=tuple(facts),
        refusals=tuple(
            DeskRefusal(about=denial.about, wants=denial.wants, said=rng.choice(denial.said))
            for denial in family.denials
        ),
        documents=tuple(sorted(papers, key=lambda paper: paper.name)),
    )
    return replace(composition, scene=replace(composition.scene, desk=desk))


def _known(rng: random.Random, topic: Topic, value: str, later: str = "") -> Known:
    said = rng.choice(topic.said)
    return Known(
        asked=topic.asked,
        said=said.format(value=value),
        value=value,
        later=said.format(value=later) if later else "",
        change=rng.choice(topic.change).format(value=later) if later else "",
    )


def paragraphs(text: str) -> str:
    """A text of the family's file with its paragraphs in one line each."""
    return "\n\n".join(" ".join(part.split()) for part in text.strip().split("\n\n"))


def changed(rng: random.Random, numbers: range) -> tuple[str, str]:
    """A number, and the one that is clearly another and takes its place."""
    first = rng.choice(numbers)
    later = rng.choice([number for number in numbers if abs(number - first) >= 0.15 * first])
    return str(first), str(later)


def limits(rng: random.Random, cases: Sequence[str], numbers: range, written: str, parts: int = 1) -> dict[str, str]:
    """A limit for each case, no two alike.

    Args:
        rng: Where numbers come from.
        cases: What there is a limit for.
        numbers: What a limit may be, in parts.
        written: How it is written, with `{value}`.
        parts: How many parts make one.
    """
    drawn = rng.sample(numbers, len(cases))
    spelled = [f"{number / parts:.2f}" if parts > 1 else str(number) for number in drawn]
    return {case: written.format(value=value) for case, value in zip(cases, spelled, strict=True)}


def documents() -> ReferenceCall:
    """Which documents there are."""
    return call("desk/list_documents", {})


def question(text: str) -> ReferenceCall:
    """A question to the person."""
    return call("desk/ask_user", {"question": text})


def document(listing: str, paper: DocumentTexts) -> ReferenceCall:
    """One of the documents that are listed, by its title."""
    return titled(listing, paper.titles)


def titled(listing: str, titles: Sequence[str]) -> ReferenceCall:
    """One of the documents that are listed, which has one of these titles."""
    names = [name for name, _, title in (line.partition(": ") for line in listing.splitlines()) if title in titles]
    need(len(names) == 1, "the document is not there")
    return call("desk/read_document", {"name": names[0]})


def rules(text: str) -> dict[str, str]:
    """What a document says of each case."""
    return dict(re.findall(r"^- ([^:\n]+): (.+)$", text, re.MULTILINE))


CLOSE = 0.02
"""By which share a figure must differ from a limit."""


class CircledThing(NamedTuple):
    """Something that is circled."""

    name: str
    spellings: tuple[str, ...] = ()
    weight: int = 0
    """Grams, where that is written beside it."""
    key: str = ""
    """By which it is looked up, where that is not its name."""


class LookedUp(NamedTuple):
    """A thing with what was found about it."""

    thing: CircledThing
    text: str


Rule = Callable[[LookedUp, str], bool]
"""Whether a thing may be taken, by what a document says of the case."""


@dataclass(frozen=True, kw_only=True)
class ErrandGoal:
    """A goal of a family."""

    count: str
    """The topic of the number."""
    case: str
    """The topic that says which line of the rules holds."""
    paper: str
    """The document with the rules."""
    look_up: Callable[[CircledThing], ReferenceCall]
    figure: Callable[[str], float]
    """What is added up."""
    find: Callable[[CircledThing], ReferenceCall] | None = None
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


def unnamed(looked: LookedUp, rule: str) -> bool:
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
    errand: ErrandGoal,
    things: Sequence[CircledThing],
    family: DeskFamily,
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
        family: Has the texts.
        rng: Where wordings come from.
        path: The picture.
        play: Makes the calls.
        read: A call that reads the picture, which eyes can do without.
    """
    asks = [rng.choice(family.topics[name].ask) for name in (errand.count, errand.case)]
    listing, many, which = await play.step(documents(), *map(question, asks))
    confirm = question(rng.choice(family.confirm).format(said=f"{many} {which}"))
    further = [titled(listing, [title]) for title in play.further]
    text, *_, final = await play.step(document(listing, family.papers[errand.paper]), *further, confirm)
    count, rule, before = _number(many, final), _rule(rules(text), which, final), _rule(rules(text), which)
    looked = await _looked(errand, things, rule, play)
    kept = [found for found in looked if errand.allowed(found, rule)]
    need(0 < len(kept) < len(things), "the rule forbids nothing, or everything")
    others = [LookedUp(thing, "") for thing in things] if errand.by_name else looked
    names = [found.thing.name for found in others if errand.allowed(found, before)]
    need(rule == before or names != [found.thing.name for found in kept], "the change changes nothing")
    figures = [errand.figure(found.text) for found in kept]
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
    names = [found.thing.name for found in kept]
    return Solution(
        wording=f"{errand.wording} What is meant is circled in red in {path}; ask the person for what is missing, have it "
        "confirmed, and keep to the rules in the documents.",
        answer=f"By the rules that leaves {', '.join(names)}: {total:.2f} {errand.unit} together, and {result:.2f} {errand.unit} "
        f"for {count}.",
        fields=(
            Field(name=errand.kept[0], meaning=errand.kept[1], value=_names([found.thing for found in kept], things)),
            Field(name=errand.total[0], meaning=errand.total[1], value=_value(errand, total, money, errand.within), derived=tuple(figures)),
            Field(name=errand.result[0], meaning=errand.result[1], value=_value(errand, result, money, _slack(errand, result, count)), derived=(*figures, float(count))),
        ),
        alternatives=tuple(_other_ways(errand, play, asks, read)),
    )  # fmt: skip


def _other_ways(
    errand: ErrandGoal, play: Script, asks: Sequence[str], read: ReferenceCall | None
) -> Iterator[Reference]:
    """Other ways to do the errand that are as good."""
    by_head = {number: () for number, step in enumerate(play.steps) if step[0].tool.startswith("math/")}
    yield play.varied("worked out without a tool", by_head)
    yield play.varied("both facts asked for at once", {0: [documents(), question(" ".join(asks))]})
    if read:
        yield play.varied("read with a tool", {0: (*play.steps[0], read)})
    if errand.find:
        yield play.varied("knows what they are looked up by", {2: ()})


async def _looked(errand: ErrandGoal, things: Sequence[CircledThing], rule: str, play: Script) -> list[LookedUp]:
    """What is found about each thing; what a rule forbids by name is not even looked up."""
    if errand.by_name:
        things = [thing for thing in things if errand.allowed(LookedUp(thing, ""), rule)]
        need(bool(things), "the rule forbids everything")
    if errand.find is not None:
        found = await play.step(*map(errand.find, things))
        things = [thing._replace(key=errand.key(text)) for thing, text in zip(things, found, strict=True)]
    texts = await play.step(*map(errand.look_up, things))
    return [LookedUp(thing, text) for thing, text in zip(things, texts, strict=True)]


def _worked_out(errand: ErrandGoal, total: float, count: int) -> ReferenceCall:
    if errand.shared:
        near = {"numerator": errand.within} if errand.within else None
        return call("math/division", {"numerator": total, "denominator": count}, near=near)
    return product(total, count)


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


def _names(kept: Sequence[CircledThing], things: Sequence[CircledThing]) -> Items:
    return Items(
        items=tuple(
            Name(
                value=thing.name,
                aliases=thing.spellings,
                others=tuple(name for other in things if other != thing for name in (other.name, *other.spellings)),
            )
            for thing in kept
        )
    )


def _value(errand: ErrandGoal, value: float, money: bool, within: float) -> Number | Money | Integer:
    if money:
        return Money(value=value, unit=errand.unit)
    return Number(value=value, within=within, unit=errand.unit)


def _slack(errand: ErrandGoal, result: float, count: int) -> float:
    """How far off the result may be when the sum is as far off as it may be."""
    return round(max(errand.within / count, 0.006 * abs(result), 0.02) if errand.shared else errand.within * count, 3)
