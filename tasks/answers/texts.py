"""Free text, which must say certain things and deny none of them."""

import re
from collections.abc import Iterator
from typing import Literal

from m3bench.tasks.answers.base import JSON, AnswerContext, Value, as_text, is_nothing
from m3bench.tasks.answers.spelling import Words, find, joined, spellings, words_of
from m3bench.tasks.facts import Fact
from m3bench.tasks.folding import fold

FEWEST_WORDS = 4
"""Of a text, where the right one is a whole sentence."""

_NOT = re.compile(
    r"\b(?:not|never|neither|nor|no|without|isn't|aren't|wasn't|weren't|doesn't|don't|cannot|can't|hardly)\b"
)
_FALSE = re.compile(r"\b(?:not true|untrue|false) that\b|\bthis is (?:false|untrue|not true)\b|^(?:not|no)\b")


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
        denied = self._denied(fold(text))
        if denied:
            return f"it denies {denied!r}"
        missing = [mention[0] for mention in self.mentions if not any(_says(name, mine, said) for name in mention)]
        return f"it does not say {', '.join(missing)[:80]!r}" if missing else None

    def _denied(self, text: str) -> str | None:
        """What it must say and says is not so."""
        if _FALSE.search(text):
            return self.mentions[0][0]
        own = fold(self.value)
        for match in _NOT.finditer(text):
            behind = " ".join(re.findall(r"[\w']+", re.split(r"[.;:!?]|\bbut\b", text[match.end() :])[0])[:4])
            for name in (name for mention in self.mentions for name in mention):
                if _says(name, words_of(behind), "") and match[0] + text[match.end() :][: len(behind)] not in own:
                    return name
        return None

    def given(self) -> JSON:
        """The text."""
        return self.value

    def facts(self) -> Iterator[Fact]:
        """What it must say."""
        for mention in self.mentions:
            yield fold(mention[0])


def _says(name: str, mine: Words, said: str) -> bool:
    return any(find(form, mine) >= 0 or (len(form) > 2 and joined(form) in said) for form in spellings(name))
