"""Numbers and dates as cells and axes show them by their format."""

import re
from datetime import date, datetime, time, timedelta
from decimal import ROUND_HALF_UP, Decimal, InvalidOperation

_QUOTED = re.compile(r'"([^"]*)"|\\(.)|_(.)|\*.')
_DIGITS = re.compile(r"[#0?,]*[#0?],*(?:\.[#0?]+)?")
_DATE = re.compile(r"yyyy|yy|mmmm|mmm|mm|m|dddd|ddd|dd|d|hh|h|ss|s|am/pm", re.IGNORECASE)
_FIRST = datetime(1899, 12, 30)
_NAMES = "January February March April May June July August September October November December"
_MONTHS = _NAMES.split(" ")
_WEEK = "Monday Tuesday Wednesday Thursday Friday Saturday Sunday"
_DAYS = _WEEK.split(" ")


def shown(value: object, code: str = "General") -> tuple[str, bool]:
    """What a cell shows, and whether its format is known.

    Args:
        value: What it holds.
        code: Its format.
    """
    if value is None:
        return "", True
    if isinstance(value, bool):
        return ("TRUE" if value else "FALSE"), True
    if isinstance(value, str):
        return value, True
    if isinstance(value, datetime | date | time):
        return _dated(value, code if _is_date(code) else _usual(value)), True
    if not isinstance(value, int | float):
        return str(value), False
    if code in ("General", "", "@"):
        return general(float(value)), True
    if _is_date(code):
        return _dated(_FIRST + timedelta(days=float(value)), code), True
    parts = code.split(";")
    part = parts[0]
    if value < 0 and len(parts) > 1:
        part, value = parts[1], -value
    elif value == 0 and len(parts) > 2:
        part = parts[2]
    return _number(float(value), part)


def general(value: float, most: int = 10) -> str:
    """A number without a format."""
    if value == int(value) and abs(value) < 1e11:
        return str(int(value))
    size = abs(value)
    if size and (size < 1e-9 or size >= 1e11):
        return f"{value:.5E}".replace("E+0", "E+").replace("E-0", "E-")
    whole = len(str(int(size)))
    return f"{value:.{max(0, most - whole)}f}".rstrip("0").rstrip(".")


def _is_date(code: str) -> bool:
    bare = re.sub(r"\[[^\]]*\]", "", _QUOTED.sub("", code))
    return code != "General" and bool(re.search(r"[ymdhs]", bare, re.IGNORECASE)) and not re.search(r"[#0?]", bare)


def _usual(value: object) -> str:
    if isinstance(value, datetime):
        return "yyyy-mm-dd h:mm:ss"
    return "yyyy-mm-dd" if isinstance(value, date) else "h:mm:ss"


def _dated(value: date | time, code: str) -> str:
    if isinstance(value, time):
        value = datetime.combine(date(1900, 1, 1), value)
    moment = value if isinstance(value, datetime) else datetime.combine(value, time())
    half = "am/pm" in code.lower()
    found, before = [], ""
    at = 0
    code = code.split(";")[0]
    while at < len(code):
        match = _DATE.match(code, at)
        if match is None:
            quoted = _QUOTED.match(code, at)
            found.append((quoted.group(1) or quoted.group(2) or " ") if quoted is not None else code[at])
            at = quoted.end() if quoted is not None else at + 1
            continue
        name = match.group().lower()
        minutes = name in ("m", "mm") and (before in ("h", "hh") or code[match.end() : match.end() + 2].lower() == ":s")
        found.append(f"{moment.minute:0{len(name)}d}" if minutes else _part(moment, name, half))
        before, at = name, match.end()
    return "".join(found)


def _part(moment: datetime, name: str, half: bool) -> str:
    hour = (moment.hour % 12 or 12) if half else moment.hour
    return {
        "yyyy": f"{moment.year:04d}",
        "yy": f"{moment.year % 100:02d}",
        "mmmm": _MONTHS[moment.month - 1],
        "mmm": _MONTHS[moment.month - 1][:3],
        "mm": f"{moment.month:02d}",
        "m": str(moment.month),
        "dddd": _DAYS[moment.weekday()],
        "ddd": _DAYS[moment.weekday()][:3],
        "dd": f"{moment.day:02d}",
        "d": str(moment.day),
        "hh": f"{hour:02d}",
        "h": str(hour),
        "ss": f"{moment.second:02d}",
        "s": str(moment.second),
        "am/pm": "PM" if moment.hour >= 12 else "AM",
    }[name]


def _number(value: float, part: str) -> tuple[str, bool]:
    known = not re.search(r"\[(?!\$|Red|Blue|Black|Green|White|Color)|/", part, re.IGNORECASE)
    part = re.sub(r"\[\$([^\]-]*)[^\]]*\]", r'"\1"', part)
    part = re.sub(r"\[[^\]]*\]", "", part)
    if re.search(r"[Ee][+-]", part):
        digits = len(part.split(".")[1].split("E")[0]) if "." in part else 0
        return f"{value:.{digits}E}", known
    literal: list[str] = []

    def kept(match: "re.Match[str]") -> str:
        literal.append(match.group(1) or match.group(2) or (" " if match.group(3) else ""))
        return chr(0xE000 + len(literal) - 1)

    bare = _QUOTED.sub(kept, part)
    value *= 100 ** bare.count("%")
    match = _DIGITS.search(bare)
    text = bare if match is None else bare[: match.start()] + _digits(value, match.group()) + bare[match.end() :]
    for number, one in enumerate(literal):
        text = text.replace(chr(0xE000 + number), one)
    return text, known


def _digits(value: float, pattern: str) -> str:
    whole, _, behind = pattern.partition(".")
    while whole.endswith(","):
        value, whole = value / 1000, whole[:-1]
    least = behind.count("0")
    try:
        text = f"{Decimal(repr(value)).quantize(Decimal(1).scaleb(-len(behind)), ROUND_HALF_UP):f}"
    except InvalidOperation:
        return general(value)
    before, _, after = text.lstrip("-").partition(".")
    while len(after) > least and after.endswith("0"):
        after = after[:-1]
    before = (
        before.lstrip("0").zfill(max(whole.count("0"), 0)) if whole.count("0") == 0 else before.zfill(whole.count("0"))
    )
    if "," in whole:
        before = re.sub(r"(?<=\d)(?=(\d{3})+$)", ",", before)
    minus = "-" if text.startswith("-") and any(digit in "123456789" for digit in text) else ""
    return minus + before + (f".{after}" if after else "")
