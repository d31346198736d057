"""A table as data, written as CSV with every digit and as LaTeX rounded for reading.

LaTeX here is the language's own: `tabular` and `\\hline`, no package. Text from outside is escaped; a letter that plain
LaTeX cannot set is written by its number (`U+4E2D`), so that a table always compiles. The CSV has the text as it is,
but for what a spreadsheet would take for a formula.
"""

import csv
import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

from m3bench.server.scoring.words import p_value, printable

Form = Literal["text", "count", "score", "share", "change", "points", "p", "amount", "cost"]
"""How a value is written for reading: as text, a whole number, 0.123, 12.3 %, +0.123, +12.3, a p, 12.3, $0.12."""

Value: TypeAlias = str | int | float | bool | tuple[float, float] | None
"""What a cell holds; two numbers are an interval."""

_SPECIAL = {
    "\\": r"\textbackslash{}", "{": r"\{", "}": r"\}", "$": r"\$", "&": r"\&", "#": r"\#", "%": r"\%", "_": r"\_",
    "^": r"\^{}", "~": r"\~{}", "<": r"$<$", ">": r"$>$", "|": r"$|$", '"': "''", "–": "--", "—": "---", "’": "'",
    "‘": "`", "“": "``", "”": "''", "…": r"\ldots{}", "×": r"$\times$", "±": r"$\pm$", "−": "$-$", "·": r"$\cdot$",
    "→": r"$\to$", "≤": r"$\le$", "≥": r"$\ge$", "[": "{[}", "]": "{]}",
}  # fmt: skip
_LETTERS = frozenset("ÀÁÂÃÄÅÆÇÈÉÊËÌÍÎÏÑÒÓÔÕÖØÙÚÛÜÝßàáâãäåæçèéêëìíîïñòóôõöøùúûüýÿ")
"""What LaTeX sets in its first font without a package."""


_ACROSS = 84
"""Characters of headings side by side, beside the first column."""
_DOWN = 48
"""Lines of one table on a page."""


@dataclass(frozen=True, kw_only=True)
class Column:
    """One column."""

    name: str
    """In CSV; an interval has two columns, `name_low` and `name_high`."""
    heading: str = ""
    """In LaTeX; a column without one is in the CSV alone."""
    form: Form = "text"
    interval: bool = False


@dataclass(frozen=True, kw_only=True)
class PaperTable:
    """A table."""

    name: str
    caption: str
    columns: tuple[Column, ...]
    rows: tuple[tuple[Value, ...], ...]
    narrow: bool = False
    """Whether it has a column for every set: in LaTeX it is then cut into tables that fit a page."""


def short_names(names: Sequence[str], profile: str) -> dict[str, str]:
    """Names for reading: those of a study's cells without the profile and set in which all of them end.

    Others stay as they are: `gpt-4.1` is not `gpt-4`.
    """
    endings = {tuple(name.split(".")[-2:]) for name in names}
    ending = next(iter(endings), ("",))
    if len(endings) > 1 or ending[0] != profile or any(name.count(".") < 2 for name in names):
        return {name: name for name in names}
    return {name: ".".join(name.split(".")[:-2]) for name in names}


def shortened(table: PaperTable, names: Mapping[str, str]) -> PaperTable:
    """The table with other names for sets."""
    return replace(
        table,
        columns=tuple(replace(column, heading=names.get(column.heading, column.heading)) for column in table.columns),
        rows=tuple(
            tuple(names.get(cell, cell) if isinstance(cell, str) else cell for cell in row) for row in table.rows
        ),
    )


def csv_text(table: PaperTable) -> str:
    """The table with every digit, as `--json` has it; an empty cell has no value."""
    text = io.StringIO()
    out = csv.writer(text, lineterminator="\n")
    out.writerow(
        [name for column in table.columns
         for name in ((f"{column.name}_low", f"{column.name}_high") if column.interval else (column.name,))]
    )  # fmt: skip
    for row in table.rows:
        cells: list[object] = []
        for column, value in zip(table.columns, row, strict=True):
            if column.interval:
                cells += value if isinstance(value, tuple) else ("", "")
            else:
                cells.append(safe(value) if isinstance(value, str) else value)
        out.writerow(cells)
    return text.getvalue()


def latex_text(table: PaperTable) -> str:
    """The table for `\\input`, in several where it has too many columns or lines for one."""
    shown = [(place, column) for place, column in enumerate(table.columns) if column.heading]
    first, rest = shown[:1], shown[1:]
    widest = max((len(column.heading) for _, column in rest), default=1)
    size = max(1, _ACROSS // (widest + 2)) if table.narrow else max(1, len(rest))
    parts = [
        (first + rest[at : at + size], table.rows[row : row + _DOWN])
        for at in range(0, max(1, len(rest)), size)
        for row in range(0, max(1, len(table.rows)), _DOWN)
    ]
    return "\n".join(
        _latex(table, columns, rows, number, len(parts)) for number, (columns, rows) in enumerate(parts, 1)
    )


def _latex(
    table: PaperTable, shown: Sequence[tuple[int, Column]], rows: Sequence[tuple[Value, ...]], number: int, of: int
) -> str:
    caption = table.caption if of == 1 else f"{table.caption} Part {number} of {of}."
    lines = [
        "\\begin{table}",
        "\\centering",
        f"\\caption{{{escaped(caption)}}}",
        f"\\label{{tab:m3bench-{table.name}{f'-{number}' if of > 1 else ''}}}",
        "\\footnotesize",
        "\\setlength{\\tabcolsep}{3pt}",
        f"\\begin{{tabular}}{{{''.join('l' if column.form == 'text' else 'r' for _, column in shown)}}}",
        "\\hline",
        _line([escaped(column.heading) for _, column in shown]),
        "\\hline",
        *(_line([escaped(said(row[place], column.form)) for place, column in shown]) for row in rows),
        "\\hline",
        "\\end{tabular}",
        "\\end{table}",
    ]
    return "\n".join(lines) + "\n"


def markdown_text(table: PaperTable) -> str:
    """The table as a page shows it."""
    shown = [(place, column) for place, column in enumerate(table.columns) if column.heading]
    lines = [
        _row([column.heading for _, column in shown]),
        _row(["---" if column.form == "text" else "---:" for _, column in shown]),
        *(_row([said(row[place], column.form) for place, column in shown]) for row in table.rows),
    ]
    return "\n".join(lines) + "\n"


def said(value: Value, form: Form) -> str:
    """A value for reading; what is not there is a dash."""
    if value is None or value == "":
        return "–"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, tuple):
        low, high = (_number(end, form).removesuffix(" %") for end in value)
        return f"{low} – {high}"
    return printable(value) if isinstance(value, str) else _number(value, form)


def _number(value: float, form: Form) -> str:
    match form:
        case "score":
            return f"{value:.3f}"
        case "share":
            return f"{value * 100:.1f} %"
        case "change":
            return f"{value:+.3f}".replace("-", "−")
        case "points":
            return f"{value * 100:+.1f}".replace("-", "−")
        case "p":
            return p_value(value)
        case "amount":
            return f"{value:,.1f}" if value < 100 else f"{value:,.0f}"
        case "cost":
            return f"{value:.4f}" if value < 0.1 else f"{value:,.2f}"
        case "count":
            return f"{value:,.0f}"
    return f"{value:g}"


def escaped(text: str) -> str:
    """Text escaped for LaTeX."""
    return "".join(map(_letter, printable(text)))


def safe(text: str) -> str:
    """Text that a spreadsheet does not take for a formula."""
    return f"'{text}" if text[:1] in ("=", "+", "-", "@", "\t", "\r") else text


def _letter(letter: str) -> str:
    if letter in _SPECIAL:
        return _SPECIAL[letter]
    return letter if " " <= letter <= "~" or letter in _LETTERS else f"U+{ord(letter):04X}"


def _line(cells: Sequence[str]) -> str:
    return f"{' & '.join(cells)} \\\\"


def _row(cells: Sequence[str]) -> str:
    kept = (cell.replace("|", "\\|") for cell in cells)
    return f"| {' | '.join(kept)} |"
