"""Names, choices, yes and no.

A name is right in any of its spellings. Words that only repeat the question, say what kind of thing it is or where it
is may stand beside it; any other word, another thing of the same kind, a hedge or a second candidate makes it wrong.
A part of a name is right when only words such as `Museum` or `Inc.` are missing and no other thing has that part.
"""

import re
from collections.abc import Iterator
from functools import cache, lru_cache
from typing import Literal

from m3bench.tasks.answers.base import JSON, AnswerContext, Value, as_text, called, hedge, is_nothing
from m3bench.tasks.answers.comparisons import first_of, named_in
from m3bench.tasks.answers.numerals import known
from m3bench.tasks.answers.spelling import (
    BINOMIAL,
    STREET,
    Words,
    addressed,
    find,
    hedges,
    joined,
    names_region,
    regions_of,
    singular,
    spellings,
    turned_at_comma,
    vocabulary,
    whole_species,
    without_figures,
    without_its_kind,
    without_region,
    words_of,
)
from m3bench.tasks.answers.statements import (
    BEHIND,
    BY_WHOM,
    LIFE,
    MAKERS_OWN,
    REASON_FIRST,
    SO_MUCH_OF,
    SUPERLATIVE,
    TITLED,
    About,
    answered,
    concluded,
    heads,
    kept,
    of_two_ends,
    without_lead,
)
from m3bench.tasks.facts import Fact
from m3bench.tasks.folding import fold

MOST_WORDS = 40

_FOREIGN = frozenset({"el", "la", "le", "il", "lo", "los", "las", "les", "der", "die", "das", "het"})
"""Articles of other languages."""
_PARTICLES = frozenset({"of", "de", "del", "della", "di", "da", "do", "du", "des", "la", "le", "el", "in", "at"})


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
        names = (self.value, *self.aliases)
        given = called(given)
        if isinstance(given, str) and given.casefold() in map(str.casefold, names):
            return None  # A title may read like an answer that explains itself.
        return name_problem(as_text(given), names, self.others, " ".join((asked.words, *self.context)))

    def given(self) -> JSON:
        """The name."""
        return self.value

    def facts(self) -> Iterator[Fact]:
        """The name, or another for the same thing."""
        yield fold(self.value)


@cache
def _vocabulary(kind: str) -> frozenset[str]:
    """The words of a kind, as they are written."""
    return frozenset(vocabulary().names[kind].split())


@cache
def _generic() -> frozenset[str]:
    """Words that say what kind of thing a name belongs to."""
    return frozenset(words_of(vocabulary().names["generic"]))


@cache
def _saying() -> frozenset[str]:
    """Words of a sentence that only says a name."""
    return frozenset(words_of(vocabulary().names["saying"]))


@cache
def _announcing() -> frozenset[str]:
    """Words that only say which value comes, or how it was found."""
    return frozenset(words_of(vocabulary().names["announcing"]))


@cache
def _distinguishing() -> frozenset[str]:
    """Words for kinds of things that make another name when they stand beside one."""
    return frozenset(words_of(vocabulary().names["distinguishing"]))


@lru_cache(maxsize=1024)
def name_problem(text: str, names: tuple[str, ...], others: tuple[str, ...], context: str) -> str | None:
    """Why a text does not name a thing; None when it does. Every run of a task asks of the same cells anew."""
    text = _ET_AL.sub("", _ONLY.sub("", _SITE.sub("", concluded(answered(text)))))
    number = _NUMBERED.fullmatch(text.strip())
    if number and number["id"] in _NUMBERS.findall(context):
        return None
    text = _PAIR.sub("", text) if "coin" in context else text
    context = f"{context} {regions_of(', '.join((*names, context)))}"
    names = addressed(names)
    problem = _plain_problem(text, names, others, context)
    if problem is None or not text:
        return problem
    said, ruled_out = kept(text)
    if ruled_out and _named(ruled_out, names) and not _named(ruled_out, others):
        return problem
    said = _HANDLE.sub("", said) if not any("/" in name for name in names) else said
    if text.rstrip().endswith("?"):
        return problem
    about = _about(names, others, context)
    short = _of_one_alone(said, names, others, context)
    there = _WHICH_ONE.sub("", said)
    asked = frozenset(words_of(context)) - words_of_names(names)
    about_one = (first_of(said, asked), named_in(said, asked)) if " " in said else ()
    bare = said if names_region(context) else without_region(said)
    ways = dict.fromkeys((said, without_lead(said, context), short, there, _LATIN.sub("", there), bare, *about_one))
    tried = dict.fromkeys((*ways, *(head for way in ways for head in heads(way, about))))
    right = any(
        _plain_problem(lead, names, others, context) is None
        for head in tried
        if head != text
        for lead in dict.fromkeys((head, without_lead(head, context)))
    )
    return None if right else problem


@lru_cache(maxsize=256)
def _about(names: tuple[str, ...], others: tuple[str, ...], context: str) -> About:
    """What is known of a name when what is said around it is read."""
    right, wrong = _forms(names), _forms(others)
    own = (
        words_of_names(names) | words_of_names(others) | _saying() | _generic() | {"i"} | _announcing() | known().keys()
    )
    return About(
        asked=frozenset(words_of(context)), right=right, rivals=wrong - right, known=own,
        years=frozenset(re.findall(r"\b(?:1[5-9]|20)\d\d\b", context)),
    )  # fmt: skip


def _plain_problem(text: str, names: tuple[str, ...], others: tuple[str, ...], context: str) -> str | None:
    """Why a text that explains nothing does not name a thing; None when it does."""
    if not text:
        return "it is not a single name"
    text = _SPELLED.sub(lambda found: found[0].replace("-", ""), _NUMBER_OF_HOUSE.sub("", text))
    mine = words_of(text)
    if re.search(r"[<>≥≤]=?\s*$", text):
        return "it is a bound, not a name"
    if text.count("?") > max(name.count("?") for name in names):
        return "it is a question"
    right = _forms(names)
    wrong = _forms(others) - right
    if BINOMIAL.fullmatch(names[0]):
        text = whole_species(text, right, wrong)
        mine = words_of(text)
    if _LONGER_HANDLE.search(text) and not any(map(_LONGER_HANDLE.search, names)):
        return f"{text[:60]!r} is another one"
    if _OTHER_TITLE.match(text) and not any(map(_OTHER_TITLE.match, names)) and set(words_of(context)) & _WRITTEN:
        return f"{text[:60]!r} is another one"
    if mine in right or (joined(mine) in {joined(form) for form in right}):
        return None
    if mine in wrong:
        return f"{text[:60]!r} is another one"
    if _same_in_other_form(text, mine, right, wrong, names[0]):
        return None
    if len(mine) > MOST_WORDS:
        return "it is more than a name"
    own = {word for form in right for word in form}
    around = set(words_of(context))
    said = around | own
    allowed = (_generic() - (_distinguishing() - said) | _saying() | said) - hedges()
    for form in sorted(right, key=len, reverse=True):
        start = find(form, mine)
        if start < 0:
            continue
        rest = (*mine[:start], "|", *mine[start + len(form) :])
        if set(form) <= around and (_distinguishing() & own & set(rest)) - around:
            continue  # "Tower of London" is not London's clock tower
        if any(find(form, other) >= 0 and find(other, mine) >= 0 for other in wrong):
            return f"{text[:60]!r} is another one"
        if any(find(other, rest) >= 0 for other in wrong):
            return "it names more than one"
        for other in sorted(right, key=len, reverse=True):
            while (start := find(other, rest)) >= 0:
                rest = (*rest[:start], "|", *rest[start + len(other) :])
        strange = [word for word in rest if word != "|" and word not in allowed and not _is_cut_short(word, own)]
        if not strange:
            doubt = hedge(_without(text, names))
            return f"it is not a plain name: {doubt!r}" if doubt else None
        doubt = next((word for word in strange if word in hedges()), None)
        return (
            f"it is not a plain name: {doubt!r}" if doubt else f"it says more than the name: {' '.join(strange)[:60]}"
        )
    beside = (_saying() | set(words_of(context))) - own
    while mine and (mine[-1] in beside or mine[0] in beside):
        mine = mine[:-1] if mine[-1] in beside else mine[1:]
    mine = mine[1:] if len(mine) > 1 and mine[0] in _FOREIGN else mine
    if any(_shortened(mine, form) for form in right) and not any(_shortened(mine, form) for form in wrong):
        return None
    if "," not in names[0] and without_its_kind(words_of(text), right, wrong):
        return None
    if _without_its_trade(words_of(text), right, wrong, context):
        return None
    if _without_its_place(words_of(text), right, wrong, around):
        return None
    if "," not in names[0] and without_figures(mine, right, wrong):
        return None
    if turned_at_comma(text, names, right, wrong):
        return None
    if "&" in text and _are_initials(words_of(text), right, wrong):
        return None
    if _is_surname(words_of(text), names[0], right, wrong, context):
        return None
    return f"{text[:60]!r} is not it"


@lru_cache(maxsize=512)
def _forms(names: tuple[str, ...]) -> frozenset[Words]:
    return frozenset(form for name in names for form in spellings(name))


def _same_in_other_form(text: str, mine: Words, right: frozenset[Words], wrong: frozenset[Words], name: str) -> bool:
    """Whether words are a name without small words, in the plural, turned at a comma, or with initials."""
    if _stem(mine) in set(map(_stem, right)) - set(map(_stem, wrong)):
        return True
    if (
        name.islower()
        and name.replace(" ", "").isalpha()
        and (_plurals(mine) & right - wrong or any(mine in _plurals(form) for form in right - wrong))
    ):
        return True
    if len(mine) > 2 and " " in name and singular(mine) in set(map(singular, right)) - set(map(singular, wrong)):
        return True
    told = [word for word in mine if word not in _generic()]
    if any(sorted(mine) == sorted(form) and told == [word for word in form if word in told] for form in right - wrong):
        return True
    turned = re.search(r"\w\.?\s*[,(]", text) is not None  # "Kremlin, Moscow"
    turned = turned or (len(mine) > 1 and mine[0].isdigit() and mine[1].isalpha())  # "25 High Street"
    if turned and sorted(mine) in map(sorted, right - wrong):
        return True
    orders = [mine]
    if turned and text.count(",") == 1:
        last, first = map(words_of, text.split(","))
        orders.append((*first, *last))
    return _is_of_a_person(name) and any(
        any(_initialled(order, form) for form in right) and not any(_initialled(order, form) for form in wrong)
        for order in orders
    )


def _is_cut_short(word: str, own: set[str]) -> bool:
    """Whether a word beside a name begins another word of its names: "Pepsi (PEP)" of PepsiCo."""
    return len(word) >= 4 and any(other.startswith(word) for other in own)


MOST_PARTS = 6
"""Of a person's name."""


def _is_of_a_person(name: str) -> bool:
    """Whether a name is written as those of people are: capitals, but for the small words between."""
    words = re.findall(r"[^\W\d_][\w.'’-]*", name)
    return len(words) > 1 and all(word[0].isupper() or word in _vocabulary("particles") for word in words)


def _initialled(mine: Words, form: Words) -> bool:
    """Whether a person's name is written with initials, or without its middle: "I. Asimov", "Robert Martin"."""
    if len(mine) < 2 or len(form) < 2 or mine[-1] != form[-1] or len(mine[-1]) < 3 or set(form) & _generic():
        return False
    if not all(word.isalpha() for word in form) or len(form) > MOST_PARTS:
        return False
    first = mine[:-1] if len(mine[0]) > 1 or len(mine) > 2 else mine[:1]
    parts = tuple(first[0]) if len(first) == 1 and first[0] not in form and 1 < len(first[0]) < len(form) else first
    if not parts[0] or parts[0][0] != form[0][0] or (len(parts[0]) > 1 and parts[0] != form[0]):
        return False
    middle = list(form[1:-1])
    for part in parts[1:]:
        while middle and not (middle[0] == part or (len(part) == 1 and middle[0][0] == part)):
            if len(middle[0]) > 1 and len(part) > 1:
                return False
            middle.pop(0)
        if not middle:
            return False
        middle.pop(0)
    return True


_ONLY = re.compile(r"^(?:only|just|solely|exclusively)\s+(?=\S)", re.IGNORECASE)
_ET_AL = re.compile(r",?\s+et al\b\.?")
_NUMBERS = re.compile(r"(?<![\d.])(?:\d{4}\.\d{4,5}|97[89]\d{10})(?![\d.])")
"""The numbers of papers and of books, each of which is of one thing alone."""
_NUMBERED = re.compile(r"(?:arxiv|isbn)?[\s:#-]*(?P<id>\d{4}\.\d{4,5}|97[89]\d{10})(?:v\d)?", re.IGNORECASE)
_WHICH_ONE = re.compile(
    r"^(?:the\s+)?(?:left|right|upper|lower|top|bottom|middle|first|second|third|fourth|fifth|last)"
    r"(?:[ -]?(?:hand|most))?(?:\s+(?:one|place|sight|picture|card|item))?\s*(?::|,|\s[–—-])\s+(?=\S)",
    re.IGNORECASE,
)
"""Where in a picture a thing is, before its name."""
_LATIN = re.compile(r"\s*\([A-Z][a-z]+ [a-z]+\)$")
"""A species in brackets behind what people call it."""
_OTHER_TITLE = re.compile(r"(?:On|In|To|From|Of|For|With|About)\s+(?:the|a|an)\s+[A-Z]")
"""A title that begins with a small word, which is another one without it: "On the Road"."""
_WRITTEN = frozenset(
    {"book", "books", "film", "films", "title", "titles", "copy", "copies", "paper", "papers", "movie"}
)
_SPELLED = re.compile(r"(?<![\w-])[A-Z](?:-[A-Z]){1,9}(?![\w-])")
_NUMBER_OF_HOUSE = re.compile(r"(?<=[,\s])n[º°o]\.?\s*(?=\d)", re.IGNORECASE)
_HANDLE = re.compile(r"(?<![\w/])(?:/?[ur](?:ser)?/|@)(?=\w)")
_SITE = re.compile(r"(?<![\w/])(?:https?://)?(?:www\.|old\.)?reddit\.com(?=/[ur](?:ser)?/)")
_LONGER_HANDLE = re.compile(r"(?<!\w)[^\W_]\w*_(?!\w)")
"""A name of a user with an underscore behind it, which is another user; with one before it too it is emphasis."""
_PAIR = re.compile(r"(?<=[A-Z0-9])\s?[/-]\s?USDT?\b")
"""What the price of a coin is in."""


_ARROW = re.compile(r"(?:→|->|=>|⇒)|(?<=\w)\s+to\s+(?=[A-Z]|the\b)")
_FROM = frozenset({"from", "begin", "begins", "start", "starts", "departure"})
"""Words of a question that asks for the first of two ends."""


def _of_one_alone(text: str, names: tuple[str, ...], others: tuple[str, ...], context: str) -> str:
    """A text without what says who made it, what it was once, where it stands, or what something else is."""
    short = STREET.sub("", SO_MUCH_OF.sub("", BY_WHOM.sub("", text)))
    asked = set(words_of(context))
    short = LIFE.sub("", short)
    short = MAKERS_OWN.sub("", short) if asked & TITLED else short
    behind = BEHIND.match(short)
    short = behind["rest"] if behind and _named(behind["other"], others) else short
    way = _ARROW.split(short)
    if len(way) == 2 and (asked & _FROM or _named(way[0], others)):
        short = way[0].strip().removeprefix("from ") if asked & _FROM else way[1].strip()
    short = of_two_ends(short, asked, least=bool(asked & _vocabulary("little")))
    dearer = REASON_FIRST.match(short)
    if dearer and words_of(dearer["other"]) in _forms(others) and not {dearer["how"].lower()} & asked:
        short = dearer["rest"]
    led = SUPERLATIVE.match(short)
    return led["rest"] if led and led["how"].lower() in asked else short


def _named(text: str, names: tuple[str, ...]) -> bool:
    words = words_of(text)
    return any(find(form, words) >= 0 for form in _forms(names))


def words_of_names(names: tuple[str, ...]) -> frozenset[str]:
    """All words that names have."""
    return frozenset(word for form in _forms(names) for word in form)


def _stem(words: Words) -> Words:
    """A name without the small words that join its parts."""
    kept = (*words[:1], *(word for word in words[1:] if word not in _PARTICLES))
    whole = tuple(word for word in kept if word not in _national())
    return whole if len(whole) > 1 else kept


@cache
def _national() -> frozenset[str]:
    return frozenset(words_of(vocabulary().names["national"]))


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
    if start == 1 and form[0] in _PARTICLES:
        missing = missing[1:]
    fine = _generic() | _saying()
    return all(word in fine or (len(word) == 1 and word.isalpha()) for word in missing)


def _without_its_trade(mine: Words, right: frozenset[Words], wrong: frozenset[Words], context: str) -> bool:
    """Whether words are the name of a business without its last word, which says what it sells: "Espresso", "Stube"."""
    told = [word for word in mine if len(word) >= 3 and word not in _generic()]
    if len(told) < 2 or not _businesses() & set(words_of(context)):
        return False
    return any(form[:-1] == mine for form in right) and not any(form[: len(mine)] == mine for form in wrong)


def _without_its_place(mine: Words, right: frozenset[Words], wrong: frozenset[Words], around: set[str]) -> bool:
    """Whether words are a name without the place that it ends with: "Obelisco" of "Obelisco de Buenos Aires"."""
    core = tuple(word for word in mine if word not in around and word not in _PARTICLES)
    told = any(len(word) >= 5 and word not in _generic() for word in core)
    if not told or any(form[: len(core)] == core for form in wrong):
        return False
    ends = [form[len(core) :] for form in right if form[: len(core)] == core]
    return any(len(end) > 1 and end[0] in _PARTICLES and set(end) - _PARTICLES <= around for end in ends)


def _are_initials(mine: Words, right: frozenset[Words], wrong: frozenset[Words]) -> bool:
    """Whether letters joined by `&` begin the words of a company's name: J&J."""

    def begins(form: Words) -> bool:
        kept = tuple(word for word in form if word not in _generic()) or form
        return len(mine) > 1 and mine == tuple(word[0] for word in kept)

    return any(map(begins, right)) and not any(map(begins, wrong))


def _is_surname(mine: Words, name: str, right: frozenset[Words], wrong: frozenset[Words], context: str) -> bool:
    """Whether a word is the last name of a person who is asked for, and of nobody else."""
    if (
        len(mine) != 1
        or len(mine[0]) < 4
        or not _vocabulary("people") & set(words_of(context))
        or not _is_of_a_person(name)
    ):
        return False
    return any(len(form) > 1 and form[-1] == mine[0] for form in right) and not any(mine[0] in form for form in wrong)


@cache
def _businesses() -> frozenset[str]:
    """Words of a question that asks for a business."""
    return frozenset(words_of(vocabulary().names["businesses"]))


_ACTS = re.compile(
    r"^(?:(?:he|she|they|we|you|i|it)(?:['’]ll|['’]d)?\s+(?:should\s+|will\s+|would\s+)?)?"
    r"(?:(?:go|goes|going|take|takes|taking|travel|travels|use|uses|choose|chooses|pick|picks|buy|buys|get|gets)\s+)?"
    r"(?:the\s+|a\s+)?(?P<what>\S.*?)[.!]?$",
    re.IGNORECASE,
)
"""A choice said as what somebody does: "They take the car", "He drives"."""


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
        names, text = (self.value, *self.aliases), as_text(given)
        ends = _ARROW.split(text)
        if len(ends) == 2 and _named(ends[0], self.options) and words_of(ends[1]) in _forms(self.options):
            text = ends[1]  # what is put from one place to another
        problem = name_problem(text, names, others, asked.words)
        acted = _ACTS.match(text) if problem else None
        if acted is None:
            return problem
        done = re.sub(r"^(\w{3,}[^s])s\b", r"\1", acted["what"])
        return problem if name_problem(done, names, others, asked.words) else None

    def means(self, given: JSON, option: str) -> bool:
        """Whether what was handed in is one of the options, whichever is right."""
        other = self.model_copy(update={"value": option, "aliases": ()})
        return other.problem(given, AnswerContext()) is None

    def given(self) -> JSON:
        """The option."""
        return self.value

    def facts(self) -> Iterator[Fact]:
        """Nothing: the options are told."""
        yield from ()


_TICKS = str.maketrans({**dict.fromkeys("✓✔✅☑👍", " yes "), **dict.fromkeys("✗✘❌☒👎", " no ")})

_NO_TROUBLE = re.compile(r"\bno (?:problem|trouble|doubt|question|issue)s?\b(?: about it)?(?: at all)?")
_YES = frozenset("yes ja oui si sim да sufficient true y yep yup yeah affirmative correct indeed 1".split())  # noqa: SIM905
_NO = frozenset("no nein non nao нет insufficient false n not nope nah negative incorrect 0".split())  # noqa: SIM905
_SO = re.compile(r"^(?:it|they|he|she|that|this) (?:is|does|are|do|has|have|was|were|did|can|will)(?: so)?[.!]?$")
"""A sentence that says yes without the word."""
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
        text = answered(as_text(given))
        words = re.findall(r"[\w']+", _NO_TROUBLE.sub(" ", fold(text).translate(_TICKS)))
        yes = [word for word in words if word in _YES]
        no = [word for word in words if word in _NO or word.endswith("n't")]
        first = re.match(r"(\w+)\s*(?:[.!;:]|\s[–—-])\s", fold(text))
        if first and first[1] in _YES | _NO and len(yes) + len(no) > 1:
            yes, no = [first[1]] * (first[1] in _YES), [first[1]] * (first[1] in _NO)
        doubt = next(
            (
                word
                for word in words
                if word in _IGNORANCE | hedges() - {"no", "not", "never", "if"} and not word.endswith("n't")
            ),
            None,
        )
        if doubt or "?" in text:
            return f"it is not a plain yes or no: {doubt or '?'!r}"
        if not yes and not no and _SO.match(fold(text)):
            yes = ["yes"]
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
