"""Works of the museum as its cards show them: who made them, and what to search for."""

import re
from collections.abc import Mapping
from typing import Any

from m3bench.tasks.families.texts import Tables, tables
from m3bench.tasks.render.exhibits import PICTURES, PIECES

_LONGEST = 62
_UNLIKE = (247020, 322608)
"""A chariot and a winged bull, which look like nothing that is drawn for their kind."""


class MuseumTables(Tables):
    """What the family chooses from."""

    cultures: tuple[tuple[str, str], ...]
    artists: tuple[str, ...]


museum_tables = tables("museum", MuseumTables)
"""The tables of the family."""


def eligible(work: Mapping[str, Any]) -> bool:
    """Whether a work can be drawn, has a short title, and there is an article on who made it."""
    drawn = work.get("kind") in (*PICTURES, *PIECES) and work["id"] not in _UNLIKE
    return drawn and "medium" in work and len(work["title"]) <= _LONGEST and bool(subject(work))


def maker(work: Mapping[str, Any]) -> str:
    """Who or what people made a work, as its card says."""
    artist = _artist(work)
    return artist if artist in museum_tables().artists else str(work["culture"])


def subject(work: Mapping[str, Any]) -> str:
    """What to read about: the artist or else the culture; empty when neither is well known."""
    artist = _artist(work)
    if artist in museum_tables().artists:
        return artist
    if artist and "artist" not in artist:
        return ""
    culture = str(work.get("culture", ""))
    return next(
        (
            article
            for beginning, article in museum_tables().cultures
            if culture.startswith(beginning) and " or " not in culture
        ),
        "",
    )


def query(work: Mapping[str, Any]) -> str:
    """What to search the collection for."""
    return f"{work['title']} {maker(work).split(',')[0]}"


def _artist(work: Mapping[str, Any]) -> str:
    return (
        str(work.get("artist", "")).partition(" (")[0].removeprefix("Workshop of ")
        if "artist(s)" not in work.get("artist", "")
        else "artist"
    )


def distinctive_words(text: str) -> tuple[str, ...]:
    """The two longest words of a text, in its order."""
    words = re.findall(r"\w+", text)
    return tuple(word for word in words if word in sorted(words, key=len)[-2:])
