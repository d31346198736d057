"""Conditional formats, from the plain objects clients send to openpyxl's rules.

The parameters have the names of openpyxl's rule functions, as in the public server. Each is looked at here:
an unknown name, colour or operator is refused, what is left out gets the value Excel proposes.
"""

from collections.abc import Callable, Mapping
from typing import Any

from openpyxl.formatting import rule as rules
from openpyxl.formatting.rule import Rule
from openpyxl.styles import Font, PatternFill

from m3bench.sandboxes.servers.excel import formulas
from m3bench.sandboxes.servers.excel.colors import opaque
from m3bench.tasks.errors import ToolError

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


def condition(wanted: Mapping[str, Any]) -> Rule:
    """The rule that `{type, params}` describes."""
    kind, params = wanted.get("type"), wanted.get("params", {})
    if not kind:
        raise _refusal("Conditional format type not specified")
    if not isinstance(kind, str) or kind not in _MAKERS:
        raise _refusal(f"Invalid conditional format type: {kind!s:.60}")
    if not isinstance(params, dict):
        raise _failure("params must be an object")
    maker, known = _MAKERS[kind]
    for name in params:
        if name not in known:
            raise _failure(f"unknown parameter {name!r:.60} (use {', '.join(known)})")
    return maker(params)


def _color_scale(params: dict[str, Any]) -> Rule:
    filled = {"start_type": "min", "start_color": "F8696B", "end_type": "max", "end_color": "63BE7B", **params}
    if filled.get("mid_type") or filled.get("mid_color"):
        filled = {"mid_type": "percentile", "mid_value": 50, "mid_color": "FFEB84", **filled}
    for end in ("start", "mid", "end"):
        if f"{end}_type" in filled:
            _check_point(filled[f"{end}_type"], filled.get(f"{end}_value"))
            filled[f"{end}_color"] = _color(filled[f"{end}_color"])
    return _made(rules.ColorScaleRule, filled)


def _data_bar(params: dict[str, Any]) -> Rule:
    filled = {"start_type": "min", "end_type": "max", "color": "638EC6", **params}
    for end in ("start", "end"):
        _check_point(filled[f"{end}_type"], filled.get(f"{end}_value"))
    for field in ("minLength", "maxLength"):
        length = filled.get(field, 0)
        if not isinstance(length, int) or not 0 <= length <= 100:
            raise _failure(f"{field} is a percentage from 0 to 100")
    filled["color"] = _color(filled["color"])
    return _made(rules.DataBarRule, filled)


def _icon_set(params: dict[str, Any]) -> Rule:
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


def _formula(params: dict[str, Any]) -> Rule:
    formula = _formulas(params.get("formula"), 1)
    return _made(rules.FormulaRule, {"formula": formula, "stopIfTrue": params.get("stopIfTrue"), **_look(params)})


def _cell_is(params: dict[str, Any]) -> Rule:
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
    return texts


def _look(params: dict[str, Any]) -> dict[str, Any]:
    """Fill and font of cells that meet the condition; a light red fill when neither is asked for."""
    fill, font = params.get("fill"), params.get("font")
    look: dict[str, Any] = {}
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
    return _refusal(f"Failed to apply conditional formatting: {problem}")


def _refusal(problem: str) -> ToolError:
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
