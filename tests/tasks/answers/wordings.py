"""Ways to hand in one value: right ones as people and models write them, and wrong ones that look much like them.

Every way is a rule over a typed value, so that it can be applied to every field of every set. The rules are written
from what people write, not from what the comparison does. Here are those for several values and for whole answers.
"""

from collections.abc import Callable, Iterator, Sequence
from random import Random

from m3bench.tasks.answers.base import AnswerContext, Value
from m3bench.tasks.answers.codes import Code, Phone, Version
from m3bench.tasks.answers.dates import Date, Time
from m3bench.tasks.answers.fields import Field
from m3bench.tasks.answers.groups import Items, Table
from m3bench.tasks.answers.names import Choice, Name, YesNo
from m3bench.tasks.answers.places import NumberPair
from m3bench.tasks.answers.quantity import Integer, Money, Number
from m3bench.tasks.answers.texts import Text
from tests.tasks.answers import wordings_codes as codes
from tests.tasks.answers import wordings_names as names
from tests.tasks.answers import wordings_numbers as numbers
from tests.tasks.answers.wordings_base import Way


def right_ways(value: Value, rng: Random) -> list[Way]:
    """Right hand-ins of a value."""
    return [way for way in _ways_of(value, rng, _RIGHT) if way[1] is not None]


def wrong_ways(value: Value, rng: Random) -> list[Way]:
    """Wrong hand-ins of a value."""
    return [way for way in _ways_of(value, rng, _WRONG) if way[1] is not None]


def _ways_of(value: Value, rng: Random, rules: dict[type, Callable[..., Iterator[Way]]]) -> list[Way]:
    rule = rules.get(type(value))
    return list(rule(value, rng)) if rule else []


def _right_items(value: Items, rng: Random) -> Iterator[Way]:
    said = [item.said() for item in value.items]
    if not said or any(not hasattr(item, "said") or item.kind == "file" for item in value.items):
        return
    mixed = said if value.ordered else rng.sample(said, len(said))
    yield "json", mixed
    yield "bullets", "\n".join(f"- {one}" for one in mixed)
    yield "stars", "\n".join(f"* **{one}**" for one in mixed)
    yield "numbers", "\n".join(f"{number}. {one}" for number, one in enumerate(mixed, 1))
    yield "letters", "\n".join(f"{'abcdefghijklmnop'[number % 16]}) {one}" for number, one in enumerate(mixed))
    yield (
        "letters in brackets",
        "\n".join(f"({'abcdefghijklmnop'[number % 16]}) {one}" for number, one in enumerate(mixed)),
    )
    yield (
        "letters in a line",
        " ".join(f"({'abcdefghijklmnop'[number % 16]}) {one}" for number, one in enumerate(mixed)),
    )
    yield "semicolons", "; ".join(mixed)
    yield "json text", str(mixed).replace("'", '"') if not any("'" in one or '"' in one for one in mixed) else None
    yield "table", "| item |\n|---|\n" + "\n".join(f"| {one} |" for one in mixed)
    yield "lines", "\n".join(mixed)
    yield "pluses", " + ".join(mixed) if not any(sign in one for one in mixed for sign in "+&") else None
    if not any("," in one or " and " in one for one in mixed):
        yield "commas", ", ".join(mixed)
        yield "and", f"{', '.join(mixed[:-1])} and {mixed[-1]}" if len(mixed) > 1 else mixed[0]
        yield "oxford", f"{', '.join(mixed[:-1])}, and {mixed[-1]}" if len(mixed) > 2 else None
        yield "ampersand", f"{', '.join(mixed[:-1])} & {mixed[-1]}" if len(mixed) > 1 else None
        yield "they are", f"They are {', '.join(mixed[:-1])} and {mixed[-1]}." if len(mixed) > 1 else None
        yield "count", f"{len(mixed)} in all: {', '.join(mixed)}"
        yield "count", f"{numbers.spelled(len(mixed))}: {', '.join(mixed)}"
        yield "bold", ", ".join(f"**{one}**" for one in mixed)
    yield "objects", [{"name": one} for one in mixed]
    if value.ordered:
        yield "arrows", " → ".join(mixed)
        yield "arrows", " -> ".join(mixed)
        yield "arrows", " ⇒ ".join(mixed)
        yield "then", ", then ".join(mixed)
        yield "ordinals", "; ".join(f"{codes.ordinal(number)}: {one}" for number, one in enumerate(mixed, 1))
        yield "prose", f"First {mixed[0]}, " + ", ".join(f"then {one}" for one in mixed[1:])


def _wrong_items(value: Items, rng: Random) -> Iterator[Way]:
    said = [item.said() for item in value.items]
    if not said or any(item.kind == "file" for item in value.items):
        return
    others = [
        other for item in value.items if isinstance(item, Name) for other in item.others
        if not any(names.alike(other, (one.value, *one.aliases)) for one in value.items if isinstance(one, Name))
    ]  # fmt: skip
    extra = rng.choice(others) if others else "Atlantis"
    yield "one more", [*said, extra]
    yield "one more", "\n".join(f"- {one}" for one in (*said, extra))
    yield "one more, in prose", f"{'; '.join(said)}; also {extra}"
    yield "one replaced", [*said[:-1], extra]
    yield "empty", []
    yield "hedged", f"{'; '.join(said)}, and maybe {extra}"
    if len(said) > 1:
        yield "one missing", said[:-1]
        yield "one missing", "; ".join(said[1:])
        yield "one missing", "\n".join(f"{number}. {one}" for number, one in enumerate(said[1:], 1))
        yield "all but", f"{'; '.join(said[:-1])}, but not {said[-1]}"
        yield "or", " or ".join(said)
    else:
        yield "negated", f"not {said[0]}"
    if value.ordered and len(said) > 1 and said != said[::-1]:
        yield "backwards", said[::-1]
        yield "backwards", " → ".join(said[::-1])
        yield "backwards arrows", " ← ".join(said)
        yield "backwards, then", ", then ".join(said[::-1])
        yield "two turned", [said[1], said[0], *said[2:]]


def _cell(value: Value) -> str:
    return value.said()


def _right_table(value: Table, rng: Random) -> Iterator[Way]:
    rows = [[_cell(cell) for cell in row] for row in value.rows]
    rows = rng.sample(rows, len(rows))
    names = [name.replace("_", " ") for name in value.columns]
    given = value.given()
    assert isinstance(given, list)
    yield "json", rng.sample(given, len(given))
    yield "lists", rows
    yield (
        "markdown",
        "\n".join([f"| {' | '.join(names)} |", "|" + "---|" * len(names), *(f"| {' | '.join(row)} |" for row in rows)]),
    )
    yield "markdown with numbers", "\n".join(
        [f"| # | {' | '.join(names)} |", "|" + "---|" * (len(names) + 1),
         *(f"| {number} | {' | '.join(row)} |" for number, row in enumerate(rows, 1))]
    )  # fmt: skip
    yield "markdown bold", "\n".join(
        [f"| {' | '.join(map(str.capitalize, names))} |", "|" + ":--|" * len(names),
         *(f"| **{row[0]}** | {' | '.join(row[1:])} |" for row in rows)]
    )  # fmt: skip
    if not any(";" in cell or "|" in cell or "\n" in cell for row in rows for cell in row):
        yield "colons", "\n".join(f"- {row[0]}: {'; '.join(row[1:])}" for row in rows)
        yield (
            "letters",
            "\n".join(
                f"{'abcdefghijkl'[number % 12]}) {row[0]}: {'; '.join(row[1:])}" for number, row in enumerate(rows)
            ),
        )
        yield "arrows", "\n".join(f"{row[0]} → {' → '.join(row[1:])}" for row in rows)
        yield "dashes", "\n".join(f"{row[0]} – {' – '.join(row[1:])}" for row in rows)
        yield (
            "labelled",
            "\n".join(
                f"{row[0]} ({', '.join(f'{name}: {cell}' for name, cell in zip(names[1:], row[1:], strict=True))})"
                for row in rows
            ),
        )
        yield (
            "blocks",
            "\n\n".join("\n".join(f"{name}: {cell}" for name, cell in zip(names, row, strict=True)) for row in rows),
        )
        yield "tabs", "\n".join("\t".join(row) for row in rows)
        yield "semicolon csv", "\n".join([";".join(names), *(";".join(row) for row in rows)])
    if len(names) == 2:
        yield "object", {row[0]: row[1] for row in rows}
    else:
        yield "object", {row[0]: dict(zip(value.columns[1:], row[1:], strict=True)) for row in rows}


def _wrong_table(value: Table, rng: Random) -> Iterator[Way]:
    rows = [[_cell(cell) for cell in row] for row in value.rows]
    if len(rows) > 1:
        yield "row missing", rows[1:]
        yield "row missing", [dict(zip(value.columns, row, strict=True)) for row in rows[:-1]]
        for column in range(1, len(value.columns)):
            cells = [row[column] for row in rows]
            if any(
                value.rows[index][column].problem(cell, _NOWHERE) for index, cell in enumerate([*cells[1:], cells[0]])
            ):
                turned = [[*row[:column], cell, *row[column + 1 :]]
                          for row, cell in zip(rows, [*cells[1:], cells[0]], strict=True)]  # fmt: skip
                yield "column turned", turned
                yield "column turned", "\n".join(f"| {' | '.join(row)} |" for row in turned)
                yield "column turned", "\n".join(f"{row[0]}: {'; '.join(row[1:])}" for row in turned)
    yield "row more", [*rows, ["Atlantis", *rows[0][1:]]]
    for column in range(1, len(value.columns)):
        ways = wrong_ways(value.rows[0][column], rng)
        for rule, given in rng.sample(ways, min(3, len(ways))):
            if isinstance(given, str | int | float):
                yield f"cell, {rule}", [[*rows[0][:column], given, *rows[0][column + 1 :]], *rows[1:]]


_NOWHERE = AnswerContext()

_RIGHT: dict[type, Callable[..., Iterator[Way]]] = {
    Name: names.right_name,
    Choice: names.right_choice,
    YesNo: names.right_yes_no,
    Text: names.right_text,
    Number: numbers.right_number,
    Integer: numbers.right_number,
    Money: numbers.right_number,
    NumberPair: numbers.right_pair,
    Date: codes.right_date,
    Time: codes.right_time,
    Code: codes.right_code,
    Version: codes.right_version,
    Phone: codes.right_phone,
    Items: _right_items,
    Table: _right_table,
}
_WRONG: dict[type, Callable[..., Iterator[Way]]] = {
    Name: names.wrong_name,
    Choice: names.wrong_choice,
    YesNo: names.wrong_yes_no,
    Text: names.wrong_text,
    Number: numbers.wrong_number,
    Integer: numbers.wrong_number,
    Money: numbers.wrong_number,
    NumberPair: numbers.wrong_pair,
    Date: codes.wrong_date,
    Time: codes.wrong_time,
    Code: codes.wrong_code,
    Version: codes.wrong_version,
    Phone: codes.wrong_phone,
    Items: _wrong_items,
    Table: _wrong_table,
}


def prose_ways(fields: Sequence[Field]) -> Iterator[tuple[str, str, bool]]:
    """Whole answers in prose: the rule, the text, and whether it is right."""
    said = [(field.name.replace("_", " "), field.value.said()) for field in fields]
    letters = "abcdefghijklmnopqrstuvwxyz"
    yield "arrows", "\n".join(f"{name} → {value}" for name, value in said), True
    yield "typed arrows", "\n".join(f"- {name.capitalize()} -> {value}" for name, value in said), True
    lines = [f"{name.capitalize()}: {value}" for name, value in said]
    yield "letters", "\n".join(f"{letter}) {line}" for letter, line in zip(letters, lines, strict=False)), True
    yield "bold labels", "\n".join(f"* **{name.capitalize()}:** {value}" for name, value in said), True
    yield "dashes", "\n".join(f"**{name.capitalize()}** – {value}" for name, value in said), True
    yield "headings", "\n\n".join(f"### {name.capitalize()}\n{value}" for name, value in said), True
    if not any("\n" in value or "|" in value for _, value in said):
        rows = [f"| **{name}** | {value} |" for name, value in said]
        yield "table", "\n".join(["| Field | Value |", "|---|---|", *rows]), True
        numbered = [f"| {number} {row}" for number, row in enumerate(rows, 1)]
        yield "numbered table", "\n".join(["| # | Field | Value |", "|---|---|---|", *numbered]), True
    name = said[-1][0]
    right = "\n".join(lines)
    other = "\n".join([*lines[:-1], f"{name}: Atlantis 999"])
    yield "corrected", f"{other}\nCorrection: {lines[-1]}", True
    yield "corrected to a wrong one", f"{right}\n\nCorrection: {name} is Atlantis 999.", False
    yield "corrected without a label", f"{right}\nCorrection: Atlantis 999", False
    yield "left out", "\n".join(lines[:-1]), False
    yield "negated", "\n".join([*lines[:-1], f"The {name} is not {said[-1][1]}."]), False
