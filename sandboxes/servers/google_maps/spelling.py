"""How streets are spelled: abbreviations written out, so that `Av. de X` and `Avenue de X` are one street."""

import re

from m3bench.sandboxes.world.search import fold

_FULL = {
    "av": "avenue", "ave": "avenue", "avda": "avenida", "bd": "boulevard", "blvd": "boulevard", "boul": "boulevard",
    "bulv": "bulvar", "c": "calle", "cd": "caddesi", "cad": "caddesi", "cl": "calle", "cr": "crescent",
    "cres": "crescent", "ct": "court", "dr": "drive", "e": "east", "expy": "expressway", "hwy": "highway",
    "ln": "lane", "n": "north", "ne": "northeast", "nw": "northwest", "pl": "place", "pkwy": "parkway",
    "pza": "plaza", "r": "rua", "rd": "road", "s": "south", "se": "southeast", "sk": "sokak", "sok": "sokak",
    "sq": "square", "st": "street", "ste": "sainte", "str": "strasse", "sw": "southwest", "ter": "terrace",
    "ul": "ulica", "v": "via", "w": "west",
}  # fmt: skip
_ENDINGS = re.compile(r"(?<=\w{3})(strasse|str)\b")
_NUMBER = re.compile(
    r"(?P<chome>\d+-chome)-(?P<block>\d+)-(?P<house>\d+)\b"
    r"|\bno[:.]?\s*(?P<no>\d+)"
    r"|^\s*(?P<first>\d+)(?:\s*[-–/]\s*\d+)?(?:\s*(?:bis|ter|[a-d]))?\b(?!\.|st\b|nd\b|rd\b|th\b|-)"
    r"|[\s,](?P<last>\d+)(?:\s*[-–/]\s*\d+)?\s*[a-d]?\s*$",
    re.I,
)


def plain(name: str) -> str:
    """A street's name without case, accents and abbreviations."""
    words = [_FULL.get(word, word) for word in re.findall(r"[^\W_]+", fold(name))]
    return _ENDINGS.sub(" strasse", " ".join(words)).strip()


def split_number(text: str) -> tuple[str, int | None]:
    """The street and the house number of a line such as `20 Av. de Tourville` or `Marienplatz 8`."""
    match = _NUMBER.search(text)
    if match is None:
        return text.strip(" ,"), None
    if match["chome"]:
        number = (int(match["block"]) - 1) * 10 + int(match["house"]) - 1
        rest = text[: match.start()] + match["chome"] + text[match.end() :]
        return rest.strip(" ,"), number
    digits = match["no"] or match["first"] or match["last"]
    rest = text[: match.start()] + " " + text[match.end() :] if match["no"] else text.replace(match.group(), " ", 1)
    return rest.strip(" ,"), int(digits)
