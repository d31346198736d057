"""Words a synthesized task: who asks, what for, the same in concrete words, the fields to hand in, and the answer.

The question never says what is on the card, by which steps the answer is found, or which service knows it. A thing is
spoken of in full the first time and briefly after that. Several phrasings of each part keep tasks from sounding alike.

A model may reword a question more loosely than a template can; each result is checked like any question.
"""

import random
import re
from collections.abc import Iterator, Sequence
from typing import Protocol

from pydantic import BaseModel, ConfigDict

from m3bench.server.lab.authoring.curation.model import Asker
from m3bench.server.lab.authoring.synthesis.errand import COINS, SynthesisErrand, Want
from m3bench.server.lab.authoring.synthesis.instance import Instance, InstanceAnswer
from m3bench.server.lab.authoring.synthesis.lexicon import LexiconLink, Persona
from m3bench.tasks.answers.fields import (
    AnyValue,
    Choice,
    Code,
    Date,
    Field,
    Integer,
    Money,
    Name,
    Number,
    Phone,
    right_lines,
)

ORDER = ("first", "second", "third")


def fields(made: Instance) -> tuple[Field, ...]:
    """What is to be handed in for a task in the making."""
    return (*_together(made), *(_field(answer, made) for answer in made.answers))


def nouns(errand: SynthesisErrand) -> str:
    """What the things are called whose numbers are brought together."""
    place = errand.joined.place if errand.joined is not None else ()
    return place[-1].nouns if place else errand.kind.nouns


def _together(made: Instance) -> Iterator[Field]:
    """What all things on the card give together."""
    errand = made.errand
    if errand.together is None or made.result is None:
        return
    values = tuple(float(answer.value) for answer in made.joined)
    if errand.together == "road":
        yield Field(name="by_road", meaning=errand.kind.road, value=Number(unit="km", value=made.result, within=0.6))
    if errand.joined is None:
        return
    ask = errand.joined.ask
    match errand.together:
        case "more":
            place = Choice(options=ORDER[:2], value=ORDER[made.winner], aliases=(made.things[made.winner],))
            best = tuple(sorted(values, reverse=True))
            yield Field(name="which", meaning="its place on the card", value=place, compared=best, derived=values)
            apart = _number(ask.unit, made.result, 2 * ask.within)
            yield Field(
                name="difference", meaning=f"how many {ask.by} lie between the two", value=apart, derived=values
            )
        case "total":
            meaning = re.sub(r"\b(?:I|me)\b", "you", ask.total.format(nouns=nouns(errand)))
            whole = _number(ask.unit, made.result, ask.within or 0.006)
            yield Field(name=f"{ask.name}_in_all", meaning=meaning, value=whole, derived=values)
        case "buys":
            meaning = ask.buys.format(x=_short(errand.joined.place, errand), coin="unit of the coin in question")
            number = Number(decimals=2, value=round(made.result, 4), within=max(0.006, 0.002 * made.result))
            yield Field(name="for_one_coin", meaning=meaning, value=number, derived=(made.rate, *values))


def _field(answer: InstanceAnswer, made: Instance) -> Field:
    errand, ask = made.errand, answer.ask
    if answer.want in errand.either and answer is made.answers[-1]:
        meaning = "what was wanted in the case that turned out to be true"
        return Field(name="whichever_applies", meaning=meaning, value=_value(answer), compared=answer.compared)
    meaning = ask.words.split("|")[0].format(
        x=_short(answer.want.place, errand), p=_short(answer.want.place[:-1], errand)
    )
    name = ask.name
    if errand.count > 1 and errand.together != "more":
        name, meaning = f"{name}_{ORDER[answer.about]}", f"{meaning}: the {ORDER[answer.about]} on the card"
    return Field(name=name, meaning=meaning, value=_value(answer), compared=answer.compared)


def _short(place: Sequence[LexiconLink], errand: SynthesisErrand) -> str:
    """A thing in few words."""
    return next((link.that for link in reversed(place) if link.that not in ("", "it")), errand.kind.noun)


def _value(answer: InstanceAnswer) -> AnyValue:
    ask, value = answer.ask, answer.value
    if isinstance(value, float):
        return _number(ask.unit, value, ask.within)
    match ask.kind:
        case "phone":
            return Phone(value=value)
        case "code":
            return Code(value=value)
        case "date":
            return Date(value=value, precision="year" if re.fullmatch(r"\d{4}", value) else "day")
        case _:
            return Name(value=value, aliases=spellings(value), others=answer.others)


def _number(unit: str, value: float, within: float) -> Number | Integer | Money:
    value = round(value, 6)
    if unit == "USD":
        return Money(unit=unit, value=value, within=within)
    if value.is_integer() and within == 0:
        return Integer(unit=unit, value=int(value))
    return Number(unit=unit, value=value, within=within)


def spellings(value: str) -> tuple[str, ...]:
    """Other ways to write a name: without brackets around it, without what stands in brackets behind it."""
    found = [value.strip("()"), re.sub(r"\s*\([^)]*\)$", "", value)]
    return tuple(dict.fromkeys(name for name in found if name and name != value))


_COUNTS = {1: "one", 2: "two", 3: "three"}
_TELL = (
    "Could you find out {asks}?", "I need to know {asks}.", "Please tell me {asks}.", "What I'm after is {asks}.",
    "Can you look up {asks}?", "I'd like to know {asks}.", "Let me know {asks}.", "Do you know {asks}?",
)  # fmt: skip
_EACH = (
    "For each of them, please tell me {asks}.",
    "For each one I need to know {asks}.",
    "I'd like to know, for each, {asks}.",
    "Could you find out, for each, {asks}?",
)
_WHICH = (
    "Which of the two {nouns} {more}, and by {by}?",
    "Find out which of the two {nouns} {more}, and by {by}.",
    "I wonder which of the two {nouns} {more}, and by {by}.",
)
_WINNER = (
    "For the one that comes out ahead, I also need to know {asks}.", "Then tell me, for that one only, {asks}.",
    "About that one I'd also like to hear {asks}.", "And tell me {asks}, just for that one.",
)  # fmt: skip
_IF = (
    "If {condition}, tell me {one}. If not, I'd rather know {other}.",
    "If it turns out that {condition}, I need to know {one}; otherwise tell me {other}.",
    "Check whether {condition}. If so, find out {one}, and if not, {other}.",
)
_ALSO = (
    "Either way, tell me {asks} as well.",
    "And in any case I need to know {asks}.",
    "Besides, I'd like to know {asks}.",
)


def question(made: Instance, persona: Persona, dice: random.Random) -> str:
    """What the client is asked."""
    errand = made.errand
    parts = [dice.choice(persona.many if errand.count > 1 else persona.one).format(n=_COUNTS[errand.count])]
    speaker = _Speaker(errand.kind.noun, dice)
    if errand.decider is not None:
        above = one_of(errand.decider.ask.above, dice)
        condition = above.format(x=speaker.thing(errand.decider.place), limit=f"{errand.limit:,.0f}")
        one, other = (speaker.ask(want) for want in errand.either)
        parts.append(dice.choice(_IF).format(condition=condition, one=one, other=other))
        # Two things may have been spoken of by now, of which one is meant: this begins anew.
        anew = _Speaker(errand.kind.noun, dice)
        parts += [dice.choice(_ALSO).format(asks=listed(anew.asks(errand.wants)))] if errand.wants else []
        return " ".join(parts)
    if errand.together == "more":
        assert errand.joined is not None
        ask = errand.joined.ask
        by = "how many" if ask.by in ask.more else f"how many {ask.by}"
        more = one_of(ask.more, dice)
        parts.append(dice.choice(_WHICH).format(nouns=nouns(errand), more=more, by=by))
        parts.append(dice.choice(_WINNER).format(asks=listed(speaker.asks(errand.wants))))
        return " ".join(parts)
    whole = _whole(errand, speaker)
    if errand.count == 1:
        parts.append(dice.choice(_TELL).format(asks=listed([*whole, *speaker.asks(errand.wants)])))
        return " ".join(parts)
    parts += [dice.choice(_TELL).format(asks=listed(whole))] if whole else []
    parts.append(dice.choice(_EACH).format(asks=listed(speaker.asks(errand.wants))))
    return " ".join(parts)


def wording(made: Instance) -> str:
    """The same in concrete words, for people who read the task."""
    steps = [", ".join(dict.fromkeys(call.tool for call in step)) for step in made.steps]
    way = "; ".join(f"step {number}: {tools}" for number, tools in enumerate(steps, 1))
    asked = listed([field.meaning for field in fields(made)])
    return f"On the card: {'; '.join(made.things)}. {way[0].upper()}{way[1:]}. Asked: {asked}."


def answer(made: Instance) -> str:
    """What a client that played the reference would say."""
    told = [f"On the card: {'; '.join(made.things)}."]
    if made.decided is not None:
        told.append(f"The number that decides is {made.decided.value:.10g}, so it is the {ORDER[made.taken]} case.")
    if made.joined:
        told.append(f"The numbers are {listed([f'{answer.value:.10g}' for answer in made.joined])}.")
    if made.rate:
        told.append(f"The coin costs {made.rate:.10g} dollars.")
    return f"{' '.join(told)}\n\n{right_lines(fields(made))}"


def listed(parts: Sequence[str]) -> str:
    """Phrases as a list in a sentence."""
    unique = list(dict.fromkeys(parts))
    return unique[0] if len(unique) == 1 else f"{', '.join(unique[:-1])} and {unique[-1]}" if unique else ""


def _whole(errand: SynthesisErrand, speaker: "_Speaker") -> list[str]:
    """What is asked about all things together."""
    match errand.together:
        case "total":
            assert errand.joined is not None
            return [errand.joined.ask.total.format(nouns=nouns(errand))]
        case "road":
            return [errand.kind.road]
        case "buys":
            assert errand.joined is not None
            return [errand.joined.ask.buys.format(x=speaker.thing(errand.joined.place), coin=COINS[errand.coin])]
        case _:
            return []


def one_of(text: str, dice: random.Random) -> str:
    """One of the alternatives that a bar stands between."""
    return dice.choice(text.split("|"))


class _Speaker:
    """Speaks of things: in full the first time, briefly after that."""

    def __init__(self, noun: str, dice: random.Random) -> None:
        self._noun = noun
        self._dice = dice
        self._known: dict[tuple[str, ...], str] = {}

    def asks(self, wants: Sequence[Want]) -> list[str]:
        """What is asked, one phrase each."""
        return [self.ask(want) for want in wants]

    def ask(self, want: Want) -> str:
        """What is asked, as a phrase."""
        words = one_of(want.ask.words, self._dice)
        if "{p}" not in words:
            return words.format(x=self.thing(want.place))
        near = self.thing(want.place[:-1])
        return words.format(p=near, x=self.thing(want.place))

    def thing(self, path: Sequence[LexiconLink]) -> str:
        """The thing at the end of a path."""
        key = tuple(link.name for link in path)
        if not path:
            return self._noun
        if key in self._known:
            return self._known[key]
        said = one_of(path[-1].noun, self._dice).format(x=self.thing(path[:-1]))
        self._known[key] = path[-1].that
        return said


_TASK = (
    "You reword questions that people ask an assistant. Keep who asks, everything that is asked for, every condition"
    " and every number that is stated, keep that the things themselves stand on a card in a picture and do not name"
    " them, name no software, website, service or tool, and do not say how the answer could be found. Write as that"
    " person would in a hurry or in a chat. Give three different versions."
)


class Rewording(Protocol):
    """Says a question in other words."""

    async def phrasings(self, question: str) -> list[str]:
        """Other ways to ask the same, best first; none when there are none."""
        ...


class RewordReply(BaseModel):
    """What the model answers."""

    model_config = ConfigDict(extra="forbid")

    questions: list[str]


class ModelRewording:
    """A model rewords.

    Args:
        asker: Asks the model.
    """

    def __init__(self, asker: Asker) -> None:
        self._asker = asker

    async def phrasings(self, question: str) -> list[str]:
        """What the model proposes, without what lost a stated number or is no question at all."""
        reply = await self._asker.ask(_TASK, question, RewordReply)
        if reply is None:
            return []
        stated = set(re.findall(r"\d+", question))
        return [
            text.strip()
            for text in reply.questions
            if 20 <= len(text.strip()) <= 1200 and stated <= set(re.findall(r"\d+", text)) and text.isprintable()
        ]
