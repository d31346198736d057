"""Conditional formats: colours of cells that follow from their values."""

import operator
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

from m3bench.tasks.office.colours import mixed, rgb
from m3bench.tasks.office.marks import Colour

_MOST_ROWS, _MOST_COLUMNS = 300, 60
_COMPARED: dict[str, Callable[[Any, Any], bool]] = {
    "greaterThan": operator.gt,
    "greaterThanOrEqual": operator.ge,
    "lessThan": operator.lt,
    "lessThanOrEqual": operator.le,
    "equal": operator.eq,
    "notEqual": operator.ne,
}


@dataclass
class CellRules:
    """What conditional formats do to a worksheet."""

    fills: dict[str, Colour] = field(default_factory=dict)
    inks: dict[str, Colour] = field(default_factory=dict)
    unknown: list[str] = field(default_factory=list)

    def fill(self, cell: Any) -> Colour | None:
        """The ground that a cell gets."""
        return self.fills.get(cell.coordinate)

    def ink(self, cell: Any) -> Colour | None:
        """The colour of letters that a cell gets."""
        return self.inks.get(cell.coordinate)


def read(sheet: Any, value: Callable[[Any], object]) -> CellRules:
    """The rules of a worksheet, applied."""
    found = CellRules()
    for formatting in sheet.conditional_formatting:
        cells = [cell for area in formatting.sqref.ranges for cell in _cells(sheet, area)]
        for rule in formatting.rules:
            if rule.type == "cellIs":
                _compare(found, rule, cells, value)
            elif rule.type == "colorScale":
                _scale(found, rule, cells, value)
            else:
                found.unknown.append(f"a conditional format of the kind {rule.type}")
    return found


def _cells(sheet: Any, area: Any) -> Iterable[Any]:
    """The cells of a range that are used; a rule may be for a whole column."""
    last_row, last_column = min(area.max_row, sheet.max_row), min(area.max_col, sheet.max_column)
    if area.min_row > last_row or area.min_col > last_column:
        return
    rows = sheet.iter_rows(min_row=area.min_row, max_row=last_row, min_col=area.min_col, max_col=last_column)
    for number, row in enumerate(rows):
        if number >= _MOST_ROWS:
            return
        yield from row[:_MOST_COLUMNS]


def _compare(found: CellRules, rule: Any, cells: Iterable[Any], value: Callable[[Any], object]) -> None:
    try:
        limits = [float(str(limit).strip('"')) for limit in rule.formula]
    except ValueError:
        found.unknown.append("a conditional format by a formula")
        return
    style = rule.dxf
    fill = style.fill.bgColor if style is not None and style.fill is not None else None
    ink = style.font.color if style is not None and style.font is not None else None
    for cell in cells:
        held = value(cell)
        if isinstance(held, bool) or not isinstance(held, int | float):
            continue
        if rule.operator in ("between", "notBetween"):
            holds = (min(limits) <= held <= max(limits)) is (rule.operator == "between")
        elif rule.operator in _COMPARED:
            holds = _COMPARED[rule.operator](held, limits[0])
        else:
            holds = False
        if holds and fill is not None and fill.type == "rgb":
            found.fills.setdefault(cell.coordinate, rgb(str(fill.rgb)))
        if holds and ink is not None and ink.type == "rgb":
            found.inks.setdefault(cell.coordinate, rgb(str(ink.rgb)))


def _scale(found: CellRules, rule: Any, cells: Iterable[Any], value: Callable[[Any], object]) -> None:
    held = {cell.coordinate: value(cell) for cell in cells}
    numbers = {
        name: float(one) for name, one in held.items() if isinstance(one, int | float) and not isinstance(one, bool)
    }
    colours = [rgb(str(colour.rgb)) for colour in rule.colorScale.color if colour.type == "rgb"]
    points = [_point(item, sorted(numbers.values())) for item in rule.colorScale.cfvo]
    if not numbers or len(colours) != len(points) or len(points) < 2:
        return
    for name, number in numbers.items():
        at = next((place for place in range(1, len(points) - 1) if number <= points[place]), len(points) - 1)
        low, high = points[at - 1], points[at]
        share = min(1.0, max(0.0, (number - low) / (high - low))) if high > low else 1.0
        found.fills.setdefault(name, mixed(colours[at - 1], colours[at], share))


def _point(one: Any, numbers: list[float]) -> float:
    if not numbers:
        return 0.0
    low, high = numbers[0], numbers[-1]
    match one.type:
        case "min":
            return low
        case "max":
            return high
        case "percent":
            return low + (high - low) * float(one.val) / 100
        case "percentile":
            place = (len(numbers) - 1) * float(one.val) / 100
            lower = numbers[int(place)]
            return lower + (numbers[min(len(numbers) - 1, int(place) + 1)] - lower) * (place % 1)
    return float(one.val or 0)
