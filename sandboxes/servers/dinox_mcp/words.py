"""What the words of a detection prompt mean: plurals, spellings, synonyms and kinds.

From small tables of plain English nouns, not a thesaurus: what a picture's author calls a thing by another name
belongs into the object's aliases. `match` says how closely a prompt's term fits an object, so that of several
terms the closest names it.
"""

import re
from collections.abc import Iterable, Mapping
from enum import IntEnum
from functools import cache, lru_cache

from m3bench.sandboxes.world import tables
from m3bench.tasks.scene import SceneObject

_FILLERS = {"a", "an", "the", "some", "any", "all", "every", "each"}

_NOT_THEIR_LAST_WORD = {
    *("hot dog", "teddy bear", "guinea pig", "sea lion", "sea horse", "prairie dog", "rubber duck", "toy dog"),
    *("computer mouse", "pc mouse", "baseball bat", "cricket bat", "paper plane", "piggy bank", "model ship"),
}
"""Names whose last word says something else: a hot dog is no dog."""


class Closeness(IntEnum):
    """How a term fits an object; less is closer."""

    NAME = 0
    ALIAS = 1
    SYNONYM = 2
    LAST_WORD = 3
    KIND = 4
    QUALIFIED = 5


def terms(prompt: str) -> list[str]:
    """The terms of a prompt, as they were written and in order, without repetitions."""
    pieces = (" ".join(piece.split()) for piece in re.split(r"[.,;\n]+", prompt))
    return list(dict.fromkeys(piece for piece in pieces if plain(piece)))


@lru_cache(4096)
def plain(words: str) -> str:
    """Words in the form they are compared in: small letters, singular, without articles and hyphens."""
    parts = re.sub(r"[\W_]+", " ", words.replace("'s", "").casefold()).split()
    while len(parts) > 1 and parts[0] in _FILLERS:
        parts.pop(0)
    if parts and " ".join(parts) != "glasses":
        parts[-1] = singular(parts[-1])
    return " ".join(parts)


def singular(word: str) -> str:
    """A noun in the singular; one that is there already comes back as it is."""
    if word in _plurals():
        return _plurals()[word]
    if len(word) < 4 or not word.endswith("s") or word.endswith(("ss", "us", "is")):
        return word
    if word.endswith("ies"):
        return word[:-3] + "y"
    if word.endswith(("sses", "xes", "ches", "shes", "oes")) or (word.endswith("uses") and not word.endswith("ouses")):
        return word[:-2]
    return word[:-1]


def match(term: str, item: SceneObject) -> Closeness | None:
    """How closely a term fits an object, None when it does not.

    A detector knows things and not how they are: `torn cable` and `cable with a plug` fit any cable.
    """
    words = plain(term.partition(" with ")[0]).split()
    for start in range(len(words)):
        noun = " ".join(words[start:])
        found = _match_noun(noun, item)
        if found is not None:
            return Closeness.QUALIFIED if start else found
        if noun in _NOT_THEIR_LAST_WORD:
            return None
    return None


def _match_noun(noun: str, item: SceneObject) -> Closeness | None:
    label = plain(item.label)
    aliases = [plain(alias) for alias in item.aliases]
    if _same(noun, label):
        return Closeness.NAME
    if any(_same(noun, alias) for alias in aliases):
        return Closeness.ALIAS
    names = {other for name in (label, *aliases) for other in (name, *_synonyms().get(_joined(name), ()))}
    if any(_same(noun, name) for name in names):
        return Closeness.SYNONYM
    if any(name.endswith(f" {noun}") and name not in _NOT_THEIR_LAST_WORD for name in names):
        return Closeness.LAST_WORD
    if _joined(noun) in _kinds_of(names):
        return Closeness.KIND
    return None


def _kinds_of(names: Iterable[str]) -> set[str]:
    """Everything the names are a kind of, however far up, with the synonyms of that."""
    found: set[str] = set()
    waiting = [*names]
    while waiting:
        name = waiting.pop()
        tails = [] if name in _NOT_THEIR_LAST_WORD else [name.rpartition(" ")[2]]
        for kind in {kind for part in (name, *tails) for kind in _kinds().get(_joined(part), ())}:
            if _joined(kind) not in found:
                found.update(map(_joined, (kind, *_synonyms().get(_joined(kind), ()))))
                waiting.append(kind)
    return found


def _same(one: str, other: str) -> bool:
    return _joined(one) == _joined(other)


def _joined(name: str) -> str:
    """`hard hat` and `hardhat` are the same."""
    return name.replace(" ", "")


@cache
def _plurals() -> Mapping[str, str]:
    """Irregular plural to singular."""
    return {record["id"]: record["singular"] for record in tables.load("irregular_plurals")}


@cache
def _synonyms() -> Mapping[str, tuple[str, ...]]:
    """Joined name to all names of its group."""
    groups = [tuple(plain(name) for name in record["names"]) for record in tables.load("synonyms")]
    return {_joined(name): group for group in groups for name in group}


@cache
def _kinds() -> Mapping[str, tuple[str, ...]]:
    """Joined name to what it is a kind of."""
    found: dict[str, tuple[str, ...]] = {}
    for record in tables.load("kinds"):
        for member in record["members"]:
            key = _joined(plain(member))
            found[key] = (*found.get(key, ()), plain(record["id"]))
    return found
