"""Ways to hand in a name, a choice, a yes or no, or a text: right ones, and wrong ones that look like them."""

from collections.abc import Iterator
from random import Random

from m3bench.tasks.answers.names import Choice, Name, YesNo
from m3bench.tasks.answers.texts import Text
from tests.tasks.answers.wordings_base import Way, changed, dressed, unaccented


def right_name(value: Name, rng: Random) -> Iterator[Way]:
    name = value.value
    yield from dressed(name)
    yield "lower case", name.lower()
    yield "capitals", name.upper()
    yield "no accents", unaccented(name)
    yield "typographic", name.replace("'", "’").replace("-", "\u2011").replace(" ", "\u00a0")
    yield "sentence", f"That would be {name}."
    yield "explained", f"{name}, because it comes first by the figures I looked up"
    yield "explained in brackets", f"{name} (as the tool reports)"
    yield "explained by a dash", f"{name} — this is what the search returned"
    yield "two sentences", f"{name}. I checked this twice."
    if not name.lower().startswith("the ") and name[:1].isupper() and " " in name:
        yield "with the", f"The {name}"
    for alias in value.aliases:
        if len(alias) > 2:
            yield "alias", alias
            yield "alias in brackets", f"{name} ({alias})"
    yield "corrected", f"{value.others[0] if value.others else 'Atlantis'} — no, wait: {name}"
    if value.others:
        yield "correction", f"{value.others[-1]}. Correction: {name}"
        yield "instead", f"{name}, not {value.others[0]}" if value.others[0] not in name else None
    yield "key", {"name": name}


def wrong_name(value: Name, rng: Random) -> Iterator[Way]:
    name = value.value
    others = [other for other in value.others if not alike(other, (name, *value.aliases))]
    for other in rng.sample(others, min(3, len(others))):
        yield "another", other
        yield "another, bold", f"**{other}**"
        yield "two", f"{name} or {other}"
        yield "two with a slash", f"{name} / {other}"
        yield "two in a list", [name, other]
        yield "corrected to another", f"{name} — no, wait: {other}"
        yield "correction to another", f"{name}. Correction: {other}"
        yield "not this but that", f"Not {name} but {other}"
        yield "another instead", f"{other}, not {name}"
        yield "actually", f"{name}... actually, {other}"
        yield "scratch", f"{name}. Scratch that, it is {other}."
    yield "negated", f"not {name}"
    yield "negated in a sentence", f"It is not {name}"
    yield "negated isn't", f"It isn't {name}."
    yield "certainly not", f"certainly not the {name}"
    yield "anything but", f"anything but {name}"
    yield "hedged", f"probably {name}"
    yield "hedged behind", f"{name}, I think"
    yield "question", f"{name}?"
    yield "longer name", changed(name, rng)
    if " " in name and len(name.split()[0]) > 3 and name.split()[0][0].isupper():
        yield "other first word", f"Green {name.split(' ', 1)[1]}" if not name.startswith("Green") else None
    yield "elsewhere", f"{name}, Atlantis"
    yield "elsewhere in brackets", f"{name} (Atlantis)"
    yield "not asked", f"Everything except {name}"
    yield "other than", f"some place other than {name}"
    yield "nonsense", "Atlantis"
    yield "used to be", f"no longer {name}"


def alike(other: str, names: tuple[str, ...]) -> bool:
    mine = _bare(other)
    return any(mine in _bare(name) or _bare(name) in mine for name in names)


def _bare(text: str) -> str:
    return "".join(sign for sign in unaccented(text).lower() if sign.isalnum())


def right_choice(value: Choice, rng: Random) -> Iterator[Way]:
    yield from dressed(value.value)
    yield "lower case", value.value.lower()
    yield "sentence", f"It should be {value.value}."
    for alias in value.aliases:
        yield "alias", alias
    other = rng.choice([option for option in value.options if option != value.value])
    if not alike(other, (value.value,)):
        yield "corrected", f"{other}; sorry, I mean {value.value}"
        yield "instead", f"{value.value}, not {other}"
        yield "rather than", f"{value.value} rather than {other}"


def wrong_choice(value: Choice, rng: Random) -> Iterator[Way]:
    for other in value.options:
        if other != value.value and not alike(other, (value.value, *value.aliases)):
            yield "another", other
            yield "two", f"{value.value} or {other}"
            yield "corrected", f"{value.value}; sorry, I mean {other}"
            yield "instead", f"{other}, not {value.value}"
    yield "negated", f"not {value.value}"
    yield "hedged", f"maybe {value.value}"


def right_yes_no(value: YesNo, rng: Random) -> Iterator[Way]:
    word = "yes" if value.value else "no"
    for said in (word, word.upper(), f"**{word.capitalize()}**", f"{word}.", f"Answer: {word}", value.value,
                 "✓" if value.value else "✗", str(value.value).lower(), str(value.value), [word],
                 f"{word}, by a small margin"):  # fmt: skip
        yield "word", said
    if value.value:
        yield "sentence", "Yes, it is within what was asked."
        yield "sentence", "Yes, that is enough."
    else:
        yield "sentence", "No, it is not."
        yield "sentence", "It isn't, no."
        yield "sentence", "No, that is not enough."


def wrong_yes_no(value: YesNo, rng: Random) -> Iterator[Way]:
    word, other = ("yes", "no") if value.value else ("no", "yes")
    yield "other", not value.value
    for said in (other, other.upper(), f"**{other}**", f"{word} and {other}", "maybe", f"probably {word}"):
        yield "word", said
    for said in (f"{word}. Correction: {other}", f"{word} — no wait, {other}", f"{word}/{other}", f"{word}?"):
        yield "word", said


def right_text(value: Text, rng: Random) -> Iterator[Way]:
    yield from (
        (rule, given) for rule, given in dressed(value.value) if rule in ("bold", "quotes", "fence", "white space")
    )
    yield "capitals", value.value.upper()
    yield "source", f"{value.value} (Wikipedia)" if len(value.value.split()) < value.words else None
    yield "no accents", unaccented(value.value)


def wrong_text(value: Text, rng: Random) -> Iterator[Way]:
    yield "empty words", "It is described in the encyclopedia."
    yield "negated", f"not {value.value[0].lower()}{value.value[1:]}"
    yield "negated", f"It is not true that it is {value.value}"
    yield "long", f"{value.value} " * 60
    yield "corrected", f"{value.value}. No, wait: it is a kind of weather."
