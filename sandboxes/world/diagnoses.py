"""Diagnoses of ICD-10-CM: what a code means, which codes begin alike, and which diagnosis some words mean.

The table keeps a category with everything below it in one record and shortens names, see `build/diagnoses.py`; here
they are whole again. Codes that differ only in the encounter (`initial`, `subsequent`, `sequela` …) share one entry
of the search, which keeps it small.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

from m3bench.sandboxes.world import tables
from m3bench.sandboxes.world.search import SearchIndex, words
from m3bench.sandboxes.world.tables import Record

CATEGORY_LENGTH = 3
FULL_LENGTH = 7
_ENCOUNTER = re.compile(r"\b(initial encounter|subsequent encounter|sequela)\b", re.IGNORECASE)

_PLAIN = re.compile(r"^Unspecified|unspecified( organism)?$|^Essential|without complications$")
"""Names of the plain form of a disease, which is meant when nothing more is said."""
_EVERYDAY = {
    "bedsore": "pressure ulcer",
    "blood poisoning": "sepsis",
    "broken": "fracture",
    "chickenpox": "varicella",
    "cold sore": "herpesviral vesicular dermatitis",
    "common cold": "acute nasopharyngitis",
    "stomach flu": "viral intestinal infection",
    "flu": "influenza",
    "frozen shoulder": "adhesive capsulitis of shoulder",
    "golfers elbow": "medial epicondylitis",
    "hay fever": "allergic rhinitis due to pollen",
    "heart attack": "acute myocardial infarction",
    "heartburn": "gastro-esophageal reflux",
    "high blood pressure": "essential primary hypertension",
    "high cholesterol": "hypercholesterolemia",
    "kidney stone": "calculus of kidney",
    "low blood sugar": "hypoglycemia",
    "mini stroke": "transient cerebral ischemic attack",
    "pink eye": "conjunctivitis",
    "piles": "hemorrhoids",
    "ringworm": "dermatophytosis",
    "shingles": "zoster",
    "stroke": "cerebral infarction",
    "tennis elbow": "lateral epicondylitis",
    "underactive thyroid": "hypothyroidism",
}
"""Words of every day that the classification does not use."""
_ALONE = {
    "cold": "acute nasopharyngitis",
    "flu": "influenza due to unidentified influenza virus with other respiratory manifestations",
    "influenza": "influenza due to unidentified influenza virus with other respiratory manifestations",
    "diabetes": "type 2 diabetes mellitus without complications",
    "hypertension": "essential primary hypertension",
}
"""What a word means when it stands for the whole query."""


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """One node below the blocks of the classification."""

    bare: str
    """The code without its dot."""
    name: str
    category: str
    """Code and name of the category it belongs to."""
    chapter: str
    terms: tuple[str, ...]
    """Other names for the same."""
    billable: bool
    """Whether nothing is below it, so that it can stand on a bill."""

    @property
    def code(self) -> str:
        """The code as it is written."""
        head, tail = self.bare[:CATEGORY_LENGTH], self.bare[CATEGORY_LENGTH:]
        return f"{head}.{tail}" if tail else head


def bare(code: str) -> str:
    """A code as the table keeps it, whatever its case, dots and spaces."""
    return re.sub(r"[\s.]", "", code).upper()


def beginning(code: str) -> list[Diagnosis]:
    """The billable codes that begin with a code or a part of one, in the order of codes."""
    start = bare(code)
    if not start.isalnum():
        return []
    # Only the categories in question are read: the whole table takes most of a second.
    records = tables.stream("diagnoses", f'{{"id": "{start[:CATEGORY_LENGTH]}')
    found = [
        diagnosis
        for record in records
        for diagnosis in _nodes(record)
        if diagnosis.billable and diagnosis.bare.startswith(start)
    ]
    return sorted(found, key=lambda one: one.bare)


def search(query: str, limit: int) -> list[Diagnosis]:
    """The billable codes that words mean, best first."""
    typed = " ".join(words(query))
    usual = _usual().get(typed) or _usual().get(typed.removesuffix("s"))
    plain = by_code()[usual].name if usual else _clinical(_ENCOUNTER.sub(" ", query))
    asked = set(words(query))
    found = [by_code()[usual]] if usual else []
    for _, record in _index().search(plain if words(plain) else query, limit):
        alike = [by_code()[key] for key in record["codes"]]
        alike.sort(key=lambda entry: -len(asked.intersection(words(entry.name))))
        found += [entry for entry in alike if entry.bare != usual]
        if len(found) >= limit:
            break
    return found[:limit]


@cache
def _usual() -> Mapping[str, str]:
    """What people call a diagnosis to the code that stands for it when nothing more is said."""
    return {" ".join(words(record["name"])): bare(record["code"]) for record in tables.load("diagnosis_names")}


def _clinical(query: str) -> str:
    """A query with the words of every day replaced by those of the classification."""
    text = " ".join(words(query))
    text = _ALONE.get(text, text)
    for phrase, meant in _EVERYDAY.items():
        text = re.sub(rf"\b{phrase}s?\b", meant, text)
    return text


@cache
def by_code() -> Mapping[str, Diagnosis]:
    """Every category and everything below it, by the code without its dot."""
    return {diagnosis.bare: diagnosis for record in tables.stream("diagnoses") for diagnosis in _nodes(record)}


def _nodes(record: Record) -> Iterator[Diagnosis]:
    category, lines = f"{record['id']} {record['name']}", record["codes"]
    names = {record["id"]: record["name"]}
    yield Diagnosis(record["id"], record["name"], category, record["chapter"], tuple(record["terms"]), not lines)
    keys = [record["id"] + line.partition(" ")[0] for line in lines]
    for position, (key, line) in enumerate(zip(keys, lines, strict=True)):
        name, *terms = line.partition(" ")[2].split(" | ")
        if name.startswith("~"):
            name = names[_above(key, names)] + name[1:]
        names[key] = name
        # Children come right after their parent.
        last = position + 1 == len(keys) or not keys[position + 1].startswith(key)
        yield Diagnosis(key, name, category, record["chapter"], tuple(terms), last)


def _above(key: str, names: Mapping[str, str]) -> str:
    return next(key[:length] for length in range(len(key) - 1, 0, -1) if key[:length] in names)


@cache
def _index() -> SearchIndex[Record]:
    """Over billable codes; those that only add an encounter to the code above them are one entry together."""
    groups: dict[str, dict[str, Any]] = {}
    known = by_code()
    names = {key: one.name for key, one in known.items()}
    for key, one in known.items():
        if not one.billable:
            continue
        base = key
        if len(key) == FULL_LENGTH and one.name.startswith(names[above := _above(key, names)] + ", "):
            base = above
        entry = groups.get(base)
        if entry is None:
            groups[base] = {"name": names[base], "terms": known[base].terms, "under": one.category, "codes": [key]}
        else:
            entry["codes"].append(key)
    fields = {"name": 3.0, "terms": 2.4, "under": 1.5}
    return SearchIndex(
        groups.values(), fields, prior=lambda entry: float(_PLAIN.search(entry["name"]) is not None), coverage=0.6
    )
