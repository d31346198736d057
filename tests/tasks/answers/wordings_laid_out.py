"""Ways to lay out several values and whole answers: lists, tables and prose as models and interfaces write them."""

import json
from collections.abc import Iterator, Sequence
from random import Random

from m3bench.tasks.answers.base import Value
from m3bench.tasks.answers.fields import Field
from m3bench.tasks.answers.groups import Items, Table
from m3bench.tasks.answers.names import Name
from tests.tasks.answers.wordings_base import Way
from tests.tasks.answers.wordings_names import alike

_ROMAN = ("i", "ii", "iii", "iv", "v", "vi", "vii", "viii", "ix", "x", "xi", "xii")
_CIRCLED = "①②③④⑤⑥⑦⑧⑨⑩⑪⑫"


def right_laid_out(value: Value, rng: Random) -> list[Way]:
    """Right hand-ins of several values."""
    found = _right_list(value, rng) if isinstance(value, Items) else ()
    found = _right_rows(value, rng) if isinstance(value, Table) else found
    return [way for way in found if way[1] is not None]


def wrong_laid_out(value: Value, rng: Random) -> list[Way]:
    """Wrong hand-ins of several values."""
    found = _wrong_list(value) if isinstance(value, Items) else ()
    found = _wrong_rows(value) if isinstance(value, Table) else found
    return [way for way in found if way[1] is not None]


# --- lists ---------------------------------------------------------------------------------------------------------


def _right_list(value: Items, rng: Random) -> Iterator[Way]:
    said = [item.said() for item in value.items]
    if not said or any(item.kind == "file" for item in value.items):
        return
    mixed = said if value.ordered else rng.sample(said, len(said))
    yield "html", "<ul>" + "".join(f"<li>{one}</li>" for one in mixed) + "</ul>"
    yield "html", "<ol>\n" + "\n".join(f"  <li>{one}</li>" for one in mixed) + "\n</ol>"
    yield "lines of html", "<br>".join(mixed)
    yield "check boxes", "\n".join(f"- [x] {one}" for one in mixed)
    yield "check marks", "\n".join(f"✅ {one}" for one in mixed)
    yield "key", {"items": mixed}
    yield "json text", f"```json\n{json.dumps(mixed, ensure_ascii=False)}\n```"
    yield "json text", json.dumps({"answer": mixed}, ensure_ascii=False)
    yield "blank lines", "\n\n".join(mixed)
    yield "lead", "Here they are:\n" + "\n".join(f"- {one}" for one in mixed)
    yield "lead", "Final answer:\n\n" + "\n".join(f"{number}. **{one}**" for number, one in enumerate(mixed, 1))
    yield (
        "table with numbers",
        "\n".join(["| # | item |", "|---|---|", *(f"| {n} | {one} |" for n, one in enumerate(mixed, 1))]),
    )
    yield "yaml", "\n".join(f'- "{one}"' for one in mixed)
    yield "full stops", "\n".join(f"- {one}." for one in mixed)
    yield "commas at ends", ",\n".join(mixed)
    yield "quotes", ", ".join(f"“{one}”" for one in mixed)
    yield "code", ", ".join(f"`{one}`" for one in mixed)
    if len(mixed) < 12:
        yield (
            "roman",
            "\n".join(f"{_ROMAN[number]}. {one}" for number, one in enumerate(mixed)) if len(mixed) > 1 else None,
        )
        yield "circled numbers", " ".join(f"{_CIRCLED[number]} {one}" for number, one in enumerate(mixed))
        yield "numbers with brackets", " ".join(f"{number}) {one}" for number, one in enumerate(mixed, 1))
        yield "number signs", "; ".join(f"#{number} {one}" for number, one in enumerate(mixed, 1))
    if len(mixed) > 1 and not any(sign in one for one in mixed for sign in (",", " and ", "&")):
        yield "as well as", f"{', '.join(mixed[:-1])} as well as {mixed[-1]}"
        yield "plus", f"{', '.join(mixed[:-1])} plus {mixed[-1]}"
        yield "both", f"both {mixed[0]} and {mixed[1]}" if len(mixed) == 2 else None
        yield "sentence", f"These are {', '.join(mixed[:-1])} and {mixed[-1]}."
        yield "sentence", f"I found {', '.join(mixed[:-1])}, and {mixed[-1]}."
        yield "sentence", f"The answer is {', '.join(mixed[:-1])} and {mixed[-1]}."
    if value.ordered and len(mixed) > 1:
        yield "followed by", ", followed by ".join(mixed)
        yield "long arrows", " ⟶ ".join(mixed)
        yield "typed arrows", " --> ".join(mixed)
        yield "steps", "\n".join(f"Step {number}: {one}" for number, one in enumerate(mixed, 1))
        yield (
            "firstly",
            "\n".join(
                f"{word}, {one}"
                for word, one in zip(("First", "Then", "Then", "Then", "Then", "Then"), mixed, strict=False)
            )
            if len(mixed) < 7
            else None,
        )


def _wrong_list(value: Items) -> Iterator[Way]:
    said = [item.said() for item in value.items]
    if not said or any(item.kind == "file" for item in value.items):
        return
    others = [
        other for item in value.items if isinstance(item, Name) for other in item.others
        if not any(alike(other, (one.value, *one.aliases)) for one in value.items if isinstance(one, Name))
    ]  # fmt: skip
    extra = others[0] if others else "Atlantis"
    yield "one unchecked", "\n".join([*(f"- [x] {one}" for one in said[:-1]), f"- [ ] {said[-1]}"])
    yield "one struck", "\n".join([*(f"- {one}" for one in said[:-1]), f"- ~~{said[-1]}~~"])
    yield "one more", "<ul>" + "".join(f"<li>{one}</li>" for one in [*said, extra]) + "</ul>"
    yield "one more", "\n".join(f"- [x] {one}" for one in [*said, extra])
    yield "one more", "; ".join([*said, extra])
    yield "and others", f"{'; '.join(said)}; and others"
    yield "and so on", f"{'; '.join(said)}; etc."
    yield "one more, in a sentence", f"These are {', '.join(said)} and {extra}."
    yield "none of", f"none of {'; '.join(said)}"
    if len(said) > 1:
        yield "one missing", "<ul>" + "".join(f"<li>{one}</li>" for one in said[1:]) + "</ul>"
        yield "one missing", json.dumps(said[1:], ensure_ascii=False)
        yield "one of", f"one of {'; '.join(said)}"
        yield "one crossed", "\n".join([f"❌ {said[0]}", *(f"✅ {one}" for one in said[1:])])
        yield "without", f"{'; '.join(said[:-1])}, without {said[-1]}"
    if value.ordered and len(said) > 1 and said != said[::-1]:
        yield "backwards", "\n".join(f"{number}. {one}" for number, one in enumerate(said[::-1], 1))
        yield "backwards", ", preceded by ".join(said)
        yield "backwards", " --> ".join(said[::-1])
        yield "backwards", " <-- ".join(said)


# --- tables --------------------------------------------------------------------------------------------------------


def _right_rows(value: Table, rng: Random) -> Iterator[Way]:
    rows = [[cell.said() for cell in row] for row in value.rows]
    rows = rng.sample(rows, len(rows))
    names = [name.replace("_", " ") for name in value.columns]
    back = [0, *range(len(names) - 1, 0, -1)]
    head = [f"<th>{name}</th>" for name in names]
    body = ["<tr>" + "".join(f"<td>{cell}</td>" for cell in row) + "</tr>" for row in rows]
    yield "html", "<table><tr>" + "".join(head) + "</tr>" + "".join(body) + "</table>"
    yield "html in lines", "<table>\n<tr>" + "".join(head) + "</tr>\n" + "\n".join(body) + "\n</table>"
    yield "other order of columns", "\n".join([
        f"| {' | '.join(names[at] for at in back)} |", "|" + "---|" * len(names),
        *(f"| {' | '.join(row[at] for at in back)} |" for row in rows)])  # fmt: skip
    yield "key", {"rows": [dict(zip(value.columns, row, strict=True)) for row in rows]}
    yield (
        "json text",
        "```json\n"
        + json.dumps([dict(zip(value.columns, row, strict=True)) for row in rows], ensure_ascii=False)
        + "\n```",
    )
    yield "columns", {name: [row[at] for row in rows] for at, name in enumerate(value.columns)}
    yield "lead", "Here is the table:\n\n" + "\n".join(
        [f"| {' | '.join(names)} |", "|" + "---|" * len(names),
         *(f"| {' | '.join(row)} |" for row in rows)])  # fmt: skip
    yield (
        "nested",
        "\n".join(
            "\n".join(
                [f"- **{row[0]}**", *(f"  - {name}: {cell}" for name, cell in zip(names[1:], row[1:], strict=True))]
            )
            for row in rows
        ),
    )
    yield (
        "nested numbers",
        "\n".join(
            "\n".join(
                [f"{n}. {row[0]}", *(f"   - {name}: {cell}" for name, cell in zip(names[1:], row[1:], strict=True))]
            )
            for n, row in enumerate(rows, 1)
        ),
    )
    yield (
        "headings",
        "\n\n".join(
            "\n".join([f"### {row[0]}", *(f"- {name}: {cell}" for name, cell in zip(names[1:], row[1:], strict=True))])
            for row in rows
        ),
    )
    if not any(sign in cell for row in rows for cell in row for sign in ",;|\n("):
        yield "csv", "\n".join([",".join(names), *(",".join(row) for row in rows)])
        yield "commas", "\n".join(", ".join(row) for row in rows)
        yield "equals", "; ".join(f"{row[0]} = {' = '.join(row[1:])}" for row in rows) if len(names) == 2 else None
        yield "brackets", ", ".join(f"{row[0]} ({', '.join(row[1:])})" for row in rows)
        yield "has", "; ".join(f"{row[0]} has {row[1]}" for row in rows) if len(names) == 2 else None
        yield "one line", " | ".join(f"{row[0]}: {row[1]}" for row in rows) if len(names) == 2 else None
        yield "pairs", ", ".join(f"{row[0]} → {row[1]}" for row in rows) if len(names) == 2 else None
        yield "list of pairs", [f"{row[0]}: {', '.join(row[1:])}" for row in rows]
    yield (
        "check marks",
        "\n".join(f"✅ {row[0]} – {' – '.join(row[1:])}" for row in rows)
        if not any(sign in cell for row in rows for cell in row for sign in "–;|\n")
        else None,
    )


def _wrong_rows(value: Table) -> Iterator[Way]:
    rows = [[cell.said() for cell in row] for row in value.rows]
    names = [name.replace("_", " ") for name in value.columns]
    turned = [[row[0], *other[1:]] for row, other in zip(rows, [*rows[1:], rows[0]], strict=True)]
    differ = len(rows) > 1 and any(one[1:] != other[1:] for one, other in zip(rows, turned, strict=True))
    if differ:
        yield (
            "turned, html",
            "<table>"
            + "".join("<tr>" + "".join(f"<td>{cell}</td>" for cell in row) + "</tr>" for row in turned)
            + "</table>",
        )
        yield (
            "turned, nested",
            "\n".join(
                "\n".join(
                    [f"- **{row[0]}**", *(f"  - {name}: {cell}" for name, cell in zip(names[1:], row[1:], strict=True))]
                )
                for row in turned
            ),
        )
        yield "turned, columns", {name: [row[at] for row in turned] for at, name in enumerate(value.columns)}
        yield "turned, lines", "\n".join(", ".join(row) for row in turned)
    if len(rows) > 1:
        yield (
            "one struck",
            "\n".join(
                [
                    *(f"| {' | '.join(row)} |" for row in rows[:-1]),
                    f"| {' | '.join(f'~~{cell}~~' for cell in rows[-1])} |",
                ]
            ),
        )
        yield (
            "one missing",
            "<table>"
            + "".join("<tr>" + "".join(f"<td>{cell}</td>" for cell in row) + "</tr>" for row in rows[1:])
            + "</table>",
        )
        yield "one missing", {name: [row[at] for row in rows[1:]] for at, name in enumerate(value.columns)}
    yield "one more", "\n".join(f"| {' | '.join(row)} |" for row in [*rows, ["Atlantis", *rows[0][1:]]])
    yield "empty cell", [[*rows[0][:-1], ""], *rows[1:]]
    yield "unknown cell", [[*rows[0][:-1], "unknown"], *rows[1:]]


# --- whole answers -------------------------------------------------------------------------------------------------


def laid_out_prose(fields: Sequence[Field]) -> Iterator[tuple[str, str, bool]]:
    """Whole answers: the rule, the text, and whether it is right."""
    given = {field.name: field.value.given() for field in fields}
    said = [(field.name.replace("_", " "), field.value.said()) for field in fields]
    yield "json", "Here is what I found.\n\n```json\n" + json.dumps(given, ensure_ascii=False, indent=2) + "\n```", True
    yield "json inside", json.dumps({"answer": given}, ensure_ascii=False), True
    yield "tags", "\n".join(f"<{field.name}>{field.value.said()}</{field.name}>" for field in fields), True
    yield "check marks", "\n".join(f"✅ {name.capitalize()}: {value}" for name, value in said), True
    yield "check boxes", "\n".join(f"- [x] **{name.capitalize()}**: {value}" for name, value in said), True
    yield (
        "numbers",
        "\n".join(f"{n}. **{name.capitalize()}** → {value}" for n, (name, value) in enumerate(said, 1)),
        True,
    )
    yield "code labels", "\n".join(f"- `{field.name}`: {field.value.said()}" for field in fields), True
    yield "long arrows", "\n".join(f"{name} ⟶ {value}" for name, value in said), True
    yield "quoted lines", "\n".join(f"> {name}: {value}" for name, value in said), True
    yield (
        "roman",
        "\n".join(f"({_ROMAN[n]}) {name.capitalize()}: {value}" for n, (name, value) in enumerate(said)),
        True,
    )
    yield "bold values", "\n".join(f"{name.capitalize()}: **{value}**" for name, value in said), True
    yield (
        "final answer",
        "I compared everything.\n\n**Final answer**\n\n" + "\n".join(f"- {name}: {value}" for name, value in said),
        True,
    )
    yield "capitals", "\n".join(f"{name.upper()}: {value}" for name, value in said), True
    yield "rules between", "\n---\n".join(f"**{name.capitalize()}:** {value}" for name, value in said), True
    if not any(sign in value for _, value in said for sign in "\n;.:|"):
        yield "one line", "; ".join(f"{name}: {value}" for name, value in said), True
        yield "sentences", " ".join(f"The {name} is {value}." for name, value in said), True
        yield (
            "html table",
            "<table>" + "".join(f"<tr><td>{name}</td><td>{value}</td></tr>" for name, value in said) + "</table>",
            True,
        )
    last = said[-1]
    lines = [f"- {name}: {value}" for name, value in said]
    yield "struck", "\n".join([*lines[:-1], f"- {last[0]}: ~~{last[1]}~~ Atlantis 999"]), False
    yield "struck before", "\n".join([*lines[:-1], f"- {last[0]}: ~~Atlantis 999~~ {last[1]}"]), True
    yield "two values", "\n".join([*lines, f"- {last[0]}: Atlantis 999"]), False
    yield (
        "left out, json",
        json.dumps(dict(list(given.items())[:-1]), ensure_ascii=False),
        False,
    )
    yield (
        "other, tags",
        "\n".join(
            [
                *(f"<{field.name}>{field.value.said()}</{field.name}>" for field in fields[:-1]),
                f"<{fields[-1].name}>Atlantis 999</{fields[-1].name}>",
            ]
        ),
        False,
    )
    yield "update", "\n".join(lines) + f"\n\nUpdate: {last[0]}: Atlantis 999", False
