"""Space weather: flares, ejections and their effects, model runs and the messages sent about them.

An event belongs to the day it starts. The record covers 2024 and 2025 up to the world's instant.
"""

from collections.abc import Sequence
from datetime import UTC, date, datetime, time, timedelta

from m3bench.sandboxes.gaps import covered
from m3bench.sandboxes.servers.nasa_mcp.answers import RULE, api_error, day_of, refusal, server
from m3bench.sandboxes.world import clock
from m3bench.sandboxes.world.sun import Ejection, Flare, Kind, SolarEvent, Storm, minute, record, speed_class
from m3bench.sandboxes.world.sun_messages import messages, runs

_RECORDED_SINCE = datetime(2010, 4, 3, tzinfo=UTC)
_SHOWN = 10
_SHOWN_RUNS = 5
_SHOWN_LINKS = 5
_SHOWN_BODY = 200
_DEFAULT_DAYS = 30
_DEFAULT_MESSAGE_DAYS = 7
_PAGES = "https://webtools.ccmc.gsfc.nasa.gov/DONKI/view"
_MESSAGE_KINDS = ("all", "FLR", "SEP", "CME", "IPS", "MPC", "GST", "RBE", "report")


@server.tool
async def get_coronal_mass_ejection(start_date: str | None = None, end_date: str | None = None) -> str:
    return _events("CME", "Coronal Mass Ejections", start_date, end_date)


@server.tool
async def get_geomagnetic_storm(start_date: str | None = None, end_date: str | None = None) -> str:
    return _events("GST", "Geomagnetic Storms", start_date, end_date)


@server.tool
async def get_solar_flare(start_date: str | None = None, end_date: str | None = None) -> str:
    return _events("FLR", "Solar Flares", start_date, end_date)


@server.tool
async def get_solar_energetic_particle(start_date: str | None = None, end_date: str | None = None) -> str:
    return _events("SEP", "Solar Energetic Particle Events", start_date, end_date)


@server.tool
async def get_magnetopause_crossing(start_date: str | None = None, end_date: str | None = None) -> str:
    return _events("MPC", "Magnetopause Crossings", start_date, end_date)


@server.tool
async def get_radiation_belt_enhancement(start_date: str | None = None, end_date: str | None = None) -> str:
    return _events("RBE", "Radiation Belt Enhancements", start_date, end_date)


@server.tool
async def get_hight_speed_stream(start_date: str | None = None, end_date: str | None = None) -> str:
    return _events("HSS", "High Speed Streams", start_date, end_date)


@server.tool
async def get_wsa_enlil_simulation(start_date: str | None = None, end_date: str | None = None) -> str:
    start, end = _span(start_date, end_date, _DEFAULT_DAYS)
    found = [run for run in runs() if start <= run.completed < end]
    entries = []
    for run in found[:_SHOWN_RUNS]:
        lines = [f"Simulation ID: {run.id}", f"Model Completion Time: {minute(run.completed)}"]
        if run.impacts:
            lines.append("  Impacts (first 2):")
            lines += [f"    - Location: {hit.location}, Arrival: {minute(hit.arrival)}" for hit in run.impacts[:2]]
        entries.append(lines)
    answer = _listed("WSA+Enlil Simulations", entries, len(found), "simulations")
    return covered(answer, found or not _observed(start, end))


@server.tool
async def get_notifications(
    start_date: str | None = None, end_date: str | None = None, notification_type: str = "all"
) -> str:
    wanted = next((kind for kind in _MESSAGE_KINDS if kind.lower() == notification_type.lower()), None)
    if wanted is None:
        raise refusal(f"Invalid notification type {notification_type!r}. Available types: {', '.join(_MESSAGE_KINDS)}.")
    start, end = _span(start_date, end_date, _DEFAULT_MESSAGE_DAYS)
    found = [
        message
        for message in reversed(messages())
        if start <= message.issued < end and wanted.lower() in ("all", message.kind.lower())
    ]
    entries = []
    for message in found[:_SHOWN]:
        more = "..." if len(message.body) > _SHOWN_BODY else ""
        entries.append(
            [
                f"ID: {message.id}",
                f"Type: {message.kind}",
                f"Issue Time: {minute(message.issued)}",
                f"Header: {message.header}",
                f"Body: {message.body[:_SHOWN_BODY]}{more}",
            ]
        )
    if not found:
        return covered("No notifications found for the specified period and type.", not _observed(start, end))
    return _listed("Notifications", entries, len(found), "notifications")


def _events(kind: Kind, title: str, start_date: str | None, end_date: str | None) -> str:
    start, end = _span(start_date, end_date, _DEFAULT_DAYS)
    found = record().between(kind, start, end)
    answer = _listed(title, [_entry(event) for event in found[:_SHOWN]], len(found), "entries")
    return covered(answer, found or not _observed(start, end))


def _listed(title: str, entries: Sequence[Sequence[str]], total: int, noun: str) -> str:
    if not total:
        return f"No {title} found for the specified period."
    lines = [f"{title} found: {total}"]
    for entry in entries:
        lines += ["", *entry, RULE]
    if total > len(entries):
        lines += ["", f"... and {total - len(entries)} more {noun}."]
    return "\n".join(lines)


def _entry(event: SolarEvent) -> list[str]:
    lines = [f"ID: {event.id}"]
    if isinstance(event, Flare):
        lines += [
            f"Begin Time: {minute(event.start)}",
            f"Peak Time: {minute(event.peak)}",
            f"End Time: {minute(event.end)}",
            f"Class: {event.size}",
            f"Source Location: {event.location}",
        ]
    else:
        label = "Start" if isinstance(event, Ejection | Storm) else "Event"
        lines.append(f"{label} Time: {minute(event.start)}")
        if isinstance(event, Ejection):
            lines += [f"Source Location: {event.location}", f"Note: {event.note}"]
        lines.append(f"Link: {_PAGES}/{event.kind}/{event.number}/-1")
    if isinstance(event, Ejection):
        lines.append("  Analyses:")
        lines += [
            f"    - Time: {minute(event.leaves(speed))}, Speed: {speed:.1f} km/s, Type: {speed_class(speed)}"
            for speed in event.speeds[:2]
        ]
    if isinstance(event, Storm):
        lines.append("  Kp Indices (first 2):")
        lines += [
            f"    - Time: {minute(event.start + timedelta(hours=3 * (number + 1)))}, Index: {kp:g}"
            for number, kp in enumerate(event.kp[:2])
        ]
    if event.links:
        lines += ["  Related event IDs (first 5):", "    " + ", ".join(event.related[:_SHOWN_LINKS])]
    return lines


def _observed(start: datetime, end: datetime) -> bool:
    """Whether the public record, which began in 2010, may have something that ours does not: not of the future."""
    return end > _RECORDED_SINCE and start <= clock.NOW


def _span(start_date: str | None, end_date: str | None, default_days: int) -> tuple[datetime, datetime]:
    """The asked days as a half-open span; an absent start lies some days before the end."""
    last = day_of(end_date, "end_date") if end_date else clock.NOW.date()
    # The calendar ends on both sides.
    last = min(max(last, date.min + timedelta(days=default_days)), date.max - timedelta(days=1))
    first = day_of(start_date, "start_date") if start_date else last - timedelta(days=default_days)
    if first > last:
        raise api_error(400, f"start_date {first} is after end_date {last}")
    return (
        datetime.combine(first, time(), UTC),
        datetime.combine(last, time(), UTC) + timedelta(days=1),
    )
