"""Whether an identifier can exist at all: its form and its check digit, not whether anyone holds it.

What has an impossible form does not exist anywhere; what has a possible one and is not held is a gap of the world.
"""

import re

from m3bench.sandboxes.world.clock import NOW

_ARXIV = re.compile(r"(\d\d)(\d\d)\.(\d{4,5})(?:v[1-9]\d{0,2})?")
_OLD_ARXIV = re.compile(r"[a-z-]+(?:\.[A-Z]{2})?/(\d\d)(\d\d)\d{3}(?:v[1-9]\d{0,2})?", re.I)
_ASIN = re.compile(r"B[0-9A-Z]{9}|\d{9}[\dX]", re.I)
_DOI = re.compile(r"10\.\d{4,9}/\S+")
_EPRINT = re.compile(r"(\d{4})/(\d{1,4})")
_PLACE_ID = re.compile(r"(?:ChIJ|Ei|Eh|Gh)[\w-]{16,250}")
_POST = re.compile(r"[1-9a-z][0-9a-z]{1,7}")
_SUBREDDIT = re.compile(r"(?:/?r/)?[a-z0-9][a-z0-9_]{1,20}/?", re.I)
_TICKER = re.compile(r"\^?[A-Z0-9]{1,10}(?:[.=-][A-Z0-9]{1,6})?", re.I)
_TITLE_NEVER_HAS = frozenset("#<>[]{}|")
_MOST_TITLE_BYTES = 255


def is_isbn(number: str) -> bool:
    """Whether ten or thirteen digits, without dashes, end with the right check digit."""
    if re.fullmatch(r"\d{9}[\dX]", number):
        return sum((10 - at) * (10 if digit == "X" else int(digit)) for at, digit in enumerate(number)) % 11 == 0
    if re.fullmatch(r"97[89]\d{10}", number):
        return sum(int(digit) * (1 + 2 * (at % 2)) for at, digit in enumerate(number)) % 10 == 0
    return False


def is_arxiv(name: str) -> bool:
    """Whether it is an arXiv id of a month that has been."""
    new, old = _ARXIV.fullmatch(name), _OLD_ARXIV.fullmatch(name)
    if new:
        month = (2000 + int(new[1]), int(new[2]))
        digits = 4 if month < (2015, 1) else 5
        return (2007, 4) <= month <= (NOW.year, NOW.month) and 1 <= month[1] <= 12 and len(new[3]) == digits
    return bool(old and 1 <= int(old[2]) <= 12 and (int(old[1]) >= 91 or int(old[1]) <= 7))


def is_eprint(name: str) -> bool:
    """Whether it is a number of the Cryptology ePrint Archive, which began in 1996."""
    found = _EPRINT.fullmatch(name)
    return bool(found and 1996 <= int(found[1]) <= NOW.year and int(found[2]) > 0)


def is_doi(name: str) -> bool:
    """Whether it has the form of a DOI."""
    return bool(_DOI.fullmatch(name))


def is_asin(name: str) -> bool:
    """Whether it has the form of an article's number."""
    return bool(_ASIN.fullmatch(name))


def is_ticker(name: str) -> bool:
    """Whether it has the form of a ticker, with or without an exchange."""
    return bool(_TICKER.fullmatch(name.strip()))


def is_subreddit(name: str) -> bool:
    """Whether a community may have this name."""
    return bool(_SUBREDDIT.fullmatch(name.strip()))


def is_post(name: str) -> bool:
    """Whether a post may have this id."""
    return bool(_POST.fullmatch(name))


def is_place_id(name: str) -> bool:
    """Whether it has the form of a place id of the maps services."""
    return bool(_PLACE_ID.fullmatch(name))


def is_title(title: str) -> bool:
    """Whether an article may have this title."""
    return (
        any(character.isalnum() for character in title)
        and not _TITLE_NEVER_HAS & set(title)
        and len(title.encode(errors="replace")) <= _MOST_TITLE_BYTES
    )
