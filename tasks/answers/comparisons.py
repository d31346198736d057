"""Comparisons: which of two things a sentence puts first, and which one a sentence is about.

"Heat has fewer votes than Roma" says Roma where most votes are asked for, and Heat where fewest are. What this gives
is the name; whether it is the right one is decided elsewhere.
"""

import re
from collections.abc import Collection

from m3bench.tasks.answers.spelling import hedges, vocabulary, words_of
from m3bench.tasks.answers.statements import opposites
from m3bench.tasks.folding import fold

LONGEST = 240
_COMPARED = re.compile(
    r"^(?P<one>\S.{0,110}?)[,\s]+(?P<verb>is|are|was|were|has|have|had|got|gets|grew|rose|costs?|weighs?|lies|stands?|"
    r"pays?|paid|earned|drew|scored|gained|takes?|holds?|gives?|gave|came|comes|counts?|offers?)\s+"
    r"(?P<much>(?:[\w.,%$€£]+\s+){0,4}?)(?P<how>more|less|fewer|greater|[a-z]{3,}er)\b(?P<what>(?:\s+[\w-]+){0,3}?)"
    r"\s+than\s+(?P<other>[^.;]{1,110}?)[.!]?$",
    re.IGNORECASE,
)
_NEGATED = re.compile(r"\b(?:not|no|never|neither|nor|hardly)\b|n['’]t\b", re.IGNORECASE)
_MUCH = frozenset({"more", "greater", "higher", "larger", "bigger", "longer", "better"})
_LITTLE = frozenset({"less", "fewer", "lower", "smaller", "shorter", "worse"})
_NOT_FIRST = frozenset({"second", "third", "fourth", "last", "least", "less", "fewer", "smaller", "2nd", "3rd"})
_QUOTED = re.compile(r"[“\"«](?P<name>[^“”\"«»]{2,120})[”\"»]")
_PLACED = re.compile(
    r"^(?:it|the (?:tour|trip|journey|route|drive|way|leg))\s+(?:starts?|begins?|is|lies|leaves?)\s+(?:in|at|from)\s+"
    r"(?P<name>[A-Z][^.;]{1,110}?)[.!]?$",
    re.IGNORECASE,
)
_DOES = re.compile(
    r"^(?P<name>[A-Z“\"][^.;,:()]{1,110}?)\s+(?P<said>(?:drew|draws|holds|offers|opened|begins|starts|received|"
    r"collected|attracted|earned|makes|made|grew|rose|tops|won|wins)\s+[^.;]{2,80}?)[.!]?$"
)


def first_of(text: str, asked: Collection[str]) -> str:
    """The thing that a comparison of two says, in the sense in which one is asked for; the text where there is none."""
    found = _COMPARED.match(text) if len(text) <= LONGEST and "?" not in text else None
    if found is None or _NEGATED.search(text):
        return text
    how, asked = found["how"].lower(), set(asked)
    little = bool(asked & {*vocabulary().names["little"].split()})
    if how in asked:
        return found["one"]
    if how in opposites(asked):
        return found["other"]
    if how in _MUCH | _LITTLE:
        return found["other" if (how in _LITTLE) != little else "one"]
    return text


def named_in(text: str, asked: Collection[str]) -> str:
    """The thing that a sentence is about: it stands in quotes, or begins or ends the sentence; else the text."""
    if len(text) > LONGEST or _NEGATED.search(text) or "?" in text or hedges() & set(re.findall(r"[\w']+", fold(text))):
        return text
    quoted = _QUOTED.findall(text)
    rest = set(words_of(_QUOTED.sub(" ", text)))
    if len(quoted) == 1 and not rest & opposites(asked) and not re.search(r"[A-Z]\w", _QUOTED.sub(" ", text)[1:]):
        return str(quoted[0])
    placed = _PLACED.match(text)
    if placed:
        return placed["name"]
    does = _DOES.match(text)
    said = set(words_of(does["said"])) if does else set()
    if does and not said & (opposites(asked) | _NOT_FIRST) and not re.search(r"\b[A-Z]", does["said"]):
        return does["name"].strip('“”"')
    return text
