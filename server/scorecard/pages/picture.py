"""The card of a run as a picture, 1200 pixels wide: what somebody would post or paste.

Headline, metrics, what would have helped most, and the calls of both sides with their matches. Drawn from the
document that the page shows, without a browser; the same document gives the same bytes.
"""

from collections.abc import Mapping, Sequence

from m3bench.server.scorecard.improvements import in_order
from m3bench.server.scorecard.markdown import UNCERTAIN
from m3bench.server.scorecard.model import ActualCall, Match, ReferenceCall, ScoreCard
from m3bench.server.scorecard.pages.drawing import SvgDrawing, wrapped
from m3bench.server.scorecard.pages.legend import LegendEntry
from m3bench.server.scorecard.pages.run import RunDocument
from m3bench.server.scoring.words import printable

WIDTH, EDGE = 1200, 56
INK, SOFT, HAIR, LINE, PAPER, SUNKEN = "#1d2025", "#5d626b", "#ebe8e2", "#d9d5cd", "#fcfbf9", "#f0ede8"
TONES = {"strong": "#0b69ad", "weak": "#c98412", "missed": "#b23c08", "extra": "#6b5a96"}
WASHES = {"strong": "#e6f1fa", "weak": "#fcf2dc", "missed": "#fceae1", "extra": "#f0ecf8"}
MAX_CHECKS = 8
MAX_ROWS = 16
"""Calls drawn on each side; the rest is counted."""

_ROW = 30


def card_png(document: RunDocument, card: ScoreCard) -> bytes:
    """The picture of a run.

    Args:
        document: What its page shows.
        card: Its score card.
    """
    drawing, y = _drawn(document, card)
    return drawing.png(_foot(drawing, document, y + 30))


def card_svg(document: RunDocument, card: ScoreCard) -> str:
    """The same as SVG, without what tells one run from another: two runs with the same card give the same bytes."""
    drawing, y = _drawn(document, card)
    return drawing.svg_for_any_font(y + 24)


def _drawn(document: RunDocument, card: ScoreCard) -> tuple[SvgDrawing, float]:
    drawing = SvgDrawing(WIDTH, PAPER)
    y = _head(drawing, document, card)
    y = max(_headline(drawing, card, y), _metrics(drawing, card, document["legend"], y))
    y = _handed_in(drawing, card, y + 34)
    y = _improvements(drawing, card, y + 34)
    return drawing, _calls(drawing, card, y + 34)


def _head(drawing: SvgDrawing, document: RunDocument, card: ScoreCard) -> float:
    run, task = document["run"], document["task"]
    client = card.client.name if card.client is not None and card.client.name else run["client"]
    drawing.text("m3bench", EDGE, 58, 24, fill=INK, weight=700)
    drawing.text(client, WIDTH - EDGE, 58, 21, fill=SOFT, anchor="end", room=640)
    drawing.box(EDGE, 76, WIDTH - 2 * EDGE, 1.5, LINE, 0)
    width = drawing.text(run["task"], EDGE, 128, 42, fill=INK, weight=700, room=820)
    about = " · ".join([card.family, *([task["difficulty"]] if task else [])])
    drawing.text(about, EDGE + width + 18, 128, 23, fill=SOFT, room=WIDTH - 2 * EDGE - width - 18)
    y = 150.0
    if task:
        lines = wrapped(task["question"], 21, WIDTH - 2 * EDGE, 2)
        for line in lines:
            y += 28
            drawing.text(line, EDGE, y, 21, fill=SOFT, room=WIDTH - 2 * EDGE)
    return y + 34


def _headline(drawing: SvgDrawing, card: ScoreCard, y: float) -> float:
    average = card.average
    drawing.text("–" if average is None else f"{average:.3f}", EDGE - 5, y + 96, 128, fill=INK, weight=700)
    paper = "–" if card.paper_average is None else f"{card.paper_average:.3f}"
    beside = "average by the paper's metric" if card.paper is None else f"by effect · paper's metric {paper}"
    drawing.text(beside, EDGE, y + 132, 22, fill=SOFT)
    tone, words = {
        True: ("strong", "solved"),
        False: ("missed", "not solved"),
        None: ("extra", "no checks"),
    }[card.success]
    words = "void" if card.void is not None else words
    drawing.box(EDGE, y + 156, 150, 36, WASHES[tone], 5)
    if card.success is not None:
        _mark(drawing, "strong" if card.success else "missed", EDGE + 20, y + 174)
    drawing.text(words, EDGE + 38, y + 181, 21, fill=TONES[tone], weight=700)
    if card.checks:
        drawing.text(f"{card.checks_passed} of {len(card.checks)} checks", EDGE + 166, y + 181, 21, fill=SOFT)
    return y + 200


def _metrics(drawing: SvgDrawing, card: ScoreCard, legend: Sequence[LegendEntry], y: float) -> float:
    left, start, end = 500, 728, 1040
    for number, metric in enumerate(legend):
        base = y + 24 + number * 35
        value = card.metrics.get(metric["name"])
        drawing.text(str(metric["label"]).capitalize(), left, base, 22, fill=INK)
        drawing.box(start, base - 15, end - start, 16, SUNKEN)
        if value is None:
            drawing.text("unscored", WIDTH - EDGE, base, 22, fill=SOFT, anchor="end")
            continue
        low, high = card.range_of(metric["name"])
        told, sure, size = f"{value:.3f}", value, 24
        if high - low > UNCERTAIN:
            told, sure, size = f"{low:.2f}–{high:.2f}", low, 20
        drawing.box(start, base - 15, (end - start) * sure, 16, TONES["strong"])
        if high - low > 0.0005:
            for edge in (low, high):
                drawing.box(start + (end - start) * edge - 1, base - 18, 2, 22, INK, 0)
        drawing.text(told, WIDTH - EDGE, base, size, fill=INK, weight=700, anchor="end")
    return y + 24 + 35 * len(legend) - 20


def _handed_in(drawing: SvgDrawing, card: ScoreCard, y: float) -> float:
    """Each field with what was given and what is right; then what went wrong first."""
    if not card.checks or card.void is not None:
        return y - 34
    drawing.text("What was handed in", EDGE, y + 22, 23, fill=INK, weight=700)
    y += 40
    for check in card.checks[:MAX_CHECKS]:
        drawing.box(EDGE, y, WIDTH - 2 * EDGE, 1, HAIR, 0)
        _mark(drawing, "strong" if check.passed else "missed", EDGE + 10, y + 20)
        drawing.text(printable(check.check), EDGE + 34, y + 27, 20, fill=INK, weight=700, room=250)
        given = printable(check.given or ("" if check.passed else check.reason))
        drawing.text(given, EDGE + 300, y + 27, 20, fill=INK, room=400)
        if check.right:
            drawing.text(f"right: {printable(check.right)}", EDGE + 720, y + 27, 20, fill=TONES["strong"], room=368)
        y += 38
    if (left := len(card.checks) - MAX_CHECKS) > 0:
        drawing.text(f"… {left} more", EDGE + 34, y + 25, 19, fill=SOFT)
        y += 34
    for line in wrapped(card.first_fault and f"First wrong: {card.first_fault}", 21, WIDTH - 2 * EDGE, 3):
        y += 28
        drawing.text(line, EDGE, y, 21, fill=TONES["missed"], room=WIDTH - 2 * EDGE)
    return y


def _improvements(drawing: SvgDrawing, card: ScoreCard, y: float) -> float:
    found = in_order(card.improvements[:3])
    if not found:
        return y - 34
    drawing.text("What would have helped most", EDGE, y + 22, 23, fill=INK, weight=700)
    y += 40
    for improvement in found:
        lines = wrapped(improvement.text, 21, WIDTH - 2 * EDGE - 110, 2)
        drawing.box(EDGE, y, WIDTH - 2 * EDGE, 1, HAIR, 0)
        drawing.text(f"+{improvement.gain:.3f}", EDGE, y + 29, 23, fill=TONES["weak"], weight=700)
        for line in lines:
            y += 28
            drawing.text(line, EDGE + 110, y, 21, fill=INK, room=WIDTH - 2 * EDGE - 110)
        y += 12
    return y


def _calls(drawing: SvgDrawing, card: ScoreCard, y: float) -> float:
    """Both sides, a row for each call, and a line for each match."""
    alignment = card.alignment
    drawing.text("Reference", EDGE, y + 22, 23, fill=INK, weight=700)
    drawing.text("What was done", 660, y + 22, 23, fill=INK, weight=700)
    of_reference = {match.reference: match for match in alignment.matches}
    of_actual = {place: match for match in alignment.matches for place in match.calls}
    known = frozenset(alignment.not_needed)
    left, bottom = _side(drawing, alignment.reference_steps, of_reference, "missed", EDGE, y + 36, known)
    right, other = _side(drawing, alignment.actual_steps, of_actual, "extra", 660, y + 36)
    for match in alignment.matches:
        tone, dashes = ("strong", "") if match.full else ("weak", "6 4")
        start = left.get(match.reference)
        for end in (right[place] for place in match.calls if place in right and start is not None):
            drawing.line(f"M544 {start:.1f} C600 {start:.1f} 600 {end:.1f} 656 {end:.1f}", TONES[tone], 1.6, dashes)
    return max(bottom, other)


def _side(
    drawing: SvgDrawing,
    steps: Sequence[Sequence[ReferenceCall | ActualCall]],
    matches: Mapping[int, Match],
    alone: str,
    x: float,
    y: float,
    known: frozenset[int] = frozenset(),
) -> tuple[dict[int, float], float]:
    """Draw one side, a call that was not needed in the tone of extra ones.

    Returns the middle of each row by the place of its call, and where the side ends.
    """
    middles: dict[int, float] = {}
    room, drawn = 484, 0
    flat = [(number, call) for number, step in enumerate(steps, 1) for call in step]
    # Where there is no room for all, those that match come first.
    kept = sorted(sorted(range(len(flat)), key=lambda index: (index not in matches, index))[:MAX_ROWS])
    for index in kept:
        number, call = flat[index]
        if number != drawn:
            y += 5 if drawn else 0
            drawn = number
            drawing.text(str(number), x + 12, y + 20, 18, fill=SOFT, weight=700, anchor="middle")
        match = matches.get(index)
        kind = ("extra" if index in known else alone) if match is None else "strong" if match.full else "weak"
        drawing.box(x + 32, y + 1, room - 32, _ROW - 3, WASHES[kind], 4)
        _mark(drawing, kind, x + 50, y + 14)
        figure = "" if match is None else f"{match.similarity:.2f}"
        drawing.text(call.tool, x + 68, y + 21, 19, fill=INK, room=room - 68 - 64)
        drawing.text(figure, x + room - 12, y + 21, 18, fill=TONES[kind], anchor="end")
        middles[index] = y + _ROW / 2
        y += _ROW
    left = len(flat) - len(kept)
    if left or not flat:
        drawing.text(f"… {left} more calls" if left else "nothing", x + 40, y + 21, 19, fill=SOFT)
        y += _ROW
    return middles, y


def _mark(drawing: SvgDrawing, kind: str, x: float, y: float) -> None:
    """The sign of a state, its middle at `(x, y)`."""
    paths = {
        "strong": f"M{x - 6} {y + 1} L{x - 2} {y + 5} L{x + 6} {y - 5}",
        "missed": f"M{x - 5} {y - 5} L{x + 5} {y + 5} M{x + 5} {y - 5} L{x - 5} {y + 5}",
        "extra": f"M{x - 6} {y} L{x + 6} {y} M{x} {y - 6} L{x} {y + 6}",
        "weak": f"M{x - 6} {y - 2} q3 -4 6 0 t6 0 M{x - 6} {y + 4} q3 -4 6 0 t6 0",
    }
    drawing.line(paths[kind], TONES[kind], 2.4)


def _foot(drawing: SvgDrawing, document: RunDocument, y: float) -> float:
    run, manifest = document["run"], document["manifest"]
    drawing.box(EDGE, y, WIDTH - 2 * EDGE, 1.5, LINE, 0)
    tasks = manifest.get("tasks")
    name, version = (tasks.get(key, "") if isinstance(tasks, Mapping) else "" for key in ("name", "version"))
    made = f"{name} {version} · profile {manifest.get('profile', '')}"
    facts = f"run {run['id'][:12]} · {run['started'][:10]} · {made}"
    drawing.text(facts, EDGE, y + 32, 18, fill=SOFT, room=700)
    seal = f"sealed {run['seal'][:24]}" if run["seal"] else "not sealed"
    drawing.text(seal, WIDTH - EDGE, y + 32, 18, fill=SOFT, anchor="end", room=360)
    return y + 60
