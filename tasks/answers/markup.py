"""Markup: what a hand-in says without HTML, LaTeX, links, boxes to tick and what was struck out.

Interfaces and models set values off in many ways. Tables and lists of HTML become those of Markdown, which is what is
read further on. What is struck out, or stands at a box that is not ticked, was not handed in. Emphasis, quotes and
fences stay: whoever compares a value takes them off.
"""

import re
from collections.abc import Mapping

from m3bench.tasks.folding import fold

_STRUCK = re.compile(r"~~.*?~~|<(?P<tag>s|del|strike)>.*?</(?P=tag)>", re.IGNORECASE | re.DOTALL)
_EMPTY = re.compile(r"^[\s|*+\-–•]*(?:\(?\d{1,2}[.)])?[\s|*]*$")
_TICKED = re.compile(r"^(?P<mark>\s*[-*+]\s+)\[[xX✓✔]\]\s+", re.MULTILINE)
_UNTICKED = re.compile(r"^\s*[-*+]\s+\[\s\]\s.*$\n?", re.MULTILINE)
_YES = re.compile(r"^(?P<mark>\s*)(?:✅|✔️?|☑️?)\s*(?=\S)", re.MULTILINE)
_NO = re.compile(r"^\s*(?:❌|✗|✘|☒)\s*\S.*$\n?", re.MULTILINE)
_CELLS = re.compile(r"<t[dh]\b[^>]*>(.*?)</t[dh]>", re.IGNORECASE | re.DOTALL)
_ROW = re.compile(r"<tr\b[^>]*>(.*?)</tr>\s*", re.IGNORECASE | re.DOTALL)
_ITEM = re.compile(r"\s*<li\b[^>]*>(.*?)</li>\s*", re.IGNORECASE | re.DOTALL)
_TAGGED = re.compile(r"<([a-z][\w-]*)>(.*?)</\1>", re.IGNORECASE | re.DOTALL)
_TAG = re.compile(r"</?[a-z][a-z0-9_-]*(?:\s[^<>]*)?/?>", re.IGNORECASE)
_LATEX = re.compile(r"\\(?:boxed|text|textbf|textit|mathrm|mathbf|mathit|emph)\s*\{([^{}]*)\}")
_SIGNS = {r"\,": " ", r"\;": " ", r"\ ": " ", r"\%": "%", r"\$": "$", r"\&": "&", r"\times": "×", r"\rightarrow": "→",
          r"\to": "→", r"^\circ": "°", r"\circ": "°", r"\approx": "≈", r"\(": "", r"\)": ""}  # fmt: skip
_LINK = re.compile(r"(?<!!)\[([^\[\]\n]+)\]\((?:https?://|www\.|/|#)[^()\s]*\)")
_NOTE = re.compile(r"(?<=[\w).”\"'])\s?\[\d{1,2}\](?=[\s.,;]|$)|(?:(?<=[^\W\d_])¹|(?<=[^\W\d_]{3})[²³])+(?=[\s.,;]|$)")
_LIT = re.compile(r"==(\S(?:[^=\n]*\S)?)==")
_HTML = re.compile(r"<(?:table|tr|li|br)\b", re.IGNORECASE)


def unmarked(text: str, names: Mapping[str, str] | None = None) -> str:
    """What a text says.

    Args:
        text: The text.
        names: Folded names of fields: a value in a tag of that name is written as `name: value`.
    """
    if not re.search(r"[<~\[\\=✅✔☑❌✗✘☒¹²³]", text):
        return text
    text = _without_struck(text)
    if _UNTICKED.search(text):
        text = _UNTICKED.sub("", text)
    text = _TICKED.sub(r"\g<mark>", text)
    if _YES.search(text) and len(text.split()) > 1:
        text = _YES.sub(r"\g<mark>- " if "\n" in text.strip() else "", _NO.sub("", text))
    if "<" in text:
        text = _without_tags(text, names or {})
    if "\\" in text:
        text = _without_latex(text)
    return _LIT.sub(r"\1", _NOTE.sub("", _LINK.sub(r"\1", text)))


def unmarked_value(given: object) -> object:
    """The same for a value of JSON: every text in it."""
    if isinstance(given, str):
        return unmarked(given)
    if isinstance(given, list | tuple):
        return [unmarked_value(one) for one in given]
    if isinstance(given, dict):
        return {name: unmarked_value(one) for name, one in given.items()}
    return given


def _without_struck(text: str) -> str:
    """A text without what is struck out; a line of which nothing is left goes."""
    if not _STRUCK.search(text):
        return text
    lines = []
    for line in _STRUCK.sub("\0", text).split("\n"):
        left = re.sub(r"[ \t]*\0[ \t]*", " ", line) if "\0" in line else line
        if "\0" not in line or not _EMPTY.match(left):
            lines.append(left.strip() if "\0" in line and "\n" not in text else left)
    return "\n".join(lines)


def _without_tags(text: str, names: Mapping[str, str]) -> str:
    for match in _TAGGED.finditer(text) if names else ():
        if re.sub(r"[\W_]+", "", fold(match[1])) in names:
            text = text.replace(match[0], f"\n{match[1]}: {match[2].strip()}\n")
    if _HTML.search(text):
        text = _ITEM.sub(lambda item: f"\n- {item[1].strip()}", _ROW.sub(_row, text))
        text = re.sub(r"<br\s*/?>", "\n", text, flags=re.IGNORECASE)
    return _TAG.sub("", text).strip("\n")


def _row(match: re.Match[str]) -> str:
    """A row of an HTML table as one of Markdown, a head with its line below."""
    cells = [" ".join(cell.split()) for cell in _CELLS.findall(match[1])]
    line = f"\n| {' | '.join(cells)} |"
    return f"{line}\n|{'---|' * len(cells)}" if "<th" in match[1].lower() and "<td" not in match[1].lower() else line


def _without_latex(text: str) -> str:
    for _ in range(3):
        text = _LATEX.sub(r"\1", text)
    for sign, plain in _SIGNS.items():
        text = text.replace(sign, plain)
    return text
