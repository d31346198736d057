"""Figures of a leaderboard as SVG and PNG, for papers and slides: averages with intervals, and families by sets."""

from collections.abc import Sequence

from m3bench.server.lab.reports.standings import BoardEntry
from m3bench.server.scorecard.pages.drawing import SvgDrawing, wide
from m3bench.server.scorecard.pages.picture import EDGE, HAIR, INK, PAPER, SOFT, SUNKEN, TONES

_TITLE = "Average by effect, with 95 % intervals"
_PAPER_TITLE = "Average of six metrics, with 95 % intervals"
_ROW = 44
_CELL = 34


def averages(entries: Sequence[BoardEntry]) -> tuple[SvgDrawing, float]:
    """Every set's average as a bar with its interval; returns the drawing and its height."""
    drawing = SvgDrawing(1200, PAPER)
    names, left, right = 300, 56 + 320, 1200 - EDGE - 90
    drawing.text(
        _TITLE if all(entry.summary.profile == "effect" for entry in entries) else _PAPER_TITLE,
        EDGE,
        58,
        26,
        fill=INK,
        weight=700,
    )
    y = 100.0
    for entry in entries:
        value = entry.summary.metrics["average"] or 0.0
        interval = entry.summary.intervals.get("average")
        low, high = (value, value) if interval is None else (interval.low, interval.high)
        drawing.text(entry.place, EDGE, y + 20, 20, fill=SOFT)
        drawing.text(entry.name, EDGE + 36, y + 20, 21, fill=INK, room=names - 20)
        drawing.box(left, y + 4, right - left, 20, SUNKEN)
        tone = TONES["extra" if entry.kind == "baseline" else "strong"]
        drawing.box(left, y + 4, (right - left) * value, 20, tone)
        start, end = left + (right - left) * low, left + (right - left) * high
        drawing.line(f"M{start:.1f} {y + 14:.1f}H{end:.1f}M{start:.1f} {y + 8:.1f}v12M{end:.1f} {y + 8:.1f}v12", INK, 2)
        drawing.text(f"{value:.3f}", 1200 - EDGE, y + 21, 21, fill=INK, weight=700, anchor="end")
        y += _ROW
    return drawing, y + 24


def families(entries: Sequence[BoardEntry]) -> tuple[SvgDrawing, float]:
    """Families by sets, in stronger colours for higher averages; returns the drawing and its height."""
    names = sorted({family for entry in entries for family in entry.families})
    left = EDGE + max((wide(name, 18) for name in names), default=0) + 24
    room = max(70.0, (1200 - EDGE - left) / max(1, len(entries)))
    drawing = SvgDrawing(round(left + room * len(entries) + EDGE), PAPER)
    drawing.text("Average by family", EDGE, 58, 26, fill=INK, weight=700)
    for number, entry in enumerate(entries):
        drawing.text(entry.name, left + room * (number + 0.5), 98, 17, fill=SOFT, anchor="middle", room=room - 8)
    y = 110.0
    for name in names:
        drawing.text(name.replace("_", " "), EDGE, y + 23, 18, fill=INK)
        for number, entry in enumerate(entries):
            summary = entry.families.get(name)
            value = summary.metrics["average"] if summary is not None else None
            x = left + room * number
            drawing.box(x + 2, y + 2, room - 4, _CELL - 4, _heat_colour(value))
            ink = PAPER if (value or 0) > 0.6 else INK
            said = "–" if value is None else f"{value:.2f}"
            drawing.text(said, x + room / 2, y + 23, 17, fill=ink, anchor="middle")
        y += _CELL
    drawing.line(f"M{EDGE} {y + 10:.1f}H{drawing.width - EDGE}", HAIR)
    return drawing, y + 34


def _heat_colour(value: float | None) -> str:
    """From the colour of a track to that of a full bar."""
    if value is None:
        return PAPER
    low, high = _parts(SUNKEN), _parts(TONES["strong"])
    mixed = (round(start + (end - start) * min(1.0, max(0.0, value))) for start, end in zip(low, high, strict=True))
    return "#" + "".join(f"{part:02x}" for part in mixed)


def _parts(colour: str) -> tuple[int, int, int]:
    return int(colour[1:3], 16), int(colour[3:5], 16), int(colour[5:7], 16)
