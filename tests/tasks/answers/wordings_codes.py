"""Ways to hand in a day, a time, a code, a version or a telephone number: right ones, and wrong ones."""

from collections.abc import Iterator
from datetime import date, timedelta
from random import Random

from m3bench.tasks.answers.codes import Code, Phone, Version
from m3bench.tasks.answers.dates import Date, Time
from tests.tasks.answers.wordings_base import Way, dressed

_MONTHS = [date(2000, month, 1).strftime("%B") for month in range(1, 13)]


def ordinal(day: int) -> str:
    return f"{day}{'th' if 10 <= day % 100 <= 20 else {1: 'st', 2: 'nd', 3: 'rd'}.get(day % 10, 'th')}"


def _day_forms(day: date) -> Iterator[Way]:
    month = _MONTHS[day.month - 1]
    yield "iso", day.isoformat()
    yield "day month", f"{day.day} {month} {day.year}"
    yield "month day", f"{month} {day.day}, {day.year}"
    yield "ordinal", f"{month} {ordinal(day.day)}, {day.year}"
    yield "ordinal of", f"the {ordinal(day.day)} of {month} {day.year}"
    yield "ordinal of", f"{ordinal(day.day)} of {month}, {day.year}"
    yield "short", f"{day.day} {month[:3]} {day.year}"
    yield "short", f"{month[:3]}. {day.day}, {day.year}"
    yield "dashes", f"{day.day:02}-{month[:3]}-{day.year}"
    yield "points", f"{day.day:02}.{day.month:02}.{day.year}"
    yield "points", f"{day.day}. {month} {day.year}"
    yield "american", f"{day.month}/{day.day}/{day.year}"
    yield "british", f"{day.day:02}/{day.month:02}/{day.year}"
    yield "slashes", f"{day.year}/{day.month:02}/{day.day:02}"
    yield "year first", f"{day.year} {month} {day.day}"
    yield "weekday", f"{day:%A}, {month} {day.day}, {day.year}"
    yield "weekday", f"{day:%a} {day.day} {month[:3]} {day.year}"
    yield "time", f"{day.isoformat()}T00:00:00Z"
    yield "unicode dashes", day.isoformat().replace("-", "\u2011")
    yield "brackets", f"{day.isoformat()} ({day.day} {month} {day.year})"
    yield "sentence", f"It was on {month} {day.day}, {day.year}."
    yield "no comma", f"{month} {day.day} {day.year}"
    yield "capitals", f"{day.day} {month.upper()} {day.year}"
    yield "digits", f"{day:%Y%m%d}"


def right_date(value: Date, rng: Random) -> Iterator[Way]:
    yield from dressed(str(value.given()))
    if value.precision == "year":
        year = value.value[:4]
        yield "number", int(year)
        yield "text", f"in {year}"
        yield "text", f"The year {year}"
    elif value.precision == "day":
        day = date.fromisoformat(value.value)
        yield from _day_forms(day)
        yield "corrected", f"{(day + timedelta(days=2)).isoformat()}; correction: {day.isoformat()}"
    if value.precision != "year" and len(value.value) == 10:
        yield "explained", f"{value.given()}, according to the page"


def wrong_date(value: Date, rng: Random) -> Iterator[Way]:
    if value.precision == "year":
        year = int(value.value[:4])
        for other in (year - 1, year + 1, year + 10):
            yield "another", other
            yield "two", f"{year} or {other}"
            yield "corrected", f"{year} — no, wait: {other}"
        yield "range", f"{year - 3}-{year}"
        yield "negated", f"not {year}"
        yield "bound", f"before {year}"
        yield "bound", f"after {year}"
        yield "hedged", f"perhaps {year}"
        yield "decade", f"the {year // 10 * 10}s"
        return
    if value.precision != "day":
        return
    day = date.fromisoformat(value.value)
    shifted = day + timedelta(days=rng.choice((-1, 1, 7)))
    for name, form in rng.sample(list(_day_forms(shifted)), 6):
        if name not in ("american", "british"):
            yield f"another, {name}", form
    yield "two", f"{day.isoformat()} or {shifted.isoformat()}"
    yield "corrected", f"{day.isoformat()} — no, wait: {shifted.isoformat()}"
    yield "correction", f"{day:%d %B %Y}. Correction: {shifted:%d %B %Y}"
    yield "range", f"{day.isoformat()} to {shifted.isoformat()}"
    yield "negated", f"not {day.isoformat()}"
    yield "bound", f"before {day.isoformat()}"
    yield "bound", f"after {day:%d %B %Y}"
    yield "month only", f"{day:%B %Y}"
    yield "year only", day.year
    yield "other year", f"{day.day} {_MONTHS[day.month - 1]} {day.year - 1}"
    yield "other weekday", f"{day + timedelta(days=1):%A}, {day.day} {_MONTHS[day.month - 1]} {day.year}"
    yield "hedged", f"probably {day.isoformat()}"


def right_time(value: Time, rng: Random) -> Iterator[Way]:
    hours, minutes = map(int, value.value.split(":"))
    half = "pm" if hours >= 12 else "am"
    twelve = hours % 12 or 12
    yield from dressed(value.value)
    yield "twelve", f"{twelve}:{minutes:02} {half}"
    yield "twelve", f"{twelve}:{minutes:02}{half.upper()}"
    yield "twelve", f"{twelve}:{minutes:02} {half[0]}.{half[1]}."
    yield "twelve", f"{twelve}.{minutes:02}{half}"
    yield "whole", f"{twelve} {half}" if not minutes else None
    yield "h", f"{hours}h{minutes:02}"
    yield "seconds", f"{value.value}:00"
    yield "no zero", f"{hours}:{minutes:02}"
    yield "hours", f"{hours:02}{minutes:02} hours"
    yield "at", f"at {value.value}"
    yield "corrected", f"{(hours + 1) % 24:02}:{minutes:02} — no, wait: {value.value}"
    if value.zone == "UTC":
        yield "zone", f"{value.value} UTC"
        yield "zone", f"{value.value}Z"
        yield "zone", f"{value.value} GMT"
        yield "other zone", f"{(hours + 2) % 24:02}:{minutes:02}+02:00"
        yield "other zone", f"{(hours + 1) % 24:02}:{minutes:02} CET"
        yield "other zone", f"{(hours - 5) % 24:02}:{minutes:02} EST"
    if value.zone == "local":
        yield "zone", f"{value.value} local time"
        yield "zone", f"{value.value} (local)"


def wrong_time(value: Time, rng: Random) -> Iterator[Way]:
    hours, minutes = map(int, value.value.split(":"))
    off = max(value.within + 5, 15)
    total = (hours * 60 + minutes + off) % 1440
    other = f"{total // 60:02}:{total % 60:02}"
    later = f"{(hours + 1) % 24:02}:{minutes:02}"
    yield "another", other
    yield "another", later
    yield "half a day", f"{(hours + 12) % 24:02}:{minutes:02}"
    yield "other half", f"{hours % 12 or 12}:{minutes:02} {'am' if hours >= 12 else 'pm'}"
    yield "two", f"{value.value} or {later}"
    yield "range", f"{value.value}-{later}"
    yield "corrected", f"{value.value} — no, wait: {later}"
    yield "correction", f"{value.value}. Correction: {later}"
    yield "negated", f"not {value.value}"
    yield "bound", f"before {value.value}"
    yield "bound", f"after {value.value}"
    yield "hedged", f"perhaps {value.value}"
    if value.zone == "UTC":
        yield "local for utc", f"{value.value} local time"
        yield "local for utc", f"{value.value} CET"
        yield "local for utc", f"{value.value} EST"
        yield "local for utc", f"{value.value} JST"
        yield "local for utc", f"{value.value}+03:00"
        yield "local for utc", f"{value.value} Tokyo time"
    if value.zone == "local" and value.value:
        yield "utc for local", f"{value.value} UTC"
        yield "utc for local", f"{value.value}Z"


def right_code(value: Code, rng: Random) -> Iterator[Way]:
    code = value.value
    yield from dressed(code)
    yield "capitals", code.upper() if value.form not in ("command", "option", "glyph") else None
    yield "found", f"The code is {code}" if value.form != "command" else f"Run `{code}`"
    if value.form == "command":
        yield "prompt", f"$ {code}"
        yield "shell", f"```bash\n{code}\n```"
        yield "short", code.replace("npm install", "npm i") if "npm install" in code else None
        yield "add", code.replace("npm install", "npm add") if "npm install" in code else None
    if value.form.lower() in ("isbn", "barcode") and len(code) == 13:
        yield "hyphens", f"{code[:3]}-{code[3]}-{code[4:9]}-{code[9:12]}-{code[12]}"
        yield "label", f"ISBN {code}" if value.form == "ISBN" else f"EAN {code}"
    if value.form == "arXiv":
        yield "label", f"arXiv:{code}"
        yield "link", f"https://arxiv.org/abs/{code}"
    yield (
        "corrected",
        f"{code[:-1]}{'7' if code[-1] != '7' else '8'} — no, wait: {code}" if value.form != "glyph" else None,
    )


def wrong_code(value: Code, rng: Random) -> Iterator[Way]:
    code = value.value
    index = next((index for index in range(len(code) - 1, -1, -1) if code[index].isalnum()), 0)
    new = "7" if code[index] != "7" else "8"
    other = f"{code[:index]}{new}{code[index + 1 :]}"
    if value.form == "command":
        other = code.replace("@hugeicons/", "@hugeicons-pro/") if "@hugeicons/" in code else f"{code}-pro"
    yield "one sign off", other
    yield "one sign off, bold", f"**{other}**"
    yield "one sign more", f"{code}9" if value.form not in ("commit", "glyph", "command") else f"{code}-x9"
    yield "two", f"{code} or {other}"
    yield "two in a list", [code, other]
    yield "negated", f"not {code}"
    yield "hedged", f"maybe {code}"
    yield "corrected", f"{code} — no, wait: {other}"
    yield "correction", f"{code}. Correction: {other}"


def right_version(value: Version, rng: Random) -> Iterator[Way]:
    yield from dressed(value.value)
    yield "v", f"v{value.value}"
    yield "word", f"version {value.value}"
    yield "corrected", f"{value.value}.9 — no, wait: {value.value}"
    yield "explained", f"{value.value}, from the channel"


def wrong_version(value: Version, rng: Random) -> Iterator[Way]:
    parts = value.value.split(".")
    number = "".join(sign for sign in parts[-1] if sign.isdigit()) or "0"
    other = ".".join([*parts[:-1], str(int(number) + 1)])
    yield "next", other
    yield "next", f"v{other}"
    yield "two", f"{value.value} or {other}"
    yield "range", f"{value.value} - {other}"
    yield "negated", f"not {value.value}"
    yield "corrected", f"{value.value} — no, wait: {other}"
    yield "bound", f">= {value.value}"
    yield "hedged", f"probably {value.value}"


def right_phone(value: Phone, rng: Random) -> Iterator[Way]:
    digits = "".join(sign for sign in value.value if sign.isdigit())
    yield from dressed(value.value)
    yield "digits", f"+{digits}"
    yield "points", value.value.replace(" ", ".").replace("-", ".")
    yield "dashes", value.value.replace(" ", "-")
    yield "unicode", value.value.replace("-", "\u2011").replace(" ", "\u00a0")
    yield "label", f"Tel.: {value.value}"
    yield "label", f"Phone: {value.value}"
    yield "double zero", f"00{digits}"
    yield "sentence", f"Call {value.value}."
    yield "sentence", f"The number is {value.value}"


def wrong_phone(value: Phone, rng: Random) -> Iterator[Way]:
    last = int(value.value[-1])
    other = f"{value.value[:-1]}{(last + 1) % 10}"
    yield "one digit off", other
    yield "two", f"{value.value} or {other}"
    yield "short", value.value[:-1]
    yield "long", f"{value.value}0"
    yield "negated", f"not {value.value}"
    yield "corrected", f"{value.value} — no, wait: {other}"
    yield "hedged", f"maybe {value.value}"
