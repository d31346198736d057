"""Reads what was handed in: the fields that a client gave as such, and those that stand in its prose.

In prose a field is read where it is labelled: in JSON with the field's name as a key, in a line `name: value`, in a row
of a Markdown table, or in a sentence that says what the name is. A label may have more words of what the field means:
"Phone number of the hotel" for `phone`. Nothing is guessed from free text; a task with one field alone takes a short
answer as it is. A field that is given more than once has all those values, and all must be
right.

Markup goes first: HTML, LaTeX, links, boxes to tick and what was struck out. Tables and lists of HTML become those of
Markdown. What is struck out, or stands at a box that is not ticked, was not handed in. Emphasis, quotes and fences
stay: whoever compares a value takes them off.
"""

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache

from m3bench.tasks.answers.base import JSON, is_nothing
from m3bench.tasks.answers.fields import Field, File, Items, Table, judge
from m3bench.tasks.answers.spelling import words_of
from m3bench.tasks.answers.text_tables import BULLET
from m3bench.tasks.bounded_text import bounded, bounded_value
from m3bench.tasks.checks import Evidence, Finding
from m3bench.tasks.folding import fold
from m3bench.tasks.task import Task

_STRUCK = re.compile(r"~~.*?~~|<(?P<tag>s|del|strike)>.*?</(?P=tag)>", re.IGNORECASE | re.DOTALL)
_EMPTY = re.compile(r"^[\s|*+\-–•]*(?:\(?\d{1,2}[.)])?[\s|*]*$")
_TICKED = re.compile(r"^(?P<mark>\s*[-*+]\s+)\[[xX✓✔]\]\s+", re.MULTILINE)
_UNTICKED = re.compile(r"^\s*[-*+]\s+\[\s\]\s.*$\n?", re.MULTILINE)
_YES = re.compile(r"^(?P<mark>\s*)(?:✅|✔️?|☑️?)\s*(?=\S)", re.MULTILINE)
_NO = re.compile(r"^\s*(?:❌|✗|✘|☒)\s*\S.*$\n?", re.MULTILINE)
_CELLS = re.compile(r"<t[dh]\b[^>]*>(.*?)</t[dh]>", re.IGNORECASE | re.DOTALL)
_ROW = re.compile(r"<tr\b[^>]*>(.*?)</tr>\s*", re.IGNORECASE | re.DOTALL)
_ITEM = re.compile(r"\s*<li\b[^>]*>(.*?)</li>\s*", re.IGNORECASE | re.DOTALL)
_TAGGED = re.compile(r"<([a-z][\w-]*)>(.*?)</\1>", re.IGNORECASE | re.DOTALL)
_TAG = re.compile(r"</?[a-z][a-z0-9_-]*(?:\s[^<>]*)?/?>", re.IGNORECASE)
_LATEX = re.compile(r"\\(?:boxed|text|textbf|textit|mathrm|mathbf|mathit|emph)\s*\{([^{}]*)\}")
_SIGNS = {r"\,": " ", r"\;": " ", r"\ ": " ", r"\%": "%", r"\$": "$", r"\&": "&", r"\times": "×", r"\rightarrow": "→",
          r"\to": "→", r"^\circ": "°", r"\circ": "°", r"\approx": "≈", r"\(": "", r"\)": ""}  # fmt: skip
_LINK = re.compile(r"(?<!!)\[([^\[\]\n]+)\]\((?:https?://|www\.|/|#)[^()\s]*\)")
_NOTE = re.compile(r"(?<=[\w).”\"'])\s?\[\d{1,2}\](?=[\s.,;]|$)|(?:(?<=[^\W\d_])¹|(?<=[^\W\d_]{3})[²³])+(?=[\s.,;]|$)")
_LIT = re.compile(r"==(\S(?:[^=\n]*\S)?)==")
_HTML = re.compile(r"<(?:table|tr|li|br)\b", re.IGNORECASE)


def unmarked(text: str, names: Mapping[str, str] | None = None) -> str:
    """What a text says.

    Args:
        text: The text.
        names: Folded names of fields: a value in a tag of that name is written as `name: value`.
    """
    if not re.search(r"[<~\[\\=✅✔☑❌✗✘☒¹²³]", text):
        return text
    text = _without_struck(text)
    if _UNTICKED.search(text):
        text = _UNTICKED.sub("", text)
    text = _TICKED.sub(r"\g<mark>", text)
    if _YES.search(text) and len(text.split()) > 1:
        text = _YES.sub(r"\g<mark>- " if "\n" in text.strip() else "", _NO.sub("", text))
    if "<" in text:
        text = _without_tags(text, names or {})
    if "\\" in text:
        text = _without_latex(text)
    return _LIT.sub(r"\1", _NOTE.sub("", _LINK.sub(r"\1", text)))


def unmarked_value(given: object) -> object:
    """The same for a value of JSON: every text in it."""
    if isinstance(given, str):
        return unmarked(given)
    if isinstance(given, list | tuple):
        return [unmarked_value(item) for item in given]
    if isinstance(given, dict):
        return {name: unmarked_value(one) for name, one in given.items()}
    return given


def _without_struck(text: str) -> str:
    """A text without what is struck out; a line of which nothing is left goes."""
    if not _STRUCK.search(text):
        return text
    lines = []
    for line in _STRUCK.sub("\0", text).split("\n"):
        left = re.sub(r"[ \t]*\0[ \t]*", " ", line) if "\0" in line else line
        if "\0" not in line or not _EMPTY.match(left):
            lines.append(left.strip() if "\0" in line and "\n" not in text else left)
    return "\n".join(lines)


def _without_tags(text: str, names: Mapping[str, str]) -> str:
    for match in _TAGGED.finditer(text) if names else ():
        if re.sub(r"[\W_]+", "", fold(match[1])) in names:
            text = text.replace(match[0], f"\n{match[1]}: {match[2].strip()}\n")
    if _HTML.search(text):
        text = _ITEM.sub(lambda item: f"\n- {item[1].strip()}", _ROW.sub(_row, text))
        text = re.sub(r"<br\s*/?>", "\n", text, flags=re.IGNORECASE)
    return _TAG.sub("", text).strip("\n")


def _row(match: re.Match[str]) -> str:
    """A row of an HTML table as one of Markdown, a head with its line below."""
    cells = [" ".join(cell.split()) for cell in _CELLS.findall(match[1])]
    line = f"\n| {' | '.join(cells)} |"
    return f"{line}\n|{'---|' * len(cells)}" if "<th" in match[1].lower() and "<td" not in match[1].lower() else line


def _without_latex(text: str) -> str:
    for _ in range(3):
        text = _LATEX.sub(r"\1", text)
    for sign, plain in _SIGNS.items():
        text = text.replace(sign, plain)
    return text


SHORT = 200
"""Characters of an answer that is taken as the value of the only field."""

_LINE = re.compile(
    r"^\s*+(?:>\s*+)?(?:[-*•+]|\(?\d{1,2}[.)]|\(?(?:[A-Za-z]|[ivx]{1,4})\)|(?:[A-Za-z]|[ivx]{1,4})\.(?=\s)|#{1,6})?\s*+(?:\*\*|__|`|\*)?\s*+"
    r"(?P<label>[\w][\w \-/]{0,60}?)(?:\s*+(?:`|\*\*|__|\*))?"
    r"(?:\s*+(?::|=(?!>)|→|⇒|➜|➔|⟶|--?>|=>)|\s++[-–—]\s)\s*+(?:\*\*|__)?\s*+(?P<value>.*?)\s*$"
)

_FILLERS = frozenset(["of", "for", "in", "at", "on", "to", "its", "this", "that", "is", "number", "name", "answer"])
"""Words that a label may have beside those of its field."""

_HEADING = re.compile(
    r"^\s*+(?:#{1,6}\s++|\d{1,2}[.)]\s++(?:\*\*)?|\*\*|__)\s*+(?P<label>[\w][\w \-/]{0,60}?)\s*+(?:\*\*|__)?\s*+$"
)


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
        known, value = names.get(_label(bounded(str(name)))), bounded_value(value)
        if known is not None and (not is_nothing(value) or value == []):
            found.setdefault(known, []).append(unmarked_value(value))
    if not prose:
        return found
    prose = unmarked(bounded(prose), names)
    if len(fields) > 1:
        labels = "|".join(r"[\s_-]+".join(map(re.escape, field.name.split("_"))) for field in fields)
        prose = re.sub(rf"[;.,]\s+(?=(?:{labels})\s*(?:[:=→⇒➜➔⟶]|->|\s[–—-]\s))", "\n", prose, flags=re.IGNORECASE)
    text, *corrections = _corrected(names, prose)
    if len(found) < len(fields):
        _read_prose(fields, names, text, found)
    for correction in corrections:
        later: dict[str, list[JSON]] = {}
        _read_prose(fields, names, correction, later)
        last = _last_labelled(names, text)
        if not later and last and correction.strip():
            later = {last: [correction.strip()]}
        for name, values in later.items():
            said = known_values if (known_values := _given_values(found, given, names, name)) else []
            found[name] = [*said, *values]
    if not found and len(fields) > 1:
        found = {field.name: [part] for field, part in zip(fields, _one_by_one(text, len(fields)), strict=False)}
    if len(fields) == 1 and not found and len(prose.strip()) <= SHORT and "\n" not in prose.strip():
        found[fields[0].name] = [prose.strip()]
    empty = {names.get(_label(str(name))) for name, value in (given or {}).items() if is_nothing(value)}
    return {
        field.name: found[field.name]
        for field in fields
        if field.name in found and not (field.optional and field.name in empty)
    }


_CORRECTION = re.compile(
    r"(?:(?:^|\n)[\s>*_(-]*|(?<=[.!?])\s+[*_(]*)(?:(?:oh\s+|oops[,!]?\s+|sorry[,!]?\s+|no[,.]?\s+)*wait\b[\s,.:!…–—-]*(?:no\b[\s,.:]*)?|"
    r"(?:(?:wait|sorry|oops|no)[,.!\s]+)*"
    r"(?:correction|corrected|erratum|update|edit|scratch that|i take that back|i stand corrected)\b"
    r"[\s*_]*[:,.;–—-])[\s*_]*"
    r"(?:correction[\s*_]*:[\s*_]*)?",
    re.IGNORECASE,
)


def _corrected(names: Mapping[str, str], text: str) -> list[str]:
    """A text up to its first correction, and each correction; the text alone when it names no field before."""
    parts = _CORRECTION.split(text)
    return parts if len(parts) > 1 and _last_labelled(names, parts[0]) else [text]


def _last_labelled(names: Mapping[str, str], text: str) -> str | None:
    """The field that a text names last."""
    for line in reversed(text.splitlines()):
        if (found := _labelled(names, line)) is not None:
            return found[0]
        said = [(match.start(), name) for name in names.values() for match in _sentences(name).finditer(line)]
        if said:
            return max(said)[1]
    return None


def _given_values(
    found: Mapping[str, list[JSON]], given: Mapping[str, JSON] | None, names: Mapping[str, str], name: str
) -> list[JSON]:
    """What was given for a field as such: a correction in the prose does not replace that."""
    as_such = {names.get(_label(str(field))) for field in given or {}}
    return found.get(name, []) if name in as_such else []


def _read_prose(fields: Sequence[Field], names: Mapping[str, str], text: str, found: dict[str, list[JSON]]) -> None:
    """Adds the fields that stand in a text and were not found before."""
    missing = {label: name for label, name in names.items() if name not in found}
    for name, value in (*_from_json(missing, text), *_from_lines(missing, text), *_from_wide_tables(missing, text)):
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
    for name, value in _from_wordy_sentences([field for field in fields if field.name not in found], text):
        found.setdefault(name, []).append(value)
    for name in missing.values():
        if name not in found and (values := _in_sentences(name, text, names.values())):
            found[name] = list(values)


def unknown(fields: Sequence[Field], given: Mapping[str, JSON] | None) -> list[str]:
    """Names that were given and are no fields of the task."""
    names = {_label(field.name) for field in fields}
    return [str(name) for name in given or {} if _label(str(name)) not in names]


def absent(fields: Sequence[Field], read: Mapping[str, Sequence[JSON]]) -> list[Field]:
    """The fields that nothing was handed in for; a file may go unnamed, and what may be left empty is not missed."""
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
    return (
        field.optional
        or isinstance(value, File)
        or (isinstance(value, Items) and any(isinstance(item, File) for item in value.items))
    )


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
    labels = [None if _is_wide_head(names, line) else _labelled(names, line) for line in lines]
    for number, found in enumerate(labels):
        if found is None:
            continue
        name, value = found
        if not value:
            value = _block(lines, labels, number + 1)
        if value.strip():
            yield name, _parsed(value)


_MARKED = re.compile(r"(?:^|(?<=\s))\(?(?P<mark>\d{1,2}|[A-Za-z])[.)]\s+(?=\S)")


def _one_by_one(text: str, many: int) -> list[JSON]:
    """The items of a list with numbers or letters that has one for each field, in their order; none in another list."""
    marks = list(_MARKED.finditer(text))
    signs = [mark["mark"].lower() for mark in marks]
    if len(marks) != many or signs not in (
        [str(place) for place in range(1, many + 1)],
        [chr(ord("a") + place) for place in range(many)],
    ):
        return []
    lead = text[: marks[0].start()].strip()
    ends = [*(mark.start() for mark in marks[1:]), len(text)]
    if (lead and not lead.endswith(":")) or len(words_of(lead)) > MOST_LEAD:
        return []
    return [text[mark.end() : end].strip(" ,;\n") for mark, end in zip(marks, ends, strict=True)]


MOST_LEAD = 8
"""Words that may stand before a list: "Here are the answers:"."""


def _wordy_labels(fields: Sequence[Field], text: str) -> dict[str, str]:
    """The labels of lines that have all the words of one field's name, and else only words of what it means."""
    found: dict[str, str] = {}
    for line in text.splitlines():
        match = _HEADING.match(line) or _LINE.match(line)
        label = match["label"] if match else _cells_of(line)[0] if line.lstrip().startswith("|") else ""
        meant = [field for field in fields if label and _is_meant(field, set(words_of(label)))]
        if len(meant) == 1:
            found[_label(label)] = meant[0].name
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


def _from_wide_tables(names: Mapping[str, str], text: str) -> Iterator[tuple[str, JSON]]:
    """Fields in a Markdown table of one row whose head has their names."""
    for block in re.split(r"\n\s*\n", text):
        rows = [_cells_of(line) for line in block.splitlines() if line.strip().startswith("|")]
        if len(rows) != 3 or not all(re.fullmatch(r":?-+:?", cell) for cell in rows[1]) or len(rows[0]) != len(rows[2]):
            continue
        labels = [_label(cell) for cell in rows[0]]
        if sum(label in names for label in labels) >= min(2, len(names)) and (len(labels) != 2 or labels[1] in names):
            yield from ((names[label], cell) for label, cell in zip(labels, rows[2], strict=True) if label in names)


def _is_wide_head(names: Mapping[str, str], line: str) -> bool:
    """Whether a row of a table has the names of several fields."""
    return line.lstrip().startswith("|") and sum(_label(cell) in names for cell in _cells_of(line)) > 1


def _cells_of(line: str) -> list[str]:
    return [re.sub(r"\*\*|`", "", cell).strip() for cell in line.strip().strip("|").split("|")]


@lru_cache(maxsize=256)
def _sentences(name: str) -> re.Pattern[str]:
    label = r"[\s_-]+".join(map(re.escape, name.split("_")))
    return re.compile(
        rf"\b{label}(?:\s+[^\W\d]+(?=\s+(?:is|was|are|were)\s))?\s*(?:\*\*|`)?\s*(?:(?:is|was|are|were|:|=)\s+|(?:→|⟶|->)\s*)(.+?)(?=[.;!](?:\s|$)|\n|$)",
        re.IGNORECASE,
    )


_SAID_OF = re.compile(
    r"(?:^|(?<=[.;!]\s)|(?<=\n))(?:so|and|the|your|my|our|his|her|\s)*"
    r"(?P<label>[\w][\w '’-]{1,60}?)\s+(?:is|are|was|were)\s+(?P<value>[^\n]+?)(?=[.;!](?:\s|$)|\n|$)",
    re.IGNORECASE,
)


def _from_wordy_sentences(fields: Sequence[Field], text: str) -> Iterator[tuple[str, JSON]]:
    """Fields in sentences that have all the words of one field's name, and else only words of what it means."""
    for match in _SAID_OF.finditer(text) if fields else ():
        words = set(words_of(match["label"]))
        meant = [field for field in fields if _is_meant(field, words)]
        if len(meant) == 1:
            yield meant[0].name, match["value"].strip()


_DENIED = re.compile(r"\b(?:not|no|non|never|without)[\s-]+(?:the\s+)?$", re.IGNORECASE)
"""What makes another label of the name of a field behind it."""


def _in_sentences(name: str, text: str, names: Iterable[str]) -> list[str]:
    """The values in sentences such as "The older film is Heat."; those of a longer name are not its own."""
    longer = [other.removesuffix(name).replace("_", " ") for other in names if other != name and other.endswith(name)]
    return list(
        dict.fromkeys(
            match[1].strip()
            for match in _sentences(name).finditer(text)
            if not any(fold(text[: match.start()]).endswith(before.strip()) for before in longer)
            and not _DENIED.search(text, max(0, match.start() - 20), match.start())
        )
    )


def _labelled(names: Mapping[str, str], line: str) -> tuple[str, str] | None:
    """The field that a line gives, and its value, which may be empty when it follows in the next lines."""
    if line.strip().startswith("|"):
        cells = _cells_of(line)
        if len(cells) > 2 and re.fullmatch(r"#?\d{1,2}[.)]?|[a-z][.)]?", cells[0]):
            cells = cells[1:]
        if (len(cells) == 2 or (len(cells) == 3 and names)) and _label(cells[0]) in names:
            return names[_label(cells[0])], cells[1]
        return None
    heading = _HEADING.match(line)
    if heading and _label(heading["label"]) in names:
        return names[_label(heading["label"])], ""
    match = _LINE.match(line)
    if match is None or _label(match["label"]) not in names:
        return None
    value = match["value"].removeprefix("**").strip()
    return names[_label(match["label"])], value.removesuffix("**") if value.endswith(("]**", "}**")) else value


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
    fields = None if evidence.fields is None else {name: bounded_value(one) for name, one in evidence.fields.items()}
    evidence = replace(evidence, answer=bounded(evidence.answer), fields=fields)
    handed_in = read(task.fields, evidence.answer, evidence.fields)
    return (*judge(task.fields, handed_in, evidence), *(check.run(evidence) for check in task.checks))
