"""Medicines and their makers as the families about health name them."""

from collections.abc import Iterable

from m3bench.tasks.answers.fields import Name

_SALTS = frozenset({"hydrochloride", "topical", "nasal", "polacrilex", "3350", "sodium", "sulfate"})
"""Words of a generic name that shops and people leave out."""
_FIRM = frozenset(
    (
        "llc", "lp", "inc", "inc.", "limited", "brands", "us", "usa", "holdings", "healthcare", "consumer", "pharmaceuticals",
        "pharmaceutical", "pharma", "industries", "laboratories", "therapeutics", "and", "company", "america", "medicines",
        "sciences", "health", "specialty", "devices",
    )
)  # fmt: skip
"""Words at the end of a firm's name that people leave out."""


def substance(generic: str) -> str:
    """A generic name without the salt or the form."""
    return " ".join(word for word in generic.split() if word not in _SALTS)


def ingredient(generic: str, aliases: Iterable[str] = (), others: Iterable[str] = ()) -> Name:
    """An active ingredient; its salt may be left out."""
    wrong = tuple(one for one in others if one != generic)
    return Name(value=generic, aliases=(substance(generic), *aliases), others=wrong, context=("active ingredient",))


def maker(name: str, others: Iterable[str] = ()) -> Name:
    """A firm; what only says that it is one may be left out."""
    words = name.split()
    while len(words) > 1 and words[-1].casefold().strip(",") in _FIRM:
        words.pop()
    wrong = tuple(one for one in dict.fromkeys(others) if one != name)
    return Name(value=name, aliases=(" ".join(words),), others=wrong, context=(name, "pharmaceuticals company US USA"))
