"""Names, choices, yes and no, and free text.

A name is right in any of its spellings. Words that only repeat the question, say what kind of thing it is or where it
is may stand beside it; any other word, another thing of the same kind, a hedge or a second candidate makes it wrong.
A part of a name is right when only words such as `Museum` or `Inc.` are missing and no other thing has that part.
"""

import re
from collections.abc import Iterator
from functools import cache
from typing import Literal

from m3bench.tasks.answers.base import JSON, AnswerContext, Value, as_text, hedge, is_nothing
from m3bench.tasks.answers.spelling import Words, find, hedges, joined, spellings, vocabulary, words_of
from m3bench.tasks.facts import Fact
from m3bench.tasks.folding import fold

MOST_WORDS = 40

FEWEST_WORDS = 4
"""Of a text, where the right one is a whole sentence."""

_PARTICLES = frozenset({"of", "de", "del", "della", "di", "da", "do", "du", "des", "la", "le", "el", "in", "at"})


_ASIDE = re.compile(
    r"\s*[,(–—-]\s*(?:about|around|approximately|roughly|only|just|~|≈)?\s*\d+(?:[.,]\d+)?\s*"
    r"(?:km|kilomet(?:er|re)s?|m|met(?:er|re)s?|mi|miles?)(?:\s+(?:away|off|distant))?\s*\)?\s*$",
    re.IGNORECASE,
)
"""How far away something is, said behind its name."""


class Name(Value):
    """What something is called."""

    type: Literal["name"] = "name"
    value: str
    aliases: tuple[str, ...] = ()
    """Other names for the same thing."""
    others: tuple[str, ...] = ()
    """Things of the same kind that are wrong."""
    context: tuple[str, ...] = ()
    """Texts whose words may stand beside the name: its address, its year, its country."""

    @property
    def described(self) -> str:
        """The type in words."""
        return "text"

    def shown(self) -> dict[str, object]:
        """To a client it is a text."""
        return {"type": "text"}

    def problem(self, given: JSON, asked: AnswerContext) -> str | None:
        """Why it is not the name."""
        if is_nothing(given):
            return "nothing was given"
        return name_problem(
            as_text(given), (self.value, *self.aliases), self.others, " ".join((asked.words, *self.context))
        )

    def given(self) -> JSON:
        """The name."""
        return self.value

    def facts(self) -> Iterator[Fact]:
        """The name, or another for the same thing."""
        yield fold(self.value)


@cache
def _generic() -> frozenset[str]:
    """Words that say what kind of thing a name belongs to."""
    return frozenset(words_of(vocabulary().names["generic"]))


@cache
def _saying() -> frozenset[str]:
    """Words of a sentence that only says a name."""
    return frozenset(words_of(vocabulary().names["saying"]))


def name_problem(text: str, names: tuple[str, ...], others: tuple[str, ...], context: str) -> str | None:
    """Why a text does not name a thing; None when it does."""
    if not text:
        return "it is not a single name"
    if not any(map(_ASIDE.search, (*names, *others))):
        text = _ASIDE.sub("", text)
    mine = words_of(text)
    if text.count("?") > max(name.count("?") for name in names):
        return "it is a question"
    right = {form for name in names for form in spellings(name)}
    wrong = {form for name in others for form in spellings(name)} - right
    if mine in right or (joined(mine) in {joined(form) for form in right}):
        return None
    if mine in wrong:
        return f"{text[:60]!r} is another one"
    if _stem(mine) in set(map(_stem, right)) - set(map(_stem, wrong)):
        return None
    if names[0].islower() and names[0].replace(" ", "").isalpha() and _plurals(mine) & right - wrong:
        return None
    if re.search(r"\w\s*[,(]", text) and sorted(mine) in map(sorted, right - wrong):  # "Kremlin, Moscow"
        return None
    if len(mine) > MOST_WORDS:
        return "it is more than a name"
    own = {word for form in right for word in form}
    allowed = (_generic() | _saying() | set(words_of(context)) | own) - hedges()
    for form in sorted(right, key=len, reverse=True):
        start = find(form, mine)
        if start < 0:
            continue
        rest = (*mine[:start], "|", *mine[start + len(form) :])
        if any(find(form, other) >= 0 and find(other, mine) >= 0 for other in wrong):
            return f"{text[:60]!r} is another one"
        if any(find(other, rest) >= 0 for other in wrong):
            return "it names more than one"
        for other in sorted(right, key=len, reverse=True):
            while (start := find(other, rest)) >= 0:
                rest = (*rest[:start], "|", *rest[start + len(other) :])
        strange = [word for word in rest if word != "|" and word not in allowed and word not in form]
        if not strange:
            doubt = hedge(_without(text, names))
            return f"it is not a plain name: {doubt!r}" if doubt else None
        doubt = next((word for word in strange if word in hedges()), None)
        return (
            f"it is not a plain name: {doubt!r}" if doubt else f"it says more than the name: {' '.join(strange)[:60]}"
        )
    if any(_shortened(mine, form) for form in right) and not any(_shortened(mine, form) for form in wrong):
        return None
    return f"{text[:60]!r} is not it"


def _stem(words: Words) -> Words:
    """A name without the small words that join its parts."""
    return (*words[:1], *(word for word in words[1:] if word not in _PARTICLES))


def _plurals(words: Words) -> set[Words]:
    """The words that these may be the plural of: "octopuses" of "octopus"."""
    last = words[-1] if words else ""
    endings = (("s", ""), ("es", ""), ("ies", "y"), ("oes", "o"))
    return {(*words[:-1], last.removesuffix(end) + single) for end, single in endings if last.endswith(end)}


def _without(text: str, names: tuple[str, ...]) -> str:
    """A text without the names in it, which may have any words of their own."""
    folded = fold(text)
    for name in sorted(map(fold, names), key=len, reverse=True):
        folded = folded.replace(name, " ")
    return re.sub(r"\s/\s|\bno\b\.?", " ", folded)


def _shortened(mine: Words, form: Words) -> bool:
    """Whether words are a name without the words that only say what kind of thing it is."""
    start = find(mine, form)
    if start < 0 or not any(len(word) >= 3 and word not in _generic() for word in mine):
        return False
    missing = (*form[:start], *form[start + len(mine) :])
    return all(word in _generic() or word in _saying() or len(word) == 1 for word in missing)


class Choice(Value):
    """One of several things that the client is told."""

    SHOWN = ("options",)

    type: Literal["choice"] = "choice"
    options: tuple[str, ...]
    value: str
    aliases: tuple[str, ...] = ()

    @property
    def described(self) -> str:
        """The type in words."""
        return f"one of: {', '.join(self.options)}"

    def problem(self, given: JSON, asked: AnswerContext) -> str | None:
        """Why it is not the choice."""
        if is_nothing(given):
            return "nothing was given"
        others = tuple(option for option in self.options if option != self.value)
        return name_problem(as_text(given), (self.value, *self.aliases), others, asked.words)

    def given(self) -> JSON:
        """The option."""
        return self.value

    def facts(self) -> Iterator[Fact]:
        """Nothing: the options are told."""
        yield from ()


_TICKS = str.maketrans({**dict.fromkeys("✓✔✅☑", " yes "), **dict.fromkeys("✗✘❌☒", " no ")})

_IGNORANCE = frozenset({"know", "sure", "idea", "certain", "tell", "say", "information", "data"})
"""Words of somebody who says, with or without a no, that there is no answer."""


class YesNo(Value):
    """Yes or no."""

    type: Literal["yes_no"] = "yes_no"
    value: bool

    @property
    def described(self) -> str:
        """The type in words."""
        return "yes or no"

    def problem(self, given: JSON, asked: AnswerContext) -> str | None:
        """Why it is not the answer."""
        if is_nothing(given) and fold(str(given)) not in ("no", "none"):
            return "nothing was given"
        words = re.findall(r"[\w']+", fold(as_text(given)).translate(_TICKS))
        yes = [word for word in words if word in ("yes", "true", "y", "correct", "indeed", "1")]
        no = [
            word
            for word in words
            if word in ("no", "false", "n", "not", "nope", "incorrect", "0") or word.endswith("n't")
        ]
        doubt = next(
            (
                word
                for word in words
                if word in _IGNORANCE | hedges() - {"no", "not", "never", "if"} and not word.endswith("n't")
            ),
            None,
        )
        if doubt:
            return f"it is not a plain yes or no: {doubt!r}"
        if bool(yes) == bool(no):
            return "it is neither yes nor no"
        return None if bool(yes) == self.value else f"it is {'yes' if self.value else 'no'}, not {words[0]}"

    def given(self) -> JSON:
        """As JSON has it."""
        return self.value

    def said(self) -> str:
        """The word."""
        return "yes" if self.value else "no"

    def facts(self) -> Iterator[Fact]:
        """Nothing that could be looked for."""
        yield from ()


class Text(Value):
    """Free text that must say certain things: a description, a summary, a quotation."""

    SHOWN = ("words",)

    type: Literal["text"] = "text"
    words: int = 80
    """The most words that it may have."""
    value: str
    """A text that is right."""
    mentions: tuple[tuple[str, ...], ...]
    """What it must say: one spelling of each."""

    @property
    def described(self) -> str:
        """The type in words."""
        return f"text, at most {self.words} words"

    def problem(self, given: JSON, asked: AnswerContext) -> str | None:
        """Why it does not say what it must."""
        if is_nothing(given):
            return "nothing was given"
        text = as_text(given)
        mine = words_of(text)
        if not mine or len(mine) > self.words * 1.25:
            return f"it has {len(mine)} words, at most {self.words} are asked for"
        if len(mine) < FEWEST_WORDS <= len(words_of(self.value)) // 2:
            return "it is a word or two, not a text"
        said = joined(mine)
        missing = [mention[0] for mention in self.mentions if not any(_says(name, mine, said) for name in mention)]
        return f"it does not say {', '.join(missing)[:80]!r}" if missing else None

    def given(self) -> JSON:
        """The text."""
        return self.value

    def facts(self) -> Iterator[Fact]:
        """What it must say."""
        for mention in self.mentions:
            yield fold(mention[0])


def _says(name: str, mine: Words, said: str) -> bool:
    return any(find(form, mine) >= 0 or (len(form) > 2 and joined(form) in said) for form in spellings(name))
