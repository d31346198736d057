"""Formulas as text: are they well formed and harmless, which cells do they name, and how do those names follow?

Nothing is computed: a formula is stored, and the program that opens the file works out its result. What reaches out of
the workbook (web, links, other files, other programs) is refused.

`relink` rewrites everything in a workbook that names cells by text: formulas, defined names, validation rules,
conditional formats and the series of charts. When a sheet is renamed or its rows move, each must follow; openpyxl
leaves them as they were.
"""

import re
from collections.abc import Callable, Collection, Iterator, Sequence
from typing import Any

from openpyxl import Workbook
from openpyxl.formula.tokenizer import Token, Tokenizer, TokenizerError
from openpyxl.utils import quote_sheetname
from openpyxl.worksheet.formula import ArrayFormula
from openpyxl.worksheet.worksheet import Worksheet

from m3bench.sandboxes.context import Context
from m3bench.sandboxes.servers.excel import references, values
from m3bench.sandboxes.servers.excel.references import sheet_and_range
from m3bench.sandboxes.servers.excel.workbook import editing, open_book, sheet, tool
from m3bench.tasks.errors import ToolError

MAX_LENGTH = 8192
"""Characters of a formula, as in Excel."""

UNSAFE = frozenset(
    ["INDIRECT", "HYPERLINK", "WEBSERVICE", "DGET", "RTD", "IMAGE", "DDE", "CALL", "EXEC", "REGISTER", "REGISTER.ID"]
)
"""Functions that hide what they refer to or reach out of the workbook."""

NEWER = frozenset(
    word
    for line in (
        "ACOT ACOTH AGGREGATE ANCHORARRAY ARABIC ARRAYTOTEXT BASE BETA.DIST BETA.INV BINOM.DIST BINOM.DIST.RANGE",
        "BINOM.INV BITAND BITLSHIFT BITOR BITRSHIFT BITXOR BYCOL BYROW CEILING.MATH CEILING.PRECISE CHISQ.DIST",
        "CHISQ.DIST.RT CHISQ.INV CHISQ.INV.RT CHISQ.TEST CHOOSECOLS CHOOSEROWS COMBINA CONCAT CONFIDENCE.NORM",
        "CONFIDENCE.T COT COTH COVARIANCE.P COVARIANCE.S CSC CSCH DAYS DECIMAL DROP ERF.PRECISE ERFC.PRECISE",
        "EXPAND EXPON.DIST F.DIST F.DIST.RT F.INV F.INV.RT F.TEST FILTERXML FLOOR.MATH FLOOR.PRECISE FORECAST.ETS",
        "FORECAST.ETS.CONFINT FORECAST.ETS.SEASONALITY FORECAST.ETS.STAT FORECAST.LINEAR FORMULATEXT GAMMA",
        "GAMMA.DIST GAMMA.INV GAMMALN.PRECISE GAUSS HSTACK HYPGEOM.DIST IFNA IFS IMCOSH IMCOT IMCSC IMCSCH IMSEC",
        "IMSECH IMSINH IMTAN ISFORMULA ISOMITTED ISOWEEKNUM LAMBDA LET LOGNORM.DIST LOGNORM.INV MAKEARRAY MAP",
        "MAXIFS MINIFS MODE.MULT MODE.SNGL MUNIT NEGBINOM.DIST NORM.DIST NORM.INV NORM.S.DIST NORM.S.INV",
        "NUMBERVALUE PDURATION PERCENTILE.EXC PERCENTILE.INC PERCENTRANK.EXC PERCENTRANK.INC PERMUTATIONA PHI",
        "POISSON.DIST QUARTILE.EXC QUARTILE.INC RANDARRAY RANK.AVG RANK.EQ REDUCE RRI SCAN SEC SECH SEQUENCE SHEET",
        "SHEETS SINGLE SKEW.P SORTBY STDEV.P STDEV.S SWITCH T.DIST T.DIST.2T T.DIST.RT T.INV T.INV.2T T.TEST TAKE",
        "TEXTAFTER TEXTBEFORE TEXTJOIN TEXTSPLIT TOCOL TOROW UNICHAR UNICODE UNIQUE VALUETOTEXT VAR.P VAR.S VSTACK",
        "WEIBULL.DIST WRAPCOLS WRAPROWS XLOOKUP XMATCH XOR Z.TEST",
    )
    for word in line.split()
)
"""Functions that came after the file format, which Excel stores with a prefix and shows without it."""
WORKSHEET_ONLY = frozenset(("FILTER", "SORT"))
"""The same with a second prefix."""
_BINDING = ("LET", "LAMBDA")
"""Functions whose first arguments are names."""

_CELL_LIKE = re.compile(r"\$?[A-Z]{1,4}\$?[0-9]+", re.ASCII | re.IGNORECASE)
_LINK = re.compile(r"[^\[]*'[^']*\[|\[[^\]]*\][^\]]*!|\[[0-9]+\]|.*\|")
"""References to other files or programs: `[1]Sheet!A1`, `'[b.xlsx]S'!A1`, `cmd|'x'!A1`."""


@tool
def apply_formula(filepath: str, sheet_name: str, cell: str, formula: str, context: Context) -> str:
    with editing(context, filepath) as book:
        worksheet = sheet(book, sheet_name)
        row, column = references.cell(cell)
        check(formula, defined_names(book))
        values.put(worksheet, row, column, stored(formula))
    return f"Applied formula '{formula}' to cell {cell}"


@tool
def validate_formula_syntax(filepath: str, sheet_name: str, cell: str, formula: str, context: Context) -> str:
    book = open_book(context, filepath)
    worksheet = sheet(book, sheet_name)
    row, column = references.cell(cell)
    check(formula, defined_names(book))
    present = values.text(worksheet.cell(row, column).value)
    if not isinstance(present, str) or not present.startswith("="):
        return "Formula is valid but cell contains no formula"
    if present == values.text(formula):
        return "Formula is valid and matches cell content"
    return "Formula is valid but doesn't match cell content"


def defined_names(book: Workbook) -> set[str]:
    """The names a formula may use in place of cells, in lower case."""
    found = {name.lower() for name in book.defined_names}
    for worksheet in book.worksheets:
        found.update(name.lower() for name in worksheet.defined_names)
        found.update(name.lower() for name in worksheet.tables)
    return found


def check(formula: str, names: Collection[str] = (), where: str = "") -> None:
    """Raise `ToolError` when a formula is not one that Excel would accept.

    Args:
        formula: With its equals sign.
        names: Lower-case names that stand for cells in this workbook.
        where: The cell, for messages about many cells.
    """
    problem = _problem(formula, names)
    if problem:
        place = f" in {where}" if where else ""
        raise ToolError(f"Invalid formula syntax{place}: {problem}", outcome="invalid_arguments")


def stored(formula: str) -> str:
    """The formula as a file holds it: newer functions, and the names that they bind, have a prefix there."""
    tokens = _tokens(formula)
    if isinstance(tokens, str):
        return formula
    bound = _bound(tokens)
    for token in tokens:
        if token.type == Token.FUNC and token.subtype == Token.OPEN:
            name = token.value[:-1].upper()
            if name in NEWER:
                token.value = f"_xlfn.{token.value}"
            elif name in WORKSHEET_ONLY:
                token.value = f"_xlfn._xlws.{token.value}"
            elif name.casefold() in bound:
                token.value = f"_xlpm.{token.value}"
        elif token.type == Token.OPERAND and token.value.casefold() in bound:
            token.value = f"_xlpm.{token.value}"
    return "=" + "".join(token.value for token in tokens)


def _bound(tokens: Sequence[Token]) -> set[str]:
    """The names that LET and LAMBDA bind: operands that stand alone where a name is expected."""
    found: set[str] = set()
    solid = [token for token in tokens if token.type != Token.WSPACE]
    open_calls: list[list[Any]] = []
    for before, token, after in zip([None, *solid], solid, [*solid[1:], None], strict=False):
        if token.subtype == Token.OPEN:
            open_calls.append([token.value[:-1].upper(), 0])
        elif token.subtype == Token.CLOSE and open_calls:
            open_calls.pop()
        elif token.type == Token.SEP and open_calls:
            open_calls[-1][1] += 1
        elif token.subtype == Token.RANGE and open_calls and open_calls[-1][0] in _BINDING and before and after:
            name, position = open_calls[-1]
            begins = before.type == Token.SEP or before.subtype == Token.OPEN
            if begins and after.type == Token.SEP and (name == "LAMBDA" or position % 2 == 0):
                found.add(token.value.casefold())
    return found


def rewrite(formula: str, change: Callable[[str], str]) -> str:
    """The formula with `change` applied to each operand that may name cells; itself when it cannot be read."""
    tokens = _tokens(formula)
    if isinstance(tokens, str):
        return formula
    changed = False
    for token in tokens:
        if token.type == Token.OPERAND and token.subtype == Token.RANGE:
            new = change(token.value)
            changed = changed or new != token.value
            token.value = new
    return "=" + "".join(token.value for token in tokens) if changed else formula


def _problem(formula: str, names: Collection[str]) -> str:
    if not formula.startswith("="):
        return "Formula must start with '='"
    if len(formula) > MAX_LENGTH:
        return f"Formula has {len(formula)} characters, more than the {MAX_LENGTH} allowed"
    if values.ILLEGAL.search(formula):
        return "Formula has control characters"
    tokens = _tokens(formula)
    if isinstance(tokens, str):
        return tokens
    return _unsafe(tokens) or _disorder(tokens) or _wild_reference(tokens, names)


def _tokens(formula: str) -> list[Token] | str:
    """The tokens, or why there are none."""
    try:
        return list(Tokenizer(formula).items)
    except IndexError:
        return "Unmatched closing parenthesis"
    except TokenizerError as error:
        message = str(error)
        for sign, problem in (
            ("parsing string", "Unclosed quotation mark"),
            ("parsing link", "Unclosed apostrophe"),
            ("unmatched '['", "Unclosed square bracket"),
            ("Mismatched", "Mismatched parentheses and braces"),
        ):
            if sign in message:
                return problem
        return "Unexpected character" + "".join(re.findall(r" at position \d+", message)[:1])


def _unsafe(tokens: Sequence[Token]) -> str:
    for token in tokens:
        if token.type == Token.FUNC and token.subtype == Token.OPEN:
            name = re.split(r"[:@!]", token.value[:-1])[-1].upper()
            name = name.removeprefix("_XLFN.").removeprefix("_XLWS.")
            if name in UNSAFE:
                return f"Unsafe function: {name}"
        elif token.type == Token.OPERAND and token.subtype == Token.RANGE and _LINK.match(token.value):
            return f"Unsafe reference: {token.value} (links to other files and programs are not supported)"
    return ""


def _disorder(tokens: Sequence[Token]) -> str:
    """What is wrong with the order of operands, operators and brackets."""
    depth, ready, spaced, joinable = 0, False, False, False
    # ready: an operand stands to the left. joinable: one that a blank may intersect with another.
    for token in tokens:
        if token.type == Token.WSPACE:
            spaced = True
            continue
        operand = token.type == Token.OPERAND
        opening = token.subtype == Token.OPEN
        if operand or opening:
            range_like = token.subtype == Token.RANGE or (opening and token.type == Token.FUNC)
            if ready and not (spaced and joinable and range_like):
                return f"Missing operator before {token.value}"
            depth += opening
            ready, joinable = operand, operand and range_like
        elif token.subtype == Token.CLOSE:
            if not ready and token.type != Token.FUNC:
                return f"Missing value before {token.value}"
            depth -= 1
            ready = joinable = True
        elif token.type == Token.SEP:
            ready = False
        elif token.type != Token.OP_PRE:
            if not ready:
                return f"Missing value before {token.value}"
            ready = token.type == Token.OP_POST
        spaced = False
    if depth:
        return "Unclosed parenthesis"
    return "" if ready else "Formula ends where a value is expected"


def _wild_reference(tokens: Sequence[Token], names: Collection[str]) -> str:
    for token in tokens:
        if token.type != Token.OPERAND or token.subtype != Token.RANGE or token.value.lower() in names:
            continue
        for part in references.sheet_and_range(token.value)[1].split(":"):
            if _CELL_LIKE.fullmatch(part):
                try:
                    references.cell(part)
                except ToolError:
                    return f"Invalid cell reference in formula: {part}"
    return ""


BROKEN = "#REF!"
"""What stands where a reference lost its cells."""

Change = Callable[[str, str], str | None]
"""Takes the name of the sheet and the bare reference (`$A$1`, `B2:C9`, `A:A`, `3:4`); gives the new full
reference without the sheet, or None when the cells are gone."""

_REFERENCE = re.compile(
    r"(?:(?P<sheet>'(?:[^']|'')+'|[^'!\[\]:]+)!)?"
    r"(?P<cells>\$?[A-Z]{1,3}\$?[0-9]{1,7}(?::\$?[A-Z]{1,3}\$?[0-9]{1,7})?"
    r"|\$?[A-Z]{1,3}:\$?[A-Z]{1,3}|\$?[0-9]{1,7}:\$?[0-9]{1,7})",
    re.ASCII | re.IGNORECASE,
)
_SERIES_PARTS = ("tx", "cat", "val", "xVal", "yVal", "bubbleSize")
_SOURCES = ("numRef", "strRef", "multiLvlStrRef")


def relink(book: Workbook, change: Change, renamed: tuple[str, str] | None = None) -> None:
    """Pass every reference of a workbook through `change`, and sheet names through `renamed` (old, new)."""
    for worksheet in book.worksheets:
        home = worksheet.title

        def new(formula: str, home: str = home) -> str:
            return rewrite(formula, lambda operand: _operand(operand, home, change, renamed))

        _cells(worksheet, new)
        _rules(worksheet, new)
        for source in chart_sources(worksheet):
            source.f = new("=" + source.f).removeprefix("=")
        for name in worksheet.defined_names.values():
            name.attr_text = new("=" + name.attr_text).removeprefix("=")
    for name in book.defined_names.values():
        name.attr_text = rewrite(
            "=" + name.attr_text, lambda operand: _operand(operand, "", change, renamed)
        ).removeprefix("=")


def chart_sources(worksheet: Worksheet) -> Iterator[Any]:
    """The places in a sheet's charts that hold a reference in `f`."""
    for chart in worksheet._charts:  # type: ignore[attr-defined]
        for part in chart._charts:
            for series in part.series:
                for name in _SERIES_PARTS:
                    for kind in _SOURCES:
                        source = getattr(getattr(series, name, None), kind, None)
                        if source is not None and source.f:
                            yield source


def _operand(operand: str, home: str, change: Change, renamed: tuple[str, str] | None) -> str:
    match = _REFERENCE.fullmatch(operand)
    if match is None:
        return operand
    prefix, name = match["sheet"], sheet_and_range(operand)[0] or home
    cells = change(name, match["cells"])
    if cells is None or prefix is None:
        return cells or BROKEN
    if renamed is not None and name.casefold() == renamed[0].casefold():
        prefix = quote_sheetname(renamed[1])
    return f"{prefix}!{cells}"


def _cells(worksheet: Worksheet, new: Callable[[str], str]) -> None:
    for cell in worksheet._cells.values():
        if cell.data_type != "f":
            continue
        if isinstance(cell.value, ArrayFormula):
            cell.value.text = new(cell.value.text or "")
        elif isinstance(cell.value, str):
            cell.value = new(cell.value)


def _rules(worksheet: Worksheet, new: Callable[[str], str]) -> None:
    for rule in worksheet.data_validations.dataValidation:
        for field in ("formula1", "formula2"):
            formula = getattr(rule, field)
            if formula:
                setattr(rule, field, new("=" + formula.removeprefix("=")).removeprefix("="))
    for block in worksheet.conditional_formatting:
        for format in block.rules:
            format.formula = [new("=" + formula.removeprefix("=")).removeprefix("=") for formula in format.formula]
