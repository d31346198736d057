"""`m3bench lab score`: files of trajectories against files of references, and how the results look.

Results go to standard output, warnings and progress to standard error.
"""

import csv
import json
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from difflib import get_close_matches
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer
from rich.table import Table
from rich.text import Text

from m3bench.server.commands.options import Tasks
from m3bench.server.commands.screen import console, number, number_table, print_json, progress, tolerate
from m3bench.server.lab.interchange.skipped import skipped_of, summary
from m3bench.server.scoring import aggregate
from m3bench.server.scoring.aggregate import METRICS, Row
from m3bench.server.scoring.alignment import ScorableRun
from m3bench.server.scoring.cache import VectorCache
from m3bench.server.scoring.encoder import Encoder, open_encoder
from m3bench.server.scoring.explain import explain
from m3bench.server.scoring.profiles import AVERAGED, find_profile
from m3bench.server.scoring.reasons import KINDS_ALONE
from m3bench.server.scoring.results import Results, Scored
from m3bench.server.scoring.scorer import score_many
from m3bench.server.scoring.signatures import catalog_signatures
from m3bench.server.scoring.trajectory_score import TrajectoryScore
from m3bench.server.scoring.words import printable
from m3bench.tasks.catalog import load_catalog
from m3bench.tasks.errors import InputFileError, UserError
from m3bench.tasks.library import BUNDLED, Library
from m3bench.tasks.plan import Plan
from m3bench.tasks.trajectory import Trajectory
from m3bench.tasks.trajectory_files import Defect, TaskFile, TaskTrajectories, read_tasks

_PROGRESS_FROM_TASKS = 20
_WARNINGS = 20
"""Lines on what was skipped or amended; `--json` has it all."""


_BAR_CELLS = 24
_SHORT = {
    "recall": "recall",
    "precision": "precis.",
    "argument_similarity": "args",
    "step_coherence": "coher.",
    "order_consistency": "order",
    "merge_purity": "purity",
    "average": "average",
}
_STYLES = {
    "title": "bold",
    "heading": "bold cyan",
    "strong": "green",
    "weak": "yellow",
    "missed": "red",
    "extra": "magenta",
    "difference": "dim",
    "metric": "",
    "note": "italic",
}


class MetricName(StrEnum):
    """The ways to score, spelled for the command line."""

    EFFECT = "effect"
    M3 = "m3"
    OPEN_M3_BENCH = "open-m3-bench"


@dataclass(frozen=True, kw_only=True)
class ScoringOptions:
    """How files of trajectories are read and scored."""

    metric: Annotated[
        MetricName | None,
        typer.Option(
            help="By what calls achieve, by the paper's formulas, or by the public evaluator's arithmetic. By "
            "default effect where the references belong to a known set of tasks, otherwise m3.",
            show_default=False,
        ),
    ] = None
    tasks: Tasks = None
    one_reference: Annotated[
        bool,
        typer.Option(
            "--one-reference",
            help="Score against the first reference of each task alone, as M³-Bench does, and not against the best.",
        ),
    ] = False
    keep_going: Annotated[
        bool,
        typer.Option(
            "--keep-going",
            help="Skip unreadable tasks of references and of our own format instead of stopping; "
            "public predictions are always scored as far as they can be read.",
        ),
    ] = False


@dataclass(frozen=True, kw_only=True)
class EncoderOptions:
    """What compares arguments by the paper's formulas."""

    encoder: Annotated[
        str,
        typer.Option(
            metavar="NAME",
            help="What compares arguments: minilm, or sentence-transformers:MODEL for any of its models, by name or "
            "path.",
        ),
    ] = "minilm"
    weights: Annotated[
        Path | None,
        typer.Option(
            metavar="FOLDER",
            help="The built-in model's weights; by default they are searched for.",
            show_default=False,
        ),
    ] = None


@dataclass(frozen=True, kw_only=True)
class CacheOptions:
    """Whether embeddings are kept on disk."""

    cache: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="Where embeddings are kept. By default in your cache folder.", show_default=False
        ),
    ] = None
    no_cache: Annotated[bool, typer.Option("--no-cache", help="Neither read nor write embeddings on disk.")] = False


@dataclass(frozen=True, kw_only=True)
class FormOptions:
    """How results are printed."""

    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False
    as_csv: Annotated[bool, typer.Option("--csv", help="Print CSV.")] = False
    as_table: Annotated[bool, typer.Option("--table", help="Print tables, which is the default.")] = False
    per_task: Annotated[bool, typer.Option("--per-task", help="Show every task, not only the families.")] = False
    explain: Annotated[
        str | None,
        typer.Option(metavar="TASK", help="Show how this task was aligned, step by step.", show_default=False),
    ] = None


@dataclass(frozen=True, kw_only=True)
class Scoring:
    """How to score: the choices of a command line."""

    options: ScoringOptions
    encoder: EncoderOptions
    cache: CacheOptions


def score(
    references: Annotated[Path, typer.Argument(help="File of reference trajectories.", show_default=False)],
    actual: Annotated[Path, typer.Argument(help="File of what the agent did.", show_default=False)],
    scoring: ScoringOptions,
    form: FormOptions,
    encoder: EncoderOptions,
    cache: CacheOptions,
) -> None:
    """Score a file of what an agent did against reference trajectories.

    Both files hold trajectories by task id, in our format or in that of Open-M3-Bench. `m3bench runs export` writes
    recorded runs in this form.

    \b
    m3bench runs export -o runs.json
    m3bench lab score references.json runs.json
    m3bench lab score references.json runs.json --explain movies-1

    Prints metrics with 95 % intervals, families, and with --per-task every task. Tasks with several references are
    scored against the best. Files hold no results, so by effect only the arguments decide. A task that was
    not run is listed, not counted as 0. In a public file of predictions a malformed call counts as one that answers
    nothing; every defect is listed, in --json under `skipped`.
    """
    if form.as_json + form.as_csv + form.as_table > 1:
        raise UserError("Choose one of --json, --csv and --table.")
    chosen = Scoring(options=scoring, encoder=encoder, cache=cache)
    results = score_files(references, actual, chosen, task=form.explain)
    if form.explain is not None and not form.as_json:
        _show_explanations(results)
    elif form.as_json:
        print_json(results.to_json())
    elif form.as_csv:
        _print_csv(results, per_task=form.per_task)
    else:
        _show_results(results, per_task=form.per_task)


def score_files(references: Path, actual: Path, scoring: Scoring, *, task: str | None = None) -> Results:
    """Score one file against another, or only one task of them; warnings and progress go to standard error."""
    keep_going = scoring.options.keep_going
    expected = _references(references, scoring.options)
    runs = read_tasks(actual, keep_going=keep_going, predictions=True)
    if task is not None:
        expected, runs = _only(task, expected), _only(task, runs)
    metric, plans = _metric(scoring.options, expected)
    with _encoder(metric, scoring) as embedder:
        return _score(expected, runs, metric, plans, embedder)


def score_both(references: Path, files: Sequence[Path], scoring: Scoring) -> list[Sequence[Row]]:
    """Score several files of runs against one of references, for a comparison."""
    keep_going = scoring.options.keep_going
    expected = _references(references, scoring.options)
    played = [read_tasks(path, keep_going=keep_going, predictions=True) for path in files]
    metric, plans = _metric(scoring.options, expected)
    with _encoder(metric, scoring) as embedder:
        return [_score(expected, runs, metric, plans, embedder).rows for runs in played]


def _references(path: Path, options: ScoringOptions) -> TaskFile:
    """The references that runs are scored against."""
    expected = read_tasks(path, keep_going=options.keep_going)
    if not options.one_reference:
        return expected
    return replace(
        expected,
        tasks={id: replace(task, trajectories=task.trajectories[:1]) for id, task in expected.tasks.items()},
    )


def _metric(options: ScoringOptions, expected: TaskFile) -> tuple[MetricName, dict[str, tuple[Plan, ...]]]:
    """The metric to score with and, for `effect`, the plans of the references by task."""
    wanted = options.metric
    if wanted not in (None, MetricName.EFFECT):
        return wanted, {}
    library = Library(options.tasks or BUNDLED)
    plans = {task.id: _plans(task, library) for task in expected.tasks.values()}
    known = {id: tuple(plan for plan in found if plan is not None) for id, found in plans.items()}
    whole = all(len(known[id]) == len(found) for id, found in plans.items())
    if wanted is None and not whole:
        return MetricName.M3, {}
    if not whole:
        _warn("some references are not those of the set: their calls are taken to need the whole step before")
    return MetricName.EFFECT, {id: found for id, found in known.items() if len(found) == len(plans[id])}


def _plans(task: TaskTrajectories, library: Library) -> list[Plan | None]:
    """The plan of each of a task's references, where the set has that reference."""
    known = library.tasks.get(task.id)
    if known is None:
        return [None] * len(task.trajectories)
    plans = {
        _calls(reference.trajectory): plan
        for reference, plan in zip(known.references, library.plans(known), strict=True)
    }
    return [plans.get(_calls(trajectory)) for trajectory in task.trajectories]


def _calls(trajectory: Trajectory) -> str:
    """A trajectory without what files of references do not carry."""
    steps = [[[call.tool, dict(call.arguments)] for call in step.calls] for step in trajectory.steps]
    return json.dumps(steps, sort_keys=True)


@contextmanager
def _encoder(metric: MetricName, scoring: Scoring) -> Iterator[Encoder | None]:
    """What embeds texts; by effect nothing is embedded."""
    cache = scoring.cache
    if cache.no_cache and cache.cache is not None:
        raise UserError("Choose one of --cache and --no-cache.")
    if metric is MetricName.EFFECT:
        yield None
        return
    store = None if cache.no_cache else VectorCache(cache.cache)
    try:
        yield open_encoder(
            scoring.encoder.encoder, weights=scoring.encoder.weights, cache=store, report=_download_report()
        )
    finally:
        if store is not None:
            store.close()
            if store.problem is not None:
                _warn(f"Embeddings were not kept: {store.problem}")


def _score(
    expected: TaskFile,
    runs: TaskFile,
    metric: MetricName,
    plans: Mapping[str, tuple[Plan, ...]],
    encoder: Encoder | None,
) -> Results:
    unreadable = [str(error) for error in (*expected.errors, *runs.errors)]
    common = [task for task in expected.tasks if task in runs.tasks]
    if not common:
        first = f" What could not be read begins with {unreadable[0]}" if unreadable else ""
        raise UserError(f"{expected.path} and {runs.path} have no task in common: there is nothing to score.{first}")
    skipped = tuple(skipped_of(expected, runs))
    _warn_of(expected, runs, skipped)
    # Repeats of a task are runs of their own.
    jobs = [
        (f"{task}#{number}" if number > 1 else task, expected.tasks[task], trajectory)
        for task in common
        for number, trajectory in enumerate(runs.tasks[task].trajectories, start=1)
    ]
    signatures = catalog_signatures(load_catalog())
    cards: Iterator[TrajectoryScore]
    to_score = (
        ScorableRun(actual=actual, references=task.trajectories, plans=plans.get(task.id, ()))
        for _, task, actual in jobs
    )
    cards = score_many(to_score, encoder=encoder, profile=find_profile(metric), signatures=signatures)
    if len(jobs) >= _PROGRESS_FROM_TASKS:
        cards = progress(cards, len(jobs))
    return Results(
        profile=metric,
        encoder="none" if encoder is None else encoder.id,
        scored=tuple(
            Scored(task=name, family=task.family, card=card) for (name, task, _), card in zip(jobs, cards, strict=True)
        ),
        not_run=tuple(task for task in expected.tasks if task not in runs.tasks),
        unreadable=tuple(unreadable),
        skipped=skipped,
    )


def _only(task: str, file: TaskFile) -> TaskFile:
    if task not in file.tasks:
        near = get_close_matches(task, file.tasks, n=3)
        raise InputFileError(
            file.path, f"there is no task {task!r}" + (f" (did you mean {', '.join(near)}?)" if near else "")
        )
    mine = tuple(defect for defect in file.defects if defect.task == task)
    return replace(file, tasks={task: file.tasks[task]}, defects=mine)


def _warn_of(expected: TaskFile, runs: TaskFile, skipped: Sequence[Defect]) -> None:
    """Say what was not scored as it stands: the first of it line by line, and how much of each kind in the end."""
    files = [*expected.warnings, *runs.warnings, *(str(error) for error in (*expected.errors, *runs.errors))]
    amended = [
        f"{runs.path}, task {defect.task!r}, {defect.where}: {defect.why}"
        if defect.where
        else f"{runs.path}: {defect.why}"
        for defect in skipped
        if defect.kind in ("step", "call", "unknown_tool")
    ]

    lines = [*files, *amended]
    for message in lines[:_WARNINGS]:
        _warn(message)
    if len(lines) > _WARNINGS:
        _warn(f"… and {len(lines) - _WARNINGS} more; --json lists them under skipped")
    if strangers := [defect.task for defect in skipped if defect.kind == "no_reference"]:
        _warn(f"{runs.path}: {_some(strangers)} without a reference, left out")
    if len(skipped) > len(strangers):
        _warn("in all " + summary(skipped))


def _some(names: Iterable[str]) -> str:
    names = list(names)
    listed = ", ".join(names[:3]) + (", …" if len(names) > 3 else "")
    return f"{len(names)} {'task' if len(names) == 1 else 'tasks'} ({listed})"


def _warn(message: str) -> None:
    print(f"m3bench: {message}", file=sys.stderr)


def _show_results(results: Results, *, per_task: bool = False) -> None:
    """The aggregate with bars and intervals, families, and every task when asked for."""
    out = console()
    rows = results.rows
    out.print(_headline(results))
    out.print()
    out.print(_summary(rows))
    families = aggregate.by_family(rows)
    if len(families) > 1:
        out.print()
        out.print(
            _grid("family", [(name or "(none)", aggregate.overall(part), len(part)) for name, part in families.items()])
        )
    if per_task:
        out.print()
        out.print(_grid("task", [(row.id, row.metrics, None) for row in rows]))
    for line in _notes(results):
        out.print(line, style="yellow", soft_wrap=True)


def _show_explanations(results: Results) -> None:
    """Each task's alignment, step by step."""
    out = console()
    for place, entry in enumerate(results.scored):
        if place:
            out.print()
        for line in explain(entry.card, entry.task, entry.family):
            if line.kind == "heading":
                out.print()
            out.print(Text(line.text, style=_STYLES[line.kind]), soft_wrap=True)


def _print_csv(results: Results, *, per_task: bool = False) -> None:
    """One line per family and one for all, or one per task; an empty cell has no value."""
    names = (*METRICS, "average")
    counts = ("reference_calls", "actual_calls", "matched")
    tolerate()
    out = csv.writer(sys.stdout, lineterminator="\n")
    if per_task:
        out.writerow(("task", "family", *names, *counts))
        for row in results.rows:
            numbers = [row.metrics.get(name) for name in names]
            out.writerow(
                (printable(row.id), printable(row.family or ""), *numbers, *(getattr(row, name) for name in counts))
            )
        return
    out.writerow(("family", "tasks", *names, *counts))
    families = {name: rows for name, rows in aggregate.by_family(results.rows).items() if name}
    for name, rows in (*families.items(), ("(all)", list(results.rows))):
        values = aggregate.overall(rows)
        sums = [sum(getattr(row, count) for row in rows) for count in counts]
        out.writerow((printable(name), len(rows), *(values[metric] for metric in names), *sums))


def _download_report() -> Callable[[int, int], None] | None:
    """Something to tell how far a download is; shown on standard error, if that is a terminal."""
    if not sys.stderr.isatty():
        return None
    shown = -1

    def report(done: int, total: int) -> None:
        nonlocal shown
        percent = 100 * done // total if total else 0
        if percent != shown:
            shown = percent
            end = "\n" if total and done >= total else ""
            print(f"\rFetching all-MiniLM-L6-v2 … {percent:3d} %", end=end, file=sys.stderr, flush=True)

    return report


def _headline(results: Results) -> Text:
    rows = results.rows
    parts = [
        f"profile {results.profile}",
        f"{len(rows)} {'task' if len(rows) == 1 else 'tasks'}",
        f"{sum(row.reference_calls for row in rows)} reference calls",
        f"{sum(row.actual_calls for row in rows)} actual calls",
        f"{sum(row.matched for row in rows)} matched",
    ]
    return Text.assemble(("m3bench score", "bold"), ("  " + " · ".join(parts), "dim"))


def _summary(rows: Sequence[Row]) -> Table:
    values, ranges = aggregate.overall(rows), aggregate.intervals(rows)
    table = number_table(header=bool(ranges))
    table.add_column("metric")
    table.add_column("", justify="right")
    table.add_column("", width=_BAR_CELLS)
    table.add_column("95 % interval" if ranges else "", justify="center", style="dim")
    for name in (*METRICS, "average"):
        if name == "average":
            table.add_section()
        interval = ranges.get(name)
        minor = name not in (*AVERAGED, "average")
        if minor and values[name] is None:
            continue
        label = f"  · {name.removeprefix('argument_similarity_')}" if minor else name.replace("_", " ")
        style = "dim" if minor else "bold" if name == "average" else ""
        table.add_row(
            Text(label, style=style),
            Text(number(values[name]), style=style),
            _bar(values[name], dim=minor),
            "" if interval is None else f"{interval.low:.3f} … {interval.high:.3f}",
        )
    return table


def _grid(title: str, lines: Sequence[tuple[str, Mapping[str, float | None], int | None]]) -> Table:
    table = number_table()
    table.add_column(title, overflow="fold")
    counted = any(count is not None for _, _, count in lines)
    if counted:
        table.add_column("tasks", justify="right")
    for name in _SHORT.values():
        table.add_column(name, justify="right")
    for label, values, count in lines:
        cells = [Text(number(values.get(name)), style=_shade(values.get(name))) for name in _SHORT]
        table.add_row(Text(printable(label)), *([str(count)] if counted else []), *cells)
    return table


def _notes(results: Results) -> Iterator[str]:
    if not results.results_known:
        yield KINDS_ALONE
    if results.not_run:
        yield f"Not run, and so not scored: {some_names(results.not_run)}"
    failed = sorted({name for entry in results.scored for name in entry.card.failures})
    if failed:
        yield f"Failed on some tasks, and left out there: {', '.join(failed)}"
    if results.unreadable:
        count = len(results.unreadable)
        yield f"Left out because unreadable: {count} {'task' if count == 1 else 'tasks'}"


def _bar(value: float | None, *, dim: bool = False) -> Text:
    eighths = round((value or 0.0) * _BAR_CELLS * 8)
    full, part = divmod(eighths, 8)
    bar = "█" * full + (" ▏▎▍▌▋▊▉"[part] if part else "")
    return Text(bar, style="dim" if dim else _shade(value))


def _shade(value: float | None) -> str:
    if value is None:
        return "dim"
    return "green" if value >= 0.8 else "yellow" if value >= 0.5 else "red"


def some_names(names: Sequence[str]) -> str:
    """The first of many names."""
    shown = ", ".join(printable(name) for name in names[:5])
    return f"{shown} and {len(names) - 5} more" if len(names) > 5 else shown
