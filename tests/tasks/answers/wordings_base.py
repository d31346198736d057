"""What the rules for ways to hand in a value share."""

import unicodedata
from collections.abc import Iterator
from random import Random
from typing import TypeAlias

from m3bench.tasks.answers.base import JSON

Way: TypeAlias = tuple[str, JSON]
"""The name of a rule, and what it hands in; a rule that does not fit hands in nothing."""


def dressed(text: str) -> Iterator[Way]:
    """What may be around any text."""
    yield "bold", f"**{text}**"
    yield "code", f"`{text}`"
    yield "quotes", f"“{text}”"
    yield "fence", f"```\n{text}\n```"
    yield "list of one", [text]
    yield "it is", f"It is {text}"
    yield "answer", f"Answer: {text}"
    yield "underline", f"__{text}__"
    yield "bullet", f"- {text}"
    yield "arrow", f"→ {text}"
    yield "i found", f"I found that it is {text}."
    yield "white space", f"  {text}\u00a0\n"


def unaccented(text: str) -> str:
    return "".join(sign for sign in unicodedata.normalize("NFKD", text) if not unicodedata.combining(sign))


def changed(text: str, rng: Random) -> str:
    """A name with a word put in, which is the name of another thing."""
    words = text.split()
    return " ".join([*words, rng.choice(("Park", "Annex II", "North", "Junior", "Express"))])
