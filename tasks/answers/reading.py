"""Reads what was handed in: the fields that a client gave as such, and those that stand in its prose.

In prose a field is read where it is labelled: in JSON with the field's name as a key, in a line `name: value`, in a row
of a Markdown table, or in a sentence that says what the name is. A label may have more words of what the field means:
"Phone number of the hotel" for `phone`. Nothing is guessed from free text; a task with one field alone takes a short
answer as it is. A field that is given more than once has all those values, and all must be
right.
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence

from m3bench.tasks.answers.base import JSON, is_nothing
from m3bench.tasks.answers.fields import Field, File, Items, Table, judge
from m3bench.tasks.answers.spelling import words_of
from m3bench.tasks.answers.text_tables import BULLET
from m3bench.tasks.checks import Evidence, Finding
from m3bench.tasks.folding import fold
from m3bench.tasks.task import Task

MOST_TEXT = 200_000
"""Characters of prose that are read."""

SHORT = 200
"""Characters of an answer that is taken as the value of the only field."""

_LINE = re.compile(
    r"^\s*(?:>\s*)?(?:[-*•+]|\(?\d{1,2}[.)]|#{1,6})?\s*(?:\*\*|__|`|\*)?\s*"
    r"(?P<label>[\w][\w \-/]{0,60}?)\s*(?:`|\*\*|__|\*)?\s*"
    r"(?::|=|\s[-–—]\s)\s*(?:\*\*|__)?\s*(?P<value>.*?)\s*$"
)

_FILLERS = frozenset(["of", "for", "in", "at", "on", "to", "its", "this", "that", "is", "number", "name", "answer"])
"""Words that a label may have beside those of its field."""

_HEADING = re.compile(r"^\s*(?:#{1,6}\s+|\*\*|__)\s*(?P<label>[\w][\w \-/]{0,60}?)\s*(?:\*\*|__)?\s*$")


def read(fields: Sequence[Field], prose: str, given: Mapping[str, JSON] | None) -> dict[str, list[JSON]]:
    """The values of each field that was handed in.

    Args:
        fields: The task's fields.
        prose: The answer for a person.
        given: The fields as the client gave them; those that it left out are looked for in the prose.
    """
    names = {_label(field.name): field.name for field in fields}
    found: dict[str, list[JSON]] = {}
    for name, value in (given or {}).items():
        known = names.get(_label(str(name)))
        if known is not None and (not is_nothing(value) or value == []):
            found.setdefault(known, []).append(value)
    missing = {label: name for label, name in names.items() if name not in found}
    if missing and prose:
        text = prose[:MOST_TEXT]
        for name, value in (*_from_json(missing, text), *_from_lines(missing, text)):
            known_values = found.setdefault(name, [])
            if value not in known_values:
                known_values.append(value)
        for field in fields:
            if field.name not in found and isinstance(field.value, Table) and (rows := _in_tables(field.value, text)):
                found[field.name] = rows
        wordy = _wordy_labels([field for field in fields if field.name not in found], text)
        for name, value in _from_lines({**names, **wordy}, text) if wordy else ():
            if name in wordy.values() and value not in found.setdefault(name, []):
                found[name].append(value)
        for name in missing.values():
            if name not in found and (values := _in_sentences(name, text)):
                found[name] = list(values)
        if len(fields) == 1 and not found and len(prose.strip()) <= SHORT and "\n" not in prose.strip():
            found[fields[0].name] = [prose.strip()]
    return {field.name: found[field.name] for field in fields if field.name in found}


def unknown(fields: Sequence[Field], given: Mapping[str, JSON] | None) -> list[str]:
    """Names that were given and are no fields of the task."""
    names = {_label(field.name) for field in fields}
    return [str(name) for name in given or {} if _label(str(name)) not in names]


def absent(fields: Sequence[Field], read: Mapping[str, Sequence[JSON]]) -> list[Field]:
    """The fields that nothing was handed in for; a file may go unnamed."""
    return [field for field in fields if field.name not in read and not _may_be_left_out(field)]


def as_object(fields: object) -> dict[str, JSON] | None:
    """Fields as an object: some clients send objects as JSON in a string, and null for what they leave out."""
    if isinstance(fields, str):
        try:
            fields = json.loads(fields)
        except (ValueError, RecursionError):
            return None
    return dict(fields) if isinstance(fields, dict) and fields else None


def _may_be_left_out(field: Field) -> bool:
    value = field.value
    return isinstance(value, File) or (isinstance(value, Items) and any(isinstance(item, File) for item in value.items))


def _label(text: str) -> str:
    return re.sub(r"[\W_]+", "", fold(text))


def _from_json(names: Mapping[str, str], text: str) -> list[tuple[str, JSON]]:
    """Fields in JSON objects anywhere in a text; the outermost object that names one counts."""
    found: list[tuple[str, JSON]] = []
    decoder = json.JSONDecoder()
    start = text.find("{")
    tries = 0
    while start >= 0 and tries < 200:
        tries += 1
        try:
            value, end = decoder.raw_decode(text, start)
        except (ValueError, RecursionError):
            start = text.find("{", start + 1)
            continue
        found += _in_object(names, value, 0)
        start = text.find("{", end)
    return found


def _in_object(names: Mapping[str, str], value: JSON, depth: int) -> list[tuple[str, JSON]]:
    if not isinstance(value, dict) or depth > 3:
        return []
    mine = [(names[_label(str(key))], inner) for key, inner in value.items() if _label(str(key)) in names]
    return mine or [pair for inner in value.values() for pair in _in_object(names, inner, depth + 1)]


def _from_lines(names: Mapping[str, str], text: str) -> Iterator[tuple[str, JSON]]:
    lines = text.splitlines()
    labels = [_labelled(names, line) for line in lines]
    for number, found in enumerate(labels):
        if found is None:
            continue
        name, value = found
        if not value:
            value = _block(lines, labels, number + 1)
        if value.strip():
            yield name, _parsed(value)


def _wordy_labels(fields: Sequence[Field], text: str) -> dict[str, str]:
    """The labels of lines that have all the words of one field's name, and else only words of what it means."""
    found: dict[str, str] = {}
    for line in text.splitlines():
        match = _HEADING.match(line) or _LINE.match(line)
        words = set(words_of(match["label"])) if match else set()
        meant = [field for field in fields if _is_meant(field, words)]
        if match and len(meant) == 1:
            found[_label(match["label"])] = meant[0].name
    return found


def _is_meant(field: Field, words: set[str]) -> bool:
    name = set(words_of(field.name))
    return name <= words and words <= name | set(words_of(field.meaning)) | _FILLERS


def _in_tables(table: Table, text: str) -> list[JSON]:
    """The rows of Markdown tables whose head names all the columns that are asked for; a table may have others."""
    wanted = {_label(name) for name in table.columns}
    found: list[JSON] = []
    for block in re.split(r"\n\s*\n", text):
        lines = [line.strip() for line in block.splitlines() if line.strip().startswith("|")]
        rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]
        if len(rows) < 3 or not all(re.fullmatch(r":?-+:?", cell) for cell in rows[1]):
            continue
        head = [re.sub(r"\*\*|`", "", cell) for cell in rows[0]]
        if wanted <= {_label(cell) for cell in head} and all(len(row) == len(head) for row in rows):
            found.append([dict(zip(head, row, strict=True)) for row in rows[2:]])
    return found


def _in_sentences(name: str, text: str) -> list[str]:
    """The values in sentences such as "The older film is Heat."."""
    label = r"[\s_-]+".join(map(re.escape, name.split("_")))
    pattern = rf"\b{label}\s*(?:\*\*|`)?\s*(?:is|was|are|were|:|=)\s+(.+?)(?=[.;!](?:\s|$)|\n|$)"
    return list(dict.fromkeys(match.strip() for match in re.findall(pattern, text, re.IGNORECASE)))


def _labelled(names: Mapping[str, str], line: str) -> tuple[str, str] | None:
    """The field that a line gives, and its value, which may be empty when it follows in the next lines."""
    if line.strip().startswith("|"):
        cells = [re.sub(r"\*\*|`", "", cell).strip() for cell in line.strip().strip("|").split("|")]
        if len(cells) == 2 and _label(cells[0]) in names:
            return names[_label(cells[0])], cells[1]
        return None
    heading = _HEADING.match(line)
    if heading and _label(heading["label"]) in names:
        return names[_label(heading["label"])], ""
    match = _LINE.match(line)
    if match is None or _label(match["label"]) not in names:
        return None
    return names[_label(match["label"])], match["value"].removeprefix("**").strip()


def _block(lines: Sequence[str], labels: Sequence[tuple[str, str] | None], start: int) -> str:
    """The lines that follow a label, up to the next label or a blank line, unless a list goes on behind that."""
    block: list[str] = []
    for number in range(start, len(lines)):
        line = lines[number]
        if labels[number] is not None or (
            block and not lines[number - 1].strip() and not (BULLET.match(line) and BULLET.match(block[0]))
        ):
            break
        if line.strip():
            block.append(line)
    return "\n".join(line for line in block if not line.strip().startswith("```"))


def _parsed(value: str) -> JSON:
    """JSON where a value is written as such, else the text."""
    text = value.strip().rstrip(",") if value.strip()[:1] in "[{" else value.strip()
    if text[:1] in "[{":
        try:
            return json.loads(text)
        except (ValueError, RecursionError):
            return text
    return text


def findings_of(task: Task, evidence: Evidence) -> tuple[Finding, ...]:
    """What is right and what is not; a run is solved when there is something to find and all of it is right."""
    handed_in = read(task.fields, evidence.answer, evidence.fields)
    return (*judge(task.fields, handed_in, evidence), *(check.run(evidence) for check in task.checks))
