"""Tables in a narrow terminal: numbers are never shortened."""

import io
import sys

import pytest

from m3bench.server.commands.screen import FittingConsole, FittingMarkdown, console, number_table, plain_table

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
    FittingConsole(file=file, width=width, highlight=False, emoji=False, markup=False).print(table)
    lines = file.getvalue().splitlines()
    assert max(map(len, lines)) <= width
    assert "…" not in file.getvalue()
    for value in VALUES[2:]:
        assert sum(value in line.split() or value in line for line in lines) >= 2, value
    assert (len(lines) > 8) is (width < 100), "a table stays a table where there is room"


LONG = "comparison_of_the_opening_hours_of_all_museums_within_walking_distance-1"
CALL = "`amazon/search_products(keywords=television, n=1, amazon_domain=amazon.co.uk)`"


@pytest.mark.parametrize("width", [40, 60, 80, 120])
def test_no_word_of_a_name_or_a_card_is_lost_at_any_width(width: int) -> None:
    table = plain_table("run", "task", "average", right=("average",))
    table.add_row("3f2a90bc1122", LONG, "1.000")
    card = FittingMarkdown(
        f"| step | reference | what was done | |\n|---|---|---|---|\n| 1 | {CALL} | {CALL} | ✗ missed |"
    )
    file = io.StringIO()
    screen = FittingConsole(file=file, width=width, highlight=False, emoji=False, markup=False)
    screen.print(table)
    screen.print(card)
    printed = file.getvalue()
    assert max(map(len, printed.splitlines())) <= width
    assert "…" not in printed
    assert LONG in "".join(printed.split())
    for word in ("reference", "missed", *([] if width < 60 else ["amazon/search_products(keywords=television,"])):
        assert word in printed


def test_what_is_no_terminal_has_one_whole_row_in_one_line(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys.stdout, "isatty", lambda: False, raising=False)
    table = plain_table("task", "family", "set")
    table.add_row(LONG, "survey", LONG)
    console().print(table)
    assert capsys.readouterr().out.splitlines()[1].split() == [LONG, "survey", LONG]
