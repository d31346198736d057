"""Tables and lists as people and models write them into a chat: every right one counts, none with a fault in it."""

from collections.abc import Callable, Iterator

import pytest

from m3bench.tasks.answers.base import JSON, AnswerContext
from m3bench.tasks.answers.groups import Items, Table
from m3bench.tasks.answers.names import Name
from m3bench.tasks.answers.quantity import Number
from m3bench.tasks.library import Library

Rows = list[list[str]]
Written = Callable[[Rows], Iterator[JSON]]

AIR = [["City Palace, Udaipur", "49"], ["Ribeira", "75"], ["The Dance Class", "61"]]
HOTELS = [
    ["City Palace, Udaipur", "Hotel Lake Side", "12.5"],
    ["Ribeira", "Casa do Cais", "4"],
    ["The Dance Class", "The Grand Hotel", "31"],
]


def table(rows: Rows, columns: tuple[str, ...]) -> Table:
    return Table(
        columns=columns,
        rows=tuple((*(Name(value=text) for text in row[:-1]), Number(value=float(row[-1]), unit="")) for row in rows),
    )


def in_two_columns(rows: Rows) -> Iterator[JSON]:
    yield ", ".join(f"{one} ({other})" for one, other in rows)
    yield ", ".join(f"{one}: {other}" for one, other in rows)
    yield ", ".join(f"{one} = {other}" for one, other in rows)
    yield " and ".join(f"{one} with {other}" for one, other in rows)
    yield "\n\n".join(f"{number}. **{one}** – {other}" for number, (one, other) in enumerate(rows, 1))
    yield "\n".join(f"- **{one}**\n  - Air: {other}" for one, other in rows)
    yield "\n".join(f"Place: {one}, air: {other}" for one, other in rows)
    yield [f"{one}: {other}" for one, other in rows]


def in_more_columns(rows: Rows) -> Iterator[JSON]:
    names = ("Place", "Hotel name", "Walk")
    yield "\n".join(" – ".join(row) for row in rows)
    yield "; ".join(f"{row[0]} ({', '.join(row[1:])})" for row in rows)
    yield "\n".join(f"**{row[0]}** → {row[1]} ({row[2]})" for row in rows)
    yield "\n".join(f"- {row[0]}: hotel_name: {row[1]}; walk: {row[2]}" for row in rows)
    yield "\n\n".join(
        f"{number}. **{row[0]}**\n   - Walk: {row[2]}\n   - Hotel name: {row[1]}" for number, row in enumerate(rows, 1)
    )
    yield "\n".join("\n".join(f"{name}: {cell}" for name, cell in zip(names, row, strict=True)) for row in rows)
    yield {row[0]: f"{row[1]}, walk {row[2]}" for row in rows}


def faults(rows: Rows) -> Iterator[Rows]:
    """The same with a row less or more, two values changed over, another name, a row twice with two values."""
    other = next(name for name in ("Eiffel Tower", "Giant's Causeway") if name not in {row[0] for row in rows})
    yield rows[:-1]
    yield [*rows, [other, *rows[0][1:]]]
    yield [[other, *rows[0][1:]], *rows]
    yield [[*rows[0][:-1], rows[1][-1]], [*rows[1][:-1], rows[0][-1]], *rows[2:]]
    yield [[other, *rows[0][1:]], *rows[1:]]
    yield [*rows, [*rows[0][:-1], "17"]]


CASES = [
    pytest.param(AIR, ("place", "air"), in_two_columns, id="two columns"),
    pytest.param(HOTELS, ("place", "hotel_name", "walk"), in_more_columns, id="three columns"),
]


@pytest.mark.parametrize(("rows", "columns", "written"), CASES)
def test_a_right_table_counts_however_its_rows_are_told_apart(
    rows: Rows, columns: tuple[str, ...], written: Written
) -> None:
    wanted = table(rows, columns)
    for text in written(rows):
        assert wanted.problem(text, AnswerContext()) is None, text


@pytest.mark.parametrize(("rows", "columns", "written"), CASES)
def test_no_way_of_writing_hides_a_fault(rows: Rows, columns: tuple[str, ...], written: Written) -> None:
    wanted = table(rows, columns)
    for wrong in faults(rows):
        for text in written(wrong):
            if isinstance(text, dict) and len(text) < len(wrong):
                continue  # an object has no key twice
            assert wanted.problem(text, AnswerContext()), text


@pytest.mark.parametrize("more", ["\n- **Big Ben**: 72", ", Big Ben (72)", "; Big Ben 72", " and Big Ben at 72"])
def test_a_further_row_with_the_value_of_the_last_one_is_a_row_too_many(more: str) -> None:
    rows = [["Dom Tower", "78"], ["Nyhavn", "75"], ["Eiffel Tower", "72"]]
    for text in in_two_columns(rows):
        if isinstance(text, str):
            assert table(rows, ("place", "air")).problem(text.rstrip(".") + more, AnswerContext()), text


TITLES = ("Distributed Representations of Words and Phrases", "Salt, Fat, Acid, Heat", "Emma")


@pytest.mark.parametrize("ordered", [False, True])
def test_items_may_have_commas_and_the_word_and_in_their_names(ordered: bool) -> None:
    wanted = Items(ordered=ordered, items=tuple(Name(value=title) for title in TITLES))
    for text in (", ".join(TITLES), f"{TITLES[0]}, {TITLES[1]} and {TITLES[2]}", "\n".join(f"- *{t}*" for t in TITLES)):
        assert wanted.problem(text, AnswerContext()) is None
        assert wanted.problem(f"{text}, Persuasion", AnswerContext())
        assert wanted.problem(f"probably {text}", AnswerContext())
    turned = ", ".join(reversed(TITLES))
    assert bool(wanted.problem(turned, AnswerContext())) == ordered


@pytest.mark.slow
@pytest.mark.parametrize("family", sorted({task.family for task in Library().tasks.values()}))
def test_every_bundled_table_is_read_in_every_way_and_never_with_a_fault(family: str) -> None:
    for task in Library().tasks.values():
        for field in task.fields:
            if task.family != family or not isinstance(field.value, Table):
                continue
            rows = [[cell.said() for cell in row] for row in field.value.rows]
            asked = AnswerContext(words=f"{field.name} {field.meaning}")
            for text in ways(field.value)(rows):
                assert field.value.problem(text, asked) is None, text
            for wrong in list(faults(rows))[:3] if len(rows) > 1 else ():
                for text in ways(field.value)(wrong):
                    assert field.value.problem(text, asked), text


def ways(value: Table) -> Written:
    """What a table of any number of columns is written like."""
    names = [name.replace("_", " ").capitalize() for name in value.columns]

    def written(rows: Rows) -> Iterator[JSON]:
        yield "\n".join(" – ".join(row) for row in rows)
        yield "\n".join(f"- **{row[0]}**: {', '.join(row[1:])}" for row in rows)
        yield "; ".join(f"{row[0]} ({', '.join(row[1:])})" for row in rows)
        yield "\n".join(
            f"- **{row[0]}**\n"
            + "\n".join(f"  - {name}: {cell}" for name, cell in zip(names[1:], row[1:], strict=True))
            for row in rows
        )

    return written
