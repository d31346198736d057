"""Finds tools by what they are for: the search behind `find_tools`.

Ranks wire entries by the words of a query: rare words weigh more, a word in a name more than one in a description.
Words are compared by their stems, and one that no tool has is read as the nearest that some tool has. The same
query over the same tools gives the same order, without a model and without a network.
"""

import math
import re
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from m3bench.tasks.catalog import SEPARATOR
from m3bench.tasks.json_types import Record
from m3bench.tasks.lazy_modules import LazyModule

if TYPE_CHECKING:
    from rapidfuzz import fuzz, process
else:
    fuzz = LazyModule("rapidfuzz.fuzz")
    process = LazyModule("rapidfuzz.process")

MAX_QUERY = 2000
"""How many characters of a query are read."""

_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+|[^\W\d_A-Za-z]+")
_ENDINGS = ("ations", "ation", "ings", "ing", "ers", "er", "ies", "es", "ed", "ions", "ion", "s", "e", "y")
_STEM = 3
"""The shortest stem, in letters."""

_STOP = frozenset(
    word
    for line in (
        "a an and any are as at be by can do each for from get given has have how i if in into is it its me my of on",
        "one or our out over please some that the their them then these this to tool tools up use using want was what",
        "when where which with you your",
    )
    for word in line.split()
)


def _stem(word: str) -> str:
    for ending in _ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= _STEM:
            return word.removesuffix(ending)
    return word


_GROUPS = (
    "average mean", "total sum", "picture image photo", "film movie", "plus add", "minus subtract", "divide division",
    "spreadsheet excel workbook", "powerpoint presentation ppt", "deck presentation", "qr barcode",
    "coordinates geocode", "address geocode", "share stock", "bitcoin crypto okx", "article paper", "medicine drug",
    "text ocr", "route directions", "remainder modulo", "car vehicle", "smog air", "pollution air",
)  # fmt: skip
_ALIKE = {
    _stem(word): tuple(
        _stem(other) for group in _GROUPS if word in group.split() for other in group.split() if other != word
    )
    for group in _GROUPS
    for word in group.split()
}
"""Synonyms, by stem."""
_ALIKE_SURE = 0.7
_FIELDS = {"name": 3.0, "server": 2.0, "description": 1.0, "parameters": 0.5}
_SATURATION = 1.2
"""How soon a repeated word stops adding to the score."""
_LENGTH = 0.4
"""How much the length of a text reduces the weight of its words."""
_NEAR = 80
"""Similarity, out of 100, from which a word is taken for another."""

Entry = Record
"""A tool as it goes over the wire."""


def stems(text: str) -> list[str]:
    """The stems of the words of a text; names are taken apart at underscores and capitals."""
    words = (word.casefold() for word in _WORD.findall(text))
    return [_stem(word) for word in words if word not in _STOP]


class ToolSearch:
    """A search over tools.

    Args:
        tools: What can be found; equally good ones keep this order.
    """

    def __init__(self, tools: Sequence[Entry]) -> None:
        self._tools = tools
        fields = [_fields(tool) for tool in tools]
        usual = {name: sum(entry[name].total() for entry in fields) / max(1, len(tools)) for name in _FIELDS}
        self._spoken: dict[str, dict[int, float]] = {}
        """How much each tool that has a stem fits a query that has it too."""
        for index, entry in enumerate(fields):
            for stem, weight in _weights(entry, usual).items():
                self._spoken.setdefault(stem, {})[index] = weight / (weight + _SATURATION)
        for found in self._spoken.values():
            rarity = math.log(1 + (len(tools) - len(found) + 0.5) / (len(found) + 0.5))
            found.update({index: strength * rarity for index, strength in found.items()})

    def find(self, query: str, limit: int) -> list[Entry]:
        """The tools that fit a query best, best first; none when no word of it fits any."""
        scores: dict[int, float] = defaultdict(float)
        for asked in dict.fromkeys(stems(query[:MAX_QUERY])):
            best: dict[int, float] = {}
            for stem, sure in self._meant(asked).items():
                for index, fit in self._spoken[stem].items():
                    best[index] = max(best.get(index, 0.0), sure * fit)
            for index, fit in best.items():
                scores[index] += fit
        named = query.strip().casefold().replace("/", SEPARATOR, 1)
        ranked = sorted(
            scores, key=lambda index: (self._tools[index]["name"].casefold() != named, -scores[index], index)
        )
        return [self._tools[index] for index in ranked[:limit]]

    def _meant(self, stem: str) -> dict[str, float]:
        """The stems of tools that a word of a query may mean, and how certainly."""
        found = dict.fromkeys(_ALIKE.get(stem, ()), _ALIKE_SURE) | {stem: 1.0}
        found = {one: sure for one, sure in found.items() if one in self._spoken}
        if found or len(stem) <= _STEM:
            return found
        near = process.extractOne(stem, sorted(self._spoken), scorer=fuzz.ratio, score_cutoff=_NEAR)
        return {near[0]: near[1] / 200} if near else {}


def _weights(fields: Mapping[str, Counter[str]], usual: Mapping[str, float]) -> dict[str, float]:
    """How often a tool has each stem; names count more, and each word of a long text counts less."""
    weights: dict[str, float] = defaultdict(float)
    for name, value in _FIELDS.items():
        length = fields[name].total() / usual[name] if usual[name] else 1.0
        for stem, count in fields[name].items():
            weights[stem] += value * count / (1 - _LENGTH + _LENGTH * length)
    return weights


def _fields(tool: Entry) -> dict[str, Counter[str]]:
    server, _, name = tool["name"].rpartition(SEPARATOR)
    properties: Record = tool["inputSchema"].get("properties", {})
    texts = (str(given.get("description", "")) for given in properties.values() if isinstance(given, Mapping))
    return {
        "name": Counter(stems(name)),
        "server": Counter(stems(server)),
        "description": Counter(stems(tool.get("description") or "")),
        "parameters": Counter(stems(" ".join([*properties, *texts]))),
    }
