"""What a presentation shows: the task's picture, changed where it was asked to be, and charts."""

import io
from collections.abc import Iterator
from typing import Any, Literal

from m3bench.tasks.checks import BaseCheck, Evidence


class DeckShows(BaseCheck):
    """A slide has a copy of the task's picture that was changed inside some boxes and nowhere else."""

    kind: Literal["deck_shows"] = "deck_shows"
    pattern: str = "*.pptx"
    source: str
    """Path of the task's picture in the workspace."""
    boxes: tuple[tuple[int, int, int, int], ...]
    margin: int = 12
    """Pixels around a box that may change as well."""
    colour: tuple[int, int, int] | None = None
    """In which colour something must be drawn."""

    @property
    def title(self) -> str:
        """What is checked, in words."""
        return f"a slide shows the picture with {len(self.boxes)} places changed"

    def problem(self, evidence: Evidence) -> str | None:
        """What is wrong with the pictures on the slides."""
        from PIL import Image

        from m3bench.tasks.likeness import changes_elsewhere

        with Image.open(evidence.workspace / self.source) as file:
            source = file.convert("RGB")
        reason = "no slide has the picture"
        for shape in _shapes(evidence, self.pattern):
            if not hasattr(shape, "image"):
                continue
            with Image.open(io.BytesIO(shape.image.blob)) as file:
                copy = file.convert("RGB")
            if copy.size != source.size:
                copy = copy.resize(source.size)
            found = changes_elsewhere(source, copy, self.boxes, self.margin, colour=self.colour)
            if found is None:
                return None
            reason = f"in the picture on the slide {found}"
        return reason


class DeckChart(BaseCheck):
    """A presentation has a chart of some numbers, in any order."""

    kind: Literal["deck_chart"] = "deck_chart"
    pattern: str = "*.pptx"
    values: tuple[float, ...]
    """The numbers of one of its series."""

    @property
    def title(self) -> str:
        """What is checked, in words."""
        return f"the presentation has a chart of {', '.join(f'{value:g}' for value in self.values)}"

    def problem(self, evidence: Evidence) -> str | None:
        """What the charts on the slides lack."""
        from m3bench.tasks.answers.sheets import same_numbers

        shown = [
            [float(value) for value in series.values if value is not None]
            for shape in _shapes(evidence, self.pattern)
            if shape.has_chart
            for plot in shape.chart.plots
            for series in plot.series
        ]
        if any(same_numbers(values, self.values) for values in shown):
            return None
        return "no chart shows the numbers" if shown else "there is no chart"


def _shapes(evidence: Evidence, pattern: str) -> Iterator[Any]:
    """Everything on the slides, also what lies in groups."""
    from pptx import Presentation

    for path in evidence.find(pattern):
        for slide in Presentation(str(path)).slides:
            yield from _flat(slide.shapes)


def _flat(shapes: Any) -> Iterator[Any]:
    for shape in shapes:
        yield shape
        yield from _flat(getattr(shape, "shapes", ()))
