"""Plus codes (Open Location Code): a position as a short word over twenty letters, and back.

A full code has eight letters before the sign and stands alone; a short one lacks the first four and needs a
place nearby to be read.
"""

import re

from m3bench.sandboxes.world.geo import Point

_LETTERS = "23456789CFGHJMPQRVWX"
_PAIR_STEPS = (20.0, 1.0, 0.05, 0.0025, 0.000125)
_CODE = re.compile(rf"\b([{_LETTERS}]{{4}}|[{_LETTERS}]{{6}}|[{_LETTERS}]{{8}})\+([{_LETTERS}]{{2,3}})?(?![\w+])", re.I)


def find(text: str) -> tuple[str, str] | None:
    """A code in a text and what is left of the text; None when there is no code."""
    match = _CODE.search(text)
    if match is None:
        return None
    rest = (text[: match.start()] + text[match.end() :]).strip(" ,")
    return match.group().upper(), rest


def is_full(code: str) -> bool:
    """Whether a code can be read without a place nearby."""
    return code.index("+") == 8


def encode(point: Point) -> str:
    """The full code of a point, ten letters."""
    lat = min(max(point.lat + 90, 0.0), 180 - 1e-9)
    lng = (point.lng + 180) % 360
    letters = ""
    for step in _PAIR_STEPS:
        row, column = int(lat / step), int(lng / step)
        letters += _LETTERS[min(row, 19)] + _LETTERS[min(column, 19)]
        lat, lng = lat - row * step, lng - column * step
    return f"{letters[:8]}+{letters[8:]}"


def decode(code: str) -> Point:
    """The middle of the cell of a full code."""
    letters = code.replace("+", "").upper()
    lat = lng = 0.0
    height = width = 400.0
    for pair in range(0, min(10, len(letters) // 2 * 2), 2):
        step = _PAIR_STEPS[pair // 2]
        lat += _LETTERS.index(letters[pair]) * step
        lng += _LETTERS.index(letters[pair + 1]) * step
        height = width = step
    if len(letters) > 10:
        row, column = divmod(_LETTERS.index(letters[10]), 4)
        height, width = height / 5, width / 4
        lat, lng = lat + row * height, lng + column * width
    return Point(round(lat - 90 + height / 2, 7), round(lng - 180 + width / 2, 7))


def recover(code: str, near: Point) -> Point:
    """The point of a short code that is nearest to a place."""
    missing = 8 - code.index("+")
    best = decode(encode(near)[:missing] + code)
    step = _PAIR_STEPS[missing // 2 - 1]
    lat, lng = best
    if abs(lat - near.lat) > step / 2:
        lat += step if lat < near.lat else -step
    if abs(lng - near.lng) > step / 2:
        lng += step if lng < near.lng else -step
    return Point(round(lat, 7), round(lng, 7))
