"""How ranges look: fonts, fills, borders, number formats, alignment, protection, conditional formats.

What is not asked for stays as it was; the public server resets the font with every call. Colours are RRGGBB, with or
without # and an alpha byte.

The parameters of a conditional format have the names of openpyxl's rule functions, as in the public server. Each is
checked here: an unknown name, colour or operator is refused, and what is left out gets the value Excel proposes.
"""

import re
from collections.abc import Callable, Mapping
from copy import copy
from typing import Any

from openpyxl.cell.cell import Cell, MergedCell
from openpyxl.formatting import rule as rules
from openpyxl.formatting.rule import Rule
from openpyxl.styles import Border, Color, Font, PatternFill, Side
from openpyxl.worksheet.worksheet import Worksheet

from m3bench.sandboxes.context import Context
from m3bench.sandboxes.servers.excel import formulas, references
from m3bench.sandboxes.servers.excel.ranges import check_size, merge
from m3bench.sandboxes.servers.excel.values import ILLEGAL, copy_style, style_key
from m3bench.sandboxes.servers.excel.workbook import editing, sheet, tool
from m3bench.tasks.errors import ToolError

_HEX = re.compile(r"#?([0-9A-Fa-f]{6}|[0-9A-Fa-f]{8})")


def opaque(text: object, problem: str) -> str:
    """AARRGGBB as workbooks store it; six digits are fully opaque."""
    match = _HEX.fullmatch(text.strip()) if isinstance(text, str) else None
    if match is None:
        raise ToolError(f"{problem}: {text!s:.60} (use six hex digits such as FF0000)", outcome="invalid_arguments")
    return match[1].upper().rjust(8, "F")


_POINTS = ("min", "max", "num", "percent", "percentile", "formula")
_OPERATORS = {
    ">": "greaterThan",
    ">=": "greaterThanOrEqual",
    "<": "lessThan",
    "<=": "lessThanOrEqual",
    "=": "equal",
    "==": "equal",
    "!=": "notEqual",
}
_WORDS = (*sorted(set(_OPERATORS.values())), "between", "notBetween")
_ICONS = (
    "3Arrows", "3ArrowsGray", "3Flags", "3Signs", "3Symbols", "3Symbols2", "3TrafficLights1", "3TrafficLights2",
    "4Arrows", "4ArrowsGray", "4Rating", "4RedToBlack", "4TrafficLights", "5Arrows", "5ArrowsGray", "5Quarters",
    "5Rating",
)  # fmt: skip
_LIGHT_RED = "FFC7CE"


def condition(wanted: Mapping[str, object]) -> Rule:
    """The rule that `{type, params}` describes."""
    kind, params = wanted.get("type"), wanted.get("params", {})
    if not kind:
        raise _condition_refusal("Conditional format type not specified")
    if not isinstance(kind, str) or kind not in _MAKERS:
        raise _condition_refusal(f"Invalid conditional format type: {kind!s:.60}")
    if not isinstance(params, dict):
        raise _failure("params must be an object")
    maker, known = _MAKERS[kind]
    for name in params:
        if name not in known:
            raise _failure(f"unknown parameter {name!r:.60} (use {', '.join(known)})")
    return maker(params)


def _color_scale(params: dict[str, object]) -> Rule:
    filled = {"start_type": "min", "start_color": "F8696B", "end_type": "max", "end_color": "63BE7B", **params}
    if filled.get("mid_type") or filled.get("mid_color"):
        filled = {"mid_type": "percentile", "mid_value": 50, "mid_color": "FFEB84", **filled}
    for end in ("start", "mid", "end"):
        if f"{end}_type" in filled:
            _check_point(filled[f"{end}_type"], filled.get(f"{end}_value"))
            filled[f"{end}_color"] = _color(filled[f"{end}_color"])
    return _made(rules.ColorScaleRule, filled)


def _data_bar(params: dict[str, object]) -> Rule:
    filled = {"start_type": "min", "end_type": "max", "color": "638EC6", **params}
    for end in ("start", "end"):
        _check_point(filled[f"{end}_type"], filled.get(f"{end}_value"))
    for field in ("minLength", "maxLength"):
        length = filled.get(field, 0)
        if not isinstance(length, int) or not 0 <= length <= 100:
            raise _failure(f"{field} is a percentage from 0 to 100")
    filled["color"] = _color(filled["color"])
    return _made(rules.DataBarRule, filled)


def _icon_set(params: dict[str, object]) -> Rule:
    style = params.get("icon_style", "3TrafficLights1")
    if style not in _ICONS:
        raise _failure(f"unknown icon_style {style!r:.60} (use one of {', '.join(_ICONS)})")
    count = int(style[0])
    filled = {"type": "percent", "values": [round(100 * step / count) for step in range(count)], **params}
    if not isinstance(filled["values"], list) or len(filled["values"]) != count:
        raise _failure(f"{style} needs {count} values")
    for value in filled["values"]:
        _check_point(filled["type"], value)
    return _made(rules.IconSetRule, {**filled, "icon_style": style})


def _formula(params: dict[str, object]) -> Rule:
    formula = _formulas(params.get("formula"), 1)
    return _made(rules.FormulaRule, {"formula": formula, "stopIfTrue": params.get("stopIfTrue"), **_look(params)})


def _cell_is(params: dict[str, object]) -> Rule:
    operator = _OPERATORS.get(str(params.get("operator")), params.get("operator"))
    if operator not in _WORDS:
        raise _failure(f"unknown operator {operator!r:.60} (use one of {', '.join([*_OPERATORS, *_WORDS])})")
    formula = _formulas(params.get("formula"), 2 if operator in ("between", "notBetween") else 1)
    filled = {"operator": operator, "formula": formula, "stopIfTrue": params.get("stopIfTrue"), **_look(params)}
    return _made(rules.CellIsRule, filled)


def _made(maker: Callable[..., Any], params: dict[str, Any]) -> Rule:
    for name in ("showValue", "percent", "reverse", "stopIfTrue"):
        if not isinstance(params.get(name, False), bool | None):
            raise _failure(f"{name} must be true or false")
    made = maker(**params)
    assert isinstance(made, Rule)
    return made


def _formulas(given: object, count: int) -> list[str]:
    """Formulas without their equals sign, as rules hold them."""
    found = given if isinstance(given, list) else [given]
    if len(found) != count or not all(isinstance(item, str | int | float) for item in found):
        raise _failure(f"formula must be a list of {count} formula(s) or number(s)")
    texts = [str(item).removeprefix("=") for item in found]
    for text in texts:
        formulas.check("=" + text)
    return [formulas.stored("=" + text).removeprefix("=") for text in texts]


def _look(params: dict[str, object]) -> dict[str, object]:
    """Fill and font of cells that meet the condition; a light red fill when neither is asked for."""
    fill, font = params.get("fill"), params.get("font")
    look: dict[str, object] = {}
    if fill is not None or font is None:
        named = fill.get("fgColor") or fill.get("bgColor") or _LIGHT_RED if isinstance(fill, dict) else fill
        color = _color(named or _LIGHT_RED)
        look["fill"] = PatternFill(fill_type="solid", start_color=color, end_color=color)
    if font is not None:
        if not isinstance(font, dict) or not set(font) <= {"bold", "italic", "color"}:
            raise _failure("font is an object with bold, italic and color")
        letters = _color(font["color"]) if font.get("color") else None
        look["font"] = Font(bold=bool(font.get("bold")), italic=bool(font.get("italic")), color=letters)
    return look


def _check_point(kind: object, value: object) -> None:
    if kind not in _POINTS:
        raise _failure(f"unknown type {kind!r:.60} (use one of {', '.join(_POINTS)})")
    if kind in ("num", "percent", "percentile") and (isinstance(value, bool) or not isinstance(value, int | float)):
        raise _failure(f"type {kind} needs a number as value")
    if kind == "formula":
        formulas.check("=" + str(value).removeprefix("="))


def _color(text: object) -> str:
    return opaque(text, "Failed to apply conditional formatting: invalid color")


def _failure(problem: str) -> ToolError:
    return _condition_refusal(f"Failed to apply conditional formatting: {problem}")


def _condition_refusal(problem: str) -> ToolError:
    return ToolError(problem, outcome="invalid_arguments")


_MAKERS: Mapping[str, tuple[Callable[[dict[str, Any]], Rule], tuple[str, ...]]] = {
    "color_scale": (
        _color_scale,
        tuple(f"{end}_{field}" for end in ("start", "mid", "end") for field in ("type", "value", "color")),
    ),
    "data_bar": (
        _data_bar,
        ("start_type", "start_value", "end_type", "end_value", "color", "showValue", "minLength", "maxLength"),
    ),
    "icon_set": (_icon_set, ("icon_style", "type", "values", "showValue", "percent", "reverse")),
    "formula": (_formula, ("formula", "fill", "font", "stopIfTrue")),
    "cell_is": (_cell_is, ("operator", "formula", "fill", "font", "stopIfTrue")),
}


BORDERS = (
    "thin", "medium", "thick", "double", "dashed", "dotted", "hair", "dashDot", "dashDotDot", "mediumDashed",
    "mediumDashDot", "mediumDashDotDot", "slantDashDot",
)  # fmt: skip
ALIGNMENTS = ("left", "center", "right", "justify", "general", "fill", "centerContinuous", "distributed")
MAX_FONT_SIZE = 409
MAX_NUMBER_FORMAT = 255

_Style = Callable[[Cell | MergedCell], None]


@tool
def format_range(
    filepath: str,
    sheet_name: str,
    start_cell: str,
    context: Context,
    end_cell: str | None = None,
    bold: bool = False,
    italic: bool = False,
    underline: bool = False,
    font_size: int | None = None,
    font_color: str | None = None,
    bg_color: str | None = None,
    border_style: str | None = None,
    border_color: str | None = None,
    number_format: str | None = None,
    alignment: str | None = None,
    wrap_text: bool = False,
    merge_cells: bool = False,
    protection: dict[str, object] | None = None,
    conditional_format: dict[str, object] | None = None,
) -> str:
    references.cell(start_cell.partition(":")[0], "Invalid start cell reference")
    if end_cell:
        references.cell(end_cell, "Invalid end cell reference")
    area = references.area(start_cell, end_cell, "Invalid cell range")
    check_size(area)
    styles = [
        *_font(bold, italic, underline, font_size, font_color),
        *_fill(bg_color),
        *_border(border_style, border_color),
        *_number_format(number_format),
        *_alignment(alignment, wrap_text),
        *_protection(protection),
    ]
    rule = condition(conditional_format) if conditional_format is not None else None
    with editing(context, filepath) as book:
        worksheet = sheet(book, sheet_name)
        if styles:
            _apply(worksheet, area, styles)
        if merge_cells and area.size > 1:
            merge(worksheet, area)
        if rule is not None:
            worksheet.conditional_formatting.add(area.text, rule)
    return "Range formatted successfully"


def _apply(worksheet: Worksheet, area: references.Area, styles: list[_Style]) -> None:
    # Styling a cell is slow, copying a style is not: one cell of each old style is enough.
    made: dict[bytes, Cell | MergedCell] = {}
    for row, column in area.cells:
        cell = worksheet.cell(row, column)
        old = style_key(cell)
        if old in made:
            copy_style(made[old], cell)
            continue
        for style in styles:
            style(cell)
        made[old] = cell


def _font(bold: bool, italic: bool, underline: bool, size: int | None, color: str | None) -> list[_Style]:
    changes: dict[str, object] = {}
    if bold:
        changes["b"] = True
    if italic:
        changes["i"] = True
    if underline:
        changes["u"] = "single"
    if size is not None:
        if not 1 <= size <= MAX_FONT_SIZE:
            raise _refusal(f"Invalid font size: {size} (use 1 to {MAX_FONT_SIZE} points)")
        changes["sz"] = size
    if color is not None:
        changes["color"] = Color(rgb=opaque(color, "Invalid font color"))
    return _changed("font", changes)


def _fill(color: str | None) -> list[_Style]:
    if color is None:
        return []
    rgb = Color(rgb=opaque(color, "Invalid background color"))
    return [_setter("fill", PatternFill(fill_type="solid", start_color=rgb, end_color=rgb))]


def _border(style: str | None, color: str | None) -> list[_Style]:
    if style is None and color is None:
        return []
    if style is not None and style not in BORDERS:
        raise _refusal(f"Invalid border settings: {style[:60]} (use one of {', '.join(BORDERS)})")
    rgb = opaque(color, "Invalid border settings") if color is not None else "FF000000"
    side: Any = Side(style=style or "thin", color=Color(rgb=rgb))  # type: ignore[arg-type]
    return [_setter("border", Border(left=side, right=side, top=side, bottom=side))]


def _number_format(text: str | None) -> list[_Style]:
    if text is None:
        return []
    if not text or len(text) > MAX_NUMBER_FORMAT or ILLEGAL.search(text):
        raise _refusal(f"Invalid number format: {text[:60]!r} (use a format such as 0.00, #,##0 or yyyy-mm-dd)")
    return [_setter("number_format", text)]


def _alignment(horizontal: str | None, wrap: bool) -> list[_Style]:
    if horizontal is None and not wrap:
        return []
    if horizontal is not None and horizontal not in ALIGNMENTS:
        raise _refusal(f"Invalid alignment settings: {horizontal[:60]} (use left, center, right or justify)")

    changes: dict[str, object] = {"wrap_text": True} if wrap else {}
    if horizontal is not None:
        changes["horizontal"] = horizontal
    return _changed("alignment", changes)


def _protection(flags: dict[str, object] | None) -> list[_Style]:
    if flags is None:
        return []
    for name, value in flags.items():
        if name not in ("locked", "hidden") or not isinstance(value, bool):
            raise _refusal(f"Invalid protection settings: {name[:60]} (use locked and hidden, each true or false)")
    return _changed("protection", flags)


def _changed(field: str, changes: dict[str, object]) -> list[_Style]:
    """A style that keeps what is there but for the given changes."""

    def style(cell: Cell | MergedCell) -> None:
        new = copy(getattr(cell, field))
        for name, value in changes.items():
            setattr(new, name, value)
        setattr(cell, field, new)

    return [style] if changes else []


def _setter(field: str, value: object) -> _Style:
    return lambda cell: setattr(cell, field, value)


def _refusal(problem: str) -> ToolError:
    return ToolError(problem, outcome="invalid_arguments")
