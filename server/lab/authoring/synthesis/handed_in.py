"""The typed fields of a synthesized task: what is to be handed in, what is right, and what it follows from."""

import re
from collections.abc import Iterator, Sequence

from m3bench.server.lab.authoring.synthesis.errand import Errand
from m3bench.server.lab.authoring.synthesis.instance import Answer, Instance
from m3bench.server.lab.authoring.synthesis.lexicon import Link
from m3bench.tasks.answers.fields import AnyValue, Choice, Code, Date, Field, Integer, Money, Name, Number, Phone

ORDER = ("first", "second", "third")


def fields(made: Instance) -> tuple[Field, ...]:
    """What is to be handed in for a task in the making."""
    return (*_together(made), *(_field(answer, made) for answer in made.answers))


def nouns(errand: Errand) -> str:
    """What the things are called whose numbers are brought together."""
    place = errand.joined.place if errand.joined is not None else ()
    return place[-1].nouns if place else errand.kind.nouns


def _together(made: Instance) -> Iterator[Field]:
    """What all things on the card give together."""
    errand = made.errand
    if errand.together is None or made.result is None:
        return
    values = tuple(float(one.value) for one in made.joined)
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


def _field(answer: Answer, made: Instance) -> Field:
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


def _short(place: Sequence[Link], errand: Errand) -> str:
    """A thing in few words."""
    return next((link.that for link in reversed(place) if link.that not in ("", "it")), errand.kind.noun)


def _value(answer: Answer) -> AnyValue:
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
    return tuple(dict.fromkeys(one for one in found if one and one != value))
