"""Tables in a narrow terminal: numbers are never shortened."""

import io

import pytest

from m3bench.server.commands.screen import Screen, number_table, plain_table

VALUES = ("oracle.standard.bundled", "100.0 %", "0.915–1.000", "1.000", "0.984–1.000", "0.999", "56", "12")
HEADINGS = ("agent", "solved", "95 % interval", "average", "of averages", "paper's metric", "samples", "void")


@pytest.mark.parametrize("width", [40, 60, 80, 120])
@pytest.mark.parametrize("kind", ["plain", "numbers"])
def test_no_number_is_cut_at_any_width(width: int, kind: str) -> None:
    table = plain_table(*HEADINGS, right=HEADINGS[1:]) if kind == "plain" else number_table()
    for heading in HEADINGS if kind == "numbers" else ():
        table.add_column(heading, justify="right")
    table.add_row(*VALUES)
    table.add_row("null", *VALUES[1:])
    file = io.StringIO()
    Screen(file=file, width=width, highlight=False, emoji=False, markup=False).print(table)
    lines = file.getvalue().splitlines()
    assert max(map(len, lines)) <= width
    assert "…" not in file.getvalue()
    for value in VALUES[2:]:
        assert sum(value in line.split() or value in line for line in lines) >= 2, value
    assert (len(lines) > 8) is (width < 100), "a table stays a table where there is room"
