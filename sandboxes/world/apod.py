"""An astronomy picture for every day since 16 June 1995.

Of a few days it is known what the public site showed. For the others subjects and their facts are ours and true, but
which subject stands on which day is seeded and is not the calendar of the site, as `chosen` says. A text is three
facts that were known by then and a line about that night's Moon; a subject does not return within 45 days, so no two
texts are alike.
"""

from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from functools import cache

from m3bench.sandboxes.world import clock, noise, sky, tables

FIRST_DAY = date(1995, 6, 16)
LAST_DAY = clock.NOW.date()

_FACTS = 3
_PAUSE_DAYS = 45
_MOONS = (
    "Tonight the Moon is a {phase}, {lit} percent lit, and will be full on {full}.",
    "The {phase} of this night has {lit} percent of its disk in sunlight; the next full Moon comes on {full}.",
    "Look up this evening and you will meet a {phase}, {lit} percent bright, with the full Moon due on {full}.",
    "On this date the Moon shows as a {phase} with {lit} percent of its face lit. Full Moon: {full}.",
    "Observers reckon with a {phase} tonight, {lit} percent lit; it grows full on {full}.",
    "With {lit} percent lit, this night's {phase} sets the brightness of the sky until the full Moon of {full}.",
)


@dataclass(frozen=True, kw_only=True)
class AstronomyPicture:
    """What one day shows."""

    day: date
    title: str
    explanation: str
    address: str
    thumbnail: str | None
    """A still of a film; None for pictures."""
    chosen: bool
    """Whether the subject was chosen for this world."""


def picture(day: date) -> AstronomyPicture:
    """The picture of a day from `FIRST_DAY` to `LAST_DAY`."""
    known = _known_days().get(day.isoformat())
    if known:
        return AstronomyPicture(
            day=day,
            title=known["title"],
            explanation=known["text"],
            address=known["address"],
            thumbnail=None,
            chosen=False,
        )
    subject = _calendar()[(day - FIRST_DAY).days]
    key = ("picture", day.isoformat())
    facts = _known(subject, day)
    chosen = sorted(noise.generator_of(*key).sample(range(len(facts)), _FACTS))
    film = subject["media"] == "video"
    stem = f"https://apod.nasa.gov/apod/image/{day:%y%m}/{subject['file']}"
    return AstronomyPicture(
        day=day,
        title=subject["title"],
        explanation=" ".join([*(facts[number] for number in chosen), _moon(day, *key)]),
        address=f"{stem}.mp4" if film else f"{stem}_1024.jpg",
        thumbnail=f"{stem}_still.jpg" if film else None,
        chosen=True,
    )


@cache
def _known_days() -> Mapping[str, tables.Record]:
    return {record["id"]: record for record in tables.load("astronomy_days")}


def _moon(day: date, *key: noise.Key) -> str:
    phase = sky.phase(datetime.combine(day, time(20), UTC))
    full = sky.next_full_moon(day)
    when = f"{full.day} {full:%B %Y}"
    return noise.pick(_MOONS, *key, "moon").format(phase=phase.name, lit=round(100 * phase.lit), full=when)


@cache
def _calendar() -> Sequence[tables.Record]:
    """The subject of each day."""
    subjects = tables.load("astronomy_pictures")
    draws = noise.generator_of("calendar of pictures")
    starts = [_starts(subject) for subject in subjects]
    recent: deque[int] = deque(maxlen=_PAUSE_DAYS)
    shown: list[tables.Record] = []
    for number in range((LAST_DAY - FIRST_DAY).days + 1):
        day = FIRST_DAY + timedelta(days=number)
        chosen = draws.randrange(len(subjects))
        while chosen in recent or starts[chosen] > day:
            chosen = (chosen + 1) % len(subjects)
        recent.append(chosen)
        shown.append(subjects[chosen])
    return shown


def _starts(subject: tables.Record) -> date:
    """The day from which enough is known of a subject."""
    return sorted(date.fromisoformat(fact.get("since", FIRST_DAY.isoformat())) for fact in subject["facts"])[_FACTS - 1]


def _known(subject: tables.Record, day: date) -> list[str]:
    return [fact["text"] for fact in subject["facts"] if fact.get("since", "") <= day.isoformat()]
