"""What a workbook or a presentation holds beyond single values: rows, charts, and the task's picture on a slide.

Where a table stands, in which order its columns are and what else is in the file is the client's own choice. A thing's
values must stand in one line with it: a row, or a column where the table is transposed.
"""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, Literal

from m3bench.tasks.answers.base import JSON, AnswerContext
from m3bench.tasks.answers.groups import Item
from m3bench.tasks.checks import BaseCheck, Evidence
from m3bench.tasks.foreign_files import picture_in, picture_of, workbook_in
from m3bench.tasks.formulas import value_of
from m3bench.tasks.lazy_modules import LazyModule

if TYPE_CHECKING:
    import pptx

    from m3bench.tasks import likeness
else:
    pptx = LazyModule("pptx")
    likeness = LazyModule("m3bench.tasks.likeness")

MOST_LINES = 5000
"""Rows and columns that are looked at."""


class WorkbookRows(BaseCheck):
    """A workbook has a line for each thing, with the values that belong to it."""

    kind: Literal["workbook_rows"] = "workbook_rows"
    pattern: str = "*.xlsx"
    rows: tuple[tuple[Item, ...], ...]
    """The values of each thing; the first tells the things apart."""

    @property
    def title(self) -> str:
        """What is checked, in words."""
        return f"the workbook has lines for {', '.join(row[0].said() for row in self.rows)}"

    def problem(self, evidence: Evidence) -> str | None:
        """Which line is missing or wrong."""
        reason: str | None = f"there is no {self.pattern}"
        for book in _books(evidence, self.pattern):
            lines = list(_lines(book))[:MOST_LINES]
            reason = next((why for row in self.rows if (why := _missing(row, lines))), None)
            if reason is None:
                return None
        return reason


class WorkbookChart(BaseCheck):
    """A workbook has a chart of some numbers, in any order."""

    kind: Literal["workbook_chart"] = "workbook_chart"
    pattern: str = "*.xlsx"
    form: Literal["", "bar", "line", "pie"] = ""
    """What kind of chart, where that was asked for."""
    values: tuple[float, ...]
    """The numbers of one of its series."""

    @property
    def title(self) -> str:
        """What is checked, in words."""
        return f"the workbook has a {self.form} chart of {', '.join(f'{value:g}' for value in self.values)}"

    def problem(self, evidence: Evidence) -> str | None:
        """What the charts lack."""
        drawn = [
            (book, sheet, chart)
            for book in _books(evidence, self.pattern)
            for sheet in book.worksheets
            for chart in sheet._charts
            if self.form in chart.tagname.casefold()
        ]
        if not drawn:
            return f"there is no {self.form} chart".replace("  ", " ")
        for book, sheet, chart in drawn:
            if any(same_numbers(_plotted(book, sheet, series), self.values) for series in chart.series):
                return None
        return "no chart shows the numbers"


def _books(evidence: Evidence, pattern: str) -> Iterator[Any]:
    for path in evidence.find(pattern):
        yield workbook_in(path)


def _lines(book: Any) -> Iterator[list[JSON]]:
    """The rows and the columns of all sheets, without their empty cells."""
    for sheet in book.worksheets:
        rows = [[_value(book, sheet, cell.value) for cell in row] for row in sheet.iter_rows()]
        for line in (*rows, *zip(*rows, strict=True)):
            filled = [value for value in line if value is not None]
            if filled:
                yield filled


def _value(book: Any, sheet: Any, value: object) -> JSON:
    if isinstance(value, str) and value.startswith("="):
        return value_of(book, sheet, value)
    return value if value is None or isinstance(value, str | int | float | bool) else str(value)


def _missing(row: Sequence[Item], lines: Sequence[Sequence[JSON]]) -> str | None:
    """Why no line has all values of a thing; the values stand in cells of their own."""
    asked = AnswerContext()
    known = [line for line in lines if any(row[0].problem(cell, asked) is None for cell in line)]
    if not known:
        return f"there is no line of {row[0].said()[:60]!r}"
    closest = list(row)
    for line in known:
        left, missing = list(line), []
        for item in row:
            found = next((place for place, cell in enumerate(left) if item.problem(cell, asked) is None), None)
            if found is None:
                missing.append(item)
            else:
                left.pop(found)
        if not missing:
            return None
        closest = min(closest, missing, key=len)
    return f"the line of {row[0].said()[:60]!r} lacks {closest[0].said()[:60]!r}"


def _plotted(book: Any, sheet: Any, series: Any) -> list[float]:
    """The numbers of a chart's series, as its cells have them."""
    source = getattr(series, "val", None) or getattr(series, "yVal", None)
    reference = source.numRef.f if source is not None and source.numRef is not None else ""
    name, _, area = reference.rpartition("!")
    where = book[name.strip("'").replace("''", "'")] if name else sheet
    found = where[area.replace("$", "")] if area else ()
    rows = found if isinstance(found, tuple) else ((found,),)
    cells = [cell for row in rows for cell in (row if isinstance(row, tuple) else (row,))]
    values = [_value(book, where, cell.value) for cell in cells]
    return [float(value) for value in values if isinstance(value, int | float) and not isinstance(value, bool)]


def same_numbers(mine: Sequence[float], right: Sequence[float]) -> bool:
    """Whether two lists of numbers are the same, in any order."""
    return len(mine) == len(right) and all(
        abs(one - other) <= 0.005 for one, other in zip(sorted(mine), sorted(right), strict=True)
    )


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
        source = picture_in(evidence.workspace / self.source).convert("RGB")
        reason = "no slide has the picture"
        for shape in _shapes(evidence, self.pattern):
            if not hasattr(shape, "image"):
                continue
            copy = picture_of(shape.image.blob).convert("RGB")
            if copy.size != source.size:
                copy = copy.resize(source.size)
            found = likeness.changes_elsewhere(source, copy, self.boxes, self.margin, colour=self.colour)
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
    for path in evidence.find(pattern):
        for slide in pptx.Presentation(str(path)).slides:
            yield from _flat(slide.shapes)


def _flat(shapes: Any) -> Iterator[Any]:
    for shape in shapes:
        yield shape
        yield from _flat(getattr(shape, "shapes", ()))
