"""`known_papers/packages.json`: real papers that packages cite, by arXiv id or DOI.

Run it with three wheels: mteb 2.26.24 and tensorflow_datasets 4.9.10 (both Apache-2.0), whose tasks and datasets
carry BibTeX entries, and transformers 4.30.0 (Apache-2.0), whose description names the paper of every model. Taken are
title, authors, year and identifier; entries that are cut short, have none or contradict themselves are left out.
"""

import re
import sys
import unicodedata
import zipfile
from collections.abc import Iterator
from typing import NotRequired, TypedDict

from m3bench.sandboxes.world import tables
from m3bench.sandboxes.world.build.writing import write

_ACCENTS = {
    "`": "\u0300", "'": "\u0301", "^": "\u0302", '"': "\u0308", "~": "\u0303", "=": "\u0304", ".": "\u0307",
    "u": "\u0306", "v": "\u030c", "H": "\u030b", "c": "\u0327", "k": "\u0328", "r": "\u030a",
}  # fmt: skip
_LETTERS = {
    r"\ss": "ß", r"\o": "ø", r"\O": "Ø", r"\l": "ł", r"\L": "Ł", r"\ae": "æ", r"\AE": "Æ", r"\aa": "å", r"\AA": "Å",
    r"\i": "ı", r"\&": "&", r"\%": "%", r"\_": "_", r"\$": "$", r"\#": "#",
}  # fmt: skip
_ENTRY = re.compile(r"@(\w+)\s*\{\s*([^,\s]+)\s*,")
_FIELD = re.compile(r"(\w+)\s*=\s*")
_ARXIV = re.compile(r"(?<![\d/.])(\d{4}\.\d{4,5})(?!\d)")
_DOI = re.compile(r"10\.\d{4,9}/[^\s,}]+")
_MODEL = re.compile(
    r"released with the paper \[([^\]]+)\]\(https?://arxiv\.org/(?:abs|pdf)/(\d{4}\.\d{4,5})[^)]*\),?"
    r" by ([^.\n]+(?:\. ?[^.\n]+)*?)\.?$",
    re.M,
)
_LAST_MONTH = "2510"
_LONGEST_NAME = 36
_SOURCES = "Citations in mteb 2.26.24, tensorflow_datasets 4.9.10 and transformers 4.30.0: bibliographic facts alone."


class CitedPaper(TypedDict):
    """A paper as a citation tells of it."""

    id: str
    platform: str
    title: str
    authors: list[str]
    published: str
    venue: str
    doi: NotRequired[str]


def main(*wheels: str) -> None:
    """Write the table."""
    written = [record for record in tables.stream("known_papers") if "abstract" in record and not record.get("cited")]
    ids, titles = ({record[field].lower() for record in written} for field in ("id", "title"))
    found: dict[str, CitedPaper] = {}
    for wheel in wheels:
        for text in _texts(wheel):
            for record in [*cited(text), *_of_models(text)]:
                found.setdefault(record["id"].lower(), record)
    kept = []
    for key, record in sorted(found.items()):
        if key not in ids and record["title"].lower() not in titles:
            titles.add(record["title"].lower())
            kept.append(record)
    write("known_papers/packages", _SOURCES, "CC0-1.0", kept)


def _texts(wheel: str) -> Iterator[str]:
    with zipfile.ZipFile(wheel) as package:
        for name in sorted(package.namelist()):
            if name.endswith((".py", ".bib", "METADATA")) and "/licen" not in name.lower():
                yield package.read(name).decode("utf-8", "ignore")


def _of_models(text: str) -> Iterator[CitedPaper]:
    for title, key, names in _MODEL.findall(text):
        authors = [name.strip() for name in re.split(r",\s*(?:and\s+)?|\s+and\s+", names)]
        if all(len(name.split()) >= 2 and name[0].isupper() and ":" not in name for name in authors):
            yield _record(key, "", title, authors, f"20{key[:2]}-{key[2:4]}", "arXiv")


def cited(text: str) -> Iterator[CitedPaper]:
    """Papers of BibTeX entries that tell title, authors, year, and an arXiv id or a DOI with its venue."""
    for fields in _entries(text):
        title, names = plain(fields.get("title", "")).rstrip("."), plain(fields.get("author", ""))
        authors = [name_of(name) for name in re.split(r"\s+(?:and|AND)\s+", names)]
        years = re.findall(r"\d{4}", fields.get("year", fields.get("date", "")))
        if not title or not years or set("\\{}$@") & set(title + names) or not all(map(is_name, authors)):
            continue
        place = " ".join(value for name, value in fields.items() if name not in ("abstract", "title", "file"))
        ids = set(_ARXIV.findall(place)) if "arxiv" in place.lower() else set()
        link = fields.get("doi") or (fields.get("url", "") if "doi.org" in fields.get("url", "") else "")
        doi = _DOI.search(plain(link))
        if ids:
            key = ids.pop()
            if not ids and _is_arxiv(key, int(years[0])):
                yield _record(key, "", title, authors, f"20{key[:2]}-{key[2:4]}", "arXiv")
        elif doi and "arxiv" not in doi[0].lower() and "zenodo" not in doi[0] and int(years[0]) <= 2024:
            venue = plain(fields.get("journal", fields.get("booktitle", "")))
            if venue:
                yield _record("", doi[0], title, authors, years[0], venue)


def _record(key: str, doi: str, title: str, authors: list[str], published: str, venue: str) -> CitedPaper:
    record: CitedPaper = {
        "id": key or doi,
        "platform": "arxiv" if key else "journal",
        "title": plain(title),
        "authors": authors,
        "published": published,
        "venue": venue,
    }
    if doi:
        record["doi"] = doi
    return record


def _is_arxiv(key: str, year: int) -> bool:
    digits = 5 if key[:4] >= "1501" else 4
    sound = 1 <= int(key[2:4]) <= 12 and key[:4] <= _LAST_MONTH and len(key) == 5 + digits
    return sound and 0 <= year - 2000 - int(key[:2]) <= 2


def is_name(name: str) -> bool:
    """Whether this can be the whole name of one author."""
    return (
        2 < len(name) <= _LONGEST_NAME
        and not any(letter.isdigit() for letter in name)
        and name.lower() not in ("others", "et al.")
    )


def name_of(name: str) -> str:
    """A name with the family name last."""
    parts = [part.strip() for part in name.split(",")]
    return " ".join([parts[-1], *parts[:-1]])


def _entries(text: str) -> Iterator[dict[str, str]]:
    """The fields of each BibTeX entry in a text, by lower-case name."""
    for match in _ENTRY.finditer(text):
        body, fields, position = text[match.end() : _closing(text, match.end())], dict[str, str](), 0
        for field in _FIELD.finditer(body):
            start = field.end()
            if field.start() < position or start >= len(body):
                continue
            if body[start] == "{":
                position = _closing(body, start + 1)
                value = body[start + 1 : position]
            elif body[start] == '"':
                position = body.find('"', start + 1)
                value = body[start + 1 : position]
            else:
                position = body.find(",", start)
                value = body[start : position if position >= 0 else len(body)]
            position = position if position >= 0 else len(body)
            fields[field[1].lower()] = value.strip()
        yield fields


def _closing(text: str, start: int) -> int:
    """Where the brace that was opened before `start` is closed."""
    depth = 1
    for position in range(start, len(text)):
        depth += {"{": 1, "}": -1}.get(text[position], 0)
        if not depth:
            return position
    return len(text)


def plain(text: str) -> str:
    """A text without the marks of LaTeX."""

    def accented(match: re.Match[str]) -> str:
        return unicodedata.normalize("NFC", match[2] + _ACCENTS[match[1]])

    text = re.sub(r"\s+", " ", text).replace(r"{\i}", "i").replace(r"\i}", "i}")
    text = re.sub(r"\\([`'^\"~=.])\s*\{?\\?([A-Za-z])\}?", accented, text)
    text = re.sub(r"\\([uvHckr])\s*\{([A-Za-z])\}", accented, text)
    for mark, letter in sorted(_LETTERS.items(), key=lambda item: -len(item[0])):
        text = re.sub(re.escape(mark) + (r"(?![A-Za-z])\s*" if mark[1:].isalpha() else ""), letter, text)
    text = text.replace("{", "").replace("}", "").replace("--", "–").replace("~", " ")
    return unicodedata.normalize("NFC", re.sub(r"\s+", " ", text)).strip()


if __name__ == "__main__":
    main(*sys.argv[1:])
