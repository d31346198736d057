"""Spelling: the words of a name in one form, so that two spellings of one thing are the same words.

Articles, punctuation, accents and case are dropped; common abbreviations, number words, Roman numerals and British and
American spellings become one. Two different things never get the same words here. The vocabulary of everything that
compares answers, read once from `tasks/data/words.toml`, is here too.
"""

import re
import tomllib
from functools import cache, lru_cache
from importlib.resources import files

from pydantic import BaseModel, ConfigDict

from m3bench.tasks.folding import fold


class Vocabulary(BaseModel):
    """What the file holds."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    hedges: dict[str, str]
    names: dict[str, str]
    same: dict[str, str]
    units: dict[str, dict[str, float]]
    currencies: dict[str, str]
    coins: dict[str, str]
    cents: dict[str, str]
    zones: dict[str, float]
    regions: dict[str, str]


@cache
def vocabulary() -> Vocabulary:
    """The file."""
    path = files("m3bench.tasks") / "data" / "words.toml"
    return Vocabulary.model_validate(tomllib.loads(path.read_text(encoding="utf-8")))


@cache
def hedges() -> frozenset[str]:
    """Words that turn a value into several, into none, or into a guess."""
    return frozenset(vocabulary().hedges["words"].split())


@cache
def one_spelling() -> dict[str, str]:
    """Words with another spelling, and the one that they are read as."""
    return {word: first for first, others in vocabulary().same.items() for word in others.split()}


@lru_cache(maxsize=512)
def regions_of(text: str) -> str:
    """The other names of the states and countries that a text names: `Colorado`, `USA` of "Denver, CO"."""
    found = (
        (name, names)
        for name, names in vocabulary().regions.items()
        if name in text and re.search(rf"(?:, |^){name}\b" if len(name) == 2 else rf"\b{name}\b", text)
    )
    return " ".join(names.replace("|", " ") for _, names in found)


_ARTICLES = frozenset({"the", "a", "an"})
_UMLAUTS = str.maketrans(
    {"ä": "ae", "ö": "oe", "ü": "ue", "Ä": "Ae", "Ö": "Oe", "Ü": "Ue", "å": "aa", "Å": "Aa", "ø": "oe", "Ø": "Oe"}
)

Words = tuple[str, ...]


@lru_cache(maxsize=4096)
def words_of(text: str) -> Words:
    """The words of a name in their one form; articles go unless nothing else is there."""
    folded = fold(text).replace("&", " and ").replace("'s ", "s ").replace("'", "")
    folded = re.sub(r"\b([a-z])\.(?=[a-z]\.)", r"\1", folded)
    alike = one_spelling()
    found = [alike.get(word, word) for word in re.findall(r"[^\W_]+", folded)]
    kept = [word for word in found if word not in _ARTICLES and word != "and"]
    return tuple(kept or found)


def spellings(name: str) -> set[Words]:
    """The forms of one name: as it is, with umlauts spelled out, without what is in brackets."""
    forms = {name, name.translate(_UMLAUTS), re.sub(r"\s*[(\[][^)\]]*[)\]]", "", name)}
    return {words_of(form) for form in forms if form.strip()} - {()}


def joined(words: Words) -> str:
    """The words as one, for names that some write as one word and some as two."""
    return "".join(words)


def find(part: Words, whole: Words) -> int:
    """Where some words stand in others, one after the other; -1 when they do not."""
    for start in range(len(whole) - len(part) + 1):
        if whole[start : start + len(part)] == part:
            return start
    return -1


BINOMIAL = re.compile(r"[A-Z][a-z]+ [a-z]+")
"""The name of a species."""
_AUTHORITY = re.compile(r"\s+\(?(?:L\.|[A-Z][\w.-]+(?: (?:&|and) [A-Z][\w.-]+)?),? 1[78]\d\d\)?$|\s+\(?L(?:inn)?\.\)?$")
"""Who described a species first, and when."""


def whole_species(text: str, right: frozenset[Words], wrong: frozenset[Words]) -> str:
    """A species without who described it, and with its genus in full where it was cut short: `Th. thynnus`."""
    text = _AUTHORITY.sub("", text)
    match = re.fullmatch(r"([A-Z][a-z]{0,3})\. ?([a-z]+)", text.strip())
    if match is None:
        return text
    start, kind = match[1].lower(), match[2]
    whole = [form for form in right | wrong if len(form) == 2 and form[0].startswith(start) and form[1] == kind]
    return " ".join(whole[0]) if whole and set(whole) <= right else text


_HOUSE = re.compile(r"(\d+\w?) ([^,\d]+)")
"""The number of a house and its street, which may also stand the other way round."""
_POSTAL_CODE = re.compile(r"(?<=, )\d{4,6}\s+(?=[^\W\d])|(?<=[^\W\d])\s+\d{4,6}(?=,|$)")
"""Behind the first comma of an address, or behind a town."""
STREET = re.compile(
    r"^(?:calle|c/|c\.|via|rua|rue|avenida|avda\.|av\.|jalan|jl\.)\s*(?:del?\s+(?:la\s+|los\s+|las\s+)?)?",
    re.IGNORECASE,
)
"""What stands before the name of a street where many leave it out."""


def addressed(names: tuple[str, ...]) -> tuple[str, ...]:
    """Names with other ways to write addresses: the house first, no postal code, the street by its name alone."""
    turned = (f"{match[2]} {match[1]}" for name in names if (match := _HOUSE.match(name)))
    names = (*names, *turned, *(_POSTAL_CODE.sub("", name) for name in names if _POSTAL_CODE.search(name)))
    return (*names, *(short for name in names if (short := STREET.sub("", name)) != name and re.search(r"\d", name)))


def singular(words: Words) -> Words:
    """Longer words without an s at the end."""
    return tuple(word.removesuffix("s") if len(word) > 4 else word for word in words)


def without_its_kind(mine: Words, right: frozenset[Words], wrong: frozenset[Words]) -> bool:
    """Whether words are a product without what it is: "Lucky Charms", where its maker alone is a name of it too."""
    makers = [form for form in right if any(len(other) > len(form) and other[: len(form)] == form for other in right)]
    whole = {
        form[start:] for form in right for maker in makers for start in (0, len(maker)) if form[: len(maker)] == maker
    }
    return (
        len(mine) > 1
        and any(form[: len(mine)] == mine for form in whole)
        and not any(find(mine, form) >= 0 for form in wrong)
    )


def without_figures(mine: Words, right: frozenset[Words], wrong: frozenset[Words]) -> bool:
    """Whether words are the beginning of a name of which only sizes and numbers are missing: "Turbo" of "Turbo 2.0"."""

    def begins(form: Words) -> bool:
        missing = form[len(mine) :]
        return form[: len(mine)] == mine and all(re.search(r"\d", word) or len(word) == 1 for word in missing)

    told = [word for word in mine if word.isalpha()]
    return len(told) > 1 and any(map(begins, right)) and not any(form[: len(mine)] == mine for form in wrong)


_IN_REGION = re.compile(r"^(?P<what>[^,(]+?)\s*(?:,\s*(?P<behind>[A-Z][\w. ]*)|\((?P<aside>[A-Z][\w. ]*)\))$")


@cache
def _regions() -> frozenset[str]:
    """States and countries by all their names."""
    known_regions = vocabulary().regions
    return frozenset((*known_regions, *(name for names in known_regions.values() for name in names.split("|"))))


@lru_cache(maxsize=256)
def names_region(context: str) -> bool:
    """Whether it is known in which state or country a thing is: another one behind its name is another thing."""
    return any(re.search(rf"(?<!\w){re.escape(name)}(?!\w)", context) for name in _regions() if len(name) > 2)


def without_region(text: str) -> str:
    """A name of several words without the state or country behind it; of a town that says which one it is."""
    found = _IN_REGION.match(text)
    if found and len(words_of(found["what"])) < 2:
        return text
    return found["what"] if found and (found["behind"] or found["aside"]) in _regions() else text


def turned_at_comma(text: str, names: tuple[str, ...], right: frozenset[Words], wrong: frozenset[Words]) -> bool:
    """Whether a name with its kind behind a comma is said the other way round: "the jar of honey" of "Honey, jar"."""
    turned = words_of(re.sub(r"\bof\b", " ", text))
    lists = {words_of(name) for name in names if name.count(",") == 1}
    return any(sorted(turned) == sorted(form) for form in lists & right) and turned not in wrong
