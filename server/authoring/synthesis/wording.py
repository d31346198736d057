"""Words a synthesized task: a question without tool names, the same in concrete words, and the answer.

The question never says what is on the card, so the words alone do not tell what to look up. Several phrasings of each
part keep tasks from sounding alike.
"""

import random
from collections.abc import Sequence

from m3bench.server.authoring.synthesis.instance import Instance
from m3bench.server.authoring.synthesis.lexicon import Ask, Words, words
from m3bench.server.authoring.synthesis.plan import Leaf

_COUNTS = {1: "one", 2: "two", 3: "three"}
_ONE = (
    "The card in the picture names {noun}.",
    "I wrote {noun} down on the card that you see.",
    "Have a look at my card: there is {noun} on it.",
    "Somebody left me this card with {noun} on it.",
    "On the card in the photo stands {noun}.",
)
_MANY = (
    "The card in the picture names {count} {plural}.",
    "I wrote {count} {plural} down on the card that you see.",
    "Have a look at my card: there are {count} {plural} on it.",
    "Somebody left me this card with {count} {plural} on it.",
    "On the card in the photo stand {count} {plural}.",
)
_TELL = ("Tell me {asks}.", "I would like to know {asks}.", "What I need is {asks}.", "Please find out {asks}.")
_TELL_EACH = (
    "For each of them, tell me {asks}.",
    "For each, I would like to know {asks}.",
    "What I need for each of them is {asks}.",
    "For every one of them, please find out {asks}.",
)
_FIND = ("Find the {thing}.", "Look for the {thing}.", "Take the {thing}.")
_FIND_EACH = (
    "For each of them, find the {thing}.",
    "Look in each case for the {thing}.",
    "For each, take the {thing}.",
)
_THEN = ("Then find the {thing}.", "After that, look for the {thing}.", "Next, pick the {thing}.")
_THEN_EACH = (
    "Then find, for each of them, the {thing}.",
    "After that, look in each case for the {thing}.",
    "Next, pick for each the {thing}.",
)
_OF_THAT = ("Of that {noun} I want {asks}.", "For that {noun}, give me {asks}.")
_TOTALS = {
    "sum": (
        "Finally, have {plural} added up by a calculator, not in your head.",
        "With a calculator, please, what do {plural} come to in total?",
    ),
    "mean": (
        "Finally, use a calculator for the average of {plural}, to two decimals.",
        "And what is the average of {plural}, worked out with a calculator to two decimals?",
    ),
    "subtract": (
        "Then use a calculator: how far apart are {plural}?",
        "Finally, by how much do {plural} differ? Let a calculator do it.",
    ),
}


def question(made: Instance, dice: random.Random) -> str:
    """What the client is asked."""
    plan, start = made.plan, made.plan.start.start
    assert start is not None
    many = plan.count > 1
    noun = f"{_article(start.noun)} {start.noun}"
    parts = [dice.choice(_MANY if many else _ONE).format(noun=noun, plural=start.plural, count=_COUNTS[plan.count])]
    if start.source:
        parts.append(f"Look {'them' if many else 'it'} up {start.source}.")
    asks = [ask.words for ask in plan.asks] + _asked(plan.near, made)
    if plan.option is not None:
        pick = f"{plan.pick.words} " if plan.pick is not None else ""
        thing = f"{pick}{plan.option.noun} {plan.option.where}".strip()
        parts.append(dice.choice(_FIND_EACH if many else _FIND).format(thing=thing))
        if plan.start.name and plan.start.picks:
            asks = [_name_of(plan.start), *asks]
    if asks:
        parts.append(dice.choice(_TELL_EACH if many else _TELL).format(asks=listed(asks)))
    if plan.choice is not None:
        option, pick_words = plan.choice.option, plan.choice.pick.words
        thing = f"{pick_words} {option.noun} {option.where}"
        parts.append(dice.choice(_THEN_EACH if many else _THEN).format(thing=thing))
        parts.append(_of_that(option.noun, _asked(plan.far, made), dice))
    parts += [f"Also {task}." for task in _tasks((*plan.near, *plan.far), many)]
    if plan.join is not None:
        parts.append(f"And tell me {words()[plan.join[0].consumer].joins}.")
    if plan.total is not None:
        ask, tool = plan.total
        parts.append(dice.choice(_TOTALS[tool]).format(plural=ask.plural))
    return " ".join(parts)


def wording(made: Instance) -> str:
    """The same in concrete words, for people who read the task."""
    steps = [", ".join(dict.fromkeys(call.tool for call in step)) for step in made.reference]
    way = "; ".join(f"step {number}: {tools}" for number, tools in enumerate(steps, 1))
    asked = listed([ask_words(answer.ask) for answer in made.answers if answer.about == made.things[0]])
    end = f" Asked: {asked}." if asked else ""
    return f"On the card: {'; '.join(made.things)}. {way[0].upper()}{way[1:]}.{end}"


def answer(made: Instance) -> str:
    """What a client that played the reference would say."""
    lines = []
    for thing in made.things:
        parts = [f"{ask_words(answer.ask)}: {shown(answer.value)}" for answer in made.answers if answer.about == thing]
        chosen = [f"found {made.chosen[thing]}"] if made.chosen.get(thing) else []
        lines.append(f"{thing}: {'; '.join([*chosen, *parts])}." if chosen or parts else f"{thing}: done.")
    if made.joined is not None:
        lines.append(f"From the first to the second it is {made.joined:.1f} km by road.")
    if made.result is not None:
        lines.append(f"The result is {shown(round(made.result, 4))}.")
    return "\n".join(lines)


def shown(value: str | float) -> str:
    """A value as it is told."""
    return value if isinstance(value, str) else f"{value:.12g}"


def listed(parts: Sequence[str]) -> str:
    """Phrases as a list in a sentence."""
    unique = list(dict.fromkeys(parts))
    return unique[0] if len(unique) == 1 else f"{', '.join(unique[:-1])} and {unique[-1]}" if unique else ""


def _asked(leaves: Sequence[Leaf], made: Instance) -> list[str]:
    return [ask_words(ask, leaf.edge.field) for leaf in leaves for ask in leaf.asks]


def ask_words(ask: Ask, field: str = "") -> str:
    """What is asked, in words; what it is about when that is not the thing itself: its author, its maker."""
    field = field.casefold()
    what = "its author" if "author" in field else "its maker" if "artist" in field else "it"
    return ask.words.format(what=what)


def _tasks(leaves: Sequence[Leaf], many: bool) -> list[str]:
    found = [leaf.words.task for leaf in leaves if leaf.words.task]
    return [task.replace("the paper", "each paper") if many else task for task in found]


def _of_that(noun: str, asks: Sequence[str], dice: random.Random) -> str:
    return dice.choice(_OF_THAT).format(noun=noun, asks=listed(["the name", *asks]))


def _name_of(entry: Words) -> str:
    return {"post": "its title", "paper": "its title", "article": "its title", "expiration date": "that date"}.get(
        entry.noun, "its name"
    )


def _article(noun: str) -> str:
    return "an" if noun[0] in "aeiou" else "a"
