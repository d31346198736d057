"""Draws the pictures of the scoring page from the page's own example, and the way of a call: `make pictures`."""

import json
import math
import re
from collections.abc import Sequence, Set
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
WIDTH, HEIGHT = 720, 250
LEFT, CALL, GAP = 92, 80, 20
REFERENCE_TOP, ACTUAL_TOP, TALL = 34, 164, 52
INK, SOFT, BLUE, ORANGE, GREY = "#1f2933", "#7b8794", "#0b66c3", "#c4510c", "#cbd2d9"

SHORT = {
    "wiki/search": "search", "google-maps/geocode": "geocode", "wiki/summary": "summary", "math/sum": "sum",
    "google-maps/places_text_search": "places", "weather/get_weather": "weather", "google-maps/timezone": "timezone",
}  # fmt: skip

MATCHES = ((0, 0, 1.0), (1, 1, 0.958), (2, 2, 1.0), (3, 4, 0.779), (4, 3, 1.0))
"""Reference call, actual call, similarity: what the page's command prints."""


def blocks() -> dict[str, list[list[str]]]:
    """The calls of the example by file and step."""
    page = (HERE / "scoring.md").read_text("utf-8")
    found: dict[str, list[list[str]]] = {}
    for name, text in re.findall(r"```json (\w+)\.json\n(.*?)```", page, re.DOTALL):
        steps: list[dict[str, Any]] = json.loads(text)[0]["steps"]
        found[name] = [[SHORT[call["name"]] for call in step["calls"]] for step in steps]
    return found


class Drawing:
    """Reference steps above, actual steps below."""

    def __init__(self) -> None:
        self.parts: list[str] = []
        self.centres: dict[str, list[tuple[float, float]]] = {}
        self.boxes: dict[str, list[tuple[float, float]]] = {}

    def row(self, name: str, steps: list[list[str]], top: int, strange: Set[int], loud: Set[int]) -> None:
        """A row of steps; `strange` calls and `loud` steps are drawn in the colour of attention."""
        self.text(12, top + TALL / 2 + 5, name, SOFT, 14)
        x, index = float(LEFT), 0
        self.centres[name], self.boxes[name] = [], []
        for number, calls in enumerate(steps):
            wide = len(calls) * CALL
            edge = ORANGE if number in loud else GREY
            self.parts.append(
                f'<rect x="{x}" y="{top}" width="{wide}" height="{TALL}" rx="9" fill="#f5f7fa" stroke="{edge}" '
                f'stroke-width="{2.5 if number in loud else 1.5}"/>'
            )
            self.text(x + 8, top - 7 if top < 100 else top + TALL + 17, f"step {number + 1}", SOFT, 12)
            self.boxes[name].append((x, wide))
            for call in calls:
                middle = x + CALL / 2
                self.centres[name].append((middle, top + TALL / 2))
                self.text(middle, top + TALL / 2 + 5, call, ORANGE if index in strange else INK, 14, anchor="middle")
                x += CALL
                index += 1
            x += GAP

    def lines(self, loud: Set[int], dashed: Set[int], thick: bool) -> None:
        """The matches."""
        for number, (reference, actual, similarity) in enumerate(MATCHES):
            (x1, _), (x2, _) = self.centres["reference"][reference], self.centres["actual"][actual]
            colour = ORANGE if number in loud else BLUE
            width = 1 + 5 * max(0.0, similarity - 0.6) / 0.4 if thick else 2.2
            dash = ' stroke-dasharray="6 5"' if number in dashed else ""
            self.parts.append(
                f'<line x1="{x1}" y1="{REFERENCE_TOP + TALL}" x2="{x2}" y2="{ACTUAL_TOP}" stroke="{colour}" '
                f'stroke-width="{width:.1f}" stroke-linecap="round"{dash}/>'
            )
            if thick:
                # Near the reference, where no two lines cross.
                self.text(x1 + (x2 - x1) * 0.25 + 7, REFERENCE_TOP + TALL + 22, f"{similarity:.3f}", INK, 12)

    def text(self, x: float, y: float, words: str, colour: str, size: int, anchor: str = "start") -> None:
        """Words."""
        self.parts.append(
            f'<text x="{x}" y="{y}" font-size="{size}" fill="{colour}" text-anchor="{anchor}" '
            f'font-family="system-ui, sans-serif">{words}</text>'
        )

    def box(self, x: float, y: float, wide: float, tall: float, name: str, lines: Sequence[str]) -> None:
        """A named box with a few lines in it."""
        self.parts.append(
            f'<rect x="{x}" y="{y}" width="{wide}" height="{tall}" rx="9" fill="#f5f7fa" stroke="{GREY}" '
            'stroke-width="1.5"/>'
        )
        self.text(x + wide / 2, y + 30, name, BLUE, 17, anchor="middle")
        for number, line in enumerate(lines):
            self.text(x + wide / 2, y + 54 + 19 * number, line, INK, 13, anchor="middle")

    def arrow(self, x1: float, y1: float, x2: float, y2: float) -> None:
        """A line with a head at its end."""
        turn = math.degrees(math.atan2(y2 - y1, x2 - x1))
        self.parts.append(f'<line x1="{x1}" y1="{y1}" x2="{x2}" y2="{y2}" stroke="{SOFT}" stroke-width="2"/>')
        self.parts.append(
            f'<path d="M7 0 L-4 -6 L-4 6 Z" fill="{SOFT}" transform="translate({x2} {y2}) rotate({turn:.1f})"/>'
        )

    def svg(self, width: int = WIDTH, height: int = HEIGHT) -> str:
        """The picture."""
        return (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" '
            f'height="{height}"><rect width="{width}" height="{height}" rx="12" fill="#ffffff"/>'
            + "".join(self.parts)
            + "</svg>\n"
        )


BOXES = {
    "client": (20, 40, "any MCP client", ("unchanged: its own prompts,", "model and limits")),
    "proxy": (270, 40, "proxy", ("lists tools, routes calls,", "records them")),
    "sandbox": (520, 40, "sandbox of the run", ("27 tool servers over one", "workspace and a frozen world")),
    "record": (270, 180, "record", ("every call before its answer", "leaves; sealed by submit")),
    "scoring": (520, 180, "scoring", ("steps, alignment with a", "reference by effect")),
    "card": (770, 180, "score card", ("solved, six metrics, ranges,", "what would have helped")),
    "runs": (20, 180, "runs", ("start_task, submit, score:", "when a run begins and ends")),
    "tasks": (770, 40, "tasks", ("picture, question, fields,", "references that were executed")),
}
"""Parts of the server by name: where they are, what they are called and what they do."""
ARROWS = (
    ("client", "proxy", "stdio or HTTP"),
    ("proxy", "sandbox", "calls"),
    ("proxy", "record", ""),
    ("runs", "record", ""),
    ("record", "scoring", ""),
    ("scoring", "card", ""),
    ("tasks", "scoring", ""),
)
LAB = (
    "plays many tasks without a person (models, baselines, studies), reads what was recorded",
    "(reports, boards, papers, judges), and makes tasks; nothing above needs it",
)
BOX_WIDE, BOX_TALL, LAB_TOP = 210, 90, 310


def architecture() -> str:
    """The way of a call through the server to its card, and the lab beneath."""
    drawing = Drawing()
    for x, y, name, words in BOXES.values():
        drawing.box(x, y, BOX_WIDE, BOX_TALL, name, words)
    for start, end, words in ARROWS:
        (x1, y1, *_), (x2, y2, *_) = BOXES[start], BOXES[end]
        if y1 == y2:
            ends = (x1 + BOX_WIDE, y1 + BOX_TALL / 2, x2 - 7, y2 + BOX_TALL / 2)
        elif x1 == x2:
            ends = (x1 + BOX_WIDE / 2, y1 + BOX_TALL, x2 + BOX_WIDE / 2, y2 - 7)
        else:
            ends = (x1, y1 + BOX_TALL, x2 + BOX_WIDE, y2 - 4)
        drawing.arrow(*ends)
        if words:
            drawing.text((ends[0] + ends[2]) / 2, ends[1] - 56, words, SOFT, 12, anchor="middle")
    drawing.box(20, LAB_TOP, 960, BOX_TALL, "lab", LAB)
    drawing.arrow(125, LAB_TOP, 125, 277)
    drawing.arrow(875, 270, 875, LAB_TOP - 7)
    return drawing.svg(1000, LAB_TOP + BOX_TALL + 20)


def pictures() -> dict[str, str]:
    """Every picture by file name."""
    steps = blocks()

    def draw(
        missed: Set[int] = frozenset(),
        extra: Set[int] = frozenset(),
        steps_above: Set[int] = frozenset(),
        steps_below: Set[int] = frozenset(),
        loud: Set[int] = frozenset(),
        dashed: Set[int] = frozenset(),
        thick: bool = False,
    ) -> str:
        drawing = Drawing()
        drawing.row("reference", steps["reference"], REFERENCE_TOP, missed, steps_above)
        drawing.row("actual", steps["actual"], ACTUAL_TOP, extra, steps_below)
        drawing.lines(loud, dashed, thick)
        return drawing.svg()

    return {
        "alignment.svg": draw(dashed={3}),
        "recall.svg": draw(missed={5}, extra={5, 6}),
        "similarity.svg": draw(dashed={3}, thick=True),
        "coherence.svg": draw(steps_above={0, 1}, loud={0, 1, 2, 3}),
        "order.svg": draw(loud={3, 4}),
        "purity.svg": draw(steps_below={1}, loud={1, 2}),
        "architecture.svg": architecture(),
    }


if __name__ == "__main__":
    for file, text in pictures().items():
        (HERE / "pictures" / file).write_text(text, "utf-8")
