"""Draws the pictures of the scoring page from the page's own example: `python docs/pictures.py`."""

import json
import re
from collections.abc import Set
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

    def svg(self) -> str:
        """The picture."""
        return (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" width="{WIDTH}" '
            f'height="{HEIGHT}"><rect width="{WIDTH}" height="{HEIGHT}" rx="12" fill="#ffffff"/>'
            + "".join(self.parts)
            + "</svg>\n"
        )


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
    }


if __name__ == "__main__":
    for file, text in pictures().items():
        (HERE / "pictures" / file).write_text(text, "utf-8")
