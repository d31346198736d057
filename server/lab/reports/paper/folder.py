"""Everything that a paper needs of some result sets, written into a folder.

    summary.md                 one page
    methods.md, methods.tex    how it was measured, with versions and hashes
    numbers.json               every number of every table and figure
    tables/*.csv, *.tex        with every digit; rounded, without packages
    figures/*.svg, *.pdf
    data/samples, data/calls   a row for each, as Parquet or JSON Lines
    example.tex                a document that includes all of it

Sets that do not compare are put into groups; where there are several, each has its own folder of tables and figures.
"""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from hashlib import sha256
from pathlib import Path
from statistics import median
from typing import Literal

from m3bench.server.lab.reports.paper import data, plots
from m3bench.server.lab.reports.paper.analyses import GroupNumbers, analyses_of
from m3bench.server.lab.reports.paper.contents import Analyses, scale, tables
from m3bench.server.lab.reports.paper.groups import SetGroup
from m3bench.server.lab.reports.paper.methods import hashes, methods
from m3bench.server.lab.reports.paper.overview import overview
from m3bench.server.lab.reports.paper.pdf import pdf
from m3bench.server.lab.reports.paper.tables import PaperTable, csv_text, escaped, latex_text, short_names, shortened
from m3bench.server.lab.reports.slices import set_at_hand
from m3bench.server.lab.reports.standings import BoardEntry, leaderboard_document
from m3bench.server.lab.reports.summary import SetTotals, set_totals
from m3bench.server.lab.results.analyses.failures import FailureClass
from m3bench.server.lab.results.comparability import distinct_names
from m3bench.server.lab.results.documents import JsonDocument
from m3bench.server.lab.results.resultset import ResultSet
from m3bench.tasks.atomic_files import write_atomically
from m3bench.tasks.catalog import load_catalog
from m3bench.tasks.errors import InputFileError
from m3bench.tasks.library import Library
from m3bench.tasks.profiles import profile_of, tools_of

SCHEMA = 1
NUMBERS = "numbers.json"


@dataclass(frozen=True, kw_only=True)
class PaperNumbers(JsonDocument):
    """The content of `numbers.json`."""

    schema: int = SCHEMA
    kind: Literal["paper"] = "paper"
    groups: tuple[GroupNumbers, ...]
    files: Mapping[str, str]
    """The other files that were written, with their hashes."""


def write_paper(
    folder: Path, groups: Sequence[SetGroup], empty: Sequence[ResultSet], libraries: Sequence[Library],
    tell: Callable[[str], None] = lambda name: None,
) -> list[str]:  # fmt: skip
    """Write everything; returns the names of the files.

    Args:
        folder: Where to; what is there of the same names is replaced, and what an earlier time wrote and this one
            does not is removed. Whatever else lies there stays.
        groups: Result sets that compare.
        empty: Sets without a scored run.
        libraries: Sets of tasks at hand; difficulty, level and setting of tasks come from them.
        tell: Called for every set whose numbers are known.

    Raises:
        InputFileError: The folder cannot be written, or holds something else.
    """
    if folder.is_file() or (folder.is_dir() and any(folder.iterdir()) and not (folder / NUMBERS).exists()):
        raise InputFileError(folder, "is not empty and was not written by `m3bench lab paper`: choose another with -o")
    told = tuple(_numbers(group, libraries, tell) for group in groups)
    files: dict[str, bytes] = {}
    results: list[PaperTable] = []
    for group, numbers in zip(groups, told, strict=True):
        prefix = f"{group.name}/" if len(groups) > 1 else ""
        entries, analyses = numbers.leaderboard.entries, numbers.analyses
        made = list(tables(numbers.leaderboard, analyses))
        results.append(made[0])
        files |= {f"{prefix}{name}": content for name, content in tables_and_figures(made, entries, analyses)}
    files |= _scale(groups, told, libraries) | _methods(groups, told)
    files["example.tex"] = _example(files).encode()
    try:
        earlier = _earlier(folder)
        (folder / "data").mkdir(parents=True, exist_ok=True)
        written = _data(folder / "data", groups, empty, libraries)
        names = sorted([*files, *written, NUMBERS, "summary.md"])
        files["summary.md"] = overview(told, results, [str(unscored.folder) for unscored in empty], names).encode()
        ours = {name: sha256(content).hexdigest() for name, content in sorted(files.items())}
        files[NUMBERS] = _json(PaperNumbers(groups=told, files=ours))
        for name, content in files.items():
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            write_atomically(path, content)
        _remove(folder, {name: hash for name, hash in earlier.items() if name not in files})
    except OSError as error:
        raise InputFileError(folder, f"cannot be written ({error.strerror or error})") from error
    return names


def _earlier(folder: Path) -> dict[str, str]:
    """The files that were written here before, with their hashes."""
    try:
        found = json.loads((folder / NUMBERS).read_bytes()).get("files", {})
    except (FileNotFoundError, ValueError, AttributeError):
        return {}
    return {str(name): str(hash) for name, hash in found.items()} if isinstance(found, dict) else {}


def _remove(folder: Path, stale: Mapping[str, str]) -> None:
    """Remove files, as long as they are what was written, and the folders that are empty then."""
    root = folder.resolve()
    for name, hash in stale.items():
        path = (folder / name).resolve()
        if not path.is_relative_to(root) or not path.is_file() or sha256(path.read_bytes()).hexdigest() != hash:
            continue
        path.unlink()
        for parent in path.parents:
            if parent == root or any(parent.iterdir()):
                break
            parent.rmdir()


def _numbers(group: SetGroup, libraries: Sequence[Library], tell: Callable[[str], None]) -> GroupNumbers:
    """Every number of a group."""

    def document_of(results: ResultSet) -> SetTotals:
        made = set_totals(results)
        tell(results.header.name)
        return made

    return GroupNumbers(
        name=group.name,
        folders=tuple(str(results.folder) for results in group.sets),
        leaderboard=leaderboard_document(group.sets, document_of=document_of),
        analyses=analyses_of(group.sets, libraries),
    )


def tables_and_figures(
    made: Sequence[PaperTable], entries: Sequence[BoardEntry], analyses: Analyses
) -> Iterator[tuple[str, bytes]]:
    """The files of some tables, and of every figure of a leaderboard's entries and their analyses."""
    names = short_names([entry.name for entry in entries], entries[0].profile)
    for table in made:
        yield f"tables/{table.name}.csv", csv_text(table).encode()
        if table.rows and any(column.heading for column in table.columns):
            yield f"tables/{table.name}.tex", latex_text(shortened(table, names)).encode()
    renamed = [replace(entry, name=names[entry.name]) for entry in entries]
    became = [(names[entry.name], analyses[entry.name].failures) for entry in entries]
    for name, figure in _figures(renamed, became):
        if figure is not None:
            drawn = figure[0].svg(figure[1])
            yield f"figures/{name}.svg", drawn.encode()
            yield f"figures/{name}.pdf", pdf(drawn)


def _figures(
    entries: Sequence[BoardEntry], became: Sequence[tuple[str, Mapping[FailureClass, int]]]
) -> Iterator[tuple[str, plots.Figure | None]]:
    yield "solved", plots.intervals(entries, "solved")
    yield "average", plots.intervals(entries, "average")
    yield "families", plots.families(entries)
    yield "cost", plots.against(entries, "cost", "US dollars per sample")
    yield "time", plots.against(entries, "seconds", "seconds per sample")
    yield "tokens", plots.against(entries, "tokens", "tokens per sample")
    yield "calls", plots.against(entries, "calls", "calls per sample")
    yield "failures", plots.failures(became)


def _scale(groups: Sequence[SetGroup], told: Sequence[GroupNumbers], libraries: Sequence[Library]) -> dict[str, bytes]:
    """The curve over the number of tools, whose points are in different groups."""
    sizes: dict[str, int] = {}
    for group in groups:
        for results in group.sets:
            found = set_at_hand(results, libraries)
            if found is not None and results.header.profile not in sizes and results.header.tasks:
                sizes[results.header.profile] = _tools(results, found)
    entries = [
        (sizes[entry.profile], entry)
        for numbers in told
        for entry in numbers.leaderboard.entries
        if entry.profile in sizes
    ]
    table = scale(entries)
    if table is None:
        return {}
    drawn = plots.scale(table)
    text = drawn[0].svg(drawn[1])
    return {
        "tables/scale.csv": csv_text(table).encode(), "tables/scale.tex": latex_text(table).encode(),
        "figures/scale.svg": text.encode(), "figures/scale.pdf": pdf(text),
    }  # fmt: skip


def _tools(results: ResultSet, library: Library) -> int:
    """How many tools the tasks of a set show, the median where they differ."""
    tasks = [library.task(name) for name in results.header.tasks if name in library.tasks]
    catalog = load_catalog().ready
    counts = [len(tools_of(profile_of(results.header.profile, task), catalog, library)) for task in tasks]
    return round(median(counts))


def _methods(groups: Sequence[SetGroup], told: Sequence[GroupNumbers]) -> dict[str, bytes]:
    page, latex = ["# Methods", ""], []
    for group, numbers in zip(groups, told, strict=True):
        families = {name for entry in numbers.leaderboard.entries for name in entry.families}
        words = methods(group.sets, len(families))
        page += ([f"## {group.name}", ""] if len(groups) > 1 else []) + [words, ""]
        page += [*(f"- {name}: `{value}`" for name, value in hashes(group.sets).items()), ""]
        latex.append(escaped(words))
    return {"methods.md": "\n".join(page).encode(), "methods.tex": ("\n\n".join(latex) + "\n").encode()}


def _example(files: Mapping[str, bytes]) -> str:
    """A document that shows every table and figure, so that an author sees what there is."""
    lines = [
        "% pdflatex example.tex, in this folder.", "\\documentclass{article}", "\\usepackage[margin=2cm]{geometry}",
        "\\usepackage{graphicx}", "\\begin{document}", "\\input{methods.tex}",
    ]  # fmt: skip
    for name in sorted(files):
        if "tables/" in name and name.endswith(".tex"):
            lines += [f"\\input{{{name}}}", "\\clearpage"]
        elif name.endswith(".pdf"):
            shown, said = f"\\includegraphics[width=\\linewidth]{{{name}}}", escaped(Path(name).stem.capitalize())
            lines += ["\\begin{figure}", "\\centering", shown, f"\\caption{{{said}.}}", "\\end{figure}", "\\clearpage"]
    return "\n".join([*lines, "\\end{document}"]) + "\n"


def _data(
    folder: Path, groups: Sequence[SetGroup], empty: Sequence[ResultSet], libraries: Sequence[Library]
) -> list[str]:
    sets = list({id(results): results for group in groups for results in group.sets}.values()) + list(empty)
    libraries_of = [set_at_hand(results, libraries) for results in sets]
    known = [found.tasks if found is not None else {} for found in libraries_of]
    named = list(zip(distinct_names(sets), sets, known, strict=True))
    for name in ("samples", "calls"):
        for form in (".parquet", ".jsonl"):
            (folder / f"{name}{form}").unlink(missing_ok=True)
    samples = (row for name, results, tasks in named for row in data.sample_rows(name, results, tasks))
    calls = (row for name, results, tasks in named for row in data.call_rows(name, results, tasks))
    written = [
        data.write_rows(folder, "samples", data.SAMPLES, samples),
        data.write_rows(folder, "calls", data.CALLS, calls),
    ]
    return [f"data/{path.name}" for path in written]


def _json(document: JsonDocument) -> bytes:
    return f"{json.dumps(document.to_json(), ensure_ascii=False, indent=1, allow_nan=False)}\n".encode()
