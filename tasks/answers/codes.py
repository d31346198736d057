"""Versions, telephone numbers and codes: what is compared sign by sign, without the marks that only help the eye.

A version may have a `v` before it, and lack zeros at its end. A telephone number may lack its country's prefix or have
a trunk zero. An ISBN is the same in ten and in thirteen digits, a barcode with and without leading zeros.
"""

import re
from collections.abc import Iterator
from itertools import chain
from typing import Literal

from m3bench.tasks.answers.base import JSON, AnswerContext, Value, as_text, hedge, is_nothing
from m3bench.tasks.answers.spelling import words_of
from m3bench.tasks.answers.statements import About, concluded, heads, kept, without_lead
from m3bench.tasks.facts import Fact
from m3bench.tasks.folding import fold

LEAST_DIGITS = 6
"""Of a telephone number without its country's prefix."""

_VERSION = re.compile(r"(?<![\w.])v?\.?\s?(\d+(?:\.\d+)*(?:[-.+]?(?:[a-z]+[\w.]*|[0-9a-f]{6,}))?)(?![\w])")
_BOUND = re.compile(
    r"[<>≥≤~^]|\b(?:at least|at most|or (?:later|newer|older|higher)|newer than|older than|before|after|above|below)\b"
)
_LABEL = re.compile(
    r"^(?:(?:clinicaltrials|reddit|github)\.\w+\s+)?"
    r"(?:isbn(?:-?1[03])?|ean(?:-?13)?|upc(?:-?a)?|gtin|doi|arxiv|pmid|nct id|barcode|code|number|no|nr|object|item|"
    r"tel|telephone|phone|mobile|id|ticker|symbol|commit|hash|revision|rev|option|icd(?:-10)?(?:-cm)?)\b"
    r"[\s.:#-]*(?:number|no|id|code)?[\s.:#-]*"
)


class Version(Value):
    """The version of a program."""

    type: Literal["version"] = "version"
    value: str

    def problem(self, given: JSON, asked: AnswerContext) -> str | None:
        """Why it is not the version."""
        if is_nothing(given):
            return "nothing was given"
        text = fold(concluded(as_text(given)))
        about = About(asked=frozenset(words_of(asked.words)), unlike=lambda _: False)
        for head in (text, *heads(text, about)):
            if self._is_wrong(head) is None:
                return None
        return self._is_wrong(text)

    def _is_wrong(self, text: str) -> str | None:
        found = {_trimmed(part) for part in _VERSION.findall(text)}
        rest = _VERSION.sub(" ", text)
        bound = _BOUND.search(rest)
        doubt = bound[0] if bound else hedge(rest)
        if doubt:
            return f"it is not a plain version: {doubt!r}"
        if len(found) > 1 and _trimmed(fold(self.value)) in found:
            return "it is more than one version"
        return None if found == {_trimmed(fold(self.value))} else f"{text[:60]!r} is not the version"

    def given(self) -> JSON:
        """The version."""
        return self.value

    def facts(self) -> Iterator[Fact]:
        """The version as written."""
        yield fold(self.value)


def _trimmed(version: str) -> str:
    return re.sub(r"(?:\.0)+$", "", version.removeprefix("v"))


class Phone(Value):
    """A telephone number."""

    type: Literal["phone"] = "phone"
    value: str
    """With its country's prefix where it is known."""

    def problem(self, given: JSON, asked: AnswerContext) -> str | None:
        """Why it is not the number."""
        if is_nothing(given):
            return "nothing was given"
        text = _CALLED.sub("", as_text(given))
        if hedge(text.replace("/", "-")):
            return "it is not a single telephone number"
        head, bracket, aside = (
            text.partition(" (") if re.match(r".*\d.* \((?:[^()\d]*\d){6,}[^()]*\)$", text) else (text, "", "")
        )
        problem = self._is_wrong(_ABROAD.sub("", head), asked.words)
        return problem or (self._is_wrong(_ABROAD.sub("", aside.rstrip(")")), asked.words) if bracket else None)

    def _is_wrong(self, text: str, asked: str) -> str | None:
        text = _WHOSE.sub("", text) if not hedge(text) else text
        right, mine = _dialled(self.value), _dialled(_LABEL.sub("", fold(_bare(text, asked))))
        if mine == right:
            return None
        bare = mine.lstrip("0")
        missing = right[: -len(bare)] if bare and right.endswith(bare) else ""
        if 1 <= len(missing) <= 3 and len(bare) >= LEAST_DIGITS and self.value.lstrip().startswith("+"):
            return None
        if right.lstrip("0") == bare and len(bare) >= LEAST_DIGITS:
            return None
        return f"{text[:40]!r} is not the number"

    def given(self) -> JSON:
        """The number."""
        return self.value

    def facts(self) -> Iterator[Fact]:
        """The number as written."""
        yield fold(self.value)


_CALLED = re.compile(r"(?<=\d)\s*\([^()\d]+\)$")
"""Who is called, in brackets behind a telephone number."""
_ABROAD = re.compile(r"^(?:from|if|when) (?:abroad|outside)[\w\s]*?:?\s+(?=[+\d(])", re.IGNORECASE)
_WHOSE = re.compile(r"^[^\W\d][^\d+(:]{0,60}:\s*(?=[+\d(])")
"""Who is called, before a telephone number."""


def _dialled(text: str) -> str:
    """What is dialled: digits, with the country's prefix when there is one, without a trunk zero in brackets."""
    text = re.sub(r"(?:ext|extension|x)\.?\s?\d+$", "", fold(text)).strip()
    if re.search(r"[a-z]{4,}", text):
        return ""
    text = text.replace("(0)", "")
    digits = re.sub(r"\D", "", text)
    return digits.removeprefix("00") if text.startswith("00") else digits


class Code(Value):
    """A code or identifier."""

    SHOWN = ("form",)

    type: Literal["code"] = "code"
    form: str = ""
    """Which kind: `ISBN`, `barcode`, `ticker`, `DOI`, `URL` or any word."""
    value: str
    aliases: tuple[str, ...] = ()

    @property
    def described(self) -> str:
        """The type in words."""
        return f"code, {self.form}" if self.form else "code"

    def problem(self, given: JSON, asked: AnswerContext) -> str | None:
        """Why it is not the code."""
        if is_nothing(given):
            return "nothing was given"
        text = as_text(given)
        right = {_canonical(name, self.form) for name in (self.value, *self.aliases)} - {""}
        about = About(asked=frozenset(words_of(asked.words)), known=frozenset(words_of(text)))
        said = kept(text)[0]
        for head in chain((text, said), heads(said, about)):
            if right & {_canonical(way, self.form) for way in (head, _bare(head, asked.words))}:
                return None
        return f"{text[:60]!r} is not the code"

    def given(self) -> JSON:
        """The code."""
        return self.value

    def facts(self) -> Iterator[Fact]:
        """The code as written."""
        yield fold(self.value)


_SAYING = re.compile(
    r"^(?:so,?\s+)?(?:i (?:found|get|got|have)(?: that)?\s+)?"
    r"(?:it|this|that)(?:'s|\s+(?:is|was|would be|should be))\s+|"
    r"^(?:run|use|call|execute|type)\b:?\s+",
    re.IGNORECASE,
)


def _bare(text: str, asked: str) -> str:
    """A code without the words of a sentence that only says it."""
    return without_lead(_SAYING.sub("", text), asked)


_INSTALL = re.compile(
    r"\b(?:npm\s+(?:i|in|ins|add|install)|(?:yarn|pnpm|bun)\s+add)\b(?:\s+(?:--save|--save-prod|-s|-p)\b)?"
)


def _canonical(text: str, form: str) -> str:
    folded = _LABEL.sub("", fold(text))
    if form == "command":
        folded = _INSTALL.sub("npm install", re.sub(r"^[$>#]\s*|@latest$", "", fold(text)))
    if form.casefold() not in ("url", "doi"):
        folded = re.sub(r"^https?://[\w.-]+/(?:[\w.-]+/)*(?=[^/]+$)", "", folded.rstrip("/"))
    folded = re.sub(
        r"^(?:https?://)?(?:dx\.|www\.)?(?:doi\.org/|arxiv\.org/abs/)?|^github:nixos/nixpkgs/", "", folded
    ).rstrip("/")
    if form:
        folded = re.sub(rf"^(?:the )?{re.escape(fold(form))}(?: is)?[\s:]+", "", folded)
    if form == "commit":
        folded = re.sub(r"^[\w.-]+/[\w.-]+(?:@|/commit/)", "", folded)
    if form == "glyph":
        folded = re.sub(r"&#(\d{4,6});?", lambda number: f"&#x{int(number[1]):x};", folded)
    signs = re.sub(r"[^\w]", "", folded).replace("_", "")
    if form.casefold() in ("isbn", "barcode", "ean", "upc", "gtin") and re.fullmatch(r"\d{8,14}|\d{9}x", signs):
        if len(signs) == 10 and form.casefold() == "isbn":
            return _thirteen(signs) if _is_isbn(signs) else signs
        return signs.zfill(13)
    return signs


def _is_isbn(isbn: str) -> bool:
    """Whether the last of ten digits follows from the others."""
    return sum((10 - place) * (10 if sign == "x" else int(sign)) for place, sign in enumerate(isbn)) % 11 == 0


def _thirteen(isbn: str) -> str:
    """An ISBN of ten digits in its longer form."""
    body = f"978{isbn[:9]}"
    total = sum(int(digit) * (3 if place % 2 else 1) for place, digit in enumerate(body))
    return f"{body}{-total % 10}"
