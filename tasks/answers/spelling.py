"""Spelling: the words of a name in one form, so that two spellings of one thing are the same words.

Articles, punctuation, accents and case go; common abbreviations, number words, Roman numerals and British and American
spellings become one. What two different things are called never becomes the same here.
"""

import re

from m3bench.tasks.answers.words import same
from m3bench.tasks.folding import fold

_ARTICLES = frozenset({"the", "a", "an"})
_UMLAUTS = str.maketrans(
    {"ä": "ae", "ö": "oe", "ü": "ue", "Ä": "Ae", "Ö": "Oe", "Ü": "Ue", "å": "aa", "Å": "Aa", "ø": "oe", "Ø": "Oe"}
)

Words = tuple[str, ...]


def words_of(text: str) -> Words:
    """The words of a name in their one form; articles go unless nothing else is there."""
    folded = fold(text).replace("&", " and ").replace("'s ", "s ").replace("'", "")
    folded = re.sub(r"\b([a-z])\.(?=[a-z]\.)", r"\1", folded)
    alike = same()
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
